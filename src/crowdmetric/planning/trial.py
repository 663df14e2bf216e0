"""One trial: a crowd is drawn, asked more and more, and fitted each time, beside its truth."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from crowdmetric import __version__, metrics
from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.checks import Floats
from crowdmetric.comparisons import Answers, Comparisons
from crowdmetric.estimator import CrowdMetricCV
from crowdmetric.losses import Logistic
from crowdmetric.model.scoring import margins
from crowdmetric.planning.crowds import draw_crowd, expected_accuracy, first
from crowdmetric.planning.study import Study
from crowdmetric.points import ideal_points, ideal_points_regularised
from crowdmetric.problem import Problem
from crowdmetric.regions import NuclearFull
from crowdmetric.simulation import Simulation, oracle_radii
from crowdmetric.solver import Solution, solve

__all__ = [
    "ALPHAS",
    "COLUMNS",
    "Row",
    "Trial",
    "against_truth",
    "ideal_point_error",
    "oracle_fit",
    "trials",
]

Row = tuple[int, str, float]

COLUMNS = ("pairs", "measure", "value")
"""Of the rows of a trial: comparisons per person, what is measured, and what came out."""

ALPHAS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.001, 0.0)
"""Strengths with which ideal points are regularised, in units of the paper's, which is d.

Its own is for few answers: it shrinks ideal points however many there are. 0 is the pseudo-inverse.
"""

_AROUND = (0.5, 0.7, 1.0, 1.4, 2.0)
_MOST_MOVES = 6
_TOLERANCE = 1e-6  # far below what the noise of a trial moves the measures by


@dataclass(frozen=True)
class Trial:
    """One trial with one number of people: a unit of work.

    Parameters
    ----------
    study : Study
        What is assumed.
    users : int
        How many people, which need not be as many as in the study.
    trial : int
        Which one, from 0; trials of one number have their people and items in common.

    Examples
    --------
    >>> study = Study(n_items=10, dimension=2, users=4, rank=1, noise=1.0, sizes=(5, 20))
    >>> rows = Trial(study, users=4, trial=0).run()
    >>> [measure for _, measure, _ in rows][:3]
    ['accuracy', 'accuracy_share', 'metric_error']
    """

    study: Study
    users: int
    trial: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"users-{self.users}-trial-{self.trial:03d}"

    @cached_property
    def fingerprint(self) -> str:
        """What a saved trial must have been made with to be used again."""
        made_with = f"{__version__} {self.study.fingerprint} {self.users} {self.trial}"
        return hashlib.sha256(made_with.encode()).hexdigest()

    def run(self) -> list[Row]:
        """Run the trial.

        Returns
        -------
        list of (pairs, measure, value)
            For every size of the study.
        """
        crowd = draw_crowd(self.study, self.users, self.trial)
        fits = _oracle_fits if self.study.quick else _chosen_fits
        rows: list[Row] = []
        for size, metric, points, gap in fits(crowd, self.study.sizes):
            measured = against_truth(metric, points, crowd) | {"gap": gap}
            rows += [(size, measure, value) for measure, value in measured.items()]
        return rows


def trials(study: Study, users: list[int]) -> list[Trial]:
    """Return the units of a study, trial by trial, so that early results are about everything.

    Parameters
    ----------
    study : Study
        What is assumed.
    users : list of int
        Numbers of people to try.

    Returns
    -------
    list of Trial
        In a fixed order.

    Examples
    --------
    >>> study = Study(10, 2, users=4, rank=1, noise=1.0, sizes=(5, 20), trials=2)
    >>> [trial.name for trial in trials(study, [4, 8])][:3]
    ['users-4-trial-000', 'users-8-trial-000', 'users-4-trial-001']
    """
    return [Trial(study, count, trial) for trial in range(study.trials) for count in users]


def against_truth(metric: Floats, points: Floats, crowd: Simulation) -> dict[str, float]:
    """Return how near a fit comes to the truth.

    Parameters
    ----------
    metric : ndarray of shape (d, d)
        Estimated.
    points : ndarray of shape (K, d)
        The pseudo-ideal points v_k, estimated.
    crowd : Simulation
        Who was fitted.

    Returns
    -------
    dict of str to float
        "accuracy" on new answers, expected over their noise; "accuracy_share": that over the
        accuracy of the truth; "metric_error", relative as in the paper; and the same of the ideal
        points, for each of `ALPHAS`.

    Examples
    --------
    >>> study = Study(n_items=10, dimension=2, users=4, rank=1, noise=1.0, sizes=(5, 20))
    >>> crowd = draw_crowd(study, 4, trial=0)
    >>> measured = against_truth(crowd.metric, crowd.points, crowd)
    >>> measured["accuracy_share"], measured["metric_error"]
    (1.0, 0.0)
    """
    test, x = crowd.test, crowd.items.features
    true = crowd.margins(test)
    predicted = margins(metric, points, x, test.user, test.left, test.right)
    accuracy = expected_accuracy(predicted, true, crowd.noise)
    return {
        "accuracy": accuracy,
        "accuracy_share": accuracy / expected_accuracy(true, true, crowd.noise),
        "metric_error": metrics.relative_metric_error(metric, crowd.metric),
        **{
            ideal_point_error(alpha): metrics.relative_ideal_point_error(
                _ideal_points(metric, points, alpha), crowd.ideal_points, crowd.metric
            )
            for alpha in ALPHAS
        },
    }


def ideal_point_error(alpha: float) -> str:
    """Return the name of the measure for one strength of regularisation.

    Examples
    --------
    >>> ideal_point_error(0.1)
    'ideal_point_error_0.1'
    """
    return f"ideal_point_error_{alpha:g}"


def oracle_fit(
    crowd: Simulation, answers: Answers, tol: float = _TOLERANCE, start: Solution | None = None
) -> Solution:
    """Fit answers within the smallest radius that holds the truth.

    Parameters
    ----------
    crowd : Simulation
        Whose truth that is.
    answers : Answers
        What to fit.
    tol : float
        The gap to reach.
    start : Solution, optional
        The fit to somewhat fewer answers, which is a good place to start.

    Returns
    -------
    Solution
        The fit; not to converge is no reason for a warning here.

    Examples
    --------
    >>> study = Study(n_items=10, dimension=2, users=4, rank=1, noise=1.0, sizes=(5, 20))
    >>> crowd = draw_crowd(study, 4, trial=0)
    >>> oracle_fit(crowd, crowd.comparisons.answers()).certificate.gap <= 1e-6
    True
    """
    region = NuclearFull(*oracle_radii(crowd)["nuclear-full"])
    problem = Problem(answers, crowd.items.features, Logistic(crowd.noise), region)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        return solve(problem, tol=tol, start=start)


def _ideal_points(metric: Floats, points: Floats, alpha: float) -> Floats:
    """Return ideal points for one of `ALPHAS`."""
    if alpha == 0:
        return ideal_points(metric, points)
    return ideal_points_regularised(metric, points, alpha * len(metric))


Fit = tuple[int, Floats, Floats, float]


def _oracle_fits(crowd: Simulation, sizes: tuple[int, ...]) -> Iterator[Fit]:
    """Yield size, metric, points and gap, each fit starting from the one before."""
    solution: Solution | None = None
    for size in sizes:
        solution = oracle_fit(crowd, _answers(crowd, size).answers(), start=solution)
        yield size, solution.metric, solution.points, solution.certificate.gap


def _chosen_fits(crowd: Simulation, sizes: tuple[int, ...]) -> Iterator[Fit]:
    """Yield size, metric, points and gap; the radius chosen by cross-validation, as in `fit`.

    Only the first size tries every radius that `CrowdMetricCV` would: the others look around what
    was best before, and further for as long as that lies at an end of what was tried.
    """
    radii: list[float] | None = None
    for size in sizes:
        answers = _answers(crowd, size)
        for _ in range(_MOST_MOVES):
            found = CrowdMetricCV(
                crowd.items, loss=Logistic(crowd.noise), radii=radii, tol=_TOLERANCE
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NotConvergedWarning)
                found.fit(answers)
            (best,) = found.radius_
            inside = radii is None or best not in (radii[0], radii[-1])
            radii = [factor * best for factor in _AROUND]
            if inside:
                break
        yield size, found.metric_, found.points_, found.certificate_.gap


def _answers(crowd: Simulation, size: int) -> Comparisons:
    """Return everybody's first answers."""
    return first(crowd.comparisons, size)
