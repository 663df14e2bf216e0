"""CrowdMetric says what its model says, whatever its data come as."""

from __future__ import annotations

import io
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import NearestNeighbors

from crowdmetric import Comparisons, CrowdMetric, CrowdMetricCV, losses, regions
from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.errors import SettingError, UnknownItemError, UnknownUserError
from triples import as_arrays

REGION = regions.FrobeniusMetric(8.0, 6.0)


@pytest.fixture(scope="module")
def data(crowd):
    """Return triples, responses, test triples and test responses."""
    return (*as_arrays(crowd.comparisons), *as_arrays(crowd.test))


@pytest.fixture(scope="module")
def fitted(crowd, data):
    return CrowdMetric(crowd.items, REGION).fit(*data[:2])


# --- what it answers --------------------------------------------------------------------------


def test_the_answers_agree_with_each_other(fitted, data):
    test, answers = data[2:]
    margins = fitted.decision_function(test)
    assert_array_equal(margins, fitted.model_.margins_of_codes(test))
    assert_array_equal(fitted.predict(test), np.where(margins < 0, -1, 1))
    probability = fitted.predict_proba(test)
    assert_allclose(probability.sum(axis=1), 1.0)
    assert_allclose(probability[:, 1], 1 / (1 + np.exp(-margins)))
    assert fitted.score(test, answers) == pytest.approx(np.mean(fitted.predict(test) == answers))
    assert_allclose(fitted.decision_function(test[:, [0, 2, 1]]), -margins)


def test_a_tie_is_half_right_and_weights_count(fitted, data):
    test = data[2][:4]
    right = fitted.predict(test)
    assert fitted.score(test, [right[0], right[1], -right[2], 0]) == 2.5 / 4
    assert fitted.score(test, [right[0], -right[1], 0, 0], [3, 1, 0, 0]) == 0.75


def test_no_questions_no_answers(fitted):
    assert fitted.predict(np.empty((0, 3), dtype=int)).shape == (0,)


@pytest.mark.parametrize("loss", [losses.Hinge(), "squared-hinge"])
def test_a_hinge_gives_no_probabilities(crowd, loss):
    fit = CrowdMetric(crowd.items, REGION, loss).fit(crowd.comparisons)
    with pytest.raises(SettingError, match=r"hinge' gives no probabilities; fit with logistic"):
        fit.predict_proba(crowd.test)
    assert fit.score(crowd.test) > 0.6


def test_the_metric_measures_what_the_model_says(crowd):
    fit = CrowdMetric(crowd.items, REGION, features="standardize").fit(crowd.comparisons)
    raw = crowd.items.features
    distances = fit.model_.distances()
    distance = fit.get_metric()
    assert distance(raw[1], raw[4]) == pytest.approx(distances[1, 4])
    along = fit.model_.x @ fit.components_.T
    assert_allclose(
        np.linalg.norm(along[:, None] - along[None], axis=2), distances, atol=1e-9, rtol=0
    )
    near = NearestNeighbors(n_neighbors=1, metric=distance).fit(raw).kneighbors(raw[:3])[1]
    assert_array_equal(near.ravel(), [0, 1, 2])


@pytest.mark.parametrize("name", ["raw", "center", "standardize", "unit-ball"])
def test_feature_maps_go_by_name(crowd, name):
    fit = CrowdMetric(crowd.items, REGION, features=name).fit(crowd.comparisons)
    assert fit.certificate_.converged
    assert_allclose(fit.model_.x, fit.model_.features.transform(crowd.items.features))
    assert fit.features == name


# --- what it takes ----------------------------------------------------------------------------


def test_comparisons_are_the_same_as_their_triples(crowd, fitted):
    fit = CrowdMetric(crowd.items, REGION).fit(crowd.comparisons)
    assert_array_equal(fit.metric_, fitted.metric_)
    assert fit.model_.users == crowd.comparisons.users
    assert_array_equal(fit.predict(crowd.test), fitted.predict(as_arrays(crowd.test)[0]))
    assert fit.score(crowd.test) == fitted.score(*as_arrays(crowd.test))


def test_items_in_another_order_are_renumbered(crowd, fitted):
    shuffled = crowd.items.take(np.random.default_rng(0).permutation(len(crowd.items)))
    fit = CrowdMetric(shuffled, REGION).fit(crowd.comparisons)
    assert fit.model_.items.ids == shuffled.ids
    assert_allclose(fit.metric_, fitted.metric_, atol=1e-3)
    margins = fitted.decision_function(as_arrays(crowd.test)[0])
    assert_allclose(fit.decision_function(crowd.test), margins, atol=1e-2)


