"""Kernel lifts: features in which likings that are no parabolas become straight.

A kernel k(x, y) is an inner product of lifted items. Among finitely many of them only the space
that they span matters, and there coordinates can be written down: the metric, the points and the
certificate are then those of the usual convex problem, on these coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from crowdmetric import checks
from crowdmetric.checks import Floats, Locked
from crowdmetric.errors import DataError, SettingError
from crowdmetric.features.affine import Standardize
from crowdmetric.features.covariances import Covariance, Matern
from crowdmetric.features.protocol import FeatureMap, locked, numbers, table_to_fit

__all__ = ["KernelLift"]

_ENOUGH = 1e-9  # of the variance of the lifted items: what is left beyond it is left out
_BLOCK = 64  # items whose kernels with themselves are computed together


@dataclass(frozen=True, eq=False)
class KernelLift(Locked):
    """Coordinates for the items in the space of a kernel.

    Landmarks are items picked one by one, each the one that those before it explain least
    (a Cholesky factorisation with pivots). Up to `size` items whose likenesses differ, the
    coordinates are exact: inner products are the kernel's. Beyond that they are those of
    Nystroem, and `left_out` says how much of the items' variance they miss.

    The lifted items have a mean of 0 and a mean squared length of 1; the coordinates are their
    principal directions, the largest first.

    Parameters
    ----------
    covariance : Covariance
        The kernel; a Matern when not given, whose length scale is the items' median distance.
    scaling : FeatureMap
        What is done to the raw features before distances are taken; standardised when not given.
    size : int
        How many landmarks at most; the metric has as many rows.
    landmarks, axes, mean : ndarray, optional
        What `fit` learns: the landmarks after the scaling, what makes coordinates of kernels with
        them, and the mean of these over the items.
    left_out : float
        The share of the items' variance that the coordinates miss; learned by `fit`.

    Examples
    --------
    >>> lift = KernelLift(Matern(1.0), size=10).fit([[0.0], [1.0], [2.0]], ["price"])
    >>> lift.transform([[0.0], [1.0], [2.0]]).shape, lift.left_out < 1e-9
    ((3, 2), True)
    """

    covariance: Covariance = field(default_factory=Matern)
    scaling: FeatureMap = field(default_factory=Standardize)
    size: int = 100
    landmarks: Floats | None = None
    axes: Floats | None = None
    mean: Floats | None = None
    left_out: float = 0.0

    name: ClassVar[str] = "kernel"
    invertible: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Keep read-only float64 copies; refuse parts that are no kernel or no map."""
        if self.size < 1:
            raise SettingError(f"the size of a kernel lift must be 1 or more, not {self.size}")
        for part, kind in ((self.covariance, Covariance), (self.scaling, FeatureMap)):
            if isinstance(part, type) or not isinstance(part, kind):
                raise SettingError(f"a kernel lift needs a {kind.__name__}, not {part!r}")
        for name, dimensions in (("landmarks", 2), ("axes", 2), ("mean", 1)):
            if getattr(self, name) is not None:
                array = checks.floats(getattr(self, name), f"the {name}", dimensions)
                object.__setattr__(self, name, array)

    def fit(self, features: npt.ArrayLike, names: Sequence[str]) -> KernelLift:
        """Learn the landmarks and the coordinates from the items of a fit.

        Parameters
        ----------
        features : array-like of shape (n, d)
            Raw features.
        names : sequence of str
            One name per feature, for the messages.

        Returns
        -------
        KernelLift
            A new, fitted lift.

        Raises
        ------
        DataError
            If the kernel cannot tell the items apart.

        Examples
        --------
        >>> KernelLift().fit([[0.0], [1.0], [2.0], [9.0]], ["price"]).covariance.length_scale > 0
        True
        """
        table = table_to_fit(features, names)
        scaling = self.scaling.fit(table, names)
        x = numbers(scaling.transform(table))
        covariance = self.covariance.fit(x)
        pivots, missed = _pivots(covariance, x, self.size)
        rows = x[pivots]
        values, vectors = eigh(covariance.between(rows, rows))
        kept = values > _ENOUGH * values[-1]
        whiten = vectors[:, kept] / np.sqrt(values[kept])
        raw = covariance.between(x, rows) @ whiten
        mean = raw.mean(axis=0)
        spread, directions = eigh((raw - mean).T @ (raw - mean) / len(raw))
        total = float(spread.sum())
        if not total > _ENOUGH * float(np.mean(np.square(raw))):
            raise DataError("all items have the same features, so no kernel can tell them apart")
        order = np.flatnonzero(spread > _ENOUGH * total)[::-1]
        turn = directions[:, order] / np.sqrt(total)
        return replace(
            self,
            covariance=covariance,
            scaling=scaling,
            landmarks=rows,
            axes=whiten @ turn,
            mean=mean @ turn,
            left_out=max(missed, 0.0) / (total * len(x) + max(missed, 0.0)),
        )

    def transform(self, features: npt.ArrayLike) -> Floats:
        """Return the coordinates of items.

        Parameters
        ----------
        features : array-like of shape (..., d)
            Raw features, of the items of the fit or of new ones.

        Returns
        -------
        ndarray of shape (..., r)
            The coordinates, read-only.

        Examples
        --------
        >>> lift = KernelLift(Matern(2.0)).fit([[0.0], [1.0]], ["price"])
        >>> np.abs(lift.transform([[0.0], [1.0]])).round(6)
        array([[1.],
               [1.]])
        """
        if self.landmarks is None or self.axes is None or self.mean is None:
            raise SettingError(f"the feature map {self.name!r} is not fitted yet; call fit first")
        x = numbers(self.scaling.transform(features))
        rows = x.reshape(-1, x.shape[-1])
        lifted = self.covariance.between(rows, self.landmarks) @ self.axes - self.mean
        return locked(lifted.reshape(*x.shape[:-1], lifted.shape[1]))

    def inverse(self, features: npt.ArrayLike) -> Floats:
        """Refuse: hardly any point of the lifted space belongs to an item.

        Examples
        --------
        >>> KernelLift().inverse([0.0])
        Traceback (most recent call last):
        crowdmetric.errors.SettingError: the feature map 'kernel' has no inverse: most points of
        its space belong to no item; use ideal_item, which searches within bounds of the features
        """
        raise SettingError(
            f"the feature map {self.name!r} has no inverse: most points of its space belong to no "
            "item; use ideal_item, which searches within bounds of the features"
        )


def _pivots(covariance: Covariance, x: Floats, most: int) -> tuple[npt.NDArray[np.intp], float]:
    """Pick items, each explained least by those before; return them and what they leave out."""
    blocks = np.array_split(x, -(-len(x) // _BLOCK))
    left = np.concatenate([covariance.between(rows, rows).diagonal() for rows in blocks])
    total, columns, picked = float(left.sum()), np.empty((len(x), min(most, len(x)))), []
    for count in range(columns.shape[1]):
        best = int(np.argmax(left))
        if left[best] <= _ENOUGH * total / len(x):
            break
        column = covariance.between(x, x[best : best + 1])[:, 0]
        column = (column - columns[:, :count] @ columns[best, :count]) / np.sqrt(left[best])
        columns[:, count] = column
        left = np.maximum(left - column**2, 0.0)
        left[best] = 0.0
        picked.append(best)
    return np.array(picked, dtype=np.intp), float(left.sum())
