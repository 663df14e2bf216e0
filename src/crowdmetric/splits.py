"""Splits of comparisons that are fair to every user and let no answer leak.

Asked again, or asked the other way round, a question has much the same answer. So all rows that
ask one user about the same two items stay on one side of a split.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric import checks
from crowdmetric.errors import FoldsError, SettingError

__all__ = ["PairFolds", "pair_split"]

Rows = npt.NDArray[np.intp]
Seed = int | np.random.Generator | None


@dataclass(frozen=True)
class PairFolds:
    """K folds over comparisons, for any `cv` argument of scikit-learn.

    Every user's rows are spread over the folds as evenly as their repeated questions allow:
    counts that differ by at most one when no question is repeated.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2.
    shuffle : bool
        Deal each user's questions in random order rather than as they come.
    random_state : int, numpy.random.Generator or None
        Seed of the shuffling; None for a different one each time.

    Examples
    --------
    >>> triples = [[0, 0, 1], [0, 1, 0], [0, 0, 2], [0, 2, 1]]
    >>> for train, test in PairFolds(3, shuffle=False).split(triples):
    ...     print(train, test)
    [2 3] [0 1]
    [0 1 3] [2]
    [0 1 2] [3]
    """

    n_splits: int = 5
    shuffle: bool = True
    random_state: Seed = None

    def __post_init__(self) -> None:
        """Refuse a number of folds that leaves nothing to train on."""
        if self.n_splits < 2:
            raise SettingError(f"n_splits must be at least 2, not {self.n_splits}")

    def split(
        self, T: npt.ArrayLike, y: object = None, groups: object = None
    ) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows to train on and the rows to test on, fold by fold.

        Parameters
        ----------
        T : array-like of int, shape (m, 3)
            User, left item and right item of each comparison.
        y, groups : object
            Not used; scikit-learn passes them.

        Yields
        ------
        train, test : ndarray of int
            Row numbers in ascending order.

        Examples
        --------
        >>> folds = PairFolds(2, random_state=0).split([[0, 0, 1], [0, 1, 2], [1, 0, 1]])
        >>> sorted(row for _, test in folds for row in test.tolist())
        [0, 1, 2]
        """
        questions = _Questions.of(T)
        if len(questions.size) < self.n_splits:
            raise FoldsError(
                f"{len(questions.size)} different questions cannot make {self.n_splits} folds",
                "lower n_splits",
            )
        generator = np.random.default_rng(self.random_state) if self.shuffle else None
        fold = _deal(questions.reordered(generator), self.n_splits)
        for number in range(self.n_splits):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object
            Not used; scikit-learn passes them.

        Returns
        -------
        int
            As many as `split` yields.

        Examples
        --------
        >>> PairFolds(3).get_n_splits()
        3
        """
        return self.n_splits


def pair_split(
    T: npt.ArrayLike, test_fraction: float = 0.25, random_state: Seed = None
) -> tuple[Rows, Rows]:
    """Split comparisons once, at random, with the same share of every user's rows in the test.

    Parameters
    ----------
    T : array-like of int, shape (m, 3)
        User, left item and right item of each comparison.
    test_fraction : float
        Share of the rows to test on, between 0 and 1.
    random_state : int, numpy.random.Generator or None
        Seed of the shuffling; None for a different one each time.

    Returns
    -------
    train, test : ndarray of int
        Row numbers in ascending order.

    Examples
    --------
    >>> train, test = pair_split([[0, 0, i] for i in range(1, 9)], 0.25, random_state=0)
    >>> len(train), len(test)
    (6, 2)
    """
    if not 0 < test_fraction < 1:
        raise SettingError(f"test_fraction must lie between 0 and 1, not {test_fraction}")
    questions = _Questions.of(T).reordered(np.random.default_rng(random_state))
    ends = np.cumsum(questions.size)
    last = np.append(np.flatnonzero(np.diff(questions.user)), len(ends) - 1)
    # Rounding the running total, not each user's own, leaves the whole test set at its share
    # even when every user has but one row.
    quota = np.diff(np.floor(test_fraction * ends[last] + 0.5), prepend=0)
    of_user = np.repeat(np.arange(len(last)), np.diff(last, prepend=-1))
    before_user = np.append(0, ends[last][:-1])
    middle = ends - questions.size / 2 - before_user[of_user]
    test = (middle <= quota[of_user])[questions.of_row]
    if test.all() or not test.any():
        raise SettingError(
            f"{len(ends)} different questions cannot be split with test_fraction={test_fraction}; "
            "choose one nearer to 0.5"
        )
    return np.flatnonzero(~test), np.flatnonzero(test)


@dataclass(frozen=True)
class _Questions:
    """The distinct questions (a user and two items in either order), sorted by user."""

    user: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]  # rows that ask it
    of_row: Rows  # the question each row asks

    @classmethod
    def of(cls, triples: npt.ArrayLike) -> _Questions:
        """Find them; a user's questions come in order of first appearance."""
        table = checks.triples(triples)
        user, low, high = table[:, 0], table[:, 1:].min(axis=1), table[:, 1:].max(axis=1)
        by_question = np.lexsort((high, low, user))
        changes = np.zeros(len(table), dtype=bool)
        for column in (user, low, high):
            changes[1:] |= np.diff(column[by_question]) != 0
        changes[:1] = True
        start = np.flatnonzero(changes)
        first_row = by_question[start]  # lexsort is stable
        of_row = np.empty(len(table), dtype=np.intp)
        of_row[by_question] = np.cumsum(changes) - 1
        found = cls(user[first_row], np.diff(start, append=len(table)), of_row)
        return found._sorted_by(first_row)

    def reordered(self, generator: np.random.Generator | None) -> _Questions:
        """Shuffle each user's questions; without a generator, leave them as they are."""
        return self if generator is None else self._sorted_by(generator.random(len(self.size)))

    def _sorted_by(self, key: npt.NDArray[np.generic]) -> _Questions:
        """Sort each user's questions by a key."""
        order = np.lexsort((key, self.user))
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return _Questions(self.user[order], self.size[order], rank[self.of_row])


