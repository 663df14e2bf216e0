"""The paper's bounds on excess risk, with every constant (section 3 and its appendix).

All hold with probability 1 - delta for answers drawn independently, each about a uniformly random
pair and from a uniformly random user, and for the exact minimiser of the empirical risk over the
region, margin bound included. They bound by how much its true risk exceeds the region's least.
docs/theory.md compares the constants with the proofs, and the bounds with simulations.
"""

from __future__ import annotations

import math

import numpy as np

from crowdmetric.checks import Floats
from crowdmetric.errors import SettingError
from crowdmetric.planning.rates import RateBound
from crowdmetric.planning.waiting import check_failure

__all__ = [
    "answer_variances",
    "frobenius_risk_bound",
    "nuclear_risk_bound",
    "nuclear_variance",
    "sharper_frobenius_risk_bound",
]


def frobenius_risk_bound(
    dimension: int,
    n_users: int,
    radius: float,
    point_radius: float,
    margin_bound: float,
    lipschitz: float = 1.0,
    failure: float = 0.05,
    longest_item: float = 1.0,
) -> RateBound:
    """Bound the excess risk over FrobeniusMetric(radius, point_radius) (thm:multi-risk-fro).

    Parameters
    ----------
    dimension, n_users : int
        The numbers d of features and K of users.
    radius, point_radius : float
        The bounds lambda_F on norm_F(M) and lambda_v on norm(v_k).
    margin_bound : float
        The bound gamma on all margins.
    lipschitz : float
        The Lipschitz constant L of the loss; `Link.lipschitz_within(gamma)` for a link.
    failure : float
        How probable it may be that the bound does not hold (delta).
    longest_item : float
        A bound B on norm(x_i); the theorem states B = 1, its proof covers any.

    Returns
    -------
    RateBound
        The bound, for any number of answers.

    Examples
    --------
    >>> bound = frobenius_risk_bound(2, 10, radius=2.0, point_radius=2.0, margin_bound=2.0)
    >>> print(f"{bound.at(1_000_000):.3f} {bound.answers_for(0.01):.2g}")
    0.159 2.5e+08
    """
    _check_sizes(dimension, n_users, failure)
    _check_positive(
        radius=radius, point_radius=point_radius, margin_bound=margin_bound,
        lipschitz=lipschitz, longest_item=longest_item,
    )  # fmt: skip
    size = math.sqrt(radius**2 + n_users * point_radius**2)
    longest = _longest_answer(longest_item)
    logarithm = math.log(dimension**2 + dimension + 1)
    bernstein = RateBound(math.sqrt(2 * longest**2 * logarithm), longest / 3 * logarithm, 0.0)
    return _with_confidence(
        bernstein.scaled(4 * lipschitz * size), lipschitz * margin_bound, failure
    )


def sharper_frobenius_risk_bound(
    n_users: int,
    radius: float,
    point_radius: float,
    margin_bound: float,
    lipschitz: float = 1.0,
    failure: float = 0.05,
    longest_item: float = 1.0,
) -> RateBound:
    """Bound the excess risk over FrobeniusMetric by a shorter proof, with smaller constants.

    Not the paper's. The difference that its proof starts from needs no absolute values, which
    saves a factor of 2; and Jensen's inequality bounds the mean length of the random sum, in the
    space of (M, V) with a column per user, by C_B sqrt(m), without a logarithm of the dimension.

    Parameters
    ----------
    n_users, radius, point_radius, margin_bound, lipschitz, failure, longest_item
        As in `frobenius_risk_bound`.

    Returns
    -------
    RateBound
        (2 L C_B sqrt(lambda_F^2 + K lambda_v^2) + sqrt(8 L^2 gamma^2 ln(1 / delta))) / sqrt(m),
        with C_B = 2 B sqrt(B^2 + 1).

    Examples
    --------
    >>> bound = sharper_frobenius_risk_bound(10, radius=2.0, point_radius=2.0, margin_bound=2.0)
    >>> print(f"{bound.at(1_000_000):.3f} {bound.answers_for(0.01):.2g}")
    0.047 2.2e+07
    """
    _check_sizes(1, n_users, failure)
    _check_positive(
        radius=radius, point_radius=point_radius, margin_bound=margin_bound,
        lipschitz=lipschitz, longest_item=longest_item,
    )  # fmt: skip
    size = math.sqrt(radius**2 + n_users * point_radius**2)
    confidence = lipschitz * margin_bound * math.sqrt(8 * math.log(1 / failure))
    return RateBound(2 * lipschitz * size * _longest_answer(longest_item), 0.0, confidence)


