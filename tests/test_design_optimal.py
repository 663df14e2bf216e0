"""D-optimal designs: their information against dense matrices, and what they are good for."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import expit

from crowdmetric import CrowdMetric
from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.design import Design, efficiency, optimal_design, random_design
from crowdmetric.design.information import _OF_METRIC, _OF_POINT, Information
from crowdmetric.design.items import Geometry
from crowdmetric.errors import DataError, SettingError
from crowdmetric.losses import Logistic, Probit
from crowdmetric.regions import NuclearFull
from crowdmetric.simulation import Simulation, oracle_radii, simulate


def row_of(geometry: Geometry, user: int, pair: tuple[int, int], n_users: int) -> np.ndarray:
    """Return the row of an answer in the whole system."""
    one, other = pair
    d = geometry.points.shape[1]
    points = np.zeros((n_users, d))
    points[user] = geometry.points[one] - geometry.points[other]
    return np.concatenate([geometry.squares[one] - geometry.squares[other], points.ravel()])


def dense(geometry: Geometry, answers: list, n_users: int) -> np.ndarray:
    """Return the whole information matrix."""
    d = geometry.points.shape[1]
    prior = [_OF_METRIC] * (d * (d + 1) // 2) + [_OF_POINT] * (d * n_users)
    rows = [(row_of(geometry, user, pair, n_users), weight) for user, pair, weight in answers]
    return np.diag(prior) + sum(weight * np.outer(row, row) for row, weight in rows)


def test_the_information_is_that_of_the_dense_matrix():
    rng = np.random.default_rng(0)
    geometry, n_users = Geometry.of(rng.standard_normal((7, 2))), 3
    told, answers = Information(geometry, n_users), []
    for step in range(25):
        user, weight = int(rng.integers(n_users)), rng.uniform(0.1, 1.0, (7, 7))
        weight += weight.T
        matrix = dense(geometry, answers, n_users)
        before = np.linalg.slogdet(matrix).logabsdet
        assert told.log_determinant == pytest.approx(before, abs=1e-5)
        gains = told.gains(user, np.arange(7), weight)
        for pair in itertools.combinations(range(7), 2):
            row = row_of(geometry, user, pair, n_users)
            gain = np.log1p(weight[pair] * row @ np.linalg.solve(matrix, row))
            assert gains[pair] == pytest.approx(gain, rel=1e-4, abs=1e-6), step
        one, other = (int(item) for item in rng.choice(7, 2, replace=False))
        told.add(user, one, other, weight[one, other])
        answers.append((user, (one, other), weight[one, other]))


@pytest.mark.parametrize("link", [Logistic(0.7), Probit(2.0)])
def test_weights_are_the_fisher_information(link):
    # One feature, one user: each answer is a row of two numbers, and the first choice is by hand.
    rng = np.random.default_rng(1)
    items = Items.from_arrays(rng.standard_normal((12, 1)))
    x = items.features[:, 0]
    score = 1.5 * x**2 - 0.8 * x
    margin = score[:, None] - score[None, :]
    step = 1e-5
    slope = (link.probability(margin + step) - link.probability(margin - step)) / (2 * step)
    right = link.probability(margin)
    fisher = slope**2 / (right * (1 - right))
    geometry = Geometry.of(items.features)
    away = geometry.points - geometry.points.T
    away_squared = geometry.squares - geometry.squares.T
    gain = fisher * (away**2 / _OF_POINT + away_squared**2 / _OF_METRIC)
    first = optimal_design(items, 1, 1, link, score[None, :])
    best = np.unravel_index(gain.argmax(), gain.shape)
    assert {int(first.left[0]), int(first.right[0])} == set(map(int, best))


@pytest.mark.parametrize(
    ("dimension", "n_users"), [(1, 1), (2, 1), (2, 5), (3, 4), (4, 3), (5, 40)]
)
def test_the_fewest_pairs_that_can_determine_everything_do(dimension, n_users):
    items = simulate(n_items=30, dimension=dimension, rank=1, n_users=1).items
    fewest = dimension + math.ceil(dimension * (dimension + 1) / 2 / n_users)
    assert optimal_design(items, n_users, fewest).certificate.determined


def test_they_tell_more_than_random_pairs():
    for seed in range(3):
        items = simulate(n_items=40, dimension=4, n_users=1, seed=seed).items
        design = optimal_design(items, 8, 15, seed=seed)
        assert efficiency(items, design, seed=seed) > 2
        assert efficiency(items, random_design(items, 8, 15, seed=9), seed=seed) < 1.3


def test_a_guess_helps_if_answers_are_nearly_certain():
    crowd = simulate(n_items=40, dimension=3, rank=2, n_users=5, pairs_per_user=1)
    features, link = crowd.items.features, Logistic(8.0)
    guess = np.einsum("nd,nd->n", features @ crowd.metric, features) + crowd.points @ features.T
    informed = optimal_design(crowd.items, 5, 15, link, guess)
    blind = optimal_design(crowd.items, 5, 15)
    worth = [efficiency(crowd.items, design, link, guess) for design in (informed, blind)]
    assert worth[0] > max(3.0, 2 * worth[1])


def error_after(crowd: Simulation, design: Design, beta: float, seed: int) -> float:
    """Return how far a fit of random answers to a design is from the truth."""
    asked = design.comparisons
    margins = crowd.margins(asked)
    left = np.random.default_rng(seed).random(len(margins)) < expit(-beta * margins)
    triples = np.column_stack([asked.user, asked.left, asked.right])
    answers = Comparisons.from_arrays(
        triples, np.where(left, -1, 1), users=asked.users, item_ids=asked.item_ids
    )
    region = NuclearFull(oracle_radii(crowd)["nuclear-full"][0])
    fit = CrowdMetric(crowd.items, region, Logistic(beta)).fit(answers)
    truth = np.vstack([crowd.metric, crowd.points])
    wrong = np.vstack([fit.metric_, fit.points_]) - truth
    return float(np.linalg.norm(wrong) / np.linalg.norm(truth))


def test_fits_of_noisy_answers_are_nearer_to_the_truth():
    errors = {"random": [], "optimal": []}
    for seed in range(6):
        crowd = simulate(n_items=40, dimension=3, rank=3, n_users=10, pairs_per_user=1, seed=seed)
        by_chance = random_design(crowd.items, 10, 12, seed)
        chosen = optimal_design(crowd.items, 10, 12, seed=seed)
        errors["random"].append(error_after(crowd, by_chance, 1.0, seed))
        errors["optimal"].append(error_after(crowd, chosen, 1.0, seed))
    assert np.mean(errors["optimal"]) < 0.85 * np.mean(errors["random"])


def test_pairs_are_distinct_and_progress_is_told():
    items = simulate(n_items=6, dimension=2, n_users=1).items
    told = []
    design = optimal_design(items, 2, 15, progress=lambda done, total: told.append((done, total)))
    for user in design.users:
        assert len({frozenset(pair) for pair in design.pairs_of(user)}) == 15
    assert told == [(2 * turn, 30) for turn in range(1, 16)]


def test_of_many_items_some_are_looked_at(monkeypatch):
    monkeypatch.setattr("crowdmetric.design.optimal._MOST_ITEMS", 12)
    items = simulate(n_items=60, dimension=2, n_users=1).items
    design = optimal_design(items, 4, 60)
    assert design.certificate.determined
    for user in design.users:
        assert len({frozenset(pair) for pair in design.pairs_of(user)}) == 60
    assert efficiency(items, design) > 1.2


def test_what_items_cannot_tell_is_left_open():
    rng = np.random.default_rng(0)
    two_valued = np.column_stack([rng.standard_normal(20), rng.integers(0, 2, 20)])
    constant = np.column_stack([rng.standard_normal(20), np.ones(20)])
    for features in (two_valued, constant, rng.standard_normal((4, 3))):
        items = Items.from_arrays(features)
        design = optimal_design(items, 3, 6)
        everything = random_design(items, 3, len(items) * (len(items) - 1) // 2)
        assert not design.certificate.determined
        assert design.certificate.rank == everything.certificate.rank


def test_impossible_requests_are_refused():
    items = simulate(n_items=6, dimension=2, n_users=1).items
    with pytest.raises(DataError, match="16 pairs cannot be asked"):
        optimal_design(items, 2, 16)
    for guess in (np.zeros((3, 6)), np.full((2, 6), np.nan)):
        with pytest.raises(SettingError, match="the guess must be 2 rows of 6 finite scores"):
            optimal_design(items, 2, 3, guess=guess)
