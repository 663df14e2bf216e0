"""Whether to trust answers and models: before a fit, and after it.

- ``answers_*``: how right any prediction can be, how consistent people are, what the side does;
- ``audit_*``: accuracy and log-loss per person and group, and whether one metric fits everyone;
- ``baselines_*``: simple predictors to put beside a model;
- ``bootstrap_*``: how far estimates could have come out otherwise.
"""

from __future__ import annotations

from crowdmetric.trust.answers_ceiling import Ceiling, noise_ceiling
from crowdmetric.trust.answers_consistency import (
    Consistency,
    consistency_of,
    down_weighted,
    held_out_margins,
)
from crowdmetric.trust.answers_quality import Quality, quality
from crowdmetric.trust.answers_side import SidedModel, fit_with_side
from crowdmetric.trust.answers_ties import TieBand, tie_band
from crowdmetric.trust.audit_groups import Groups, read_groups
from crowdmetric.trust.audit_metric_test import MetricTest, common_metric_test
from crowdmetric.trust.audit_whole import Audit, audit
from crowdmetric.trust.baselines_beside import Baseline, baselines
from crowdmetric.trust.bootstrap_intervals import Interval
from crowdmetric.trust.bootstrap_run import bootstrap
from crowdmetric.trust.bootstrap_uncertainty import Uncertainty
from crowdmetric.trust.self_agreement import People, people, repeated_questions

__all__ = [
    "Audit",
    "Baseline",
    "Ceiling",
    "Consistency",
    "Groups",
    "Interval",
    "MetricTest",
    "People",
    "Quality",
    "SidedModel",
    "TieBand",
    "Uncertainty",
    "audit",
    "baselines",
    "bootstrap",
    "common_metric_test",
    "consistency_of",
    "down_weighted",
    "fit_with_side",
    "held_out_margins",
    "noise_ceiling",
    "people",
    "quality",
    "read_groups",
    "repeated_questions",
    "tie_band",
]
