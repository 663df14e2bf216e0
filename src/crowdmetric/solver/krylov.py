"""Solving with a curvature that is only known as an operator, by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["conjugate_gradients"]

Floats = npt.NDArray[np.float64]

_TOLERANCE = 0.1
_MOST_STEPS = 20


def conjugate_gradients(apply: Callable[[Floats], Floats], right: Floats, scale: Floats) -> Floats:
    """Return nearly the solution of a stack of linear systems.

    A tenth of the residual is enough for one step of an iteration that corrects itself.

    Parameters
    ----------
    apply : callable
        The symmetric positive definite operator on flat rows, one row per problem.
    right : ndarray of shape (B, P)
        The right-hand sides.
    scale : ndarray of shape (P,)
        An approximate inverse of the operator's diagonal.

    Returns
    -------
    ndarray of shape (B, P)
        The approximate solutions.

    Examples
    --------
    >>> diagonal = np.array([1.0, 4.0])
    >>> conjugate_gradients(lambda x: diagonal * x, np.array([[1.0, 4.0]]), 1 / diagonal)
    array([[1., 1.]])
    """
    found, residual = np.zeros_like(right), right.copy()
    direction = scale * residual
    energy = np.einsum("bi,bi->b", residual, direction)
    enough = energy * _TOLERANCE**2
    for _ in range(_MOST_STEPS):
        if not (energy > enough).any():
            break
        image = apply(direction)
        steepness = np.einsum("bi,bi->b", direction, image)
        length = (energy / np.maximum(steepness, np.finfo(np.float64).tiny))[:, None]
        found += length * direction
        residual -= length * image
        ahead = scale * residual
        following = np.einsum("bi,bi->b", residual, ahead)
        keep = following / np.maximum(energy, np.finfo(np.float64).tiny)
        direction = ahead + keep[:, None] * direction
        energy = following
    return found
