"""A region with one feature more: the side on which an item was shown, and its pull on answers.

Show every item twice, on the left with +1/2 and on the right with -1/2 in an additional feature.
If the metric is zero in that feature's row and column, the last number of v_k adds to each margin:

    margin = delta + b_k    with b_k the last number of user k's point; negative pulls to the left

So a side bias is a point in a region, the problem stays one convex problem in (M, V, b), and the
certificate is that of any other region: nothing about it is approximate or done in turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from crowdmetric.checks import Floats
from crowdmetric.errors import SettingError
from crowdmetric.regions import FixedMetric, PSDOnly, Region, RepairedRegion, SplitRegion
from crowdmetric.regions.protocol import Piece

__all__ = ["Sharing", "SideRegion", "SplitSideRegion", "with_side"]

Sharing = Literal["shared", "person"]


@dataclass(frozen=True)
class SidePiece:
    """A set of (M, V), with a side bias of limited size beside it.

    Examples
    --------
    >>> from crowdmetric.regions import FixedMetric
    >>> piece = SidePiece(FixedMetric(np.eye(1), 1.0), "shared", 2.0)
    >>> piece.project(np.ones((2, 2)), np.array([[3.0, 1.0], [0.5, 2.0]]))[1]
    array([[1. , 1.5],
           [0.5, 1.5]])
    """

    inner: Piece
    sharing: Sharing
    limit: float

    @property
    def metric_only(self) -> bool:
        """Whether the set is one of metrics, whatever the points."""
        return bool(getattr(self.inner, "metric_only", False))

    def project(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Project M and V, clear the side's row and column, and clip the bias."""
        nearest, rows = self.inner.project(metric[..., :-1, :-1], points[..., :-1])
        if self.metric_only:
            return _bordered(nearest), points
        return _bordered(nearest), _beside(rows, _clipped(points, self.sharing, self.limit))


