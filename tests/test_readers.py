import gzip
import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.errors import OutputError, UnknownItemError
from crowdmetric.readers import read_comparisons, read_items, read_pairs, write_table

ENDINGS = (".csv", ".csv.gz", ".tsv", ".parquet", ".pq", ".jsonl", ".ndjson", ".arrow", ".feather")
ITEMS = Items(("red", "blue", "green"), np.eye(3), ("a", "b", "c"))
HEADER = "user,left,right,response\n"
ROW = "ann,red,blue,left\n"


def columns_of(data: Comparisons) -> dict[str, list]:
    """Return the columns of a file, ids in place of codes."""
    words = {-1: "left", 0: "tie", 1: "right"}
    columns = {
        "user": [data.users[code] for code in data.user],
        "left": [data.item_ids[code] for code in data.left],
        "right": [data.item_ids[code] for code in data.right],
        "response": [words[int(answer)] for answer in data.response],
    }
    if data.weight is not None:
        columns["weight"] = data.weight.tolist()
    return columns


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# ---------------------------------------------------------------------------- what is understood


def test_responses_are_words_or_numbers_in_any_case(tmp_path):
    words = ["left", "RIGHT", " Tie ", "-1", "1", "0", "+1", "-1.0"]
    path = write(tmp_path / "x.csv", HEADER + "".join(f"ann,a,b,{word}\n" for word in words))
    assert read_comparisons(path).response.tolist() == [-1, 1, 0, -1, 1, 0, 1, -1]
    frame = pd.DataFrame({"user": 1, "left": 2, "right": 3, "response": [-1.0, 0.0, 1.0]})
    assert read_comparisons(frame).response.tolist() == [-1, 0, 1]


def test_a_winner_is_on_the_left_and_preferred(tmp_path):
    path = write(tmp_path / "x.csv", "loser,user,winner\nblue,ann,red\n")
    data = read_comparisons(path, ITEMS)
    assert (data.item_ids, data.left.tolist(), data.right.tolist()) == (ITEMS.ids, [0], [1])
    assert data.response.tolist() == [-1]


def test_order_is_kept_and_users_come_in_order_of_appearance(tmp_path):
    path = write(tmp_path / "x.csv", HEADER + "zoe,c,a,left\nann,a,b,tie\nzoe,b,c,right\n")
    assert columns_of(read_comparisons(path)) == {
        "user": ["zoe", "ann", "zoe"],
        "left": ["c", "a", "b"],
        "right": ["a", "b", "c"],
        "response": ["left", "tie", "right"],
    }
    assert read_comparisons(path).users == ("zoe", "ann")


def test_integers_in_csv_stay_integers_and_leading_zeros_stay_text(tmp_path):
    data = read_comparisons(write(tmp_path / "x.csv", HEADER + "10,1,-2,left\n9,0,1,left\n"))
    assert (data.users, data.item_ids) == ((10, 9), (1, 0, -2))
    data = read_comparisons(write(tmp_path / "x.csv", HEADER + "007,1,2,left\n8,x,1,left\n"))
    assert (data.users, set(data.item_ids)) == (("007", "8"), {"1", "2", "x"})
    items = read_items(write(tmp_path / "i.csv", f"item,x\n3,1\n{10**20},2\n2,3\n"))
    assert items.ids == (3, 10**20, 2)
    items = read_items(write(tmp_path / "i.jsonl", '{"item": "3", "x": 1}\n{"item": 4, "x": "2"}'))
    assert (items.ids, items.features[:, 0].tolist()) == (("3", 4), [1, 2])


