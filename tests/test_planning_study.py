"""Planning a study: its crowds, its noise in words, learning curves, targets, and whole plans."""

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from crowdmetric import units
from crowdmetric.comparisons import Items
from crowdmetric.errors import DataError, SettingError, TargetError
from crowdmetric.planning import curve as curves
from crowdmetric.planning.crowds import draw_crowd, expected_accuracy, first
from crowdmetric.planning.curve import Curve, needed
from crowdmetric.planning.noise import answered_alike, consistency, with_consistency
from crowdmetric.planning.pictures import draw_pictures
from crowdmetric.planning.plan import plan_study
from crowdmetric.planning.report import summary
from crowdmetric.planning.study import Study, default_sizes, with_items
from crowdmetric.planning.tables import write_tables
from crowdmetric.planning.target import Target, outlook
from crowdmetric.planning.trial import ALPHAS, Trial, against_truth, ideal_point_error

SMALL = Study(
    n_items=12, dimension=2, users=6, rank=2, noise=2.0, sizes=(5, 15, 45), trials=4, quick=True
)
SHARE = Target("accuracy_share", 0.93)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Plan once, in two processes."""
    folder = tmp_path_factory.mktemp("plan")
    return folder, plan_study(SMALL, SHARE, folder / "units", workers=2, other_users=[3])


# The study and its crowds


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"n_items": 1}, "the number of items must be at least 2, not 1"),
        ({"dimension": 0}, "the number of features must be at least 1, not 0"),
        ({"users": 0}, "the number of users must be at least 1, not 0"),
        ({"trials": 1}, "the number of trials must be at least 2, not 1"),
        ({"rank": 3}, "the rank must lie between 1 and the number of features, 2, not 3"),
        ({"noise": math.inf}, "the noise must be a positive number, not inf"),
        ({"seed": -1}, "the seed must not be negative"),
        ({"sizes": ()}, "from 1 up, ascending, each once; not none"),
        ({"sizes": (5, 5)}, "from 1 up, ascending, each once; not 5, 5"),
        ({"sizes": (5, 67)}, "67 comparisons per person are more than the 66 pairs that 12 items"),
        ({"users": 1, "sizes": (4,), "quick": False}, "needs at least 5 answers"),
    ],
)
def test_studies_that_cannot_be_are_refused(changes, says):
    with pytest.raises(SettingError, match=says.replace("(", r"\(")):
        replace(SMALL, **changes)


def test_everybody_is_asked_distinct_pairs_and_all_pairs_if_so_many():
    crowd = draw_crowd(replace(SMALL, sizes=(66,)), 3, trial=0)
    asked = crowd.comparisons
    pairs = np.sort(np.column_stack([asked.left, asked.right]), axis=1)
    everything = list(itertools.combinations(range(12), 2))
    for user in range(3):
        assert sorted(map(tuple, pairs[asked.user == user].tolist())) == everything
    assert 0.3 < np.mean(asked.left < asked.right) < 0.7  # either way round


def test_fewer_people_are_the_first_of_more():
    few, many = (draw_crowd(SMALL, users, trial=1) for users in (2, 5))
    assert np.array_equal(few.metric, many.metric)
    assert np.array_equal(few.items.features, many.items.features)
    assert np.array_equal(few.ideal_points, many.ideal_points[:2])
    for name in ("left", "right", "response"):
        assert np.array_equal(
            getattr(few.comparisons, name),
            getattr(many.comparisons, name)[many.comparisons.user < 2],
        )
    assert not np.array_equal(few.metric, draw_crowd(SMALL, 2, trial=2).metric)


def test_first_answers_are_everybodys_first():
    asked = draw_crowd(SMALL, 3, trial=0).comparisons
    some = first(asked, 5)
    for user in range(3):
        assert np.array_equal(some.left[some.user == user], asked.left[asked.user == user][:5])


def test_answers_are_as_likely_as_assumed():
    study = replace(SMALL, sizes=(66,))
    crowd = draw_crowd(study, 400, trial=0)
    left = expit(-study.noise * crowd.margins(crowd.comparisons))
    said = crowd.comparisons.response < 0
    spread = math.sqrt((left * (1 - left)).sum())
    assert abs(said.sum() - left.sum()) < 4 * spread
    agreed = said == (left > 0.5)
    assert abs(agreed.sum() - np.maximum(left, 1 - left).sum()) < 4 * spread


def test_given_items_stay_and_people_like_what_there_is():
    features = np.random.default_rng(0).normal(size=(30, 2)) @ [[1.0, 0.9], [0.0, 0.1]] * 50 + 9
    items = with_items(Items.from_arrays(features))
    assert np.allclose((items.features**2).sum(), 30)
    study = replace(SMALL, n_items=30, items=items)
    crowds = [draw_crowd(study, 500, trial) for trial in range(2)]
    assert all(crowd.items is items for crowd in crowds)
    covariance = np.cov(np.vstack([crowd.ideal_points for crowd in crowds]).T)
    assert np.allclose(covariance, items.features.T @ items.features / 30, atol=0.06)


def test_expected_accuracy_is_the_mean_over_answers():
    generator = np.random.default_rng(0)
    true, guess = generator.normal(size=(2, 50))
    answers = np.where(generator.random((4000, 50)) < expit(-3.0 * true), -1, 1)
    counted = np.mean(answers == np.sign(guess))
    assert expected_accuracy(guess, true, 3.0) == pytest.approx(counted, abs=0.01)


def test_a_fit_is_measured_as_the_paper_does():
    crowd = draw_crowd(SMALL, 6, trial=0)
    metric, points = 1.1 * crowd.metric, 0.9 * crowd.points
    found = against_truth(metric, points, crowd)
    assert found["metric_error"] == pytest.approx(0.1)
    d = len(metric)
    ideal = -2 * np.linalg.solve(4 * metric @ metric + d * np.eye(d), metric @ points.T).T
    error = np.linalg.norm(ideal - crowd.ideal_points) / np.linalg.norm(crowd.ideal_points)
    assert found[ideal_point_error(1.0)] == pytest.approx(error)
    assert found[ideal_point_error(0.0)] == pytest.approx(1 - 0.9 / 1.1)


# Noise in words


def test_consistency_is_how_often_two_answers_agree():
    generator = np.random.default_rng(0)
    margins = generator.normal(size=200)
    once, twice = generator.random((2, 3000, 200)) < expit(-1.5 * margins)
    assert answered_alike(margins, 1.5) == pytest.approx(np.mean(once == twice), abs=0.005)


@given(st.floats(0.51, 0.99))
def test_noise_is_found_from_words(share):
    assert consistency(with_consistency(SMALL, share)) == pytest.approx(share, abs=1e-6)


@pytest.mark.parametrize("share", [0.5, 1.0, 0.3])
def test_nobody_answers_worse_than_by_chance_or_always_alike(share):
    with pytest.raises(SettingError, match="give more than 50%, which is pure chance"):
        with_consistency(SMALL, share)


# Learning curves


def pooled(values):
    """Return the isotonic regression by pooling adjacent violators, one by one."""
    blocks = [[value] for value in values]
    at = 0
    while at + 1 < len(blocks):
        if np.mean(blocks[at]) > np.mean(blocks[at + 1]):
            blocks[at : at + 2] = [blocks[at] + blocks[at + 1]]
            at = max(at - 1, 0)
        else:
            at += 1
    return [np.mean(block) for block in blocks for _ in block]


@given(st.lists(st.floats(0.5, 1.0), min_size=2, max_size=8), st.floats(0.5, 1.0))
def test_the_answer_is_where_the_monotone_curve_crosses(levels, goal):
    sizes = 5 * 2 ** np.arange(len(levels))
    found = needed(Curve(sizes, np.array([levels, levels])), Target("accuracy", min(goal, 0.999)))
    monotone, goal = pooled(levels), min(goal, 0.999)
    if max(monotone) < goal - 1e-9:
        assert found.pairs is None
    elif monotone[0] >= goal + 1e-9:
        assert found.pairs == 5
    elif found.pairs is not None:
        doublings = math.log2(found.pairs / 5), math.log2(max(found.pairs - 1, 5) / 5)
        at, before = (np.interp(x, range(len(levels)), monotone) for x in doublings)
        assert at >= goal - 1e-6
        assert before <= goal + 1e-6


def test_errors_fall_as_accuracy_rises():
    sizes, errors = np.array([5, 20, 80]), np.array([[0.8, 0.4, 0.2]] * 3)
    assert needed(Curve(sizes, errors), Target("metric_error", 0.3)).pairs == 40
    assert needed(Curve(sizes, errors), Target("metric_error", 0.1)).pairs is None


def test_the_interval_holds_the_truth_as_often_as_it_says(monkeypatch):
    monkeypatch.setattr(curves, "_RESAMPLES", 200)
    generator = np.random.default_rng(0)
    sizes, target = 5 * 2 ** np.arange(6), Target("accuracy", 0.8)
    truth = 0.65 + 0.05 * np.arange(6)  # reaches 0.8 at 40
    held = 0
    for _ in range(100):
        shifts = 0.03 * generator.normal(size=(20, 1)) + 0.01 * generator.normal(size=(20, 6))
        found = needed(Curve(sizes, truth + shifts), target)
        held += found.low <= 40 <= found.high
    assert 85 <= held <= 99


# Targets


@pytest.mark.parametrize("value", [0.0, 1.0, 1.2, -0.1, math.nan])
def test_targets_at_the_ends_are_refused(value):
    with pytest.raises(SettingError, match="the target must lie between 0% and 100%"):
        Target("accuracy", value)


def test_unknown_measures_are_refused():
    with pytest.raises(SettingError, match="did you mean 'metric_error'"):
        Target("metrik_error", 0.5)


def test_impossible_targets_are_refused_with_the_best_there_is():
    best = outlook(SMALL, Target("accuracy", 0.7)).best
    says = rf"no number of comparisons reaches 99% of new answers predicted.* {100 * best:.3g}%"
    with pytest.raises(TargetError, match=says):
        outlook(SMALL, Target("accuracy", 0.99))


def test_targets_that_guessing_reaches_are_refused():
    noisy = with_consistency(SMALL, 0.502)
    with pytest.raises(TargetError, match=r"95% of the best possible accuracy needs no study"):
        outlook(noisy, Target("accuracy_share", 0.95))


def test_errors_vanish_in_the_limit_if_and_only_if_the_items_are_enough():
    # prop:mainNec: D + d + 1 items, here 10, are needed for a metric of full rank.
    for n_items, enough in ((9, False), (10, True)):
        study = Study(n_items, 3, users=30, rank=3, noise=1.0, sizes=(5,))
        best = outlook(study, Target("metric_error", 0.99)).best
        assert (best < 1e-3) == enough
        if not enough:
            with pytest.raises(TargetError, match="the items do not show more"):
                outlook(study, Target("metric_error", best / 2))


# Whole plans


def test_a_plan_says_what_was_measured(made):
    _, plan = made
    tables = [Trial(SMALL, 6, trial).run() for trial in range(4)]
    values = [[v for _, m, v in rows if m == "accuracy_share"] for rows in tables]
    facts = plan.facts()
    assert [point["mean"] for point in facts["curve"]] == pytest.approx(np.mean(values, axis=0))
    assert [point["pairs"] for point in facts["curve"]] == [5, 15, 45]
    assert facts["answer"] == needed(plan.curve(6), SHARE).pairs
    assert facts["interval"][0] <= facts["answer"] <= (facts["interval"][1] or math.inf)
    assert [row["users"] for row in facts["trade"]] == [3, 6]
    assert set(facts["alphas"]) <= {2 * alpha for alpha in ALPHAS}
    assert facts["largest_gap"] <= 1e-6


def test_another_target_of_the_same_study_runs_nothing_again(made, monkeypatch):
    folder, _ = made
    monkeypatch.setattr(units, "_save", None)
    target = Target("ideal_point_error", 0.6)
    plan = plan_study(SMALL, target, folder / "units", workers=1, other_users=[3])
    assert plan.curve(6).values.shape == (4, 3)
    assert "regularised with the alpha that is best at each size" in summary(plan)


def test_a_plan_that_was_stopped_goes_on_and_ends_the_same(made, tmp_path):
    folder, plan = made
    kept = sorted((folder / "units").glob("*.parquet"))
    for path in kept[:-2]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / kept[-2].name).write_bytes(kept[-2].read_bytes()[:50])  # cut off
    seen = []
    again = plan_study(SMALL, SHARE, tmp_path, 1, [3], lambda *done: seen.append(done))
    assert seen == [(1, 2), (2, 2)]
    assert again.facts() == plan.facts()


def test_units_of_another_study_are_not_taken_for_this_one():
    prints = {
        Trial(study, users, trial).fingerprint
        for study in (SMALL, replace(SMALL, noise=1.0), replace(SMALL, sizes=(5, 15)),
                      replace(SMALL, seed=1), replace(SMALL, rank=1),
                      replace(SMALL, quick=False))
        for users in (3, 6)
        for trial in range(2)
    }  # fmt: skip
    assert len(prints) == 6 * 2 * 2


def test_radii_can_be_chosen_as_in_a_real_study():
    rows = Trial(replace(SMALL, sizes=(15,), quick=False), 6, trial=0).run()
    chosen = {measure: value for _, measure, value in rows}
    oracle = {m: v for _, m, v in Trial(replace(SMALL, sizes=(15,)), 6, trial=0).run()}
    assert chosen["accuracy_share"] == pytest.approx(oracle["accuracy_share"], abs=0.1)
    assert chosen["metric_error"] != oracle["metric_error"]


def test_tables_and_pictures_are_files(made, tmp_path):
    _, plan = made
    names = [path.name for path in write_tables(plan, tmp_path) + draw_pictures(plan, tmp_path)]
    assert sorted(names) == sorted(path.name for path in Path(tmp_path).iterdir())
    assert {"curve.csv", "trade.csv", "curve.png", "trade.pdf", "curve.svg"} <= set(names)
    lines = (tmp_path / "trade.csv").read_text().splitlines()
    assert lines[0].startswith("users,pairs_needed,low,high,answers_needed,accuracy_share_at_5")
    assert [line.split(",")[0] for line in lines[1:]] == ["3", "6"]
    assert len((tmp_path / "curve.csv").read_text().splitlines()) == 1 + 2 * 4 * 3


def test_default_sizes_never_ask_more_than_there_is():
    for n_items in range(2, 60):
        Study(n_items, 1, users=5, rank=1, noise=1.0, sizes=default_sizes(n_items))


def test_items_that_are_all_alike_in_a_feature_are_refused():
    with pytest.raises(DataError, match="x1"):
        with_items(Items.from_arrays([[0.0, 1.0], [1.0, 1.0]]))
