"""Scores, margins and distances on plain arrays.

The score of item x for user k is s_k(x) = x' M x + v_k' x; lower is preferred. ``metric`` is one
(d, d) matrix for the crowd or a (K, d, d) stack with one matrix per user.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import pdist, squareform

from crowdmetric.checks import Codes, Floats
from crowdmetric.points import factor

_CHUNK = 1 << 16  # comparisons gathered at a time: memory stays bounded however many there are


def scores(metric: Floats, points: Floats, x: Floats) -> Floats:
    """Return the (K, n) scores of all items for all users."""
    linear: Floats = points @ x.T
    if metric.ndim == 2:
        return linear + _squares(metric, x)
    return linear + np.stack([_squares(own, x) for own in metric])


def margins(
    metric: Floats, points: Floats, x: Floats, user: Codes, left: Codes, right: Codes
) -> Floats:
    """Return s_k(left) - s_k(right) for each comparison."""
    if metric.ndim == 2:
        squares = _squares(metric, x)
        return squares[left] - squares[right] + _linear(points, x, user, left, right)
    result = _linear(points, x, user, left, right)
    order = np.argsort(user, kind="stable")
    starts = np.flatnonzero(np.diff(user[order], prepend=-1))
    for rows in np.split(order, starts[1:]) if len(order) else ():
        seen, codes = np.unique(np.stack([left[rows], right[rows]]), return_inverse=True)
        squares = _squares(metric[user[rows[0]]], x[seen])
        at_left, at_right = codes.reshape(2, -1)
        result[rows] += squares[at_left] - squares[at_right]
    return result


def distances(metric: Floats, x: Floats) -> Floats:
    """Return the (n, n) distances between items, or one such table per user."""
    root = factor(metric, tolerance=0.0)  # only what rounding makes of a zero counts as zero
    if root.ndim == 2:
        return _euclidean(x @ root)
    return np.stack([_euclidean(x @ own) for own in root])


def _squares(metric: Floats, x: Floats) -> Floats:
    """Return x_i' M x_i for each item."""
    result: Floats = np.einsum("id,id->i", x @ metric, x)
    return result


def _linear(points: Floats, x: Floats, user: Codes, left: Codes, right: Codes) -> Floats:
    """Return v_k' (x_left - x_right) for each comparison."""
    result = np.empty(len(user))
    for start in range(0, len(user), _CHUNK):
        rows = slice(start, start + _CHUNK)
        steps = x[left[rows]] - x[right[rows]]
        np.einsum("td,td->t", points[user[rows]], steps, out=result[rows])
    return result


def _euclidean(x: npt.NDArray[Any]) -> Floats:
    """Return the distances between rows."""
    table: Floats = squareform(pdist(x)) if x.shape[1] else np.zeros((len(x), len(x)))
    return table
