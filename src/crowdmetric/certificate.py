"""Certificates: how far from the best possible a fit can be at most, by Fenchel duality.

For slopes s_t in the domain of the conjugate loss, with G the gradient they pull,

    R(M, V) >= C + <G, (M, V)> >= C - support(-G)    with C = -(1/W) sum_t w_t loss*(s_t)

for every (M, V) of the region. The risk at an exactly feasible point less this lower bound is the
gap. Anyone can compute both again: `recheck` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from crowdmetric.margin_bound import MarginBound, centred
from crowdmetric.problem import Problem
from crowdmetric.regions import PSDOnly, Region

__all__ = ["Certificate", "NotConvergedWarning", "Status", "lower_bound", "recheck"]

Floats = npt.NDArray[np.float64]
Status = Literal["converged", "iteration-limit", "separable", "stopped"]


class NotConvergedWarning(UserWarning):
    """The certified gap is larger than the tolerance asked for.

    Examples
    --------
    >>> import warnings
    >>> from crowdmetric import CrowdMetric, regions, simulate
    >>> crowd = simulate(n_items=20, dimension=2, n_users=3, pairs_per_user=30)
    >>> hasty = CrowdMetric(crowd.items, regions.NuclearFull(2.0), max_iterations=1)
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     fitted = hasty.fit(crowd.comparisons)
    >>> said[0].category.__name__, fitted.certificate_.status
    ('NotConvergedWarning', 'iteration-limit')
    """


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is known about a fit.

    Parameters
    ----------
    risk : float
        R(M, V) at the returned point, which is feasible.
    lower_bound : float
        No point of the region has a smaller risk.
    tolerance : float
        The gap that was asked for.
    status : {"converged", "iteration-limit", "separable", "stopped"}
        Whether it was reached, and why not. "separable": the answers can be explained perfectly,
        so that the risk falls for ever and there is no best point.
    iterations : int
        Steps taken by the solver.
    seconds : float
        Time taken by the solver.
    slopes : ndarray of shape (m,), optional
        The s_t of the bound, in the order of the answers; where there are none they are the slopes
        of the loss at the returned point.
    dual : ndarray, optional
        The Y of `NuclearFull.support`.
    margin_dual : ndarray, optional
        The multiplier of the margin bound, for each user and item.
    distance : float, optional
        For regions without a bound: the certificate compares with all points of the region whose
        Frobenius norm, of M and V together, is at most this.
    user_gaps : ndarray of shape (K,), optional
        The gap of each user's own problem, where every user has one; `risk` and `lower_bound`
        are then averages over the answers.

    Examples
    --------
    >>> certificate = Certificate(0.5, 0.4999, 1e-3, "converged", 20, 0.1)
    >>> print(certificate)
    converged: risk 0.5 is within 1.0e-04 of the best possible (20 iterations, 0.1 s)
    """

    risk: float
    lower_bound: float
    tolerance: float
    status: Status
    iterations: int
    seconds: float
    slopes: Floats | None = None
    dual: Floats | None = None
    margin_dual: Floats | None = None
    distance: float | None = None
    user_gaps: Floats | None = None

    @property
    def gap(self) -> float:
        """The risk less the lower bound; for single fits, the largest gap of any user."""
        if self.user_gaps is not None:
            return float(self.user_gaps.max())
        return self.risk - self.lower_bound

    @property
    def converged(self) -> bool:
        """Whether the gap is as small as was asked for."""
        return self.status == "converged"

    def __str__(self) -> str:
        """Return one readable sentence."""
        scope = "" if self.distance is None else f" up to distance {self.distance:.3g}"
        return (
            f"{self.status}: risk {self.risk:.6g} is within {self.gap:.1e} of the best possible"
            f"{scope} ({self.iterations} iterations, {self.seconds:.2g} s)"
        )


