"""Accelerated projected gradient with restarts, for large problems with a closed-form projection.

M and V take steps of their own, as long as the curvature of their block allows: V's is about K
times smaller. That needs a region that projects them separately.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crowdmetric.crowd import Crowd
from crowdmetric.losses import KinkedLoss
from crowdmetric.problem import Problem
from crowdmetric.regions import FixedMetric
from crowdmetric.regions.projections import symmetric_part
from crowdmetric.solver.assessment import Assessment, assess
from crowdmetric.solver.curvature import arrow_fits

__all__ = ["ProjectedGradient"]

Floats = npt.NDArray[np.float64]

_POWER_STEPS = 15
_SAFETY = 1.05  # the power method comes from below
_LONGER, _SHORTER = 1.5, 0.97  # how the bend of a block is raised after a failure, and let down
_ROUNDING = 1e-13


class ProjectedGradient:
    """The state of the method on one problem.

    Parameters
    ----------
    problem : Problem
        What to minimise; see `suits`.
    crowd : Crowd
        Its answers.
    start : tuple of ndarray, optional
        The metric (1, d, d) and the points (1, K, d) to start from.
    """

    stuck = False

    def __init__(
        self, problem: Problem, crowd: Crowd, start: tuple[Floats, Floats] | None = None
    ) -> None:
        """Measure the curvature of both blocks."""
        self.problem, self.crowd = problem, crowd
        d, count = crowd.dimension, crowd.n_users
        if start is None:
            start = np.zeros((1, d, d)), np.zeros((1, count, d))
        self.point = self._look = problem.region.project(*start)
        self._margins = self._look_margins = crowd.margins(*self.point)
        self._momentum = 1.0
        self.iteration = 0
        bends = [problem.loss.smoothness * bend for bend in _block_curvatures(crowd)]
        self._bends = np.maximum(bends, 1e-300)
        # The curvature of both blocks together is at most twice the larger of the two.
        self._most = 2 * _SAFETY * self._bends

    @staticmethod
    def suits(problem: Problem, crowd: Crowd) -> bool:
        """Return whether the method can solve a problem, and splitting would be slower."""
        fixed = isinstance(problem.region, FixedMetric)
        packed = 0 if fixed else crowd.dimension * (crowd.dimension + 1) // 2
        return (
            getattr(problem.region, "separable", False)
            and problem.region.margin_bound is None
            and not isinstance(problem.loss, KinkedLoss)
            and crowd.n_problems == 1
            and not arrow_fits(crowd, packed)
        )

    def due(self, tol: float) -> bool:
        """Return whether an assessment is worth its time: it costs about one iteration."""
        return self.iteration % 10 == 0

    def step(self) -> None:
        """Take one iteration; start the momentum again when it points uphill.

        Margins are linear, so those of the extrapolated point cost nothing, and a step that was
        too long is found out without another pass over the answers.
        """
        loss, crowd = self.problem.loss, self.crowd
        gradient = crowd.gradient(loss.slope(self._look_margins))
        height = float(crowd.mean(loss.value(self._look_margins))[0])
        while True:
            following = self.problem.region.project(
                self._look[0] - gradient[0] / self._bends[0],
                self._look[1] - gradient[1] / self._bends[1],
            )
            away = [new - look for new, look in zip(following, self._look, strict=True)]
            margins = crowd.margins(*following)
            bowl = height + sum(
                float(np.vdot(slope, move)) + bend / 2 * float(np.vdot(move, move))
                for slope, move, bend in zip(gradient, away, self._bends, strict=True)
            )
            low_enough = float(crowd.mean(loss.value(margins))[0]) <= bowl + _ROUNDING * abs(height)
            if low_enough or (self._bends >= self._most).all():
                break
            self._bends = np.minimum(_LONGER * self._bends, self._most)
        self._advance(following, away, margins)
        self._bends = self._bends * _SHORTER

    def _advance(
        self, following: tuple[Floats, Floats], away: list[Floats], margins: Floats
    ) -> None:
        """Move on, and look ahead by the momentum."""
        moved = [new - old for new, old in zip(following, self.point, strict=True)]
        downhill = sum(
            bend * float(np.vdot(step, move))
            for bend, step, move in zip(self._bends, away, moved, strict=True)
        )
        if downhill < 0:
            self._momentum = 1.0
        later = (1 + np.sqrt(1 + 4 * self._momentum**2)) / 2
        share = (self._momentum - 1) / later
        self._look = following[0] + share * moved[0], following[1] + share * moved[1]
        self._look_margins = margins + share * (margins - self._margins)
        self.point, self._margins, self._momentum = following, margins, later
        self.iteration += 1

    def assess(self) -> Assessment:
        """Return the present point with its certificate."""
        return assess(self.problem, self.crowd.exact, None, self.point, None, None, None)


def _block_curvatures(crowd: Crowd) -> list[float]:
    """Return the largest eigenvalue of the squared margins' curvature, for M and for V.

    The points' blocks are small and independent, so theirs is exact.
    """
    d = crowd.dimension
    metric: Floats = np.eye(d)[None]
    points = np.zeros((1, crowd.n_users, d))
    of_metric = 0.0
    for _ in range(_POWER_STEPS):
        metric = symmetric_part(metric) / np.linalg.norm(metric)
        along = crowd.margins(metric, points)
        metric, _ = crowd.pull(crowd.share * along)
        of_metric = float(np.linalg.norm(metric))
    of_points = 0.0
    table = crowd.reference
    for start, stop in zip(crowd.starts[:-1], crowd.starts[1:], strict=True):
        rows = table[crowd.up[start:stop]] - table[crowd.down[start:stop]]
        rows = rows * np.sqrt(crowd.share[start:stop])[:, None]
        of_points = max(of_points, float(np.linalg.norm(rows.T @ rows, 2)))
    return [of_metric, of_points]
