"""Questions told apart: d of each user's for that user's point, D of the crowd's for the metric.

Both of the paper's sufficient conditions ask for such a partition, and differ in what it must
satisfy. prop:incSuf: there is one order of the D metric rows in which each of them, behind any
user's own rows, brings an item that is new. The conjecture of sec:ident-append:conjectures: behind
any user's own rows, they are independent.

Both are stated for m_T = D + d K questions, more than d of each user. Where there are more, some
D + d K of them will do, and the partition names them. A user with no metric rows does no harm:
neither condition nor proof uses that everybody has some.

What is checked here is checked from the rows alone, by other code than that which finds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from crowdmetric.identify.questions import Places, Questions
from crowdmetric.identify.selection import incremental_order, is_incremental, selection_rank

__all__ = ["Decision", "Partition", "satisfies_order", "satisfies_rank"]


@dataclass(frozen=True, eq=False)
class Partition:
    """Rows for each user's own point, and rows for the metric.

    Parameters
    ----------
    own : ndarray of int, shape (K, d)
        Rows of each user: S_k^(1) in the paper.
    metric : ndarray of int, shape (D,)
        Rows of anybody, in an order: P S^(2) in the paper.

    Examples
    --------
    >>> found = Partition(np.array([[0], [2]]), np.array([1]))
    >>> asked = Questions([0, 0, 1], [0, 1, 0], [1, 2, 1], 2, 3, 1)
    >>> satisfies_rank(found, asked), satisfies_order(found, asked)
    (True, True)
    """

    own: Places
    metric: Places


@dataclass(frozen=True)
class Decision:
    """Whether there is a partition.

    Parameters
    ----------
    answer : {"yes", "no", "undecided"}
        "undecided" after a search that was long but not complete.
    partition : Partition, optional
        The proof of a "yes".

    Examples
    --------
    >>> Decision("undecided").partition is None
    True
    """

    answer: Literal["yes", "no", "undecided"]
    partition: Partition | None = None


def satisfies_rank(partition: Partition, asked: Questions) -> bool:
    """Return whether a partition satisfies the conjectured condition.

    Parameters
    ----------
    partition : Partition
        Any.
    asked : Questions
        What it is a partition of.

    Returns
    -------
    bool
        Whether each user's own rows and the metric rows together are independent.

    Examples
    --------
    The same pair for both users' points, and another that is independent of it for the metric:

    >>> asked = Questions([0, 1, 0], [0, 0, 1], [1, 1, 2], 2, 3, 1)
    >>> satisfies_rank(Partition(np.array([[0], [1]]), np.array([2])), asked)
    True
    >>> satisfies_rank(Partition(np.array([[2], [1]]), np.array([0])), asked)
    False
    """
    if not _is_partition(partition, asked):
        return False
    together = asked.metric_size + asked.dimension
    for rows in partition.own:
        behind = asked.pairs[np.concatenate([rows, partition.metric])]
        if selection_rank(behind, asked.n_items) < together:
            return False
    return True


def satisfies_order(partition: Partition, asked: Questions) -> bool:
    """Return whether a partition, with its order, satisfies the condition of prop:incSuf.

    Parameters
    ----------
    partition : Partition
        Any; the order of its metric rows matters, that of the users' own rows does not.
    asked : Questions
        What it is a partition of.

    Returns
    -------
    bool
        Whether, behind each user's own rows, each metric row brings a new item.

    Examples
    --------
    The last row joins what is there already, so the first order is none; the second is:

    >>> asked = Questions([0] * 5, [0, 1, 3, 2, 4], [1, 2, 4, 3, 5], 1, 6, 2)
    >>> satisfies_order(Partition(np.array([[0, 1]]), np.array([2, 4, 3])), asked)
    False
    >>> satisfies_order(Partition(np.array([[0, 1]]), np.array([3, 2, 4])), asked)
    True
    """
    if not _is_partition(partition, asked):
        return False
    metric = asked.pairs[partition.metric]
    for rows in partition.own:
        order = incremental_order(asked.pairs[rows], asked.n_items)
        if order is None:
            return False
        if not is_incremental(np.vstack([asked.pairs[rows[order]], metric]), asked.n_items):
            return False
    return True


def _is_partition(partition: Partition, asked: Questions) -> bool:
    """Return whether the rows are as many as there must be, each once, and each user's own."""
    own, metric = partition.own, partition.metric
    if own.shape != (asked.n_users, asked.dimension) or metric.shape != (asked.metric_size,):
        return False
    rows = np.concatenate([own.ravel(), metric])
    if rows.min() < 0 or rows.max() >= len(asked) or len(np.unique(rows)) < len(rows):
        return False
    return bool(np.all(asked.user[own] == np.arange(asked.n_users)[:, None]))
