"""Fits with a side bias: some people mostly answer "left", and that is not their taste."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from crowdmetric.certificate import Certificate
from crowdmetric.checks import Floats
from crowdmetric.comparisons import Answers, Comparisons, Items, Ties
from crowdmetric.estimator.inputs import as_comparisons
from crowdmetric.features import FeatureMap, feature_map
from crowdmetric.losses import Link, Logistic, Loss
from crowdmetric.model import Model
from crowdmetric.model.lookup import comparison_codes
from crowdmetric.problem import Problem
from crowdmetric.regions import Region
from crowdmetric.solver import solve
from crowdmetric.trust.answers_region import Sharing, SideRegion, with_side

__all__ = ["SidedModel", "default_limit", "fit_with_side", "sided_problem"]

_MOST_ONE_SIDED = 0.98  # the share of one side that the largest bias makes of a toss-up
_HALF = 0.5  # what the side adds to the feature of an item, one way or the other


@dataclass(frozen=True, eq=False)
class SidedModel:
    """A model, and what the side on which an item is shown adds to each user's margins.

    Parameters
    ----------
    model : Model
        Metric and points, cleared of the side: rankings and ideal points come from here. Its
        certificate is that of the whole fit, the bias included.
    bias : ndarray of shape (K,)
        Added to every margin of a user: negative pulls to the left, positive to the right.
    problem : Problem
        What was solved: `crowdmetric.certificate.recheck` takes it with `metric` and `points`.

    Examples
    --------
    >>> import crowdmetric as cm
    >>> crowd = cm.simulate(n_items=20, dimension=2, n_users=3, pairs_per_user=40, noise=4.0)
    >>> fit = fit_with_side(crowd.comparisons, crowd.items, cm.regions.NuclearFull(5.0))
    >>> fit.certificate.converged, fit.predict(crowd.test).shape
    (True, (900,))
    """

    model: Model
    bias: Floats
    problem: Problem

    @property
    def certificate(self) -> Certificate:
        """How near the risk is to the least possible with any metric, points and bias."""
        return self.model.certificate

    @property
    def metric(self) -> Floats:
        """The metric of `problem`, with the side's row and column of zeros."""
        return np.pad(self.model.metric, (0, 1))

    @property
    def points(self) -> Floats:
        """The points of `problem`, with the bias as their last number."""
        return np.column_stack([self.model.points, self.bias])

    def margins(self, comparisons: Comparisons) -> Floats:
        """Return the margins, bias included; negative predicts left.

        Parameters
        ----------
        comparisons : Comparisons
            Questions to the model's users; the responses are not looked at.

        Returns
        -------
        ndarray of shape (m,)
            delta + b of each question.

        Examples
        --------
        >>> import crowdmetric as cm
        >>> answers = cm.Comparisons.from_arrays([[0, 0, 1], [0, 1, 0]], [-1, -1])
        >>> items = cm.Items.from_arrays([[0.0], [1.0]])
        >>> fit = fit_with_side(answers, items, cm.regions.NuclearFull(1.0))
        >>> bool((fit.margins(answers) < 0).all())
        True
        """
        user, _, _ = comparison_codes(comparisons, self.model.known_users, self.model.items)
        result: Floats = self.model.margins(comparisons) + self.bias[user]
        return result

    def predict(self, comparisons: Comparisons) -> npt.NDArray[np.int8]:
        """Return the answer that is expected: -1 left, 1 right.

        Parameters
        ----------
        comparisons : Comparisons
            As in `margins`.

        Returns
        -------
        ndarray of shape (m,)
            One side for each question.

        Examples
        --------
        >>> import crowdmetric as cm
        >>> answers = cm.Comparisons.from_arrays([[0, 0, 1], [0, 1, 0]], [-1, -1])
        >>> items = cm.Items.from_arrays([[0.0], [1.0]])
        >>> fit_with_side(answers, items, cm.regions.NuclearFull(1.0)).predict(answers)
        array([-1, -1], dtype=int8)
        """
        return np.where(self.margins(comparisons) < 0, -1, 1).astype(np.int8)

    def predict_proba(self, comparisons: Comparisons) -> Floats:
        """Return how probable left and right are.

        Parameters
        ----------
        comparisons : Comparisons
            As in `margins`.

        Returns
        -------
        ndarray of shape (m, 2)
            The probabilities of left and of right.

        Examples
        --------
        >>> import crowdmetric as cm
        >>> answers = cm.Comparisons.from_arrays([[0, 0, 1], [0, 1, 0]], [-1, -1])
        >>> items = cm.Items.from_arrays([[0.0], [1.0]])
        >>> fit = fit_with_side(answers, items, cm.regions.NuclearFull(1.0))
        >>> fit.predict_proba(answers).round(2)
        array([[0.98, 0.02],
               [0.98, 0.02]])
        """
        return self.model.probabilities(self.margins(comparisons))


