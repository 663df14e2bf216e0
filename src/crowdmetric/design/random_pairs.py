"""Random designs: for each user, different pairs of items, all equally likely."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crowdmetric.comparisons import Items
from crowdmetric.design.asking import balance_sides
from crowdmetric.design.items import Unseen
from crowdmetric.design.people import Users, named
from crowdmetric.design.questions import Design, certify
from crowdmetric.errors import DataError, SettingError

__all__ = ["check_pairs", "random_design"]

_MOST = 10**8  # questions: beyond, the tables of them do not fit in memory


def random_design(items: Items | Unseen, users: Users, pairs: int, seed: int = 0) -> Design:
    """Ask each user about random pairs, no pair twice.

    Parameters
    ----------
    items : Items or Unseen
        The items, two or more.
    users : int or iterable of hashable
        How many users, who are then called u0, u1, ..., or their ids.
    pairs : int
        How many questions for each.
    seed : int
        Of the pairs, their order and the sides.

    Returns
    -------
    Design
        Its certificate says whether these pairs determine metric and points.

    Raises
    ------
    DataError
        If there are not as many pairs.

    Examples
    --------
    >>> random_design(Unseen(6, 2), users=3, pairs=16)
    Traceback (most recent call last):
    crowdmetric.errors.DataError: 16 pairs cannot be asked of each user: 6 items make 15; ask for
    fewer, or add items
    """
    ids = named(users)
    check_pairs(pairs, len(items), len(ids))
    generator = np.random.default_rng(seed)
    there_are = len(items) * (len(items) - 1) // 2
    numbers = [generator.choice(there_are, size=pairs, replace=False) for _ in ids]
    user = np.repeat(np.arange(len(ids)), pairs)
    one, other = _numbered_pairs(np.concatenate(numbers), len(items))
    triples = balance_sides(np.column_stack([user, one, other]), len(items), seed)
    certificate = certify(items, triples, len(ids), seed)
    user, left, right = triples.T.astype(np.int32)
    return Design(ids, items.ids, user, left, right, certificate)


def check_pairs(pairs: int, n_items: int, n_users: int) -> None:
    """Refuse more questions than there are pairs, or than memory holds, and none at all.

    Parameters
    ----------
    pairs : int
        How many for each user.
    n_items, n_users : int
        How many items and users there are.

    Examples
    --------
    >>> check_pairs(0, 5, 2)
    Traceback (most recent call last):
    crowdmetric.errors.SettingError: each user must be asked at least 1 pair, not 0
    """
    there_are = n_items * (n_items - 1) // 2
    if pairs < 1:
        raise SettingError(f"each user must be asked at least 1 pair, not {pairs}")
    if pairs > there_are:
        raise DataError(
            f"{pairs} pairs cannot be asked of each user: {n_items} items make {there_are}; ask "
            "for fewer, or add items"
        )
    if pairs * n_users > _MOST:
        raise SettingError(
            f"{pairs} pairs for each of {n_users} users are more than {_MOST} questions; ask for "
            "fewer"
        )


def _numbered_pairs(
    numbers: npt.NDArray[np.int64], n_items: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the pairs of these numbers, 0 to n (n - 1) / 2 - 1, in whole numbers throughout.

    With an odd number of items on a circle, a pair is an item and a step of less than half of the
    circle. With an even number, one item stands in the middle, and is paired with each of them.
    """
    circle = n_items - 1 + n_items % 2
    step, one = np.divmod(numbers, circle)
    in_the_middle = 2 * step == circle - 1
    other = np.where(in_the_middle, n_items - 1, (one + step + 1) % circle)
    return one, other
