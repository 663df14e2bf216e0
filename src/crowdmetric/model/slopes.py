"""How fast scores change with the raw features: what matters, whatever the feature map."""

from __future__ import annotations

import numpy as np

from crowdmetric.checks import Floats
from crowdmetric.features import FeatureMap

_STEP = 1e-5  # of the range of a feature: third roots of rounding are about the best there is


def slope_products(metric: Floats, points: Floats, features: FeatureMap, raw: Floats) -> Floats:
    """Return the mean of g g' over users and items, with g the slope of a score in raw features.

    With J the slope of the feature map at an item x, g = J'(2 M x + v_k). The mean over the users
    of the products needs only the mean of v_k and of v_k v_k'.
    """
    mean, products = points.mean(axis=0), points.T @ points / len(points)
    total = np.zeros((raw.shape[1], raw.shape[1]))
    steps = _STEP * np.ptp(raw, axis=0)
    for row in raw:
        slope = _slope(features, row, steps)
        own = 2.0 * metric @ np.asarray(features.transform(row), dtype=np.float64)
        crossed = np.outer(own, mean)
        total += slope.T @ (np.outer(own, own) + crossed + crossed.T + products) @ slope
    return total / len(raw)


def _slope(features: FeatureMap, row: Floats, steps: Floats) -> Floats:
    """Return the slope of the feature map, of shape (features after it, raw features)."""
    moved = np.diag(steps)
    ahead, behind = (np.asarray(features.transform(row + s * moved)) for s in (1.0, -1.0))
    apart = np.where(steps > 0, 2.0 * steps, np.inf)  # a feature that never varies does nothing
    result: Floats = (ahead - behind).T / apart
    return result
