"""CrowdMetricCV: choose by cross-validation, then fit."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import check_cv

from crowdmetric import checks
from crowdmetric.comparisons import Comparisons, Items, Ties
from crowdmetric.errors import FoldsError, SettingError
from crowdmetric.estimator.base import CrowdMetric, Data
from crowdmetric.estimator.candidates import Candidate, Wanted, candidates, comparable
from crowdmetric.estimator.folds import Folds, Split, Walk, weights_of_folds
from crowdmetric.estimator.inputs import as_precision
from crowdmetric.estimator.radii import Radii
from crowdmetric.estimator.record import Record
from crowdmetric.estimator.search import planned_fits, search
from crowdmetric.features import FeatureMap
from crowdmetric.losses import Loss
from crowdmetric.problem import Problem
from crowdmetric.regions import Region
from crowdmetric.solver import ProgressLine, Resamples
from crowdmetric.solver.progress import Callback
from crowdmetric.solver.solving import MOST_ITERATIONS
from crowdmetric.splits import PairFolds

__all__ = ["CrowdMetricCV"]

_COARSE = 1e-4  # a gap that moves held-out losses far less than the folds do
_MOST_SHARPNESS = 3.0
_MOST_FOLDS, _MOST_WORK = 20, 15_000  # for the sharpness; answers times folds


class CrowdMetricCV(CrowdMetric):
    """Choose the radii by K-fold cross-validation, and more where that is wanted; then fit all.

    Region, loss and feature map may each be a list: every combination is a candidate, and the
    best one of them is chosen together with its radii. The radii tried are multiples of natural
    units derived from the data: a common factor first, further up or down for as long as that
    helps, then, for the best candidate, each radius on its own. Every fold walks the same path,
    each fit starting from the one before. What does best on the answers left out wins; of what
    they cannot tell apart (by one in their log-likelihood, or the gap of these fits, 1e-4), the
    first.

    A large radius is good for predictions and bad for probabilities, which become too sure. So
    radii are judged by probabilities made with the sharpness that suits the answers left out best,
    one number by which margins are multiplied, and those of the model are made with it too.

    Parameters
    ----------
    items : Items or array-like of shape (n, d)
        The items, one row of features each.
    region : str, callable, or a list of them
        The name of a region, or a function from radii to a region, which takes as many
        positional arguments as there are radii. The metric of "fixed" is the identity.
    loss : Loss or str, or a list of them, optional
        What an answer costs, or the name of it; ``losses.Logistic()`` when not given.
    radii : sequence, optional
        The radii to try, each a number or a tuple of two, instead of those derived from the data;
        best in ascending order.
    loss_scales : {"auto"} or sequence of float, optional
        Scales of the loss to choose from. "auto" derives them from the data where the region
        fixes the size of margins (a fixed metric, a margin bound). Elsewhere a larger scale does
        what larger radii do, so "auto" leaves it as it is.
    scoring : {"log-loss", "accuracy"}
        What is compared on the answers left out. "log-loss" is the mean of the loss itself for
        losses that give no probabilities; these can be compared with others by accuracy only, and
        their margins stay as they are.
    one_standard_error : bool
        Choose the smallest region (by the product of its radii) that is worse than the best by no
        more than one standard error of the mean over the folds.
    cv : int or splitter
        How many folds of `PairFolds`, where a question that is asked again, or the other way
        round, stays in one fold; or another splitter of scikit-learn.
    margin_bound : float, optional
        The gamma of the paper, for a region given by name.
    random_state : int
        Seed of the folds.
    n_jobs : int, optional
        How many processes share the candidates and, of large data, the folds; -1 for one per
        processor. They take seconds to start, and change nothing but the time.
    features : {"raw", "center", "standardize", "unit-ball"} or FeatureMap, or a list of them
        What is done to the features first; fitted to the items and kept in the model.
    ties, single, users, tol, max_iterations, threads, dtype, progress, callback
        As in `CrowdMetric`; the callback is asked in every fold too, unless other processes
        do the work.

    Attributes
    ----------
    radius_ : tuple of float
        The radii chosen.
    region_ : Region
        The region with those radii.
    loss_ : Loss
        The loss chosen, with its scale.
    features_ : str or FeatureMap
        The feature map chosen, as it was given.
    cv_results_ : dict
        "radii" (a list of tuples), "region", "loss" and "features" (as they were given),
        "sharpness", "mean_loss", "std_loss", "mean_accuracy" and "std_accuracy" (left out, over
        the folds), in the order in which they were tried.

    Examples
    --------
    >>> import crowdmetric as cm
    >>> crowd = cm.simulate(n_items=30, dimension=3, n_users=4, noise=4.0, pairs_per_user=60)
    >>> fit = CrowdMetricCV(crowd.items, "nuclear-full", cv=3).fit(crowd.comparisons)
    >>> len(fit.radius_), fit.score(crowd.test) > 0.8
    (1, True)
    >>> wide = CrowdMetricCV(crowd.items, ["nuclear-full", "frobenius"], cv=3)
    >>> wide.set_params(features=["raw", "standardize"], scoring="accuracy")
    CrowdMetricCV(...)
    >>> wide.fit(crowd.comparisons).features_ in ("raw", "standardize")
    True
    """

    def __init__(
        self,
        items: Items | npt.ArrayLike | None = None,
        region: str
        | Callable[..., Region]
        | Sequence[str | Callable[..., Region]] = "nuclear-full",
        loss: Loss | str | Sequence[Loss | str] | None = None,
        *,
        radii: Sequence[float | Radii] | None = None,
        loss_scales: Literal["auto"] | Sequence[float] | None = None,
        scoring: str = "log-loss",
        one_standard_error: bool = False,
        cv: Any = 5,
        margin_bound: float | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
        features: str | FeatureMap | Sequence[str | FeatureMap] = "raw",
        ties: Ties = "half",
        single: bool = False,
        users: int | Sequence[Hashable] | None = None,
        tol: float = 1e-6,
        max_iterations: int = MOST_ITERATIONS,
        threads: int = 1,
        dtype: str = "float64",
        progress: bool = False,
        callback: Callback | None = None,
    ) -> None:
        """Keep the settings; `fit` checks them."""
        super().__init__(
            items,
            ties=ties,
            single=single,
            users=users,
            tol=tol,
            max_iterations=max_iterations,
            threads=threads,
            dtype=dtype,
            progress=progress,
            callback=callback,
        )
        self.region = region  # type: ignore[assignment]
        self.loss = loss  # type: ignore[assignment]
        self.features = features  # type: ignore[assignment]
        self.radii = radii
        self.loss_scales = loss_scales
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.cv = cv
        self.margin_bound = margin_bound
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        T: Comparisons | npt.ArrayLike,
        y: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Choose, then fit.

        Parameters
        ----------
        T, y, sample_weight
            As in `CrowdMetric.fit`.

        Returns
        -------
        CrowdMetricCV
            The estimator itself.

        Examples
        --------
        >>> questions = [[0, 0, 1], [0, 1, 2], [0, 2, 0], [0, 1, 3], [0, 3, 2]]
        >>> chooser = CrowdMetricCV(np.eye(4), radii=[0.5, 1.0], cv=2)
        >>> chooser.fit(questions, [-1, 1, -1, 1, -1]).cv_results_["radii"]
        [(0.5,), (1.0,)]
        """
        items, comparisons = self._read(T, y, sample_weight)
        found = self._candidates(items, comparisons)
        given = None if self.radii is None else [_as_tuple(radii) for radii in self.radii]
        if given == []:
            raise SettingError("there are no radii to choose from; leave radii out")
        line = ProgressLine() if self.progress else None
        try:
            planned = planned_fits(found) if given is None else len(found) * len(given)
            folds = self._folds(comparisons, line, planned)
            if given is None:
                search(folds, found)
            else:
                folds.try_all([(candidate, given) for candidate in found])
        finally:
            if line is not None:
                line.close()
        record = folds.record
        trial = record.simplest() if self.one_standard_error else record.best()
        chosen = trial.candidate
        self.radius_, self.region_ = trial.radii, chosen.family(*trial.radii)
        self.loss_, self.features_ = chosen.problem.loss, chosen.features
        self.cv_results_ = record.results()
        data = Data(items, comparisons, chosen.fitted)
        problem = replace(chosen.problem, region=self.region_)
        self._solve(data, problem)
        sharpness = self._sharpness(comparisons, problem) or trial.sharpness
        self.model_ = replace(self.model_, sharpness=sharpness)
        return self

    def _sharpness(self, comparisons: Comparisons, problem: Problem) -> float | None:
        """Return the sharpness of a fit to all answers, where more folds tell it better.

        A fit to four fifths of few answers is surer of itself, and more often wrong, than one to
        all of them. Fits to nearly all of them, which start from that one, are much the same.
        """
        count = min(_MOST_FOLDS, _MOST_WORK // len(comparisons))
        if not isinstance(self.cv, Integral) or count <= int(self.cv) or problem.single:
            return None
        try:
            splits = self._pair_folds(comparisons, count)
        except FoldsError:
            return None
        weights = weights_of_folds(comparisons, splits, self.ties)
        numbers = np.arange(len(splits))
        walk = Walk(problem, weights, numbers, {"tol": max(self.tol, _COARSE)})
        metric, points = (
            np.repeat(part[None], len(splits), axis=0) for part in (self.metric_, self.points_)
        )
        left_out, _ = walk.along([problem.region], Resamples(metric, points, np.zeros(len(splits))))
        return left_out[0].sharpness(problem.loss, _MOST_SHARPNESS)

    def _candidates(self, items: Items, comparisons: Comparisons) -> list[Candidate]:
        """Return what to choose among."""
        wanted = Wanted(
            self.region, self.loss, self.features, self.loss_scales,
            self.margin_bound, self.ties, self.single,
        )  # fmt: skip
        found = candidates(wanted, items, comparisons)
        if self.scoring != "accuracy" and not comparable(found):
            raise SettingError(
                "these losses are in different units, so what is left out cannot tell which is "
                "better; choose with scoring='accuracy', or among logistic and probit only"
            )
        return found

    def _folds(self, comparisons: Comparisons, line: ProgressLine | None, planned: int) -> Folds:
        """Cut the comparisons into folds."""
        tol = max(self.tol, _COARSE)
        # One unit of the log-likelihood of all answers is no evidence.
        tolerance = max(tol, 1 / len(comparisons))
        return Folds(
            weights_of_folds(comparisons, self._splits(comparisons), self.ties),
            Record(self.scoring, tolerance),
            line,
            planned,
            self.n_jobs,
            tol=tol,
            max_iterations=self.max_iterations,
            threads=self.threads,
            dtype=as_precision(self.dtype),
            callback=self.callback,
        )

    def _splits(self, comparisons: Comparisons) -> list[Split]:
        """Return the rows to learn from and the rows left out, fold by fold."""
        if not isinstance(self.cv, Integral):
            triples = _triples(comparisons)
            return list(check_cv(self.cv).split(triples, comparisons.response))
        if self.cv < 2:
            raise SettingError(f"cv must be at least 2 folds, not {self.cv}")
        try:
            return self._pair_folds(comparisons, int(self.cv))
        except FoldsError as error:
            remedy = "lower cv, or give the radius to CrowdMetric"
            raise FoldsError(error.problem, remedy) from error

    def _pair_folds(self, comparisons: Comparisons, count: int) -> list[Split]:
        """Return folds in which a question and its mirror image stay together."""
        folds = PairFolds(count, random_state=self.random_state)
        return list(folds.split(_triples(comparisons)))


def _triples(comparisons: Comparisons) -> npt.NDArray[np.int64]:
    """Return users, left and right items as splitters expect them."""
    codes = (comparisons.user, comparisons.left, comparisons.right)
    return np.column_stack(codes).astype(np.int64)


def _as_tuple(radii: float | Radii) -> Radii:
    """Return one radius, or several, as a tuple."""
    return tuple(checks.floats(np.atleast_1d(radii), "the radii", dimensions=1).tolist())