def _deal(questions: _Questions, n_folds: int) -> npt.NDArray[np.int64]:
    """Return every row's fold: for each user, largest questions first, each to the emptiest fold.

    All questions of one size are dealt to all users at once. Dealing g of them to folds with
    loads L is to take the first g of the slots that open at levels L_f, L_f + size, ...
    """
    _, user = np.unique(questions.user, return_inverse=True)
    asked = np.bincount(user)
    # Where a user's folds are level, go on where the user before stopped: the folds stay even
    # over the whole crowd too, and none stays empty.
    first_fold = (np.cumsum(asked) - asked) % n_folds
    turn = (np.arange(n_folds) - first_fold[:, None]) % n_folds
    load = np.zeros((len(asked), n_folds), dtype=np.int64)
    fold = np.empty(len(user), dtype=np.int64)
    for size in np.unique(questions.size)[::-1]:
        chosen = np.flatnonzero(questions.size == size)
        wanted = np.bincount(user[chosen], minlength=len(asked))
        # Below this common level there are at least as many slots as questions.
        level = -(-(load.sum(axis=1) + wanted * size) // n_folds)
        slots = np.maximum(0, -((load - level[:, None]) // size)) * (wanted > 0)[:, None]
        fold[chosen] = _first_slots(load, turn, slots, size, wanted)
        np.add.at(load, (user[chosen], fold[chosen]), size)
    return fold[questions.of_row]


def _first_slots(
    load: npt.NDArray[np.int64],
    turn: npt.NDArray[np.int64],
    slots: npt.NDArray[np.int64],
    size: int,
    wanted: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """Return the folds of each user's first `wanted` slots, user by user."""
    n_users, n_folds = load.shape
    cell = np.repeat(np.arange(n_users * n_folds), slots.ravel())
    nth = np.arange(len(cell)) - np.repeat(np.cumsum(slots) - slots.ravel(), slots.ravel())
    user = cell // n_folds
    order = np.lexsort((turn.ravel()[cell], load.ravel()[cell] + size * nth, user))
    place = np.arange(len(cell)) - np.searchsorted(user, user)  # `user` is sorted already
    chosen: npt.NDArray[np.int64] = (cell % n_folds)[order[place < wanted[user]]]
    return chosen
