"""The compiled loops of the interior-point method: passes over the answers, and small inverses.

Every answer wants item `up` to score higher than item `down`: z = score[up] - score[down]. It has
a slack s = z + xi - 1 with the multiplier a, and xi >= 0 with the multiplier b = 1 - a, so that
the stationarity of xi holds by construction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

__all__ = ["Answered", "State", "affine", "aim", "correct", "invert", "move"]

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]


class Answered(NamedTuple):
    """The answers of a problem.

    `up` and `down` are places in flat tables of users and items; `there` and `back` are places in
    the flat table of (user, item, item). The shares of a problem sum to 1.
    """

    up: Places
    down: Places
    there: Places
    back: Places
    share: Floats


class State(NamedTuple):
    """Slacks and multipliers, their last step, and what the next Newton system needs.

    `weight` is the curvature of each answer over its share, and `inverse` stands for 1 / (a b);
    `graph` (K, n, n) and `degrees` (K, n) add up curvatures, and `pulls` (K, n) forces.
    """

    s: Floats
    xi: Floats
    a: Floats
    ds: Floats
    dxi: Floats
    da: Floats
    weight: Floats
    inverse: Floats
    graph: Floats
    degrees: Floats
    pulls: Floats


@njit(nogil=True)
def move(answered, state, length, length_of_multipliers):  # type: ignore[no-untyped-def]
    """Follow the last step, and gather the next system; return the complementarity."""
    up, down, there, back, share = answered
    s, xi, a, ds, dxi, da, weight, inverse, _, _, _ = state
    graph, degrees, pulls = state.graph.ravel(), state.degrees.ravel(), state.pulls.ravel()
    graph[:] = 0.0
    degrees[:] = 0.0
    pulls[:] = 0.0
    force = np.empty(up.size)
    complementarity = 0.0
    for t in range(up.size):
        c = share[t]
        s_t = s[t] + length * ds[t]
        xi_t = xi[t] + length * dxi[t]
        a_t = a[t] + length_of_multipliers * da[t]
        b_t = 1.0 - a_t
        s[t], xi[t], a[t] = s_t, xi_t, a_t
        complementarity += c * (a_t * s_t + b_t * xi_t)
        product, width = a_t * b_t, s_t * b_t + xi_t * a_t
        both = 1.0 / (product * width)  # one division for two quotients
        w = product * product * both
        weight[t], inverse[t] = w, width * both
        force[t] = c * (a_t + w * (xi_t - s_t))
    for t in range(up.size):
        w, g = share[t] * weight[t], force[t]
        graph[there[t]] += w
        graph[back[t]] += w
        degrees[up[t]] += w
        degrees[down[t]] += w
        pulls[up[t]] += g
        pulls[down[t]] -= g
    return complementarity


@njit(nogil=True)
def affine(answered, state, table, first, other):  # type: ignore[no-untyped-def]
    """Follow a predictor; `table` holds its change of scores.

    Writes the second-order terms, and returns how far slacks and multipliers may go (as rates)
    and the three sums that give the complementarity after any pair of step lengths.
    """
    up, down, _, _, share = answered
    s, xi, a, _, _, _, weight, inverse, _, _, _ = state
    rate_slack = rate_multiplier = 0.0
    of_slack = of_multiplier = of_both = 0.0
    for t in range(up.size):
        change = table[up[t]] - table[down[t]]
        a_t, b_t, s_t, xi_t, c = a[t], 1.0 - a[t], s[t], xi[t], share[t]
        da = weight[t] * (xi_t - s_t - change)
        rise, fall = da * inverse[t] * b_t, da * inverse[t] * a_t
        ds, dxi = -s_t * (1 + rise), -xi_t * (1 - fall)
        first[t], other[t] = da * ds, -da * dxi
        if 1 + rise > rate_slack:
            rate_slack = 1 + rise
        if 1 - fall > rate_slack:
            rate_slack = 1 - fall
        if -rise > rate_multiplier:
            rate_multiplier = -rise
        if fall > rate_multiplier:
            rate_multiplier = fall
        of_slack += c * (a_t * ds + b_t * dxi)
        of_multiplier += c * (s_t - xi_t) * da
        of_both += c * (first[t] + other[t])
    return rate_slack, rate_multiplier, of_slack, of_multiplier, of_both


@njit(nogil=True)
def aim(answered, state, target, first, other, want, pulls):  # type: ignore[no-untyped-def]
    """Turn second-order terms into what the corrector wants, and gather its force."""
    up, down, _, _, share = answered
    s, xi, a, _, _, _, weight, inverse, _, _, _ = state
    force = np.empty(up.size)
    for t in range(up.size):
        a_t, b_t = a[t], 1.0 - a[t]
        first[t] = (target - first[t]) * inverse[t] * b_t
        other[t] = (target - other[t]) * inverse[t] * a_t
        want[t] = first[t] - other[t] + xi[t] - s[t]
        force[t] = share[t] * (a_t + weight[t] * want[t])
    for t in range(up.size):
        pulls[up[t]] += force[t]
        pulls[down[t]] -= force[t]


@njit(nogil=True)
def correct(answered, state, want, first, table):  # type: ignore[no-untyped-def]
    """Follow the corrector: write the step, and return how far it may be taken (as rates)."""
    up, down, _, _, _ = answered
    s, xi, a, ds, dxi, da, weight, inverse, _, _, _ = state
    rate_slack = rate_multiplier = 0.0
    for t in range(up.size):
        change = table[up[t]] - table[down[t]]
        a_t, b_t = a[t], 1.0 - a[t]
        turn = weight[t] * (want[t] - change)
        rise, fall = turn * inverse[t] * b_t, turn * inverse[t] * a_t
        slide = first[t] - s[t] * (1 + rise)
        ds[t], dxi[t], da[t] = slide, slide - change, turn
        if -slide > rate_slack * s[t]:
            rate_slack = -slide / s[t]
        if change - slide > rate_slack * xi[t]:
            rate_slack = (change - slide) / xi[t]
        if -rise > rate_multiplier:
            rate_multiplier = -rise
        if fall > rate_multiplier:
            rate_multiplier = fall
    return rate_slack, rate_multiplier


@njit(nogil=True)
def invert(blocks):  # type: ignore[no-untyped-def]
    """Replace small positive definite matrices by their inverses (Gauss and Jordan's method)."""
    size = blocks.shape[1]
    for block in blocks:
        for i in range(size):
            pivot = 1.0 / block[i, i]
            block[i, i] = 1.0
            for column in range(size):
                block[i, column] *= pivot
            for row in range(size):
                if row != i:
                    factor = block[row, i]
                    block[row, i] = 0.0
                    for column in range(size):
                        block[row, column] -= factor * block[i, column]
