"""A primal-dual interior-point method for the hinge over balls: few iterations, exact corners.

Every iterate is strictly inside the region, so all of them are feasible. Many problems, each with
a metric of its own, move side by side, each at its own pace.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crowdmetric.crowd import Crowd
from crowdmetric.losses import Hinge
from crowdmetric.problem import Problem
from crowdmetric.regions import FixedMetric, FrobeniusMetric, NuclearMetric
from crowdmetric.solver.assessment import Assessment, assess
from crowdmetric.solver.curvature import joined_features
from crowdmetric.solver.interior_kernels import Answered, State
from crowdmetric.solver.interior_region import FIXED, FROBENIUS, TRACE, Inside
from crowdmetric.solver.interior_step import REGION_SHARE, ItemTables, begin, iterate

__all__ = ["InteriorPoint"]

Floats = npt.NDArray[np.float64]

_KINDS: dict[type, int] = {FrobeniusMetric: FROBENIUS, NuclearMetric: TRACE, FixedMetric: FIXED}
_MOST_STEPS = 60
_MOST_NUMBERS = 2e7
_MOST_PACKED = 120
_SHORTEST = 1e-7
_START = 1.5  # how far inside their bounds the slacks start
_NEAR = 3.0  # the complementarity of the answers is about twice the gap
_NEARER = 0.5  # the next goal, should the gap be too large at the last


class InteriorPoint:
    """The state of the method on some problems.

    Where the metric is fixed, users have nothing in common, and each is a problem.

    Parameters
    ----------
    problem : Problem
        What to minimise; see `suits`.
    crowd : Crowd
        Its answers.
    """

    def __init__(self, problem: Problem, crowd: Crowd) -> None:
        """Start in the middle of the region."""
        self.problem, self.crowd = problem, crowd.exact
        self._kind = _KINDS[type(problem.region)]
        count = crowd.n_users if self._kind == FIXED else crowd.n_problems
        users = np.linspace(0, crowd.n_users, count + 1).astype(np.intp)
        self._cuts = np.stack([users, self.crowd.starts[users].astype(np.intp)])
        self._problem_of_user = np.repeat(np.arange(count), np.diff(users))
        self._radii, self._row_radii = self._all_radii()
        self._items, self._answered = self._lookups()
        self._inside, self._state = self._start()
        self._totals, self._lengths = np.empty(count), np.ones(count)
        self._tables = tuple(self._answered), tuple(self._inside), tuple(self._state), self._cuts
        begin(*self._tables, self._totals)
        self._goal = 0.0
        self.iteration = 0
        self.stuck = False

    @staticmethod
    def knows(problem: Problem) -> bool:
        """Return whether the method is made for the loss and the region."""
        d = problem.features.shape[1]
        return (
            isinstance(problem.loss, Hinge)
            and isinstance(problem.region, FrobeniusMetric | NuclearMetric | FixedMetric)
            and problem.region.margin_bound is None
            and d * (d + 1) // 2 <= _MOST_PACKED
        )

    @staticmethod
    def most_users(problem: Problem) -> int:
        """Return for how many users there is room in tables of users, items and items."""
        return int(_MOST_NUMBERS / len(problem.features) ** 2)

    @staticmethod
    def suits(problem: Problem, crowd: Crowd) -> bool:
        """Return whether the method can solve a problem, and has room for it."""
        return InteriorPoint.knows(problem) and crowd.n_users <= InteriorPoint.most_users(problem)

    def due(self, tol: float) -> bool:
        """Return whether an assessment is worth its time."""
        if self._goal == 0.0:
            self._goal = _NEAR * tol
        return self.stuck or self._resting() or self.iteration % 20 == 0

    def step(self) -> None:
        """Take one iteration of every problem that is not there yet; failures are recorded."""
        iterate(
            self._kind, self._radii, self._row_radii, tuple(self._items), *self._tables,
            self._totals, self._lengths, self._goal,
        )  # fmt: skip
        self._lengths[self._lengths < _SHORTEST] = 0.0
        failed = (self._totals > self._goal) & (self._lengths == 0.0)
        self.iteration += 1
        self.stuck = self.iteration >= _MOST_STEPS or bool(self._resting() and failed.any())

    def assess(self) -> Assessment:
        """Return the present points with their certificates."""
        crowd, region = self.crowd, self.problem.region
        if self._resting():
            self._goal *= _NEARER
        metric = self._inside.metric
        if isinstance(region, FixedMetric):
            metric = np.broadcast_to(region.metric, (crowd.n_problems, *region.metric.shape))
        points = self._inside.points.reshape(crowd.n_problems, -1, crowd.dimension)
        slopes = np.clip(-self._state.a, -1.0, 0.0)
        return assess(self.problem, crowd, None, (metric.copy(), points.copy()), slopes, None, None)

    def _resting(self) -> bool:
        """Return whether every problem has met the goal, or failed."""
        return not ((self._totals > self._goal) & (self._lengths > 0.0)).any()

    def _all_radii(self) -> tuple[Floats, Floats]:
        """Return the radius of every problem's metric, and of every user's point."""
        region, count = self.problem.region, len(self._cuts[0]) - 1
        assert isinstance(region, FrobeniusMetric | NuclearMetric | FixedMetric)
        own = 1.0 if isinstance(region, FixedMetric) else region.radius
        radii = np.broadcast_to(np.asarray(own, dtype=np.float64), (count,))
        rows = np.broadcast_to(np.asarray(region.point_radius), (count,))
        return radii.copy(), rows[self._problem_of_user].astype(np.float64)

    def _lookups(self) -> tuple[ItemTables, Answered]:
        """Return items and answers as the compiled loops want them."""
        crowd, items = self.crowd, len(self.crowd.features)
        features = crowd.reference.copy()  # what is read-only would be compiled for once more
        joined = features if self._kind == FIXED else joined_features(features)
        sizes = np.ascontiguousarray(joined[:, : joined.shape[1] - crowd.dimension])
        squares = (features[:, :, None] * joined[:, None, :]).reshape(items, -1)
        across = features.T.copy()
        user = crowd.user - self._cuts[0][self._problem_of_user[crowd.user]]
        up, down = user * items + crowd.up, user * items + crowd.down
        share = np.bincount(self._problem_of_user[crowd.user], crowd.share, len(self._radii))
        share = np.where(share > 0, share, 1.0)[self._problem_of_user[crowd.user]]
        answered = Answered(
            up, down, up * items + crowd.down, down * items + crowd.up, crowd.share / share
        )
        return ItemTables(features, across, joined, sizes, squares), answered

    def _start(self) -> tuple[Inside, State]:
        """Return where the method starts: every complementarity at its level."""
        crowd, count = self.crowd, len(self._radii)
        d, items, answers = crowd.dimension, len(crowd.features), len(crowd.user)
        trace = self._kind == TRACE
        size = self._radii / (4 * (d if trace else np.sqrt(d)))
        metric = size[:, None, None] * np.eye(d)
        points = np.zeros((crowd.n_users, d))
        region = self.problem.region
        seen = region.metric[None] if isinstance(region, FixedMetric) else metric
        z = crowd.margins(seen, points.reshape(crowd.n_problems, -1, d))
        xi = np.maximum(1 - z, 0.0) + _START
        s = z + xi - 1
        problem = self._problem_of_user[crowd.user]
        level = np.bincount(problem, self._answered.share * (s + xi), count) / 2
        constraints = np.diff(self._cuts[0]) + (0 if self._kind == FIXED else d + 1)
        level = np.maximum(REGION_SHARE * level / constraints, np.finfo(np.float64).tiny)
        gap = self._radii * 0.75 if trace else self._radii**2 * 15 / 32
        inside = Inside(
            metric,
            (level / size)[:, None, None] * np.eye(d),
            points,
            level / gap,
            level[self._problem_of_user] / (self._row_radii**2 / 2),
        )
        ds, dxi, da, weight, inverse = np.zeros((5, answers))
        graph = np.empty((crowd.n_users, items, items))
        degrees, pulls = np.empty((2, crowd.n_users, items))
        a = np.full(answers, 0.5)
        state = State(s, xi, a, ds, dxi, da, weight, inverse, graph, degrees, pulls)
        return inside, state
