"""CrowdMetricCV chooses more than radii: region, feature map, loss and its scale, by any rule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from crowdmetric import (
    Comparisons,
    CrowdMetric,
    CrowdMetricCV,
    Items,
    features,
    load,
    losses,
    regions,
)
from crowdmetric.errors import DataError, SettingError
from crowdmetric.estimator.candidates import Wanted, candidates, comparable
from crowdmetric.estimator.left_out import LeftOut
from crowdmetric.estimator.radii import family
from crowdmetric.estimator.record import Record, Trial
from crowdmetric.metrics import reliability
from crowdmetric.problem import Problem
from crowdmetric.simulation import oracle_radii, simulate
from crowdmetric.solver import Stack, solve


@pytest.fixture(scope="module")
def wide(crowd):
    """Return a choice among two regions and two feature maps."""
    fit = CrowdMetricCV(
        crowd.items, ["frobenius", "nuclear-full"], features=["raw", "center"], cv=3
    )
    return fit.fit(crowd.comparisons)


# --- among what -------------------------------------------------------------------------------


def test_every_combination_is_tried_and_the_first_best_is_chosen(wide, crowd):
    results = wide.cv_results_
    tried = list(zip(results["region"], results["features"], strict=True))
    assert set(tried) == {(r, f) for r in ("frobenius", "nuclear-full") for f in ("raw", "center")}
    least = results["mean_loss"].min() + 1 / len(crowd.comparisons)
    place = int((results["mean_loss"] <= least).argmax())
    assert results["radii"][place] == wide.radius_ == wide.region_.radii
    assert tried[place] == (wide.region_.name, wide.features_)
    assert wide.model_.features.name == wide.features_
    assert wide.loss_ == wide.model_.loss == losses.Logistic()


def test_more_radii_are_tried_around_the_best_only(wide):
    results = wide.cv_results_
    tried = list(zip(results["region"], results["features"], strict=True))
    counts = {one: tried.count(one) for one in set(tried)}
    chosen = counts.pop((wide.region_.name, wide.features_))
    assert chosen >= max(counts.values()) + 4


def test_units_that_hide_what_counts_are_found_out(crowd):
    """A feature that nobody looks at, in units a thousand times smaller, drowns the others."""
    noise = 1000.0 * np.random.default_rng(0).standard_normal(len(crowd.items))
    items = Items.from_arrays(np.column_stack([crowd.items.features, noise]), ids=crowd.items.ids)
    fit = CrowdMetricCV(items, "frobenius", features=["raw", "standardize"], cv=3)
    assert fit.fit(crowd.comparisons).features_ == "standardize"
    assert isinstance(fit.model_.features, features.Standardize)


def test_links_are_compared_by_their_likelihood(crowd):
    fit = CrowdMetricCV(crowd.items, loss=["logistic", "probit"], cv=3).fit(crowd.comparisons)
    found = {type(loss) for loss in fit.cv_results_["loss"]}
    assert found == {losses.Logistic, losses.Probit}
    assert fit.model_.loss == fit.loss_


def test_other_losses_are_compared_by_accuracy(crowd):
    fit = CrowdMetricCV(crowd.items, loss=["hinge", "logistic"], scoring="accuracy", cv=2)
    fit.fit(crowd.comparisons)
    most = fit.cv_results_["mean_accuracy"].max()
    chosen = [
        (radii, loss) == (fit.radius_, fit.loss_)
        for radii, loss in zip(fit.cv_results_["radii"], fit.cv_results_["loss"], strict=True)
    ]
    assert fit.cv_results_["mean_accuracy"][chosen.index(True)] == most


def test_equal_accuracies_are_told_apart_by_the_loss():
    record = Record("accuracy", 0.0)
    for radius, loss in [(1.0, 0.7), (2.0, 0.5), (3.0, 0.6)]:
        record.add(Trial(None, (radius,), np.array([loss, loss]), np.array([0.5, 0.75])))
    assert record.best().radii == (2.0,)


# --- the scale of the loss --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nuclear-full", "frobenius", "nuclear-metric", "nuclear-split"])
def test_a_larger_scale_does_what_larger_radii_do(crowd, name):
    answers, x = crowd.comparisons.answers(), crowd.items.features
    radii = [3.0] * len(regions.RADII[name])
    one = Problem(answers, x, losses.Logistic(2.0), regions.by_name(name, radii))
    wider = regions.by_name(name, [2.0 * radius for radius in radii])
    other = replace(one, loss=losses.Logistic(1.0), region=wider)
    risks = [solve(problem, tol=1e-8).certificate.risk for problem in (one, other)]
    assert_allclose(*risks, atol=2e-8)
    wanted = Wanted(name, "logistic", "raw", loss_scales="auto")
    assert len(candidates(wanted, crowd.items, crowd.comparisons)) == 1


def test_the_scale_of_a_fixed_metric_is_found():
    """The truth is 3 times the identity; to fix the identity, the loss must be 3 times as sharp."""
    rng = np.random.default_rng(0)
    x, ideal = rng.standard_normal((30, 2)), rng.standard_normal((4, 2))
    triples = np.array(
        [[k, *rng.choice(30, 2, replace=False)] for k in range(4) for _ in range(400)]
    )
    k, i, j = triples.T
    squares = [((x[item] - ideal[k]) ** 2).sum(axis=1) for item in (i, j)]
    says_left = rng.random(len(k)) < 1 / (1 + np.exp(3.0 * (squares[0] - squares[1])))
    y = np.where(says_left, -1, 1)
    fit = CrowdMetricCV(x, "fixed", loss_scales="auto", cv=3).fit(triples, y)
    assert 2.0 < fit.loss_.scale * fit.model_.sharpness < 4.5
    assert fit.model_.loss.scale == fit.loss_.scale
    given = CrowdMetricCV(x, "fixed", loss_scales=[0.03, 3.0, 30.0], cv=3).fit(triples, y)
    assert given.loss_.scale == 3.0


def test_the_scale_of_a_margin_bound_is_tried(crowd):
    wanted = Wanted("frobenius", "probit", "raw", loss_scales="auto", margin_bound=4.0)
    scales = [one.problem.loss.scale for one in candidates(wanted, crowd.items, crowd.comparisons)]
    assert min(scales) < 0.5 < max(scales)
    assert len(set(scales)) == len(scales)


# --- the rules --------------------------------------------------------------------------------


def test_one_standard_error_chooses_the_smallest_region_within_it(crowd):
    fit = CrowdMetricCV(crowd.items, one_standard_error=True, cv=4).fit(crowd.comparisons)
    best = clone(fit).set_params(one_standard_error=False).fit(crowd.comparisons)
    results = fit.cv_results_
    place = results["radii"].index(best.radius_)
    limit = results["mean_loss"][place] + results["std_loss"][place] / np.sqrt(3)
    near = np.array(results["radii"])[results["mean_loss"] <= limit]
    assert fit.radius_ == (near.min(),)
    assert fit.radius_ <= best.radius_


@pytest.mark.parametrize("single", [False, True])
def test_processes_find_the_same(crowd, single):
    fit = CrowdMetricCV(
        crowd.items, ["frobenius", "fixed"], features=["raw", "center"], cv=2, single=single
    )
    fit.fit(crowd.comparisons)
    other = clone(fit).set_params(n_jobs=2).fit(crowd.comparisons)
    assert other.cv_results_["radii"] == fit.cv_results_["radii"]
    for name in ("mean_loss", "std_loss", "mean_accuracy", "std_accuracy", "sharpness"):
        assert_array_equal(other.cv_results_[name], fit.cv_results_[name])
    assert_array_equal(other.metric_, fit.metric_)


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("loss", [losses.Logistic(), losses.Hinge()])
@pytest.mark.parametrize(
    ("name", "radii"), [("frobenius", (3.0, 3.0)), ("nuclear-full", (6.0,)), ("fixed", (2.0,))]
)
def test_side_by_side_is_one_after_the_other(crowd, name, radii, loss, single):
    make = family(name, 3, None)
    problem = Problem(crowd.comparisons.answers(), crowd.items.features, loss, make(*radii), single)
    weights = np.random.default_rng(0).integers(0, 3, (3, len(problem.answers))).astype(float)
    stack = Stack(problem, weights, tol=1e-6)
    stack.solve(make(*[radius / 2 for radius in radii]))
    found = stack.solve(problem.region)
    assert (found.gap <= 1e-6).all()
    crowds = problem.crowd().resampled(weights)
    together = crowds.mean(loss.value(crowds.margins(found.metric, found.points)))
    shares = crowds.problem_weights.reshape(3, -1)
    together = (together.reshape(3, -1) * shares).sum(axis=1) / shares.sum(axis=1)
    for row, risk in zip(weights, together, strict=True):
        answers = replace(problem.answers, weight=row)
        alone = solve(replace(problem, answers=answers), tol=1e-6).certificate
        assert_allclose(risk, alone.risk, atol=1.1e-6)


@pytest.mark.parametrize("name", ["frobenius", "nuclear-metric"])
def test_the_choice_loses_at_most_a_point_to_the_oracle_on_average(name):
    lost = []
    for seed in range(5):
        crowd = simulate(40, 5, 1, 6, 50, seed=seed, test_pairs_per_user=1000)
        chosen = CrowdMetricCV(crowd.items, name).fit(crowd.comparisons).score(crowd.test)
        oracle = CrowdMetric(crowd.items, regions.by_name(name, oracle_radii(crowd)[name]))
        lost.append(oracle.fit(crowd.comparisons).score(crowd.test) - chosen)
    assert np.mean(lost) <= 0.01


# --- calibration ------------------------------------------------------------------------------


def test_sharpness_is_what_suits_the_answers_best():
    rng = np.random.default_rng(0)
    margins, share = rng.normal(1.0, 8.0, 300), rng.random(300) / 300
    for loss in (losses.Logistic(2.0), losses.Probit()):
        found = LeftOut(np.zeros(300, dtype=int), share, margins).sharpness(loss)
        cost = [share @ loss.value(found * factor * margins) for factor in (0.97, 1.0, 1.03)]
        assert cost[1] == min(cost)
    assert LeftOut(np.zeros(300, dtype=int), share, margins).sharpness(losses.Hinge()) == 1.0
    assert LeftOut(np.zeros(300, dtype=int), share, np.abs(margins)).sharpness(loss) == 1.0
    assert LeftOut(np.zeros(300, dtype=int), share, -np.abs(margins)).sharpness(loss) < 0.1


def test_a_model_keeps_its_sharpness(tmp_path):
    crowd = simulate(n_items=30, dimension=5, n_users=5, pairs_per_user=30, seed=1)
    model = CrowdMetricCV(crowd.items, "frobenius").fit(crowd.comparisons).model_
    model.save(tmp_path / "crowd.model")
    again = load(tmp_path / "crowd.model")
    assert again.sharpness == model.sharpness != 1.0
    margins = np.array([-2.0, 1.0])
    expected = model.loss.probability(model.sharpness * margins)
    assert_allclose(again.probabilities(margins)[:, 1], expected)


@pytest.mark.parametrize("name", ["nuclear-full", "frobenius"])
def test_probabilities_are_calibrated(name):
    crowd = simulate(
        n_items=40, dimension=4, n_users=8, pairs_per_user=100, seed=3, test_pairs_per_user=2000
    )
    fit = CrowdMetricCV(crowd.items, name).fit(crowd.comparisons)
    left = fit.predict_proba(crowd.test)[:, 0]
    assert reliability(left, crowd.test.response).error < 0.03


# --- bad input --------------------------------------------------------------------------------

BAD = [
    ({"scoring": "acuracy"}, "no scoring 'acuracy'; did you mean 'accuracy'"),
    ({"scoring": "x"}, "no scoring 'x'; choose from log-loss, accuracy"),
    ({"loss": ["hinge", "logistic"]}, "different units.*choose with scoring='accuracy'"),
    ({"loss": []}, "list of losses to choose from is empty"),
    ({"region": []}, "list of regions to choose from is empty"),
    ({"features": []}, "list of feature maps to choose from is empty"),
    ({"region": ["nuclear-full", "frobenus"]}, "did you mean 'frobenius'"),
    ({"features": ["raw", "centre"]}, "no feature map 'centre'"),
    ({"loss": "hinge", "loss_scales": "auto"}, "'hinge' has no scale to choose"),
    ({"loss_scales": "all"}, "loss_scales must be 'auto' or numbers, not 'all'"),
    ({"loss_scales": []}, "no loss scales to choose from"),
    ({"loss_scales": [1.0, -1.0]}, "the loss scale must be a positive number"),
    ({"region": ["frobenius", "nuclear-full"], "radii": [1.0]}, "takes 2 radius"),
]


@pytest.mark.parametrize(("settings", "sentence"), BAD)
def test_bad_settings_are_refused_in_one_sentence(settings, sentence):
    fit = CrowdMetricCV(**{"items": np.eye(4), "cv": 2} | settings)
    triples = [[0, 0, 1], [0, 1, 2], [0, 2, 3], [0, 3, 0], [0, 0, 3]]
    with pytest.raises(SettingError, match=sentence) as caught:
        fit.fit(triples, [1, -1, 1, -1, 1])
    assert "\n" not in str(caught.value)


def test_a_constant_feature_is_named(crowd):
    constant = np.column_stack([crowd.items.features, np.ones(len(crowd.items))])
    items = Items.from_arrays(constant, ids=crowd.items.ids)
    with pytest.raises(DataError, match="cannot be standardized"):
        CrowdMetricCV(items, features=["raw", "standardize"]).fit(crowd.comparisons)


def test_losses_of_one_kind_are_comparable(crowd):
    comparisons = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 1])
    items = Items.from_arrays(np.eye(3))
    for loss, expected in [("hinge", True), (["hinge", "squared-hinge"], False)]:
        assert (
            comparable(candidates(Wanted("frobenius", loss, "raw"), items, comparisons)) is expected
        )
