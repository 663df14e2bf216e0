"""CrowdMetric: fit one region, given its radii."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from crowdmetric.certificate import Certificate
from crowdmetric.comparisons import Comparisons, Items, Ties
from crowdmetric.estimator.answering import Answering
from crowdmetric.estimator.inputs import (
    as_comparisons,
    as_items,
    as_loss,
    as_precision,
    as_region,
)
from crowdmetric.features import FeatureMap, feature_map
from crowdmetric.losses import Loss
from crowdmetric.model import Model
from crowdmetric.problem import Problem
from crowdmetric.regions import Region
from crowdmetric.solver import ProgressLine, Solution, solve
from crowdmetric.solver.progress import Callback, Progress
from crowdmetric.solver.solving import MOST_ITERATIONS

__all__ = ["CrowdMetric"]

Floats = npt.NDArray[np.float64]


class CrowdMetric(Answering, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learn a metric that a crowd shares, and an ideal point for each user, over a region.

    Parameters
    ----------
    items : Items or array-like of shape (n, d)
        The items, one row of features each.
    region : Region
        Where the metric and the points may live, for example ``regions.NuclearFull(10.0)``. To
        have the radius chosen, use `CrowdMetricCV`.
    loss : Loss or str, optional
        What an answer costs, or the name of it; ``losses.Logistic()`` when not given.
    features : {"raw", "center", "standardize", "unit-ball"} or FeatureMap
        What is done to the features first; fitted to the items and kept in the model.
    ties : {"half", "drop"}
        A tie becomes one answer each way at half its weight, or is left out.
    single : bool
        Fit each user alone, with a metric of their own.
    users : int or sequence of hashable, optional
        How many users there are, or their ids in the order of their numbers; needed only where
        the last ones may have no answers. Comparisons hold their own.
    tol : float
        The certified gap at which to stop.
    max_iterations : int
        When to give up; a warning and `certificate_.status` say so.
    threads : int
        How many threads share the loops over answers.
    dtype : {"float64", "float32"}
        The precision of those loops.
    warm_start : bool
        Start from the previous fit, if there is one of the same shape.
    progress : bool
        Show a line of progress on standard error.
    callback : callable, optional
        Called with a `Progress` now and then; stops the fit by returning True, with a warning.

    Attributes
    ----------
    metric_ : ndarray of shape (d, d), or (K, d, d) if single
        The metric M.
    points_ : ndarray of shape (K, d)
        The pseudo-ideal points v_k.
    ideal_points_ : ndarray of shape (K, d)
        The ideal points u_k, from the exact pseudo-inverse.
    certificate_ : Certificate
        How good the fit is.
    model_ : Model
        All of it, with ids: what to save, and to ask everything else.
    classes_ : ndarray
        The answers that are predicted, -1 (left) and 1 (right).

    Examples
    --------
    >>> import crowdmetric as cm
    >>> crowd = cm.simulate(n_items=30, dimension=3, n_users=4, noise=4.0)
    >>> fit = CrowdMetric(crowd.items, cm.regions.NuclearFull(8.0)).fit(crowd.comparisons)
    >>> fit.certificate_.converged, fit.metric_.shape, fit.points_.shape
    (True, (3, 3), (4, 3))
    >>> fit.predict([[0, 1, 2]]) in (-1, 1)
    True
    """

    def __init__(
        self,
        items: Items | npt.ArrayLike | None = None,
        region: Region | None = None,
        loss: Loss | str | None = None,
        *,
        features: str | FeatureMap = "raw",
        ties: Ties = "half",
        single: bool = False,
        users: int | Sequence[Hashable] | None = None,
        tol: float = 1e-6,
        max_iterations: int = MOST_ITERATIONS,
        threads: int = 1,
        dtype: str = "float64",
        warm_start: bool = False,
        progress: bool = False,
        callback: Callback | None = None,
    ) -> None:
        """Keep the settings; `fit` checks them."""
        self.items = items
        self.region = region
        self.loss = loss
        self.features = features
        self.ties = ties
        self.single = single
        self.users = users
        self.tol = tol
        self.max_iterations = max_iterations
        self.threads = threads
        self.dtype = dtype
        self.warm_start = warm_start
        self.progress = progress
        self.callback = callback

    def fit(
        self,
        T: Comparisons | npt.ArrayLike,
        y: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Fit the metric and the points.

        Parameters
        ----------
        T : array-like of int, shape (m, 3), or Comparisons
            User, left item and right item of each comparison, as row numbers; the items of
            Comparisons are matched by their ids.
        y : array-like of shape (m,), optional
            -1: left preferred; 1: right preferred; 0: a tie. Comparisons hold their own.
        sample_weight : array-like of shape (m,), optional
            How much each answer counts; takes the place of the weights of Comparisons.

        Returns
        -------
        CrowdMetric
            The estimator itself.

        Examples
        --------
        >>> from crowdmetric.regions import NuclearFull
        >>> fit = CrowdMetric(np.eye(3), NuclearFull(1.0)).fit([[0, 0, 1], [1, 1, 2]], [-1, 1])
        >>> fit.points_.shape
        (2, 3)
        """
        region = as_region(self.region)
        items, comparisons = self._read(T, y, sample_weight)
        data = Data(items, comparisons, feature_map(self.features).fit(items.features, items.names))
        self._solve(data, self._problem(data, region))
        return self

    def _read(
        self,
        T: Comparisons | npt.ArrayLike,
        y: npt.ArrayLike | None,
        sample_weight: npt.ArrayLike | None,
    ) -> tuple[Items, Comparisons]:
        """Check what is fitted to."""
        items = as_items(self.items)
        return items, as_comparisons(T, y, sample_weight, items, self.users)

    def _problem(self, data: Data, region: Region) -> Problem:
        """Return what to solve."""
        return Problem(
            data.comparisons.answers(self.ties),
            data.features.transform(data.items.features),
            as_loss(self.loss),
            region,
            self.single,
        )

    def _solve(self, data: Data, problem: Problem) -> None:
        """Solve, and set the fitted attributes."""
        line = ProgressLine() if self.progress else None
        try:
            solution = solve(
                problem,
                tol=self.tol,
                max_iterations=self.max_iterations,
                start=self._start(problem) if self.warm_start else None,
                threads=self.threads,
                dtype=as_precision(self.dtype),
                callback=_both(line, self.callback) if line else self.callback,
            )
        finally:
            if line is not None:
                line.close()
        self.certificate_: Certificate = solution.certificate
        self.model_ = Model(
            metric=solution.metric,
            points=solution.points,
            users=data.comparisons.users,
            items=data.items,
            features=data.features,
            loss=problem.loss,
            region=problem.region,
            certificate=solution.certificate,
        )
        self.metric_, self.points_ = self.model_.metric, self.model_.points
        self.ideal_points_ = self.model_.ideal_points()
        self.classes_ = np.array([-1, 1])
        self.n_features_in_ = 3

    def _start(self, problem: Problem) -> Solution | None:
        """Return the previous fit, if it has the shape of the problem."""
        if not hasattr(self, "model_"):
            return None
        d, count = problem.features.shape[1], problem.answers.n_users
        shape = (count, d, d) if problem.single else (d, d)
        if self.metric_.shape != shape or self.points_.shape != (count, d):
            return None
        return Solution(self.metric_, self.points_, self.certificate_)


@dataclass(frozen=True, eq=False)
class Data:
    """What is fitted to: checked comparisons of the items, and the fitted feature map."""

    items: Items
    comparisons: Comparisons
    features: FeatureMap


def _both(line: ProgressLine, callback: Callback | None) -> Callback:
    """Return a callback that keeps the line and asks the other one whether to stop."""

    def watch(progress: Progress) -> bool | None:
        line(progress)
        return None if callback is None else callback(progress)

    return watch
