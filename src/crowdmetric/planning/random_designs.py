"""How many random pairs reach a rank: the paper's bounds, each beside a simulation.

Pairs of items are the edges of a graph, and the rank of their selection matrix is the number of
items less that of connected components. A random pair fails to raise the rank if both its items
are already in one component; waiting for the pairs that do is what the bounds are about
(sec:charselect of the paper).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components

from crowdmetric.errors import SettingError
from crowdmetric.identify.selection import independent_rows, selection_matrix, selection_rank
from crowdmetric.planning.waiting import SimulatedCounts, Waiting, check_failure, random_pairs

__all__ = [
    "RandomPairs",
    "repeat_probability",
    "repeat_probability_bounds",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def repeat_probability_bounds(rank: int, n_items: int) -> tuple[float, float]:
    """Return bounds on the probability that a random pair adds nothing (lemma:newspan).

    Parameters
    ----------
    rank : int
        The rank of the pairs so far.
    n_items : int
        The number of items n.

    Returns
    -------
    tuple of float
        2 r / (n (n - 1)), which is exact while no two of r pairs share an item, and
        r (r + 1) / (n (n - 1)), which is exact when r pairs connect r + 1 items.

    Examples
    --------
    >>> low, high = repeat_probability_bounds(2, 5)
    >>> print(f"{low:.2f} {high:.2f}")
    0.20 0.30
    """
    _check_rank(rank, n_items, "the rank of the pairs so far")
    pairs = n_items * (n_items - 1)
    return 2 * rank / pairs, rank * (rank + 1) / pairs


def repeat_probability(pairs: npt.ArrayLike, n_items: int) -> float:
    """Return the exact probability that one more random pair adds nothing to the rank.

    Parameters
    ----------
    pairs : array-like of int, shape (m, 2)
        The pairs so far.
    n_items : int
        The number of items.

    Returns
    -------
    float
        The share of all pairs whose two items are already connected.

    Examples
    --------
    >>> repeat_probability([[0, 1], [1, 2]], 5)
    0.3
    """
    if n_items < 2:
        raise SettingError(f"there must be at least 2 items to compare, not {n_items}")
    edges = selection_matrix(_pair_table(pairs), n_items)
    label = connected_components(edges.T @ edges, directed=False)[1]
    sizes = np.bincount(label)
    return float((sizes * (sizes - 1)).sum() / (n_items * (n_items - 1)))


@dataclass(frozen=True)
class RandomPairs:
    """Pairs drawn at random, one after another, until they reach a rank (thm:randrankseed).

    M is the number of pairs drawn. Each pair is of two distinct items, all such pairs equally
    likely, drawn anew each time.

    Parameters
    ----------
    n_items : int
        The number of items n.
    rank : int
        The rank r to reach, at most n - 1.
    seed_rank : int
        The rank r_0 of the pairs that are there already; 0 if there are none.

    Examples
    --------
    >>> pairs = RandomPairs(n_items=40, rank=27)
    >>> print(f"{pairs.mean_at_least:.1f} to {pairs.mean_at_most:.1f} pairs on average")
    27.5 to 33.0 pairs on average
    >>> pairs.enough(0.05), pairs.enough_by_waiting(0.05)
    (132, 38)
    """

    n_items: int
    rank: int
    seed_rank: int = 0

    def __post_init__(self) -> None:
        """Refuse ranks that no pairs have."""
        _check_rank(self.rank, self.n_items, "the rank to reach")
        if not 0 <= self.seed_rank <= self.rank:
            raise SettingError(
                f"the rank of the seed must lie between 0 and the rank to reach, {self.rank}, "
                f"not {self.seed_rank}"
            )

    @cached_property
    def repeat_bounds(self) -> Floats:
        """Bounds on the probability that a pair fails, at ranks r_0, ..., r - 1: shape (steps, 2).

        Examples
        --------
        >>> RandomPairs(n_items=5, rank=3, seed_rank=1).repeat_bounds
        array([[0.1, 0.1],
               [0.2, 0.3]])
        """
        ranks = range(self.seed_rank, self.rank)
        bounds = [repeat_probability_bounds(rank, self.n_items) for rank in ranks]
        return np.array(bounds, dtype=np.float64).reshape(-1, 2)

    @property
    def mean_at_most(self) -> float:
        """The theorem's bound on the mean of M: sum over i of 1 / (1 - i (i - 1) / (n (n - 1))).

        Examples
        --------
        >>> RandomPairs(n_items=3, rank=2).mean_at_most
        2.5
        """
        return float((1 / (1 - self.repeat_bounds[:, 1])).sum())

    @property
    def mean_at_least(self) -> float:
        """The same from below, with the lower bound of lemma:newspan at every step.

        Examples
        --------
        >>> RandomPairs(n_items=3, rank=2).mean_at_least
        2.5
        """
        return float((1 / (1 - self.repeat_bounds[:, 0])).sum())

    def enough(self, failure: float) -> int:
        """Return how many pairs reach the rank, by the theorem's tail bound.

        Parameters
        ----------
        failure : float
            How probable it may be that they do not (delta).

        Returns
        -------
        int
            (1 + ln(1 / delta)) times `mean_at_most`, rounded up.

        Examples
        --------
        >>> RandomPairs(n_items=3, rank=2).enough(0.1)
        9
        """
        check_failure(failure)
        return math.ceil((1 + math.log(1 / failure)) * self.mean_at_most)

    def exceeds_at_most(self, count: int) -> float:
        """Return a bound on the probability that M exceeds a count (cor:CvsB).

        Parameters
        ----------
        count : int
            A number of pairs.

        Returns
        -------
        float
            The probability, exactly, that B does: a sum of independent geometric waiting times,
            with lemma:newspan's upper bound as the chance to fail at every step.

        Examples
        --------
        >>> print(f"{RandomPairs(n_items=3, rank=2).exceeds_at_most(3):.4f}")
        0.1111
        """
        if count < 0:
            raise SettingError(f"a number of pairs cannot be negative, but it is {count}")
        waiting = Waiting(self.repeat_bounds[:, 1])
        for _ in range(count):
            waiting.draw()
        return waiting.unfinished

    def enough_by_waiting(self, failure: float) -> int:
        """Return how many pairs reach the rank, by the exact tail of cor:CvsB's waiting time.

        Never more than `enough`, which bounds that tail by a short formula, and mostly far less.

        Parameters
        ----------
        failure : float
            How probable it may be that they do not (delta).

        Returns
        -------
        int
            The least count that B exceeds with a probability of at most delta.

        Examples
        --------
        >>> RandomPairs(n_items=3, rank=2).enough_by_waiting(0.1)
        4
        """
        check_failure(failure)
        waiting = Waiting(self.repeat_bounds[:, 1])
        count = 0
        while waiting.unfinished > failure:
            waiting.draw()
            count += 1
        return count

    def simulate(
        self, trials: int = 1000, seed: int = 0, seed_pairs: npt.ArrayLike = ()
    ) -> SimulatedCounts:
        """Draw pairs until they reach the rank, many times over.

        Parameters
        ----------
        trials : int
            How many times.
        seed : int
            The same seed draws the same pairs.
        seed_pairs : array-like of int, shape (m_0, 2)
            The pairs that are there already, of rank `seed_rank`; when not given, a chain of
            r_0 pairs, after which a repeat is as likely as lemma:newspan lets it be.

        Returns
        -------
        SimulatedCounts
            The numbers of pairs drawn.

        Examples
        --------
        >>> drawn = RandomPairs(n_items=40, rank=27).simulate(trials=500)
        >>> 27.5 < drawn.mean < 33.0, drawn.quantile(0.95) <= 38
        (True, True)
        """
        if trials < 1:
            raise SettingError(f"there must be at least one trial, not {trials}")
        start = _pair_table(seed_pairs)
        if not len(start):
            start = np.column_stack([np.arange(self.seed_rank), np.arange(1, self.seed_rank + 1)])
        if (found := selection_rank(start, self.n_items)) != self.seed_rank:
            raise SettingError(
                f"the seed's pairs have rank {found}, not {self.seed_rank}; "
                f"say seed_rank={found}, or give other pairs"
            )
        generators = np.random.default_rng(seed).spawn(trials)
        return SimulatedCounts(np.array([self._draw(start, each) for each in generators]))

    def _draw(self, start: Integers, generator: np.random.Generator) -> int:
        """Draw pairs until the rank is reached, and return how many it took."""
        missing = self.rank - self.seed_rank
        if missing == 0:
            return 0
        pairs = start
        while True:
            # Twice the mean is nearly always enough; the rare long wait draws as many again.
            pairs = np.vstack([pairs, random_pairs(self.n_items, self._batch, generator)])
            gained = np.cumsum(independent_rows(pairs, self.n_items)[len(start) :])
            if gained[-1] >= missing:
                return int(np.searchsorted(gained, missing)) + 1

    @property
    def _batch(self) -> int:
        """How many pairs to draw at a time."""
        return math.ceil(2 * self.mean_at_most) + 10


def _pair_table(pairs: npt.ArrayLike) -> Integers:
    """Return pairs as an integer table, also when there are none."""
    return np.asarray(pairs, dtype=np.int64).reshape(-1, 2)


def _check_rank(rank: int, n_items: int, what: str) -> None:
    """Refuse a rank that pairs of so many items cannot have."""
    if n_items < 2:
        raise SettingError(f"there must be at least 2 items to compare, not {n_items}")
    if not 0 <= rank <= n_items - 1:
        raise SettingError(
            f"{what} must lie between 0 and {n_items - 1}, one less than the number of items, "
            f"not {rank}"
        )
