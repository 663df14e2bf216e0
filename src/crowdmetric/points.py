"""Ideal points from pseudo-ideal points, and what the metric cannot see of them.

A fit gives the metric M and the pseudo-ideal points v_k = -2 M u_k (the rows of ``points``).
This module undoes that product in three ways: exactly, with Tikhonov's regularisation, and with
any prior in its place. Everywhere, ``metric`` is one (d, d) matrix for the crowd or a (K, d, d)
stack with one matrix per user.

An eigenvalue of M counts as zero when it is at most ``tolerance`` times the largest one
(``RANK_TOLERANCE`` unless said otherwise, and never below the rounding of the array's own type).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crowdmetric.errors import DataError, SettingError

RANK_TOLERANCE = 1e-9
"""Eigenvalues at most this share of the largest one count as zero."""

_SYMMETRY_TOLERANCE = 1e-6

FloatArray = npt.NDArray[np.float64]


def ideal_points(
    metric: npt.ArrayLike, points: npt.ArrayLike, *, tolerance: float = RANK_TOLERANCE
) -> FloatArray:
    """Exact ideal points: u_k = -1/2 pinv(M) v_k.

    Where M is rank deficient this is the shortest of the ideal points that explain the answers.

    Parameters
    ----------
    metric : array_like, shape (d, d) or (K, d, d)
        The metric, symmetric positive semidefinite, or one per user.
    points : array_like, shape (K, d)
        The pseudo-ideal points v_k.
    tolerance : float
        Eigenvalues at most this share of the largest count as zero.

    Returns
    -------
    ndarray, shape (K, d)
        The ideal points u_k.

    Examples
    --------
    >>> import numpy as np
    >>> ideal_points(np.diag([2.0, 0.0]), [[-4.0, 7.0]])
    array([[1., 0.]])
    """
    metrics, pseudo = _checked(metric, points)
    values, vectors = _spectrum(metrics, tolerance)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
    return -0.5 * _apply(_compose(vectors, inverse), pseudo) + 0.0  # no negative zeros


def ideal_points_regularised(
    metric: npt.ArrayLike,
    points: npt.ArrayLike,
    alpha: float | None = None,
    prior: npt.ArrayLike | None = None,
) -> FloatArray:
    """Ideal points that forgive errors in M: u_k = -2 (4 M^2 + alpha I)^-1 M v_k.

    This is the minimiser of norm(2 M u + v_k)^2 + alpha norm(u)^2: the most probable ideal point
    when v_k carries unit Gaussian noise and u_k ~ N(0, I / alpha). The paper (equation u-recovery)
    draws its ideal points from N(0, I / d) and so takes alpha = d.

    Parameters
    ----------
    metric : array_like, shape (d, d) or (K, d, d)
        The metric, symmetric positive semidefinite, or one per user.
    points : array_like, shape (K, d)
        The pseudo-ideal points v_k.
    alpha : float, optional
        The strength of the regularisation, more than 0. Default: the dimension d.
    prior : array_like, shape (d, d), optional
        A positive semidefinite matrix in place of alpha I: the inverse covariance of the ideal
        points. Where neither M nor the prior holds a direction, its coordinate is 0.

    Returns
    -------
    ndarray, shape (K, d)
        The ideal points u_k.

    Examples
    --------
    >>> import numpy as np
    >>> ideal_points_regularised(np.eye(2), [[-4.0, 0.0]], alpha=4.0)
    array([[1., 0.]])
    >>> ideal_points_regularised(np.eye(2), [[-4.0, -4.0]], prior=np.diag([0.0, 4.0]))
    array([[2., 1.]])
    """
    metrics, pseudo = _checked(metric, points)
    symmetric = _symmetric(metrics)
    dimension = symmetric.shape[-1]
    root = _prior_root(alpha, prior, dimension)
    # Solving the stacked least squares [2 M; root'] u = [-v; 0] keeps the condition number of M;
    # the normal equations of the formula would square it.
    below = np.broadcast_to(root.T, (*symmetric.shape[:-2], root.shape[1], dimension))
    solver = np.linalg.pinv(np.concatenate([2 * symmetric, below], axis=-2), rcond=RANK_TOLERANCE)
    return -_apply(solver[..., :dimension], pseudo) + 0.0


def outside_range(
    metric: npt.ArrayLike, points: npt.ArrayLike, *, tolerance: float = RANK_TOLERANCE
) -> FloatArray:
    """Share of each pseudo-ideal point that lies outside range(M), between 0 and 1.

    Above 0, no ideal point explains v_k: the user's score then changes along directions that the
    metric does not measure, and "nearest to u_k" is not the same as "best score".

    Parameters
    ----------
    metric : array_like, shape (d, d) or (K, d, d)
        The metric, symmetric positive semidefinite, or one per user.
    points : array_like, shape (K, d)
        The pseudo-ideal points v_k.
    tolerance : float
        Eigenvalues at most this share of the largest count as zero.

    Returns
    -------
    ndarray, shape (K,)
        norm(v_k - P v_k) / norm(v_k), with P the projection on range(M); 0 where v_k = 0.

    Examples
    --------
    >>> import numpy as np
    >>> outside_range(np.diag([2.0, 0.0]), [[5.0, 0.0], [3.0, 4.0]])
    array([0. , 0.8])
    """
    metrics, pseudo = _checked(metric, points)
    values, vectors = _spectrum(metrics, tolerance)
    # Projecting on the kernel itself gives an exact 0 for a metric of full rank.
    outside = _apply(_compose(vectors, (values == 0).astype(np.float64)), pseudo)
    length = np.linalg.norm(pseudo, axis=1)
    share = np.zeros_like(length)
    np.divide(np.linalg.norm(outside, axis=1), length, out=share, where=length > 0)
    clipped: FloatArray = np.minimum(share, 1.0)
    return clipped


def factor(metric: npt.ArrayLike, *, tolerance: float = RANK_TOLERANCE) -> FloatArray:
    """Low-rank factor L with M = L L'.

    Distances under M are Euclidean distances between the rows of ``X @ L``. The columns are
    orthogonal, the longest first, and the largest entry of each is positive.

    Parameters
    ----------
    metric : array_like, shape (d, d) or (K, d, d)
        The metric, symmetric positive semidefinite, or one per user.
    tolerance : float
        Eigenvalues at most this share of the largest count as zero.

    Returns
    -------
    ndarray, shape (d, r) or (K, d, r)
        The factor, with r the rank; for a stack, the largest rank, and a metric of lower rank
        has columns of zeros at the end.

    Examples
    --------
    >>> import numpy as np
    >>> factor([[4.0, 0.0], [0.0, 0.0]])
    array([[2.],
           [0.]])
    """
    values, vectors = _spectrum(_square(metric), tolerance)
    width = int(np.count_nonzero(values, axis=-1).max(initial=0))
    columns = vectors[..., :width] * np.sqrt(values[..., None, :width])
    peak = np.abs(columns).argmax(axis=-2, keepdims=True)
    sign = np.where(np.take_along_axis(columns, peak, axis=-2) < 0, -1.0, 1.0)
    return columns * sign + 0.0


def _prior_root(alpha: float | None, prior: npt.ArrayLike | None, dimension: int) -> FloatArray:
    """Return F with F F' = the prior matrix."""
    if prior is None:
        strength = float(dimension if alpha is None else alpha)
        if not (0 < strength < np.inf):
            raise SettingError(
                f"alpha is {strength:g}; give a number above 0, or use ideal_points for the exact "
                "pseudo-inverse"
            )
        root: FloatArray = np.sqrt(strength) * np.eye(dimension)
        return root
    if alpha is not None:
        raise SettingError("alpha and prior say the same thing twice; give one of them")
    matrix = np.asarray(prior, dtype=np.float64)
    if matrix.shape != (dimension, dimension):
        raise SettingError(
            f"the prior has shape {matrix.shape}; give {(dimension, dimension)}, like the metric"
        )
    try:
        return factor(matrix)
    except DataError as error:
        raise SettingError(str(error).replace("metric", "prior")) from error


