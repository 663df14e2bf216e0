"""How consistent people are: against a count of every pair of answers, by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crowdmetric.comparisons import Comparisons
from crowdmetric.trust import people, repeated_questions

ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(1, 3), st.sampled_from([-1, 0, 1])),
    min_size=1,
    max_size=25,
)


def answers_of(rows) -> Comparisons:
    triples = [[user, left, (left + step) % 4] for user, left, step, _ in rows]
    return Comparisons.from_arrays(
        triples, [row[3] for row in rows], users=["ann", "bob", "cho"], n_items=4
    )


def by_hand(answers: Comparisons, user: int) -> float:
    """Return the mean over questions of the share of pairs of answers that agree."""
    chosen: dict[tuple[int, int], list[int]] = {}
    for row in range(len(answers)):
        if answers.user[row] == user and answers.response[row]:
            left, right = int(answers.left[row]), int(answers.right[row])
            winner = left if answers.response[row] < 0 else right
            chosen.setdefault((min(left, right), max(left, right)), []).append(winner)
    shares = [
        np.mean([a == b for a, b in combinations(winners, 2)])
        for winners in chosen.values()
        if len(winners) > 1
    ]
    return float(np.mean(shares)) if shares else float("nan")


@given(ROWS)
def test_agreement_is_that_of_all_pairs_of_answers(rows):
    answers = answers_of(rows)
    found = people(answers)
    np.testing.assert_allclose(found.agreement, [by_hand(answers, user) for user in range(3)])
    for user in range(3):
        mine = answers.user == user
        assert found.answered[user] == mine.sum()
        if mine.any():
            np.testing.assert_allclose(found.left[user], (answers.response[mine] < 0).mean())


@given(ROWS)
def test_which_item_is_on_the_left_makes_no_difference(rows):
    answers = answers_of(rows)
    mirrored = Comparisons.from_arrays(
        np.column_stack([answers.user, answers.right, answers.left]),
        -answers.response,
        users=answers.users,
        n_items=4,
    )
    for one, other in zip(repeated_questions(answers), repeated_questions(mirrored), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_large_crowd_needs_no_table_of_all_pairs():
    n = 200_000  # items: a table of their pairs would need 40 GB for one person
    answers = Comparisons.from_arrays(
        [[0, 0, n - 1], [0, n - 1, 0], [1, 5, 6]], [-1, 1, 1], n_items=n
    )
    found = people(answers)
    assert found.agreement[0] == 1.0
    assert np.isnan(found.agreement[1])


def test_ties_only_say_nothing():
    found = people(Comparisons.from_arrays([[0, 0, 1], [0, 1, 0]], [0, 0]))
    assert np.isnan(found.agreement).all()
    assert np.isnan(found.ceiling).all()
