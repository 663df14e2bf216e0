"""Independent answers to what the package computes: general solvers and plain formulas.

Nothing here calls the package's solver, regions, losses or crowd: a region or a loss is only asked
for its name and its numbers. The models are written for CVXPY, straight from the mathematics.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import cvxpy as cp
import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr

from cases import CASES, LOSSES, Case, by_name, random_case, regions
from crowdmetric.losses import Hinge, Logistic, Loss, Probit, SmoothedHinge, SquaredHinge
from crowdmetric.regions import (
    FixedMetric,
    FrobeniusMetric,
    NuclearFull,
    NuclearMetric,
    NuclearSplit,
    PSDOnly,
    Region,
)
from crowdmetric.solver import Solution

__all__ = [
    "CASES",
    "LOSSES",
    "Case",
    "by_name",
    "conjugate",
    "loss_slope",
    "loss_value",
    "lower_bound",
    "random_case",
    "reference_projection",
    "reference_risk",
    "reference_support",
    "regions",
    "risk",
    "same_risk",
    "solve_tightly",
    "support",
    "symmetric",
    "variables",
    "violation",
]

# Losses, in plain formulas


def loss_value(loss: Loss, z: np.ndarray) -> np.ndarray:
    """Return the loss from its definition."""
    short = np.maximum(1 - z, 0)
    match loss:
        case Logistic():
            return np.logaddexp(0, -loss.scale * z)
        case Probit():
            return -log_ndtr(loss.scale * z)
        case Hinge():
            return short
        case SquaredHinge():
            return short**2
        case SmoothedHinge():
            h = loss.width
            return np.where(short < h, short**2 / (2 * h), short - h / 2)
    raise AssertionError(loss)


def loss_slope(loss: Loss, z: np.ndarray) -> np.ndarray:
    """Return the derivative from its formula, for losses without a corner."""
    match loss:
        case Logistic():
            return -loss.scale / (1 + np.exp(loss.scale * z))
        case Probit():
            t = loss.scale * z
            return -loss.scale * np.exp(-(t**2) / 2 - log_ndtr(t)) / np.sqrt(2 * np.pi)
        case SquaredHinge():
            return -2 * np.maximum(1 - z, 0)
        case SmoothedHinge():
            return -np.clip((1 - z) / loss.width, 0, 1)
    raise AssertionError(loss)


def conjugate(loss: Loss, slopes: np.ndarray) -> np.ndarray:
    """Return sup_z slope * z - loss(z), by a one-dimensional search for each slope."""

    def one(slope: float) -> float:
        if slope == 0:
            return 0.0
        found = minimize_scalar(
            lambda z: float(loss_value(loss, np.array(z)) - slope * z),
            bounds=(-60.0, 60.0),
            method="bounded",
            options={"xatol": 1e-11, "maxiter": 1000},
        )
        return -float(found.fun)

    return np.array([one(slope) for slope in slopes])


def risk(case: Case, loss: Loss, metric: np.ndarray, points: np.ndarray) -> float:
    """Return R(M, V)."""
    return float(case.share @ loss_value(loss, case.margins(metric, points)))


# Regions, in plain formulas


def symmetric(matrix: np.ndarray) -> np.ndarray:
    """Return (A + A') / 2."""
    return (matrix + matrix.T) / 2


def support(
    region: Region,
    metric: np.ndarray,
    points: np.ndarray,
    dual: np.ndarray | None = None,
    distance: float | None = None,
) -> float:
    """Return the support function at (metric, points), or the bound that the dual gives."""
    values = np.linalg.eigvalsh(symmetric(metric))
    rows = np.linalg.norm(points, axis=1).sum()
    match region:
        case FrobeniusMetric():
            positive = np.linalg.norm(np.maximum(values, 0))
            return float(region.radius * positive + region.point_radius * rows)
        case NuclearMetric():
            return float(region.radius * max(0, values[-1]) + region.point_radius * rows)
        case NuclearSplit():
            spectral = np.linalg.norm(points, 2)
            return float(region.radius * max(0, values[-1]) + region.point_radius * spectral)
        case NuclearFull():
            assert dual is not None
            assert np.linalg.eigvalsh(symmetric(dual))[0] >= -1e-10
            joined = np.hstack([symmetric(metric) + dual, points.T])
            return float(region.radius * np.linalg.norm(joined, 2))
        case PSDOnly():
            assert distance is not None
            positive = np.maximum(values, 0)
            return float(distance * np.sqrt((positive**2).sum() + (points**2).sum()))
        case FixedMetric():
            return float((metric * region.metric).sum() + region.point_radius * rows)
    raise AssertionError(region)


def violation(region: Region, metric: np.ndarray, points: np.ndarray) -> float:
    """Return by how much (M, V) leaves the region, in absolute terms."""
    nuclear = np.linalg.norm(points, "nuc")
    rows = np.linalg.norm(points, axis=1).max()
    cone = max(-np.linalg.eigvalsh(symmetric(metric))[0], np.abs(metric - metric.T).max())
    match region:
        case FrobeniusMetric():
            size = np.linalg.norm(metric) - region.radius
            return float(max(0, cone, size, rows - region.point_radius))
        case NuclearMetric():
            return float(max(0, cone, np.trace(metric) - region.radius, rows - region.point_radius))
        case NuclearSplit():
            return float(
                max(0, cone, np.trace(metric) - region.radius, nuclear - region.point_radius)
            )
        case NuclearFull():
            joined = np.linalg.norm(np.hstack([metric, points.T]), "nuc")
            return float(max(0, cone, joined - region.radius))
        case PSDOnly():
            return float(max(0, cone))
        case FixedMetric():
            return float(max(np.abs(metric - region.metric).max(), rows - region.point_radius, 0))
    raise AssertionError(region)


def lower_bound(
    case: Case,
    region: Region,
    loss: Loss,
    slopes: np.ndarray,
    dual: np.ndarray | None = None,
    margin_dual: np.ndarray | None = None,
    distance: float | None = None,
) -> float:
    """Return Fenchel's lower bound of the risk over the region.

    For slopes s and multipliers Q of the scores (whose rows sum to zero), every point x of the
    region has R(x) >= -mean(loss*(s)) + <G + Q', x> - gamma / 2 * norm_1(Q).
    """
    metric, points = case.gradient(case.share * slopes)
    value = -float(case.share @ conjugate(loss, slopes))
    if margin_dual is not None:
        rows = margin_dual - margin_dual.mean(axis=1, keepdims=True)
        for k, row in enumerate(rows):
            for q, x in zip(row, case.features, strict=True):
                metric = metric + q * np.outer(x, x)
                points[k] += q * x
        value -= region.margin_bound / 2 * float(np.abs(rows).sum())
    return value - support(region, -metric, -points, dual, distance)


# CVXPY


def solve_tightly(problem: cp.Problem) -> float:
    """Solve with Clarabel to 1e-8, or at the very least to 1e-7."""
    names = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
    wanted = dict.fromkeys(names, 1e-8) | dict.fromkeys([f"reduced_{n}" for n in names], 1e-7)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        problem.solve(solver=cp.CLARABEL, **wanted)
    assert problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE), problem.status
    return float(problem.value)


