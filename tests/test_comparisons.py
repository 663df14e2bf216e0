import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdmetric.comparisons import Answers, Comparisons, Items
from crowdmetric.errors import DataError, RowError, SettingError, UnknownItemError

TRIPLES = [[0, 0, 1], [0, 1, 2], [1, 2, 0]]


def test_items_keep_ids_names_and_order():
    items = Items.from_arrays([[1, 2], [3, 4]], ids=np.array(["b", "a"]), names=["x", "y"])
    assert (items.ids, items.names, len(items), items.dimension) == (("b", "a"), ("x", "y"), 2, 2)
    assert all(type(name) is str for name in items.ids)
    assert items.features.dtype == np.float64
    assert Items([np.int64(7), 8], np.eye(2), ["x", "y"]).ids == (7, 8)
    assert type(Items([np.int64(7), 8], np.eye(2), ["x", "y"]).ids[0]) is int
    assert Items.from_arrays(np.eye(3)).ids == (0, 1, 2)


def test_ids_may_be_any_hashable():
    items = Items.from_arrays(np.eye(3), ids=[("a", 1), 2, "c"])
    assert items.codes(["c", ("a", 1)]).tolist() == [2, 0]
    assert items.take([1, 0]).ids == (2, ("a", 1))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (dict(features=[[1.0]]), "at least two items, not 1"),
        (dict(features=np.empty((0, 2))), "at least two items, not 0"),
        (dict(features=np.empty((3, 0))), "the items have no features"),
        (dict(features=[1.0, 2.0]), "the features must have 2 dimension"),
        (dict(features=[[1, 2], [3]]), "must be numbers in rows of equal length"),
        (dict(features=[["a"], ["b"]]), "must be numbers in rows of equal length"),
        (dict(features=np.eye(2), ids="abc"), "there are 3 item ids but 2 rows of features"),
        (dict(features=np.eye(2), names=["x"]), "there are 1 feature names but 2 feature"),
        (dict(features=np.eye(3), ids="aba"), "rows 1 and 3: the item 'a' is given twice"),
        (dict(features=np.eye(2), names=["x", "x"]), "the feature 'x' is given twice"),
        (dict(features=np.eye(2), ids=[[1], [2]]), "must be hashable"),
        (dict(features=np.eye(2), ids=["a", None]), "row 2: the item id is missing"),
        (dict(features=np.eye(2), ids=[float("nan"), 1.0]), "row 1: the item id is missing"),
        (
            dict(features=[[0, 1], [np.nan, 2]], names=["x", "y"]),
            "row 2: the item 1 has nan in the column 'x'",
        ),
        (dict(features=[[0, -np.inf], [1, 2]]), "row 1: the item 0 has -inf in the column 'x1'"),
        (dict(features=[[0, 1e31], [1, 2]]), "row 1: the item 0 has 1e.31 in .* use other units"),
    ],
)
def test_items_that_are_refused(arguments, expected):
    with pytest.raises(DataError, match=expected.replace("(", r"\(")):
        Items.from_arrays(**arguments)


