"""Ideal points against independent formulas, and factors of the metric."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdmetric import points
from crowdmetric.errors import DataError, SettingError

SHAPES = st.tuples(
    st.integers(1, 6), st.integers(1, 6), st.integers(1, 5), st.integers(0, 2**32 - 1)
)


def crowd(dimension, rank, users, seed):
    """Return a metric of the given rank (at most the dimension), and points of any kind."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(dimension, dimension)))[0][:, :rank]
    metric = (basis * rng.uniform(0.5, 3.0, basis.shape[1])) @ basis.T
    return (metric + metric.T) / 2, rng.normal(size=(users, dimension)), rng


@settings(max_examples=60, deadline=None)
@given(SHAPES)
def test_exact_points_are_the_pseudo_inverse(shape):
    metric, pseudo, _ = crowd(*shape)
    expected = -0.5 * pseudo @ np.linalg.pinv(metric, rcond=1e-9).T
    np.testing.assert_allclose(points.ideal_points(metric, pseudo), expected, atol=1e-10)


@settings(max_examples=60, deadline=None)
@given(SHAPES, st.one_of(st.none(), st.floats(0.01, 100.0)))
def test_regularised_points_solve_the_normal_equations(shape, alpha):
    metric, pseudo, _ = crowd(*shape)
    strength = shape[0] if alpha is None else alpha
    normal = 4 * metric @ metric + strength * np.eye(shape[0])
    expected = -2 * np.linalg.solve(normal, metric @ pseudo.T).T
    found = points.ideal_points_regularised(metric, pseudo, alpha)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(SHAPES)
def test_a_prior_takes_the_place_of_alpha(shape):
    metric, pseudo, rng = crowd(*shape)
    root = rng.normal(size=(shape[0], shape[0] + 1))
    prior = root @ root.T + 0.1 * np.eye(shape[0])
    expected = -2 * np.linalg.solve(4 * metric @ metric + prior, metric @ pseudo.T).T
    found = points.ideal_points_regularised(metric, pseudo, prior=prior)
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_the_three_ways_agree_where_they_must():
    metric, _, rng = crowd(4, 4, 1, 0)
    true = rng.normal(size=(6, 4))
    pseudo = -2 * true @ metric
    np.testing.assert_allclose(points.ideal_points(metric, pseudo), true, atol=1e-12)
    nearly = points.ideal_points_regularised(metric, pseudo, alpha=1e-12)
    np.testing.assert_allclose(nearly, true, atol=1e-9)
    as_prior = points.ideal_points_regularised(metric, pseudo, prior=3.0 * np.eye(4))
    as_alpha = points.ideal_points_regularised(metric, pseudo, alpha=3.0)
    np.testing.assert_allclose(as_prior, as_alpha, atol=1e-12)


def test_a_direction_that_nothing_holds_gets_the_coordinate_zero():
    found = points.ideal_points_regularised(
        np.diag([1.0, 0.0]), [[-4.0, 5.0]], prior=np.diag([4.0, 0.0])
    )
    np.testing.assert_allclose(found, [[1.0, 0.0]], atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(SHAPES)
def test_a_stack_of_metrics_is_one_metric_at_a_time(shape):
    metric, pseudo, rng = crowd(*shape)
    stack = metric * rng.uniform(0.5, 2.0, len(pseudo))[:, None, None]
    stack[0] = np.eye(shape[0])
    for function in (points.ideal_points, points.ideal_points_regularised, points.outside_range):
        each = [function(own, row[None])[0] for own, row in zip(stack, pseudo, strict=True)]
        np.testing.assert_allclose(function(stack, pseudo), each, atol=1e-10)
    roots = points.factor(stack)
    np.testing.assert_allclose(roots @ np.swapaxes(roots, 1, 2), stack, atol=1e-10)


@settings(max_examples=60, deadline=None)
@given(SHAPES)
def test_outside_range_is_the_share_that_a_projection_leaves(shape):
    metric, pseudo, _ = crowd(*shape)
    outside = pseudo - pseudo @ (metric @ np.linalg.pinv(metric, rcond=1e-9)).T
    expected = np.linalg.norm(outside, axis=1) / np.linalg.norm(pseudo, axis=1)
    np.testing.assert_allclose(points.outside_range(metric, pseudo), expected, atol=1e-9)


def test_outside_range_of_the_extremes():
    assert points.outside_range(np.zeros((2, 2)), [[1.0, 2.0]]) == pytest.approx([1.0])
    np.testing.assert_array_equal(points.outside_range(np.eye(2), [[1.0, 2.0]]), [0.0])
    np.testing.assert_array_equal(points.outside_range(np.zeros((2, 2)), [[0.0, 0.0]]), [0.0])


@settings(max_examples=60, deadline=None)
@given(SHAPES)
def test_factor_is_low_rank_orthogonal_and_sorted(shape):
    metric, _, _ = crowd(*shape)
    root = points.factor(metric)
    assert root.shape == (shape[0], min(shape[:2]))
    np.testing.assert_allclose(root @ root.T, metric, atol=1e-10)
    gram = root.T @ root
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-10)
    assert (np.diff(np.diag(gram)) <= 1e-12).all()
    assert (root[np.abs(root).argmax(axis=0), np.arange(root.shape[1])] > 0).all()


def test_the_rank_of_a_single_precision_metric_ignores_its_rounding():
    metric, _, _ = crowd(8, 3, 1, 7)
    assert points.factor(metric.astype(np.float32)).shape == (8, 3)


SQUARE = [[1.0, 0.0], [0.0, 1.0]]
MISTAKES = [
    (np.eye(3)[:2], [[1.0, 2.0]], DataError, "the metric has shape"),
    (np.eye(3), [[1.0, 2.0]], DataError, "the points have shape"),
    (np.eye(2), [1.0, 2.0], DataError, "the points have shape"),
    (np.eye(2), [[np.nan, 2.0]], DataError, "the points hold NaN"),
    (np.full((2, 2), np.nan), [[1.0, 2.0]], DataError, "the metric holds NaN"),
    ([SQUARE, SQUARE], [[1.0, 2.0]], DataError, "2 metrics for 1 points"),
    ([[1.0, 5.0], [0.0, 1.0]], [[1.0, 2.0]], DataError, "not symmetric"),
    (np.diag([1.0, -1.0]), [[1.0, 2.0]], DataError, "not positive semidefinite"),
]


@pytest.mark.parametrize(("metric", "pseudo", "error", "words"), MISTAKES)
def test_mistakes_are_named(metric, pseudo, error, words):
    with pytest.raises(error, match=words):
        points.ideal_points(metric, pseudo)


@pytest.mark.parametrize(
    ("settings_", "words"),
    [
        ({"alpha": 0.0}, "alpha is 0"),
        ({"alpha": np.inf}, "alpha is inf"),
        ({"alpha": 1.0, "prior": np.eye(2)}, "twice"),
        ({"prior": np.eye(3)}, "the prior has shape"),
        ({"prior": np.diag([1.0, -1.0])}, "the prior is not positive semidefinite"),
    ],
)
def test_settings_of_the_regularisation_are_checked(settings_, words):
    with pytest.raises(SettingError, match=words):
        points.ideal_points_regularised(np.eye(2), [[1.0, 2.0]], **settings_)


def test_the_tolerance_is_checked_and_heeded():
    with pytest.raises(SettingError, match="tolerance"):
        points.factor(np.eye(2), tolerance=1.0)
    assert points.factor(np.diag([1.0, 0.01]), tolerance=0.1).shape == (2, 1)
