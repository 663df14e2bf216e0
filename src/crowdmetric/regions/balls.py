"""The regions whose projection is closed-form: M and V are projected each on its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdmetric.errors import SettingError
from crowdmetric.regions.projections import (
    Floats,
    Radius,
    column,
    onto_ball_rows,
    onto_capped_simplex,
    onto_nuclear_ball,
    onto_psd,
    onto_psd_with,
    symmetric_part,
    vector_norm,
)
from crowdmetric.regions.protocol import checked_radius

__all__ = ["FixedMetric", "FrobeniusMetric", "NuclearMetric", "NuclearSplit", "PSDOnly"]


@dataclass(frozen=True)
class FrobeniusMetric:
    """M positive semidefinite with norm_F(M) <= radius, and norm(v_k) <= point_radius.

    Parameters
    ----------
    radius, point_radius : float
        One number each (or one per user, where every user has their own metric).
    margin_bound : float, optional
        The gamma of the paper: no user's margins may exceed it.

    Examples
    --------
    >>> region = FrobeniusMetric(1.0, 2.0)
    >>> metric, points = region.project(np.diag([3.0, -4.0]), np.array([[0.0, 5.0]]))
    >>> metric, points
    (array([[1., 0.],
           [0., 0.]]), array([[0., 2.]]))
    """

    radius: Radius
    point_radius: Radius
    margin_bound: float | None = None
    name = "frobenius"
    separable = True

    def __post_init__(self) -> None:
        """Refuse radii that are not positive."""
        _check(self, "radius", "point_radius")

    @property
    def radii(self) -> tuple[Radius, ...]:
        """The radius of the metric and that of the points."""
        return (self.radius, self.point_radius)

    def project(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Clip eigenvalues, then scale; scale rows."""
        clipped = onto_psd(metric)
        size = vector_norm(clipped, axes=2)
        limit = column(self.radius, 0)
        scaled = clipped * (limit / np.maximum(size, limit))[..., None, None]
        return scaled, onto_ball_rows(points, self.point_radius)

    def support(self, metric: Floats, points: Floats, dual: Floats | None = None) -> Floats:
        """Return radius * norm_F(positive part) + point_radius * sum of the row norms."""
        positive = np.maximum(np.linalg.eigvalsh(symmetric_part(metric)), 0.0)
        result: Floats = column(self.radius, 0) * vector_norm(positive, axes=1)
        return result + _support_of_rows(points, self.point_radius)

    def violation(self, metric: Floats, points: Floats) -> Floats:
        """Return by how much a point is outside, relative to the radii."""
        size = vector_norm(metric, axes=2) / column(self.radius, 0)
        return np.maximum(
            np.maximum(size - 1, _outside_cone(metric, self.radius)),
            _outside_rows(points, self.point_radius),
        )


