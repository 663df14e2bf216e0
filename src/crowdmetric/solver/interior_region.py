"""The region's part of the interior-point method, compiled: balls for M and the points, the cone.

A ball is written g >= 0: g = (a^2 - norm_F(M)^2) / 2, or g = a - tr M, and for every user
g_k = (b^2 - norm(v_k)^2) / 2. Metrics are packed (see `curvature.pack`), and what has no metric
to move has a packed size of zero. A target says where the complementarities should go: to
`level`, less terms of second order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

__all__ = [
    "FIXED", "FROBENIUS", "TRACE", "Change", "Inside", "Measured", "Target", "add_curvature",
    "follow", "measure", "move_inside", "pull",
]  # fmt: skip

Floats = npt.NDArray[np.float64]

FROBENIUS, TRACE, FIXED = 0, 1, 2
"""What bounds the metric."""

_ROOT_HALF = math.sqrt(0.5)


class Inside(NamedTuple):
    """A point inside the region and the multipliers of its constraints; `of_ball` has one entry.

    >>> metric, points = np.eye(1), np.zeros((2, 1))
    >>> Inside(metric, metric, points, np.ones(1), np.ones(2)).of_rows
    array([1., 1.])
    """

    metric: Floats
    multiplier: Floats
    points: Floats
    of_ball: Floats
    of_rows: Floats


class Measured(NamedTuple):
    """What depends on the point: the gaps g, the normal of the metric's ball, and inverses."""

    gap: float
    gaps: Floats
    normal: Floats
    inverse: Floats
    roots: Floats


class Target(NamedTuple):
    """A level, and second-order terms of the metric's ball, the points' balls and the cone."""

    level: float
    ball: float
    rows: Floats
    cone: Floats


class Change(NamedTuple):
    """A direction, what it does to the multipliers, and one over how far it may be followed."""

    metric: Floats
    multiplier: Floats
    points: Floats
    ball: float
    rows: Floats
    second_order: Target
    rate: float
    rate_of_multipliers: float


