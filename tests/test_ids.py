"""Ids: found as they are, or else by how they read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.errors import DataError, SettingError, UnknownItemError, UnknownUserError
from crowdmetric.ids import KnownIds
from crowdmetric.model import Model, example
from crowdmetric.readers import read_comparisons, read_pairs


def numbered() -> Model:
    """Return the example with numbers for ids, one of them as text."""
    model = example()
    items = Items((1, "2", 3), model.items.features, model.items.names)
    return replace(model, items=items, users=("ann", 7))


@pytest.mark.parametrize("seven", [7, 7.0, "7", "7.0", "7.00", np.int64(7), np.str_("7")])
def test_a_model_finds_ids_by_how_they_read(seven):
    model = numbered()
    np.testing.assert_array_equal(model.scores([seven]), model.scores([7]))
    assert model.ideal_item(seven) == model.ideal_item(7)
    assert [name for name, _ in model.rank_items(seven, exclude=["1", 3.0, "sold"])] == ["2"]
    asked = Comparisons.from_arrays([[0, 0, 1]], [0], users=[seven], item_ids=["1", 2])
    same = Comparisons.from_arrays([[0, 0, 1]], [0], users=[7], item_ids=[1, "2"])
    assert model.margins(asked) == model.margins(same)


def test_an_id_that_reads_like_two_needs_the_right_type():
    model = replace(numbered(), users=(7, "7"))
    assert model.rank_items("7") != model.rank_items(7) == model.rank_items(7.0)
    with pytest.raises(UnknownUserError, match=r"no user '7\.0' among the 2 users"):
        model.rank_items("7.0")


@pytest.mark.parametrize(
    ("known", "given", "says"),
    [
        (["001", "002"], "1", r"; did you mean '001'\? \(leading zeros count\)$"),
        ([1, 2], "001", r"; did you mean 1\? \(leading zeros count\)$"),
        (["ann"], "an", r"; did you mean 'ann'\?$"),
        (["ann"], 7, "; try again$"),
        (["ann"], "x" * 100, r"^there is no item 'x{39}\.\.\.x{11}' among the 1 items; try"),
        (["y" * 99 + "x"], "y" * 99, r"did you mean 'y{39}\.\.\.y{10}x'\?$"),
    ],
)
def test_what_is_not_known_is_named_with_what_may_be_meant(known, given, says):
    with pytest.raises(UnknownItemError, match=says):
        KnownIds(known, "item").find(given, "try again")


@pytest.mark.parametrize(
    ("ask", "error", "says"),
    [
        (lambda m: m.scores(7), SettingError, r"^users must be a list of ids; write \[7\] for a"),
        (lambda m: m.items.codes("ab"), SettingError, r"^item ids must be a list.*\['ab'\]"),
        (lambda m: m.rank_items(7, exclude="ab"), SettingError, r"^exclude must be .*\['ab'\]"),
        (lambda m: m.rank_items(7, exclude=12), SettingError, r"^exclude must be .*\[12\]"),
        (lambda m: m.rank_items(7, exclude=[[1]]), DataError, "item ids must be hashable"),
        (lambda m: m.rank_items(7, top=2.5), SettingError, "top must be a whole number.*not 2.5"),
        (lambda m: m.rank_items(7, top="3"), SettingError, "top must be a whole number.*not '3'"),
    ],
)
def test_one_id_is_no_list_and_half_an_item_no_number(ask, error, says):
    with pytest.raises(error, match=says):
        ask(numbered())


def test_readers_name_the_line_of_an_id_that_is_not_known(tmp_path):
    (tmp_path / "x.csv").write_text("user,left,right\nann,1,3\nbop,1,4\n")
    items = numbered().items
    with pytest.raises(UnknownItemError, match="line 3: there is no item '4' among the 3 items;"):
        read_pairs(tmp_path / "x.csv", items)
    with pytest.raises(UnknownUserError, match=r"line 3: there is no user 'bop'.*mean 'bob'"):
        read_pairs(tmp_path / "x.csv", items, users=["ann", "bob"])
    (tmp_path / "y.csv").write_text("user,winner,loser\n1,1,3\n")
    with pytest.raises(UnknownUserError, match=r"line 2: there is no user '1'.*mean '001'\?"):
        read_comparisons(tmp_path / "y.csv", items, users=["001", "002"])
