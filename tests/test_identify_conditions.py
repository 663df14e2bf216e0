"""Necessary conditions, generic rank and the verdict, beside dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdmetric as cm
from crowdmetric.errors import DataError
from crowdmetric.identify import LinearSystem
from crowdmetric.identify import generic as generic_module
from crowdmetric.identify.conditions import item_ranks, necessary_conditions
from crowdmetric.identify.generic import generic_rank
from crowdmetric.identify.partition_by_rank import enough_by_count
from crowdmetric.identify.questions import Questions
from crowdmetric.identify.verdict import check

# The first counterexample of sec:ident-append:constructions, its matrices as they are printed.
SATISFIES_NECESSARY = [
    [[0, 0, 1, 0, -1, 0], [1, 0, 0, 0, 0, -1], [1, 0, 0, -1, 0, 0]],
    [[0, 1, 0, 0, -1, 0], [1, 0, -1, 0, 0, 0], [0, 0, 0, 0, 1, -1]],
    [[0, 1, 0, 0, -1, 0], [1, 0, -1, 0, 0, 0], [0, 1, 0, 0, 0, -1]],
]


def asked_in(matrices, dimension):
    """Return the questions of selection matrices."""
    rows = [
        (user, row.index(1), row.index(-1))
        for user, matrix in enumerate(matrices)
        for row in matrix
    ]
    return Questions(*np.array(rows).T, len(matrices), len(matrices[0][0]), dimension)


def dense(asked, features):
    """Return Gamma, and users' blocks of [X_otimes' X'], as the paper writes them."""
    first, second = np.triu_indices(asked.dimension)
    squares = features[:, first] * features[:, second]
    own = features[asked.left] - features[asked.right]
    metric = squares[asked.left] - squares[asked.right]
    blocks = np.zeros((len(asked), asked.n_users, asked.dimension))
    blocks[np.arange(len(asked)), asked.user] = own
    gamma = np.column_stack([metric, blocks.reshape(len(asked), -1)])
    both = np.column_stack([metric, own])
    return gamma, [both[asked.user == user] for user in range(asked.n_users)], both


def rank(matrix):
    return int(np.linalg.matrix_rank(matrix)) if matrix.size else 0


def generic(asked, seed=0):
    sizes = asked.n_users, asked.n_items, asked.dimension
    return generic_rank(asked.user, asked.left, asked.right, *sizes, seed=seed)


def system_of(asked, features):
    return LinearSystem.of(features, asked.user, asked.left, asked.right, asked.n_users)


@st.composite
def questions(draw, most_users=4, more=3):
    """Draw questions about as many as there are unknowns."""
    dimension = draw(st.integers(1, 3))
    size = dimension * (dimension + 1) // 2
    n_users = draw(st.integers(1, most_users))
    n_items = size + dimension + 1 + draw(st.integers(-1, 2))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = size + dimension * n_users + draw(st.integers(-1, more))
    user = (
        np.arange(count) % n_users
        if draw(st.booleans())
        else generator.integers(n_users, size=count)
    )
    left = generator.integers(n_items, size=count)
    right = (left + generator.integers(1, n_items, size=count)) % n_items
    return Questions(user, left, right, n_users, n_items, dimension)


@settings(max_examples=150, deadline=None)
@given(questions(), st.integers(0, 2**32))
def test_the_generic_rank_is_that_of_random_items(asked, seed):
    features = np.random.default_rng(seed).standard_normal((asked.n_items, asked.dimension))
    assert generic(asked, seed) == rank(dense(asked, features)[0])


@settings(max_examples=50, deadline=None)
@given(questions(), st.integers(0, 2**32))
def test_no_items_have_a_rank_above_the_generic_one(asked, seed):
    items = np.random.default_rng(seed).integers(-1, 3, (asked.n_items, asked.dimension))
    assert rank(dense(asked, items.astype(float))[0]) <= generic(asked)


