"""Radii tried on answers left out: every fold walks a path of regions, in processes if wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from crowdmetric.comparisons import Comparisons, Ties
from crowdmetric.errors import DataError
from crowdmetric.estimator.candidates import Candidate
from crowdmetric.estimator.left_out import LeftOut
from crowdmetric.estimator.radii import Radii
from crowdmetric.estimator.record import Record, Trial
from crowdmetric.problem import Problem
from crowdmetric.regions import Region
from crowdmetric.solver import Progress, ProgressLine, Resamples, Stack

__all__ = [
    "Counted",
    "FoldWeights",
    "Folds",
    "Split",
    "Walk",
    "weights_of_folds",
]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
Split = tuple[Rows, Rows]

_SMALL = 50_000  # answers up to which folds side by side take less time than one after the other


@dataclass(frozen=True)
class Counted(Progress):
    """What a progress line says about cross-validation.

    Examples
    --------
    >>> print(Counted(3, 0.0, 0.0, 0.0, seconds=2.0, total=12))
    cross-validation: 3 of 12 fits, about 6 s left
    """

    total: int = 0

    def __str__(self) -> str:
        """Return one line."""
        left = self.seconds / self.iteration * (self.total - self.iteration)
        return f"cross-validation: {self.iteration} of {self.total} fits, about {left:.0f} s left"


@dataclass(frozen=True, eq=False)
class Walk:
    """Some folds of one candidate, walking side by side: what travels to a process.

    Parameters
    ----------
    problem : Problem
        With all answers.
    weights : FoldWeights
        What each fold learns from, and what it leaves out.
    numbers : ndarray of int
        Which folds these are.
    settings : dict
        Of `Stack`.
    """

    problem: Problem
    weights: FoldWeights
    numbers: Rows
    settings: dict[str, Any]

    def along(
        self,
        regions: Sequence[Region],
        start: Resamples | None = None,
        tell: Callable[[int], None] | None = None,
    ) -> tuple[list[LeftOut], Resamples]:
        """Fit one region after the other, each from where the last one ended.

        Parameters
        ----------
        regions : sequence of Region
            Of one kind.
        start : Resamples, optional
            Where an earlier walk has ended.
        tell : callable, optional
            Called after each fit with the number of folds.

        Returns
        -------
        list of LeftOut
            The answers left out, for each region.
        Resamples
            Where this walk has ended.
        """
        stack = Stack(self.problem, self.weights.learn, start=start, **self.settings)
        crowd = self.problem.crowd().resampled(self.weights.left_out)
        count = len(self.weights.learn)
        fold = crowd.problem // (crowd.n_problems // count)
        weight = crowd.share * crowd.problem_weights[crowd.problem]
        share, number = weight / np.bincount(fold, weight)[fold], self.numbers[fold]
        left_out = []
        for region in regions:
            found = stack.solve(region)
            margins = crowd.margins(found.metric, found.points)
            left_out.append(LeftOut(number, share, margins))
            if tell is not None:
                tell(count)
        return left_out, found


class Folds:
    """Folds in which radii of candidates are tried, and recorded.

    Parameters
    ----------
    weights : FoldWeights
        What each fold learns from, and what it leaves out.
    record : Record
        To which every trial is added.
    line : ProgressLine, optional
        Told about every fit.
    planned : int
        How many radii are going to be tried, for an estimate of the time left.
    n_jobs : int, optional
        How many processes walk; as everywhere in scikit-learn.
    **settings
        Of `Stack`; its callback is not asked in other processes.
    """

    def __init__(
        self,
        weights: FoldWeights,
        record: Record,
        line: ProgressLine | None,
        planned: int,
        n_jobs: int | None,
        **settings: Any,
    ) -> None:
        """Try nothing yet."""
        self._weights, self.record, self._line = weights, record, line
        self._jobs = effective_n_jobs(n_jobs)
        self._settings = settings if self._jobs == 1 else settings | {"callback": None}
        self._done, self._planned = 0, planned * len(weights.learn)
        self._begun = time.perf_counter()
        self._ends: dict[tuple[Candidate, int], Resamples] = {}

    def try_all(self, wanted: Sequence[tuple[Candidate, Sequence[Radii]]]) -> None:
        """Fit all folds with radii of some candidates, but for those tried before.

        Parameters
        ----------
        wanted : sequence of (Candidate, radii)
            Best so that neighbours are close to each other.
        """
        new = [
            (one, fresh)
            for one, radii in wanted
            if (fresh := [r for r in dict.fromkeys(radii) if not self.record.has(one, r)])
        ]
        groups = [self._groups(one) for one, _ in new]
        tasks = [
            (one, radii, rows)
            for (one, radii), parts in zip(new, groups, strict=True)
            for rows in parts
        ]
        walked = self._walked(tasks)
        for (one, radii), parts in zip(new, groups, strict=True):
            found = zip(*[next(walked) for _ in parts], strict=True)
            for tried, left_out in zip(radii, found, strict=True):
                self.record.add(Trial.of(one, tried, LeftOut.joined(left_out)))

    def _groups(self, candidate: Candidate) -> list[Rows]:
        """Return which folds walk side by side: all of a small problem, each of a large one."""
        problem, folds = candidate.problem, np.arange(len(self._weights.learn))
        small = len(problem.answers) <= _SMALL and not problem.single
        return [folds] if small else np.split(folds, len(folds))

    def _walked(self, tasks: list[tuple[Candidate, list[Radii], Rows]]) -> Iterator[list[LeftOut]]:
        """Yield what each task has found, in order."""
        inside = self._jobs == 1
        calls = []
        for candidate, radii, rows in tasks:
            walk = Walk(candidate.problem, self._weights.of(rows), rows, self._settings)
            regions = [candidate.family(*one) for one in radii]
            start = self._ends.get((candidate, rows[0]))
            calls.append(delayed(walk.along)(regions, start, self._tell if inside else None))
        found = Parallel(n_jobs=self._jobs, return_as="generator")(calls)
        for (candidate, radii, rows), (left_out, end) in zip(tasks, found, strict=True):
            self._ends[candidate, rows[0]] = end
            if not inside:
                self._tell(len(radii) * len(rows))
            yield left_out

    def _tell(self, count: int) -> None:
        """Keep the line of progress."""
        self._done += count
        if self._line is not None:
            spent = time.perf_counter() - self._begun
            total = max(self._planned, self._done)
            self._line(Counted(self._done, 0.0, 0.0, 0.0, spent, total))


@dataclass(frozen=True, eq=False)
class FoldWeights:
    """How much each answer counts in each fold, as solvers see answers.

    Parameters
    ----------
    learn, left_out : ndarray of shape (number of folds, number of answers)
        To learn from, and to predict.
    """

    learn: Floats
    left_out: Floats

    def of(self, rows: Rows) -> FoldWeights:
        """Return those of some folds."""
        return FoldWeights(self.learn[rows], self.left_out[rows])


def weights_of_folds(comparisons: Comparisons, splits: Iterable[Split], ties: Ties) -> FoldWeights:
    """Return how much each answer counts, fold by fold.

    Parameters
    ----------
    comparisons : Comparisons
        All of them.
    splits : iterable of pairs of row numbers
        From a splitter.
    ties : {"half", "drop"}
        What becomes of a tie.

    Returns
    -------
    FoldWeights
        A row for each fold.

    Examples
    --------
    >>> data = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 0])
    >>> folds = weights_of_folds(data, [(np.array([0]), np.array([1]))], "half")
    >>> folds.learn, folds.left_out
    (array([[1., 0., 0.]]), array([[0. , 0.5, 0.5]]))
    """
    count = 1.0 if comparisons.weight is None else comparisons.weight
    parts: tuple[list[Floats], list[Floats]] = [], []
    for number, split in enumerate(splits, start=1):
        for part, rows in zip(parts, split, strict=True):
            if not len(rows):
                raise DataError(f"fold {number} of the cross-validation: there are no comparisons")
            often = np.bincount(rows, minlength=len(comparisons)).astype(np.float64)
            try:
                part.append(replace(comparisons, weight=often * count).answers(ties).weight)
            except DataError as error:
                raise DataError(f"fold {number} of the cross-validation: {error}") from error
    return FoldWeights(np.array(parts[0]), np.array(parts[1]))
