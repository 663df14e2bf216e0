"""A positive definite matrix and its multiplier, as interior-point methods move them.

The two are complementary at a solution: M S = 0. On the way there, M S = level I. Both are kept by
their roots, which steps inside the cone update, so that rounding never takes them out of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from crowdmetric.solver.curvature import unpack

__all__ = ["Cone", "Turn"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Turn:
    """What a direction does to the matrix and its multiplier.

    Parameters
    ----------
    metric, multiplier : ndarray of shape (d, d)
        Their directions.
    seen : ndarray of shape (2, d, d)
        Both, as seen from inside: root^-1 direction root^-T.
    values : ndarray of shape (2, d)
        The eigenvalues of both, in ascending order.
    second_order : ndarray of shape (d, d)
        What following both to the end would add to M S, over M.
    """

    metric: Floats
    multiplier: Floats
    seen: Floats
    values: Floats
    second_order: Floats

    @property
    def rates(self) -> tuple[float, float]:
        """One over how far the matrix stays in the cone, and its multiplier."""
        return -float(self.values[0, 0]), -float(self.values[1, 0])


class Cone:
    """A matrix inside the cone, with a multiplier inside the cone.

    Parameters
    ----------
    metric, multiplier : ndarray of shape (d, d)
        Positive definite.

    Examples
    --------
    >>> cone = Cone(2 * np.eye(1), 3 * np.eye(1))
    >>> cone.level
    6.0
    >>> turn = cone.follow(np.ones((1, 1)), 0.0, np.zeros((1, 1)))
    >>> cone.move(turn, np.array([1.0, 0.5]))
    >>> cone.metric.round(9)
    array([[3.]])
    """

    def __init__(self, metric: Floats, multiplier: Floats) -> None:
        """Take the roots."""
        self._roots: Floats = np.linalg.cholesky(np.stack([metric, multiplier]))
        self._measure()

    def _measure(self) -> None:
        """Compute what depends on the roots."""
        self.metric, self.multiplier = self._roots @ np.swapaxes(self._roots, 1, 2)
        self._inverse_roots = np.linalg.inv(self._roots)
        root = self._inverse_roots[0]
        self.inverse: Floats = root.T @ root

    @property
    def root(self) -> Floats:
        """R of M = R R'."""
        root: Floats = self._roots[0]
        return root

    @property
    def level(self) -> float:
        """The mean eigenvalue of M S."""
        return float(np.vdot(self.metric, self.multiplier)) / len(self.metric)

    def level_after(self, turn: Turn, lengths: tuple[float, float]) -> float:
        """Return the level that moving would lead to."""
        metric = self.metric + lengths[0] * turn.metric
        multiplier = self.multiplier + lengths[1] * turn.multiplier
        return float(np.vdot(metric, multiplier)) / len(metric)

    def curvature(self) -> Floats:
        """Return what the cone adds to the curvature of a packed M: M^-1 (x) S."""
        d = len(self.metric)
        basis = _basis(d)
        product = self.inverse[:, None, :, None] * self.multiplier[None, :, None, :]
        # The basis is of symmetric matrices, for which both orders of the product are alike.
        block: Floats = basis @ product.reshape(d * d, d * d) @ basis.T
        return 0.5 * (block + block.T)

    def force(self, level: float, second_order: Floats) -> Floats:
        """Return what the cone adds to the right-hand side, on the way to a level."""
        force: Floats = level * self.inverse - second_order
        return force

    def follow(self, metric: Floats, level: float, second_order: Floats) -> Turn:
        """Return what a direction of M does, if it was found with `force`."""
        turned = self.inverse @ metric
        product = turned @ self.multiplier
        multiplier = self.force(level, second_order) - self.multiplier - (product + product.T) / 2
        twice = turned @ multiplier
        both = np.stack([metric, multiplier])
        seen = self._inverse_roots @ both @ np.swapaxes(self._inverse_roots, 1, 2)
        return Turn(metric, multiplier, seen, np.linalg.eigvalsh(seen), (twice + twice.T) / 2)

    def move(self, turn: Turn, lengths: Floats) -> None:
        """Move both, each by a length that leaves it inside."""
        inner = np.eye(len(self.metric)) + lengths[:, None, None] * turn.seen
        self._roots = self._roots @ np.linalg.cholesky(inner)
        self._measure()


@lru_cache(maxsize=64)
def _basis(dimension: int) -> Floats:
    """Return the flat symmetric matrices that packed vectors are coordinates of."""
    size = dimension * (dimension + 1) // 2
    return unpack(np.eye(size), dimension).reshape(size, dimension**2)