def fit_with_side(
    comparisons: Comparisons,
    items: Items,
    region: Region,
    loss: Loss | None = None,
    *,
    sharing: Sharing = "person",
    limit: float | None = None,
    features: str | FeatureMap = "raw",
    ties: Ties = "half",
    tol: float = 1e-6,
    threads: int = 1,
) -> SidedModel:
    """Fit metric, points and side bias together, with one certificate for all three.

    Parameters
    ----------
    comparisons : Comparisons
        The answers; left and right as they were shown.
    items : Items
        The items compared.
    region : Region
        Where metric and points may live; any region with a radius.
    loss : Loss, optional
        ``losses.Logistic()`` when not given.
    sharing : {"person", "shared"}
        One bias for each person, or one for all.
    limit : float, optional
        The largest bias, in units of the margins. When not given: the one that makes a toss-up 98%
        left, or 98% right.
    features, ties, tol, threads
        As in `CrowdMetric`.

    Returns
    -------
    SidedModel
        With the bias of each user.

    Examples
    --------
    >>> import crowdmetric as cm
    >>> crowd = cm.simulate(n_items=20, dimension=2, n_users=3, pairs_per_user=40, noise=4.0)
    >>> fit = fit_with_side(crowd.comparisons, crowd.items, cm.regions.NuclearFull(5.0))
    >>> fit.bias.shape, fit.certificate.gap <= 1e-6
    ((3,), True)
    """
    data = as_comparisons(comparisons, None, None, items, None)
    cost = Logistic() if loss is None else loss
    fitted = feature_map(features).fit(items.features, items.names)
    x = fitted.transform(items.features)
    whole = with_side(region, sharing, default_limit(cost) if limit is None else limit)
    problem = sided_problem(data.answers(ties), x, cost, whole)
    found = solve(problem, tol=tol, threads=threads)
    model = Model(
        found.metric[:-1, :-1], found.points[:, :-1], data.users, items, fitted, cost, region,
        found.certificate,
    )  # fmt: skip
    return SidedModel(model, found.points[:, -1].copy(), problem)


def sided_problem(answers: Answers, features: Floats, loss: Loss, region: SideRegion) -> Problem:
    """Return the problem of metric, points and bias: every item twice, once for each side.

    Parameters
    ----------
    answers : Answers
        The answers, ties resolved.
    features : ndarray of shape (n, d)
        The items, in the units of the metric.
    loss : Loss
        What an answer costs.
    region : SideRegion
        From `with_side`.

    Returns
    -------
    Problem
        With 2 n items of d + 1 features; item i on the right is item n + i.

    Examples
    --------
    >>> from crowdmetric.regions import NuclearFull
    >>> answers = Comparisons.from_arrays([[0, 0, 1]], [-1]).answers()
    >>> region = with_side(NuclearFull(1.0), "person", 1.0)
    >>> sided_problem(answers, np.eye(2), Logistic(), region).features[[0, 3]]
    array([[ 1. ,  0. ,  0.5],
           [ 0. ,  1. , -0.5]])
    """
    count = len(features)
    side = np.repeat([_HALF, -_HALF], count)
    twice = np.column_stack([np.tile(features, (2, 1)), side])
    shown = replace(answers, right=answers.right + np.int32(count), n_items=2 * count)
    return Problem(shown, twice, loss, region)


def default_limit(loss: Loss) -> float:
    """Return the bias that makes a toss-up 98% one side; 1 for a loss without probabilities.

    Parameters
    ----------
    loss : Loss
        What an answer costs.

    Returns
    -------
    float
        In units of the margins.

    Examples
    --------
    >>> round(default_limit(Logistic(scale=2.0)), 2)
    1.95
    """
    if not isinstance(loss, Link):
        return 1.0  # as far as a hinge sees
    high = 1.0
    while loss.probability(np.array([high]))[0] < _MOST_ONE_SIDED:
        high *= 2
    found = brentq(lambda b: float(loss.probability(np.array([b]))[0]) - _MOST_ONE_SIDED, 0.0, high)
    return float(found)
