"""From pairs to questions: which item goes on which side, and in what order people are asked.

Some people prefer a side. So every item is on the left about as often as on the right: for each
person the numbers differ by one at most, and among all persons by no more than chance leaves.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

__all__ = ["balance_sides", "shuffle_within_users"]

Triples = npt.NDArray[np.int64]


def balance_sides(triples: Triples, n_items: int, seed: int) -> Triples:
    """Choose the side of each item, in pairs whose order means nothing yet.

    One person's pairs are the edges of a graph. A walk along all edges of a graph comes to each
    item as often as it leaves; where an item has an odd number of pairs, a walk starts or ends.

    Parameters
    ----------
    triples : ndarray of shape (m, 3)
        User and two items of each question, sorted by user.
    n_items : int
        How many items there are.
    seed : int
        Of whatever is left to chance.

    Returns
    -------
    ndarray of shape (m, 3)
        User, left item and right item, row by row as given.

    Examples
    --------
    >>> sides = balance_sides(np.array([[0, 0, 1], [0, 0, 2]]), n_items=3, seed=0)
    >>> int((sides[:, 1] == 0).sum())  # of its two pairs, item 0 is on the left in one
    1
    """
    generator = np.random.default_rng(seed)
    result = triples.copy()
    lead = np.zeros(n_items, dtype=np.int64)  # how much more often on the left than on the right
    for start, stop in _runs(triples[:, 0]):
        pairs = _walked(triples[start:stop, 1:], generator)
        left, right = pairs.T
        excess = np.zeros(n_items, dtype=np.int64)
        np.add.at(excess, left, 1)
        np.add.at(excess, right, -1)
        # Turning all of a person's pairs round keeps them balanced, and may balance the crowd.
        agreement = int(lead @ excess)
        if agreement > 0 or (agreement == 0 and generator.random() < 0.5):
            pairs, excess = pairs[:, ::-1], -excess
        lead += excess
        result[start:stop, 1:] = pairs
    return result


def shuffle_within_users(triples: Triples, seed: int) -> Triples:
    """Return the questions with those of each user in random order.

    Parameters
    ----------
    triples : ndarray of shape (m, 3)
        Sorted by user.
    seed : int
        Of the order.

    Returns
    -------
    ndarray of shape (m, 3)
        Sorted by user.

    Examples
    --------
    >>> shuffle_within_users(np.array([[0, 1, 2], [1, 1, 2]]), seed=0)[:, 0].tolist()
    [0, 1]
    """
    chance = np.random.default_rng(seed).random(len(triples))
    return triples[np.lexsort((chance, triples[:, 0]))]


def _runs(user: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the first row, and the one after the last, of each user who is there."""
    starts = [0, *(np.flatnonzero(np.diff(user)) + 1).tolist(), len(user)]
    return [(start, stop) for start, stop in pairwise(starts) if start < stop]


def _walked(pairs: Triples, generator: np.random.Generator) -> Triples:
    """Return the pairs as walks go through them, each once."""
    neighbours: dict[int, list[tuple[int, int]]] = {}
    for row in generator.permutation(len(pairs)).tolist():
        one, other = pairs[row].tolist()
        neighbours.setdefault(one, []).append((row, other))
        neighbours.setdefault(other, []).append((row, one))
    # Walks that start at an item with an odd number of pairs end at another; the rest are closed.
    odd = [item for item, pairs_left in neighbours.items() if len(pairs_left) % 2]
    result = pairs.copy()
    used = np.zeros(len(pairs), dtype=np.bool_)
    for start in [*odd, *neighbours]:
        item = start
        while neighbours[item]:
            row, other = neighbours[item].pop()
            if not used[row]:
                used[row] = True
                result[row] = item, other
                item = other
    return result
