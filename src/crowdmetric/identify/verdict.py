"""What can be learnt from given questions about given items, and what is missing: in words."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.errors import shown
from crowdmetric.identify.conditions import (
    Condition,
    ItemRanks,
    item_ranks,
    necessary_conditions,
)
from crowdmetric.identify.generic import generic_rank
from crowdmetric.identify.partition import Decision
from crowdmetric.identify.partition_by_order import partition_by_order
from crowdmetric.identify.partition_by_rank import partition_by_rank
from crowdmetric.identify.questions import Places, Questions
from crowdmetric.identify.system import LinearSystem
from crowdmetric.identify.words import open_metric

__all__ = ["Verdict", "check"]


@dataclass(frozen=True, eq=False)
class Verdict:
    """Whether answers to these questions determine the metric and everybody's point.

    Parameters
    ----------
    asked : Questions
        The questions that count; those of weight zero do not.
    rows : ndarray of int
        Their rows among all comparisons.
    users : tuple of hashable
        The users' ids.
    names : tuple of str
        The features' names.
    rank, needed : int
        Of the linear system, and what determines everything: D + d K.
    rank_of_user : ndarray of int
        In how many directions each user's questions differ.
    rank_of_metric : int
        How many numbers of the metric are determined.
    items : ItemRanks
        What the items allow, whatever is asked.
    notes : tuple of str
        What is wrong with the items.
    conditions : tuple of Condition
        Those of prop:mainNec.
    generic_rank : int
        The rank for almost all items.
    by_order, by_rank : Decision
        The condition of prop:incSuf, and the conjectured one.
    undetermined : tuple of str
        In which ways the metric may change without a trace in the answers.

    Examples
    --------
    >>> items = Items.from_arrays([[0.0], [1.0], [3.0]], names=["price"])
    >>> verdict = check(Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [1, -1], n_items=3), items)
    >>> verdict.identifiable, verdict.rank, verdict.needed, verdict.missing
    (True, 2, 2, ())
    """

    asked: Questions
    rows: Places
    users: tuple[Hashable, ...]
    names: tuple[str, ...]
    rank: int
    needed: int
    rank_of_user: Places
    rank_of_metric: int
    items: ItemRanks
    notes: tuple[str, ...]
    conditions: tuple[Condition, ...]
    generic_rank: int
    by_order: Decision
    by_rank: Decision
    undetermined: tuple[str, ...]

    @property
    def identifiable(self) -> bool:
        """Whether exact answers would leave nothing open."""
        return self.rank == self.needed

    @property
    def users_short(self) -> dict[int, int]:
        """How many more comparisons each user needs who needs some.

        Examples
        --------
        >>> items = Items.from_arrays(np.array([[0, 1], [1, 0], [2, 5], [3, 3.0]]))
        >>> asked = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2], [1, 1, 3]], [1, -1, 1])
        >>> check(asked, items).users_short
        {1: 1}
        """
        short = np.maximum(self.items.linear - self.rank_of_user, 0)
        return {int(user): int(short[user]) for user in np.flatnonzero(short)}

    @property
    def crowd_short(self) -> int:
        """How many more comparisons the metric needs, from anybody, as far as the items allow.

        Examples
        --------
        >>> items = Items.from_arrays([[0.0], [1.0], [3.0]])
        >>> check(Comparisons.from_arrays([[0, 0, 1]], [1], n_items=3), items).crowd_short
        1
        """
        return max(0, self.items.metric - self.rank_of_metric)

    @property
    def items_needed(self) -> int:
        """How many items determine a metric at least: D + d + 1.

        Examples
        --------
        >>> items = Items.from_arrays([[0.0], [1.0], [3.0]])
        >>> check(Comparisons.from_arrays([[0, 0, 1]], [1], n_items=3), items).items_needed
        3
        """
        return self.asked.metric_size + self.asked.dimension + 1

    @property
    def highest_rank(self) -> int:
        """The highest rank of a metric that may be determined, by counting numbers alone.

        A metric of rank r has d r - r (r - 1) / 2 numbers, and in its directions a point has r.

        Examples
        --------
        Three items and two features: three numbers of a metric are too many, and so are two.

        >>> items = Items.from_arrays([[0.0, 1.0], [1.0, 0.0], [3.0, 5.0]])
        >>> rows = [[0, 0, 1], [0, 1, 2]]
        >>> check(Comparisons.from_arrays(rows, [1, 1]), items).highest_rank
        0
        """
        d, asked = self.asked.dimension, self.asked
        answers = int(asked.ranks.sum())
        possible = [
            r
            for r in range(1, d + 1)
            if _numbers(d, r) + r <= asked.n_items - 1
            and _numbers(d, r) + r * asked.n_users <= answers
            and r <= asked.ranks.min()
        ]
        return max(possible, default=0)

    @property
    def missing(self) -> tuple[str, ...]:
        """What is missing, a sentence each; nothing if everything is determined."""
        if self.identifiable:
            return ()
        return (*self._about_items(), *self.notes, *self._about_crowd(), *self._about_users())

    def _about_items(self) -> list[str]:
        """Say so if there are too few items."""
        there, needed = self.asked.n_items, self.items_needed
        if there >= needed:
            return []
        rank = self.highest_rank
        return [
            f"at least {needed} items are needed for {_several(self.asked.dimension, 'feature')}, "
            f"you have {there}, so the full-rank metric cannot be identified; "
            + (
                f"by counting alone, a metric of rank {rank} may be"
                if rank
                else "with these comparisons, not even one of rank 1 can be"
            )
        ]

    def _about_users(self) -> list[str]:
        """Say which users need more."""
        counts = np.bincount(self.asked.user, minlength=self.asked.n_users)
        sentences = []
        for user, short in self.users_short.items():
            more = "comparison that is" if short == 1 else "comparisons that are"
            told = _several(int(counts[user]), "comparison")
            sentences.append(
                f"user {shown(self.users[user])} needs {short} more {more} independent of what "
                f"they have answered ({told}, {self.rank_of_user[user]} of them independent)"
            )
        return sentences

    def _about_crowd(self) -> list[str]:
        """Say how many more the metric needs from anybody."""
        short = self.crowd_short
        if not short:
            return []
        beside = ", beside those that single users need" if self.users_short else ""
        more = "comparison that is" if short == 1 else "comparisons that are"
        return [
            f"the crowd needs {short} more {more} independent of all that have been answered, "
            f"whoever answers{beside}"
        ]


def check(comparisons: Comparisons, items: Items) -> Verdict:
    """Find out what answers to the questions can determine, and what is missing.

    What was answered makes no difference; it is about what was asked, and about the items.

    Parameters
    ----------
    comparisons : Comparisons
        The questions, with or without meaningful responses.
    items : Items
        The items.

    Returns
    -------
    Verdict
        With its reasons.

    Examples
    --------
    >>> items = Items.from_arrays([[0.0], [1.0]], names=["price"])
    >>> for reason in check(Comparisons.from_arrays([[0, 0, 1]], [1]), items).missing:
    ...     print(reason)
    at least 3 items are needed for 1 feature, you have 2, so the full-rank metric cannot be
    identified; with these comparisons, not even one of rank 1 can be
    """
    counted = np.ones(len(comparisons), dtype=bool)
    if comparisons.weight is not None:
        counted = comparisons.weight > 0
    rows = np.flatnonzero(counted)
    asked = Questions(
        user=comparisons.user[rows],
        left=comparisons.left[rows],
        right=comparisons.right[rows],
        n_users=comparisons.n_users,
        n_items=len(items),
        dimension=items.dimension,
    )
    columns = asked.user, asked.left, asked.right
    system = LinearSystem.of(items.features, *columns, asked.n_users)
    possible = item_ranks(items.features)
    return Verdict(
        asked=asked,
        rows=rows,
        users=comparisons.users,
        names=items.names,
        rank=system.rank,
        needed=system.needed,
        rank_of_user=system.rank_of_user,
        rank_of_metric=system.rank_of_metric,
        items=possible,
        notes=tuple(_item_notes(items, possible)),
        conditions=necessary_conditions(asked, items.features, system),
        generic_rank=generic_rank(*columns, asked.n_users, asked.n_items, asked.dimension),
        by_order=partition_by_order(asked),
        by_rank=partition_by_rank(asked),
        undetermined=tuple(open_metric(system, items)),
    )


def _numbers(dimension: int, rank: int) -> int:
    """Return how many numbers a metric of this rank has."""
    return dimension * rank - rank * (rank - 1) // 2


def _several(count: int, word: str) -> str:
    """Return a count and its noun."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _item_notes(items: Items, possible: ItemRanks) -> list[str]:
    """Say what about the items, but for their number, leaves some of the metric open."""
    most = items.dimension * (items.dimension + 3) // 2
    if possible.quadratic == min(most, len(items) - 1):
        return []
    values = [len(np.unique(column)) for column in items.features.T]
    notes = []
    for name, different in zip(items.names, values, strict=True):
        if different == 1:
            notes.append(f"the feature {shown(name)} is the same for every item; remove it")
        elif different == 2:
            notes.append(
                f"the feature {shown(name)} takes only two values, so how much it counts cannot "
                "be told apart from what people like best; add items with a third value"
            )
    varying = [j for j, different in enumerate(values) if different > 1]
    if possible.linear < len(varying):
        notes.append(
            f"{len(varying)} features differ in only {possible.linear} directions: some follow "
            "from the others; remove those, or add items in which they do not"
        )
    if not notes:
        notes.append(
            "the items lie on a surface on which different metrics give the same answers; add "
            "items of other kinds, in between those that are there"
        )
    return notes
