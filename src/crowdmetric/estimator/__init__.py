"""scikit-learn's face: estimators over index triples [user, left, right]."""

from __future__ import annotations

from crowdmetric.estimator.base import CrowdMetric
from crowdmetric.estimator.chosen import CrowdMetricCV

__all__ = ["CrowdMetric", "CrowdMetricCV"]
