"""Comparisons as scikit-learn sees them."""

from __future__ import annotations

import numpy as np


def as_arrays(comparisons):
    """Return triples [user, left, right] and responses."""
    codes = (comparisons.user, comparisons.left, comparisons.right)
    return np.column_stack(codes), np.asarray(comparisons.response, dtype=int)
