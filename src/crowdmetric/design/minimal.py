"""The fewest questions that determine metric and points: D + d K of them, about D + d + 1 items.

The construction is the paper's (sec:ident-append:constructions). The items stand in a row. Each
user is asked about the first d neighbouring pairs, which determine the user's point once the metric
is known; the D pairs that follow determine the metric, and are dealt out to the users. Where D / K
is no integer, some users get one more than others; where K > D, some get none, and the metric is
learned from the others (the case m_k = d below def:incselmat).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import qr

from crowdmetric.comparisons import Items
from crowdmetric.design.asking import balance_sides, shuffle_within_users
from crowdmetric.design.items import (
    Geometry,
    Unseen,
    degrees_of_metric,
    fewest_items,
    identifying_geometry,
)
from crowdmetric.design.people import Users, named
from crowdmetric.design.questions import Design, certify_all
from crowdmetric.errors import DataError
from crowdmetric.solver.threads import one_thread_for_linear_algebra

__all__ = ["minimal_design", "minimal_triples"]

Triples = npt.NDArray[np.int64]
Places = npt.NDArray[np.intp]


def minimal_design(items: Items | Unseen, users: Users, seed: int = 0) -> Design:
    """Ask as little as can determine the metric and every point.

    Parameters
    ----------
    items : Items or Unseen
        The items, D + d + 1 or more. Of given items, those are used that make the system easy to
        solve, so it has full rank whenever some design for these items has; of unseen ones, the
        first, and the rank is full for almost all items.
    users : int or iterable of hashable
        How many users, who are then called u0, u1, ..., or their ids.
    seed : int
        Of the order of each user's questions, and of the sides.

    Returns
    -------
    Design
        D + d K questions.

    Raises
    ------
    DataError
        If no answers about these items determine a metric, with the reason.

    Examples
    --------
    >>> design = minimal_design(Unseen(21, 5), users=7)
    >>> len(design), np.bincount(design.user).tolist()  # D = 15: two for each, and one more
    (50, [8, 7, 7, 7, 7, 7, 7])
    """
    ids = named(users)
    row = _row_of_items(items)
    triples = minimal_triples(items.dimension, len(ids))
    triples[:, 1:] = row[triples[:, 1:]]
    triples = shuffle_within_users(balance_sides(triples, len(items), seed), seed)
    certificate = certify_all(items, triples, len(ids), seed)
    user, left, right = triples.T.astype(np.int32)
    return Design(ids, items.ids, user, left, right, certificate)


def minimal_triples(dimension: int, n_users: int) -> Triples:
    """Return the construction as the paper writes it, for items 0 to D + d.

    Parameters
    ----------
    dimension : int
        The number of features d.
    n_users : int
        The number of users K.

    Returns
    -------
    ndarray of shape (D + d K, 3)
        User, left and right item, user by user: first S_k^(1), then the user's rows of S^(2).

    Examples
    --------
    >>> minimal_triples(1, 2)
    array([[0, 0, 1],
           [0, 1, 2],
           [1, 0, 1]])
    """
    own = np.arange(dimension)
    shared = dimension + np.arange(degrees_of_metric(dimension))
    blocks = []
    for user, share in enumerate(np.array_split(shared, n_users)):
        left = np.concatenate([own, share])
        blocks.append(np.column_stack([np.full(len(left), user), left, left + 1]))
    return np.concatenate(blocks)


def _row_of_items(items: Items | Unseen) -> Places:
    """Return D + d + 1 items in a row that the construction can use."""
    if isinstance(items, Items):
        with one_thread_for_linear_algebra():
            return _independent_items(identifying_geometry(items))
    needed = fewest_items(items.dimension)
    if len(items) < needed:
        raise DataError(
            f"a metric on {items.dimension} features needs at least {needed} items, and there are "
            f"{len(items)}; take more items, or fewer features"
        )
    return np.arange(needed)


def _independent_items(geometry: Geometry) -> Places:
    """Return items with affinely independent rows [squares, points]; of d + 1, in points alone.

    The users share their first pairs, so eliminating their points is the same for all, and the
    system has full rank exactly if one user's would, who is asked about the whole row: if these
    rows are affinely independent. Pivoting takes those that stand out most.
    """
    points, squares = geometry.points, geometry.squares
    dimension, degrees = points.shape[1], squares.shape[1]
    first = int((points**2).sum(axis=1).argmax())
    away = points - points[first]
    pivots = qr(away.T, mode="r", pivoting=True)[1][:dimension]
    # What the squares say of the others beyond what the points of these d + 1 items explain.
    surplus = squares - squares[first]
    surplus -= away @ np.linalg.solve(away[pivots], surplus[pivots])
    more = qr(surplus.T, mode="r", pivoting=True)[1][:degrees]
    return np.concatenate([[first], pivots, more])
