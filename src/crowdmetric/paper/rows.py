"""What a trial measures: rows of a method, a number of pairs, a measure and its value."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from crowdmetric import metrics
from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons
from crowdmetric.model.scoring import margins
from crowdmetric.problem import Problem
from crowdmetric.solver import Solution, solve

__all__ = ["MEASURES", "Row", "fit", "labelled", "predictions"]

MEASURES = (
    "accuracy",
    "worst_user_accuracy",
    "metric_error",
    "ideal_point_error",
    "pseudo_point_error",
    "risk",
    "gap",
    "converged",
    "separable",
    "seconds",
)
"""What a row may measure; `converged` and `separable` are 1 or 0. There may be more."""

Row = tuple[str, int, str, float]


def labelled(method: str, pairs: int, measures: Mapping[str, float]) -> list[Row]:
    """Return a row for each measure.

    Parameters
    ----------
    method : str
        Who made the fit.
    pairs : int
        Training pairs per user.
    measures : mapping
        Values by name.

    Returns
    -------
    list of Row
        In the order of the mapping.

    Examples
    --------
    >>> labelled("oracle", 5, {"accuracy": 0.75})
    [('oracle', 5, 'accuracy', 0.75)]
    """
    return [(method, pairs, name, float(value)) for name, value in measures.items()]


def fit(
    problem: Problem, tol: float, start: Solution | None = None
) -> tuple[Solution, dict[str, float]]:
    """Solve a problem, and say how that went.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    tol : float
        The gap to reach.
    start : Solution, optional
        The fit to somewhat fewer answers, which is a good place to start.

    Returns
    -------
    Solution
        The fit.
    dict
        Its risk, gap and seconds, and whether it converged or its answers are separable: not
        to converge is a result here, and no reason for a warning.

    Examples
    --------
    >>> from crowdmetric.losses import Logistic
    >>> from crowdmetric.regions import PSDOnly
    >>> answers = Comparisons.from_arrays([[0, 0, 1]], [-1]).answers()
    >>> fit(Problem(answers, np.eye(2), Logistic(), PSDOnly()), 1e-6)[1]["separable"]
    1.0
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        solution = solve(problem, tol=tol, start=start)
    certificate = solution.certificate
    return solution, {
        "risk": certificate.risk,
        "gap": certificate.gap,
        "converged": float(certificate.converged),
        "separable": float(certificate.status == "separable"),
        "seconds": certificate.seconds,
    }


def predictions(
    metric: Floats, points: Floats, features: Floats, test: Comparisons
) -> dict[str, float]:
    """Return the accuracy on test answers, and that of the user who fares worst.

    Parameters
    ----------
    metric : ndarray of shape (d, d) or (K, d, d)
        The metric, or one per user.
    points : ndarray of shape (K, d)
        The points v_k.
    features : ndarray of shape (n, d)
        The items.
    test : Comparisons
        The answers to predict.

    Returns
    -------
    dict
        "accuracy" and "worst_user_accuracy".

    Examples
    --------
    >>> test = Comparisons.from_arrays([[0, 0, 1], [1, 0, 1]], [-1, 1])
    >>> predictions(np.zeros((2, 2)), np.array([[-1.0, 0.0]] * 2), np.eye(2), test)
    {'accuracy': 0.5, 'worst_user_accuracy': 0.0}
    """
    delta = margins(metric, points, features, test.user, test.left, test.right)
    by_user = metrics.accuracy_by_user(delta, test.response, test.user)
    return {
        "accuracy": metrics.accuracy(delta, test.response),
        "worst_user_accuracy": float(np.nanmin(by_user)),
    }
