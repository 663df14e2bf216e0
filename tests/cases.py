"""Small instances, regions and losses that the tests of the solver share."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdmetric.comparisons import Comparisons
from crowdmetric.losses import Hinge, Logistic, Loss, Probit, SmoothedHinge, SquaredHinge
from crowdmetric.problem import Problem
from crowdmetric.regions import (
    FixedMetric,
    FrobeniusMetric,
    NuclearFull,
    NuclearMetric,
    NuclearSplit,
    PSDOnly,
    Region,
)

LOSSES: tuple[Loss, ...] = (
    Logistic(2.0),
    Probit(1.5),
    Hinge(),
    SquaredHinge(),
    SmoothedHinge(0.4),
)


def regions(dimension: int, margin_bound: float | None = None) -> tuple[Region, ...]:
    """Return one region of each kind, with radii that bind on `random_case`."""
    metric = np.diag(np.linspace(0.5, 0.1, dimension))
    return (
        FrobeniusMetric(0.5, 0.7, margin_bound),
        NuclearMetric(0.5, 0.7, margin_bound),
        NuclearSplit(0.5, 1.2, margin_bound),
        NuclearFull(1.2, margin_bound),
        PSDOnly(margin_bound),
        FixedMetric(metric, 0.7, margin_bound),
    )


def by_name(thing: Region | Loss) -> str:
    """Return the name of a region or a loss: the id of a parametrised test."""
    return thing.name


@dataclass(frozen=True, eq=False)
class Case:
    """A small instance, as plain arrays."""

    features: np.ndarray
    user: np.ndarray
    left: np.ndarray
    right: np.ndarray
    sign: np.ndarray
    weight: np.ndarray
    n_users: int

    def problem(self, region: Region, loss: Loss, single: bool = False) -> Problem:
        """Return the instance in the package's terms."""
        triples = np.column_stack([self.user, self.left, self.right])
        comparisons = Comparisons.from_arrays(
            triples,
            self.sign,
            self.weight,
            users=range(self.n_users),
            item_ids=range(len(self.features)),
        )
        return Problem(comparisons.answers(), self.features, loss, region, single)

    def rows(self, which: np.ndarray) -> Case:
        """Return the instance with some of its answers, in the order asked for."""
        return replace(
            self,
            user=self.user[which],
            left=self.left[which],
            right=self.right[which],
            sign=self.sign[which],
            weight=self.weight[which],
        )

    def of_user(self, user: int) -> Case:
        """Return one user's instance."""
        mine = self.rows(self.user == user)
        return replace(mine, user=np.zeros_like(mine.user), n_users=1)

    @property
    def share(self) -> np.ndarray:
        """The weights, summing to one."""
        return self.weight / self.weight.sum()

    def margins(self, metric: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return y * delta, answer by answer, from the definition of the scores."""

        def score(k: int, i: int) -> float:
            x = self.features[i]
            return float(x @ metric @ x + points[k] @ x)

        answers = zip(self.user, self.left, self.right, self.sign, strict=True)
        return np.array([y * (score(k, i) - score(k, j)) for k, i, j, y in answers])

    def scores(self, metric: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return the scores of all items for all users."""
        return np.array(
            [[x @ metric @ x + v @ x for x in self.features] for v in points], dtype=float
        )

    def gradient(self, forces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return sum_t forces_t y_t d(delta_t)/d(M, V), answer by answer."""
        d = self.features.shape[1]
        metric, points = np.zeros((d, d)), np.zeros((self.n_users, d))
        for t, force in enumerate(forces * self.sign):
            a, b = self.features[self.left[t]], self.features[self.right[t]]
            metric += force * (np.outer(a, a) - np.outer(b, b))
            points[self.user[t]] += force * (a - b)
        return metric, points


def random_case(
    seed: int,
    dimension: int = 2,
    n_users: int = 3,
    n_items: int = 7,
    n_answers: int = 36,
    noise: float = 0.4,
) -> Case:
    """Return answers of a random crowd with a low-rank metric, in random order."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_items, dimension))
    axis = rng.normal(size=dimension)
    metric = np.outer(axis, axis)
    points = rng.normal(size=(n_users, dimension))
    left = rng.integers(n_items, size=n_answers)
    right = (left + rng.integers(1, n_items, size=n_answers)) % n_items
    user = rng.permutation(np.arange(n_answers) % n_users)
    case = Case(
        features, user, left, right, np.ones(n_answers), rng.uniform(0.5, 2, n_answers), n_users
    )
    sign = np.where(case.margins(metric, points) > 0, 1.0, -1.0)
    sign *= np.where(rng.random(n_answers) < noise, -1.0, 1.0)
    return replace(case, sign=sign)


CASES = {
    "plane": random_case(1),
    "space": random_case(8, dimension=3, n_items=8, n_answers=48),
}
"""Instances on which every region binds, and a margin bound of 1 is neither idle nor impossible."""
