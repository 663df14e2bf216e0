"""A problem: what to minimise, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric.comparisons import Answers
from crowdmetric.crowd import Crowd
from crowdmetric.errors import DataError, SettingError
from crowdmetric.losses import KinkedLoss, Loss
from crowdmetric.regions import FixedMetric, Region

__all__ = ["Problem"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise the risk R(M, V) = (1/W) sum_t w_t loss(y_t delta_t) over a region.

    Parameters
    ----------
    answers : Answers
        The answers, ties resolved.
    features : ndarray of shape (n, d)
        One row per item.
    loss : Loss
        What an answer costs.
    region : Region
        Where the metric and the points may live.
    single : bool
        One problem per user, each with a metric of their own, instead of one for the crowd.

    Examples
    --------
    >>> from crowdmetric.comparisons import Comparisons
    >>> from crowdmetric.losses import Hinge
    >>> from crowdmetric.regions import NuclearFull
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [1, 1, 2]], [-1, 1]).answers()
    >>> Problem(answers, np.eye(3), Hinge(), NuclearFull(1.0)).crowd().n_problems
    1
    """

    answers: Answers
    features: Floats
    loss: Loss
    region: Region
    single: bool = False

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together."""
        count, dimension = self.features.shape
        if count != self.answers.n_items:
            raise DataError(
                f"the answers are about {self.answers.n_items} items, but there are {count} rows "
                "of features; give one row per item"
            )
        if isinstance(self.region, FixedMetric) and len(self.region.metric) != dimension:
            raise SettingError(
                f"the fixed metric is for {len(self.region.metric)} features, but the items have "
                f"{dimension}"
            )
        if not np.isfinite(self.loss.smoothness) and not isinstance(self.loss, KinkedLoss):
            raise SettingError(
                f"the slope of the loss {self.loss.name!r} has no Lipschitz constant (its "
                "smoothness is inf); give it a method proximal, or make it linear where it is steep"
            )
        for radius in self.region.radii:
            if not isinstance(radius, tuple):
                continue
            if not self.single:
                raise SettingError("a radius per user is only for single=True; give one number")
            if len(radius) != self.answers.n_users:
                raise SettingError(
                    f"there are {len(radius)} radii for {self.answers.n_users} users; "
                    "give one number, or one for each user"
                )

    def crowd(self, threads: int = 1, dtype: npt.DTypeLike = np.float64) -> Crowd:
        """Return the answers sorted by user, as solvers need them.

        Parameters
        ----------
        threads : int
            How many threads share the loops over answers.
        dtype : {float64, float32}
            The precision of features and points inside the loops.

        Returns
        -------
        Crowd
            The sorted crowd.
        """
        return Crowd.of(self.answers, self.features, self.single, threads, dtype)