def constraints(region: Region, metric: cp.Variable, points: cp.Variable) -> list[cp.Constraint]:
    """Return what a region demands of (M, V), the margin bound aside."""
    short_rows = cp.norm(points, 2, axis=1)
    match region:
        case FrobeniusMetric():
            return [cp.norm(metric, "fro") <= region.radius, short_rows <= region.point_radius]
        case NuclearMetric():
            return [cp.trace(metric) <= region.radius, short_rows <= region.point_radius]
        case NuclearSplit():
            return [
                cp.trace(metric) <= region.radius,
                cp.normNuc(points) <= region.point_radius,
            ]
        case NuclearFull():
            return [cp.normNuc(cp.hstack([metric, points.T])) <= region.radius]
        case PSDOnly():
            return []
        case FixedMetric():
            return [metric == region.metric, short_rows <= region.point_radius]
    raise AssertionError(region)


def variables(region: Region, dimension: int, n_users: int) -> tuple[cp.Variable, cp.Variable]:
    """Return M, positive semidefinite unless it is given, and V."""
    square = (dimension, dimension)
    metric = (
        cp.Variable(square) if isinstance(region, FixedMetric) else cp.Variable(square, PSD=True)
    )
    return metric, cp.Variable((n_users, dimension))


def reference_support(region: Region, metric: np.ndarray, points: np.ndarray) -> float:
    """Return the largest inner product of (metric, points) with a point of the region."""
    m, v = variables(region, len(metric), len(points))
    inner = cp.sum(cp.multiply(metric, m)) + cp.sum(cp.multiply(points, v))
    return solve_tightly(cp.Problem(cp.Maximize(inner), constraints(region, m, v)))


