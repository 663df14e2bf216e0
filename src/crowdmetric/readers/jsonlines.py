"""JSON Lines text to a table: one object per line."""

from __future__ import annotations

import json

from crowdmetric.errors import DataError
from crowdmetric.readers.delimited import decoded
from crowdmetric.readers.table import Table, as_column

__all__ = ["read_json_lines"]


def read_json_lines(data: bytes, source: str) -> Table:
    """Return a column for every key; a key that a line lacks is a missing cell there."""
    decode = json.JSONDecoder().decode
    lines: list[int] = []
    columns: dict[str, list[object]] = {}
    for line, text in enumerate(decoded(data, source).split("\n"), start=1):
        if not text or text.isspace():
            continue
        try:
            record = decode(text)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise DataError(
                f"{source}, line {line}: the line is not a JSON object; write one object "
                'such as {"user": "ann", ...} per line'
            )
        for name, value in record.items():
            column = columns.get(name)
            if column is None:
                column = columns[name] = [None] * len(lines)
            column.append(value)
        lines.append(line)
        if len(record) < len(columns):
            for column in columns.values():
                if len(column) < len(lines):
                    column.append(None)
    if not lines:
        raise DataError(f"{source}: the file is empty; it needs one JSON object per line")
    return Table(
        source=source,
        columns={name: as_column(values) for name, values in columns.items()},
        lines=lambda: lines,
    )
