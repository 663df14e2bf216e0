"""The compiled loops of the interior-point method: four passes over the answers per iteration.

Every answer wants item `up` to score higher than item `down`: z = score[up] - score[down]. It has
a slack s = z + xi - 1 with the multiplier a, and xi >= 0 with the multiplier 1 - a, so that the
stationarity of xi holds by construction. Tables are indexed [user, item].
"""

from __future__ import annotations

from numba import njit

__all__ = ["affine", "aim", "correct", "move"]


@njit(nogil=True, cache=True)
def move(user, up, down, share, point, step, lengths, weight, graph, degree, force, centring):  # type: ignore[no-untyped-def]
    """Move slacks and multipliers, and gather what the next Newton system needs.

    `point` and `step` hold s, xi and a. Returns complementarity, risk and the sum of the a.
    """
    s, xi, a = point
    ds, dxi, da = step
    complementarity = risk = total = 0.0
    for t in range(user.size):
        c = share[t]
        s_t = s[t] + lengths[0] * ds[t]
        xi_t = xi[t] + lengths[0] * dxi[t]
        a_t = a[t] + lengths[1] * da[t]
        s[t], xi[t], a[t] = s_t, xi_t, a_t
        b_t = 1.0 - a_t
        complementarity += c * (a_t * s_t + b_t * xi_t)
        short = xi_t - s_t
        if short > 0:
            risk += c * short
        total += c * a_t
        weight[t] = a_t * b_t / (s_t * b_t + xi_t * a_t)
        w = c * weight[t]
        k, i, j = user[t], up[t], down[t]
        graph[i, k, j] += w
        graph[j, k, i] += w
        degree[i, k] += w
        degree[j, k] += w
        force[k, i] += c * a_t
        force[k, j] -= c * a_t
        centring[k, i] += w * short
        centring[k, j] -= w * short
    return complementarity, risk, total


@njit(nogil=True, cache=True)
def affine(user, up, down, share, point, weight, table, second):  # type: ignore[no-untyped-def]
    """Follow a predictor; `table` holds its change of scores.

    Keeps the second-order terms, and returns how far slacks and multipliers may go (as rates)
    and the three sums that give the complementarity after any pair of step lengths.
    """
    s, xi, a = point
    rate_slack = rate_multiplier = 0.0
    of_slack = of_multiplier = of_both = 0.0
    for t in range(user.size):
        k = user[t]
        change = table[k, up[t]] - table[k, down[t]]
        a_t, b_t, s_t, xi_t, c = a[t], 1.0 - a[t], s[t], xi[t], share[t]
        da = weight[t] * (xi_t - s_t - change)
        inverse = 1.0 / (a_t * b_t)
        rise, fall = da * inverse * b_t, da * inverse * a_t
        ds, dxi = -s_t * (1 + rise), -xi_t * (1 - fall)
        second[0, t], second[1, t] = da * ds, -da * dxi
        rate_slack = max(rate_slack, 1 + rise, 1 - fall)
        rate_multiplier = max(rate_multiplier, -rise, fall)
        of_slack += c * (a_t * ds + b_t * dxi)
        of_multiplier += c * (s_t - xi_t) * da
        of_both += c * (second[0, t] + second[1, t])
    return rate_slack, rate_multiplier, of_slack, of_multiplier, of_both


@njit(nogil=True, cache=True)
def aim(user, up, down, share, point, weight, target, second, want, force):  # type: ignore[no-untyped-def]
    """Turn second-order terms into what the corrector wants, and add its pull to the force."""
    s, xi, a = point
    for t in range(user.size):
        a_t, b_t = a[t], 1.0 - a[t]
        inverse = 1.0 / (a_t * b_t)
        second[0, t] = (target - second[0, t]) * inverse * b_t
        second[1, t] = (target - second[1, t]) * inverse * a_t
        want[t] = second[0, t] - second[1, t] + xi[t] - s[t]
        g = share[t] * weight[t] * want[t]
        force[user[t], up[t]] += g
        force[user[t], down[t]] -= g


@njit(nogil=True, cache=True)
def correct(user, up, down, point, weight, want, second, table, step):  # type: ignore[no-untyped-def]
    """Follow the corrector: write the step, and return how far it may be taken (as rates)."""
    s, xi, a = point
    rate_slack = rate_multiplier = 0.0
    for t in range(user.size):
        k = user[t]
        change = table[k, up[t]] - table[k, down[t]]
        a_t, b_t = a[t], 1.0 - a[t]
        da = weight[t] * (want[t] - change)
        inverse = 1.0 / (a_t * b_t)
        rise, fall = da * inverse * b_t, da * inverse * a_t
        ds = second[0, t] - s[t] * (1 + rise)
        dxi = ds - change
        step[0, t], step[1, t], step[2, t] = ds, dxi, da
        rate_slack = max(rate_slack, -ds / s[t], -dxi / xi[t])
        rate_multiplier = max(rate_multiplier, -rise, fall)
    return rate_slack, rate_multiplier
