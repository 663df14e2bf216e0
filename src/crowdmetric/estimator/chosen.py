"""CrowdMetricCV: choose the radii by cross-validation, then fit."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import check_cv

from crowdmetric import checks
from crowdmetric.comparisons import Comparisons, Items, Ties
from crowdmetric.errors import FoldsError, SettingError
from crowdmetric.estimator.base import CrowdMetric
from crowdmetric.estimator.folds import Folds, Split, answers_of_folds
from crowdmetric.estimator.inputs import as_precision
from crowdmetric.estimator.radii import Family, Radii, family, grid_around, natural_radii
from crowdmetric.features import FeatureMap
from crowdmetric.losses import Loss
from crowdmetric.problem import Problem
from crowdmetric.regions import PSDOnly, Region
from crowdmetric.solver import ProgressLine
from crowdmetric.solver.progress import Callback
from crowdmetric.solver.solving import MOST_ITERATIONS
from crowdmetric.splits import PairFolds

__all__ = ["CrowdMetricCV"]

_COARSE = 1e-4  # a gap that moves held-out losses far less than the folds do
_FACTORS = tuple(2.0**k for k in range(-2, 6))
_NEARBY = (0.35, 0.6, 1.7, 2.8)
_MOST_EXTENSIONS = 6


class CrowdMetricCV(CrowdMetric):
    """Choose the radius (and the point radius) by K-fold cross-validation, then fit all answers.

    The radii tried are multiples of natural units derived from the data: a common factor first,
    further up or down for as long as that helps, then each radius on its own. Every fold walks the
    same path, each fit starting from the one before. The radii with the least held-out loss win;
    of those that the precision of these fits (a gap of 1e-4) cannot tell apart, the first.

    Parameters
    ----------
    items : Items or array-like of shape (n, d)
        The items, one row of features each.
    region : str or callable
        The name of a region, or a function from radii to a region, which takes as many
        positional arguments as there are radii. The metric of "fixed" is the identity.
    loss : Loss or str, optional
        What an answer costs, or the name of it; ``losses.Logistic()`` when not given.
    radii : sequence, optional
        The radii to try, each a number or a tuple of two, instead of those derived from the data.
    cv : int or splitter
        How many folds of `PairFolds`, where a question that is asked again, or the other way
        round, stays in one fold; or another splitter of scikit-learn.
    margin_bound : float, optional
        The gamma of the paper, for a region given by name.
    random_state : int
        Seed of the folds.
    features, ties, single, users, tol, max_iterations, threads, dtype, progress, callback
        As in `CrowdMetric`; the callback is asked in every fold too.

    Attributes
    ----------
    radius_ : tuple of float
        The radii chosen.
    region_ : Region
        The region with those radii.
    cv_results_ : dict
        "radii" (a list of tuples), "mean_loss" and "mean_accuracy" (held out, over the folds) and
        "std_loss", in the order in which they were tried.

    Examples
    --------
    >>> import crowdmetric as cm
    >>> crowd = cm.simulate(n_items=30, dimension=3, n_users=4, noise=4.0, pairs_per_user=60)
    >>> fit = CrowdMetricCV(crowd.items, "nuclear-full", cv=3).fit(crowd.comparisons)
    >>> len(fit.radius_), fit.score(crowd.test) > 0.8
    (1, True)
    """

    def __init__(
        self,
        items: Items | npt.ArrayLike | None = None,
        region: str | Callable[..., Region] = "nuclear-full",
        loss: Loss | str | None = None,
        *,
        radii: Sequence[float | Radii] | None = None,
        cv: Any = 5,
        margin_bound: float | None = None,
        random_state: int = 0,
        features: str | FeatureMap = "raw",
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
            None,
            loss,
            features=features,
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
        self.radii = radii
        self.cv = cv
        self.margin_bound = margin_bound
        self.random_state = random_state

    def fit(
        self,
        T: Comparisons | npt.ArrayLike,
        y: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Choose the radii, then fit.

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
        wanted: Any = self.region
        data = self._read(T, y, sample_weight)
        # Any region will do until the radii are chosen.
        problem = self._problem(data, PSDOnly())
        make = family(wanted, problem.features.shape[1], self.margin_bound)
        given = None if self.radii is None else [_as_tuple(radii) for radii in self.radii]
        if given == []:
            raise SettingError("there are no radii to choose from; leave radii out")
        line = ProgressLine() if self.progress else None
        try:
            folds = self._folds(data.comparisons, problem, make, line)
            if given is None:
                _search(folds, natural_radii(problem, make))
            for radii in given or ():
                folds.try_radii(radii)
        finally:
            if line is not None:
                line.close()
        self.radius_ = folds.best
        self.cv_results_ = folds.results()
        self.region_ = make(*self.radius_)
        self._solve(data, replace(problem, region=self.region_))
        return self

    def _folds(
        self, comparisons: Comparisons, problem: Problem, make: Family, line: ProgressLine | None
    ) -> Folds:
        """Cut the comparisons into folds."""
        return Folds(
            problem,
            answers_of_folds(comparisons, self._splits(comparisons), self.ties),
            make,
            line,
            tol=max(self.tol, _COARSE),
            max_iterations=self.max_iterations,
            threads=self.threads,
            dtype=as_precision(self.dtype),
            callback=self.callback,
        )

    def _splits(self, comparisons: Comparisons) -> list[Split]:
        """Return the rows to learn from and the rows left out, fold by fold."""
        codes = (comparisons.user, comparisons.left, comparisons.right)
        triples = np.column_stack(codes).astype(np.int64)
        if not isinstance(self.cv, Integral):
            return list(check_cv(self.cv).split(triples, comparisons.response))
        if self.cv < 2:
            raise SettingError(f"cv must be at least 2 folds, not {self.cv}")
        try:
            return list(PairFolds(int(self.cv), random_state=self.random_state).split(triples))
        except FoldsError as error:
            remedy = "lower cv, or give the radius to CrowdMetric"
            raise FoldsError(error.problem, remedy) from error


def _search(folds: Folds, units: Radii) -> None:
    """Try a common factor, up or down while it helps, then each radius on its own."""
    for radii in grid_around(units, None, _FACTORS):
        folds.try_radii(radii)
    for _ in range(_MOST_EXTENSIONS):
        best = folds.best
        if best not in (min(folds.tried), max(folds.tried)):
            break
        factor = 2.0 if best == max(folds.tried) else 0.5
        folds.try_radii(tuple(factor * radius for radius in best))
    for which in range(len(units)):
        for radii in grid_around(folds.best, which, _NEARBY):
            folds.try_radii(radii)


def _as_tuple(radii: float | Radii) -> Radii:
    """Return one radius, or several, as a tuple."""
    return tuple(checks.floats(np.atleast_1d(radii), "the radii", dimensions=1).tolist())
