"""D-optimal designs for binary answers: questions whose answers tell most about metric and points.

How much an answer tells depends on how certain it is beforehand, so on a guess at what people want;
without one, every answer counts as even. The users take turns, and each is asked the pair that
raises the log-determinant of the information most. Since every answer raises it by less the more is
known already, this greedy choice reaches at least half of the highest possible rise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from crowdmetric import checks
from crowdmetric.comparisons import Items
from crowdmetric.design.asking import balance_sides
from crowdmetric.design.information import Information
from crowdmetric.design.items import Geometry
from crowdmetric.design.people import Users, named
from crowdmetric.design.questions import Design, certify
from crowdmetric.design.random_pairs import check_pairs, random_design
from crowdmetric.errors import SettingError
from crowdmetric.losses import Logistic, Probit
from crowdmetric.solver.threads import one_thread_for_linear_algebra

__all__ = ["efficiency", "optimal_design"]

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Triples = npt.NDArray[np.int64]
BinaryLink: TypeAlias = Logistic | Probit

_MOST_ITEMS = 300  # whose pairs are looked at in one turn; of more, a random choice each time


def optimal_design(
    items: Items,
    users: Users,
    pairs: int,
    link: BinaryLink | None = None,
    guess: npt.ArrayLike | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Design:
    """Ask each user the pairs that tell most.

    Parameters
    ----------
    items : Items
        The items, two or more.
    users : int or iterable of hashable
        How many users, who are then called u0, u1, ..., or their ids.
    pairs : int
        How many questions for each.
    link : Logistic or Probit, optional
        How answers follow from margins; it matters only with a guess.
    guess : array-like of shape (K, n), optional
        The scores that users are expected to give the items: `Model.scores` of an earlier fit.
        Without one, all answers are expected to be even, and items that are far apart tell most;
        with one, answers that are certain tell nothing.
    seed : int
        Of the sides and, of many items, those that are looked at in a turn.
    progress : callable, optional
        Called with the numbers of questions chosen and wanted.

    Returns
    -------
    Design
        Each user's questions, those first that tell most.

    Raises
    ------
    DataError
        If there are not as many pairs.

    Examples
    --------
    >>> from crowdmetric import simulate
    >>> items = simulate(n_items=20, dimension=2).items
    >>> design = optimal_design(items, users=3, pairs=5)
    >>> design, efficiency(items, design, seed=1) > 1.5
    (Design(15 questions to 3 users about 20 items, rank 9 of 9), True)
    """
    ids = named(users)
    check_pairs(pairs, len(items), len(ids))
    weights = _Weights(items, len(ids), link, guess)
    with one_thread_for_linear_algebra():
        chosen = _greedy(Geometry.of(items.features), len(ids), pairs, weights, seed, progress)
    triples = balance_sides(chosen, len(items), seed)
    certificate = certify(items, triples, len(ids), seed)
    user, left, right = triples.T.astype(np.int32)
    return Design(ids, items.ids, user, left, right, certificate)


def efficiency(
    items: Items,
    design: Design,
    link: BinaryLink | None = None,
    guess: npt.ArrayLike | None = None,
    seed: int = 0,
) -> float:
    """Return how many random questions it takes to tell as much as one of a design.

    Parameters
    ----------
    items : Items
        The items.
    design : Design
        With as many questions for each user.
    link, guess : optional
        As for `optimal_design`.
    seed : int
        Of the random design.

    Returns
    -------
    float
        The D-efficiency; inf if a random design of this size leaves something open.

    Examples
    --------
    >>> from crowdmetric import simulate
    >>> from crowdmetric.design import random_design
    >>> items = simulate(n_items=20, dimension=2).items
    >>> print(efficiency(items, random_design(items, 3, pairs=40, seed=1), seed=1))
    1.0
    """
    n_users = len(design.users)
    by_chance = random_design(items, design.users, len(design) // n_users, seed)
    if not by_chance.certificate.determined:
        return np.inf
    geometry, weights = Geometry.of(items.features), _Weights(items, n_users, link, guess)
    heights = []
    for questions in (design, by_chance):
        told = Information(geometry, n_users)
        for row in zip(questions.user, questions.left, questions.right, strict=True):
            user, left, right = map(int, row)
            told.add(user, left, right, float(weights.of(user, np.array([left, right]))[0, 1]))
        heights.append(told.log_determinant)
    return float(np.exp((heights[0] - heights[1]) / design.certificate.needed))


class _Weights:
    """What an answer about each pair tells, beside an answer that is even."""

    def __init__(
        self, items: Items, n_users: int, link: BinaryLink | None, guess: npt.ArrayLike | None
    ) -> None:
        """Score the items, if there is a guess at what people want."""
        self._link, self._scores = link or Logistic(), np.zeros((n_users, len(items)))
        self._even = float(self._information(np.zeros(1))[0])
        if guess is not None:
            self._scores = checks.floats(guess, "the guess", dimensions=2)
        if self._scores.shape != (n_users, len(items)) or not np.isfinite(self._scores).all():
            raise SettingError(
                f"the guess must be {n_users} rows of {len(items)} finite scores, but its shape is "
                f"{self._scores.shape}; give a row for each user"
            )

    def of(self, user: int, among: Places) -> Floats:
        """Return the weight of each pair of some items."""
        scores = self._scores[user, among]
        return self._information(scores[:, None] - scores[None, :]) / self._even

    def _information(self, margin: Floats) -> Floats:
        """Return the expected second derivative of the loss: Fisher's information."""
        right = self._link.probability(margin)
        result: Floats = right * self._link.curvature(margin)
        result += (1.0 - right) * self._link.curvature(-margin)
        return result


def _greedy(
    geometry: Geometry,
    n_users: int,
    pairs: int,
    weights: _Weights,
    seed: int,
    progress: Callable[[int, int], None] | None,
) -> Triples:
    """Let the users take turns, and return who got which pair, user by user."""
    generator = np.random.default_rng(seed)
    told, n_items = Information(geometry, n_users), len(geometry.points)
    # Twice as many pairs as will be taken, at least.
    looked_at = min(n_items, max(_MOST_ITEMS, int(np.ceil(np.sqrt(4 * pairs))) + 1))
    taken = np.empty((n_users, pairs, 2), dtype=np.int64)
    for turn in range(pairs):
        for user in range(n_users):
            among = np.arange(n_items)
            if looked_at < n_items:
                among = np.sort(generator.choice(n_items, looked_at, replace=False))
            weight = weights.of(user, among)
            gains = told.gains(user, among, weight)
            _leave_out(gains, among, taken[user, :turn])
            one, other = np.unravel_index(int(gains.argmax()), gains.shape)
            told.add(user, int(among[one]), int(among[other]), float(weight[one, other]))
            taken[user, turn] = among[one], among[other]
        if progress is not None:
            progress((turn + 1) * n_users, pairs * n_users)
    users = np.repeat(np.arange(n_users), pairs)
    return np.column_stack([users, taken.reshape(-1, 2)])


def _leave_out(gains: Floats, among: Places, taken: Triples) -> None:
    """Make sure that neither an item with itself nor a pair that was taken is chosen."""
    np.fill_diagonal(gains, -np.inf)
    places = np.searchsorted(among, taken)
    there = (among[np.minimum(places, len(among) - 1)] == taken).all(axis=1)
    one, other = places[there].T
    gains[one, other] = gains[other, one] = -np.inf
