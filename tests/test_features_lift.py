"""Kernel lifts against dense kernels; the shared point against scores written out in full."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels

from crowdmetric.errors import DataError, SettingError
from crowdmetric.features import (
    RBF,
    Center,
    KernelLift,
    Matern,
    Polynomial,
    Raw,
    SharedPoint,
    Standardize,
    feature_map,
    has_inverse,
)

GENERATOR = np.random.default_rng(3)
ITEMS = GENERATOR.normal(size=(14, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, -2.0]
NEW = GENERATOR.normal(size=(6, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, -2.0]
NAMES = ("a", "b", "c")
KERNELS = [RBF(), RBF(0.7), Matern(1.3, smoothness=0.5), Matern(), Matern(smoothness=2.5),
           Polynomial(2), Polynomial(3)]  # fmt: skip


def centred(kernel, rows, items):
    """Return inner products of lifted rows about the mean of the lifted items, by the book."""
    among, across = kernel(items, items), kernel(rows, items)
    own = kernel(rows, rows)
    to_items = across.mean(axis=1)
    return own - to_items[:, None] - to_items[None, :] + among.mean()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (RBF(0.7), kernels.RBF(0.7)),
        (Matern(0.7, smoothness=0.5), kernels.Matern(0.7, nu=0.5)),
        (Matern(1.7), kernels.Matern(1.7, nu=1.5)),
        (Matern(0.4, smoothness=2.5), kernels.Matern(0.4, nu=2.5)),
        (Polynomial(3), kernels.Exponentiation(kernels.DotProduct(1.0), 3)),
    ],
)
def test_kernels_are_those_of_scikit_learn(ours, theirs):
    np.testing.assert_allclose(ours.between(ITEMS, NEW), theirs(ITEMS, NEW), rtol=1e-12)


def test_length_scales_come_from_the_items():
    x = np.array([[0.0], [1.0], [3.0], [3.0]])
    assert RBF().fit(x).length_scale == 2.0  # of 1, 2, 2, 3, 3: items that coincide aside
    assert Matern(relative=3.0).fit(x).length_scale == 6.0
    assert RBF(0.5, relative=3.0).fit(x).length_scale == 0.5


@pytest.mark.parametrize("covariance", KERNELS, ids=str)
def test_a_lift_of_few_items_is_exact_for_them_and_for_new_ones(covariance):
    lift = KernelLift(covariance).fit(ITEMS, NAMES)
    x = Standardize().fit(ITEMS, NAMES)
    kernel = lift.covariance.between
    everything = np.vstack([ITEMS, NEW])
    wanted = centred(kernel, x.transform(everything), x.transform(ITEMS))
    scale = np.trace(wanted[:14, :14]) / 14
    lifted = lift.transform(everything)
    np.testing.assert_allclose((lifted @ lifted.T)[:14] * scale, wanted[:14], atol=2e-6 * scale)
    inside = lifted[:14]
    np.testing.assert_allclose(inside.mean(axis=0), 0.0, atol=1e-9)
    assert np.square(inside).sum(axis=1).mean() == pytest.approx(1)
    covariances = inside.T @ inside
    np.testing.assert_allclose(covariances, np.diag(np.diag(covariances)), atol=1e-8)
    assert (np.diff(np.diag(covariances)) <= 1e-12).all()
    assert lift.left_out < 1e-8


@settings(max_examples=20)
@given(size=st.integers(1, 12), seed=st.integers(0, 100), scale=st.floats(0.3, 3.0))
def test_a_smaller_lift_is_the_projection_on_its_landmarks(size, seed, scale):
    items = np.random.default_rng(seed).normal(size=(12, 2))
    lift = KernelLift(RBF(scale), scaling=Raw(), size=size).fit(items, ("a", "b"))
    kernel = RBF(scale).between
    landmarks = lift.landmarks
    assert len(landmarks) <= size
    across = kernel(items, landmarks)
    approximate = across @ np.linalg.pinv(kernel(landmarks, landmarks), rcond=1e-9) @ across.T
    flat = np.eye(12) - 1 / 12
    wanted = flat @ approximate @ flat
    lifted = lift.transform(items)
    np.testing.assert_allclose(lifted @ lifted.T * np.trace(wanted) / 12, wanted, atol=1e-5)
    missed = np.trace(kernel(items, items) - approximate)
    share = missed / (missed + np.trace(wanted))
    assert lift.left_out == pytest.approx(share, abs=1e-6)


def test_more_landmarks_leave_less_out():
    items = np.random.default_rng(0).normal(size=(300, 3))
    left = [KernelLift(size=size).fit(items, NAMES).left_out for size in (5, 20, 80)]
    assert left[0] > left[1] > left[2]
    assert left[2] < 0.05
    assert KernelLift(size=80).fit(items, NAMES).transform(items).shape[1] <= 80


def test_items_that_coincide_are_lifted_once():
    twice = np.vstack([ITEMS, ITEMS])
    lift = KernelLift(RBF(1.0), scaling=Raw()).fit(twice, NAMES)
    assert len(lift.landmarks) <= 14
    np.testing.assert_allclose(lift.transform(twice)[:14], lift.transform(twice)[14:])


def test_a_polynomial_lift_holds_all_parabolas():
    lift = KernelLift(Polynomial(2)).fit(ITEMS, NAMES)
    lifted = np.column_stack([lift.transform(ITEMS), np.ones(14)])
    assert lifted.shape[1] == 10  # 3 features, 6 products of two, and a constant
    z = Standardize().fit(ITEMS, NAMES).transform(ITEMS)
    parabola = np.square(z - [1.0, -0.5, 0.2]) @ [1.0, 2.0, 3.0]
    coefficients = np.linalg.lstsq(lifted, parabola, rcond=None)[0]
    np.testing.assert_allclose(lifted @ coefficients, parabola, atol=1e-8)


@pytest.mark.parametrize("unfitted", [KernelLift(), SharedPoint(), SharedPoint(KernelLift())])
def test_a_fitted_map_can_be_built_again_and_not_be_changed(unfitted):
    features = ITEMS.copy()
    fitted = unfitted.fit(features, NAMES)
    features[:] = 0.0
    fields = {field.name: getattr(fitted, field.name) for field in dataclasses.fields(fitted)}
    again = type(fitted)(**fields)
    np.testing.assert_array_equal(again.transform(NEW), fitted.transform(NEW))
    for each in (fitted.transform(NEW), fitted.transform(NEW[0])):
        assert not each.flags.writeable
    np.testing.assert_allclose(fitted.transform(NEW[0]), fitted.transform(NEW)[0])
    held = vars(copy.deepcopy(fitted)).values()
    assert not any(a.flags.writeable for a in held if isinstance(a, np.ndarray))
    refitted = fitted.fit(NEW, NAMES)
    assert refitted.transform(NEW).shape[0] == 6


@pytest.mark.parametrize("unfitted", [KernelLift(), SharedPoint(), SharedPoint(KernelLift())])
def test_what_is_not_fitted_says_so(unfitted):
    with pytest.raises(SettingError, match="is not fitted yet; call fit first"):
        unfitted.transform(ITEMS)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(0.0), "a length scale must be positive and finite, not 0"),
        (lambda: Matern(relative=np.inf), "a length scale must be positive and finite, not inf"),
        (lambda: Matern(smoothness=1.0), "is 0.5, 1.5 or 2.5, not 1"),
        (lambda: Polynomial(0), "the degree must be a whole number, 1 or more, not 0"),
        (lambda: Polynomial(1.5), "the degree must be a whole number"),
        (lambda: RBF().between(ITEMS, ITEMS), "has no length scale yet"),
        (lambda: KernelLift(size=0), "must be 1 or more, not 0"),
        (lambda: KernelLift("rbf"), "needs a Covariance, not 'rbf'"),
        (lambda: KernelLift(scaling=Raw), "needs a FeatureMap, not <class"),
        (lambda: SharedPoint(weight=0.0), "the weight of a shared point must be positive"),
        (lambda: SharedPoint(SharedPoint()), "needs a feature map without one"),
        (lambda: SharedPoint("raw"), "needs a feature map without one, not 'raw'"),
        (lambda: KernelLift().inverse([0.0]), "has no inverse"),
    ],
)
def test_settings_that_make_no_sense(make, message):
    with pytest.raises(SettingError, match=message):
        make()


@pytest.mark.parametrize("scaling", [Raw(), Center()])
@pytest.mark.parametrize("covariance", [RBF(), RBF(1.0), Polynomial()])
def test_items_that_are_all_alike_cannot_be_lifted(scaling, covariance):
    with pytest.raises(DataError, match="all items have the same features, so no kernel can"):
        KernelLift(covariance, scaling).fit(np.full((5, 2), 0.3), ("a", "b"))


def test_other_columns_than_in_the_fit():
    for fitted in (feature_map("kernel").fit(ITEMS, NAMES), SharedPoint().fit(ITEMS, NAMES)):
        with pytest.raises(DataError, match=r"was fitted to 3 feature\(s\), but there are 2"):
            fitted.transform(ITEMS[:, :2])


def test_the_shared_point_is_everyones():
    fitted = SharedPoint(Standardize(), weight=2.0).fit(ITEMS, NAMES)
    assert fitted.constant == pytest.approx(2.0 * np.sqrt(3.0))
    root = GENERATOR.normal(size=(4, 4))
    metric, own = root @ root.T, GENERATOR.normal(size=(5, 4))
    longer = fitted.transform(NEW)
    scores = np.einsum("ni,ij,nj->n", longer, metric, longer) + own @ longer.T
    x = Standardize().fit(ITEMS, NAMES).transform(NEW)
    points = fitted.shared(metric) + own[:, :3]
    wanted = np.einsum("ni,ij,nj->n", x, metric[:3, :3], x) + points @ x.T
    np.testing.assert_allclose(scores - scores[:, :1], wanted - wanted[:, :1])
    alone, whole = fitted.separate(metric, own)
    np.testing.assert_allclose(whole[:, :3], points)
    np.testing.assert_array_equal(alone[:3, :3], metric[:3, :3])
    assert not alone[3].any()
    assert not alone[:, 3].any()
    assert not whole[:, 3].any()
    np.testing.assert_allclose(fitted.inverse(longer), NEW)


def test_maps_say_whether_there_is_a_way_back():
    for there, back in ((Raw(), True), (KernelLift(), False), (SharedPoint(), True)):
        assert has_inverse(there) == back
    assert not has_inverse(feature_map("kernel"))
