"""Objects as JSON and named arrays, and back: no pickle, so a file can run no code.

A dataclass becomes its class name and its fields; arrays go to a table of their own, under their
path in the object ("items.features"). Only registered classes are read or written.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from crowdmetric.errors import SettingError

__all__ = ["UnregisteredError", "decode", "encode", "register"]

Array = npt.NDArray[Any]
Class = TypeVar("Class", bound=type[Any])

_registry: dict[str, type[Any]] = {}


class UnregisteredError(LookupError):
    """A file needs a class that nobody has registered."""


def register(cls: Class) -> Class:
    """Let model files hold objects of a loss, region or feature map of your own.

    The class is saved by its name and its fields, so it must be a dataclass. A program that loads
    the model must register the class as well.

    Parameters
    ----------
    cls : type
        A dataclass whose fields are numbers, text, arrays, tuples, lists, dicts or registered.

    Returns
    -------
    type
        The class itself, so that ``register`` also works as a decorator.

    Raises
    ------
    SettingError
        If it is no dataclass, or if another class has the name.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @register
    ... @dataclass(frozen=True)
    ... class CubedHinge:
    ...     name = "cubed-hinge"
    """
    name = getattr(cls, "__name__", repr(cls))
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
        raise SettingError(f"{name} is not a dataclass; put @dataclass(frozen=True) above it")
    known = _registry.get(name, cls)
    if _home(known) != _home(cls):
        raise SettingError(
            f"the name {name} is taken by {'.'.join(_home(known))}; rename the class"
        )
    _registry[name] = cls
    return cls


def encode(value: object, path: str, arrays: dict[str, Array]) -> Any:
    """Return the value as JSON, and put its arrays under their paths into ``arrays``."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"$float": str(value)}
    if isinstance(value, np.ndarray):
        arrays[path] = value
        return {"$array": path}
    if type(value) in (list, tuple):
        parts = [encode(part, f"{path}[{k}]", arrays) for k, part in enumerate(value)]  # type: ignore[arg-type,var-annotated]
        return parts if type(value) is list else {"$tuple": parts}
    if type(value) is dict:
        pairs = enumerate(value.items())
        return {"$dict": [encode(list(pair), f"{path}.{k}", arrays) for k, pair in pairs]}
    return _encode_object(value, path, arrays)


def _encode_object(value: object, path: str, arrays: dict[str, Array]) -> Any:
    """Return an object of a registered class as JSON."""
    cls = type(value)
    if _registry.get(cls.__name__) is not cls:
        raise SettingError(
            f"the model's {path} cannot be saved: make {cls.__name__} a dataclass and register it "
            f"with crowdmetric.storage.register({cls.__name__})"
        )
    fields = {
        field.name: encode(getattr(value, field.name), _join(path, field.name), arrays)
        for field in dataclasses.fields(cls)
        if field.init
    }
    return {"$class": cls.__name__, "fields": fields}


def decode(value: Any, arrays: Mapping[str, Array]) -> Any:
    """Return the object that `encode` made into JSON."""
    if isinstance(value, list):
        return [decode(part, arrays) for part in value]
    if not isinstance(value, dict):
        return value
    tag = next(iter(value), "")
    return _DECODERS[tag](value, arrays)


def _decode_object(value: dict[str, Any], arrays: Mapping[str, Array]) -> Any:
    """Return the object of a registered class."""
    name = value["$class"]
    if name not in _registry:
        raise UnregisteredError(name)
    return _registry[name](**{key: decode(part, arrays) for key, part in value["fields"].items()})


_DECODERS: dict[str, Callable[[dict[str, Any], Mapping[str, Array]], Any]] = {
    "$class": _decode_object,
    "$array": lambda value, arrays: arrays[value["$array"]],
    "$float": lambda value, _: float(value["$float"]),
    "$tuple": lambda value, arrays: tuple(decode(value["$tuple"], arrays)),
    "$dict": lambda value, arrays: dict(decode(value["$dict"], arrays)),
}


def _join(path: str, name: str) -> str:
    """Return the path of a field."""
    return f"{path}.{name}" if path else name


def _home(cls: type[Any]) -> tuple[str, str]:
    """Return where the class was written, which stays the same when a module is run again."""
    return cls.__module__, cls.__qualname__