def lower_bound(
    constant: Floats,
    gradient: tuple[Floats, Floats],
    region: Region,
    duals: Mapping[str, Floats | None],
    bound: MarginBound | None,
    distance: float | Floats | None = None,
) -> Floats:
    """Return each problem's lower bound from what slopes pull, and multipliers.

    Parameters
    ----------
    constant : ndarray of shape (B,)
        C, minus the mean of the conjugate loss at the slopes.
    gradient : tuple of ndarray
        G, the gradient that the slopes pull.
    region : Region
        Of the problem.
    duals : mapping
        "dual" and "margin_dual", as in `Certificate`, if known.
    bound : MarginBound or None
        The region's margin bound.
    distance : float or ndarray of shape (B,), optional
        How far from zero to compare, for regions without a bound.

    Returns
    -------
    ndarray of shape (B,)
        The lower bounds.

    Examples
    --------
    >>> from crowdmetric.regions import FrobeniusMetric
    >>> nothing, pull = np.zeros((1, 2, 2)), np.array([[[3.0, 4.0]]])
    >>> lower_bound(np.ones(1), (nothing, pull), FrobeniusMetric(1.0, 0.1), {}, None)
    array([0.5])
    """
    metric, points = gradient
    margin_dual = duals.get("margin_dual")
    if bound is not None and margin_dual is not None:
        moved, rows = bound.pull(centred(margin_dual))
        metric, points = metric + moved, points + rows
        constant = constant - bound.support(centred(margin_dual))
    if distance is not None and isinstance(region, PSDOnly):
        return constant - region.support_within(-metric, -points, distance)
    return constant - region.support(-metric, -points, duals.get("dual"))


def recheck(
    problem: Problem, metric: npt.ArrayLike, points: npt.ArrayLike, certificate: Certificate
) -> tuple[float, float, float]:
    """Compute a certificate again, from the data and the point alone.

    Parameters
    ----------
    problem : Problem
        What was minimised.
    metric : array-like of shape (d, d) or (K, d, d)
        The returned metric, or metrics.
    points : array-like of shape (K, d)
        The returned points.
    certificate : Certificate
        Slopes and duals are read from it; risk and lower bound are not.

    Returns
    -------
    risk, lower_bound, violation : float
        For single fits, averages over the answers and the largest violation.

    Examples
    --------
    >>> from crowdmetric.comparisons import Comparisons
    >>> from crowdmetric.losses import Logistic
    >>> from crowdmetric.regions import FrobeniusMetric
    >>> answers = Comparisons.from_arrays([[0, 0, 1]], [-1]).answers()
    >>> problem = Problem(answers, np.eye(2), Logistic(), FrobeniusMetric(1.0, 1.0))
    >>> claim = Certificate(0.0, 0.0, 1e-6, "converged", 0, 0.0)
    >>> risk, bound, violation = recheck(problem, np.zeros((2, 2)), np.zeros((1, 2)), claim)
    >>> print(f"{risk:.4f} {bound:.4f} {violation:.4f}")
    0.6931 -0.5140 0.0000
    """
    crowd = problem.crowd()
    d, count = crowd.dimension, crowd.n_problems
    matrix = np.asarray(metric, dtype=np.float64).reshape(count, d, d)
    rows = np.asarray(points, dtype=np.float64).reshape(count, crowd.users_per_problem, d)
    margins = crowd.margins(matrix, rows)
    if certificate.slopes is None:
        slopes = problem.loss.slope(margins)
    else:
        slopes = certificate.slopes[crowd.order]
    bound = MarginBound.of(crowd, problem.region)
    duals = {
        name: None if value is None else value.reshape(count, -1, value.shape[-1])
        for name, value in (("dual", certificate.dual), ("margin_dual", certificate.margin_dual))
    }
    constant = -crowd.mean(problem.loss.conjugate(slopes))
    lower = lower_bound(
        constant, crowd.gradient(slopes), problem.region, duals, bound, certificate.distance
    )
    outside = problem.region.violation(matrix, rows)
    if bound is not None:
        outside = np.maximum(outside, bound.violation(matrix, rows))
    shares = crowd.problem_shares
    risk = crowd.mean(problem.loss.value(margins))
    return float(shares @ risk), float(shares @ lower), float(outside.max())
