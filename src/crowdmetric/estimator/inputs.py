"""From what people pass to estimators to comparisons, items, losses and regions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from crowdmetric import checks, losses
from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.errors import DataError, SettingError
from crowdmetric.model.lookup import item_codes
from crowdmetric.regions import Region

__all__ = [
    "as_comparisons",
    "as_items",
    "as_loss",
    "as_precision",
    "as_region",
    "as_responses",
]


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
    table = checks.triples(triples)
    response, counts = as_responses(table, y, weight)
    ids: Iterable[Hashable] | None = range(int(users)) if isinstance(users, Integral) else users  # type: ignore[assignment]
    return Comparisons.from_arrays(table, response, counts, users=ids, item_ids=items.ids)
