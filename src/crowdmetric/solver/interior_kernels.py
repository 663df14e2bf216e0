"""The compiled loops of the interior-point method: passes over the answers, and over the users.

Every answer wants item `up` to score higher than item `down`: z = score[up] - score[down]. It has
a slack s = z + xi - 1 with the multiplier a, and xi >= 0 with the multiplier b = 1 - a, so that
the stationarity of xi holds by construction. `up` and `down` are places in flat tables of users
and items; `there` and `back` are places in the flat table of (user, item, item).
"""

from __future__ import annotations

import math

from numba import njit

__all__ = ["affine", "aim", "correct", "follow_rows", "invert", "move"]


@njit(nogil=True, cache=True)
def move(up, down, there, back, share, point, step, lengths, weight, inverse, force, graph, pulls):  # type: ignore[no-untyped-def]
    """Move slacks and multipliers, and gather what the next Newton system needs.

    `point` and `step` hold s, xi and a; `inverse` is for 1 / (a b). Returns the complementarity.
    """
    s, xi, a = point
    ds, dxi, da = step
    along, along_multipliers = lengths
    complementarity = 0.0
    for t in range(up.size):
        c = share[t]
        s_t = s[t] + along * ds[t]
        xi_t = xi[t] + along * dxi[t]
        a_t = a[t] + along_multipliers * da[t]
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
        pulls[up[t]] += g
        pulls[down[t]] -= g
    return complementarity


@njit(nogil=True, cache=True)
def affine(up, down, share, point, weight, inverse, table, second):  # type: ignore[no-untyped-def]
    """Follow a predictor; `table` holds its change of scores.

    Keeps the second-order terms, and returns how far slacks and multipliers may go (as rates)
    and the three sums that give the complementarity after any pair of step lengths.
    """
    s, xi, a = point
    rate_slack = rate_multiplier = 0.0
    of_slack = of_multiplier = of_both = 0.0
    for t in range(up.size):
        change = table[up[t]] - table[down[t]]
        a_t, b_t, s_t, xi_t, c = a[t], 1.0 - a[t], s[t], xi[t], share[t]
        da = weight[t] * (xi_t - s_t - change)
        rise, fall = da * inverse[t] * b_t, da * inverse[t] * a_t
        ds, dxi = -s_t * (1 + rise), -xi_t * (1 - fall)
        second[0, t], second[1, t] = da * ds, -da * dxi
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
        of_both += c * (second[0, t] + second[1, t])
    return rate_slack, rate_multiplier, of_slack, of_multiplier, of_both


@njit(nogil=True, cache=True)
def aim(up, down, share, point, weight, inverse, target, second, want, force, pulls):  # type: ignore[no-untyped-def]
    """Turn second-order terms into what the corrector wants, and gather its force."""
    s, xi, a = point
    for t in range(up.size):
        a_t, b_t = a[t], 1.0 - a[t]
        first = (target - second[0, t]) * inverse[t] * b_t
        other = (target - second[1, t]) * inverse[t] * a_t
        second[0, t], second[1, t] = first, other
        want[t] = first - other + xi[t] - s[t]
        force[t] = share[t] * (a_t + weight[t] * want[t])
    for t in range(up.size):
        pulls[up[t]] += force[t]
        pulls[down[t]] -= force[t]


@njit(nogil=True, cache=True)
def correct(up, down, point, weight, inverse, want, second, table, step):  # type: ignore[no-untyped-def]
    """Follow the corrector: write the step, and return how far it may be taken (as rates)."""
    s, xi, a = point
    rate_slack = rate_multiplier = 0.0
    for t in range(up.size):
        change = table[up[t]] - table[down[t]]
        a_t, b_t = a[t], 1.0 - a[t]
        da = weight[t] * (want[t] - change)
        rise, fall = da * inverse[t] * b_t, da * inverse[t] * a_t
        ds = second[0, t] - s[t] * (1 + rise)
        dxi = ds - change
        step[0, t], step[1, t], step[2, t] = ds, dxi, da
        if -ds > rate_slack * s[t]:
            rate_slack = -ds / s[t]
        if -dxi > rate_slack * xi[t]:
            rate_slack = -dxi / xi[t]
        if -rise > rate_multiplier:
            rate_multiplier = -rise
        if fall > rate_multiplier:
            rate_multiplier = fall
    return rate_slack, rate_multiplier


@njit(nogil=True, cache=True)
def follow_rows(points, step, gaps, multipliers, level, second, change, curved):  # type: ignore[no-untyped-def]
    """Follow a direction of the points, each in a ball with a gap and a multiplier.

    Writes the change of the multipliers and its second-order terms, and returns one over how far
    the points stay inside and the multipliers positive.
    """
    rate = rate_of_multipliers = 0.0
    for k in range(len(points)):
        along = square = 0.0
        for i in range(points.shape[1]):
            along += points[k, i] * step[k, i]
            square += step[k, i] ** 2
        gap, multiplier = gaps[k], multipliers[k]
        moved = (level - second[k] + multiplier * along) / gap - multiplier
        change[k], curved[k] = moved, -moved * along
        # One over the root of a quadratic.
        rate = max(rate, (along + math.sqrt(along**2 + 2 * square * gap)) / (2 * gap))
        rate_of_multipliers = max(rate_of_multipliers, -moved / multiplier)
    return rate, rate_of_multipliers


@njit(nogil=True, cache=True)
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
