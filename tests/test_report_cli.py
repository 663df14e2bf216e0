"""``crowdmetric report``: files in, one file out; how items look; what is refused."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import crowdmetric as cm
from crowdmetric.cli import main
from crowdmetric.metrics import accuracy
from crowdmetric.report import Looks, read_looks
from report_parser import parse


@pytest.fixture
def folder(tmp_path, monkeypatch, crowd) -> Path:
    """Return a folder with answers and a model, as the current one."""
    monkeypatch.chdir(tmp_path)
    crowd.write(".")
    fit = cm.CrowdMetric(crowd.items, cm.regions.NuclearFull(5.0)).fit(crowd.comparisons)
    fit.model_.save("crowd.model")
    return tmp_path


def report(words: str, capsys) -> tuple[str, str]:
    """Run the command, which must succeed; return its output and its messages."""
    assert main(["report", *shlex.split(words)]) == 0
    printed = capsys.readouterr()
    return printed.out, printed.err


def test_answers_of_the_fit_are_held_out(folder, capsys):
    facts = json.loads(report("crowd.model comparisons.csv --out r.html --json", capsys)[0])
    assert (facts["seen"], facts["held_out"]) == (True, True)
    assert (facts["users"], facts["items"], facts["comparisons"]) == (4, 20, 200)
    assert facts["bytes"] == Path("r.html").stat().st_size
    tree = parse(Path("r.html").read_text(encoding="utf-8"))
    assert "accuracy, held out" in tree.text
    assert f"{facts['accuracy']:.1%} of the answers" in tree.text
    commands = [one.text for one in tree.all("pre")]
    assert commands[0] == "crowdmetric report crowd.model comparisons.csv --out r.html"
    assert commands[1].startswith("crowdmetric fit comparisons.csv --items ITEMS --region nuclear")
    assert hashlib.sha256(Path("crowd.model").read_bytes()).hexdigest() in tree.text


def test_other_answers_are_predicted_as_they_are(folder, capsys, crowd):
    facts = json.loads(report("crowd.model test.csv --json", capsys)[0])
    assert (facts["seen"], facts["held_out"], facts["report"]) == (False, False, "report.html")
    margins = cm.load("crowd.model").margins(crowd.test)
    assert facts["accuracy"] == pytest.approx(accuracy(margins, crowd.test.response))
    assert "not exactly the answers" in parse(Path("report.html").read_text()).text


def test_people_get_three_lines(folder, capsys):
    out, err = report("crowd.model test.csv", capsys)
    assert [line.split()[0] for line in out.splitlines()] == ["report", "accuracy", "time"]
    assert err.startswith("crowdmetric: note: 4 of 4 users also follow directions")
    assert len(err.splitlines()) == 1


def test_pictures_are_made_small_and_put_inside(folder, capsys, crowd):
    Path("pictures").mkdir()
    Image.effect_noise((900, 300), 60).save("pictures/big.jpg")
    Path("pictures/broken.png").write_text("no picture")
    rows = ["item,image,colour", "0,pictures/big.jpg,", "1,pictures/broken.png,", "2,,#336699"]
    Path("looks.csv").write_text("\n".join([*rows, "stranger,pictures/big.jpg,#000000", ""]))
    _, err = report("crowd.model test.csv --items looks.csv", capsys)
    assert "No picture is shown of 1 (pictures/broken.png)" in err
    tree = parse(Path("report.html").read_text(encoding="utf-8"))
    sources = {one["src"] for one in tree.all("img")}
    (source,) = sources
    content = base64.b64decode(source.removeprefix("data:image/png;base64,"))
    assert Image.open(io.BytesIO(content)).size == (64, 21)
    assert {one["fill"] for one in tree.all("circle") if one["fill"]} == {"#336699"}
    assert "--items looks.csv" in tree.all("pre")[0].text


def test_there_is_room_for_so_many_pictures_only(folder, crowd, monkeypatch):
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save("noise.png")
    monkeypatch.setattr("crowdmetric.report.looks._MOST_BYTES", 50_000)
    Path("looks.csv").write_text("item,image\n" + "".join(f"{k},noise.png\n" for k in range(20)))
    looks = read_looks("looks.csv", crowd.items)
    assert 0 < len(looks.pictures) < 20
    assert sum(map(len, looks.pictures.values())) <= 50_000
    assert f"and {20 - len(looks.pictures) - 3} more" in looks.notes[0]


def test_colours_of_features_are_swatches(folder, capsys, crowd):
    model = cm.load("crowd.model")
    lab = cm.Items(crowd.items.ids, np.abs(crowd.items.features) * 20 + 2, ("L", "a", "b"))
    assert len(Looks.of(lab).colours) == 20
    replace(model, items=lab).save("lab.model")
    report("lab.model test.csv", capsys)
    tree = parse(Path("report.html").read_text(encoding="utf-8"))
    assert len([one for one in tree.all("svg") if one["class"] == "swatch"]) == 40  # two tables


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ("nowhere.model test.csv", 1, "nowhere.model: "),
        ("crowd.model nowhere.csv", 1, "nowhere.csv: there is no such file"),
        ("crowd.model test.csv --items test.csv", 1, "the column 'item' is missing"),
        ("crowd.model test.csv --out test.csv", 2, "this is a file that the command reads"),
        ("crowd.model test.csv --out nowhere/r.html", 1, "the report cannot be written"),
        ("crowd.model strangers.csv", 1, "there is no user 'zoe'"),
        ("crowd.model test.csv --style dark", 2, "there is no option --style"),
    ],
)
def test_what_is_refused(words, code, says, folder, capsys):
    Path("strangers.csv").write_text("user,left,right,response\nzoe,0,1,left\n")
    before = set(folder.iterdir())
    assert main(["report", *shlex.split(words)]) == code
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert says in line
    assert printed.out == ""
    assert set(folder.iterdir()) == before
