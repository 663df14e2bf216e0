"""What the features are worth: the parts that each, and each pair, has in distances.

Two items drawn at random differ, on average, by a squared distance of twice the sum of M_ij C_ij,
with C the covariance of the features. What a feature is worth alone is M_jj times its variance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crowdmetric.points import RANK_TOLERANCE

__all__ = ["effective_rank", "feature_shares", "names_of_features", "pair_shares"]

Floats = npt.NDArray[np.float64]


def feature_shares(metric: npt.ArrayLike, features: npt.ArrayLike) -> Floats:
    """Return what each feature is worth, as a share of what all are.

    Parameters
    ----------
    metric : array-like of shape (d, d)
        The metric M.
    features : array-like of shape (n, d)
        The items, in the units of the metric.

    Returns
    -------
    ndarray of shape (d,)
        M_jj times the variance of feature j, divided by the sum of these over the features; zeros
        if that sum is zero.

    Examples
    --------
    >>> feature_shares([[1.0, 0.0], [0.0, 3.0]], [[0.0, 0.0], [2.0, 2.0]])
    array([0.25, 0.75])
    """
    shares: Floats = _in_standard_deviations(metric, features).diagonal().copy()
    return shares


def pair_shares(metric: npt.ArrayLike, features: npt.ArrayLike) -> Floats:
    """Return what pairs of features add to a squared distance, in the unit of `feature_shares`.

    Parameters
    ----------
    metric : array-like of shape (d, d)
        The metric M.
    features : array-like of shape (n, d)
        The items, in the units of the metric.

    Returns
    -------
    ndarray of shape (d, d)
        Twice M_ij, times both standard deviations, over the same sum: what it adds if two items
        differ in both features by a standard deviation in the same direction. Above 0, the two
        work together; below, one makes up for the other. Zeros on the diagonal.

    Examples
    --------
    >>> pair_shares([[1.0, -0.5], [-0.5, 1.0]], [[0.0, 0.0], [2.0, 2.0]])
    array([[ 0. , -0.5],
           [-0.5,  0. ]])
    """
    pairs = 2.0 * _in_standard_deviations(metric, features)
    np.fill_diagonal(pairs, 0.0)
    return pairs


def effective_rank(metric: npt.ArrayLike) -> float:
    """Return how many directions a metric measures, those that hardly count counting little.

    Parameters
    ----------
    metric : array-like of shape (d, d)
        The metric M.

    Returns
    -------
    float
        The exponential of the entropy of the eigenvalues' shares (Roy and Vetterli, 2007): r for r
        equal eigenvalues; 0 for a metric of zeros.

    Examples
    --------
    >>> effective_rank([[2.0, 0.0], [0.0, 0.0]]), round(effective_rank([[2.0, 0.0], [0.0, 2.0]]), 6)
    (1.0, 2.0)
    """
    values = np.linalg.eigvalsh(np.asarray(metric, dtype=np.float64))
    positive = values[values > RANK_TOLERANCE * values[-1]]
    if not len(positive):
        return 0.0
    shares = positive / positive.sum()
    return float(np.exp((shares * np.log(1.0 / shares)).sum()))


def names_of_features(names: Sequence[str], dimension: int) -> list[str]:
    """Return names for the rows of the metric: the items' own, or numbers where these do not fit.

    Parameters
    ----------
    names : sequence of str
        The names of the items' features.
    dimension : int
        How many features the metric has; a feature map may give more, or fewer.

    Returns
    -------
    list of str
        One for each.

    Examples
    --------
    >>> names_of_features(["price", "comfort"], 2), names_of_features(["price"], 2)
    (['price', 'comfort'], ['z0', 'z1'])
    """
    return list(names) if len(names) == dimension else [f"z{j}" for j in range(dimension)]


def _in_standard_deviations(metric: npt.ArrayLike, features: npt.ArrayLike) -> Floats:
    """Return the metric in units of the features' standard deviations, with a trace of 1 (or 0)."""
    spread = np.asarray(features, dtype=np.float64).std(axis=0)
    scaled: Floats = np.asarray(metric, dtype=np.float64) * np.outer(spread, spread)
    return scaled / (float(scaled.trace()) or 1.0)
