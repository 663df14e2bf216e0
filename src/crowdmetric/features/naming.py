"""Feature maps by their names."""

from __future__ import annotations

from collections.abc import Callable

from crowdmetric.errors import SettingError, did_you_mean
from crowdmetric.features.affine import Center, Raw, Standardize, UnitBall
from crowdmetric.features.lift import KernelLift
from crowdmetric.features.protocol import FeatureMap
from crowdmetric.features.shared import SharedPoint

__all__ = ["feature_map"]


def _kernel() -> FeatureMap:
    """Return the lift that needs no further word: with what the crowd likes in common."""
    return SharedPoint(KernelLift())


_MAPS: dict[str, Callable[[], FeatureMap]] = {
    Raw.name: Raw,
    Center.name: Center,
    Standardize.name: Standardize,
    UnitBall.name: UnitBall,
    KernelLift.name: _kernel,
}


def feature_map(name_or_map: str | FeatureMap) -> FeatureMap:
    """Return a feature map by its name, or the map itself.

    Parameters
    ----------
    name_or_map : {"raw", "center", "standardize", "unit-ball", "kernel"} or FeatureMap
        The name of a map of this package, or any object with its methods.

    Returns
    -------
    FeatureMap
        The map, not fitted yet when it was asked for by name.

    Examples
    --------
    >>> feature_map("unit-ball")
    UnitBall(mean=None, scale=None)
    """
    if isinstance(name_or_map, str):
        if name_or_map in _MAPS:
            return _MAPS[name_or_map]()
    elif isinstance(name_or_map, FeatureMap) and not isinstance(name_or_map, type):
        return name_or_map
    raise SettingError(
        f"there is no feature map {name_or_map!r}; choose one of {', '.join(_MAPS)}"
        + (did_you_mean(name_or_map, _MAPS) if isinstance(name_or_map, str) else "")
    )
