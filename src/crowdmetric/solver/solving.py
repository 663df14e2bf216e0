"""Run a solver until its certificate is good enough, and say plainly when it is not."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from crowdmetric.certificate import Certificate, NotConvergedWarning, Status
from crowdmetric.crowd import Crowd
from crowdmetric.errors import SettingError
from crowdmetric.losses import KinkedLoss
from crowdmetric.problem import Problem
from crowdmetric.regions import Region
from crowdmetric.solver.assessment import Assessment
from crowdmetric.solver.batches import batches
from crowdmetric.solver.gradient import ProjectedGradient
from crowdmetric.solver.interior import InteriorPoint
from crowdmetric.solver.newton import ConeNewton
from crowdmetric.solver.progress import Callback, Progress
from crowdmetric.solver.resamples import Resamples
from crowdmetric.solver.splitting import Splitting
from crowdmetric.solver.threads import one_thread_for_linear_algebra

__all__ = ["Path", "Solution", "solve"]

Floats = npt.NDArray[np.float64]

MOST_ITERATIONS = 20_000
_WORST_FIRST: tuple[Status, ...] = ("stopped", "iteration-limit", "separable", "converged")


@dataclass(frozen=True, eq=False)
class Solution:
    """A feasible point with its certificate.

    Parameters
    ----------
    metric : ndarray of shape (d, d) or (K, d, d)
        The metric, or one for each user.
    points : ndarray of shape (K, d)
        The points v_k.
    certificate : Certificate
        How good the point is.

    Examples
    --------
    >>> from crowdmetric.certificate import Certificate
    >>> Solution(np.eye(1), np.zeros((2, 1)), Certificate(0, 0, 1, "converged", 1, 0.0)).points
    array([[0.],
           [0.]])
    """

    metric: Floats
    points: Floats
    certificate: Certificate


def solve(
    problem: Problem,
    *,
    tol: float = 1e-6,
    max_iterations: int = MOST_ITERATIONS,
    start: Solution | None = None,
    threads: int = 1,
    dtype: npt.DTypeLike = np.float64,
    callback: Callback | None = None,
) -> Solution:
    """Minimise the risk over the region, to a certified gap.

    Parameters
    ----------
    problem : Problem
        What to minimise, and where.
    tol : float
        The gap at which to stop.
    max_iterations : int
        When to give up; the solution then says so, and a warning too.
    start : Solution, optional
        Where to start, for example the solution of a similar problem. Small problems with the
        hinge are solved by an interior-point method, which starts in the middle all the same.
    threads : int
        How many threads share the loops over answers. The result depends on their number (in
        the last digits) but on nothing else.
    dtype : {float64, float32}
        The precision of the loops; certificates are always computed in float64.
    callback : callable, optional
        Called with a `Progress` now and then; stops the solver by returning True.

    Returns
    -------
    Solution
        An exactly feasible point with its certificate.

    Examples
    --------
    >>> from crowdmetric.comparisons import Comparisons
    >>> from crowdmetric.losses import Hinge
    >>> from crowdmetric.regions import FrobeniusMetric
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 1]).answers()
    >>> found = solve(Problem(answers, np.eye(3), Hinge(), FrobeniusMetric(1.0, 1.0)), tol=1e-9)
    >>> found.certificate.status, found.certificate.gap <= 1e-9
    ('converged', True)
    """
    _check_settings(tol, max_iterations, threads, dtype)
    if start is not None:
        _check_start(start, problem)
    begun = time.perf_counter()
    parts = []
    with one_thread_for_linear_algebra():
        for batch in batches(problem):
            crowd = batch.problem.crowd(threads, dtype)
            method = _method(batch.problem, crowd, batch.start(start))
            parts.append(_Part(batch.rows, crowd, *_run(method, tol, max_iterations, callback)))
    return _solution(problem, parts, tol, time.perf_counter() - begun)


class Path:
    """One problem over several regions in turn, each solved from where the last one ended.

    Parameters
    ----------
    problem : Problem
        What to minimise; its own region is not used.
    tol, max_iterations, threads, dtype, callback
        As in `solve`.

    Examples
    --------
    >>> from crowdmetric.comparisons import Comparisons
    >>> from crowdmetric.losses import Logistic
    >>> from crowdmetric.regions import NuclearFull
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 1]).answers()
    >>> path = Path(Problem(answers, np.eye(3), Logistic(), NuclearFull(1.0)))
    >>> [f"{path.solve(NuclearFull(radius)).certificate.risk:.3f}" for radius in (1.0, 2.0)]
    ['0.208', '0.052']
    """

    def __init__(
        self,
        problem: Problem,
        *,
        tol: float = 1e-6,
        max_iterations: int = MOST_ITERATIONS,
        threads: int = 1,
        dtype: npt.DTypeLike = np.float64,
        callback: Callback | None = None,
    ) -> None:
        """Sort the answers once for all regions."""
        _check_settings(tol, max_iterations, threads, dtype)
        self._problem, self._crowd = problem, problem.crowd(threads, dtype)
        self._tol, self._most, self._callback = tol, max_iterations, callback
        self._previous: Splitting | None = None
        self._start: tuple[Floats, Floats] | None = None

    def solve(self, region: Region) -> Solution:
        """Solve over the next region, of the same kind as the ones before.

        Parameters
        ----------
        region : Region
            Best close to the one before.

        Returns
        -------
        Solution
            An exactly feasible point with its certificate.
        """
        begun = time.perf_counter()
        problem = replace(self._problem, region=region)
        with one_thread_for_linear_algebra():
            method = _method(problem, self._crowd, self._start, self._previous)
            ran = _run(method, self._tol, self._most, self._callback)
        self._previous = method if isinstance(method, Splitting) else None
        self._start = ran[0].metric, ran[0].points
        part = _Part(np.arange(len(problem.answers)), self._crowd, *ran)
        return _solution(problem, [part], self._tol, time.perf_counter() - begun)

    def resample(self, region: Region, weights: Floats) -> Resamples:
        """Solve for resamples of the answers, side by side, from where the last `solve` ended.

        What follows starts from there too, not from these solutions: resamples are nearer to the
        answers than to each other.

        Parameters
        ----------
        region : Region
            That of the last `solve`.
        weights : ndarray of shape (B, m)
            How often each answer is in each resample: not negative, no row all zero.

        Returns
        -------
        Resamples
            A feasible point for each, with its gap.

        Examples
        --------
        >>> from crowdmetric.comparisons import Comparisons
        >>> from crowdmetric.losses import Logistic
        >>> from crowdmetric.regions import NuclearFull
        >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 0]], [-1, -1]).answers()
        >>> path = Path(Problem(answers, np.eye(2), Logistic(), NuclearFull(1.0)))
        >>> whole = path.solve(NuclearFull(1.0))
        >>> found = path.resample(NuclearFull(1.0), np.array([[1.0, 1.0], [2.0, 0.0]]))
        >>> found.points.shape, bool((found.gap <= 1e-6).all())
        ((2, 1, 2), True)
        """
        if self._start is None or self._problem.single:
            raise SettingError("a path resamples what it has solved, with one metric for all users")
        problem = replace(self._problem, region=region)
        together = self._previous is not None and not isinstance(problem.loss, KinkedLoss)
        found = []
        for rows in [weights] if together else weights[:, None]:
            crowd = self._crowd.resampled(rows)
            metric, points = (np.repeat(part, len(rows), axis=0) for part in self._start)
            previous = self._previous if together else None
            with one_thread_for_linear_algebra():
                method = _method(problem, crowd, (metric, points), previous)
                found.append(_run(method, self._tol, self._most, self._callback)[0])
        return Resamples(
            np.concatenate([one.metric for one in found]),
            np.concatenate([one.points for one in found]),
            np.concatenate([one.gap for one in found]),
        )


@dataclass(frozen=True, eq=False)
class _Part:
    """What was found for a batch of the problem, whose answers are some rows of all."""

    rows: npt.NDArray[np.intp]
    crowd: Crowd
    best: Assessment
    status: Status
    iterations: int


class _Method(Protocol):
    """What a solver offers: steps, and feasible points with certificates along the way."""

    problem: Problem
    crowd: Crowd
    iteration: int
    stuck: bool

    def step(self) -> None:
        """Take one iteration."""

    def due(self, tol: float) -> bool:
        """Return whether an assessment is worth its time now."""

    def assess(self) -> Assessment:
        """Return a feasible point with its certificate."""


def _method(
    problem: Problem,
    crowd: Crowd,
    start: tuple[Floats, Floats] | None,
    previous: Splitting | None = None,
) -> _Method:
    """Return the method that suits the problem best."""
    if InteriorPoint.suits(problem, crowd):
        return InteriorPoint(problem, crowd)
    if ConeNewton.suits(problem, crowd):
        return ConeNewton(problem, crowd)
    if ProjectedGradient.suits(problem, crowd):
        return ProjectedGradient(problem, crowd, start)
    return Splitting(problem, crowd, start, previous)


def _run(
    method: _Method, tol: float, most: int, callback: Callback | None
) -> tuple[Assessment, Status, int]:
    """Iterate until every problem's gap is small enough, or its answers are separable."""
    begun = time.perf_counter()
    best: Assessment | None = None
    crowd, problem = method.crowd, method.problem
    before = 0
    while before + method.iteration < most:
        method.step()
        iteration = before + method.iteration
        if not method.due(tol) and iteration < most:
            continue
        found = method.assess()
        best = found if best is None else best.or_better(found, crowd)
        if ((best.gap <= tol) | best.apart).all():
            best = best.confirmed(crowd, problem.loss)
            if ((best.gap <= tol) | best.apart).all():
                return best, "separable" if best.apart.any() else "converged", iteration
        if callback is not None:
            spent = time.perf_counter() - begun
            risk, gap = float(crowd.problem_shares @ best.risk), float(best.gap.max())
            if callback(Progress(iteration, risk, gap, tol, spent)):
                return best.confirmed(crowd, problem.loss), "stopped", iteration
        if method.stuck:
            before = iteration
            method = Splitting(problem, crowd, (best.metric, best.points))
    assert best is not None  # the last iteration is always assessed
    return best.confirmed(crowd, problem.loss), "iteration-limit", most


