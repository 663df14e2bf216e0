"""What the mathematics says must not matter: order, names, axes, sides and the unit of weight."""

from dataclasses import replace

import numpy as np
import pytest

import oracles
from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.losses import Hinge, Logistic
from crowdmetric.problem import Problem
from crowdmetric.regions import (
    FixedMetric,
    FrobeniusMetric,
    NuclearFull,
    NuclearMetric,
    PSDOnly,
)
from crowdmetric.solver import solve

CASE = oracles.random_case(1, n_answers=60)
LOGISTIC = Logistic(2.0)
TOLERANCE = 1e-10
EVERY_REGION = pytest.mark.parametrize(
    "region",
    [*oracles.regions(2), NuclearFull(1.2, margin_bound=1.0)],
    ids=lambda region: f"{region.name}-{region.margin_bound}",
)
SINGLE = pytest.mark.parametrize("single", [False, True])


def answer(case, region, single=False, tol=TOLERANCE):
    """Return the fitted metric and points, and the risk."""
    if single:
        # A user alone is easily explained perfectly: without a radius there is no best point.
        region = FrobeniusMetric(0.5, 0.7) if region.name == "psd" else region
    solution = solve(case.problem(region, LOGISTIC, single), tol=tol)
    return solution.metric, solution.points, solution.certificate.risk


def agree(found, expected):
    """Assert that two answers are the same to the accuracy that the tolerance buys."""
    assert found[2] == pytest.approx(expected[2], abs=2 * TOLERANCE)
    np.testing.assert_allclose(found[0], expected[0], atol=2e-4)
    np.testing.assert_allclose(found[1], expected[1], atol=2e-4)


@SINGLE
@EVERY_REGION
def test_the_order_of_the_rows(region, single):
    shuffled = CASE.rows(np.random.default_rng(0).permutation(len(CASE.sign)))
    agree(answer(shuffled, region, single), answer(CASE, region, single))


@SINGLE
@EVERY_REGION
def test_the_order_of_the_users(region, single):
    order = np.array([2, 0, 1])
    metric, points, risk = answer(CASE, region, single)
    permuted = answer(replace(CASE, user=np.argsort(order)[CASE.user]), region, single)
    agree(permuted, (metric[order] if single else metric, points[order], risk))


@SINGLE
@EVERY_REGION
def test_the_order_of_the_items(region, single):
    order = np.random.default_rng(1).permutation(len(CASE.features))
    place = np.argsort(order)
    moved = replace(
        CASE, features=CASE.features[order], left=place[CASE.left], right=place[CASE.right]
    )
    agree(answer(moved, region, single), answer(CASE, region, single))


@SINGLE
@EVERY_REGION
@pytest.mark.parametrize("reflect", [False, True])
def test_the_axes_of_the_features(region, single, reflect):
    turn = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    turn = turn @ np.diag([1.0, -1.0 if reflect else 1.0])
    turned_region = region
    if isinstance(region, FixedMetric):
        turned_region = replace(region, metric=turn @ region.metric @ turn.T)
    metric, points, risk = answer(CASE, region, single)
    turned = answer(replace(CASE, features=CASE.features @ turn.T), turned_region, single)
    agree(turned, (turn @ metric @ turn.T, points @ turn.T, risk))


@SINGLE
@EVERY_REGION
def test_the_side_on_which_an_item_is_shown(region, single):
    swap = np.random.default_rng(2).random(len(CASE.sign)) < 0.5
    mirrored = replace(
        CASE,
        left=np.where(swap, CASE.right, CASE.left),
        right=np.where(swap, CASE.left, CASE.right),
        sign=np.where(swap, -CASE.sign, CASE.sign),
    )
    agree(answer(mirrored, region, single), answer(CASE, region, single))


@SINGLE
@EVERY_REGION
@pytest.mark.parametrize("unit", [1e-6, 3.7, 1e9])
def test_the_unit_of_the_weights(region, single, unit):
    scaled = replace(CASE, weight=unit * CASE.weight)
    agree(answer(scaled, region, single), answer(CASE, region, single))


def test_the_weight_of_one_user_in_a_fit_of_their_own():
    # Alone, a user's answer does not depend on how much the user counts among the others.
    region = NuclearFull(1.2)
    heavy = replace(CASE, weight=np.where(CASE.user == 1, 50.0, 1.0) * CASE.weight)
    metric, points, _ = answer(CASE, region, single=True)
    found = answer(heavy, region, single=True)
    np.testing.assert_allclose(found[0], metric, atol=2e-4)
    np.testing.assert_allclose(found[1], points, atol=2e-4)


@pytest.mark.parametrize("loss", [LOGISTIC, Hinge()], ids=oracles.by_name)
def test_the_names_of_users_and_items(loss):
    triples = np.column_stack([CASE.user, CASE.left, CASE.right])
    plain = Comparisons.from_arrays(triples, CASE.sign, CASE.weight)
    named = Comparisons.from_arrays(
        triples,
        CASE.sign,
        CASE.weight,
        users=["zoe", 7, ("a", 1)],
        item_ids=["z", "y", "x", 4, 5, "ü", "7"],
    )
    items = Items.from_arrays(CASE.features, ids=named.item_ids)
    region = NuclearFull(1.2)
    first, second = (
        solve(Problem(data.answers(), items.features, loss, region)) for data in (plain, named)
    )
    np.testing.assert_array_equal(first.metric, second.metric)
    np.testing.assert_array_equal(first.points, second.points)
    assert first.certificate.risk == second.certificate.risk


@pytest.mark.parametrize(
    "region", [NuclearFull(1.2), NuclearMetric(0.5, 0.7), FrobeniusMetric(0.5, 0.7)], ids=repr
)
def test_the_hinge_risk_is_as_invariant(region):
    base = solve(CASE.problem(region, Hinge()), tol=1e-7).certificate.risk
    turn = np.array([[np.cos(2.0), -np.sin(2.0)], [np.sin(2.0), np.cos(2.0)]])
    variants = (
        CASE.rows(np.random.default_rng(0).permutation(len(CASE.sign))),
        replace(CASE, features=CASE.features @ turn.T),
        replace(CASE, left=CASE.right, right=CASE.left, sign=-CASE.sign),
        replace(CASE, weight=1e5 * CASE.weight),
        replace(CASE, user=2 - CASE.user),
    )
    for variant in variants:
        risk = solve(variant.problem(region, Hinge()), tol=1e-7).certificate.risk
        assert risk == pytest.approx(base, abs=2e-7)


def test_the_origin_of_the_features_where_no_radius_sees_it():
    # A shift c of the items moves v_k by -2 M c: margins, and so the least risk, stay the same.
    shifted = replace(CASE, features=CASE.features + np.array([0.6, -0.4]))
    metric, points, risk = answer(CASE, PSDOnly())
    moved = points - 2 * np.array([0.6, -0.4]) @ metric
    agree(answer(shifted, PSDOnly()), (metric, moved, risk))
