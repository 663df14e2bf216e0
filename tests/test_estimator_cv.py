"""CrowdMetricCV chooses radii that generalise, from folds that do not leak."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import partial

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from crowdmetric import Comparisons, CrowdMetric, CrowdMetricCV, losses, regions
from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.errors import CrowdMetricError, DataError, SettingError
from crowdmetric.estimator.folds import weights_of_folds
from crowdmetric.estimator.radii import family, natural_radii
from crowdmetric.problem import Problem
from crowdmetric.simulation import oracle_radii, simulate
from crowdmetric.splits import PairFolds
from triples import as_arrays

NAMES = ("nuclear-full", "frobenius", "nuclear-metric", "nuclear-split")


@pytest.fixture(scope="module")
def paper():
    """Return a crowd of the paper's kind, small, with many answers to test on."""
    return simulate(
        n_items=40, dimension=4, n_users=6, pairs_per_user=120, seed=5, test_pairs_per_user=500
    )


@pytest.fixture(scope="module")
def chosen(crowd):
    return CrowdMetricCV(crowd.items, "frobenius", cv=3).fit(crowd.comparisons)


# --- the choice -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_choice_is_as_good_as_the_oracles(paper, name):
    fit = CrowdMetricCV(paper.items, name).fit(paper.comparisons)
    oracle = regions.by_name(name, oracle_radii(paper)[name])
    best = CrowdMetric(paper.items, oracle).fit(paper.comparisons).score(paper.test)
    assert fit.certificate_.converged
    assert fit.region_ == regions.by_name(name, fit.radius_)
    assert fit.score(paper.test) >= best - 0.03


def test_answers_at_random_get_a_small_radius(paper):
    triples, _ = as_arrays(paper.comparisons)
    coins = np.random.default_rng(0).choice([-1, 1], len(triples))
    noise = CrowdMetricCV(paper.items).fit(triples, coins)
    signal = CrowdMetricCV(paper.items).fit(paper.comparisons)
    assert noise.radius_[0] < signal.radius_[0] / 4
    assert noise.cv_results_["mean_loss"].min() < np.log(2) + 0.02


@pytest.mark.parametrize("loss", ["probit", losses.SmoothedHinge(), "squared-hinge"])
def test_other_losses_are_chosen_for_too(crowd, loss):
    fit = CrowdMetricCV(crowd.items, "frobenius", loss, cv=3).fit(crowd.comparisons)
    assert fit.score(crowd.test) > 0.6


def test_the_fixed_metric_is_the_identity(crowd):
    fit = CrowdMetricCV(crowd.items, "fixed", cv=3).fit(crowd.comparisons)
    assert_array_equal(fit.metric_, np.eye(3))
    assert fit.region_.point_radius == fit.radius_[0]


def test_everyone_alone(crowd):
    fit = CrowdMetricCV(crowd.items, "frobenius", cv=3, single=True).fit(crowd.comparisons)
    assert fit.metric_.shape == (4, 3, 3)
    assert len(fit.radius_) == 2
    assert fit.score(crowd.test) > 0.6


def test_a_margin_bound_is_kept(crowd):
    fit = CrowdMetricCV(crowd.items, "frobenius", radii=[(2.0, 2.0)], cv=2, margin_bound=1.0)
    fit.fit(crowd.comparisons)
    assert fit.region_.margin_bound == 1.0
    left, right = np.triu_indices(len(crowd.items), 1)
    for user in range(4):
        triples = np.column_stack([np.full_like(left, user), left, right])
        assert np.abs(fit.decision_function(triples)).max() <= 1.0 + 1e-6


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (regions.NuclearFull, 1),
        (regions.FrobeniusMetric, 2),
        (lambda radius: regions.NuclearSplit(radius, 2 * radius), 1),
        (partial(regions.FixedMetric, np.diag([3.0, 0.0, 0.0]), margin_bound=5.0), 1),
    ],
)
def test_a_region_may_be_a_function_of_radii(crowd, make, count):
    fit = CrowdMetricCV(crowd.items, make, cv=2).fit(crowd.comparisons)
    assert len(fit.radius_) == count
    assert repr(fit.region_) == repr(make(*fit.radius_))


