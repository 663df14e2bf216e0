"""The solver against a general one, on every region and loss, and what it promises besides."""

import io
import warnings
from dataclasses import replace

import numpy as np
import pytest

import oracles
from crowdmetric import crowd as crowd_module
from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.comparisons import Comparisons
from crowdmetric.errors import DataError, SettingError
from crowdmetric.losses import Hinge, Logistic, Probit, SmoothedHinge, SquaredHinge
from crowdmetric.problem import Problem
from crowdmetric.regions import (
    FixedMetric,
    FrobeniusMetric,
    NuclearFull,
    NuclearMetric,
    NuclearSplit,
    PSDOnly,
)
from crowdmetric.solver import Path, Progress, ProgressLine, batches, curvature, solve

CASE = oracles.CASES["plane"]
LOGISTIC = Logistic(2.0)
EVERY_LOSS = pytest.mark.parametrize("loss", oracles.LOSSES, ids=oracles.by_name)
EVERY_REGION = pytest.mark.parametrize("region", oracles.regions(2), ids=oracles.by_name)
SMOOTH_AND_KINKED = pytest.mark.parametrize("loss", [LOGISTIC, Hinge()], ids=oracles.by_name)


def same_risk(first, second, tol):
    """Assert that two solutions are equally good, as their certificates must make them."""
    assert first.certificate.converged
    assert second.certificate.converged
    assert first.certificate.risk == pytest.approx(second.certificate.risk, abs=tol)


def same_point(first, second, **tolerance):
    """Assert that two solutions are the same point."""
    np.testing.assert_allclose(first.metric, second.metric, **tolerance)
    np.testing.assert_allclose(first.points, second.points, **tolerance)


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


@pytest.mark.parametrize("seed", range(20, 26))
@SMOOTH_AND_KINKED
def test_random_crowds_of_other_shapes(seed, loss):
    rng = np.random.default_rng(seed)
    case = oracles.random_case(
        seed,
        dimension=int(rng.integers(1, 4)),
        n_users=int(rng.integers(1, 5)),
        n_items=int(rng.integers(4, 9)),
        n_answers=int(rng.integers(3, 40)),
        noise=float(rng.choice([0.0, 0.2])),
    )
    for region in (NuclearFull(2.5), FrobeniusMetric(1.5, 2.0)):
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


def test_single_fits_take_a_margin_bound():
    region = NuclearFull(2.0, margin_bound=0.5)
    solution = solve(CASE.problem(region, LOGISTIC, single=True), tol=5e-7)
    for k in range(3):
        own = CASE.of_user(k)
        risk = oracles.risk(own, LOGISTIC, solution.metric[k], solution.points[[k]])
        assert risk == pytest.approx(oracles.reference_risk(own, region, LOGISTIC), abs=1e-6)


@pytest.mark.parametrize("loss", [LOGISTIC, Hinge(), SmoothedHinge()], ids=oracles.by_name)
@pytest.mark.parametrize("region", [NuclearFull(1.2), FrobeniusMetric(0.5, 0.7)], ids=repr)
@pytest.mark.parametrize("single", [False, True])
def test_users_without_answers_change_nothing(single, region, loss):
    silent = replace(CASE, user=2 * CASE.user + 1, n_users=7)
    few, many = (solve(c.problem(region, loss, single), tol=5e-7) for c in (CASE, silent))
    same_risk(few, many, 1e-6)
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
        same_risk(whole, cut, 1e-7)
        same_risk(whole, again, 1e-7)
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
    same_risk(first, second, 2e-7)


@pytest.mark.parametrize("region", [NuclearFull(1.2), FrobeniusMetric(0.5, 0.7)], ids=repr)
@EVERY_LOSS
@pytest.mark.parametrize("single", [False, True])
def test_answers_of_no_weight_are_as_good_as_none(single, region, loss):
    idle = np.random.default_rng(0).random(len(CASE.sign)) < 0.3
    marked = replace(CASE, weight=np.where(idle, 0.0, CASE.weight))
    few, all_ = (
        solve(c.problem(region, loss, single), tol=1e-7) for c in (CASE.rows(~idle), marked)
    )
    same_risk(few, all_, 2e-7)


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


# Starts, paths, endings


@EVERY_REGION
@SMOOTH_AND_KINKED
def test_a_warm_start_ends_where_a_cold_one_does(region, loss):
    if isinstance(region, PSDOnly):
        loss = SquaredHinge()
    problem = CASE.problem(region, loss)
    cold = solve(problem, tol=1e-7)
    warm = solve(problem, tol=1e-7, start=cold)
    same_risk(cold, warm, 2e-7)
    if not isinstance(loss, Hinge):
        assert warm.certificate.iterations <= max(cold.certificate.iterations, 20)


