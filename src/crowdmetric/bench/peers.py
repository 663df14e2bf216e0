"""The peers: the same programmes as vectorised CVXPY models, for general-purpose solvers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from crowdmetric.comparisons import Comparisons
from crowdmetric.errors import MissingExtraError, SettingError
from crowdmetric.losses import Hinge, Logistic
from crowdmetric.problem import Problem
from crowdmetric.regions import (
    FixedMetric,
    FrobeniusMetric,
    NuclearFull,
    NuclearMetric,
    NuclearSplit,
    PSDOnly,
)

__all__ = ["PEERS", "PeerAnswer", "prepare", "require", "solve_with"]

Floats = npt.NDArray[np.float64]

# What each peer is called, CVXPY's name for it, and its options.
PEERS: dict[str, tuple[str, dict[str, Any]]] = {
    "Clarabel": ("CLARABEL", {"max_threads": 1}),
    "SCS at 1e-6": ("SCS", {"eps_abs": 1e-6, "eps_rel": 1e-6}),
    "CVXOPT": ("CVXOPT", {}),
}
_LIBRARIES = ("cvxpy", "clarabel", "scs", "cvxopt")
_SOLVED = ("optimal", "optimal_inaccurate")


@dataclass(frozen=True, eq=False)
class PeerAnswer:
    """What a peer found, and how long its user waited.

    Parameters
    ----------
    status : str
        CVXPY's status, or "failed".
    compile_seconds : float
        To build the model, and to compile it to the solver's form.
    solve_seconds : float
        As the solver itself reports, its own set-up included; what is left when it reports none.
    total_seconds : float
        From the data to the answer.
    metric : ndarray of shape (B, d, d), optional
        One metric per model; none if it failed.
    points : ndarray of shape (B, K / B, d), optional
        The points of each model's users.

    Examples
    --------
    >>> PeerAnswer("failed", 0.1, 0.2, 0.3).solved
    False
    """

    status: str
    compile_seconds: float
    solve_seconds: float
    total_seconds: float
    metric: Floats | None = None
    points: Floats | None = None

    @property
    def solved(self) -> bool:
        """Whether there is an answer, be it inaccurate."""
        return self.metric is not None


def require() -> None:
    """Refuse to go on without the solvers to compare with.

    Raises
    ------
    MissingExtraError
        If one of them is not installed.

    Examples
    --------
    >>> require()
    """
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"this benchmark compares with {', '.join(missing)}, which cannot be found", "bench"
        )


def prepare() -> None:
    """Load the peers and let each solve something tiny, so that nothing is timed cold.

    Examples
    --------
    >>> prepare()
    """
    answers = Comparisons.from_arrays([[0, 0, 1], [1, 1, 0]], [-1, 1]).answers()
    for loss, peers in ((Logistic(), ("Clarabel", "SCS at 1e-6")), (Hinge(), tuple(PEERS))):
        for peer in peers:
            solve_with(peer, [Problem(answers, np.eye(2), loss, NuclearFull(1.0))])


def solve_with(peer: str, problems: Sequence[Problem]) -> PeerAnswer:
    """Solve problems one after the other with a general-purpose solver.

    Parameters
    ----------
    peer : str
        One of `PEERS`.
    problems : sequence of Problem
        Each becomes a CVXPY model; they must be of the same sizes.

    Returns
    -------
    PeerAnswer
        Times are sums over the problems, and the status is the worst of them.

    Examples
    --------
    >>> answers = Comparisons.from_arrays([[0, 0, 1]], [-1]).answers()
    >>> region = FrobeniusMetric(1.0, 1.0)
    >>> answer = solve_with("Clarabel", [Problem(answers, np.eye(2), Logistic(), region)])
    >>> print(answer.status, np.round(answer.points, 3))
    optimal [[[-0.707  0.707]]]
    """
    answers = [_solve_one(peer, problem) for problem in problems]
    unsolved = [answer.status for answer in answers if not answer.solved]
    inaccurate = [answer.status for answer in answers if answer.status != _SOLVED[0]]
    times = [(a.compile_seconds, a.solve_seconds, a.total_seconds) for a in answers]
    compiling, solving, total = np.sum(times, axis=0).tolist()
    if unsolved:
        return PeerAnswer(unsolved[0], compiling, solving, total)
    return PeerAnswer(
        (inaccurate or _SOLVED)[0],
        compiling,
        solving,
        total,
        np.stack([answer.metric for answer in answers if answer.metric is not None]),
        np.stack([answer.points for answer in answers if answer.points is not None]),
    )


def _solve_one(peer: str, problem: Problem) -> PeerAnswer:
    """Build, compile and solve one model."""
    cp = _cvxpy()
    solver, options = PEERS[peer]
    begun = time.perf_counter()
    model, metric, points = _model(problem)
    built = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the status says what they say
            model.solve(solver=solver, **options)
    except (cp.SolverError, ArithmeticError, ValueError):
        spent = time.perf_counter() - begun
        return PeerAnswer("failed", built - begun, spent - (built - begun), spent)
    total = time.perf_counter() - begun
    compiling = built - begun + (model.compilation_time or 0.0)
    solving = total - compiling
    if model.solver_stats is not None and model.solver_stats.solve_time:
        solving = model.solver_stats.solve_time + (model.solver_stats.setup_time or 0.0)
    if model.status not in _SOLVED:
        return PeerAnswer(model.status, compiling, solving, total)
    return PeerAnswer(
        model.status, compiling, solving, total, np.asarray(metric.value), np.asarray(points.value)
    )


def _cvxpy() -> Any:
    """Import CVXPY, whose types do not know its own functions."""
    import cvxpy

    return cvxpy


def _model(problem: Problem) -> tuple[Any, Any, Any]:
    """Return a CVXPY problem and its variables M and V, without a loop over answers."""
    cp = _cvxpy()
    dimension, users = problem.features.shape[1], problem.answers.n_users
    metric = cp.Variable((dimension, dimension), PSD=True)
    points = cp.Variable((users, dimension))
    of_metric, of_points = _design(problem)
    margins = of_metric @ cp.vec(metric, order="C") + of_points @ cp.vec(points, order="C")
    if isinstance(problem.loss, Logistic):
        losses = cp.logistic(-problem.loss.scale * margins)
    elif isinstance(problem.loss, Hinge):
        losses = cp.pos(1 - margins)
    else:
        raise SettingError(f"there is no model of the loss {problem.loss.name} to compare with")
    share = problem.answers.weight / problem.answers.weight.sum()
    limits = _limits(problem, metric, points)
    return cp.Problem(cp.Minimize(share @ losses), limits), metric, points


def _design(problem: Problem) -> tuple[Floats, scipy.sparse.csr_array]:
    """Return the two matrices that take vec(M) and vec(V), by rows, to z = y * delta."""
    answers, features = problem.answers, problem.features
    count, dimension = len(answers), features.shape[1]
    squares = np.einsum("ni,nj->nij", features, features).reshape(len(features), -1)
    of_metric = answers.sign[:, None] * (squares[answers.left] - squares[answers.right])
    along = answers.sign[:, None] * (features[answers.left] - features[answers.right])
    columns = answers.user[:, None] * dimension + np.arange(dimension)
    of_points = scipy.sparse.csr_array(
        (along.ravel(), columns.ravel(), dimension * np.arange(count + 1)),
        shape=(count, answers.n_users * dimension),
    )
    return of_metric, of_points


def _limits(problem: Problem, metric: Any, points: Any) -> list[Any]:
    """Return the region's constraints; trace stands for the nuclear norm where M is enough."""
    cp = _cvxpy()
    region = problem.region
    if getattr(region, "margin_bound", None) is not None:
        raise SettingError("there is no model of a margin bound to compare with")
    if isinstance(region, NuclearFull):
        return [cp.normNuc(cp.hstack([metric, points.T])) <= region.radius]
    if isinstance(region, NuclearSplit):
        return [cp.trace(metric) <= region.radius, cp.normNuc(points) <= region.point_radius]
    if isinstance(region, NuclearMetric | FrobeniusMetric):
        trace = isinstance(region, NuclearMetric)
        size = cp.trace(metric) if trace else cp.norm(metric, "fro")
        return [size <= region.radius, cp.norm(points, 2, axis=1) <= region.point_radius]
    if isinstance(region, FixedMetric):
        return [metric == region.metric, cp.norm(points, 2, axis=1) <= region.point_radius]
    if isinstance(region, PSDOnly):
        return []
    raise SettingError(f"there is no model of the region {region.name} to compare with")
