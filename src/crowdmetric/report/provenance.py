"""Where a report comes from: the command, the files with their checksums, and the versions."""

from __future__ import annotations

import hashlib
import platform
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from crowdmetric import __version__
from crowdmetric.errors import DataError

__all__ = ["Provenance", "Source", "command_line", "read_source", "versions"]

_LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "matplotlib", "pyarrow")


@dataclass(frozen=True)
class Source:
    """A file that went into a report.

    Parameters
    ----------
    role : str
        What it is.
    path : str
        As it was given.
    digest : str
        The SHA-256 of its bytes, in hexadecimal digits.

    Examples
    --------
    >>> Source("model", "crowd.model", "00ff").path
    'crowd.model'
    """

    role: str
    path: str
    digest: str


@dataclass(frozen=True)
class Provenance:
    """What it takes to make a report again.

    Parameters
    ----------
    command : str
        What was typed; empty if it was made from Python.
    sources : tuple of Source
        What it was made from.
    date : str
        When.

    Examples
    --------
    >>> Provenance().command
    ''
    """

    command: str = ""
    sources: tuple[Source, ...] = ()
    date: str = ""


def read_source(role: str, path: str) -> Source:
    """Return a file with its checksum.

    Parameters
    ----------
    role : str
        What it is.
    path : str
        The file.

    Returns
    -------
    Source
        Its path and its SHA-256.

    Examples
    --------
    >>> read_source("model", "nowhere.model")
    Traceback (most recent call last):
    crowdmetric.errors.DataError: nowhere.model: the file cannot be read (No such file or
    directory); check the path
    """
    try:
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(
            f"{path}: the file cannot be read ({error.strerror}); check the path"
        ) from error
    return Source(role, path, digest)


def command_line(words: Iterable[str]) -> str:
    """Return words as a shell takes them.

    Parameters
    ----------
    words : iterable of str
        The command and its arguments.

    Returns
    -------
    str
        One line, quoted where need be.

    Examples
    --------
    >>> command_line(["crowdmetric", "report", "my crowd.model"])
    "crowdmetric report 'my crowd.model'"
    """
    return shlex.join(words)


def versions(libraries: Sequence[str] = _LIBRARIES) -> list[tuple[str, str]]:
    """Return what computed it.

    Parameters
    ----------
    libraries : sequence of str
        Which to name; those that are not installed are left out.

    Returns
    -------
    list of (name, version)
        This package first, then Python and the libraries.

    Examples
    --------
    >>> [name for name, _ in versions(["numpy"])]
    ['crowdmetric', 'Python', 'numpy']
    """
    found = [("crowdmetric", __version__), ("Python", platform.python_version())]
    for name in libraries:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return found
