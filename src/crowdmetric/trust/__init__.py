"""How far to trust a fit: what its answers leave uncertain."""

from __future__ import annotations

from crowdmetric.trust.bootstrap_intervals import Interval
from crowdmetric.trust.bootstrap_run import bootstrap
from crowdmetric.trust.bootstrap_uncertainty import Uncertainty

__all__ = ["Interval", "Uncertainty", "bootstrap"]
