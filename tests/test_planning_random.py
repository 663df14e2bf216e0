"""Random designs: lemmas, theorem and corollaries against exact laws and dense ranks."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdmetric.errors import SettingError
from crowdmetric.identify.selection import selection_matrix, selection_rank
from crowdmetric.planning import (
    GOLDEN_RATIO,
    RandomPairs,
    SimulatedCounts,
    Waiting,
    quadratic_features,
    repeat_probability,
    repeat_probability_bounds,
    single_user_sizes,
)

SEEDS = st.integers(0, 10**6)


def draw_pairs(n_items, count, generator):
    """Return random pairs of distinct items."""
    return np.array([generator.choice(n_items, 2, replace=False) for _ in range(count)])


def exact_law(sizes, rank, n_items, horizon):
    """Return P(M > m) for m = 0, 1, ..., from the sizes of the seed's components alone."""
    at = {tuple(sorted(sizes)): 1.0}
    tail = []
    for _ in range(horizon):
        tail.append(sum(at.values()))
        after: dict[tuple[int, ...], float] = {}
        for state, share in at.items():
            stays = sum(s * (s - 1) for s in state) / (n_items * (n_items - 1))
            after[state] = after.get(state, 0.0) + share * stays
            for a, b in combinations(range(len(state)), 2):
                rest = [s for k, s in enumerate(state) if k not in (a, b)]
                joined = tuple(sorted([*rest, state[a] + state[b]]))
                chance = 2 * state[a] * state[b] / (n_items * (n_items - 1))
                if n_items - len(joined) < rank:
                    after[joined] = after.get(joined, 0.0) + share * chance
        at = after
    return np.array(tail)


@st.composite
def ranks(draw, most_items=8):
    """Draw a number of items, the sizes of the seed's components, and a rank beyond the seed's."""
    n_items = draw(st.integers(3, most_items))
    label = [draw(st.integers(0, n_items - 1)) for _ in range(n_items)]
    sizes = np.bincount(label)[np.bincount(label) > 0]
    if len(sizes) == 1:
        sizes = np.array([n_items - 1, 1])
    seed_rank = n_items - len(sizes)
    return n_items, sizes, draw(st.integers(seed_rank + 1, n_items - 1)), seed_rank


# lemma:newspan


@given(SEEDS, st.integers(2, 8), st.integers(0, 9))
def test_a_repeat_is_as_likely_as_counting_says_and_within_its_bounds(seed, n_items, count):
    pairs = draw_pairs(n_items, count, np.random.default_rng(seed)).reshape(-1, 2)
    rows = selection_matrix(pairs, n_items).toarray()
    rank = np.linalg.matrix_rank(rows) if count else 0
    repeats = 0
    for new in combinations(range(n_items), 2):
        more = np.vstack([rows, selection_matrix([new], n_items).toarray()])
        repeats += np.linalg.matrix_rank(more) == rank
    probability = repeat_probability(pairs, n_items)
    assert probability == pytest.approx(repeats / (n_items * (n_items - 1) / 2))
    low, high = repeat_probability_bounds(int(rank), n_items)
    assert low - 1e-12 <= probability <= high + 1e-12


