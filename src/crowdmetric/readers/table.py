"""A table as it was read: named columns, and where each row is to be found."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from crowdmetric.errors import DataError, RowError, did_you_mean, numbered

__all__ = ["Column", "Table", "as_column"]

# A pyarrow array, or a list where Arrow knows no type that holds all its values.
Column = Any


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length from one source."""

    source: str
    columns: dict[str, Column]
    lines: Callable[[], Sequence[int]] | None = None  # the line of each row, in a text file
    untyped: bool = False  # every cell is text, and means a number if it reads as one

    def error(
        self, problem: str, *rows: int, kind: Callable[[str], DataError] = DataError
    ) -> DataError:
        """Return an exception that names the source, and its rows if there are any."""
        if not rows:
            return kind(f"{self.source}: {problem}")
        if self.lines is None:
            return kind(f"{self.source}, {numbered('row', [row + 1 for row in rows])}: {problem}")
        lines = self.lines()
        return kind(f"{self.source}, {numbered('line', [lines[row] for row in rows])}: {problem}")

    @contextlib.contextmanager
    def naming_rows(self) -> Iterator[None]:
        """Make what is refused inside name this source and its lines."""
        try:
            yield
        except RowError as error:
            raise self.error(error.problem, *error.rows) from None
        except DataError as error:
            raise self.error(str(error)) from None

    def require(self, names: Sequence[str], expected: str) -> None:
        """Refuse a table that lacks one of the columns."""
        missing = next((name for name in names if name not in self.columns), None)
        if missing is None:
            return
        found = list(self.columns)
        free = [name for name in found if name not in names]
        hint = _renaming(names, free) or did_you_mean(missing, free)
        raise self.error(
            f"the column {missing!r} is missing; the columns must be {expected}, but they are "
            f"{', '.join(map(repr, found)) or 'none'}{hint}"
        )


def as_column(values: Sequence[object]) -> Column:
    """Return the values as an Arrow array if one type holds them all, else as they are."""
    try:
        column = pa.array(values)
    except (pa.ArrowException, OverflowError):
        return list(values)
    return list(values) if pa.types.is_nested(column.type) else column


def _renaming(names: Sequence[str], free: Sequence[str]) -> str:
    """Return a hint at columns that differ from those wanted in capitals or blanks only."""
    alike = {name.strip().casefold(): name for name in free}
    pairs = [f"{alike[name]!r} to {name!r}" for name in names if name in alike]
    return f"; rename {' and '.join(pairs)}" if pairs else ""
