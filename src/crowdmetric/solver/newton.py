"""A primal-dual Newton method for smooth losses over the cone, whose best point may be far out.

Where answers are nearly separable, points and metric have a long way to go, along which the risk
is ever flatter. Newton's steps do not mind. A multiplier keeps M inside the cone, and Mehrotra's
predictor and corrector choose how fast the two become complementary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from crowdmetric.crowd import Crowd
from crowdmetric.losses import CurvedLoss
from crowdmetric.problem import Problem
from crowdmetric.regions import PSDOnly
from crowdmetric.solver.assessment import Assessment, assess
from crowdmetric.solver.cone import Cone, Turn
from crowdmetric.solver.curvature import Arrow, arrow_fits, joined_features, mean_curvatures
from crowdmetric.solver.cycles import Cycles

__all__ = ["ConeNewton"]

Floats = npt.NDArray[np.float64]

_START = 0.3  # typical margins of the first metric, over those at which the loss becomes small
_FIRST_LEVEL = 0.2
_LEAST_SHARE = 1e-3  # to which one step may reduce the level
_BOUNDARY = 0.95  # how much of the way to the boundary a step goes
_FLAT = 0.01  # of the expected decrease: the price of a step as long as the point itself
_STRETCH = 3.0  # how much longer a step is made at a time
_ACCURACY = 0.3  # of the slope may be left where a search ends
_MOST_TRIALS = 10
_MOST_STEPS = 100
_MOST_STEPS_OF_POINTS = 20
_SETTLED = 0.01  # of the smallest share: a decrease that turns no more answers
_GOOD_ENOUGH = 0.01  # of the risk: a decrease after which a point stands for all that are better
_MOST_STEPS_APART = 20


class ConeNewton:
    """The state of the method on one problem.

    The first step fits the points alone: if they explain a user perfectly, there is no best
    point. All others move metric and points together; if there is no best point, to a good one.

    Parameters
    ----------
    problem : Problem
        What to minimise; see `suits`.
    crowd : Crowd
        Its answers.
    """

    def __init__(self, problem: Problem, crowd: Crowd) -> None:
        """Start near zero, well inside the cone: a point at its boundary would take more steps."""
        assert isinstance(problem.loss, CurvedLoss)
        self.problem, self.crowd, self._loss = problem, crowd.exact, problem.loss
        d = crowd.dimension
        zero = np.zeros(1)
        at_zero = float(problem.loss.value(zero)[0])
        unit = at_zero / -float(problem.loss.slope(zero)[0])
        size, self._least_points = unit / np.sqrt(mean_curvatures(self.crowd, self.crowd.share))
        metric = _START * size * np.eye(d)
        self._cone = Cone(metric, _FIRST_LEVEL * np.linalg.inv(metric))
        self._points = np.zeros((1, crowd.n_users, d))
        self._joined = joined_features(crowd.reference)
        self._margins = np.zeros(len(crowd.user))
        self._decrease = at_zero
        self._stretched = False
        self._cycles = Cycles(self.crowd)
        self._apart = False
        self.iteration = 0
        self.stuck = False

    @staticmethod
    def suits(problem: Problem, crowd: Crowd) -> bool:
        """Return whether the method can solve a problem, and a step is worth its work."""
        return (
            isinstance(problem.region, PSDOnly)
            and problem.region.margin_bound is None
            and isinstance(problem.loss, CurvedLoss)
            and crowd.n_problems == 1
            and arrow_fits(crowd, crowd.dimension * (crowd.dimension + 1) // 2)
            and min(mean_curvatures(crowd.exact, crowd.share)) > 0  # else all items are alike
        )

    def due(self, tol: float) -> bool:
        """Return whether an assessment is worth its time: it ends the search if none is best."""
        if not self._apart or self.stuck or self.iteration >= _MOST_STEPS_APART:
            return True
        share = self.crowd.share
        risk = float(share @ self._loss.value(self._margins))
        explained = bool((self._margins[share > 0] > 0).all())
        settled = self.iteration > 1 and self._decrease <= _GOOD_ENOUGH * risk
        return explained or settled

    def step(self) -> None:
        """Take one iteration; being stuck is recorded, not raised."""
        try:
            if self.iteration == 0:
                self._fit_points()
            else:
                self._iterate()
        except np.linalg.LinAlgError:
            self.stuck = True
        self.iteration += 1
        self.stuck = self.stuck or self.iteration >= _MOST_STEPS

    def assess(self) -> Assessment:
        """Return the present point with its certificate."""
        point = self._cone.metric[None], self._points
        found = assess(self.problem, self.crowd, None, point, None, None, None)
        return replace(found, apart=found.apart | self._apart)

    def _fit_points(self) -> None:
        """Fit the points without a metric, until they have turned all answers that they can."""
        crowd, d = self.crowd, self.crowd.dimension
        settled = _SETTLED * float(np.min(crowd.share, where=crowd.share > 0, initial=np.inf))
        none = np.zeros((1, d, d))
        for _ in range(_MOST_STEPS_OF_POINTS):
            _, ridge = self._ridges()
            arrow = Arrow.of(crowd, crowd.reference, self._weights(), (0.0, ridge))
            _, pull = crowd.gradient(self._loss.slope(self._margins))
            _, points = arrow.solve(none, -pull)
            along = crowd.margins(none, points)
            length = self._search(along, np.zeros(0), 0.0)
            self._points = self._points + length * points
            self._margins = self._margins + length * along
            if self._decrease <= settled:
                break
        self._apart = self._cycles.apart(None, self._points[0])
        self._margins = crowd.margins(self._cone.metric[None], self._points)

    def _iterate(self) -> None:
        """Predict, correct and move."""
        crowd, cone = self.crowd, self._cone
        pull = crowd.gradient(self._loss.slope(self._margins))
        arrow = Arrow.of(
            crowd, self._joined, self._weights(), self._ridges(), barrier=cone.curvature()
        )
        none = np.zeros_like(cone.metric)
        turn, _ = self._direction(arrow, pull, 0.0, none)
        ahead = max(cone.level_after(turn, _lengths(turn, 1.0)), 0.0) / cone.level
        level = min(1.0, max(ahead**2, _LEAST_SHARE)) * cone.level
        for second_order in (turn.second_order, none):
            turn, points = self._direction(arrow, pull, level, second_order)
            along = crowd.margins(turn.metric[None], points)
            length = self._search(along, turn.values[0], level)
            if length > 0:
                break  # without terms of second order, the direction must lead down
        _, of_multiplier = _lengths(turn, _BOUNDARY)
        cone.move(turn, np.array([length, min(length, of_multiplier)]))
        self._points = self._points + length * points
        self._margins = crowd.margins(cone.metric[None], self._points)
        if not self._apart and (self._margins[self._cycles.outside] > 0).all():
            self._apart = self._cycles.apart(cone.root, self._points[0])

    def _weights(self) -> Floats:
        """Return the curvature of each answer, times its share."""
        weights: Floats = self.crowd.share * self._loss.curvature(self._margins)
        return weights

    def _ridges(self) -> tuple[float, float]:
        """Return what keeps steps short where the risk is flat: a proximal term, ever smaller."""
        price = _FLAT * self._decrease
        metric, points = self._cone.metric, self._points
        least = self._least_points**2
        return price / float(np.vdot(metric, metric)), price / max(
            float(np.vdot(points, points)), least
        )

    def _direction(
        self, arrow: Arrow, pull: tuple[Floats, Floats], level: float, second_order: Floats
    ) -> tuple[Turn, Floats]:
        """Solve the Newton system for a level."""
        cone = self._cone
        wanted = cone.force(level, second_order) - (pull[0] + np.swapaxes(pull[0], 1, 2)) / 2
        metric, points = arrow.solve(wanted, -pull[1])
        return cone.follow(metric[0], level, second_order), points

    def _search(self, along: Floats, values: Floats, level: float) -> float:
        """Return how far the risk less the barrier falls along a direction, and note how fast.

        Where losses fall like exponentials, a step of Newton's gains one e-fold, and several
        times that step several; but what has settled must settle again, by a plain step.
        """
        share, margins, loss = self.crowd.share, self._margins, self._loss

        def slope(length: float) -> float:
            of_risk = float((share * loss.slope(margins + length * along)) @ along)
            return of_risk - level * float((values / (1 + length * values)).sum())

        longest = 1.0 if self._stretched else np.inf
        if values.size and values[0] < 0:
            longest = min(longest, -_BOUNDARY / float(values[0]))
        steepness = slope(0.0)
        length = _lowest(slope, steepness, longest) if steepness < 0 else 0.0
        self._decrease = abs(steepness)
        self._stretched = length > 1.0
        return length


def _lengths(turn: Turn, share: float) -> tuple[float, float]:
    """Return how far matrix and multiplier can go, at most 1: a share of the way out."""
    one, other = (min(1.0, share / max(rate, share)) for rate in turn.rates)
    return one, other


def _lowest(slope: Callable[[float], float], steepness: float, longest: float) -> float:
    """Return roughly where a convex function is lowest, from its slopes.

    Parameters
    ----------
    slope : callable
        The slope at a length.
    steepness : float
        The slope at 0, which is negative.
    longest : float
        How far to look.

    Returns
    -------
    float
        The length.
    """
    low, high = (0.0, steepness), (np.inf, np.inf)
    length = min(1.0, longest)
    for _ in range(_MOST_TRIALS):
        here = slope(length)
        if abs(here) <= _ACCURACY * abs(steepness):
            break
        if here < 0 and length >= longest:
            break
        if here < 0:
            low = length, here
        else:
            high = length, here
        if high[0] == np.inf:
            length = min(longest, _STRETCH * length)
            continue
        width = high[0] - low[0]
        root = low[0] - low[1] * width / (high[1] - low[1])
        length = min(max(root, low[0] + 0.1 * width), high[0] - 0.1 * width)
    return length
