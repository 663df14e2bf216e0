"""The best item that there could be: a search over raw features, within bounds.

After a kernel lift, hardly any point belongs to an item, so the item that a user would like best
(the pre-image of the ideal point) is looked for among raw features: from items and random places
that score well already, downhill.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Items
from crowdmetric.errors import SettingError, did_you_mean, shown

Bounds = Mapping[str, tuple[float, float]]
Score = Callable[[Floats], Floats]

_PLACES = 512  # random places to look at
_STARTS = 8  # of them and the items, how many to go downhill from
_STEP = 1e-6  # of the way from bound to bound


def box_of(items: Items, bounds: Bounds | None) -> tuple[Floats, Floats]:
    """Return the lowest and the highest value of each feature: as stated, else the items' own."""
    low, high = items.features.min(axis=0), items.features.max(axis=0)
    for name, pair in (bounds or {}).items():
        if name not in items.names:
            raise SettingError(
                f"there are bounds for {shown(name)}, which is no feature of the model's items"
                f"{did_you_mean(name, items.names)}; they have {', '.join(items.names)}"
            )
        ends = np.asarray(pair, dtype=np.float64)
        if ends.shape != (2,) or not np.isfinite(ends).all() or ends[0] > ends[1]:
            raise SettingError(
                f"the bounds of {shown(name)} must be two finite numbers, the lower one first, "
                f"not {pair}"
            )
        low[items.names.index(name)], high[items.names.index(name)] = ends
    return low, high


def best_within(score: Score, low: Floats, high: Floats, items: Floats) -> Floats:
    """Return the raw features with the least score that a search from many places finds."""
    from scipy.optimize import minimize

    width = high - low
    d = len(width)

    def of_share(share: Floats) -> Floats:
        return score(low + np.clip(share, 0.0, 1.0) * width)

    steps = _STEP * np.concatenate([np.zeros((1, d)), np.eye(d), -np.eye(d)])

    def value_and_slope(share: Floats) -> tuple[float, Floats]:
        places = np.clip(share + steps, 0.0, 1.0)
        values = of_share(places)
        apart = np.maximum((places[1 : d + 1] - places[d + 1 :]).diagonal(), _STEP)
        return float(values[0]), (values[1 : d + 1] - values[d + 1 :]) / apart

    random = np.random.default_rng(0).uniform(size=(_PLACES, d))
    own = np.divide(items - low, width, out=np.zeros_like(items), where=width > 0)
    places = np.concatenate([np.clip(own, 0.0, 1.0), random])
    values = of_share(places)
    found = places[np.argsort(values, kind="stable")[:_STARTS]]
    ends = [
        minimize(value_and_slope, start, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * d).x
        for start in found
    ]
    candidates = np.concatenate([found, np.array(ends)])
    best = candidates[int(np.argmin(of_share(candidates)))]
    result: Floats = low + np.clip(best, 0.0, 1.0) * width
    return result
