"""``crowdmetric check`` as people and scripts meet it."""

from __future__ import annotations

import json
import shlex

import pytest

import crowdmetric as cm
from crowdmetric.cli import main
from crowdmetric.identify.partition import Partition, satisfies_order, satisfies_rank
from crowdmetric.identify.verdict import check
from crowdmetric.readers import read_comparisons, read_items

COMMAND = "check comparisons.csv --items items.csv"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def crowd(folder, items=30, dimension=3, users=5, pairs=20):
    """Write the files of a simulated crowd."""
    cm.simulate(
        n_items=items, dimension=dimension, n_users=users, pairs_per_user=pairs, noise=4.0
    ).write(folder)


def lines(capsys):
    out, err = capsys.readouterr()
    assert err == ""
    return [line.split(maxsplit=1) for line in out.splitlines()]


def test_a_crowd_that_was_asked_enough(here, capsys):
    crowd(here)
    assert main(shlex.split(COMMAND)) == 0
    table = dict(lines(capsys))
    assert table["verdict"].startswith("identifiable: exact answers would leave one metric")
    assert table["verdict"].endswith("(rank 21 of 21)")
    assert table["data"] == "5 users, 30 items, 3 features, 100 comparisons"
    assert not {"missing", "open", "remedy"} & set(table)
    assert table["(a)"].startswith("holds: ")
    assert table["sufficient"].endswith("yes, here is the partition: see --json")


def test_a_crowd_that_was_not(here, capsys):
    crowd(here, pairs=2)
    assert main(shlex.split(COMMAND)) == 0  # it is an answer, and no error
    rows = lines(capsys)
    table = dict(rows)
    assert table["verdict"].startswith("not identifiable")
    missing = [text for name, text in rows if name == "missing"]
    assert missing[0] == (
        "the crowd needs 6 more comparisons that are independent of all that have been answered, "
        "whoever answers, beside those that single users need"
    )
    assert missing[1] == (
        "user 'u0' needs 1 more comparison that is independent of what they have answered "
        "(2 comparisons, 2 of them independent)"
    )
    assert len(missing) == 6
    assert table["remedy"].startswith("crowdmetric design --items items.csv --complete comparisons")
    assert table["(a)"].startswith("FAILS: ")
    assert "users below 5" in table["(a)"]


def test_the_remedy_is_one(here, capsys):
    crowd(here, pairs=2)
    assert main(shlex.split(COMMAND)) == 0
    remedy = dict(lines(capsys))["remedy"].split(" writes ")[0]
    assert main(shlex.split(remedy)[1:]) == 0
    more = (here / "more.csv").read_text().splitlines()[1:]
    with open("comparisons.csv", "a", encoding="utf-8") as file:
        head = (here / "comparisons.csv").read_text().splitlines()[0]
        filler = {"user": 0, "left": 1, "right": 2}
        for line in more:
            cells = line.split(",")
            row = [cells[filler[name]] if name in filler else "left" for name in head.split(",")]
            file.write(",".join(row) + "\n")
    capsys.readouterr()
    assert main([*shlex.split(COMMAND), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["identifiable"] is True
    assert len(more) == 11  # 6 for the metric, 1 for each user: the fewest


def test_many_reasons_are_cut_short_for_people_and_complete_for_scripts(here, capsys):
    crowd(here, users=30, pairs=2)
    assert main(shlex.split(COMMAND)) == 0
    missing = [text for name, text in lines(capsys) if name == "missing"]
    assert len(missing) == 13
    assert missing[-1].startswith("... and ")
    assert main([*shlex.split(COMMAND), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["missing"]) >= 30
    assert found["users_short"][0] == {"user": "u0", "needs": 1}


def test_json_is_one_object_and_its_partitions_prove_themselves(here, capsys):
    crowd(here)
    assert main([*shlex.split(COMMAND), "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    found = json.loads(out)
    assert (found["identifiable"], found["rank"], found["needed"]) == (True, 21, 21)
    assert found["missing"] == []
    assert found["generically_identifiable"] is True
    assert [one["condition"] for one in found["conditions"]] == ["count", "a", "b", "c"]
    items = read_items("items.csv")
    asked = check(read_comparisons("comparisons.csv", items), items).asked
    for name, holds in (
        ("sufficient_condition", satisfies_order),
        ("conjectured_condition", satisfies_rank),
    ):
        decision = found[name]
        assert decision["answer"] == "yes"
        own = [[row - 1 for row in one["comparisons"]] for one in decision["own"]]
        metric = [row - 1 for row in decision["metric"]]
        assert holds(Partition(_array(own), _array(metric)), asked)


def _array(rows):
    import numpy as np

    return np.array(rows, dtype=np.intp)


def test_too_few_items_are_an_answer(here, capsys):
    crowd(here, items=6, users=3, pairs=10)
    assert main([*shlex.split(COMMAND), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["identifiable"] is False
    assert found["items_needed"] == 10
    assert found["missing"][0].startswith("at least 10 items are needed for 3 features, you have 6")
    assert found["undetermined"]


def test_a_feature_of_two_values_is_named(here, capsys):
    (here / "items.csv").write_text("item,price,sale\na,1,0\nb,2,1\nc,4,0\nd,8,1\ne,9,0\nf,3,1\n")
    rows = [f"ann,{p},{q},left" for p in "abcdef" for q in "abcdef" if p < q]
    (here / "comparisons.csv").write_text("\n".join(["user,left,right,response", *rows]) + "\n")
    assert main(shlex.split(COMMAND)) == 0
    rows = lines(capsys)
    assert dict(rows)["missing"].startswith("the feature 'sale' takes only two values")
    assert dict(rows)["open"] == "the metric may change in the worth of 'sale', without a trace"
    assert "remedy" not in dict(rows)


BAD = [
    ("check missing.csv --items items.csv", 1, "missing.csv: there is no such file"),
    ("check comparisons.csv --items missing.csv", 1, "missing.csv: there is no such file"),
    ("check comparisons.csv", 2, "--items"),
    ("check comparisons.csv --items items.csv --jsn", 2, "did you mean '--json'?"),
    ("check empty.csv --items items.csv", 1, "empty.csv: there are no comparisons"),
    ("check comparisons.csv --items one.csv", 1, "at least two items, not 1"),
    ("check unknown.csv --items items.csv", 1, "no item 'zz'"),
    ("check itself.csv --items items.csv", 1, "the item 0 is compared with itself"),
]


@pytest.mark.parametrize(("command", "code", "says"), BAD)
def test_bad_input_is_one_sentence(command, code, says, here, capsys):
    crowd(here)
    head = "user,left,right,response\n"
    (here / "empty.csv").write_text(head)
    (here / "one.csv").write_text("item,x0\n0,1\n")
    (here / "unknown.csv").write_text(f"{head}u0,0,zz,left\n")
    (here / "itself.csv").write_text(f"{head}u0,0,0,left\n")
    assert main(shlex.split(command)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert len(err.splitlines()) == 1