def test_unknown_ids_are_named():
    items = Items.from_arrays(np.eye(2), ids=["red", "blue"])
    with pytest.raises(UnknownItemError, match="no item 'rad' among the 2 items; did you mean 'r"):
        items.codes(["blue", "rad"])
    with pytest.raises(DataError, match="must be hashable"):
        items.codes([["red"]])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (dict(triples=[0, 1, 2]), r"an array of shape \(m, 3\).* its shape is \(3,\)"),
        (dict(triples=[[0, 1], [2]]), "comparisons must be in rows of equal length"),
        (dict(triples=[["a", "b", "c"]]), "user, left and right must hold whole numbers"),
        (dict(triples=[[0, 0, 1], [0, 1, 1.5]]), r"row 2: \[0.0, 1.0, 1.5\] are not all whole"),
        (dict(triples=[[0, 0, np.inf]]), "row 1: .* are not all whole numbers"),
        (dict(triples=np.empty((0, 3), int), response=[]), "there are no comparisons"),
        (dict(response=[1, 1]), "there are 2 values of response but 3 users"),
        (dict(response=[1, 1, 2]), "row 3: the response 2 is none of -1"),
        (dict(response=[1, np.nan, 1]), "row 2: the response nan is none of -1"),
        (dict(response=[True, True, False]), "the responses must be one column of numbers"),
        (dict(response=["left"] * 3), "the responses must be one column of numbers"),
        (dict(triples=[[0, 0, 1], [0, 2, 2]]), "row 2: the item 2 is compared with itself"),
        (dict(triples=[[0, 0, -1]]), "row 1: the right item code -1 is negative"),
        (dict(n_items=2), r"row 3: the left item code 2 is outside 0\.\.1"),
        (dict(users=["ann"]), r"row 3: the user code 1 is outside 0\.\.0"),
        (dict(users=["ann", "ann"]), "rows 1 and 2: the user 'ann' is given twice"),
        (dict(weight=[1, -2, 3]), "row 2: the weight -2 is negative; give 0 or more"),
        (dict(weight=[1, 2, np.inf]), "row 3: the weight is inf"),
        (dict(weight=[np.nan, 2, 1]), "row 1: the weight is nan"),
        (dict(weight=[0, 0, 0]), "all weights are zero"),
        (dict(weight=[1e308, 1e308, 0]), "the column 'weight' are too large to be added up"),
        (dict(weight=[1]), "there are 1 values of weight but 3 users"),
        (dict(weight=["a", "b", "c"]), "the weights must be numbers"),
        (dict(time=["noon"] * 3), "the times must be one column of numbers or of dates"),
        (dict(time=[1, 2]), "there are 2 values of time but 3 users"),
    ],
)
def test_comparisons_that_are_refused(arguments, expected):
    triples = arguments.get("triples", TRIPLES)
    settings = {"triples": triples, "response": np.ones(len(triples)), **arguments}
    with pytest.raises(DataError, match=expected):
        Comparisons.from_arrays(**settings)


def test_rows_of_an_error_are_counted_from_zero_in_the_exception():
    with pytest.raises(RowError) as caught:
        Comparisons.from_arrays(TRIPLES, [1, 1, 1], weight=[1, 1, -1])
    assert caught.value.rows == (2,)


@pytest.mark.parametrize("dtype", [np.int16, np.uint64, np.float64, object])
def test_order_and_sides_are_kept(dtype):
    triples = np.array(TRIPLES, dtype)
    data = Comparisons.from_arrays(triples, [-1, 1, 0], users="ab", item_ids="xyz")
    assert np.column_stack([data.user, data.left, data.right]).tolist() == TRIPLES
    assert data.response.tolist() == [-1, 1, 0]
    assert (data.users, data.item_ids, data.n_users, data.n_items) == (
        ("a", "b"),
        tuple("xyz"),
        2,
        3,
    )
    assert repr(data) == "Comparisons(3 answers, 2 users, 3 items)"


def test_subsets_keep_codes_and_optional_columns():
    times = np.array(["2024-05-31", "2024-06-01", "2024-06-02"], "M8[D]")
    data = Comparisons.from_arrays(TRIPLES, [-1, 1, 0], weight=[1, 2, 3], time=times)
    for rows in ([2, 0], np.array([2, 0], dtype=np.uint8)):
        part = data.subset(rows)
        assert (part.users, part.item_ids) == (data.users, data.item_ids)
        assert (part.user.tolist(), part.weight.tolist()) == ([1, 0], [3, 1])
        assert part.time.tolist() == times[[2, 0]].tolist()
    assert data.subset([False, True, False]).response.tolist() == [1]
    for rows, expected in (
        ([3], r"the row code 3 is outside 0\.\.2"),
        ([True], "1 values of the mask but 3 comparisons"),
        ([], "there are no comparisons"),
        ([-1], "the row code -1 is negative"),
    ):
        with pytest.raises(DataError, match=expected):
            data.subset(rows)


