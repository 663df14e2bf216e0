"""The region's part of the interior-point method: balls for M and for the points, and the cone.

A ball is written g >= 0: g = (a^2 - norm_F(M)^2) / 2, or g = a - tr M, and for every user
g_k = (b^2 - norm(v_k)^2) / 2. Metrics are packed (see `curvature.pack`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric.regions import FrobeniusMetric, NuclearMetric
from crowdmetric.solver import interior_kernels as loops
from crowdmetric.solver.cone import Cone, Turn
from crowdmetric.solver.curvature import pack, unpack

__all__ = ["Barriers", "Change", "Target"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Target:
    """Where the complementarities should go: to `level`, less second-order terms.

    Parameters
    ----------
    level : float
        The same for every constraint.
    ball : float
        Second-order term of the metric's ball.
    rows : ndarray of shape (K,)
        Those of the points' balls.
    cone : ndarray of shape (d, d)
        That of the cone.
    """

    level: float
    ball: float
    rows: Floats
    cone: Floats


@dataclass(frozen=True, eq=False)
class Change:
    """What a direction does to the constraints.

    Parameters
    ----------
    cone : Turn
        What it does to M and its multiplier.
    points : ndarray of shape (K, d)
        The direction of the points.
    ball, rows
        How the multipliers of the balls change.
    second_order : Target
        Those terms, with a level of zero.
    rate, rate_of_multipliers : float
        One over how far the direction stays inside, and keeps the multipliers positive.
    """

    cone: Turn
    points: Floats
    ball: float
    rows: Floats
    second_order: Target
    rate: float
    rate_of_multipliers: float


class Barriers:
    """The constraints of a region at a point inside it, with their multipliers.

    Parameters
    ----------
    region : FrobeniusMetric or NuclearMetric
        Without a margin bound.
    n_users, dimension : int
        The sizes K and d.
    """

    def __init__(
        self, region: FrobeniusMetric | NuclearMetric, n_users: int, dimension: int
    ) -> None:
        """Start in the middle of the region."""
        self._trace = isinstance(region, NuclearMetric)
        self._radius, self._row_radius = (
            float(np.max(region.radius)),
            float(np.max(region.point_radius)),
        )
        size = dimension if self._trace else np.sqrt(dimension)
        self._start: Floats = np.eye(dimension) * (self._radius / (4 * size))
        self.points: Floats = np.zeros((n_users, dimension))
        self._identity = pack(np.eye(dimension))
        self._ridge, self._ridge_of_rows = np.eye(len(self._identity)), np.eye(dimension)
        self.count = n_users + dimension + 1
        self.nearest = Target(0.0, 0.0, np.zeros(n_users), np.zeros((dimension, dimension)))

    def centre(self, level: float) -> None:
        """Set the multipliers so that every complementarity is at the level."""
        diagonal = np.diag(self._start)
        self._cone = Cone(self._start, np.diag(level / diagonal))
        self._measure()
        self._of_ball = level / self._gap
        self._of_rows = level / self._gaps

    @property
    def metric(self) -> Floats:
        """The metric."""
        metric: Floats = self._cone.metric
        return metric

    def _measure(self) -> None:
        """Compute what depends on the point and its multipliers."""
        self.packed = pack(self.metric)
        if self._trace:
            self._gap = self._radius - float(np.trace(self.metric))
            self._normal = self._identity
        else:
            self._gap = (self._radius**2 - float(self.packed @ self.packed)) / 2
            self._normal = self.packed
        self._gaps = (self._row_radius**2 - np.einsum("kd,kd->k", self.points, self.points)) / 2

    def curvature(self) -> tuple[Floats, Floats]:
        """Return what the constraints add to the blocks of M (D, D) and of the users (K, d, d)."""
        block = self._cone.curvature()
        block += (self._of_ball / self._gap) * np.outer(self._normal, self._normal)
        if not self._trace:
            block += self._of_ball * self._ridge
        slope = self._of_rows / self._gaps
        rows = slope[:, None, None] * self.points[:, :, None] * self.points[:, None, :]
        return block, rows + self._of_rows[:, None, None] * self._ridge_of_rows

    def force(self, target: Target) -> tuple[Floats, Floats]:
        """Return what the constraints add to the right-hand side."""
        metric = pack(self._cone.force(target.level, target.cone))
        metric -= self._normal * ((target.level - target.ball) / self._gap)
        return metric, self.points * ((target.rows - target.level) / self._gaps)[:, None]

    def follow(self, metric: Floats, points: Floats, target: Target) -> Change:
        """Return what a direction does; `metric` is packed."""
        along = float(self._normal @ metric)
        ball = (target.level - target.ball + self._of_ball * along) / self._gap - self._of_ball
        cone = self._cone.follow(unpack(metric, len(self.metric)), target.level, target.cone)
        rows, curved = np.empty((2, len(points)))
        rate, of_multipliers = loops.follow_rows(
            self.points, points, self._gaps, self._of_rows, target.level, target.rows, rows, curved
        )
        leaving, leaving_of_multiplier = cone.rates
        second_order = Target(0.0, -ball * along, curved, cone.second_order)
        return Change(
            cone, points, ball, rows, second_order,
            max(rate, leaving, self._rate_of_ball(metric, along)),
            max(of_multipliers, leaving_of_multiplier, -ball / self._of_ball),
        )  # fmt: skip

    def _rate_of_ball(self, metric: Floats, along: float) -> float:
        """Return one over how far a direction stays in the metric's ball."""
        if self._trace:
            return along / self._gap
        square = float(metric @ metric)
        return (along + math.sqrt(along**2 + 2 * square * self._gap)) / (2 * self._gap)

    def move(self, change: Change, lengths: Floats) -> None:
        """Move point and multipliers."""
        self._cone.move(change.cone, lengths)
        self.points = self.points + lengths[0] * change.points
        self._of_ball += lengths[1] * change.ball
        self._of_rows = self._of_rows + lengths[1] * change.rows
        self._measure()
