"""Bounds on excess risk: their constants, their lemmas against brute force, and their inverses."""

from __future__ import annotations

from itertools import combinations, product
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdmetric.errors import SettingError
from crowdmetric.planning import (
    RateBound,
    answer_variances,
    frobenius_risk_bound,
    gaussian_constants,
    low_rank_scaling,
    measured_constants,
    nuclear_risk_bound,
    nuclear_variance,
    sharper_frobenius_risk_bound,
)
from crowdmetric.simulation import simulate

SEEDS = st.integers(0, 10**6)
POSITIVE = st.floats(0.01, 100)
SIZES = st.integers(1, 30)
RATES = st.builds(RateBound, st.floats(0, 1e4), st.floats(0, 1e4), st.floats(0.1, 1e4))


def random_items(generator, count, dimension, longest):
    """Return items of all lengths up to the longest."""
    items = generator.standard_normal((count, dimension)) + generator.standard_normal(dimension)
    lengths = longest * generator.random((count, 1)) ** 0.3
    return items / np.linalg.norm(items, axis=1, keepdims=True) * lengths


def answer_matrix(items, i, j, user, n_users):
    """Return the Z of one answer: x_i x_i' - x_j x_j' beside a column x_i - x_j for the user."""
    columns = np.zeros((items.shape[1], n_users))
    columns[:, user] = items[i] - items[j]
    return np.hstack([np.outer(items[i], items[i]) - np.outer(items[j], items[j]), columns])


# Rates and their inverses


@given(RATES, st.floats(1e-4, 1e3))
def test_the_inverse_is_the_least_number_that_is_enough(bound, target):
    answers = bound.answers_for(target)
    assert answers >= 1
    if answers < 2**53:
        assert bound.at(answers) <= target
        assert answers == 1 or bound.at(answers - 1) > target
    else:
        assert bound.at(answers) == pytest.approx(target)


@given(RATES, st.integers(1, 10**9), st.floats(0.1, 10))
def test_bounds_fall_and_scale(bound, answers, factor):
    assert bound.at(4 * answers) < bound.at(answers)
    assert bound.scaled(factor).at(answers) == pytest.approx(factor * bound.at(answers))
    # In the long run four times the answers halve the bound.
    far = 1e20
    assert bound.at(4 * far) == pytest.approx(bound.at(far) / 2, rel=1e-3)


@pytest.mark.parametrize("target", [0.0, -1.0, float("nan"), float("inf")])
def test_a_target_that_no_number_reaches_is_refused(target):
    with pytest.raises(SettingError, match="target must be a positive number"):
        RateBound(1.0, 1.0, 1.0).answers_for(target)


def test_numbers_beyond_counting_are_refused():
    with pytest.raises(SettingError, match="more answers"):
        RateBound(1e300, 1.0, 1.0).answers_for(1e-10)
    with pytest.raises(SettingError, match="number of answers must be positive"):
        RateBound(1.0, 1.0, 1.0).at(0)


# thm:multi-risk-fro and thm:multi-risk-nuc, as they are printed


@given(SIZES, SIZES, POSITIVE, POSITIVE, POSITIVE, POSITIVE, st.floats(0.001, 0.5), POSITIVE)
def test_the_frobenius_bound_is_the_theorem(d, users, lam_f, lam_v, gamma, lip, delta, answers):
    size, logs = lam_f**2 + users * lam_v**2, log(d * d + d + 1)
    printed = (
        sqrt(256 * lip**2 * size / answers * logs)
        + sqrt(128 * lip**2 * size) / (3 * answers) * logs
        + sqrt(8 * lip**2 * gamma**2 * log(2 / delta) / answers)
    )
    bound = frobenius_risk_bound(d, users, lam_f, lam_v, gamma, lip, delta)
    assert bound.at(answers) == pytest.approx(printed)


@given(
    SIZES, SIZES, st.integers(2, 50), POSITIVE, POSITIVE, POSITIVE, POSITIVE,
    st.floats(0.001, 0.5), POSITIVE, st.floats(0.1, 5),
)  # fmt: skip
def test_the_nuclear_bound_is_the_theorem_and_its_extension(
    d, users, items, lam, gamma, norm, lip, delta, answers, b
):
    logs = log(2 * d + users)
    inside = (4 * (b**2 + 1) + 4 * min(d, items) / users) * norm**2 / items + 16 * b**3 / sqrt(
        users
    )
    printed = (
        2 * lip * sqrt(2 * lam**2 * logs / answers * inside)
        + 4 * lip * (b**2 + b) * lam / (3 * answers) * logs
        + sqrt(8 * lip**2 * gamma**2 * log(2 / delta) / answers)
    )
    bound = nuclear_risk_bound(d, users, items, lam, gamma, norm, lip, delta, b)
    assert bound.at(answers) == pytest.approx(printed)


