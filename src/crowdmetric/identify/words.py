"""What a linear system leaves open, in words that name features and users."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt
import scipy.linalg as sla

from crowdmetric.comparisons import Items
from crowdmetric.errors import shown
from crowdmetric.identify.system import LinearSystem

__all__ = ["open_metric", "open_users", "some"]

Floats = npt.NDArray[np.float64]

_NOTHING = 1e-8  # entries below this share of the largest are rounding
_SHOWN = 3


def open_users(system: LinearSystem, users: Sequence[Hashable]) -> list[str]:
    """Say whose points are not determined even if the metric were known.

    Parameters
    ----------
    system : LinearSystem
        The questions.
    users : sequence of hashable
        The users' ids.

    Returns
    -------
    list of str
        A phrase for each such user; the points of all others follow from the metric.

    Examples
    --------
    >>> system = LinearSystem.of(np.eye(3), [0], [0], [1], n_users=2)
    >>> for phrase in open_users(system, ["ann", "bob"]):
    ...     print(phrase)
    user 'ann' needs at least 2 more independent questions (1 of 3)
    user 'bob' needs at least 3 more independent questions (0 of 3)
    """
    dimension = system.asked.dimension
    phrases = []
    for user, rank in zip(users, system.rank_of_user.tolist(), strict=True):
        if rank == dimension:
            continue
        plural = "s" if dimension - rank > 1 else ""
        phrases.append(
            f"user {shown(user)} needs at least {dimension - rank} more independent "
            f"question{plural} ({rank} of {dimension})"
        )
    return phrases


def open_metric(system: LinearSystem, items: Items) -> list[str]:
    """Say in which ways the metric may change without a trace in the answers.

    Parameters
    ----------
    system : LinearSystem
        The questions.
    items : Items
        The items, with the names of their features.

    Returns
    -------
    list of str
        A phrase for each independent way; the features are measured by their spread among the
        items, since their units may have nothing in common.

    Examples
    --------
    Where one feature is twice another one, what each is worth cannot be told.

    >>> items = Items.from_arrays([[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]], names=["cm", "half"])
    >>> system = LinearSystem.of(items.features, [0, 0], [0, 1], [1, 2], n_users=1)
    >>> for phrase in open_metric(system, items):
    ...     print(phrase)
    the worth of 'cm' and 'half' together (1) with the worth of 'cm' (-1)
    the worth of 'half' (1) with the worth of 'cm' (-1)
    """
    metrics = system.undetermined_metrics()
    if not len(metrics):
        return []
    spread = items.features.std(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    # As coefficients of products of features: an entry off the diagonal counts twice.
    twice = 2.0 - np.eye(items.dimension)
    first, second = np.triu_indices(items.dimension)
    rows = (metrics * np.outer(unit, unit) * twice)[:, first, second]
    entries = [
        f"the worth of {shown(items.names[a])}"
        + ("" if a == b else f" and {shown(items.names[b])} together")
        for a, b in zip(first, second, strict=True)
    ]
    return [_phrase(row, entries) for row in _sparse(rows)]


def some(phrases: Sequence[str], most: int = _SHOWN) -> str:
    """Join the first phrases, and say how many more there are.

    Parameters
    ----------
    phrases : sequence of str
        At least one.
    most : int
        How many to spell out.

    Returns
    -------
    str
        One phrase.

    Examples
    --------
    >>> some(["a", "b"]), some(["a", "b", "c", "d", "e"])
    ('a; b', 'a; b; c; and 2 more')
    """
    left = len(phrases) - most
    return "; ".join([*phrases[:most], *([f"and {left} more"] if left > 0 else [])])


def _sparse(rows: Floats) -> Floats:
    """Return rows with the same span, each with an entry of 1 where all others have 0."""
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    _, triangle, pivots = sla.qr(rows, mode="economic", pivoting=True)
    reduced = np.zeros_like(rows)
    reduced[:, pivots] = sla.solve_triangular(triangle[:, : len(rows)], triangle)
    reduced[np.abs(reduced) < _NOTHING] = 0.0
    order = np.argsort(pivots[: len(rows)])
    result: Floats = reduced[order]
    return result


def _phrase(row: Floats, entries: Sequence[str]) -> str:
    """Name the entries of a row with their sizes, the one that is 1 first."""
    pivot = int(np.argmin(np.abs(row - 1.0)))
    others = [place for place in np.argsort(-np.abs(row)) if row[place] and place != pivot]
    if not others:
        return entries[pivot]
    named = [f"{entries[place]} ({row[place]:.2g})" for place in [pivot, *others[:_SHOWN]]]
    if len(others) > _SHOWN:
        named.append(f"{len(others) - _SHOWN} more")
    return " with ".join(named)
