"""Any source - a file by its extension, or a data frame - to a table."""

from __future__ import annotations

import difflib
import gzip
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from crowdmetric.errors import DataError
from crowdmetric.readers.delimited import read_delimited
from crowdmetric.readers.jsonlines import read_json_lines
from crowdmetric.readers.table import Column, Table, as_column

__all__ = ["ENDINGS", "Source", "open_table"]

# A path, or a pandas, polars or pyarrow frame (none of which need be installed).
Source: TypeAlias = "str | os.PathLike[str] | Any"

_FRAME = "the data frame"
_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")


def open_table(source: Source) -> Table:
    """Return the table in a file or a data frame."""
    if isinstance(source, str | os.PathLike):
        return _from_file(Path(source))
    if not nw.dependencies.is_into_dataframe(source):
        raise DataError(
            f"a {type(source).__name__} cannot be read; give the path of a file, or a pandas, "
            "polars or pyarrow data frame (a lazy one collected first)"
        )
    return _from_frame(source)


def _from_file(path: Path) -> Table:
    """Return the table in a file."""
    source = str(path)
    ending = next((end for end in _READERS if path.name.lower().endswith(end)), None)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{source}: there is no such file{_neighbour(path)}") from None
    except IsADirectoryError:
        raise DataError(f"{source}: this is a folder; give the path of a file in it") from None
    except OSError as error:
        raise DataError(
            f"{source}: the file cannot be read ({error.strerror}); check its permissions"
        ) from None
    if ending is None and path.suffix.lower() in _SPREADSHEETS:
        raise DataError(f"{source}: this is a spreadsheet; save its sheet as CSV (UTF-8)")
    if ending is None:
        raise DataError(
            f"{source}: the ending {path.suffix!r} says no known format; use one of "
            f"{', '.join(_READERS)}"
        )
    if not data:
        raise DataError(f"{source}: the file is empty; it needs a table with named columns")
    return _READERS[ending](data, source)


def _neighbour(path: Path) -> str:
    """Return a hint at a file of nearly that name, or at what to check."""
    try:
        names = os.listdir(path.parent)
    except OSError:
        return f", nor a folder {str(path.parent)!r}; check the path"
    # Without the endings, which make any two names look alike.
    tables = [name for name in sorted(names) if name.lower().endswith(tuple(_READERS))]
    stems = {name.partition(".")[0]: name for name in tables}
    close = difflib.get_close_matches(path.name.partition(".")[0], stems, n=1, cutoff=0.75)
    return f"; did you mean {stems[close[0]]!r}?" if close else "; check the path"


def _csv(data: bytes, source: str) -> Table:
    return read_delimited(data, source, ",")


def _tsv(data: bytes, source: str) -> Table:
    return read_delimited(data, source, "\t")


def _csv_gz(data: bytes, source: str) -> Table:
    try:
        plain = gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        raise DataError(
            f"{source}: the file is not gzip-compressed, or it is damaged; compress it again"
        ) from None
    return read_delimited(plain, source, ",")


def _parquet(data: bytes, source: str) -> Table:
    try:
        table = pa.parquet.read_table(pa.BufferReader(data))
    except (pa.ArrowException, OSError):
        raise DataError(
            f"{source}: the file is not a Parquet file, or it is damaged; write it again"
        ) from None
    return _from_arrow(table, source)


def _arrow(data: bytes, source: str) -> Table:
    """Return the table in an Arrow IPC file (also called Feather) or stream."""
    buffer = pa.BufferReader(data)
    try:
        is_file = data.startswith(b"ARROW1")
        reader = pa.ipc.open_file(buffer) if is_file else pa.ipc.open_stream(buffer)
        table = reader.read_all()
    except (pa.ArrowException, OSError):
        raise DataError(
            f"{source}: the file is not an Arrow file, or it is damaged; write it again"
        ) from None
    return _from_arrow(table, source)


_READERS: dict[str, Callable[[bytes, str], Table]] = {
    ".csv": _csv,
    ".csv.gz": _csv_gz,
    ".tsv": _tsv,
    ".parquet": _parquet,
    ".pq": _parquet,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".arrow": _arrow,
    ".feather": _arrow,
}

ENDINGS = tuple(_READERS)
"""How the name of a table ends."""


def _from_frame(frame: Any) -> Table:
    """Return the table in a data frame."""
    if isinstance(frame, pa.Table):
        return _from_arrow(frame, _FRAME)
    _refuse_twice([str(name) for name in frame.columns], _FRAME)
    columns = {str(series.name): _series(series) for series in nw.from_native(frame).iter_columns()}
    return Table(source=_FRAME, columns=columns)


def _series(series: nw.Series[Any]) -> Column:
    """Return a data frame's column, as a list where Arrow has no type for it."""
    try:
        return series.to_arrow()
    except (pa.ArrowException, OverflowError):
        return as_column(series.to_list())


def _from_arrow(table: pa.Table, source: str) -> Table:
    """Return the table in an Arrow table."""
    _refuse_twice(table.column_names, source)
    return Table(source=source, columns=dict(zip(table.column_names, table.columns, strict=True)))


def _refuse_twice(names: list[str], source: str) -> None:
    """Refuse two columns of one name."""
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{source}: the column {name!r} is there twice; rename one")
