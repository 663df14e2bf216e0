"""The solver against a general one, on every region and loss, and what it promises besides."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import oracles
from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.comparisons import Comparisons
from crowdmetric.losses import Hinge, Logistic, Probit, SmoothedHinge, SquaredHinge
from crowdmetric.problem import Problem
from crowdmetric.regions import (
    FixedMetric,
    FrobeniusMetric,
    NuclearFull,
    NuclearSplit,
    PSDOnly,
)
from crowdmetric.solver import batches, solve

CASE = oracles.CASES["plane"]
LOGISTIC = Logistic(2.0)
EVERY_LOSS = pytest.mark.parametrize("loss", oracles.LOSSES, ids=oracles.by_name)
EVERY_REGION = pytest.mark.parametrize("region", oracles.regions(2), ids=oracles.by_name)
SMOOTH_AND_KINKED = pytest.mark.parametrize("loss", [LOGISTIC, Hinge()], ids=oracles.by_name)


# Against a general solver


@pytest.mark.parametrize("margin_bound", [None, 1.0])
@pytest.mark.parametrize("kind", range(6), ids=[r.name for r in oracles.regions(2)])
@EVERY_LOSS
@pytest.mark.parametrize("name", oracles.CASES)
def test_the_risk_is_the_least_one(name, kind, loss, margin_bound):
    case = oracles.CASES[name]
    region = oracles.regions(case.features.shape[1], margin_bound)[kind]
    optimum = oracles.reference_risk(case, region, loss)
    solution = solve(case.problem(region, loss), tol=5e-7)
    risk = oracles.risk(case, loss, solution.metric, solution.points)
    assert risk == pytest.approx(optimum, abs=1e-6)
    assert solution.certificate.risk == pytest.approx(risk, rel=1e-12)
    assert solution.certificate.lower_bound <= optimum + 1e-7
    assert oracles.violation(region, solution.metric, solution.points) <= 1e-9
    if margin_bound is not None:
        spread = np.ptp(case.scores(solution.metric, solution.points), axis=1)
        assert spread.max() <= margin_bound * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(20, 23))
@pytest.mark.parametrize("kind", range(6), ids=[r.name for r in oracles.regions(2)])
@EVERY_LOSS
def test_random_crowds_of_other_shapes(seed, loss, kind):
    rng = np.random.default_rng(seed)
    case = oracles.random_case(
        seed,
        dimension=int(rng.integers(1, 4)),
        n_users=int(rng.integers(1, 5)),
        n_items=int(rng.integers(4, 9)),
        n_answers=int(rng.integers(3, 40)),
        noise=float(rng.choice([0.0, 0.2])),
    )
    region = oracles.regions(case.features.shape[1])[kind]
    if isinstance(region, PSDOnly):
        region = PSDOnly(margin_bound=2.0)  # few answers are easily explained perfectly
    optimum = oracles.reference_risk(case, region, loss)
    solution = solve(case.problem(region, loss), tol=5e-7)
    assert solution.certificate.risk == pytest.approx(optimum, abs=1e-6)
    assert oracles.violation(region, solution.metric, solution.points) <= 1e-9


@pytest.mark.parametrize(
    "loss", [Logistic(20.0), Probit(5.0), SquaredHinge(), SmoothedHinge(0.05)], ids=repr
)
@pytest.mark.parametrize(
    "region",
    [FrobeniusMetric(10.0, 10.0), NuclearFull(30.0), NuclearSplit(5.0, 9.0), PSDOnly()],
    ids=oracles.by_name,
)
def test_sharp_losses_and_generous_radii(region, loss):
    # Margins reach the flat part of the loss, where a plain Newton step goes too far.
    case = oracles.random_case(4, dimension=3, n_items=8, n_answers=60)
    solution = solve(case.problem(region, loss), tol=5e-7)
    assert solution.certificate.risk == pytest.approx(
        oracles.reference_risk(case, region, loss), abs=1e-6
    )


def test_steps_between_flat_parts_of_a_loss_do_not_grow_for_ever():
    case = oracles.random_case(3, dimension=3, n_items=8, n_answers=48)
    region, loss = FixedMetric(np.diag([0.5, 0.3, 0.1]), 1.0), Logistic(20.0)
    assert solve(case.problem(region, loss), tol=1e-5).certificate.converged
    # Nearly separable: a long way to go, but the way must lead down.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        solution = solve(case.problem(PSDOnly(), LOGISTIC), tol=1e-5, max_iterations=1000)
    optimum = oracles.reference_risk(case, PSDOnly(), LOGISTIC)
    assert optimum - 1e-6 <= solution.certificate.risk <= optimum + 1e-3


@pytest.mark.parametrize("scale", [1e-3, 1e3])
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("kind", range(6), ids=[r.name for r in oracles.regions(2)])
@EVERY_LOSS
def test_any_unit_of_the_features_is_survived(kind, loss, single, scale):
    # Hopeless units may need many iterations; they must never end in an error or outside.
    case = replace(CASE, features=scale * CASE.features)
    region = oracles.regions(2)[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        solution = solve(case.problem(region, loss, single), tol=1e-4, max_iterations=60)
    assert np.isfinite(solution.metric).all()
    assert np.isfinite(solution.certificate.gap)
    metrics = solution.metric if single else solution.metric[None]
    rows = solution.points[:, None] if single else solution.points[None]
    for metric, points in zip(metrics, rows, strict=True):
        assert oracles.violation(region, metric, points) <= 1e-9 * (1 + np.abs(metric).max())


# One metric per user


@EVERY_REGION
@SMOOTH_AND_KINKED
def test_single_fits_are_separate_fits(region, loss):
    if isinstance(region, PSDOnly):
        loss = SquaredHinge()  # a user alone is easily explained perfectly
    together = solve(CASE.problem(region, loss, single=True), tol=5e-7)
    assert together.metric.shape == (3, 2, 2)
    assert together.points.shape == (3, 2)
    for k in range(3):
        own = CASE.of_user(k)
        alone = solve(own.problem(region, loss), tol=5e-7)
        risk = oracles.risk(own, loss, together.metric[k], together.points[[k]])
        assert risk == pytest.approx(alone.certificate.risk, abs=1e-6)
        assert oracles.violation(region, together.metric[k], together.points[[k]]) <= 1e-9


@pytest.mark.parametrize("loss", [LOGISTIC, Hinge(), SmoothedHinge()], ids=oracles.by_name)
def test_every_user_may_have_radii_of_their_own(loss):
    regions = (
        (NuclearFull((0.5, 1.5, 3.0)), [NuclearFull(r) for r in (0.5, 1.5, 3.0)]),
        (
            FrobeniusMetric((0.2, 0.5, 1.0), (0.4, 0.2, 2.0)),
            [FrobeniusMetric(a, b) for a, b in ((0.2, 0.4), (0.5, 0.2), (1.0, 2.0))],
        ),
        (
            FixedMetric(np.eye(2), (0.2, 0.5, 1.0)),
            [FixedMetric(np.eye(2), r) for r in (0.2, 0.5, 1)],
        ),
    )
    for region, alone in regions:
        solution = solve(CASE.problem(region, loss, single=True), tol=5e-7)
        for k in range(3):
            own = CASE.of_user(k)
            optimum = oracles.reference_risk(own, alone[k], loss)
            risk = oracles.risk(own, loss, solution.metric[k], solution.points[[k]])
            assert risk == pytest.approx(optimum, abs=1e-6)
            assert oracles.violation(alone[k], solution.metric[k], solution.points[[k]]) <= 1e-9


@pytest.mark.parametrize("region", oracles.regions(2, margin_bound=1.0), ids=oracles.by_name)
@SMOOTH_AND_KINKED
def test_single_fits_take_a_margin_bound(region, loss):
    solution = solve(CASE.problem(region, loss, single=True), tol=5e-7)
    for k in range(3):
        own = CASE.of_user(k)
        risk = oracles.risk(own, loss, solution.metric[k], solution.points[[k]])
        assert risk == pytest.approx(oracles.reference_risk(own, region, loss), abs=1e-6)
        assert np.ptp(own.scores(solution.metric[k], solution.points[[k]])) <= 1 + 1e-9


def test_a_margin_bound_makes_perfectly_explained_answers_a_problem_like_any_other():
    case, region = oracles.random_case(5, noise=0.0), PSDOnly(margin_bound=10.0)
    solution = solve(case.problem(region, LOGISTIC), tol=5e-7)
    optimum = oracles.reference_risk(case, region, LOGISTIC)
    assert solution.certificate.risk == pytest.approx(optimum, abs=1e-6)


@pytest.mark.parametrize("loss", [LOGISTIC, Hinge(), SmoothedHinge()], ids=oracles.by_name)
@pytest.mark.parametrize("region", [NuclearFull(1.2), FrobeniusMetric(0.5, 0.7)], ids=repr)
@pytest.mark.parametrize("single", [False, True])
def test_users_without_answers_change_nothing(single, region, loss):
    silent = replace(CASE, user=2 * CASE.user + 1, n_users=7)
    few, many = (solve(c.problem(region, loss, single), tol=5e-7) for c in (CASE, silent))
    oracles.same_risk(few, many, 1e-6)
    assert many.points.shape == (7, 2)
    assert np.isfinite(many.points).all()
    assert np.isfinite(many.metric).all()
    assert np.isfinite(many.certificate.gap)


def test_batches_of_users_give_what_all_at_once_give(monkeypatch):
    for region in (NuclearFull((0.5, 1.5, 3.0)), PSDOnly(margin_bound=1.0)):
        problem = CASE.problem(region, SquaredHinge(), single=True)
        whole = solve(problem, tol=1e-8)
        with monkeypatch.context() as patch:
            patch.setattr(batches, "_MOST_NUMBERS", 1.0)
            cut = solve(problem, tol=1e-8)
            again = solve(problem, tol=1e-8, start=whole)
        oracles.same_risk(whole, cut, 1e-7)
        oracles.same_risk(whole, again, 1e-7)
        np.testing.assert_allclose(whole.points, cut.points, atol=1e-2)


# Weights


@pytest.mark.parametrize("region", [NuclearFull(1.2), FrobeniusMetric(0.5, 0.7)], ids=repr)
@SMOOTH_AND_KINKED
def test_weights_are_repeated_answers(region, loss):
    times = np.random.default_rng(0).integers(1, 4, len(CASE.sign))
    weighted = replace(CASE, weight=times.astype(float))
    repeated = replace(CASE, weight=np.ones(len(CASE.sign))).rows(
        np.repeat(np.arange(len(CASE.sign)), times)
    )
    first, second = (solve(c.problem(region, loss), tol=1e-7) for c in (weighted, repeated))
    oracles.same_risk(first, second, 2e-7)


@pytest.mark.parametrize("region", [NuclearFull(1.2), FrobeniusMetric(0.5, 0.7)], ids=repr)
@EVERY_LOSS
@pytest.mark.parametrize("single", [False, True])
def test_answers_of_no_weight_are_as_good_as_none(single, region, loss):
    idle = np.random.default_rng(0).random(len(CASE.sign)) < 0.3
    marked = replace(CASE, weight=np.where(idle, 0.0, CASE.weight))
    few, all_ = (
        solve(c.problem(region, loss, single), tol=1e-7) for c in (CASE.rows(~idle), marked)
    )
    oracles.same_risk(few, all_, 2e-7)


def test_ties_count_half_each_way():
    table = np.column_stack([CASE.user, CASE.left, CASE.right])
    response = CASE.sign.copy()
    response[::5] = 0
    tied = Comparisons.from_arrays(table, response)
    rows = np.repeat(np.arange(len(response)), np.where(response == 0, 2, 1))
    sign, weight = response[rows].copy(), np.where(response[rows] == 0, 0.5, 1.0)
    sign[sign == 0] = np.tile([1.0, -1.0], int((response == 0).sum()))
    case = replace(CASE.rows(rows), sign=sign, weight=weight)
    region = NuclearFull(1.2)
    solution = solve(Problem(tied.answers(), CASE.features, LOGISTIC, region), tol=5e-7)
    optimum = oracles.reference_risk(case, region, LOGISTIC)
    assert solution.certificate.risk == pytest.approx(optimum, abs=1e-6)
