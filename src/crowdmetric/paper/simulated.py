"""The paper's experiments on simulated crowds: normal items, a metric of some rank, some noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdmetric import metrics
from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons
from crowdmetric.estimator import CrowdMetricCV
from crowdmetric.losses import Logistic
from crowdmetric.paper.rows import Row, fit, labelled, predictions
from crowdmetric.points import ideal_points_regularised
from crowdmetric.problem import Problem
from crowdmetric.regions import NuclearFull, PSDOnly, by_name
from crowdmetric.simulation import Simulation, oracle_radii, simulate
from crowdmetric.solver import Solution

__all__ = ["BOUNDED", "METHODS", "Simulated", "chosen"]

BOUNDED = ("nuclear-full", "nuclear-split", "nuclear-metric", "frobenius")
"""The methods whose radii come from the truth, or by choice from the data."""

METHODS = (*BOUNDED, "psd", "nuclear-full-single", "oracle")
"""All methods of the paper."""

_TOLERANCE = 1e-6


def chosen(method: str) -> str:
    """Return the name of a method whose radii are chosen by cross-validation.

    Examples
    --------
    >>> chosen("frobenius")
    'frobenius-cv'
    """
    return f"{method}-cv"


@dataclass(frozen=True)
class Simulated:
    """One regime: the rank of the true metric, and the noise.

    Parameters
    ----------
    name : str
        As in the labels of the paper's figures: highLow is high noise and a low rank.
    rank : int
        Of the true metric.
    beta : float
        How sharply the answers follow the truth: 1 is high noise, 4 medium.
    sizes : tuple of int
        Training pairs per user, ascending; each set holds the one before.
    chosen_sizes : tuple of int
        Those of them at which radii are also chosen by cross-validation.
    dimension, items, users, test_pairs : int
        d, n, K and the test pairs per user.

    Examples
    --------
    >>> regime = Simulated("highLow", 1, 1.0, (5, 10), (), dimension=2, items=10, users=3)
    >>> len({row[0] for row in regime.run(seed=0)}) == len(METHODS)
    True
    """

    name: str
    rank: int
    beta: float
    sizes: tuple[int, ...]
    chosen_sizes: tuple[int, ...] = ()
    dimension: int = 10
    items: int = 100
    users: int = 10
    test_pairs: int = 300
    experiment: ClassVar[str] = "simulated"

    def run(self, seed: int) -> list[Row]:
        """Run one trial.

        Parameters
        ----------
        seed : int
            Of the crowd.

        Returns
        -------
        list of Row
            For every size and method.
        """
        crowd = self.crowd(seed)
        truth = predictions(crowd.metric, crowd.points, crowd.items.features, crowd.test)
        rows: list[Row] = []
        found: dict[str, Solution] = {}
        for size in self.sizes:
            for method, problem in self.problems(crowd, size).items():
                found[method], measures = fit(problem, _TOLERANCE, found.get(method))
                solution = found[method]
                measures |= _against_truth(solution.metric, solution.points, crowd)
                rows += labelled(method, size, measures)
            rows += labelled("oracle", size, truth)
            if size in self.chosen_sizes:
                for method in BOUNDED:
                    rows += labelled(chosen(method), size, self._choose(method, crowd, size))
        return rows

    def crowd(self, seed: int) -> Simulation:
        """Draw the crowd of a trial."""
        return simulate(
            self.items, self.dimension, self.rank, self.users, self.sizes[-1], self.beta, seed,
            self.test_pairs,
        )  # fmt: skip

    def problems(self, crowd: Simulation, size: int) -> dict[str, Problem]:
        """Return what each method solves, within the smallest radii that hold the truth.

        Parameters
        ----------
        crowd : Simulation
            From `crowd`.
        size : int
            Training pairs per user.

        Returns
        -------
        dict of str to Problem
            By method.
        """
        training = _first(crowd.comparisons, size)
        radii, answers, x = oracle_radii(crowd), training.answers(), crowd.items.features
        loss = Logistic(self.beta)
        problems = {
            method: Problem(answers, x, loss, by_name(method, radii[method])) for method in BOUNDED
        }
        problems["psd"] = Problem(answers, x, loss, PSDOnly())
        own = NuclearFull(radii["nuclear-full-single"])
        problems["nuclear-full-single"] = Problem(answers, x, loss, own, single=True)
        return problems

    def _choose(self, method: str, crowd: Simulation, size: int) -> dict[str, float]:
        """Return what a user gets, who has no oracle: radii by cross-validation."""
        found = CrowdMetricCV(crowd.items, method, Logistic(self.beta), tol=_TOLERANCE)
        found.fit(_first(crowd.comparisons, size))
        certificate = found.certificate_
        measures = {
            "risk": certificate.risk,
            "gap": certificate.gap,
            "converged": float(certificate.converged),
            "separable": 0.0,
            "seconds": certificate.seconds,
        }
        return measures | _against_truth(found.metric_, found.points_, crowd)


def _first(comparisons: Comparisons, size: int) -> Comparisons:
    """Return every user's first answers; users follow each other, with equally many each."""
    per_user = len(comparisons) // comparisons.n_users
    return comparisons.subset(np.arange(len(comparisons)) % per_user < size)


def _against_truth(metric: Floats, points: Floats, crowd: Simulation) -> dict[str, float]:
    """Return the paper's measures; where every user has a metric, the mean of their errors."""
    # Where M is estimated, the paper's ideal points are regularised, with a = d.
    ideal = ideal_points_regularised(metric, points)
    of_each = metric if metric.ndim == 3 else metric[None]
    errors = [metrics.relative_metric_error(own, crowd.metric) for own in of_each]
    return {
        **predictions(metric, points, crowd.items.features, crowd.test),
        "metric_error": float(np.mean(errors)),
        "ideal_point_error": metrics.relative_ideal_point_error(
            ideal, crowd.ideal_points, crowd.metric
        ),
        "pseudo_point_error": metrics.relative_pseudo_point_error(points, crowd.points),
    }
