"""From what people pass to estimators to comparisons, items and features."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.errors import DataError, SettingError

__all__ = ["as_comparisons", "as_items", "as_triples"]


def as_items(items: Items | npt.ArrayLike | None) -> Items:
    """Return items, however they are given.

    Parameters
    ----------
    items : Items, array-like of shape (n, d) or a data frame of numbers
        What an estimator's `items` may be.

    Returns
    -------
    Items
        The items.

    Examples
    --------
    >>> as_items(np.eye(2))
    Items(2 items, 2 features)
    """
    if items is None:
        raise SettingError(
            "the estimator has no items: give items=..., an array with one row of features per item"
        )
    return items if isinstance(items, Items) else Items.from_arrays(items)


def as_triples(triples: Any) -> npt.NDArray[np.int64]:
    """Return an integer array of shape (m, 3), or say what is wrong.

    Parameters
    ----------
    triples : array-like
        User, left item and right item of each comparison.

    Returns
    -------
    ndarray of int64
        The triples.

    Examples
    --------
    >>> as_triples([[0, 1, 2]])
    array([[0, 1, 2]])
    """
    table = np.asarray(triples)
    if table.ndim != 2 or table.shape[1] != 3:
        raise DataError(
            "comparisons must be an array of shape (m, 3) with the columns user, left and right, "
            f"but its shape is {table.shape}"
        )
    if table.dtype.kind not in "iu" and not np.array_equal(table, np.round(table)):
        raise DataError("the columns user, left and right must hold whole numbers: row numbers")
    return table.astype(np.int64)


def as_comparisons(
    triples: Any,
    y: npt.ArrayLike | None,
    weight: npt.ArrayLike | None,
    items: Items,
    users: int | Sequence[Hashable] | None,
) -> Comparisons:
    """Return comparisons whose item codes are rows of the items.

    Parameters
    ----------
    triples : Comparisons or array-like of shape (m, 3)
        Comparisons are matched by item id; an array holds row numbers.
    y : array-like of shape (m,), optional
        -1: left preferred; 1: right preferred; 0: a tie. Not for Comparisons.
    weight : array-like of shape (m,), optional
        How much each answer counts.
    items : Items
        The items.
    users : int or sequence of hashable, optional
        How many users there are, or their ids.

    Returns
    -------
    Comparisons
        The checked comparisons.

    Examples
    --------
    >>> items = Items.from_arrays(np.eye(3), ids="abc")
    >>> as_comparisons([[0, 0, 1]], [1], None, items, users=["ann"]).item_ids
    ('a', 'b', 'c')
    """
    if isinstance(triples, Comparisons):
        return _matched(triples, y, weight, items)
    if y is None:
        raise DataError("the responses are missing: give y with -1 (left), 1 (right) or 0 (tie)")
    table, answers = as_triples(triples), np.asarray(y)
    if len(answers) != len(table):
        raise DataError(f"there are {len(answers)} responses for {len(table)} comparisons")
    if isinstance(users, int):
        users = range(users)
    ids: Iterable[Hashable] | None = users
    return Comparisons.from_arrays(table, answers, weight, users=ids, item_ids=items.ids)


def _matched(
    comparisons: Comparisons, y: object, weight: npt.ArrayLike | None, items: Items
) -> Comparisons:
    """Renumber the items of comparisons by their ids."""
    if y is not None:
        raise DataError("Comparisons hold their responses: leave y out")
    if weight is not None:
        comparisons = replace(comparisons, weight=np.asarray(weight, dtype=np.float64))
    if comparisons.item_ids == items.ids:
        return comparisons
    where = items.codes(comparisons.item_ids)
    return replace(
        comparisons,
        item_ids=items.ids,
        left=where[comparisons.left],
        right=where[comparisons.right],
    )
