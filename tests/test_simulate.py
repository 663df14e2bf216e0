"""Simulated crowds: as the paper draws them, calibrated, reproducible, and written whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdmetric.errors import OutputError, SettingError
from crowdmetric.simulation import oracle_radii, simulate

SIZES = st.integers(1, 5).flatmap(lambda d: st.tuples(st.just(d), st.integers(1, d)))


@given(SIZES, st.integers(2, 9), st.integers(1, 4), st.integers(1, 6), st.integers(0, 99))
def test_shapes_and_norms(sizes, n_items, n_users, pairs, seed):
    dimension, rank = sizes
    crowd = simulate(n_items, dimension, rank, n_users, pairs, seed=seed, test_pairs_per_user=2)
    assert crowd.items.features.shape == (n_items, dimension)
    assert crowd.ideal_points.shape == crowd.points.shape == (n_users, dimension)
    assert np.bincount(crowd.comparisons.user).tolist() == [pairs] * n_users
    assert np.bincount(crowd.test.user).tolist() == [2] * n_users
    values = np.linalg.eigvalsh(crowd.metric)
    assert np.linalg.norm(crowd.metric) == pytest.approx(dimension)
    assert values.min() >= -1e-9
    assert int((values > 1e-9 * values.max()).sum()) == rank
    np.testing.assert_allclose(crowd.points, -2 * crowd.ideal_points @ crowd.metric)


def test_items_and_ideal_points_have_covariance_identity_over_d():
    crowd = simulate(n_items=20_000, dimension=4, n_users=20_000, pairs_per_user=1)
    for sample in (crowd.items.features, crowd.ideal_points):
        np.testing.assert_allclose(np.cov(sample.T), np.eye(4) / 4, atol=0.012)
        np.testing.assert_allclose(sample.mean(axis=0), 0, atol=0.02)


def test_a_metric_below_full_rank_has_equal_eigenvalues():
    values = np.linalg.eigvalsh(simulate(dimension=9, rank=4).metric)[::-1]
    np.testing.assert_allclose(values, [9 / 2] * 4 + [0] * 5, atol=1e-9)


def test_margins_are_differences_of_squared_distances(crowd):
    data, x = crowd.comparisons, crowd.items.features

    def distance(item):
        gap = x[item] - crowd.ideal_points[data.user]
        return np.einsum("td,de,te->t", gap, crowd.metric, gap)

    np.testing.assert_allclose(
        crowd.margins(data), distance(data.left) - distance(data.right), atol=1e-12
    )


@pytest.mark.parametrize("noise", [0.5, 1.0, 4.0])
def test_answers_are_as_noisy_as_the_logistic_model_says(noise):
    crowd = simulate(n_items=50, dimension=3, n_users=20, pairs_per_user=2000, noise=noise, seed=3)
    delta = crowd.margins(crowd.comparisons)
    right = 1 / (1 + np.exp(-noise * delta))
    said_right = crowd.comparisons.response == 1
    for low, high in ((0.02, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 0.98)):
        chosen = (right >= low) & (right < high)
        error = np.sqrt(0.25 / chosen.sum())
        assert abs(said_right[chosen].mean() - right[chosen].mean()) < 4 * error
    expected = np.maximum(right, 1 - right).mean()
    assert crowd.truth_accuracy == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("noise", [1e300, 1.7e308])
def test_a_beta_beyond_all_bounds_leaves_no_answer_wrong(noise):
    assert simulate(noise=noise).truth_accuracy == 1.0


def test_pairs_are_uniform_over_ordered_pairs():
    crowd = simulate(n_items=4, dimension=2, n_users=1, pairs_per_user=24_000)
    pairs = 4 * crowd.comparisons.left + crowd.comparisons.right
    counts = np.bincount(pairs, minlength=16).reshape(4, 4)
    assert not counts.diagonal().any()
    assert np.abs(counts[~np.eye(4, dtype=bool)] - 2000).max() < 5 * np.sqrt(2000)


def test_the_seed_decides():
    first, again, other = (simulate(n_items=20, seed=seed) for seed in (5, 5, 6))
    assert np.array_equal(first.items.features, again.items.features)
    assert np.array_equal(first.metric, again.metric)
    assert np.array_equal(first.comparisons.response, again.comparisons.response)
    assert not np.array_equal(first.items.features, other.items.features)


def test_asking_for_more_changes_nothing_else():
    small = simulate(n_items=20, dimension=3, n_users=3, pairs_per_user=10, seed=2)
    more = simulate(n_items=20, dimension=3, n_users=5, pairs_per_user=40, seed=2)
    assert np.array_equal(small.items.features, more.items.features)
    assert np.array_equal(small.metric, more.metric)
    assert np.array_equal(small.ideal_points, more.ideal_points[:3])
    longer = simulate(n_items=20, dimension=3, n_users=3, pairs_per_user=40, seed=2)
    for column in ("user", "left", "right", "response"):
        assert np.array_equal(getattr(small.test, column), getattr(longer.test, column))


def test_the_truth_cannot_be_overwritten(crowd):
    for array in (crowd.metric, crowd.ideal_points, crowd.items.features):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1.0


@pytest.mark.parametrize("rank", [1, 3, 5])
def test_oracle_radii_are_the_smallest_that_hold_the_truth(rank):
    crowd = simulate(dimension=5, rank=rank, n_users=6, pairs_per_user=2)
    radii, points = oracle_radii(crowd), crowd.points
    longest = max(np.linalg.norm(v) for v in points)
    both = np.linalg.norm(np.hstack([crowd.metric, points.T]), ord="nuc")
    assert radii["frobenius"] == pytest.approx((np.linalg.norm(crowd.metric), longest))
    assert radii["nuclear-metric"] == pytest.approx((np.trace(crowd.metric), longest))
    nuclear = np.linalg.norm(points, ord="nuc")
    assert radii["nuclear-split"] == pytest.approx((np.trace(crowd.metric), nuclear))
    assert radii["nuclear-full"] == pytest.approx((both,))
    assert len(radii["nuclear-full-single"]) == 6
    assert max(radii["nuclear-full-single"]) <= both
    assert radii["psd"] == ()


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("frobenius", "FrobeniusMetric"),
        ("nuclear-metric", "NuclearMetric"),
        ("nuclear-split", "NuclearSplit"),
        ("nuclear-full", "NuclearFull"),
    ],
)
def test_every_region_of_oracle_radii_contains_the_truth(crowd, name, make):
    from crowdmetric import regions

    radii = oracle_radii(crowd)[name]
    region = getattr(regions, make)
    assert region(*radii).violation(crowd.metric, crowd.points) <= 1e-9
    tight = region(*(0.99 * radius for radius in radii))
    assert tight.violation(crowd.metric, crowd.points) > 1e-4


def test_what_is_written_is_what_is_read(crowd, tmp_path):
    from crowdmetric.readers import read_comparisons, read_items

    folder = tmp_path / "new" / "folder"
    crowd.write(folder)
    items = read_items(folder / "items.csv")
    assert np.array_equal(items.features, crowd.items.features)
    assert items.names == crowd.items.names
    assert [str(name) for name in items.ids] == [str(name) for name in crowd.items.ids]
    for name, written in (("comparisons", crowd.comparisons), ("test", crowd.test)):
        data = read_comparisons(folder / f"{name}.csv", items)
        assert data.users == written.users
        for column in ("user", "left", "right", "response"):
            assert np.array_equal(getattr(data, column), getattr(written, column))
    with np.load(folder / "truth.npz") as truth:
        assert np.array_equal(truth["metric"], crowd.metric)
        assert np.array_equal(truth["points"], crowd.points)
        assert truth["users"].tolist() == list(crowd.comparisons.users)
    assert len(list(folder.iterdir())) == 4


def test_a_folder_that_cannot_be_made_is_named(crowd, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError, match="the folder cannot be made"):
        crowd.write(tmp_path / "file" / "folder")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_items": 1}, "n_items must be at least 2"),
        ({"dimension": 0}, "dimension must be at least 1"),
        ({"n_users": 0}, "n_users must be at least 1"),
        ({"pairs_per_user": 0}, "pairs_per_user must be at least 1"),
        ({"test_pairs_per_user": 0}, "test_pairs_per_user must be at least 1"),
        ({"dimension": 3, "rank": 4}, "rank must lie between 1 and the dimension 3"),
        ({"rank": 0}, "rank must lie between"),
        ({"noise": 0.0}, "noise must be a positive number"),
        ({"noise": float("inf")}, "noise must be a positive number"),
        ({"n_items": 10**30}, r"n_items \* dimension must be at most 1000000000, not 10{31};"),
        ({"dimension": 40_000}, r"dimension \* dimension must be at most"),
        ({"n_users": 10**9}, r"n_users \* dimension must be at most"),
        ({"pairs_per_user": 10**9}, r"n_users \* pairs_per_user must be at most"),
        ({"test_pairs_per_user": 10**9}, r"n_users \* test_pairs_per_user must be at most"),
        ({"seed": -1}, "seed must not be negative"),
    ],
)
def test_impossible_crowds_are_refused(settings, words):
    with pytest.raises(SettingError, match=words):
        simulate(**settings)
