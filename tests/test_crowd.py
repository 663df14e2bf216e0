"""The crowd: margins against their definition, the adjoint, threads and precision."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from crowdmetric import crowd as crowd_module
from crowdmetric.crowd import Crowd
from crowdmetric.losses import Logistic
from crowdmetric.regions import FrobeniusMetric

SHAPES = st.builds(
    oracles.random_case,
    seed=st.integers(0, 10_000),
    dimension=st.integers(1, 4),
    n_users=st.integers(1, 5),
    n_items=st.integers(2, 9),
    n_answers=st.integers(1, 60),
)


def crowd_of(case, single=False, threads=1, dtype=np.float64):
    """Return the case as a crowd."""
    problem = case.problem(FrobeniusMetric(1.0, 1.0), Logistic(), single)
    return problem.crowd(threads, dtype)


def parameters(crowd, seed=0):
    """Return symmetric metrics and points that fit a crowd."""
    rng = np.random.default_rng(seed)
    d, count = crowd.dimension, crowd.n_problems
    metric = rng.normal(size=(count, d, d))
    return metric + np.swapaxes(metric, 1, 2), rng.normal(size=(count, crowd.users_per_problem, d))


@pytest.mark.parametrize("single", [False, True])
@settings(max_examples=25)
@given(case=SHAPES)
def test_margins_are_those_of_the_definition(single, case):
    crowd = crowd_of(case, single)
    metric, points = parameters(crowd)
    rows = points.reshape(case.n_users, -1)
    if single:
        expected = np.array(
            [
                case.rows(np.array([t])).margins(metric[case.user[t]], rows)[0]
                for t in range(len(case.sign))
            ]
        )
    else:
        expected = case.margins(metric[0], rows)
    np.testing.assert_allclose(crowd.margins(metric, points), expected[crowd.order], atol=1e-10)


@pytest.mark.parametrize("single", [False, True])
@settings(max_examples=25)
@given(case=SHAPES)
def test_the_pull_is_the_adjoint_of_the_margins(single, case):
    crowd = crowd_of(case, single)
    metric, points = parameters(crowd, 1)
    forces = np.random.default_rng(2).normal(size=len(case.sign))
    of_metric, of_points = crowd.pull(forces)
    left = forces @ crowd.margins(metric, points)
    right = np.vdot(of_metric, metric) + np.vdot(of_points, points)
    assert left == pytest.approx(right, rel=1e-10, abs=1e-9)
    assert of_metric.shape == metric.shape
    assert of_points.shape == points.shape


def test_the_gradient_is_that_of_the_risk_by_finite_differences():
    case, loss = oracles.random_case(4, dimension=3), Logistic(1.3)
    crowd = crowd_of(case)
    metric, points = parameters(crowd, 3)
    of_metric, of_points = crowd.gradient(loss.slope(crowd.margins(metric, points)))
    rng = np.random.default_rng(0)
    for _ in range(5):
        ahead = rng.normal(size=(3, 3))
        ahead, step = ahead + ahead.T, rng.normal(size=points[0].shape)
        h = 1e-6
        more = oracles.risk(case, loss, metric[0] + h * ahead, points[0] + h * step)
        less = oracles.risk(case, loss, metric[0] - h * ahead, points[0] - h * step)
        expected = np.vdot(of_metric, ahead) + np.vdot(of_points, step)
        assert (more - less) / (2 * h) == pytest.approx(expected, abs=1e-7)


@settings(max_examples=25)
@given(case=SHAPES)
def test_answers_are_sorted_by_user_and_remember_their_rows(case):
    crowd = crowd_of(case)
    assert (np.diff(crowd.user) >= 0).all()
    np.testing.assert_array_equal(case.user[crowd.order], crowd.user)
    for user in range(case.n_users):
        # Stable: a user's answers keep their order.
        assert (np.diff(crowd.order[crowd.user == user]) > 0).all()
    np.testing.assert_allclose(crowd.share, case.share[crowd.order], rtol=1e-13)
    assert crowd.starts[-1] == len(case.sign)


def test_shares_sum_to_one_within_each_problem():
    case = oracles.random_case(1)
    together, alone = crowd_of(case), crowd_of(case, single=True)
    assert together.share.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(np.bincount(alone.user, alone.share), np.ones(case.n_users))
    weights = np.bincount(case.user, case.weight)
    np.testing.assert_allclose(alone.problem_weights, weights)
    np.testing.assert_allclose(alone.problem_shares, weights / weights.sum())
    values = np.arange(len(case.sign), dtype=float)
    means = alone.problem_shares @ alone.mean(values)
    assert means == pytest.approx(float(together.mean(values)[0]))


@pytest.mark.parametrize("single", [False, True])
def test_users_without_answers_pull_nothing(single):
    case = oracles.random_case(2, n_users=5)
    case = case.rows(~np.isin(case.user, (0, 2, 4)))
    crowd = crowd_of(case, single)
    metric, points = parameters(crowd)
    slopes = -np.ones(len(case.sign))
    of_metric, of_points = crowd.gradient(slopes)
    rows = of_points.reshape(5, -1)
    assert not rows[[0, 2, 4]].any()
    assert rows[[1, 3]].any(axis=1).all()
    assert np.isfinite(crowd.mean(crowd.margins(metric, points))).all()
    if single:
        assert not of_metric[[0, 2, 4]].any()
        np.testing.assert_array_equal(crowd.problem_shares[[0, 2, 4]], 0.0)


@pytest.mark.parametrize("single", [False, True])
def test_threads_agree_and_each_number_of_them_repeats_itself(single, monkeypatch):
    monkeypatch.setattr(crowd_module, "_LEAST_WORK", 10)
    case = oracles.random_case(3, dimension=3, n_users=7, n_items=12, n_answers=400)
    one = crowd_of(case, single)
    metric, points = parameters(one)
    forces = np.random.default_rng(1).normal(size=len(case.sign))
    pulled = one.pull(forces)
    for threads in (2, 3):
        several, again = crowd_of(case, single, threads), crowd_of(case, single, threads)
        assert len(several.ranges) == threads
        np.testing.assert_array_equal(several.margins(metric, points), one.margins(metric, points))
        for a, b, c in zip(several.pull(forces), again.pull(forces), pulled, strict=True):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_allclose(a, c, rtol=0, atol=1e-12)


def test_threads_share_whole_users_even_when_one_answers_nearly_everything(monkeypatch):
    monkeypatch.setattr(crowd_module, "_LEAST_WORK", 1)
    case = oracles.random_case(3, n_users=4, n_answers=60)
    user = np.where(np.arange(60) < 55, 2, np.arange(60) % 4)
    case = replace(case, user=user)
    one, several = crowd_of(case), crowd_of(case, threads=4)
    stops = [stop for _, _, stop in several.ranges]
    assert [start for _, start, _ in several.ranges] == [0, *stops[:-1]]
    assert stops[-1] == 60
    assert set(stops) <= set(several.starts.tolist())
    metric, points = parameters(one)
    np.testing.assert_array_equal(one.margins(metric, points), several.margins(metric, points))
    for a, b in zip(one.pull(np.ones(60)), several.pull(np.ones(60)), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


def test_few_answers_start_no_threads():
    assert len(crowd_of(oracles.random_case(0), threads=2).ranges) == 1


def test_single_precision_agrees_to_single_precision():
    case = oracles.random_case(5, dimension=4, n_answers=200)
    double, single = crowd_of(case), crowd_of(case, dtype=np.float32)
    assert single.features.dtype == np.float32
    metric, points = parameters(double)
    np.testing.assert_allclose(
        single.margins(metric, points), double.margins(metric, points), rtol=1e-4, atol=1e-4
    )
    forces = np.ones(len(case.sign))
    for a, b in zip(single.pull(forces), double.pull(forces), strict=True):
        assert a.dtype == np.float64
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_the_exact_crowd_is_in_double_precision():
    case = oracles.random_case(5)
    double, single = crowd_of(case), crowd_of(case, dtype=np.float32)
    assert double.exact is double
    assert single.exact.features.dtype == np.float64
    metric, points = parameters(double)
    np.testing.assert_array_equal(
        single.exact.margins(metric, points), double.margins(metric, points)
    )


def test_item_sizes_and_their_adjoint():
    case = oracles.random_case(6, dimension=3)
    crowd = crowd_of(case, single=True)
    metric, _ = parameters(crowd)
    sizes = crowd.sizes(metric)
    for b, i in itertools.product(range(case.n_users), range(len(case.features))):
        x = case.features[i]
        assert sizes[b, i] == pytest.approx(x @ metric[b] @ x)
    of_item = np.random.default_rng(0).normal(size=sizes.shape)
    assert np.vdot(of_item, sizes) == pytest.approx(np.vdot(crowd.pull_metric(of_item), metric))


def test_the_order_of_the_answers_does_not_matter():
    case = oracles.random_case(7)
    shuffled = case.rows(np.random.default_rng(0).permutation(len(case.sign)))
    one, other = crowd_of(case), crowd_of(shuffled)
    metric, points = parameters(one)
    risks = [c.mean(Logistic().value(c.margins(metric, points))) for c in (one, other)]
    np.testing.assert_allclose(risks[0], risks[1], rtol=1e-13)
    assert isinstance(one, Crowd)
