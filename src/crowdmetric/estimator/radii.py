"""Radii worth trying, from the data: how far to go from zero in the direction of steepest descent.

At zero the risk falls with the slope s along the region's best direction D, and bends with the
curvature q. A step of s / q is where the parabola of the two bottoms out: the natural unit in
which to try radii.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from crowdmetric.errors import DataError, SettingError, did_you_mean
from crowdmetric.losses import CurvedLoss
from crowdmetric.problem import Problem
from crowdmetric.regions import RADII, FixedMetric, Region, by_name

__all__ = ["Family", "Radii", "family", "grid_around", "natural_radii"]

Floats = npt.NDArray[np.float64]
Radii = tuple[float, ...]

_FAR = 1e6  # how far along minus the gradient the projection is as good as the best direction


@dataclass(frozen=True)
class Family:
    """A function from radii to regions of one kind.

    Parameters
    ----------
    make : callable
        The function.
    count : int
        How many radii it takes.

    Examples
    --------
    >>> Family(lambda radius: FixedMetric(np.eye(2), radius), 1)(1.0, 2.0)
    Traceback (most recent call last):
    crowdmetric.errors.SettingError: the region takes 1 radius(es), but 2 were given: 1.0, 2.0
    """

    make: Callable[..., Region]
    count: int

    def __call__(self, *radii: float) -> Region:
        """Return the region with these radii."""
        if len(radii) != self.count:
            raise SettingError(
                f"the region takes {self.count} radius(es), but {len(radii)} were given: "
                + ", ".join(map(str, radii))
            )
        return self.make(*radii)


def family(
    region: str | Callable[..., Region], dimension: int, margin_bound: float | None
) -> Family:
    """Return the function from radii to region.

    Parameters
    ----------
    region : str or callable
        The name of a region, or a function from radii to region.
    dimension : int
        The number of features; the metric of "fixed" is the identity.
    margin_bound : float, optional
        The gamma of the paper, for a region given by name.

    Returns
    -------
    Family
        Taking one radius, or two.

    Examples
    --------
    >>> family("frobenius", 2, None)(1.0, 2.0)
    FrobeniusMetric(radius=1.0, point_radius=2.0, margin_bound=None)
    """
    if not isinstance(region, str):
        made = Family(region, _count_radii(region))
    elif region == "fixed":
        made = Family(lambda radius: FixedMetric(np.eye(dimension), radius, margin_bound), 1)
    elif region in RADII:
        count = len(RADII[region])
        made = Family(lambda *radii: by_name(region, radii, margin_bound), count)
    else:
        raise SettingError(
            f"there is no region {region!r}{did_you_mean(region, RADII)} "
            f"(choose from {', '.join(RADII)})"
        )
    if not made.count:
        raise SettingError(f"the region {region!r} has no radius to choose: use CrowdMetric")
    return made


def _count_radii(region: object) -> int:
    """Return how many arguments a function must be given."""
    if not callable(region):
        raise SettingError(
            f"CrowdMetricCV takes the name of a region, such as 'nuclear-full', or a function from "
            f"radii to a region, not {region!r}; for given radii use CrowdMetric"
        )
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(region).parameters.values()
    return sum(p.kind in kinds and p.default is p.empty for p in parameters)


def natural_radii(problem: Problem, make: Family) -> Radii:
    """Return the natural unit of each radius.

    Parameters
    ----------
    problem : Problem
        Its own region is not used.
    make : Family
        From radii to region.

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
    >>> [f"{unit:.2f}" for unit in natural_radii(problem, family("nuclear-full", 3, None))]
    ['1.37']
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
    region = make(*[1.0] * make.count)
    best = region.project(-far * metric, -far * points)
    # With two radii, one is for M and one for V; a lone radius is for whatever it bounds.
    parts = [best] if make.count == 1 else [(best[0], origin[1]), (origin[0], best[1])]
    if isinstance(region, FixedMetric):
        parts = [(origin[0], best[1])]
    units = []
    for part in parts:
        along = crowd.margins(*part)
        slope = -float(crowd.mean(loss.slope(at_origin) * along)[0])
        curvature = float(crowd.mean(bend * along**2)[0])
        units.append(slope / curvature if slope > 0 and curvature > 0 else 1.0)
    return tuple(units)


def grid_around(radii: Radii, which: int | None, factors: tuple[float, ...]) -> list[Radii]:
    """Return the radii with one of them, or all, multiplied by each factor.

    Examples
    --------
    >>> grid_around((1.0, 2.0), 1, (0.5, 2.0))
    [(1.0, 1.0), (1.0, 4.0)]
    """
    chosen = range(len(radii)) if which is None else [which]
    return [tuple(r * f if i in chosen else r for i, r in enumerate(radii)) for f in factors]
