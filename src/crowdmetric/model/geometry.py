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
from crowdmetric.features import SharedPoint, has_inverse
from crowdmetric.model import scoring, search
from crowdmetric.model.parts import Parts
from crowdmetric.model.slopes import slope_products

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
        return points.factor(self.in_space[0])

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
        return points.outside_range(*self.in_space)

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
        metric, pseudo = self.in_space
        return self._ideal_points(metric, pseudo, method, alpha, prior)

    def ideal_item(
        self,
        user: Hashable,
        method: IdealMethod = "exact",
        alpha: float | None = None,
        prior: npt.ArrayLike | None = None,
        bounds: search.Bounds | None = None,
    ) -> dict[str, float]:
        """Return the item that the user would like best, in the original units.

        Without bounds, it is the item that would sit at the user's ideal point. Where the feature
        map has no way back from there (a kernel lift), and wherever bounds are given, it is the
        item with the least score that a search within the bounds finds.

        Parameters
        ----------
        user : hashable
            The user's id.
        method, alpha, prior
            As in `ideal_points`; of no account in a search.
        bounds : mapping of str to (float, float), optional
            How low and how high features may be, by their names; a feature that is not named
            stays within the range of the model's items.

        Returns
        -------
        dict of str to float
            A value for each feature of the items.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().ideal_item("ann")
        {'warm': 1.0, 'light': 0.0}
        >>> example().ideal_item("ann", bounds={"warm": (0.0, 0.5), "light": (0.2, 1.0)})
        {'warm': 0.5, 'light': 0.2}
        """
        if bounds is not None or not has_inverse(self.features):
            return self._searched_item(user, bounds)
        row = self._user_codes([user])
        metric, pseudo = self.in_space
        metric = metric if metric.ndim == 2 else metric[row]
        ideal = self._ideal_points(metric, pseudo[row], method, alpha, prior)
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

    def sensitivity(self, user: Hashable | None = None) -> Floats:
        """Return how fast scores change with each raw feature, and with pairs of them.

        For a kernel lift, whose coordinates have no names, this takes the metric's place in
        telling what matters; it counts the points too.

        Parameters
        ----------
        user : hashable, optional
            Whose scores; the mean over all users when not given.

        Returns
        -------
        ndarray of shape (d, d)
            The mean over the items of g g', with g the slope of the score in the raw features.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().sensitivity("ann").round(3)
        array([[26.667, -2.667],
               [-2.667,  1.333]])
        """
        rows = range(len(self.users)) if user is None else self._user_codes([user]).tolist()
        raw = self.items.features
        if self.metric.ndim == 2:
            return slope_products(self.metric, self.points[list(rows)], self.features, raw)
        own = [slope_products(self.metric[k], self.points[[k]], self.features, raw) for k in rows]
        mean: Floats = np.mean(own, axis=0)
        return mean

    def _searched_item(self, user: Hashable, bounds: search.Bounds | None) -> dict[str, float]:
        """Return the item with the least score that a search finds."""
        row = self._user_codes([user])
        metric = self.metric if self.metric.ndim == 2 else self.metric[row]
        pseudo = self.points[row]

        def score(raw: Floats) -> Floats:
            x = np.asarray(self.features.transform(raw), dtype=np.float64)
            scores: Floats = scoring.scores(metric, pseudo, x)[0]
            return scores

        low, high = search.box_of(self.items, bounds)
        best = search.best_within(score, low, high, self.items.features)
        return dict(zip(self.items.names, best.tolist(), strict=True))

    def _ideal_points(
        self,
        metric: Floats,
        pseudo: Floats,
        method: str,
        alpha: float | None,
        prior: npt.ArrayLike | None,
    ) -> Floats:
        """Return ideal points; they have the constant coordinate, if items have one."""
        at = self.varying
        ideal = _by_method(metric[..., at, at], pseudo[:, at], method, alpha, prior)
        if not isinstance(self.features, SharedPoint):
            return ideal
        constant = np.full((len(ideal), 1), self.features.constant)
        return np.concatenate([ideal, constant], axis=1)


def _by_method(
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