@settings(max_examples=100, deadline=None)
@given(questions(), st.integers(0, 2**32), st.booleans())
def test_without_its_conditions_nothing_is_identified(asked, seed, few_values):
    # prop:mainNec, with every rank in it beside that of the dense matrix.
    generator = np.random.default_rng(seed)
    features = generator.standard_normal((asked.n_items, asked.dimension))
    if few_values:
        features = generator.integers(0, 3, features.shape).astype(float)
    gamma, of_users, of_all = dense(asked, features)
    conditions = necessary_conditions(asked, features, system_of(asked, features))
    count, a, b, c = conditions
    d, together = asked.dimension, asked.metric_size + asked.dimension
    own_ranks = [rank(block[:, asked.metric_size :]) for block in of_users]
    assert a.numbers["lowest_rank"] == min(own_ranks)
    assert list(a.users) == [user for user, found in enumerate(own_ranks) if found < d]
    assert b.numbers["rank"] == sum(rank(block) for block in of_users)
    assert c.numbers["rank"] == rank(of_all)
    assert [one.holds for one in conditions] == [
        len(asked) >= asked.needed,
        min(own_ranks) == d,
        b.numbers["rank"] >= asked.needed,
        rank(of_all) == together,
    ]
    if rank(gamma) == asked.needed:
        assert all(one.holds for one in conditions)
        assert asked.n_items >= together + 1
        assert enough_by_count(asked)
    assert count.numbers == {"comparisons": len(asked), "needed": asked.needed}


def test_the_first_counterexample_satisfies_them_and_is_rank_deficient():
    asked = asked_in(SATISFIES_NECESSARY, dimension=2)
    assert (asked.ranks.tolist(), asked.ranks.sum(), asked.rank) == ([3, 3, 3], 9, 5)
    features = np.random.default_rng(0).standard_normal((6, 2))
    conditions = necessary_conditions(asked, features, system_of(asked, features))
    assert all(one.holds for one in conditions)
    gamma, of_users, of_all = dense(asked, features)
    assert [rank(block[:, 3:]) for block in of_users] == [2, 2, 2]
    assert sum(rank(block) for block in of_users) == 9 == asked.needed
    assert rank(of_all) == 5
    assert rank(gamma) == 8 == system_of(asked, features).rank
    assert [generic(asked, seed) for seed in range(3)] == [8, 8, 8]


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_the_pathological_example_cannot_be_told_from_nothing(dimension):
    # Section 2: x_i = e_i, M = alpha I, u_k = beta_k 1: every difference is zero.
    features = np.eye(dimension)
    alpha, beta = 3.0, np.array([2.0, -5.0])
    points = -2 * alpha * np.outer(beta, np.ones(dimension))
    pairs = [(p, q) for p in range(dimension) for q in range(dimension) if p != q]
    rows = [(user, p, q) for user in range(2) for p, q in pairs] or [(0, 0, 0)]
    for user, p, q in rows:
        delta = alpha * (features[p] @ features[p] - features[q] @ features[q])
        assert delta + points[user] @ (features[p] - features[q]) == 0
    if dimension == 1:
        return  # one item cannot be compared
    items = cm.Items.from_arrays(features)
    verdict = check(cm.Comparisons.from_arrays(rows, np.ones(len(rows))), items)
    assert not verdict.identifiable
    null = np.concatenate([alpha * np.eye(dimension)[np.triu_indices(dimension)], *points])
    assert not (dense(verdict.asked, features)[0] @ null).any()
    assert verdict.conditions[3].holds is False
    assert f"you have {dimension}" in verdict.missing[0]


@settings(max_examples=150, deadline=None)
@given(questions(most_users=2))
def test_up_to_two_users_are_identified_exactly_if_the_counts_are_right(asked):
    # For one user cor:contFull; for two, docs/identifiability.md.
    assert (generic(asked) == asked.needed) == enough_by_count(asked)


