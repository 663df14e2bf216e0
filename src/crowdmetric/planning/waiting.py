"""Waiting for random pairs: the law of a sum of waiting times, and simulated ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric.errors import SettingError

__all__ = ["SimulatedCounts", "Waiting", "check_failure", "random_pairs"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_NEGLIGIBLE = 1e-18  # times the number of steps: the largest error of a probability


class Waiting:
    """Who is at which step, as probabilities, when each step fails with its own probability.

    After m draws, `unfinished` is the probability that a sum of independent geometric waiting
    times, one per step, exceeds m: the B of cor:CvsB.

    Parameters
    ----------
    failing : ndarray of shape (steps,)
        The probability, at each step, that a draw does not lead to the next one.

    Examples
    --------
    >>> waiting = Waiting(np.array([0.0, 0.5]))
    >>> for _ in range(3):
    ...     waiting.draw()
    >>> waiting.unfinished
    0.25
    """

    def __init__(self, failing: Floats) -> None:
        """Everybody is at the first step; the place after the last is the end."""
        self._passing = 1.0 - failing
        self._at = np.zeros(len(failing) + 1)
        self._at[0] = 1.0
        self._first, self._last = 0, 0  # steps with anybody to speak of: with many, these are few
        self._left_behind = 0.0

    def draw(self) -> None:
        """Let everybody try once.

        Who is far ahead of nearly all waits for them, and who is far behind never ends: too few
        to count, and an error on the safe side.
        """
        if self._first == len(self._passing):
            return
        at = self._at[self._first : self._last + 2]
        passed = at[:-1] * self._passing[self._first : self._last + 1]
        at[:-1] -= passed
        at[1:] += passed
        if self._last + 1 < len(self._passing):
            if at[-1] > _NEGLIGIBLE:
                self._last += 1
            else:
                at[-2] += at[-1]
                at[-1] = 0.0
        while self._first < self._last and self._at[self._first] < _NEGLIGIBLE:
            self._left_behind += self._at[self._first]
            self._first += 1

    @property
    def unfinished(self) -> float:
        """The probability that not all steps are done."""
        here = self._at[self._first : min(self._last + 1, len(self._passing))]
        return float(self._left_behind + here.sum())


@dataclass(frozen=True, eq=False)
class SimulatedCounts:
    """How many pairs each trial took.

    Parameters
    ----------
    counts : ndarray of int, shape (trials,)
        One number per trial.

    Examples
    --------
    >>> drawn = SimulatedCounts(np.array([2, 2, 3, 5]))
    >>> drawn.mean, drawn.quantile(0.5), drawn.share_above(3)
    (3.0, 2, 0.25)
    """

    counts: Integers

    @property
    def mean(self) -> float:
        """The average over trials.

        Examples
        --------
        >>> SimulatedCounts(np.array([2, 3])).mean
        2.5
        """
        return float(self.counts.mean())

    @property
    def standard_error(self) -> float:
        """How uncertain the average is, as a standard deviation.

        Examples
        --------
        >>> SimulatedCounts(np.array([2, 2, 4, 4])).standard_error
        0.5
        """
        return float(self.counts.std() / math.sqrt(len(self.counts)))

    def quantile(self, share: float) -> int:
        """Return the least count that was enough in that share of the trials.

        Parameters
        ----------
        share : float
            Between 0 and 1.

        Returns
        -------
        int
            The count.

        Examples
        --------
        >>> SimulatedCounts(np.arange(1, 101)).quantile(0.95)
        95
        """
        return int(np.quantile(self.counts, share, method="inverted_cdf"))

    def share_above(self, count: float) -> float:
        """Return the share of trials that took more pairs than that.

        Parameters
        ----------
        count : float
            A number of pairs.

        Returns
        -------
        float
            The share.

        Examples
        --------
        >>> SimulatedCounts(np.arange(1, 101)).share_above(90)
        0.1
        """
        return float((self.counts > count).mean())


def random_pairs(n_items: int, count: int, generator: np.random.Generator) -> Integers:
    """Draw pairs of distinct items, uniformly and with replacement.

    Parameters
    ----------
    n_items, count : int
        How many items there are, and how many pairs to draw.
    generator : Generator
        Where the randomness comes from.

    Returns
    -------
    ndarray of int, shape (count, 2)
        The pairs, each in random order.

    Examples
    --------
    >>> random_pairs(2, 3, np.random.default_rng(0)).sum(axis=1)
    array([1, 1, 1])
    """
    left = generator.integers(n_items, size=count)
    right = generator.integers(n_items - 1, size=count)
    return np.column_stack([left, right + (right >= left)])


def check_failure(failure: float) -> None:
    """Refuse what is not a probability strictly between 0 and 1.

    Parameters
    ----------
    failure : float
        A probability that something does not hold.

    Examples
    --------
    >>> check_failure(2.0)
    Traceback (most recent call last):
    crowdmetric.errors.SettingError: the failure probability must lie between 0 and 1, not 2.0
    """
    if not 0 < failure < 1:
        raise SettingError(f"the failure probability must lie between 0 and 1, not {failure}")
