"""CrowdMetricCV: choose the radii by cross-validation, then fit."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.comparisons import Answers, Comparisons, Items, Ties
from crowdmetric.errors import SettingError
from crowdmetric.estimator.base import CrowdMetric
from crowdmetric.estimator.radii import RegionFamily, family, grid_around, natural_radii
from crowdmetric.features import FeatureMap
from crowdmetric.losses import Loss
from crowdmetric.problem import Problem
from crowdmetric.regions import RADII, PSDOnly
from crowdmetric.solver import Path
from crowdmetric.solver.progress import Callback
from crowdmetric.solver.solve import MOST_ITERATIONS
from crowdmetric.splits import PairFolds

__all__ = ["CrowdMetricCV"]

Floats = npt.NDArray[np.float64]
Radii = tuple[float, ...]

_COARSE = 1e-4  # a gap that moves held-out losses far less than the folds do
_FACTORS = tuple(2.0**k for k in range(-2, 6))
_NEARBY = (0.35, 0.6, 1.7, 2.8)
_MOST_EXTENSIONS = 6


class CrowdMetricCV(CrowdMetric):
    """Choose the radius (and the point radius) by K-fold cross-validation, then fit all answers.

    The radii tried are multiples of natural units derived from the data: a common factor first,
    further up for as long as that helps, then each radius on its own. Every fold walks the same
    path, each fit starting from the one before. The radii with the least held-out loss win.

    Parameters
    ----------
    items : Items or array-like of shape (n, d)
        The items, one row of features each.
    region : str or callable
        The name of a region, or a function from radii to a region.
    loss : Loss, optional
        What an answer costs; ``losses.Logistic()`` when not given.
    radii : sequence, optional
        The radii to try, each a number or a tuple of two, instead of those derived from the data.
    cv : int or splitter
        How many folds, or a splitter such as `PairFolds`. A question that is asked again, or the
        other way round, always stays in one fold.
    margin_bound : float, optional
        The gamma of the paper, for a region given by name.
    random_state : int
        Seed of the folds.
    features, ties, single, users, tol, max_iterations, threads, dtype, progress, callback
        As in `CrowdMetric`.

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
        region: str | RegionFamily = "nuclear-full",
        loss: Loss | None = None,
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
        """
        wanted: Any = self.region
        unbounded = PSDOnly()  # stands in until the radii are chosen
        problem, items, mapped, users = self._problem(T, y, sample_weight, unbounded)
        make = family(wanted, problem.features.shape[1], self.margin_bound)
        folds = self._folds(problem)
        if self.radii is not None:
            tried = [_as_tuple(radii) for radii in self.radii]
            if not tried:
                raise SettingError("there are no radii to choose from; leave radii out")
            for radii in tried:
                folds.try_radii(make, radii)
        else:
            count = len(RADII[wanted]) if isinstance(wanted, str) else 1
            _search(folds, make, natural_radii(problem, make, count))
        self.radius_ = folds.best
        self.cv_results_ = folds.results()
        self.region_ = make(*self.radius_)
        self._solve(replace(problem, region=self.region_), items, mapped, users)
        return self

    def _folds(self, problem: Problem) -> _Folds:
        """Cut the answers into folds."""
        splitter = self.cv
        if isinstance(splitter, int):
            splitter = PairFolds(splitter, random_state=self.random_state)
        answers = problem.answers
        triples = np.column_stack([answers.user, answers.left, answers.right]).astype(np.int64)
        settings = {
            "tol": max(self.tol, _COARSE),
            "max_iterations": self.max_iterations,
            "threads": self.threads,
            "dtype": self.dtype,
        }
        return _Folds(problem, list(splitter.split(triples, answers.sign)), settings)


class _Folds:
    """The held-out losses of the radii tried so far."""

    def __init__(
        self,
        problem: Problem,
        splits: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]],
        settings: dict[str, Any],
    ) -> None:
        """Prepare a path for each fold."""
        self._paths = [
            Path(replace(problem, answers=_some(problem.answers, train)), **settings)
            for train, _ in splits
        ]
        self._held_out = [
            replace(problem, answers=_some(problem.answers, test)).crowd() for _, test in splits
        ]
        self._loss = problem.loss
        self.tried: dict[Radii, tuple[Floats, Floats]] = {}

    def try_radii(self, make: RegionFamily, radii: Radii) -> float:
        """Return the mean held-out loss of some radii."""
        if radii not in self.tried:
            region = make(*radii)
            found = [self._held_out_loss(fold, region) for fold in range(len(self._paths))]
            losses, accuracies = zip(*found, strict=True)
            self.tried[radii] = (np.array(losses), np.array(accuracies))
        return float(self.tried[radii][0].mean())

    def _held_out_loss(self, fold: int, region: Region) -> tuple[float, float]:
        """Fit one fold, and return loss and accuracy on the answers left out."""
        with warnings.catch_warnings():
            # A fold that stops short still ranks the radii; the final fit is what must converge.
            warnings.simplefilter("ignore", NotConvergedWarning)
            solution = self._paths[fold].solve(region)
        crowd = self._held_out[fold]
        d = crowd.dimension
        shape = (crowd.n_problems, crowd.users_per_problem, d)
        margins = crowd.margins(solution.metric.reshape(-1, d, d), solution.points.reshape(shape))
        shares = crowd.problem_shares
        right = (margins > 0) + 0.5 * (margins == 0)
        loss, accuracy = (shares @ crowd.mean(v) for v in (self._loss.value(margins), right))
        return float(loss), float(accuracy)

    @property
    def best(self) -> Radii:
        """The radii with the least mean held-out loss."""
        return min(self.tried, key=lambda radii: float(self.tried[radii][0].mean()))

    def results(self) -> dict[str, Any]:
        """Return a table of what was tried."""
        losses = [found[0] for found in self.tried.values()]
        return {
            "radii": list(self.tried),
            "mean_loss": np.array([loss.mean() for loss in losses]),
            "std_loss": np.array([loss.std() for loss in losses]),
            "mean_accuracy": np.array([found[1].mean() for found in self.tried.values()]),
        }


def _search(folds: _Folds, make: RegionFamily, units: Radii) -> None:
    """Try a common factor, upwards while it helps, then each radius on its own."""
    for radii in grid_around(units, None, _FACTORS):
        folds.try_radii(make, radii)
    for _ in range(_MOST_EXTENSIONS):
        largest = max(folds.tried)
        if folds.best != largest:
            break
        folds.try_radii(make, tuple(2 * radius for radius in largest))
    for which in range(len(units)) if len(units) > 1 else [0]:
        for radii in grid_around(folds.best, which, _NEARBY):
            folds.try_radii(make, radii)


def _some(answers: Answers, rows: npt.NDArray[np.intp]) -> Answers:
    """Return some rows of the answers."""
    names = ("user", "left", "right", "sign", "weight")
    return replace(answers, **{name: getattr(answers, name)[rows] for name in names})


def _as_tuple(radii: float | Radii) -> Radii:
    """Return one radius, or several, as a tuple."""
    return tuple(float(r) for r in radii) if isinstance(radii, tuple | list) else (float(radii),)