def test_items_that_are_not_asked_about_may_be_missing(crowd):
    some = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [1, -1], item_ids=[3, 4, 5, "gone"])
    fit = CrowdMetric(crowd.items, REGION).fit(some)
    assert fit.decision_function(some)[0] == fit.decision_function([[0, 3, 4]])[0]
    unknown = Comparisons.from_arrays([[0, 0, 1]], [1], item_ids=["gone", 4])
    with pytest.raises(UnknownItemError, match="no item 'gone' among the 20 items"):
        CrowdMetric(crowd.items, REGION).fit(unknown)


def test_a_weight_is_a_number_of_repeats(crowd, data):
    triples, y = data[:2]
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    settings = {"items": crowd.items, "region": REGION, "tol": 1e-10}
    weighted = CrowdMetric(**settings).fit(triples, y, sample_weight=weight)
    repeated = CrowdMetric(**settings).fit(np.repeat(triples, weight, axis=0), np.repeat(y, weight))
    assert weighted.certificate_.risk == pytest.approx(repeated.certificate_.risk, abs=1e-9)
    assert_allclose(weighted.metric_, repeated.metric_, atol=1e-3)


def test_given_weights_take_the_place_of_those_of_comparisons(crowd):
    heavy = replace(crowd.comparisons, weight=np.linspace(1, 2, len(crowd.comparisons)))
    ones = np.ones(len(heavy))
    plain = CrowdMetric(crowd.items, REGION).fit(crowd.comparisons)
    reset = CrowdMetric(crowd.items, REGION).fit(heavy, sample_weight=ones)
    assert_array_equal(plain.metric_, reset.metric_)
    assert plain.score(heavy) != plain.score(heavy, sample_weight=ones)


def test_ties_are_halved_or_dropped(crowd, data):
    triples, y = data[0], data[1].copy()
    y[::5] = 0
    half = CrowdMetric(crowd.items, REGION).fit(triples, y)
    drop = CrowdMetric(crowd.items, REGION, ties="drop").fit(triples, y)
    kept = CrowdMetric(crowd.items, REGION).fit(triples[y != 0], y[y != 0])
    assert_array_equal(drop.metric_, kept.metric_)
    assert not np.allclose(half.metric_, drop.metric_)


def test_users_without_answers_are_counted_or_named(crowd):
    plain = CrowdMetric(crowd.items, REGION).fit([[0, 0, 1]], [1])
    assert plain.points_.shape == (1, 3)
    with pytest.raises(UnknownUserError, match=r"user 2 is outside 0\.\.0.*users=\.\.\."):
        plain.predict([[0, 0, 1], [2, 0, 1]])
    counted = CrowdMetric(crowd.items, REGION, users=np.int64(3)).fit([[0, 0, 1]], [1])
    assert counted.model_.users == (0, 1, 2)
    assert counted.predict([[2, 0, 1]]).shape == (1,)
    named = CrowdMetric(crowd.items, REGION, users=["ann", "bob"]).fit([[0, 0, 1]], [1])
    assert named.model_.users == ("ann", "bob")
    assert_allclose(named.points_[1], 0.0)


def test_whole_numbers_may_be_floats(fitted, data):
    assert_array_equal(fitted.predict(data[2].astype(float)), fitted.predict(data[2]))


def test_inputs_are_left_alone(crowd, data):
    items, triples, y = np.array(crowd.items.features), data[0].copy(), data[1].copy()
    weight = np.linspace(1, 2, len(y))
    copies = [array.copy() for array in (items, triples, y, weight)]
    CrowdMetric(items, REGION, features="standardize").fit(triples, y, weight).score(triples, y)
    for array, copy in zip((items, triples, y, weight), copies, strict=True):
        assert array.flags.writeable
        assert_array_equal(array, copy)


# --- fitting ----------------------------------------------------------------------------------


def test_the_same_fit_twice(crowd, fitted):
    again = CrowdMetric(crowd.items, REGION).fit(crowd.comparisons)
    assert_array_equal(again.metric_, fitted.metric_)
    assert_array_equal(again.points_, fitted.points_)


