"""CSV and TSV text to a table, with the line of every row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from functools import cache, partial

import pyarrow as pa
import pyarrow.csv

from crowdmetric.errors import DataError
from crowdmetric.readers.table import Table

__all__ = ["read_delimited"]


def read_delimited(data: bytes, source: str, delimiter: str) -> Table:
    """Return the cells as text; Arrow skips empty lines, and so does the count of lines."""
    text = decoded(data, source)
    header = next(_records(text, delimiter, source), None)
    if header is None:
        raise DataError(f"{source}: the file is empty; it needs a line with the column names")
    line, names = header
    stripped = [name.strip() for name in names]
    for name in stripped:
        if stripped.count(name) > 1:
            raise DataError(
                f"{source}, line {line}: the column {name!r} is there twice; rename one"
            )
    _refuse_other_separator(names, delimiter, source)
    if text.count('"') % 2:
        _refuse_open_quote(text, delimiter, source)
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(data if data.endswith(b"\n") else data + b"\n"),
            parse_options=pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in data),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        _refuse_ragged_rows(text, delimiter, source, len(names))
        raise DataError(
            f"{source}: the file cannot be read as a table ({error}); check its quotes"
        ) from None
    columns = table.slice(0, _filled(table)).columns
    return Table(
        source=source,
        columns=dict(zip(stripped, columns, strict=True)),
        lines=cache(partial(_lines, text, delimiter, source)),
        untyped=True,
    )


def _filled(table: pa.Table) -> int:
    """Return how many rows there are up to the last that holds anything: spreadsheets add more."""
    count: int = table.num_rows
    while count and not any(column[count - 1].as_py().strip() for column in table.columns):
        count -= 1
    return count


def decoded(data: bytes, source: str) -> str:
    """Return the text, without a byte order mark; name the line that is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{source}, line {line}: the text is not UTF-8; save the file as UTF-8"
        ) from None


def _records(text: str, delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield every record that is not an empty line, with the line it starts on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    line = 1
    try:
        for record in reader:
            if record:
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"{source}, line {line}: the line cannot be read ({error}); check its quotes"
        ) from None


def _lines(text: str, delimiter: str, source: str) -> list[int]:
    """Return the line on which each row starts; the first record is the header."""
    return [line for line, _ in _records(text, delimiter, source)][1:]


def _refuse_other_separator(names: list[str], delimiter: str, source: str) -> None:
    """Refuse cells that are separated by another sign, before lines look too long or too short."""
    if len(names) > 1:
        return
    if ";" in names[0]:
        raise DataError(
            f"{source}: the cells are separated by ';', as spreadsheets do where numbers have a "
            "decimal comma; save the file with commas between cells and points in numbers, or "
            "read it in Python with pandas.read_csv(..., sep=';', decimal=',')"
        )
    found = next((sign for sign in ",\t|" if sign != delimiter and sign in names[0]), None)
    if found is not None:
        raise DataError(
            f"{source}: the cells seem to be separated by {found!r}, not by {delimiter!r} as the "
            "ending of the name says; save the file with commas, as .csv"
        )


def _refuse_ragged_rows(text: str, delimiter: str, source: str, width: int) -> None:
    """Name the first line whose number of cells differs from the header's."""
    for line, record in _records(text, delimiter, source):
        if len(record) != width:
            raise DataError(
                f"{source}, line {line}: the line has {len(record)} cell(s), but the header has "
                f"{width}; give every line as many, and put text that holds a {delimiter!r} "
                "in double quotes"
            )


def _refuse_open_quote(text: str, delimiter: str, source: str) -> None:
    """Name the line of a quote that opens and is never closed."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for _ in reader:
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"{source}, line {line}: a double quote is out of place ({error}); close every "
            "quote, and write two for one inside quotes"
        ) from None