@njit(nogil=True)
def _pack(metric):  # type: ignore[no-untyped-def]
    d = len(metric)
    packed = np.empty(d * (d + 1) // 2)
    a = 0
    for i in range(d):
        packed[a] = metric[i, i]
        for j in range(i + 1, d):
            packed[a + j - i] = (metric[i, j] + metric[j, i]) * _ROOT_HALF
        a += d - i
    return packed


@njit(nogil=True)
def _unpack(packed, d):  # type: ignore[no-untyped-def]
    metric = np.empty((d, d))
    a = 0
    for i in range(d):
        metric[i, i] = packed[a]
        for j in range(i + 1, d):
            metric[i, j] = metric[j, i] = packed[a + j - i] * _ROOT_HALF
        a += d - i
    return metric


@njit(nogil=True)
def measure(kind, radius, row_radius, inside):  # type: ignore[no-untyped-def]
    """Compute what depends on the point and its multipliers."""
    d = len(inside.metric)
    gaps = np.empty(len(inside.points))
    for k in range(len(gaps)):
        square = 0.0
        for i in range(d):
            square += inside.points[k, i] ** 2
        gaps[k] = (row_radius[k] ** 2 - square) / 2
    if kind == FIXED:
        nothing = np.zeros((d, d))
        return Measured(1.0, gaps, np.zeros(0), nothing, np.zeros((2, d, d)))
    roots = np.empty((2, d, d))
    roots[0] = np.linalg.inv(np.linalg.cholesky(inside.metric))
    roots[1] = np.linalg.inv(np.linalg.cholesky(inside.multiplier))
    inverse = roots[0].T @ roots[0]
    if kind == TRACE:
        return Measured(radius - np.trace(inside.metric), gaps, _pack(np.eye(d)), inverse, roots)
    packed = _pack(inside.metric)
    return Measured((radius**2 - packed @ packed) / 2, gaps, packed, inverse, roots)


@njit(nogil=True)
def add_curvature(kind, inside, measured, block, blocks):  # type: ignore[no-untyped-def]
    """Add what the constraints contribute to the blocks of M (D, D) and of the users (K, d, d)."""
    d = len(inside.metric)
    for k in range(len(blocks)):
        slope = inside.of_rows[k] / measured.gaps[k]
        for i in range(d):
            blocks[k, i, i] += inside.of_rows[k]
            for j in range(d):
                blocks[k, i, j] += slope * inside.points[k, i] * inside.points[k, j]
    if kind == FIXED:
        return
    _add_curvature_of_cone(measured.inverse, inside.multiplier, block)
    slope = inside.of_ball[0] / measured.gap
    for a in range(len(block)):
        if kind == FROBENIUS:
            block[a, a] += inside.of_ball[0]
        for b in range(len(block)):
            block[a, b] += slope * measured.normal[a] * measured.normal[b]


@njit(nogil=True)
def _add_curvature_of_cone(inverse, multiplier, block):  # type: ignore[no-untyped-def]
    """Add X -> (M^-1 X S + S X M^-1) / 2 on packed matrices."""
    d = len(inverse)
    a = 0
    for p in range(d):
        for q in range(p, d):
            size = 0.5 * (_ROOT_HALF if p == q else 1.0)
            b = 0
            for i in range(d):
                for j in range(i, d):
                    block[a, b] += (size * (_ROOT_HALF if i == j else 1.0)) * (
                        inverse[p, i] * multiplier[j, q]
                        + inverse[p, j] * multiplier[i, q]
                        + inverse[q, i] * multiplier[j, p]
                        + inverse[q, j] * multiplier[i, p]
                    )
                    b += 1
            a += 1


@njit(nogil=True)
def pull(kind, inside, measured, target, metric, points):  # type: ignore[no-untyped-def]
    """Add what the constraints contribute to the right-hand side."""
    if kind != FIXED:
        cone = _pack(target.cone)
        inverse = _pack(measured.inverse)
        short = (target.level - target.ball) / measured.gap
        for a in range(len(metric)):
            metric[a] += target.level * inverse[a] - cone[a] - measured.normal[a] * short
    for k in range(len(points)):
        short = (target.rows[k] - target.level) / measured.gaps[k]
        for i in range(points.shape[1]):
            points[k, i] += inside.points[k, i] * short


@njit(nogil=True)
def follow(kind, inside, measured, packed, points, target):  # type: ignore[no-untyped-def]
    """Return what a direction does, if it was found with the target."""
    d, count = len(inside.metric), len(points)
    rows, curved = np.empty(count), np.empty(count)
    rate = rate_of_multipliers = 0.0
    for k in range(count):
        along = square = 0.0
        for i in range(d):
            along += inside.points[k, i] * points[k, i]
            square += points[k, i] ** 2
        gap, multiplier = measured.gaps[k], inside.of_rows[k]
        rows[k] = (target.level - target.rows[k] + multiplier * along) / gap - multiplier
        curved[k] = -rows[k] * along
        # One over the root of a quadratic.
        rate = max(rate, (along + math.sqrt(along**2 + 2 * square * gap)) / (2 * gap))
        rate_of_multipliers = max(rate_of_multipliers, -rows[k] / multiplier)
    if kind == FIXED:
        nothing = np.zeros((d, d))
        second_order = Target(0.0, 0.0, curved, nothing)
        return Change(nothing, nothing, points, 0.0, rows, second_order, rate, rate_of_multipliers)
    along = measured.normal @ packed
    of_ball, gap = inside.of_ball[0], measured.gap
    ball = (target.level - target.ball + of_ball * along) / gap - of_ball
    metric = _unpack(packed, d)
    turned = measured.inverse @ metric
    product = turned @ inside.multiplier
    multiplier = np.empty((d, d))
    for i in range(d):
        for j in range(d):
            aimed = target.level * measured.inverse[i, j] - target.cone[i, j]
            turning = 0.5 * (product[i, j] + product[j, i])
            multiplier[i, j] = aimed - inside.multiplier[i, j] - turning
    twice = turned @ multiplier
    for i in range(d):
        for j in range(i + 1):
            twice[i, j] = twice[j, i] = 0.5 * (twice[i, j] + twice[j, i])
    root, root_of_multiplier = measured.roots[0], measured.roots[1]
    leaving = -np.linalg.eigvalsh(root @ metric @ root.T)[0]
    turning_out = -np.linalg.eigvalsh(root_of_multiplier @ multiplier @ root_of_multiplier.T)[0]
    if kind == TRACE:
        crossing = along / gap
    else:
        crossing = (along + math.sqrt(along**2 + 2 * (packed @ packed) * gap)) / (2 * gap)
    second_order = Target(0.0, -ball * along, curved, twice)
    rate = max(rate, leaving, crossing)
    rate_of_multipliers = max(rate_of_multipliers, turning_out, -ball / of_ball)
    return Change(metric, multiplier, points, ball, rows, second_order, rate, rate_of_multipliers)


@njit(nogil=True)
def move_inside(inside, change, length, length_of_multipliers):  # type: ignore[no-untyped-def]
    """Move the point and its multipliers."""
    users, d = inside.points.shape
    for i in range(d):
        for j in range(d):
            inside.metric[i, j] += length * change.metric[i, j]
            inside.multiplier[i, j] += length_of_multipliers * change.multiplier[i, j]
    for k in range(users):
        inside.of_rows[k] += length_of_multipliers * change.rows[k]
        for i in range(d):
            inside.points[k, i] += length * change.points[k, i]
    inside.of_ball[0] += length_of_multipliers * change.ball
