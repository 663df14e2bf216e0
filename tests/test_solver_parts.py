"""The solver's linear algebra against dense matrices, and Anderson's extrapolation."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from crowdmetric.losses import Logistic
from crowdmetric.margin_bound import MarginBound, centred
from crowdmetric.regions import FixedMetric, FrobeniusMetric, NuclearFull
from crowdmetric.solver.anderson import Anderson
from crowdmetric.solver.copies import Shape
from crowdmetric.solver.curvature import (
    Arrow,
    joined_features,
    mean_curvatures,
    pack,
    unpack,
)
from crowdmetric.solver.krylov import conjugate_gradients

SEEDS = st.integers(0, 2**32 - 1)


def symmetric_stack(rng, *shape):
    """Return a stack of symmetric matrices."""
    matrix = rng.normal(size=shape)
    return matrix + np.swapaxes(matrix, -1, -2)


@settings(max_examples=20)
@given(seed=SEEDS, dimension=st.integers(1, 6))
def test_packing_is_an_isometry_and_can_be_undone(seed, dimension):
    rng = np.random.default_rng(seed)
    one, other = symmetric_stack(rng, 2, 3, dimension, dimension)
    np.testing.assert_allclose(unpack(pack(one), dimension), one, atol=1e-14)
    for a, b in zip(one, other, strict=True):
        assert pack(a) @ pack(b) == pytest.approx(np.vdot(a, b), abs=1e-10)
    assert pack(one).shape == (3, dimension * (dimension + 1) // 2)


def test_a_margin_is_linear_in_the_joined_features():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(5, 3))
    metric, point = symmetric_stack(rng, 3, 3), rng.normal(size=3)
    scores = joined_features(features) @ np.concatenate([pack(metric), point])
    expected = [x @ metric @ x + point @ x for x in features]
    np.testing.assert_allclose(scores, expected, atol=1e-12)


def dense_operator(crowd, weights, ridge, packed):
    """Return the curvature plus the ridge of each problem, as a dense matrix, column by column."""
    d, per, count = crowd.dimension, crowd.users_per_problem, crowd.n_problems
    size = packed + per * d
    matrices = np.zeros((count, size, size))
    for column in range(size):
        unit = np.zeros(size)
        unit[column] = 1.0
        metric = unpack(unit[:packed], d) if packed else np.zeros((d, d))
        points = unit[packed:].reshape(per, d)
        repeated = np.tile(metric, (count, 1, 1)), np.tile(points, (count, 1, 1))
        of_metric, of_points = crowd.pull(weights * crowd.margins(*repeated))
        sides = (of_metric + np.swapaxes(of_metric, 1, 2)) / 2
        matrices[:, packed:, column] = of_points.reshape(count, -1)
        matrices[:, :packed, column] = pack(sides) if packed else 0.0
        matrices[:, column, column] += ridge[0] if column < packed else ridge[1]
    return matrices


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("fixed", [False, True])
def test_the_arrow_solves_the_dense_system(single, fixed):
    case = oracles.random_case(2, dimension=3, n_users=4, n_items=8, n_answers=60)
    crowd = case.problem(FrobeniusMetric(1.0, 1.0), Logistic(), single).crowd()
    rng = np.random.default_rng(0)
    weights, ridge = rng.random(60), (0.3, 0.7)
    packed = 0 if fixed else 6
    joined = crowd.reference if fixed else joined_features(crowd.reference)
    arrow = Arrow.of(crowd, joined, weights, ridge)
    metric = symmetric_stack(rng, crowd.n_problems, 3, 3)
    points = rng.normal(size=(crowd.n_problems, crowd.users_per_problem, 3))
    step, rows = arrow.solve(metric, points)
    dense = dense_operator(crowd, weights, ridge, packed)
    for b in range(crowd.n_problems):
        head = np.zeros(0) if fixed else pack(metric[b])
        expected = np.linalg.solve(dense[b], np.concatenate([head, points[b].ravel()]))
        np.testing.assert_allclose(rows[b].ravel(), expected[packed:], atol=1e-10)
        np.testing.assert_allclose(
            step[b], unpack(expected[:packed], 3) if packed else 0.0, atol=1e-10
        )
    diagonal = np.diagonal(dense_operator(crowd, weights, (0.0, 0.0), 6), axis1=1, axis2=2)
    means = mean_curvatures(crowd, weights)
    assert means[0] == pytest.approx(diagonal[:, :6].mean())
    assert means[1] == pytest.approx(diagonal[:, 6:].mean())


@settings(max_examples=20)
@given(seed=SEEDS)
def test_conjugate_gradients_reduce_the_residual_to_a_tenth(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 5, 5))
    matrix = root @ np.swapaxes(root, 1, 2) + np.eye(5)
    right = rng.normal(size=(3, 5))
    found = conjugate_gradients(lambda x: (matrix @ x[..., None])[..., 0], right, np.ones(5))
    left = right - (matrix @ found[..., None])[..., 0]
    assert (np.linalg.norm(left, axis=1) <= 0.1 * np.linalg.norm(right, axis=1) + 1e-12).all()


def test_conjugate_gradients_leave_zero_alone():
    found = conjugate_gradients(lambda x: 2 * x, np.zeros((2, 3)), np.ones(3))
    np.testing.assert_array_equal(found, np.zeros((2, 3)))


@settings(max_examples=20)
@given(seed=SEEDS)
def test_anderson_solves_linear_maps_in_as_many_steps_as_dimensions(seed):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(2, 4, 4)))[0]
    matrix = basis * rng.uniform(-0.9, 0.95, (2, 1, 4)) @ np.swapaxes(basis, 1, 2)
    shift = rng.normal(size=(2, 4))
    fixed = np.linalg.solve(np.eye(4) - matrix, shift[..., None])[..., 0]
    state, anderson = np.zeros((2, 4)), Anderson(6, 2, 4)
    for _ in range(9):
        state = anderson.extrapolate(state, (matrix @ state[..., None])[..., 0] + shift)
    np.testing.assert_allclose(state, fixed, atol=1e-4 * (1 + np.abs(fixed).max()))


def test_anderson_can_forget():
    anderson = Anderson(3, 1, 2)
    anderson.extrapolate(np.zeros((1, 2)), np.ones((1, 2)))
    anderson.forget()
    image = np.array([[5.0, 7.0]])
    np.testing.assert_array_equal(anderson.extrapolate(np.zeros((1, 2)), image), image)


def test_flat_rows_open_to_what_they_were_closed_from():
    rng, shape = np.random.default_rng(0), Shape(2, 3, 4)
    metric, points = rng.normal(size=(2, 3, 3)), rng.normal(size=(2, 4, 3))
    opened = shape.open(shape.close(metric, points))
    np.testing.assert_array_equal(opened[0], metric)
    np.testing.assert_array_equal(opened[1], points)


# The margin bound


def bound_of(region, case, single=False):
    """Return the crowd and the margin bound of a case."""
    crowd = case.problem(region, Logistic(), single).crowd()
    return crowd, MarginBound.of(crowd, region)


@pytest.mark.parametrize("single", [False, True])
def test_the_scores_of_the_bound_and_their_adjoint(single):
    case = oracles.CASES["plane"]
    crowd, bound = bound_of(NuclearFull(1.0, margin_bound=0.5), case, single)
    rng = np.random.default_rng(0)
    metric = symmetric_stack(rng, crowd.n_problems, 2, 2)
    points = rng.normal(size=(crowd.n_problems, crowd.users_per_problem, 2))
    scores = bound.scores(metric, points)
    for b in range(crowd.n_problems):
        np.testing.assert_allclose(scores[b], case.scores(metric[b], points[b]), atol=1e-12)
    table = rng.normal(size=scores.shape)
    of_metric, of_points = bound.pull(table)
    expected = np.vdot(of_metric, metric) + np.vdot(of_points, points)
    assert np.vdot(table, scores) == pytest.approx(expected)


def test_shrinking_ends_exactly_at_the_bound_and_leaves_the_inside_alone():
    crowd, bound = bound_of(NuclearFull(1.0, margin_bound=0.5), oracles.CASES["plane"])
    metric, points = np.eye(2)[None], np.ones((1, 3, 2))
    small = bound.shrink(metric, points)
    assert np.ptp(bound.scores(*small), axis=-1).max() == pytest.approx(0.5, rel=1e-9)
    assert bound.violation(*small) == 0
    assert bound.violation(metric, points) > 1
    again = bound.shrink(0.9 * small[0], 0.9 * small[1])
    np.testing.assert_array_equal(again[0], 0.9 * small[0])
    assert crowd.n_problems == 1


def test_shrinking_keeps_a_fixed_metric():
    region = FixedMetric(np.diag([0.5, 0.1]), 5.0, margin_bound=1.0)
    _, bound = bound_of(region, oracles.CASES["plane"])
    assert bound.spread < 1.0
    assert np.linalg.norm(bound.points) <= 5.0
    metric, points = bound.shrink(region.metric[None], 3 * np.ones((1, 3, 2)))
    np.testing.assert_allclose(metric[0], region.metric, atol=1e-15)
    assert np.ptp(bound.scores(metric, points), axis=-1).max() <= 1.0
    assert np.linalg.norm(points, axis=-1).max() <= 5.0


@pytest.mark.parametrize("radius", [0.1, 0.5, 5.0])
@pytest.mark.parametrize("name", oracles.CASES)
def test_the_inner_point_of_a_fixed_metric_spreads_the_scores_least(name, radius):
    case = oracles.CASES[name]
    d = case.features.shape[1]
    region = FixedMetric(np.eye(d), radius, margin_bound=1e3)
    _, bound = bound_of(region, case)
    v = cp.Variable(d)
    scores = case.features @ v + (case.features**2).sum(axis=1)
    spread = cp.Minimize(cp.max(scores) - cp.min(scores))
    least = oracles.solve_tightly(cp.Problem(spread, [cp.norm(v) <= radius]))
    assert np.linalg.norm(bound.points) <= radius * (1 + 1e-12)
    assert bound.spread == pytest.approx(least, rel=1e-4)


@settings(max_examples=20)
@given(seed=SEEDS)
def test_the_support_of_the_bound_is_that_of_its_set(seed):
    rng = np.random.default_rng(seed)
    _, bound = bound_of(NuclearFull(1.0, margin_bound=0.5), oracles.CASES["plane"])
    multiplier = centred(rng.normal(size=(1, 3, 7)))
    # The best scores stand at both ends of the range, as the signs of the multiplier ask.
    best = np.sum(np.where(multiplier > 0, 0.25, -0.25) * multiplier)
    assert bound.support(multiplier)[0] == pytest.approx(best)


def test_no_bound_where_the_region_has_none():
    assert bound_of(NuclearFull(1.0), oracles.CASES["plane"])[1] is None