@settings(max_examples=60, deadline=None)
@given(questions(most_users=3), st.integers(0, 2**32))
def test_a_user_with_just_d_questions_comes_after_the_metric(asked, seed):
    # The paper, before prop:incSuf: the system separates.
    generator = np.random.default_rng(seed)
    features = generator.standard_normal((asked.n_items, asked.dimension))
    alone = np.argsort(generator.random((asked.dimension, asked.n_items)), axis=1)[:, :2]
    more = np.column_stack([np.full(asked.dimension, asked.n_users), alone])
    rows = np.concatenate([np.column_stack([asked.user, asked.pairs]), more])
    both = Questions(*rows.T, asked.n_users + 1, asked.n_items, asked.dimension)
    own = features[alone[:, 0]] - features[alone[:, 1]]
    full = rank(dense(both, features)[0]) == both.needed
    without = rank(dense(asked, features)[0]) == asked.needed
    assert full == (without and rank(own) == asked.dimension)


@pytest.mark.parametrize(
    ("features", "linear", "quadratic"),
    [
        (np.array([[0.0], [1.0], [1.0]]), 1, 1),  # only two values
        (np.array([[0.0, 2], [1, 2], [5, 2]]), 1, 2),  # a constant
        (np.array([[0.0, 0], [1, 2], [5, 10], [7, 14]]), 1, 2),  # one is twice the other
        (np.column_stack([np.cos(np.arange(9)), np.sin(np.arange(9))]), 2, 4),  # a circle
    ],
)
def test_what_items_allow(features, linear, quadratic):
    found = item_ranks(features)
    assert (found.linear, found.quadratic) == (linear, quadratic)


def everything(n_items, n_users):
    """Return answers of everybody about every pair."""
    pairs = np.array([(p, q) for p in range(n_items) for q in range(p)])
    rows = [np.column_stack([np.full(len(pairs), user), pairs]) for user in range(n_users)]
    return np.concatenate(rows)


@pytest.mark.parametrize(
    ("features", "says"),
    [
        (np.column_stack([np.arange(9), np.arange(9) % 2]), "the feature 'x1' takes only two val"),
        (np.column_stack([np.arange(9) ** 2, np.ones(9)]), "'x1' is the same for every item"),
        (np.outer(np.arange(9), [1, 2]), "2 features differ in only 1 directions"),
        (
            np.column_stack([np.cos(np.arange(9)), np.sin(np.arange(9))]),
            "the items lie on a surface",
        ),
        (np.random.default_rng(0).random((4, 2)), "at least 6 items are needed for 2 features"),
    ],
)
def test_items_that_leave_something_open_however_much_is_asked(features, says):
    rows = everything(len(features), 3)
    items = cm.Items.from_arrays(features)
    verdict = check(cm.Comparisons.from_arrays(rows, np.ones(len(rows))), items)
    assert not verdict.identifiable
    assert len(verdict.missing) == 1
    assert says in verdict.missing[0]
    assert not verdict.users_short
    assert verdict.crowd_short == 0


def test_a_full_rank_metric_wants_more_items_than_one_of_low_rank():
    # The issue's own example: 10 features, 37 items.
    crowd = cm.simulate(n_items=37, dimension=10, n_users=20, pairs_per_user=40, noise=4.0)
    verdict = check(crowd.comparisons, crowd.items)
    assert verdict.missing == (
        "at least 66 items are needed for 10 features, you have 37, so the full-rank metric cannot "
        "be identified; by counting alone, a metric of rank 3 may be",
    )


@settings(max_examples=60, deadline=None)
@given(questions(), st.integers(0, 2**32))
def test_what_is_missing_is_what_it_takes(asked, seed):
    # As many comparisons as the verdict says, and no fewer, make it identifiable.
    features = np.random.default_rng(seed).standard_normal((asked.n_items, asked.dimension))
    items = cm.Items.from_arrays(features)
    rows = np.column_stack([asked.user, asked.pairs])
    users = range(asked.n_users)

    def verdict_of(table):
        given = cm.Comparisons.from_arrays(
            table, np.ones(len(table)), users=users, item_ids=items.ids
        )
        return check(given, items)

    verdict = verdict_of(rows)
    assert verdict.identifiable == (not verdict.missing)
    short = sum(verdict.users_short.values()) + verdict.crowd_short
    if asked.n_items < verdict.items_needed:
        return
    assert short == verdict.needed - verdict.rank
    for row in everything(asked.n_items, asked.n_users):
        longer = np.vstack([rows, row])
        if verdict_of(longer).rank > verdict_of(rows).rank:
            rows, short = longer, short - 1
            assert not verdict_of(rows).identifiable or short == 0
        if short == 0:
            break
    assert verdict_of(rows).identifiable


