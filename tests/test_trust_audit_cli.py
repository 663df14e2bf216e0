"""``crowdmetric audit``, and ``evaluate --training``, as people and scripts meet them."""

from __future__ import annotations

import csv
import json
import shlex

import pytest

import crowdmetric as cm
from crowdmetric.cli import main

QUICK = "audit m.model comparisons.csv --replicates 3"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = cm.simulate(n_items=20, dimension=2, n_users=4, pairs_per_user=30, noise=4.0)
    data.write(tmp_path)
    fit = cm.CrowdMetric(data.items, cm.regions.NuclearFull(6.0), tol=1e-5)
    fit.fit(data.comparisons).model_.save("m.model")
    (tmp_path / "users.csv").write_text("user,town\nu0,Ulm\nu1,Bonn\nu2,Ulm\n")
    return tmp_path


def test_people_read_a_table(here, capsys):
    assert main(shlex.split(f"{QUICK} --users users.csv --baselines")) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "120: answers left out, in 5 folds, by fits to the others" in out
    for words in ("worst person", "worst town", "one metric? town", "per-person linear"):
        assert words in out


def test_scripts_read_one_object_and_tables_are_written(here, capsys):
    command = f"{QUICK} --users users.csv --baselines --out audit --json --progress"
    assert main(shlex.split(command)) == 0
    out, err = capsys.readouterr()
    assert "13 of 13 steps done" in err
    found = json.loads(out)
    assert found["comparisons"] == 120
    assert [one["people"] for one in found["groups"]["town"]] == [
        {"Ulm": 2, "Bonn": 1, "(not given)": 1}[one["name"]] for one in found["groups"]["town"]
    ]
    assert [one["by"] for one in found["common_metric"]] == ["town", "each person"]
    assert len(found["baselines"]) == 5
    tables = {
        path.stem: list(csv.DictReader(path.read_text().splitlines()))
        for path in here.glob("audit/*.csv")
    }
    assert sorted(tables) == ["baselines", "common_metric", "groups", "people"]
    assert [row["name"] for row in tables["people"]] == [one["name"] for one in found["people"]]
    shares = [float(row["accuracy"]) for row in tables["people"]]
    assert shares == sorted(shares)


def test_answers_not_seen_are_judged_by_the_model_itself(here, capsys):
    assert (
        main(shlex.split("audit m.model test.csv --training comparisons.csv --replicates 0")) == 0
    )
    first = capsys.readouterr().out
    assert main(shlex.split("evaluate m.model test.csv --json")) == 0
    accuracy = json.loads(capsys.readouterr().out)["accuracy"]
    assert f"{accuracy:.1%} predicted" in first
    assert "not tested: the tests were not asked for" in first


def test_evaluate_shows_baselines_when_it_is_told_what_was_fitted_to(here, capsys):
    command = "evaluate m.model test.csv --training comparisons.csv"
    assert main(shlex.split(command)) == 0
    assert "pooled Bradley-Terry" in capsys.readouterr().out
    assert main(shlex.split(f"{command} --json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["baselines"]) == 5
    assert all(one["accuracy"] < found["accuracy"] for one in found["baselines"][:3])


BAD = [
    ("audit m.model missing.csv", 1, "missing.csv: there is no such file"),
    ("audit m.model comparisons.csv --users alone.csv", 1, "no column but 'user'"),
    ("audit m.model comparisons.csv --users strangers.csv", 1, "none of its users is in the model"),
    ("audit m.model one.csv", 1, "one.csv: all answers are about one question"),
    ("audit m.model comparisons.csv --replicates -1", 2, "whole number from 0 up"),
    ("audit m.model comparisons.csv --folds 1", 2, "at least 2"),
    ("audit m.model comparisons.csv --out m.model", 1, "m.model"),
    ("evaluate m.model test.csv --training comparisons.csv --items items.csv", 2, "leave out"),
]


@pytest.mark.parametrize(("command", "code", "says"), BAD)
def test_bad_input_is_one_sentence(command, code, says, here, capsys):
    (here / "alone.csv").write_text("user\nu0\n")
    (here / "strangers.csv").write_text("user,town\nx,Ulm\n")
    (here / "one.csv").write_text("user,left,right,response\nu0,0,1,left\n")
    assert main(shlex.split(command)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert len(err.splitlines()) == 1
