"""Radii tried on answers left out: every fold walks a path of regions, in processes if wanted."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.comparisons import Answers, Comparisons, Ties
from crowdmetric.errors import DataError
from crowdmetric.estimator.candidates import Candidate
from crowdmetric.estimator.radii import Radii
from crowdmetric.estimator.record import Record, Trial
from crowdmetric.problem import Problem
from crowdmetric.regions import Region
from crowdmetric.solver import Path, Progress, ProgressLine, Solution

__all__ = ["Counted", "Folds", "Split", "answers_of_folds"]

Floats = npt.NDArray[np.float64]
Split = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]
Scores = list[tuple[float, float]]


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
class Fold:
    """What to learn from and what is left out, for one candidate: it travels to processes.

    Parameters
    ----------
    problem : Problem
        With the answers to learn from.
    left_out : Answers
        What to predict.
    settings : dict
        Of `Path`.
    """

    problem: Problem
    left_out: Answers
    settings: dict[str, Any] = field(repr=False)

    def walk(
        self,
        regions: Sequence[Region],
        start: Solution | None = None,
        tell: Callable[[], None] | None = None,
    ) -> tuple[Scores, Solution]:
        """Fit one region after the other, each from where the last one ended.

        Parameters
        ----------
        regions : sequence of Region
            Of one kind.
        start : Solution, optional
            Where an earlier walk has ended.
        tell : callable, optional
            Called after each fit.

        Returns
        -------
        list of (loss, accuracy)
            On the answers left out, for each region.
        Solution
            Where this walk has ended.
        """
        path = Path(self.problem, start=start, **self.settings)
        crowd = replace(self.problem, answers=self.left_out).crowd()
        d = crowd.dimension
        shape = (crowd.n_problems, crowd.users_per_problem, d)
        scores: Scores = []
        for region in regions:
            with warnings.catch_warnings():
                # A fold that stops short still ranks radii; the final fit is what must converge.
                warnings.simplefilter("ignore", NotConvergedWarning)
                end = path.solve(region)
            margins = crowd.margins(end.metric.reshape(-1, d, d), end.points.reshape(shape))
            right = (margins > 0) + 0.5 * (margins == 0)
            loss, accuracy = (
                float(crowd.problem_shares @ crowd.mean(values))
                for values in (self.problem.loss.value(margins), right)
            )
            scores.append((loss, accuracy))
            if tell is not None:
                tell()
        return scores, Solution(end.metric, end.points, end.certificate)


class Folds:
    """Folds in which radii of candidates are tried, and recorded.

    Parameters
    ----------
    answers : list of pairs of Answers
        For each fold what to learn from and what is left out.
    record : Record
        To which every trial is added.
    line : ProgressLine, optional
        Told about every fit.
    planned : int
        How many radii are going to be tried, for an estimate of the time left.
    n_jobs : int, optional
        How many processes walk; as everywhere in scikit-learn.
    **settings
        Of `Path`; its callback is not asked in other processes.
    """

    def __init__(
        self,
        answers: list[tuple[Answers, Answers]],
        record: Record,
        line: ProgressLine | None,
        planned: int,
        n_jobs: int | None,
        **settings: Any,
    ) -> None:
        """Try nothing yet."""
        self._answers, self.record, self._line = answers, record, line
        self._jobs = effective_n_jobs(n_jobs)
        self._settings = settings if self._jobs == 1 else settings | {"callback": None}
        self._done, self._planned = 0, planned * len(answers)
        self._begun = time.perf_counter()
        self._ends: dict[tuple[Candidate, int], Solution] = {}

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
        tasks = [(one, radii, fold) for one, radii in new for fold in range(len(self._answers))]
        walked = self._walks(tasks)
        for one, radii in new:
            by_fold = np.array([next(walked) for _ in self._answers])
            for place, tried in enumerate(radii):
                losses, accuracies = by_fold[:, place].T
                self.record.add(Trial(one, tried, losses, accuracies))

    def _walks(self, tasks: list[tuple[Candidate, list[Radii], int]]) -> Iterator[Scores]:
        """Yield the scores of each task, in order."""
        inside = self._jobs == 1
        calls = []
        for candidate, radii, number in tasks:
            train, test = self._answers[number]
            fold = Fold(replace(candidate.problem, answers=train), test, self._settings)
            regions = [candidate.family(*one) for one in radii]
            start = self._ends.get((candidate, number))
            calls.append(delayed(fold.walk)(regions, start, self._tell if inside else None))
        found = Parallel(n_jobs=self._jobs, return_as="generator")(calls)
        for (candidate, radii, number), (scores, end) in zip(tasks, found, strict=True):
            self._ends[candidate, number] = end
            if not inside:
                self._tell(len(radii))
            yield scores

    def _tell(self, count: int = 1) -> None:
        """Keep the line of progress."""
        self._done += count
        if self._line is not None:
            spent = time.perf_counter() - self._begun
            total = max(self._planned, self._done)
            self._line(Counted(self._done, 0.0, 0.0, 0.0, spent, total))


def answers_of_folds(
    comparisons: Comparisons, splits: Iterable[Split], ties: Ties
) -> list[tuple[Answers, Answers]]:
    """Return the answers to learn from and those left out, fold by fold.

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
    list of pairs of Answers
        One pair for each fold.

    Examples
    --------
    >>> data = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 1])
    >>> answers_of_folds(data, [(np.array([0]), np.array([1]))], "half")
    [(Answers(1 answers, 1 users, 3 items), Answers(1 answers, 1 users, 3 items))]
    """
    found = []
    for number, (train, test) in enumerate(splits, start=1):
        try:
            pair = (comparisons.subset(rows).answers(ties) for rows in (train, test))
            found.append((next(pair), next(pair)))
        except DataError as error:
            raise DataError(f"fold {number} of the cross-validation: {error}") from error
    return found
