"""From a column of cells to responses, numbers or times."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from crowdmetric.checks import Floats, first_true
from crowdmetric.errors import did_you_mean, shown
from crowdmetric.readers.columns import Encoded, encode
from crowdmetric.readers.table import Column, Table

__all__ = ["numbers", "responses", "times"]

RESPONSES = "left, right, tie (or -1, 1, 0)"
_WORDS = {"left": -1, "right": 1, "tie": 0}
_TRUTH = {"true": "1", "false": "0"}
_TIME_TYPES = (
    pa.int64(),
    pa.float64(),
    pa.timestamp("us"),
    pa.timestamp("ns"),
    pa.timestamp("us", "UTC"),
)
# What people write where a number is wanted, and what to do about it; the first that fits counts.
_NUMBER = r"[+-]?([0-9]+([.,][0-9]+)*|[.,][0-9]+)"
_REMEDIES = (
    (
        r"n/?a|#n/a|nan|nil|none|null|missing|unknown|[-–—?.*]+",  # noqa: RUF001
        "fill in the number that is missing, or remove the row or the column",
    ),
    (
        r"[+-]?[1-9][0-9]{0,2}([,.' ][0-9]{3})+([.,][0-9]+)?",
        "write it without separators of thousands, and with a decimal point if it has decimals",
    ),
    (r"[+-]?[0-9]*,[0-9]+", "write it with a decimal point"),
    (
        r"([0-9]{4}([-/.])[0-9]{1,2}\2[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\3[0-9]{2,4})([ T].*)?",
        "write a date as a number, such as the days since a certain day",
    ),
    (
        rf"[^\w\s<>]?\s?{_NUMBER}\s?([^\W\d]{{1,10}}|[^\w\s])?",
        "write the number alone, without a unit",
    ),
)


def responses(table: Table, name: str) -> npt.NDArray[np.int8]:
    """Return -1 for left, 1 for right and 0 for a tie."""
    column = encode(table, name)
    row = first_true(column.codes < 0)
    if row is not None:
        raise table.error(f"the response is missing; give one of {RESPONSES}", row)
    meanings = [_meaning(value) for value in column.values]
    bad = first_true(np.array([meaning is None for meaning in meanings], dtype=bool))
    if bad is not None:
        value = column.values[bad]
        raise table.error(
            f"the response {shown(value)} is none of {RESPONSES}"
            + (did_you_mean(value, _WORDS) or "; correct it, or remove the row"),
            int(np.argmax(column.codes == bad)),
        )
    if {_number(value) for value in column.values} == {0, 1}:
        raise table.error(
            f"the column {name!r} holds 0 and 1 only, and 0 would mean a tie; write left and right "
            "for the item that was preferred (or -1 and 1), and tie for a tie"
        )
    return column.recoded([meaning for meaning in meanings if meaning is not None]).astype(np.int8)


def numbers(table: Table, name: str, what: str, remedy: Callable[[str], str]) -> Floats:
    """Return a column as numbers; `what` says what they are, `remedy(cell)` what to do."""
    column = table.columns[name]
    kind = None if isinstance(column, list) else column.type
    if kind is not None and (_is_number(kind) or pa.types.is_boolean(kind)):
        values: Floats = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        missing = first_true(column.is_null().to_numpy(zero_copy_only=False))
        if missing is not None:
            raise table.error(f"{what} is missing; give a finite number", missing)
        return values
    quick = _cast(column, pa.float64())
    if quick is not None:
        return quick
    cells = encode(table, name)
    missing = first_true(cells.codes < 0)
    if missing is not None:
        raise table.error(f"{what} is missing; give a finite number", missing)
    parsed = _parsed(cells.values)
    if parsed is not None:
        return parsed[cells.codes]
    readable = np.array([_number(value) is not None for value in cells.values], dtype=bool)
    row = int(np.argmin(readable[cells.codes]))
    value = cells.values[cells.codes[row]]
    raise table.error(
        f"{what} is {shown(str(value))}, which is not a number; "
        + (_remedy(str(value).strip()) or remedy(str(value))),
        row,
    )


def times(table: Table, name: str) -> npt.NDArray[Any]:
    """Return a column as numbers or dates."""
    column = table.columns[name]
    if not isinstance(column, list) and (
        _is_number(column.type)
        or pa.types.is_timestamp(column.type)
        or pa.types.is_date(column.type)
    ):
        missing = first_true(column.is_null().to_numpy(zero_copy_only=False))
        if missing is None:
            return np.asarray(column.to_numpy(zero_copy_only=False))
    else:
        quick = _cast_time(column)
        if quick is not None:
            return quick
        cells = encode(table, name)
        missing = first_true(cells.codes < 0)
        if missing is None:
            return _parsed_times(table, cells)
    raise table.error("the time is missing; give every row one, or remove the column", missing)


def _parsed_times(table: Table, cells: Encoded) -> npt.NDArray[Any]:
    """Return times that are written as text; all must be of one kind."""
    parsed = _cast_time(cells.values)
    if parsed is not None:
        return parsed[cells.codes]
    kinds = [kind for kind in _TIME_TYPES if _cast(cells.values[:1], kind) is not None]
    odd = [all(_cast([value], kind) is None for kind in kinds) for value in cells.values]
    code = first_true(np.array(odd)) or 0
    raise table.error(
        f"the time {shown(cells.values[code])} does not read like the others; give numbers only, "
        "or dates such as 2024-05-31T18:30:00 only",
        int(np.argmax(cells.codes == code)),
    )


def _cast_time(texts: Column) -> npt.NDArray[Any] | None:
    """Return texts as times of the first kind that fits them all."""
    casts = (_cast(texts, kind) for kind in _TIME_TYPES)
    return next((times for times in casts if times is not None), None)


def _cast(texts: Column, kind: pa.DataType) -> npt.NDArray[Any] | None:
    """Return texts as an array of that type; None if one is missing or does not read so."""
    try:
        column = pa.array(texts, pa.string()) if isinstance(texts, list) else texts
        if column.null_count or not _is_text(column.type):
            return None
        return np.asarray(column.cast(kind).to_numpy(zero_copy_only=False))
    except pa.ArrowException:
        return None


def _meaning(value: Hashable) -> int | None:
    """Return what a response means: -1, 0, 1, or nothing."""
    if isinstance(value, str):
        word = value.strip().casefold()
        if word in _WORDS:
            return _WORDS[word]
    elif isinstance(value, bool):
        return None
    number = _number(value)
    return int(number) if number in (-1, 0, 1) else None


def _remedy(cell: str) -> str | None:
    """Return what to do about text that is nearly a number, or stands for none."""
    fits = (remedy for form, remedy in _REMEDIES if re.fullmatch(form, cell, re.IGNORECASE))
    return next(fits, None)


def _parsed(values: list[Hashable]) -> Floats | None:
    """Return the values as numbers, unless one of them is not."""
    texts = [_plain(value) for value in values if isinstance(value, str)]
    if len(texts) == len(values):
        return _cast(texts, pa.float64())
    found = [_number(value) for value in values]
    return None if None in found else np.array(found, dtype=np.float64)


def _plain(cell: str) -> str:
    """Return text without blanks around it; true and false, in any case, as 1 and 0."""
    text = cell.strip()
    return _TRUTH.get(text.casefold(), text)


def _number(value: Hashable) -> float | None:
    """Return the number that a cell holds or spells."""
    if isinstance(value, str):
        parsed = _cast([_plain(value)], pa.float64())
        return None if parsed is None else float(parsed[0])
    return float(value) if isinstance(value, int | float | Decimal | np.number) else None


def _is_number(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds numbers."""
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _is_text(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
