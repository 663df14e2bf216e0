"""Regions: where the metric M and the points V may live (the constraints of the programmes).

A region answers three questions: the nearest point, the support function, by how much a point is
outside. To write your own, read docs/add-a-region.md.

Examples
--------
>>> by_name("nuclear-full", (2.5,))
NuclearFull(radius=2.5, margin_bound=None)
"""

from __future__ import annotations

from collections.abc import Sequence

from crowdmetric.errors import SettingError, did_you_mean
from crowdmetric.regions.balls import (
    FixedMetric,
    FrobeniusMetric,
    NuclearMetric,
    NuclearSplit,
    PSDOnly,
)
from crowdmetric.regions.nuclear_full import NuclearFull
from crowdmetric.regions.protocol import Region, RepairedRegion, SplitRegion, radius_of

__all__ = [
    "BUILT_IN",
    "FixedMetric",
    "FrobeniusMetric",
    "NuclearFull",
    "NuclearMetric",
    "NuclearSplit",
    "PSDOnly",
    "Region",
    "RepairedRegion",
    "SplitRegion",
    "by_name",
    "radius_of",
]

BUILT_IN = {
    region.name: region
    for region in (NuclearFull, FrobeniusMetric, NuclearMetric, NuclearSplit, PSDOnly, FixedMetric)
}
RADII = {
    "nuclear-full": ("radius",),
    "frobenius": ("radius", "point_radius"),
    "nuclear-metric": ("radius", "point_radius"),
    "nuclear-split": ("radius", "point_radius"),
    "psd": (),
    "fixed": ("point_radius",),
}


def by_name(name: str, radii: Sequence[float], margin_bound: float | None = None) -> Region:
    """Return a region from its name and radii, as at the command line.

    Parameters
    ----------
    name : str
        One of "nuclear-full", "frobenius", "nuclear-metric", "nuclear-split", "psd".
    radii : sequence of float
        As many as the region takes.
    margin_bound : float, optional
        The gamma of the paper.

    Returns
    -------
    Region
        The region.

    Examples
    --------
    >>> by_name("frobenius", (1, 2))
    FrobeniusMetric(radius=1.0, point_radius=2.0, margin_bound=None)
    """
    if name == "fixed":
        raise SettingError("the region 'fixed' needs a metric: use regions.FixedMetric in Python")
    if name not in BUILT_IN:
        raise SettingError(
            f"there is no region {name!r}{did_you_mean(name, BUILT_IN)} "
            f"(choose from {', '.join(BUILT_IN)})"
        )
    wanted = RADII[name]
    if len(radii) != len(wanted):
        takes = " and a ".join(field.replace("_", " ") for field in wanted) or "no radius"
        raise SettingError(
            f"the region {name!r} takes {'a ' if wanted else ''}{takes}, "
            f"but {len(radii)} number(s) were given"
        )
    values = dict(zip(wanted, radii, strict=True))
    region: Region = BUILT_IN[name](**values, margin_bound=margin_bound)  # type: ignore[arg-type]
    return region
