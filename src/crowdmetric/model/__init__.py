"""What a fit gives: a metric, everyone's ideal point, and all that can be asked of them.

`parts` holds what a model is made of, `geometry` what the metric says, `prediction` what users
will answer, and `fitted` the whole. `scoring` has the formulas on plain arrays, `lookup` the way
from ids to rows, `newcomers` the users who arrive after the fit, and `examples` a model small
enough to check by hand.
"""

from __future__ import annotations

from crowdmetric.model.examples import example
from crowdmetric.model.fitted import Model
from crowdmetric.model.parts import Addition

__all__ = ["Addition", "Model", "example"]
