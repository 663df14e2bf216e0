"""From a column of cells to its distinct values, and to ids."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from crowdmetric.checks import Codes, first_true, is_missing
from crowdmetric.errors import shown
from crowdmetric.ids import KnownIds, as_text
from crowdmetric.readers.table import Column, Table

__all__ = ["Encoded", "encode", "ids_of", "look_up"]

_INTEGER = re.compile(r"(0|-?[1-9][0-9]{0,37})")


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
            code = positions.setdefault(as_text(value), len(ids))
            if code == len(ids):
                ids.append(value)
            new.append(code)
        codes.append(column.recoded(new))
    if table.untyped and all(_INTEGER.fullmatch(text) for text in positions):
        ids = [int(text) for text in positions]
    return tuple(ids), codes


def look_up(table: Table, name: str, known: KnownIds) -> Codes:
    """Return the positions of a column's ids among the known ones."""
    column = _complete(table, name)
    codes = column.recoded([known.position(value) for value in column.values])
    row = first_true(codes < 0)
    if row is None:
        return codes
    given = column.values[column.codes[row]]
    refusal = known.refusal(given, "correct the id, or remove the row")
    raise table.error(refusal, row, kind=known.unknown)


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
                f"the column {name!r} holds {shown(value)}; give text or a number", row
            ) from None
    return Encoded(list(positions), np.array(codes, dtype=np.int32))


def _position(value: Hashable, positions: dict[Hashable, int]) -> int:
    """Return the code of a value, a new one if need be; -1 for nothing."""
    if value == "" or is_missing(value):
        return -1
    return positions.setdefault(value, len(positions))
