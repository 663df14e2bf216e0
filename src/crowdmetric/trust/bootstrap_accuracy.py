"""Accuracy that a fit will have, from the answers that each refit has not seen.

A fit predicts the answers it was made from too well, and a refit others not well enough: a
resample holds only 63.2% of the answers. Efron's .632 estimate takes that much of the one and the
rest of the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric.checks import Floats
from crowdmetric.model.scoring import scores
from crowdmetric.trust.bootstrap_intervals import Interval, share_interval

__all__ = ["Unseen"]

_UNSEEN = 0.632


@dataclass(frozen=True, eq=False)
class Unseen:
    """How often each comparison was predicted: by the fit, and by refits that had not seen it.

    Parameters
    ----------
    user, left, right : ndarray of int
        The comparisons, as rows of the model.
    response : ndarray
        -1: left; 1: right; 0: a tie.
    weight : ndarray
        How much each counts.
    x : ndarray of shape (n, d)
        The items.
    n_users : int
        How many users there are.

    Examples
    --------
    >>> from crowdmetric.model import example
    >>> model = example()
    >>> unseen = Unseen(
    ...     *np.array([[0, 0], [0, 1], [1, 2]]), np.array([-1, 1]), np.ones(2), model.x, 2
    ... )
    >>> unseen.predicted(model.metric, model.points)
    array([1., 0.])
    """

    user: npt.NDArray[np.integer]
    left: npt.NDArray[np.integer]
    right: npt.NDArray[np.integer]
    response: Floats
    weight: Floats
    x: Floats
    n_users: int

    def predicted(self, metric: Floats, points: Floats) -> Floats:
        """Return 1 for each comparison predicted, 0 for each missed, 1/2 for each tie.

        Parameters
        ----------
        metric, points : ndarray
            A fit.

        Returns
        -------
        ndarray of float
            One for each comparison.
        """
        table = scores(metric, points, self.x)
        margins = table[self.user, self.left] - table[self.user, self.right]
        result: Floats = 0.5 * (1.0 + self.response * np.where(margins < 0, -1.0, 1.0))
        return result

    def expected(self, seen: Floats, unseen: Floats, times: Floats) -> Floats:
        """Return how probably a fit predicts each comparison without having seen it.

        Parameters
        ----------
        seen : ndarray
            Whether the fit predicts it.
        unseen : ndarray
            How many refits without it do.
        times : ndarray
            How many refits were without it.

        Returns
        -------
        ndarray of float
            The .632 estimate; of a comparison that no refit was without, nan.
        """
        share = np.divide(unseen, times, out=np.full(len(times), np.nan), where=times > 0)
        result: Floats = _UNSEEN * share + (1 - _UNSEEN) * seen
        return result

    def of_crowd(self, expected: Floats, seen: Floats, level: float) -> Interval:
        """Return the accuracy over all comparisons.

        Parameters
        ----------
        expected, seen : ndarray
            From `expected` and `predicted`.
        level : float
            How probable the interval shall be to hold the truth.

        Returns
        -------
        Interval
            Of one number.
        """
        everybody = np.zeros(len(expected), dtype=np.intp)
        return self._by(everybody, 1, expected, seen, level)[0]

    def of_users(self, expected: Floats, seen: Floats, level: float) -> Interval:
        """Return the accuracy of each user; parameters as in `of_crowd`.

        Parameters
        ----------
        expected, seen, level
            As in `of_crowd`.

        Returns
        -------
        Interval
            One for each user.
        """
        return self._by(self.user, self.n_users, expected, seen, level)

    def _by(
        self,
        group: npt.NDArray[np.integer],
        count: int,
        expected: Floats,
        seen: Floats,
        level: float,
    ) -> Interval:
        """Return the weighted means of groups, with as many answers as the weights amount to."""
        weight = np.where(np.isfinite(expected), self.weight, 0.0)
        total, squares, hits, fits = (
            np.bincount(group, values, minlength=count)
            for values in (
                weight, weight**2, weight * np.nan_to_num(expected), weight * seen
            )
        )  # fmt: skip
        some = np.where(total > 0, total, np.nan)
        size = np.divide(total**2, squares, out=np.zeros(count), where=squares > 0)
        return share_interval(hits / some, size, fits / some, level)
