"""Wrong usage and interruptions: one line, the right exit code, and nothing written."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import crowdmetric as cm
from crowdmetric.cli import main

FIT = "fit answers.csv --items items.csv --radius 2 --out new.model"


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys) -> Path:
    """Return a folder with items, answers and a model, as the current one."""
    monkeypatch.chdir(tmp_path)
    Path("items.csv").write_text("item,warm,light\nred,0.9,0.5\ngreen,0.2,0.6\nblue,0.1,0.3\n")
    Path("answers.csv").write_text("user,winner,loser\nann,red,green\nbob,blue,red\n")
    assert main(shlex.split(FIT.replace("new", "crowd"))) == 0
    capsys.readouterr()
    return tmp_path


def names_in(folder: Path) -> set[str]:
    """Return the names of everything below the folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("", "the following arguments are required: COMMAND"),
        ("fitt", "there is no command 'fitt'; did you mean 'fit'?"),
        ("fit answers.csv", "the following arguments are required: --items"),
        ("fit answers.csv --item items.csv", "no option --item; did you mean '--items'?"),
        (f"{FIT} --region nuclear-ful", "'nuclear-ful' is none of nuclear-full, frobenius"),
        (f"{FIT} --loss logit", "'logit' is none of logistic"),
        (f"{FIT} --tol 0", "--tol: '0' is not usable; give a finite number above 0"),
        (f"{FIT} --threads x", "--threads: 'x' is not usable; give a whole number from 1 up"),
        (f"{FIT} --radius two", "--radius: 'two' is not a number"),
        (f"{FIT} --loss hinge --loss-scale 2", "the loss 'hinge' has no scale"),
        (f"{FIT} --metric m.npy", "--metric: only the region 'fixed' takes a metric"),
        (f"{FIT} --region fixed --radius 1 2", "'fixed' takes a point radius, but 2 number(s)"),
        (f"{FIT} more", "unrecognized arguments: more"),
        ("rank crowd.model --user ann --top 0", "--top: '0' is not usable"),
        ("simulate --items 9000000000 --out new", "n_items * dimension must be at most 1000000000"),
        ("simulate --noise inf --out new", "--noise: 'inf' is not usable; give a finite number"),
        ("simulate --rank 9 --dim 2 --out new", "rank must lie between 1 and the dimension 2"),
        ("bench papr", "there is no benchmark 'papr'; did you mean 'paper'?"),
        ("completion fisch", "'fisch' is none of bash, zsh, fish; did you mean 'fish'?"),
    ],
)
def test_wrong_usage(arguments, says, folder, capsys):
    before = names_in(folder)
    assert main(shlex.split(arguments)) == 2
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert line.startswith("crowdmetric")
    assert " error: " in line
    assert says in line
    assert printed.out == ""
    assert names_in(folder) == before
    assert not (folder / "new").exists()


@pytest.mark.parametrize(
    ("command", "out"),
    [
        ("fit answers.csv --items items.csv --radius 2 --out {}", "answers.csv"),
        ("fit answers.csv --items items.csv --radius 2 --out {}", "./items.csv"),
        ("fit answers.csv --items items.csv --radius 2 --out {}", "link.csv"),
        ("fit a.csv --items b.csv --region fixed --metric items.csv --out {}", "items.csv"),
        ("predict crowd.model answers.csv --out {}", "answers.csv"),
        ("predict crowd.model answers.csv --out {}", "crowd.model"),
        ("predict crowd.model answers.csv --items items.csv --out {}", "link.csv"),
    ],
)
def test_an_input_is_not_written_over(command, out, folder, capsys):
    (folder / "link.csv").symlink_to("items.csv")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert main(shlex.split(command.format(out))) == 2
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert f"error: --out {out}: this is a file that the command reads; name another" in line
    assert printed.out == ""
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the matrix has the shape (0, 1)"),
        (b"a,b\n1,2\n", "no matrix of numbers"),
        (b"1,2,3\n4,5,6\n", "the shape (2, 3)"),
        (b"1,0\n0,nan\n", "not finite"),
        (b"1,0\n0,-1\n", "must be positive semidefinite"),
        (b"1\n", "the metric is for 1 feature(s), but the items have 2"),
        (None, "the file cannot be read (No such file or directory)"),
    ],
)
def test_a_fixed_metric_that_is_none(content, says, folder, capsys):
    if content is not None:
        (folder / "metric.csv").write_bytes(content)
    assert main([*shlex.split(FIT), "--region", "fixed", "--metric", "metric.csv"]) == 1
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert "metric.csv: " in line
    assert says in line
    assert printed.out == ""
    assert not (folder / "new.model").exists()


