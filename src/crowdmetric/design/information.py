"""The information that answers give about metric and points, and its log-determinant.

With an answer's row z = (p, x) of squares and points, and weight w, the information is the sum of
w z z'. It has the shape of an arrow: a block for the metric, one for each user, and what joins each
user to the metric. Its determinant is the product of those of the users' blocks and of what is left
for the metric once the users are eliminated; only these are kept, and each answer changes them by
matrices of rank one. Nothing has the size of the whole.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, cholesky, solve_triangular

from crowdmetric.design.items import Geometry

__all__ = ["Information"]

Floats = npt.NDArray[np.float64]

# What is known beforehand, beside answers of weight 1 about items at distance 1: next to nothing
# of the metric, and less of the points. So a user's first questions are about the own point.
_OF_METRIC = 1e-4
_OF_POINT = 1e-9


class Information:
    """What a crowd's answers tell.

    Parameters
    ----------
    geometry : Geometry
        The items.
    n_users : int
        How many users there are.

    Examples
    --------
    >>> told = Information(Geometry.of(np.array([[0.0], [1.0], [5.0]])), n_users=2)
    >>> before = told.log_determinant
    >>> gain = told.gains(1, np.arange(3), np.ones((3, 3)))[0, 2]
    >>> told.add(1, 0, 2, weight=1.0)
    >>> print(f"{told.log_determinant - before - gain:.6f}")
    0.000000
    """

    def __init__(self, geometry: Geometry, n_users: int) -> None:
        """Know next to nothing."""
        self._points, self._squares = geometry.points, geometry.squares
        dimension, degrees = self._points.shape[1], self._squares.shape[1]
        self._of_point = np.tile(_OF_POINT * np.eye(dimension), (n_users, 1, 1))
        self._joining = np.zeros((n_users, dimension, degrees))
        self._of_metric = _OF_METRIC * np.eye(degrees)  # with the users eliminated

    @property
    def log_determinant(self) -> float:
        """The logarithm of the determinant of all of it.

        Examples
        --------
        >>> geometry = Geometry.of(np.array([[0.0], [1.0], [5.0]]))
        >>> Information(geometry, 3).log_determinant < Information(geometry, 2).log_determinant
        True
        """
        of_points = np.linalg.slogdet(self._of_point).logabsdet.sum()
        return float(of_points + np.linalg.slogdet(self._of_metric).logabsdet)

    def gains(self, user: int, among: npt.NDArray[np.intp], weight: Floats) -> Floats:
        """Return by how much each pair of some items, asked of a user, would raise it.

        Parameters
        ----------
        user : int
            The user's position.
        among : ndarray of int
            The items.
        weight : ndarray of shape (len(among), len(among))
            Of an answer about each pair.

        Returns
        -------
        ndarray of shape (len(among), len(among))
            The rise of the log-determinant; symmetric if the weights are.

        Examples
        --------
        >>> told = Information(Geometry.of(np.array([[0.0], [1.0], [5.0]])), n_users=1)
        >>> np.unravel_index(told.gains(0, np.arange(3), np.ones((3, 3))).argmax(), (3, 3))
        (np.int64(0), np.int64(2))
        """
        factor = cholesky(self._of_point[user], lower=True)
        explained = cho_solve((factor, True), self._joining[user])
        points = self._points[among]
        surplus = self._squares[among] - points @ explained
        # Squared distances in these coordinates are the variances of the margins.
        seen = np.hstack(
            [
                solve_triangular(factor, points.T, lower=True).T,
                solve_triangular(cholesky(self._of_metric, lower=True), surplus.T, lower=True).T,
            ]
        )
        size = (seen**2).sum(axis=1)
        variance = size[:, None] + size[None, :] - 2.0 * (seen @ seen.T)
        result: Floats = np.log1p(weight * np.maximum(variance, 0.0))
        return result

    def add(self, user: int, one: int, other: int, weight: float) -> None:
        """Take in one answer.

        Parameters
        ----------
        user, one, other : int
            Whose, and about which two items.
        weight : float
            How much it tells beside others.

        Examples
        --------
        >>> told = Information(Geometry.of(np.array([[0.0], [1.0], [5.0]])), n_users=1)
        >>> told.add(0, 0, 1, weight=1.0)
        """
        points = self._points[one] - self._points[other]
        squares = self._squares[one] - self._squares[other]
        solved = np.linalg.solve(self._of_point[user], points)
        surplus = squares - self._joining[user].T @ solved
        self._of_metric += weight / (1.0 + weight * (points @ solved)) * np.outer(surplus, surplus)
        self._of_point[user] += weight * np.outer(points, points)
        self._joining[user] += weight * np.outer(points, squares)
