"""Designs: the paper's construction, completion and random pairs, against dense linear algebra."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.design import Design, Unseen, complete, minimal_design, random_design
from crowdmetric.design.items import degrees_of_metric, fewest_items
from crowdmetric.design.minimal import minimal_triples
from crowdmetric.design.questions import certify_all
from crowdmetric.design.random_pairs import check_pairs
from crowdmetric.errors import DataError, SettingError
from crowdmetric.identify.selection import is_incremental
from crowdmetric.identify.system import LinearSystem
from crowdmetric.simulation import simulate


def dense_system(features: np.ndarray, triples: np.ndarray, n_users: int) -> np.ndarray:
    """Return Gamma of eq:full-linear-system, entry by entry."""
    d = features.shape[1]
    upper = np.triu_indices(d)
    squares = np.array([np.outer(x, x)[upper] for x in features])
    rows = np.zeros((len(triples), len(upper[0]) + d * n_users))
    for row, (user, left, right) in zip(rows, triples, strict=True):
        row[: len(upper[0])] = squares[left] - squares[right]
        start = len(upper[0]) + d * user
        row[start : start + d] = features[left] - features[right]
    return rows


def dense_rank(features: np.ndarray, triples: np.ndarray, n_users: int) -> int:
    """Return the rank of Gamma."""
    return int(np.linalg.matrix_rank(dense_system(features, triples, n_users)))


def triples_of(design: Design) -> np.ndarray:
    """Return user, left and right of each question."""
    return np.column_stack([design.user, design.left, design.right]).astype(np.int64)


def normal_items(seed: int, n_items: int, dimension: int) -> Items:
    """Return random items."""
    return Items.from_arrays(np.random.default_rng(seed).standard_normal((n_items, dimension)))


def check_balanced(design: Design) -> None:
    """Check that nobody sees an item more than once more often on one side than on the other."""
    for user in range(len(design.users)):
        mine = design.user == user
        sides = [np.bincount(side[mine], minlength=99) for side in (design.left, design.right)]
        assert np.abs(sides[0] - sides[1]).max() <= 1


@given(st.integers(1, 4), st.integers(1, 13), st.integers(0, 2**32 - 1))
def test_the_construction_has_full_rank_on_random_items(dimension, n_users, seed):
    n_items, degrees = fewest_items(dimension), degrees_of_metric(dimension)
    triples = minimal_triples(dimension, n_users)
    assert len(triples) == degrees + dimension * n_users
    assert np.unique(triples[:, 1:]).tolist() == list(range(n_items))
    per_user = np.bincount(triples[:, 0], minlength=n_users)
    assert per_user.min() >= dimension
    assert per_user.max() - per_user.min() <= 1
    items = normal_items(seed, n_items, dimension)
    system = LinearSystem.of(items.features, *triples.T, n_users)
    assert system.determined
    assert dense_rank(items.features, triples, n_users) == len(triples)


@given(st.integers(1, 4), st.integers(1, 8))
def test_the_construction_satisfies_the_sufficient_condition(dimension, n_users):
    triples = minimal_triples(dimension, n_users)
    mine = [triples[triples[:, 0] == user, 1:] for user in range(n_users)]
    shared = np.concatenate([pairs[dimension:] for pairs in mine])  # S^(2) of prop:incSuf
    for pairs in mine:
        together = np.concatenate([pairs[:dimension], shared])
        assert is_incremental(together, fewest_items(dimension))


@given(st.integers(1, 3), st.integers(1, 9), st.integers(0, 20), st.integers(0, 99))
def test_minimal_designs_of_given_items(dimension, n_users, spare, seed):
    items = normal_items(seed, fewest_items(dimension) + spare, dimension)
    design = minimal_design(items, n_users, seed)
    needed = degrees_of_metric(dimension) + dimension * n_users
    assert len(design) == needed == dense_rank(items.features, triples_of(design), n_users)
    assert (design.certificate.rank, design.certificate.needed) == (needed, needed)
    used = {*design.left.tolist(), *design.right.tolist()}
    assert len(used) == fewest_items(dimension)
    check_balanced(design)


def test_minimal_designs_find_the_items_that_do():
    # A grid of three levels: most sets of as many of its items determine nothing.
    grid = np.array(list(itertools.product([0.0, 1.0, 2.0], repeat=3)))
    items = Items.from_arrays(grid * [1.0, 1e4, 1e-4] + [0.0, 1e6, 3.0])
    design = minimal_design(items, ["ann", "bob"])
    assert design.certificate.determined
    first = minimal_triples(3, 2)
    assert dense_rank(grid, first, 2) < len(first)
    assert dense_rank(grid, triples_of(design), 2) == len(first)


def test_minimal_designs_of_unseen_items():
    design = minimal_design(Unseen(fewest_items(4), 4), users=3)
    assert design.certificate.generic
    assert design.certificate.determined
    assert len(design) == 10 + 4 * 3
    few = random_design(Unseen(40, 3), users=5, pairs=4)
    assert not few.certificate.determined
    assert few.certificate.rank == 20


def test_exact_answers_to_a_minimal_design_give_the_truth_back():
    crowd = simulate(n_items=40, dimension=4, rank=4, n_users=7, pairs_per_user=1)
    design = minimal_design(crowd.items, 7)
    measured = crowd.margins(design.comparisons)
    system = LinearSystem.of(crowd.items.features, design.user, design.left, design.right, 7)
    metric, points, _ = system.solve(measured)
    np.testing.assert_allclose(metric, crowd.metric, atol=1e-9)
    np.testing.assert_allclose(points, crowd.points, atol=1e-9)


@given(
    st.integers(1, 3), st.integers(1, 5), st.integers(1, 30), st.integers(0, 3), st.integers(0, 999)
)
def test_completion_asks_exactly_what_is_missing(dimension, n_users, count, newcomers, seed):
    rng = np.random.default_rng(seed)
    n_items = fewest_items(dimension) + int(rng.integers(4))
    # Whole numbers: dependent rows are exactly dependent, and some happen by themselves.
    items = Items.from_arrays(rng.integers(-9, 10, (n_items, dimension)) + 0.0)
    everything = np.array([(0, *pair) for pair in itertools.combinations(range(n_items), 2)])
    left = rng.integers(n_items, size=count)
    right = (left + rng.integers(1, n_items, size=count)) % n_items
    triples = np.column_stack([rng.integers(n_users, size=count), left, right])
    collected = Comparisons.from_arrays(
        triples, np.ones(count), users=range(n_users), item_ids=items.ids
    )
    ids = [*range(n_users), *(f"new{k}" for k in range(newcomers))]
    degrees = degrees_of_metric(dimension)
    if dense_rank(items.features, everything, 1) < degrees + dimension:
        with pytest.raises(DataError):
            complete(items, collected, ids)
        return
    design = complete(items, collected, ids, seed)
    needed = degrees + dimension * len(ids)
    before = dense_rank(items.features, triples, len(ids))
    together = np.concatenate([triples, triples_of(design)])
    assert list(design.users) == ids
    assert len(design) == needed - before
    assert dense_rank(items.features, together, len(ids)) == needed
    assert design.certificate.determined
    check_balanced(design)


def test_completion_shares_the_work():
    crowd = simulate(n_items=60, dimension=4, n_users=6, pairs_per_user=4)
    everybody = complete(crowd.items, crowd.comparisons)
    per_user = np.bincount(everybody.user, minlength=6)
    assert per_user.sum() == 10
    assert per_user.max() - per_user.min() <= 1


def test_nothing_is_missing_from_a_determined_data_set():
    crowd = simulate(n_items=30, dimension=2, n_users=3, pairs_per_user=20)
    design = complete(crowd.items, crowd.comparisons)
    assert (len(design), design.n_asked, design.certificate.determined) == (0, 0, True)


@given(st.integers(2, 12), st.integers(1, 4), st.data())
def test_random_pairs_are_distinct_and_balanced(n_items, n_users, data):
    there_are = n_items * (n_items - 1) // 2
    pairs = data.draw(st.integers(1, there_are))
    seed = data.draw(st.integers(0, 999))
    design = random_design(normal_items(seed, n_items, 2), n_users, pairs, seed)
    for user in design.users:
        mine = design.pairs_of(user)
        assert len({frozenset(pair) for pair in mine}) == len(mine) == pairs
        assert all(left != right for left, right in mine)
    assert design.certificate.rank <= design.certificate.needed
    check_balanced(design)


def test_all_pairs_are_equally_likely():
    design = random_design(normal_items(0, 6, 1), 6000, 5)
    pairs = np.sort(np.column_stack([design.left, design.right]), axis=1)
    _, counts = np.unique(pairs, axis=0, return_counts=True)
    assert len(counts) == 15
    # Each pair is asked of a third of the users: standard deviation 37.
    assert np.abs(counts - 2000).max() < 150


def test_the_crowd_is_balanced_too():
    design = minimal_design(normal_items(0, 30, 3), 40)
    lead = np.bincount(design.left, minlength=30) - np.bincount(design.right, minlength=30)
    assert np.abs(lead).max() <= 4


def test_the_same_seed_gives_the_same_design_and_another_one_another():
    items = normal_items(0, 30, 2)
    for make in (
        lambda seed: minimal_design(items, 5, seed),
        lambda seed: random_design(items, 5, 8, seed),
    ):
        assert np.array_equal(triples_of(make(1)), triples_of(make(1)))
        assert not np.array_equal(triples_of(make(1)), triples_of(make(2)))


@pytest.mark.parametrize(
    ("features", "says"),
    [
        (np.eye(3), "a metric on 3 features needs at least 10 items, and there are 3; add items"),
        (np.eye(2)[:, :1], "a metric on 1 feature needs at least 3 items, and there are 2; add"),
        ([[0.0, 1.0]] * 9, "the feature 'x0' takes no more than two values"),
        (np.outer(np.arange(9), [1.0, 2.0]), "1 of the 2 features can be computed from the others"),
        (
            # Twelve points on a circle: x squared plus y squared is the same everywhere.
            np.column_stack([f(np.arange(12) * np.pi / 6) for f in (np.cos, np.sin)]),
            "all pairs of these items determine 4 of the 5 numbers",
        ),
    ],
)
def test_items_that_determine_no_metric_are_refused(features, says):
    items = Items.from_arrays(features)
    with pytest.raises(DataError, match=says):
        minimal_design(items, 3)


def test_items_that_rounding_hides_are_refused():
    # Beside a million, doubles have steps of 1e-10, and these spreads of 1e-9 are mostly rounding.
    features = 1e6 + 1e-9 * np.random.default_rng(0).standard_normal((30, 4))
    with pytest.raises(DataError, match="4 of the 4 features can be computed"):
        minimal_design(Items.from_arrays(features), 2)
    with pytest.raises(DataError, match="rounding hides what answers about them determine"):
        certify_all(normal_items(0, 9, 2), minimal_triples(2, 2)[1:], 2)


def test_impossible_requests_are_refused():
    items = normal_items(0, 6, 1)
    with pytest.raises(DataError, match="16 pairs cannot be asked of each user: 6 items make 15"):
        random_design(items, 2, 16)
    with pytest.raises(SettingError, match="at least 1 pair, not 0"):
        random_design(items, 2, 0)
    with pytest.raises(SettingError, match="are more than 100000000 questions"):
        check_pairs(15, 6, 10**7)
    for users in (0, -1, []):
        with pytest.raises(SettingError, match=r"number of users must lie|there are no users"):
            minimal_design(items, users)
    with pytest.raises(SettingError, match="users must be a list of ids"):
        minimal_design(items, "ann")
    with pytest.raises(DataError, match="the user 'ann' is given twice"):
        minimal_design(items, ["ann", "ann"])
    with pytest.raises(DataError, match="at least 6 items, and there are 5"):
        minimal_design(Unseen(5, 2), 2)
    with pytest.raises(SettingError, match="the count of the items must be at least 2, not 1"):
        Unseen(1, 1)
