"""The compiled loops over pairs as the edges of a graph: which join two parts, and in what order.

Both run through the pairs once. A pair that cannot be one (an item that does not exist, or an item
beside itself) ends the loop, which then returns its row; -1 says that all pairs were fine.
"""

from __future__ import annotations

from numba import njit

__all__ = ["join", "peel"]


@njit(nogil=True, cache=True)
def join(left, right, parent, joins):  # type: ignore[no-untyped-def]
    """Mark the pairs that join two parts of the graph of those before them.

    This is Rem's union-find. `parent` starts as 0, 1, 2, ...; a parent is never larger than its
    child, so both climbs can go on in turn, each splicing its item below the other's parent.
    """
    n_items = len(parent)
    for row in range(len(left)):
        p, q = left[row], right[row]
        if not (0 <= p < n_items and 0 <= q < n_items and p != q):
            return row
        joins[row] = False
        while parent[p] != parent[q]:
            if parent[p] < parent[q]:
                p, q = q, p
            above = parent[p]
            parent[p] = parent[q]
            if above == p:
                joins[row] = True
                break
            p = above
    return -1


@njit(nogil=True, cache=True)
def peel(left, right, degree, rows, order):  # type: ignore[no-untyped-def]
    """Strip pairs from the leaves of the graph; write them into `order` from its end.

    `degree` (zeros) counts the pairs that an item still has, and `rows` (zeros) is the exclusive or
    of their row numbers, which is the last one's own number once only one is left. Returns how
    many places of `order` stay empty: none if the graph is a forest.
    """
    for row in range(len(left)):
        for item in (left[row], right[row]):
            degree[item] += 1
            rows[item] ^= row
    place = len(left)
    for start in range(len(degree)):
        item = start
        while degree[item] == 1:
            row = rows[item]
            place -= 1
            order[place] = row
            other = left[row] if right[row] == item else right[row]
            degree[item] = 0
            degree[other] -= 1
            rows[other] ^= row
            item = other
    return place