@given(SIZES, SIZES, POSITIVE, st.floats(1.01, 3))
def test_bounds_grow_with_all_that_makes_learning_harder(d, users, size, more):
    answers = 1000
    plain = {"radius": size, "point_radius": size, "margin_bound": size, "lipschitz": 1.0}
    base = frobenius_risk_bound(d, users, **plain).at(answers)
    for name in plain:
        assert (
            frobenius_risk_bound(d, users, **plain | {name: more * plain[name]}).at(answers) > base
        )
    assert frobenius_risk_bound(d + 1, users, **plain).at(answers) > base
    assert frobenius_risk_bound(d, users + 1, **plain).at(answers) > base
    assert frobenius_risk_bound(d, users, **plain, failure=0.01).at(answers) > base
    nuclear = {"radius": size, "margin_bound": size, "spectral_norm": size, "lipschitz": 1.0}
    base = nuclear_risk_bound(d, users, 40, **nuclear).at(answers)
    for name in nuclear:
        harder = nuclear | {name: more * nuclear[name]}
        assert nuclear_risk_bound(d, users, 40, **harder).at(answers) > base
    assert nuclear_risk_bound(d, users, 40, **nuclear, failure=0.01).at(answers) > base


def test_the_nuclear_theorem_is_half_of_what_its_displayed_proof_adds_up_to():
    """The statement lacks the 2 of eq:excessrisk; without absolute values none is needed.

    Both theorems' first two terms are a multiple of radius * Bernstein's bound / m. Symmetrising
    the one-sided difference that the proof starts from gives the multiple 2 L.
    """
    d, users, items, answers, lip = 3, 7, 20, 500, 1.5
    variance = nuclear_variance(d, users, items, 2.0)
    bernstein = sqrt(2 * answers * variance * log(2 * d + users)) + 4 / 3 * log(2 * d + users)
    nuclear = nuclear_risk_bound(d, users, items, 5.0, 1.0, 2.0, lip)
    expected = nuclear.at(answers) - nuclear.confidence / sqrt(answers)
    assert expected == pytest.approx(2 * lip * 5.0 / answers * bernstein)

    logs = log(d * d + d + 1)
    bernstein = sqrt(2 * answers * 8 * logs) + sqrt(8) / 3 * logs
    frobenius = frobenius_risk_bound(d, users, 3.0, 4.0, 1.0, lip)
    expected = frobenius.at(answers) - frobenius.confidence / sqrt(answers)
    assert expected == pytest.approx(4 * lip * sqrt(9 + users * 16) / answers * bernstein)


# lem:EZZT-EZTZ, and the other inequalities of the proofs


@given(SEEDS, st.integers(2, 7), st.integers(1, 4), st.integers(1, 4), st.floats(0.2, 3))
def test_variances_of_an_answer_are_their_means_over_all_pairs_and_users(seed, n, d, users, b):
    items = random_items(np.random.default_rng(seed), n, d, longest=b)
    drawn = [
        answer_matrix(items, i, j, user, users)
        for i, j in combinations(range(n), 2)
        for user in range(users)
    ]
    rows, columns = answer_variances(items, users)
    np.testing.assert_allclose(rows, np.mean([z @ z.T for z in drawn], axis=0), atol=1e-9)
    np.testing.assert_allclose(columns, np.mean([z.T @ z for z in drawn], axis=0), atol=1e-9)
    bound = nuclear_variance(d, users, n, np.linalg.norm(items, 2) + 1e-12, longest_item=b)
    assert max(np.linalg.norm(rows, 2), np.linalg.norm(columns, 2)) <= bound + 1e-9
    longest = 2 * b * sqrt(b**2 + 1)
    assert max(np.linalg.norm(z) for z in drawn) <= longest + 1e-9
    assert max(np.linalg.norm(z, 2) for z in drawn) <= 2 * (b**2 + b) + 1e-9


def test_the_proof_of_the_frobenius_theorem_adds_columns_of_different_users():
    """One of its steps is displayed as an equality; the bound holds all the same (Jensen)."""
    items = np.array([[1.0], [0.0]])
    total = answer_matrix(items, 0, 1, 0, 2) - answer_matrix(items, 0, 1, 1, 2)
    in_matrix = np.linalg.norm(total)  # each user has a column
    one_vector = np.hypot(total[:, :1].sum(), total[:, 1:].sum())  # all users share one
    assert in_matrix == pytest.approx(sqrt(2))
    assert one_vector == 0


@given(SEEDS, st.integers(2, 6), st.integers(1, 3), st.integers(1, 3), st.floats(0.2, 3))
def test_the_sharper_bound_rests_on_the_mean_square_of_a_random_sum(seed, n, d, users, b):
    generator = np.random.default_rng(seed)
    items = random_items(generator, n, d, longest=b)
    answers = [
        answer_matrix(
            items, *generator.choice(n, 2, replace=False), generator.integers(users), users
        )
        for _ in range(5)
    ]
    sums = [
        np.linalg.norm(np.tensordot(signs, answers, axes=1))
        for signs in product([-1.0, 1.0], repeat=5)
    ]
    bound = sharper_frobenius_risk_bound(1, 1.0, 1.0, 1.0, longest_item=b)
    longest = bound.complexity / (2 * sqrt(2))  # C_B
    assert np.mean(sums) <= np.sqrt(np.mean(np.square(sums))) + 1e-12 <= longest * sqrt(5) + 1e-9


