"""Ids as people type them, and as files spell them, to ids as a model has them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from crowdmetric.errors import (
    DataError,
    RowError,
    UnknownItemError,
    UnknownUserError,
    did_you_mean,
)

if TYPE_CHECKING:
    from crowdmetric.comparisons import Comparisons

__all__ = ["KnownItems", "KnownUsers"]


class _Known:
    """Ids that are found as they are, or else by how they read."""

    unknown: type[DataError]
    what: str
    remedy: str

    def __init__(self, ids: Sequence[Hashable]) -> None:
        """Look at each id once."""
        self._ids = ids
        self._exact = set(ids)
        self._alike: dict[str, list[Hashable]] = {}
        for known in ids:
            self._alike.setdefault(str(known), []).append(known)

    def find(self, given: Hashable) -> Hashable:
        """Return the id itself, or else the only one that reads the same.

        Parameters
        ----------
        given : hashable
            For example "3", from the command line.

        Returns
        -------
        hashable
            For example 3.

        Raises
        ------
        UnknownItemError, UnknownUserError
            If there is none.

        Examples
        --------
        >>> KnownUsers(["ann", "bob"]).find("bop")
        Traceback (most recent call last):
        crowdmetric.errors.UnknownUserError: there is no user 'bop' among the 2 users; did you mean
        'bob'?
        """
        if given in self._exact:
            return given
        alike = self._alike.get(str(given), [])
        if len(alike) == 1:
            return alike[0]
        raise self.unknown(
            f"there is no {self.what} {given!r} among the {len(self._ids)} {self.what}s"
            + (did_you_mean(given, self._ids) or f"; {self.remedy}")
        )


class KnownItems(_Known):
    """The items that can be ranked, found by their ids or else by how these read.

    Parameters
    ----------
    ids : sequence of hashable
        The ids as the items have them.

    Examples
    --------
    >>> KnownItems([1, 2, 3]).find("3")
    3
    """

    unknown = UnknownItemError
    what = "item"
    remedy = "leave it out of --exclude"


class KnownUsers(_Known):
    """The users of a model, found by their ids or else by how these read.

    Parameters
    ----------
    ids : sequence of hashable
        The ids as the model has them.

    Examples
    --------
    >>> KnownUsers([1, 2, 3]).find("3")
    3
    """

    unknown = UnknownUserError
    what = "user"
    remedy = "fit again with answers of this user"

    def of(self, comparisons: Comparisons) -> Comparisons:
        """Return comparisons with the ids of their users as the model has them.

        Parameters
        ----------
        comparisons : Comparisons
            From a file, where 3 and "3" look alike.

        Returns
        -------
        Comparisons
            The same rows.

        Raises
        ------
        RowError
            Naming the first row of a user whom the model never saw.
        """
        found = []
        for code, given in enumerate(comparisons.users):
            try:
                found.append(self.find(given))
            except UnknownUserError as error:
                row = int((comparisons.user == code).argmax())
                raise RowError(str(error), row) from None
        return replace(comparisons, users=tuple(found))
