"""From a fit within a radius to an estimate without its bias: two steps of Newton's method.

A radius draws metric and points towards zero, by more than chance moves them, so how far refits
scatter says little about how far the truth is. Steps towards the least risk without radius and
without cone take that bias away (the one-step estimator of Le Cam; the idea behind the debiased
lasso). In simulation one step leaves a tenth of the bias where cross-validation chooses a small
radius, and two leave none; and unlike the least risk itself, two steps exist for any answers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crowdmetric.checks import Floats
from crowdmetric.crowd import Crowd
from crowdmetric.losses import CurvedLoss, Loss
from crowdmetric.solver.curvature import Arrow, joined_features

__all__ = ["debiased", "determined_users"]

_STEPS = 2
_RIDGE = 1e-9  # of a typical curvature: invertible where nothing was asked, nothing elsewhere


def debiased(
    crowd: Crowd, loss: Loss, metric: Floats, points: Floats, *, frozen: bool = False
) -> tuple[Floats, Floats]:
    """Return metric and points after two steps towards the least risk without any region.

    Parameters
    ----------
    crowd : Crowd
        The answers: of one problem, or of several resamples.
    loss : Loss
        What an answer costs. Without a second derivative, there is no step to take.
    metric : ndarray of shape (B, d, d)
        The fitted metrics.
    points : ndarray of shape (B, K / B, d)
        The fitted points.
    frozen : bool
        Leave the metric as it is.

    Returns
    -------
    metric, points : ndarray
        Symmetric matrices, not always positive semidefinite, and points.

    Examples
    --------
    >>> from crowdmetric.comparisons import Comparisons
    >>> from crowdmetric.losses import Logistic
    >>> answers = Comparisons.from_arrays([[0, 0, 1]] * 4, [1, 1, 1, -1]).answers()
    >>> crowd = Crowd.of(answers, np.array([[0.0], [1.0]]))
    >>> least = np.log(3 / 1)  # the log-odds of the answers
    >>> metric, start = np.zeros((1, 1, 1)), -np.ones((1, 1, 1))
    >>> _, points = debiased(crowd, Logistic(), metric, start, frozen=True)
    >>> bool(abs(points.item() + least) < 0.01)
    True
    """
    if not isinstance(loss, CurvedLoss):
        return metric, points
    joined = crowd.reference if frozen else joined_features(crowd.reference)
    for _ in range(_STEPS):
        margins = crowd.margins(metric, points)
        weights = crowd.share * loss.curvature(margins)
        ridge = _RIDGE * float(weights.sum() * np.square(crowd.reference).mean()) / crowd.n_users
        arrow = Arrow.of(crowd, joined, weights, (ridge, ridge))
        pull, pull_points = crowd.gradient(loss.slope(margins))
        step, step_points = arrow.solve((pull + np.swapaxes(pull, -1, -2)) / 2, pull_points)
        metric, points = metric - step, points - step_points
    return metric, points


def determined_users(crowd: Crowd) -> npt.NDArray[np.bool_]:
    """Return for each user whether the items they compared differ in every direction.

    Parameters
    ----------
    crowd : Crowd
        The answers.

    Returns
    -------
    ndarray of bool
        Where not, no answer says anything about a part of the point.

    Examples
    --------
    >>> from crowdmetric.comparisons import Comparisons
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [1, 0, 1], [1, 1, 2]], [1, 1, 1]).answers()
    >>> determined_users(Crowd.of(answers, np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])))
    array([False,  True])
    """
    table, counted = crowd.reference, crowd.share > 0
    result = np.zeros(crowd.n_users, dtype=bool)
    for user, (start, stop) in enumerate(zip(crowd.starts[:-1], crowd.starts[1:], strict=True)):
        rows = np.arange(start, stop)[counted[start:stop]]
        apart = table[crowd.up[rows]] - table[crowd.down[rows]]
        result[user] = np.linalg.matrix_rank(apart) == crowd.dimension if len(rows) else False
    return result
