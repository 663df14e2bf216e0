"""Folds and splits: nothing leaks, everyone is treated alike, every row is used."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, check_cv, cross_val_score

from crowdmetric.errors import DataError, SettingError
from crowdmetric.splits import PairFolds, pair_split


@st.composite
def comparisons(draw):
    """Return rows with repeated and mirrored questions, users in any order."""
    pairs = st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] != pair[1])
    rows = draw(st.lists(st.tuples(st.integers(0, 4), pairs), min_size=2, max_size=60))
    return np.array([(user, *pair) for user, pair in rows])


def questions(triples):
    return [(int(k), frozenset((int(i), int(j)))) for k, i, j in triples]


def distinct_pairs(n_users, n_items, generator):
    """Return every pair of items once for every user, shown in either order, rows shuffled."""
    left, right = np.triu_indices(n_items, 1)
    rows = [(k, i, j) for k in range(n_users) for i, j in zip(left, right, strict=True)]
    table = np.array(rows)
    mirrored = generator.random(len(table)) < 0.5
    table[mirrored, 1:] = table[mirrored, :0:-1]
    return generator.permutation(table)


@given(comparisons(), st.integers(2, 5), st.booleans())
def test_every_row_is_tested_once_and_nothing_leaks(triples, n_splits, shuffle):
    asked = questions(triples)
    if len(set(asked)) < n_splits:
        with pytest.raises(SettingError, match="lower n_splits"):
            list(PairFolds(n_splits).split(triples))
        return
    tested = []
    for train, test in PairFolds(n_splits, shuffle=shuffle, random_state=0).split(triples):
        assert len(test) > 0
        assert sorted([*train, *test]) == list(range(len(triples)))
        assert not {asked[row] for row in train} & {asked[row] for row in test}
        tested.extend(test)
    assert sorted(tested) == list(range(len(triples)))


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("n_splits", [2, 3, 5, 7])
def test_folds_are_balanced_within_users_and_overall(n_splits, shuffle):
    triples = distinct_pairs(6, 7, np.random.default_rng(0))
    folds = PairFolds(n_splits, shuffle=shuffle, random_state=1)
    counts = np.array([np.bincount(triples[test, 0]) for _, test in folds.split(triples)])
    assert np.ptp(counts, axis=0).max() <= 1
    assert np.ptp(counts.sum(axis=1)) <= 1


@given(comparisons())
def test_folds_differ_by_no_more_than_the_longest_question(triples):
    asked = questions(triples)
    if len(set(asked)) < 3:
        return
    counts = np.zeros((3, 5), dtype=int)
    for number, (_, test) in enumerate(PairFolds(3, random_state=2).split(triples)):
        np.add.at(counts[number], triples[test, 0], 1)
    for user in range(5):
        mine = [question for question in asked if question[0] == user]
        longest = max((mine.count(question) for question in mine), default=0)
        assert np.ptp(counts[:, user]) <= longest


def test_a_mirror_image_follows_its_pair():
    triples = distinct_pairs(4, 6, np.random.default_rng(3))
    both = np.vstack([triples, triples[:, [0, 2, 1]]])
    for train, test in [*PairFolds(4, random_state=0).split(both), pair_split(both, 0.3, 0)]:
        for side in (train, test):
            assert set(side % len(triples) + len(triples)) <= set(side) | set(side + len(triples))
            assert sorted(side % len(triples))[::2] == sorted(side % len(triples))[1::2]


def test_the_seed_decides_and_nothing_else():
    triples = distinct_pairs(3, 6, np.random.default_rng(4))
    first, again = (
        [test.tolist() for _, test in PairFolds(3, random_state=7).split(triples)] for _ in "ab"
    )
    other = [test.tolist() for _, test in PairFolds(3, random_state=8).split(triples)]
    assert first == again
    assert first != other
    assert np.array_equal(pair_split(triples, 0.2, 7)[1], pair_split(triples, 0.2, 7)[1])


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5, 0.9])
def test_a_split_takes_the_same_share_of_every_user(fraction):
    triples = distinct_pairs(5, 8, np.random.default_rng(5))
    train, test = pair_split(triples, fraction, random_state=0)
    assert sorted([*train, *test]) == list(range(len(triples)))
    per_user = np.bincount(triples[test, 0])
    assert np.abs(per_user - 28 * fraction).max() <= 1
    assert abs(len(test) - fraction * len(triples)) <= 1


@given(comparisons(), st.floats(0.2, 0.8))
def test_a_split_leaks_nothing(triples, fraction):
    asked = questions(triples)
    most = max(asked.count(question) for question in asked)
    if most > 0.1 * len(asked):  # a question that is a large part of all may fit neither side
        triples = distinct_pairs(3, 5, np.random.default_rng(len(asked)))
        asked = questions(triples)
    train, test = pair_split(triples, fraction, random_state=0)
    assert sorted([*train, *test]) == list(range(len(triples)))
    assert not {asked[row] for row in train} & {asked[row] for row in test}


def test_one_answer_each_still_gives_a_test_of_the_right_size():
    triples = np.array([(user, 0, 1) for user in range(40)])
    assert len(pair_split(triples, 0.25, 0)[1]) == 10


def test_scikit_learn_takes_the_folds():
    triples = distinct_pairs(3, 5, np.random.default_rng(6))
    answers = np.where(triples[:, 1] < triples[:, 2], -1, 1)
    folds = PairFolds(3, random_state=0)
    assert check_cv(folds) is folds
    assert len(cross_val_score(DummyClassifier(), triples, answers, cv=folds)) == 3
    search = GridSearchCV(DummyClassifier(), {"strategy": ["prior", "uniform"]}, cv=folds)
    assert search.fit(triples, answers).n_splits_ == folds.get_n_splits() == 3


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: PairFolds(1), SettingError, "at least 2"),
        (lambda: list(PairFolds(2).split([[0, 1]])), DataError, "an array of shape"),
        (lambda: list(PairFolds(2).split([[0.0, 1.0, 2.5]])), DataError, "not all whole numbers"),
        (lambda: pair_split([[0, 0, 1]], 1.0), SettingError, "between 0 and 1"),
        (lambda: pair_split([[0, 0, 1]], 0.5), SettingError, "nearer to 0.5"),
    ],
)
def test_impossible_splits_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
