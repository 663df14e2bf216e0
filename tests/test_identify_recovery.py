"""Exact recovery: the truth comes back, noise stays noise, and a refusal says what is missing."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdmetric.comparisons import Items
from crowdmetric.errors import DataError, IdentifiabilityError, RowError
from crowdmetric.identify import LinearSystem, recover
from crowdmetric.identify.words import open_metric


def crowd(seed: int, d: int, n_users: int, extra: int = 0, rank: int | None = None):
    """Return items, questions (the fewest, and some more), exact differences, M and u_k."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(6 * d * d + 20, d))
    root = rng.normal(size=(d, d if rank is None else rank))
    metric, ideal = root @ root.T, rng.normal(size=(n_users, d))
    user = np.resize(np.arange(n_users), d * (d + 1) // 2 + d * n_users + extra)
    left = rng.integers(0, len(features), len(user))
    right = (left + rng.integers(1, len(features), len(user))) % len(features)
    apart = features[None] - ideal[:, None]
    squared = np.einsum("kni,ij,knj->kn", apart, metric, apart)
    triples = np.column_stack([user, left, right])
    return features, triples, squared[user, left] - squared[user, right], metric, ideal


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 6))
def test_the_truth_comes_back(seed: int, d: int, n_users: int) -> None:
    features, triples, differences, metric, ideal = crowd(seed, d, n_users, extra=5)
    found = recover(features, triples, differences)
    size = np.linalg.norm(metric)
    assert np.linalg.norm(found.metric - metric) < 1e-6 * size
    assert found.points == pytest.approx(-2 * ideal @ metric, abs=1e-5 * size)
    assert np.abs(found.residuals).max() < 1e-8 * max(np.abs(differences).max(), size)
    assert np.linalg.norm(found.psd_metric - metric) < 1e-6 * size
    assert found.moved < 1e-6


def test_ideal_points_come_back() -> None:
    features, triples, differences, _, ideal = crowd(0, 3, 4, extra=20)
    found = recover(features, triples, differences)
    assert found.ideal_points == pytest.approx(ideal, abs=1e-8)


def test_a_metric_of_low_rank_needs_no_more() -> None:
    features, triples, differences, metric, ideal = crowd(1, 5, 3, extra=20, rank=1)
    found = recover(features, triples, differences)
    assert found.metric == pytest.approx(metric, abs=1e-8)
    nearest = np.linalg.pinv(metric, rcond=1e-8) @ metric @ ideal.T
    assert found.points == pytest.approx(-2 * ideal @ metric, abs=1e-8)
    assert np.linalg.pinv(found.psd_metric, rcond=1e-6) @ found.points.T / -2 == pytest.approx(
        nearest, abs=1e-6
    )


def test_years_and_millions_are_recovered_too() -> None:
    scale, zero = np.array([1.0, 1e6, 1e-3]), np.array([2000.0, 0.0, 1.0])
    features, triples, _, metric, ideal = crowd(5, 3, 4, extra=30)
    metric_there = metric / np.outer(scale, scale)
    items, points = features * scale + zero, ideal * scale + zero
    apart = items[None] - points[:, None]
    squared = np.einsum("kni,ij,knj->kn", apart, metric_there, apart)
    user, left, right = triples.T
    found = recover(items, triples, squared[user, left] - squared[user, right])
    assert found.metric * np.outer(scale, scale) == pytest.approx(metric, abs=1e-6)
    assert found.points * scale == pytest.approx(-2 * (points / scale) @ metric, rel=1e-6)


def test_noise_is_left_over_and_the_projection_is_the_nearest() -> None:
    features, triples, differences, metric, _ = crowd(2, 3, 4, extra=400, rank=1)
    noise = 0.3 * np.random.default_rng(9).normal(size=len(differences))
    found = recover(Items.from_arrays(features), triples, differences + noise)
    spread = np.sqrt((found.residuals**2).sum() / 400)
    assert spread == pytest.approx(0.3, rel=0.15)
    assert np.linalg.norm(found.metric - metric) < 0.1 * np.linalg.norm(metric)
    values, vectors = np.linalg.eigh(found.metric)
    assert values[0] < 0
    assert found.psd_metric == pytest.approx((vectors * values.clip(0)) @ vectors.T)
    assert np.linalg.eigvalsh(found.psd_metric)[0] > -1e-12
    lost = np.sqrt((values.clip(max=0) ** 2).sum() / (values**2).sum())
    assert found.moved == pytest.approx(lost)


