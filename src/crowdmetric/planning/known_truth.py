"""A crowd with known truth in the setting of the theorems: items in the unit ball, exact risks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Answers, Comparisons
from crowdmetric.errors import SettingError
from crowdmetric.losses import Logistic
from crowdmetric.planning.recovery_bounds import Likelihood, divergence
from crowdmetric.planning.waiting import random_pairs
from crowdmetric.simulation import Simulation

__all__ = ["KnownCrowd", "in_unit_ball"]


@dataclass(frozen=True, eq=False)
class KnownCrowd:
    """Items, metric and points that are known, and how answers follow from them.

    Parameters
    ----------
    features : ndarray of shape (n, d)
        One row per item.
    metric : ndarray of shape (d, d)
        The true metric M*.
    points : ndarray of shape (K, d)
        The true points v_k*.
    loss : Likelihood
        Its link gives the answers; estimates minimise it.

    Examples
    --------
    >>> from crowdmetric.simulation import simulate
    >>> crowd = in_unit_ball(simulate(n_items=12, dimension=2, n_users=3, noise=0.5))
    >>> print(f"{crowd.metric_size:.2f} {crowd.longest_point:.2f} {crowd.nuclear_norm:.2f}")
    5.18 7.34 10.16
    """

    features: Floats
    metric: Floats
    points: Floats
    loss: Likelihood

    @property
    def metric_size(self) -> float:
        """The Frobenius norm of the metric: the least lambda_F that holds the truth.

        Examples
        --------
        >>> KnownCrowd(
        ...     np.eye(2), np.eye(2) / 2, np.zeros((1, 2)), Logistic()
        ... ).metric_size == 0.5**0.5
        True
        """
        return float(np.linalg.norm(self.metric))

    @property
    def longest_point(self) -> float:
        """The longest v_k: the least lambda_v that holds the truth.

        Examples
        --------
        >>> KnownCrowd(np.eye(2), np.eye(2), np.array([[3.0, 4.0]]), Logistic()).longest_point
        5.0
        """
        return float(np.linalg.norm(self.points, axis=1).max())

    @property
    def nuclear_norm(self) -> float:
        """The nuclear norm of [M V']: the least lambda_* that holds the truth.

        Examples
        --------
        >>> KnownCrowd(np.eye(2), np.eye(2), np.zeros((1, 2)), Logistic()).nuclear_norm
        2.0
        """
        together = np.vstack([self.metric, self.points])
        return float(np.linalg.svd(together, compute_uv=False).sum())

    @property
    def margin_bound(self) -> float:
        """The largest margin of any user and pair: the least gamma that holds the truth.

        Examples
        --------
        >>> KnownCrowd(np.eye(2), np.diag([1.0, 3.0]), np.zeros((1, 2)), Logistic()).margin_bound
        2.0
        """
        return float(np.ptp(self._scores(self.metric, self.points), axis=1).max())

    def draw(self, count: int, generator: np.random.Generator) -> Answers:
        """Draw answers as the theorems do: user, pair and answer anew each time.

        Parameters
        ----------
        count : int
            The number m of answers of all users together.
        generator : Generator
            Where the randomness comes from.

        Returns
        -------
        Answers
            Ready for a `Problem`.

        Examples
        --------
        >>> crowd = KnownCrowd(np.eye(3), np.eye(3), np.zeros((2, 3)), Logistic())
        >>> len(crowd.draw(10, np.random.default_rng(0)))
        10
        """
        if count < 1:
            raise SettingError(f"there must be at least one answer, not {count}")
        n_users, n_items = len(self.points), len(self.features)
        user = generator.integers(n_users, size=count)
        left, right = random_pairs(n_items, count, generator).T
        scores = self._scores(self.metric, self.points)
        says_right = self.loss.probability(scores[user, left] - scores[user, right])
        response = np.where(generator.random(count) < says_right, 1, -1)
        table = np.column_stack([user, left, right])
        return Comparisons.from_arrays(
            table, response, users=range(n_users), n_items=n_items
        ).answers()

    def excess_risk(self, metric: Floats, points: Floats) -> float:
        """Return by how much the true risk exceeds that of the truth, which is the least.

        Not an estimate: the mean over all users, all pairs and both answers.

        Parameters
        ----------
        metric : ndarray of shape (d, d)
            An estimate of the metric.
        points : ndarray of shape (K, d)
            Estimates of the points.

        Returns
        -------
        float
            The excess risk, for the loss of this crowd.

        Examples
        --------
        >>> crowd = KnownCrowd(np.eye(3), np.diag([1.0, 2.0, 3.0]), np.zeros((2, 3)), Logistic())
        >>> crowd.excess_risk(crowd.metric, crowd.points)
        0.0
        >>> print(f"{crowd.excess_risk(np.zeros((3, 3)), crowd.points):.3f}")
        0.183
        """
        left, right = np.triu_indices(len(self.features), 1)
        true, found = self._scores(self.metric, self.points), self._scores(metric, points)
        total = 0.0
        for mine, theirs in zip(true, found, strict=True):  # one user's pairs fit into memory
            wrong = divergence(self.loss, mine[left] - mine[right], theirs[left] - theirs[right])
            total += float(wrong.mean())
        return total / len(self.points)

    def squared_error(self, metric: Floats, points: Floats) -> float:
        """Return norm_F(M - M*)^2 + mean over k of norm(v_k - v_k*)^2.

        Parameters
        ----------
        metric, points : ndarray
            An estimate.

        Returns
        -------
        float
            What the theorems on recovery bound.

        Examples
        --------
        >>> crowd = KnownCrowd(np.eye(2), np.eye(2), np.zeros((4, 2)), Logistic())
        >>> crowd.squared_error(np.zeros((2, 2)), np.ones((4, 2)))
        4.0
        """
        off = ((points - self.points) ** 2).sum() / len(self.points)
        return float(((metric - self.metric) ** 2).sum() + off)

    def _scores(self, metric: Floats, points: Floats) -> Floats:
        """Return x_i' M x_i + v_k' x_i for each user and item."""
        size = np.einsum("nd,nd->n", self.features @ metric, self.features)
        result: Floats = size + points @ self.features.T
        return result


def in_unit_ball(crowd: Simulation, loss: Likelihood | None = None) -> KnownCrowd:
    """Bring a simulated crowd into the setting of the theorems.

    The items are divided by the length of the longest, and metric and points scaled up in turn,
    so that every margin stays as it was.

    Parameters
    ----------
    crowd : Simulation
        With its truth.
    loss : Likelihood, optional
        Whose link gives the answers; logistic, with the noise of the simulation, if not given.

    Returns
    -------
    KnownCrowd
        The same crowd in other units.

    Examples
    --------
    >>> from crowdmetric.simulation import simulate
    >>> crowd = in_unit_ball(simulate(n_items=12, dimension=2, n_users=3))
    >>> float(np.linalg.norm(crowd.features, axis=1).max().round(12))
    1.0
    """
    longest = float(np.linalg.norm(crowd.items.features, axis=1).max())
    return KnownCrowd(
        crowd.items.features / longest,
        crowd.metric * longest**2,
        crowd.points * longest,
        Logistic(crowd.noise) if loss is None else loss,
    )
