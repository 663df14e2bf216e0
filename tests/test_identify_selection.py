"""Selection matrices: every lemma of sec:properties-select, against brute force on small ones."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crowdmetric.errors import DataError, RowError
from crowdmetric.identify import (
    incremental_order,
    independent_rows,
    is_incremental,
    selection_matrix,
    selection_rank,
)


@st.composite
def pairs_of_items(draw, most_pairs: int = 7, most_items: int = 8) -> tuple[np.ndarray, int]:
    """Draw pairs, repeated and mirrored ones among them, and the number of items."""
    n_items = draw(st.integers(2, most_items))
    item = st.integers(0, n_items - 1)
    pair = st.tuples(item, item).filter(lambda two: two[0] != two[1])
    pairs = draw(st.lists(pair, max_size=most_pairs))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2), n_items


@st.composite
def forests(draw) -> tuple[np.ndarray, int]:
    """Draw a forest: its pairs in any order, and the number of items."""
    n_items = draw(st.integers(2, 40))
    names = draw(st.permutations(range(n_items)))
    parents = [draw(st.integers(-1, child - 1)) for child in range(n_items)]
    pairs = [(names[c], names[p]) for c, p in enumerate(parents) if p >= 0]
    return np.array(draw(st.permutations(pairs)), dtype=np.int64).reshape(-1, 2), n_items


def dense(pairs: np.ndarray, n_items: int) -> np.ndarray:
    """Return the selection matrix, made row by row from def:selectionmat."""
    matrix = np.zeros((len(pairs), n_items))
    for row, (p, q) in enumerate(pairs):
        matrix[row, p], matrix[row, q] = 1.0, -1.0
    return matrix


def rank(matrix: np.ndarray) -> int:
    """Return the rank by singular values."""
    return int(np.linalg.matrix_rank(matrix)) if matrix.size else 0


def brings_new_item(matrix: np.ndarray, row: int, others: list[int]) -> bool:
    """Return whether some item of a row is in none of the others."""
    return any(not matrix[others, item].any() for item in np.flatnonzero(matrix[row]))


def incremental_by_definition(matrix: np.ndarray) -> bool:
    """Return whether def:incselmat holds, row by row."""
    return all(brings_new_item(matrix, row, list(range(row))) for row in range(len(matrix)))


def every_subset_brings_one(matrix: np.ndarray) -> bool:
    """Return whether every set of rows has one with an item that no other of them has."""
    rows = range(len(matrix))
    return all(
        any(brings_new_item(matrix, row, [i for i in chosen if i != row]) for row in chosen)
        for size in range(1, len(matrix) + 1)
        for chosen in itertools.combinations(rows, size)
    )


@given(pairs_of_items())
def test_matrix_and_rank_are_those_of_dense_algebra(drawn) -> None:
    pairs, n_items = drawn
    matrix = dense(pairs, n_items)
    assert np.array_equal(selection_matrix(pairs, n_items).toarray(), matrix)
    assert selection_rank(pairs, n_items) == rank(matrix)


@given(pairs_of_items())
def test_rows_are_independent_of_those_before_them(drawn) -> None:
    pairs, n_items = drawn
    matrix = dense(pairs, n_items)
    ranks = np.array([rank(matrix[:stop]) for stop in range(len(pairs) + 1)])
    assert independent_rows(pairs, n_items).tolist() == (np.diff(ranks) == 1).tolist()


@given(pairs_of_items(most_pairs=20))
def test_the_rank_is_less_than_the_number_of_items(drawn) -> None:
    """lemma:Srankupper."""
    pairs, n_items = drawn
    assert selection_rank(pairs, n_items) <= min(len(pairs), n_items - 1)


@given(pairs_of_items())
def test_full_rank_means_that_every_subset_brings_an_item(drawn) -> None:
    """lemma:subsetnew, and cor:TFAEsel: (a) if and only if (b)."""
    pairs, n_items = drawn
    full = selection_rank(pairs, n_items) == len(pairs)
    assert full == every_subset_brings_one(dense(pairs, n_items))


@given(pairs_of_items(most_pairs=5))
def test_full_rank_means_that_some_order_is_incremental(drawn) -> None:
    """cor:TFAEsel: (a) if and only if (c), all orders tried (lemma:rankincremental)."""
    pairs, n_items = drawn
    matrix = dense(pairs, n_items)
    exists = any(
        incremental_by_definition(matrix[list(order)])
        for order in itertools.permutations(range(len(pairs)))
    )
    assert exists == (selection_rank(pairs, n_items) == len(pairs))
    assert exists == (incremental_order(pairs, n_items) is not None)


@given(pairs_of_items())
def test_subsets_that_bring_items_can_be_ordered(drawn) -> None:
    """lemma:subsetinc: the order is found, and is one."""
    pairs, n_items = drawn
    matrix = dense(pairs, n_items)
    assume(every_subset_brings_one(matrix))
    order = incremental_order(pairs, n_items)
    assert order is not None
    assert sorted(order) == list(range(len(pairs)))
    assert incremental_by_definition(matrix[order])


@given(pairs_of_items())
def test_incremental_is_what_the_definition_says(drawn) -> None:
    pairs, n_items = drawn
    assert is_incremental(pairs, n_items) == incremental_by_definition(dense(pairs, n_items))


@given(pairs_of_items())
def test_incremental_has_full_rank(drawn) -> None:
    """lemma:rankincremental."""
    pairs, n_items = drawn
    if is_incremental(pairs, n_items):
        assert rank(dense(pairs, n_items)) == len(pairs)


@given(forests())
def test_forests_have_full_rank_and_an_order(drawn) -> None:
    pairs, n_items = drawn
    assert selection_rank(pairs, n_items) == len(pairs)
    assert independent_rows(pairs, n_items).all()
    order = incremental_order(pairs, n_items)
    assert order is not None
    assert is_incremental(pairs[order], n_items)


@given(forests(), st.data())
def test_a_cycle_has_no_order(drawn, data) -> None:
    pairs, n_items = drawn
    assume(len(pairs))
    again = pairs[data.draw(st.integers(0, len(pairs) - 1))][::-1]
    longer = np.vstack([pairs, again])
    assert selection_rank(longer, n_items) == len(pairs)
    assert incremental_order(longer, n_items) is None


@given(pairs_of_items())
def test_rank_r_needs_more_than_r_items(drawn) -> None:
    """cor:colsupp."""
    pairs, n_items = drawn
    assume(len(pairs))
    assert len(np.unique(pairs)) >= selection_rank(pairs, n_items) + 1


@given(pairs_of_items())
def test_pairs_in_the_span_are_linked(drawn) -> None:
    """lemma:spanconnected: and the converse, that a pair is in the span if a path joins it."""
    pairs, n_items = drawn
    matrix = dense(pairs[independent_rows(pairs, n_items)], n_items)
    touches = matrix != 0
    # Rows are adjacent when they share an item; powers of the adjacency reach all that is linked.
    adjacent = (touches.astype(int) @ touches.T.astype(int)) > 0
    linked = np.linalg.matrix_power(adjacent.astype(float), max(len(matrix), 1)) > 0
    for p, q in itertools.combinations(range(n_items), 2):
        row = dense(np.array([[p, q]]), n_items)
        in_span = rank(np.vstack([matrix, row])) == rank(matrix)
        assert in_span == bool(linked[np.ix_(touches[:, p], touches[:, q])].any())


def test_a_million_rows_take_about_a_second() -> None:
    rng = np.random.default_rng(0)
    child = np.arange(1, 1_000_001)
    names = rng.permutation(1_000_001)
    pairs = names[np.column_stack([child, rng.integers(0, child)])][rng.permutation(1_000_000)]
    selection_rank([[0, 1]], 2), incremental_order([[0, 1]], 2)  # loads what is compiled
    begun = time.process_time()
    assert selection_rank(pairs, 1_000_001) == 1_000_000
    order = incremental_order(pairs, 1_000_001)
    assert time.process_time() - begun < 2.0
    assert order is not None
    assert is_incremental(pairs[order], 1_000_001)


def test_no_pairs() -> None:
    assert selection_rank([], 3) == 0
    assert incremental_order([], 3).tolist() == []
    assert is_incremental([], 3)
    assert selection_matrix([], 3).shape == (0, 3)


@pytest.mark.parametrize("function", [selection_matrix, selection_rank, incremental_order])
@pytest.mark.parametrize(
    ("pairs", "n_items", "error", "message"),
    [
        ([[0, 1], [2, 2]], 3, RowError, "row 2: the item 2 is paired with itself"),
        ([[0, 3]], 3, RowError, "row 1: there is no item 3.*there are 3"),
        ([[0, 1], [-1, 0]], 3, RowError, "row 2: there is no item -1"),
        ([[0, 1, 2]], 3, DataError, r"not of shape \(1, 3\)"),
        ([[0.5, 1.0]], 3, DataError, "whole numbers"),
        ([[0, 1], [2]], 3, DataError, "rows of equal length"),
        ([[0, 1]], 0, DataError, "at least one item, not 0"),
    ],
)
def test_impossible_pairs_are_refused(function, pairs, n_items, error, message) -> None:
    with pytest.raises(error, match=message):
        function(pairs, n_items)
