"""Coordinates in which the rank of the linear system can be decided in floating point.

The rank stays the same when the items are shifted, scaled or turned, but rounding does not: a
metric multiplies features with each other, which squares the differences in size between euros and
minutes, or of years around 2000. Here all items are seen from their mean, and in units and
directions in which they vary equally.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Coordinates"]

Floats = npt.NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
_SAFETY = 4.0
_FLAT = 1e-8  # the metric sees the square of a difference: anything smaller is below rounding


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Items z = back' (x - centre), and the way back for a metric and points.

    Parameters
    ----------
    items : ndarray of shape (n, d)
        The items in the new coordinates; zeros where the items do not vary.
    centre : ndarray of shape (d,)
        The mean of the items.
    back : ndarray of shape (d, d)
        With N and w for z, the metric for x is back N back', and points are back w - 2 M centre.
    grain : float
        By how much rounding may have moved a coordinate.

    Examples
    --------
    >>> found = Coordinates.of(np.array([[2000.0, 1.0], [2001.0, 1.0], [2002.0, 1.0]]))
    >>> (found.items**2).round(3)
    array([[1.5, 0. ],
           [0. , 0. ],
           [1.5, 0. ]])
    """

    items: Floats
    centre: Floats
    back: Floats
    grain: float

    @classmethod
    def of(cls, features: Floats) -> Coordinates:
        """Find the coordinates in which the items have mean zero and unit variance.

        Parameters
        ----------
        features : ndarray of shape (n, d)
            A row for each item that is compared with others.

        Returns
        -------
        Coordinates
            With zeros in directions in which the items do not vary, and rounding alone shows.
        """
        count, dimension = features.shape
        centre = features.mean(axis=0)
        spread = np.sqrt(np.mean((features - centre) ** 2, axis=0))
        largest = np.abs(features).max(axis=0)
        varies = spread > _SAFETY**2 * _EPS * largest
        unit = np.where(varies, spread, 1.0)
        grain = _EPS * float(np.max(largest[varies] / spread[varies], initial=1.0))
        scaled = np.where(varies, (features - centre) / unit, 0.0)
        # The triangular factor has the singular values and directions of the whole table.
        factor = np.linalg.qr(scaled, mode="r")
        _, values, turn = np.linalg.svd(factor, full_matrices=True)
        lengths = np.zeros(dimension)
        lengths[: len(values)] = values
        lengths /= np.sqrt(count)
        rounding = _SAFETY * max(count, dimension) * grain / np.sqrt(count)
        kept = lengths > max(_FLAT * lengths[0], rounding)
        stretch = turn.T / np.where(kept, lengths, 1.0)
        items: Floats = scaled @ stretch
        items[:, ~kept] = 0.0
        return cls(
            items=items,
            centre=centre,
            back=stretch / unit[:, None],
            grain=grain / float(np.min(lengths[kept], initial=1.0)),
        )

    def rounding(self, rows: int, columns: int, degree: int) -> float:
        """Return how large a singular value rounding alone may make.

        Parameters
        ----------
        rows, columns : int
            The shape of the matrix.
        degree : int
            1 if its entries are coordinates, 2 if they are products of two.

        Returns
        -------
        float
            A matrix of errors of one grain has a norm of about sqrt(rows) + sqrt(columns) grains.
            The larger of both counts, as numpy.linalg.matrix_rank has it, leaves room for
            factorisations; a product of coordinates magnifies a grain by their size.

        Examples
        --------
        >>> found = Coordinates.of(np.array([[0.0], [1.0]]))
        >>> found.rounding(100, 1, degree=1) < 1e-12
        True
        """
        reach = float(np.sqrt(np.max(np.einsum("nd,nd->n", self.items, self.items), initial=1.0)))
        return _SAFETY * max(rows, columns) * self.grain * reach**degree

    def metric_back(self, metric: Floats) -> Floats:
        """Return metrics for the features, from metrics for the coordinates.

        Parameters
        ----------
        metric : ndarray of shape (..., d, d)
            One or more symmetric matrices.

        Returns
        -------
        ndarray of shape (..., d, d)
            As many, exactly symmetric.

        Examples
        --------
        >>> Coordinates.of(np.array([[0.0], [4.0]])).metric_back(np.eye(1))
        array([[0.25]])
        """
        product = self.back @ metric @ self.back.T
        result: Floats = 0.5 * (product + np.swapaxes(product, -1, -2))
        return result

    def points_back(self, points: Floats, metric: Floats) -> Floats:
        """Return pseudo-ideal points for the features, from those for the coordinates.

        Parameters
        ----------
        points : ndarray of shape (K, d)
            Rows for the coordinates.
        metric : ndarray of shape (d, d)
            The metric, for the features.

        Returns
        -------
        ndarray of shape (K, d)
            Rows for the features: shifting the items changes the points of a metric.

        Examples
        --------
        >>> seen = Coordinates.of(np.array([[0.0], [4.0]]))
        >>> seen.points_back(np.zeros((1, 1)), np.array([[0.25]]))
        array([[-1.]])
        """
        result: Floats = points @ self.back.T - 2.0 * (metric @ self.centre)
        return result