@dataclass(frozen=True)
class NuclearMetric:
    """M positive semidefinite with trace at most radius, and norm(v_k) <= point_radius.

    Parameters
    ----------
    radius, point_radius : float
        One number each (or one per user, where every user has their own metric).
    margin_bound : float, optional
        The gamma of the paper: no user's margins may exceed it.

    Examples
    --------
    >>> NuclearMetric(1.0, 2.0).project(np.diag([3.0, 1.0]), np.zeros((1, 2)))[0]
    array([[1., 0.],
           [0., 0.]])
    """

    radius: Radius
    point_radius: Radius
    margin_bound: float | None = None
    name = "nuclear-metric"
    separable = True

    def __post_init__(self) -> None:
        """Refuse radii that are not positive."""
        _check(self, "radius", "point_radius")

    @property
    def radii(self) -> tuple[Radius, ...]:
        """The radius of the metric and that of the points."""
        return (self.radius, self.point_radius)

    def project(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Project the eigenvalues on the capped simplex; scale rows."""
        return _onto_trace_ball(metric, self.radius), onto_ball_rows(points, self.point_radius)

    def support(self, metric: Floats, points: Floats, dual: Floats | None = None) -> Floats:
        """Return radius * largest eigenvalue + point_radius * sum of the row norms."""
        return _support_of_trace(metric, self.radius) + _support_of_rows(points, self.point_radius)

    def violation(self, metric: Floats, points: Floats) -> Floats:
        """Return by how much a point is outside, relative to the radii."""
        return np.maximum(
            _outside_trace(metric, self.radius), _outside_rows(points, self.point_radius)
        )


@dataclass(frozen=True)
class NuclearSplit:
    """M positive semidefinite with trace at most radius, and nuclear(V) <= point_radius.

    Parameters
    ----------
    radius, point_radius : float
        One number each (or one per user, where every user has their own metric).
    margin_bound : float, optional
        The gamma of the paper: no user's margins may exceed it.

    Examples
    --------
    >>> NuclearSplit(1.0, 2.0).project(np.eye(2), np.diag([3.0, 1.0]))[1]
    array([[2., 0.],
           [0., 0.]])
    """

    radius: Radius
    point_radius: Radius
    margin_bound: float | None = None
    name = "nuclear-split"
    separable = True

    def __post_init__(self) -> None:
        """Refuse radii that are not positive."""
        _check(self, "radius", "point_radius")

    @property
    def radii(self) -> tuple[Radius, ...]:
        """The radius of the metric and that of the points."""
        return (self.radius, self.point_radius)

    def project(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Project the eigenvalues of M, and the singular values of V."""
        return (
            _onto_trace_ball(metric, self.radius),
            onto_nuclear_ball(None, points, self.point_radius)[1],
        )

    def support(self, metric: Floats, points: Floats, dual: Floats | None = None) -> Floats:
        """Return radius * largest eigenvalue + point_radius * largest singular value."""
        largest = np.linalg.svd(points, compute_uv=False)[..., 0]
        result: Floats = _support_of_trace(metric, self.radius)
        return result + column(self.point_radius, 0) * largest

    def repair(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Scale V back into its ball, which a nearly singular one misses by rounding."""
        limit = column(self.point_radius, 0)
        nuclear = np.linalg.svd(points, compute_uv=False).sum(axis=-1)
        return metric, points * (limit / np.maximum(nuclear, limit))[..., None, None]

    def violation(self, metric: Floats, points: Floats) -> Floats:
        """Return by how much a point is outside, relative to the radii."""
        nuclear = np.linalg.svd(points, compute_uv=False).sum(axis=-1)
        beyond = nuclear / column(self.point_radius, 0) - 1
        result: Floats = np.maximum(_outside_trace(metric, self.radius), beyond)
        return result


@dataclass(frozen=True)
class PSDOnly:
    """M positive semidefinite, and nothing else.

    There may be no best point: see the status "separable" of the certificate. The certificate
    compares with all points up to a stated distance from zero.

    Parameters
    ----------
    margin_bound : float, optional
        The gamma of the paper: no user's margins may exceed it.

    Examples
    --------
    >>> PSDOnly().project(np.diag([3.0, -4.0]), np.ones((1, 2)))
    (array([[3., 0.],
           [0., 0.]]), array([[1., 1.]]))
    """

    margin_bound: float | None = None
    name = "psd"
    separable = True
    metric_only = True

    def __post_init__(self) -> None:
        """Refuse a margin bound that is not positive."""
        _check(self)

    @property
    def radii(self) -> tuple[Radius, ...]:
        """There are none."""
        return ()

    def project(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Clip eigenvalues."""
        return onto_psd(metric), points

    def support(self, metric: Floats, points: Floats, dual: Floats | None = None) -> Floats:
        """Return 0 for the gradients of which 0 is the best point, and inf for all others."""
        largest = np.linalg.eigvalsh(symmetric_part(metric))[..., -1]
        bounded = (largest <= 0) & (vector_norm(points, axes=2) == 0)
        return np.where(bounded, 0.0, np.inf)

    def support_within(self, metric: Floats, points: Floats, distance: float | Floats) -> Floats:
        """Return the support function of the part of the region up to a distance from zero."""
        positive = np.maximum(np.linalg.eigvalsh(symmetric_part(metric)), 0.0)
        squares = np.einsum("...i,...i->...", positive, positive)
        result: Floats = distance * np.sqrt(squares + vector_norm(points, axes=2) ** 2)
        return result

    def violation(self, metric: Floats, points: Floats) -> Floats:
        """Return by how much M leaves the cone, relative to its own size."""
        size = np.maximum(vector_norm(metric, axes=2), np.finfo(np.float64).tiny)
        return np.maximum(-np.linalg.eigvalsh(symmetric_part(metric))[..., 0] / size, 0.0)


@dataclass(frozen=True, eq=False)
class FixedMetric:
    """M given, and norm(v_k) <= point_radius.

    Parameters
    ----------
    metric : ndarray of shape (d, d)
        The metric, symmetric positive semidefinite.
    point_radius : float
        One number (or one per user, where every user is fitted alone).
    margin_bound : float, optional
        The gamma of the paper: no user's margins may exceed it.

    Examples
    --------
    >>> FixedMetric(np.eye(2), 2.0).project(np.zeros((2, 2)), np.array([[0.0, 5.0]]))
    (array([[1., 0.],
           [0., 1.]]), array([[0., 2.]]))
    """

    metric: Floats
    point_radius: Radius
    margin_bound: float | None = None
    name = "fixed"
    separable = True

    def __post_init__(self) -> None:
        """Refuse what is not a metric, and radii that are not positive."""
        _check(self, "point_radius")
        metric = np.array(self.metric, dtype=np.float64)
        size = float(np.abs(metric).max(initial=0.0))
        square = metric.ndim == 2 and metric.shape[0] == metric.shape[1]
        if not square or not np.allclose(metric, metric.T, rtol=0, atol=1e-9 * size):
            raise SettingError("the fixed metric must be a symmetric matrix")
        if np.linalg.eigvalsh(metric)[0] < -1e-9 * size:
            raise SettingError("the fixed metric must be positive semidefinite")
        metric = symmetric_part(metric)
        metric.flags.writeable = False
        object.__setattr__(self, "metric", metric)

    @property
    def radii(self) -> tuple[Radius, ...]:
        """The radius of the points."""
        return (self.point_radius,)

    def project(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Return the given metric; scale rows."""
        given = np.broadcast_to(self.metric, metric.shape).copy()
        return given, onto_ball_rows(points, self.point_radius)

    def support(self, metric: Floats, points: Floats, dual: Floats | None = None) -> Floats:
        """Return the inner product with the given metric + radius * sum of the row norms."""
        linear: Floats = np.einsum("...ij,ij->...", metric, self.metric)
        return linear + _support_of_rows(points, self.point_radius)

    def violation(self, metric: Floats, points: Floats) -> Floats:
        """Return by how much a point is outside, relative to the metric and the radius."""
        size = max(float(np.linalg.norm(self.metric)), np.finfo(np.float64).tiny)
        away = vector_norm(metric - self.metric, axes=2) / size
        return np.maximum(away, _outside_rows(points, self.point_radius))


def _check(region: object, *radii: str) -> None:
    """Replace the radii by checked ones, and check the margin bound."""
    for field in radii:
        value = checked_radius(getattr(region, field), field.replace("_", " "))
        object.__setattr__(region, field, value)
    bound = getattr(region, "margin_bound", None)
    if bound is not None and not (np.isfinite(bound) and bound > 0):
        raise SettingError(f"the margin bound must be a positive number, not {bound}")


def _onto_trace_ball(metric: Floats, radius: Radius) -> Floats:
    """Project on the positive semidefinite matrices of trace at most the radius."""
    return onto_psd_with(metric, lambda values: onto_capped_simplex(values, radius))


def _support_of_trace(metric: Floats, radius: Radius) -> Floats:
    """Return radius * max(0, largest eigenvalue)."""
    largest = np.linalg.eigvalsh(symmetric_part(metric))[..., -1]
    result: Floats = column(radius, 0) * np.maximum(largest, 0.0)
    return result


def _support_of_rows(points: Floats, radius: Radius) -> Floats:
    """Return radius * sum of the norms of the rows."""
    result: Floats = column(radius, 0) * vector_norm(points, axes=1).sum(axis=-1)
    return result


def _outside_cone(metric: Floats, radius: Radius) -> Floats:
    """Return minus the least eigenvalue, relative to the radius, if it is negative."""
    least = np.linalg.eigvalsh(symmetric_part(metric))[..., 0]
    result: Floats = np.maximum(-least / column(radius, 0), 0.0)
    return result


def _outside_trace(metric: Floats, radius: Radius) -> Floats:
    """Return by how much M leaves the cone or exceeds the trace, relative to the radius."""
    trace = np.einsum("...ii->...", metric) / column(radius, 0)
    result: Floats = np.maximum(np.maximum(trace - 1, 0.0), _outside_cone(metric, radius))
    return result


def _outside_rows(points: Floats, radius: Radius) -> Floats:
    """Return by how much the longest row exceeds the radius, relative to it."""
    longest = vector_norm(points, axes=1).max(axis=-1, initial=0.0)
    result: Floats = np.maximum(longest / column(radius, 0) - 1, 0.0)
    return result
