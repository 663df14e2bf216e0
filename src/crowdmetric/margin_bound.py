"""The margin bound gamma: for every user, the scores of all items lie within gamma of each other.

The bound |delta| <= gamma for all pairs and users is a bound on the range of each row of the
table of scores s_k(i) = x_i' M x_i + v_k' x_i, which is linear in (M, V).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from crowdmetric.crowd import Crowd
from crowdmetric.errors import SettingError
from crowdmetric.regions import FixedMetric, Region

__all__ = ["MarginBound"]

Floats = npt.NDArray[np.float64]

_MOST_CUTS, _ENOUGH_CUTS = 500, 50
_ENOUGH = 1 + 1e-6


@dataclass(frozen=True, eq=False)
class MarginBound:
    """The bound, with a point well inside it.

    Parameters
    ----------
    crowd : Crowd
        Whose items are scored.
    gamma : float
        The bound.
    metric, points : ndarray
        A point of the region (one problem's) that respects the bound.
    spread : float
        The largest range of scores at that point.
    """

    crowd: Crowd
    gamma: float
    metric: Floats
    points: Floats
    spread: float

    @classmethod
    def of(cls, crowd: Crowd, region: Region) -> MarginBound | None:
        """Return the region's bound, if it has one; refuse one that nothing can respect."""
        if region.margin_bound is None:
            return None
        d = crowd.dimension
        metric, points, spread = np.zeros((d, d)), np.zeros(d), 0.0
        if isinstance(region, FixedMetric):
            metric = region.metric
            radius, gamma = float(np.min(region.point_radius)), region.margin_bound
            points, spread = _small_spread(crowd.reference, metric, radius, gamma)
            if spread >= gamma:
                raise SettingError(
                    f"the margin bound {gamma:g} is too small for the fixed metric: "
                    f"give more than {spread:.3g}, or a point radius of more than {radius:.3g}"
                )
        return cls(crowd, region.margin_bound, metric, points, spread)

    def scores(self, metric: Floats, points: Floats) -> Floats:
        """Return the scores of all items, for each problem and user: (B, K / B, n)."""
        result: Floats = points @ self.crowd.features.T
        return result + self.crowd.sizes(metric)[:, None, :]

    def pull(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the adjoint of `scores`."""
        return self.crowd.pull_metric(scores.sum(axis=1)), scores @ self.crowd.features

    def shrink(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Move a point of the region towards the inner one until it respects the bound."""
        spread = np.ptp(self.scores(metric, points), axis=-1).max(axis=-1)
        room = self.gamma * (1 - 1e-12) - self.spread
        share = np.minimum(1.0, room / np.maximum(spread - self.spread, room))[:, None, None]
        return (
            self.metric + share * (metric - self.metric),
            self.points + share * (points - self.points),
        )

    def support(self, multiplier: Floats) -> Floats:
        """Return the support function gamma / 2 * norm_1, for rows that sum to zero."""
        result: Floats = self.gamma / 2 * np.abs(multiplier).sum(axis=(-1, -2))
        return result

    def violation(self, metric: Floats, points: Floats) -> Floats:
        """Return by how much the widest scores exceed the bound, relative to it."""
        spread = np.ptp(self.scores(metric, points), axis=-1).max(axis=-1)
        result: Floats = np.maximum(spread / self.gamma - 1, 0.0)
        return result


def centred(multiplier: Floats) -> Floats:
    """Make each row sum to zero: elsewhere the support function is infinite.

    Examples
    --------
    >>> centred(np.array([[1.0, 3.0]]))
    array([[-1.,  1.]])
    """
    result: Floats = multiplier - multiplier.mean(axis=-1, keepdims=True)
    return result


def _small_spread(
    features: Floats, metric: Floats, radius: float, gamma: float
) -> tuple[Floats, float]:
    """Return a v in the ball that spreads the scores little, by linear programmes.

    The ball is the limit of polytopes: each programme's v, if it is outside, is cut off. The
    search goes on while it is open whether a spread below gamma can be had at all.
    """
    count, d = features.shape
    size = np.einsum("nd,nd->n", features @ metric, features)
    upper = np.hstack([features, -np.ones((count, 1)), np.zeros((count, 1))])
    lower = np.hstack([-features, np.zeros((count, 1)), np.ones((count, 1))])
    rows, limits = np.vstack([upper, lower]), np.concatenate([-size, size])
    for cuts in range(_MOST_CUTS):
        found = linprog(
            np.concatenate([np.zeros(d), [1.0, -1.0]]),
            A_ub=rows,
            b_ub=limits,
            bounds=[(-radius, radius)] * d + [(None, None)] * 2,
        )
        point = np.asarray(found.x)[:d]
        length = float(np.linalg.norm(point))
        inside = point * (radius / max(length, radius))
        spread = float(np.ptp(size + features @ inside))
        decided = spread < gamma or float(found.fun or 0.0) >= gamma
        if length <= radius * _ENOUGH or (decided and cuts >= _ENOUGH_CUTS):
            break
        rows = np.vstack([rows, np.append(point / length, [0.0, 0.0])])
        limits = np.append(limits, radius)
    return inside, spread