def reference_projection(
    region: Region, metric: np.ndarray, points: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the point of the region nearest to (metric, points)."""
    m, v = variables(region, len(metric), len(points))
    distance = cp.sum_squares(m - metric) + cp.sum_squares(v - points)
    solve_tightly(cp.Problem(cp.Minimize(distance), constraints(region, m, v)))
    return m.value, v.value


def reference_risk(case: Case, region: Region, loss: Loss) -> float:
    """Return the least risk over the region."""
    count, d = case.features.shape
    metric, points = variables(region, d, case.n_users)
    squares = np.einsum("na,nb->nab", case.features, case.features).reshape(count, d * d)
    of_metric = case.sign[:, None] * (squares[case.left] - squares[case.right])
    of_points = np.zeros((len(case.sign), case.n_users, d))
    apart = case.features[case.left] - case.features[case.right]
    of_points[np.arange(len(apart)), case.user] = case.sign[:, None] * apart
    flat_points = of_points.reshape(len(apart), -1)
    z = of_metric @ cp.vec(metric, "C") + flat_points @ cp.vec(points, "C")
    demands = constraints(region, metric, points)
    if region.margin_bound is not None:
        size = cp.reshape(squares @ cp.vec(metric, "C"), (1, count), "C")
        scores = points @ case.features.T + np.ones((case.n_users, 1)) @ size
        demands.append(cp.max(scores, axis=1) - cp.min(scores, axis=1) <= region.margin_bound)
    if isinstance(loss, Probit):
        return _reference_probit(case, loss, z, demands)
    return solve_tightly(cp.Problem(cp.Minimize(_objective(case, loss, z)), demands))


def _objective(case: Case, loss: Loss, z: cp.Expression) -> cp.Expression:
    """Return the risk as an expression."""
    short = 1 - z
    match loss:
        case Logistic():
            return case.share @ cp.logistic(-loss.scale * z)
        case Hinge():
            return case.share @ cp.pos(short)
        case SquaredHinge():
            return case.share @ cp.square(cp.pos(short))
        case SmoothedHinge():
            # Half a Huber function on the right of the corner, nothing on the left.
            width = loss.width
            curved = cp.Variable(z.shape)
            beyond = cp.pos(short - curved)
            return case.share @ (cp.square(curved) / (2 * width) + beyond)
    raise AssertionError(loss)


def _reference_probit(
    case: Case, loss: Probit, z: cp.Expression, demands: Sequence[cp.Constraint]
) -> float:
    """Return the least probit risk by Newton's method, whose steps are conic programmes.

    CVXPY's own log_normcdf is an approximation.
    """
    count = len(case.sign)
    tilt, root, centre = cp.Parameter(count), cp.Parameter(count, nonneg=True), cp.Parameter(count)
    model = tilt @ z + cp.sum_squares(cp.multiply(root, z) - centre) / 2
    newton = cp.Problem(cp.Minimize(model), list(demands))
    at = np.zeros(count)
    value = np.inf
    for _ in range(30):
        t = loss.scale * at
        ratio = np.exp(-0.5 * t**2 - log_ndtr(t)) / np.sqrt(2 * np.pi)
        tilt.value = -case.share * loss.scale * ratio
        root.value = np.sqrt(case.share * loss.scale**2 * ratio * (ratio + t))
        centre.value = root.value * at
        solve_tightly(newton)
        goal, length = np.asarray(z.value), 1.0
        following = case.share @ loss_value(loss, goal)
        while np.isfinite(value) and following > value and length > 1e-3:
            length /= 2
            following = case.share @ loss_value(loss, at + length * (goal - at))
        at = at + length * (goal - at)
        if abs(value - following) < 1e-9:
            return float(min(value, following))
        value = following
    raise AssertionError("Newton's method did not converge")


def same_risk(first: Solution, second: Solution, tol: float) -> None:
    """Assert that two solutions are equally good, as their certificates must make them."""
    assert first.certificate.converged
    assert second.certificate.converged
    assert abs(first.certificate.risk - second.certificate.risk) <= tol
