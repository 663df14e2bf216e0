"""Resamples of one problem's answers, solved side by side over several regions in turn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from crowdmetric.problem import Problem
from crowdmetric.regions import Region
from crowdmetric.solver.progress import Callback
from crowdmetric.solver.resamples import Resamples
from crowdmetric.solver.solving import MOST_ITERATIONS, _check_settings, _method, _run
from crowdmetric.solver.splitting import Splitting
from crowdmetric.solver.threads import one_thread_for_linear_algebra

__all__ = ["Stack"]

Floats = npt.NDArray[np.float64]


class Stack:
    """A path for each resample, walked in step: small problems take little more time than one.

    Parameters
    ----------
    problem : Problem
        What to minimise; its own region is not used.
    weights : ndarray of shape (B, m)
        How much each answer counts in each resample: not negative, no row all zero.
    start : Resamples, optional
        Where to start.
    tol, max_iterations, threads, dtype, callback
        As in `solve`; the gap is that of every resample.

    Examples
    --------
    >>> from crowdmetric.comparisons import Comparisons
    >>> from crowdmetric.losses import Logistic
    >>> from crowdmetric.regions import NuclearFull
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 0]], [-1, -1]).answers()
    >>> problem = Problem(answers, np.eye(2), Logistic(), NuclearFull(1.0))
    >>> stack = Stack(problem, np.array([[1.0, 1.0], [2.0, 0.0]]))
    >>> for radius in (1.0, 2.0):
    ...     found = stack.solve(NuclearFull(radius))
    >>> found.metric.shape, found.points.shape, bool((found.gap <= 1e-6).all())
    ((2, 2, 2), (2, 1, 2), True)
    """

    def __init__(
        self,
        problem: Problem,
        weights: Floats,
        *,
        tol: float = 1e-6,
        max_iterations: int = MOST_ITERATIONS,
        threads: int = 1,
        dtype: npt.DTypeLike = np.float64,
        callback: Callback | None = None,
        start: Resamples | None = None,
    ) -> None:
        """Sort the answers once for all regions."""
        _check_settings(tol, max_iterations, threads, dtype)
        self._problem, self._crowd = problem, problem.crowd(threads, dtype).resampled(weights)
        self._tol, self._most, self._callback = tol, max_iterations, callback
        self._start = None if start is None else (start.metric, start.points)
        self._previous: Splitting | None = None

    def solve(self, region: Region) -> Resamples:
        """Solve over the next region, of the same kind as the ones before.

        Parameters
        ----------
        region : Region
            Best close to the one before.

        Returns
        -------
        Resamples
            An exactly feasible point of each resample, with its gap; nothing is said if one is
            larger than the tolerance. Where every user has a metric of their own, there is one
            for each user of each resample.
        """
        problem = replace(self._problem, region=region)
        with one_thread_for_linear_algebra():
            method = _method(problem, self._crowd, self._start, self._previous)
            found = _run(method, self._tol, self._most, self._callback)[0]
        self._previous = method if isinstance(method, Splitting) else None
        self._start = found.metric, found.points
        return Resamples(found.metric, found.points, found.gap)