@given(SIZES, SIZES, POSITIVE, POSITIVE, POSITIVE, st.floats(0.001, 0.5), POSITIVE)
def test_the_sharper_bound_is_always_below_the_theorem(d, users, lam_f, lam_v, gamma, delta, b):
    settings = {"failure": delta, "longest_item": b, "lipschitz": 1.5}
    theorem = frobenius_risk_bound(d, users, lam_f, lam_v, gamma, **settings)
    sharper = sharper_frobenius_risk_bound(users, lam_f, lam_v, gamma, **settings)
    ratio = 2 * sqrt(2 * log(d * d + d + 1))
    assert theorem.complexity / sharper.complexity == pytest.approx(ratio)
    assert sharper.at(10) < theorem.at(10)


@settings(max_examples=5)
@given(SEEDS, st.integers(1, 3), st.integers(1, 5))
def test_random_sums_of_answers_are_as_short_as_bernstein_says(seed, d, users):
    generator = np.random.default_rng(seed)
    items = random_items(generator, 10, d, longest=1.0)
    answers = 60
    lengths, norms = [], []
    for _ in range(60):
        total = np.zeros((d, d + users))
        vector = np.zeros(d * d + d)
        for sign in generator.choice([-1, 1], answers):
            i, j = generator.choice(10, 2, replace=False)
            z = sign * answer_matrix(items, i, j, generator.integers(users), users)
            total += z
            vector += np.concatenate([z[:, :d].ravel(), z[:, d:].sum(axis=1)])
        norms.append(np.linalg.norm(total, 2))
        lengths.append(np.linalg.norm(vector))
    nuclear = nuclear_risk_bound(d, users, 10, 1.0, 1.0, float(np.linalg.norm(items, 2)))
    of_norm = nuclear.at(answers) - nuclear.confidence / sqrt(answers)  # 2 / m times the mean norm
    assert 2 / answers * np.mean(norms) <= of_norm
    frobenius = frobenius_risk_bound(d, 1, sqrt(0.5), sqrt(0.5), 1.0)
    of_length = frobenius.at(answers) - frobenius.confidence / sqrt(answers)
    assert 4 / answers * np.mean(lengths) <= of_length


# cor:low-rank-interp


@settings(max_examples=15)
@given(SEEDS, st.integers(3, 60), st.integers(2, 8), st.integers(3, 40), st.data())
def test_drawn_crowds_obey_the_corollarys_constants(seed, items, d, users, data):
    rank = data.draw(st.integers(1, d - 1))  # at r = d the paper draws its metric differently
    crowd = simulate(items, d, rank, users, 1, seed=seed, test_pairs_per_user=1)
    real = measured_constants(crowd)
    promised = gaussian_constants(items, d, rank, users)
    for name in ("longest_item", "spectral_norm", "margin_bound", "radius"):
        assert getattr(real, name) <= getattr(promised, name)
    assert real.risk_bound().at(1000) <= promised.risk_bound().at(1000)


@pytest.mark.parametrize("rank", [1, 5])
def test_the_bound_scales_as_the_corollary_says(rank):
    ratios = []
    for d in (10, 100, 1000, 10_000):
        users, items = d**2, d * (d + 3) // 2 + 1
        bound = gaussian_constants(items, d, rank, users).risk_bound()
        scaling = low_rank_scaling(d, rank, users, 1.0)
        logs = log(users / 0.05) * log(2 * d + users) * log(items / 0.05) ** 1.5
        ratios.append((bound.complexity + bound.confidence) / scaling / sqrt(logs))
    assert max(ratios) < 1.5 * min(ratios)  # while the scaling itself grows a thousandfold


@given(SIZES, SIZES, st.integers(1, 10), POSITIVE)
def test_the_scaling_halves_with_four_times_the_answers(d, users, rank, answers):
    once, more = (low_rank_scaling(d, rank, users, times * answers) for times in (1, 4))
    assert more == pytest.approx(once / 2)


# What is refused


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: frobenius_risk_bound(0, 1, 1, 1, 1), "dimension"),
        (lambda: frobenius_risk_bound(2, 0, 1, 1, 1), "at least one user"),
        (lambda: frobenius_risk_bound(2, 1, -1, 1, 1), "radius must be a positive number"),
        (lambda: frobenius_risk_bound(2, 1, 1, 1, 1, np.inf), "lipschitz_within"),
        (lambda: frobenius_risk_bound(2, 1, 1, 1, 1, failure=0), "failure probability"),
        (lambda: nuclear_risk_bound(2, 1, 1, 1, 1, 1), "at least 2 items"),
        (lambda: nuclear_risk_bound(2, 1, 5, 1, 0, 1), "margin_bound must be"),
        (lambda: gaussian_constants(2, 2, 1, 50, failure=0.9), "n_items must be at least 3"),
        (lambda: gaussian_constants(50, 2, 3, 50), "rank must lie"),
        (lambda: low_rank_scaling(2, 1, 5, 0), "number of answers must be positive"),
    ],
)
def test_what_makes_no_sense_is_refused(ask, says):
    with pytest.raises(SettingError, match=says):
        ask()