# --- the record -------------------------------------------------------------------------------


def test_the_record_holds_the_choice(chosen, crowd):
    results = chosen.cv_results_
    radii, loss = results["radii"], results["mean_loss"]
    assert {len(values) for values in results.values()} == {len(radii)}
    assert len(set(radii)) == len(radii)
    enough = loss <= loss.min() + 1 / len(crowd.comparisons)
    assert radii[int(enough.argmax())] == chosen.radius_
    assert (results["std_loss"] >= 0).all()
    assert ((results["mean_accuracy"] > 0) & (results["mean_accuracy"] < 1)).all()


def test_the_record_is_what_fits_by_hand_give(crowd):
    folds = PairFolds(3, random_state=7)
    fit = CrowdMetricCV(crowd.items, radii=[1.0, 4.0], cv=folds, tol=1e-6).fit(crowd.comparisons)
    triples, _ = as_arrays(crowd.comparisons)
    expected = []
    for radius in (1.0, 4.0):
        region, scores, of_folds = regions.NuclearFull(radius), [], []
        for train, test in folds.split(triples):
            one = CrowdMetric(crowd.items, region).fit(crowd.comparisons.subset(train))
            held_out = crowd.comparisons.subset(test)
            of_folds.append(held_out.response * one.decision_function(held_out))
            scores.append(one.score(held_out))

        def by_fold(sharpness, of_folds=of_folds):
            return [np.log1p(np.exp(-sharpness * margins)).mean() for margins in of_folds]

        best = minimize_scalar(lambda t: np.mean(by_fold(t)), bounds=(0.01, 1.0), method="bounded")
        loss = by_fold(best.x)
        expected.append((best.fun, np.std(loss), np.mean(scores), best.x))
    names = ("mean_loss", "std_loss", "mean_accuracy", "sharpness")
    found = np.column_stack([fit.cv_results_[name] for name in names])
    assert_allclose(found, expected, atol=0.01, rtol=0.02)
    assert fit.cv_results_["radii"] == [(1.0,), (4.0,)]


def test_radii_may_be_given_and_repeated(crowd):
    fit = CrowdMetricCV(crowd.items, radii=np.array([0.5, 3.0, 3.0]), cv=2).fit(crowd.comparisons)
    assert fit.cv_results_["radii"] == [(0.5,), (3.0,)]
    assert fit.radius_ in fit.cv_results_["radii"]
    pairs = CrowdMetricCV(crowd.items, "nuclear-split", radii=[(1, 2), [3, 4]], cv=2)
    assert pairs.fit(crowd.comparisons).cv_results_["radii"] == [(1.0, 2.0), (3.0, 4.0)]


def test_the_same_seed_gives_the_same_choice(crowd, chosen):
    again = clone(chosen).fit(crowd.comparisons)
    assert again.radius_ == chosen.radius_
    assert_array_equal(again.metric_, chosen.metric_)
    assert_array_equal(again.cv_results_["mean_loss"], chosen.cv_results_["mean_loss"])
    other = clone(chosen).set_params(random_state=1).fit(crowd.comparisons)
    assert not np.array_equal(other.cv_results_["mean_loss"], chosen.cv_results_["mean_loss"])


def test_joblib_keeps_the_choice(chosen, crowd):
    buffer = io.BytesIO()
    joblib.dump(chosen, buffer)
    buffer.seek(0)
    again = joblib.load(buffer)
    assert again.radius_ == chosen.radius_
    assert again.score(crowd.test) == chosen.score(crowd.test)


