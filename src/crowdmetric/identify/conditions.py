"""The necessary conditions of prop:mainNec, each with its numbers and the users who fail."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdmetric.checks import Floats
from crowdmetric.identify.coordinates import Coordinates
from crowdmetric.identify.questions import Places, Questions
from crowdmetric.identify.selection import independent_rows
from crowdmetric.identify.system import LinearSystem
from crowdmetric.solver.threads import one_thread_for_linear_algebra

__all__ = ["Condition", "ItemRanks", "item_ranks", "necessary_conditions"]

_MEANINGS = {
    "count": "there are as many comparisons as unknown numbers",
    "a": "each user's comparisons differ in as many directions as there are features",
    "b": "users' comparisons, each user's counted without what follows from the others, are enough "
    "together",
    "c": "all comparisons would be enough if one person had answered them",
}


@dataclass(frozen=True)
class Condition:
    """One condition without which the metric and everybody's point are not determined.

    Parameters
    ----------
    name : str
        "count", "a", "b" or "c", as in prop:mainNec.
    meaning : str
        What it asks for, in words.
    holds : bool
        Whether it is satisfied.
    numbers : dict of str to int
        What was counted, and what is needed.
    users : tuple of int
        The users who fail, where it is about each.

    Examples
    --------
    >>> Condition("a", "", False, {"needed": 2}, (3,)).users
    (3,)
    """

    name: str
    meaning: str
    holds: bool
    numbers: dict[str, int]
    users: tuple[int, ...] = ()


@dataclass(frozen=True)
class ItemRanks:
    """What the items at hand allow, whatever is asked about them.

    Parameters
    ----------
    linear : int
        In how many directions the items differ: d, unless features depend on each other.
    quadratic : int
        The rank of features and their products together, but for a constant: D + d, unless all
        items lie on a quadric.

    Examples
    --------
    >>> ItemRanks(linear=2, quadratic=5).metric
    3
    """

    linear: int
    quadratic: int

    @property
    def metric(self) -> int:
        """How many numbers of a metric can be determined."""
        return self.quadratic - self.linear


def item_ranks(features: Floats) -> ItemRanks:
    """Return what the items allow.

    Parameters
    ----------
    features : ndarray of shape (n, d)
        The items.

    Returns
    -------
    ItemRanks
        The ranks if everybody were asked about all pairs.

    Examples
    --------
    Four items and a feature that is only ever 0 or 1: its square is the feature itself.

    >>> item_ranks(np.array([[0.0], [1.0], [1.0], [0.0]]))
    ItemRanks(linear=1, quadratic=1)
    """
    with_the_first = np.column_stack([np.zeros(len(features) - 1), np.arange(1, len(features))])
    space = _Space.of(features)
    pairs = with_the_first.astype(np.intp)
    return ItemRanks(space.rank(pairs, 1), space.rank(pairs, 2))


def necessary_conditions(
    asked: Questions, features: Floats, system: LinearSystem
) -> tuple[Condition, ...]:
    """Return the conditions of prop:mainNec for the questions and the items at hand.

    Parameters
    ----------
    asked : Questions
        Who was asked what.
    features : ndarray of shape (n, d)
        The items.
    system : LinearSystem
        Of the same questions and items.

    Returns
    -------
    tuple of Condition
        The number of measurements; (a) about each user; (b) about users' ranks together; (c) about
        all pairs as if one user had been asked about them.

    Examples
    --------
    >>> features = np.array([[0.0], [1.0], [3.0]])
    >>> asked = Questions([0, 0, 1], [0, 1, 0], [1, 2, 1], 2, 3, 1)
    >>> system = LinearSystem.of(features, asked.user, asked.left, asked.right, n_users=2)
    >>> [(one.name, one.holds) for one in necessary_conditions(asked, features, system)]
    [('count', True), ('a', True), ('b', True), ('c', True)]
    """
    d, together = asked.dimension, asked.metric_size + asked.dimension
    used = np.unique(asked.pairs)
    space = _Space.of(features[used])
    pairs = np.searchsorted(used, asked.pairs)  # as rows of the items that matter
    of_users = sum(space.rank(pairs[asked.forest_of(user)], 2) for user in range(asked.n_users))
    of_all = space.rank(pairs[independent_rows(pairs, len(used))], 2)
    ranks = system.rank_of_user
    below = tuple(np.flatnonzero(ranks < d).tolist())
    count = {"comparisons": len(asked), "needed": asked.needed}
    a = {"lowest_rank": int(ranks.min()), "needed": d, "users_below": len(below)}
    b = {
        "rank": of_users,
        "rank_of_selection": int(asked.ranks.sum()),
        "needed": asked.needed,
    }
    c = {
        "rank": of_all,
        "rank_of_selection": asked.rank,
        "items_compared": len(used),
        "needed": together,
        "items_needed": together + 1,
    }
    return (
        Condition("count", _MEANINGS["count"], len(asked) >= asked.needed, count),
        Condition("a", _MEANINGS["a"], not below, a, below),
        Condition("b", _MEANINGS["b"], of_users >= asked.needed, b),
        Condition("c", _MEANINGS["c"], of_all >= together, c),
    )


@dataclass(frozen=True, eq=False)
class _Space:
    """Items where their rank can be told in floating point.

    Shifting and turning the items changes no rank: a constant drops out of every difference, and
    products of the new features are combinations of the old ones' products, of features and of 1.
    """

    seen: Coordinates
    linear: Floats
    quadratic: Floats

    @classmethod
    def of(cls, features: Floats) -> _Space:
        """Find coordinates for the items."""
        seen = Coordinates.of(features)
        first, second = np.triu_indices(features.shape[1])
        products = seen.items[:, first] * seen.items[:, second]
        return cls(seen, seen.items, np.column_stack([seen.items, products]))

    def rank(self, pairs: Places, degree: int) -> int:
        """Return the rank of the differences of pairs: of features, or of products as well."""
        table = self.linear if degree == 1 else self.quadratic
        rows = table[pairs[:, 0]] - table[pairs[:, 1]]
        with one_thread_for_linear_algebra():
            values = np.linalg.svd(rows, compute_uv=False)
        rounding = self.seen.rounding(len(rows), table.shape[1], degree)
        return int(np.count_nonzero(values > rounding))
