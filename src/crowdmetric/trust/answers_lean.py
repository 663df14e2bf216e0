"""The side that people lean to: answers for the left beyond what chance, or the items, explain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import binomtest

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons

__all__ = ["Lean", "lean"]

_LEVEL = 0.9
_ONE_SIDED = 0.9  # the share of answers for one side from which a person stands out
_CHANCE = 1e-3  # how improbable that must be for who tosses coins


@dataclass(frozen=True, eq=False)
class Lean:
    """How often each person, and the crowd, answers "left".

    Parameters
    ----------
    answered : ndarray of shape (K,)
        How many answers each person gave, ties aside.
    ties : ndarray of shape (K,)
        The share of each person's answers that are ties; nan for who gave no answer.
    left : ndarray of shape (K,)
        The share of "left" among those that are not; nan for who gave none.
    low, high : ndarray of shape (K,)
        Its interval (Wilson, 90%).
    crowd : tuple of float
        The mean over people, and its interval, which takes people as drawn at random.
    one_sided : ndarray of shape (K,)
        Who answered at least 90% for one side, more often than coins ever would.
    known : bool
        False if all answers are for one side: then the file tells winners from losers, not sides.

    Examples
    --------
    >>> lean(Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 1])).left
    array([0.5])
    """

    answered: Floats
    ties: Floats
    left: Floats
    low: Floats
    high: Floats
    crowd: tuple[float, float, float]
    one_sided: np.ndarray
    known: bool


def lean(comparisons: Comparisons) -> Lean:
    """Count the answers for the left.

    Where questions are the other way round as often for every item, as in a random order, taste
    adds up to one half, and what is left over is the side.

    Parameters
    ----------
    comparisons : Comparisons
        The answers; left and right as they were shown.

    Returns
    -------
    Lean
        One entry for each person.

    Examples
    --------
    >>> lean(Comparisons.from_arrays([[0, 0, 1]] * 20 + [[1, 0, 1]], [-1] * 20 + [1])).one_sided
    array([ True, False])
    """
    response, user, count = comparisons.response, comparisons.user, comparisons.n_users
    answers = np.bincount(user, minlength=count).astype(np.float64)
    tied = np.bincount(user, response == 0, minlength=count)
    lefts = np.bincount(user, response < 0, minlength=count)
    answered = answers - tied
    left, ties = np.full(count, np.nan), np.full(count, np.nan)
    np.divide(lefts, answered, out=left, where=answered > 0)
    np.divide(tied, answers, out=ties, where=answers > 0)
    low, high = _wilson(left, answered)
    known = bool(np.ptp(response[response != 0]) > 0) if answered.any() else False
    larger = np.maximum(lefts, answered - lefts).astype(int)
    one_sided = np.array(
        [
            known and n > 0 and top >= _ONE_SIDED * n and binomtest(top, int(n)).pvalue <= _CHANCE
            for top, n in zip(larger.tolist(), answered.tolist(), strict=True)
        ]
    )
    return Lean(answered, ties, left, low, high, _over_people(left), one_sided, known)


def _wilson(share: Floats, count: Floats) -> tuple[Floats, Floats]:
    """Return Wilson's interval of each share; nan where there is nothing to count."""
    z = float(ndtri((1 + _LEVEL) / 2))
    n = np.where(count > 0, count, np.nan)
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    return middle - reach, middle + reach


def _over_people(share: Floats) -> tuple[float, float, float]:
    """Return the mean over people and its interval; all of [0, 1] where one person answered."""
    some = share[np.isfinite(share)]
    if not len(some):
        return np.nan, 0.0, 1.0
    mean = float(some.mean())
    if len(some) < 2:
        return mean, 0.0, 1.0
    reach = float(ndtri((1 + _LEVEL) / 2) * some.std(ddof=1) / np.sqrt(len(some)))
    return mean, max(mean - reach, 0.0), min(mean + reach, 1.0)