def nuclear_risk_bound(
    dimension: int,
    n_users: int,
    n_items: int,
    radius: float,
    margin_bound: float,
    spectral_norm: float,
    lipschitz: float = 1.0,
    failure: float = 0.05,
    longest_item: float = 1.0,
) -> RateBound:
    """Bound the excess risk over NuclearFull(radius) (thm:multi-risk-nuc, eq:multi-risk-nuc-ext).

    Parameters
    ----------
    dimension, n_users, n_items : int
        The numbers d, K and n.
    radius : float
        The bound lambda_* on nuclear([M V']).
    margin_bound : float
        The bound gamma on all margins.
    spectral_norm : float
        The largest singular value of the table of items, norm(X).
    lipschitz : float
        The Lipschitz constant L of the loss; `Link.lipschitz_within(gamma)` for a link.
    failure : float
        How probable it may be that the bound does not hold (delta).
    longest_item : float
        A bound B on norm(x_i): 1 in the theorem, any in its extension.

    Returns
    -------
    RateBound
        The bound, for any number of answers.

    Examples
    --------
    >>> bound = nuclear_risk_bound(2, 10, 50, radius=7.0, margin_bound=2.0, spectral_norm=5.0)
    >>> print(f"{bound.at(1_000_000):.3f} {bound.answers_for(0.01):.2g}")
    0.110 1.2e+08
    """
    _check_sizes(dimension, n_users, failure)
    _check_positive(radius=radius, margin_bound=margin_bound, lipschitz=lipschitz)
    variance = nuclear_variance(dimension, n_users, n_items, spectral_norm, longest_item)
    logarithm = math.log(2 * dimension + n_users)
    bernstein = RateBound(
        math.sqrt(2 * variance * logarithm),
        2 * (longest_item**2 + longest_item) / 3 * logarithm,
        0.0,
    )
    return _with_confidence(
        bernstein.scaled(2 * lipschitz * radius), lipschitz * margin_bound, failure
    )


def nuclear_variance(
    dimension: int, n_users: int, n_items: int, spectral_norm: float, longest_item: float = 1.0
) -> float:
    """Bound the matrix variance of one random answer (lem:EZZT-EZTZ).

    An answer about (i, j) by user k is the inner product of [M V'] with Z, which holds
    x_i x_i' - x_j x_j' beside a column x_i - x_j for the user. The bound is on the operator norms
    of the means of Z Z' and Z' Z.

    Parameters
    ----------
    dimension, n_users, n_items, spectral_norm, longest_item
        As in `nuclear_risk_bound`.

    Returns
    -------
    float
        (4 (B^2 + 1) + 4 min(d, n) / K) norm(X)^2 / n + 16 B^3 / sqrt(K).

    Examples
    --------
    >>> nuclear_variance(2, 4, 50, spectral_norm=5.0)
    13.0
    """
    _check_positive(spectral_norm=spectral_norm, longest_item=longest_item)
    if n_items < 2:
        raise SettingError(f"there must be at least 2 items to compare, not {n_items}")
    share = 4 * (longest_item**2 + 1) + 4 * min(dimension, n_items) / n_users
    return share * spectral_norm**2 / n_items + 16 * longest_item**3 / math.sqrt(n_users)


def answer_variances(features: Floats, n_users: int) -> tuple[Floats, Floats]:
    """Return the means of Z Z' and Z' Z in closed form (lem:EZZT-EZTZ).

    Parameters
    ----------
    features : ndarray of shape (n, d)
        One row per item.
    n_users : int
        The number of users K.

    Returns
    -------
    tuple of ndarray
        Of shapes (d, d) and (d + K, d + K); the operator norms of both are at most
        `nuclear_variance`.

    Examples
    --------
    >>> rows, columns = answer_variances(np.array([[1.0], [0.0]]), n_users=2)
    >>> rows
    array([[2.]])
    >>> columns
    array([[1. , 0.5, 0.5],
           [0.5, 0.5, 0. ],
           [0.5, 0. , 0.5]])
    """
    count = len(features)
    mean = features.mean(axis=0)
    sizes = (features**2).sum(axis=1)
    gram = features @ features.T
    scale = 2 / (count * (count - 1))
    of_metric = features.T @ (count * np.diag(sizes) - gram) @ features
    of_points = count * features.T @ features - count**2 * np.outer(mean, mean)
    across = count / n_users * ((sizes - features @ mean) @ features)
    alone = count / n_users * (sizes.sum() - count * mean @ mean)
    columns = np.block(
        [
            [of_metric, np.outer(across, np.ones(n_users))],
            [np.outer(np.ones(n_users), across), alone * np.eye(n_users)],
        ]
    )
    return scale * (of_metric + of_points), scale * columns


def _longest_answer(longest_item: float) -> float:
    """Return C_B, which bounds the length of (x_i x_i' - x_j x_j', x_i - x_j)."""
    return 2 * longest_item * math.sqrt(longest_item**2 + 1)


def _with_confidence(expected: RateBound, largest: float, failure: float) -> RateBound:
    """Add what McDiarmid's inequality costs, for losses that vary by at most 2 L gamma."""
    confidence = math.sqrt(8 * largest**2 * math.log(2 / failure))
    return RateBound(expected.complexity, expected.remainder, confidence)


def _check_sizes(dimension: int, n_users: int, failure: float) -> None:
    """Refuse sizes that no crowd has."""
    if dimension < 1:
        raise SettingError(f"the dimension must be at least 1, not {dimension}")
    if n_users < 1:
        raise SettingError(f"there must be at least one user, not {n_users}")
    check_failure(failure)


def _check_positive(**values: float) -> None:
    """Refuse numbers that are not positive and finite."""
    for name, value in values.items():
        if not (value > 0 and math.isfinite(value)):
            # Probit has no Lipschitz constant but over bounded margins.
            remedy = "; use the loss's lipschitz_within(margin_bound)" * (name == "lipschitz")
            raise SettingError(f"{name} must be a positive number, not {value}{remedy}")
