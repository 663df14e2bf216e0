"""Cutting a problem with a metric per user into batches that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from crowdmetric.problem import Problem
from crowdmetric.regions import Region
from crowdmetric.solver.interior import InteriorPoint

if TYPE_CHECKING:
    from crowdmetric.solver.solving import Solution

__all__ = ["Batch", "batches"]

Floats = npt.NDArray[np.float64]

_MOST_NUMBERS = 2e7


@dataclass(frozen=True, eq=False)
class Batch:
    """Some users of a problem, solved together.

    Parameters
    ----------
    problem : Problem
        With the users counted from 0.
    rows : ndarray of int
        Which answers of the whole problem these are.
    first, stop : int
        Which users of the whole problem these are.
    """

    problem: Problem
    rows: npt.NDArray[np.intp]
    first: int
    stop: int

    def start(self, solution: Solution | None) -> tuple[Floats, Floats] | None:
        """Return this batch's part of a solution of the whole problem."""
        if solution is None:
            return None
        count = self.stop - self.first
        points = solution.points[self.first : self.stop]
        if self.problem.single:
            return solution.metric[self.first : self.stop], points.reshape(count, 1, -1)
        return solution.metric[None], points[None]


def batches(problem: Problem) -> Iterator[Batch]:
    """Yield the whole problem if its users share a metric, else users a few at a time.

    Parameters
    ----------
    problem : Problem
        What to cut.

    Yields
    ------
    Batch
        In the order of the users.
    """
    answers = problem.answers
    count = answers.n_users
    size = count
    if problem.single:
        d = problem.features.shape[1]
        size = max(1, int(_MOST_NUMBERS / (d * d * (d * d / 2 + 20))))
        if InteriorPoint.knows(problem):
            size = max(1, min(size, InteriorPoint.most_users(problem)))
    for first in range(0, count, size):
        stop = min(first + size, count)
        if stop - first == count:
            yield Batch(problem, np.arange(len(answers)), 0, count)
            return
        rows = np.flatnonzero((answers.user >= first) & (answers.user < stop))
        some = replace(
            answers,
            user=(answers.user[rows] - first).astype(np.int32),
            left=answers.left[rows],
            right=answers.right[rows],
            sign=answers.sign[rows],
            weight=answers.weight[rows],
            n_users=stop - first,
        )
        region = _of_users(problem.region, slice(first, stop))
        yield Batch(replace(problem, answers=some, region=region), rows, first, stop)


def _of_users(region: Region, users: slice) -> Region:
    """Keep the radii of some users, where each user has their own."""
    values: dict[str, Any] = {f.name: getattr(region, f.name) for f in fields(region)}  # type: ignore[arg-type]
    changed = {name: value[users] for name, value in values.items() if isinstance(value, tuple)}
    return replace(region, **changed) if changed else region  # type: ignore[type-var]
