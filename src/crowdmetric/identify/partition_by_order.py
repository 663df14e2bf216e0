"""Deciding the condition of prop:incSuf: whether there is a partition, with an order.

**What it comes down to.** In an incremental order, each part of the forest B of the D metric rows
grows from one row whose items are both new, by rows with one new item each. That item must be in
nobody's own rows, and of the two items of a first row, nobody's own rows may have both. So there is
such a partition if and only if the items fall into

- *fresh* ones, which are in nobody's own rows: f of them can each bring a row into B, where f is
  their number, less the connected parts of everybody's graph that have only fresh items;
- *common* ones, among which each user has a forest of d rows; and
- t *twins*: pairs asked, disjoint and of common items, of which each user's own rows have one item
  at most (first rows of B, whose items are new to one user or the other),

with f + t >= D. The paper's proof takes the new item to be new to everybody, which is the case
without twins; its statement, which is decided here, allows them.

One user needs no more than rank D + d (cor:contFull). For more, there is none if the conjectured
condition has none, since an incremental matrix has full rank. Otherwise items become fresh at
random, one after the other, as long as everybody still has d rows; then all choices are tried, as
long as a budget lasts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from crowdmetric.identify.partition import Decision, Partition
from crowdmetric.identify.partition_by_rank import partition_by_rank
from crowdmetric.identify.partition_search import spans
from crowdmetric.identify.questions import Places, Questions
from crowdmetric.identify.selection import incremental_order, independent_rows

__all__ = ["partition_by_order"]

Flags = npt.NDArray[np.bool_]
Twins = tuple[int, ...]  # rows

_STARTS = 100
_STEPS = 60_000
_WORK = 3e8  # rows that may be looked at, whatever the steps


def partition_by_order(asked: Questions, seed: int = 0) -> Decision:
    """Decide whether the questions satisfy the condition of prop:incSuf.

    Parameters
    ----------
    asked : Questions
        Who was asked what.
    seed : int
        Of the random choices, for more than one user.

    Returns
    -------
    Decision
        Always "yes" or "no" for one user, and for more if the questions are few. A "yes" has a
        partition that `satisfies_order`.

    Examples
    --------
    The paper's second counterexample, which determines everything, has no such partition:

    >>> asked = Questions(
    ...     [0, 0, 0, 0, 1, 1, 1], [0, 1, 2, 3, 0, 2, 4], [1, 2, 3, 4, 1, 3, 5], 2, 6, 2
    ... )
    >>> partition_by_order(asked).answer
    'no'
    """
    if partition_by_rank(asked, seed).answer == "no":
        return Decision("no")
    if asked.n_users == 1:
        forest = asked.independent[: asked.metric_size + asked.dimension]
        order = incremental_order(asked.pairs[forest], asked.n_items)
        rows = forest[order]
        return Decision("yes", Partition(rows[None, : asked.dimension], rows[asked.dimension :]))
    return _Search(asked).decide(np.random.default_rng(seed))


class _BudgetSpentError(Exception):
    """The search was long enough."""


class _Search:
    """The search for fresh items and twins."""

    def __init__(self, asked: Questions) -> None:
        """Prepare what every step needs."""
        self.asked = asked
        # All rows of each user: which of them are independent depends on the items kept.
        self._rows = np.argsort(asked.user, kind="stable")
        counts = np.bincount(asked.user, minlength=asked.n_users)
        self._starts = np.concatenate([[0], np.cumsum(counts)])
        left, right = asked.left.astype(np.intp), asked.right.astype(np.intp)
        room = np.empty(asked.n_items, dtype=np.intp)
        self._graphs = left[self._rows], right[self._rows], asked.dimension, room
        self._part = _parts(asked)
        self._part_sizes = np.bincount(self._part, minlength=asked.n_items)
        self._steps = 0

    def decide(self, generator: np.random.Generator) -> Decision:
        """Search at random, then everything."""
        a_start = self.asked.n_items * (len(self._rows) + self.asked.n_users)
        for _ in range(max(1, min(_STARTS, int(_WORK / a_start)))):
            fresh = self._shrunk(generator)
            if self._brings(fresh) >= self.asked.metric_size:
                return Decision("yes", self._partition(fresh, ()))
        try:
            for fresh, twins in self._everything():
                return Decision("yes", self._partition(fresh, twins))
        except _BudgetSpentError:
            return Decision("undecided")
        return Decision("no")

    def _shrunk(self, generator: np.random.Generator) -> Flags:
        """Make items fresh in random order, as long as everybody has d rows and more are needed."""
        fresh = np.zeros(self.asked.n_items, dtype=np.bool_)
        count = 0
        for item in generator.permutation(np.unique(self.asked.pairs)):
            fresh[item] = True
            if not spans(~fresh, self._starts, *self._graphs):
                fresh[item] = False
                continue
            count += 1
            if count >= self.asked.metric_size <= self._brings(fresh):
                break
        return fresh

    def _brings(self, fresh: Flags) -> int:
        """Return how many metric rows fresh items can bring."""
        inside = np.bincount(self._part[fresh], minlength=self.asked.n_items)
        alone = np.count_nonzero((inside == self._part_sizes) & (inside > 0))
        return int(np.count_nonzero(fresh) - alone)

    def _everything(self) -> Iterator[tuple[Flags, Twins]]:
        """Yield fresh items and twins that will do, trying all there are."""
        _, pairs = np.unique(np.sort(self.asked.pairs, axis=1), axis=0, return_index=True)
        yield from self._with_twins((), pairs)

    def _with_twins(self, twins: Twins, pairs: Places) -> Iterator[tuple[Flags, Twins]]:
        """Yield what will do with some twins, and with more of them among the pairs."""
        none = np.zeros(self.asked.n_items, dtype=np.bool_)
        if not self._enough(none, twins):
            return  # and with more twins even less
        items = self.asked.pairs[list(twins)].ravel()
        free = np.setdiff1d(np.unique(self.asked.pairs), items)
        for fresh in self._grown(none, free, twins):
            yield fresh, twins
        apart = pairs[~np.isin(self.asked.pairs[pairs], items).any(axis=1)]
        for place, pair in enumerate(apart):
            yield from self._with_twins((*twins, int(pair)), apart[place + 1 :])

    def _grown(self, fresh: Flags, free: Places, twins: Twins) -> Iterator[Flags]:
        """Yield the sets of fresh items that contain some, and will do."""
        missing = self.asked.metric_size - len(twins) - self._brings(fresh)
        if missing <= 0:
            yield fresh
            return
        # Only items that can be fresh beside those that are; more of them never helps the others.
        free = np.array([item for item in free if self._enough(_with(fresh, item), twins)], np.intp)
        for place in range(len(free) - missing + 1):
            yield from self._grown(_with(fresh, free[place]), free[place + 1 :], twins)

    def _enough(self, fresh: Flags, twins: Twins) -> bool:
        """Return whether each user has d rows among common items, and one twin of two at most."""
        return all(self._kept(user, fresh, twins) is not None for user in range(self.asked.n_users))

    def _kept(self, user: int, fresh: Flags, twins: Twins) -> Flags | None:
        """Return the items among which a user has d independent rows, if there are such."""
        starts = self._starts[user : user + 2]
        for left_out in product((0, 1), repeat=len(twins)):
            self._step()
            kept = ~fresh
            kept[self.asked.pairs[list(twins), list(left_out)]] = False
            if spans(kept, starts, *self._graphs):
                return kept
        return None

    def _step(self) -> None:
        """Count."""
        self._steps += 1
        if self._steps > _STEPS:
            raise _BudgetSpentError

    def _partition(self, fresh: Flags, twins: Twins) -> Partition:
        """Return the rows of a choice that will do."""
        asked = self.asked
        own = []
        self._steps = -(1 << 60)  # what was found is written down, however long the search was
        for user in range(asked.n_users):
            kept = self._kept(user, fresh, twins)
            assert kept is not None
            rows = self._rows[self._starts[user] : self._starts[user + 1]]
            rows = rows[kept[asked.pairs[rows]].all(axis=1)]
            forest = rows[independent_rows(asked.pairs[rows], asked.n_items)]
            own.append(forest[: asked.dimension])
        metric = np.concatenate([np.array(twins, dtype=np.intp), self._growth(fresh)])
        return Partition(np.array(own), metric[: asked.metric_size])

    def _growth(self, fresh: Flags) -> Places:
        """Return rows that bring one fresh item after the other, from those that are not."""
        asked = self.asked
        whole = np.bincount(self._part[fresh], minlength=asked.n_items) == self._part_sizes
        begun = fresh & whole[self._part] & (self._part == np.arange(asked.n_items))
        # All that is there from the beginning is one place, 0.
        place = np.where(fresh & ~begun, np.arange(1, asked.n_items + 1), 0)
        ends = np.sort(place[asked.pairs], axis=1)
        code = ends[:, 0] * (asked.n_items + 1) + ends[:, 1]
        codes, rows = np.unique(code, return_index=True)
        shape = (asked.n_items + 1, asked.n_items + 1)
        graph = coo_array((np.ones(len(rows)), ends[rows].T), shape=shape)
        reached, before = breadth_first_order(graph.tocsr(), 0, directed=False)
        steps = np.sort(np.column_stack([reached[1:], before[reached[1:]]]), axis=1)
        found = np.searchsorted(codes, steps[:, 0] * (asked.n_items + 1) + steps[:, 1])
        return np.asarray(rows[found], dtype=np.intp)


def _with(flags: Flags, place: int) -> Flags:
    """Return flags with one more set."""
    more = flags.copy()
    more[place] = True
    return more


def _parts(asked: Questions) -> Places:
    """Return, for each item, the first item of the connected part of everybody's graph it is in."""
    shape = (asked.n_items, asked.n_items)
    graph = coo_array((np.ones(len(asked)), (asked.left, asked.right)), shape=shape)
    _, labels = connected_components(graph, directed=False)
    _, first = np.unique(labels, return_index=True)
    return np.asarray(first[labels], dtype=np.intp)
