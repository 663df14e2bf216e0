"""The losses of radii on answers left out, fold by fold."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.comparisons import Answers, Comparisons, Ties
from crowdmetric.errors import DataError
from crowdmetric.estimator.radii import Family, Radii
from crowdmetric.problem import Problem
from crowdmetric.regions import Region
from crowdmetric.solver import Path, Progress, ProgressLine

__all__ = ["Folds", "Split", "Trial", "answers_of_folds"]

Floats = npt.NDArray[np.float64]
Split = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]


@dataclass(frozen=True)
class Trial(Progress):
    """What a progress line says about one fold of one trial of some radii.

    Examples
    --------
    >>> print(Trial(3, 0.52, 0.0, 0.0, 0.0, radii=(1.5, 2.0), fold=2, n_folds=5))
    cross-validation: trial 3, radii 1.5 and 2, fold 2 of 5, least loss left out 0.52
    """

    radii: Radii
    fold: int
    n_folds: int

    def __str__(self) -> str:
        """Return one line."""
        radii = " and ".join(f"{radius:.4g}" for radius in self.radii)
        so_far = f", least loss left out {self.risk:.4g}" if np.isfinite(self.risk) else ""
        return (
            f"cross-validation: trial {self.iteration}, radii {radii}, "
            f"fold {self.fold} of {self.n_folds}{so_far}"
        )


class Folds:
    """The losses left out of the radii tried so far.

    Parameters
    ----------
    problem : Problem
        What to minimise; its own answers and region are not used.
    answers : list of pairs of Answers
        For each fold what to learn from and what is left out.
    family : Family
        From radii to region.
    line : ProgressLine, optional
        Told about every fit.
    tol : float
        The gap at which a fit stops. Losses that differ by less count as equal.
    **settings
        More settings of `Path`.
    """

    def __init__(
        self,
        problem: Problem,
        answers: list[tuple[Answers, Answers]],
        family: Family,
        line: ProgressLine | None,
        tol: float,
        **settings: Any,
    ) -> None:
        """Prepare a path for each fold."""
        self._paths = [
            Path(replace(problem, answers=train), tol=tol, **settings) for train, _ in answers
        ]
        self._left_out = [replace(problem, answers=test).crowd() for _, test in answers]
        self._loss, self._family, self._line, self._tol = problem.loss, family, line, tol
        self._found: dict[Radii, tuple[Floats, Floats]] = {}

    def try_radii(self, radii: Radii) -> None:
        """Fit all folds with some radii, unless that was done before."""
        if radii in self._found:
            return
        region, found = self._family(*radii), []
        for fold in range(len(self._paths)):
            self._tell(radii, fold)
            found.append(self._left_out_by(fold, region))
        losses, accuracies = zip(*found, strict=True)
        self._found[radii] = (np.array(losses), np.array(accuracies))

    @property
    def tried(self) -> list[Radii]:
        """The radii, in the order in which they were tried."""
        return list(self._found)

    @property
    def best(self) -> Radii:
        """The first radii whose mean loss is the least, as far as the fits can tell."""
        least = min(map(self._mean_loss, self._found)) + self._tol
        return next(radii for radii in self._found if self._mean_loss(radii) <= least)

    def results(self) -> dict[str, Any]:
        """Return a table of what was tried."""
        losses = np.array([found[0] for found in self._found.values()])
        accuracies = np.array([found[1] for found in self._found.values()])
        return {
            "radii": self.tried,
            "mean_loss": losses.mean(axis=1),
            "std_loss": losses.std(axis=1),
            "mean_accuracy": accuracies.mean(axis=1),
        }

    def _mean_loss(self, radii: Radii) -> float:
        """Return the mean over the folds."""
        return float(self._found[radii][0].mean())

    def _left_out_by(self, fold: int, region: Region) -> tuple[float, float]:
        """Fit one fold, and return loss and accuracy on the answers left out."""
        with warnings.catch_warnings():
            # A fold that stops short still ranks the radii; the final fit is what must converge.
            warnings.simplefilter("ignore", NotConvergedWarning)
            solution = self._paths[fold].solve(region)
        crowd = self._left_out[fold]
        d = crowd.dimension
        shape = (crowd.n_problems, crowd.users_per_problem, d)
        margins = crowd.margins(solution.metric.reshape(-1, d, d), solution.points.reshape(shape))
        right = (margins > 0) + 0.5 * (margins == 0)
        loss, accuracy = (
            float(crowd.problem_shares @ crowd.mean(values))
            for values in (self._loss.value(margins), right)
        )
        return loss, accuracy

    def _tell(self, radii: Radii, fold: int) -> None:
        """Keep the line of progress."""
        if self._line is not None:
            least = self._mean_loss(self.best) if self._found else np.inf
            count = len(self._found) + 1
            trial = Trial(count, least, 0.0, 0.0, 0.0, radii, fold + 1, len(self._paths))
            self._line(trial)


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
