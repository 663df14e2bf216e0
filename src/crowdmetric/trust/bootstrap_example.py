"""A small bootstrap, for examples and tests."""

from __future__ import annotations

from functools import lru_cache

from crowdmetric.estimator import CrowdMetric
from crowdmetric.regions import NuclearFull
from crowdmetric.simulation import simulate
from crowdmetric.trust.bootstrap_run import bootstrap
from crowdmetric.trust.bootstrap_uncertainty import Uncertainty

__all__ = ["example"]


@lru_cache(maxsize=1)
def example() -> Uncertainty:
    """Return intervals for a simulated crowd of three users.

    Returns
    -------
    Uncertainty
        From 40 resamples.

    Examples
    --------
    >>> example()
    Uncertainty(40 resamples over answers, 90% intervals)
    """
    crowd = simulate(n_items=20, dimension=2, n_users=3, pairs_per_user=60, noise=3.0)
    fit = CrowdMetric(crowd.items, NuclearFull(8.0)).fit(crowd.comparisons)
    return bootstrap(fit.model_, crowd.comparisons, resamples=40)
