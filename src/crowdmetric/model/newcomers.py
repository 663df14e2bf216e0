"""Users who arrive after the fit: their points, with the metric held fixed."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from crowdmetric.checks import Codes, Floats
from crowdmetric.comparisons import Comparisons, Items, Ties
from crowdmetric.errors import DataError, SettingError, shown
from crowdmetric.model.lookup import item_codes, require_comparisons, used
from crowdmetric.model.parts import Addition, Parts
from crowdmetric.problem import Problem
from crowdmetric.regions import FixedMetric
from crowdmetric.regions.projections import onto_psd, symmetric_part

_ROOM = 2.0  # a newcomer's point may be this many times as long as the longest one so far


def fit_newcomers(
    model: Parts, comparisons: Comparisons, point_radius: float | None, tol: float, ties: Ties
) -> tuple[Addition, Floats]:
    """Return the newcomers with their certificate, and their points."""
    from crowdmetric.solver import solve  # the only use of a solver: not worth loading for less

    if model.metric.ndim == 3:
        raise SettingError(
            "add_users needs a metric that all users share, but in this model each user has their "
            "own; fit the new users in a model with single=True instead"
        )
    require_comparisons(comparisons)
    seen = used(comparisons.user, comparisons.n_users)
    users = tuple(comparisons.users[code] for code in seen)
    again = next((name for name in users if model.known_users.position(name) >= 0), None)
    if again is not None:
        raise DataError(
            f"the model has the user {shown(again)} already; leave out that user's rows, or fit "
            "everybody again"
        )
    region = FixedMetric(
        onto_psd(symmetric_part(model.metric.astype(np.float64))),  # rid of float32's rounding
        _radius(model, point_radius),
        margin_bound=getattr(model.region, "margin_bound", None),
    )
    answers = _of_model(comparisons, users, seen, model.items).answers(ties)
    solution = solve(Problem(answers, model.x, model.loss, region), tol=tol)
    return Addition(users, solution.certificate), np.asarray(solution.points)


def _radius(model: Parts, point_radius: float | None) -> float:
    """Return how long a newcomer's point may be."""
    if point_radius is None:
        point_radius = getattr(model.region, "point_radius", None)
    if point_radius is None:
        point_radius = _ROOM * float(np.linalg.norm(model.points, axis=1).max())
    if not 0 < point_radius < np.inf:
        raise SettingError(f"point_radius must be a positive number, not {point_radius:g}")
    return float(point_radius)


def _of_model(
    comparisons: Comparisons, users: tuple[Hashable, ...], seen: Codes, items: Items
) -> Comparisons:
    """Return the comparisons with the newcomers as users and the model's items as items."""
    left, right = item_codes(comparisons, items)
    return Comparisons(
        users=users,
        item_ids=items.ids,
        user=np.searchsorted(seen, comparisons.user).astype(np.int32),
        left=left,
        right=right,
        response=comparisons.response,
        weight=comparisons.weight,
    )
