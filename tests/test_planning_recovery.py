"""Bounds on recovery, exact risks, and bounds beside simulations."""

from __future__ import annotations

from itertools import combinations
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

from crowdmetric.errors import DataError, SettingError
from crowdmetric.identify.selection import selection_matrix
from crowdmetric.losses import Logistic, Probit
from crowdmetric.planning import (
    KnownCrowd,
    RateBound,
    divergence,
    frobenius_risk_bound,
    in_unit_ball,
    margin_error_bound,
    measure_looseness,
    metric_visibility,
    nuclear_risk_bound,
    quadratic_features,
    recovery_bound,
    region_of_truth,
    risk_bound,
    sharper_frobenius_risk_bound,
)
from crowdmetric.regions import FrobeniusMetric, NuclearFull
from crowdmetric.simulation import simulate

SEEDS = st.integers(0, 10**6)
LINKS = st.sampled_from([Logistic(0.5), Logistic(), Probit(), Probit(0.7)])


@pytest.fixture(scope="module")
def small():
    """Return a crowd in the unit ball whose margins are small, so that no answer is certain."""
    return in_unit_ball(simulate(12, 2, 1, 5, 1, noise=0.3, test_pairs_per_user=1))


def random_truth(seed, n, d, users, gamma=None):
    """Return a random crowd; its margins are at most gamma."""
    generator = np.random.default_rng(seed)
    factor = generator.standard_normal((d, d))
    crowd = KnownCrowd(
        generator.standard_normal((n, d)), factor @ factor.T,
        generator.standard_normal((users, d)), Logistic(),
    )  # fmt: skip
    if gamma is None:
        return crowd
    share = gamma / crowd.margin_bound
    return KnownCrowd(crowd.features, share * crowd.metric, share * crowd.points, crowd.loss)


def every_pair(n):
    """Return all pairs of items."""
    return np.array(list(combinations(range(n), 2)))


# prop:centering_mat and sigma_min


@given(st.integers(2, 12))
def test_all_pairs_together_centre_the_items(n):
    rows = selection_matrix(every_pair(n), n).toarray()
    np.testing.assert_allclose(rows.T @ rows, n * (np.eye(n) - np.ones((n, n)) / n), atol=1e-12)


@given(SEEDS, st.integers(1, 3), st.integers(0, 4))
def test_visibility_is_the_least_singular_value_over_all_pairs(seed, d, more):
    n = d * (d + 3) // 2 + 1 + more
    items = np.random.default_rng(seed).standard_normal((n, d))
    table = selection_matrix(every_pair(n), n).toarray() @ quadratic_features(items)
    least = np.linalg.svd(table, compute_uv=False)[-1]
    assert metric_visibility(items) == pytest.approx(least**2 / n**2, rel=1e-6)
    assert metric_visibility(items) > 0  # almost surely, with so many items


@given(SEEDS, st.integers(1, 4))
def test_too_few_items_or_poor_ones_see_nothing(seed, d):
    needed = d * (d + 3) // 2 + 1
    items = np.random.default_rng(seed).standard_normal((3 * needed, d))
    assert metric_visibility(items[: needed - 1]) == 0
    on_a_sphere = items / np.linalg.norm(items, axis=1, keepdims=True)
    assert metric_visibility(on_a_sphere) == 0  # M = I and M = 2 I give the same margins


@given(SEEDS, st.integers(1, 5))
def test_the_coefficients_of_a_metric_are_no_shorter_than_it(seed, d):
    half = np.random.default_rng(seed).standard_normal((d, d))
    metric = half + half.T
    nu = (2 * metric - np.diag(np.diag(metric)))[np.triu_indices(d)]
    item = np.random.default_rng(seed + 1).standard_normal((1, d))
    assert quadratic_features(item)[0, : len(nu)] @ nu == pytest.approx(item[0] @ metric @ item[0])
    assert np.linalg.norm(nu) >= np.linalg.norm(metric) - 1e-12


# prop:taylor_KL_lower_bound, C_f and L


@given(LINKS, st.floats(0.01, 6))
def test_the_constants_of_a_link_are_its_extremes(link, gamma):
    grid = np.linspace(-gamma, gamma, 2001)
    step = 1e-5
    slope = (link.probability(grid + step) - link.probability(grid - step)) / (2 * step)
    assert link.probability_slope_floor(gamma) == pytest.approx(slope.min(), rel=1e-3, abs=1e-9)
    assert link.lipschitz_within(gamma) == pytest.approx(np.abs(link.slope(grid)).max())


