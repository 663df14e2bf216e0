"""One metric for a crowd, and an ideal point for each person, from paired comparisons.

Names are imported when they are first used, so that starting is quick.

Examples
--------
>>> import crowdmetric as cm
>>> crowd = cm.simulate(n_items=20, dimension=3, n_users=5, noise=4.0)
>>> fit = cm.CrowdMetric(items=crowd.items, region=cm.regions.NuclearFull(10.0))
>>> fit = fit.fit(crowd.comparisons)
>>> print(fit.certificate_.status)
converged
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crowdmetric import losses, plots, regions
    from crowdmetric.comparisons import Comparisons, Items
    from crowdmetric.estimator import CrowdMetric, CrowdMetricCV
    from crowdmetric.model import Model
    from crowdmetric.readers import read_comparisons, read_items
    from crowdmetric.simulation import simulate
    from crowdmetric.storage import load

__version__ = "0.1.0"

__all__ = [
    "Comparisons",
    "CrowdMetric",
    "CrowdMetricCV",
    "Items",
    "Model",
    "load",
    "losses",
    "plots",
    "read_comparisons",
    "read_items",
    "regions",
    "simulate",
]

_HOME = {
    "Comparisons": "crowdmetric.comparisons",
    "CrowdMetric": "crowdmetric.estimator",
    "CrowdMetricCV": "crowdmetric.estimator",
    "Items": "crowdmetric.comparisons",
    "Model": "crowdmetric.model",
    "load": "crowdmetric.storage",
    "read_comparisons": "crowdmetric.readers",
    "read_items": "crowdmetric.readers",
    "simulate": "crowdmetric.simulation",
}


def __getattr__(name: str) -> Any:
    """Import a name on first use."""
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in ("losses", "plots", "regions"):
        value = importlib.import_module(f"crowdmetric.{name}")
    else:
        raise AttributeError(f"module 'crowdmetric' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List what there is, imported or not."""
    return sorted({*globals(), *__all__})