@given(st.integers(4, 60), st.integers(1, 20))
def test_both_bounds_on_repeats_are_met(n_items, rank):
    rank = min(rank, n_items // 2)
    low, high = repeat_probability_bounds(rank, n_items)
    apart = np.arange(2 * rank).reshape(-1, 2)
    chain = np.column_stack([np.arange(rank), np.arange(1, rank + 1)])
    assert repeat_probability(apart, n_items) == pytest.approx(low)
    assert repeat_probability(chain, n_items) == pytest.approx(high)


# lemma:sumbound


@given(SEEDS, st.integers(1, 3), st.integers(2, 4))
def test_a_sum_that_is_quicker_at_every_step_is_quicker(seed, count, most):
    generator = np.random.default_rng(seed)
    cdfs = np.sort(generator.random((count, most)), axis=1)
    cdfs[:, -1] = 1.0
    slow = np.diff(cdfs, axis=1, prepend=0.0)
    of_sum = {(): 1.0}
    for step in range(count):
        after = {}
        for history, share in of_sum.items():
            # Any law whose distribution function lies above that of Y, whatever came before.
            other = np.sort(generator.random(most))
            other[-1] = 1.0
            law = np.diff(np.maximum(other, cdfs[step]), prepend=0.0)
            for value in range(most):
                after[(*history, value + 1)] = share * law[value]
        of_sum = after
    quick_sum = np.zeros(count * most + 1)
    for history, share in of_sum.items():
        quick_sum[sum(history)] += share
    slow_sum = np.array([1.0])
    for law in slow:
        slow_sum = np.convolve(slow_sum, np.concatenate([[0.0], law]))
    assert np.all(np.cumsum(quick_sum) >= np.cumsum(slow_sum) - 1e-12)
    values = np.arange(len(quick_sum))
    assert values @ quick_sum <= values @ slow_sum + 1e-12


# thm:randrankseed and cor:CvsB


@given(ranks())
def test_the_bounds_hold_for_the_exact_law_of_the_count(case):
    n_items, sizes, rank, seed_rank = case
    pairs = RandomPairs(n_items, rank, seed_rank)
    tail = exact_law(sizes, rank, n_items, horizon=120)
    mean = tail.sum()  # what is beyond the horizon only adds
    assert pairs.mean_at_least - 1e-3 <= mean <= pairs.mean_at_most + 1e-9
    for count in range(0, 40, 3):
        assert tail[count] <= pairs.exceeds_at_most(count) + 1e-12
    for failure in (0.5, 0.1, 0.01):
        enough = pairs.enough(failure)
        assert enough >= len(tail) or tail[enough] <= failure
        assert tail[pairs.enough_by_waiting(failure)] <= failure


@settings(max_examples=10)
@given(SEEDS, st.integers(4, 7))
def test_the_simulation_follows_the_exact_law(seed, n_items):
    drawn = RandomPairs(n_items, n_items - 1).simulate(trials=1500, seed=seed)
    tail = exact_law([1] * n_items, n_items - 1, n_items, horizon=200)
    assert abs(drawn.mean - tail.sum()) < 5 * drawn.standard_error
    for count in (n_items - 1, n_items + 2, 2 * n_items):
        assert abs(drawn.share_above(count) - tail[count]) < 5 * 0.5 / np.sqrt(1500)


@settings(max_examples=10)
@given(SEEDS, st.integers(5, 60), st.data())
def test_simulated_counts_stay_within_the_bounds(seed, n_items, data):
    seed_rank = data.draw(st.integers(0, n_items // 2))
    rank = data.draw(st.integers(seed_rank + 1, n_items - 1))
    pairs = RandomPairs(n_items, rank, seed_rank)
    apart = np.arange(2 * seed_rank).reshape(-1, 2)
    for seed_pairs in ((), apart):
        drawn = pairs.simulate(trials=300, seed=seed, seed_pairs=seed_pairs)
        assert drawn.mean > pairs.mean_at_least - 5 * drawn.standard_error - 1e-9
        assert drawn.mean < pairs.mean_at_most + 5 * drawn.standard_error + 1e-9
        assert drawn.share_above(pairs.enough(0.1)) <= 0.1
        assert drawn.share_above(pairs.enough_by_waiting(0.1)) <= 0.1 + 5 * 0.3 / np.sqrt(300)


@given(ranks(most_items=30), st.floats(0.001, 0.9))
def test_counts_grow_with_the_rank_and_with_certainty(case, failure):
    n_items, _, rank, seed_rank = case
    pairs = RandomPairs(n_items, rank, seed_rank)
    assert rank - seed_rank <= pairs.mean_at_least <= pairs.mean_at_most
    assert pairs.enough_by_waiting(failure) <= pairs.enough(failure)
    assert pairs.enough(failure / 2) >= pairs.enough(failure)
    assert pairs.enough_by_waiting(failure / 2) >= pairs.enough_by_waiting(failure)
    less = RandomPairs(n_items, rank - 1, seed_rank)
    assert less.mean_at_most < pairs.mean_at_most
    more_items = RandomPairs(n_items + 1, rank, seed_rank)
    assert more_items.mean_at_most <= pairs.mean_at_most
    # The sum of the theorem, as it is printed.
    printed = sum(
        1 / (1 - i * (i - 1) / (n_items * (n_items - 1))) for i in range(seed_rank + 1, rank + 1)
    )
    assert pairs.mean_at_most == pytest.approx(printed)


def test_with_very_many_items_no_pair_is_wasted():
    assert RandomPairs(10**6, 10).mean_at_most == pytest.approx(10, abs=1e-9)
    assert RandomPairs(5, 3, seed_rank=3).mean_at_most == 0
    assert RandomPairs(5, 3, seed_rank=3).enough_by_waiting(0.01) == 0
    assert RandomPairs(5, 3, seed_rank=3).simulate(trials=2).mean == 0


@given(st.lists(st.floats(0, 0.9), min_size=1, max_size=4))
def test_waiting_is_a_sum_of_geometric_times(failing):
    law = np.array([1.0])
    for fails in failing:
        law = np.convolve(law, np.concatenate([[0.0], (1 - fails) * fails ** np.arange(30)]))[:31]
    waiting = Waiting(np.array(failing))
    for count in range(1, 31):
        waiting.draw()
        assert waiting.unfinished == pytest.approx(1 - law[: count + 1].sum(), abs=1e-9)


@pytest.mark.parametrize("count", [250, 400, 700])
def test_waiting_at_many_steps_leaves_out_nobody_who_counts(count):
    failing = RandomPairs(300, 280).repeat_bounds[:, 1]
    at = np.zeros(281)
    at[0] = 1.0
    for _ in range(count):
        passed = at[:-1] * (1 - failing)
        at[:-1] -= passed
        at[1:] += passed
    assert RandomPairs(300, 280).exceeds_at_most(count) == pytest.approx(1 - at[-1], abs=1e-12)


def test_the_same_seed_draws_the_same_pairs():
    pairs = RandomPairs(20, 15)
    first, again, other = (pairs.simulate(50, seed).counts for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


# cor:contFull and sec:single-user


@given(st.integers(1, 8), st.floats(0.001, 0.5), st.floats(0.1, 10))
def test_single_user_sizes_are_no_less_than_the_theorem_asks(dimension, failure, slack):
    sizes = single_user_sizes(dimension, failure, slack)
    rank = dimension * (dimension + 3) // 2
    assert sizes.rank == rank
    assert sizes.n_items >= rank + 1  # the least that prop:mainNec (c) allows
    assert sizes.pairs >= 1 + RandomPairs(sizes.n_items, rank, seed_rank=1).enough(failure) - 1


def test_the_golden_ratio_serves_items_and_pairs_alike():
    assert pytest.approx(GOLDEN_RATIO) == (1 + GOLDEN_RATIO) / GOLDEN_RATIO
    assert np.sqrt(1 + GOLDEN_RATIO) == pytest.approx(GOLDEN_RATIO)
    sizes = single_user_sizes(3, failure=0.1)
    assert sizes.n_items == np.ceil(GOLDEN_RATIO * 9 + 1)
    assert sizes.pairs == np.ceil(GOLDEN_RATIO * (1 + np.log(10)) * 8) + 1


@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_so_many_random_pairs_do_reach_the_rank(dimension):
    sizes = single_user_sizes(dimension, failure=0.1)
    assert sizes.simulate(trials=400).share_above(sizes.pairs) <= 0.1


@given(SEEDS, st.integers(1, 3))
def test_one_user_is_determined_exactly_when_the_rank_is_reached(seed, dimension):
    generator = np.random.default_rng(seed)
    needed = dimension * (dimension + 3) // 2
    n_items = needed + generator.integers(0, 4)  # sometimes too few
    pairs = draw_pairs(n_items, needed + generator.integers(0, 4), generator)
    items = generator.standard_normal((n_items, dimension))
    gamma = selection_matrix(pairs, n_items) @ quadratic_features(items)
    determined = np.linalg.matrix_rank(gamma) == needed
    assert determined == (selection_rank(pairs, n_items) >= needed)


# What is refused


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: RandomPairs(1, 0), "at least 2 items"),
        (lambda: RandomPairs(5, 5), "must lie between 0 and 4"),
        (lambda: RandomPairs(5, 2, 3), "between 0 and the rank to reach, 2"),
        (lambda: RandomPairs(5, 3).enough(0), "failure probability"),
        (lambda: RandomPairs(5, 3).exceeds_at_most(-1), "cannot be negative"),
        (lambda: RandomPairs(5, 3).simulate(0), "at least one trial"),
        (lambda: RandomPairs(5, 3, 2).simulate(2, seed_pairs=[[0, 1]]), "rank 1, not 2"),
        (lambda: repeat_probability([], 1), "at least 2 items"),
        (lambda: single_user_sizes(0), "dimension"),
        (lambda: single_user_sizes(2, failure=1.0), "failure probability"),
        (lambda: single_user_sizes(2, slack=0.0), "slack"),
    ],
)
def test_what_makes_no_sense_is_refused(ask, says):
    with pytest.raises(SettingError, match=says):
        ask()


def test_quantiles_are_counts_that_were_drawn():
    drawn = SimulatedCounts(np.array([5, 3, 9, 4]))
    assert [drawn.quantile(share) for share in (0.25, 0.5, 1.0)] == [3, 4, 9]
    for share in product((0.1, 0.6, 0.99)):
        assert drawn.share_above(drawn.quantile(*share)) <= 1 - share[0]
