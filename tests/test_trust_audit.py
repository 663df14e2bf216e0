"""Audits: who is predicted how well, and whether one metric will do."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp

import crowdmetric as cm
from crowdmetric.comparisons import Comparisons
from crowdmetric.errors import DataError, SettingError
from crowdmetric.losses import Hinge, Logistic, Probit
from crowdmetric.regions import FixedMetric, FrobeniusMetric, NuclearFull, NuclearSplit
from crowdmetric.trust import Groups, audit, audit_score, common_metric_test, read_groups
from crowdmetric.trust.audit_gain import gains
from crowdmetric.trust.audit_intervals import mean_interval, share_interval
from crowdmetric.trust.audit_refit import Settings, of_group, of_persons
from crowdmetric.trust.audit_rounds import LeftOut, Rounds
from crowdmetric.trust.audit_score import Directions, statistics
from crowdmetric.trust.audit_study import COLUMNS, TwoTowns, size_of
from crowdmetric.trust.audit_table import per_group, per_person
from crowdmetric.units import _save


def crowd(users=4, pairs=40, items=20, dimension=2, seed=0):
    return cm.simulate(items, dimension, 1, users, pairs, 4.0, seed)


def fitted(answers, items, region=None, loss=None, **more):
    where = NuclearFull(6.0) if region is None else region
    estimator = cm.CrowdMetric(items, where, loss or Logistic(4.0), tol=1e-5, **more)
    return estimator.fit(answers).model_


# Intervals


@given(st.integers(1, 60), st.integers(0, 60))
def test_a_share_of_one_persons_answers_has_wilsons_interval(count, right):
    right = min(right, count)
    values = np.repeat([1.0, 0.0], [right, count - right])
    found = share_interval(values, np.ones(count), np.zeros(count, dtype=int))
    true = binomtest(right, count).proportion_ci(0.95, "wilson")
    assert found == pytest.approx((right / count, true.low, true.high), abs=1e-12)


def test_a_mean_of_one_persons_answers_has_students_interval():
    values = np.random.default_rng(0).normal(size=12)
    found = mean_interval(values, np.ones(12), np.zeros(12, dtype=int))
    true = ttest_1samp(values, 0).confidence_interval(0.95)
    assert found == pytest.approx((values.mean(), true.low, true.high))


def test_among_persons_the_units_are_persons():
    rng = np.random.default_rng(1)
    values, person = rng.random(40), np.repeat(np.arange(8), 5)
    found = mean_interval(values, np.ones(40), person)
    of_person = values.reshape(8, 5).mean(axis=1)
    true = ttest_1samp(of_person, 0).confidence_interval(0.95)
    assert found == pytest.approx((of_person.mean(), true.low, true.high))


def test_intervals_of_groups_cover_what_they_should():
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(400):
        level = np.clip(0.7 + 0.1 * rng.standard_normal(10), 0, 1)
        person = np.repeat(np.arange(10), 20)
        values = (rng.random(200) < level[person]).astype(float)
        found = share_interval(values, np.ones(200), person)
        covered += found.low <= 0.7 <= found.high
    assert 0.92 <= covered / 400 <= 0.98


def test_one_answer_has_an_accuracy_with_ends_and_a_log_loss_without():
    values, weight, person = np.array([0.0]), np.ones(1), np.zeros(1, dtype=int)
    share = share_interval(values, weight, person)
    assert share.low == 0.0
    assert share.high == pytest.approx(0.7935, abs=1e-4)
    assert np.isnan(mean_interval(values, weight, person).low)


# Tables


def test_the_worst_come_first_and_of_equals_the_one_that_is_surer():
    user = np.repeat([0, 1, 2, 3], [4, 2, 8, 4])
    answers = Comparisons.from_arrays(
        np.column_stack([user, np.zeros(18, int), np.ones(18, int)]), np.ones(18), users="abcd"
    )
    correct = np.concatenate([[1, 1, 1, 1], [0, 1], [1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 0]])
    found = per_person(LeftOut(correct.astype(float), None), answers)
    assert [one.name for one in found] == ["c", "b", "d", "a"]
    assert [one.accuracy.value for one in found] == [0.5, 0.5, 0.75, 1.0]
    towns = per_group(Groups.of("town", "xyxy"), LeftOut(correct.astype(float), None), answers)
    assert [(one.name, one.people, one.answers) for one in towns] == [("x", 2, 12), ("y", 2, 6)]


def test_people_and_groups_agree_with_counting():
    data = crowd(users=5)
    model = fitted(data.comparisons, data.items)
    towns = Groups.of("town", ["a", "b", "a", "b", "c"])
    found = audit(model, data.test, [towns], training=data.comparisons, replicates=0)
    right = model.predict(data.test) == data.test.response
    for one in found.people:
        mine = data.test.user == data.test.users.index(one.name)
        assert one.accuracy.value == pytest.approx(right[mine].mean())
    (alone,) = (one for one in found.groups["town"] if one.name == "c")
    assert alone.people == 1
    assert alone.accuracy.value == pytest.approx(right[data.test.user == 4].mean())
    values = [one.accuracy.value for one in found.people]
    assert values == sorted(values)
    assert found.overall.log_loss.value == pytest.approx(_log_loss(model, data.test))


def _log_loss(model, asked):
    probability = model.predict_proba(asked)
    return -np.log(probability[np.arange(len(asked)), (asked.response > 0).astype(int)]).mean()


# Who predicts what from what


def test_no_answer_and_no_mirror_of_it_is_fitted_to_before_it_is_predicted():
    rng = np.random.default_rng(0)
    left = rng.integers(6, size=60)
    right = (left + rng.integers(1, 6, size=60)) % 6
    triples = np.column_stack([rng.integers(3, size=60), left, right])
    rounds = Rounds.folds(Comparisons.from_arrays(triples, np.ones(60)), 5, seed=1)

    def questions(asked):
        pairs = np.sort(np.column_stack([asked.left, asked.right]), axis=1)
        return set(map(tuple, np.column_stack([asked.user, pairs]).tolist()))

    predicted = np.concatenate([rows for _, rows in rounds.rounds])
    assert sorted(predicted) == list(range(60))
    for training, rows in rounds.rounds:
        assert not questions(training) & questions(rounds.answers.subset(rows))


# Regions of groups


@pytest.mark.parametrize(
    "region", [NuclearFull(4.0), NuclearSplit(2.0, 3.0), FrobeniusMetric(2.0, 2.0)], ids=repr
)
def test_the_crowds_fit_is_in_the_region_of_every_group(region):
    data = crowd()
    model = fitted(data.comparisons, data.items, region)
    fit = Settings(model).fit(data.comparisons.answers())
    for members in (np.array([True, True, False, False]), np.array([False, False, False, True])):
        small = of_group(region, fit, members)
        outside = small.violation(fit.metric[None], fit.points[members][None])
        assert outside == pytest.approx(0, abs=1e-9)
        assert all(a <= b for a, b in zip(small.radii, region.radii, strict=True))
    alone = of_persons(region, fit)
    last = of_group(region, fit, np.array([False, False, False, True]))
    assert [np.max(np.atleast_1d(r)[-1]) for r in alone.radii] == pytest.approx(list(last.radii))


# The statistic


def _dense(x, answers, margins, groups, loss):
    """Return T from its definition: dense matrices, no users apart, plain features."""
    right = loss.probability(margins)
    residual = (answers.sign > 0) - right  # of the logistic with scale 1
    information = right * (1 - right)
    z = (x - x.mean(axis=0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(x.T, ddof=0))).T
    pulls = np.stack(
        [
            (np.outer(z[i], z[i]) - np.outer(z[j], z[j])).ravel()
            for i, j in zip(answers.left, answers.right, strict=True)
        ]
    )
    nuisance = np.zeros((len(answers), answers.n_users * x.shape[1]))
    for t, (k, i, j) in enumerate(zip(answers.user, answers.left, answers.right, strict=True)):
        nuisance[t, k * x.shape[1] : (k + 1) * x.shape[1]] = x[i] - x[j]
    # First the points out of the pulls; then points and common metric out of the residuals.
    root = np.sqrt(information)[:, None]
    pulls -= nuisance @ np.linalg.lstsq(root * nuisance, root * pulls, rcond=None)[0]
    both = np.column_stack([nuisance, pulls])
    fit = np.linalg.lstsq(root * both, residual / root[:, 0], rcond=1e-10)[0]
    residual = residual - information * (both @ fit)
    sums = np.stack([(residual[:, None] * pulls)[groups == g].sum(axis=0) for g in set(groups)])
    return (sums**2).sum() / (residual**2 @ (pulls**2).sum(axis=1))


def test_the_statistic_is_its_definition(monkeypatch):
    monkeypatch.setattr(audit_score, "_SHRINKAGE", 1e-9)
    data = cm.simulate(20, 3, 2, 4, 120, 1.0, 3)
    answers, loss = data.comparisons.answers(), Logistic(1.0)
    margins, points = data.margins(data.comparisons), np.ones((4, 3))
    group = np.array([0, 1, 1, 0])
    directions = Directions.of(data.items.features, answers)
    (found,) = statistics(directions, answers, margins, points, loss, [group])
    true = _dense(data.items.features, answers, margins, group[answers.user], loss)
    assert found == pytest.approx(true, rel=1e-5)


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_units_of_features_do_not_change_the_statistic(seed):
    rng = np.random.default_rng(seed)
    data = cm.simulate(15, 3, 1, 3, 60, 1.0, seed)
    answers, margins = data.comparisons.answers(), data.margins(data.comparisons)
    map_, group = rng.normal(size=(3, 3)) + 3 * np.eye(3), np.array([0, 1, 1])
    found = []
    for x, points in (
        (data.items.features, data.points),
        (data.items.features @ map_, data.points @ np.linalg.inv(map_).T),
    ):
        directions = Directions.of(x, answers)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(audit_score, "_SHRINKAGE", 1e-9)
            found += statistics(directions, answers, margins, points, Logistic(), [group])
    assert found[0] == pytest.approx(found[1], rel=1e-3)


# The test


def test_towns_that_differ_are_found_and_towns_that_do_not_are_not_too_often():
    """At a small size; docs/audits.md has the figures of a large one."""
    p_values = {}
    for difference, count in ((0.0, 20), (1.0, 5)):
        found = p_values.setdefault(difference, [])
        for trial in range(count):
            drawn = TwoTowns(difference, trial, users=6, pairs=60, n_items=20, dimension=2, rank=1)
            items, answers, town = drawn.drawn()
            model = fitted(answers, items, NuclearFull(8.0), Logistic())
            towns = [Groups.of("town", town.tolist())]
            found.append(common_metric_test(model, answers, towns, 19, trial)[0].p_value)
    assert np.mean(np.array(p_values[0.0]) <= 0.05) <= 0.2  # 1 in 20 expected
    assert 0.35 < np.mean(p_values[0.0]) < 0.65
    assert np.mean(np.array(p_values[1.0]) <= 0.05) >= 0.6


def test_a_study_of_the_test_is_resumed(tmp_path):
    """Finished trials are read from their files: no process need be started."""
    trials = [TwoTowns(0.0, k) for k in range(3)]
    for trial, p_value in zip(trials, (0.01, 0.5, 0.9), strict=True):
        _save(trial, [("town", p_value), ("each person", 0.5)], COLUMNS, tmp_path)
    town, person = size_of(trials, tmp_path)
    assert town.doubted.value == pytest.approx(1 / 3)
    assert (person.by, person.doubted.value) == ("each person", 0.0)
    assert TwoTowns(0.1, 0).fingerprint != TwoTowns(0.0, 0).fingerprint


def test_p_values_are_the_same_for_the_same_seed_and_progress_is_told():
    data = crowd()
    model = fitted(data.comparisons, data.items)
    told = []
    found = [
        common_metric_test(model, data.comparisons, [], 5, 7, lambda *count: told.append(count))
        for _ in range(2)
    ]
    assert found[0] == found[1]
    assert told[:5] == [(k, 5) for k in range(1, 6)]


def test_questions_that_do_not_arise_say_so():
    data = crowd()
    answers = data.comparisons
    given_metric = fitted(answers, data.items, FixedMetric(np.eye(2), 3.0))
    hinge = fitted(answers, data.items, loss=Hinge())
    single = fitted(answers, data.items, single=True)
    for model, says in (
        (given_metric, "was given"),
        (hinge, "gives no probabilities"),
        (single, "of their own already"),
    ):
        with pytest.raises(SettingError, match=says):
            common_metric_test(model, answers)
        found = audit(model, answers, replicates=19)
        assert says in found.untested
        assert (found.tests, found.gains) == ([], [])
        assert found.overall.accuracy.value > 0.5


# Bad input and edge cases


def test_one_user_is_audited_and_has_nobody_to_share_a_metric_with():
    data = crowd(users=1)
    model = fitted(data.comparisons, data.items, loss=Probit())
    found = audit(model, data.comparisons, [Groups.of("town", ["Ulm"])], replicates=3)
    assert [one.name for one in found.people] == ["u0"]
    assert found.untested.startswith("only one person answered")
    assert (found.tests, found.gains) == ([], [])


def test_groups_of_one_and_users_with_one_answer():
    data = crowd(users=5, pairs=30)
    keep = np.flatnonzero((data.comparisons.user != 4) | (np.arange(150) == 149))
    answers = data.comparisons.subset(keep)
    model = fitted(answers, data.items)
    groups = [Groups.of("name", "abcde")]
    found = audit(model, answers, groups, replicates=3)
    assert len(found.people) == len(found.groups["name"]) == 5
    (lone,) = (one for one in found.people if one.answers == 1)
    assert lone.accuracy.low < lone.accuracy.high
    assert [one.groups for one in found.tests] == [5, 5]
    assert found.tests[0].statistic == pytest.approx(found.tests[1].statistic)
    assert all(np.isfinite(one.log_loss.value) for one in found.gains)


@pytest.mark.parametrize("kind", ["one answer each", "all left", "contradictory", "ties"])
def test_answers_that_say_little_are_audited_all_the_same(kind):
    data = crowd(users=6, pairs=1 if kind == "one answer each" else 12)
    answers = data.comparisons
    triples = np.column_stack([answers.user, answers.left, answers.right])
    response = answers.response.astype(int)
    if kind == "all left":
        response = np.full(len(response), -1)
    if kind == "contradictory":
        triples, response = np.repeat(triples, 2, axis=0), np.tile([-1, 1], len(response))
    if kind == "ties":
        response[: len(response) // 2] = 0
    said = Comparisons.from_arrays(triples, response, users=answers.users, n_items=20)
    model = fitted(said, data.items, loss=Logistic())
    towns = Groups.of("town", "aabbcc")
    found = audit(model, said, [towns], replicates=3, with_baselines=True)
    assert sum(one.answers for one in found.people) == len(said)
    assert all(0 < one.p_value <= 1 for one in found.tests)
    assert len(found.baselines) == 5


def test_weights_count_and_answers_of_no_weight_do_not():
    data = crowd()
    answers = data.comparisons
    weight = np.where(np.arange(len(answers)) % 3, 1.0, 0.0)
    triples = np.column_stack([answers.user, answers.left, answers.right])
    weighted = Comparisons.from_arrays(
        triples, answers.response, weight, users=answers.users, n_items=20
    )
    model = fitted(weighted, data.items)
    found = audit(model, weighted, replicates=3)
    same = audit(model, answers.subset(weight > 0), replicates=3)
    assert found.overall == same.overall
    assert found.tests == same.tests


def test_one_question_cannot_be_left_out():
    data = crowd(users=1)
    model = fitted(data.comparisons, data.items)
    with pytest.raises(DataError, match="about one question"):
        audit(model, data.comparisons.subset([0]))


def test_a_users_file_is_read_and_what_is_wrong_with_it_said():
    table = pa.table({"user": ["b", "a", "z"], "age": [30, None, 20], "town": ["U", "U", "V"]})
    age, town = read_groups(table, ["a", "b", "c"])
    assert (age.column, age.names) == ("age", ("(not given)", "30"))
    assert age.of_user.tolist() == [0, 1, 0]
    assert town.names == ("U", "(not given)")
    for columns, says in (
        ({"user": ["a"]}, "no column but 'user'"),
        ({"name": ["a"], "town": ["U"]}, "'user' is missing"),
        ({"user": ["a", "a"], "town": ["U", "V"]}, "rows 1 and 2: the user 'a' is there twice"),
        ({"user": ["q"], "town": ["U"]}, "none of its users is in the model"),
        ({"user": ["a", None], "town": ["U", "V"]}, "row 2: the cell"),
    ):
        with pytest.raises(DataError, match=says):
            read_groups(pa.table(columns), ["a", "b"])


def test_separate_metrics_gain_where_metrics_differ():
    items, answers, town = TwoTowns(1.0, 0, pairs=300, noise=4.0, users=6).drawn()
    model = fitted(answers, items, NuclearFull(20.0))
    rounds = Rounds.folds(answers, 3, seed=0)
    by_town, by_person = gains(model, rounds, [Groups.of("town", town.tolist())])
    assert by_town.accuracy.low > 0
    assert by_town.log_loss.low > 0
    assert by_person.log_loss.value < by_town.log_loss.value


def test_ties_alone_are_no_reason_for_an_error():
    data = crowd()
    answers = data.comparisons
    triples = np.column_stack([answers.user, answers.left, answers.right])
    tied = Comparisons.from_arrays(triples, np.zeros(len(answers)), users=answers.users, n_items=20)
    model = fitted(tied, data.items)
    found = audit(model, tied, replicates=3)
    assert found.untested.startswith("every answer is a tie")
    assert found.overall.accuracy.value == 0.5


def test_more_features_than_items_are_audited():
    data = crowd(items=6, dimension=9)
    model = fitted(data.comparisons, data.items)
    found = audit(model, data.comparisons, replicates=3, with_baselines=True)
    assert all(0 < one.p_value <= 1 for one in found.tests)
    assert all(np.isfinite(one.measured.log_loss.value) for one in found.baselines)