def _checked(
    metric: npt.ArrayLike, points: npt.ArrayLike
) -> tuple[npt.NDArray[np.floating], FloatArray]:
    """Arrays of matching shapes, or a DataError."""
    metrics = _square(metric)
    pseudo = np.asarray(points, dtype=np.float64)
    if pseudo.ndim != 2 or pseudo.shape[1] != metrics.shape[-1]:
        raise DataError(
            f"the points have shape {pseudo.shape}; give one row per user and "
            f"{metrics.shape[-1]} columns, like the metric"
        )
    if not np.isfinite(pseudo).all():
        raise DataError("the points hold NaN or infinite numbers; replace them")
    if metrics.ndim == 3 and len(metrics) != len(pseudo):
        raise DataError(
            f"there are {len(metrics)} metrics for {len(pseudo)} points; give one metric for "
            "all users, or one for each"
        )
    return metrics, pseudo


def _square(metric: npt.ArrayLike) -> npt.NDArray[np.floating]:
    """Read the metric as a floating (d, d) or (K, d, d) array of finite numbers."""
    array = np.asarray(metric)
    if not np.issubdtype(array.dtype, np.floating):
        array = array.astype(np.float64)
    if array.ndim not in (2, 3) or array.shape[-1] != array.shape[-2] or array.shape[-1] == 0:
        raise DataError(
            f"the metric has shape {array.shape}; give a square matrix, or one per user"
        )
    if not np.isfinite(array).all():
        raise DataError("the metric holds NaN or infinite numbers; replace them")
    return array


