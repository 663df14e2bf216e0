import copy
import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from crowdmetric.errors import DataError, SettingError
from crowdmetric.features import Center, FeatureMap, Raw, Standardize, UnitBall, feature_map

MAPS = {"raw": Raw, "center": Center, "standardize": Standardize, "unit-ball": UnitBall}
LAB = np.array([[50.0, 60.0, 30.0], [70.0, -40.0, 35.0], [20.0, 5.0, -50.0], [90.0, 0.0, 80.0]])
NAMES = ("L", "a", "b")


@pytest.mark.parametrize("name", MAPS)
def test_maps_are_found_by_name(name):
    assert isinstance(feature_map(name), MAPS[name])
    assert feature_map(name).name == name
    assert isinstance(feature_map(name), FeatureMap)
    mine = MAPS[name]()
    assert feature_map(mine) is mine


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [("unitball", r"; did you mean 'unit-ball'\?"), (3, ""), (Center, ""), (None, "")],
)
def test_unknown_maps_list_the_choices(wrong, hint):
    expected = (
        "there is no feature map .*; choose one of raw, center, standardize, unit-ball, kernel"
    )
    with pytest.raises(SettingError, match=expected + hint + "$"):
        feature_map(wrong)


def test_what_the_maps_do():
    mean = LAB.mean(axis=0)
    largest = np.linalg.norm(LAB - mean, axis=1).max()
    expected = {
        "raw": LAB,
        "center": LAB - mean,
        "standardize": (LAB - mean) / LAB.std(axis=0),
        "unit-ball": (LAB - mean) / largest,
    }
    for name, wanted in expected.items():
        np.testing.assert_allclose(feature_map(name).fit(LAB, NAMES).transform(LAB), wanted)
    inside = np.linalg.norm(UnitBall().fit(LAB, NAMES).transform(LAB), axis=1)
    assert inside.max() == pytest.approx(1)


tables = arrays.arrays(
    np.float64, st.tuples(st.integers(2, 6), st.integers(1, 4)), elements=st.floats(-1e6, 1e6)
)


@settings(max_examples=60, deadline=None)
@given(table=tables, new=st.floats(-1e6, 1e6), name=st.sampled_from(sorted(MAPS)))
def test_inverse_undoes_transform(table, new, name):
    names = [f"x{j}" for j in range(table.shape[1])]
    try:
        fitted = feature_map(name).fit(table, names)
    except DataError:
        flat = np.ptp(table, axis=0) <= 1e-9 * np.abs(table).max(axis=0)
        assert flat.any() if name == "standardize" else flat.all()
        return
    for points in (table, np.full((3, len(names)), new), np.full(len(names), new)):
        scale = max(1e6, float(np.abs(table).max()))
        there = fitted.transform(points)
        assert there.shape == points.shape
        np.testing.assert_allclose(fitted.inverse(there), points, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("name", MAPS)
def test_fitting_makes_a_new_map_from_which_an_equal_one_can_be_built(name):
    unfitted = feature_map(name)
    fitted = unfitted.fit(LAB, NAMES)
    fields = {field.name: getattr(fitted, field.name) for field in dataclasses.fields(fitted)}
    for value in fields.values():
        assert isinstance(value, np.ndarray | float)
    again = MAPS[name](**fields)
    np.testing.assert_array_equal(again.transform(LAB), fitted.transform(LAB))
    assert all(getattr(unfitted, field) is None for field in fields)
    refitted = fitted.fit(LAB[:2], NAMES)
    np.testing.assert_array_equal(
        refitted.transform(LAB), feature_map(name).fit(LAB[:2], NAMES).transform(LAB)
    )


@pytest.mark.parametrize("name", MAPS)
def test_nothing_can_be_overwritten_and_nothing_is(name):
    features = LAB.copy()
    fitted = feature_map(name).fit(features, NAMES)
    for output in (fitted.transform(features), fitted.inverse(features)):
        assert not output.flags.writeable
    features[:] = 0
    np.testing.assert_allclose(fitted.inverse(fitted.transform(LAB)), LAB)
    for each in (fitted, copy.deepcopy(fitted)):
        held = [value for value in vars(each).values() if isinstance(value, np.ndarray)]
        assert not any(array.flags.writeable for array in held)
    with pytest.raises(dataclasses.FrozenInstanceError):
        fitted.mean = 0


def test_constant_features_cannot_be_standardized():
    table = np.column_stack([LAB, np.full(4, 0.1)])
    with pytest.raises(DataError) as caught:
        Standardize().fit(table, (*NAMES, "price"))
    assert str(caught.value) == (
        "the column 'price' is 0.1 for every item, so it cannot be standardized; "
        "remove the column, or use the feature map 'center'"
    )
    UnitBall().fit(table, (*NAMES, "price"))


@pytest.mark.parametrize("value", [0.0, 0.1, -1e9])
def test_items_that_are_all_alike_have_no_unit_ball(value):
    with pytest.raises(DataError, match=r"all items have the same .*column\(s\) 'L', 'a', 'b'$"):
        UnitBall().fit(np.full((7, 3), value), NAMES)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ([[1.0, np.nan, 2.0], [1, 2, 3]], "row 1: the item 1 has nan in the column 'a'"),
        ([["x", "y", "z"]], "the features must be numbers"),
        (np.empty((0, 3)), "there are no items to fit the feature map to"),
        ([[1.0, 2.0]], "there are 3 feature names but 2 feature columns"),
        ([1.0, 2.0, 3.0], "the features must have 2 dimension"),
    ],
)
def test_features_that_cannot_be_fitted_to(name, features, expected):
    with pytest.raises(DataError, match=expected):
        feature_map(name).fit(features, NAMES)


@pytest.mark.parametrize("name", ["center", "standardize", "unit-ball"])
def test_other_columns_than_in_the_fit(name):
    unfitted = feature_map(name)
    for use in (unfitted.transform, unfitted.inverse):
        with pytest.raises(SettingError, match=f"the feature map '{name}' is not fitted yet; call"):
            use(LAB)
    fitted = unfitted.fit(LAB, NAMES)
    for wrong in (LAB[:, :2], 3.0):
        with pytest.raises(DataError, match=r"was fitted to 3 feature\(s\), but there are [20];"):
            fitted.transform(wrong)
    with pytest.raises(DataError, match="the features must be numbers in rows of equal length"):
        fitted.transform([[1.0], [1.0, 2.0]])


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: Standardize([0.0], [0.0]), SettingError),
        (lambda: Standardize([0.0], [np.nan]), SettingError),
        (lambda: Standardize([0.0], [1.0, 2.0]), DataError),
        (lambda: UnitBall([0.0], -1.0), SettingError),
        (lambda: UnitBall([0.0], np.inf), SettingError),
        (lambda: Center([[0.0]]), DataError),
    ],
)
def test_arrays_no_map_can_be_built_from(make, error):
    with pytest.raises(error, match=r"must be positive|means"):
        make()
