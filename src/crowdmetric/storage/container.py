"""The file under a model: a checked header, then named arrays on 64-byte boundaries.

    offset  bytes  content
         0     16  magic
        16      8  schema version, little-endian
        24      8  length of the header, little-endian, a multiple of 64
        32     32  SHA-256 of bytes 0 to 31 and of the header
        64      .  the header: JSON, filled up with spaces
         .      .  the arrays: little-endian, row-major, each filled up with zeros

The header names each array's type, shape, offset and SHA-256 (the filling included), so that
there is no byte in the file that could change unnoticed.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from crowdmetric.errors import ModelFileError, SettingError
from crowdmetric.files import whole_file

__all__ = ["SCHEMA", "read", "write"]

SCHEMA = 1
"""Version of the layout that this release writes, and the newest that it reads."""

Array = npt.NDArray[Any]

_MAGIC = b"\x93crowdmetric\r\n\x1a\n"
_START = struct.Struct("<16sQQ")
_ALIGNMENT = 64
_KINDS = "biuf"  # bool, signed, unsigned, floating


def write(path: Path, document: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write a document and its arrays to one file, whole or not at all."""
    stored = {name: _little_endian(name, array) for name, array in arrays.items()}
    table, offset = {}, 0
    for name, array in stored.items():
        checksum = hashlib.sha256(_content(array))
        checksum.update(bytes(-array.nbytes % _ALIGNMENT))
        table[name] = {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "offset": offset,  # from the end of the header, whose length is not known yet
            "sha256": checksum.hexdigest(),
        }
        offset += _filled(array.nbytes)
    text = json.dumps({"document": document, "arrays": table}, allow_nan=False).encode("ascii")
    header = text.ljust(_filled(len(text)))
    start = _START.pack(_MAGIC, SCHEMA, len(header))
    with whole_file(path, "model") as file:
        file.writelines(_pieces(start, header, stored))


def read(path: Path, mmap: bool = True) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read what `write` wrote, and refuse a file in which any byte has changed."""
    content = _open(path, mmap)
    if len(content) < _ALIGNMENT or content[:16].tobytes() != _MAGIC:
        _refuse(path, "this is not a model file of crowdmetric, or its beginning is lost", "save")
    _, schema, length = _START.unpack(content[:32].tobytes())
    if schema > SCHEMA:
        raise ModelFileError(
            f"{path}: the file has the schema {schema} and this crowdmetric reads schemas up to "
            f"{SCHEMA}; upgrade crowdmetric, or save the model again with this version"
        )
    end = _ALIGNMENT + length
    if end > len(content):
        _refuse(path, "the file is truncated", "copy")
    header = content[_ALIGNMENT:end].tobytes()
    if hashlib.sha256(content[:32].tobytes() + header).digest() != content[32:64].tobytes():
        _refuse(path, "the header does not match its checksum, so the file is damaged", "copy")
    parsed = json.loads(header)
    table = [_Entry(name, **entry) for name, entry in parsed["arrays"].items()]
    body = content[end:]
    expected = sum(_filled(entry.size) for entry in table)
    if len(body) != expected:
        problem = "truncated" if len(body) < expected else "longer than it says"
        _refuse(path, f"the file is {problem}", "copy")
    return parsed["document"], {entry.name: _array(path, body, entry) for entry in table}


@dataclass(frozen=True)
class _Entry:
    """Where an array is, and what it must be."""

    name: str
    dtype: str
    shape: list[int]
    offset: int
    sha256: str

    @property
    def size(self) -> int:
        """Number of bytes, without the filling."""
        count = 1
        for length in self.shape:
            count *= length
        return count * np.dtype(self.dtype).itemsize


def _array(path: Path, body: Array, entry: _Entry) -> Array:
    """Return one array as a view of the file, its checksum verified."""
    filled = body[entry.offset : entry.offset + _filled(entry.size)]
    if hashlib.sha256(filled.data).hexdigest() != entry.sha256:
        _refuse(path, f"the array {entry.name!r} does not match its checksum", "copy")
    found: Array = filled[: entry.size].view(entry.dtype).reshape(entry.shape)
    return found


def _open(path: Path, mmap: bool) -> Array:
    """Return the bytes of the file, read-only."""
    try:
        if path.stat().st_size == 0:
            _refuse(path, "the file is empty", "save")
        if mmap:
            return np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
        return np.frombuffer(path.read_bytes(), dtype=np.uint8)
    except OSError as error:
        raise ModelFileError(
            f"{path}: the model cannot be read ({error.strerror}); check the path and that you "
            "may read it"
        ) from error


def _refuse(path: Path, problem: str, remedy: str) -> NoReturn:
    """Raise the error for a file that is not, or no longer, a model."""
    remedies = {
        "save": "give a file that Model.save wrote",
        "copy": "copy it again from where it was whole, or fit and save the model again",
    }
    raise ModelFileError(f"{path}: {problem}; {remedies[remedy]}")


def _little_endian(name: str, array: Array) -> Array:
    """Return the array row-major and little-endian."""
    if array.dtype.kind not in _KINDS:
        raise SettingError(
            f"the array {name!r} of type {array.dtype} cannot be saved; use numbers or booleans"
        )
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def _content(array: Array) -> memoryview:
    """Return the bytes of a row-major array, without a copy."""
    return array.reshape(-1).view(np.uint8).data


def _filled(size: int) -> int:
    """Return the size rounded up to the alignment."""
    return size + -size % _ALIGNMENT


def _pieces(start: bytes, header: bytes, arrays: Mapping[str, Array]) -> Iterator[Any]:
    """Yield the file from its beginning to its end."""
    yield start
    yield hashlib.sha256(start + header).digest()
    yield header
    for array in arrays.values():
        yield _content(array)
        yield bytes(-array.nbytes % _ALIGNMENT)
