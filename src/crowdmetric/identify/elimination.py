"""Eliminating users one after the other, so that only equations about the metric remain.

A user's answers are rows [B | A]: B times the user's own point plus A times the packed metric. What
they say about the metric alone is A less its projection on the columns of B. All that remains is
gathered in one triangular factor, D rows however many answers there are. Orthogonal projections and
factors are used throughout: sums of squares would square the condition number, and with that lose
half of the digits by which a rank is decided.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dtpqrt

from crowdmetric.identify.by_user import Batch, ByUser, Part
from crowdmetric.solver.curvature import pack

__all__ = ["eliminate", "points_given"]

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

_PANEL = 32  # columns that LAPACK eliminates at a time


def eliminate(asked: ByUser, measured: Floats | None = None) -> tuple[Places, Floats]:
    """Eliminate all users.

    Parameters
    ----------
    asked : ByUser
        Who was asked what.
    measured : ndarray of shape (m,), optional
        The right-hand side; it goes along as one more column.

    Returns
    -------
    rank : ndarray of int, shape (K,)
        The rank of each user's own part.
    factor : ndarray of shape (D, D) or (D + 1, D + 1)
        Upper triangular: its rows span what the answers say about the metric.

    Examples
    --------
    >>> asked = ByUser.of(np.eye(2), *np.array([[0], [0], [1]]), n_users=1)
    >>> rank, factor = eliminate(asked)
    >>> rank, bool(np.abs(factor).max() < 1e-12)
    (array([1]), True)
    """

    def others(part: Part) -> Floats:
        rows = _metric_rows(part)
        if measured is None:
            return rows
        return np.concatenate([rows, part.values(measured)[..., None]], axis=-1)

    rank = np.zeros(asked.n_users, dtype=np.intp)
    width = asked.packed + (measured is not None)
    factor = np.zeros((width, width), order="F")
    for batch in asked.batches():
        own, rows = _condensed(batch, others, width)
        basis, singular, _ = np.linalg.svd(own, full_matrices=False)
        kept = _kept(batch, singular)
        rank[batch.users] = np.count_nonzero(kept, axis=-1)
        basis *= kept[:, None, :]
        rows -= basis @ (np.swapaxes(basis, -1, -2) @ rows)
        factor = _fold(factor, rows.reshape(-1, width))
    return rank, factor


def points_given(asked: ByUser, metric: Floats, measured: Floats) -> Floats:
    """Return the points that fit best with a metric, all in the coordinates of the items.

    Parameters
    ----------
    asked : ByUser
        Who was asked what.
    metric : ndarray of shape (d, d)
        The metric.
    measured : ndarray of shape (m,)
        The measured differences.

    Returns
    -------
    ndarray of shape (K, d)
        The shortest of the best, where there are many.

    Examples
    --------
    >>> asked = ByUser.of(np.array([[-1.0], [1.0]]), *np.array([[0], [1], [0]]), n_users=1)
    >>> points_given(asked, np.eye(1), np.array([4.0])) * asked.seen.back
    array([[2.]])
    """

    def left_over(part: Part) -> Floats:
        rest: Floats = (part.values(measured) - part.metric_margins(metric))[..., None]
        return rest

    points = np.zeros((asked.n_users, asked.dimension))
    for batch in asked.batches():
        own, rest = _condensed(batch, left_over, 1)
        basis, singular, turn = np.linalg.svd(own, full_matrices=False)
        kept = _kept(batch, singular)
        along = np.einsum("umr,um->ur", basis, rest[..., 0])
        share = np.divide(along, singular, out=np.zeros_like(along), where=kept)
        points[batch.users] = np.einsum("ur,urd->ud", share, turn)
    return points


def _metric_rows(part: Part) -> Floats:
    """Return the packed x x' - y y' for left x and right y."""
    # It is (e s' + s e') / 2 with e = x - y and s = x + y: no large squares that cancel each other.
    product = part.apart[..., :, None] * part.total[..., None, :]
    return pack(0.5 * (product + np.swapaxes(product, -1, -2)))


def _kept(batch: Batch, singular: Floats) -> npt.NDArray[np.bool_]:
    """Return which singular values of the users' own parts are more than rounding."""
    seen, dimension = batch.asked.seen, batch.asked.dimension
    rounding = [seen.rounding(int(count), dimension, degree=1) for count in batch.counts]
    kept: npt.NDArray[np.bool_] = singular > np.array(rounding)[:, None]
    return kept


def _condensed(batch: Batch, others: Callable[[Part], Floats], width: int) -> tuple[Floats, Floats]:
    """Return the rows of a batch: the users' own columns, and `width` other ones.

    The rows of a user who comes alone, since there are so many, are folded into as many as there
    are columns; their ranks, projections and least squares stay as they are.
    """
    step, dimension = batch.asked.most_rows, batch.asked.dimension
    if batch.most <= step:
        part = batch.part(0, batch.most)
        return part.apart, others(part)
    factor = np.zeros((dimension + width, dimension + width), order="F")
    for start in range(0, batch.most, step):
        part = batch.part(start, start + step)
        factor = _fold(factor, np.concatenate([part.apart, others(part)], axis=-1)[0])
    return factor[None, :, :dimension], factor[None, :, dimension:].copy()


def _fold(factor: Floats, rows: Floats) -> Floats:
    """Return the triangular factor of all rows so far, these included.

    LAPACK's tpqrt leaves the zeros of the factor alone: 2 D^2 operations a row, however few come.
    """
    folded: Floats = dtpqrt(0, min(_PANEL, len(factor)), factor, rows, overwrite_a=True)[0]
    return folded
