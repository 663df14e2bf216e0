"""``crowdmetric show``: numbers, pictures, and what is refused."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import crowdmetric as cm
from crowdmetric import worth
from crowdmetric.cli import main
from crowdmetric.model import example

PICTURES = {"metric.png", "map.png", "spectrum.png"}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Return a folder with two models, as the current one; one has a metric for each user."""
    monkeypatch.chdir(tmp_path)
    model = replace(example(), metric=np.array([[2.0, -0.5], [-0.5, 1.0]]), points=np.ones((2, 2)))
    model.save("crowd.model")
    replace(model, metric=np.stack([np.diag([2.0, 1.0]), np.diag([1.0, 0.0])])).save("each.model")
    return tmp_path


def show(words: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Run the command, which must succeed; return its output and its messages."""
    assert main(["show", *shlex.split(words)]) == 0
    printed = capsys.readouterr()
    return printed.out, printed.err


def test_scripts_get_every_number(folder, capsys):
    model = cm.load("crowd.model")
    facts = json.loads(show("crowd.model --json", capsys)[0])
    shares = worth.feature_shares(model.metric, model.x)
    assert [row["feature"] for row in facts["features"]] == ["warm", "light"]
    assert [row["share"] for row in facts["features"]] == shares.tolist()
    assert [row["weight"] for row in facts["features"]] == [2.0, 1.0]
    (pair,) = facts["pairs"]
    assert pair["features"] == ["warm", "light"]
    assert pair["share"] == worth.pair_shares(model.metric, model.x)[0, 1] < 0
    np.testing.assert_allclose(facts["eigenvalues"], np.linalg.eigvalsh(model.metric)[::-1])
    assert facts["effective_rank"] == worth.effective_rank(model.metric)
    assert (facts["rank"], facts["users"], facts["items"]) == (2, 2, 3)
    assert facts["user"] is None
    assert facts["outside_range"] == facts["notes"] == facts["pictures"] == []


def test_people_get_a_summary(folder, capsys):
    out, err = show("crowd.model", capsys)
    assert err == ""
    assert max(map(len, out.splitlines())) <= 110
    for words in (
        "rank 2 of 2",
        "  warm    85.7%  ####",
        "against   warm, light",
        "every one lies",
    ):
        assert words in out
    assert out.index("warm") < out.index("light")


def test_the_ideal_points_that_mean_least_are_named(folder, capsys):
    out, err = show("each.model --user bob", capsys)
    assert "of user bob, rank 1 of 2" in out
    assert "mean least for bob (70.7%)" in out
    assert "none adds or takes away 1% or more" in out
    assert "note: 1 of 2" in err


def test_many_features_are_cut_short_for_people_only(folder, capsys):
    crowd = cm.simulate(n_items=40, dimension=25, n_users=2, pairs_per_user=30)
    fit = cm.CrowdMetric(crowd.items, cm.regions.NuclearFull(5.0)).fit(crowd.comparisons)
    fit.model_.save("wide.model")
    out, _ = show("wide.model", capsys)
    assert "  and 5 more, worth " in out
    facts = json.loads(show("wide.model --json", capsys)[0])
    assert len(facts["features"]) == 25
    assert sum(row["share"] for row in facts["features"]) == pytest.approx(1.0)
    sizes = [abs(pair["share"]) for pair in facts["pairs"]]
    assert sizes == sorted(sizes, reverse=True)


def test_other_items_give_other_shares(folder, capsys):
    Path("items.csv").write_text("item,light,warm\na,0,0\nb,3,1\n")
    facts = json.loads(show("crowd.model --items items.csv --out new --json", capsys)[0])
    assert facts["items"] == 2
    assert [row["feature"] for row in facts["features"]] == ["light", "warm"]
    assert facts["features"][0]["share"] == pytest.approx(9 / (9 + 2))


def test_the_pictures_are_drawn(folder, capsys):
    out, err = show("crowd.model --out a/b", capsys)
    assert err == ""
    assert {path.name for path in Path("a/b").iterdir()} == PICTURES
    assert "a/b/metric.png" in out
    facts = json.loads(show("each.model --user ann --out a --json", capsys)[0])
    assert {Path(path).name for path in facts["pictures"]} == PICTURES


def test_names_that_no_font_can_write_are_one_note(folder, capsys, monkeypatch):
    monkeypatch.setattr("crowdmetric.plots.names._FONTS", ())
    model = cm.load("crowd.model")
    items = cm.Items(("東京", "京都", "red"), model.items.features, ("温", "明"))
    replace(model, items=items, users=("田中", "bob")).save("japan.model")
    out, err = show("japan.model --out pictures", capsys)
    (line,) = err.splitlines()
    assert line.startswith("crowdmetric: note: no font here has the letters of '温'")
    assert "温" in out


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ("nowhere.model", 1, "nowhere.model: "),
        ("crowd.model --user bop", 1, "did you mean 'bob'?"),
        (
            "each.model",
            2,
            "each.model: each user of this model has a metric of their own; name one",
        ),
        ("crowd.model --items bad.csv", 1, "bad.csv: the items lack the feature 'light'"),
        ("crowd.model --out bad.csv", 1, "bad.csv: the folder cannot be made"),
        ("crowd.model --pictures", 2, "there is no option --pictures"),
    ],
)
def test_what_is_refused(words, code, says, folder, capsys):
    Path("bad.csv").write_text("item,warm\na,0\nb,1\n")
    before = set(folder.iterdir())
    assert main(["show", *shlex.split(words)]) == code
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert says in line
    assert printed.out == ""
    assert set(folder.iterdir()) == before
