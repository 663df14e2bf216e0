"""The hot loops over answers, and nothing else that is compiled.

Answers are sorted by user, and each has an item `up` that should score higher than the item `down`.
There are two ways to add up the same thing. Where the table of all users' scores of all items is
small, it is made by linear algebra, and the loops read and write places in it. Otherwise they
multiply features themselves; problem b then owns the users [b * users_per_problem, ...).
"""

from __future__ import annotations

from numba import njit

__all__ = ["gather", "gather_table", "scatter", "scatter_table"]


@njit(nogil=True, cache=True)
def gather_table(start, stop, up, down, table, out):  # type: ignore[no-untyped-def]
    """Write z = score(up) - score(down) of the answers start..stop-1, from places in a table."""
    for t in range(start, stop):
        out[t] = table[up[t]] - table[down[t]]


@njit(nogil=True, cache=True)
def scatter_table(start, stop, up, down, pull, table):  # type: ignore[no-untyped-def]
    """Add each answer's pull to the places of its two items."""
    for t in range(start, stop):
        table[up[t]] += pull[t]
        table[down[t]] -= pull[t]


@njit(nogil=True, cache=True)
def gather(start, stop, user, up, down, size, features, points, users_per_problem, out):  # type: ignore[no-untyped-def]
    """Write z of the answers start..stop-1; `size` is x' M x, by problem and item."""
    dimension = features.shape[1]
    for t in range(start, stop):
        k, i, j = user[t], up[t], down[t]
        b = k // users_per_problem
        z = size[b, i] - size[b, j]
        for f in range(dimension):
            z += points[k, f] * (features[i, f] - features[j, f])
        out[t] = z


@njit(nogil=True, cache=True)
def scatter(start, stop, user, up, down, pull, features, users_per_problem, of_item, of_user):  # type: ignore[no-untyped-def]
    """Add each answer's pull to its two items, by problem, and to its user's gradient."""
    dimension = features.shape[1]
    for t in range(start, stop):
        k, i, j, g = user[t], up[t], down[t], pull[t]
        b = k // users_per_problem
        of_item[b, i] += g
        of_item[b, j] -= g
        for f in range(dimension):
            of_user[k, f] += g * (features[i, f] - features[j, f])
