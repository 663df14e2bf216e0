"""What a design must know of the items: their geometry, whatever the units, and what it allows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crowdmetric.comparisons import Items
from crowdmetric.errors import DataError, SettingError
from crowdmetric.identify.coordinates import Coordinates
from crowdmetric.solver.curvature import pack

__all__ = [
    "Geometry",
    "Unseen",
    "degrees_of_metric",
    "farthest_pair",
    "fewest_items",
    "identifying_geometry",
]

Floats = npt.NDArray[np.float64]


def degrees_of_metric(dimension: int) -> int:
    """Return D: how many numbers a symmetric matrix has.

    Examples
    --------
    >>> degrees_of_metric(10)
    55
    """
    return dimension * (dimension + 1) // 2


def fewest_items(dimension: int) -> int:
    """Return D + d + 1: with fewer items no answers determine a metric (prop:mainNec, c).

    Examples
    --------
    >>> fewest_items(10)
    66
    """
    return degrees_of_metric(dimension) + dimension + 1


@dataclass(frozen=True)
class Unseen:
    """Items of which only the number is known, or that are yet to be drawn.

    A design for them holds for almost all items: its rank is the generic one.

    Parameters
    ----------
    count : int
        How many items there will be; their ids are 0, 1, ...
    dimension : int
        How many features they will have.

    Examples
    --------
    >>> len(Unseen(6, 2))
    6
    """

    count: int
    dimension: int

    def __post_init__(self) -> None:
        """Refuse sizes that no items have."""
        for name, value, least in (("count", self.count, 2), ("dimension", self.dimension, 1)):
            if value < least:
                raise SettingError(f"the {name} of the items must be at least {least}, not {value}")

    def __len__(self) -> int:
        """Return the number of items."""
        return self.count

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids.

        Examples
        --------
        >>> Unseen(3, 1).ids
        (0, 1, 2)
        """
        return tuple(range(self.count))


@dataclass(frozen=True, eq=False)
class Geometry:
    """Items seen from their mean, in units in which they vary equally.

    Moving, scaling and mixing features changes neither the rank of a system nor which design is
    D-optimal, so designs are made here, where rounding does least harm.

    Parameters
    ----------
    coordinates : Coordinates
        Those of all items.

    Examples
    --------
    >>> Geometry.of(np.array([[0.0], [10.0]])).points
    array([[-1.],
           [ 1.]])
    """

    coordinates: Coordinates

    @classmethod
    def of(cls, features: Floats) -> Geometry:
        """Return the geometry of features of shape (n, d).

        Examples
        --------
        >>> Geometry.of(np.eye(3)).squares.shape
        (3, 6)
        """
        return cls(Coordinates.of(features))

    @property
    def points(self) -> Floats:
        """What a point sees of each item: a row of d numbers, zeros where items do not vary.

        Examples
        --------
        >>> Geometry.of(np.array([[1.0], [1.0]])).points
        array([[0.],
               [0.]])
        """
        return self.coordinates.items

    @cached_property
    def squares(self) -> Floats:
        """What a metric sees of each item: a row of D numbers, the packed x x' less their mean.

        Examples
        --------
        >>> Geometry.of(np.array([[0.0], [1.0], [5.0]])).squares.shape
        (3, 1)
        """
        products = pack(self.points[:, :, None] * self.points[:, None, :])
        result: Floats = products - products.mean(axis=0)
        return result

    @property
    def point_rank(self) -> int:
        """In how many directions the items vary; d is all.

        Examples
        --------
        >>> Geometry.of(np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]])).point_rank
        1
        """
        return int(self.points.any(axis=0).sum())

    @cached_property
    def rank(self) -> int:
        """How many numbers of metric and point all pairs together determine; D + d is all.

        Examples
        --------
        >>> Geometry.of(np.array([[0.0], [1.0], [5.0]])).rank  # one for x squared, one for x
        2
        >>> Geometry.of(np.array([[0.0], [1.0], [1.0]])).rank  # here x squared says nothing new
        1
        """
        joined = np.hstack([self.squares, self.points])
        size = np.linalg.svd(joined, compute_uv=False)
        return int((size > self.coordinates.rounding(len(joined), joined.shape[1], degree=2)).sum())


def identifying_geometry(items: Items) -> Geometry:
    """Return the geometry of items, some pairs of which determine every metric and point.

    Parameters
    ----------
    items : Items
        The items.

    Returns
    -------
    Geometry
        With a column per feature.

    Raises
    ------
    DataError
        If all pairs together would not determine a metric, with the reason.

    Examples
    --------
    >>> identifying_geometry(Items.from_arrays(np.eye(3)))
    Traceback (most recent call last):
    crowdmetric.errors.DataError: a metric on 3 features needs at least 10 items, and there are 3;
    add items, or use 1 feature at most
    """
    dimension, count = items.dimension, len(items)
    if count < fewest_items(dimension):
        raise DataError(
            f"a metric on {dimension} feature{'s' * (dimension > 1)} needs at least "
            f"{fewest_items(dimension)} items, and there are {count}; {_few_items(count)}"
        )
    two_valued = [
        name
        for name, column in zip(items.names, items.features.T, strict=True)
        if len(np.unique(column)) <= 2
    ]
    if two_valued:
        raise DataError(
            f"the feature {two_valued[0]!r} takes no more than two values, so its square says "
            "nothing that it does not say itself, and no answers determine a metric on it; leave "
            "it out, or be content with a random or optimal design"
        )
    geometry = Geometry.of(items.features)
    flat = dimension - geometry.point_rank
    if flat:
        raise DataError(
            f"{flat} of the {dimension} features can be computed from the others, so no answers "
            "determine a metric; leave as many out"
        )
    needed = degrees_of_metric(dimension) + dimension
    if geometry.rank < needed:
        raise DataError(
            f"all pairs of these items determine {geometry.rank} of the {needed} numbers of a "
            "metric and a point, since squares and products of their features depend on each "
            "other; add items with other values, or leave a feature out"
        )
    return geometry


def farthest_pair(points: Floats) -> tuple[int, int]:
    """Return two rows far apart: no two are more than twice as far from each other.

    Parameters
    ----------
    points : ndarray of shape (n, any)
        The points.

    Returns
    -------
    tuple of int
        The rows; the time is linear in n.

    Examples
    --------
    >>> farthest_pair(np.array([[0.0], [3.0], [1.0]]))
    (0, 1)
    """
    start = _farthest(points, points.mean(axis=0))
    other = _farthest(points, points[start])
    return min(start, other), max(start, other)


def _farthest(points: Floats, centre: Floats) -> int:
    """Return the row that is farthest from a place."""
    return int(((points - centre) ** 2).sum(axis=1).argmax())


def _few_items(count: int) -> str:
    """Say what to do with so few items."""
    fits = 0
    while fewest_items(fits + 1) <= count:
        fits += 1
    if not fits:
        return "add items"
    return f"add items, or use {fits} feature{'s' * (fits > 1)} at most"