def test_a_user_whom_the_model_never_saw_in_evaluate(folder, capsys):
    (folder / "answers.csv").write_text("user,winner,loser\nann,red,blue\nrob,red,green\n")
    assert main(["evaluate", "crowd.model", "answers.csv"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "answers.csv, line 3: there is no user 'rob'" in line
    assert "did you mean 'bob'?" in line
    assert main(["rank", "crowd.model", "--user", "rob"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "crowd.model: there is no user 'rob' among the 2 users" in line


@pytest.mark.parametrize(
    ("options", "says", "code"),
    [
        (
            "",
            "answers.csv: 2 different questions cannot make 5 folds to choose the radius by "
            "cross-validation; give --radius",
            1,
        ),
        (
            "--region fixed --radius 0.01 --margin-bound 0.001",
            "the margin bound 0.001 is too small for the fixed metric: give more than 0.952, or "
            "a point radius of more than 0.01",
            2,
        ),
    ],
)
def test_the_remedy_is_in_the_words_of_the_command_line(options, says, code, folder, capsys):
    command = f"fit answers.csv --items items.csv --out new.model {options}"
    assert main(shlex.split(command)) == code
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", f"crowdmetric: error: {says}\n")
    assert not (folder / "new.model").exists()


def test_a_failed_fit_leaves_the_model_that_was_there(folder, capsys):
    (folder / "answers.csv").write_text("user,winner,loser\nann,red,red\n")
    before = (folder / "crowd.model").read_bytes()
    assert main(shlex.split(FIT.replace("new.model", "crowd.model"))) == 1
    assert (folder / "crowd.model").read_bytes() == before
    capsys.readouterr()


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_stopped_in_the_middle_of_a_fit(error, folder, capsys, monkeypatch):
    def stop(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(cm.CrowdMetric, "fit", stop)
    assert main(shlex.split(FIT)) == (130 if error is KeyboardInterrupt else 1)
    (line,) = capsys.readouterr().err.splitlines()
    assert ("interrupted" if error is KeyboardInterrupt else "not enough memory") in line
    assert not (folder / "new.model").exists()


def open_when_read(path: Path, process: subprocess.Popen[str]) -> int:
    """Open a pipe as soon as the process reads it, which keeps the process waiting."""
    while process.poll() is None:
        with contextlib.suppress(OSError):
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.01)
    raise AssertionError(process.communicate())


def test_control_c_stops_the_process_with_a_message(folder):
    os.mkfifo(folder / "pipe.csv")
    code = (  # the handler is Python's own, unless this process runs in the background
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from crowdmetric.cli import main; sys.exit(main())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, *shlex.split(FIT.replace("answers", "pipe"))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    before = names_in(folder)
    pipe = open_when_read(folder / "pipe.csv", process)
    process.send_signal(signal.SIGINT)
    os.close(pipe)  # in case that the signal came just before the process began to wait
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "crowdmetric: interrupted; no unfinished file was left behind\n"
    assert out == ""
    assert names_in(folder) == before


@pytest.mark.parametrize("device", [d for d in ["/dev/full"] if Path(d).exists()])
def test_a_full_disk_under_standard_output(device, folder):
    with open(device, "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "crowdmetric", "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=False,
        )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("crowdmetric: error: the output cannot be written (No space left")