def test_users_are_named() -> None:
    features, triples, differences, _, _ = crowd(3, 2, 2, extra=3)
    found = recover(features, triples, differences, users=["ann", "bob"])
    assert found.users == ("ann", "bob")
    assert "2 features, 2 users" in repr(found)
    copy = pickle.loads(pickle.dumps(found))
    assert not copy.metric.flags.writeable


def test_a_refusal_names_users() -> None:
    features, triples, differences, _, _ = crowd(4, 3, 2, extra=10)
    with pytest.raises(IdentifiabilityError) as caught:
        recover(features, triples, differences, users=["ann", "bob", "eve"])
    assert caught.value.reasons == (
        "user 'eve' needs at least 3 more independent questions (0 of 3)",
    )
    assert "ask other questions too" in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_refusal_names_directions_of_the_metric() -> None:
    """Nobody was asked about two items that differ in comfort."""
    rng = np.random.default_rng(7)
    items = Items.from_arrays(
        np.column_stack([rng.normal(size=(20, 2)), np.zeros(20)]),
        names=["price", "time", "comfort"],
    )
    triples = [[0, i, i + 1] for i in range(19)]
    with pytest.raises(IdentifiabilityError) as caught:
        recover(items, triples, np.zeros(19))
    user, metric = caught.value.reasons
    assert user == "user 0 needs at least 1 more independent question (2 of 3)"
    assert metric == (
        "the metric may change in 3 ways without a trace: the worth of 'price' and 'comfort' "
        "together; the worth of 'time' and 'comfort' together; the worth of 'comfort'"
    )
    assert "no questions about these items determine more than 3 of the 6" in str(caught.value)


def test_a_refusal_says_when_there_are_too_few_items() -> None:
    features = np.random.default_rng(0).normal(size=(5, 2))
    triples = [[0, i, j] for i in range(5) for j in range(i)]
    with pytest.raises(IdentifiabilityError, match="2 features need at least 6 items, and there"):
        recover(features, triples, np.zeros(10))


@given(st.integers(0, 2**32), st.integers(1, 6))
def test_the_ways_in_words_span_what_is_undetermined(seed: int, fewer: int) -> None:
    features, triples, _, _, _ = crowd(seed, 3, 2)
    system = LinearSystem.of(features, *triples[:-fewer].T, 2)
    items = Items.from_arrays(features)
    assert len(open_metric(system, items)) == 6 - system.rank_of_metric


@pytest.mark.parametrize(
    ("triples", "differences", "users", "error", "message"),
    [
        (np.empty((0, 3), dtype=int), [], None, DataError, "no measurements"),
        ([[0, 0, 0]], [1.0], None, RowError, "compared with itself"),
        ([[0, 0, 9]], [1.0], None, RowError, "outside 0..2"),
        ([[1, 0, 1]], [1.0], ["ann"], RowError, "the user code 1 is outside 0..0"),
        ([[0, 0, 1]], [1.0], "ann", ValueError, "a list of ids"),
        ([[0, 0, 1]], [1.0], ["ann", "ann"], RowError, "given twice"),
        ([[0, 0, 1], [0, 1, 2]], [1.0, np.nan], None, RowError, "row 2: the difference is nan"),
        ([[0, 0, 1], [0, 1, 2]], [1.0], None, DataError, "there are 1 differences but 2"),
    ],
)
def test_bad_measurements_are_refused(triples, differences, users, error, message: str) -> None:
    with pytest.raises(error, match=message):
        recover([[0.0], [1.0], [3.0]], triples, differences, users)
