"""The compiled loops of the searches for partitions: forests within forests of users.

`parent` is room for a union-find of the items. The rows starts[k]..starts[k+1]-1 are user k's.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["exhaust", "fits", "spans", "stretch"]


@njit(nogil=True, cache=True)
def _root(parent, item):  # type: ignore[no-untyped-def]
    """Return what stands for an item's part, and shorten the way there."""
    while parent[item] != item:
        parent[item] = parent[parent[item]]
        item = parent[item]
    return item


@njit(nogil=True, cache=True)
def _join(parent, p, q):  # type: ignore[no-untyped-def]
    """Join the parts of two items; return 1 if they were two."""
    p, q = _root(parent, p), _root(parent, q)
    parent[p] = q
    return 1 if p != q else 0


@njit(nogil=True, cache=True)
def _separate(parent, left, right, start, stop):  # type: ignore[no-untyped-def]
    """Make each item of some rows a part of its own."""
    for t in range(start, stop):
        parent[left[t]] = left[t]
        parent[right[t]] = right[t]


@njit(nogil=True, cache=True)
def spans(kept, starts, left, right, dimension, parent):  # type: ignore[no-untyped-def]
    """Return whether every user has `dimension` independent rows among the kept items."""
    for k in range(len(starts) - 1):
        _separate(parent, left, right, starts[k], starts[k + 1])
        rank = 0
        for t in range(starts[k], starts[k + 1]):
            if kept[left[t]] and kept[right[t]]:
                rank += _join(parent, left[t], right[t])
        if rank < dimension:
            return False
    return True


@njit(nogil=True, cache=True)
def fits(chosen, least, ups, downs, starts, left, right, dimension, parent):  # type: ignore[no-untyped-def]
    """Return whether, for every user, `least` of the chosen pairs leave that user d directions.

    That is: the chosen pairs have at least this rank, and together with each user's rows at least
    d more.
    """
    ups, downs = ups[chosen], downs[chosen]
    for k in range(len(starts) - 1):
        _separate(parent, left, right, starts[k], starts[k + 1])
        _separate(parent, ups, downs, 0, len(ups))
        rank = 0
        for e in range(len(ups)):
            rank += _join(parent, ups[e], downs[e])
        if rank < least:
            return False
        for t in range(starts[k], starts[k + 1]):
            rank += _join(parent, left[t], right[t])
        if rank < least + dimension:
            return False
    return True


@njit(nogil=True, cache=True)
def stretch(chosen, order, most, ups, downs, starts, left, right, dimension, parent):  # type: ignore[no-untyped-def]
    """Choose more pairs in the given order as long as they fit, `most` in all; return how many."""
    size = 0
    for e in range(len(ups)):
        size += chosen[e]
    for e in order:
        if size == most:
            break
        if not chosen[e]:
            chosen[e] = True
            if fits(chosen, size + 1, ups, downs, starts, left, right, dimension, parent):
                size += 1
            else:
                chosen[e] = False
    return size


@njit(nogil=True, cache=True)
def exhaust(most, budget, ups, downs, starts, left, right, dimension, parent, chosen):  # type: ignore[no-untyped-def]
    """Try all choices of `most` pairs; return 1 if one fits (in `chosen`), 0 if none, -1 if unsure.

    Pairs are decided one after the other, first for, then against. A branch ends when the pairs
    chosen do not fit, or when all that are chosen or undecided hold no `most` that would.
    """
    possible = np.ones(len(ups), dtype=np.bool_)
    chosen[:] = False
    size = e = 0
    back = False
    while True:
        if not back and size == most:
            return 1
        if back or e == len(ups):
            # Return to the last pair that was chosen, and decide against it.
            e -= 1
            while e >= 0 and not chosen[e]:
                possible[e] = True
                e -= 1
            if e < 0:
                return 0
            chosen[e] = possible[e] = False
            size -= 1
        else:
            budget -= 1
            chosen[e] = True
            if fits(chosen, size + 1, ups, downs, starts, left, right, dimension, parent):
                size += 1
                e += 1
                continue
            chosen[e] = possible[e] = False
        if budget < 0:
            return -1
        back = not fits(possible, most, ups, downs, starts, left, right, dimension, parent)
        e += 1
