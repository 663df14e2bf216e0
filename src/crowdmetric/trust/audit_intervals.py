"""Intervals for means of answers: of one person, or of a group of persons."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import norm
from scipy.stats import t as student

from crowdmetric.checks import Floats

__all__ = ["Interval", "mean_interval", "share_interval"]

Codes = npt.NDArray[np.integer]


class Interval(NamedTuple):
    """A number with the interval it is known to.

    Parameters
    ----------
    value : float
        The estimate.
    low, high : float
        The ends of the interval; nan where the data do not give one.

    Examples
    --------
    >>> Interval(0.8, 0.7, 0.9).high
    0.9
    """

    value: float
    low: float
    high: float


def share_interval(values: Floats, weight: Floats, person: Codes, level: float = 0.95) -> Interval:
    """Return the mean of values between 0 and 1, with its interval.

    Of one person it is Wilson's, about further answers of theirs. Of several persons it is the
    wider of Wilson's and that of `mean_interval`, which is about further persons like them.

    Parameters
    ----------
    values : ndarray of shape (m,)
        For each answer, 1 if it was predicted, 0 if not, 1/2 for a tie.
    weight : ndarray of shape (m,)
        How much each answer counts; positive.
    person : ndarray of int, shape (m,)
        Who gave it.
    level : float
        How often such intervals are to cover.

    Returns
    -------
    Interval
        Never without ends.

    Examples
    --------
    >>> one = share_interval(np.array([1.0]), np.ones(1), np.array([0]))
    >>> print(f"{one.value:.0%}, between {one.low:.0%} and {one.high:.0%}")
    100%, between 21% and 100%
    """
    share = float(weight @ values / weight.sum())
    # Unequal weights count as the number of equal ones whose mean varies as much (Kish).
    count = float(weight.sum() ** 2 / (weight @ weight))
    z = float(norm.isf((1 - level) / 2))
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z / (1 + z**2 / count) * np.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    low, high = max(0.0, float(middle - half)), min(1.0, float(middle + half))
    if (person != person[0]).any():
        among = mean_interval(values, weight, person, level)
        low, high = min(low, max(0.0, among.low)), max(high, min(1.0, among.high))
    return Interval(share, min(low, share), max(high, share))


def mean_interval(values: Floats, weight: Floats, person: Codes, level: float = 0.95) -> Interval:
    """Return a mean with its interval from the spread among persons, or among one's answers.

    Parameters
    ----------
    values, weight, person, level
        As in `share_interval`; values may be any numbers.

    Returns
    -------
    Interval
        With Student's quantile for as many units; without ends if there is but one answer.

    Examples
    --------
    >>> values, person = np.array([1.0, 2.0, 3.0, 2.0]), np.array([0, 0, 1, 1])
    >>> mean_interval(values, np.ones(4), person).value
    2.0
    """
    total = float(weight.sum())
    mean = float(weight @ values / total)
    away = weight * (values - mean) / total  # what each answer adds to the error, to first order
    _, unit = np.unique(person, return_inverse=True)
    if not unit.any():
        unit = np.arange(len(values))
    parts = np.bincount(unit, away)
    count = len(parts)
    if count < 2:
        return Interval(mean, np.nan, np.nan)
    error = np.sqrt(parts @ parts * count / (count - 1))
    half = float(student.isf((1 - level) / 2, count - 1) * error)
    return Interval(mean, mean - half, mean + half)