@pytest.mark.parametrize("ids", [(1, 2, 3), ("1", "2", "3"), (1.0, 2.0, 3.0), ("1", 2, "x")])
def test_ids_that_read_the_same_match(ids, tmp_path):
    items = Items(ids, np.eye(3), ("a", "b", "c"))
    path = write(tmp_path / "x.csv", HEADER + "ann,2,1,left\n")
    integers = pd.DataFrame({"user": ["ann"], "left": [2], "right": [1], "response": [-1]})
    for source in (path, integers, integers.astype({"left": str, "right": float})):
        data = read_comparisons(source, items)
        assert (data.item_ids, data.left.tolist(), data.right.tolist()) == (ids, [1], [0])
    users = read_pairs(path, items, users=("bob", "ann"))
    assert users.user.tolist() == [1]


@pytest.mark.parametrize("given", ["1.0", "1.00"])
def test_whole_numbers_written_as_floats_match(given, tmp_path):
    path = write(tmp_path / "x.csv", HEADER + f"{given},{given},2.0,left\n")
    data = read_pairs(path, Items((1, 2), np.eye(2), ("a", "b")), users=(7, 1))
    assert (data.user.tolist(), data.left.tolist(), data.right.tolist()) == ([1], [0], [1])
    assert read_pairs(path, users=("1", given)).user.tolist() == [1]


@pytest.mark.parametrize("tail", [",,,\n", ",,,\n , ,,\n,,,", "\n,,,\n\n"])
def test_empty_rows_at_the_end_are_skipped(tail, tmp_path):
    data = read_comparisons(write(tmp_path / "x.csv", HEADER + ROW + tail), ITEMS)
    assert columns_of(data) == columns_of(read_comparisons(write(tmp_path / "y.csv", HEADER + ROW)))


def test_an_id_that_reads_like_two_items_needs_the_right_type():
    items = Items((1, "1", "x"), np.eye(3), ("a", "b", "c"))
    frame = {"user": ["ann"], "left": ["1"], "right": ["x"], "response": [0]}
    assert read_comparisons(pa.table(frame), items).left.tolist() == [1]
    assert read_comparisons(pa.table({**frame, "left": [1]}), items).left.tolist() == [0]
    with pytest.raises(UnknownItemError):
        read_comparisons(pa.table({**frame, "left": [2]}), items)


def test_columns_of_two_types_hold_the_same_items_without_an_items_file():
    frame = pd.DataFrame({"user": [1, 1], "left": [1, 2], "right": ["2", "3"], "response": [0, 0]})
    assert read_comparisons(frame).item_ids == (1, 2, "3")


def test_mixed_and_tuple_ids_in_a_pandas_frame():
    frame = pd.DataFrame(
        {"user": [("a", 1), 7], "left": ["x", 2], "right": [2, "x"], "response": [1, -1]},
        dtype=object,
    )
    data = read_comparisons(frame)
    assert (data.users, data.item_ids) == ((("a", 1), 7), ("x", 2))


def test_categories_that_no_row_uses_are_no_users():
    users = pd.Categorical(["b", "a"], categories=["unused", "a", "b"])
    frame = pd.DataFrame({"user": users, "left": "x", "right": "y", "response": "tie"})
    assert read_comparisons(frame).users == ("b", "a")
    assert read_comparisons(pl.from_pandas(frame)).users == ("b", "a")


def test_text_files_may_have_a_byte_order_mark_blanks_and_other_columns(tmp_path):
    text = "\ufeffuser, left , right,note,response\r\nann, red, blue,so so, left\r\n"
    data = read_comparisons(write(tmp_path / "x.CSV", text), ITEMS)
    assert columns_of(data) == columns_of(read_comparisons(write(tmp_path / "y.csv", HEADER + ROW)))
    packed = write(tmp_path / "x.csv.gz", gzip.compress((HEADER + ROW).encode()))
    assert columns_of(read_comparisons(packed)) == columns_of(data)