def _solution(problem: Problem, parts: list[_Part], tol: float, seconds: float) -> Solution:
    """Put batches together, and warn if one of them did not converge."""
    best = [part.best for part in parts]
    weights = np.concatenate([part.crowd.problem_weights for part in parts])
    shares = weights / weights.sum()
    risk = np.concatenate([one.risk for one in best])
    gap = np.concatenate([one.gap for one in best])
    metric = np.concatenate([one.metric for one in best])
    points = np.concatenate([one.points.reshape(-1, metric.shape[-1]) for one in best])
    statuses = {part.status for part in parts}
    duals = [one.dual for one in best if one.dual is not None]
    tables = [one.margin_dual for one in best if one.margin_dual is not None]
    distances = [one.distance.min() for one in best if one.distance is not None]
    certificate = Certificate(
        risk=float(shares @ risk),
        lower_bound=float(shares @ (risk - gap)),
        tolerance=tol,
        status=next(status for status in _WORST_FIRST if status in statuses),
        iterations=max(part.iterations for part in parts),
        seconds=seconds,
        slopes=_slopes(problem, parts),
        dual=np.concatenate(duals).reshape(metric.shape) if duals else None,
        margin_dual=np.concatenate([t.reshape(-1, t.shape[-1]) for t in tables])
        if tables
        else None,
        distance=float(min(distances)) if distances else None,
        user_gaps=gap if problem.single else None,
    )
    if not certificate.converged:
        warnings.warn(_complaint(certificate), NotConvergedWarning, stacklevel=3)
    return Solution(metric if problem.single else metric[0], points, certificate)


