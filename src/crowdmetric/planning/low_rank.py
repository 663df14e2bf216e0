"""What cor:low-rank-interp puts into the nuclear bound, for crowds drawn as in the paper."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from crowdmetric.errors import SettingError
from crowdmetric.planning.bounds import nuclear_risk_bound
from crowdmetric.planning.rates import RateBound
from crowdmetric.planning.waiting import check_failure
from crowdmetric.simulation import Simulation

__all__ = ["CrowdConstants", "gaussian_constants", "low_rank_scaling", "measured_constants"]


@dataclass(frozen=True)
class CrowdConstants:
    """The numbers of a crowd that eq:multi-risk-nuc-ext asks for.

    Parameters
    ----------
    dimension, n_users, n_items : int
        The numbers d, K and n.
    longest_item : float
        B, with norm(x_i) <= B.
    spectral_norm : float
        The largest singular value of the items, norm(X).
    margin_bound : float
        gamma, with every margin at most that.
    radius : float
        lambda_*, with nuclear([M V']) <= lambda_*.

    Examples
    --------
    >>> constants = gaussian_constants(n_items=200, dimension=10, rank=1, n_users=500)
    >>> print(f"{constants.longest_item:.1f} {constants.radius:.0f}")
    6.4 960
    """

    dimension: int
    n_users: int
    n_items: int
    longest_item: float
    spectral_norm: float
    margin_bound: float
    radius: float

    def risk_bound(self, lipschitz: float = 1.0, failure: float = 0.05) -> RateBound:
        """Return eq:multi-risk-nuc-ext with these numbers.

        Parameters
        ----------
        lipschitz, failure : float
            As in `nuclear_risk_bound`.

        Returns
        -------
        RateBound
            The bound on the excess risk.

        Examples
        --------
        >>> constants = gaussian_constants(n_items=200, dimension=10, rank=1, n_users=500)
        >>> print(f"{constants.risk_bound().answers_for(0.1):.1e}")
        1.2e+12
        """
        return nuclear_risk_bound(
            self.dimension, self.n_users, self.n_items, self.radius, self.margin_bound,
            self.spectral_norm, lipschitz, failure, self.longest_item,
        )  # fmt: skip


def gaussian_constants(
    n_items: int, dimension: int, rank: int, n_users: int, failure: float = 0.05
) -> CrowdConstants:
    """Return constants that a random crowd obeys with high probability (cor:low-rank-interp).

    Items and ideal points are normal with covariance I / d, and M = d / sqrt(r) L L' with r
    orthonormal columns in L, as `crowdmetric.simulate` draws them for r < d. Each of four kinds
    of constant fails with a probability of at most delta; with the bound's own, all hold with a
    probability of at least 1 - 5 delta.

    Parameters
    ----------
    n_items, dimension, rank, n_users : int
        The numbers n, d, r and K.
    failure : float
        delta.

    Returns
    -------
    CrowdConstants
        The constants of the corollary's proof.

    Examples
    --------
    >>> constants = gaussian_constants(n_items=200, dimension=10, rank=1, n_users=500)
    >>> print(f"{constants.margin_bound:.0f}")
    276
    """
    check_failure(failure)
    if not 1 <= rank <= dimension:
        raise SettingError(f"rank must lie between 1 and the dimension {dimension}, not {rank}")
    for name, value in (("n_items", n_items), ("n_users", n_users)):
        if value / failure < math.e:  # the proof rounds 1 up to this logarithm
            raise SettingError(f"{name} must be at least 3 for this bound, not {value}")
    of_items, of_users = math.log(n_items / failure), math.log(n_users / failure)
    spread = n_items / dimension + 1 + 2 / dimension * math.log(1 / failure)
    return CrowdConstants(
        dimension,
        n_users,
        n_items,
        longest_item=math.sqrt(5 * of_items),
        spectral_norm=math.sqrt(3 * spread),
        margin_bound=30 * math.sqrt(rank) * max(of_items, of_users),
        radius=math.sqrt(rank * (dimension**2 + 20 * dimension * n_users * of_users)),
    )


def measured_constants(crowd: Simulation) -> CrowdConstants:
    """Return the constants that a drawn crowd really has, to put beside the corollary's.

    Parameters
    ----------
    crowd : Simulation
        With its truth.

    Returns
    -------
    CrowdConstants
        The smallest numbers that hold for it.

    Examples
    --------
    >>> from crowdmetric.simulation import simulate
    >>> crowd = simulate(n_items=200, dimension=10, rank=1, n_users=500, pairs_per_user=1)
    >>> real = measured_constants(crowd)
    >>> print(f"{real.longest_item:.1f} {real.margin_bound:.0f} {real.radius:.0f}")
    1.7 36 133
    """
    features, points = crowd.items.features, crowd.points
    scores = np.einsum("nd,nd->n", features @ crowd.metric, features) + points @ features.T
    together = np.vstack([crowd.metric, points])
    return CrowdConstants(
        features.shape[1],
        len(points),
        len(features),
        longest_item=float(np.linalg.norm(features, axis=1).max()),
        spectral_norm=float(np.linalg.norm(features, 2)),
        margin_bound=float(np.ptp(scores, axis=1).max()),
        radius=float(np.linalg.svd(together, compute_uv=False).sum()),
    )


def low_rank_scaling(dimension: int, rank: int, n_users: int, answers: float) -> float:
    """Return sqrt((d r + K r) / m), to which cor:low-rank-interp is proportional, but for logs.

    Parameters
    ----------
    dimension, rank, n_users : int
        The numbers d, r and K; the corollary asks for K of the order of d^2.
    answers : float
        The number m of answers of all users together.

    Returns
    -------
    float
        The scaling: halved by four times the answers.

    Examples
    --------
    >>> low_rank_scaling(10, 2, 90, answers=20_000)
    0.1
    """
    if not answers > 0:
        raise SettingError(f"the number of answers must be positive, not {answers}")
    return math.sqrt(rank * (dimension + n_users) / answers)
