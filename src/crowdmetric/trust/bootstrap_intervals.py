"""Intervals: from what an estimate is off by in resamples to where the truth may be."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from crowdmetric.checks import Floats

__all__ = ["Interval", "interval", "share_interval"]


@dataclass(frozen=True, eq=False)
class Interval:
    """Where the truth may be, for one quantity or an array of them.

    Parameters
    ----------
    fit : ndarray
        What the model says. Its radius draws it towards zero, so that it can lie outside.
    estimate : ndarray
        The middle of what the answers say, without that bias.
    low, high : ndarray
        The ends.

    Examples
    --------
    >>> Interval(*(np.array(x) for x in (0.4, 0.5, 0.3, 0.7))).covers(np.array([0.2, 0.6]))
    array([False,  True])
    """

    fit: Floats
    estimate: Floats
    low: Floats
    high: Floats

    def covers(self, truth: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return whether the intervals hold the truth.

        Parameters
        ----------
        truth : array-like
            True values.

        Returns
        -------
        ndarray of bool
            One for each.
        """
        true = np.asarray(truth, dtype=np.float64)
        slack = 1e-9 * (1.0 + np.abs(true))  # of rounding
        inside = (self.low - slack <= true) & (true <= self.high + slack)
        return np.asarray(inside, dtype=np.bool_)

    def __getitem__(self, index: Any) -> Interval:
        """Return the intervals of some of the quantities."""
        return Interval(*(np.asarray(part[index]) for part in vars(self).values()))


def interval(
    fit: Floats,
    free: Floats,
    errors: Floats,
    level: float,
    least: float = -np.inf,
    most: float = np.inf,
) -> Interval:
    """Return what an estimate leaves open, given how far off it is in resamples.

    The basic bootstrap: if estimates come out too high by so much, the truth is that much lower.

    Parameters
    ----------
    fit : ndarray
        The quantity in the model.
    free : ndarray
        The quantity in the estimate without the region's bias.
    errors : ndarray, one row for each resample
        What the estimate from the resample is off by.
    level : float
        How probable the interval shall be to hold the truth.
    least, most : float
        Where the truth must be in any case.

    Returns
    -------
    Interval
        Of the same shape.

    Examples
    --------
    >>> errors = np.arange(-9.0, 10.0)
    >>> found = interval(np.array(1.0), np.array(2.0), errors, 0.9, least=0.0)
    >>> float(found.low), float(found.estimate), float(found.high)
    (0.0, 2.0, 11.0)
    """
    tail = (1.0 - level) / 2
    shares = [tail, 0.5, 1.0 - tail]
    low, middle, high = np.quantile(errors, shares, axis=0, method="weibull")
    ends = (np.clip(free - off, least, most) for off in (middle, high, low))
    return Interval(np.asarray(fit), *ends)


def share_interval(share: Floats, count: Floats, fit: Floats, level: float) -> Interval:
    """Return the interval of Wilson (1927) for a share of answers.

    Parameters
    ----------
    share : ndarray
        What was found.
    count : ndarray
        In how many answers; where in none, the interval is everything.
    fit : ndarray
        What the model says of the answers that it has seen.
    level : float
        How probable the interval shall be to hold the truth.

    Returns
    -------
    Interval
        Between 0 and 1.

    Examples
    --------
    >>> found = share_interval(np.array(0.8), np.array(100.0), np.array(0.85), 0.9)
    >>> print(f"{found.low:.3f} {found.high:.3f}")
    0.727 0.857
    """
    z = NormalDist().inv_cdf((1.0 + level) / 2)
    asked = np.maximum(count, 1e-9)
    known = np.where(count > 0, share, 0.5)
    centre = (known + z**2 / (2 * asked)) / (1 + z**2 / asked)
    width = z * np.sqrt(known * (1 - known) / asked + z**2 / (4 * asked**2)) / (1 + z**2 / asked)
    ends = (np.clip(end, 0.0, 1.0) for end in (centre - width, centre + width))
    return Interval(np.asarray(fit), np.asarray(share), *ends)
