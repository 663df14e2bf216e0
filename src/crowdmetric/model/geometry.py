"""What the metric says: ranks and factors, distances, ideal points."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal

import numpy as np
import numpy.typing as npt

from crowdmetric import points
from crowdmetric.checks import Floats
from crowdmetric.comparisons import Items
from crowdmetric.errors import SettingError, did_you_mean
from crowdmetric.model import scoring
from crowdmetric.model.parts import Parts

IdealMethod = Literal["exact", "regularised"]


class Geometry(Parts):
    """The half of a model that answers questions about space."""

    @property
    def rank(self) -> int:
        """Number of directions that the metric measures; the largest one if there are several.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().rank
        2
        """
        return int(self.factor().shape[-1])

    def factor(self) -> Floats:
        """Return the low-rank factor L with M = L L'.

        Distances under the metric are Euclidean distances between the rows of ``x @ L``.

        Returns
        -------
        ndarray of shape (d, r) or (K, d, r)
            Orthogonal columns, the longest first.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().factor() ** 2
        array([[2., 0.],
               [0., 1.]])
        """
        return points.factor(self.metric)

    def outside_range(self) -> Floats:
        """Return the share of each v_k that lies outside range(M), between 0 and 1.

        Above 0, the user's score also changes along directions that the metric does not measure,
        and "nearest to u_k" and "best score" can disagree.

        Returns
        -------
        ndarray of shape (K,)
            norm(v_k - P v_k) / norm(v_k), with P the projection on range(M).

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().outside_range()
        array([0., 0.])
        """
        return points.outside_range(self.metric, self.points)

    def ideal_points(
        self,
        method: IdealMethod = "exact",
        alpha: float | None = None,
        prior: npt.ArrayLike | None = None,
    ) -> Floats:
        """Return the ideal points u_k, in the features after the feature map.

        Parameters
        ----------
        method : {"exact", "regularised"}
            u = -1/2 pinv(M) v, or -2 (4 M^2 + alpha I)^-1 M v, which forgives errors in M.
        alpha : float, optional
            Strength of the regularisation; the dimension d when not given, as in the paper.
        prior : array-like of shape (d, d), optional
            A positive semidefinite matrix in place of alpha I.

        Returns
        -------
        ndarray of shape (K, d)
            One row per user.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().ideal_points()
        array([[1., 0.],
               [0., 1.]])
        """
        return _ideal_points(self.metric, self.points, method, alpha, prior)

    def ideal_item(
        self,
        user: Hashable,
        method: IdealMethod = "exact",
        alpha: float | None = None,
        prior: npt.ArrayLike | None = None,
    ) -> dict[str, float]:
        """Return the item that would sit at the user's ideal point, in the original units.

        Parameters
        ----------
        user : hashable
            The user's id.
        method, alpha, prior
            As in `ideal_points`.

        Returns
        -------
        dict of str to float
            A value for each feature of the items.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().ideal_item("ann")
        {'warm': 1.0, 'light': 0.0}
        """
        row = self._user_codes([user])
        metric = self.metric if self.metric.ndim == 2 else self.metric[row]
        ideal = _ideal_points(metric, self.points[row], method, alpha, prior)
        raw = np.asarray(self.features.inverse(ideal))[0]
        return dict(zip(self.items.names, raw.tolist(), strict=True))

    def distances(self, items: Items | None = None) -> Floats:
        """Return the distances between items under the metric.

        Parameters
        ----------
        items : Items, optional
            New items, with the features of the model's; the model's own when not given.

        Returns
        -------
        ndarray of shape (n, n) or (K, n, n)
            The square root of (x_i - x_j)' M (x_i - x_j), for each user if the metrics differ.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().distances().round(3)
        array([[0.   , 1.732, 2.828],
               [1.732, 0.   , 1.732],
               [2.828, 1.732, 0.   ]])
        """
        return scoring.distances(self.metric, self._features_of(items))


def _ideal_points(
    metric: Floats,
    pseudo: Floats,
    method: str,
    alpha: float | None,
    prior: npt.ArrayLike | None,
) -> Floats:
    """Return ideal points by the method asked for."""
    if method == "regularised":
        return points.ideal_points_regularised(metric, pseudo, alpha, prior)
    if method != "exact":
        raise SettingError(
            f"there is no method {method!r}{did_you_mean(method, ('exact', 'regularised'))} "
            "(choose exact or regularised)"
        )
    if alpha is not None or prior is not None:
        raise SettingError("alpha and prior need method='regularised'; the exact method has none")
    return points.ideal_points(metric, pseudo)
