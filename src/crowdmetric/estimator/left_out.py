"""Margins of the answers left out, and what they are worth.

Within a large radius metric and points find the right directions sooner, but margins come out too
large: every fit is surer than it should be. How sure to be is one number, which the answers left
out tell well, so it is no reason to choose a smaller radius. The log-loss is therefore that of
probabilities made with this number, the sharpness, by which margins are multiplied.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric.losses import CurvedLoss, Link, Loss

__all__ = ["LeftOut"]

Floats = npt.NDArray[np.float64]

_LEAST = 1e-3  # sharpness: below, probabilities are all alike
_STEPS, _NEAR = 30, 1e-2  # Newton: the step after one of 1% is exact enough


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The answers left out of all folds, with their margins for some radii.

    Parameters
    ----------
    fold : ndarray of int, shape (m,)
        The fold that leaves each answer out.
    share : ndarray of shape (m,)
        Its weight among the answers of that fold, summing to 1 within each.
    margins : ndarray of shape (m,)
        z = y * delta: positive where the answer is predicted.

    Examples
    --------
    >>> from crowdmetric.losses import Logistic
    >>> z = np.array([4.0, 4.0, 4.0, -4.0])
    >>> sure = LeftOut(np.zeros(4, dtype=int), np.full(4, 0.25), z)
    >>> f"{sure.sharpness(Logistic()):.3f}"  # three of four are right: log 3 rather than 4
    '0.275'
    >>> sure.accuracies()
    array([0.75])
    """

    fold: npt.NDArray[np.integer]
    share: Floats
    margins: Floats

    @classmethod
    def joined(cls, parts: Sequence[LeftOut]) -> LeftOut:
        """Put the answers of several groups of folds together."""
        return cls(
            *(
                np.concatenate([getattr(part, name) for part in parts])
                for name in ("fold", "share", "margins")
            )
        )

    def sharpness(self, loss: Loss, most: float = 1.0) -> float:
        """Return by what to multiply margins, for the least loss on these answers.

        Parameters
        ----------
        loss : Loss
            Minus a log-likelihood; for any other, margins stay as they are.
        most : float
            Its bound. 1 to compare radii: fits that are not sure enough want a larger one.

        Returns
        -------
        float
            Below 1 if the fits are too sure of themselves.
        """
        if not (isinstance(loss, Link) and isinstance(loss, CurvedLoss) and self.margins.any()):
            return 1.0
        z, t = self.margins, 1.0
        for _ in range(_STEPS):
            slope = float(self.share @ (loss.slope(t * z) * z))
            bend = float(self.share @ (loss.curvature(t * z) * z**2))
            step = -slope / bend if bend > 0 else -math.copysign(math.inf, slope)
            new = float(np.clip(t + step, max(t / 9, _LEAST), min(9 * t, most)))
            if abs(new - t) <= _NEAR * t:
                return new
            t = new
        return t

    def losses(self, loss: Loss, sharpness: float) -> Floats:
        """Return the mean loss of each fold, margins multiplied by the sharpness."""
        return self._means(loss.value(sharpness * self.margins))

    def accuracies(self) -> Floats:
        """Return the accuracy in each fold; a margin of zero is half right."""
        return self._means((self.margins > 0) + 0.5 * (self.margins == 0))

    def _means(self, values: Floats) -> Floats:
        """Return the weighted mean in each fold."""
        return np.bincount(self.fold, self.share * values).astype(np.float64)
