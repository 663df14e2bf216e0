"""Whether to trust a model: for whom it is right, and beside what.

- ``audit_*``: accuracy and log-loss per person and group, and whether one metric fits everyone;
- ``baselines_*``: simple predictors to put beside a model.
"""

from __future__ import annotations

from crowdmetric.trust.audit_groups import Groups, read_groups
from crowdmetric.trust.audit_metric_test import MetricTest, common_metric_test
from crowdmetric.trust.audit_whole import Audit, audit
from crowdmetric.trust.baselines_beside import Baseline, baselines

__all__ = [
    "Audit",
    "Baseline",
    "Groups",
    "MetricTest",
    "audit",
    "baselines",
    "common_metric_test",
    "read_groups",
]
