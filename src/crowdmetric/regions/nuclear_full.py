"""The nuclear ball of [M V'] with M positive semidefinite: the paper's main programme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdmetric.errors import SettingError
from crowdmetric.regions.projections import (
    Floats,
    Radius,
    column,
    onto_nuclear_ball,
    onto_psd,
    symmetric_part,
    vector_norm,
)
from crowdmetric.regions.protocol import Piece, checked_radius

__all__ = ["NuclearBall", "NuclearFull", "PSDCone"]

_PROJECTION_TOLERANCE = 1e-12
_NEGLIGIBLE = 1e-13  # of a squared singular value: rounding
_MOST_PROJECTION_STEPS = 5000


@dataclass(frozen=True)
class NuclearBall:
    """nuclear([M V']) <= radius, with M any matrix.

    Examples
    --------
    >>> NuclearBall(1.0).project(np.diag([3.0, 1.0]), np.zeros((1, 2)))[0]
    array([[1., 0.],
           [0., 0.]])
    """

    radius: Radius
    metric_only = False

    def project(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Project the singular values on the capped simplex."""
        nearest, rows = onto_nuclear_ball(metric, points, self.radius)
        assert nearest is not None
        return nearest, rows


@dataclass(frozen=True)
class PSDCone:
    """M symmetric positive semidefinite, and V any matrix.

    Examples
    --------
    >>> PSDCone().project(np.diag([3.0, -1.0]), np.ones((1, 2)))[0]
    array([[3., 0.],
           [0., 0.]])
    """

    metric_only = True

    def project(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Clip eigenvalues."""
        return onto_psd(metric), points


@dataclass(frozen=True)
class NuclearFull:
    """M positive semidefinite with nuclear([M V']) <= radius: few directions serve everybody.

    Parameters
    ----------
    radius : float
        One number (or one per user, where every user has their own metric).
    margin_bound : float, optional
        The gamma of the paper: no user's margins may exceed it.

    Examples
    --------
    >>> region = NuclearFull(2.0)
    >>> metric, points = region.project(np.eye(2), np.array([[2.0, 0.0]]))
    >>> float(region.violation(metric, points)) < 1e-12
    True
    """

    radius: Radius
    margin_bound: float | None = None
    name = "nuclear-full"

    def __post_init__(self) -> None:
        """Refuse radii that are not positive."""
        object.__setattr__(self, "radius", checked_radius(self.radius, "radius"))
        bound = self.margin_bound
        if bound is not None and not (np.isfinite(bound) and bound > 0):
            raise SettingError(f"the margin bound must be a positive number, not {bound}")

    @property
    def radii(self) -> tuple[Radius, ...]:
        """The one radius."""
        return (self.radius,)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The ball and the cone."""
        return (NuclearBall(self.radius), PSDCone())

    def project(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Project by accelerated ascent on the dual of {M symmetric PSD}, which is d x d.

        The dual variable is Y = S + N with S positive semidefinite and N skew: the projection on
        the nuclear ball alone does not keep M symmetric, so without N the limit is wrong.
        """
        ball = NuclearBall(self.radius)
        dual = look = np.zeros_like(metric)
        momentum = 1.0
        scale = 1.0 + vector_norm(metric, axes=2).max(initial=0.0)
        for _ in range(_MOST_PROJECTION_STEPS):
            nearest, rows = ball.project(metric + look, points)
            following = _onto_dual_cone(look - nearest)
            if vector_norm(following - look, axes=2).max() <= _PROJECTION_TOLERANCE * scale:
                break
            if np.vdot(look - following, following - dual) > 0:
                momentum = 1.0  # the momentum points uphill: start it again
            later = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            look = following + (momentum - 1) / later * (following - dual)
            dual, momentum = following, later
        return self.repair(nearest, rows)

    def support(self, metric: Floats, points: Floats, dual: Floats | None = None) -> Floats:
        """Return radius * opnorm([G_M + Y, G_V']) for the given Y, or for a plain one.

        Every Y = (positive semidefinite) + (skew) gives an upper bound, because its inner product
        with a metric is never negative; the solver knows the Y that makes it tight.
        """
        if dual is None:
            dual = onto_psd(-metric)
        moved = symmetric_part(metric) + _onto_dual_cone(dual)
        joined = np.concatenate([moved, np.swapaxes(points, -1, -2)], axis=-1)
        gram = joined @ np.swapaxes(joined, -1, -2)
        largest = np.maximum(np.linalg.eigvalsh(gram)[..., -1], 0.0)
        result: Floats = column(self.radius, 0) * np.sqrt(largest)
        return result

    def best_dual(self, metric: Floats, multiplier: Floats) -> Floats:
        """Return the legal Y nearest to multiplier - G_M."""
        return _onto_dual_cone(multiplier - metric)

    def combine(self, found: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
        """Return the cone's metric in the directions that the ball left: both are exactly low-rank.

        Projections set eigenvalues to exactly zero; averaging them would bring small ones back.
        """
        (metric, points), (clipped, _) = found
        gram = metric @ np.swapaxes(metric, -1, -2) + np.swapaxes(points, -1, -2) @ points
        squares, vectors = np.linalg.eigh(gram)
        left = squares > _NEGLIGIBLE * squares[..., -1:]
        onto = (vectors * left[..., None, :]) @ np.swapaxes(vectors, -1, -2)
        return symmetric_part(onto @ clipped @ onto), points @ onto

    def repair(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Make M symmetric positive semidefinite, and scale all back into the ball."""
        clipped = onto_psd(metric)
        limit = column(self.radius, 0)
        share = limit / np.maximum(_nuclear_norm(clipped, points), limit)
        return clipped * share[..., None, None], points * share[..., None, None]

    def violation(self, metric: Floats, points: Floats) -> Floats:
        """Return by how much a point is outside, relative to the radius."""
        limit = column(self.radius, 0)
        least = np.linalg.eigvalsh(symmetric_part(metric))[..., 0]
        skew = vector_norm(metric - symmetric_part(metric), axes=2)
        outside = np.maximum(np.maximum(-least, skew), _nuclear_norm(metric, points) - limit)
        result: Floats = np.maximum(outside / limit, 0.0)
        return result


def _onto_dual_cone(matrix: Floats) -> Floats:
    """Project on {S + N : S positive semidefinite, N skew}."""
    symmetric = symmetric_part(matrix)
    return matrix - symmetric + onto_psd(symmetric)


def _nuclear_norm(metric: Floats, points: Floats) -> Floats:
    """Return the sum of the singular values of [M V']."""
    joined = np.concatenate([metric, np.swapaxes(points, -1, -2)], axis=-1)
    result: Floats = np.linalg.svd(joined, compute_uv=False).sum(axis=-1)
    return result
