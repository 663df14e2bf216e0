"""What the answers leave uncertain about a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crowdmetric.checks import Floats
from crowdmetric.losses import CurvedLoss
from crowdmetric.model import Model
from crowdmetric.trust.bootstrap_intervals import Interval, interval
from crowdmetric.trust.bootstrap_refits import Draws
from crowdmetric.trust.bootstrap_task import Over
from crowdmetric.worth import feature_shares

__all__ = ["Uncertainty", "best_within"]

_FEW_PEOPLE = 20  # fewer are too few to say how people differ
_FEW_ANSWERS = 6.0  # per unknown: where fewer, intervals were not seen to hold what they promise


@dataclass(frozen=True, eq=False, repr=False)
class Uncertainty:
    """Intervals for all that a model says.

    Metric, ideal points and scores are in the features after the feature map, as in the model.

    Parameters
    ----------
    model : Model
        The fit.
    draws : Draws
        Its refits, each person's answers drawn again.
    people : Draws or None
        Refits for which people were drawn, if they were.
    free_metric, free_points : ndarray of shapes (d, d) and (K, d)
        The estimate without the region's bias.
    determined : ndarray of bool, shape (K,)
        Whose answers can say something about every direction.
    accuracy, user_accuracy : Interval
        The share of new answers like these that the model will predict, of all users and of each.
    level : float
        How probable each interval shall be to hold the truth.
    answers : int
        How many there were.

    Examples
    --------
    >>> from crowdmetric import CrowdMetric, regions, simulate
    >>> from crowdmetric.trust import bootstrap
    >>> crowd = simulate(n_items=20, dimension=2, n_users=3, pairs_per_user=60, noise=3.0)
    >>> fit = CrowdMetric(crowd.items, regions.NuclearFull(8.0)).fit(crowd.comparisons)
    >>> found = bootstrap(fit.model_, crowd.comparisons, resamples=40)
    >>> found
    Uncertainty(40 resamples over answers, 90% intervals)
    >>> bool((found.metric.low <= found.metric.high).all()), found.scores.fit.shape
    (True, (3, 20))
    """

    model: Model
    draws: Draws
    people: Draws | None
    free_metric: Floats
    free_points: Floats
    determined: npt.NDArray[np.bool_]
    accuracy: Interval
    user_accuracy: Interval
    level: float
    answers: int

    def __repr__(self) -> str:
        """Return a summary in one line."""
        return (
            f"Uncertainty({len(self.draws)} resamples over {self.over}, {self.level:.0%} intervals)"
        )

    @property
    def over(self) -> Over:
        """What was drawn for the intervals about the crowd: answers, or people."""
        return "answers" if self.people is None else "people"

    @property
    def metric(self) -> Interval:
        """The entries of the metric, of shape (d, d): over people, if those were drawn."""
        return interval(self._metric, self.free_metric, self._errors, self.level)

    @cached_property
    def eigenvalues(self) -> Interval:
        """The eigenvalues of the metric, the largest first, over people if those were drawn."""
        fit, free, around = (
            np.linalg.eigvalsh(metric)[..., ::-1].astype(np.float64)
            for metric in (self._metric, self.free_metric, self._metric + self._errors)
        )
        # Errors of eigenvalues depend on how far apart the true ones are: there, the fit is nearer
        # to the truth than the estimate, whose smallest eigenvalues are spread out by chance.
        found = interval(fit, free, around - fit, self.level, least=0.0)
        # In order, as the eigenvalues are: that makes no interval hold less (Chernozhukov,
        # Fernandez-Val and Galichon, 2009, on rearrangement).
        return Interval(*(-np.sort(-part) for part in vars(found).values()))

    @property
    def features(self) -> Interval:
        """What each feature is worth, as a share; see `crowdmetric.worth.feature_shares`."""
        x, free_metrics = self.model.x, self.free_metric + self._errors
        around = np.array([feature_shares(metric, x) for metric in free_metrics])
        fit, free = feature_shares(self._metric, x), feature_shares(self.free_metric, x)
        return interval(fit, free, around - free, self.level, least=0.0, most=1.0)

    @cached_property
    def directions(self) -> Floats:
        """The directions that the metric surely measures, as orthonormal columns.

        Those of the model's leading eigenvalues whose intervals lie above zero.
        """
        _, vectors = np.linalg.eigh(self._metric)
        sure = int((np.cumprod(self.eigenvalues.low > 0)).sum())
        result: Floats = vectors[:, ::-1][:, :sure]
        return result

    @property
    def ideal_points(self) -> Interval:
        """The best place for each user within `directions`, of shape (K, d).

        What lies along other directions, the answers do not tell, and the metric may not measure.
        """
        inside = self.directions
        fit = best_within(inside, self._metric, self._points)
        free = best_within(inside, self.free_metric, self.free_points)
        around = np.array(
            [
                best_within(inside, metric, points)
                for metric, points in zip(
                    self.draws.free_metric, self.draws.free_points, strict=True
                )
            ]
        )
        return self._where_determined(interval(fit, free, around - free, self.level))

    @cached_property
    def scores(self) -> Interval:
        """The score of every item for every user, of shape (K, n)."""
        found = [
            interval(fit, free, errors, self.level)
            for fit, free, errors in zip(
                self.model.scores(), self._scores_without_bias(), self._score_errors(), strict=True
            )
        ]
        parts = (
            np.array(part) for part in zip(*(vars(one).values() for one in found), strict=True)
        )
        return self._where_determined(Interval(*parts))

    def top(self, count: int = 3) -> Floats:
        """Return how probable it is that each item is among the best of each user.

        Parameters
        ----------
        count : int
            How many the best are.

        Returns
        -------
        ndarray of shape (K, n)
            How often it is there when the errors of the resamples are added to the fit.

        Examples
        --------
        >>> from crowdmetric import CrowdMetric, regions, simulate
        >>> from crowdmetric.trust import bootstrap
        >>> crowd = simulate(n_items=5, dimension=2, n_users=3, pairs_per_user=60, noise=3.0)
        >>> fit = CrowdMetric(crowd.items, regions.NuclearFull(8.0)).fit(crowd.comparisons)
        >>> bootstrap(fit.model_, crowd.comparisons, resamples=20).top(2).sum(axis=1)
        array([2., 2., 2.])
        """
        fit = self.model.scores()
        result = np.zeros(fit.shape)
        count = min(count, fit.shape[1])
        for user, (scores, errors) in enumerate(zip(fit, self._score_errors(), strict=True)):
            best = np.argsort(scores + errors, axis=1)[:, :count]
            result[user] = np.bincount(best.ravel(), minlength=len(scores))
        return result / len(self.draws)

    @property
    def notes(self) -> list[str]:
        """What to know before trusting the intervals, in readable sentences."""
        d, users = self.model.dimension, len(self.model.users)
        loss, per_unknown = self.model.loss, self.answers / (d * (d + 1) / 2 + users * d)
        found = []
        if not isinstance(loss, CurvedLoss):
            found.append(
                f"the loss {loss.name!r} has no second derivative, so the bias of the radius stays "
                "in: these intervals say how far refits scatter, not where the truth is; fit with "
                "the logistic loss for those"
            )
        elif per_unknown < _FEW_ANSWERS:
            found.append(
                f"there are {per_unknown:.1f} answers per unknown of the model; below "
                f"{_FEW_ANSWERS:g}, intervals for metric, ideal points and scores can miss more "
                "often than they say (accuracies do not)"
            )
        undetermined = int((~self.determined).sum())
        if undetermined:
            found.append(
                f"{undetermined} of {users} users compared too few items to say anything about "
                "every direction: their ideal points and scores have no interval"
            )
        if self.people is not None and users < _FEW_PEOPLE:
            found.append(
                f"{users} people are too few to say how people differ: below {_FEW_PEOPLE}, "
                "intervals over people are too narrow"
            )
        return found

    @property
    def _metric(self) -> Floats:
        """The fitted metric."""
        return np.asarray(self.model.metric, dtype=np.float64)

    @property
    def _points(self) -> Floats:
        """The fitted points."""
        return np.asarray(self.model.points, dtype=np.float64)

    @property
    def _errors(self) -> Floats:
        """What the estimates of the metric are off by in the resamples.

        Over people, resamples have the spread but not the bias: each person's point fits that
        person's answers too well, whoever else is drawn. It is that of resamples over answers.
        And nothing can spread less over people than over their answers alone.
        """
        errors = self.draws.free_metric - self.free_metric
        if self.people is None:
            return errors
        spread = self.people.free_metric - np.median(self.people.free_metric, axis=0)
        size, least = spread.std(axis=0), errors.std(axis=0)
        scale = np.divide(least, size, out=np.ones_like(size), where=size > 0)
        wide = spread * np.maximum(scale, 1.0)
        return np.asarray(wide + np.median(errors, axis=0), dtype=np.float64)

    def _scores_without_bias(self) -> Floats:
        """Return the scores in the estimate without the region's bias."""
        x = self.model.x
        result: Floats = self.free_points @ x.T + _squares(self.free_metric, x)
        return result

    def _score_errors(self) -> Iterator[Floats]:
        """Yield the errors of each user's scores, a row for each resample."""
        x = self.model.x
        free = self.draws.free_metric
        common = np.array([_squares(off, x) for off in free - self.free_metric])
        for off in np.swapaxes(self.draws.free_points - self.free_points, 0, 1):
            yield common + off @ x.T

    def _where_determined(self, found: Interval) -> Interval:
        """Open the intervals of users whose answers leave a direction out."""
        known = self.determined[:, None]
        return Interval(
            found.fit,
            found.estimate,
            np.where(known, found.low, -np.inf),
            np.where(known, found.high, np.inf),
        )


def _squares(metric: Floats, x: Floats) -> Floats:
    """Return x_i' M x_i for each item."""
    result: Floats = np.einsum("id,id->i", x @ metric, x)
    return result


def best_within(inside: Floats, metric: Floats, points: Floats) -> Floats:
    """Return where in a subspace each user's score is least: -1/2 Q (Q'MQ)^-1 Q'v.

    Parameters
    ----------
    inside : ndarray of shape (d, r)
        Orthonormal columns Q.
    metric : ndarray of shape (d, d)
        The metric M.
    points : ndarray of shape (K, d)
        The points v.

    Returns
    -------
    ndarray of shape (K, d)
        The ideal points P u, with P the projection on the subspace, if that is the range of M.

    Examples
    --------
    >>> best_within(np.eye(2)[:, :1], np.diag([2.0, 1.0]), np.array([[-4.0, -2.0]]))
    array([[1., 0.]])
    """
    small = inside.T @ metric @ inside
    found = -0.5 * (inside @ np.linalg.pinv(small) @ (inside.T @ points.T)).T
    return np.asarray(found + 0.0, dtype=np.float64)  # no negative zeros
