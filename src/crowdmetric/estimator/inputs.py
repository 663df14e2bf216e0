"""From what people pass to estimators to comparisons, items, losses and regions."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from crowdmetric import checks, losses
from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.errors import DataError, RowError, SettingError
from crowdmetric.model.lookup import item_codes
from crowdmetric.regions import Region

__all__ = [
    "as_comparisons",
    "as_items",
    "as_loss",
    "as_precision",
    "as_region",
    "as_responses",
    "as_triples",
]

_TO_READ = "which must be read first, with"


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
    if isinstance(items, Items):
        return items
    if isinstance(items, str | os.PathLike) or "item" in _columns(items):
        raise DataError(f"items is a {type(items).__name__}, {_TO_READ} crowdmetric.read_items")
    return Items.from_arrays(items)


def as_triples(triples: Any) -> npt.NDArray[np.int64]:
    """Return rows of user, left and right; say how to read what is no array of numbers.

    Parameters
    ----------
    triples : array-like of shape (m, 3)
        Row numbers.

    Returns
    -------
    ndarray of int64
        The checked rows.

    Examples
    --------
    >>> as_triples("answers.csv")
    Traceback (most recent call last):
    crowdmetric.errors.DataError: the comparisons are a str, which must be read first, with
    crowdmetric.read_comparisons(..., items)
    """
    try:
        return checks.triples(triples)
    except RowError:
        raise
    except DataError:
        if not isinstance(triples, str | os.PathLike) and not _columns(triples):
            raise
    raise DataError(
        f"the comparisons are a {type(triples).__name__}, {_TO_READ} "
        "crowdmetric.read_comparisons(..., items)"
    )


def as_loss(loss: losses.Loss | str | None) -> losses.Loss:
    """Return a loss, the logistic one when none is given.

    Parameters
    ----------
    loss : Loss or str, optional
        What an estimator's `loss` may be.

    Returns
    -------
    Loss
        The loss.

    Examples
    --------
    >>> as_loss(None), as_loss("hinge")
    (Logistic(scale=1.0), Hinge())
    """
    if loss is None:
        return losses.Logistic()
    if isinstance(loss, str):
        return losses.by_name(loss)
    if isinstance(loss, type) or not hasattr(loss, "conjugate"):
        raise SettingError(f"loss must be a loss such as losses.Hinge(), not {loss!r}")
    return loss


def as_precision(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return the precision of the solver's loops.

    Parameters
    ----------
    dtype : {"float64", "float32"}
        What an estimator's `dtype` may be.

    Returns
    -------
    numpy.dtype
        The type.

    Examples
    --------
    >>> as_precision("float32")
    dtype('float32')
    """
    if dtype not in ("float64", "float32"):
        raise SettingError(f"dtype must be 'float64' or 'float32', not {dtype!r}")
    return np.dtype(dtype)


def as_region(region: Region | None) -> Region:
    """Return the region, or say how to give one.

    Parameters
    ----------
    region : Region, optional
        What the `region` of `CrowdMetric` is.

    Returns
    -------
    Region
        The region.

    Examples
    --------
    >>> as_region(None)
    Traceback (most recent call last):
    crowdmetric.errors.SettingError: the estimator has no region: give region=...
    """
    remedy = "for example regions.NuclearFull(10.0), or use CrowdMetricCV to have the radius chosen"
    if region is None:
        raise SettingError(f"the estimator has no region: give region=..., {remedy}")
    if isinstance(region, type) or not hasattr(region, "project"):
        raise SettingError(f"{region!r} is no region: give one with its radii, {remedy}")
    return region


def as_responses(
    comparisons: Any, y: npt.ArrayLike | None, weight: npt.ArrayLike | None
) -> tuple[npt.NDArray[np.int8], npt.ArrayLike | None]:
    """Return responses and weights: those of Comparisons, or those given beside triples.

    Parameters
    ----------
    comparisons : Comparisons or array-like of shape (m, 3)
        Comparisons hold their responses, and weights too unless others are given.
    y : array-like of shape (m,), optional
        -1: left preferred; 1: right preferred; 0: a tie. Not for Comparisons.
    weight : array-like of shape (m,), optional
        How much each answer counts.

    Returns
    -------
    response : ndarray of int8
        The responses.
    weight : array-like or None
        The weights.

    Examples
    --------
    >>> as_responses([[0, 0, 1]], [1], None)
    (array([1], dtype=int8), None)
    """
    if isinstance(comparisons, Comparisons):
        if y is not None:
            raise DataError("Comparisons hold their responses: leave y out")
        return comparisons.response, comparisons.weight if weight is None else weight
    if y is None:
        raise DataError("the responses are missing: give y with -1 (left), 1 (right) or 0 (tie)")
    response, count = checks.responses(y), len(comparisons)
    if len(response) != count:
        raise DataError(
            f"there are {len(response)} responses for {count} comparisons; give one for each"
        )
    return response, weight


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
    y, weight : array-like of shape (m,), optional
        As in `as_responses`.
    items : Items
        The items.
    users : int or sequence of hashable, optional
        How many users there are, or their ids; Comparisons hold their own.

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
        _, counts = as_responses(triples, y, weight)
        left, right = item_codes(triples, items)
        kept = None if counts is None else np.asarray(counts)
        return replace(triples, item_ids=items.ids, left=left, right=right, weight=kept)
    table = as_triples(triples)
    response, counts = as_responses(table, y, weight)
    if set(response.tolist()) == {0, 1}:
        raise DataError(
            "y holds 0 and 1 only, and 0 would mean a tie; write -1 for left and 1 for right "
            "(or give Comparisons, which may hold any answers)"
        )
    ids: Iterable[Hashable] | None = range(int(users)) if isinstance(users, Integral) else users  # type: ignore[assignment]
    return Comparisons.from_arrays(table, response, counts, users=ids, item_ids=items.ids)


def _columns(source: Any) -> list[str]:
    """Return the names of a data frame's columns; none for anything else."""
    return [str(name) for name in getattr(source, "column_names", getattr(source, "columns", ()))]
