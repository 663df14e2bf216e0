"""Who was asked about which pairs: all that the conditions on questions, not on items, look at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crowdmetric import checks
from crowdmetric.checks import Codes
from crowdmetric.errors import DataError
from crowdmetric.identify.selection import independent_rows, selection_rank

__all__ = ["Places", "Questions"]

Places = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Questions:
    """The selection matrices S_1, ..., S_K of a crowd, as rows of user, left and right.

    Parameters
    ----------
    user, left, right : ndarray of int
        Codes, counted from 0.
    n_users, n_items : int
        How many there are of each.
    dimension : int
        How many features an item has.

    Examples
    --------
    >>> asked = Questions([0, 0, 1], [0, 1, 0], [1, 2, 1], n_users=2, n_items=3, dimension=1)
    >>> asked.metric_size, asked.needed, asked.rank, asked.ranks
    (1, 3, 2, array([2, 1]))
    """

    user: Codes
    left: Codes
    right: Codes
    n_users: int
    n_items: int
    dimension: int

    def __post_init__(self) -> None:
        """Check every row, and the sizes."""
        for value, what in (
            (self.n_users, "one user"),
            (self.n_items - 1, "two items"),
            (self.dimension, "one feature"),
        ):
            if value < 1:
                raise DataError(f"there must be at least {what}; add some")
        limits = {"user": self.n_users, "left": self.n_items, "right": self.n_items}
        for name, limit in limits.items():
            what = name if name == "user" else f"{name} item"
            codes = checks.codes(np.asarray(getattr(self, name)), limit, what)
            checks.same_length(len(codes), len(self.user), f"values of {name}", "users")
            object.__setattr__(self, name, codes)
        checks.two_different_items(self.left, self.right, range(self.n_items))

    def __len__(self) -> int:
        """Return the number of questions, m_T in the paper."""
        return len(self.user)

    @property
    def metric_size(self) -> int:
        """How many numbers make up a metric: D = d (d + 1) / 2."""
        return self.dimension * (self.dimension + 1) // 2

    @property
    def needed(self) -> int:
        """How many unknowns there are, and so the rank that determines them: D + d K."""
        return self.metric_size + self.dimension * self.n_users

    @cached_property
    def pairs(self) -> Places:
        """Left and right as columns."""
        return np.column_stack([self.left, self.right]).astype(np.intp)

    @cached_property
    def independent(self) -> Places:
        """Rows, sorted by user, that make a forest of each user's graph: the others add nothing."""
        order = np.argsort(self.user, kind="stable")
        # A copy of the items for each user keeps their graphs apart.
        apart = self.pairs[order] + self.n_items * self.user[order, None].astype(np.intp)
        return np.asarray(order[independent_rows(apart, self.n_items * self.n_users)])

    @cached_property
    def ranks(self) -> Places:
        """The rank of each user's selection matrix."""
        return np.bincount(self.user[self.independent], minlength=self.n_users)

    @cached_property
    def starts(self) -> Places:
        """Where each user's rows begin in `independent`, and where the last one's end."""
        return np.concatenate([[0], np.cumsum(self.ranks)])

    @cached_property
    def rank(self) -> int:
        """The rank of all selection matrices together."""
        return selection_rank(self.pairs, self.n_items)

    def forest_of(self, user: int) -> Places:
        """Return the independent rows of one user.

        Parameters
        ----------
        user : int
            The user's code.

        Returns
        -------
        ndarray of int
            Row numbers.

        Examples
        --------
        >>> Questions([1, 0, 1], [0, 0, 1], [1, 1, 2], 2, 3, 1).forest_of(1)
        array([0, 2])
        """
        return self.independent[self.starts[user] : self.starts[user + 1]]
