"""What every column must satisfy; each check names the first offending row."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from crowdmetric.errors import DataError, RowError, SettingError, shown

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Scalar = TypeVar("Scalar", bound=np.generic)

LARGEST_FEATURE = 1e30  # margins are quadratic in features, and their products must stay finite
_LARGEST_WHOLE = 2.0**53  # whole numbers up to here are exact as floats


class Locked:
    """Keeps the arrays of a frozen dataclass read-only when it is copied or unpickled."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the fields, and lock the arrays among them again."""
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        self.__dict__.update(state)


def plain_ids(ids: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return ids as Python objects, so that NumPy's scalars do not travel into outputs."""
    if isinstance(ids, np.ndarray):
        return tuple(ids.tolist())
    return tuple(name.item() if isinstance(name, np.generic) else name for name in ids)


def listed(ids: Iterable[Hashable], name: str) -> tuple[Hashable, ...]:
    """Return ids as `plain_ids` does; refuse a lone id, whose letters are not meant one by one."""
    if isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
        raise SettingError(f"{name} must be a list of ids; write [{shown(ids)}] for a single one")
    return plain_ids(ids)


def read_only(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """Return the array itself if nobody can write to it, else a locked copy."""
    owner: object = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            array = array.copy()
            array.flags.writeable = False
            break
        owner = owner.base
    return array


def an_array(values: npt.ArrayLike, what: str) -> npt.NDArray[Any]:
    """Return an array, whatever its type; refuse nested lists of unequal lengths."""
    try:
        return np.asarray(values)
    except ValueError:
        raise DataError(f"{what} must be in rows of equal length") from None


def floats(values: npt.ArrayLike, what: str, dimensions: int) -> Floats:
    """Return a read-only, row-major float64 array of the right number of dimensions."""
    try:
        array = np.asarray(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise DataError(f"{what} must be numbers in rows of equal length") from None
    if array.ndim != dimensions:
        raise DataError(f"{what} must have {dimensions} dimension(s), not {array.ndim}")
    return read_only(array)


def codes(values: npt.ArrayLike, limit: int, what: str) -> Codes:
    """Return read-only int32 codes, all within 0..limit-1."""
    array = an_array(values, f"the {what} codes")
    if array.ndim != 1:
        raise DataError(f"the {what} codes must have one dimension, not {array.ndim}")
    if array.size and array.dtype.kind not in "iu":
        raise DataError(f"the {what} codes must be integers, not {array.dtype}")
    row = first_true(array < 0)
    if row is not None:
        raise RowError(f"the {what} code {array[row]} is negative; codes count from 0", row)
    row = first_true(array >= limit)
    if row is not None:
        raise RowError(f"the {what} code {array[row]} is outside 0..{limit - 1}", row)
    return read_only(np.ascontiguousarray(array, dtype=np.int32))


def triples(values: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return rows of user, left and right as integers, also those written as floats."""
    table = an_array(values, "comparisons")
    if table.ndim != 2 or table.shape[1] != 3:
        raise DataError(
            "comparisons must be an array of shape (m, 3) with the columns user, left and right, "
            f"but its shape is {table.shape}"
        )
    if table.dtype.kind not in "iu":
        remedy = "give row numbers counted from 0, or Comparisons with the ids"
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError):
            raise DataError(
                f"the columns user, left and right must hold whole numbers; {remedy}"
            ) from None
        whole = (np.abs(table) < _LARGEST_WHOLE) & (table == np.round(table))
        row = first_true(~whole.all(axis=1))
        if row is not None:
            raise RowError(f"{table[row].tolist()} are not all whole numbers; {remedy}", row)
    return table.astype(np.int64, copy=False)


def responses(values: npt.ArrayLike) -> npt.NDArray[np.int8]:
    """Return read-only responses, all of them -1, 0 or 1."""
    array = an_array(values, "the responses")
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iuf"):
        raise DataError(
            "the responses must be one column of numbers: "
            "-1 (left preferred), 1 (right preferred) or 0 (tie)"
        )
    row = first_true(~np.isin(array, (-1, 0, 1)))
    if row is not None:
        raise RowError(
            f"the response {array[row]} is none of "
            "-1 (left preferred), 1 (right preferred), 0 (tie)",
            row,
        )
    return read_only(array.astype(np.int8))


def times(values: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return a read-only column of numbers or dates."""
    array = an_array(values, "the times")
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iufM"):
        raise DataError("the times must be one column of numbers or of dates (datetime64)")
    return read_only(array)


def two_different_items(left: Codes, right: Codes, ids: Sequence[Hashable]) -> None:
    """Refuse an item compared with itself."""
    row = first_true(left == right)
    if row is not None:
        raise RowError(
            f"the item {shown(ids[left[row]])} is compared with itself; correct or remove the row",
            row,
        )


def usable_weights(weight: Floats) -> None:
    """Refuse weights that are not finite, negative, all zero, or too large to be added up."""
    row = first_true(~np.isfinite(weight))
    if row is not None:
        raise RowError(f"the weight is {weight[row]}; give a finite number, 0 or more", row)
    row = first_true(weight < 0)
    if row is not None:
        raise RowError(f"the weight {weight[row]:g} is negative; give 0 or more", row)
    if not weight.any():
        raise DataError("all weights are zero; at least one answer must count")
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total):
        raise DataError(
            "the numbers in the column 'weight' are too large to be added up; divide them all by "
            "the largest, which changes no fit"
        )


def usable_features(features: Floats, ids: Sequence[Hashable], names: Sequence[str]) -> None:
    """Refuse NaN, infinity and numbers that are too large to be multiplied."""
    bad = first_true(~(np.abs(features) <= LARGEST_FEATURE).ravel())
    if bad is None:
        return
    row, column = divmod(bad, features.shape[1])
    value = features[row, column]
    remedy = (
        f"use other units, in which no number exceeds {LARGEST_FEATURE:g}"
        if np.isfinite(value)
        else "give a finite number"
    )
    raise RowError(
        f"the item {shown(ids[row])} has {value} in the column {shown(names[column])}; {remedy}",
        row,
    )


def distinct(names: Sequence[Hashable], what: str) -> None:
    """Refuse missing (None, NaN), repeated or unhashable names."""
    try:
        different = set(names)
    except TypeError:
        raise DataError(
            f"{what} ids must be hashable (text, numbers, tuples), not lists or arrays"
        ) from None
    if any(is_missing(name) for name in different):
        row = next(row for row, name in enumerate(names) if is_missing(name))
        raise RowError(f"{what} id is missing; give every row one", row)
    if len(different) == len(names):
        return
    first: dict[Hashable, int] = {}
    for row, name in enumerate(names):
        if name in first:
            raise RowError(
                f"{what} {shown(name)} is given twice; keep one, or rename one", first[name], row
            )
        first[name] = row


def is_missing(value: object) -> bool:
    """Return whether the value stands for nothing: None, NaN or NaT."""
    return value is None or bool(value != value)


def same_length(found: int, needed: int, what: str, other: str) -> None:
    """Refuse columns of different lengths."""
    if found != needed:
        raise DataError(f"there are {found} {what} but {needed} {other}; give one for each")


def first_true(mask: npt.NDArray[Any]) -> int | None:
    """Return the position of the first true value, if there is one."""
    position = int(mask.argmax()) if mask.size else 0
    return position if mask.size and mask[position] else None