def test_everyone_alone(crowd):
    fit = CrowdMetric(crowd.items, REGION, single=True).fit(crowd.comparisons)
    assert fit.metric_.shape == (4, 3, 3)
    assert fit.points_.shape == fit.ideal_points_.shape == (4, 3)
    assert fit.components_.shape[0] == 4
    user = 2
    alone = CrowdMetric(crowd.items, REGION).fit(
        crowd.comparisons.subset(crowd.comparisons.user == user)
    )
    assert_allclose(fit.metric_[user], alone.metric_, atol=0.05)
    assert_allclose(fit.points_[user], alone.points_[user], atol=0.05)
    with pytest.raises(SettingError, match="metric of their own"):
        fit.get_metric()


def test_everyone_alone_may_have_a_radius_of_their_own(crowd):
    radii = (0.5, 1.0, 2.0, 4.0)
    region = regions.NuclearFull(radii)
    fit = CrowdMetric(crowd.items, region, single=True).fit(crowd.comparisons)
    for metric, point, radius in zip(fit.metric_, fit.points_, radii, strict=True):
        assert np.linalg.norm(np.vstack([metric, point]), "nuc") <= radius * (1 + 1e-9)


def test_half_the_precision_gives_nearly_the_same(crowd, fitted):
    fit = CrowdMetric(crowd.items, REGION, dtype="float32", tol=1e-5).fit(crowd.comparisons)
    assert fit.certificate_.risk == pytest.approx(fitted.certificate_.risk, abs=2e-5)
    assert fit.metric_.dtype == np.float64


def test_a_warm_start_is_quicker_and_ends_at_the_same_risk(crowd, data):
    fit = CrowdMetric(crowd.items, regions.NuclearFull(5.0), warm_start=True).fit(*data[:2])
    cold = fit.certificate_
    again = fit.fit(*data[:2]).certificate_
    assert again.iterations <= cold.iterations
    assert again.risk == pytest.approx(cold.risk, abs=2e-6)
    smaller = fit.set_params(region=regions.NuclearFull(2.0)).fit(*data[:2])
    fresh = CrowdMetric(crowd.items, regions.NuclearFull(2.0)).fit(*data[:2])
    assert smaller.region.violation(smaller.metric_, smaller.points_) <= 1e-9
    assert smaller.certificate_.risk == pytest.approx(fresh.certificate_.risk, abs=2e-6)


def test_a_warm_start_of_another_shape_starts_afresh(crowd, data):
    fit = CrowdMetric(crowd.items, REGION, warm_start=True).fit(*data[:2])
    fit.set_params(users=6).fit(*data[:2])
    assert fit.points_.shape == (6, 3)
    fit.set_params(single=True).fit(*data[:2])
    assert fit.metric_.shape == (6, 3, 3)


def test_a_callback_watches_and_stops(crowd):
    seen = []

    def stop(progress):
        seen.append(progress)
        return True

    fit = CrowdMetric(crowd.items, REGION, tol=1e-15, callback=stop)
    with pytest.warns(NotConvergedWarning, match="stopped"):
        fit.fit(crowd.comparisons)
    assert fit.certificate_.status == "stopped"
    assert len(seen) == 1
    assert fit.score(crowd.test) > 0.5


def test_a_fit_that_runs_out_of_iterations_says_so(crowd):
    fit = CrowdMetric(crowd.items, REGION, tol=1e-15, max_iterations=1)
    with pytest.warns(NotConvergedWarning, match="iteration-limit"):
        fit.fit(crowd.comparisons)
    assert not fit.certificate_.converged


class Clock:
    """A clock on which a second passes between any two looks."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        self.now += 2.0
        return self.now


@pytest.mark.parametrize("kind", ["plain", "cv"])
def test_progress_is_a_line_on_standard_error(crowd, monkeypatch, kind):
    monkeypatch.setattr("crowdmetric.solver.progress.time", Clock())
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    seen = []
    settings = {"progress": True, "callback": seen.append}
    if kind == "plain":
        fit = CrowdMetric(crowd.items, REGION, tol=1e-12, **settings)
    else:
        radii = [(1.0, 2.0), (2.0, 4.0)]
        fit = CrowdMetricCV(crowd.items, "frobenius", radii=radii, cv=2, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        fit.fit(crowd.comparisons)
    if kind == "plain":
        assert stream.getvalue().startswith("iteration ")
        assert seen
    else:
        start = "cross-validation: 4 of 4 fits, about 0 s left\n"
        assert stream.getvalue().startswith(start)
