"""The curvature of the risk, and solving with it.

Given M the users are independent, so the matrix of second derivatives is an arrow: one block for
M, one small block per user, and what joins each user to M. Eliminating the users leaves one
system of the size of M.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from crowdmetric.crowd import Crowd

__all__ = ["Arrow", "arrow_fits", "joined_features", "mean_curvatures", "pack", "unpack"]

Floats = npt.NDArray[np.float64]

_ROOT_TWO = np.sqrt(2.0)
_MOST_WORK = 1e9  # floating-point operations of one factorisation; conjugate gradients win beyond
_LEAST_RIDGE = 1e-13  # of the trace
_MOST_NUMBERS = 3e7  # numbers to keep


@lru_cache(maxsize=64)
def _triangle(dimension: int) -> tuple[npt.NDArray[np.intp], Floats, npt.NDArray[np.intp], Floats]:
    """Return where the upper triangle lies in a flat matrix, its weights, and the way back."""
    rows, columns = np.triu_indices(dimension)
    weights = np.where(rows == columns, 1.0, _ROOT_TWO)
    back = np.empty((dimension, dimension), dtype=np.intp)
    back[rows, columns] = back[columns, rows] = np.arange(len(rows))
    return rows * dimension + columns, weights, back.ravel(), 1.0 / weights[back.ravel()]


def pack(metric: Floats) -> Floats:
    """Return the upper triangle of symmetric matrices as vectors of the same norm.

    Examples
    --------
    >>> pack(np.array([[1.0, 2.0], [2.0, 3.0]]))
    array([1.        , 2.82842712, 3.        ])
    """
    dimension = metric.shape[-1]
    where, weights, _, _ = _triangle(dimension)
    flat = metric.reshape(*metric.shape[:-2], dimension * dimension)
    result: Floats = flat[..., where] * weights
    return result


def unpack(vector: Floats, dimension: int) -> Floats:
    """Undo `pack`.

    Examples
    --------
    >>> unpack(pack(np.array([[1.0, 2.0], [2.0, 3.0]])), 2)
    array([[1., 2.],
           [2., 3.]])
    """
    _, _, back, weights = _triangle(dimension)
    full = vector[..., back] * weights
    result: Floats = full.reshape(*vector.shape[:-1], dimension, dimension)
    return result


def joined_features(features: npt.NDArray[np.floating]) -> Floats:
    """Return [pack(x x'), x] for each item: a margin is linear in it.

    Examples
    --------
    >>> joined_features(np.array([[2.0]]))
    array([[4., 2.]])
    """
    table = features.astype(np.float64)
    return np.hstack([pack(table[:, :, None] * table[:, None, :]), table])


@dataclass(frozen=True, eq=False)
class Arrow:
    """The curvature plus a ridge, ready to be solved with.

    Parameters
    ----------
    metric : ndarray of shape (B, D, D)
        Inverse of the system left for M once the users are eliminated.
    users : ndarray of shape (B, K / B, d, d)
        Inverse of each user's block.
    cross : ndarray of shape (B, K d / B, D)
        Each user's inverse block times what joins the user to M.
    """

    metric: Floats
    users: Floats
    cross: Floats

    @classmethod
    def of(
        cls,
        crowd: Crowd,
        joined: Floats,
        weights: Floats,
        ridge: tuple[float, float],
        shared: Floats | float = 0.0,
        barrier: Floats | float = 0.0,
    ) -> Arrow:
        """Add up the curvature and factorise it.

        Parameters
        ----------
        crowd : Crowd
            The answers.
        joined : ndarray of shape (n, D + d)
            From `joined_features`; the features alone where the metric is fixed.
        weights : ndarray of shape (m,)
            The curvature of each answer, its share included.
        ridge : tuple of float
            What to add to the diagonal, for M and for the points.
        shared : ndarray of shape (D + d, D + d), optional
            What to add to every user's own part.
        barrier : ndarray of shape (D, D), optional
            What to add to the part of M.

        Returns
        -------
        Arrow
            The factorised curvature.
        """
        d = crowd.dimension
        packed = joined.shape[1] - d
        per, count = crowd.users_per_problem, crowd.n_problems
        blocks = np.empty((crowd.n_users, d, d))
        cross = np.empty((crowd.n_users, d, packed))
        left = np.zeros((count, packed, packed)) + barrier
        root = np.sqrt(weights)[:, None]
        for user, (start, stop) in enumerate(zip(crowd.starts[:-1], crowd.starts[1:], strict=True)):
            rows = joined[crowd.up[start:stop]] - joined[crowd.down[start:stop]]
            rows *= root[start:stop]
            total = rows.T @ rows + shared
            left[user // per] += total[:packed, :packed]
            cross[user] = total[packed:, :packed]
            blocks[user] = total[packed:, packed:]
        return cls._factorised(left, blocks, cross, ridge, per)

    @classmethod
    def _factorised(
        cls, left: Floats, blocks: Floats, cross: Floats, ridge: tuple[float, float], per: int
    ) -> Arrow:
        """Eliminate the users."""
        count, packed = left.shape[0], left.shape[-1]
        d = blocks.shape[-1]
        inverse: Floats = np.linalg.inv(_with_ridge(blocks, ridge[1])).astype(np.float64)
        solved = inverse @ cross
        left = _with_ridge(left, ridge[0])
        flat, flat_solved = (a.reshape(count, per * d, packed) for a in (cross, solved))
        left -= np.swapaxes(flat, -1, -2) @ flat_solved
        return cls(
            np.linalg.inv(0.5 * (left + np.swapaxes(left, -1, -2))).astype(np.float64),
            inverse.reshape(count, per, d, d),
            flat_solved,
        )

    def solve(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Return (curvature + ridge)^-1 applied to a symmetric matrix and points.

        Parameters
        ----------
        metric : ndarray of shape (B, d, d)
            Symmetric matrices.
        points : ndarray of shape (B, K / B, d)
            Rows for the users.

        Returns
        -------
        metric, points : ndarray
            Of the same shapes.
        """
        count, per, d = points.shape
        if self.metric.shape[-1] == 0:
            return np.zeros_like(metric), (self.users @ points[..., None])[..., 0]
        right = pack(metric) - (points.reshape(count, 1, per * d) @ self.cross)[:, 0]
        step = (self.metric @ right[..., None])[..., 0]
        rows = (self.users @ points[..., None])[..., 0]
        rows = rows - (self.cross @ step[..., None]).reshape(points.shape)
        return unpack(step, d), rows


def _with_ridge(blocks: Floats, ridge: float) -> Floats:
    """Add a ridge to the diagonals: at least so much that rounding leaves them invertible."""
    least = _LEAST_RIDGE * np.einsum("bii->b", blocks)
    result: Floats = blocks + np.maximum(ridge, least)[:, None, None] * np.eye(blocks.shape[-1])
    return result


def mean_curvatures(crowd: Crowd, weights: Floats) -> tuple[float, float]:
    """Return the mean diagonal of the curvature for packed M and for the points.

    Parameters
    ----------
    crowd : Crowd
        The answers.
    weights : ndarray of shape (m,)
        The curvature of each answer, its share included.

    Returns
    -------
    tuple of float
        Both means.
    """
    of_metric, of_points = crowd.lengths
    d = crowd.dimension
    return (
        float(weights @ of_metric) / (crowd.n_problems * d * (d + 1) / 2),
        float(weights @ of_points) / (crowd.n_users * d),
    )


def arrow_fits(crowd: Crowd, packed: int) -> bool:
    """Return whether an `Arrow` is worth its work and memory.

    Parameters
    ----------
    crowd : Crowd
        The answers.
    packed : int
        The size D of a packed metric; 0 where the metric is fixed.

    Returns
    -------
    bool
        Otherwise, use a `Krylov`.
    """
    d, count = crowd.dimension, crowd.n_problems
    work = len(crowd.user) * (packed + d) ** 2 + 2 * count * packed**3
    numbers = crowd.n_users * d * (2 * packed + d) + 2 * count * packed**2
    return work <= _MOST_WORK and numbers <= _MOST_NUMBERS
