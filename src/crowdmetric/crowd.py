"""The crowd: answers sorted by user, and the two linear maps between parameters and margins.

A solver asks for the margins of a point, and for the gradient that slopes pull; it never sees
which answer belongs to whom. Threads share the answers out by user, so that a given number of
threads always adds in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crowdmetric import kernels
from crowdmetric.comparisons import Answers

__all__ = ["Crowd"]

Floats = npt.NDArray[np.float64]
_LARGEST_TABLE = 4  # places per answer up to which a table of all scores is quicker
_LEAST_WORK = 20_000  # answers for which a thread is worth its start
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Crowd:
    """Answers sorted by user, with the features of their items.

    Parameters
    ----------
    user, up, down : ndarray of int32
        Codes, the users in ascending order; the item `up` should score higher than `down`.
    share : ndarray of float64
        Weight of each answer, summing to 1 within each problem.
    features : ndarray of shape (n, d)
        The items, in float64 or float32.
    reference : ndarray of shape (n, d)
        The items in float64.
    n_users, n_problems : int
        One problem for all users, or one for each.
    order : ndarray of int
        Where each answer was before sorting.
    problem_weights : ndarray of shape (B,)
        The weight of each problem's answers.
    threads : int
        How many threads share the loops over answers.

    Examples
    --------
    >>> from crowdmetric.comparisons import Comparisons
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 1]).answers()
    >>> crowd = Crowd.of(answers, np.array([[0.0], [1.0], [2.0]]))
    >>> crowd.margins(np.ones((1, 1, 1)), np.zeros((1, 1, 1)))
    array([ 1., -3.])
    """

    user: Codes
    up: Codes
    down: Codes
    share: Floats
    features: npt.NDArray[np.floating]
    reference: Floats
    n_users: int
    n_problems: int
    order: npt.NDArray[np.intp]
    problem_weights: Floats
    threads: int = 1
    ranges: tuple[tuple[int, int, int], ...] = field(init=False)

    def __post_init__(self) -> None:
        """Cut the answers into one run of whole users per thread."""
        runs = min(self.threads, max(1, len(self.user) // _LEAST_WORK))
        targets = np.linspace(0, len(self.user), runs + 1)
        cuts = self.starts[np.abs(self.starts[:, None] - targets).argmin(axis=0)].tolist()
        ranges = zip(range(runs), cuts[:-1], cuts[1:], strict=True)
        object.__setattr__(self, "ranges", tuple(ranges))

    @classmethod
    def of(
        cls,
        answers: Answers,
        features: Floats,
        single: bool = False,
        threads: int = 1,
        dtype: npt.DTypeLike = np.float64,
    ) -> Crowd:
        """Sort the answers by user.

        Parameters
        ----------
        answers : Answers
            In any order.
        features : ndarray of shape (n, d)
            One row per item.
        single : bool
            Every user is a problem of their own.
        threads : int
            How many threads share the loops over answers.
        dtype : {float64, float32}
            The precision of features and points inside the loops; sums are always float64.

        Returns
        -------
        Crowd
            The sorted crowd.
        """
        by_user: slice | npt.NDArray[np.intp] = slice(None)
        if (answers.user[1:] < answers.user[:-1]).any():
            by_user = np.argsort(answers.user, kind="stable")
        user, weight = answers.user[by_user], answers.weight[by_user]
        if single:
            total = np.bincount(user, weight, minlength=answers.n_users).astype(np.float64)
            of_answer: Floats = np.where(total > 0, total, 1.0)[user]
        else:
            total = of_answer = np.array([weight.sum()])
        up = np.where(answers.sign > 0, answers.left, answers.right)[by_user]
        down = np.where(answers.sign > 0, answers.right, answers.left)[by_user]
        return cls(
            user=user,
            up=up,
            down=down,
            share=weight / of_answer,
            features=np.ascontiguousarray(features, dtype=dtype),
            reference=np.ascontiguousarray(features, dtype=np.float64),
            n_users=answers.n_users,
            n_problems=answers.n_users if single else 1,
            order=np.arange(len(answers))[by_user],
            problem_weights=total,
            threads=threads,
        )

    def resampled(self, weights: Floats) -> Crowd:
        """Return resamples of the answers side by side: as many problems for each as there were.

        Parameters
        ----------
        weights : ndarray of shape (B, m)
            How often each answer is in each resample, in the order in which the answers were
            given; what is in none takes no time.

        Returns
        -------
        Crowd
            Of B times as many problems.

        Examples
        --------
        >>> from crowdmetric.comparisons import Comparisons
        >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 1]).answers()
        >>> crowd = Crowd.of(answers, np.array([[0.0], [1.0], [2.0]]))
        >>> two = crowd.resampled(np.array([[1.0, 1.0], [0.0, 2.0]]))
        >>> two.n_problems, two.user, two.share
        (2, array([0, 0, 1], dtype=int32), array([0.5, 0.5, 1. ]))
        """
        sorted_weights = weights[:, self.order]
        resample, row = np.nonzero(sorted_weights)
        counts = sorted_weights[resample, row]
        problem = resample * self.n_problems + self.problem[row]
        n_problems = len(weights) * self.n_problems
        total = np.bincount(problem, counts, minlength=n_problems).astype(np.float64)
        return replace(
            self,
            user=(resample * self.n_users + self.user[row]).astype(np.int32),
            up=self.up[row],
            down=self.down[row],
            share=counts / total[problem],
            n_users=len(weights) * self.n_users,
            n_problems=n_problems,
            order=resample * weights.shape[1] + self.order[row],
            problem_weights=total,
        )

    @cached_property
    def exact(self) -> Crowd:
        """The same crowd in float64: certificates are computed with it."""
        if self.features.dtype == np.float64:
            return self
        return replace(self, features=self.reference)

    @property
    def users_per_problem(self) -> int:
        """How many users share a metric."""
        return self.n_users // self.n_problems

    @property
    def dimension(self) -> int:
        """The number of features."""
        return int(self.features.shape[1])

    @cached_property
    def starts(self) -> npt.NDArray[np.intp]:
        """Where each user's answers start, and the number of answers at the end."""
        return np.searchsorted(self.user, np.arange(self.n_users + 1))

    @cached_property
    def _places(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]] | None:
        """Where both items of each answer are in the flat table of scores, if that is small."""
        count = len(self.features)
        if self.n_users * count > _LARGEST_TABLE * len(self.user):
            return None
        rows = self.user.astype(np.intp) * count
        return rows + self.up, rows + self.down

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        """The threads, started on first use."""
        return ThreadPoolExecutor(self.threads)

    def margins(self, metric: Floats, points: Floats) -> Floats:
        """Return z = y * delta of every answer.

        Parameters
        ----------
        metric : ndarray of shape (B, d, d)
            One metric per problem.
        points : ndarray of shape (B, K / B, d)
            The points of each problem's users.

        Returns
        -------
        ndarray of shape (m,)
            In the crowd's order.
        """
        out = np.empty(len(self.user))
        size = self.sizes(metric)
        if self._places is not None:
            up, down = self._places
            scores = points.astype(self.features.dtype, copy=False) @ self.features.T
            scores += size[:, None, :]
            table = scores.ravel()

            def work(_: int, start: int, stop: int) -> None:
                kernels.gather_table(start, stop, up, down, table, out)

        else:
            shape = (self.n_users, self.dimension)
            rows = np.ascontiguousarray(points.reshape(shape), dtype=self.features.dtype)

            def work(_: int, start: int, stop: int) -> None:
                kernels.gather(
                    start, stop, self.user, self.up, self.down,
                    size, self.features, rows, self.users_per_problem, out,
                )  # fmt: skip

        self._share_out(work)
        return out

    def gradient(self, slopes: Floats) -> tuple[Floats, Floats]:
        """Return the adjoint of `margins`, applied to the share of each answer times its slope.

        Parameters
        ----------
        slopes : ndarray of shape (m,)
            The slope of the loss at each answer, in the crowd's order.

        Returns
        -------
        metric : ndarray of shape (B, d, d)
            The gradient with respect to each metric.
        points : ndarray of shape (B, K / B, d)
            The gradient with respect to the points.
        """
        return self.pull(slopes * self.share)

    def pull(self, forces: Floats) -> tuple[Floats, Floats]:
        """Return the adjoint of `margins`, applied to one number per answer."""
        shape = (self.n_problems, self.users_per_problem, self.dimension)
        if self._places is not None:
            up, down = self._places
            table = np.zeros((*shape[:2], len(self.features)))
            flat = table.ravel()

            def work(_: int, start: int, stop: int) -> None:
                kernels.scatter_table(start, stop, up, down, forces, flat)

            self._share_out(work)
            return self.pull_metric(table.sum(axis=1)), table @ self.reference
        of_item = np.zeros((len(self.ranges), self.n_problems, len(self.features)))
        of_user = np.zeros((self.n_users, self.dimension))

        def work_by_features(run: int, start: int, stop: int) -> None:
            kernels.scatter(
                start, stop, self.user, self.up, self.down, forces,
                self.features, self.users_per_problem, of_item[run], of_user,
            )  # fmt: skip

        self._share_out(work_by_features)
        return self.pull_metric(of_item.sum(axis=0)), of_user.reshape(shape)

    def sizes(self, metric: Floats) -> Floats:
        """Return x' M x for each problem and item."""
        rows = self.features @ metric.astype(self.features.dtype, copy=False)
        result: Floats = np.einsum("bnd,nd->bn", rows, self.features)
        return result

    def pull_metric(self, of_item: Floats) -> Floats:
        """Return sum_i of_item[b, i] x_i x_i', the adjoint of `sizes`."""
        weighted = of_item[..., None] * self.features
        return np.asarray(self.features.T @ weighted, dtype=np.float64)

    @cached_property
    def lengths(self) -> tuple[Floats, Floats]:
        """The squared norms of what each margin is made of: of x x' - y y', and of x - y."""
        table = self.reference
        square = np.einsum("nd,nd->n", table, table)
        left, right = square[self.up], square[self.down]
        # norm(a - b)^2 from norms and inner products: of x x', the inner product is (x' y)^2.
        inner = np.einsum("td,td->t", table[self.up], table[self.down])
        return left**2 + right**2 - 2 * inner**2, left + right - 2 * inner

    @property
    def problem_shares(self) -> Floats:
        """The weight of each problem's answers, summing to 1."""
        result: Floats = self.problem_weights / self.problem_weights.sum()
        return result

    @cached_property
    def problem(self) -> npt.NDArray[np.intp]:
        """The problem of each answer."""
        return (self.user // self.users_per_problem).astype(np.intp)

    def mean(self, values: Floats) -> Floats:
        """Return each problem's weighted mean of one value per answer."""
        if self.n_problems == 1:
            return np.array([self.share @ values])
        return self.sums(self.share * values)

    def sums(self, values: Floats) -> Floats:
        """Return each problem's sum of one value per answer."""
        starts, some = self._problem_starts
        result = np.zeros(self.n_problems)
        result[some] = np.add.reduceat(values, starts)
        return result

    @cached_property
    def _problem_starts(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Where the answers of each problem that has some begin, and which those are."""
        cuts = self.starts[:: self.users_per_problem]
        some = cuts[1:] > cuts[:-1]
        return cuts[:-1][some], some

    def _share_out(self, work: Callable[[int, int, int], None]) -> None:
        """Run the work on every range, in threads if there are several."""
        if len(self.ranges) == 1:
            work(*self.ranges[0])
        else:
            list(self._pool.map(work, *zip(*self.ranges, strict=True)))
