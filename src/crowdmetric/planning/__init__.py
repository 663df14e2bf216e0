"""Before a study: what the theorems promise, and what simulations say about how much to ask.

The theory, each bound with a simulation to put beside it:

- `random_designs`, `single_user`, `waiting`: random pairs until they reach a rank;
- `bounds`, `low_rank`: excess risk, with every constant; `rates`: and inverted;
- `recovery_bounds`: how far metric and points are from the truth;
- `known_truth`, `looseness`: how much too large the bounds are.

Examples
--------
>>> single_user_sizes(dimension=3).pairs
53
>>> frobenius_risk_bound(3, 50, radius=3, point_radius=4, margin_bound=4).answers_for(0.1) > 10**7
True
"""

from __future__ import annotations

from crowdmetric.planning.bounds import (
    answer_variances,
    frobenius_risk_bound,
    nuclear_risk_bound,
    nuclear_variance,
    sharper_frobenius_risk_bound,
)
from crowdmetric.planning.known_truth import KnownCrowd, in_unit_ball
from crowdmetric.planning.looseness import (
    BesideSimulation,
    Looseness,
    measure_looseness,
    region_of_truth,
    risk_bound,
)
from crowdmetric.planning.low_rank import (
    CrowdConstants,
    gaussian_constants,
    low_rank_scaling,
    measured_constants,
)
from crowdmetric.planning.random_designs import (
    RandomPairs,
    repeat_probability,
    repeat_probability_bounds,
)
from crowdmetric.planning.rates import RateBound
from crowdmetric.planning.recovery_bounds import (
    Likelihood,
    divergence,
    margin_error_bound,
    metric_visibility,
    quadratic_features,
    recovery_bound,
)
from crowdmetric.planning.single_user import GOLDEN_RATIO, SingleUserSizes, single_user_sizes
from crowdmetric.planning.waiting import SimulatedCounts, Waiting

__all__ = [
    "GOLDEN_RATIO",
    "BesideSimulation",
    "CrowdConstants",
    "KnownCrowd",
    "Likelihood",
    "Looseness",
    "RandomPairs",
    "RateBound",
    "SimulatedCounts",
    "SingleUserSizes",
    "Waiting",
    "answer_variances",
    "divergence",
    "frobenius_risk_bound",
    "gaussian_constants",
    "in_unit_ball",
    "low_rank_scaling",
    "margin_error_bound",
    "measure_looseness",
    "measured_constants",
    "metric_visibility",
    "nuclear_risk_bound",
    "nuclear_variance",
    "quadratic_features",
    "recovery_bound",
    "region_of_truth",
    "repeat_probability",
    "repeat_probability_bounds",
    "risk_bound",
    "sharper_frobenius_risk_bound",
    "single_user_sizes",
]
