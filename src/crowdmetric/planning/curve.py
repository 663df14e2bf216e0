"""The learning curve: what trials measured at each size, and where it crosses a target."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression

from crowdmetric.checks import Floats
from crowdmetric.planning.target import Target

__all__ = ["Curve", "Needed", "needed"]

_RESAMPLES = 2000
_INTERVAL = (0.025, 0.975)
_MOST = 0.8  # of studies: what is usually asked of the power of a study


@dataclass(frozen=True, eq=False)
class Curve:
    """A measure for each trial and size.

    Parameters
    ----------
    sizes : ndarray of shape (S,)
        Comparisons per person, ascending.
    values : ndarray of shape (trials, S)
        What came out.

    Examples
    --------
    >>> curve = Curve(np.array([5, 10]), np.array([[0.6, 0.8], [0.8, 0.8]]))
    >>> curve.mean.round(6), curve.error.round(6)
    (array([0.7, 0.8]), array([0.1, 0. ]))
    >>> curve.met(Target("accuracy", 0.8))
    array([0.5, 1. ])
    """

    sizes: npt.NDArray[np.int64]
    values: Floats

    @property
    def mean(self) -> Floats:
        """The mean over trials."""
        return np.asarray(self.values.mean(axis=0))

    @property
    def error(self) -> Floats:
        """The standard error of the mean."""
        return np.asarray(self.values.std(axis=0, ddof=1) / math.sqrt(len(self.values)))

    def met(self, target: Target) -> Floats:
        """Return the share of trials that reach a target, for each size."""
        return np.asarray(target.met(self.values).mean(axis=0))


@dataclass(frozen=True)
class Needed:
    """How many comparisons per person a target takes; None is more than were tried.

    Parameters
    ----------
    pairs : int or None
        So that the mean over studies reaches it; not fewer than the first size tried.
    low, high : int or None
        The ends of a 95% interval for that number.
    pairs_for_most : int or None
        So that 8 of 10 studies reach it.
    """

    pairs: int | None
    low: int | None
    high: int | None
    pairs_for_most: int | None


def needed(curve: Curve, target: Target, seed: int = 0) -> Needed:
    """Return where a learning curve reaches a target.

    Between sizes, the curve is drawn straight on an axis of doublings, after it has been made
    monotone (by isotonic regression): more answers are never worse. The interval is the
    bootstrap's, over trials.

    Parameters
    ----------
    curve : Curve
        Of the target's measure.
    target : Target
        What to reach.
    seed : int
        Of the bootstrap.

    Returns
    -------
    Needed
        In comparisons per person.

    Examples
    --------
    >>> curve = Curve(np.array([5, 20]), np.array([[0.6, 0.8], [0.6, 0.8]]))
    >>> needed(curve, Target("accuracy", 0.7))
    Needed(pairs=10, low=10, high=10, pairs_for_most=16)
    >>> needed(curve, Target("accuracy", 0.9)).pairs is None
    True
    """
    trials = len(curve.values)
    chosen = np.random.default_rng(seed).integers(trials, size=(_RESAMPLES, trials))
    crossings = np.sort(
        [
            _crossing(curve.sizes, curve.values[rows].mean(axis=0), target.value, target.rises)
            for rows in chosen
        ]
    )
    low, high = (crossings[round(share * (_RESAMPLES - 1))] for share in _INTERVAL)
    return Needed(
        pairs=_whole(_crossing(curve.sizes, curve.mean, target.value, target.rises)),
        low=_whole(low),
        high=_whole(high),
        pairs_for_most=_whole(_crossing(curve.sizes, curve.met(target), _MOST, True)),
    )


def _crossing(sizes: npt.NDArray[np.int64], level: Floats, goal: float, rises: bool) -> float:
    """Return where a level reaches a goal; infinity if it does not."""
    monotone = isotonic_regression(level, increasing=rises).x
    reached = monotone >= goal if rises else monotone <= goal
    if not reached.any():
        return math.inf
    at = int(reached.argmax())
    if at == 0:
        return float(sizes[0])
    before, after = monotone[at - 1 : at + 1]
    share = (goal - before) / (after - before)
    return float(sizes[at - 1] * (sizes[at] / sizes[at - 1]) ** share)


def _whole(pairs: float) -> int | None:
    """Return a number of comparisons that is enough; None if none is."""
    return None if math.isinf(pairs) else math.ceil(pairs - 1e-6)
