"""The command line: what each command prints, where, and what it leaves behind."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import crowdmetric as cm
from crowdmetric import features, losses, regions
from crowdmetric.cli import build_parser, choices, main
from crowdmetric.metrics import accuracy, log_loss

FIT_KEYS = {
    "risk",
    "lower_bound",
    "gap",
    "iterations",
    "seconds",
    "users",
    "items",
    "comparisons",
    "region",
    "radius",
    "loss",
}
EVALUATE_KEYS = {"accuracy", "log_loss", "worst_user_accuracy", "comparisons"}
SIMULATE = "simulate --items 30 --dim 3 --rank 1 --users 4 --pairs 60 --test-pairs 50 --noise 4"
HEAVY = ["numba", "numpy", "scipy", "sklearn", "pyarrow", "matplotlib", "pandas"]


@pytest.fixture(scope="module")
def crowd_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a simulated crowd and models of it."""
    folder = tmp_path_factory.mktemp("crowd")
    fit = f"fit {folder}/comparisons.csv --items {folder}/items.csv"
    assert main(shlex.split(f"{SIMULATE} --seed 3 --out {folder}")) == 0
    assert main(shlex.split(f"{fit} --radius 8 --out {folder}/crowd.model")) == 0
    hinge = f"{fit} --region frobenius --radius 3 6 --loss hinge --out {folder}/hinge.model"
    assert main(shlex.split(hinge)) == 0
    return folder


@pytest.fixture
def here(crowd_files, monkeypatch) -> Path:
    """Return that folder, as the current one."""
    monkeypatch.chdir(crowd_files)
    return crowd_files


