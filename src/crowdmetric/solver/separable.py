"""Answers that can be explained perfectly, so that a logistic or probit risk has no minimum."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crowdmetric.crowd import Crowd

__all__ = ["separable"]


def separable(
    crowd: Crowd, margins: npt.NDArray[np.float64], points: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    """Return for which problems the point at hand shows that there is no best one.

    If all margins of a problem have the right sign, growing M and V together makes every answer
    cheaper for ever. If the points alone give one user's margins the right sign, growing that
    user's point does.

    Parameters
    ----------
    crowd : Crowd
        The answers, in float64.
    margins : ndarray of shape (m,)
        z of every answer at a feasible point.
    points : ndarray of shape (B, K / B, d)
        Its V.

    Returns
    -------
    ndarray of bool, shape (B,)
        True is proof; False is not.
    """
    counts = crowd.share > 0
    together = _all_positive(margins, crowd.problem, counts, crowd.n_problems)
    together &= np.bincount(crowd.problem, counts, minlength=crowd.n_problems) > 0
    d = crowd.dimension
    by_points = crowd.margins(np.zeros((crowd.n_problems, d, d)), points)
    alone = _all_positive(by_points, crowd.user, counts, crowd.n_users)
    answered = np.bincount(crowd.user, counts, minlength=crowd.n_users) > 0
    some_user = (alone & answered).reshape(crowd.n_problems, -1).any(axis=1)
    result: npt.NDArray[np.bool_] = together | some_user
    return result


def _all_positive(
    margins: npt.NDArray[np.float64],
    group: npt.NDArray[np.integer],
    counts: npt.NDArray[np.bool_],
    n_groups: int,
) -> npt.NDArray[np.bool_]:
    """Return for each group whether all margins that count are positive."""
    wrong = np.bincount(group, (margins <= 0) & counts, minlength=n_groups)
    result: npt.NDArray[np.bool_] = wrong == 0
    return result
