"""Ceiling, consistency, lean and ties: against brute force, and against simulated truths."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

import crowdmetric as cm
from answering import answer, margins_of, mirrored
from crowdmetric.comparisons import Comparisons
from crowdmetric.errors import DataError, SettingError
from crowdmetric.losses import Logistic
from crowdmetric.regions import NuclearFull
from crowdmetric.trust import (
    consistency_of,
    down_weighted,
    held_out_margins,
    noise_ceiling,
    quality,
    tie_band,
)
from crowdmetric.trust.answers_ceiling import person_ceilings
from crowdmetric.trust.answers_lean import lean
from crowdmetric.trust.answers_repeats import repeats
from crowdmetric.trust.answers_suspicion import missed, suspicious

rows = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from([(0, 1), (1, 0), (0, 2), (2, 1), (1, 2)]),
        st.sampled_from([-1, 0, 1]),
    ),
    min_size=1,
    max_size=40,
)


def comparisons(found):
    triples = [[user, *pair] for user, pair, _ in found]
    return Comparisons.from_arrays(triples, [y for _, _, y in found], users="xyz", n_items=3)


@given(rows)
def test_agreement_is_that_of_all_pairs_of_answers_to_a_question(found):
    data = comparisons(found)
    mine = repeats(data)
    for user in range(3):
        by_question = {}
        for who, (left, right), y in found:
            if who == user:
                # For the lower of the two items: 1; against it: -1.
                s = -y if left < right else y
                by_question.setdefault(frozenset((left, right)), []).append(s)
        again = [said for said in by_question.values() if len(said) > 1]
        assert mine.questions[user] == len(again)
        products = [np.mean([a * b for a, b in itertools.combinations(said, 2)]) for said in again]
        expected = (1 + np.mean(products)) / 2 if again else np.nan
        assert mine.agreement[user] == pytest.approx(expected, nan_ok=True)


@given(rows)
def test_a_ceiling_is_a_share_between_its_bounds(found):
    for side in (False, True):
        one = noise_ceiling(comparisons(found), side=side)
        if one is not None:
            assert 0.5 <= one.at_least <= one.estimate + 1e-3
            assert one.estimate <= one.at_most + 1e-3
            assert one.low <= one.estimate <= one.high <= 1.0


def asked_twice(seed, bias=0.0, users=8, pairs=60):
    """Return a crowd whose questions are all asked both ways, its answers and true ceilings."""
    crowd = cm.simulate(
        n_items=40, dimension=4, n_users=users, pairs_per_user=pairs, noise=2.0, seed=seed
    )
    answers = answer(crowd, mirrored(crowd.comparisons), seed, bias=bias)
    both = np.array([-1.0, 1.0]).repeat(pairs * users)
    assert len(both) == len(answers)
    margins = margins_of(crowd, crowd.comparisons)
    first, second = (2 * expit(2.0 * (margins + way * bias)) - 1 for way in (1, -1))
    blind = (1 + np.abs(first + second) / 2) / 2
    sided = (1 + (np.abs(first) + np.abs(second)) / 2) / 2
    return crowd, answers, float(blind.mean()), float(sided.mean())


def doubled(data):
    """Return every question twice, the same way round."""
    return data.subset(np.concatenate([np.arange(len(data))] * 2))


def test_the_interval_of_the_ceiling_covers_the_truth():
    inside, off = 0, []
    for seed in range(60):
        _, answers, truth, _ = asked_twice(seed)
        found = noise_ceiling(answers)
        inside += found.low <= truth <= found.high
        off.append(found.estimate - truth)
        assert found.at_least - 0.05 <= truth <= found.at_most + 0.05
    assert 0.8 <= inside / 60 <= 1.0
    assert abs(np.mean(off)) < 0.01


def test_a_side_bias_does_not_pass_for_noise():
    blind, sided = [], []
    for seed in range(20):
        crowd, answers, of_blind, of_sided = asked_twice(seed, bias=-1.0)
        blind.append(noise_ceiling(answers).estimate - of_blind)
        again = answer(crowd, doubled(answers), seed + 100, bias=-1.0)
        sided.append(noise_ceiling(again, side=True).estimate - of_sided)
    # Plain agreement between both ways round would put the ceiling 11 points too low.
    assert abs(np.mean(blind)) < 0.03
    assert abs(np.mean(sided)) < 0.02


def test_more_people_and_questions_narrow_the_interval():
    widths = []
    for users, pairs in ((4, 30), (8, 60), (16, 240)):
        found = noise_ceiling(asked_twice(0, users=users, pairs=pairs)[1])
        widths.append(found.high - found.low)
    assert widths[0] > widths[1] > widths[2]


def test_all_answers_left():
    crowd = cm.simulate(n_items=10, dimension=2, n_users=2, pairs_per_user=30, seed=1)
    data = mirrored(crowd.comparisons)
    always = replace(data, response=np.where(data.user == 0, -1, data.response).astype(np.int8))
    assert person_ceilings(repeats(always).blind)[0] == pytest.approx(0.5, abs=0.1)
    assert lean(always).one_sided.tolist() == [True, False]
    named = quality(always).suspicious
    assert [one.user for one in named] == ["u0"]
    assert named[0].reasons[0] == "answers 'left' 60 times of 60"


def test_winners_and_losers_have_no_side():
    data = Comparisons.from_arrays([[0, 0, 1], [0, 1, 0], [0, 0, 2], [0, 0, 2]], [-1] * 4)
    found = quality(data)
    assert not found.lean.known
    assert found.ceiling_with_side is None
    assert "nothing can be said about a side bias" in found.notes[0]
    assert found.repeats.agreement == pytest.approx([0.5])


def test_contradictory_answers_only():
    pairs = [(i, j) for i, j in itertools.combinations(range(6), 2)]
    triples = [[0, i, j] for i, j in pairs] * 2
    data = Comparisons.from_arrays(triples, [-1] * len(pairs) + [1] * len(pairs))
    items = cm.Items.from_arrays(np.random.default_rng(0).normal(size=(6, 2)))
    found = quality(data, items)
    assert found.ceiling.estimate == pytest.approx(0.5)
    assert found.suspicious[0].reasons == (
        "agrees with themselves on 0% of 15 repeated questions, where coin flips would on 50%",
    )
    assert found.fitted.accuracy == 0.5
    assert found.fitted.consistency.low[0] < 0.1
    assert found.fitted.consistency.high[0] > 0.9  # a model that says nothing tells nothing


def test_users_with_one_answer():
    crowd = cm.simulate(n_items=10, dimension=2, n_users=6, pairs_per_user=1, seed=1)
    found = quality(crowd.comparisons, crowd.items)
    assert found.ceiling is None
    assert found.suspicious == ()
    assert "no question was asked twice" in found.notes[0]


def test_one_user_with_one_answer():
    found = quality(Comparisons.from_arrays([[0, 0, 1]], [-1]), cm.Items.from_arrays(np.eye(2)))
    assert found.suspicious == ()
    assert found.fitted is None
    assert any("no model" in note for note in found.notes)


def test_a_crowd_of_ties():
    found = quality(Comparisons.from_arrays([[0, i, i + 1] for i in range(12)], [0] * 12))
    assert found.suspicious[0].reasons == ("100% of the answers are ties",)


def test_who_agrees_with_themselves_is_not_blamed_for_the_model():
    crowd = cm.simulate(n_items=20, dimension=2, n_users=8, pairs_per_user=80, noise=4.0, seed=8)
    coins = np.array([0.0] + 7 * [1.0])
    answers = answer(crowd, mirrored(crowd.comparisons), 1, consistency=coins)
    # To a model that sees nothing, the first two are alike.
    margins = np.where(answers.user > 1, margins_of(crowd, answers), 3.0 - 6.0 * coin(answers))
    found = consistency_of(answers, margins)
    asked = repeats(answers)
    assert np.flatnonzero(missed(asked, found)).tolist() == [1]
    named = suspicious(answers, asked, lean(answers), found)
    assert [one.user for one in named] == ["u0"]
    assert len(named[0].reasons) == 2


def coin(data):
    """Return a toss for each answer."""
    return np.random.default_rng(0).integers(2, size=len(data))


def half_lost(seed, random=9, users=30, pairs=80):
    """Return a crowd in which the first people toss coins."""
    crowd = cm.simulate(
        n_items=40, dimension=4, rank=2, n_users=users, pairs_per_user=pairs, noise=2.0, seed=seed
    )
    share = np.ones(users)
    share[:random] = 0.0
    return crowd, answer(crowd, crowd.comparisons, seed, consistency=share)


def test_who_tosses_coins_is_found_and_nobody_else():
    crowd, answers = half_lost(0)
    found = consistency_of(answers, held_out_margins(answers, crowd.items, NuclearFull(20.0)))
    assert found.share[:9].max() < 0.3
    assert found.share[9:].min() > 0.6
    assert (found.low <= found.share).all()
    assert (found.share <= found.high + 1e-12).all()


def test_shares_between_are_estimated():
    crowd = cm.simulate(n_items=40, dimension=2, n_users=12, pairs_per_user=400, noise=4.0, seed=2)
    truth = np.repeat([0.0, 0.4, 0.7, 1.0], 3)
    answers = answer(crowd, crowd.comparisons, 3, consistency=truth)
    # With the true margins in the place of estimated ones.
    found = consistency_of(answers, 2.5 * margins_of(crowd, answers))
    assert np.abs(found.share - truth).max() < 0.12
    assert found.scale == pytest.approx(4.0 / 2.5, rel=0.35)


def test_down_weighting_brings_the_metric_nearer_to_the_truth():
    better = []
    for seed in range(4):
        crowd, answers = half_lost(seed, random=12)
        region = NuclearFull(40.0)
        found = consistency_of(answers, held_out_margins(answers, crowd.items, region))
        errors = []
        for data in (answers, down_weighted(answers, found)):
            metric = cm.CrowdMetric(crowd.items, region, tol=1e-4).fit(data).metric_
            metric = metric / np.linalg.norm(metric)
            errors.append(np.linalg.norm(metric - crowd.metric / np.linalg.norm(crowd.metric)))
        better.append(errors[0] - errors[1])
    assert np.mean(better) > 0


def test_weights_are_multiplied_and_must_fit():
    data = Comparisons.from_arrays([[0, 0, 1], [1, 0, 1]], [-1, 1], weight=[2.0, 4.0])
    found = consistency_of(data, np.array([-1.0, 1.0]))
    assert down_weighted(data, found).weight == pytest.approx([2.0, 4.0] * found.share)
    with pytest.raises(SettingError, match="of 2 users, but the answers are of 1"):
        down_weighted(Comparisons.from_arrays([[0, 0, 1]], [1]), found)
    with pytest.raises(DataError, match="1 margins for 2 answers"):
        consistency_of(data, np.zeros(1))


def test_who_gave_one_answer_is_taken_to_be_like_the_others():
    crowd = cm.simulate(n_items=20, dimension=2, n_users=9, pairs_per_user=80, noise=2.0, seed=3)
    kept = (crowd.comparisons.user > 0) | (np.arange(len(crowd.comparisons)) == 0)
    data = crowd.comparisons.subset(kept)
    found = consistency_of(data, margins_of(crowd, data))
    assert found.share[0] > 0.8
    assert found.coin_odds[0] < 20


def test_the_tie_band_is_found():
    random = np.random.default_rng(0)
    margins = random.normal(size=4000)
    width, link = 0.6, Logistic(2.0)
    right, left = expit(2 * (margins - width)), expit(2 * (-margins - width))
    draw = random.random(4000)
    response = np.where(draw < right, 1, np.where(draw < right + left, -1, 0))
    data = Comparisons.from_arrays(np.tile([0, 0, 1], (4000, 1)), response)
    band = tie_band(data, margins, link)
    assert band.width == pytest.approx(width, abs=0.05)
    shares = band.probabilities(margins)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert shares[:, 1].mean() == pytest.approx((response == 0).mean(), abs=0.01)


def test_no_ties_no_band_and_only_ties_no_answer():
    some = Comparisons.from_arrays([[0, 0, 1]], [1])
    assert tie_band(some, np.zeros(1), Logistic()).width == 0
    with pytest.raises(DataError, match="every answer is a tie"):
        tie_band(Comparisons.from_arrays([[0, 0, 1]], [0]), np.zeros(1), Logistic())