def run(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Run a command that must succeed, and return its output and its messages."""
    capsys.readouterr()
    assert main(shlex.split(command)) == 0
    printed = capsys.readouterr()
    return printed.out, printed.err


def run_json(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[dict, str]:
    """Run a command with --json, and return the one object it printed, and its messages."""
    out, err = run(f"{command} --json", capsys)
    assert out.count("\n") == 1
    return json.loads(out), err


def fitting(options: str, out: Path) -> str:
    """Return a command that fits the crowd."""
    return f"fit comparisons.csv --items items.csv --out {out}/new.model {options}"


def test_simulate_writes_the_crowd_of_the_same_seed(here):
    crowd = cm.simulate(30, 3, 1, 4, 60, noise=4.0, seed=3, test_pairs_per_user=50)
    items = cm.read_items("items.csv")
    np.testing.assert_array_equal(items.features, crowd.items.features)
    found = cm.read_comparisons("comparisons.csv", items)
    np.testing.assert_array_equal(found.response, crowd.comparisons.response)
    assert len(cm.read_comparisons("test.csv", items)) == 4 * 50
    with np.load("truth.npz") as truth:
        np.testing.assert_array_equal(truth["metric"], crowd.metric)


def test_fit_reports_what_the_contract_says(here, tmp_path, capsys):
    facts, err = run_json(fitting("--radius 8 --tol 1e-7", tmp_path), capsys)
    assert facts.keys() >= FIT_KEYS
    assert (facts["users"], facts["items"], facts["comparisons"]) == (4, 30, 240)
    assert (facts["region"], facts["radius"], facts["loss"]) == ("nuclear-full", [8.0], "logistic")
    assert facts["gap"] == facts["risk"] - facts["lower_bound"] <= 1e-7
    assert facts["status"] == "converged"
    assert "error" not in err
    model = cm.load(tmp_path / "new.model")
    assert model.certificate.risk == facts["risk"]
    assert model.users == ("u0", "u1", "u2", "u3")


def test_fit_prints_a_summary_for_people(here, tmp_path, capsys):
    options = "--region frobenius --radius 3 6 --loss probit --loss-scale 2"
    out, _ = run(fitting(options, tmp_path), capsys)
    assert "240 by 4 users about 30 items" in out
    assert "frobenius, radius 3, point radius 6\n" in out
    assert "probit, scale 2" in out
    assert "converged" in out
    assert out.rstrip().endswith("new.model")


def test_without_a_radius_one_is_chosen_and_named(here, tmp_path, capsys):
    facts, err = run_json(fitting("--region frobenius --seed 1", tmp_path), capsys)
    chosen = cm.CrowdMetricCV(cm.read_items("items.csv"), "frobenius", random_state=1)
    chosen.fit(cm.read_comparisons("comparisons.csv", cm.read_items("items.csv")))
    assert facts["radius"] == list(chosen.radius_)
    assert facts["chosen"] is True
    assert f"no --radius: {chosen.radius_[0]:.6g} {chosen.radius_[1]:.6g} was chosen" in err
    assert f"out of {len(chosen.cv_results_['radii'])} tried" in err


@pytest.mark.parametrize(
    ("options", "region", "radii"),
    [
        ("--region nuclear-metric --radius 4 6", "nuclear-metric", 2),
        ("--region nuclear-split --radius 4 9 --margin-bound 9", "nuclear-split", 2),
        ("--region psd --tol 1e-4", "psd", 0),
        ("--region fixed", "fixed", 1),
        ("--region fixed --radius 2 --metric truth.csv", "fixed", 1),
        ("--radius 8 --ties drop --features unit-ball --threads 2", "nuclear-full", 1),
        ("--radius 5 --single", "nuclear-full", 1),
    ],
)
def test_every_option_reaches_the_fit(options, region, radii, here, tmp_path, capsys):
    with np.load("truth.npz") as truth:
        np.savetxt("truth.csv", truth["metric"], delimiter=",")
        metric = truth["metric"]
    facts, _ = run_json(fitting(options, tmp_path), capsys)
    model = cm.load(tmp_path / "new.model")
    assert facts["region"] == model.region.name == region
    assert len(facts["radius"]) == radii
    assert facts["status"] == "converged"
    assert model.metric.ndim == (3 if "--single" in options else 2)
    assert model.features.name == ("unit-ball" if "unit-ball" in options else "raw")
    assert getattr(model.region, "margin_bound", None) == (9.0 if "bound" in options else None)
    if "truth.csv" in options:
        np.testing.assert_allclose(model.metric, metric, atol=1e-12)


def test_a_fit_that_stops_short_says_so(here, tmp_path, capsys):
    facts, err = run_json(fitting("--radius 8 --max-iterations 1 --tol 1e-12", tmp_path), capsys)
    assert facts["status"] == "iteration-limit"
    assert facts["gap"] > 1e-12
    assert "crowdmetric: warning: the solver ended (iteration-limit)" in err
    assert err.count("iteration-limit") == 1


def test_separable_answers_are_called_that(here, tmp_path, capsys):
    (tmp_path / "few.csv").write_text("user,winner,loser\nu,1,2\nu,2,3\n")
    command = f"fit {tmp_path}/few.csv --items items.csv --region psd --out {tmp_path}/new.model"
    facts, err = run_json(command, capsys)
    assert facts["status"] == "separable"
    assert "can be explained perfectly" in err
    assert "use a region with a radius" in err
    out, _ = run(command, capsys)
    assert "up to a distance of" in out


def test_progress_goes_to_standard_error_only_if_wanted(here, tmp_path, capsys):
    _, quiet = run_json(fitting("--no-progress", tmp_path), capsys)
    facts, err = run_json(fitting("--progress", tmp_path), capsys)
    assert facts["chosen"]
    assert "choosing it by cross-validation" in err
    assert "choosing it" not in quiet


def test_evaluate_agrees_with_python(here, capsys):
    model = cm.load("crowd.model")
    test = cm.read_comparisons("test.csv", model.items)
    margins = model.margins(test)
    facts, err = run_json("evaluate crowd.model test.csv", capsys)
    assert facts.keys() >= EVALUATE_KEYS
    assert err == ""
    assert facts["comparisons"] == 200
    assert facts["accuracy"] == accuracy(margins, test.response)
    assert facts["log_loss"] == log_loss(model.predict_proba(test)[:, 0], test.response)
    by_user = [accuracy(margins[test.user == k], test.response[test.user == k]) for k in range(4)]
    assert facts["worst_user_accuracy"] == pytest.approx(min(by_user))
    assert facts["worst_user"] == test.users[int(np.argmin(by_user))]
    out, _ = run("evaluate crowd.model test.csv", capsys)
    assert f"{facts['accuracy']:.1%}" in out


def test_a_loss_that_is_no_link_has_no_log_loss(here, capsys):
    facts, _ = run_json("evaluate hinge.model test.csv", capsys)
    assert facts["log_loss"] is None
    out, _ = run("evaluate hinge.model test.csv", capsys)
    assert "'hinge' gives no probabilities" in out


@pytest.mark.parametrize(
    ("model", "columns"),
    [
        ("crowd.model", "user left right prediction margin probability_left"),
        ("hinge.model", "user left right prediction margin"),
    ],
)
def test_predict_prints_a_row_for_each_pair(model, columns, here, capsys):
    out, err = run(f"predict {model} test.csv", capsys)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert err == ""
    assert list(rows[0]) == columns.split()
    fitted = cm.load(model)
    test = cm.read_comparisons("test.csv", fitted.items)
    assert [row["user"] for row in rows] == [test.users[code] for code in test.user]
    assert [row["prediction"] for row in rows] == [
        "left" if side < 0 else "right" for side in fitted.predict(test)
    ]
    np.testing.assert_array_equal([float(row["margin"]) for row in rows], fitted.margins(test))
    if "probability_left" in columns:
        found = [float(row["probability_left"]) for row in rows]
        np.testing.assert_array_equal(found, fitted.predict_proba(test)[:, 0])


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_predict_writes_what_the_ending_says(ending, here, tmp_path, capsys):
    out, _ = run(f"predict crowd.model test.csv --out {tmp_path}/found.{ending}", capsys)
    assert out == ""
    again = cm.read_comparisons("test.csv", cm.read_items("items.csv"))
    from crowdmetric.readers import read_pairs

    found = read_pairs(tmp_path / f"found.{ending}", cm.read_items("items.csv"))
    np.testing.assert_array_equal(found.left, again.left)
    assert [path.name for path in tmp_path.iterdir()] == [f"found.{ending}"]


def test_rank_lists_the_favourites(here, capsys):
    facts, _ = run_json("rank crowd.model --user u1 --top 3", capsys)
    expected = cm.load("crowd.model").rank_items("u1", top=3)
    assert facts["user"] == "u1"
    assert [(row["item"], row["score"]) for row in facts["items"]] == expected
    out, _ = run("rank crowd.model --user u1", capsys)
    assert len(out.splitlines()) == 30
    assert out.splitlines()[0].split()[:2] == ["1", str(expected[0][0])]


def test_rank_leaves_out_what_is_excluded(here, capsys):
    model = cm.load("crowd.model")
    first, second, third, *_ = (name for name, _ in model.rank_items("u1"))
    facts, _ = run_json(f"rank crowd.model --user u1 --top 1 --exclude {second} {first}", capsys)
    assert [row["item"] for row in facts["items"]] == [third]
    everything = " ".join(map(str, model.items.ids))
    facts, _ = run_json(f"rank crowd.model --user u1 --exclude {everything}", capsys)
    assert facts["items"] == []
    out, _ = run(f"rank crowd.model --user u1 --exclude {everything}", capsys)
    assert out == ""


def test_new_items_can_be_ranked_predicted_and_evaluated(here, tmp_path, capsys):
    header, *rows = Path("items.csv").read_text().splitlines()
    renamed = [header, *(f"new{row}" for row in rows)]
    (tmp_path / "items.csv").write_text("\n".join(renamed))
    (tmp_path / "answers.csv").write_text("user,left,right,response\nu0,new1,new2,left\n")
    new = f"--items {tmp_path}/items.csv"
    ranked, _ = run_json(f"rank crowd.model --user u2 {new}", capsys)
    old, _ = run_json("rank crowd.model --user u2", capsys)
    assert [row["item"] for row in ranked["items"]] == [f"new{row['item']}" for row in old["items"]]
    facts, _ = run_json(f"evaluate crowd.model {tmp_path}/answers.csv {new}", capsys)
    assert facts["comparisons"] == 1
    out, _ = run(f"predict crowd.model {tmp_path}/answers.csv {new}", capsys)
    assert out.splitlines()[1].startswith("u0,new1,new2,")


def test_ids_that_read_alike_are_the_same(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("items.csv").write_text("item,x\n10,0\n20,1\n30,3\n")
    Path("numbers.csv").write_text("user,winner,loser\n7,10,20\n8,30,20\n7,20,30\n")
    Path("texts.csv").write_text("user,winner,loser\n7,10,20\nx,30,20\n8,20,30\n")
    fit = "fit {0}.csv --items items.csv --radius 2 --out {0}.model"
    run(fit.format("numbers"), capsys)
    run(fit.format("texts"), capsys)
    facts, _ = run_json("rank numbers.model --user 7 --top 1", capsys)
    assert facts["user"] == 7
    assert facts["items"][0]["item"] == 10
    facts, _ = run_json("rank texts.model --user 7 --top 1", capsys)
    assert facts["user"] == "7"
    facts, _ = run_json("evaluate texts.model numbers.csv", capsys)
    assert facts["comparisons"] == 3


def test_bench_prints_one_object(capsys):
    facts, err = run_json("bench scale --quick --seeds 1", capsys)
    assert {row["bench"] for row in facts["rows"]} == {"scale"}
    assert "One pass over the answers" in err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_code_for_the_shell(shell, capsys):
    out, _ = run(f"completion {shell}", capsys)
    assert "crowdmetric" in out
    assert "_ARGCOMPLETE" in out


def test_the_shell_is_told_what_could_come_next():
    line = "crowdmetric fit --region nuc"
    asked = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    code = "import os; os.dup2(1, 8); from crowdmetric.cli import main; main()"
    done = python(code, asked | {"_ARGCOMPLETE_SHELL": "bash", "_ARGCOMPLETE_IFS": "\n"})
    assert done.stdout.split() == ["nuclear-full", "nuclear-metric", "nuclear-split"]


def test_every_command_has_help(capsys):
    parser = build_parser()
    for command in ["", *parser.commands]:
        out, err = run(f"{command} --help", capsys)
        assert out.startswith(f"usage: crowdmetric {command}".rstrip())
        assert err == ""
    out, _ = run("--version", capsys)
    assert out == f"crowdmetric {cm.__version__}\n"


def test_the_words_of_the_options_are_those_of_the_package():
    assert set(choices.REGIONS) == set(regions.BUILT_IN)
    assert set(choices.LOSSES) == set(losses.BUILT_IN)
    assert [features.feature_map(name).name for name in choices.FEATURES] == list(choices.FEATURES)


def test_parsing_imports_nothing_heavy():
    code = (
        "import sys; from crowdmetric.cli import main; main(['fit', '--help']); "
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = python(code, {})
    assert done.returncode == 0
    assert done.stdout.startswith("usage: crowdmetric fit")
    assert done.stderr == "[]\n"


def test_a_reader_who_has_seen_enough_is_no_error(here):
    code = "import sys; from crowdmetric.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "predict", "crowd.model", "test.csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({}),
    )
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")


def environment(more: dict[str, str]) -> dict[str, str]:
    """Return the environment of a process that imports what this one does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **more}


def python(code: str, more: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run some code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment(more),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
