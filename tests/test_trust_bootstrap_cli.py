"""``crowdmetric uncertainty`` from the command line."""

from __future__ import annotations

import csv
import json

import pytest

from crowdmetric import CrowdMetric, regions, simulate
from crowdmetric.cli import main


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    crowd = simulate(n_items=15, dimension=2, n_users=3, pairs_per_user=40, noise=3.0)
    crowd.write(folder)
    fit = CrowdMetric(crowd.items, regions.NuclearFull(8.0)).fit(crowd.comparisons)
    fit.model_.save(folder / "crowd.model")
    return folder


def arguments(study, tmp_path, *more):
    files = [str(study / "crowd.model"), str(study / "comparisons.csv")]
    out = ["--out", str(tmp_path), "--workers", "1", "--resamples", "20"]
    return ["uncertainty", *files, *out, *more]


def test_one_object_tables_and_pictures(study, tmp_path, capsys):
    assert main(arguments(study, tmp_path, "--json")) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["resamples"] == 20
    kinds = [row["quantity"] for row in facts["crowd"]]
    assert kinds == ["accuracy", "worth", "worth", "eigenvalue", "eigenvalue"] + ["metric"] * 3
    assert all(row["low"] <= row["high"] for row in facts["crowd"])
    assert len(facts["favourites"]) == 9
    names = ["intervals.csv", "people.csv", "scores.csv", "metric-intervals.png"]
    assert all((tmp_path / name).stat().st_size > 0 for name in [*names, "worth-intervals.png"])
    with open(tmp_path / "scores.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 45
    assert set(rows[0]) == {"user", "item", "fit", "estimate", "low", "high", "top_3"}


def test_people_read_sentences_and_a_second_run_is_quick(study, tmp_path, capsys):
    assert main(arguments(study, tmp_path, "--over", "people")) == 0
    printed = capsys.readouterr()
    assert "What each feature is worth, with 90% intervals." in printed.out
    assert "too few to say how people differ" in printed.err
    assert "40 of 40 resamples done" in printed.err
    assert main(arguments(study, tmp_path, "--over", "people")) == 0
    assert "resamples done" not in capsys.readouterr().err


def test_other_answers_are_refused_in_one_line(study, tmp_path, capsys):
    files = [str(study / "crowd.model"), str(study / "test.csv")]
    assert main(["uncertainty", *files, "--out", str(tmp_path)]) == 1
    printed = capsys.readouterr()
    assert "test.csv: the model's risk" in printed.err
    assert printed.err.count("\n") == 1


def test_wrong_usage_is_named(study, tmp_path, capsys):
    assert main(arguments(study, tmp_path, "--resamples", "5")) == 2
    assert "resamples must be at least 20" in capsys.readouterr().err
