"""What to trust: people and their answers, before and after a fit."""

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

__all__ = [
    "Ceiling",
    "Consistency",
    "Quality",
    "SidedModel",
    "TieBand",
    "consistency_of",
    "down_weighted",
    "fit_with_side",
    "held_out_margins",
    "noise_ceiling",
    "quality",
    "tie_band",
]
