"""The estimators keep to scikit-learn's conventions."""

from __future__ import annotations

import io
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn.utils.estimator_checks as sklearn_checks
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from crowdmetric import CrowdMetric, CrowdMetricCV, losses, regions
from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.splits import PairFolds
from triples import as_arrays

REGION = regions.FrobeniusMetric(8.0, 6.0)


@pytest.fixture(scope="module")
def data(crowd):
    """Return triples, responses, test triples and test responses."""
    return (*as_arrays(crowd.comparisons), *as_arrays(crowd.test))


@pytest.fixture(scope="module")
def fitted(crowd, data):
    return CrowdMetric(crowd.items, REGION).fit(*data[:2])


def of_floats(X):
    """Return triples made of any floats: two users and eight items, never one with itself."""
    table = np.asarray(X, dtype=float)
    table = table if table.ndim == 2 else table.reshape(-1, 1)
    first, last = np.floor(np.abs(table[:, [0, -1]]) * 97).astype(int).T
    left = first % 8
    return np.column_stack([last % 2, left, (left + 1 + last % 7) % 8])


class OverFloats(CrowdMetric):
    """CrowdMetric for the blobs of scikit-learn's checks: rows of floats name comparisons."""

    def fit(self, X, y=None, sample_weight=None):
        labels = np.asarray(y)
        sign = np.where(labels == labels.max(), 1, -1)
        return super().fit(of_floats(X), sign, sample_weight)

    def decision_function(self, X):
        return super().decision_function(of_floats(X))

    def score(self, X, y=None, sample_weight=None):
        return super().score(of_floats(X), np.where(np.asarray(y) > 0, 1, -1), sample_weight)


OF_SETTINGS = (
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_unfitted",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
)
# These feed blobs of floats, which name no users and items: the adapter above turns them into
# triples. The checks in neither list do not apply: they ask for sentences about features, classes
# or types that triples and three fixed answers do not have (check_n_features_in,
# check_dtype_object, check_classifiers_train, ...), or concern transformers and regressors.
OF_DATA = (
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_estimators_fit_returns_self",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_pipeline_consistency",
    "check_readonly_memmap_input",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weights_list",
    "check_sample_weights_not_an_array",
    "check_sample_weights_not_overwritten",
    "check_sample_weights_pandas_series",
    "check_sample_weights_shape",
)


@pytest.mark.parametrize("name", OF_SETTINGS)
@pytest.mark.parametrize("kind", [CrowdMetric, CrowdMetricCV])
def test_scikit_learns_checks_of_settings_pass(kind, name):
    getattr(sklearn_checks, name)(kind.__name__, kind())


@pytest.mark.parametrize("name", OF_DATA)
def test_scikit_learns_checks_of_data_pass(name):
    items = np.random.default_rng(0).standard_normal((8, 2))
    # A tight tolerance, as these checks compare two fits to 1e-7.
    adapted = OverFloats(items, regions.FrobeniusMetric(1.0, 1.0), users=2, tol=1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        getattr(sklearn_checks, name)("OverFloats", adapted)


def test_a_clone_has_the_settings_but_not_the_fit(fitted, data):
    copy = clone(fitted)
    assert copy.get_params().keys() == fitted.get_params().keys()
    assert (copy.region, copy.items.ids) == (fitted.region, fitted.items.ids)
    with pytest.raises(NotFittedError):
        copy.predict(data[0])
    assert_array_equal(copy.fit(*data[:2]).metric_, fitted.metric_)


def test_settings_can_be_read_and_changed(crowd):
    fit = CrowdMetric(crowd.items).set_params(region=REGION, loss="hinge", tol=1e-3)
    assert fit.get_params()["region"] is REGION
    text = repr(fit)
    assert "loss='hinge'" in text
    assert "FrobeniusMetric(radius=8.0" in text


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "decision_function", "score", "get_metric"]
)
def test_not_fitted(crowd, method):
    arguments = [] if method == "get_metric" else [[[0, 0, 1]]]
    with pytest.raises(NotFittedError):
        getattr(CrowdMetric(crowd.items, REGION), method)(*arguments)
    assert not hasattr(CrowdMetric(crowd.items, REGION), "components_")


def test_a_pipeline_may_end_with_it(crowd, data):
    triples, y, test, answers = data
    pipeline = Pipeline(
        [("number", FunctionTransformer(np.asarray)), ("fit", CrowdMetric(crowd.items, REGION))]
    )
    frame = pd.DataFrame(triples, columns=["user", "left", "right"])
    pipeline.fit(frame, pd.Series(y), fit__sample_weight=np.ones(len(y)))
    assert pipeline.score(test, answers) > 0.6
    assert_array_equal(pipeline.predict(test), pipeline["fit"].predict(test))
    assert_array_equal(pipeline.classes_, [-1, 1])


def test_grid_search_over_regions_and_losses(crowd, data):
    triples, y, test, answers = data
    grid = {
        "region": [regions.NuclearFull(0.01), regions.NuclearFull(5.0), REGION],
        "loss": [losses.Logistic(), losses.SquaredHinge()],
    }
    search = GridSearchCV(CrowdMetric(crowd.items), grid, cv=PairFolds(3, random_state=0))
    search.fit(triples, y)
    assert search.best_params_["region"] != regions.NuclearFull(0.01)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.score(test, answers) == search.best_estimator_.score(test, answers)


def test_cross_val_score_over_triples(crowd, data):
    triples, y = data[:2]
    folds = PairFolds(3, random_state=0)
    scores = cross_val_score(CrowdMetric(crowd.items, REGION), triples, y, cv=folds)
    by_hand = [
        CrowdMetric(crowd.items, REGION).fit(triples[a], y[a]).score(triples[b], y[b])
        for a, b in folds.split(triples)
    ]
    assert_allclose(scores, by_hand)
    log_losses = cross_val_score(
        CrowdMetric(crowd.items, REGION), triples, y, cv=folds, scoring="neg_log_loss"
    )
    assert (log_losses > -np.log(2)).all()


def test_joblib_keeps_the_estimator(fitted, data):
    buffer = io.BytesIO()
    joblib.dump(fitted, buffer)
    buffer.seek(0)
    again = joblib.load(buffer)
    assert_array_equal(again.decision_function(data[2]), fitted.decision_function(data[2]))
    assert again.model_.users == fitted.model_.users
    assert not again.model_.metric.flags.writeable


def test_what_scikit_learn_asks_about_a_fit(fitted):
    assert fitted.n_features_in_ == 3
    assert_array_equal(fitted.classes_, [-1, 1])
    assert fitted.__sklearn_tags__().estimator_type == "classifier"
