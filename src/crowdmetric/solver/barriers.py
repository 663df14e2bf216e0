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
from crowdmetric.solver.curvature import pack, unpack

__all__ = ["Barriers", "Target"]

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
    rows : ndarray of shape (K,) or float
        Those of the points' balls.
    cone : ndarray of shape (D,) or float
        That of the cone, packed.
    """

    level: float
    ball: float = 0.0
    rows: Floats | float = 0.0
    cone: Floats | float = 0.0


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
        self.metric: Floats = np.eye(dimension) * (self._radius / (4 * size))
        self.points: Floats = np.zeros((n_users, dimension))
        self._identity = pack(np.eye(dimension))
        self._basis = unpack(np.eye(len(self._identity)), dimension).reshape(-1, dimension**2)
        self.count = n_users + dimension + 1

    def centre(self, level: float) -> None:
        """Set the multipliers so that every complementarity is at the level."""
        self._measure()
        self._of_ball = level / self._gap
        self._of_rows = level / self._gaps
        self._of_cone: Floats = level * self._inverse
        self._measure_multipliers()

    def _measure(self) -> None:
        """Compute what depends on the point."""
        self.packed = pack(self.metric)
        self._root = np.linalg.inv(np.linalg.cholesky(self.metric))
        self._inverse: Floats = self._root.T @ self._root
        if self._trace:
            self._gap = self._radius - float(np.trace(self.metric))
            self._normal = self._identity
        else:
            self._gap = (self._radius**2 - float(self.packed @ self.packed)) / 2
            self._normal = self.packed
        self._gaps = (self._row_radius**2 - np.einsum("kd,kd->k", self.points, self.points)) / 2

    def _measure_multipliers(self) -> None:
        """Compute what depends on the multipliers."""
        self._root_of_cone = np.linalg.inv(np.linalg.cholesky(self._of_cone))

    def curvature(self) -> tuple[Floats, Floats]:
        """Return what the constraints add to the blocks of M (D, D) and of the users (K, d, d)."""
        d = len(self.metric)
        product = self._inverse[:, None, :, None] * self._of_cone[None, :, None, :]
        # The basis is of symmetric matrices, for which both orders of the product are alike.
        block = self._basis @ product.reshape(d * d, d * d) @ self._basis.T
        block = 0.5 * (block + block.T)
        block += (self._of_ball / self._gap) * np.outer(self._normal, self._normal)
        if not self._trace:
            block += self._of_ball * np.eye(len(block))
        slope = self._of_rows / self._gaps
        rows = slope[:, None, None] * self.points[:, :, None] * self.points[:, None, :]
        return block, rows + self._of_rows[:, None, None] * np.eye(self.points.shape[1])

    def force(self, target: Target) -> tuple[Floats, Floats]:
        """Return what the constraints add to the right-hand side."""
        metric = pack(target.level * self._inverse) - target.cone
        metric = metric - self._normal * ((target.level - target.ball) / self._gap)
        return metric, -self.points * ((target.level - target.rows) / self._gaps)[:, None]

    def follow(
        self, metric: Floats, points: Floats, target: Target
    ) -> tuple[float, Floats, Floats]:
        """Return the change of the multipliers along a direction: of ball, rows and cone."""
        along, along_rows = self._normal @ metric, np.einsum("kd,kd->k", self.points, points)
        ball = (target.level - target.ball + self._of_ball * along) / self._gap - self._of_ball
        rows = (target.level - target.rows + self._of_rows * along_rows) / self._gaps
        rows = rows - self._of_rows
        full = unpack(metric, len(self.metric))
        product = self._inverse @ full @ self._of_cone
        cone = target.level * self._inverse - self._of_cone - (product + product.T) / 2
        if not np.isscalar(target.cone):
            cone = cone - unpack(np.asarray(target.cone), len(cone))
        return float(ball), rows, cone

    def second_order(
        self,
        metric: Floats,
        points: Floats,
        change: tuple[float, Floats, Floats],
        level: float,
    ) -> Target:
        """Return the target that corrects for what a direction leaves out."""
        ball, rows, cone = change
        twice = self._inverse @ unpack(metric, len(cone)) @ cone
        along_rows = np.einsum("kd,kd->k", self.points, points)
        curved = pack((twice + twice.T) / 2)
        return Target(level, -ball * float(self._normal @ metric), -rows * along_rows, curved)

    def longest(self, metric: Floats, points: Floats, rate: float) -> float:
        """Return how far a direction stays inside, given the rate of the slacks."""
        limit = 1.0 / max(rate, 1e-12)
        limit = min(limit, _cone_limit(self._root, unpack(metric, len(self.metric))))
        if self._trace:
            limit = min(limit, self._gap / max(float(self._normal @ metric), 1e-300))
        else:
            square, along = float(metric @ metric), float(self.packed @ metric)
            root = math.sqrt(along**2 + 2 * square * self._gap)
            limit = min(limit, 2 * self._gap / max(along + root, 1e-300))
        squares = np.einsum("kd,kd->k", points, points)
        alongs = np.einsum("kd,kd->k", self.points, points)
        # The root of a quadratic in the form without cancellation: 2 gap / (along + root).
        roots = np.sqrt(alongs**2 + 2 * squares * self._gaps)
        return min(limit, float((2 * self._gaps / np.maximum(alongs + roots, 1e-300)).min()))

    def longest_multipliers(self, ball: float, rows: Floats, cone: Floats, rate: float) -> float:
        """Return how far the multipliers stay positive, given the rate of the others."""
        fastest = max(rate, -ball / self._of_ball, float((-rows / self._of_rows).max()), 1e-12)
        return min(1.0 / fastest, _cone_limit(self._root_of_cone, cone))

    def move(
        self, step: tuple[Floats, Floats], change: tuple[float, Floats, Floats], lengths: Floats
    ) -> None:
        """Move point and multipliers."""
        self.metric = self.metric + lengths[0] * unpack(step[0], len(self.metric))
        self.points = self.points + lengths[0] * step[1]
        self._of_ball += lengths[1] * change[0]
        self._of_rows = self._of_rows + lengths[1] * change[1]
        self._of_cone = self._of_cone + lengths[1] * change[2]
        self._measure()
        self._measure_multipliers()


def _cone_limit(root: Floats, direction: Floats) -> float:
    """Return how far one may go from (root' root)^-1 before leaving the cone."""
    least = float(np.linalg.eigvalsh(root @ direction @ root.T)[0])
    return -1.0 / least if least < 0 else np.inf
