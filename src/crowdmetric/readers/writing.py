"""Tables to files: whole, or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet

from crowdmetric.errors import OutputError
from crowdmetric.files import check_file, whole_file
from crowdmetric.readers.table import as_column

__all__ = ["check_table", "write_table"]

Values: TypeAlias = Sequence[Any] | npt.NDArray[Any]


def write_table(path: str | os.PathLike[str], columns: Mapping[str, Values]) -> None:
    """Write columns to a file whose ending says the format.

    Parameters
    ----------
    path : path
        A file ending in .csv, .csv.gz, .tsv, .parquet, .pq, .jsonl, .ndjson, .arrow or .feather.
        It is replaced if it is there, and left as it was if writing fails.
    columns : mapping of str to array-like
        Columns of equal length by name. Where one type cannot hold all values of a column (ids
        such as 1 and "red"), they are written as text.

    Raises
    ------
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "answers.csv"
    ...     write_table(file, {"user": ["ann"], "winner": ["red"], "loser": ["blue"]})
    ...     print(file.read_text())
    user,winner,loser
    ann,red,blue
    """
    target = Path(path)
    write = _writer(target)
    table = pa.table({name: _column(values) for name, values in columns.items()})
    with whole_file(target, "table") as file:
        write(table, file)


def check_table(path: str | os.PathLike[str]) -> None:
    """Refuse a file to which no table could be written, before the work that would be lost.

    Parameters
    ----------
    path : path
        The file to be written later.

    Raises
    ------
    OutputError
        If the ending says no format, or the file cannot be written.

    Examples
    --------
    >>> check_table("answers.txt")
    Traceback (most recent call last):
    crowdmetric.errors.OutputError: answers.txt: the ending '.txt' says no known format; use one of
    .csv, .csv.gz, .tsv, .parquet, .pq, .jsonl, .ndjson, .arrow, .feather
    """
    _writer(Path(path))
    check_file(Path(path), "table")


def _writer(target: Path) -> Callable[[pa.Table, Any], None]:
    """Return what writes the format that the ending says."""
    ending = next((end for end in _WRITERS if target.name.lower().endswith(end)), None)
    if ending is None:
        raise OutputError(
            f"{target}: the ending {target.suffix!r} says no known format; use one of "
            f"{', '.join(_WRITERS)}"
        )
    return _WRITERS[ending]


def _column(values: Values) -> pa.Array:
    """Return the values as a column of one type: text if no other holds them all."""
    array = values if isinstance(values, np.ndarray) else None
    if array is not None and array.dtype != object:
        return pa.array(array)
    column = as_column(list(values) if array is None else array.tolist())
    if isinstance(column, list):
        return pa.array([None if cell is None else str(cell) for cell in column])
    return column


def _write_delimited(table: pa.Table, file: Any, delimiter: str) -> None:
    """Write CSV, with quotes only in a file that needs some."""
    header = io.StringIO()
    csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(table.column_names)
    try:
        body = _rows(table, delimiter, quoting="none")
    except pa.ArrowInvalid:
        body = _rows(table, delimiter, quoting="needed")
    file.write(header.getvalue().encode())
    file.write(body)


def _rows(table: pa.Table, delimiter: str, quoting: str) -> memoryview:
    """Return the rows as text; Arrow refuses "none" where a cell needs quotes."""
    body = io.BytesIO()
    options = pa.csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=quoting)
    pa.csv.write_csv(table, body, options)
    return body.getbuffer()


def _csv(table: pa.Table, file: Any) -> None:
    _write_delimited(table, file, ",")


def _csv_gz(table: pa.Table, file: Any) -> None:
    with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
        _csv(table, packed)


def _tsv(table: pa.Table, file: Any) -> None:
    _write_delimited(table, file, "\t")


def _json_lines(table: pa.Table, file: Any) -> None:
    """Write an object per line; JSON has no NaN or infinity, so they become null."""
    columns = []
    for column in table.columns:
        if pa.types.is_floating(column.type):
            column = pa.compute.if_else(pa.compute.is_finite(column), column, None)
        columns.append(column.to_pylist())
    for row in zip(*columns, strict=True):
        record = dict(zip(table.column_names, row, strict=True))
        file.write(json.dumps(record, ensure_ascii=False, default=str).encode() + b"\n")


def _parquet(table: pa.Table, file: Any) -> None:
    pa.parquet.write_table(table, file)


def _arrow(table: pa.Table, file: Any) -> None:
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


_WRITERS: dict[str, Callable[[pa.Table, Any], None]] = {
    ".csv": _csv,
    ".csv.gz": _csv_gz,
    ".tsv": _tsv,
    ".parquet": _parquet,
    ".pq": _parquet,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".arrow": _arrow,
    ".feather": _arrow,
}
