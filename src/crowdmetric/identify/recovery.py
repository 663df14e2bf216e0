"""Exact recovery from unquantised measurements: differences of squared distances as numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric import checks
from crowdmetric.comparisons import Items
from crowdmetric.errors import DataError, IdentifiabilityError
from crowdmetric.identify.system import LinearSystem
from crowdmetric.identify.words import open_metric, open_users, some
from crowdmetric.points import ideal_points

__all__ = ["Recovery", "recover"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Recovery(checks.Locked):
    """The metric and the points behind measured differences.

    Parameters
    ----------
    users : tuple of hashable
        The users' ids.
    metric : ndarray of shape (d, d)
        The best fit (least squares): symmetric, but noise may give it negative eigenvalues.
    points : ndarray of shape (K, d)
        The pseudo-ideal points v_k = -2 M u_k that go with it.
    residuals : ndarray of shape (m,)
        What the fit leaves over of each measured difference; rounding alone if they are exact.
    psd_metric : ndarray of shape (d, d)
        The positive semidefinite matrix nearest to the metric.
    moved : float
        How far that is from it, as a share of its norm: 0 where the metric is one itself.

    Examples
    --------
    >>> items = Items.from_arrays([[0.0], [1.0], [3.0]])
    >>> recover(items, [[0, 0, 1], [0, 1, 2]], [1.0, 0.0])
    Recovery(1 features, 1 users, largest residual ..., moved by 0%)
    """

    users: tuple[Hashable, ...]
    metric: Floats
    points: Floats
    residuals: Floats
    psd_metric: Floats
    moved: float

    def __repr__(self) -> str:
        """Return a summary in one line."""
        return (
            f"Recovery({len(self.metric)} features, {len(self.users)} users, largest residual "
            f"{np.abs(self.residuals).max():.1g}, moved by {100 * self.moved:.1g}%)"
        )

    @property
    def ideal_points(self) -> Floats:
        """The ideal points u_k under the positive semidefinite metric; the shortest if many are.

        Examples
        --------
        >>> items = Items.from_arrays([[0.0], [1.0], [3.0]])
        >>> recover(items, [[0, 0, 1], [0, 1, 2]], [1.0, 0.0]).ideal_points.round(9)
        array([[2.]])
        """
        return ideal_points(self.psd_metric, self.points)


def recover(
    items: Items | npt.ArrayLike,
    triples: npt.ArrayLike,
    differences: npt.ArrayLike,
    users: Iterable[Hashable] | None = None,
) -> Recovery:
    """Find the metric and everybody's point from measured differences of squared distances.

    Parameters
    ----------
    items : Items or array-like of shape (n, d)
        The items, a row of features each.
    triples : array-like of int, shape (m, 3)
        Rows of user, left item and right item, counted from 0.
    differences : array-like of shape (m,)
        For each row, the squared distance of the user to the left item less that to the right
        one: exact, or with noise.
    users : iterable of hashable, optional
        One id per user; 0, 1, ... when not given.

    Returns
    -------
    Recovery
        Metric, points and residuals.

    Raises
    ------
    IdentifiabilityError
        If the questions do not determine everything: it says for which users, and in which
        directions of the metric.
    DataError
        If rows, users or items do not fit together, or a difference is not a finite number.

    Examples
    --------
    >>> items = Items.from_arrays([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]], names=["price", "comfort"])
    >>> recover(items, [[0, 0, 1], [0, 1, 2]], [1.0, 0.0], users=["ann"])
    Traceback (most recent call last):
    ...
    crowdmetric.errors.IdentifiabilityError: the questions leave something open: ...
    """
    things = items if isinstance(items, Items) else Items.from_arrays(items)
    table = checks.triples(triples)
    if not len(table):
        raise DataError("there are no measurements; give at least one")
    known = range(int(table[:, 0].max()) + 1) if users is None else checks.listed(users, "users")
    checks.distinct(known, "the user")
    user, left, right = table.T
    system = LinearSystem.of(things.features, user, left, right, len(known))
    if not system.determined:
        raise _refusal(system, things, known)
    metric, points, residuals = system.solve(differences)
    values, vectors = np.linalg.eigh(metric)
    psd = (vectors * np.maximum(values, 0.0)) @ vectors.T
    psd = 0.5 * (psd + psd.T) if values[0] < 0 else metric
    size = float(np.linalg.norm(metric))
    return Recovery(
        users=tuple(known),
        metric=metric,
        points=points,
        residuals=residuals,
        psd_metric=psd,
        moved=float(np.linalg.norm(psd - metric)) / size if size else 0.0,
    )


def _refusal(system: LinearSystem, items: Items, users: Iterable[Hashable]) -> IdentifiabilityError:
    """Say what the questions leave open, and what would close it."""
    reasons = []
    people = open_users(system, list(users))
    if people:
        reasons.append(some(people))
    ways = open_metric(system, items)
    if ways:
        count = f"{len(ways)} ways" if len(ways) > 1 else "1 way"
        reasons.append(f"the metric may change in {count} without a trace: {some(ways)}")
    return IdentifiabilityError(_remedy(items), *reasons)


def _remedy(items: Items) -> str:
    """Say what would close it: other questions, or other items where none do (prop:mainNec)."""
    # One user who compares the first item with every other has been asked all there is to ask.
    others = np.arange(1, len(items))
    first, nobody = np.zeros_like(others), np.zeros_like(others)
    everything = LinearSystem.of(items.features, nobody, first, others, n_users=1)
    if everything.determined:
        return "ask other questions too"
    least = everything.needed + 1
    if len(items) < least:
        return (
            f"{items.dimension} features need at least {least} items, and there are {len(items)}, "
            "so add items, or use fewer features"
        )
    return (
        f"no questions about these items determine more than {everything.rank_of_metric} of the "
        f"{everything.asked.packed} numbers of the metric, so add items of other kinds, or leave "
        "out a feature that follows from others"
    )
