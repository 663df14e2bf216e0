"""From a column of cells to ids, responses, numbers or times."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from crowdmetric.checks import Codes, Floats, first_true, is_missing
from crowdmetric.errors import did_you_mean
from crowdmetric.readers.table import Column, Table

__all__ = ["Encoded", "encode", "ids_of", "look_up", "numbers", "responses", "times"]

RESPONSES = "left, right, tie (or -1, 1, 0)"
_WORDS = {"left": -1, "right": 1, "tie": 0}
_INTEGER = re.compile(r"(0|-?[1-9][0-9]{0,37})")
_TIME_TYPES = (
    pa.int64(),
    pa.float64(),
    pa.timestamp("us"),
    pa.timestamp("ns"),
    pa.timestamp("us", "UTC"),
)
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


@dataclass(frozen=True, eq=False)
class Encoded:
    """A column as its distinct values, and for each row a position among them (-1: missing)."""

    values: list[Hashable]
    codes: Codes

    def recoded(self, new: Sequence[int]) -> Codes:
        """Return each row's new code, given one for every distinct value; missing stays -1."""
        return np.array([*new, -1], dtype=np.int32)[self.codes]


def encode(table: Table, name: str) -> Encoded:
    """Return the distinct values of a column; in untyped text, cells are stripped."""
    column = table.columns[name]
    if isinstance(column, list) or pa.types.is_nested(column.type):
        return _encode_objects(table, name, column)
    if pa.types.is_null(column.type):
        return Encoded([], np.full(len(column), -1, dtype=np.int32))
    encoded = _dictionary(column)
    values: list[Hashable] = encoded.dictionary.to_pylist()
    if table.untyped:
        values = [value.strip() if isinstance(value, str) else value for value in values]
    positions: dict[Hashable, int] = {}
    new = [_position(value, positions) for value in values]
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return Encoded(list(positions), Encoded(values, codes).recoded(new))


def ids_of(table: Table, *names: str) -> tuple[tuple[Hashable, ...], list[Codes]]:
    """Return the ids in some columns, in order of appearance, and each column's codes.

    Ids that read the same are the same: 1 in one column and the text "1" in another. In untyped
    text, ids are integers if every one of them reads as an integer.
    """
    columns = [_complete(table, name) for name in names]
    positions: dict[str, int] = {}
    ids: list[Hashable] = []
    codes = []
    for column in columns:
        new = []
        for value in column.values:
            code = positions.setdefault(_text(value), len(ids))
            if code == len(ids):
                ids.append(value)
            new.append(code)
        codes.append(column.recoded(new))
    if table.untyped and all(_INTEGER.fullmatch(text) for text in positions):
        ids = [int(text) for text in positions]
    return tuple(ids), codes


def look_up(
    table: Table,
    name: str,
    known: Sequence[Hashable],
    unknown: Callable[[str], Any],
    what: str,
) -> Codes:
    """Return the positions of a column's ids among the known ones.

    An id that is not among them is looked for by how it reads, so that 1 finds "1".
    """
    column = _complete(table, name)
    exact = {known_id: code for code, known_id in enumerate(known)}
    by_text: dict[str, int] = {}
    for known_id, code in exact.items():
        text = _text(known_id)
        by_text[text] = -1 if text in by_text else code
    new = [exact.get(value, by_text.get(_text(value), -1)) for value in column.values]
    codes = column.recoded(new)
    row = first_true(codes < 0)
    if row is None:
        return codes
    given = column.values[column.codes[row]]
    raise table.error(
        f"there is no {what} {given!r} among the {len(known)} {what}s"
        + (did_you_mean(_text(given), known) or "; correct the id, or remove the row"),
        row,
        kind=unknown,
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
            f"the response {value!r} is none of {RESPONSES}"
            + (did_you_mean(value, _WORDS) or "; correct it, or remove the row"),
            int(np.argmax(column.codes == bad)),
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
    comma = isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value)
    raise table.error(
        f"{what} is {str(value)!r}, which is not a number; "
        + ("write it with a decimal point" if comma else remedy(str(value))),
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
        f"the time {cells.values[code]!r} does not read like the others; give numbers only, or "
        "dates such as 2024-05-31T18:30:00 only",
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


def _complete(table: Table, name: str) -> Encoded:
    """Return a column of ids, none of them missing."""
    column = encode(table, name)
    row = first_true(column.codes < 0)
    if row is not None:
        raise table.error(
            f"the cell in the column {name!r} is empty; fill it in, or remove the row", row
        )
    return column


def _dictionary(column: Column) -> Any:
    """Return an Arrow column as one dictionary array in order of appearance."""
    if pa.types.is_dictionary(column.type):
        # Categories that no row uses, and their own order, stay behind.
        column = column.cast(column.type.value_type)
    encoded = column.dictionary_encode()
    return encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded


def _encode_objects(table: Table, name: str, column: Column) -> Encoded:
    """Return the distinct values of cells for which Arrow has no type."""
    positions: dict[Hashable, int] = {}
    codes = []
    for row, value in enumerate(column if isinstance(column, list) else column.to_pylist()):
        try:
            codes.append(_position(value, positions))
        except TypeError:
            raise table.error(
                f"the column {name!r} holds {value!r}; give text or a number", row
            ) from None
    return Encoded(list(positions), np.array(codes, dtype=np.int32))


def _position(value: Hashable, positions: dict[Hashable, int]) -> int:
    """Return the code of a value, a new one if need be; -1 for nothing."""
    if value == "" or is_missing(value):
        return -1
    return positions.setdefault(value, len(positions))


def _text(value: Hashable) -> str:
    """Return how an id reads: 1 and 1.0 the same."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


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


def _parsed(values: list[Hashable]) -> Floats | None:
    """Return the values as numbers, unless one of them is not."""
    texts = [value.strip() for value in values if isinstance(value, str)]
    if len(texts) == len(values):
        return _cast(texts, pa.float64())
    found = [_number(value) for value in values]
    return None if None in found else np.array(found, dtype=np.float64)


def _number(value: Hashable) -> float | None:
    """Return the number that a cell holds or spells."""
    if isinstance(value, str):
        parsed = _cast([value.strip()], pa.float64())
        return None if parsed is None else float(parsed[0])
    return float(value) if isinstance(value, int | float | Decimal | np.number) else None


def _is_number(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds numbers."""
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _is_text(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
