"""What features are worth: shares of distances, checked against the distances themselves."""

from __future__ import annotations

import numpy as np
import pytest

from crowdmetric import worth


@pytest.fixture
def metric():
    root = np.random.default_rng(0).standard_normal((4, 3))
    return root @ root.T


def test_shares_of_features_that_do_not_vary_together_are_shares_of_squared_distances(metric):
    corners = np.array(np.meshgrid([0, 1], [0, 2], [0, 3], [0, 4])).reshape(4, -1).T.astype(float)
    gaps = (corners[:, None] - corners[None]).reshape(-1, 4)
    total = np.einsum("ki,ij,kj->", gaps, metric, gaps)
    parts = (gaps**2).sum(axis=0) * metric.diagonal()
    np.testing.assert_allclose(worth.feature_shares(metric, corners), parts / total)


def test_a_pair_adds_what_its_two_features_do_not_explain_alone(metric):
    features = np.random.default_rng(1).standard_normal((20, 4)) * [1.0, 2.0, 3.0, 4.0]
    shares, pairs = worth.feature_shares(metric, features), worth.pair_shares(metric, features)
    gap = np.array([features[:, 0].std(), 0.0, features[:, 2].std(), 0.0])
    unit = features.var(axis=0) @ metric.diagonal()
    assert shares[0] + shares[2] + pairs[0, 2] == pytest.approx(gap @ metric @ gap / unit)
    np.testing.assert_array_equal(pairs, pairs.T)
    assert not pairs.diagonal().any()


def test_shares_do_not_depend_on_the_units(metric):
    features, units = np.random.default_rng(1).standard_normal((9, 4)), np.array([1e3, 1, 1e-3, 7])
    other = metric / np.outer(units, units)
    for share in (worth.feature_shares, worth.pair_shares):
        np.testing.assert_allclose(share(other, features * units), share(metric, features))


def test_where_nothing_is_measured_nothing_is_worth_anything(metric):
    assert not worth.feature_shares(np.zeros((4, 4)), np.eye(4)).any()
    assert not worth.pair_shares(metric, np.ones((1, 4))).any()
    assert worth.effective_rank(np.zeros((4, 4))) == 0.0


def test_the_effective_rank_lies_between_1_and_the_rank(metric):
    assert 1.0 < worth.effective_rank(metric) < 3.0
    assert worth.effective_rank(7.0 * metric) == pytest.approx(worth.effective_rank(metric))
    assert worth.effective_rank(np.diag([1.0, 1e-13])) == 1.0
