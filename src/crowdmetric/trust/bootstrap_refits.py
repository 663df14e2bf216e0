"""Refits of resamples: side by side, warm-started, in units that can be run in processes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as FilePath
from tempfile import TemporaryDirectory

import numpy as np

from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.checks import Floats
from crowdmetric.regions import FixedMetric
from crowdmetric.solver import Path
from crowdmetric.trust.bootstrap_debias import debiased
from crowdmetric.trust.bootstrap_task import Task
from crowdmetric.units import run_all

__all__ = ["Draws", "Progress", "refit_all"]

_SIDE_BY_SIDE = 10  # resamples: more do not fit the cache, fewer pay for each step alone
_UNIT = 20  # resamples in a file
_COLUMNS = ("resample", "numbers")

Progress = Callable[[int, int], None]
"""Called with the numbers of resamples that are done, and that were to be done."""


@dataclass(frozen=True, eq=False)
class Draws:
    """What came out of the resamples.

    Parameters
    ----------
    metric, points : ndarray of shapes (B, d, d) and (B, K, d)
        The refits, within the region.
    free_metric, free_points : ndarray of the same shapes
        The same without the region's bias; see `crowdmetric.trust.bootstrap_debias`.

    Examples
    --------
    >>> one, other = np.zeros((5, 2, 2)), np.zeros((5, 3, 2))
    >>> len(Draws(one, other, one, other))
    5
    """

    metric: Floats
    points: Floats
    free_metric: Floats
    free_points: Floats

    def __len__(self) -> int:
        """Return the number of resamples."""
        return len(self.metric)


def refit_all(
    task: Task,
    resamples: int,
    workers: int = 1,
    folder: FilePath | None = None,
    progress: Progress | None = None,
) -> Draws:
    """Refit resamples 0, 1, ... of a task.

    Parameters
    ----------
    task : Task
        What is resampled.
    resamples : int
        How many.
    workers : int
        How many processes; one that has no folder works in this one.
    folder : Path, optional
        Where finished resamples are kept, and looked for.
    progress : callable, optional
        Called with the numbers of resamples that are done, and that were to be done.

    Returns
    -------
    Draws
        In the order of their numbers, whatever the number of processes.
    """
    if workers == 1 and folder is None:
        rows = _Worker(task).run(range(resamples), progress)
        return _draws(task, rows)
    units = [
        _Unit(task, first, min(first + _UNIT, resamples)) for first in range(0, resamples, _UNIT)
    ]

    def tell(done: int, total: int) -> None:
        if progress is not None:
            progress(min(done * _UNIT, resamples), min(total * _UNIT, resamples))

    with TemporaryDirectory() as spare:
        found = run_all(units, _COLUMNS, folder or FilePath(spare), workers, tell)
    return _draws(task, [row for rows in found.values() for row in rows])


@dataclass(frozen=True, eq=False)
class _Unit:
    """Some resamples, as a unit of work."""

    task: Task
    first: int
    last: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"resamples-{self.first:05d}-{self.last:05d}"

    @property
    def fingerprint(self) -> str:
        """What a saved unit must have been made with to be used again."""
        return self.task.fingerprint

    def run(self) -> list[tuple[int, bytes]]:
        """Return a row for each resample."""
        return _Worker(self.task).run(range(self.first, self.last))


class _Worker:
    """Solves the whole once, and resamples from there."""

    def __init__(self, task: Task) -> None:
        """Solve the whole."""
        self._task, problem = task, task.problem
        self._path = Path(problem, tol=task.tolerance)
        self._crowd = problem.crowd()
        with warnings.catch_warnings():
            # What stops short is near enough: the gap of the fit itself is what is certified.
            warnings.simplefilter("ignore", NotConvergedWarning)
            self._path.solve(problem.region)

    def run(self, resamples: range, progress: Progress | None = None) -> list[tuple[int, bytes]]:
        """Return number and result of each resample."""
        rows: list[tuple[int, bytes]] = []
        for first in range(0, len(resamples), _SIDE_BY_SIDE):
            some = resamples[first : first + _SIDE_BY_SIDE]
            rows += zip(some, self._refit(some), strict=True)
            if progress is not None:
                progress(len(rows), len(resamples))
        return rows

    def _refit(self, resamples: range) -> list[bytes]:
        """Return the numbers of some resamples, refitted side by side."""
        problem = self._task.problem
        weights = np.array([self._task.weights(number) for number in resamples])
        found = self._path.resample(problem.region, weights)
        free = debiased(
            self._crowd.resampled(weights),
            problem.loss,
            found.metric,
            found.points,
            frozen=isinstance(problem.region, FixedMetric),
        )
        parts = (found.metric, found.points, *free)
        table = np.concatenate([part.reshape(len(weights), -1) for part in parts], axis=1)
        return [row.tobytes() for row in table]


def _draws(task: Task, rows: list[tuple[int, bytes]]) -> Draws:
    """Put the numbers back into their shapes."""
    d, users = task.problem.features.shape[1], task.problem.answers.n_users
    table = np.array([np.frombuffer(numbers) for _, numbers in rows])
    cuts = np.cumsum([d * d, users * d, d * d])
    parts = np.split(table, cuts, axis=1)
    shapes = ((-1, d, d), (-1, users, d)) * 2
    metric, points, free_metric, free_points = (
        part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)
    )
    return Draws(metric, points, free_metric, free_points)