def test_a_callback_stops_folds_and_fit(crowd):
    seen = []

    def stop(progress):
        seen.append(progress)
        return True

    fit = CrowdMetricCV(crowd.items, radii=[5.0], cv=2, tol=1e-15, callback=stop)
    with pytest.warns(NotConvergedWarning, match="stopped"):
        fit.fit(crowd.comparisons)
    assert fit.certificate_.status == "stopped"
    assert len(seen) <= 3


# --- the folds --------------------------------------------------------------------------------


class Recorder:
    """A splitter that keeps what it was asked and what it gave."""

    def __init__(self, splitter):
        self.splitter = splitter

    def split(self, X, y=None, groups=None):
        self.asked, self.given = X, list(self.splitter.split(X, y, groups))
        return iter(self.given)

    def get_n_splits(self, X=None, y=None, groups=None):
        return self.splitter.get_n_splits(X, y, groups)


def repeated():
    """Return questions that are asked three times, once the other way round, with some ties."""
    generator = np.random.default_rng(2)
    asked = np.array([[k, i, j] for k in range(3) for i in range(6) for j in range(i + 1, 6)])
    triples = np.vstack([asked, asked, asked[:, [0, 2, 1]]])
    return triples, generator.choice([-1, 0, 1], len(triples), p=[0.45, 0.1, 0.45])


def test_a_pair_and_its_mirror_image_stay_together():
    triples, y = repeated()
    comparisons = Comparisons.from_arrays(triples, y)
    splits = CrowdMetricCV(cv=4)._splits(comparisons)
    assert len(splits) == 4
    names = np.column_stack([triples[:, 0], np.sort(triples[:, 1:], axis=1)])
    for train, test in splits:
        assert not set(map(tuple, names[train])) & set(map(tuple, names[test]))
        assert sorted([*train, *test]) == list(range(len(triples)))


def test_splitters_see_rows_not_halves_of_ties():
    triples, y = repeated()
    recorder = Recorder(PairFolds(3, random_state=0))
    items = np.random.default_rng(0).standard_normal((6, 2))
    CrowdMetricCV(items, radii=[1.0], cv=recorder).fit(triples, y)
    assert_array_equal(recorder.asked, triples)
    data = Comparisons.from_arrays(triples, y)
    folds = weights_of_folds(data, recorder.given, "half")
    for split, *parts in zip(recorder.given, folds.learn, folds.left_out, strict=True):
        for rows, weight in zip(split, parts, strict=True):
            assert (weight > 0).sum() == len(rows) + (y[rows] == 0).sum()
            assert weight.sum() == len(rows)


@pytest.mark.parametrize("splitter", [KFold(3), StratifiedKFold(3), "rows"])
def test_other_splitters_and_lists_of_rows_work(crowd, splitter):
    if splitter == "rows":
        rows = np.arange(len(crowd.comparisons))
        splitter = [(rows[rows % 2 == k], rows[rows % 2 != k]) for k in range(2)]
    fit = CrowdMetricCV(crowd.items, radii=[4.0], cv=splitter).fit(crowd.comparisons)
    assert fit.radius_ == (4.0,)


@pytest.mark.parametrize("single", [False, True])
def test_users_may_miss_from_a_training_fold(crowd, single):
    few = [[0, i, i + 1] for i in range(12)] + [[1, 0, 5], [3, 2, 7]]
    y = [-1, 1] * 7
    fit = CrowdMetricCV(crowd.items, "frobenius", cv=3, single=single, users=5).fit(few, y)
    assert fit.points_.shape == (5, 3)
    assert np.isfinite(fit.cv_results_["mean_loss"]).all()
    assert np.isfinite(fit.decision_function([[4, 0, 1]])).all()


def test_answers_that_do_not_count_do_no_harm(crowd):
    weight = np.ones(len(crowd.comparisons))
    weight[::3] = 0
    fit = CrowdMetricCV(crowd.items, radii=[1.0, 4.0], cv=3)
    fit.fit(crowd.comparisons, sample_weight=weight)
    assert np.isfinite(fit.cv_results_["mean_loss"]).all()


