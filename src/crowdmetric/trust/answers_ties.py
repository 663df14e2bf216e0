"""Ties: how near two items must be for a person to call them equal.

Fits read a tie as half an answer each way, which says where the margin is, but gives no probability
of another tie. With a band of half-width b around equality (Rao and Kupper, 1967), f the link:

    right  f(delta - b)        left  f(-delta - b)        tie  what is left over

The margins stay as they are; the band is the one under which the answers are most probable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons
from crowdmetric.errors import DataError
from crowdmetric.losses import Link

__all__ = ["TieBand", "tie_band"]

_LOGS = (-12.0, 12.0)  # of the band, between which it is looked for
_EDGE = 1e-300


@dataclass(frozen=True)
class TieBand:
    """The margins, either way, within which people call two items equal.

    Parameters
    ----------
    width : float
        Half the width of the band, in units of the margins; 0 where nobody ever tied.
    link : Link
        The loss of the fit, which gives the probabilities.

    Examples
    --------
    >>> from crowdmetric.losses import Logistic
    >>> TieBand(1.0, Logistic()).probabilities(np.array([0.0])).round(2)
    array([[0.27, 0.46, 0.27]])
    """

    width: float
    link: Link

    def probabilities(self, margins: Floats) -> Floats:
        """Return how probable left, tie and right are.

        Parameters
        ----------
        margins : ndarray of shape (m,)
            Negative where left is preferred.

        Returns
        -------
        ndarray of shape (m, 3)
            In that order.

        Examples
        --------
        >>> from crowdmetric.losses import Probit
        >>> TieBand(0.0, Probit()).probabilities(np.array([0.0]))
        array([[0.5, 0. , 0.5]])
        """
        left = self.link.probability(-margins - self.width)
        right = self.link.probability(margins - self.width)
        return np.column_stack([left, np.maximum(1 - left - right, 0.0), right])


def tie_band(comparisons: Comparisons, margins: Floats, link: Link) -> TieBand:
    """Estimate the band from answers and their margins.

    Parameters
    ----------
    comparisons : Comparisons
        Answers with ties.
    margins : ndarray of shape (m,)
        The margin of each; best from answers that the fit has not seen.
    link : Link
        The loss of the fit: logistic or probit.

    Returns
    -------
    TieBand
        The band of greatest likelihood.

    Examples
    --------
    >>> from crowdmetric.losses import Logistic
    >>> answers = Comparisons.from_arrays([[0, 0, 1]] * 4, [-1, 0, 0, 1])
    >>> found = tie_band(answers, np.zeros(4), Logistic())
    >>> found.probabilities(np.zeros(1)).round(2)
    array([[0.25, 0.5 , 0.25]])
    """
    if len(margins) != len(comparisons):
        raise DataError(
            f"there are {len(margins)} margins for {len(comparisons)} answers; give one for each"
        )
    tied = comparisons.response == 0
    if not tied.any():
        return TieBand(0.0, link)
    if tied.all():
        raise DataError("every answer is a tie, so no band is wide enough; ask about other items")
    weight = np.ones(len(tied)) if comparisons.weight is None else comparisons.weight
    column = comparisons.response.astype(np.int64) + 1
    rows = np.arange(len(tied))

    def cost(log_width: float) -> float:
        chosen = TieBand(float(np.exp(log_width)), link).probabilities(margins)[rows, column]
        return -float(weight @ np.log(np.maximum(chosen, _EDGE)))

    spread = float(np.log(np.sqrt(np.mean(margins**2)) or 1.0))
    low, high = spread + _LOGS[0], spread + _LOGS[1]
    found = minimize_scalar(cost, bounds=(low, high), method="bounded", options={"xatol": 1e-9})
    return TieBand(float(np.exp(found.x)), link)
