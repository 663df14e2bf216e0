"""Regions: projections by their variational inequality, supports against a general solver."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from crowdmetric.errors import SettingError
from crowdmetric.regions import (
    BUILT_IN,
    FixedMetric,
    FrobeniusMetric,
    NuclearFull,
    NuclearMetric,
    NuclearSplit,
    PSDOnly,
    SplitRegion,
    by_name,
    radius_of,
)
from crowdmetric.regions.nuclear_full import NuclearBall, PSDCone
from crowdmetric.regions.projections import (
    onto_capped_simplex,
    onto_nuclear_ball,
    onto_psd,
    onto_range,
)

D, K = 3, 4
ALL = pytest.mark.parametrize("region", oracles.regions(D), ids=oracles.by_name)
BOUNDED = pytest.mark.parametrize(
    "region",
    [r for r in oracles.regions(D) if not isinstance(r, PSDOnly)],
    ids=oracles.by_name,
)
STACKED = (
    FrobeniusMetric((0.5, 2.0, 9.0), (0.7, 0.1, 9.0)),
    NuclearMetric((0.5, 2.0, 9.0), (0.7, 0.1, 9.0)),
    NuclearSplit((0.5, 2.0, 9.0), (0.7, 0.1, 9.0)),
    NuclearFull((0.5, 2.0, 20.0)),
    PSDOnly(),
    FixedMetric(np.diag([1.0, 0.5, 0.0]), (0.7, 0.1, 9.0)),
)
SEEDS = st.integers(0, 2**32 - 1)


def anywhere(seed, scale=1.0):
    """Return a matrix that need not be symmetric, and points."""
    rng = np.random.default_rng(seed)
    return scale * rng.normal(size=(D, D)), scale * rng.normal(size=(K, D))


def inner(first, second):
    """Return the inner product of two pairs."""
    return sum(float(np.vdot(a, b)) for a, b in zip(first, second, strict=True))


def minus(first, second):
    """Return the difference of two pairs."""
    return tuple(a - b for a, b in zip(first, second, strict=True))


@ALL
@settings(max_examples=15)
@given(seed=SEEDS, scale=st.sampled_from([0.05, 1.0, 20.0]))
def test_projections_land_inside_and_stay(region, seed, scale):
    point = region.project(*anywhere(seed, scale))
    assert oracles.violation(region, *point) <= 1e-12
    again = region.project(*point)
    # Singular values come from the eigenvalues of a Gram matrix: half the digits, near zero.
    accuracy = 1e-7 if isinstance(region, NuclearSplit | NuclearFull) else 1e-12
    assert max(np.abs(a - b).max() for a, b in zip(point, again, strict=True)) <= accuracy


@ALL
@settings(max_examples=10)
@given(seed=SEEDS, scale=st.sampled_from([0.3, 1.0, 20.0]))
def test_projections_satisfy_their_variational_inequality(region, seed, scale):
    start = anywhere(seed, scale)
    nearest = region.project(*start)
    away = minus(start, nearest)
    for other in range(10):
        inside = region.project(*anywhere(seed + other + 1))
        assert inner(away, minus(inside, nearest)) <= 1e-8 * (1 + scale)


@ALL
@pytest.mark.parametrize("seed", [0, 1])
def test_projections_agree_with_a_general_solver(region, seed):
    start = anywhere(seed)
    expected = oracles.reference_projection(region, *start)
    for found, wanted in zip(region.project(*start), expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=2e-5)


@ALL
def test_a_point_inside_is_its_own_projection(region):
    metric, points = 0.01 * np.eye(D), 0.01 * np.ones((K, D))
    if isinstance(region, FixedMetric):
        metric = region.metric
    found = region.project(metric, points)
    np.testing.assert_allclose(found[0], metric, atol=1e-12)
    np.testing.assert_allclose(found[1], points, atol=1e-12)


@BOUNDED
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_supports_agree_with_a_general_solver(region, seed):
    direction = anywhere(seed)
    exact = oracles.reference_support(region, *direction)
    found = float(region.support(*direction))
    assert found >= exact - 1e-7
    if not isinstance(region, NuclearFull):
        assert found == pytest.approx(exact, abs=1e-6)


@BOUNDED
@given(seed=SEEDS)
def test_no_point_of_the_region_exceeds_the_support(region, seed):
    direction = anywhere(seed)
    inside = region.project(*anywhere(seed + 1, 5.0))
    assert inner(direction, inside) <= region.support(*direction) + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_of_the_nuclear_ball_is_tight_for_the_best_dual(seed):
    region = NuclearFull(1.2)
    metric, points = anywhere(seed)
    # The smallest bound over all legal duals, found by a general solver: Y = S + N.
    psd, free = cp.Variable((D, D), PSD=True), cp.Variable((D, D))
    joined = cp.hstack([oracles.symmetric(metric) + psd + (free - free.T), points.T])
    oracles.solve_tightly(cp.Problem(cp.Minimize(cp.sigma_max(joined))))
    dual = psd.value + free.value - free.value.T
    exact = oracles.reference_support(region, metric, points)
    assert float(region.support(metric, points, dual)) == pytest.approx(exact, abs=1e-6)
    # Without the skew part the bound is valid, but not tight.
    assert float(region.support(metric, points, psd.value)) >= exact - 1e-7


@settings(max_examples=20)
@given(seed=SEEDS)
def test_every_dual_gives_a_valid_bound_of_the_nuclear_ball(seed):
    region = NuclearFull(1.2)
    direction, any_dual = anywhere(seed), anywhere(seed + 7)[0]
    inside = region.project(*anywhere(seed + 1, 5.0))
    assert inner(direction, inside) <= region.support(*direction, any_dual) + 1e-9


def test_the_best_dual_is_legal_and_a_legal_one_is_kept():
    region = NuclearFull(1.0)
    metric, multiplier = anywhere(1)[0], anywhere(2)[0]
    dual = region.best_dual(metric, multiplier)
    assert np.linalg.eigvalsh(oracles.symmetric(dual))[0] >= -1e-12
    np.testing.assert_allclose(region.best_dual(np.zeros((D, D)), dual), dual, atol=1e-12)


def test_the_nuclear_ball_splits_into_its_pieces():
    region = NuclearFull(1.0)
    assert isinstance(region, SplitRegion)
    assert region.pieces == (NuclearBall(1.0), PSDCone())
    start = anywhere(3)
    repaired = region.repair(*NuclearBall(1.0).project(*start))
    assert oracles.violation(region, *repaired) <= 1e-12


def test_nearly_singular_points_are_repaired_to_lie_exactly_inside():
    rng = np.random.default_rng(19119)
    region = NuclearSplit(1.0, 1.0)
    for _ in range(200):
        users, axes = (np.linalg.qr(rng.normal(size=(D, D)))[0] for _ in range(2))
        points = users * np.array([1.0, *10 ** rng.uniform(-9, -7, 2)]) @ axes
        repaired = region.repair(*region.project(np.eye(D), points))
        assert oracles.violation(region, *repaired) <= 1e-14


def test_without_a_radius_only_a_descent_cone_has_a_finite_support():
    region, zero = PSDOnly(), np.zeros((K, D))
    assert region.support(-np.eye(D), zero) == 0
    assert np.isposinf(region.support(np.diag([1.0, -1.0, -1.0]), zero))
    assert np.isposinf(region.support(-np.eye(D), zero + 1e-9))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_support_within_a_distance_agrees_with_a_general_solver(seed):
    metric, points = anywhere(seed)
    m, v = oracles.variables(PSDOnly(), D, K)
    product = cp.sum(cp.multiply(metric, m)) + cp.sum(cp.multiply(points, v))
    near = cp.sum_squares(m) + cp.sum_squares(v) <= 1.5**2
    exact = oracles.solve_tightly(cp.Problem(cp.Maximize(product), [near]))
    assert PSDOnly().support_within(metric, points, 1.5) == pytest.approx(exact, abs=1e-6)


@ALL
@settings(max_examples=15)
@given(seed=SEEDS)
def test_the_violation_is_zero_exactly_inside(region, seed):
    outside = anywhere(seed, 3.0)
    assert float(region.violation(*region.project(*outside))) <= 1e-12
    if oracles.violation(region, oracles.symmetric(outside[0]), outside[1]) > 1e-6:
        assert float(region.violation(oracles.symmetric(outside[0]), outside[1])) > 1e-8


@pytest.mark.parametrize("region", STACKED, ids=oracles.by_name)
def test_a_stack_with_a_radius_each_equals_one_at_a_time(region):
    rng = np.random.default_rng(5)
    metric, points = rng.normal(size=(3, D, D)), 2 * rng.normal(size=(3, 2, D))
    found = region.project(metric, points)
    support, violation = region.support(metric, points), region.violation(metric, points)
    for b in range(3):
        radii = [radius_of(radius, b) for radius in region.radii]
        if isinstance(region, FixedMetric):
            alone = FixedMetric(region.metric, *radii)
        else:
            alone = type(region)(*radii)
        one = alone.project(metric[b], points[b])
        np.testing.assert_allclose(found[0][b], one[0], atol=1e-10)
        np.testing.assert_allclose(found[1][b], one[1], atol=1e-10)
        np.testing.assert_allclose(support[b], alone.support(metric[b], points[b]), rtol=1e-12)
        np.testing.assert_allclose(violation[b], alone.violation(metric[b], points[b]), rtol=1e-9)


@pytest.mark.parametrize("region", STACKED, ids=oracles.by_name)
def test_the_callers_arrays_are_left_alone(region):
    rng = np.random.default_rng(5)
    metric, points = rng.normal(size=(3, D, D)), rng.normal(size=(3, 2, D))
    before = metric.copy(), points.copy()
    found, _ = region.project(metric, points)
    found += 1.0
    region.support(metric, points)
    region.violation(metric, points)
    np.testing.assert_array_equal(metric, before[0])
    np.testing.assert_array_equal(points, before[1])


# Projections


@settings(max_examples=40)
@given(
    values=st.lists(st.floats(-5, 5), min_size=1, max_size=6),
    radius=st.floats(0.05, 8),
)
def test_the_capped_simplex_satisfies_its_variational_inequality(values, radius):
    start = np.array(values)
    nearest = onto_capped_simplex(start, radius)
    assert nearest.min() >= 0
    assert nearest.sum() <= radius * (1 + 1e-12)
    # A linear function over the capped simplex is largest at a corner: zero, or radius * e_i.
    away = start - nearest
    assert max(0.0, radius * away.max()) <= away @ nearest + 1e-10


def test_the_capped_simplex_agrees_with_a_general_solver():
    start = np.array([1.5, -0.3, 0.9, 0.2])
    w = cp.Variable(4, nonneg=True)
    oracles.solve_tightly(cp.Problem(cp.Minimize(cp.sum_squares(w - start)), [cp.sum(w) <= 1.1]))
    np.testing.assert_allclose(onto_capped_simplex(start, 1.1), w.value, atol=1e-6)


@settings(max_examples=40)
@given(
    values=st.lists(st.floats(-5, 5), min_size=2, max_size=7),
    gamma=st.floats(0.05, 8),
)
def test_the_range_projection_satisfies_its_variational_inequality(values, gamma):
    start = np.array([values])
    nearest = onto_range(start, gamma)[0]
    assert np.ptp(nearest) <= gamma * (1 + 1e-9)
    away = start[0] - nearest
    # The multiplier of the nearest point sums to zero, and is supported at both ends.
    assert abs(away.sum()) <= 1e-9
    assert gamma / 2 * np.abs(away).sum() <= away @ nearest + 1e-8


@pytest.mark.parametrize("gamma", [0.3, 1.5, 20.0])
def test_the_range_projection_agrees_with_a_general_solver(gamma):
    start = np.random.default_rng(3).normal(size=(2, 3, 8))
    found = onto_range(start, gamma)
    for b, k in np.ndindex(2, 3):
        s = cp.Variable(8)
        within = cp.max(s) - cp.min(s) <= gamma
        oracles.solve_tightly(cp.Problem(cp.Minimize(cp.sum_squares(s - start[b, k])), [within]))
        np.testing.assert_allclose(found[b, k], s.value, atol=2e-5)


def test_ties_and_equal_scores_survive_the_range_projection():
    np.testing.assert_array_equal(onto_range(np.ones((1, 4)), 0.5), np.ones((1, 4)))
    np.testing.assert_allclose(
        onto_range(np.array([[0.0, 0.0, 3.0, 3.0]]), 1.0), [[1.0, 1.0, 2.0, 2.0]]
    )


@settings(max_examples=20)
@given(seed=SEEDS, radius=st.floats(0.1, 20))
def test_the_nuclear_ball_satisfies_its_variational_inequality(seed, radius):
    start = anywhere(seed)
    nearest = onto_nuclear_ball(*start, radius)
    joined = np.hstack([nearest[0], nearest[1].T])
    assert np.linalg.norm(joined, "nuc") <= radius * (1 + 1e-10)
    away = minus(start, nearest)
    spectral = np.linalg.norm(np.hstack([away[0], away[1].T]), 2)
    assert radius * spectral <= inner(away, nearest) + 1e-7


@settings(max_examples=20)
@given(seed=SEEDS)
def test_the_cone_splits_a_matrix_into_orthogonal_halves(seed):
    start = anywhere(seed)[0]
    nearest = onto_psd(start)
    rest = oracles.symmetric(start) - nearest
    assert np.linalg.eigvalsh(nearest)[0] >= -1e-12
    assert np.linalg.eigvalsh(rest)[-1] <= 1e-12
    assert abs(np.vdot(nearest, rest)) <= 1e-10
    np.testing.assert_array_equal(nearest, nearest.T)


# Settings


@pytest.mark.parametrize("number", [0.0, -1.0, np.inf, np.nan])
def test_radii_that_are_not_positive_are_refused(number):
    makers = (
        lambda: FrobeniusMetric(number, 1.0),
        lambda: NuclearMetric(1.0, number),
        lambda: NuclearSplit((1.0, number), 1.0),
        lambda: NuclearFull(number),
        lambda: FixedMetric(np.eye(2), number),
    )
    for make in makers:
        with pytest.raises(SettingError, match="radius must be a positive number"):
            make()


@pytest.mark.parametrize("number", [0.0, -1.0, np.inf, np.nan])
@pytest.mark.parametrize("name", BUILT_IN)
def test_margin_bounds_that_are_not_positive_are_refused(name, number):
    settings_of = {
        "nuclear-full": (1.0,),
        "psd": (),
        "fixed": (np.eye(2), 1.0),
    }.get(name, (1.0, 1.0))
    with pytest.raises(SettingError, match="margin bound must be a positive number"):
        BUILT_IN[name](*settings_of, margin_bound=number)


@pytest.mark.parametrize(
    ("metric", "complaint"),
    [
        (np.array([[0.0, 1.0], [0.0, 0.0]]), "symmetric"),
        (np.ones((2, 3)), "symmetric"),
        (np.ones(2), "symmetric"),
        (np.diag([1.0, -1.0]), "positive semidefinite"),
    ],
)
def test_a_fixed_metric_must_be_a_metric(metric, complaint):
    with pytest.raises(SettingError, match=f"must be .*{complaint}"):
        FixedMetric(metric, 1.0)


def test_a_fixed_metric_is_kept_as_a_locked_copy():
    metric = np.eye(2)
    region = FixedMetric(metric, 1.0)
    metric[0, 0] = 7.0
    assert region.metric[0, 0] == 1.0
    assert not region.metric.flags.writeable


def test_regions_are_found_by_name():
    assert by_name("nuclear-full", (2.0,)) == NuclearFull(2.0)
    assert by_name("frobenius", (2, 3)) == FrobeniusMetric(2.0, 3.0)
    assert by_name("nuclear-metric", (2, 3), 0.5) == NuclearMetric(2.0, 3.0, 0.5)
    assert by_name("nuclear-split", (2, 3)) == NuclearSplit(2.0, 3.0)
    assert by_name("psd", ()) == PSDOnly()


@pytest.mark.parametrize(
    ("name", "radii", "complaint"),
    [
        ("frobenious", (1, 1), r"no region 'frobenious'; did you mean 'frobenius'\?"),
        ("nuclear-full", (1, 1), r"takes a radius, but 2 number\(s\) were given"),
        ("frobenius", (1,), r"takes a radius and a point radius, but 1 number\(s\)"),
        ("psd", (1,), r"takes no radius, but 1 number\(s\)"),
        ("fixed", (1,), "needs a metric"),
        ("nuclear-full", (0,), "must be a positive number"),
    ],
)
def test_names_and_radii_that_do_not_fit_are_refused(name, radii, complaint):
    with pytest.raises(SettingError, match=complaint):
        by_name(name, radii)