def test_inputs_are_left_alone(crowd):
    triples, y = repeated()
    items = np.random.default_rng(0).standard_normal((6, 2))
    copies = [array.copy() for array in (triples, y, items)]
    CrowdMetricCV(items, "frobenius", radii=[(1.0, 1.0)], cv=2).fit(triples, y)
    for array, copy in zip((triples, y, items), copies, strict=True):
        assert_array_equal(array, copy)


# --- natural radii ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*NAMES, "fixed"])
def test_natural_radii_are_positive_and_one_for_each_radius(crowd, name):
    answers = crowd.comparisons.answers()
    problem = Problem(answers, crowd.items.features, losses.Hinge(), regions.PSDOnly())
    make = family(name, 3, None)
    units = natural_radii(problem, make)
    assert len(units) == len(regions.RADII[name]) == make.count
    assert all(0 < unit < np.inf for unit in units)
    assert make(*units).radii == units


def test_natural_radii_follow_the_units_of_the_features(crowd):
    make = family("frobenius", 3, None)
    problem = Problem(
        crowd.comparisons.answers(), crowd.items.features, losses.Logistic(), regions.PSDOnly()
    )
    units = natural_radii(problem, make)
    larger = natural_radii(replace(problem, features=100 * problem.features), make)
    assert_allclose((larger[0] * 100**2, larger[1] * 100), units)


# --- bad input --------------------------------------------------------------------------------

BAD = [
    ({"region": "psd"}, SettingError, "'psd' has no radius to choose: use CrowdMetric"),
    ({"region": regions.PSDOnly}, SettingError, "has no radius to choose: use CrowdMetric"),
    ({"region": "frobenus"}, SettingError, "no region 'frobenus'; did you mean 'frobenius'"),
    ({"region": None}, SettingError, "takes the name of a region.*not None"),
    ({"region": regions.NuclearFull(1.0)}, SettingError, "for given radii use CrowdMetric"),
    ({"radii": []}, SettingError, "no radii to choose from; leave radii out"),
    ({"radii": [(1.0, 2.0)]}, SettingError, "takes 1 radius.*2 were given: 1.0, 2.0"),
    ({"radii": [1.0], "region": "frobenius"}, SettingError, "takes 2 radius.*1 were given"),
    ({"radii": [-1.0]}, SettingError, "radius must be a positive number, not -1"),
    ({"radii": ["wide"]}, DataError, "the radii must be numbers"),
    ({"cv": 1}, SettingError, "cv must be at least 2 folds, not 1"),
    (
        {"cv": 5},
        SettingError,
        "4 different questions cannot make 5 folds; lower cv, or give the radius to CrowdMetric",
    ),
    ({"cv": [([0, 1], []), ([0], [1])]}, DataError, "fold 1 of the cross-validation: there are no"),
    ({"cv": "five"}, ValueError, "cv"),
    ({"dtype": "int"}, SettingError, "dtype must be"),
    ({"items": None}, SettingError, "no items"),
]


@pytest.mark.parametrize(("settings", "error", "sentence"), BAD)
def test_bad_settings_are_refused_in_one_sentence(settings, error, sentence):
    fit = CrowdMetricCV(**{"items": np.eye(4), "cv": 2} | settings)
    triples = [[0, 0, 1], [0, 1, 2], [0, 2, 3], [0, 3, 0], [0, 0, 3]]
    with pytest.raises(error, match=sentence) as caught:
        fit.fit(triples, [1, -1, 1, -1, 1])
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, CrowdMetricError) or settings.get("cv") == "five"


def test_answers_that_cancel_out_are_refused():
    with pytest.raises(DataError, match="the answers cancel out"):
        CrowdMetricCV(np.eye(3), cv=2).fit([[0, 0, 1], [0, 1, 2]], [0, 0])
