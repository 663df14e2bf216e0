"""``crowdmetric plan`` as people meet it: what it says, what it refuses, and how it ends."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time

import pytest

from crowdmetric.cli import main

SMALL = "plan --items 12 --dim 2 --users 6 --pairs 5 15 45 --trials 3 --noise 2 --workers 1 --quick"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Run it once."""
    folder = tmp_path_factory.mktemp("plan") / "out"
    assert main([*shlex.split(SMALL), "--out", str(folder)]) == 0
    return folder


def test_the_summary_answers_in_plain_words(finished, capsys):
    assert main([*shlex.split(SMALL), "--accuracy-share", "90%", "--out", str(finished)]) == 0
    out, err = capsys.readouterr()
    assert err == ""  # all of it was there
    for says in (
        "6 people, 12 normal items, 2 features, a metric of rank 2",
        "asked the same question twice, they answer alike",
        "90% of the best possible accuracy",
        "comparisons per person (95% interval: ",
        "8 of 10 studies like this reach the target",
        "the smallest that holds the truth: a real study must choose it",
        "More people, or more questions each?",
    ):
        assert says in " ".join(out.split())
    assert [line.split()[0] for line in out.splitlines()[-5:-2]] == ["3", "6", "12"]


def test_json_is_one_object(finished, capsys):
    words = [*shlex.split(SMALL), "--metric-error", "0.3", "--out", str(finished), "--json"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"answer", "interval", "curve", "trade", "best_possible", "target"} <= set(found)
    assert (found["measure"], found["target"], found["users"]) == ("metric_error", 0.3, 6)
    assert [point["pairs"] for point in found["curve"]] == [5, 15, 45]
    assert [row["users"] for row in found["trade"]] == [3, 6, 12]
    assert len(found["files"]) == 8


def test_what_is_not_reached_is_said(finished, capsys):
    words = [*shlex.split(SMALL), "--accuracy-share", "99.99%", "--out", str(finished)]
    assert main(words) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "not reached with up to 45 comparisons per person" in out
    assert "try more with --pairs, or more people" in out


def test_items_come_from_a_file_and_noise_in_words(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = (f"i{i},{i},{i * i % 7}" for i in range(8))
    (tmp_path / "items.csv").write_text("item,price,comfort\n" + "\n".join(rows) + "\n")
    command = "plan --items items.csv --users 3 --consistency 85% --accuracy-share 90% --trials 2"
    assert (
        main([*shlex.split(command), "--workers", "1", "--other-users", "3", "--quick", "--json"])
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert (found["items"], found["features"], found["rank"]) == (8, 2, 2)
    assert found["consistency"] == pytest.approx(0.85)
    assert [point["pairs"] for point in found["curve"]] == [5, 10, 20, 28]  # all pairs there are
    assert len(found["trade"]) == 1


def test_a_run_that_is_interrupted_goes_on(finished, tmp_path, capsys):
    words = [*shlex.split(SMALL), "--out", str(tmp_path)]
    code = "import sys; from crowdmetric.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], stderr=subprocess.PIPE, text=True, process_group=0
    )
    first = tmp_path / "units" / "users-3-trial-000.parquet"
    deadline = time.monotonic() + 120
    while not first.exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate()
    kept = first.read_bytes()
    if process.returncode != 0:  # a fast machine may have finished
        assert process.returncode == 130
        assert "what is finished is kept; the same command goes on from there" in said
    assert main([*words, "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert first.read_bytes() == kept
    assert main([*shlex.split(SMALL), "--out", str(finished), "--json"]) == 0
    once = json.loads(capsys.readouterr().out)
    for answer in (again, once):
        del answer["seconds"], answer["files"]
    assert again == once


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ("", 2, "the following arguments are required: --items, --users"),
        ("--items 9 --users 5", 2, "--items 9: how many features have they? give --dim D"),
        ("--items items.csv --dim 2 --users 5", 2, "the file of items says how many features"),
        ("--items nowhere.csv --users 5", 1, "nowhere.csv"),
        ("--items constant.csv --users 5", 1, "constant.csv"),
        ("--items 1 --dim 2 --users 5", 2, "the number of items must be at least 2, not 1"),
        ("--items 9 --dim 2 --users 0", 2, "--users: '0' is not usable; give a whole number"),
        ("--items 9 --dim 2 --users 5 --pairs 40", 2, "more than the 36 pairs that 9 items make"),
        ("--items 9 --dim 2 --users 5 --rank 3", 2, "the rank must lie between 1 and the number"),
        ("--items 9 --dim 2 --users 5 --trials 1", 2, "the number of trials must be at least 2"),
        ("--items 9 --dim 2 --users 5 --accuracy 95", 2, "write a share as 95% or as 0.95"),
        ("--items 9 --dim 2 --users 5 --accuracy 100%", 2, "must lie between 0% and 100%"),
        (
            "--items 9 --dim 2 --users 5 --accuracy 95%",
            1,
            "no number of comparisons reaches 95% of new answers predicted: the best possible here",
        ),
        (
            "--items 5 --dim 2 --users 9 --metric-error 1%",
            1,
            "no number of comparisons reaches an error of the metric of 1%: the best possible",
        ),
        (
            "--items 9 --dim 2 --users 5 --accuracy 80% --metric-error 20%",
            2,
            "--accuracy and --metric-error exclude each other; give one of them",
        ),
        (
            "--items 9 --dim 2 --users 5 --noise 1 --consistency 80%",
            2,
            "--noise and --consistency exclude each other; give one of them",
        ),
        ("--items 9 --dim 2 --users 5 --consistency 50%", 2, "give more than 50%, which is pure"),
        ("--items 9 --dim 2 --users 5 --out items.csv", 1, "items.csv"),
    ],
)
def test_what_cannot_be_planned_is_one_sentence(
    options, code, message, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "items.csv").write_text("item,x,y\na,1,2\nb,2,5\nc,3,1\n")
    (tmp_path / "constant.csv").write_text("item,x,y\na,1,2\nb,2,2\nc,3,2\n")
    assert main(["plan", *shlex.split(options)]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err.splitlines()[-1]
    assert len(err.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["constant.csv", "items.csv"]
