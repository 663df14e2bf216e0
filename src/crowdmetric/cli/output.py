"""What commands print, and the places they may write to."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from crowdmetric.errors import DataError, OutputError, RowError

__all__ = ["about", "check_folder", "check_model_file", "complain", "print_json", "print_table"]


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


def check_model_file(path: str | Path) -> None:
    """Refuse a model file that could not be written, before the fit that would be lost.

    Parameters
    ----------
    path : str or Path
        The file to be written later.

    Examples
    --------
    >>> check_model_file("nowhere/crowd.model")
    Traceback (most recent call last):
    crowdmetric.errors.OutputError: nowhere/crowd.model: the model cannot be written (No such file
    or directory); name a file in a folder that exists and that you may write to
    """
    target = Path(path)
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        _try_to_write(target.parent)
    except OSError as error:
        raise OutputError(
            f"{target}: the model cannot be written ({error.strerror}); name a file in a folder "
            "that exists and that you may write to"
        ) from error


def check_folder(path: str | Path) -> None:
    """Make a folder, and refuse one that cannot be made or written to.

    Parameters
    ----------
    path : str or Path
        The folder to write files to later.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_folder(Path(folder) / "a" / "b")
    """
    folder, problem = Path(path), "made"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        problem = "written to"
        _try_to_write(folder)
    except OSError as error:
        raise OutputError(
            f"{folder}: the folder cannot be {problem} ({error.strerror}); choose another"
        ) from error


def _try_to_write(folder: Path) -> None:
    """Make a file in the folder, and remove it: permissions alone do not tell."""
    tempfile.TemporaryFile(dir=folder).close()


def _plain(value: object) -> object:
    """Return what JSON can hold."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value
