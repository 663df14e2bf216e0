"""``crowdmetric quality`` as people and scripts meet it."""

from __future__ import annotations

import csv
import json
import shlex

import numpy as np
import pytest

import crowdmetric as cm
from answering import answer, mirrored
from crowdmetric.cli import main
from crowdmetric.trust import noise_ceiling


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(answers, items=None):
    """Write files of answers, and of items."""
    words = {-1: "left", 0: "tie", 1: "right"}
    with open("answers.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["user", "left", "right", "response"])
        codes = (answers.user, answers.left, answers.right, answers.response)
        for user, left, right, y in zip(*(column.tolist() for column in codes), strict=True):
            names = answers.users[user], answers.item_ids[left], answers.item_ids[right]
            table.writerow([*names, words[y]])
    if items is not None:
        with open("items.csv", "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["item", *items.names])
            rows = zip(items.ids, items.features.tolist(), strict=True)
            table.writerows([name, *row] for name, row in rows)


def run(arguments, capsys):
    code = main(shlex.split(f"quality {arguments}"))
    out, err = capsys.readouterr()
    return code, out, err


def some_crowd(users=6, coins=1, pairs=60):
    """Return a crowd that is asked everything both ways round; the first people toss coins."""
    crowd = cm.simulate(
        n_items=20, dimension=2, n_users=users, pairs_per_user=pairs, noise=3.0, seed=3
    )
    share = np.where(np.arange(users) < coins, 0.0, 1.0)
    return crowd, answer(crowd, mirrored(crowd.comparisons), 5, consistency=share)


def test_people_are_told_what_there_is(here, capsys):
    crowd, answers = some_crowd()
    write(answers, crowd.items)
    code, out, err = run("answers.csv --items items.csv", capsys)
    assert (code, err) == (0, "")
    lines = [line.split(maxsplit=1) for line in out.splitlines()]
    table = {line[0]: line[1] for line in reversed(lines)}
    assert table["answers"] == "720 of 6 people"
    assert table["ceiling"].startswith(f"{noise_ceiling(answers).estimate:.1%} (")
    assert "the answers are 'left'" in table["side"]
    assert "where a person has no preference (fit within" in out
    assert "of answers left out are predicted" in table["accuracy"]
    assert table["consistency"].startswith("the median person follows the model in ")
    assert table["suspicious"] == "1 of 6 people"
    assert "u0: agrees with themselves on " in out


def test_scripts_get_one_object(here, capsys):
    crowd, answers = some_crowd()
    write(answers, crowd.items)
    code, out, _ = run("answers.csv --items items.csv --json", capsys)
    assert code == 0
    facts = json.loads(out)
    assert (facts["comparisons"], facts["users"]) == (720, 6)
    assert set(facts["ceiling"]) == {"estimate", "low", "high", "at_least", "at_most", "questions"}
    assert facts["ceiling"]["estimate"] == noise_ceiling(answers).estimate
    assert [one["user"] for one in facts["suspicious"]] == ["u0"]
    assert 0.4 < facts["left_at_toss_up"] < 0.6
    first, second = facts["people"][:2]
    assert first["user"] == "u0"
    assert first["consistency"] < 0.3 < second["consistency"]
    assert first["agreement"] < second["agreement"]
    assert first["ceiling"] < second["ceiling"]
    assert 0.2 < second["left_at_toss_up"] < 0.8


def test_without_items_there_is_no_model(here, capsys):
    _, answers = some_crowd()
    write(answers)
    code, out, err = run("answers.csv --json", capsys)
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert facts["accuracy"] is None
    assert facts["left_at_toss_up"] is None
    assert "consistency" not in facts["people"][0]


def test_without_repeats_there_is_no_ceiling(here, capsys):
    (here / "answers.csv").write_text("user,winner,loser\nann,a,b\nbob,b,c\n")
    code, out, _ = run("answers.csv", capsys)
    assert code == 0
    assert "no question was asked twice of anybody" in out
    assert "nothing can be said about a side bias" in out
    assert "suspicious  none of 2 people" in out
    _, out, _ = run("answers.csv --json", capsys)
    facts = json.loads(out)
    assert facts["ceiling"] is None
    assert facts["left"] is None


def test_answers_can_be_weighed_for_a_fit(here, capsys):
    crowd, answers = some_crowd()
    write(answers, crowd.items)
    assert run("answers.csv --items items.csv --out weighed.csv --json", capsys)[0] == 0
    weighed = cm.read_comparisons("weighed.csv", crowd.items)
    assert (weighed.response == answers.response).all()
    assert weighed.weight[weighed.user == 0].max() < 0.3
    assert weighed.weight[weighed.user != 0].min() > 0.4
    fit = "fit weighed.csv --items items.csv --radius 5 --out weighed.model"
    assert main(shlex.split(fit)) == 0


@pytest.mark.parametrize(
    ("options", "code", "complaint"),
    [
        ("--out weighed.csv", 2, "give --items too"),
        ("--items items.csv --out answers.csv", 2, "a file that the command reads"),
        ("--items items.csv --out weighed.txt", 1, "no known format"),
        ("--items flat.csv --out weighed.csv", 1, "no weights to write, with no model"),
    ],
)
def test_what_cannot_be_weighed_is_refused(here, capsys, options, code, complaint):
    crowd, answers = some_crowd()
    write(answers, cm.Items.from_arrays(np.ones((20, 1)), ids=crowd.items.ids))
    (here / "items.csv").rename("flat.csv")
    write(answers, crowd.items)
    found, out, err = run(f"answers.csv {options}", capsys)
    assert (found, out) == (code, "")
    assert complaint in err


def test_ties_are_counted(here, capsys):
    rows = ["ann,a,b,tie", "ann,b,c,left", "ann,a,c,right", "bob,a,b,tie"]
    (here / "answers.csv").write_text("\n".join(["user,left,right,response", *rows, ""]))
    code, out, _ = run("answers.csv", capsys)
    assert code == 0
    assert out.startswith("answers     4 of 2 people, 50.0% of them ties\n")
    _, out, _ = run("answers.csv --json", capsys)
    people = json.loads(out)["people"]
    assert [one["ties"] for one in people] == pytest.approx([1 / 3, 1.0])
    assert [one["left"] for one in people] == [0.5, None]


def test_many_suspicious_people_are_counted(here, capsys):
    _, answers = some_crowd(users=16, coins=15)
    write(answers)
    code, out, _ = run("answers.csv", capsys)
    assert code == 0
    assert "more; --json has them all" in out


def test_items_that_are_not_there_are_named(here, capsys):
    _, answers = some_crowd()
    write(answers, cm.Items.from_arrays(np.eye(2)))
    code, out, err = run("answers.csv --items items.csv", capsys)
    assert (code, out) == (1, "")
    assert err.startswith("crowdmetric: error: answers.csv")


def test_features_that_do_not_fit_are_a_note(here, capsys):
    crowd, answers = some_crowd()
    flat = cm.Items.from_arrays(np.ones((20, 1)), ids=crowd.items.ids)
    write(answers, flat)
    code, out, _ = run("answers.csv --items items.csv", capsys)
    assert code == 0
    assert "no model, and so no consistency from held-out answers: " in out
