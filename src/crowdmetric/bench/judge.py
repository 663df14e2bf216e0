"""One yardstick for all solvers: risk, violation and gap of an answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric.problem import Problem
from crowdmetric.solver import Solution

__all__ = ["Judge"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Judge:
    """Measures every answer to a problem in the same way, whoever gave it.

    Parameters
    ----------
    problem : Problem
        What was to be solved.
    lower : ndarray of shape (B,)
        A certified lower bound for each metric of the problem.

    Examples
    --------
    >>> from crowdmetric.bench.problems import cases
    >>> from crowdmetric.solver import solve
    >>> problem = cases(quick=True)[0].problem(seed=0)
    >>> solution = solve(problem)
    >>> judge = Judge.of(problem, solution)
    >>> measured = judge.measure(solution.metric, solution.points)
    >>> 0 <= measured["gap"] < 1e-6, abs(measured["violation"]) < 1e-9
    (True, True)
    """

    problem: Problem
    lower: Floats

    @classmethod
    def of(cls, problem: Problem, solution: Solution) -> Judge:
        """Take the certified lower bounds, one for each metric, from our solution."""
        certificate = solution.certificate
        judge = cls(problem, np.zeros(0))
        risk = judge.risks(*judge.shaped(solution.metric, solution.points))
        gap = certificate.gap if certificate.user_gaps is None else certificate.user_gaps
        return cls(problem, risk - gap)

    def shaped(self, metric: Floats, points: Floats) -> tuple[Floats, Floats]:
        """Return the metrics and the points of each one's users."""
        d, count = self.problem.features.shape[1], self.problem.answers.n_users
        metrics = metric.reshape(-1, d, d)
        return metrics, points.reshape(len(metrics), count // len(metrics), d)

    def risks(self, metric: Floats, points: Floats) -> Floats:
        """Return the risk under each metric."""
        crowd = self.problem.crowd()
        return crowd.mean(self.problem.loss.value(crowd.margins(metric, points)))

    def measure(self, metric: Floats, points: Floats) -> dict[str, float]:
        """Return risk, violation and gap of an answer."""
        metric, points = self.shaped(metric, points)
        risks = self.risks(metric, points)
        gaps = risks - self.lower
        violation = self.problem.region.violation(metric, points)
        return {
            "risk": float(self.problem.crowd().problem_shares @ risks),
            "violation": float(violation.max()),
            "gap": float(gaps[np.abs(gaps).argmax()]),
        }