def test_answers_of_weight_zero_do_not_count():
    items = cm.Items.from_arrays([[0.0], [1.0], [3.0]])
    answers = cm.Comparisons.from_arrays(
        [[0, 0, 1], [0, 1, 2]], [1, 1], weight=[1.0, 0.0], n_items=3
    )
    verdict = check(answers, items)
    assert (verdict.rank, verdict.rows.tolist()) == (1, [0])
    assert verdict.missing == (
        "the crowd needs 1 more comparison that is independent of all that have been answered, "
        "whoever answers",
    )


def test_who_needs_how_many_more_is_named():
    items = cm.Items.from_arrays(np.random.default_rng(0).random((9, 2)))
    rows = [[0, p, p + 1] for p in range(8)] + [[1, 0, 1], [1, 1, 0]]
    verdict = check(
        cm.Comparisons.from_arrays(rows, np.ones(10), users=["ann", 17], n_items=9), items
    )
    assert verdict.missing == (
        "user 17 needs 1 more comparison that is independent of what they have answered "
        "(2 comparisons, 1 of them independent)",
    )
    assert verdict.conditions[1].users == (1,)


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ((0, 3, 1), "at least one user"),
        ((1, 1, 1), "at least two items"),
        ((1, 3, 0), "at least one feature"),
    ],
)
def test_nothing_to_ask_is_refused(sizes, says):
    with pytest.raises(DataError, match=says):
        generic_rank([], [], [], *sizes)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (([0], [0], [3]), "row 1: the right item code 3 is outside 0..2"),
        (([0], [-1], [1]), "row 1: the left item code -1 is negative"),
        (([2], [0], [1]), "row 1: the user code 2 is outside 0..1"),
        (([0, 0], [0, 1], [1, 1]), "row 2: the item 1 is compared with itself"),
        (([0, 0], [0], [1]), "there are 1 values of left but 2 users"),
        (([0], [0.5], [1]), "must be integers"),
    ],
)
def test_impossible_questions_are_refused(columns, says):
    with pytest.raises(DataError, match=says):
        generic_rank(*columns, n_users=2, n_items=3, dimension=1)


def test_no_questions_have_no_rank():
    empty = np.empty(0, dtype=int)
    assert generic_rank(empty, empty, empty, n_users=2, n_items=3, dimension=1) == 0


def test_primes_are_primes():
    small = [n for n in range(9, 20_000, 2) if all(n % p for p in range(3, int(n**0.5) + 1, 2))]
    assert [n for n in range(9, 20_000, 2) if generic_module._is_prime(n)] == small
    # The least strong pseudoprime to the bases 2, 3 and 5, and products of two large primes.
    for number in (25_326_001, 32_749 * 32_771, 46_337 * 46_337):
        assert not generic_module._is_prime(number)
    generator = np.random.default_rng(0)
    primes = [generic_module._random_prime(generator) for _ in range(20)]
    assert len(set(primes)) == 20
    for prime in primes:
        assert 2**30 < prime < 2**31
        assert np.all(prime % np.arange(2, 46_341))


@pytest.mark.parametrize(
    ("sizes", "rounds"),
    [((1, 3, 1), 2), ((3, 6, 2), 2), ((200, 300, 20), 3), ((10**5, 500, 10), 6)],
)
def test_there_are_enough_rounds_for_the_doubt_that_is_promised(sizes, rounds):
    n_users, _, d = sizes
    empty = np.empty(0, dtype=int)
    asked = Questions(empty, empty, empty, *sizes)
    size = d * (d + 1) // 2
    unknowns = size + d * n_users
    bad_prime = unknowns * np.log2(2 * (size + d)) / 30 / 50_697_537
    one = bad_prime + (2 * size + d * n_users) / 2**30
    assert one ** generic_module._rounds(asked) < 2.0**-40
    assert generic_module._rounds(asked) == rounds
