"""The linear system behind all questions (eq:full-linear-system): its rank, and its solution.

Its unknowns are the metric (D = d (d + 1) / 2 numbers) and a point for each of K users (d numbers);
each question is a row. The whole matrix, m rows and D + d K columns, is never made.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crowdmetric.checks import codes, first_true, floats, same_length, two_different_items
from crowdmetric.errors import DataError, RowError
from crowdmetric.identify.by_user import ByUser
from crowdmetric.identify.elimination import eliminate, points_given
from crowdmetric.solver.curvature import pack, unpack
from crowdmetric.solver.threads import one_thread_for_linear_algebra

__all__ = ["LinearSystem"]

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class LinearSystem:
    """What unquantised answers to the questions say about the metric and the points.

    The rank does not depend on the units of the features, nor on their zero.

    Parameters
    ----------
    asked : ByUser
        Who was asked what; use `of`.
    rank_of_user : ndarray of int, shape (K,)
        In how many directions each user's own questions differ: at most d.
    factor : ndarray of shape (D, D)
        What the questions say about the metric, once the users are eliminated.

    Examples
    --------
    One feature: the metric and one user's point need two different questions.

    >>> features = np.array([[0.0], [1.0], [3.0]])
    >>> LinearSystem.of(features, [0], [0], [1], n_users=1)
    LinearSystem(rank 1 of 2)
    >>> system = LinearSystem.of(features, [0, 0], [0, 1], [1, 2], n_users=1)
    >>> system.determined
    True
    >>> metric, points, residual = system.solve([3.0, 0.0])
    >>> metric.round(9), points.round(9)
    (array([[1.]]), array([[-4.]]))
    """

    asked: ByUser
    rank_of_user: Places
    factor: Floats

    @classmethod
    def of(
        cls,
        features: npt.ArrayLike,
        user: npt.ArrayLike,
        left: npt.ArrayLike,
        right: npt.ArrayLike,
        n_users: int,
    ) -> LinearSystem:
        """Eliminate the users, in O(sum m_k d^2 + m D^2) time and O(D^2) memory.

        Parameters
        ----------
        features : array-like of shape (n, d)
            A row for each item.
        user, left, right : array-like of int, shape (m,)
            Who was asked, and about which two items; all count from 0.
        n_users : int
            How many users there are, those without answers included.

        Returns
        -------
        LinearSystem
            With its rank.

        Raises
        ------
        DataError
            If users or items do not exist, or an item is compared with itself.
        """
        table = floats(features, "the features", dimensions=2)
        if n_users < 1 or table.shape[1] < 1:
            raise DataError("there must be at least one user and one feature; give some")
        if not np.isfinite(table).all():
            raise DataError("the features hold NaN or infinite numbers; replace them")
        users = codes(user, n_users, "user")
        lefts, rights = (
            codes(column, len(table), f"{side} item")
            for side, column in (("left", left), ("right", right))
        )
        for column in (lefts, rights):
            same_length(len(column), len(users), "items", "users")
        two_different_items(lefts, rights, range(len(table)))
        with one_thread_for_linear_algebra():
            asked = ByUser.of(table, users, lefts, rights, n_users)
            rank, factor = eliminate(asked)
        return cls(asked, rank, factor)

    def __repr__(self) -> str:
        """Return the rank in one line."""
        return f"LinearSystem(rank {self.rank} of {self.needed})"

    @property
    def needed(self) -> int:
        """The rank at which metric and points are determined: D + d K.

        Examples
        --------
        >>> LinearSystem.of(np.eye(2), [0], [0], [1], n_users=3).needed
        9
        """
        return self.asked.packed + self.asked.dimension * self.asked.n_users

    @cached_property
    def rank_of_metric(self) -> int:
        """How many numbers of the metric are determined: at most D.

        Examples
        --------
        >>> LinearSystem.of([[0.0], [1.0], [3.0]], [0, 0], [0, 1], [1, 2], n_users=1).rank_of_metric
        1
        """
        with one_thread_for_linear_algebra():
            singular = np.linalg.svd(self.factor, compute_uv=False)
        return int(np.count_nonzero(singular > self._rounding))

    @property
    def rank(self) -> int:
        """The rank of the whole system.

        Examples
        --------
        >>> LinearSystem.of([[0.0], [1.0], [3.0]], [0, 0], [0, 1], [1, 2], n_users=1).rank
        2
        """
        return int(self.rank_of_user.sum()) + self.rank_of_metric

    @property
    def determined(self) -> bool:
        """Whether exact answers would determine the metric and everybody's point.

        Examples
        --------
        >>> LinearSystem.of([[0.0], [1.0]], [0, 0], [0, 0], [1, 1], n_users=1).determined
        False
        """
        return self.rank == self.needed

    def undetermined_metrics(self) -> Floats:
        """Return what may be added to the metric without a trace in the answers.

        Returns
        -------
        ndarray of shape (q, d, d)
            Symmetric matrices, orthonormal; none if the metric is determined.

        Examples
        --------
        Two items say nothing about the metric that the user's own point could not undo.

        >>> LinearSystem.of([[0.0], [1.0]], [0], [0], [1], n_users=1).undetermined_metrics()
        array([[[1.]]])
        """
        vectors = pack(self.asked.seen.metric_back(self._lost_metrics()))
        return unpack(_orthonormal(vectors), self.asked.dimension)

    def undetermined_points(self, user: int) -> Floats:
        """Return what may be added to a user's point, even if the metric were known.

        Parameters
        ----------
        user : int
            Which user, counted from 0.

        Returns
        -------
        ndarray of shape (d - rank of the user, d)
            Orthonormal rows: directions in which the user's questions do not differ.

        Examples
        --------
        >>> system = LinearSystem.of(np.eye(2), [0], [0], [1], n_users=1)
        >>> (system.undetermined_points(0) ** 2).round(9)
        array([[0.5, 0.5]])
        """
        asked = self.asked
        own = np.linalg.qr(asked.own(user), mode="r")
        turn = np.linalg.svd(own, full_matrices=True)[2]
        return _orthonormal(turn[self.rank_of_user[user] :] @ asked.seen.back.T)

    def null_space(self) -> tuple[Floats, Floats]:
        """Return what may be added to metric and points together without a trace in the answers.

        Returns
        -------
        metrics : ndarray of shape (q, d, d)
            The part of the metric, q = needed - rank.
        points : ndarray of shape (q, K, d)
            What goes with each in the points. Where the metric's part is zero, one user's point
            changes alone.

        Examples
        --------
        >>> system = LinearSystem.of([[0.0], [1.0]], [0], [0], [1], n_users=1)
        >>> metrics, points = system.null_space()
        >>> metrics.round(9), points.round(9)
        (array([[[1.]]]), array([[[-1.]]]))
        """
        asked, d = self.asked, self.asked.dimension
        alone = np.flatnonzero(self.rank_of_user < d)
        count = self.needed - self.rank
        metrics, points = np.zeros((count, d, d)), np.zeros((count, asked.n_users, d))
        silent = np.zeros(len(asked))
        row = 0
        with one_thread_for_linear_algebra():
            for seen in self._lost_metrics():
                metrics[row] = asked.seen.metric_back(seen)
                inside = points_given(asked, seen, silent)
                points[row] = asked.seen.points_back(inside, metrics[row])
                size = np.linalg.norm(metrics[row])
                metrics[row] /= size
                points[row] /= size
                row += 1
            for user in alone:
                own = self.undetermined_points(int(user))
                points[row : row + len(own), user] = own
                row += len(own)
        return metrics, points

    def solve(self, measured: npt.ArrayLike) -> tuple[Floats, Floats, Floats]:
        """Return the metric and the points that fit measured differences best (least squares).

        Parameters
        ----------
        measured : array-like of shape (m,)
            For each question, the squared distance of the user to the left item less that to
            the right one.

        Returns
        -------
        metric : ndarray of shape (d, d)
            Symmetric; not made positive semidefinite.
        points : ndarray of shape (K, d)
            The pseudo-ideal points v_k = -2 M u_k.
        residual : ndarray of shape (m,)
            What is left over of each measured difference.

        Raises
        ------
        DataError
            If there is not one finite number for each question.

        Notes
        -----
        Where the system is not `determined` there are many best fits, and this is one of them: the
        shortest metric in coordinates in which the items vary equally in all directions.

        Examples
        --------
        >>> system = LinearSystem.of([[0.0], [1.0], [3.0]], [0, 0], [0, 1], [1, 2], n_users=1)
        >>> metric, points, residual = system.solve([3.0, 0.0])
        >>> bool(np.abs(residual).max() < 1e-12)
        True
        """
        values = floats(measured, "the differences", dimensions=1)
        asked = self.asked
        same_length(len(values), len(asked), "differences", "questions")
        row = first_true(~np.isfinite(values))
        if row is not None:
            raise RowError(f"the difference is {values[row]}; give a finite number", row)
        with one_thread_for_linear_algebra():
            _, factor = eliminate(asked, values)
            basis, singular, turn = np.linalg.svd(factor[:-1, :-1])
            along = basis.T @ factor[:-1, -1]
            kept = singular > self._rounding
            share = np.divide(along, singular, out=np.zeros_like(along), where=kept)
            inside = unpack(share @ turn, asked.dimension)
            points_inside = points_given(asked, inside, values)
            residual = values - asked.margins(inside, points_inside)
        metric = asked.seen.metric_back(inside)
        return metric, asked.seen.points_back(points_inside, metric), residual

    @cached_property
    def _rounding(self) -> float:
        """What rounding alone may make of a singular value of the factor."""
        asked = self.asked
        columns = asked.packed + asked.dimension
        return asked.seen.rounding(len(asked), columns, degree=2)

    def _lost_metrics(self) -> Floats:
        """Return the metrics that leave no trace, in the coordinates of the items."""
        with one_thread_for_linear_algebra():
            turn = np.linalg.svd(self.factor)[2]
        return unpack(turn[self.rank_of_metric :], self.asked.dimension)


def _orthonormal(rows: Floats) -> Floats:
    """Return orthonormal rows with the same span.

    The units of features may differ by many powers of ten, so equally long rows come first.
    """
    basis, _ = np.linalg.qr((rows / np.linalg.norm(rows, axis=1, keepdims=True)).T)
    result: Floats = np.ascontiguousarray(basis.T)
    return result
