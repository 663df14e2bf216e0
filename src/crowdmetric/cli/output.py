"""What commands print."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from crowdmetric.errors import DataError, RowError

__all__ = ["about", "complain", "print_json", "print_table"]


def complain(sentence: str) -> None:
    """Write one line to standard error.

    Parameters
    ----------
    sentence : str
        What the user must know.
    """
    print("crowdmetric:", " ".join(sentence.splitlines()), file=sys.stderr)


def print_json(document: Mapping[str, object]) -> None:
    """Write one JSON object to standard output; JSON has no infinity or NaN, so they are null.

    Parameters
    ----------
    document : mapping
        The object.

    Examples
    --------
    >>> print_json({"risk": 0.5, "lower_bound": -math.inf})
    {"risk": 0.5, "lower_bound": null}
    """
    print(json.dumps(_plain(document), ensure_ascii=False, allow_nan=False))


def print_table(rows: Sequence[tuple[str, str]]) -> None:
    """Write names and values in two columns.

    Parameters
    ----------
    rows : sequence of (name, value)
        In the order to print.

    Examples
    --------
    >>> print_table([("risk", "0.5"), ("accuracy", "80%")])
    risk      0.5
    accuracy  80%
    """
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")


@contextlib.contextmanager
def about(path: str | Path) -> Iterator[None]:
    """Make what is refused inside name the file that it is about.

    Parameters
    ----------
    path : str or Path
        The file.

    Examples
    --------
    >>> with about("items.csv"):
    ...     raise DataError("the column 'x' is 3 everywhere")
    Traceback (most recent call last):
    crowdmetric.errors.DataError: items.csv: the column 'x' is 3 everywhere
    """
    try:
        yield
    except RowError as error:
        raise DataError(f"{path}, {error}") from error
    except DataError as error:
        raise type(error)(f"{path}: {error}") from error


def _plain(value: object) -> object:
    """Return what JSON can hold."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value