@given(LINKS, st.floats(0.01, 5), st.floats(-1, 1), st.floats(-1, 1))
def test_divergence_is_at_least_the_squared_error_of_margins(link, gamma, true, found):
    true, found = np.array([gamma * true]), np.array([gamma * found])
    found_divergence = divergence(link, true, found)
    floor = 2 * link.probability_slope_floor(gamma) ** 2 * (true - found) ** 2
    assert found_divergence >= floor - 1e-12
    p, q = link.probability(true)[0], link.probability(found)[0]
    assert found_divergence[0] == pytest.approx(entropy([p, 1 - p], [q, 1 - q]), abs=1e-9)
    assert found_divergence >= 2 * (p - q) ** 2 - 1e-12  # Pinsker
    bound = margin_error_bound(float(found_divergence[0]), link, gamma)
    assert (true - found) ** 2 <= bound + 1e-9


# lem:lower_bound_for_recovery, thm:recovery_full_rank, thm:recovery_low_rank


@given(SEEDS, st.integers(1, 3), st.integers(1, 4), LINKS, st.floats(0.1, 3))
def test_a_small_excess_risk_means_a_small_error(seed, d, users, link, gamma):
    n = d * (d + 3) // 2 + 3
    truth, found = (random_truth(seed + k, n, d, users, gamma) for k in (0, 1))
    items = truth.features
    crowd = KnownCrowd(items, truth.metric, truth.points, link)
    gamma = max(
        crowd.margin_bound, KnownCrowd(items, found.metric, found.points, link).margin_bound
    )
    excess = crowd.excess_risk(found.metric, found.points)
    error = crowd.squared_error(found.metric, found.points)
    floor = link.probability_slope_floor(gamma)
    assert metric_visibility(items) * error <= excess / (4 * floor**2) + 1e-9


@given(SEEDS, LINKS, st.floats(0.1, 3), st.integers(1, 10**7))
def test_the_recovery_bounds_are_the_theorems(seed, link, gamma, m):
    d, users, lam_f, lam_v, lam, delta = 2, 7, 1.5, 2.5, 4.0, 0.1
    items = np.random.default_rng(seed).standard_normal((9, d))
    items /= np.linalg.norm(items, axis=1).max()
    c, lip = link.probability_slope_floor(gamma), link.lipschitz_within(gamma)
    visible, norm = metric_visibility(items), float(np.linalg.norm(items, 2))
    size, logs = lam_f**2 + users * lam_v**2, log(d * d + d + 1)
    printed = (
        4 / c**2 * sqrt(lip**2 * size / m * logs)
        + sqrt(8 * lip**2 * size) / (3 * c**2 * m) * logs
        + 1 / c**2 * sqrt(lip**2 * gamma**2 * log(2 / delta) / (2 * m))
    )
    risk = frobenius_risk_bound(d, users, lam_f, lam_v, gamma, lip, delta)
    assert recovery_bound(risk, items, link, gamma).at(m) * visible == pytest.approx(printed)
    logs = log(2 * d + users)
    inside = (8 + 4 * min(d, 9) / users) * norm**2 / 9 + 16 / sqrt(users)
    printed = (
        lip / c**2 * sqrt(lam**2 * logs / (2 * m) * inside)
        + 2 * lip * lam / (3 * c**2 * m) * logs
        + lip / c**2 * sqrt(gamma**2 * log(2 / delta) / (2 * m))
    )
    risk = nuclear_risk_bound(d, users, 9, lam, gamma, norm, lip, delta)
    assert recovery_bound(risk, items, link, gamma).at(m) * visible == pytest.approx(printed)


def test_no_bound_on_recovery_says_why():
    risk = RateBound(1.0, 1.0, 1.0)
    few, many = np.eye(3), np.random.default_rng(0).standard_normal((30, 3))
    with pytest.raises(DataError, match="take at least 10 items, there are 3"):
        recovery_bound(risk, few, Logistic(), 1.0)
    on_a_sphere = many / np.linalg.norm(many, axis=1, keepdims=True)
    with pytest.raises(DataError, match="not in one hyperplane"):
        recovery_bound(risk, on_a_sphere, Logistic(), 1.0)
    with pytest.raises(DataError, match="smaller margin bound"):
        recovery_bound(risk, many, Probit(), 100.0)


# Exact risks and drawn answers


@given(SEEDS, LINKS)
def test_the_excess_risk_is_the_mean_over_users_pairs_and_answers(seed, link):
    truth, found = (random_truth(seed + k, 5, 2, 3) for k in (0, 1))
    crowd = KnownCrowd(truth.features, truth.metric, truth.points, link)

    def true_risk(metric, points):
        total = 0.0
        for true_point, point in zip(crowd.points, points, strict=True):
            for x, y in combinations(crowd.features, 2):
                true = x @ crowd.metric @ x - y @ crowd.metric @ y + true_point @ (x - y)
                delta = x @ metric @ x - y @ metric @ y + point @ (x - y)
                for side in (-1, 1):
                    share = link.probability(np.array([side * true]))[0]
                    total += share * link.value(np.array([side * delta]))[0]
        return total / (3 * 10)

    excess = true_risk(found.metric, found.points) - true_risk(crowd.metric, crowd.points)
    assert crowd.excess_risk(found.metric, found.points) == pytest.approx(excess, abs=1e-9)
    assert excess > -1e-9  # nothing beats the truth