@pytest.mark.parametrize("single", [False, True])
@SMOOTH_AND_KINKED
def test_a_path_over_radii_equals_cold_solutions(single, loss):
    for kind in (NuclearFull, lambda r: NuclearSplit(r, 2 * r), lambda r: NuclearMetric(r, r)):
        problem = CASE.problem(kind(1.0), loss, single)
        path = Path(problem, tol=2e-7)
        for radius in (0.2, 0.4, 0.8, 1.6):
            on_path = path.solve(kind(radius))
            cold = solve(replace(problem, region=kind(radius)), tol=2e-7)
            same_risk(on_path, cold, 1e-6)


@SMOOTH_AND_KINKED
def test_a_callback_stops_the_solver(loss):
    seen = []

    def enough(progress: Progress) -> bool:
        seen.append(progress)
        return len(seen) == 2

    problem = CASE.problem(NuclearFull(1.2), loss)
    with pytest.warns(NotConvergedWarning, match=r"the solver ended \(stopped\)"):
        solution = solve(problem, tol=1e-13, callback=enough)
    assert solution.certificate.status == "stopped"
    assert not solution.certificate.converged
    assert len(seen) == 2
    assert seen[-1].iteration == solution.certificate.iterations
    assert seen[-1].risk == pytest.approx(solution.certificate.risk)
    assert seen[-1].gap == pytest.approx(solution.certificate.gap)
    assert seen[0].seconds <= seen[1].seconds


@EVERY_REGION
def test_a_limit_of_iterations_is_said_and_certified(region):
    loss = SmoothedHinge(0.4)
    with pytest.warns(NotConvergedWarning, match="after 2 iterations with a certified gap of"):
        solution = solve(CASE.problem(region, loss), tol=1e-12, max_iterations=2)
    certificate = solution.certificate
    assert certificate.status == "iteration-limit"
    assert certificate.iterations == 2
    assert not certificate.converged
    assert oracles.violation(region, solution.metric, solution.points) <= 1e-9
    assert certificate.lower_bound <= oracles.reference_risk(CASE, region, loss) + 1e-8


@pytest.mark.parametrize("loss", [LOGISTIC, Probit()], ids=oracles.by_name)
@pytest.mark.parametrize("single", [False, True])
def test_answers_that_can_be_explained_perfectly_are_recognised(loss, single):
    case = oracles.random_case(5, noise=0.0)
    with pytest.warns(NotConvergedWarning, match="the answers can be explained perfectly"):
        solution = solve(case.problem(PSDOnly(), loss, single))
    assert solution.certificate.status == "separable"
    assert not solution.certificate.converged
    assert np.isfinite(solution.metric).all()


def test_one_user_who_can_be_explained_perfectly_is_enough():
    one = oracles.random_case(5, n_users=1, n_answers=8, noise=0.0)
    first = CASE.rows(CASE.user != 0)
    apart = one.features[one.left] - one.features[one.right]
    sign = np.where(apart @ np.ones(2) > 0, 1.0, -1.0)
    mixed = replace(
        first,
        features=one.features,
        user=np.concatenate([first.user, one.user]),
        left=np.concatenate([first.left, one.left]),
        right=np.concatenate([first.right, one.right]),
        sign=np.concatenate([first.sign, sign]),
        weight=np.concatenate([first.weight, one.weight]),
    )
    with pytest.warns(NotConvergedWarning, match="the answers can be explained perfectly"):
        solution = solve(mixed.problem(PSDOnly(), LOGISTIC))
    assert solution.certificate.status == "separable"


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), SmoothedHinge()], ids=oracles.by_name)
def test_a_perfect_explanation_is_a_minimum_of_the_hinges(loss):
    case = oracles.random_case(5, noise=0.0)
    solution = solve(case.problem(PSDOnly(), loss), tol=1e-3)
    assert solution.certificate.converged
    assert solution.certificate.risk == pytest.approx(0.0, abs=1e-3)


# Repeatable, in threads, in single precision, and with operators only


@EVERY_REGION
@SMOOTH_AND_KINKED
def test_the_same_settings_give_the_same_bits(region, loss):
    if isinstance(region, PSDOnly):
        loss = SquaredHinge()
    problem = CASE.problem(region, loss)
    first, second = solve(problem), solve(problem)
    np.testing.assert_array_equal(first.metric, second.metric)
    np.testing.assert_array_equal(first.points, second.points)
    assert first.certificate.risk == second.certificate.risk
    assert first.certificate.lower_bound == second.certificate.lower_bound


