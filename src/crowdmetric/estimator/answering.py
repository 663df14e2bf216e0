"""What a fitted estimator answers: margins, predictions, accuracy, distances."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from crowdmetric.comparisons import Comparisons
from crowdmetric.errors import SettingError, UnknownUserError
from crowdmetric.estimator.inputs import as_responses, as_triples
from crowdmetric.metrics import accuracy
from crowdmetric.model import Model

__all__ = ["Answering"]

Floats = npt.NDArray[np.float64]


class Answering:
    """The half of an estimator that needs nothing but its `model_`."""

    model_: Model

    def decision_function(self, T: Comparisons | npt.ArrayLike) -> Floats:
        """Return the margins: the left item's score less the right one's.

        Parameters
        ----------
        T : array-like of int, shape (m, 3), or Comparisons
            User, left item and right item, as row numbers; Comparisons are matched by ids.

        Returns
        -------
        ndarray of shape (m,)
            Negative where left is predicted.

        Examples
        --------
        >>> from crowdmetric import CrowdMetric, regions
        >>> fit = CrowdMetric(np.eye(3), regions.NuclearFull(1.0)).fit([[0, 0, 1]], [-1])
        >>> fit.decision_function([[0, 0, 1], [0, 1, 0]]).round(2)
        array([-1.5,  1.5])
        """
        check_is_fitted(self)
        if isinstance(T, Comparisons):
            return self.model_.margins(T)
        triples, known = as_triples(T), len(self.model_.users)
        largest = int(triples[:, 0].max(initial=0))
        if largest >= known:
            raise UnknownUserError(
                f"the user {largest} is outside 0..{known - 1}: the fit never saw this user; give "
                "the estimator users=... with the number of all users"
            )
        return self.model_.margins_of_codes(triples)

    def predict(self, T: Comparisons | npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return -1 where the left item is predicted to be preferred, else 1.

        Parameters
        ----------
        T : array-like of int, shape (m, 3), or Comparisons
            As in `decision_function`.

        Returns
        -------
        ndarray of int, shape (m,)
            The predictions.

        Examples
        --------
        >>> from crowdmetric import CrowdMetric, regions
        >>> fit = CrowdMetric(np.eye(3), regions.NuclearFull(1.0)).fit([[0, 0, 1]], [-1])
        >>> fit.predict([[0, 0, 1], [0, 1, 0]])
        array([-1,  1])
        """
        return np.where(self.decision_function(T) < 0, -1, 1)

    def predict_proba(self, T: Comparisons | npt.ArrayLike) -> Floats:
        """Return the probabilities of left and of right; only for losses that are links.

        Parameters
        ----------
        T : array-like of int, shape (m, 3), or Comparisons
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (m, 2)
            In the order of `classes_`, -1 and 1.

        Examples
        --------
        >>> from crowdmetric import CrowdMetric, regions
        >>> fit = CrowdMetric(np.eye(3), regions.NuclearFull(1.0)).fit([[0, 0, 1]], [-1])
        >>> fit.predict_proba([[0, 0, 1]]).round(2)
        array([[0.82, 0.18]])
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
            As in `decision_function`.
        y : array-like of shape (m,), optional
            -1: left preferred; 1: right preferred; 0: a tie. Comparisons hold their own.
        sample_weight : array-like of shape (m,), optional
            How much each answer counts; takes the place of the weights of Comparisons.

        Returns
        -------
        float
            Between 0 and 1.

        Examples
        --------
        >>> from crowdmetric import CrowdMetric, regions
        >>> fit = CrowdMetric(np.eye(3), regions.NuclearFull(1.0)).fit([[0, 0, 1]], [-1])
        >>> fit.score([[0, 0, 1], [0, 0, 1]], [-1, 0])
        0.75
        """
        margins = self.decision_function(T)
        return accuracy(margins, *as_responses(T, y, sample_weight))

    def get_metric(self) -> Callable[[npt.ArrayLike, npt.ArrayLike], float]:
        """Return the learned distance between two rows of raw features, as a function.

        Returns
        -------
        callable
            For example for scikit-learn's neighbours; only where the crowd shares a metric.

        Examples
        --------
        >>> from crowdmetric import CrowdMetric, regions
        >>> region = regions.FixedMetric(np.eye(2), point_radius=1.0)
        >>> fit = CrowdMetric(np.eye(2), region).fit([[0, 0, 1]], [-1])
        >>> fit.get_metric()([0.0, 0.0], [3.0, 4.0])
        5.0
        """
        check_is_fitted(self)
        model = self.model_
        if model.metric.ndim == 3:
            raise SettingError("every user has a metric of their own: use model_.distances")

        def distance(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
            pair = model.features.transform(np.stack([np.asarray(one), np.asarray(other)]))
            step = pair[0] - pair[1]
            return float(np.sqrt(max(step @ model.metric @ step, 0.0)))

        return distance

    @property
    def components_(self) -> Floats:
        """L' with M = L L': distances are Euclidean after multiplying mapped features by L.

        Examples
        --------
        >>> from crowdmetric import CrowdMetric, regions
        >>> region = regions.FixedMetric(np.diag([4.0, 0.0]), point_radius=1.0)
        >>> np.abs(CrowdMetric(np.eye(2), region).fit([[0, 0, 1]], [-1]).components_)
        array([[2., 0.]])
        """
        check_is_fitted(self)
        return np.swapaxes(self.model_.factor(), -1, -2)
