"""Deciding the conjectured condition: whether there is a partition (sec:ident-append:conjectures).

Let E_k be user k's pairs, E everybody's, and r the rank. A partition is nothing but a set B of D
pairs out of E that is a forest and leaves everybody d directions: r(E_k + B) >= D + d for all k.
For then user k has d rows that are independent behind B; conversely, those are what S_k^(1) is.

The sets B that suit user k are the independent sets of a matroid: extend the graph's matroid by d
points in general position in the flat of E_k, and contract them. So B is a common independent set
of K matroids.

- **One user**: any D rows of a forest of D + d.
- **Two users**: greedily, and always if the counts allow it. That is, the condition is the same as
  r(E_1), r(E_2) >= d, r(E_1) + r(E_2) >= D + 2 d and r(E) >= D + d. Take a forest of D + d pairs,
  those of user k in F_k, and let F_1 and F_2 grow within E_1 and E_2 until they have D + 2 d rows,
  at least d each. Behind F_2, at least r(F_1 + F_2) - |F_2| >= |F_1| - d rows of F_1 are
  independent; so many of them, and of those of F_2 behind F_1, are B.
- **More**: random greedy choices, each repaired many times; then all choices, as long as a budget
  lasts.
"""

from __future__ import annotations

import numpy as np

from crowdmetric.identify.partition import Decision, Partition
from crowdmetric.identify.partition_search import exhaust, stretch
from crowdmetric.identify.questions import Places, Questions
from crowdmetric.identify.selection import independent_rows

__all__ = ["enough_by_count", "partition_by_rank"]

_REPAIRS = 30  # of one greedy choice
_STEPS = 20_000
_WORK = 1e9  # rows that may be looked at, whatever the steps


def partition_by_rank(asked: Questions, seed: int = 0) -> Decision:
    """Decide whether the questions satisfy the conjectured condition.

    Parameters
    ----------
    asked : Questions
        Who was asked what.
    seed : int
        Of the random choices, for more than two users.

    Returns
    -------
    Decision
        Always "yes" or "no" for one or two users, and for more if the questions are few. A "yes"
        has a partition that `satisfies_rank`.

    Examples
    --------
    The paper's second counterexample satisfies the conjectured condition:

    >>> asked = Questions(
    ...     [0, 0, 0, 0, 1, 1, 1], [0, 1, 2, 3, 0, 2, 4], [1, 2, 3, 4, 1, 3, 5], 2, 6, 2
    ... )
    >>> partition_by_rank(asked).partition.metric
    array([1, 3, 6])
    """
    if not enough_by_count(asked):
        return Decision("no")
    if asked.n_users == 1:
        chosen = asked.independent[: asked.metric_size]
    elif asked.n_users == 2:
        chosen = _of_two(asked)
    else:
        return _of_many(asked, seed)
    return Decision("yes", _completed(chosen, asked))


def enough_by_count(asked: Questions) -> bool:
    """Return whether ranks alone allow a partition: prop:mainNec for almost all items.

    Parameters
    ----------
    asked : Questions
        Who was asked what.

    Returns
    -------
    bool
        Whether each user's rank is d or more, all together's D + d, and their sum D + d K.

    Examples
    --------
    >>> enough_by_count(Questions([0, 0, 1], [0, 1, 0], [1, 2, 1], 2, 3, 1))
    True
    """
    return bool(
        asked.ranks.min() >= asked.dimension
        and asked.rank >= asked.metric_size + asked.dimension
        and asked.ranks.sum() >= asked.needed
    )


def _of_two(asked: Questions) -> Places:
    """Return the metric rows for two users."""
    d, size = asked.dimension, asked.metric_size
    forests = [asked.forest_of(0), asked.forest_of(1)]
    both = np.concatenate(forests)
    shared = both[independent_rows(asked.pairs[both], asked.n_items)][: size + d]
    grown = []
    for user, forest in enumerate(forests):
        rows = np.concatenate([shared[asked.user[shared] == user], forest])
        grown.append(rows[independent_rows(asked.pairs[rows], asked.n_items)])
    of_first = int(np.count_nonzero(asked.user[shared] == 0))
    first = max(of_first, d, size + 2 * d - len(grown[1]))
    kept = grown[0][:first], grown[1][: size + 2 * d - first]
    metric = [_behind(kept[1], kept[0], asked), _behind(kept[0], kept[1], asked)]
    return np.concatenate([metric[0][: first - d], metric[1][: size + d - first]])


def _behind(before: Places, rows: Places, asked: Questions) -> Places:
    """Return the rows that are independent behind the others."""
    together = asked.pairs[np.concatenate([before, rows])]
    return rows[independent_rows(together, asked.n_items)[len(before) :]]


def _of_many(asked: Questions, seed: int) -> Decision:
    """Search: first greedily and at random, then everything as long as the budget lasts."""
    # Whose row a pair is makes no difference to what it tells.
    _, candidates = np.unique(np.sort(asked.pairs, axis=1), axis=0, return_index=True)
    rows = asked.independent
    left, right = asked.left.astype(np.intp), asked.right.astype(np.intp)
    room = np.empty(asked.n_items, dtype=np.intp)
    forests = asked.starts, left[rows], right[rows], asked.dimension, room
    graph = left[candidates], right[candidates], *forests
    most = asked.metric_size
    a_look = len(candidates) + len(rows) + asked.n_users * most
    attempts = max(1, min(20 * _REPAIRS, int(_WORK / a_look / len(candidates))))
    steps = max(1, min(_STEPS, int(_WORK / a_look)))
    chosen = np.zeros(len(candidates), dtype=np.bool_)
    generator = np.random.default_rng(seed)
    for attempt in range(attempts):
        if attempt % _REPAIRS == 0:
            chosen[:] = False
        else:
            chosen[chosen & (generator.random(len(chosen)) < 0.3)] = False
        order = generator.permutation(len(candidates))
        if stretch(chosen, order, most, *graph) == most:
            return Decision("yes", _completed(candidates[chosen], asked))
    found = exhaust(most, steps, *graph, chosen)
    if found == 1:
        return Decision("yes", _completed(candidates[chosen], asked))
    return Decision("no" if found == 0 else "undecided")


def _completed(metric: Places, asked: Questions) -> Partition:
    """Return the partition with these metric rows: d rows of each user that are independent."""
    own = [
        _behind(metric, asked.forest_of(user), asked)[: asked.dimension]
        for user in range(asked.n_users)
    ]
    return Partition(np.array(own), metric)
