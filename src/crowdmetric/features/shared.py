"""A point that the crowd shares: v_k = v_0 + w_k, with v_0 learned from everyone.

Give every item one more coordinate c, the same for all. The metric of the longer items is
[[M, b], [b', e]], and an item's score x'Mx + 2c b'x + w_k'x and a constant: v_0 = 2c b is
everyone's. It is paid for inside the region that there is: as b b' <= e M, in trace at least
2 norm(b) = norm(v_0) / c. So the larger c, the cheaper it is to like the same things.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from crowdmetric.checks import Floats
from crowdmetric.errors import SettingError
from crowdmetric.features.affine import Standardize
from crowdmetric.features.protocol import FeatureMap, has_inverse, locked, numbers, table_to_fit

__all__ = ["SharedPoint"]


@dataclass(frozen=True)
class SharedPoint:
    """Another feature map, and a last coordinate that is the same for all items.

    Parameters
    ----------
    inner : FeatureMap
        What is done to the features; standardised when not given.
    weight : float
        How cheap the shared point is: the constant is this many times the items' distance from
        their mean (its root mean square).
    constant : float, optional
        The last coordinate c; learned by `fit`.

    Examples
    --------
    >>> SharedPoint(weight=2.0).fit([[1.0], [5.0]], ["price"]).transform([[1.0], [5.0]])
    array([[-1.,  2.],
           [ 1.,  2.]])
    """

    inner: FeatureMap = field(default_factory=Standardize)
    weight: float = 1.0
    constant: float | None = None

    def __post_init__(self) -> None:
        """Refuse a weight that is not positive, and a map in a map."""
        for value in (self.weight, self.constant):
            if value is not None and not 0 < value < np.inf:
                raise SettingError(
                    f"the weight of a shared point must be positive and finite, not {value:g}"
                )
        if isinstance(self.inner, SharedPoint) or not isinstance(self.inner, FeatureMap):
            raise SettingError(
                f"a shared point needs a feature map without one, not {self.inner!r}"
            )

    @property
    def name(self) -> str:
        """The inner map's name.

        Examples
        --------
        >>> SharedPoint().name
        'standardize'
        """
        return self.inner.name

    @property
    def invertible(self) -> bool:
        """Whether the inner map has an inverse.

        Examples
        --------
        >>> SharedPoint().invertible
        True
        """
        return has_inverse(self.inner)

    def fit(self, features: npt.ArrayLike, names: Sequence[str]) -> SharedPoint:
        """Learn the inner map and the constant from the items of a fit.

        Parameters
        ----------
        features : array-like of shape (n, d)
            Raw features.
        names : sequence of str
            One name per feature, for the messages.

        Returns
        -------
        SharedPoint
            A new, fitted map.

        Examples
        --------
        >>> SharedPoint(weight=3.0).fit([[1.0], [5.0]], ["price"]).constant
        3.0
        """
        table = table_to_fit(features, names)
        inner = self.inner.fit(table, names)
        x = inner.transform(table)
        size = float(np.sqrt(np.square(x - x.mean(axis=0)).sum(axis=1).mean()))
        return replace(self, inner=inner, constant=self.weight * (size or 1.0))

    def transform(self, features: npt.ArrayLike) -> Floats:
        """Return the inner map's features and the constant.

        Parameters
        ----------
        features : array-like of shape (..., d)
            Raw features.

        Returns
        -------
        ndarray of shape (..., r + 1)
            Read-only.

        Examples
        --------
        >>> from crowdmetric.features import Raw
        >>> SharedPoint(Raw(), constant=2.0).transform([7.0])
        array([7., 2.])
        """
        x, constant = numbers(self.inner.transform(features)), self._constant()
        return locked(np.concatenate([x, np.full((*x.shape[:-1], 1), constant)], axis=-1))

    def inverse(self, features: npt.ArrayLike) -> Floats:
        """Return the raw features that the inner map maps to these, the last one aside.

        Parameters
        ----------
        features : array-like of shape (..., r + 1)
            Features as the scores see them.

        Returns
        -------
        ndarray of shape (..., d)
            Raw features.

        Examples
        --------
        >>> from crowdmetric.features import Raw
        >>> SharedPoint(Raw(), constant=2.0).inverse([7.0, 2.0])
        array([7.])
        """
        return self.inner.inverse(numbers(features)[..., :-1])

    def separate(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Return the metric without the last coordinate, and the points v_0 + w_k.

        Scores differ from those of the longer items by the same for all items.

        Parameters
        ----------
        metric : ndarray of shape (r + 1, r + 1) or (K, r + 1, r + 1)
            The metric of the longer items.
        points : ndarray of shape (K, r + 1)
            The points w_k.

        Returns
        -------
        ndarray of the shape of the metric
            [[M, 0], [0, 0]].
        ndarray of shape (K, r + 1)
            (v_0 + w_k, 0).

        Examples
        --------
        >>> metric, points = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[3.0, 0.1]])
        >>> SharedPoint(constant=2.0).separate(metric, points)[1]
        array([[5., 0.]])
        """
        alone, whole = metric.copy(), points.copy()
        alone[..., -1, :] = alone[..., :, -1] = 0.0
        whole[..., :-1] += self.shared(metric)
        whole[..., -1] = 0.0
        return alone, whole

    def shared(self, metric: Floats) -> Floats:
        """Return what everyone's point has in common, v_0 = 2c b.

        Parameters
        ----------
        metric : ndarray of shape (..., r + 1, r + 1)
            The metric of the longer items.

        Returns
        -------
        ndarray of shape (..., r)
            The shared point.

        Examples
        --------
        >>> SharedPoint(constant=2.0).shared(np.array([[1.0, 0.5], [0.5, 1.0]]))
        array([2.])
        """
        result: Floats = 2.0 * self._constant() * metric[..., :-1, -1]
        return result

    def _constant(self) -> float:
        """Return the last coordinate, or say that there is none yet."""
        if self.constant is None:
            raise SettingError(f"the feature map {self.name!r} is not fitted yet; call fit first")
        return self.constant
