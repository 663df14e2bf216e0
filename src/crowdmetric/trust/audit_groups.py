"""Groups of people: the columns of a users file."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crowdmetric.checks import Codes
from crowdmetric.errors import shown
from crowdmetric.ids import KnownIds, as_text
from crowdmetric.readers.columns import encode, ids_of
from crowdmetric.readers.sources import Source, open_table
from crowdmetric.readers.table import Table

__all__ = ["NOT_GIVEN", "Groups", "read_groups"]

NOT_GIVEN = "(not given)"
"""The group of people whose cell is empty, or who are not in the file."""


@dataclass(frozen=True, eq=False)
class Groups:
    """One way to divide people into groups.

    Parameters
    ----------
    column : str
        What the groups are about, for example "gender".
    names : tuple of str
        The groups.
    of_user : ndarray of int32
        The group of each user, as a position in the names.

    Examples
    --------
    >>> Groups.of("town", ["Ulm", "Bonn", "Ulm"]).of_user
    array([0, 1, 0], dtype=int32)
    """

    column: str
    names: tuple[str, ...]
    of_user: Codes

    @classmethod
    def of(cls, column: str, labels: Sequence[Hashable]) -> Groups:
        """Group users by their labels.

        Parameters
        ----------
        column : str
            What the labels are about.
        labels : sequence of hashable
            One for each user.

        Returns
        -------
        Groups
            In order of appearance.

        Examples
        --------
        >>> Groups.of("age", [30, 40, 30]).names
        ('30', '40')
        """
        positions: dict[str, int] = {}
        codes = [positions.setdefault(as_text(label), len(positions)) for label in labels]
        return cls(column, tuple(positions), np.array(codes, dtype=np.int32))

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self.names)


def read_groups(source: Source, users: Sequence[Hashable]) -> tuple[Groups, ...]:
    """Read who belongs to which groups: a column of users, and one per way to group them.

    Parameters
    ----------
    source : path or data frame
        As for `crowdmetric.readers.read_comparisons`; every column but "user" is a grouping.
        Rows of people who are not asked for are left out.
    users : sequence of hashable
        Whose groups are wanted.

    Returns
    -------
    tuple of Groups
        One for each column. Users without a row, or with an empty cell, are a group of their own.

    Raises
    ------
    DataError
        Naming the file, the line or column, and the remedy.

    Examples
    --------
    >>> import pyarrow
    >>> table = pyarrow.table({"user": ["ann", "bob"], "town": ["Ulm", "Bonn"]})
    >>> [(one.column, one.names) for one in read_groups(table, ["bob", "cho"])]
    [('town', ('Bonn', '(not given)'))]
    """
    table = open_table(source)
    table.require(["user"], "user, and one per way to group people")
    columns = [name for name in table.columns if name != "user"]
    if not columns:
        raise table.error(
            "there is no column but 'user'; add one for each way to group people, such as 'gender'"
        )
    row_of = _rows(table, users)
    return tuple(Groups.of(name, _labels(table, name, row_of)) for name in columns)


def _rows(table: Table, users: Sequence[Hashable]) -> list[int]:
    """Return the row of each user, -1 where there is none."""
    ids, (codes,) = ids_of(table, "user")
    first = {code: row for row, code in reversed(list(enumerate(codes.tolist())))}
    if len(first) < len(codes):
        row = next(row for row, code in enumerate(codes.tolist()) if first[code] != row)
        raise table.error(
            f"the user {shown(ids[codes[row]])} is there twice; keep one row per user",
            first[int(codes[row])],
            row,
        )
    known = KnownIds(ids, "user")
    positions = [known.position(user) for user in users]
    if users and max(positions) < 0:
        raise table.error(
            f"none of its users is in the model, whose users are such as {shown(users[0])}; write "
            "the ids as in the comparisons"
        )
    return [first[position] if position >= 0 else -1 for position in positions]


def _labels(table: Table, name: str, row_of: Sequence[int]) -> list[Hashable]:
    """Return the label of each row asked for."""
    cells = encode(table, name)
    codes = cells.codes.tolist()
    labels: Mapping[int, Hashable] = dict(enumerate(cells.values))
    return [labels.get(codes[row], NOT_GIVEN) if row >= 0 else NOT_GIVEN for row in row_of]
