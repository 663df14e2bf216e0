"""``crowdmetric reproduce`` as people meet it: what it says, what it refuses, and how it ends."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest

from crowdmetric.cli import main

SMALL = "reproduce normal-medLow-test color-metric --quick --trials 2 --workers 1"


def rows(folder):
    """Return the rows of a run, but for what a clock says."""
    table = pq.read_table(folder / "results.parquet").to_pylist()
    return [row for row in table if row["measure"] != "seconds"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Run it once."""
    folder = tmp_path_factory.mktemp("cli") / "out"
    assert main([*shlex.split(SMALL), "--out", str(folder)]) == 0
    return folder


def test_a_run_says_what_it_did_and_what_it_left_out(finished, capsys):
    assert main([*shlex.split(SMALL), "--out", str(finished)]) == 0
    out, err = capsys.readouterr()
    assert err == (
        "crowdmetric: note: left out for want of the colour data: color-metric; give "
        "--colour-data PATH, or --fetch-colour\n"
    )
    assert re.match(r"44 fits: \d+ certified to their tolerance .*, 0 missed\n", out)
    assert "Medium noise, rank 1: Nuclear full predicts best" in out
    assert "High noise" not in out  # was not run
    assert out.endswith(
        f"2 pictures, results.parquet, certificates.csv and claims.md are in\n{finished}\n"
    )


def test_progress_comes_with_an_estimate(tmp_path, capsys):
    command = "reproduce normal-medLow-test --quick --trials 1 --workers 1"
    assert main([*shlex.split(command), "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().err == "1 of 1 units done, about 0 s left\n"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_killed_goes_on_and_ends_the_same(how, finished, tmp_path):
    code = "import sys; from crowdmetric.cli import main; sys.exit(main())"
    words = [*shlex.split(SMALL), "--out", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], stderr=subprocess.PIPE, text=True, process_group=0
    )
    first = tmp_path / "units" / "medLow-00.parquet"
    deadline = time.monotonic() + 120
    while not first.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, how)
    _, said = process.communicate()
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert "what is finished is kept" in said
    assert not (tmp_path / "results.parquet").exists()
    kept = first.read_bytes()
    assert main(words) == 0
    assert first.read_bytes() == kept
    assert rows(tmp_path) == rows(finished)
    for name in ("claims.csv", "claims.md", "certificates.csv"):
        assert (tmp_path / name).read_bytes() == (finished / name).read_bytes()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ("--colour-data nowhere.mat", 1, "nowhere.mat: the colour data cannot be read (No such"),
        ("--colour-data wrong.mat", 1, "wrong.mat: this is not the published colour data"),
        ("--colour-data wrong.mat --fetch-colour", 2, "exclude each other; give one of them"),
        ("color-tset", 2, "there is no figure 'color-tset'; did you mean 'color-test'?"),
        ("--out wrong.mat", 1, "wrong.mat"),
        ("--trials 0", 2, "--trials"),
        ("--workers none", 2, "--workers"),
    ],
)
def test_bad_settings_are_one_message(options, code, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.mat").write_bytes(b"something else")
    assert main(["reproduce", "--quick", *shlex.split(options)]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err.splitlines()[-1]
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["wrong.mat"]
