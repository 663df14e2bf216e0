"""One iteration of the interior-point method, compiled: predict, correct and move.

Slacks and multipliers of the answers are eliminated, which leaves the arrow of `curvature` with a
weight per answer; Mehrotra's predictor and corrector choose the step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from crowdmetric.solver import interior_kernels as loops
from crowdmetric.solver.interior_region import (
    FIXED,
    Inside,
    Target,
    add_curvature,
    follow,
    measure,
    move_inside,
    pull,
)

__all__ = ["REGION_SHARE", "ItemTables", "begin", "iterate"]

Floats = npt.NDArray[np.float64]

REGION_SHARE = 0.025  # complementarity of the region over that of the answers, on the central path
_BOUNDARY = 0.995  # how much of the way to the boundary a step goes
_SLOWEST = 1e-12


class ItemTables(NamedTuple):
    """Features (n, d), the same across, [pack(x x'), x], its first part, and x [pack(x x'), x]'."""

    features: Floats
    across: Floats
    joined: Floats
    sizes: Floats
    squares: Floats


@njit(nogil=True)
def _factorise(kind, items, graph, degrees, inside, measured):  # type: ignore[no-untyped-def]
    """Factorise the arrow: the Laplacian of each user's answers, seen through the features.

    Returns the inverse of the system of M, that of each user's block, and the latter times what
    joins the user to M. A Laplacian is the degrees less the graph.
    """
    (users, n), d, cut = degrees.shape, items.features.shape[1], items.sizes.shape[1]
    joining, blocks = np.empty((users, d, cut)), np.empty((users, d, d))
    of_degrees = (degrees @ items.squares).reshape(users, d, cut + d)
    neighbours = (graph.reshape(users * n, n) @ items.features).reshape(users, n, d)
    for k in range(users):
        joint = neighbours[k].T @ items.joined
        for i in range(d):
            for j in range(cut):
                joining[k, i, j] = of_degrees[k, i, j] - joint[i, j]
            for j in range(d):
                blocks[k, i, j] = of_degrees[k, i, cut + j] - joint[i, cut + j]
    block = np.zeros((cut, cut))
    if kind != FIXED:
        laplacian = np.zeros((n, n))
        for k in range(users):
            for i in range(n):
                laplacian[i, i] += degrees[k, i]
                for j in range(n):
                    laplacian[i, j] -= graph[k, i, j]
        block = items.sizes.T @ (laplacian @ items.sizes)
    add_curvature(kind, inside, measured, block, blocks)
    loops.invert(blocks)
    solved = np.empty((users, d, cut))
    if kind != FIXED:
        for k in range(users):
            solved[k] = blocks[k] @ joining[k]
        block -= joining.reshape(users * d, cut).T @ solved.reshape(users * d, cut)
        block = np.ascontiguousarray(np.linalg.inv(block))
    return block, blocks, solved


@njit(nogil=True)
def _direction(kind, items, arrow, inside, measured, force, target):  # type: ignore[no-untyped-def]
    """Solve the Newton system for a force of the answers and a target of the region."""
    inverse, blocks, solved = arrow
    users, d, cut = solved.shape
    points = force @ items.features
    packed = np.zeros(cut)
    if kind != FIXED:
        together = np.zeros(force.shape[1])
        for k in range(users):
            for i in range(len(together)):
                together[i] += force[k, i]
        packed = items.sizes.T @ together
    pull(kind, inside, measured, target, packed, points)
    moved = np.zeros((users, d))
    if kind != FIXED:
        flat = solved.reshape(users * d, cut)
        packed = inverse @ (packed - points.ravel() @ flat)
        moved = (flat @ packed).reshape(users, d)
    for k in range(users):
        for i in range(d):
            moved[k, i] = -moved[k, i]
            for j in range(d):
                moved[k, i] += blocks[k, i, j] * points[k, j]
    return packed, moved


@njit(nogil=True)
def _scores(kind, items, packed, points):  # type: ignore[no-untyped-def]
    """Return the flat table of x' M x + v_k' x for users and items."""
    table = points @ items.across
    if kind != FIXED:
        shared = items.sizes @ packed
        for k in range(len(table)):
            for i in range(len(shared)):
                table[k, i] += shared[i]
    return table.ravel()


@njit(nogil=True)
def _lengths(change, slack, multiplier, share):  # type: ignore[no-untyped-def]
    """Return how far to go, at most 1, given rates and a share of the way to the boundary."""
    fastest = max(slack, change.rate, _SLOWEST)
    of_multipliers = max(multiplier, change.rate_of_multipliers, _SLOWEST)
    return min(1.0, share / fastest), min(1.0, share / of_multipliers)


