"""Selection matrices: which pairs were asked, as rows of +1 and -1, and how much they can tell.

A selection matrix is the edge list of a graph: its items are the vertices, its pairs the edges. Its
rank is the number of items less the number of connected parts, and its rows are independent exactly
when the graph is a forest. So everything here takes near-linear time and no linear algebra.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from crowdmetric.checks import an_array
from crowdmetric.errors import DataError, RowError
from crowdmetric.identify.forest import join, peel

__all__ = [
    "incremental_order",
    "independent_rows",
    "is_incremental",
    "selection_matrix",
    "selection_rank",
]

Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]


def selection_matrix(pairs: npt.ArrayLike, n_items: int) -> sp.csr_array[Any]:
    """Return the selection matrix of the pairs (def:selectionmat).

    Parameters
    ----------
    pairs : array-like of shape (m, 2)
        The left and the right item of each pair, counted from 0.
    n_items : int
        How many items there are.

    Returns
    -------
    sparse array of shape (m, n_items)
        A row for each pair: +1 at its left item, -1 at its right one.

    Examples
    --------
    >>> selection_matrix([[0, 1], [2, 0]], n_items=4).toarray()
    array([[ 1., -1.,  0.,  0.],
           [-1.,  0.,  1.,  0.]])
    """
    left, right = _columns(pairs, n_items)
    _joins(left, right, n_items)
    count = len(left)
    items = np.column_stack([left, right]).ravel()
    starts = np.arange(0, 2 * count + 1, 2)
    matrix = sp.csr_array((np.tile([1.0, -1.0], count), items, starts), shape=(count, n_items))
    matrix.sort_indices()
    return matrix


def selection_rank(pairs: npt.ArrayLike, n_items: int) -> int:
    """Return the rank of the selection matrix: n_items less the number of connected parts.

    Parameters
    ----------
    pairs : array-like of shape (m, 2)
        The left and the right item of each pair, counted from 0.
    n_items : int
        How many items there are.

    Returns
    -------
    int
        At most the number of pairs, and less than the number of items (lemma:Srankupper).

    Examples
    --------
    >>> selection_rank([[0, 1], [1, 2], [2, 0]], n_items=5)
    2
    """
    return int(np.count_nonzero(independent_rows(pairs, n_items)))


def independent_rows(pairs: npt.ArrayLike, n_items: int) -> Flags:
    """Return which pairs tell something that those before them do not.

    Parameters
    ----------
    pairs : array-like of shape (m, 2)
        The left and the right item of each pair, counted from 0.
    n_items : int
        How many items there are.

    Returns
    -------
    ndarray of bool
        True where a row of the selection matrix is independent of the rows before it: the pair
        joins two parts of their graph. As many are true as the rank.

    Examples
    --------
    >>> independent_rows([[0, 1], [1, 2], [2, 0], [0, 3]], n_items=4)
    array([ True,  True, False,  True])
    """
    left, right = _columns(pairs, n_items)
    return _joins(left, right, n_items)


def incremental_order(pairs: npt.ArrayLike, n_items: int) -> Places | None:
    """Return an order of the pairs in which each brings an item that none before it had.

    There is one exactly when the rows are independent (cor:TFAEsel): strip one leaf after the
    other from the forest, and read the strips backwards, as in the proof of lemma:subsetinc.

    Parameters
    ----------
    pairs : array-like of shape (m, 2)
        The left and the right item of each pair, counted from 0.
    n_items : int
        How many items there are.

    Returns
    -------
    ndarray of int, or None
        Row numbers that make the matrix incremental (def:incselmat); None if no order does.

    Examples
    --------
    >>> pairs = np.array([[0, 1], [2, 3], [1, 2]])
    >>> order = incremental_order(pairs, n_items=4)
    >>> is_incremental(pairs, 4), is_incremental(pairs[order], 4)
    (False, True)
    >>> incremental_order([[0, 1], [1, 2], [2, 0]], n_items=3) is None
    True
    """
    left, right = _columns(pairs, n_items)
    _joins(left, right, n_items)
    order = np.empty(len(left), dtype=np.intp)
    missing = peel(left, right, np.zeros(n_items, np.intp), np.zeros(n_items, np.intp), order)
    return None if missing else order


def is_incremental(pairs: npt.ArrayLike, n_items: int) -> bool:
    """Return whether each pair brings an item that none before it had (def:incselmat).

    Parameters
    ----------
    pairs : array-like of shape (m, 2)
        The left and the right item of each pair, counted from 0.
    n_items : int
        How many items there are.

    Returns
    -------
    bool
        True for no pairs at all.

    Examples
    --------
    >>> is_incremental([[0, 1], [1, 2]], 3), is_incremental([[0, 1], [1, 0]], 3)
    (True, False)
    """
    left, right = _columns(pairs, n_items)
    _joins(left, right, n_items)
    rows = np.arange(len(left))
    first = np.full(n_items, len(left))
    for column in (left, right):
        np.minimum.at(first, column, rows)
    return bool(np.all((first[left] == rows) | (first[right] == rows)))


def _columns(pairs: npt.ArrayLike, n_items: int) -> tuple[Places, Places]:
    """Return left and right as columns of integers; what they hold is for the loops to check."""
    table = an_array(pairs, "pairs")
    if table.size == 0:
        table = np.empty((0, 2), dtype=np.intp)
    if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iu":
        raise DataError(
            "pairs must be an array of whole numbers with the columns left and right, "
            f"not of shape {table.shape} and type {table.dtype}"
        )
    if n_items < 1:
        raise DataError(f"there must be at least one item, not {n_items}")
    left, right = (np.ascontiguousarray(column, dtype=np.intp) for column in table.T)
    return left, right


def _joins(left: Places, right: Places, n_items: int) -> Flags:
    """Return which pairs join two parts of the graph of those before them; refuse impossible ones.

    With 32 bits the table of parents stays in the processor's cache for longer.
    """
    parent = np.arange(n_items, dtype=np.int32 if n_items < 2**31 else np.int64)
    joins = np.empty(len(left), dtype=np.bool_)
    bad = join(left, right, parent, joins)
    if bad < 0:
        return joins
    if left[bad] == right[bad]:
        raise RowError(f"the item {left[bad]} is paired with itself; remove the pair", bad)
    wrong = left[bad] if not 0 <= left[bad] < n_items else right[bad]
    raise RowError(
        f"there is no item {wrong}: items count from 0, and there are {n_items} of them", bad
    )
