"""Ids as people type them, and as files spell them, to ids as a model has them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from crowdmetric.errors import RowError, UnknownUserError, did_you_mean

if TYPE_CHECKING:
    from crowdmetric.comparisons import Comparisons

__all__ = ["KnownUsers"]


class KnownUsers:
    """The users of a model, found by their ids or else by how these read.

    Parameters
    ----------
    users : sequence of hashable
        The ids as the model has them.

    Examples
    --------
    >>> KnownUsers([1, 2, 3]).find("3")
    3
    """

    def __init__(self, users: Sequence[Hashable]) -> None:
        """Look at each id once."""
        self._users = users
        self._exact = set(users)
        self._alike: dict[str, list[Hashable]] = {}
        for user in users:
            self._alike.setdefault(str(user), []).append(user)

    def find(self, given: Hashable) -> Hashable:
        """Return the user with that id, or else the only one whose id reads the same.

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
        UnknownUserError
            If there is none.

        Examples
        --------
        >>> KnownUsers(["ann", "bob"]).find("bop")
        Traceback (most recent call last):
        crowdmetric.errors.UnknownUserError: there is no user 'bop' among the 2 users of the model;
        did you mean 'bob'?
        """
        if given in self._exact:
            return given
        alike = self._alike.get(str(given), [])
        if len(alike) == 1:
            return alike[0]
        raise UnknownUserError(
            f"there is no user {given!r} among the {len(self._users)} users of the model"
            + (did_you_mean(given, self._users) or "; fit again with answers of this user")
        )

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
