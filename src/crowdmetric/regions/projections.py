"""Euclidean projections onto simple sets; every function accepts a stack of matrices.

Examples
--------
>>> onto_psd(np.diag([2.0, -1.0]))
array([[2., 0.],
       [0., 0.]])
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = [
    "Floats",
    "Radius",
    "column",
    "onto_ball_rows",
    "onto_capped_simplex",
    "onto_nuclear_ball",
    "onto_psd",
    "onto_psd_with",
    "onto_range",
    "symmetric_part",
    "vector_norm",
]

Floats = npt.NDArray[np.float64]
_MOST_NEWTON_STEPS = 60

Radius = float | tuple[float, ...]
"""One number, or one for each problem of a stack."""


def column(radius: Radius | Floats, dimensions: int) -> Floats:
    """Return the radius with trailing axes, so that it broadcasts over a stack.

    Examples
    --------
    >>> column((1.0, 2.0), 2).shape
    (2, 1, 1)
    """
    array = np.asarray(radius, dtype=np.float64)
    return array.reshape(array.shape + (1,) * dimensions)


def symmetric_part(matrix: Floats) -> Floats:
    """Return (A + A') / 2.

    Examples
    --------
    >>> symmetric_part(np.array([[0.0, 2.0], [0.0, 0.0]]))
    array([[0., 1.],
           [1., 0.]])
    """
    result: Floats = (matrix + np.swapaxes(matrix, -1, -2)) * 0.5
    return result


def vector_norm(array: Floats, axes: int) -> Floats:
    """Return the Euclidean norm over the last axes.

    Examples
    --------
    >>> vector_norm(np.ones((3, 2, 2)), axes=2)
    array([2., 2., 2.])
    """
    flat = array.reshape((*array.shape[: array.ndim - axes], -1))
    result: Floats = np.sqrt(np.einsum("...i,...i->...", flat, flat))
    return result


def onto_psd_with(matrix: Floats, shrink: Callable[[Floats], Floats]) -> Floats:
    """Symmetrise, apply a function to the eigenvalues, and compose again.

    Examples
    --------
    >>> onto_psd_with(np.diag([2.0, -1.0]), lambda values: np.clip(values, 0.0, 1.0))
    array([[1., 0.],
           [0., 0.]])
    """
    values, vectors = np.linalg.eigh(symmetric_part(matrix))
    kept = shrink(values)
    result: Floats = (vectors * kept[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return symmetric_part(result)


def onto_psd(matrix: Floats) -> Floats:
    """Project on the symmetric positive semidefinite matrices.

    Examples
    --------
    >>> onto_psd(np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    return onto_psd_with(matrix, lambda values: np.maximum(values, 0.0))


def onto_capped_simplex(values: Floats, radius: Radius | Floats) -> Floats:
    """Project each row on {w >= 0, sum w <= radius}.

    Examples
    --------
    >>> onto_capped_simplex(np.array([3.0, 1.0, -5.0]), 2.0)
    array([2., 0., 0.])
    """
    cap = column(radius, 1)
    positive = np.maximum(values, 0.0)
    if np.all(positive.sum(axis=-1, keepdims=True) <= cap):
        return positive
    descending = -np.sort(-values, axis=-1)
    excess = np.cumsum(descending, axis=-1) - cap
    count = np.arange(1, values.shape[-1] + 1)
    last = np.count_nonzero(descending * count > excess, axis=-1, keepdims=True)
    level = np.take_along_axis(excess, np.maximum(last, 1) - 1, axis=-1) / np.maximum(last, 1)
    result: Floats = np.maximum(values - np.maximum(level, 0.0), 0.0)
    return result


def onto_ball_rows(points: Floats, radius: Radius | Floats) -> Floats:
    """Project each row on the ball of the radius.

    Examples
    --------
    >>> onto_ball_rows(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0)
    array([[0.6, 0.8],
           [0.3, 0.4]])
    """
    limit = column(radius, 1)
    length = vector_norm(points, axes=1)
    return points * (limit / np.maximum(length, limit))[..., None]


def onto_nuclear_ball(
    metric: Floats | None, points: Floats, radius: Radius | Floats
) -> tuple[Floats | None, Floats]:
    """Project [M V'], or V alone, on the ball of the nuclear norm.

    Only the d x d Gram matrix is decomposed, however many points there are; M need not be
    symmetric, and the projection does not make it so.

    Examples
    --------
    >>> onto_nuclear_ball(None, np.diag([3.0, 1.0]), 2.0)[1]
    array([[2., 0.],
           [0., 0.]])
    """
    transposed = np.swapaxes(points, -1, -2)
    gram = transposed @ points
    if metric is not None:
        gram = gram + metric @ np.swapaxes(metric, -1, -2)
    squares, vectors = np.linalg.eigh(gram)
    values = np.sqrt(np.maximum(squares, 0.0))
    kept = onto_capped_simplex(values, radius)
    share = np.divide(kept, values, out=np.zeros_like(values), where=values > 0)
    shrink = (vectors * share[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return None if metric is None else shrink @ metric, points @ shrink


def onto_range(scores: Floats, gamma: float) -> Floats:
    """Project each row on {max - min <= gamma}, by clipping it to the best interval.

    Examples
    --------
    >>> onto_range(np.array([[0.0, 1.0, 4.0]]), 2.0)
    array([[1., 1., 3.]])
    """
    low = scores.min(axis=-1, keepdims=True)
    high = np.maximum(scores.max(axis=-1, keepdims=True) - gamma, low)
    edge = (low + high) / 2
    # What the interval [edge, edge + gamma] cuts off above and below must balance. The imbalance
    # is piecewise linear and falls, so Newton's method, kept in the bracket, ends exactly.
    for _ in range(_MOST_NEWTON_STEPS):
        above = np.maximum(scores - edge - gamma, 0.0)
        below = np.maximum(edge - scores, 0.0)
        imbalance = above.sum(axis=-1, keepdims=True) - below.sum(axis=-1, keepdims=True)
        steepness = np.count_nonzero(above + below, axis=-1, keepdims=True)
        low = np.where(imbalance > 0, edge, low)
        high = np.where(imbalance < 0, edge, high)
        step = edge + imbalance / np.maximum(steepness, 1)
        following = np.where((step >= low) & (step <= high), step, (low + high) / 2)
        if np.array_equal(following, edge):
            break
        edge = following
    wide = scores.max(axis=-1, keepdims=True) - scores.min(axis=-1, keepdims=True) > gamma
    result: Floats = np.where(wide, np.clip(scores, edge, edge + gamma), scores)
    return result
