"""What a path finds for resamples of its answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Resamples"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Resamples:
    """What was found for resamples of the answers.

    Parameters
    ----------
    metric, points : ndarray of shapes (B, d, d) and (B, K, d)
        A feasible point for each.
    gap : ndarray of shape (B,)
        How far the risk of each is, at most, from the least possible.

    Examples
    --------
    >>> Resamples(np.ones((1, 2, 2)), np.zeros((1, 3, 2)), np.zeros(1)).points.shape
    (1, 3, 2)
    """

    metric: Floats
    points: Floats
    gap: Floats
