"""Read items, comparisons and questions, and check every row."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial

import numpy as np

from crowdmetric.checks import Codes, plain_ids
from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.ids import KnownIds
from crowdmetric.readers.columns import ids_of, look_up
from crowdmetric.readers.sources import Source, open_table
from crowdmetric.readers.table import Table
from crowdmetric.readers.values import numbers, responses, times

__all__ = ["read_comparisons", "read_items", "read_pairs", "read_users"]


def read_items(source: Source, id_column: str = "item") -> Items:
    """Read items: a column of ids, and a numeric column per feature.

    Parameters
    ----------
    source : path or data frame
        A file ending in .csv, .csv.gz, .tsv, .parquet, .pq, .jsonl, .ndjson, .arrow or .feather;
        or a pandas, polars or pyarrow frame.
    id_column : str
        The column that holds the ids. In CSV, ids are integers if all of them read as integers.

    Returns
    -------
    Items
        The checked items, in the order of the rows; every other column is a feature.

    Raises
    ------
    DataError
        Naming the file, the line or column, and the remedy.

    Examples
    --------
    >>> import pyarrow
    >>> read_items(pyarrow.table({"item": ["red", "blue"], "warmth": [0.9, 0.1]}))
    Items(2 items, 1 features)
    """
    table = open_table(source)
    table.require([id_column], f"{id_column!r} and one per feature")
    if "" in table.columns:
        raise table.error(
            f"column {list(table.columns).index('') + 1} has no name; name it if it is a feature, "
            "remove it if it numbers the rows"
        )
    ids, (codes,) = ids_of(table, id_column)
    names = [name for name in table.columns if name != id_column]
    features = [
        numbers(table, name, f"the feature {name!r}", partial(_encoding, name)) for name in names
    ]
    with table.naming_rows():
        return Items(
            ids=tuple(ids[code] for code in codes),
            features=np.column_stack(features) if features else np.empty((len(codes), 0)),
            names=tuple(names),
        )


def read_comparisons(
    source: Source, items: Items | None = None, users: Sequence[Hashable] | None = None
) -> Comparisons:
    """Read comparisons: one answer per row.

    The columns are user, left, right and response (left, right or tie, in any case; or -1, 1,
    0), or else user, winner and loser, which is read as "winner on the left, left preferred".
    The columns weight and time are optional; any others are left out.

    Parameters
    ----------
    source : path or data frame
        A file ending in .csv, .csv.gz, .tsv, .parquet, .pq, .jsonl, .ndjson, .arrow or .feather;
        or a pandas, polars or pyarrow frame.
    items : Items, optional
        The items compared; every id must be one of theirs, and the codes refer to them. Ids that
        read the same match: 1 in one file is "1" in another.
    users : sequence of hashable, optional
        The users there are; every user must be one of them, and the codes refer to them. Users
        in order of appearance when not given.

    Returns
    -------
    Comparisons
        The checked comparisons, in the order of the rows.

    Raises
    ------
    DataError
        Naming the file, the line or column, and the remedy.

    Examples
    --------
    >>> import pyarrow
    >>> frame = pyarrow.table({"user": ["ann"], "winner": ["red"], "loser": ["blue"]})
    >>> read_comparisons(frame)
    Comparisons(1 answers, 1 users, 2 items)
    """
    table = open_table(source)
    sides = _form(table)
    known, user = _users(table, users)
    item_ids, left, right = _sides(table, sides, items)
    won = np.full(len(left), -1, np.int8)
    response = responses(table, "response") if "left" in sides else won
    weight = time = None
    if "weight" in table.columns:
        weight = numbers(table, "weight", "the weight", _weight_remedy)
    if "time" in table.columns:
        time = times(table, "time")
    with table.naming_rows():
        return Comparisons(known, item_ids, user, left, right, response, weight, time)


def read_pairs(
    source: Source, items: Items | None = None, users: Sequence[Hashable] | None = None
) -> Comparisons:
    """Read questions to be answered: who would be asked about which two items.

    Parameters
    ----------
    source : path or data frame
        As for `read_comparisons`; the columns are user, left and right, and any others are left
        out.
    items : Items, optional
        The items compared; every id must be one of theirs, and the codes refer to them.
    users : sequence of hashable, optional
        The users there are; every user must be one of them, and the codes refer to them.

    Returns
    -------
    Comparisons
        The questions in the order of the rows. Nobody has answered yet: every response is 0.

    Raises
    ------
    DataError
        Naming the file, the line or column, and the remedy.

    Examples
    --------
    >>> import pyarrow
    >>> frame = pyarrow.table({"user": ["bob"], "left": ["red"], "right": ["blue"]})
    >>> read_pairs(frame, users=["ann", "bob"]).user
    array([1], dtype=int32)
    """
    table = open_table(source)
    table.require(["user", "left", "right"], "user, left, right")
    known, user = _users(table, users)
    item_ids, left, right = _sides(table, ["left", "right"], items)
    with table.naming_rows():
        return Comparisons(known, item_ids, user, left, right, np.zeros(len(left), np.int8))


def read_users(source: Source) -> tuple[Hashable, ...]:
    """Read who there is: the ids in the column user, whatever else the table holds.

    Parameters
    ----------
    source : path or data frame
        As for `read_comparisons`.

    Returns
    -------
    tuple of hashable
        Each id once, in order of appearance.

    Raises
    ------
    DataError
        Naming the file, the line or column, and the remedy.

    Examples
    --------
    >>> import pyarrow
    >>> read_users(pyarrow.table({"user": ["bob", "ann", "bob"]}))
    ('bob', 'ann')
    """
    table = open_table(source)
    table.require(["user"], "user, and others if you like")
    return ids_of(table, "user")[0]


def _form(table: Table) -> list[str]:
    """Return which two columns hold the items: winner and loser, or else left and right."""
    winner, left = ["winner", "loser"], ["left", "right", "response"]
    spelt = {name.strip().casefold() for name in table.columns}
    meant = set(winner) <= spelt and "left" not in spelt  # but for capitals, which are refused
    if not (meant or set(winner) <= table.columns.keys()):
        table.require(["user", *left], "user, left, right, response (or user, winner, loser)")
        return left[:2]
    table.require(["user", *winner], "user, winner, loser")
    twice = [name for name in left if name in table.columns]
    if twice:
        raise table.error(
            "the columns 'winner' and 'loser' say who was preferred, and so would "
            f"{' and '.join(map(repr, twice))}; keep one or the other, and remove or rename the "
            "rest"
        )
    return winner


def _users(table: Table, users: Sequence[Hashable] | None) -> tuple[tuple[Hashable, ...], Codes]:
    """Return the ids of the users, and the code of each row's."""
    if users is None:
        ids, (codes,) = ids_of(table, "user")
        return ids, codes
    known = plain_ids(users)
    return known, look_up(table, "user", KnownIds(known, "user"))


def _sides(
    table: Table, names: Sequence[str], items: Items | None
) -> tuple[tuple[Hashable, ...], Codes, Codes]:
    """Return the item ids and the codes of both sides."""
    if items is None:
        ids, (left, right) = ids_of(table, *names)
        return ids, left, right
    left, right = (look_up(table, name, items.known_ids) for name in names)
    return items.ids, left, right


def _encoding(name: str, cell: str) -> str:
    """Say how text becomes features."""
    return f"replace the column by a 0/1 column per category, such as '{name}={cell}'"


def _weight_remedy(cell: str) -> str:
    """Say what a weight must be."""
    return "give a finite number, 0 or more"
