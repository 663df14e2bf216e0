"""What is missing from answers already there: the fewest further questions, and whom to ask them.

Each question is a row of the linear system (eq:full-linear-system), and raises its rank by one or
not at all. So at least as many are missing as its rank falls short of D + d K. Asking one that
raises the rank, then the next, comes to an end with exactly as many: independent rows can always be
completed to a basis. First every user gets the directions that the own point still lacks; then the
metric gets its own, from whoever has been asked least, since by then anybody's answers will do.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable

import numpy as np
import numpy.typing as npt

from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.design.asking import balance_sides, shuffle_within_users
from crowdmetric.design.items import Geometry, farthest_pair, identifying_geometry
from crowdmetric.design.people import Users, named
from crowdmetric.design.questions import Design, certify_all
from crowdmetric.identify.system import LinearSystem
from crowdmetric.ids import KnownIds
from crowdmetric.solver.curvature import pack
from crowdmetric.solver.threads import one_thread_for_linear_algebra

__all__ = ["complete"]

Floats = npt.NDArray[np.float64]
Triples = npt.NDArray[np.int64]
Pairs = list[tuple[int, int]]


def complete(
    items: Items, collected: Comparisons, users: Users | None = None, seed: int = 0
) -> Design:
    """Ask what is missing to determine the metric and every point, and no more.

    Parameters
    ----------
    items : Items
        The items.
    collected : Comparisons
        The answers that are there; what was answered does not matter.
    users : int or iterable of hashable, optional
        Users to be asked as well, where not all have answered yet: ids, or how many there are of
        u0, u1, ...; those in the data are always among them.
    seed : int
        Of the order of each user's questions, and of the sides.

    Returns
    -------
    Design
        The further questions: D + d K less the rank of the system so far. Its certificate is
        that of old and new ones together.

    Raises
    ------
    DataError
        If no answers about these items determine a metric, with the reason.

    Examples
    --------
    >>> from crowdmetric import simulate
    >>> crowd = simulate(n_items=12, dimension=2, n_users=3, pairs_per_user=2)
    >>> complete(crowd.items, crowd.comparisons)  # 3 + 2 * 3 numbers, 6 answers so far
    Design(3 questions to 3 users about 12 items, rank 9 of 9)
    """
    ids = _with_newcomers(collected, users)
    codes = items.codes(collected.item_ids)
    there = np.column_stack([collected.user, codes[collected.left], codes[collected.right]])
    there = there.astype(np.int64)
    with one_thread_for_linear_algebra():
        triples = _missing(identifying_geometry(items), there, len(ids))
    triples = shuffle_within_users(balance_sides(triples, len(items), seed), seed)
    certificate = certify_all(items, np.concatenate([there, triples]), len(ids), seed)
    user, left, right = triples.T.astype(np.int32)
    return Design(ids, items.ids, user, left, right, certificate)


def _with_newcomers(collected: Comparisons, users: Users | None) -> tuple[Hashable, ...]:
    """Return the users in the data, then those who are not there yet."""
    if users is None:
        return collected.users
    known = KnownIds(collected.users, "user")
    return collected.users + tuple(user for user in named(users) if known.position(user) < 0)


def _missing(geometry: Geometry, there: Triples, n_users: int) -> Triples:
    """Return user and pair of each question that is missing, user by user."""
    system = LinearSystem.of(geometry.points, there[:, 0], there[:, 1], there[:, 2], n_users)
    asked = _by_user(there, n_users)
    new: list[Pairs] = [
        _for_the_point(geometry.points, pairs, rank)
        for pairs, rank in zip(asked, system.rank_of_user.tolist(), strict=True)
    ]
    open_directions = pack(system.undetermined_metrics()).T
    for user, pair in _for_the_metric(geometry, asked, new, open_directions):
        new[user].append(pair)
    rows = [(user, *pair) for user, pairs in enumerate(new) for pair in pairs]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _by_user(triples: Triples, n_users: int) -> list[Triples]:
    """Return the pairs of each user."""
    order = np.argsort(triples[:, 0], kind="stable")
    ends = np.searchsorted(triples[order, 0], np.arange(1, n_users))
    return np.split(triples[order, 1:], ends)


def _for_the_point(points: Floats, asked: Triples, rank: int) -> Pairs:
    """Return pairs in the directions of a user's point that earlier pairs leave open."""
    dimension = points.shape[1]
    if rank == dimension:
        return []
    rows = points[asked[:, 0]] - points[asked[:, 1]]
    axes = np.linalg.svd(rows, full_matrices=True)[2].T if len(rows) else np.eye(dimension)
    view = points @ axes[:, rank:]
    pairs = []
    while view.shape[1]:
        pair = farthest_pair(view)
        pairs.append(pair)
        view = _without(view, view[pair[0]] - view[pair[1]])
    return pairs


def _for_the_metric(
    geometry: Geometry, asked: list[Triples], new: list[Pairs], open_directions: Floats
) -> list[tuple[int, tuple[int, int]]]:
    """Return users and pairs in the directions of the metric, columns, that are still open.

    A user's answers determine the own point given the metric; what they add for the metric is what
    the squares of a pair say beyond that.
    """
    queue = [(len(asked[user]) + len(new[user]), user) for user in range(len(asked))]
    heapq.heapify(queue)
    explained: dict[int, Floats] = {}
    found = []
    view, basis = geometry.squares @ open_directions, open_directions
    while basis.shape[1]:
        count, user = heapq.heappop(queue)
        if user not in explained:
            explained[user] = _explained(geometry, np.array([*asked[user].tolist(), *new[user]]))
        surplus = view - geometry.points @ (explained[user] @ basis)
        pair = farthest_pair(surplus)
        direction = surplus[pair[0]] - surplus[pair[1]]
        found.append((user, pair))
        view, basis = _without(view, direction), _without(basis, direction)
        heapq.heappush(queue, (count + 1, user))
    return found


def _explained(geometry: Geometry, pairs: Triples) -> Floats:
    """Return, of shape (d, D), how the squares of a user's pairs follow from their points."""
    left, right = pairs.T
    points = geometry.points[left] - geometry.points[right]
    squares = geometry.squares[left] - geometry.squares[right]
    result: Floats = np.linalg.lstsq(points, squares, rcond=None)[0]
    return result


def _without(columns: Floats, direction: Floats) -> Floats:
    """Turn the columns so that the first is along the direction, and drop it."""
    mirror = direction / np.linalg.norm(direction)
    mirror[0] += np.copysign(1.0, mirror[0])
    mirror /= np.linalg.norm(mirror)
    result: Floats = (columns - 2.0 * np.outer(columns @ mirror, mirror))[:, 1:]
    return result
