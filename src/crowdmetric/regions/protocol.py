"""What a region is, and what its pieces are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from crowdmetric.errors import SettingError
from crowdmetric.regions.projections import Floats, Radius

__all__ = [
    "Piece",
    "Region",
    "RepairedRegion",
    "SplitRegion",
    "checked_radius",
    "radius_of",
]


class Piece(Protocol):
    """A set with a closed-form projection; a region is an intersection of pieces.

    One that leaves the points as they are says so: `metric_only` is True.
    """

    def project(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Return the nearest point of the set."""


class Region(Protocol):
    """Where (M, V) may live: a closed convex set.

    The arrays are M (d, d) and V (K, d), or stacks of them with one leading axis: one problem
    per user. Inner products are entrywise, so of a matrix only the symmetric part matters.
    """

    @property
    def name(self) -> str:
        """Name in messages, files and at the command line."""

    @property
    def radii(self) -> tuple[Radius, ...]:
        """The radii, in the order of the command line."""

    @property
    def margin_bound(self) -> float | None:
        """The gamma that bounds every margin, if one does."""

    def project(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Return the nearest point of the region (the margin bound aside)."""

    def support(self, metric: Floats, points: Floats, dual: Floats | None = None) -> Floats:
        """Return (a bound on) the largest inner product with a point of the region."""

    def violation(self, metric: Floats, points: Floats) -> Floats:
        """Return by how much a point is outside, relative to the radii; 0 inside."""


@runtime_checkable
class RepairedRegion(Protocol):
    """A region whose projection, in floating point, may end just outside."""

    def repair(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Return a point of the region near one that is almost inside."""


@runtime_checkable
class SplitRegion(RepairedRegion, Protocol):
    """A region without a closed-form projection, whose pieces have one.

    The first piece has a bounded support function; the multiplier of the others is what the
    dual absorbs.
    """

    @property
    def pieces(self) -> Sequence[Piece]:
        """The sets whose intersection the region is."""

    def combine(self, found: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
        """Return one point from the points of the pieces, which are almost the same."""

    def best_dual(self, metric: Floats, multiplier: Floats) -> Floats:
        """Return the legal dual nearest to what the first piece's multiplier suggests."""


def checked_radius(value: Radius, what: str) -> Radius:
    """Return a radius, or one per problem, as floats; refuse what is not positive.

    Examples
    --------
    >>> checked_radius(2, "radius")
    2.0
    """
    array = np.asarray(value, dtype=np.float64)
    if array.ndim > 1 or not (np.isfinite(array) & (array > 0)).all():
        raise SettingError(f"the {what} must be a positive number, not {value}")
    return float(array) if array.ndim == 0 else tuple(array.tolist())


def radius_of(radius: Radius, problem: int) -> float:
    """Return the radius of one problem of a stack.

    Examples
    --------
    >>> radius_of(2.0, 5), radius_of((1.0, 3.0), 1)
    (2.0, 3.0)
    """
    return radius[problem] if isinstance(radius, tuple) else radius
