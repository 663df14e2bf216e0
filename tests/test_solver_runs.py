"""How the solver runs: starts, paths, endings, threads, precision, and refusing nonsense."""

import io
from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np
import pytest

import oracles
from crowdmetric import crowd as crowd_module
from crowdmetric.certificate import NotConvergedWarning
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
from crowdmetric.solver import Path, Progress, ProgressLine, curvature, solve
from crowdmetric.solver.gradient import ProjectedGradient
from crowdmetric.solver.interior import InteriorPoint

CASE = oracles.CASES["plane"]
LOGISTIC = Logistic(2.0)
EVERY_REGION = pytest.mark.parametrize("region", oracles.regions(2), ids=oracles.by_name)
SMOOTH_AND_KINKED = pytest.mark.parametrize("loss", [LOGISTIC, Hinge()], ids=oracles.by_name)


# Starts, paths, endings


@EVERY_REGION
@SMOOTH_AND_KINKED
def test_a_warm_start_ends_where_a_cold_one_does(region, loss):
    if isinstance(region, PSDOnly):
        loss = SquaredHinge()
    problem = CASE.problem(region, loss)
    cold = solve(problem, tol=1e-7)
    warm = solve(problem, tol=1e-7, start=cold)
    oracles.same_risk(cold, warm, 2e-7)
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
            oracles.same_risk(on_path, cold, 1e-6)


@SMOOTH_AND_KINKED
def test_a_callback_stops_the_solver(loss):
    seen = []

    def enough(progress: Progress) -> bool:
        seen.append(progress)
        return len(seen) == 2

    case = oracles.random_case(5, dimension=6, n_users=8, n_items=30, n_answers=400)
    with pytest.warns(NotConvergedWarning, match=r"the solver ended \(stopped\)"):
        solution = solve(case.problem(NuclearFull(3.0), loss), tol=1e-13, callback=enough)
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


def test_a_user_without_answers_is_not_a_perfect_explanation():
    case = oracles.random_case(3, n_users=2, n_answers=200)
    silent = replace(case, n_users=4)
    few, many = (solve(c.problem(PSDOnly(), LOGISTIC, single=True)) for c in (case, silent))
    assert many.certificate.converged
    oracles.same_risk(few, many, 1e-6)


def test_items_that_are_all_alike_leave_nothing_to_find():
    case = replace(CASE, features=np.ones_like(CASE.features))
    for region in oracles.regions(2):
        certificate = solve(case.problem(region, LOGISTIC)).certificate
        assert certificate.converged
        assert certificate.risk == pytest.approx(np.log(2))


@dataclass(frozen=True)
class WrongSlope(Logistic):
    """A loss with a mistake."""

    def slope(self, z):
        return super().slope(z) / 2


def test_a_wrong_slope_is_not_certified():
    problem = CASE.problem(NuclearFull(1.2), WrongSlope(2.0))
    with pytest.warns(NotConvergedWarning, match="more than the tolerance"):
        solution = solve(problem, max_iterations=100)
    honest = oracles.reference_risk(CASE, NuclearFull(1.2), LOGISTIC)
    assert solution.certificate.lower_bound <= honest


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
    oracles.same_risk(one, two, 2e-8)


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
@pytest.mark.parametrize("loss", [LOGISTIC, SmoothedHinge(), Hinge()], ids=oracles.by_name)
@pytest.mark.parametrize("single", [False, True])
def test_every_way_to_a_solution_ends_at_the_same_risk(
    kind, loss, margin_bound, single, monkeypatch
):
    region = oracles.regions(2, margin_bound)[kind]
    if isinstance(region, PSDOnly) and single:
        loss = SquaredHinge()
    problem = CASE.problem(region, loss, single)
    chosen = solve(problem, tol=5e-7)
    never = staticmethod(lambda *_: False)
    with monkeypatch.context() as patch:
        # As if the curvature were too large to factorise: projected gradients where they suit,
        # then operators alone.
        patch.setattr(curvature, "_MOST_WORK", 0)
        oracles.same_risk(chosen, solve(problem, tol=5e-7), 1e-6)
        patch.setattr(ProjectedGradient, "suits", never)
        oracles.same_risk(chosen, solve(problem, tol=5e-7), 1e-6)
    if InteriorPoint.knows(problem):
        monkeypatch.setattr(InteriorPoint, "suits", never)
        oracles.same_risk(chosen, solve(problem, tol=5e-7), 1e-6)


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


@SMOOTH_AND_KINKED
def test_starts_that_make_no_sense_are_refused(loss):
    problem = CASE.problem(NuclearFull(1.0), loss)
    found = solve(problem)
    with pytest.raises(SettingError, match=r"metric of shape \(2, 2\).* needs \(3, 2, 2\) and"):
        solve(replace(problem, single=True), start=found)
    with pytest.raises(SettingError, match="not finite; start from a solution"):
        solve(problem, start=replace(found, points=found.points * np.nan))


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


def test_a_margin_bound_that_only_just_can_be_respected_is_taken():
    rng = np.random.default_rng(0)
    case = replace(CASE, features=rng.normal(size=(40, 20)) / 5)
    v = cp.Variable(20)
    scores = np.einsum("nd,nd->n", case.features, case.features) + case.features @ v
    least = cp.Problem(cp.Minimize(cp.max(scores) - cp.min(scores)), [cp.norm(v) <= 0.2]).solve()
    region = FixedMetric(np.eye(20), 0.2, margin_bound=1.01 * least)
    solution = solve(case.problem(region, LOGISTIC), tol=1e-4)
    assert np.ptp(case.scores(solution.metric, solution.points), axis=1).max() <= 1.01 * least
    with pytest.raises(SettingError, match="too small for the fixed metric"):
        solve(case.problem(replace(region, margin_bound=0.99 * least), LOGISTIC))


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


def test_a_long_silence_before_the_first_step_is_explained():
    stream = io.StringIO()
    line = ProgressLine(stream, silence=0.01)
    line._preparing.join()
    line.close()
    assert stream.getvalue() == (
        "preparing (the first fit after an installation compiles its loops, once)\n"
    )


def test_quick_work_leaves_no_line():
    stream = io.StringIO()
    line = ProgressLine(stream)
    solve(CASE.problem(NuclearFull(1.2), LOGISTIC), callback=line)
    line.close()
    assert stream.getvalue() == ""