def test_a_tie_is_two_half_answers_or_none():
    data = Comparisons.from_arrays(TRIPLES, [0, 1, 0], weight=[4, 1, 2])
    half = data.answers()
    assert half.sign.tolist() == [-1, 1, 1, -1, 1]
    assert half.weight.tolist() == [2, 2, 1, 1, 1]
    assert half.left.tolist() == [0, 0, 1, 2, 2]
    dropped = data.answers("drop")
    assert (dropped.sign.tolist(), dropped.weight.tolist()) == ([1], [1])
    assert (dropped.n_users, dropped.n_items) == (2, 3)
    with pytest.raises(SettingError, match="ties must be 'half' or 'drop', not 'keep'"):
        data.answers("keep")
    with pytest.raises(DataError, match="every answer that counts is a tie"):
        Comparisons.from_arrays(TRIPLES, [0, 0, 0]).answers("drop")
    with pytest.raises(DataError, match="every answer that counts is a tie"):
        Comparisons.from_arrays(TRIPLES, [0, 1, 0], weight=[1, 0, 1]).answers("drop")


@settings(max_examples=50, deadline=None)
@given(
    responses=st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=20),
    seed=st.integers(0, 1000),
)
def test_ties_keep_the_total_weight_and_every_other_row(responses, seed):
    count = len(responses)
    rng = np.random.default_rng(seed)
    triples = np.column_stack(
        [rng.integers(0, 3, count), np.zeros(count, int), rng.integers(1, 4, count)]
    )
    weight = rng.random(count) + 0.1
    data = Comparisons.from_arrays(triples, responses, weight=weight)
    half = data.answers()
    assert half.weight.sum() == pytest.approx(weight.sum())
    assert (half.weight * half.sign).sum() == pytest.approx((weight * responses).sum())
    if any(responses):
        dropped = data.answers("drop")
        kept = data.subset(data.response != 0)
        np.testing.assert_array_equal(dropped.sign, kept.response)
        np.testing.assert_array_equal(dropped.right, kept.right)
        np.testing.assert_array_equal(dropped.weight, kept.weight)


def arrays_of(thing: object) -> list[np.ndarray]:
    return [value for value in vars(thing).values() if isinstance(value, np.ndarray)]


def immutables() -> list[Items | Comparisons | Answers]:
    data = Comparisons.from_arrays(TRIPLES, [0, 1, 0], weight=[4, 1, 2], time=[1, 2, 3])
    return [Items.from_arrays(np.eye(3)), data, data.answers(), data.subset([0, 1])]


@pytest.mark.parametrize("thing", immutables(), ids=repr)
@pytest.mark.parametrize(
    "again", [lambda thing: thing, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))]
)
def test_nothing_can_be_overwritten_not_even_in_a_copy(thing, again):
    copied = again(thing)
    assert arrays_of(copied)
    for array in arrays_of(copied):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        copied.n_users = 3
    for mine, yours in zip(arrays_of(copied), arrays_of(thing), strict=True):
        np.testing.assert_array_equal(mine, yours)


def test_the_callers_arrays_stay_the_callers():
    features = np.eye(3)
    view = features[:]
    view.flags.writeable = False
    items = [Items.from_arrays(features), Items.from_arrays(view)]
    triples = np.array(TRIPLES)
    weight = np.ones(3)
    data = Comparisons.from_arrays(triples, [1, 1, 1], weight=weight)
    features[:], triples[:], weight[:] = 7, 0, 9
    assert features.flags.writeable
    for each in items:
        np.testing.assert_array_equal(each.features, np.eye(3))
    assert data.left.tolist() == [0, 1, 2]
    assert data.weight.tolist() == [1, 1, 1]


def test_arrays_nobody_can_write_to_are_not_copied():
    features = np.eye(3)
    features.flags.writeable = False
    assert Items.from_arrays(features).features is features
