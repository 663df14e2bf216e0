"""One user, random pairs: sizes at which they determine metric and point (sec:single-user)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from crowdmetric.errors import SettingError
from crowdmetric.planning.random_designs import RandomPairs
from crowdmetric.planning.waiting import SimulatedCounts, check_failure

__all__ = ["GOLDEN_RATIO", "SingleUserSizes", "single_user_sizes"]

GOLDEN_RATIO = (1 + math.sqrt(5)) / 2


@dataclass(frozen=True)
class SingleUserSizes:
    """How many items and random pairs let one user's answers determine metric and point.

    Parameters
    ----------
    n_items : int
        The number of items n.
    pairs : int
        The number of random pairs m.
    rank : int
        The rank D + d that they reach.
    failure : float
        How probable it is, at most, that they do not.

    Examples
    --------
    >>> SingleUserSizes(n_items=10, pairs=28, rank=5, failure=0.05).simulate(trials=200).mean < 28
    True
    """

    n_items: int
    pairs: int
    rank: int
    failure: float

    def simulate(self, trials: int = 1000, seed: int = 0) -> SimulatedCounts:
        """Draw random pairs of so many items until they reach the rank.

        Parameters
        ----------
        trials, seed : int
            As in `RandomPairs.simulate`.

        Returns
        -------
        SimulatedCounts
            The numbers of pairs that it took.

        Examples
        --------
        >>> single_user_sizes(dimension=2).simulate(trials=200).share_above(28)
        0.0
        """
        return RandomPairs(self.n_items, self.rank).simulate(trials, seed)


def single_user_sizes(
    dimension: int, failure: float = 0.05, slack: float = GOLDEN_RATIO
) -> SingleUserSizes:
    """Return sizes at which one user's random pairs suffice (cor:contFull, sec:single-user).

    With n at least sqrt(1 + slack) (D + d) + 1 items, (1 + 1 / slack) (1 + ln(1 / delta))
    (D + d - 1) + 1 random pairs have rank D + d. With the golden ratio as slack, both factors are
    the golden ratio too: 1.62 times as many items and pairs as the least, but for the logarithm.

    Parameters
    ----------
    dimension : int
        The number of features d; D = d (d + 1) / 2.
    failure : float
        How probable it may be that the rank is not reached (delta).
    slack : float
        The gamma of sec:single-user, positive: more slack, more items and fewer pairs.

    Returns
    -------
    SingleUserSizes
        Both numbers, rounded up.

    Examples
    --------
    >>> single_user_sizes(dimension=2)
    SingleUserSizes(n_items=10, pairs=27, rank=5, failure=0.05)
    """
    check_failure(failure)
    if dimension < 1:
        raise SettingError(f"the dimension must be at least 1, not {dimension}")
    if not (slack > 0 and math.isfinite(slack)):
        raise SettingError(f"the slack must be a positive number, not {slack}")
    rank = dimension * (dimension + 1) // 2 + dimension
    n_items = math.ceil(math.sqrt(1 + slack) * rank + 1)
    pairs = math.ceil((1 + 1 / slack) * (1 + math.log(1 / failure)) * (rank - 1)) + 1
    return SingleUserSizes(n_items, pairs, rank, failure)
