"""Whether there is a partition, beside all partitions; and what one is worth."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdmetric.identify import selection_matrix
from crowdmetric.identify.generic import generic_rank
from crowdmetric.identify.partition import Partition, satisfies_order, satisfies_rank
from crowdmetric.identify.partition_by_order import partition_by_order
from crowdmetric.identify.partition_by_rank import enough_by_count, partition_by_rank
from crowdmetric.identify.questions import Questions

# The second counterexample of sec:ident-append:constructions, its matrices as they are printed.
FULL_RANK = [
    [[1, -1, 0, 0, 0, 0], [0, 1, -1, 0, 0, 0], [0, 0, 1, -1, 0, 0], [0, 0, 0, 1, -1, 0]],
    [[1, -1, 0, 0, 0, 0], [0, 0, 1, -1, 0, 0], [0, 0, 0, 0, 1, -1]],
]


def from_rows(rows, n_users, n_items, dimension):
    return Questions(*np.array(rows).T, n_users, n_items, dimension)


def is_full(asked):
    sizes = asked.n_users, asked.n_items, asked.dimension
    return generic_rank(asked.user, asked.left, asked.right, *sizes) == asked.needed


def matrix(asked, rows):
    return selection_matrix(asked.pairs[list(rows)], asked.n_items).toarray()


def incremental(table):
    """Return whether each row has a column that no row before it has (def:incselmat)."""
    return all(
        any(not table[:row, column].any() for column in np.flatnonzero(table[row]))
        for row in range(len(table))
    )


def all_partitions(asked):
    """Yield all ways to choose own rows for each user, and metric rows among the rest."""
    of_users = [np.flatnonzero(asked.user == user).tolist() for user in range(asked.n_users)]
    for own in product(*(combinations(rows, asked.dimension) for rows in of_users)):
        rest = set(range(len(asked))) - {row for rows in own for row in rows}
        for metric in combinations(sorted(rest), asked.metric_size):
            yield own, metric


def brute_force(asked):
    """Return whether there is a partition by order, and one by rank, from the definitions."""
    by_order = by_rank = False
    for own, metric in all_partitions(asked):
        tables = [matrix(asked, [*rows, *metric]) for rows in own]
        if any(np.linalg.matrix_rank(table) < len(table) for table in tables):
            continue
        by_rank = True
        by_order = any(
            all(
                any(incremental(matrix(asked, [*first, *order])) for first in permutations(rows))
                for rows in own
            )
            for order in permutations(metric)
        )
        if by_order:
            break
    return by_order, by_rank


@st.composite
def small(draw, dimensions=(1, 2), n_users=(1, 3)):
    """Draw questions, mostly so many and so different that counts alone forbid no partition."""
    dimension = draw(st.sampled_from(dimensions))
    users = draw(st.integers(*n_users))
    size = dimension * (dimension + 1) // 2
    n_items = size + dimension + 1 + draw(st.integers(0, 2))
    count = size + dimension * users + draw(st.integers(0, 1))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    for _ in range(draw(st.sampled_from([1, 50, 50, 50]))):
        left = generator.integers(n_items, size=count)
        right = (left + generator.integers(1, n_items, size=count)) % n_items
        asked = Questions(np.sort(np.arange(count) % users), left, right, users, n_items, dimension)
        if enough_by_count(asked):
            break
    return asked


@settings(max_examples=120, deadline=None)
@given(small(dimensions=(1, 2, 2, 2)))
def test_decisions_are_those_of_all_partitions(asked):
    by_order, by_rank = brute_force(asked)
    assert partition_by_rank(asked).answer == ("yes" if by_rank else "no")
    assert partition_by_order(asked).answer == ("yes" if by_order else "no")


@settings(max_examples=150, deadline=None)
@given(small(dimensions=(1, 2, 3), n_users=(1, 5)))
def test_every_yes_has_a_partition_that_identifies(asked):
    # prop:incSuf, and the conjecture; an incremental order has full rank (cor:TFAEsel).
    by_order, by_rank = partition_by_order(asked), partition_by_rank(asked)
    if by_order.answer == "yes":
        assert satisfies_order(by_order.partition, asked)
        assert satisfies_rank(by_order.partition, asked)
        assert by_rank.answer == "yes"
    if by_rank.answer == "yes":
        assert satisfies_rank(by_rank.partition, asked)
        assert is_full(asked)
    if asked.n_users <= 2:
        assert by_rank.answer == ("yes" if is_full(asked) else "no")


@settings(max_examples=60, deadline=None)
@given(small(n_users=(2, 2)))
def test_the_checkers_go_by_the_definitions(asked):
    generator = np.random.default_rng(len(asked))
    partitions = list(all_partitions(asked))
    for place in generator.permutation(len(partitions))[:20]:
        own, metric = partitions[place]
        order = generator.permutation(metric)
        tables = [matrix(asked, [*rows, *order]) for rows in own]
        full = all(np.linalg.matrix_rank(table) == len(table) for table in tables)
        ordered = all(
            any(incremental(matrix(asked, [*first, *order])) for first in permutations(rows))
            for rows in own
        )
        found = Partition(np.array(own), order)
        assert (satisfies_rank(found, asked), satisfies_order(found, asked)) == (full, ordered)


def test_the_second_counterexample_has_full_rank_but_no_order():
    rows = [
        (user, row.index(1), row.index(-1)) for user, table in enumerate(FULL_RANK) for row in table
    ]
    asked = from_rows(rows, 2, 6, 2)
    assert len(asked) == asked.needed == 7
    features = np.random.default_rng(0).standard_normal((6, 2))
    squares = features[:, [0, 0, 1]] * features[:, [0, 1, 1]]
    gamma = np.zeros((7, 7))
    for row, (user, p, q) in enumerate(rows):
        gamma[row, :3] = squares[p] - squares[q]
        gamma[row, 3 + 2 * user : 5 + 2 * user] = features[p] - features[q]
    assert np.linalg.matrix_rank(gamma) == 7
    assert is_full(asked)
    assert brute_force(asked) == (False, True)
    assert partition_by_order(asked).answer == "no"
    assert partition_by_rank(asked).answer == "yes"  # not in the paper


def test_the_conjectured_condition_is_not_exhaustive_either():
    # Nine questions that identify everything without a partition: each pair that could go to the
    # metric closes a circle with somebody's own ones.
    rows = [(0, 3, 4), (0, 2, 5), (0, 0, 3), (1, 2, 5), (1, 2, 3), (1, 0, 1)]
    asked = from_rows([*rows, (2, 0, 3), (2, 3, 4), (2, 1, 4)], 3, 6, 2)
    assert len(asked) == asked.needed
    assert is_full(asked)
    assert brute_force(asked) == (False, False)
    assert partition_by_rank(asked).answer == "no"


def test_a_row_that_follows_from_others_may_still_be_the_one_to_choose():
    # The first user's four pairs are a circle; only some of the three that could be kept will do.
    circle = [(0, 3, 0), (0, 0, 4), (0, 4, 5), (0, 3, 5)]
    asked = from_rows([*circle, (1, 5, 2), (1, 0, 1), (1, 3, 2), (1, 1, 3)], 2, 6, 2)
    assert brute_force(asked) == (True, True)
    assert satisfies_order(partition_by_order(asked).partition, asked)


def test_twins_are_an_order_too():
    # The one metric row is new to the first user by its left item, to the second by its right one:
    # as prop:incSuf states it, though not as its proof takes it.
    asked = from_rows([(0, 0, 2), (1, 1, 2), (0, 0, 1)], 2, 3, 1)
    found = partition_by_order(asked)
    assert found.answer == "yes"
    assert satisfies_order(found.partition, asked)
    assert is_full(asked)


@pytest.mark.parametrize(("dimension", "n_users"), [(2, 3), (3, 6), (4, 5)])
def test_the_minimal_construction_has_both_partitions(dimension, n_users):
    # sec:ident-append:constructions: a chain of D + d pairs; everybody has the first d.
    size = dimension * (dimension + 1) // 2
    rows = [(user, p, p + 1) for user in range(n_users) for p in range(dimension)]
    rows += [(t % n_users, dimension + t, dimension + t + 1) for t in range(size)]
    asked = from_rows(rows, n_users, size + dimension + 1, dimension)
    assert len(asked) == asked.needed
    for found in (partition_by_order(asked), partition_by_rank(asked)):
        assert found.answer == "yes"
        assert satisfies_order(found.partition, asked)


@pytest.mark.parametrize(
    "change",
    [
        lambda own, metric: (own[:1], metric),
        lambda own, metric: (own, metric[:0]),
        lambda own, metric: (own, own[0]),  # a row twice
        lambda own, metric: (own[::-1], metric),  # rows of the other user
        lambda own, metric: (own, metric + 10),  # no such row
    ],
)
def test_what_is_no_partition_satisfies_nothing(change):
    asked = from_rows([(0, 0, 1), (1, 0, 1), (0, 1, 2)], 2, 3, 1)
    own, metric = np.array([[0], [1]]), np.array([2])
    assert satisfies_order(Partition(own, metric), asked)
    changed = Partition(*change(own, metric))
    assert not satisfies_order(changed, asked)
    assert not satisfies_rank(changed, asked)


def test_many_users_are_searched_with_a_budget():
    generator = np.random.default_rng(0)
    n_users, n_items, dimension, each = 40, 30, 4, 12
    user = np.repeat(np.arange(n_users), each)
    left = generator.integers(n_items, size=len(user))
    right = (left + generator.integers(1, n_items, size=len(user))) % n_items
    asked = Questions(user, left, right, n_users, n_items, dimension)
    for search, holds in (
        (partition_by_order, satisfies_order),
        (partition_by_rank, satisfies_rank),
    ):
        found = search(asked)
        assert found.answer in ("yes", "undecided")
        assert found.answer == "undecided" or holds(found.partition, asked)
    assert partition_by_rank(asked).answer == "yes"