@pytest.mark.parametrize("region", [NuclearFull(1.2), FrobeniusMetric(0.5, 0.7)], ids=repr)
@SMOOTH_AND_KINKED
def test_two_threads_agree_with_one_and_with_themselves(region, loss, monkeypatch):
    monkeypatch.setattr(crowd_module, "_LEAST_WORK", 5)
    problem = CASE.problem(region, loss)
    one, two, again = (solve(problem, tol=1e-8, threads=t) for t in (1, 2, 2))
    np.testing.assert_array_equal(two.metric, again.metric)
    np.testing.assert_array_equal(two.points, again.points)
    same_risk(one, two, 2e-8)


@EVERY_REGION
@pytest.mark.parametrize("loss", [LOGISTIC, SmoothedHinge()], ids=oracles.by_name)
def test_single_precision_is_certified_in_double(region, loss):
    problem = CASE.problem(region, loss)
    double = solve(problem, tol=1e-5)
    single = solve(problem, tol=1e-4, dtype=np.float32)
    assert single.metric.dtype == np.float64
    assert single.certificate.risk == pytest.approx(double.certificate.risk, abs=2e-4)
    assert oracles.violation(region, single.metric, single.points) <= 1e-9
    risk = oracles.risk(CASE, loss, single.metric, single.points)
    assert single.certificate.risk == pytest.approx(risk, rel=1e-12)


@pytest.mark.parametrize("margin_bound", [None, 1.0])
@pytest.mark.parametrize("kind", range(6), ids=[r.name for r in oracles.regions(2)])
@pytest.mark.parametrize("loss", [LOGISTIC, SmoothedHinge()], ids=oracles.by_name)
@pytest.mark.parametrize("single", [False, True])
def test_operators_alone_do_as_well_as_a_factorisation(
    kind, loss, margin_bound, single, monkeypatch
):
    region = oracles.regions(2, margin_bound)[kind]
    if isinstance(region, PSDOnly) and single:
        loss = SquaredHinge()
    problem = CASE.problem(region, loss, single)
    arrow = solve(problem, tol=5e-7)
    monkeypatch.setattr(curvature, "_MOST_WORK", 0)
    krylov = solve(problem, tol=5e-7)
    same_risk(arrow, krylov, 1e-6)


# Settings and parts that do not fit


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"tol": 0.0}, "the tolerance must be positive"),
        ({"tol": np.nan}, "the tolerance must be positive"),
        ({"max_iterations": 0}, "max_iterations must be at least 1"),
        ({"threads": 0}, "threads must be at least 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, complaint):
    problem = CASE.problem(NuclearFull(1.0), LOGISTIC)
    with pytest.raises(SettingError, match=complaint):
        solve(problem, **settings)
    with pytest.raises(SettingError, match=complaint):
        Path(problem, **settings)


def test_parts_that_do_not_fit_are_refused():
    answers = CASE.problem(NuclearFull(1.0), LOGISTIC).answers
    with pytest.raises(DataError, match="about 7 items, but there are 3 rows"):
        Problem(answers, np.eye(3), LOGISTIC, NuclearFull(1.0))
    with pytest.raises(SettingError, match="the fixed metric is for 3 features"):
        Problem(answers, CASE.features, LOGISTIC, FixedMetric(np.eye(3), 1.0))
    with pytest.raises(SettingError, match="only for single=True"):
        Problem(answers, CASE.features, LOGISTIC, NuclearFull((1.0, 2.0, 3.0)))
    with pytest.raises(SettingError, match="2 radii for 3 users"):
        Problem(answers, CASE.features, LOGISTIC, NuclearFull((1.0, 2.0)), single=True)


def test_a_margin_bound_that_nothing_can_respect_is_refused():
    region = FixedMetric(np.eye(2), 0.01, margin_bound=0.01)
    with pytest.raises(SettingError, match=r"too small for the fixed metric: give more than"):
        solve(CASE.problem(region, LOGISTIC))


# Progress


def test_the_progress_line_says_how_long_it_will_take():
    stream = io.StringIO()
    line = ProgressLine(stream, interval=0.0)
    line(Progress(10, 0.5, 1e-2, 1e-6, 1.0))
    line(Progress(20, 0.5, 1e-4, 1e-6, 2.0))
    line(Progress(30, 0.5, 2e-2, 1e-6, 3.0))
    line.close()
    first, second = stream.getvalue().splitlines()
    assert first == "iteration 20, risk 0.5, gap 1.0e-04 of 1.0e-06, about 1 s left"
    assert second == "iteration 30, risk 0.5, gap 2.0e-02 of 1.0e-06"


def test_quick_work_leaves_no_line():
    stream = io.StringIO()
    line = ProgressLine(stream)
    solve(CASE.problem(NuclearFull(1.2), LOGISTIC), callback=line)
    line.close()
    assert stream.getvalue() == ""
