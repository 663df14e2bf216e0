"""Bradley-Terry: one worth per item, the same for everybody, and no features at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Answers, Comparisons
from crowdmetric.errors import FoldsError
from crowdmetric.metrics import log_loss
from crowdmetric.solver.threads import one_thread_for_linear_algebra
from crowdmetric.splits import PairFolds

__all__ = ["BradleyTerry", "chosen_ridge", "fit_bradley_terry"]

RIDGES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
_FOLDS = 3


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """A worth for each item: left is chosen with probability expit(worth of left - of right).

    Parameters
    ----------
    worth : ndarray of shape (n,)
        The items' worths, around 0.
    gap : float
        How far the penalised risk is above the least possible, at most: the penalty makes it
        strongly convex, so that is norm(gradient)^2 / (2 ridge).

    Examples
    --------
    >>> BradleyTerry(np.array([1.0, 0.0]), 0.0).margins(Comparisons.from_arrays([[0, 0, 1]], [1]))
    array([-1.])
    """

    worth: Floats
    gap: float

    def margins(self, asked: Comparisons) -> Floats:
        """Return the worth of the right item less that of the left; negative prefers left."""
        result: Floats = self.worth[asked.right] - self.worth[asked.left]
        return result


def fit_bradley_terry(answers: Answers, ridge: float) -> BradleyTerry:
    """Minimise the negative log-likelihood + ridge / 2 * (sum of squared worths).

    Parameters
    ----------
    answers : Answers
        Of whoever gave them.
    ridge : float
        Positive: without it, an item that always wins would be worth infinitely much.

    Returns
    -------
    BradleyTerry
        The only minimiser, up to the gap.

    Examples
    --------
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [1, 0, 1], [1, 1, 0]], [-1, -1, -1]).answers()
    >>> found = fit_bradley_terry(answers, ridge=0.1)
    >>> bool(found.worth[0] > found.worth[1]), found.gap < 1e-9
    (True, True)
    """
    better = np.where(answers.sign > 0, answers.right, answers.left)
    worse = np.where(answers.sign > 0, answers.left, answers.right)
    count, total = answers.n_items, float(answers.weight.sum())

    def value_and_gradient(worth: Floats) -> tuple[float, Floats]:
        lead = worth[better] - worth[worse]
        force = answers.weight * expit(-lead)
        value = float(answers.weight @ np.logaddexp(0.0, -lead)) + 0.5 * ridge * float(
            worth @ worth
        )
        pull = np.bincount(worse, force, count) - np.bincount(better, force, count)
        return value / total, (pull + ridge * worth) / total

    with one_thread_for_linear_algebra():  # more would only wait for each other
        found = minimize(
            value_and_gradient,
            np.zeros(count),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 1000, "ftol": 1e-15, "gtol": 1e-9},
        )
    worth: npt.NDArray[np.float64] = np.asarray(found.x)
    slope = value_and_gradient(worth)[1]
    return BradleyTerry(worth, float(slope @ slope) * total / (2 * ridge))


def chosen_ridge(comparisons: Comparisons) -> float:
    """Choose the ridge by cross-validation.

    Parameters
    ----------
    comparisons : Comparisons
        What is fitted to.

    Returns
    -------
    float
        Of a few ridges the one with the least log-loss left out; 1 if nothing can be left out.

    Examples
    --------
    >>> chosen_ridge(Comparisons.from_arrays([[0, 0, 1]], [-1]))
    1.0
    """
    triples = np.column_stack([comparisons.user, comparisons.left, comparisons.right])
    try:
        folds = list(PairFolds(_FOLDS, random_state=0).split(triples.astype(np.int64)))
    except FoldsError:
        return 1.0
    return min(RIDGES, key=lambda ridge: _left_out(comparisons, folds, ridge))


def _left_out(
    comparisons: Comparisons,
    folds: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]],
    ridge: float,
) -> float:
    """Return the mean log-loss over the folds left out."""
    found = []
    for train, test in folds:
        fitted = fit_bradley_terry(comparisons.subset(train).answers(), ridge)
        asked = comparisons.subset(test)
        left = expit(-fitted.margins(asked))
        found.append(log_loss(left, asked.response, asked.weight))
    return float(np.mean(found))