def _slopes(problem: Problem, parts: list[_Part]) -> Floats | None:
    """Return the slopes of the bounds in the order of the answers, where they are needed."""
    slopes = np.empty(len(problem.answers))
    for part in parts:
        if part.best.slopes is None:
            return None
        slopes[part.rows[part.crowd.order]] = part.best.slopes
    return slopes


def _complaint(certificate: Certificate) -> str:
    """Say why a solution is not what was asked for."""
    if certificate.status == "separable":
        return (
            "the answers can be explained perfectly, so the risk falls for ever as the metric or "
            "points grow and there is no best fit; use a region with a radius"
        )
    return (
        f"the solver ended ({certificate.status}) after {certificate.iterations} iterations with a "
        f"certified gap of {certificate.gap:.1e}, more than the tolerance "
        f"{certificate.tolerance:.1e}; allow more iterations or a larger tolerance"
    )


def _check_settings(tol: float, max_iterations: int, threads: int, dtype: npt.DTypeLike) -> None:
    """Refuse settings that make no sense."""
    if not tol > 0:
        raise SettingError(f"the tolerance must be positive, not {tol}")
    if max_iterations < 1:
        raise SettingError(f"max_iterations must be at least 1, not {max_iterations}")
    if threads < 1:
        raise SettingError(f"threads must be at least 1, not {threads}")
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise SettingError(f"dtype must be float64 or float32, not {dtype}")


def _check_start(start: Solution, problem: Problem) -> None:
    """Refuse a start of another shape, or none at all."""
    users, d = problem.answers.n_users, problem.features.shape[1]
    shapes = ((users, d, d) if problem.single else (d, d)), (users, d)
    if (start.metric.shape, start.points.shape) != shapes:
        raise SettingError(
            f"the start has a metric of shape {start.metric.shape} and points of shape "
            f"{start.points.shape}, but the problem needs {shapes[0]} and {shapes[1]}"
        )
    if not (np.isfinite(start.metric).all() and np.isfinite(start.points).all()):
        raise SettingError("the start has numbers that are not finite; start from a solution")
