"""A primal-dual interior-point method for the hinge over balls: few iterations, exact corners.

Slacks and multipliers of the answers are eliminated, which leaves the arrow of `curvature` with a
weight per answer; Mehrotra's predictor and corrector choose the step. Every iterate is strictly
inside the region, so all of them are feasible.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from crowdmetric.crowd import Crowd
from crowdmetric.losses import Hinge
from crowdmetric.problem import Problem
from crowdmetric.regions import FrobeniusMetric, NuclearMetric
from crowdmetric.solver import interior_kernels as loops
from crowdmetric.solver.assessment import Assessment, assess
from crowdmetric.solver.barriers import Barriers, Change, Target
from crowdmetric.solver.curvature import joined_features

__all__ = ["InteriorPoint"]

Floats = npt.NDArray[np.float64]

_REGION_SHARE = 0.025  # complementarity of the region over that of the answers, on the central path
_BOUNDARY = 0.995  # how much of the way to the boundary a step goes
_MOST_STEPS = 60
_MOST_NUMBERS = 2e7
_MOST_PACKED = 120
_SHORTEST = 1e-7
_START = 1.5  # how far inside their bounds the slacks start
_NEAR = 3.0  # the complementarity of the answers is about twice the gap


class InteriorPoint:
    """The state of the method on one problem.

    Parameters
    ----------
    problem : Problem
        What to minimise; see `suits`.
    crowd : Crowd
        Its answers.
    """

    def __init__(self, problem: Problem, crowd: Crowd) -> None:
        """Start in the middle of the region."""
        region = problem.region
        assert isinstance(region, FrobeniusMetric | NuclearMetric)
        self.problem, self.crowd = problem, crowd
        exact = crowd.exact
        count, items, answers = crowd.n_users, len(exact.features), len(exact.user)
        self._joined = joined_features(exact.features)
        self._packed = self._joined.shape[1] - crowd.dimension
        self._up, self._down = exact.user * items + exact.up, exact.user * items + exact.down
        self._there = self._up * items + exact.down
        self._back = self._down * items + exact.up
        self._barriers = Barriers(region, count, crowd.dimension)
        table = self._scores(self._joined[:, : self._packed] @ self._start_packed(), None)
        z = table[self._up] - table[self._down]
        xi = np.maximum(1 - z, 0.0) + _START
        self._point = np.stack([z + xi - 1, xi, np.full(answers, 0.5)])
        self._step = np.zeros((3, answers))
        self._lengths = np.zeros(2)
        self._weight, self._inverses, self._want, self._force = np.empty((4, answers))
        self._second = np.empty((2, answers))
        self._graph = np.empty((count, items, items))
        self._columns = np.hstack([exact.features, np.ones((items, 1))])
        squares = exact.features[:, :, None] * self._joined[:, None, :]
        self._squares = squares.reshape(items, -1)
        level = float(exact.share @ (self._point[0] + xi)) / 2
        self._barriers.centre(_REGION_SHARE * level / self._barriers.count)
        self.iteration = 0
        self.stuck = False
        self._prepare()

    @staticmethod
    def knows(problem: Problem) -> bool:
        """Return whether the method is made for the loss and the region."""
        return (
            isinstance(problem.loss, Hinge)
            and isinstance(problem.region, FrobeniusMetric | NuclearMetric)
            and problem.region.margin_bound is None
        )

    @staticmethod
    def suits(problem: Problem, crowd: Crowd) -> bool:
        """Return whether the method can solve a problem, which has answers and fits its tables."""
        d, items = crowd.dimension, len(crowd.features)
        return (
            InteriorPoint.knows(problem)
            and crowd.problem_weights[0] > 0
            and crowd.n_problems == 1
            and d * (d + 1) // 2 <= _MOST_PACKED
            and crowd.n_users * items**2 <= _MOST_NUMBERS
        )

    def due(self, tol: float) -> bool:
        """Return whether an assessment is worth its time."""
        near = self._total <= _NEAR * tol
        return near or self.stuck or self.iteration % 20 == 0

    def step(self) -> None:
        """Take one iteration; being stuck is recorded, not raised."""
        try:
            self._iterate()
        except (np.linalg.LinAlgError, ZeroDivisionError):
            self.stuck = True
        self.iteration += 1
        self.stuck = self.stuck or self.iteration >= _MOST_STEPS
        self.stuck = self.stuck or bool(self._lengths.max() < _SHORTEST)

    def assess(self) -> Assessment:
        """Return the present point with its certificate."""
        point = self._barriers.metric[None], self._barriers.points[None]
        slopes = np.clip(-self._point[2], -1.0, 0.0)
        return assess(self.problem, self.crowd.exact, None, point, slopes, None, None)

    def _start_packed(self) -> Floats:
        """Return the packed metric at the start."""
        self._barriers.centre(1.0)
        return self._barriers.packed

    def _scores(self, sizes: Floats, points: Floats | None) -> Floats:
        """Return the flat table of scores of x' M x and points."""
        if points is None:
            return np.tile(sizes, self.crowd.n_users)
        result: Floats = points @ self.crowd.reference.T
        result += sizes
        return result.ravel()

    def _prepare(self) -> None:
        """Move along the last step, and gather the next system."""
        self._graph[:] = 0.0
        self._pulls = self._no_pulls()
        self._total = loops.move(
            self._up, self._down, self._there, self._back, self.crowd.share, self._point,
            self._step, self._lengths, self._weight, self._inverses, self._force,
            self._graph.ravel(), self._pulls.ravel(),
        )  # fmt: skip

    def _no_pulls(self) -> Floats:
        """Return an empty table of users and items."""
        return np.zeros((self.crowd.n_users, len(self.crowd.features)))

    def _pull(self, force: Floats) -> tuple[Floats, Floats]:
        """Return the adjoint of the scores, with the metric packed."""
        packed: Floats = self._joined[:, : self._packed].T @ force.sum(axis=0)
        return packed, force @ self.crowd.reference

    def _factorise(self) -> None:
        """Factorise the arrow: the Laplacian of each user's answers, seen through the features.

        A Laplacian is the degrees less the graph; `ones` among the columns gives the degrees.
        """
        users, items, cut = self.crowd.n_users, len(self._joined), self._packed
        sizes = self._joined[:, :cut]
        seen = (self._graph.reshape(-1, items) @ self._columns).reshape(users, items, -1)
        degrees, neighbours = seen[:, :, -1], seen[:, :, :-1].transpose(0, 2, 1)
        joint = degrees @ self._squares - (neighbours.reshape(-1, items) @ self._joined).reshape(
            users, -1
        )
        joint = joint.reshape(users, neighbours.shape[1], -1)
        block, rows = self._barriers.curvature()
        everybody = (np.ones(users) @ self._graph.reshape(users, -1)).reshape(items, items)
        block += sizes.T @ (degrees.sum(axis=0)[:, None] * sizes - everybody @ sizes)
        cross = joint[:, :, :cut]
        self._inverse_rows = rows + joint[:, :, cut:]
        loops.invert(self._inverse_rows)
        self._cross = (self._inverse_rows @ cross).reshape(-1, cut)
        self._inverse = np.linalg.inv(block - cross.reshape(-1, cut).T @ self._cross)

    def _direction(self, force: Floats, target: Target) -> tuple[Floats, Floats]:
        """Solve the Newton system for a force of the answers and a target of the region."""
        metric, points = self._pull(force)
        more, rows = self._barriers.force(target)
        points = points + rows
        packed = self._inverse @ (metric + more - points.ravel() @ self._cross)
        moved = (self._inverse_rows @ points[:, :, None])[:, :, 0]
        return packed, moved - (self._cross @ packed).reshape(points.shape)

    def _iterate(self) -> None:
        """Predict, correct and move."""
        crowd, barriers, up, down = self.crowd, self._barriers, self._up, self._down
        sizes = self._joined[:, : self._packed]
        self._factorise()
        packed, points = self._direction(self._pulls, barriers.nearest)
        table = self._scores(sizes @ packed, points)
        slack, multiplier, of_slack, of_multiplier, of_both = loops.affine(
            up, down, crowd.share, self._point, self._weight, self._inverses, table, self._second
        )
        change = barriers.follow(packed, points, barriers.nearest)
        one, other = _lengths(change, slack, multiplier, 1.0)
        after = self._total + one * of_slack + other * of_multiplier + one * other * of_both
        level = min(1.0, max(after / self._total, 1e-6)) ** 3 * self._total / 2
        pulls = self._no_pulls()
        loops.aim(
            up, down, crowd.share, self._point, self._weight, self._inverses, level, self._second,
            self._want, self._force, pulls.ravel(),
        )  # fmt: skip
        target = replace(change.second_order, level=_REGION_SHARE * 2 * level / barriers.count)
        packed, points = self._direction(pulls, target)
        table = self._scores(sizes @ packed, points)
        slack, multiplier = loops.correct(
            up, down, self._point, self._weight, self._inverses, self._want, self._second, table,
            self._step,
        )  # fmt: skip
        change = barriers.follow(packed, points, target)
        self._lengths[:] = _lengths(change, slack, multiplier, _BOUNDARY)
        barriers.move(change, self._lengths)
        self._prepare()


def _lengths(change: Change, slack: float, multiplier: float, share: float) -> tuple[float, float]:
    """Return how far to go, at most 1, given rates and a share of the way to the boundary."""
    fastest = max(slack, change.rate, 1e-12), max(multiplier, change.rate_of_multipliers, 1e-12)
    return min(1.0, share / fastest[0]), min(1.0, share / fastest[1])
