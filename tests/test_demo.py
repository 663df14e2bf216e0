"""The demo: files, a model near the truth, pictures, and commands that work on them."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

import crowdmetric as cm
from crowdmetric.cli import main
from crowdmetric.demo import run_demo

FILES = {
    "items.csv",
    "comparisons.csv",
    "test.csv",
    "truth.npz",
    "crowd.model",
    "metric.png",
    "map.png",
    "spectrum.png",
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory):
    """Return a demo in a folder whose name needs quotes."""
    return run_demo(tmp_path_factory.mktemp("demo") / "our demo")


def test_everything_is_in_the_folder(demo):
    assert {path.name for path in demo.folder.iterdir()} == FILES
    for name in FILES:
        content = (demo.folder / name).read_bytes()
        assert len(content) > 500
        assert content.startswith(b"\x89PNG") == name.endswith(".png")


def test_the_model_is_near_the_truth(demo):
    assert demo.model.certificate.gap <= 1e-6
    assert demo.accuracy > demo.crowd.truth_accuracy - 0.02
    assert demo.metric_error < 0.3
    assert demo.ideal_point_error < 0.3
    assert demo.seconds < 60
    saved = cm.load(demo.folder / "crowd.model")
    np.testing.assert_array_equal(saved.metric, demo.model.metric)


def test_the_summary_says_it_all_in_a_few_lines(demo):
    summary = demo.summary()
    assert len(summary.splitlines()) < 20
    assert all(len(line) < 130 for line in summary.splitlines()[:7])
    for part in (
        f"{demo.accuracy:.1%}",
        f"the truth itself: {demo.crowd.truth_accuracy:.1%}",
        f"{demo.metric_error:.1%}",
        f"{demo.model.certificate.gap:.1e}",
        f"{demo.seconds:.1f} s",
        *FILES,
        *demo.commands(),
    ):
        assert part in summary


def test_the_commands_to_try_next_work(demo, capsys):
    commands = [shlex.split(command) for command in demo.commands()]
    assert [words[1] for words in commands] == ["show", "evaluate", "rank", "fit"]
    for words in commands:
        assert main(words[1:]) == 0
        assert capsys.readouterr().out


def test_the_commands_to_try_next_name_a_program_that_is_there(demo, tmp_path, monkeypatch):
    script = Path(sys.executable).with_name("crowdmetric")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert demo.commands()[0].startswith(shlex.join([str(script), "show"]))
    monkeypatch.chdir(script.parent.parent)
    assert demo.commands()[0].startswith(f"{script.parent.name}/crowdmetric show")
    monkeypatch.setenv("PATH", str(script.parent))
    assert demo.commands()[0].startswith("crowdmetric show")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert demo.commands()[0].startswith(f"{tmp_path}/python -m crowdmetric show")


def test_the_command_prints_the_summary(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--seed", "1"]) == 0
    printed = capsys.readouterr()
    assert "In demo-output: items.csv" in printed.out
    assert {path.name for path in Path("demo-output").iterdir()} == FILES
    assert all(line.startswith("crowdmetric: ") for line in printed.err.splitlines())


@pytest.mark.parametrize("there", [True, False])
def test_an_interrupted_demo_leaves_no_empty_folder(there, tmp_path, monkeypatch, capsys):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("crowdmetric.demo.run_demo", stop)
    if there:
        (tmp_path / "a").mkdir()
    assert main(["demo", "--out", f"{tmp_path}/a/b"]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == (["a"] if there else [])
    assert not (tmp_path / "a" / "b").exists()
