"""Would these questions do for almost every set of items? Exact arithmetic answers.

The rank of the linear system is the same for almost all items, and no items give a larger one. So
it can be found with random items, and in whole numbers modulo a prime there is no rounding.

**A full rank is a proof.** The items are whole numbers. A minor that is not 0 modulo a prime is not
0, so as a polynomial in the items' features it is not the zero polynomial, and it vanishes for
almost no items.

**A deficient rank is wrong with a probability below 2^-40.** Let r be the true rank: some minor of
order r is a polynomial that is not zero, with whole coefficients. A round misses it in two ways.

1. All its coefficients are multiples of the prime. A row of the system has D entries x_p x_p' -
   x_q x_q' and d entries x_p - x_q, so the coefficients of a minor of order N = D + d K or less
   add up to at most (2 (D + d))^N, and any of them has at most N log2(2 (D + d)) / 30 prime
   factors above 2^30. The prime is drawn from the more than 5e7 ones between 2^30 and 2^31.
2. It vanishes at the items, which are drawn uniformly from the residues: by Schwartz and Zippel,
   with a probability of at most its degree, 2 D + d K or less, divided by the prime.

Rounds are independent, and there are as many as bring the product below 2^-40.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from crowdmetric.identify.modular import rank_of_system
from crowdmetric.identify.questions import Questions

__all__ = ["generic_rank"]

_PRIMES_THERE = 5e7  # between 2^30 and 2^31 there are 50,697,537
_DOUBT = 40  # bits


def generic_rank(
    user: npt.ArrayLike,
    left: npt.ArrayLike,
    right: npt.ArrayLike,
    n_users: int,
    n_items: int,
    dimension: int,
    seed: int = 0,
) -> int:
    """Return the rank that the linear system has for almost all items.

    Parameters
    ----------
    user, left, right : array-like of int
        Who was asked about which pair, counted from 0.
    n_users, n_items : int
        How many there are of each.
    dimension : int
        How many features an item has.
    seed : int
        Of the random items and primes.

    Returns
    -------
    int
        Never too large: a rank of D + d K, with D = d (d + 1) / 2, is a proof that the questions
        determine the metric and everybody's point for almost all items. It is too small with a
        probability below 2^-40.

    Examples
    --------
    The metric and two points on a line are three numbers, and three questions can be enough:

    >>> generic_rank([0, 0, 1], [0, 1, 0], [1, 2, 1], n_users=2, n_items=3, dimension=1)
    3

    But nothing is learnt from a question that repeats, or follows from, that user's other ones:

    >>> generic_rank([0, 0, 1], [0, 1, 0], [1, 0, 1], n_users=2, n_items=3, dimension=1)
    2
    """
    asked = Questions(
        np.asarray(user), np.asarray(left), np.asarray(right), n_users, n_items, dimension
    )
    rows = asked.independent
    columns = asked.starts, asked.left[rows], asked.right[rows]
    most = min(len(rows), asked.needed)
    generator = np.random.default_rng(seed)
    rank = 0
    for _ in range(_rounds(asked)):
        rank = max(rank, _rank_modulo(_random_prime(generator), columns, asked, generator))
        if rank == most:
            break
    return rank


def _rounds(asked: Questions) -> int:
    """Return how many rounds leave less doubt than agreed."""
    size, dimension = asked.metric_size, asked.dimension
    coefficient_bits = asked.needed * math.log2(2 * (size + dimension))
    bad_prime = coefficient_bits / 30 / _PRIMES_THERE
    vanishing = (size + asked.needed) / 2**30  # the degree, 2 D + d K
    return math.ceil(_DOUBT / -math.log2(min(bad_prime + vanishing, 0.5)))


def _rank_modulo(
    prime: int,
    columns: tuple[npt.NDArray[np.intp], npt.NDArray[np.int32], npt.NDArray[np.int32]],
    asked: Questions,
    generator: np.random.Generator,
) -> int:
    """Return the rank for random items, modulo a prime."""
    points = generator.integers(prime, size=(asked.n_items, asked.dimension), dtype=np.uint64)
    first, second = np.triu_indices(asked.dimension)
    squares = points[:, first] * points[:, second] % np.uint64(prime)
    return int(rank_of_system(*columns, points, squares, np.uint64(prime)))


def _random_prime(generator: np.random.Generator) -> int:
    """Return a prime between 2^30 and 2^31, each as likely as any other."""
    while True:
        number = int(generator.integers(2**29, 2**30)) * 2 + 1
        if _is_prime(number):
            return number


def _is_prime(number: int) -> bool:
    """Return whether an odd number above 7 is a prime (Miller and Rabin).

    The bases 2, 3, 5 and 7 decide it for all numbers below 3,215,031,751.
    """
    twos = ((number - 1) & (1 - number)).bit_length() - 1
    odd = (number - 1) >> twos
    for base in (2, 3, 5, 7):
        power = pow(base, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True
