"""The linear system of all questions: the same ranks and solutions as dense linear algebra."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdmetric.errors import DataError, RowError
from crowdmetric.identify import LinearSystem, by_user, selection_matrix


def dense(features, user, left, right, n_users: int) -> np.ndarray:
    """Return the matrix of eq:full-linear-system; a metric is its upper triangle, row by row."""
    features = np.asarray(features, dtype=float)
    d = features.shape[1]
    first, second = np.triu_indices(d)
    squares = features[:, first] * features[:, second] * np.where(first == second, 1.0, 2.0)
    matrix = np.zeros((len(user), len(first) + d * n_users))
    pairs = np.column_stack([left, right]).reshape(-1, 2)
    selected = selection_matrix(pairs, len(features)) @ np.hstack([squares, features])
    matrix[:, : len(first)] = selected[:, : len(first)]
    for row, k in enumerate(user):
        start = len(first) + d * k
        matrix[row, start : start + d] = selected[row, len(first) :]
    return matrix


def flat(metric: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the unknowns in the order of the dense matrix."""
    return np.concatenate([metric[np.triu_indices(len(metric))], points.ravel()])


@st.composite
def questions(draw, most: int = 40):
    """Draw items in general position, on a grid, or flat, and who was asked what."""
    d, n_users = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    n_items, count = draw(st.integers(2, 25)), draw(st.integers(0, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    features = rng.normal(size=(n_items, d))
    kind = draw(st.sampled_from(["any", "grid", "flat", "corners"]))
    if kind == "grid":
        features = rng.integers(-2, 3, size=(n_items, d)).astype(float)
    elif kind == "flat":
        features[:, -1] = features @ rng.integers(0, 2, d) if d > 1 else 1.0
        features[:, -1] -= features[:, 0] if d == 2 else 0.0
    elif kind == "corners":
        features = np.eye(max(n_items, d))[:n_items, :d]
    user = rng.integers(0, n_users, count)
    left = rng.integers(0, n_items, count)
    right = (left + rng.integers(1, n_items, count)) % n_items
    return features, user, left, right, n_users


@given(questions())
def test_ranks_are_those_of_dense_algebra(asked) -> None:
    features, user, left, right, n_users = asked
    system = LinearSystem.of(*asked)
    d = features.shape[1]
    size = d * (d + 1) // 2
    matrix = dense(*asked)
    rank = np.linalg.matrix_rank(matrix, rtol=1e-10) if len(user) else 0
    assert system.rank == rank
    assert system.needed == matrix.shape[1]
    assert system.determined == (rank == matrix.shape[1])
    of_user = [
        np.linalg.matrix_rank(features[left[user == k]] - features[right[user == k]], rtol=1e-10)
        if (user == k).any()
        else 0
        for k in range(n_users)
    ]
    assert system.rank_of_user.tolist() == of_user
    assert system.rank_of_metric == rank - sum(of_user)
    assert system.undetermined_metrics().shape == (size - system.rank_of_metric, d, d)


@given(questions())
def test_the_null_space_is_all_that_leaves_no_trace(asked) -> None:
    system = LinearSystem.of(*asked)
    metrics, points = system.null_space()
    assert len(metrics) == len(points) == system.needed - system.rank
    if not len(metrics):
        return
    unknowns = np.array([flat(*pair) for pair in zip(metrics, points, strict=True)])
    assert np.abs(dense(*asked) @ unknowns.T).max(initial=0.0) < 1e-9 * np.abs(unknowns).max()
    unknowns /= np.linalg.norm(unknowns, axis=1, keepdims=True)
    assert np.linalg.matrix_rank(unknowns) == len(unknowns)


@given(questions())
def test_undetermined_metrics_are_orthonormal_and_part_of_the_null_space(asked) -> None:
    system = LinearSystem.of(*asked)
    metrics = system.undetermined_metrics()
    assert np.array_equal(metrics, np.swapaxes(metrics, -1, -2))
    gram = np.einsum("aij,bij->ab", metrics, metrics)
    assert gram == pytest.approx(np.eye(len(metrics)), abs=1e-9)
    if len(metrics):
        both = np.concatenate([metrics, system.null_space()[0][: len(metrics)]])
        assert np.linalg.matrix_rank(both.reshape(len(both), -1), rtol=1e-9) == len(metrics)
    for user, rank in enumerate(system.rank_of_user):
        alone = system.undetermined_points(user)
        assert alone @ alone.T == pytest.approx(np.eye(asked[0].shape[1] - rank), abs=1e-9)
        mine = asked[1] == user
        apart = asked[0][asked[2][mine]] - asked[0][asked[3][mine]]
        assert np.abs(apart @ alone.T).max(initial=0.0) < 1e-9


@given(questions(), st.integers(0, 2**32))
def test_least_squares_is_that_of_dense_algebra(asked, seed: int) -> None:
    count = len(asked[1])
    measured = np.random.default_rng(seed).normal(size=count)
    matrix = dense(*asked)
    metric, points, residual = LinearSystem.of(*asked).solve(measured)
    best = np.linalg.lstsq(matrix, measured, rcond=1e-10)[0] if count else np.zeros(matrix.shape[1])
    assert residual == pytest.approx(measured - matrix @ best, abs=1e-8)
    assert measured - matrix @ flat(metric, points) == pytest.approx(residual, abs=1e-7)
    if np.linalg.matrix_rank(matrix, rtol=1e-7) == matrix.shape[1]:
        assert flat(metric, points) == pytest.approx(best, rel=1e-5, abs=1e-5)


@given(questions(most=60))
def test_users_with_many_answers_are_folded(asked) -> None:
    """With the least rows at a time, nearly every user comes alone, and in parts."""
    measured = np.sin(np.arange(len(asked[1])))
    whole = LinearSystem.of(*asked)
    expected = whole.solve(measured)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_user, "_NUMBERS", 1)
        parts = LinearSystem.of(*asked)
        found = parts.solve(measured)
    assert parts.rank_of_user.tolist() == whole.rank_of_user.tolist()
    assert parts.rank == whole.rank
    assert found[2] == pytest.approx(expected[2], abs=1e-8)


@given(questions(), st.integers(-6, 6), st.floats(-1e3, 1e3))
def test_units_zeros_mirrors_and_repeats_leave_the_rank(asked, power: int, shift: float) -> None:
    features, user, left, right, n_users = asked
    rank = LinearSystem.of(*asked).rank
    units = 10.0 ** (power * np.arange(features.shape[1]) / 2)
    moved = (features + shift * (np.abs(features).max(axis=0) > 0)) * units
    assert LinearSystem.of(moved, user, left, right, n_users).rank == rank
    again = [np.concatenate(two) for two in ((user, user), (left, right), (right, left))]
    assert LinearSystem.of(features, *again, n_users).rank == rank


def test_rounding_is_not_taken_for_information() -> None:
    """Thousands of users with d answers each tell nothing about the metric; one more each does."""
    rng = np.random.default_rng(3)
    d, n_users = 6, 3000
    features = rng.lognormal(sigma=1.5, size=(400, d)) * 10.0 ** np.arange(d) + 2000.0
    user = np.repeat(np.arange(n_users), d)
    left = rng.integers(0, 400, len(user))
    right = (left + rng.integers(1, 400, len(user))) % 400
    system = LinearSystem.of(features, user, left, right, n_users)
    assert system.rank_of_metric == 0
    assert (system.rank_of_user == d).mean() > 0.99
    columns = np.column_stack([user, left, right])
    more = np.column_stack([np.arange(21), np.arange(21), np.full(21, 99)])
    longer = np.vstack([columns, more]).T
    assert LinearSystem.of(features, *longer, n_users).rank_of_metric == d * (d + 1) // 2


def test_the_fewest_questions_are_enough_in_many_dimensions() -> None:
    """D + d K random questions about random items: a square system, of full rank."""
    rng = np.random.default_rng(4)
    d, n_users = 12, 20
    count = d * (d + 1) // 2 + d * n_users
    user = np.resize(np.arange(n_users), count)
    left = rng.integers(0, 300, count)
    right = (left + rng.integers(1, 300, count)) % 300
    assert LinearSystem.of(rng.normal(size=(300, d)), user, left, right, n_users).determined
    fewer = (column[:-1] for column in (user, left, right))
    system = LinearSystem.of(rng.normal(size=(300, d)), *fewer, n_users)
    assert system.rank == system.needed - 1


def test_the_pathological_example_of_section_2() -> None:
    """Items e_1, ..., e_d and ideal points that favour no feature: every difference is zero."""
    d, n_users = 5, 3
    pairs = np.array([(k, i, j) for k in range(n_users) for i in range(d) for j in range(i)])
    for scale in (1.0, 2.0):
        points = np.arange(n_users)[:, None] * np.ones(d)
        squared = scale * ((np.eye(d)[None] - points[:, None]) ** 2).sum(axis=-1)
        assert (squared[pairs[:, 0], pairs[:, 1]] == squared[pairs[:, 0], pairs[:, 2]]).all()
    system = LinearSystem.of(np.eye(d), *pairs.T, n_users)
    assert not system.determined
    assert system.rank_of_metric == 0
    assert (system.rank_of_user == d - 1).all()


def test_memory_does_not_grow_with_the_questions() -> None:
    """Beyond a few copies of the columns themselves."""
    rng = np.random.default_rng(0)
    count, d = 100_000, 12
    features = rng.normal(size=(300, d))
    columns = np.column_stack([rng.integers(0, 2, count), rng.integers(0, 150, count)])
    right = columns[:, 1] + rng.integers(1, 150, count)
    tracemalloc.start()
    system = LinearSystem.of(features, columns[:, 0], columns[:, 1], right, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert system.determined
    assert peak < count * 8 * 10 + 32 * 2**20  # the rows alone would be 72 MB


def test_nobody_asked() -> None:
    nobody = np.empty(0, dtype=int)
    system = LinearSystem.of(np.eye(3), nobody, nobody, nobody, n_users=2)
    assert (system.rank, system.needed) == (0, 12)
    metric, points, residual = system.solve([])
    assert not metric.any()
    assert not points.any()
    assert len(residual) == 0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.eye(2), [0], [0], [0], 1), RowError, "row 1: the item 0 is compared with itself"),
        ((np.eye(2), [1], [0], [1], 1), RowError, "the user code 1 is outside 0..0"),
        ((np.eye(2), [0], [0], [2], 1), RowError, "the right item code 2 is outside"),
        ((np.eye(2), [0, 0], [0], [1], 1), DataError, "there are 1 items but 2 users"),
        ((np.eye(2), [0], [0], [1], 0), DataError, "at least one user"),
        (([[np.nan], [1.0]], [0], [0], [1], 1), DataError, "NaN or infinite"),
    ],
)
def test_impossible_questions_are_refused(arguments, error, message: str) -> None:
    with pytest.raises(error, match=message):
        LinearSystem.of(*arguments)


@pytest.mark.parametrize(
    ("measured", "error", "message"),
    [
        ([1.0], DataError, "there are 1 differences but 2 questions"),
        ([1.0, np.inf], RowError, "row 2: the difference is inf; give a finite number"),
        (["a", "b"], DataError, "the differences must be numbers"),
    ],
)
def test_impossible_differences_are_refused(measured, error, message: str) -> None:
    system = LinearSystem.of([[0.0], [1.0], [3.0]], [0, 0], [0, 1], [1, 2], n_users=1)
    with pytest.raises(error, match=message):
        system.solve(measured)