def _symmetric(metrics: npt.NDArray[np.floating]) -> FloatArray:
    """Return the metrics in double precision, exactly symmetric, or a DataError."""
    array = metrics.astype(np.float64)
    mirror = np.swapaxes(array, -1, -2)
    size = np.abs(array).max(initial=0.0)
    if np.abs(array - mirror).max(initial=0.0) > _SYMMETRY_TOLERANCE * size:
        raise DataError("the metric is not symmetric; replace it by (M + M') / 2")
    return (array + mirror) / 2


def _spectrum(metrics: npt.NDArray[np.floating], tolerance: float) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues, largest first, the negligible ones set to 0, and the vectors as columns."""
    if not 0 <= tolerance < 1:
        raise SettingError(f"the tolerance is {tolerance:g}; give a number from 0 to below 1")
    ascending, basis = np.linalg.eigh(_symmetric(metrics))
    values, vectors = ascending[..., ::-1], basis[..., ::-1]
    largest = np.maximum(values[..., :1], 0.0)
    if (values[..., -1:] < -_SYMMETRY_TOLERANCE * np.abs(values).max(axis=-1, keepdims=True)).any():
        raise DataError(
            f"the metric is not positive semidefinite (it has the eigenvalue {values.min():.3g}); "
            "set its negative eigenvalues to 0"
        )
    rounding = metrics.shape[-1] * float(np.finfo(metrics.dtype).eps)
    cutoff = largest * max(tolerance, rounding)
    return np.where(values > cutoff, values, 0.0), vectors


def _compose(vectors: FloatArray, values: FloatArray) -> FloatArray:
    """Return Q diag(w) Q'."""
    composed: FloatArray = (vectors * values[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return composed


def _apply(matrix: FloatArray, points: FloatArray) -> FloatArray:
    """Multiply each row of the points by the matrix, or by its own matrix."""
    if matrix.ndim == 2:
        return points @ matrix.T
    each: FloatArray = np.einsum("kij,kj->ki", matrix, points)
    return each
