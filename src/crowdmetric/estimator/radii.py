"""Radii worth trying, from the data: how far to go from zero in the direction of steepest descent.

At zero the risk falls with the slope s along the region's best direction D, and bends with the
curvature q. A step of s / q is where the parabola of the two bottoms out: the natural unit in
which to try radii.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from crowdmetric.errors import DataError, SettingError
from crowdmetric.losses import CurvedLoss
from crowdmetric.problem import Problem
from crowdmetric.regions import BUILT_IN, RADII, FixedMetric, Region, by_name

__all__ = ["RegionFamily", "family", "natural_radii"]

Floats = npt.NDArray[np.float64]
RegionFamily = Callable[..., Region]

_FAR = 1e6  # how far along minus the gradient the projection is as good as the best direction


def family(region: str | RegionFamily, dimension: int, margin_bound: float | None) -> RegionFamily:
    """Return the function from radii to region.

    Parameters
    ----------
    region : str or callable
        The name of a region, or the function itself.
    dimension : int
        The number of features; the metric of "fixed" is the identity.
    margin_bound : float, optional
        The gamma of the paper.

    Returns
    -------
    callable
        Taking one radius, or two.

    Examples
    --------
    >>> family("frobenius", 2, None)(1.0, 2.0)
    FrobeniusMetric(radius=1.0, point_radius=2.0, margin_bound=None)
    """
    if callable(region):
        return region
    if region == "fixed":
        return lambda radius: FixedMetric(np.eye(dimension), radius, margin_bound)
    if region in BUILT_IN and not RADII[region]:
        raise SettingError(f"the region {region!r} has no radius to choose: use CrowdMetric")
    return lambda *radii: by_name(region, radii, margin_bound)


def natural_radii(problem: Problem, make: RegionFamily, count: int) -> tuple[float, ...]:
    """Return the natural unit of each radius.

    Parameters
    ----------
    problem : Problem
        Its own region is not used.
    make : callable
        From `family`.
    count : int
        How many radii it takes.

    Returns
    -------
    tuple of float
        One unit per radius.

    Examples
    --------
    >>> from crowdmetric.comparisons import Comparisons
    >>> from crowdmetric.losses import Logistic
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 1]).answers()
    >>> problem = Problem(answers, np.eye(3), Logistic(), FixedMetric(np.eye(3), 1.0))
    >>> [f"{unit:.2f}" for unit in natural_radii(problem, family("nuclear-full", 3, None), 1)]
    ['1.21']
    """
    crowd = replace(problem, single=False).crowd()
    d = crowd.dimension
    origin = np.zeros((1, d, d)), np.zeros((1, crowd.n_users, d))
    at_origin = crowd.margins(*origin)
    loss = problem.loss
    if isinstance(loss, CurvedLoss):
        bend = loss.curvature(at_origin)
    else:
        bend = np.full(len(at_origin), min(loss.smoothness, 1.0))
    metric, points = crowd.gradient(loss.slope(at_origin))
    size = float(np.sqrt(np.vdot(metric, metric) + np.vdot(points, points)))
    if size == 0:
        raise DataError(
            "the answers cancel out: no direction makes any of them cheaper, so there is nothing "
            "to learn"
        )
    far = _FAR / size
    best = make(*[1.0] * count).project(-far * metric, -far * points)
    # With two radii, one is for M and one for V; a lone radius is for whatever it bounds.
    parts = [best] if count == 1 else [(best[0], origin[1]), (origin[0], best[1])]
    if isinstance(make(*[1.0] * count), FixedMetric):
        parts = [(origin[0], best[1])]
    units = []
    for part in parts:
        along = crowd.margins(*part)
        slope = -float(crowd.mean(loss.slope(at_origin) * along)[0])
        curvature = float(crowd.mean(bend * along**2)[0])
        units.append(slope / curvature if slope > 0 and curvature > 0 else 1.0)
    return tuple(units)


def grid_around(
    radii: tuple[float, ...], which: int | None, factors: tuple[float, ...]
) -> list[tuple[float, ...]]:
    """Return the radii with one of them, or all, multiplied by each factor.

    Examples
    --------
    >>> grid_around((1.0, 2.0), 1, (0.5, 2.0))
    [(1.0, 1.0), (1.0, 4.0)]
    """
    chosen = range(len(radii)) if which is None else [which]
    return [
        tuple(r * f if i in chosen else r for i, r in enumerate(radii))
        for f, _ in itertools.zip_longest(factors, ())
    ]
