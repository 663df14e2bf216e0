"""Answers about two items each: as people gave them, and as solvers read them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from crowdmetric import checks
from crowdmetric.checks import Codes, Floats
from crowdmetric.errors import DataError, SettingError

__all__ = ["Answers", "Comparisons", "Ties"]

Ties = Literal["half", "drop"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons(checks.Locked):
    """Answers to "left or right?", one per row, as codes into users and items.

    Parameters
    ----------
    users : tuple of hashable
        The distinct user ids; ``user`` holds positions in it.
    item_ids : tuple of hashable
        The item ids; ``left`` and ``right`` hold positions in it.
    user, left, right : ndarray of int32
        Who was asked, and about which two items, in the order they were shown.
    response : ndarray of int8
        -1: left preferred; 1: right preferred; 0: a tie.
    weight : ndarray of float64, optional
        Not negative, not all zero; every answer counts once when not given.
    time : ndarray, optional
        When each answer was given: numbers or dates.

    Examples
    --------
    >>> Comparisons.from_arrays([[0, 0, 1], [1, 2, 0]], [-1, 1])
    Comparisons(2 answers, 2 users, 3 items)
    """

    users: tuple[Hashable, ...]
    item_ids: tuple[Hashable, ...]
    user: Codes
    left: Codes
    right: Codes
    response: npt.NDArray[np.int8]
    weight: Floats | None = None
    time: npt.NDArray[Any] | None = None

    def __post_init__(self) -> None:
        """Check every row, and keep read-only copies of the columns."""
        object.__setattr__(self, "users", checks.plain_ids(self.users))
        object.__setattr__(self, "item_ids", checks.plain_ids(self.item_ids))
        checks.distinct(self.users, "the user")
        checks.distinct(self.item_ids, "the item")
        columns: dict[str, npt.NDArray[Any]] = {
            "user": checks.codes(self.user, self.n_users, "user"),
            "left": checks.codes(self.left, self.n_items, "left item"),
            "right": checks.codes(self.right, self.n_items, "right item"),
            "response": checks.responses(self.response),
        }
        if self.weight is not None:
            columns["weight"] = checks.floats(self.weight, "the weights", dimensions=1)
        if self.time is not None:
            columns["time"] = checks.times(self.time)
        for name, column in columns.items():
            checks.same_length(len(column), len(columns["user"]), f"values of {name}", "users")
            object.__setattr__(self, name, column)
        if not len(self):
            raise DataError("there are no comparisons; give at least one")
        checks.two_different_items(self.left, self.right, self.item_ids)
        if self.weight is not None:
            checks.usable_weights(self.weight)

    @classmethod
    def from_arrays(
        cls,
        triples: npt.ArrayLike,
        response: npt.ArrayLike,
        weight: npt.ArrayLike | None = None,
        time: npt.ArrayLike | None = None,
        users: Iterable[Hashable] | None = None,
        item_ids: Iterable[Hashable] | None = None,
        n_items: int | None = None,
    ) -> Comparisons:
        """Build comparisons from codes.

        Parameters
        ----------
        triples : array-like of int, shape (m, 3)
            User, left item and right item of each comparison, counted from 0.
        response : array-like of shape (m,)
            -1: left preferred; 1: right preferred; 0: a tie.
        weight : array-like of shape (m,), optional
            How much each answer counts.
        time : array-like of shape (m,), optional
            When each answer was given.
        users : iterable of hashable, optional
            User ids by code; 0, 1, ... when not given.
        item_ids : iterable of hashable, optional
            Item ids by code; 0, 1, ... when not given.
        n_items : int, optional
            Number of items when ``item_ids`` is not given and some items have no answers.

        Returns
        -------
        Comparisons
            The checked comparisons.

        Examples
        --------
        >>> data = Comparisons.from_arrays([[0, 0, 1]], [1], users=["ann"], item_ids=["x", "y"])
        >>> data.users, data.item_ids
        (('ann',), ('x', 'y'))
        """
        table: npt.NDArray[Any] = checks.triples(triples)
        if not len(table):
            raise DataError("there are no comparisons; give at least one")
        if users is None:
            users = range(int(table[:, 0].max()) + 1)
        if item_ids is None:
            item_ids = range(int(table[:, 1:].max()) + 1 if n_items is None else n_items)
        return cls(
            users=tuple(users),
            item_ids=tuple(item_ids),
            user=table[:, 0],
            left=table[:, 1],
            right=table[:, 2],
            response=np.asarray(response),
            weight=None if weight is None else np.asarray(weight),
            time=None if time is None else np.asarray(time),
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.user)

    def __repr__(self) -> str:
        """Return a summary in one line."""
        return f"Comparisons({len(self)} answers, {self.n_users} users, {self.n_items} items)"

    @property
    def n_users(self) -> int:
        """Number of users.

        Examples
        --------
        >>> Comparisons.from_arrays([[1, 0, 1]], [1]).n_users
        2
        """
        return len(self.users)

    @property
    def n_items(self) -> int:
        """Number of items, compared or not.

        Examples
        --------
        >>> Comparisons.from_arrays([[0, 0, 1]], [1], n_items=7).n_items
        7
        """
        return len(self.item_ids)

    def subset(self, rows: npt.ArrayLike) -> Comparisons:
        """Return some of the rows; users and items keep their codes.

        Parameters
        ----------
        rows : array-like
            A mask of all rows, or row numbers counted from 0.

        Returns
        -------
        Comparisons
            The chosen rows, in the order asked for.

        Examples
        --------
        >>> data = Comparisons.from_arrays([[0, 0, 1], [1, 2, 0]], [-1, 1])
        >>> data.subset([True, False]), data.subset([1]).user
        (Comparisons(1 answers, 2 users, 3 items), array([1], dtype=int32))
        """
        chosen = np.asarray(rows)
        if chosen.dtype == bool:
            checks.same_length(len(chosen), len(self), "values of the mask", "comparisons")
            chosen = np.flatnonzero(chosen)
        index = checks.codes(chosen, len(self), "row")
        return Comparisons(
            users=self.users,
            item_ids=self.item_ids,
            user=self.user[index],
            left=self.left[index],
            right=self.right[index],
            response=self.response[index],
            weight=None if self.weight is None else self.weight[index],
            time=None if self.time is None else self.time[index],
        )

    def answers(self, ties: Ties = "half") -> Answers:
        """Return what a solver sees: every answer left or right, with its weight.

        Parameters
        ----------
        ties : {"half", "drop"}
            A tie becomes one answer each way at half its weight, or is left out.

        Returns
        -------
        Answers
            The answers, in the order of the rows.

        Examples
        --------
        >>> data = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 0])
        >>> data.answers().sign, data.answers().weight
        (array([-1., -1.,  1.]), array([1. , 0.5, 0.5]))
        >>> data.answers("drop").sign
        array([-1.])
        """
        if ties not in ("half", "drop"):
            raise SettingError(f"ties must be 'half' or 'drop', not {ties!r}")
        tied = self.response == 0
        copies = np.where(tied, 2 if ties == "half" else 0, 1)
        rows = np.repeat(np.arange(len(self)), copies)
        weight = (np.where(tied, 0.5, 1.0) * (1.0 if self.weight is None else self.weight))[rows]
        if not weight.any():
            raise DataError("every answer that counts is a tie; keep them with ties='half'")
        sign = self.response[rows].astype(np.float64)
        # The two copies of a tie are neighbours: the first says left, the second right.
        sign[sign == 0] = np.tile([-1.0, 1.0], int(tied.sum()) if ties == "half" else 0)
        return Answers(
            user=checks.read_only(self.user[rows]),
            left=checks.read_only(self.left[rows]),
            right=checks.read_only(self.right[rows]),
            sign=checks.read_only(sign),
            weight=checks.read_only(weight),
            n_users=self.n_users,
            n_items=self.n_items,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Answers(checks.Locked):
    """Answers with ties resolved: the form in which solvers read comparisons.

    Parameters
    ----------
    user, left, right : ndarray of int32
        Codes, as in the comparisons.
    sign : ndarray of float64
        -1: left preferred; 1: right preferred.
    weight : ndarray of float64
        How much each answer counts.
    n_users, n_items : int
        How many users and items the codes refer to.

    Examples
    --------
    >>> Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 0]).answers()
    Answers(3 answers, 1 users, 3 items)
    """

    user: Codes
    left: Codes
    right: Codes
    sign: Floats
    weight: Floats
    n_users: int
    n_items: int

    def __len__(self) -> int:
        """Return the number of answers."""
        return len(self.sign)

    def __repr__(self) -> str:
        """Return a summary in one line."""
        return f"Answers({len(self)} answers, {self.n_users} users, {self.n_items} items)"
