"""What a feature map is, and the checks that all of them share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from crowdmetric import checks
from crowdmetric.checks import Floats
from crowdmetric.errors import DataError

__all__ = [
    "FeatureMap",
    "has_inverse",
    "locked",
    "numbers",
    "same_columns",
    "table_to_fit",
]


@runtime_checkable
class FeatureMap(Protocol):
    """What a feature map must offer; write your own as a frozen dataclass with these methods.

    A map into a space that has no way back says so with a class attribute ``invertible = False``;
    ideal items are then searched for.

    Examples
    --------
    >>> from crowdmetric.features import Center
    >>> isinstance(Center(), FeatureMap)
    True
    """

    @property
    def name(self) -> str:
        """How the map is called in settings and on the command line."""

    def fit(self, features: npt.ArrayLike, names: Sequence[str]) -> FeatureMap:
        """Return a new map that has learned what it needs from raw features of shape (n, d)."""

    def transform(self, features: npt.ArrayLike) -> Floats:
        """Return raw features as the scores see them; the last axis holds the features."""

    def inverse(self, features: npt.ArrayLike) -> Floats:
        """Return the raw features that `transform` maps to these."""


def has_inverse(features: FeatureMap) -> bool:
    """Return whether every point that the scores see is the image of raw features.

    Parameters
    ----------
    features : FeatureMap
        Any; one that does not say is taken to have an inverse.

    Returns
    -------
    bool
        Its attribute ``invertible``.

    Examples
    --------
    >>> from crowdmetric.features import KernelLift, Raw
    >>> has_inverse(Raw()), has_inverse(KernelLift())
    (True, False)
    """
    return bool(getattr(features, "invertible", True))


def numbers(features: npt.ArrayLike) -> Floats:
    """Return a read-only float64 array of any number of dimensions."""
    try:
        return checks.read_only(np.asarray(features, dtype=np.float64))
    except (TypeError, ValueError):
        raise DataError("the features must be numbers in rows of equal length") from None


def same_columns(features: npt.ArrayLike, count: int, name: str) -> Floats:
    """Return the features as numbers, as many per row as the map was fitted to."""
    table = numbers(features)
    found = table.shape[-1] if table.ndim else 0
    if found != count:
        raise DataError(
            f"the feature map {name!r} was fitted to {count} feature(s), but there "
            f"are {found}; give the same columns as in the fit"
        )
    return table


def table_to_fit(features: npt.ArrayLike, names: Sequence[str]) -> Floats:
    """Return the features to fit to, if every one of them is a finite number."""
    table = checks.floats(features, "the features", dimensions=2)
    if not len(table):
        raise DataError("there are no items to fit the feature map to; give at least two")
    checks.same_length(len(names), table.shape[1], "feature names", "feature columns")
    checks.usable_features(table, range(1, len(table) + 1), names)
    return table


def locked(array: Floats) -> Floats:
    """Make a fresh array read-only."""
    array.flags.writeable = False
    return array
