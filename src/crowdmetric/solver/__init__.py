"""One protocol for every solver: a problem in, a certified solution out.

Examples
--------
>>> import numpy as np
>>> from crowdmetric.comparisons import Comparisons
>>> from crowdmetric.losses import Logistic
>>> from crowdmetric.problem import Problem
>>> from crowdmetric.regions import FrobeniusMetric
>>> answers = Comparisons.from_arrays([[0, 0, 1], [1, 1, 0], [1, 1, 2]], [-1, -1, 1]).answers()
>>> solution = solve(Problem(answers, np.eye(3), Logistic(), FrobeniusMetric(1.0, 1.0)))
>>> solution.certificate.status, solution.certificate.gap < 1e-6
('converged', True)
"""

from __future__ import annotations

from crowdmetric.solver.progress import Progress, ProgressLine
from crowdmetric.solver.resamples import Resamples
from crowdmetric.solver.solving import Path, Solution, solve
from crowdmetric.solver.stack import Stack

__all__ = ["Path", "Progress", "ProgressLine", "Resamples", "Solution", "Stack", "solve"]
