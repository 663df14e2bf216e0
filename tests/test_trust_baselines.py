"""Baselines beside the model, against other solvers of the same problems."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import crowdmetric as cm
from crowdmetric.losses import Logistic
from crowdmetric.regions import FixedMetric
from crowdmetric.trust import baselines
from crowdmetric.trust.audit_rounds import Rounds
from crowdmetric.trust.baselines_beside import BASELINES
from crowdmetric.trust.baselines_bradley_terry import fit_bradley_terry
from crowdmetric.trust.baselines_linear import identity, per_person_linear, pooled_linear

CROWD = cm.simulate(20, 3, 1, 4, 60, 1.0, 0)
MODEL = cm.CrowdMetric(CROWD.items, cm.regions.NuclearFull(8.0)).fit(CROWD.comparisons).model_


def regression(rows, response, **settings):
    fit = LogisticRegression(fit_intercept=False, tol=1e-10, max_iter=10_000, **settings)
    return fit.fit(rows, response).coef_[0]


def test_bradley_terry_is_a_logistic_regression_on_who_met_whom():
    answers = CROWD.comparisons.answers()
    rows = np.zeros((len(answers), 20))
    rows[np.arange(len(answers)), answers.right] += 1
    rows[np.arange(len(answers)), answers.left] -= 1
    found = fit_bradley_terry(answers, ridge=0.3)
    assert found.worth == pytest.approx(regression(rows, answers.sign, C=1 / 0.3), abs=1e-4)
    assert 0 <= found.gap < 1e-10


def test_an_item_that_always_wins_has_a_finite_worth():
    triples = [[0, 0, 1], [0, 0, 2], [0, 1, 2]]
    answers = cm.Comparisons.from_arrays(triples, [-1, -1, -1]).answers()
    worth = fit_bradley_terry(answers, ridge=0.1).worth
    assert np.isfinite(worth).all()
    assert worth[0] > worth[1] > worth[2]


def test_linear_baselines_are_logistic_regressions_where_the_radius_does_not_bind():
    x, asked = CROWD.items.features, CROWD.comparisons
    rows = x[asked.left] - x[asked.right]
    pooled, gap = pooled_linear(MODEL).fitted(asked, FixedMetric(np.zeros((3, 3)), 1e3))
    true = rows @ regression(rows, asked.response, C=np.inf)
    assert gap < 1e-5
    assert pooled(asked) == pytest.approx(true, abs=0.02)
    apart, _ = per_person_linear(MODEL).fitted(asked, FixedMetric(np.zeros((3, 3)), 1e3))
    mine = asked.user == 2
    true = rows[mine] @ regression(rows[mine], asked.response[mine], C=np.inf)
    assert apart(asked)[mine] == pytest.approx(true, abs=0.05)


def test_the_identity_metric_is_a_multiple_of_it():
    region = identity(MODEL).chosen(CROWD.comparisons)
    assert region.metric == pytest.approx(region.metric[0, 0] * np.eye(3))
    assert region.metric[0, 0] > 0


def test_all_baselines_stand_beside_the_model_with_their_gaps():
    rounds = Rounds.unseen(CROWD.comparisons, CROWD.test)
    told = []
    found = baselines(MODEL, rounds, lambda *count: told.append(count))
    assert [one.measured.name for one in found] == list(BASELINES)
    assert all(0 <= one.gap <= 1e-5 for one in found)
    assert told[-1] == (5, 5)
    guess = found[0].measured
    side = 1 if (CROWD.comparisons.response > 0).mean() > 0.5 else -1
    assert guess.accuracy.value == pytest.approx((CROWD.test.response == side).mean())


def test_what_baselines_are_best_at_they_win():
    """People who all want the same, linearly: the pooled baselines are right."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, 2))
    triples = np.array([[k, i, j] for k in range(20) for i, j in rng.integers(12, size=(9, 2))])
    triples = triples[triples[:, 1] != triples[:, 2]]
    lead = 2 * (x[triples[:, 2], 0] - x[triples[:, 1], 0])
    response = np.where(rng.random(len(lead)) < Logistic().probability(lead), 1, -1)
    answers = cm.Comparisons.from_arrays(triples, response, n_items=12)
    model = cm.CrowdMetric(x, cm.regions.NuclearFull(8.0), users=20).fit(answers).model_
    found = {
        one.measured.name: one.measured.log_loss.value
        for one in baselines(model, Rounds.folds(answers, 3, seed=0))
    }
    assert min(found, key=found.get) == "pooled linear"
    assert found["pooled Bradley-Terry"] < found["per-person linear"]


class Squares:
    """A feature map with more features than it is given."""

    name = "squares"

    def fit(self, features, names):
        return self

    def transform(self, features):
        return np.column_stack([features, np.square(features)])

    def inverse(self, features):
        return features[:, : features.shape[1] // 2]


def test_baselines_of_a_lifted_model_stay_simple():
    region = cm.regions.NuclearFull(8.0)
    lifted = cm.CrowdMetric(CROWD.items, region, features=Squares()).fit(CROWD.comparisons).model_
    assert lifted.dimension == 6
    assert identity(lifted).make(1.0, 1.0).metric.shape == (3, 3)
    margins, _ = pooled_linear(lifted).fitted(CROWD.comparisons, pooled_linear(lifted).make(5.0))
    x = CROWD.items.features
    rows = x[CROWD.test.left] - x[CROWD.test.right]
    found = margins(CROWD.test)
    assert found == pytest.approx(rows @ np.linalg.lstsq(rows, found)[0])  # linear in the features