def test_words_that_look_like_nothing_are_ids(tmp_path):
    data = read_comparisons(write(tmp_path / "x.csv", HEADER + "NA,null,nan,left\n"))
    assert (data.users, data.item_ids) == (("NA",), ("null", "nan"))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["3", "1"], np.array([3, 1])),
        (["3", "1.5"], np.array([3, 1.5])),
        (["2024-05-31", "2024-05-31 18:30"], ["2024-05-31T00:00", "2024-05-31T18:30"]),
        (
            ["2024-05-31T18:30:00Z", "2024-05-31T18:30:00+02:00"],
            ["2024-05-31T18:30", "2024-05-31T16:30"],
        ),
        (["2024-05-31 18:30:00.123456789"] * 2, ["2024-05-31T18:30:00.123456789"] * 2),
    ],
)
def test_times_are_numbers_or_dates(texts, expected, tmp_path):
    rows = "".join(f"ann,a,b,left,{text}\n" for text in texts)
    data = read_comparisons(write(tmp_path / "x.csv", "user,left,right,response,time\n" + rows))
    wanted = np.asarray(expected, dtype=None if isinstance(expected, np.ndarray) else "M8[ns]")
    np.testing.assert_array_equal(data.time, wanted)
    assert data.time.dtype.kind == wanted.dtype.kind


def test_times_of_frames_keep_their_type():
    row = {"user": ["ann"], "left": ["a"], "right": ["b"], "response": ["left"]}
    when = datetime(2024, 5, 31, 18, 30, tzinfo=UTC)
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        data = read_comparisons(make({**row, "time": [when]}))
        assert data.time == np.array(["2024-05-31T18:30"], "M8[us]")
        assert read_comparisons(make({**row, "time": [4]})).time.tolist() == [4]


def test_features_may_be_booleans_decimals_or_numbers_as_text():
    frame = pa.table({"item": [1, 2], "b": [True, False], "i": [3, 4], "t": [" 1.5 ", "1e3"]})
    decimals = pa.array([1, 2]).cast(pa.decimal128(20, 1))
    items = read_items(frame.append_column("d", decimals))
    assert items.names == ("b", "i", "t", "d")
    assert items.features.tolist() == [[1, 3, 1.5, 1], [0, 4, 1000, 2]]


def test_the_id_column_may_have_another_name(tmp_path):
    path = write(tmp_path / "x.csv", "x,name\n1,red\n2,blue\n")
    assert read_items(path, id_column="name").ids == ("red", "blue")


def test_pairs_have_no_answers_and_keep_the_codes_of_items_and_users(tmp_path):
    path = write(tmp_path / "x.csv", "user,left,right,response\nbob,green,red,whatever\n")
    pairs = read_pairs(path, ITEMS, users=("ann", "bob", "cy"))
    assert (pairs.users, pairs.item_ids) == (("ann", "bob", "cy"), ITEMS.ids)
    assert (pairs.user.tolist(), pairs.left.tolist(), pairs.right.tolist()) == ([1], [2], [0])
    assert pairs.response.tolist() == [0]
    assert read_pairs(path).users == ("bob",)


def test_arrow_streams_are_read_like_arrow_files(tmp_path):
    table = pa.table({"item": ["a", "b"], "x": [1.0, 2.0]})
    with pa.ipc.new_stream(tmp_path / "x.arrow", table.schema) as stream:
        stream.write_table(table)
    assert read_items(tmp_path / "x.arrow").ids == ("a", "b")


# ------------------------------------------------------------------------------------ round trips

words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)
ids = st.one_of(
    st.lists(st.integers(-(2**62), 2**62), min_size=2, max_size=6, unique=True),
    # In CSV, blanks around an id do not count, and "7" is read as 7.
    st.lists(words.map(lambda word: f"i{word}."), min_size=2, max_size=6, unique=True),
)


@st.composite
def comparisons(draw) -> Comparisons:
    users, items = draw(ids), draw(ids)
    count = draw(st.integers(1, 8))
    rows = []
    for _ in range(count):
        left, right = draw(st.permutations(range(len(items))))[:2]
        rows.append([draw(st.integers(0, len(users) - 1)), left, right])
    responses = draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=count, max_size=count))
    weights = st.lists(st.floats(1e-300, 1e300), min_size=count, max_size=count)
    return Comparisons.from_arrays(
        rows, responses, weight=draw(st.none() | weights), users=users, item_ids=items
    )


