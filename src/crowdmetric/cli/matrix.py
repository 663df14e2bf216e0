"""A square matrix from a file."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crowdmetric.errors import DataError

__all__ = ["read_matrix"]


def read_matrix(path: str | Path) -> npt.NDArray[np.float64]:
    """Read a matrix of finite numbers.

    Parameters
    ----------
    path : str or Path
        Ends in .npy, or is text with commas between the numbers and no header.

    Returns
    -------
    ndarray of shape (d, d)
        The matrix.

    Raises
    ------
    DataError
        If there is no such file, or no square matrix in it.

    Examples
    --------
    >>> read_matrix("nowhere.npy")
    Traceback (most recent call last):
    crowdmetric.errors.DataError: nowhere.npy: the file cannot be read (No such file or directory);
    check the path
    """
    remedy = "give a square matrix, as .npy or as text with commas and no header"
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise DataError(
            f"{path}: the file cannot be read ({error.strerror}); check the path"
        ) from error
    matrix: npt.NDArray[np.float64]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of an empty file
            if Path(path).suffix == ".npy":
                matrix = np.load(io.BytesIO(content), allow_pickle=False).astype(np.float64)
            else:
                matrix = np.loadtxt(io.StringIO(content.decode()), delimiter=",", ndmin=2)
    except (EOFError, TypeError, ValueError) as error:
        raise DataError(f"{path}: the file holds no matrix of numbers; {remedy}") from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise DataError(f"{path}: the matrix has the shape {matrix.shape}; {remedy}")
    if not np.isfinite(matrix).all():
        raise DataError(f"{path}: the matrix has entries that are not finite; {remedy}")
    return matrix
