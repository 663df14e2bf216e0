"""Models in files: one file each, checked to the last byte, read without copying.

`container` knows the bytes, `encoding` the objects; this module puts a model through both.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Hashable, Iterable
from pathlib import Path
from types import ModuleType

import numpy as np

from crowdmetric import certificate, features, losses, regions
from crowdmetric.comparisons import Items
from crowdmetric.errors import DataError, ModelFileError
from crowdmetric.model import Addition, Model
from crowdmetric.storage import container
from crowdmetric.storage.container import SCHEMA
from crowdmetric.storage.encoding import UnregisteredError, decode, encode, register

__all__ = ["SCHEMA", "load", "register", "save"]

_PLAIN = (str, int, float, bool)


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model to one file, whole or not at all.

    Parameters
    ----------
    model : Model
        The model. Its ids must be text, numbers, booleans or tuples of these.
    path : str or path-like
        The file; one that is there is replaced.

    Raises
    ------
    SettingError
        If the loss, the region or the feature map is of a class that is not registered.
    DataError
        If an id is of a type that a file cannot hold.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from crowdmetric.model import example
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(example(), f"{folder}/colours.model")
    ...     print(load(f"{folder}/colours.model", mmap=False))
    Model(2 users, 3 items, 2 features, rank 2)
    """
    _refuse_odd_ids(model.users, "user")
    _refuse_odd_ids(model.items.ids, "item")
    arrays: dict[str, container.Array] = {}
    document = {"version": _version(), "model": encode(model, "", arrays)}
    container.write(Path(path), document, arrays)


def load(path: str | os.PathLike[str], mmap: bool = True) -> Model:
    """Read a model, and refuse a file that is not exactly what `save` wrote.

    Parameters
    ----------
    path : str or path-like
        The file.
    mmap : bool
        Leave the arrays in the file and let the system read them as they are needed; otherwise
        copy them into memory, after which the file may be removed.

    Returns
    -------
    Model
        The model, its arrays read-only.

    Raises
    ------
    ModelFileError
        If the file is missing, damaged, edited, from a newer version, or no model.

    Examples
    --------
    >>> load("nowhere.model")
    Traceback (most recent call last):
    crowdmetric.errors.ModelFileError: nowhere.model: the model cannot be read (No such file or
    directory); check the path and that you may read it
    """
    file = Path(path)
    try:
        document, arrays = container.read(file, mmap)
        model = decode(document["model"], arrays)
    except UnregisteredError as error:
        raise ModelFileError(
            f"{file}: the model uses the class {error}, which this program does not know; import "
            "the module that hands it to crowdmetric.storage.register, then load again"
        ) from error
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{file}: the content is not that of a model ({error}); fit and save the model again"
        ) from error
    if not isinstance(model, Model):
        raise ModelFileError(f"{file}: the file holds no model; give a file that Model.save wrote")
    return model


def _register_all(module: ModuleType) -> None:
    """Register the dataclasses that a module of this package defines."""
    classes = [cls for cls in vars(module).values() if isinstance(cls, type)]
    for cls in classes:
        if cls.__module__.startswith(module.__name__) and dataclasses.is_dataclass(cls):
            register(cls)


def _refuse_odd_ids(ids: Iterable[Hashable], what: str) -> None:
    """Refuse ids that would not come back as they were."""
    for name in ids:
        if not _is_plain(name):
            raise DataError(
                f"the {what} id {name!r} cannot be saved; make the ids text, numbers, booleans or "
                "tuples of these"
            )


def _is_plain(name: object) -> bool:
    """Say whether a file can hold the id."""
    if type(name) is tuple:
        return all(_is_plain(part) for part in name)
    return type(name) in _PLAIN or (isinstance(name, np.generic) and type(name.item()) in _PLAIN)


def _version() -> str:
    """Return the version that writes, to tell whoever looks into a file."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("crowdmetric")
    except PackageNotFoundError:
        return "unknown"


for _module in (losses, regions, features, certificate):
    _register_all(_module)
for _class in (Addition, Items, Model):
    register(_class)