@dataclass(frozen=True)
class SideRegion:
    """Another region's metrics and points, and a side bias that is shared or each person's own.

    Parameters
    ----------
    inner : Region
        Where metric and points may live, without the side.
    sharing : {"shared", "person"}
        Whether all users have one bias.
    limit : float
        How large a bias may be, in units of the margins.

    Examples
    --------
    >>> from crowdmetric.regions import FrobeniusMetric
    >>> region = SideRegion(FrobeniusMetric(1.0, 1.0), "person", 2.0)
    >>> print(region.support(np.zeros((2, 2)), np.array([[3.0, -1.0]])))
    5.0
    """

    inner: Region
    sharing: Sharing
    limit: float
    name = "side"

    @property
    def radii(self) -> tuple[Any, ...]:
        """The radii of the region inside."""
        return self.inner.radii

    @property
    def margin_bound(self) -> float | None:
        """The bound of the region inside, here on delta + b."""
        return self.inner.margin_bound

    @property
    def separable(self) -> bool:
        """Whether metric and points are projected separately."""
        return bool(getattr(self.inner, "separable", False))

    def project(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Project on the region inside, and the bias on its interval."""
        return SidePiece(_Whole(self.inner), self.sharing, self.limit).project(metric, points)

    def support(self, metric: Floats, points: Floats, dual: Floats | None = None) -> Floats:
        """Add what the bias can reach: limit * |sum of its pulls|, or the sum of their sizes."""
        pull = points[..., -1]
        size = np.abs(pull.sum(axis=-1)) if self.sharing == "shared" else np.abs(pull).sum(axis=-1)
        block = None if dual is None else dual[..., :-1, :-1]
        inside = self.inner.support(metric[..., :-1, :-1], points[..., :-1], block)
        result: Floats = inside + self.limit * size
        return result

    def repair(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Return a point of the region near one that is almost inside."""
        if not isinstance(self.inner, RepairedRegion):
            return self.project(metric, points)
        nearest, rows = self.inner.repair(metric[..., :-1, :-1], points[..., :-1])
        return _bordered(nearest), _beside(rows, _clipped(points, self.sharing, self.limit))

    def violation(self, metric: Floats, points: Floats) -> Floats:
        """Return by how much a point is outside, relative to radii and limit."""
        inside = self.inner.violation(metric[..., :-1, :-1], points[..., :-1])
        border = np.abs(metric[..., -1, :]) + np.abs(metric[..., :, -1])
        bias = points[..., -1]
        beyond = np.maximum(np.abs(bias).max(axis=-1) - self.limit, 0.0)
        if self.sharing == "shared":
            beyond = np.maximum(beyond, np.ptp(bias, axis=-1))
        outside = np.maximum(beyond, border.max(axis=-1)) / self.limit
        result: Floats = np.maximum(inside, outside)
        return result


@dataclass(frozen=True)
class SplitSideRegion(SideRegion):
    """The same around a region that is an intersection of pieces, such as `NuclearFull`.

    Examples
    --------
    >>> from crowdmetric.regions import NuclearFull
    >>> [piece.metric_only for piece in SplitSideRegion(NuclearFull(1.0), "person", 2.0).pieces]
    [False, True]
    """

    @property
    def pieces(self) -> Sequence[Piece]:
        """The pieces of the region inside, the first with the interval of the bias."""
        assert isinstance(self.inner, SplitRegion)
        return tuple(SidePiece(piece, self.sharing, self.limit) for piece in self.inner.pieces)

    def combine(self, found: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
        """Return one point from those of the pieces; the bias is the first one's."""
        assert isinstance(self.inner, SplitRegion)
        inside = [(metric[..., :-1, :-1], points[..., :-1]) for metric, points in found]
        metric, rows = self.inner.combine(inside)
        return _bordered(metric), _beside(rows, found[0][1][..., -1])

    def best_dual(self, metric: Floats, multiplier: Floats) -> Floats:
        """Return the inner region's dual; the side needs none."""
        assert isinstance(self.inner, SplitRegion)
        return _bordered(self.inner.best_dual(metric[..., :-1, :-1], multiplier[..., :-1, :-1]))


def with_side(region: Region, sharing: Sharing, limit: float) -> SideRegion:
    """Return a region with a side bias.

    Parameters
    ----------
    region : Region
        Where metric and points may live, without the side.
    sharing : {"shared", "person"}
        One bias for all, or one for each person.
    limit : float
        How large it may be, in units of the margins.

    Returns
    -------
    SideRegion
        For items with the side as their last feature.

    Examples
    --------
    >>> from crowdmetric.regions import NuclearFull
    >>> with_side(NuclearFull(1.0), "shared", 2.0).name
    'side'
    """
    if sharing not in ("shared", "person"):
        raise SettingError(f"a side bias is 'shared' or one per 'person', not {sharing!r}")
    if not (np.isfinite(limit) and limit > 0):
        raise SettingError(f"the limit of the side bias must be a positive number, not {limit}")
    if isinstance(region, PSDOnly):
        raise SettingError(
            "the region 'psd' has no bound, so it cannot have a side bias with a certificate; use "
            "a region with a radius"
        )
    if isinstance(region, FixedMetric) and region.margin_bound is not None:
        raise SettingError("a side bias beside a fixed metric takes no margin bound; leave it out")
    kind = SplitSideRegion if isinstance(region, SplitRegion) else SideRegion
    return kind(region, sharing, float(limit))


@dataclass(frozen=True)
class _Whole:
    """A region as one piece, points included."""

    inner: Region
    metric_only = False

    def project(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Project on the region."""
        return self.inner.project(metric, points)


def _clipped(points: Floats, sharing: Sharing, limit: float) -> Floats:
    """Return the nearest legal bias of each user."""
    bias = points[..., -1]
    if sharing == "shared":
        bias = np.broadcast_to(bias.mean(axis=-1, keepdims=True), bias.shape)
    return np.clip(bias, -limit, limit)


def _bordered(metric: Floats) -> Floats:
    """Return matrices with a row and a column of zeros more."""
    space = [(0, 0)] * (metric.ndim - 2) + [(0, 1), (0, 1)]
    return np.pad(metric, space)


def _beside(rows: Floats, bias: Floats) -> Floats:
    """Return points with their bias as the last number."""
    return np.concatenate([rows, bias[..., None]], axis=-1)
