"""The paper's bounds on recovery: how far M and V are from the truth (section 4, its appendix).

Answers are random with a link f, and fitted by maximum likelihood over a region that holds the
truth. Then excess risk is a mean of Kullback-Leibler divergences, which bound the squared errors
of margins, which bound the squared errors of M and V: lem:lower_bound_for_recovery. So each bound
on excess risk becomes one on the squared error

    norm_F(M - M*)^2 + mean over k of norm(v_k - v_k*)^2
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from crowdmetric.checks import Floats
from crowdmetric.errors import DataError
from crowdmetric.losses import Link, Loss
from crowdmetric.planning.rates import RateBound

__all__ = [
    "Likelihood",
    "divergence",
    "margin_error_bound",
    "metric_visibility",
    "quadratic_features",
    "recovery_bound",
]


class Likelihood(Link, Loss, Protocol):
    """A loss that is minus the log-likelihood of random answers, such as `Logistic` and `Probit`.

    Examples
    --------
    >>> from crowdmetric.losses import Probit
    >>> loss: Likelihood = Probit()
    >>> print(f"{loss.lipschitz_within(1.0):.3f} {loss.probability_slope_floor(1.0):.3f}")
    1.525 0.242
    """


def quadratic_features(features: Floats) -> Floats:
    """Return [X_otimes', X']: for each item the products of its features, then its features.

    Parameters
    ----------
    features : ndarray of shape (n, d)
        One row per item.

    Returns
    -------
    ndarray of shape (n, D + d)
        The products in the order of the upper triangle, row by row; D = d (d + 1) / 2.

    Examples
    --------
    >>> quadratic_features(np.array([[2.0, 3.0]]))
    array([[4., 6., 9., 2., 3.]])
    """
    row, column = np.triu_indices(features.shape[1])
    return np.hstack([features[:, row] * features[:, column], features])


def metric_visibility(features: Floats) -> float:
    """Return sigma_min(J [X_otimes', X'])^2 / n: how well these items tell metrics apart.

    J takes the mean over items off. The square is the least mean squared score, about its mean,
    of a change of unit length in (nu(M), v); all pairs together see twice as much.

    Parameters
    ----------
    features : ndarray of shape (n, d)
        One row per item.

    Returns
    -------
    float
        0 if some change of metric and point cannot be seen in any comparison, as always when
        there are fewer than D + d + 1 items.

    Examples
    --------
    >>> print(f"{metric_visibility(np.array([[-1.0], [0.0], [1.0]])):.6f}")
    0.222222
    >>> metric_visibility(np.eye(3))
    0.0
    """
    table = quadratic_features(features)
    count, columns = table.shape
    if count <= columns:
        return 0.0
    values = np.linalg.svd(table - table.mean(axis=0), compute_uv=False)
    tiny = count * np.finfo(np.float64).eps * values[0]
    return float(values[-1] ** 2 / count) if values[-1] > tiny else 0.0


def divergence(link: Likelihood, true_margins: Floats, margins: Floats) -> Floats:
    """Return the Kullback-Leibler divergence of predicted answers from random true ones.

    Its mean over users and pairs is the excess risk of maximum likelihood. It is at least
    2 C_f^2 times the squared difference of the margins (prop:taylor_KL_lower_bound).

    Parameters
    ----------
    link : Likelihood
        `Logistic`, `Probit`, or one of your own.
    true_margins, margins : ndarray
        The true margins delta*, and those of an estimate.

    Returns
    -------
    ndarray
        One number per margin, never negative but for rounding.

    Examples
    --------
    >>> from crowdmetric.losses import Logistic
    >>> print(divergence(Logistic(), np.array([0.0]), np.array([0.0, 1.0])).round(4))
    [0.     0.1201]
    """
    right = link.probability(true_margins)
    if_right = link.value(margins) - link.value(true_margins)
    if_left = link.value(-margins) - link.value(-true_margins)
    result: Floats = right * if_right + link.probability(-true_margins) * if_left
    return result


def margin_error_bound(excess: float, link: Link, margin_bound: float) -> float:
    """Bound the mean squared error of margins by the excess risk (prop:taylor_KL_lower_bound).

    Parameters
    ----------
    excess : float
        The excess risk.
    link : Link
        The link of answers and loss.
    margin_bound : float
        The bound gamma on all margins, true and estimated.

    Returns
    -------
    float
        excess / (2 C_f^2), with C_f the least slope of the link over those margins.

    Examples
    --------
    >>> from crowdmetric.losses import Logistic
    >>> print(f"{margin_error_bound(0.01, Logistic(), 2.0):.3f}")
    0.454
    """
    return excess / (2 * link.probability_slope_floor(margin_bound) ** 2)


def recovery_bound(risk: RateBound, features: Floats, link: Link, margin_bound: float) -> RateBound:
    """Bound the squared error of M and V (thm:recovery_full_rank, thm:recovery_low_rank).

    Parameters
    ----------
    risk : RateBound
        The bound on the excess risk: `frobenius_risk_bound` for the first theorem,
        `nuclear_risk_bound` for the second, with L over the margin bound.
    features : ndarray of shape (n, d)
        The items, one row each.
    link : Link
        The link of answers and loss.
    margin_bound : float
        The bound gamma on all margins.

    Returns
    -------
    RateBound
        The bound on norm_F(M - M*)^2 + mean of norm(v_k - v_k*)^2, holding as often as that on
        the risk.

    Raises
    ------
    DataError
        If the items cannot tell all metrics apart.

    Examples
    --------
    >>> from crowdmetric.losses import Logistic
    >>> from crowdmetric.planning.bounds import frobenius_risk_bound
    >>> items = np.array([[-1.0], [-0.5], [0.0], [0.5], [1.0]])
    >>> risk = frobenius_risk_bound(1, 10, radius=1.0, point_radius=1.0, margin_bound=2.0)
    >>> error = recovery_bound(risk, items, Logistic(), margin_bound=2.0)
    >>> print(f"{error.at(1e6):.0f} {error.at(1e12):.3f}")
    9 0.009
    """
    visible = metric_visibility(features)
    if visible == 0:
        count, dimension = features.shape
        needed = dimension * (dimension + 1) // 2 + dimension + 1
        remedy = (
            f"take at least {needed} items, there are {count}"
            if count < needed
            else "take items whose features and their products are not in one hyperplane"
        )
        raise DataError(
            "these items cannot tell all metrics apart (sigma_min is 0), so that no number of "
            f"answers bounds the error; {remedy}"
        )
    slope = link.probability_slope_floor(margin_bound)
    if slope**2 == 0:
        raise DataError(
            f"with margins up to {margin_bound:g}, some answers are certain (C_f is 0), so that "
            "no number of answers bounds the error; take a smaller margin bound"
        )
    return risk.scaled(1 / (4 * slope**2 * visible))
