"""Figures of merit: how well answers are predicted, and how near an estimate is to the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric.errors import DataError, SettingError

__all__ = [
    "Reliability",
    "accuracy",
    "accuracy_by_user",
    "log_loss",
    "relative_ideal_point_error",
    "relative_metric_error",
    "relative_pseudo_point_error",
    "reliability",
]

Floats = npt.NDArray[np.float64]


def accuracy(
    margins: npt.ArrayLike, response: npt.ArrayLike, weight: npt.ArrayLike | None = None
) -> float:
    """Return the share of answers whose side is predicted; a tie counts as half right.

    Parameters
    ----------
    margins : array-like of shape (m,)
        Score of the left item less that of the right; negative predicts left.
    response : array-like of shape (m,)
        -1: left preferred; 1: right preferred; 0: a tie.
    weight : array-like of shape (m,), optional
        How much each answer counts.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> accuracy([-2.0, 0.5, 1.0], [-1, -1, 1]) == 2 / 3
    True
    """
    return _mean(_correct(margins, response), weight)


def accuracy_by_user(
    margins: npt.ArrayLike,
    response: npt.ArrayLike,
    user: npt.ArrayLike,
    weight: npt.ArrayLike | None = None,
) -> Floats:
    """Return the accuracy for each user; nan for a user without answers.

    Parameters
    ----------
    margins : array-like of shape (m,)
        Score of the left item less that of the right; negative predicts left.
    response : array-like of shape (m,)
        -1: left preferred; 1: right preferred; 0: a tie.
    user : array-like of int, shape (m,)
        The user's code in each row, counted from 0.
    weight : array-like of shape (m,), optional
        How much each answer counts.

    Returns
    -------
    ndarray of shape (K,)
        One accuracy for each code from 0 to the largest.

    Examples
    --------
    >>> accuracy_by_user([-2.0, 0.5, 1.0], [-1, -1, 1], [0, 0, 1])
    array([0.5, 1. ])
    """
    correct = _correct(margins, response)
    codes = np.asarray(user)
    counts = _weights(weight, len(correct))
    right, all_answers = np.bincount(codes, correct * counts), np.bincount(codes, counts)
    share = np.full(len(right), np.nan)
    np.divide(right, all_answers, out=share, where=all_answers > 0)
    return share


def log_loss(
    probability_left: npt.ArrayLike,
    response: npt.ArrayLike,
    weight: npt.ArrayLike | None = None,
) -> float:
    """Return the mean negative log-likelihood of the answers; a tie is half of either answer.

    Probabilities of exactly 0 and 1 are moved inwards by one part in 2^52, so that a single
    overconfident prediction costs much but not everything.

    Parameters
    ----------
    probability_left : array-like of shape (m,)
        Predicted probability that left is preferred.
    response : array-like of shape (m,)
        -1: left preferred; 1: right preferred; 0: a tie.
    weight : array-like of shape (m,), optional
        How much each answer counts.

    Returns
    -------
    float
        In nats; log(2) for guessing.

    Examples
    --------
    >>> print(f"{log_loss([0.5, 0.5], [-1, 1]):.6f}")
    0.693147
    """
    left, answers = _pair(probability_left, response, "probabilities", "responses")
    edge = np.finfo(np.float64).eps
    left = np.clip(left, edge, 1 - edge)
    return _mean(-0.5 * ((1 - answers) * np.log(left) + (1 + answers) * np.log1p(-left)), weight)


@dataclass(frozen=True, eq=False)
class Reliability:
    """How often "left" was the answer, beside how probable it was said to be.

    Parameters
    ----------
    predicted : ndarray of shape (number of bins,)
        The mean predicted probability of left in each bin that has answers.
    observed : ndarray of shape (number of bins,)
        The share of left among the bin's answers; a tie is half.
    weight : ndarray of shape (number of bins,)
        The total weight of the bin's answers: their number, if all count alike.

    Examples
    --------
    >>> table = Reliability(np.array([0.2, 0.9]), np.array([0.3, 0.9]), np.array([50.0, 150.0]))
    >>> print(f"{table.error:.3f}")
    0.025
    """

    predicted: Floats
    observed: Floats
    weight: Floats

    @property
    def error(self) -> float:
        """The expected calibration error: how far apart the two are, averaged over all answers.

        Chance alone makes it positive: with m answers in B bins, about 0.4 sqrt(B / m) at most.

        Examples
        --------
        >>> Reliability(np.array([0.5]), np.array([0.5]), np.array([10.0])).error
        0.0
        """
        return _mean(np.abs(self.predicted - self.observed), self.weight)


def reliability(
    probability_left: npt.ArrayLike,
    response: npt.ArrayLike,
    weight: npt.ArrayLike | None = None,
    bins: int = 10,
) -> Reliability:
    """Compare predicted probabilities with what was answered, in bins of equal width.

    Parameters
    ----------
    probability_left : array-like of shape (m,)
        Predicted probability that left is preferred.
    response : array-like of shape (m,)
        -1: left preferred; 1: right preferred; 0: a tie.
    weight : array-like of shape (m,), optional
        How much each answer counts.
    bins : int
        Into how many the probabilities from 0 to 1 are sorted; empty ones are left out.

    Returns
    -------
    Reliability
        The bins, in ascending order, and the expected calibration error.

    Examples
    --------
    >>> table = reliability([0.1, 0.1, 0.8, 0.8], [1, 1, -1, 1], bins=2)
    >>> table.predicted, table.observed
    (array([0.1, 0.8]), array([0. , 0.5]))
    """
    if bins < 1:
        raise SettingError(f"bins must be at least 1, not {bins}")
    left, answers = _pair(probability_left, response, "probabilities", "responses")
    counts = _weights(weight, len(left))
    place = np.clip(np.floor(left * bins).astype(np.intp), 0, bins - 1)
    total, said, meant = (
        np.bincount(place, values, minlength=bins).astype(np.float64)
        for values in (counts, counts * (1 - answers) / 2, counts * left)
    )
    used = total > 0
    if not used.any():
        raise DataError("there are no answers of positive weight to average over")
    return Reliability(meant[used] / total[used], said[used] / total[used], total[used])


def relative_metric_error(estimate: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """Return the distance of the estimated metric from the true one, in units of the true norm.

    Parameters
    ----------
    estimate, truth : array-like of shape (d, d)
        Two metrics.

    Returns
    -------
    float
        Frobenius norm of the difference over that of the truth.

    Examples
    --------
    >>> relative_metric_error([[1.0, 0.0], [0.0, 0.0]], [[2.0, 0.0], [0.0, 0.0]])
    0.5
    """
    return _relative_error(estimate, truth, "metric")


def relative_pseudo_point_error(estimate: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """Return the distance of the estimated v_k from the true ones, in units of the true norm.

    Parameters
    ----------
    estimate, truth : array-like of shape (K, d)
        Pseudo-ideal points, one row per user.

    Returns
    -------
    float
        Frobenius norm of the difference over that of the truth.

    Examples
    --------
    >>> relative_pseudo_point_error([[3.0, 0.0]], [[2.0, 0.0]])
    0.5
    """
    return _relative_error(estimate, truth, "pseudo-ideal points")


def relative_ideal_point_error(
    estimate: npt.ArrayLike, truth: npt.ArrayLike, metric: npt.ArrayLike
) -> float:
    """Return the distance of the estimated u_k from what can be known of the true ones.

    Answers say nothing about the part of u_k that the true metric M sends to zero, so the
    reference is pinv(M) M u_k, the projection of u_k on the range of M.

    Parameters
    ----------
    estimate, truth : array-like of shape (K, d)
        Ideal points, one row per user.
    metric : array-like of shape (d, d)
        The true metric.

    Returns
    -------
    float
        Frobenius norm of the difference over that of the projected truth.

    Examples
    --------
    >>> flat = [[1.0, 0.0], [0.0, 0.0]]
    >>> relative_ideal_point_error([[2.0, 0.0]], [[2.0, 9.0]], flat)
    0.0
    """
    true_metric = np.asarray(metric, dtype=np.float64)
    points = np.asarray(truth, dtype=np.float64)
    if true_metric.shape != (points.shape[-1], points.shape[-1]):
        raise DataError(
            f"the metric of {points.shape[-1]} features must be square of that size, "
            f"but its shape is {true_metric.shape}"
        )
    values, vectors = np.linalg.eigh(true_metric)
    threshold = len(values) * np.finfo(np.float64).eps * np.abs(values).max()
    basis = vectors[:, np.abs(values) > threshold]
    return _relative_error(estimate, points @ basis @ basis.T, "ideal points")


def _correct(margins: npt.ArrayLike, response: npt.ArrayLike) -> Floats:
    """Return 1 for each answer predicted, 0 for each missed, 1/2 for each tie."""
    delta, answers = _pair(margins, response, "margins", "responses")
    return 0.5 * (1 + answers * np.where(delta < 0, -1.0, 1.0))


def _pair(
    first: npt.ArrayLike, second: npt.ArrayLike, first_name: str, second_name: str
) -> tuple[Floats, Floats]:
    """Return both as float arrays of one shape."""
    left, right = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if left.shape != right.shape:
        raise DataError(
            f"the {first_name} have shape {left.shape} and the {second_name} {right.shape}; "
            "they must be alike"
        )
    return left, right


def _weights(weight: npt.ArrayLike | None, count: int) -> Floats:
    """Return one weight per answer, 1 when none are given."""
    if weight is None:
        return np.ones(count)
    weights = np.asarray(weight, dtype=np.float64)
    if weights.shape != (count,):
        raise DataError(f"there are {count} answers but weights of shape {weights.shape}")
    return weights


def _mean(values: Floats, weight: npt.ArrayLike | None) -> float:
    """Return the weighted mean of one value per answer."""
    weights = _weights(weight, len(values))
    total = float(weights.sum())
    if total <= 0:
        raise DataError("there are no answers of positive weight to average over")
    return float(values @ weights) / total


def _relative_error(estimate: npt.ArrayLike, truth: npt.ArrayLike, what: str) -> float:
    """Return the Frobenius norm of the difference over that of the truth."""
    found, true = _pair(estimate, truth, f"estimated {what}", f"true {what}")
    size = float(np.linalg.norm(true))
    if size == 0:
        raise DataError(f"the true {what} are all zero, so no error is relative to them")
    return float(np.linalg.norm(found - true)) / size