def test_answers_are_drawn_as_the_theorems_ask(small):
    m = 40_000
    drawn = small.draw(m, np.random.default_rng(0))
    users = np.bincount(drawn.user, minlength=5)
    assert np.all(np.abs(users - m / 5) < 5 * sqrt(m / 5))
    low, high = np.minimum(drawn.left, drawn.right), np.maximum(drawn.left, drawn.right)
    pairs = np.bincount(low * 12 + high, minlength=144)
    asked = pairs[pairs > 0]
    assert len(asked) == 66
    assert np.all(np.abs(asked - m / 66) < 5 * sqrt(m / 66))
    x = small.features
    size = np.einsum("nd,de,ne->n", x, small.metric, x)
    along = np.einsum("td,td->t", small.points[drawn.user], x[drawn.left] - x[drawn.right])
    margin = size[drawn.left] - size[drawn.right] + along
    right = small.loss.probability(margin)
    assert abs((drawn.sign > 0).mean() - right.mean()) < 5 * 0.5 / sqrt(m)
    likely = margin > 2
    assert abs((drawn.sign[likely] > 0).mean() - right[likely].mean()) < 5 * 0.5 / sqrt(
        likely.sum()
    )


@given(SEEDS, st.integers(1, 4), st.integers(1, 5))
def test_the_unit_ball_changes_no_margin(seed, d, users):
    crowd = simulate(10, d, 1, users, 20, seed=seed, test_pairs_per_user=1)
    known = in_unit_ball(crowd)
    assert np.linalg.norm(known.features, axis=1).max() == pytest.approx(1)
    scores = np.einsum("nd,de,ne->n", known.features, known.metric, known.features)
    data = crowd.comparisons
    along = known.points[data.user] * (known.features[data.left] - known.features[data.right])
    margins = scores[data.left] - scores[data.right] + along.sum(axis=1)
    np.testing.assert_allclose(margins, crowd.margins(data), atol=1e-9)
    assert np.abs(margins).max() <= known.margin_bound + 1e-9


# Bounds beside simulations


@settings(max_examples=6)
@given(SEEDS, st.sampled_from(["frobenius", "nuclear-full"]), st.sampled_from([Logistic, Probit]))
def test_no_fit_exceeds_its_bounds(seed, region, link):
    crowd = in_unit_ball(simulate(10, 2, 1, 4, 1, seed=seed, test_pairs_per_user=1), link(0.2))
    where = region_of_truth(crowd, region)
    assert where.violation(crowd.metric, crowd.points) <= 1e-12
    assert crowd.margin_bound <= where.margin_bound
    loose = measure_looseness(crowd, region, answers=[30, 1000], trials=2, seed=seed)
    assert loose.recovery is not None
    for table in (loose.risk, loose.recovery):
        assert table.share_above == 0
        assert np.all(table.simulated >= 0)
    assert loose.risk.simulated[1].mean() < loose.risk.simulated[0].mean()
    radii = [float(radius) for radius in where.radii]
    if region == "frobenius":
        gamma = where.margin_bound
        sharper = sharper_frobenius_risk_bound(4, *radii, gamma, crowd.loss.lipschitz_within(gamma))
        assert np.all(loose.risk.simulated[1] < sharper.at(1000))


def test_a_measurement_repeats_reports_and_prints(small):
    steps = []
    settings = {"answers": [50, 200], "trials": 2, "seed": 3}
    first = measure_looseness(small, **settings, progress=lambda *done: steps.append(done))
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
    again = measure_looseness(small, **settings)
    assert np.array_equal(first.risk.simulated, again.risk.simulated)
    lines = str(first).splitlines()
    assert lines[0] == "excess risk, thm:multi-risk-fro"
    assert lines[5] == "squared error of M and V, thm:recovery_full_rank"
    assert len({len(line) for line in lines[1:4]}) == 1


def test_where_items_cannot_tell_metrics_apart_only_the_risk_is_bounded():
    crowd = in_unit_ball(simulate(5, 2, 1, 3, 1, noise=0.3, test_pairs_per_user=1))
    assert measure_looseness(crowd, answers=[50], trials=1).recovery is None


def test_what_makes_no_sense_is_refused(small):
    with pytest.raises(SettingError, match="frobenius or nuclear-full"):
        measure_looseness(small, "psd")
    with pytest.raises(SettingError, match="at least one trial"):
        measure_looseness(small, trials=0)
    with pytest.raises(SettingError, match="margin bound"):
        risk_bound(small, NuclearFull(1.0))
    with pytest.raises(SettingError, match="at least one answer"):
        small.draw(0, np.random.default_rng(0))
    assert risk_bound(small, FrobeniusMetric(1.0, 1.0, 2.0)).at(10) > 0
