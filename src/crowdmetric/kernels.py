"""The two hot loops over answers, and nothing else that is compiled.

Both read answers sorted by user. Problem b owns the users [b * users_per_problem, ...): one
problem owns everybody when the crowd shares a metric, each user is a problem when they do not.
"""

from __future__ import annotations

from numba import njit

__all__ = ["gather", "scatter"]


@njit(nogil=True, cache=True)
def gather(start, stop, user, left, right, sign, size, features, points, users_per_problem, out):  # type: ignore[no-untyped-def]
    """Write z = y * delta of the answers start..stop-1; `size` is x' M x, by problem and item."""
    dimension = features.shape[1]
    for t in range(start, stop):
        k, i, j = user[t], left[t], right[t]
        b = k // users_per_problem
        delta = size[b, i] - size[b, j]
        for f in range(dimension):
            delta += points[k, f] * (features[i, f] - features[j, f])
        out[t] = sign[t] * delta


@njit(nogil=True, cache=True)
def scatter(start, stop, user, left, right, pull, features, users_per_problem, of_item, of_user):  # type: ignore[no-untyped-def]
    """Add each answer's pull to its two items, by problem, and to its user's gradient."""
    dimension = features.shape[1]
    for t in range(start, stop):
        k, i, j, g = user[t], left[t], right[t], pull[t]
        b = k // users_per_problem
        of_item[b, i] += g
        of_item[b, j] -= g
        for f in range(dimension):
            of_user[k, f] += g * (features[i, f] - features[j, f])
