"""What the test of the common metric is worth: how often it doubts, rightly and wrongly.

Crowds of two towns are drawn, whose metrics differ by as much as is asked for; each is fitted as
anybody would, and tested. Without a difference p-values must be uniform; with one, small.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.stats import kstest

from crowdmetric import __version__
from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.estimator import CrowdMetricCV
from crowdmetric.losses import Logistic
from crowdmetric.simulation import Simulation, oracle_radii, simulate
from crowdmetric.trust.audit_groups import Groups
from crowdmetric.trust.audit_intervals import Interval, share_interval
from crowdmetric.trust.audit_metric_test import DOUBT, common_metric_test
from crowdmetric.units import run_all

__all__ = ["COLUMNS", "Size", "TwoTowns", "size_of"]

COLUMNS = ("by", "p_value")
"""Of the rows of a trial: how people were grouped, and what the test said."""

_AROUND = (0.25, 0.5, 0.7, 1.0, 1.4)


@dataclass(frozen=True)
class TwoTowns:
    """One crowd of two towns, fitted and tested: a unit of work.

    Parameters
    ----------
    difference : float
        How much of the second town's metric is its own: 0 for none, 1 for all of it.
    trial : int
        Which one, from 0.
    users, pairs, n_items, dimension, rank : int
        How many people, comparisons of each, items, features, and directions that count.
    noise : float
        Beta of the logistic answers.
    replicates : int
        Of each test.

    Examples
    --------
    >>> trial = TwoTowns(1.0, 0, users=6, pairs=60, n_items=20, dimension=2, replicates=19)
    >>> [by for by, p_value in trial.run()]
    ['town', 'each person']
    """

    difference: float
    trial: int
    users: int = 10
    pairs: int = 100
    n_items: int = 50
    dimension: int = 4
    rank: int = 2
    noise: float = 1.0
    replicates: int = 39

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"difference-{self.difference:g}-trial-{self.trial:04d}"

    @cached_property
    def fingerprint(self) -> str:
        """What a saved trial must have been made with to be used again."""
        return hashlib.sha256(f"{__version__} {self!r}".encode()).hexdigest()

    def run(self) -> list[tuple[str, float]]:
        """Draw, fit with a radius chosen by cross-validation, and test.

        Returns
        -------
        list of (by, p_value)
            For the two towns, and for everybody apart.
        """
        items, answers, town = self.drawn()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)
            fit = CrowdMetricCV(
                items, loss=Logistic(self.noise), radii=self._radii(), cv=3, tol=1e-5
            )
            model = fit.fit(answers).model_
        towns = Groups.of("town", town.tolist())
        tests = common_metric_test(model, answers, [towns], self.replicates, seed=self.trial)
        return [(test.column, test.p_value) for test in tests]

    def _radii(self) -> list[float]:
        """Return radii to choose from, around that of the truth: a short search, for speed."""
        (radius,) = oracle_radii(self._crowd(0))["nuclear-full"]
        return [factor * radius for factor in _AROUND]

    def _crowd(self, which: int) -> Simulation:
        """Draw the crowd whose metric is the first town's, or one for another metric."""
        return simulate(
            self.n_items,
            self.dimension,
            self.rank,
            self.users,
            self.pairs,
            self.noise,
            seed=2 * self.trial + which,
            test_pairs_per_user=1,
        )

    def drawn(self) -> tuple[Items, Comparisons, np.ndarray[tuple[int], np.dtype[np.intp]]]:
        """Draw the crowd.

        Returns
        -------
        items : Items
            The items.
        answers : Comparisons
            Everybody's answers.
        town : ndarray of int
            Everybody's town, 0 or 1.
        """
        crowd, other = self._crowd(0), self._crowd(1)
        own = (1 - self.difference) * crowd.metric + self.difference * other.metric
        town = np.arange(self.users) % 2
        asked = crowd.comparisons
        margins = np.where(
            town[asked.user] == 0,
            self._margins(asked, crowd.items.features, crowd.metric, crowd.ideal_points),
            self._margins(asked, crowd.items.features, own, crowd.ideal_points),
        )
        generator = np.random.default_rng([self.trial, 1])
        right = generator.random(len(asked)) < Logistic(self.noise).probability(margins)
        triples = np.column_stack([asked.user, asked.left, asked.right])
        answers = Comparisons.from_arrays(
            triples, np.where(right, 1, -1), users=asked.users, item_ids=asked.item_ids
        )
        return crowd.items, answers, town

    def _margins(self, asked: Comparisons, x: Floats, metric: Floats, ideal: Floats) -> Floats:
        """Return how much farther the left item is from the user's ideal point than the right."""
        near, far = (x[side] - ideal[asked.user] for side in (asked.right, asked.left))
        result: Floats = np.einsum("td,de,te->t", far, metric, far)
        result -= np.einsum("td,de,te->t", near, metric, near)
        return result


@dataclass(frozen=True)
class Size:
    """How often a test doubted.

    Parameters
    ----------
    by : str
        How people were grouped.
    difference : float
        Between the towns.
    doubted : Interval
        The share of trials with p at 5 % or below: the test's size if there was no difference, else
        its power.
    uniform : float
        The p-value of Kolmogorov's test that the p-values are uniform.

    Examples
    --------
    >>> Size("town", 0.0, Interval(0.05, 0.02, 0.1), 0.4).uniform
    0.4
    """

    by: str
    difference: float
    doubted: Interval
    uniform: float


def size_of(
    trials: list[TwoTowns],
    folder: Path,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Size]:
    """Run trials, in processes, and say how often the tests doubted.

    Parameters
    ----------
    trials : list of TwoTowns
        Of one or more differences; what was run before is not run again.
    folder : Path
        Where trials are kept.
    workers : int
        How many processes.
    progress : callable, optional
        Called whenever a trial is done.

    Returns
    -------
    list of Size
        For each difference, and each way to group.

    Examples
    --------
    >>> size_of([], Path("."))
    []
    """
    found = run_all(trials, COLUMNS, folder, workers, progress)
    generator = np.random.default_rng(0)
    p_values: dict[tuple[float, str], list[tuple[float, float]]] = {}
    for trial, rows in found.items():
        for by, p_value in rows:
            # A p-value is a multiple of 1 / (replicates + 1); spread over the step that it ends,
            # it is uniform without steps if it is with them.
            spread = p_value - generator.random() / (trial.replicates + 1)
            p_values.setdefault((trial.difference, by), []).append((p_value, spread))
    sizes = []
    for (difference, by), pairs in p_values.items():
        values, spreads = np.array(pairs).T
        low = (values <= DOUBT).astype(np.float64)
        doubted = share_interval(low, np.ones(len(low)), np.zeros(len(low), dtype=np.intp))
        sizes.append(Size(by, difference, doubted, float(kstest(spreads, "uniform").pvalue)))
    return sizes
