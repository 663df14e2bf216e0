"""Feasible points on the way, with their certificates."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from crowdmetric.certificate import lower_bound
from crowdmetric.crowd import Crowd
from crowdmetric.losses import Link, Loss
from crowdmetric.margin_bound import MarginBound
from crowdmetric.problem import Problem
from crowdmetric.regions import PSDOnly, RepairedRegion, SplitRegion
from crowdmetric.regions.projections import vector_norm
from crowdmetric.solver.curvature import mean_curvatures
from crowdmetric.solver.separable import separable

__all__ = ["Assessment", "assess"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Assessment:
    """A feasible point of each problem, with its certificate.

    Parameters
    ----------
    metric, points : ndarray of shapes (B, d, d) and (B, K / B, d)
        The feasible points.
    risk, gap : ndarray of shape (B,)
        Their risks, and how far they are from the best possible at most.
    margins : ndarray of shape (m,)
        z of every answer.
    slopes, dual, margin_dual, distance
        What the lower bounds are made of, as in `Certificate`; one distance for each problem.
    apart : ndarray of bool, shape (B,)
        Whether the point shows that there is no best one.
    """

    metric: Floats
    points: Floats
    risk: Floats
    gap: Floats
    margins: Floats
    slopes: Floats | None
    dual: Floats | None
    margin_dual: Floats | None
    distance: Floats | None
    apart: npt.NDArray[np.bool_]

    @property
    def _merit(self) -> Floats:
        """The smaller the better, for each problem; to show that none is best beats all."""
        merit = self.gap if self.distance is None else self.gap / self.distance
        return np.where(self.apart, -1.0, merit)

    def or_better(self, other: Assessment, crowd: Crowd) -> Assessment:
        """Keep, for each problem, the point with the smaller gap.

        Gaps up to different distances are compared per unit of distance: else an early point
        near zero, compared with few others, would beat all that follow.
        """
        better = other._merit < self._merit
        if better.all():
            return other
        if not better.any():
            return self
        of_answer = better[crowd.problem]

        def chosen(name: str, which: npt.NDArray[np.bool_]) -> Any:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine is None:
                return theirs
            return np.where(which.reshape((-1,) + (1,) * (mine.ndim - 1)), theirs, mine)

        per_answer = ("margins", "slopes")
        return Assessment(
            **{
                field.name: chosen(field.name, of_answer if field.name in per_answer else better)
                for field in fields(self)
            }
        )

    def confirmed(self, crowd: Crowd, loss: Loss) -> Assessment:
        """Return the same with the conjugate's word on the slopes.

        On the way, Fenchel's equality saves the conjugate; but it holds only for true slopes,
        and a loss may be anybody's.
        """
        if self.slopes is not None:
            return self
        slopes = loss.slope(self.margins)
        excess = loss.value(self.margins) + loss.conjugate(slopes) - slopes * self.margins
        return replace(self, gap=self.gap + np.maximum(crowd.mean(excess), 0.0))


def assess(
    problem: Problem,
    crowd: Crowd,
    bound: MarginBound | None,
    point: tuple[Floats, Floats],
    slopes: Floats | None,
    margin_dual: Floats | None,
    force: Floats | None,
) -> Assessment:
    """Make a point feasible and certify it.

    Parameters
    ----------
    problem : Problem
        What is minimised.
    crowd : Crowd
        Its answers, in float64.
    bound : MarginBound or None
        Its margin bound.
    point : tuple of ndarray
        M and V, inside the region's first piece.
    slopes : ndarray, optional
        Slopes for the bound; those at the feasible point when not given.
    margin_dual : ndarray, optional
        The multiplier of the margin bound.
    force : ndarray, optional
        The multiplier of the first piece of a `SplitRegion`, M's part.

    Returns
    -------
    Assessment
        The feasible point.
    """
    region, loss = problem.region, problem.loss
    metric, points = point
    if isinstance(region, RepairedRegion):
        metric, points = region.repair(metric, points)
    if bound is not None:
        metric, points = bound.shrink(metric, points)
    margins = crowd.margins(metric, points)
    risk = crowd.mean(loss.value(margins))
    used, constant = _slopes(crowd, loss, margins, slopes)
    gradient = crowd.gradient(used)
    dual = distance = None
    apart = np.zeros(crowd.n_problems, dtype=bool)
    if force is not None and isinstance(region, SplitRegion):
        pulled = gradient[0]
        if margin_dual is not None and bound is not None:
            pulled = pulled + bound.pull(margin_dual)[0]
        dual = region.best_dual(-pulled, force)
    if isinstance(region, PSDOnly):
        size = np.sqrt(vector_norm(metric, 2) ** 2 + vector_norm(points, 2) ** 2)
        distance = 2 * np.maximum(size, _least_distance(problem, crowd))
        if bound is None and isinstance(loss, Link):
            apart = separable(crowd, margins, points)
    duals = {"dual": dual, "margin_dual": margin_dual}
    lower = lower_bound(constant, gradient, region, duals, bound, distance)
    return Assessment(
        metric,
        points,
        risk,
        np.maximum(risk - lower, 0.0),
        margins,
        slopes,
        dual,
        margin_dual,
        distance,
        apart,
    )


def _slopes(
    crowd: Crowd, loss: Loss, margins: Floats, given: Floats | None
) -> tuple[Floats, Floats]:
    """Return the slopes of the bound, and minus the mean of the conjugate there."""
    if given is not None:
        return given, -crowd.mean(loss.conjugate(given))
    slopes = loss.slope(margins)
    # Fenchel's equality at the slopes of the point itself; see `Assessment.confirmed`.
    return slopes, crowd.mean(loss.value(margins)) - crowd.mean(slopes * margins)


def _least_distance(problem: Problem, crowd: Crowd) -> float:
    """Return how far from zero margins begin to matter: what lies nearer is no fair comparison.

    That is where a typical margin takes the tangent of the loss at zero down to zero.
    """
    zero = np.zeros(1)
    margin = float(problem.loss.value(zero)[0] / -problem.loss.slope(zero)[0])
    d = crowd.dimension
    of_metric, of_points = mean_curvatures(crowd, crowd.share)
    answered = np.count_nonzero(crowd.problem_weights)
    numbers = crowd.n_problems * d * (d + 1) / 2, crowd.n_users * d
    steepness = (of_metric * numbers[0] + of_points * numbers[1]) / answered
    # No steepness: all items are alike, and every point is as good as any other.
    return margin / float(np.sqrt(steepness)) if steepness > 0 else 1.0