@njit(nogil=True)
def _iterate(kind, radius, row_radius, items, answered, inside, state, total):  # type: ignore[no-untyped-def]
    """Take one iteration of one problem; return the complementarity and the longer length."""
    users, d = inside.points.shape
    measured = measure(kind, radius, row_radius, inside)
    arrow = _factorise(kind, items, state.graph, state.degrees, inside, measured)
    nearest = Target(0.0, 0.0, np.zeros(users), np.zeros((d, d)))
    packed, points = _direction(kind, items, arrow, inside, measured, state.pulls, nearest)
    table = _scores(kind, items, packed, points)
    count = len(state.s)
    first, other, want = np.empty(count), np.empty(count), np.empty(count)
    slack, multiplier, of_slack, of_multiplier, of_both = loops.affine(
        answered, state, table, first, other
    )
    change = follow(kind, inside, measured, packed, points, nearest)
    one, two = _lengths(change, slack, multiplier, 1.0)
    after = total + one * of_slack + two * of_multiplier + one * two * of_both
    level = min(1.0, max(after / total, 1e-6)) ** 3 * total / 2
    pulls = np.zeros_like(state.pulls)
    loops.aim(answered, state, level, first, other, want, pulls.ravel())
    constraints = users if kind == FIXED else users + d + 1
    terms = change.second_order
    target = Target(REGION_SHARE * 2 * level / constraints, terms.ball, terms.rows, terms.cone)
    packed, points = _direction(kind, items, arrow, inside, measured, pulls, target)
    table = _scores(kind, items, packed, points)
    slack, multiplier = loops.correct(answered, state, want, first, table)
    change = follow(kind, inside, measured, packed, points, target)
    one, two = _lengths(change, slack, multiplier, _BOUNDARY)
    move_inside(inside, change, one, two)
    return loops.move(answered, state, one, two), max(one, two)


@njit(nogil=True)
def _of_problem(b, answered, inside, state, cuts):  # type: ignore[no-untyped-def]
    """Return the part of one problem: views, through which all can be written."""
    users, rows = slice(cuts[0, b], cuts[0, b + 1]), slice(cuts[1, b], cuts[1, b + 1])
    up, down, there, back, share = answered
    asked = loops.Answered(up[rows], down[rows], there[rows], back[rows], share[rows])
    metric, multiplier, points, of_ball, of_rows = inside
    mine = Inside(metric[b], multiplier[b], points[users], of_ball[b : b + 1], of_rows[users])
    s, xi, a, ds, dxi, da, weight, inverse, graph, degrees, pulls = state
    so_far = loops.State(
        s[rows], xi[rows], a[rows], ds[rows], dxi[rows], da[rows], weight[rows], inverse[rows],
        graph[users], degrees[users], pulls[users],
    )  # fmt: skip
    return asked, mine, so_far


# What Python calls is compiled once and kept on disk, with the types of its arguments. Those are
# plain tuples: a file that names a class of ours could not be read once the class has changed.


@njit(nogil=True, cache=True)
def begin(answered, inside, state, cuts, totals):  # type: ignore[no-untyped-def]
    """Gather the first system of every problem, and write the complementarities."""
    for b in range(len(totals)):
        asked, _, so_far = _of_problem(b, answered, inside, state, cuts)
        totals[b] = loops.move(asked, so_far, 0.0, 0.0)


@njit(nogil=True, cache=True)
def iterate(kind, radii, row_radii, items, answered, inside, state, cuts, totals, lengths, goal):  # type: ignore[no-untyped-def]
    """Take one iteration of every problem whose complementarity is above the goal.

    Users and answers of problem b are those from `cuts[:, b]` to `cuts[:, b + 1]`. Writes the
    complementarities, and how far each problem went: 0 where it failed.
    """
    features, across, joined, sizes, squares = items
    tables = ItemTables(features, across, joined, sizes, squares)
    for b in range(len(totals)):
        if totals[b] <= goal or lengths[b] == 0.0:
            continue
        asked, mine, so_far = _of_problem(b, answered, inside, state, cuts)
        radii_of_rows = row_radii[cuts[0, b] : cuts[0, b + 1]]
        try:
            totals[b], lengths[b] = _iterate(
                kind, radii[b], radii_of_rows, tables, asked, mine, so_far, totals[b]
            )
        except Exception:  # a matrix that rounding made singular
            lengths[b] = 0.0
