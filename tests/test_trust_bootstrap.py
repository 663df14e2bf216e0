"""The bootstrap's parts against independent computations, and its intervals against the truth."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import binomtest

from crowdmetric import CrowdMetric, losses, regions, simulate
from crowdmetric.bench.coverage import Regime, measure
from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.comparisons import Comparisons
from crowdmetric.crowd import Crowd
from crowdmetric.errors import DataError, SettingError
from crowdmetric.problem import Problem
from crowdmetric.solver import Path, solve
from crowdmetric.trust import bootstrap
from crowdmetric.trust.bootstrap_debias import debiased, determined_users
from crowdmetric.trust.bootstrap_example import example
from crowdmetric.trust.bootstrap_intervals import interval, share_interval
from crowdmetric.trust.bootstrap_task import Task
from crowdmetric.trust.bootstrap_uncertainty import best_within


def small(**settings):
    sizes = {"n_items": 15, "dimension": 2, "n_users": 3, "pairs_per_user": 40, "noise": 3.0}
    return simulate(**(sizes | settings))


def fitted(crowd, region=None, loss=None, **settings):
    region = regions.NuclearFull(8.0) if region is None else region
    return CrowdMetric(crowd.items, region, loss, **settings).fit(crowd.comparisons).model_


def task_of(crowd, over="answers", seed=0):
    answers = crowd.comparisons.answers()
    problem = Problem(answers, crowd.items.features, losses.Logistic(), regions.NuclearFull(8.0))
    return Task(problem, crowd.comparisons.user, np.arange(len(answers)), over, seed)


@pytest.mark.parametrize(
    ("region", "loss"),
    [
        (regions.NuclearFull(4.0), losses.Logistic()),
        (regions.FrobeniusMetric(2.0, 3.0), losses.Probit()),
        (regions.NuclearSplit(2.0, 3.0), losses.Logistic()),
        (regions.NuclearFull(4.0), losses.Hinge()),
        (regions.FixedMetric(np.eye(2), 3.0), losses.Logistic()),
    ],
    ids=lambda part: part.name,
)
def test_refits_side_by_side_are_fits_of_the_repeated_answers(region, loss):
    crowd = small()
    task = task_of(crowd)
    counts = np.array([task.counts(number) for number in range(3)])
    answers = crowd.comparisons.answers()
    path = Path(Problem(answers, crowd.items.features, loss, region), tol=1e-7)
    path.solve(region)
    found = path.resample(region, counts.astype(float))
    for number, times in enumerate(counts):
        rows = np.repeat(np.arange(len(times)), times)
        again = crowd.comparisons.subset(rows).answers()
        problem = Problem(again, crowd.items.features, loss, region)
        alone = solve(problem, tol=1e-7)
        all_of_it = problem.crowd()
        margins = all_of_it.margins(found.metric[[number]], found.points[[number]])
        risk = float(all_of_it.share @ loss.value(margins))
        assert found.gap[number] <= 1e-7
        assert abs(risk - alone.certificate.risk) <= 2e-7
        violation = region.violation(found.metric[[number]], found.points[[number]])
        assert np.max(violation) <= 1e-9


def test_a_path_resamples_only_what_it_has_solved():
    crowd = small()
    problem = task_of(crowd).problem
    with pytest.raises(SettingError, match="what it has solved"):
        Path(problem).resample(problem.region, np.ones((1, len(problem.answers))))


@pytest.mark.parametrize("frozen", [False, True])
def test_the_steps_are_newtons(frozen):
    crowd, loss = small(), losses.Logistic(2.0)
    x = crowd.items.features
    answers = crowd.comparisons.answers()
    rng = np.random.default_rng(0)
    metric, points = np.eye(2), rng.standard_normal((3, 2))
    # Dense: unknowns are M11, M12, M22 and the points, one row of derivatives per answer.
    i, j, k = answers.left, answers.right, answers.user
    squares = np.column_stack([x[:, 0] ** 2, 2 * x[:, 0] * x[:, 1], x[:, 1] ** 2])
    rows = np.zeros((len(answers), 9))
    rows[:, :3] = 0.0 if frozen else squares[i] - squares[j]
    for user in range(3):
        rows[k == user, 3 + 2 * user : 5 + 2 * user] = (x[i] - x[j])[k == user]
    vector = np.concatenate([[1.0, 0.0, 1.0], points.ravel()])
    fixed = (squares[i] - squares[j]) @ vector[:3] if frozen else 0.0
    for _ in range(2):
        right = expit(2.0 * (rows @ vector + fixed))
        gradient = rows.T @ (2.0 * (right - (answers.sign > 0)))
        curvature = rows.T @ (4.0 * (right * (1 - right))[:, None] * rows)
        vector = vector - np.linalg.lstsq(curvature, gradient, rcond=1e-12)[0]
    sorted_ = Crowd.of(answers, x)
    found, moved = debiased(sorted_, loss, metric[None], points[None], frozen=frozen)
    assert found[0][np.triu_indices(2)] == pytest.approx(vector[:3], abs=1e-6)
    assert moved[0].ravel() == pytest.approx(vector[3:], abs=1e-6)


def test_a_loss_with_corners_has_no_step():
    crowd = Crowd.of(small().comparisons.answers(), small().items.features)
    metric, points = np.eye(2)[None], np.ones((1, 3, 2))
    found = debiased(crowd, losses.Hinge(), metric, points)
    assert found[0] is metric
    assert found[1] is points


@pytest.mark.parametrize("over", ["answers", "people"])
def test_draws_are_of_each_persons_answers_or_of_whole_people(over):
    crowd = small(n_users=5)
    task = task_of(crowd, over)
    by_user = [np.bincount(crowd.comparisons.user, task.counts(n), 5) for n in range(30)]
    assert (np.sum(by_user, axis=1) == 200).all()
    if over == "answers":
        assert (np.array(by_user) == 40).all()
        assert np.mean(task.counts(0) == 0) == pytest.approx(np.exp(-1), abs=0.08)
    else:
        assert all(len(set(task.counts(n)[:40])) == 1 for n in range(30))
        assert np.std(by_user) > 0
    assert (task.counts(3) == task_of(crowd, over).counts(3)).all()
    assert (task.counts(3) != task.counts(4)).any()
    assert task.fingerprint != task_of(crowd, over, seed=1).fingerprint


def test_both_halves_of_a_tie_stay_together():
    triples = [[0, 0, 1], [0, 1, 2], [0, 2, 3]] * 8
    comparisons = Comparisons.from_arrays(triples, [1, 0, -1] * 8)
    answers = comparisons.answers()
    problem = Problem(answers, np.eye(4), losses.Logistic(), regions.NuclearFull(1.0))
    row = np.repeat(np.arange(24), np.where(comparisons.response == 0, 2, 1))
    weights = Task(problem, comparisons.user, row, "answers", 0).weights(0)
    halves = weights[np.isin(row, np.flatnonzero(comparisons.response == 0))]
    assert (halves[::2] == halves[1::2]).all()
    assert set(halves * 2 % 1) == {0.0}


@pytest.mark.parametrize("ties", ["half", "drop"])
def test_the_answers_are_read_as_the_model_was_fitted(ties):
    crowd = small()
    response = np.where(np.arange(120) % 10 == 9, 0, crowd.comparisons.response)
    triples = np.column_stack(
        [crowd.comparisons.user, crowd.comparisons.left, crowd.comparisons.right]
    )
    answers = Comparisons.from_arrays(
        triples, response, users=crowd.comparisons.users, item_ids=crowd.items.ids
    )
    region = regions.NuclearFull(8.0)
    model = CrowdMetric(crowd.items, region, ties=ties).fit(answers).model_
    found = bootstrap(model, answers, 20)
    assert found.answers == (132 if ties == "half" else 108)


@given(st.integers(0, 200), st.integers(1, 200), st.floats(0.5, 0.99))
def test_shares_of_answers_have_wilsons_interval(hits, more, level):
    count = hits + more
    expected = binomtest(hits, count).proportion_ci(level, method="wilson")
    share = np.array(hits / count)
    found = share_interval(share, np.array(float(count)), share, level)
    assert found.low == pytest.approx(expected.low, abs=1e-9)
    assert found.high == pytest.approx(expected.high, abs=1e-9)


@given(st.lists(st.floats(-5, 5), min_size=20, max_size=60), st.floats(-3, 3))
def test_intervals_are_in_order_and_within_bounds(errors, free):
    fit = np.array(0.5)
    found = interval(fit, np.array(free), np.array(errors), 0.9, least=-1.0, most=1.0)
    assert -1.0 <= found.low <= found.estimate <= found.high <= 1.0


def test_linear_quantities_have_an_exact_interval():
    rng = np.random.default_rng(0)
    errors = rng.standard_normal(9999) + 0.3
    found = interval(np.array(0.0), np.array(2.0), errors, 0.9)
    assert found.estimate == pytest.approx(1.7, abs=0.05)
    assert found.high - found.low == pytest.approx(2 * 1.645, abs=0.1)


def test_everything_has_an_interval():
    found = example()
    model = found.model
    assert found.metric.low.shape == (2, 2)
    assert (found.eigenvalues.low >= 0).all()
    assert (np.diff(found.eigenvalues.high) <= 0).all()
    assert ((found.features.low >= 0) & (found.features.high <= 1)).all()
    assert found.ideal_points.low.shape == found.model.points.shape
    assert (found.scores.low < found.scores.high).all()
    assert found.top(3).sum(axis=1) == pytest.approx(3.0)
    assert found.user_accuracy.low.shape == (3,)
    assert found.scores.fit == pytest.approx(model.scores())
    inside = found.directions
    assert found.ideal_points.fit @ inside @ inside.T == pytest.approx(found.ideal_points.fit)


def test_ideal_points_are_those_on_the_range_of_the_metric():
    rng = np.random.default_rng(1)
    basis = np.linalg.qr(rng.standard_normal((4, 2))).Q
    metric = basis @ np.diag([3.0, 1.0]) @ basis.T
    ideal = rng.standard_normal((5, 4))
    found = best_within(basis, metric, -2 * ideal @ metric)
    assert found == pytest.approx(ideal @ basis @ basis.T)


def test_processes_and_folders_change_nothing(tmp_path):
    crowd = small()
    model = fitted(crowd)
    here = bootstrap(model, crowd.comparisons, 40)
    told = []
    there = bootstrap(
        model, crowd.comparisons, 40, workers=2, folder=tmp_path, progress=lambda *n: told.append(n)
    )
    assert there.metric.low == pytest.approx(here.metric.low, abs=1e-3)
    assert told[-1] == (40, 40)
    files = {path: path.stat().st_mtime_ns for path in tmp_path.glob("answers/*")}
    assert len(files) == 2
    again = bootstrap(model, crowd.comparisons, 40, workers=2, folder=tmp_path)
    assert (again.metric.low == there.metric.low).all()
    assert files == {path: path.stat().st_mtime_ns for path in tmp_path.glob("answers/*")}


def test_over_people_the_spread_is_theirs_and_the_bias_that_of_answers():
    crowd = small()
    model = fitted(crowd)
    found = bootstrap(model, crowd.comparisons, 21, over="people")
    answers = bootstrap(model, crowd.comparisons, 21)
    assert found.metric.estimate == pytest.approx(answers.metric.estimate)
    assert found.metric.low != pytest.approx(answers.metric.low)
    assert (found.scores.low == answers.scores.low).all()
    assert found.accuracy.low == answers.accuracy.low
    assert any("too few to say how people differ" in note for note in found.notes)


def test_a_fixed_metric_stays():
    crowd = small()
    model = fitted(crowd, regions.FixedMetric(crowd.metric, 20.0))
    found = bootstrap(model, crowd.comparisons, 20)
    assert found.metric.low == pytest.approx(crowd.metric)
    assert found.metric.high == pytest.approx(crowd.metric)
    assert (found.scores.low < found.scores.high).all()


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.SquaredHinge()], ids=lambda x: x.name)
def test_losses_whose_bias_stays_in_are_named(loss):
    crowd = small()
    found = bootstrap(fitted(crowd, loss=loss), crowd.comparisons, 20)
    assert any("how far refits scatter" in note for note in found.notes)


def test_who_gave_one_answer_has_no_interval():
    crowd = small()
    keep = [*np.flatnonzero(crowd.comparisons.user != 2).tolist(), 119]
    few = crowd.comparisons.subset(keep)
    model = CrowdMetric(crowd.items, regions.NuclearFull(8.0)).fit(few).model_
    found = bootstrap(model, few, 20)
    assert determined_users(Crowd.of(few.answers(), crowd.items.features)).tolist() == [
        True, True, False,
    ]  # fmt: skip
    assert np.isinf(found.scores.low[2]).all()
    assert np.isfinite(found.scores.low[:2]).all()
    assert any("no interval" in note for note in found.notes)


def test_one_user_and_separable_answers_have_results():
    crowd = small(n_users=1, pairs_per_user=12, noise=1e6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        found = bootstrap(fitted(crowd), crowd.comparisons, 20)
    assert np.isfinite(found.metric.low).all()


def test_what_cannot_be_resampled_is_refused():
    crowd = small()
    model = fitted(crowd)
    with pytest.raises(DataError, match="not the answers that it was fitted to"):
        bootstrap(model, crowd.test, 20)
    with pytest.raises(SettingError, match="at least 20"):
        bootstrap(model, crowd.comparisons, 3)
    with pytest.raises(SettingError, match="did you mean 'people'"):
        bootstrap(model, crowd.comparisons, over="poeple")
    with pytest.raises(SettingError, match="between 0 and 1"):
        bootstrap(model, crowd.comparisons, level=90)
    with pytest.raises(SettingError, match="metric of their own"):
        bootstrap(fitted(crowd, single=True), crowd.comparisons, 20)


def test_intervals_hold_the_truth_as_often_as_they_say():
    """A small version of `crowdmetric bench coverage`; bounds leave room for so few crowds."""
    rows = measure(Regime("tiny", 2, 1, 4, 20, 80, resamples=50), crowds=12)
    coverage = {row["quantity"]: row["coverage"] for row in rows if "coverage" in row}
    assert set(coverage) == {
        "metric", "eigenvalues", "eigenvalues of 0", "features", "scores", "accuracy",
        "accuracy of a user", "ideal points",
    }  # fmt: skip
    assert 0.85 <= coverage["scores"] <= 0.95
    assert 0.85 <= coverage["accuracy of a user"] <= 0.97
    assert all(share >= 0.75 for share in coverage.values())
    assert 0.85 <= np.mean(list(coverage.values())) <= 0.97
    assert rows[-1]["calibration_error"] < 0.03