@settings(max_examples=60, deadline=None)
@given(data=comparisons(), ending=st.sampled_from(ENDINGS))
def test_what_is_written_is_read(data, ending, tmp_path_factory):
    path = tmp_path_factory.mktemp("round") / f"x{ending}"
    columns = columns_of(data)
    write_table(path, columns)
    assert columns_of(read_comparisons(path)) == columns
    items = Items.from_arrays(np.zeros((data.n_items, 1)), ids=data.item_ids)
    again = read_comparisons(path, items)
    assert again.item_ids == data.item_ids
    np.testing.assert_array_equal(again.left, data.left)
    np.testing.assert_array_equal(again.right, data.right)


@settings(max_examples=30, deadline=None)
@given(
    features=st.lists(st.floats(-1e30, 1e30), min_size=2, max_size=5),
    ending=st.sampled_from(ENDINGS),
)
def test_features_survive_to_the_last_bit(features, ending, tmp_path_factory):
    path = tmp_path_factory.mktemp("round") / f"x{ending}"
    write_table(path, {"item": np.arange(len(features)), "x": np.array(features)})
    items = read_items(path)
    assert items.ids == tuple(range(len(features)))
    assert items.features[:, 0].tolist() == features


def test_ids_of_mixed_types_are_written_as_text(tmp_path):
    for ending in ENDINGS:
        path = tmp_path / f"x{ending}"
        write_table(path, {"item": np.array([1, "x", (2, 3)], dtype=object), "y": [1, 2, 3]})
        assert read_items(path).ids == ("1", "x", "(2, 3)")


def test_json_lines_hold_dates_as_text_and_no_nan(tmp_path):
    path = tmp_path / "x.jsonl"
    when = np.array(["2024-05-31T18:30"], "M8[s]")
    write_table(path, {"time": when, "x": np.array([np.nan]), "word": ["é"]})
    assert path.read_text("utf-8") == '{"time": "2024-05-31 18:30:00", "x": null, "word": "é"}\n'


# --------------------------------------------------------------------------------- what is written


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "x.csv"
    write_table(path, {"a": [1]})
    write_table(path, {"a": ["1,2", 'say "x"']})
    assert path.read_text() == 'a\n"1,2"\n"say ""x"""\n'
    assert os.listdir(tmp_path) == ["x.csv"]


def test_what_cannot_be_written_leaves_no_trace(tmp_path):
    with pytest.raises(OutputError, match=r"no.x\.csv: the table cannot be written .*; name a"):
        write_table(tmp_path / "no" / "x.csv", {"a": [1]})
    (tmp_path / "x.csv").mkdir()
    with pytest.raises(OutputError, match=r"x\.csv: the table cannot be written"):
        write_table(tmp_path / "x.csv", {"a": [1]})
    with pytest.raises(OutputError, match=r"'\.xls' says no known format; use one of \.csv"):
        write_table(tmp_path / "x.xls", {"a": [1]})
    assert os.listdir(tmp_path) == ["x.csv"]


def test_many_rows_are_read_in_bounded_time(tmp_path):
    import time

    rng = np.random.default_rng(0)
    count = 200_000
    left = rng.integers(0, 500, count)
    names = np.array([f"item-{code}" for code in range(500)])
    columns = {
        "user": rng.integers(0, 1000, count),
        "left": names[left],
        "right": names[(left + 1) % 500],
        "response": rng.choice(["left", "right", "tie"], count),
        "weight": rng.random(count),
    }
    write_table(tmp_path / "x.csv", columns)
    items = Items.from_arrays(np.eye(500), ids=names)
    begin = time.perf_counter()
    data = read_comparisons(tmp_path / "x.csv", items)
    assert time.perf_counter() - begin < 2.0  # a million rows in less than ten seconds, anywhere
    np.testing.assert_array_equal(data.left, left)
