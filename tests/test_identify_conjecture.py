"""The conjecture as a run: instances, counts, counterexamples as files, and going on."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest

from crowdmetric.cli import main
from crowdmetric.identify import conjecture
from crowdmetric.identify.conjecture import Instances, draw_instance, run_conjecture
from crowdmetric.identify.partition import satisfies_rank
from crowdmetric.identify.questions import Questions

SMALL = "reproduce conjecture --trials 1200 --workers 1"


def test_instances_satisfy_the_condition_and_are_all_confirmed():
    generator = np.random.default_rng(1)
    sizes = set()
    for _ in range(100):
        asked, partition = draw_instance(generator)
        assert satisfies_rank(partition, asked)
        assert len(asked) == asked.needed
        assert np.bincount(asked.user).min() > asked.dimension
        sizes.add((asked.dimension, asked.n_users))
    assert len(sizes) > 8
    rows = Instances(number=3, size=200, root=1).run()
    assert sum(row[3] for row in rows) == sum(row[4] for row in rows) == 200


def test_the_same_seed_gives_the_same_instances():
    assert Instances(0, 20, 5).run() == Instances(0, 20, 5).run()
    assert Instances(0, 20, 5).run() != Instances(1, 20, 5).run()
    assert Instances(0, 20, 5).fingerprint != Instances(0, 20, 6).fingerprint


def test_the_command_counts_and_goes_on_where_it_stopped(tmp_path, capsys):
    folder = tmp_path / "out"
    assert main([*shlex.split(SMALL), "--out", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert out == (
        "1200 of 1200 instances confirm the conjecture; no counterexample was found\n"
        f"the counts by number of features, users and items are in {folder / 'conjecture.csv'}\n"
    )
    assert err.endswith("2 of 2 units done, about 0 s left\n")
    counts = np.loadtxt(folder / "conjecture.csv", delimiter=",", skiprows=1, dtype=int)
    assert counts[:, 3].sum() == counts[:, 4].sum() == 1200
    table = (folder / "conjecture.csv").read_bytes()
    kept = (folder / "units" / "conjecture-0000.parquet").stat().st_mtime_ns
    (folder / "units" / "conjecture-0001.parquet").unlink()
    assert main([*shlex.split(SMALL), "--out", str(folder)]) == 0
    assert capsys.readouterr().err == "1 of 1 units done, about 0 s left\n"
    assert (folder / "units" / "conjecture-0000.parquet").stat().st_mtime_ns == kept
    assert (folder / "conjecture.csv").read_bytes() == table


def test_a_counterexample_is_saved_with_all_that_it_takes_to_check_it(tmp_path, monkeypatch):
    # There is none; so one question is not looked at, and the rank is too small.
    def too_small(asked, seed):
        return asked.needed - 1

    def run_here(units, columns, folder, workers, progress):
        folder.mkdir(parents=True)
        return {unit: unit.run() for unit in units}

    monkeypatch.setattr(conjecture, "_rank", too_small)
    monkeypatch.setattr(conjecture, "run_all", run_here)
    outcome = run_conjecture(tmp_path, instances=2, workers=1)
    assert outcome.confirmed == 0
    assert outcome.instances == 2
    assert outcome.summary().endswith("2 counterexamples were found")
    for number in range(2):
        saved = json.loads((tmp_path / f"counterexample-{number}.json").read_text())
        asked = Questions(
            *np.array(saved["questions"]).T, saved["users"], saved["items"], saved["dimension"]
        )
        partition = conjecture.Partition(
            np.array(saved["own_rows"]), np.array(saved["metric_rows"])
        )
        assert satisfies_rank(partition, asked)
        assert saved["rank"] == saved["needed"] - 1 == asked.needed - 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("conjecture color-test", 2, "conjecture has trials of its own"),
        ("conjecture --trials 0", 2, "--trials"),
        ("conjectures", 2, "there is no figure 'conjectures'"),
        ("conjecture --trials 5 --out taken", 1, "taken"),
    ],
)
def test_bad_settings_are_one_message(words, code, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("a file")
    assert main(["reproduce", *shlex.split(words)]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err.splitlines()[-1]
    assert "Traceback" not in err
