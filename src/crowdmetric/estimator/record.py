"""What was tried, how it did on answers left out, and which of it is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from crowdmetric.errors import SettingError, did_you_mean
from crowdmetric.estimator.candidates import Candidate
from crowdmetric.estimator.left_out import LeftOut
from crowdmetric.estimator.radii import Radii

__all__ = ["SCORINGS", "Record", "Trial"]

Floats = npt.NDArray[np.float64]

SCORINGS = ("log-loss", "accuracy")
"""What may be asked of the answers left out."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Some radii of a candidate, and what they did on the answers left out.

    Parameters
    ----------
    candidate : Candidate
        Region, loss and feature map.
    radii : tuple of float
        The radii.
    losses, accuracies : ndarray of shape (number of folds,)
        On the answers left out of each fold.
    sharpness : float
        By what margins were multiplied for these losses.
    """

    candidate: Candidate
    radii: Radii
    losses: Floats
    accuracies: Floats
    sharpness: float = 1.0

    @classmethod
    def of(cls, candidate: Candidate, radii: Radii, left_out: LeftOut) -> Trial:
        """Judge radii by the answers left out."""
        loss = candidate.problem.loss
        sharpness = left_out.sharpness(loss)
        losses = left_out.losses(loss, sharpness)
        return cls(candidate, radii, losses, left_out.accuracies(), sharpness)


class Record:
    """All trials, and the rules by which one of them is chosen.

    Parameters
    ----------
    scoring : {"log-loss", "accuracy"}
        What to compare. Equal accuracies are told apart by their losses.
    tolerance : float
        Losses that differ by less count as equal: fits are not more precise.

    Examples
    --------
    >>> record = Record("accuracy", 0.0)
    >>> for radius, right in [(1.0, 0.5), (2.0, 0.75)]:
    ...     record.add(Trial(None, (radius,), np.array([0.7]), np.array([right])))
    >>> record.best().radii
    (2.0,)
    """

    def __init__(self, scoring: str, tolerance: float) -> None:
        """Start with no trials."""
        if scoring not in SCORINGS:
            hint = did_you_mean(scoring, SCORINGS) or f"; choose from {', '.join(SCORINGS)}"
            raise SettingError(f"there is no scoring {scoring!r}{hint}")
        self._by_accuracy, self._tolerance = scoring == "accuracy", tolerance
        self.trials: list[Trial] = []

    def add(self, trial: Trial) -> None:
        """Add a trial.

        Parameters
        ----------
        trial : Trial
            The next one.
        """
        self.trials.append(trial)

    def has(self, candidate: Candidate, radii: Radii) -> bool:
        """Return whether some radii of a candidate have been tried."""
        return any(one.candidate is candidate and one.radii == radii for one in self.trials)

    def radii_of(self, candidate: Candidate) -> list[Radii]:
        """Return the radii tried of a candidate."""
        return [one.radii for one in self.trials if one.candidate is candidate]

    def best(self, candidate: Candidate | None = None) -> Trial:
        """Return the first trial that is best, as far as the fits can tell.

        Parameters
        ----------
        candidate : Candidate, optional
            Look only at its trials.

        Returns
        -------
        Trial
            One of those added.
        """
        trials = [one for one in self.trials if candidate in (None, one.candidate)]
        if self._by_accuracy:
            most = max(float(one.accuracies.mean()) for one in trials)
            trials = [one for one in trials if one.accuracies.mean() >= most - 1e-12]
        least = min(float(one.losses.mean()) for one in trials) + self._tolerance
        return next(one for one in trials if one.losses.mean() <= least)

    def simplest(self) -> Trial:
        """Return the smallest region that the folds cannot tell from the best (one standard error).

        Returns
        -------
        Trial
            Of the best one's region, loss and feature map, with the least product of radii.
        """
        best = self.best()
        cost = self._costs(best)
        limit = cost.mean() + cost.std(ddof=1) / np.sqrt(len(cost))
        near = [
            one
            for one in self.trials
            if one.candidate is best.candidate and self._costs(one).mean() <= limit
        ]
        return min(near, key=lambda one: float(np.prod(one.radii)))

    def results(self) -> dict[str, Any]:
        """Return a table of what was tried."""
        losses = np.array([one.losses for one in self.trials])
        accuracies = np.array([one.accuracies for one in self.trials])
        return {
            "radii": [one.radii for one in self.trials],
            "region": self._column(lambda one: one.region),
            "loss": self._column(lambda one: one.problem.loss),
            "features": self._column(lambda one: one.features),
            "sharpness": np.array([one.sharpness for one in self.trials]),
            "mean_loss": losses.mean(axis=1),
            "std_loss": losses.std(axis=1),
            "mean_accuracy": accuracies.mean(axis=1),
            "std_accuracy": accuracies.std(axis=1),
        }

    def _costs(self, trial: Trial) -> Floats:
        """Return what is compared, fold by fold: the less the better."""
        return 1.0 - trial.accuracies if self._by_accuracy else trial.losses

    def _column(self, what: Callable[[Candidate], Any]) -> list[Any]:
        """Return something about each trial's candidate."""
        return [what(one.candidate) for one in self.trials]
