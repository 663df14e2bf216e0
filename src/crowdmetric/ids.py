"""Ids as people write them, and as files spell them, to the ids that are known."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Literal

from crowdmetric.errors import (
    DataError,
    UnknownItemError,
    UnknownUserError,
    did_you_mean,
    shown,
)

__all__ = ["KnownIds", "as_text"]

_UNKNOWN: dict[str, type[DataError]] = {"item": UnknownItemError, "user": UnknownUserError}
_WHOLE = re.compile(r"(-?[0-9]+)\.0+")  # a whole number as a column of floats spells it


class KnownIds:
    """Ids that are found as they are, or else by how they read if only one reads so.

    Parameters
    ----------
    ids : sequence of hashable
        The distinct ids.
    what : {"item", "user"}
        Whose they are.

    Attributes
    ----------
    unknown : type
        The exception for an id that is not known.

    Examples
    --------
    >>> known = KnownIds([1, "2", "ann"], "user")
    >>> known.find("1"), known.find(2), known.position("ann")
    (1, '2', 2)
    """

    def __init__(self, ids: Sequence[Hashable], what: Literal["item", "user"]) -> None:
        """Look at each id once."""
        self._ids, self._what = ids, what
        self.unknown = _UNKNOWN[what]
        self._exact = {known: position for position, known in enumerate(ids)}

    @cached_property
    def _alike(self) -> dict[str, int]:
        """Map each reading to the position of its id; to -1 if there are several."""
        found: dict[str, int] = {}
        for position, known in enumerate(self._ids):
            reading = _reading(known)
            found[reading] = -1 if reading in found else position
        return found

    def position(self, given: Hashable) -> int:
        """Return the position of an id, -1 if it is not known.

        Parameters
        ----------
        given : hashable
            For example "3", from the command line, where 3 is known.

        Returns
        -------
        int
            Counted from 0.

        Examples
        --------
        >>> KnownIds(["red", 7, 8, "8"], "item").position(7.0)
        1
        >>> KnownIds(["red", 7, 8, "8"], "item").position("8.0")  # reads like two of them
        -1
        """
        try:
            found = self._exact.get(given)
        except TypeError:
            raise DataError(
                f"{self._what} ids must be hashable (text, numbers, tuples), not lists or arrays"
            ) from None
        return self._alike.get(_reading(given), -1) if found is None else found

    def positions(self, wanted: Iterable[Hashable], remedy: str = "") -> list[int]:
        """Return the positions of ids, all of which must be known.

        Parameters
        ----------
        wanted : iterable of hashable
            The ids.
        remedy : str
            As in `refusal`.

        Returns
        -------
        list of int
            Counted from 0.

        Raises
        ------
        UnknownItemError, UnknownUserError
            Naming the first that is not known.

        Examples
        --------
        >>> KnownIds(["red", "blue"], "item").positions(["blue", "rad"])
        Traceback (most recent call last):
        crowdmetric.errors.UnknownItemError: there is no item 'rad' among the 2 items; did you mean
        'red'?
        """
        found = []
        for given in wanted:
            position = self.position(given)
            if position < 0:
                raise self.unknown(self.refusal(given, remedy))
            found.append(position)
        return found

    def find(self, given: Hashable, remedy: str = "") -> Hashable:
        """Return the known id that is meant.

        Parameters
        ----------
        given : hashable
            For example "3".
        remedy : str
            As in `refusal`.

        Returns
        -------
        hashable
            For example 3.

        Raises
        ------
        UnknownItemError, UnknownUserError
            If it is not known.

        Examples
        --------
        >>> KnownIds([1, 2, 3], "user").find("3")
        3
        """
        return self._ids[self.positions([given], remedy)[0]]

    def refusal(self, given: Hashable, remedy: str = "") -> str:
        """Say that an id is not known, and which one may be meant.

        Parameters
        ----------
        given : hashable
            The id.
        remedy : str
            What to do if no known id is close.

        Returns
        -------
        str
            A sentence without its full stop.

        Examples
        --------
        >>> KnownIds(["001", "002"], "user").refusal(1)
        "there is no user 1 among the 2 users; did you mean '001'? (leading zeros count)"
        """
        hint = self._but_for_zeros(given) or did_you_mean(as_text(given), self._ids)
        return (
            f"there is no {self._what} {shown(given)} among the {len(self._ids)} {self._what}s"
            + (hint or (f"; {remedy}" if remedy else ""))
        )

    def _but_for_zeros(self, given: Hashable) -> str:
        """Return a hint at an id that is the same number with more or fewer zeros in front."""
        reading = _reading(given)
        if not reading.isdecimal() or reading in self._alike:
            return ""
        bare = reading.lstrip("0")
        found = next((known for known in self._ids if _reading(known).lstrip("0") == bare), None)
        return "" if found is None else f"; did you mean {shown(found)}? (leading zeros count)"


def as_text(given: Hashable) -> str:
    """Return an id as text: 1 and 1.0 the same.

    Parameters
    ----------
    given : hashable
        The id.

    Returns
    -------
    str
        What both are written as.

    Examples
    --------
    >>> as_text(1), as_text(1.0), as_text("1"), as_text("1.0")
    ('1', '1', '1', '1.0')
    """
    return str(int(given)) if isinstance(given, float) and given.is_integer() else str(given)


def _reading(given: Hashable) -> str:
    """Return how an id reads: 1, 1.0, "1" and "1.0" all the same."""
    text = as_text(given)
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text
