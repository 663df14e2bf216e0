"""CrowdMetric: fit one region, given its radii."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from crowdmetric.certificate import Certificate
from crowdmetric.comparisons import Comparisons, Items, Ties
from crowdmetric.errors import SettingError, UnknownUserError
from crowdmetric.estimator.inputs import as_comparisons, as_items, as_triples
from crowdmetric.features import FeatureMap, feature_map
from crowdmetric.losses import Logistic, Loss
from crowdmetric.model import Model
from crowdmetric.problem import Problem
from crowdmetric.regions import Region
from crowdmetric.solver import ProgressLine, Solution, solve
from crowdmetric.solver.progress import Callback
from crowdmetric.solver.solve import MOST_ITERATIONS

__all__ = ["CrowdMetric"]

Floats = npt.NDArray[np.float64]


class CrowdMetric(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learn a metric that a crowd shares, and an ideal point for each user, over a region.

    Parameters
    ----------
    items : Items or array-like of shape (n, d)
        The items, one row of features each.
    region : Region
        Where the metric and the points may live, for example ``regions.NuclearFull(10.0)``. To
        have the radius chosen, use `CrowdMetricCV`.
    loss : Loss, optional
        What an answer costs; ``losses.Logistic()`` when not given.
    features : {"raw", "center", "standardize", "unit-ball"} or FeatureMap
        What is done to the features first; fitted to the items and kept in the model.
    ties : {"half", "drop"}
        A tie becomes one answer each way at half its weight, or is left out.
    single : bool
        Fit each user alone, with a metric of their own.
    users : int or sequence of hashable, optional
        How many users there are, or their ids in the order of their numbers; needed only where
        the last ones may have no answers.
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
        Called with a `Progress` now and then; stops the fit by returning True.

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
        loss: Loss | None = None,
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
            User, left item and right item of each comparison, as row numbers.
        y : array-like of shape (m,), optional
            -1: left preferred; 1: right preferred; 0: a tie. Comparisons hold their own.
        sample_weight : array-like of shape (m,), optional
            How much each answer counts.

        Returns
        -------
        CrowdMetric
            The estimator itself.
        """
        if self.region is None:
            raise SettingError(
                "the estimator has no region: give region=..., for example "
                "regions.NuclearFull(10.0), or use CrowdMetricCV to have the radius chosen"
            )
        problem, items, mapped, users = self._problem(T, y, sample_weight, self.region)
        self._solve(problem, items, mapped, users)
        return self

    def decision_function(self, T: Comparisons | npt.ArrayLike) -> Floats:
        """Return the margins: the left item's score less the right one's.

        Parameters
        ----------
        T : array-like of int, shape (m, 3), or Comparisons
            User, left item and right item, as row numbers.

        Returns
        -------
        ndarray of shape (m,)
            Negative where left is predicted.
        """
        check_is_fitted(self)
        if isinstance(T, Comparisons):
            return self.model_.margins(T)
        triples = as_triples(T)
        known = len(self.model_.users)
        if len(triples) and not 0 <= triples[:, 0].min() <= triples[:, 0].max() < known:
            raise UnknownUserError(
                f"the user {triples[:, 0].max()} is outside 0..{known - 1}: the fit never saw this "
                "user; give the estimator users=... with the number of all users"
            )
        return self.model_.margins_of_codes(triples)

    def predict(self, T: Comparisons | npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return -1 where the left item is predicted to be preferred, else 1.

        Parameters
        ----------
        T : array-like of int, shape (m, 3), or Comparisons
            User, left item and right item, as row numbers.

        Returns
        -------
        ndarray of int, shape (m,)
            The predictions.
        """
        return np.where(self.decision_function(T) < 0, -1, 1)

    def predict_proba(self, T: Comparisons | npt.ArrayLike) -> Floats:
        """Return the probabilities of left and of right; only for losses that are links.

        Parameters
        ----------
        T : array-like of int, shape (m, 3), or Comparisons
            User, left item and right item, as row numbers.

        Returns
        -------
        ndarray of shape (m, 2)
            In the order of `classes_`, -1 and 1.
        """
        check_is_fitted(self)
        return self.model_.probabilities(self.decision_function(T))

    def score(
        self,
        T: Comparisons | npt.ArrayLike,
        y: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> float:
        """Return the accuracy; a tie counts as half right.

        Parameters
        ----------
        T : array-like of int, shape (m, 3), or Comparisons
            User, left item and right item, as row numbers.
        y : array-like of shape (m,), optional
            The responses. Comparisons hold their own.
        sample_weight : array-like of shape (m,), optional
            How much each answer counts.

        Returns
        -------
        float
            Between 0 and 1.
        """
        from crowdmetric.metrics import accuracy

        if isinstance(T, Comparisons):
            weight = T.weight if sample_weight is None else sample_weight
            return accuracy(self.decision_function(T), T.response, weight)
        if y is None:
            raise SettingError("the responses are missing: give y")
        return accuracy(self.decision_function(T), y, sample_weight)

    def get_metric(self) -> Callable[[npt.ArrayLike, npt.ArrayLike], float]:
        """Return the learned distance between two rows of features, as a function.

        Returns
        -------
        callable
            For example for scikit-learn's neighbours; only where the crowd shares a metric.
        """
        check_is_fitted(self)
        if self.single:
            raise SettingError("every user has a metric of their own: use model_.distances")
        model = self.model_

        def distance(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
            pair = model.features.transform(np.stack([np.asarray(one), np.asarray(other)]))
            step = pair[0] - pair[1]
            return float(np.sqrt(max(step @ model.metric @ step, 0.0)))

        return distance

    @property
    def components_(self) -> Floats:
        """L' with M = L L': distances are Euclidean after multiplying by it."""
        check_is_fitted(self)
        return np.swapaxes(self.model_.factor(), -1, -2)

    def _problem(
        self,
        T: Comparisons | npt.ArrayLike,
        y: npt.ArrayLike | None,
        sample_weight: npt.ArrayLike | None,
        region: Region,
    ) -> tuple[Problem, Items, FeatureMap, tuple[Hashable, ...]]:
        """Return the problem, the items, the fitted feature map and the user ids."""
        items = as_items(self.items)
        comparisons = as_comparisons(T, y, sample_weight, items, self.users)
        mapped = feature_map(self.features).fit(items.features, items.names)
        loss = Logistic() if self.loss is None else self.loss
        problem = Problem(
            comparisons.answers(self.ties),
            mapped.transform(items.features),
            loss,
            region,
            self.single,
        )
        return problem, items, mapped, comparisons.users

    def _solve(
        self, problem: Problem, items: Items, mapped: FeatureMap, users: tuple[Hashable, ...]
    ) -> None:
        """Solve, and set the fitted attributes."""
        line = ProgressLine() if self.progress and self.callback is None else None
        try:
            solution = solve(
                problem,
                tol=self.tol,
                max_iterations=self.max_iterations,
                start=self._start(problem) if self.warm_start else None,
                threads=self.threads,
                dtype=self.dtype,
                callback=line or self.callback,
            )
        finally:
            if line is not None:
                line.close()
        self.certificate_: Certificate = solution.certificate
        self.model_ = Model(
            metric=solution.metric,
            points=solution.points,
            users=users,
            items=items,
            features=mapped,
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
