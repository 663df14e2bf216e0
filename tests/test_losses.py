"""Losses by their definitions: slopes, conjugates, constants, proximal points, links."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import oracles
from crowdmetric.errors import SettingError
from crowdmetric.losses import (
    BUILT_IN,
    CurvedLoss,
    Hinge,
    KinkedLoss,
    Link,
    Logistic,
    Probit,
    SmoothedHinge,
    SquaredHinge,
    by_name,
)

LOSSES = (*oracles.LOSSES, Logistic(), Logistic(0.1), Probit(), Probit(5.0), SmoothedHinge())
LINKS = tuple(loss for loss in LOSSES if isinstance(loss, Link))
GRID = np.linspace(-6.0, 6.0, 4001)
ALL = pytest.mark.parametrize("loss", LOSSES, ids=repr)
MARGINS = st.floats(-30, 30)


def away_from_corners(loss, z):
    """Leave out margins next to a corner of the loss or of its slope."""
    corners = [1.0, 1.0 - getattr(loss, "width", 0.0)]
    return z[np.min(np.abs(z[:, None] - corners), axis=1) > 1e-3]


@ALL
def test_values_are_those_of_the_definition(loss):
    np.testing.assert_allclose(loss.value(GRID), oracles.loss_value(loss, GRID), atol=1e-14)


@ALL
def test_values_are_convex_and_never_rise(loss):
    value = loss.value(GRID)
    assert (np.diff(value) <= 1e-12).all()
    assert (np.diff(value, 2) >= -1e-11).all()


@ALL
def test_slopes_are_finite_differences(loss):
    z, h = away_from_corners(loss, GRID), 1e-5
    expected = (loss.value(z + h) - loss.value(z - h)) / (2 * h)
    np.testing.assert_allclose(loss.slope(z), expected, rtol=1e-6, atol=1e-8)
    assert (loss.slope(z) <= 0).all()


@ALL
@given(z=MARGINS, other=MARGINS)
@example(z=1.0, other=0.0)
def test_slopes_are_subgradients_everywhere(loss, z, other):
    here, there = np.array([z]), np.array([other])
    tangent = loss.value(here) + loss.slope(here) * (there - here)
    assert tangent[0] <= loss.value(there)[0] * (1 + 1e-12) + 1e-10


@pytest.mark.parametrize("loss", [x for x in LOSSES if isinstance(x, CurvedLoss)], ids=repr)
def test_curvatures_are_finite_differences_of_the_slopes(loss):
    h = 1e-5
    expected = (loss.slope(GRID + h) - loss.slope(GRID - h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(GRID), expected, rtol=1e-5, atol=1e-7)


@ALL
@given(z=MARGINS)
@example(z=0.0)
@example(z=1.0)
def test_fenchel_young_holds_with_equality_at_the_slope(loss, z):
    here = np.array([z])
    slope = loss.slope(here)
    total = loss.value(here) + loss.conjugate(slope)
    np.testing.assert_allclose(total, slope * here, rtol=1e-9, atol=1e-9)


@ALL
@given(z=MARGINS, share=st.floats(0, 1))
def test_fenchel_young_holds_as_an_inequality(loss, z, share):
    here = np.array([z])
    steepest = loss.lipschitz if np.isfinite(loss.lipschitz) else 20.0
    slope = np.array([-share * steepest])
    bound = loss.value(here) + loss.conjugate(slope)
    assert bound[0] >= slope[0] * z - 1e-9 * (1 + abs(slope[0] * z))


@pytest.mark.parametrize("loss", [x for x in LOSSES if isinstance(x, CurvedLoss)], ids=repr)
def test_margins_far_out_are_survived(loss):
    z = np.concatenate([-np.logspace(0, 15, 61), np.logspace(0, 15, 61)])
    slope, curvature = loss.slope(z), loss.curvature(z)
    assert (curvature >= 0).all()
    assert (curvature <= loss.smoothness * (1 + 1e-9)).all()
    total = loss.value(z) + loss.conjugate(slope)
    np.testing.assert_allclose(total, slope * z, rtol=1e-9, atol=1e-9)


@ALL
def test_conjugates_agree_with_a_search(loss):
    slopes = -np.linspace(0.02, 0.98, 13) * min(loss.lipschitz, 3.0)
    expected = oracles.conjugate(loss, slopes)
    np.testing.assert_allclose(loss.conjugate(slopes), expected, rtol=1e-8, atol=1e-9)


@ALL
def test_conjugates_are_infinite_outside_their_domain(loss):
    outside = np.array([1e-9, 1.0])
    assert np.isposinf(loss.conjugate(outside)).all()
    assert loss.conjugate(np.zeros(1)) == 0
    if np.isfinite(loss.lipschitz):
        assert np.isposinf(loss.conjugate(np.array([-loss.lipschitz * (1 + 1e-9)]))).all()
        assert np.isfinite(loss.conjugate(np.array([-loss.lipschitz]))).all()


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
def test_the_probit_conjugate_holds_over_its_whole_domain(scale):
    loss = Probit(scale)
    z = np.concatenate([-np.logspace(4, -3, 200), np.logspace(-3, np.log10(30 / scale), 200)])
    slope = loss.slope(z)
    total = loss.value(z) + loss.conjugate(slope)
    np.testing.assert_allclose(total, slope * z, rtol=1e-10, atol=1e-9)


def test_the_probit_conjugate_fades_to_zero_with_the_slope():
    conjugate = Probit().conjugate(-np.logspace(-323, -5, 400))
    assert (conjugate <= 0).all()
    assert (np.diff(conjugate) <= 0).all()
    assert conjugate[0] == 0


@ALL
def test_lipschitz_and_smoothness_constants_hold_and_are_tight(loss):
    wide = np.linspace(-400, 20, 40001)
    slope = loss.slope(wide)
    if np.isfinite(loss.lipschitz):
        assert np.abs(slope).max() == pytest.approx(loss.lipschitz, rel=1e-6)
        assert (np.abs(slope) <= loss.lipschitz).all()
    else:
        assert np.abs(slope).max() > 100
    change = np.abs(np.diff(slope)) / np.diff(wide)
    if np.isfinite(loss.smoothness):
        assert change.max() <= loss.smoothness * (1 + 1e-9)
        assert change.max() >= loss.smoothness * 0.98
    else:
        assert change.max() > 50


@pytest.mark.parametrize("loss", [x for x in LOSSES if isinstance(x, KinkedLoss)], ids=repr)
@given(z=st.floats(-5, 5), step=st.floats(0.01, 10))
@example(z=1.0, step=0.5)
def test_proximal_points_are_optimal(loss, z, step):
    point = loss.proximal(np.array([z]), step)[0]
    slope = (point - z) / -step
    right, left = (float(loss.slope(np.array([point + e]))[0]) for e in (1e-9, -1e-9))
    assert left - 1e-7 <= slope <= right + 1e-7
    found = minimize_scalar(
        lambda s: float(loss.value(np.array([s]))[0]) + (s - z) ** 2 / (2 * step),
        bounds=(z - 1, z + step + 1),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert point == pytest.approx(found.x, abs=1e-5)


@pytest.mark.parametrize("loss", LINKS, ids=repr)
def test_links_are_symmetric_increasing_probabilities(loss):
    chance = loss.probability(GRID)
    np.testing.assert_allclose(chance, 1 - loss.probability(-GRID), atol=1e-12)
    assert (np.diff(chance) >= 0).all()
    assert ((chance >= 0) & (chance <= 1)).all()


@pytest.mark.parametrize("loss", LINKS, ids=repr)
def test_a_link_is_the_likelihood_of_its_loss(loss):
    z = np.linspace(-3, 3, 61)
    np.testing.assert_allclose(np.exp(-loss.value(z)), loss.probability(z), rtol=1e-10)


@pytest.mark.parametrize("loss", LINKS, ids=repr)
@pytest.mark.parametrize("gamma", [0.2, 1.0, 2.5])
def test_the_constants_of_the_theory_agree_with_a_search(loss, gamma):
    z, h = np.linspace(-gamma, gamma, 2001), 1e-6
    steepness = (loss.probability(z + h) - loss.probability(z - h)) / (2 * h)
    assert loss.probability_slope_floor(gamma) == pytest.approx(steepness.min(), rel=1e-4, abs=1e-9)
    assert loss.lipschitz_within(gamma) == pytest.approx(np.abs(loss.slope(z)).max(), rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_extreme_margins_overflow_nowhere(loss):
    z = np.array([-1e4, -1e2, 1e2, 1e4])
    for array in (loss.value(z), loss.slope(z), loss.conjugate(loss.slope(z))):
        assert np.isfinite(array).all()


@pytest.mark.parametrize("name", BUILT_IN)
def test_losses_are_found_by_name(name):
    loss = by_name(name)
    assert loss.name == name
    assert loss == BUILT_IN[name]()


def test_links_take_a_scale_by_name():
    assert by_name("logistic", 3.0) == Logistic(3.0)
    assert by_name("probit", scale=0.5) == Probit(0.5)


def test_a_misspelt_name_is_refused_with_a_suggestion():
    with pytest.raises(SettingError, match=r"no loss 'logistik'; did you mean 'logistic'\?"):
        by_name("logistik")


@pytest.mark.parametrize("name", ["hinge", "squared-hinge", "smoothed-hinge"])
def test_a_scale_is_refused_where_there_is_none(name):
    with pytest.raises(SettingError, match="has no scale"):
        by_name(name, scale=2.0)


@pytest.mark.parametrize("number", [0.0, -1.0, np.inf, np.nan])
@pytest.mark.parametrize("kind", [Logistic, Probit, SmoothedHinge])
def test_numbers_that_are_not_positive_are_refused(kind, number):
    with pytest.raises(SettingError, match="must be a positive number"):
        kind(number)


def test_kinds_of_losses_are_told_apart():
    curved = {loss.name for loss in oracles.LOSSES if isinstance(loss, CurvedLoss)}
    kinked = {loss.name for loss in oracles.LOSSES if isinstance(loss, KinkedLoss)}
    assert curved == {"logistic", "probit"}
    assert kinked == {Hinge.name, SmoothedHinge.name}
    assert not isinstance(SquaredHinge(), Link)
