"""Files that are written whole or not at all, and the places they may go to."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from crowdmetric.errors import OutputError

__all__ = ["check_file", "check_folder", "new_folder", "whole_file"]


@contextlib.contextmanager
def whole_file(path: Path, what: str) -> Iterator[BinaryIO]:
    """Open a file that gets its name when all of it is there: nobody ever sees half of it.

    Parameters
    ----------
    path : Path
        The file. It is replaced if it is there, and left as it was if writing fails.
    what : str
        What is written, for the message.

    Yields
    ------
    file
        To write bytes to.

    Raises
    ------
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "greeting.txt"
    ...     with whole_file(target, "greeting") as file:
    ...         written = file.write(b"good morning")
    ...         there_already = target.exists()
    ...     there_already, target.read_text()
    (False, 'good morning')
    """
    unfinished = path.parent / f".{path.name}.{secrets.token_hex(4)}.unfinished"
    with _naming(path, what):
        _refuse_no_file(path)
        try:
            with open(unfinished, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)


def check_file(path: Path, what: str) -> None:
    """Refuse a file that could not be written, before the work that would be lost.

    Parameters
    ----------
    path : Path
        The file to be written later.
    what : str
        What is to be written, for the message.

    Raises
    ------
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> check_file(Path("nowhere/crowd.model"), "model")
    Traceback (most recent call last):
    crowdmetric.errors.OutputError: nowhere/crowd.model: the model cannot be written (No such file
    or directory); name a file in a folder that exists and that you may write to
    """
    with _naming(path, what):
        _refuse_no_file(path)
        _try_to_write(path.parent)


def check_folder(folder: Path) -> None:
    """Make a folder if it is not there, and refuse one that cannot be made or written to.

    Parameters
    ----------
    folder : Path
        The folder to write files to later.

    Raises
    ------
    OutputError
        If the folder is not one that files can be written to.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_folder(Path(folder) / "a" / "b")
    """
    problem = "made"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        problem = "written to"
        _try_to_write(folder)
    except OSError as error:
        raise OutputError(
            f"{folder}: the folder cannot be {problem} ({error.strerror}); choose another"
        ) from error


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[None]:
    """Make a folder to be filled inside; what was made is removed again if it stays empty.

    Parameters
    ----------
    folder : Path
        Made if it is not there, and those above it too.

    Raises
    ------
    OutputError
        If the folder is not one that files can be written to.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with new_folder(Path(place) / "a" / "b"):
    ...         pass  # interrupted before there was anything to write
    ...     os.listdir(place)
    []
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        check_folder(folder)
        yield
    finally:
        with contextlib.suppress(OSError):  # the first that is not empty
            for path in made:
                path.rmdir()


@contextlib.contextmanager
def _naming(path: Path, what: str) -> Iterator[None]:
    """Make what goes wrong inside name the file."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{path}: the {what} cannot be written ({error.strerror or error}); name a file in a "
            "folder that exists and that you may write to"
        ) from error


def _refuse_no_file(path: Path) -> None:
    """Refuse to put a file in the place of a folder or a device, such as /dev/null."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "this is a device or a pipe")


def _try_to_write(folder: Path) -> None:
    """Make a file in the folder, and remove it: permissions alone do not tell."""
    tempfile.TemporaryFile(dir=folder).close()
