"""The compiled elimination of the linear system over a prime field: exact, without rounding.

Primes are below 2^31, so that a product of two residues and one more fit into 64 bits.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["rank_of_system"]


@njit(nogil=True, cache=True)
def rank_of_system(starts, left, right, points, squares, prime):  # type: ignore[no-untyped-def]
    """Return the rank of the system modulo a prime.

    The rows starts[k]..starts[k+1]-1 are user k's. `points` (n, d) and `squares` (n, D) hold the
    items and the products of their features, as residues. A user's own d columns are eliminated
    from that user's rows; what remains of these goes into one triangle for the metric.
    """
    dimension, size = points.shape[1], squares.shape[1]
    triangle = np.zeros((size, size), dtype=np.uint64)
    filled = np.zeros(size, dtype=np.bool_)
    rank = found = 0
    for k in range(len(starts) - 1):
        count = starts[k + 1] - starts[k]
        block = np.empty((count, dimension + size), dtype=np.uint64)
        for t in range(count):
            p, q = left[starts[k] + t], right[starts[k] + t]
            for f in range(dimension):
                block[t, f] = (points[p, f] + prime - points[q, f]) % prime
            for f in range(size):
                block[t, dimension + f] = (squares[p, f] + prime - squares[q, f]) % prime
        own = _eliminate(block, dimension, prime)
        rank += own
        for t in range(own, count):
            if found < size and _insert(block[t, dimension:], triangle, filled, prime):
                found += 1
    return rank + found


@njit(nogil=True, cache=True)
def _eliminate(block, columns, prime):  # type: ignore[no-untyped-def]
    """Clear the first columns below as many rows as their rank, which is returned."""
    rank = 0
    for c in range(columns):
        pivot = rank
        while pivot < len(block) and block[pivot, c] == 0:
            pivot += 1
        if pivot == len(block):
            continue
        for f in range(c, block.shape[1]):
            block[rank, f], block[pivot, f] = block[pivot, f], block[rank, f]
        inverse = _inverse(block[rank, c], prime)
        for t in range(rank + 1, len(block)):
            if block[t, c]:
                _subtract(block[t], block[t, c] * inverse % prime, block[rank], c, prime)
        rank += 1
    return rank


@njit(nogil=True, cache=True)
def _insert(row, triangle, filled, prime):  # type: ignore[no-untyped-def]
    """Reduce a row by the triangle; put what is left of it there, if anything is."""
    for c in range(len(row)):
        if row[c] == 0:
            continue
        if filled[c]:
            _subtract(row, row[c], triangle[c], c, prime)
            continue
        inverse = _inverse(row[c], prime)
        for f in range(c, len(row)):
            triangle[c, f] = row[f] * inverse % prime
        filled[c] = True
        return True
    return False


@njit(nogil=True, cache=True)
def _subtract(row, factor, other, begin, prime):  # type: ignore[no-untyped-def]
    """Subtract a multiple of another row, from a column on."""
    minus = prime - factor
    for f in range(begin, len(row)):
        row[f] = (row[f] + minus * other[f]) % prime


@njit(nogil=True, cache=True)
def _inverse(value, prime):  # type: ignore[no-untyped-def]
    """Return the inverse, by Fermat's little theorem."""
    result, power, exponent = np.uint64(1), value, prime - np.uint64(2)
    while exponent:
        if exponent & np.uint64(1):
            result = result * power % prime
        power = power * power % prime
        exponent >>= np.uint64(1)
    return result
