"""Whether the features are of one order of magnitude, as a metric over balls takes them to be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowdmetric.checks import Floats
from crowdmetric.errors import shown

_FAR_APART = 100.0  # how many times one spread exceeds another
_ROUNDING = 1e-12  # spread that is smaller than this share of the numbers is rounding


def note_on_scales(x: Floats, names: Sequence[str]) -> str | None:
    """Return a sentence if some features count far more than others for their units alone."""
    if x.shape[1] != len(names):  # a feature map of the user's own, which makes features anew
        return None
    spread = x.std(axis=0)
    varying = np.flatnonzero(spread > _ROUNDING * np.abs(x).max(axis=0))
    if not len(varying):
        return None
    most = varying[np.argmax(spread[varying])]
    least = varying[np.argmin(spread[varying])]
    ratio = spread[most] / spread[least]
    if ratio < _FAR_APART:
        return None
    return (
        f"the features are on very different scales: {shown(names[most])} varies {ratio:,.0f} "
        f"times as much as {shown(names[least])}, and counts for more; unless that is meant, fit "
        "with the feature map standardize (--features standardize, or features='standardize')"
    )
