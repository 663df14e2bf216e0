"""Over-relaxed splitting with the curvature of the risk and Anderson acceleration.

Each copy holds one part of the problem (`copies`). An iteration takes one quasi-Newton step for
x = (M, V) on the smooth risk plus rho/2 times the squared distances to the copies, settles the
copies, and updates their multipliers; the whole is a fixed-point map, which Anderson's method
extrapolates. The multipliers make the certificate tight.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from crowdmetric.crowd import Crowd
from crowdmetric.losses import CurvedLoss, KinkedLoss
from crowdmetric.margin_bound import MarginBound
from crowdmetric.problem import Problem
from crowdmetric.regions import FixedMetric, SplitRegion
from crowdmetric.solver.anderson import Anderson
from crowdmetric.solver.assessment import Assessment, assess
from crowdmetric.solver.copies import (
    AnswersCopy,
    Copy,
    MetricCopy,
    ScoresCopy,
    Shape,
    WholeCopy,
)
from crowdmetric.solver.curvature import (
    Arrow,
    arrow_fits,
    joined_features,
    mean_curvatures,
)
from crowdmetric.solver.krylov import conjugate_gradients

__all__ = ["Splitting"]

Floats = npt.NDArray[np.float64]

_RELAXATION = 1.7
_MEMORY = 8
_KINKED_MEMORY = 20  # corners make the map piecewise smooth: more steps are worth remembering
_KINKED_SHARE = 0.1  # of the mean curvature, for the copies of region and answers
_DAMPING = 0.01  # share of rho added to the curvature: a proximal term, no change to the problem
_FIRST_REFRESH = 6
_LATE_REFRESH = 128  # from then on, whenever the number of iterations has doubled
_FIRST_REBALANCE = 64  # and again after a half or a whole doubling of the iterations
_PACE = 1.3  # iterations for each e-fold of the gap, a little fewer than usual
_SHORTEST_WAIT, _LONGEST_WAIT = 4, 20
_UNBALANCED = 5.0
_SURPRISE = 1.5  # a step is stable while the true curvature is below twice the one it was made with


class Splitting:
    """The state of the method on one stack of problems.

    It suits every problem, and is never stuck.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    crowd : Crowd
        Its answers, in the precision wanted for the iterations.
    start : tuple of ndarray, optional
        Metrics and points to start from.
    previous : Splitting, optional
        Where to go on from instead: the same problem over another region of the same kind, or
        resamples of its answers over the same region.
    """

    stuck = False

    def __init__(
        self,
        problem: Problem,
        crowd: Crowd,
        start: tuple[Floats, Floats] | None = None,
        previous: Splitting | None = None,
    ) -> None:
        """Set up the copies at the starting point, with multipliers of zero."""
        self.problem, self.crowd = problem, crowd
        region = problem.region
        self.shape = Shape(crowd.n_problems, crowd.dimension, crowd.users_per_problem)
        self.bound = MarginBound.of(crowd, region)
        self._frozen = isinstance(region, FixedMetric)
        self._split = region if isinstance(region, SplitRegion) else None
        packed = 0 if self._frozen else crowd.dimension * (crowd.dimension + 1) // 2
        self._dense = arrow_fits(crowd, packed)
        self._x = np.zeros((crowd.n_problems, self.shape.size))
        if previous is not None:
            self._x[:] = previous._x
        elif start is not None:
            self._x[:] = self.shape.close(*start)
        if isinstance(region, FixedMetric):
            self.shape.open(self._x)[0][:] = region.metric
        weights = self._weights(crowd.margins(*self.shape.open(self._x)))
        self._means = mean_curvatures(crowd, weights)
        relevant = self._means[1:] if self._frozen else self._means
        kinked = isinstance(problem.loss, KinkedLoss)
        self._rho = max(min(relevant) * (_KINKED_SHARE if kinked else 1.0), 1e-12)
        self._block_units = (1.0, 1.0)
        least = min(self._means)
        if getattr(region, "separable", False) and not self._frozen and least > 0:
            self._block_units = tuple(np.sqrt(mean / least) for mean in self._means)
        cut, size = self.shape.metric_size, self.shape.size
        self._units = np.repeat(self._block_units, [cut, size - cut])
        self._answers: AnswersCopy | None = None
        self._scores: ScoresCopy | None = None
        self.copies = self._make_copies()
        if self._dense:
            self._joined: Floats = self._joined_features() if previous is None else previous._joined
            self._shared = self._shared_curvature()
        parts = [copy.look(self._x) for copy in self.copies]
        if previous is not None:
            _, multipliers = previous._settle()
            scale = previous._rho / self._rho
            parts = [part + scale * u for part, u in zip(parts, multipliers, strict=True)]
        self._state = np.concatenate([self._x * self._units, *parts], axis=1)
        self._anderson = Anderson(_KINKED_MEMORY if kinked else _MEMORY, *self._state.shape)
        self._last: tuple[Floats, Floats] | None = None
        self._refresh(weights)
        self._settled: tuple[list[Floats], list[Floats]] | None = None
        cold = start is None and previous is None
        self._assessed = (0, np.inf if cold else 0.0)
        # On a path, and for resamples, the curvature where it starts is good enough; a surprise is
        # still noticed.
        self._refreshes_early = previous is None
        self.iteration = 0

    def _make_copies(self) -> list[Copy]:
        """Return a copy for each piece of the region, and for a margin bound or a kinked loss."""
        region, loss = self.problem.region, self.problem.loss
        pieces = (region,) if self._split is None else self._split.pieces
        self._pieces = len(pieces)
        copies: list[Copy] = [
            MetricCopy(self.shape, piece, self._units)
            if getattr(piece, "metric_only", False)
            else WholeCopy(self.shape, piece, self._units)
            for piece in pieces
        ]
        if self.bound is not None:
            self._scores = ScoresCopy(self.shape, self.bound)
            copies.append(self._scores)
        if isinstance(loss, KinkedLoss):
            unit = float(np.sqrt(1 / self._rho))  # answers start with a curvature of 1
            self._answers = AnswersCopy(self.crowd, loss, unit)
            copies.append(self._answers)
        return copies

    def _joined_features(self) -> Floats:
        """Return what margins are linear in, item by item."""
        table = self.crowd.reference
        return table if self._frozen else joined_features(table)

    def _shared_curvature(self) -> Floats | float:
        """Return the curvature that the margin bound's copy adds to every user, over rho."""
        if self._scores is None:
            return 0.0
        result: Floats = self._scores.unit**2 * (self._joined.T @ self._joined)
        return result

    def _weights(self, margins: Floats) -> Floats:
        """Return (a bound on) the curvature of each answer, times its share."""
        loss = self.problem.loss
        if isinstance(loss, KinkedLoss):
            return self.crowd.share
        if isinstance(loss, CurvedLoss):
            return self.crowd.share * loss.curvature(margins)
        return self.crowd.share * loss.smoothness

    def _refresh(self, weights: Floats) -> None:
        """Prepare to solve with the curvature at the present point."""
        self._expected = weights
        if self._answers is not None:
            weights = weights * (self._rho * self._answers.unit**2)
        wholes = sum(isinstance(copy, WholeCopy) for copy in self.copies) + _DAMPING
        cones = sum(isinstance(copy, MetricCopy) for copy in self.copies)
        unit, unit_of_points = self._block_units
        ridge = (self._rho * (wholes + cones) * unit**2, self._rho * wholes * unit_of_points**2)
        if self._dense:
            shared = self._rho * self._shared
            self._arrow = Arrow.of(self.crowd, self._joined, weights, ridge, shared)
        else:
            self._inner = weights if self._answers is None else np.zeros_like(weights)
            cut, d = self.shape.metric_size, self.shape.size
            scale = [1 / (mean + extra) for mean, extra in zip(self._means, ridge, strict=True)]
            self._scale = np.repeat(scale, [cut, d - cut])

    def _solve(self, flat: Floats) -> Floats:
        """Return the step that the gradient asks for."""
        metric, points = self.shape.open(flat)
        metric[:] = (metric + np.swapaxes(metric, -1, -2)) * 0.5
        if self._dense:
            return self.shape.close(*self._arrow.solve(metric, points))
        if self._frozen:
            metric[:] = 0.0
        return conjugate_gradients(self._apply, flat, self._scale)

    def _apply(self, flat: Floats) -> Floats:
        """Return the curvature of risk, copies and damping, applied to a direction."""
        metric, points = self.shape.open(flat)
        along = self.crowd.margins(metric, points) * self._inner
        result = self.shape.close(*self.crowd.pull(along))
        result += _DAMPING * self._rho * self._units**2 * flat
        for copy in self.copies:
            copy.pull(self._rho * copy.look(flat), result)
        metric, _ = self.shape.open(result)
        metric[:] = 0.0 if self._frozen else (metric + np.swapaxes(metric, -1, -2)) * 0.5
        return result

    def due(self, tol: float) -> bool:
        """Return whether an assessment is worth its time: it costs about two iterations.

        The next is due when the gap, at its usual pace, may have fallen to the tolerance.
        """
        iteration, gap = self._assessed
        wait = _PACE * np.log(max(gap / tol, 1.0))
        return bool(self.iteration - iteration >= min(max(wait, _SHORTEST_WAIT), _LONGEST_WAIT))

    def step(self) -> None:
        """Take one iteration."""
        gradient = self._gradient()
        settled, multipliers = self._settle()
        looks = [copy.look(self._x) for copy in self.copies]
        for copy, look, z, u in zip(self.copies, looks, settled, multipliers, strict=True):
            copy.pull(self._rho * (look - z + u), gradient)
        following = self._x - self._solve(gradient)
        image = [following * self._units]
        for copy, z, u in zip(self.copies, settled, multipliers, strict=True):
            image.append(_RELAXATION * copy.look(following) + (1 - _RELAXATION) * z + u)
        self._advance(self._anderson.extrapolate(self._state, np.concatenate(image, axis=1)))
        self.iteration += 1
        if self.iteration >= _FIRST_REBALANCE and _is_milestone(self.iteration):
            self._rebalance(settled)

    def _gradient(self) -> Floats:
        """Return the gradient of the smooth risk, if the risk is smooth."""
        if self._answers is not None:
            return np.zeros_like(self._x)
        margins = self.crowd.margins(*self.shape.open(self._x))
        late = self.iteration >= _LATE_REFRESH and self.iteration.bit_count() == 1
        early = self.iteration == _FIRST_REFRESH and self._refreshes_early
        if early or late:
            self._refresh(self._weights(margins))
        slopes = self.problem.loss.slope(margins)
        self._watch(margins, slopes)
        return self.shape.close(*self.crowd.gradient(slopes))

    def _watch(self, margins: Floats, slopes: Floats) -> None:
        """Raise the curvature to what the last step met, if that was far more than expected.

        Without this, Newton's steps between flat parts of a loss can grow for ever.
        """
        if self._last is not None:
            moved, change = margins - self._last[0], slopes - self._last[1]
            met = self._by_problem(self.crowd.share * change, moved)
            if (met > _SURPRISE * self._by_problem(self._expected * moved, moved)).any():
                secant = np.divide(change, moved, out=np.zeros_like(moved), where=moved != 0)
                self._refresh(np.maximum(self._expected, self.crowd.share * secant))
                self._anderson.forget()
        self._last = margins, slopes

    def _by_problem(self, first: Floats, second: Floats) -> Floats:
        """Return each problem's part of an inner product over the answers."""
        if self.crowd.n_problems == 1:
            return np.array([first @ second])
        return self.crowd.sums(first * second)

    def _advance(self, state: Floats) -> None:
        """Take over a state, with an exactly symmetric metric."""
        self._state, self._settled = state, None
        metric, _ = self.shape.open(state)
        metric[:] = (metric + np.swapaxes(metric, -1, -2)) * 0.5
        self._x = state[:, : self.shape.size] / self._units

    def _settle(self) -> tuple[list[Floats], list[Floats]]:
        """Return where the copies are, and their multipliers over rho."""
        if self._settled is not None:
            return self._settled
        settled, multipliers = [], []
        start = self.shape.size
        for copy in self.copies:
            values = self._state[:, start : start + copy.size]
            start += copy.size
            settled.append(copy.settle(values, self._rho))
            multipliers.append(values - settled[-1])
        self._settled = settled, multipliers
        return self._settled

    def _rebalance(self, before: list[Floats]) -> None:
        """Change rho where copies lag behind x, or x behind the copies, by a large factor."""
        settled, multipliers = self._settle()
        apart = sum(_square(c.look(self._x) - z) for c, z in zip(self.copies, settled, strict=True))
        moved = sum(_square(z - old) for z, old in zip(settled, before, strict=True))
        size = sum(_square(z) for z in settled)
        force = sum(_square(u) for u in multipliers)
        lag, haste = math.sqrt(apart) * math.sqrt(force), math.sqrt(moved) * math.sqrt(size)
        if haste <= _UNBALANCED * lag and lag <= _UNBALANCED * haste:
            return
        far = lag >= _UNBALANCED**2 * haste
        factor = _UNBALANCED if far else max(math.sqrt(lag / haste), 1 / _UNBALANCED)
        self._rho *= factor
        parts = [z + u / factor for z, u in zip(settled, multipliers, strict=True)]
        self._state = np.concatenate([self._x * self._units, *parts], axis=1)
        self._settled = None
        self._anderson.forget()
        self._refresh(self._weights(self.crowd.margins(*self.shape.open(self._x))))

    def assess(self) -> Assessment:
        """Return a feasible point near the present one, with its certificate."""
        settled, multipliers = self._settle()
        slopes = margin_dual = force = None
        for copy, multiplier in zip(self.copies, multipliers, strict=True):
            if isinstance(copy, AnswersCopy):
                slopes = copy.slopes(multiplier, self._rho)
            elif isinstance(copy, ScoresCopy):
                margin_dual = self._rho * copy.multiplier(multiplier)
        found = [self._point(z) for z in settled[: self._pieces]]
        point = found[0]
        if self._split is not None:
            point = self._split.combine(found)
            force, _ = self.shape.open(self._rho * multipliers[0])
        assessment = assess(
            self.problem, self.crowd.exact, self.bound, point, slopes, margin_dual, force
        )
        self._assessed = (self.iteration, float(assessment.gap.max()))
        return assessment

    def _point(self, settled: Floats) -> tuple[Floats, Floats]:
        """Return where a piece's copy is, with x's points if the piece is of metrics only."""
        flat = self._x.copy()
        size = settled.shape[1]
        flat[:, :size] = settled / self._units[:size]
        return self.shape.open(flat)


def _is_milestone(iteration: int) -> bool:
    """Return whether a number is 2^k or 3 * 2^k."""
    odd = iteration // (iteration & -iteration)
    return odd in (1, 3)


def _square(values: Floats) -> float:
    """Return the sum of squares."""
    return float(np.vdot(values, values))
