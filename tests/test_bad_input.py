"""Bad input: one sentence that says where, what and the remedy; no traceback, no half-written file.

Each case runs at the command line, and in Python, where the same sentence comes as a typed
exception.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import crowdmetric as cm
from crowdmetric.cli import main
from crowdmetric.errors import (
    DataError,
    ModelFileError,
    OutputError,
    SettingError,
    UnknownItemError,
    UnknownUserError,
)
from crowdmetric.readers import read_pairs, write_table

ITEMS = "item,warm,light\nred,0.9,0.5\ngreen,0.2,0.6\nblue,0.1,0.3\n"
ANSWERS = (
    "user,left,right,response\nann,red,green,left\nann,green,blue,left\n"
    "bob,red,blue,right\nbob,green,blue,tie\nann,red,blue,right\n"
)
PAIRS = "user,left,right\nann,red,blue\nbob,blue,green\n"
FIT = "fit answers.csv --items items.csv --radius 2 --out new.model"
READ_ONLY = "/sys" if Path("/sys").exists() else "/"  # not to be written to, even by root
FIT_AS = "fit {} --items items.csv --radius 2 --out new.model"


def read_items():
    return cm.read_items("items.csv")


def read_answers():
    return cm.read_comparisons("answers.csv", cm.read_items("items.csv"))


def predict():
    model = cm.load("crowd.model")
    return read_pairs("pairs.csv", model.items, model.users)


def score_items():
    cm.load("crowd.model").scores(items=cm.read_items("other.csv"))


def standardize():
    cm.CrowdMetric(read_items(), cm.regions.NuclearFull(2.0), features="standardize").fit(
        read_answers()
    )


@dataclass(frozen=True)
class Case:
    """A command that cannot be served."""

    name: str
    command: str
    says: tuple[str, ...]  # where, what, remedy: all of it on the one line
    python: Callable[[], object]
    error: type[Exception]
    files: dict[str, str | bytes | None] = field(default_factory=dict)
    damage: Callable[[Path], None] | None = None
    code: int = 1


def cut(model: Path) -> None:
    model.write_bytes(model.read_bytes()[:-64])


def edit(model: Path) -> None:
    content = bytearray(model.read_bytes())
    content[-70] ^= 1
    model.write_bytes(content)


def bad_items(name: str, content: str | bytes, *says: str) -> Case:
    """Return a case of an items file."""
    return Case(name, FIT, ("items.csv", *says), read_items, DataError, {"items.csv": content})


def bad_answers(
    name: str, content: str | bytes, *says: str, error: type[Exception] = DataError
) -> Case:
    """Return a case of a comparisons file."""
    return Case(name, FIT, ("answers.csv", *says), read_answers, error, {"answers.csv": content})


WEIGHTED = "user,left,right,response,weight"

CASES = [
    Case(
        "missing file",
        FIT_AS.format("answer.csv"),
        ("answer.csv", "no such file", "did you mean 'answers.csv'?"),
        lambda: cm.read_comparisons("answer.csv"),
        DataError,
    ),
    bad_answers("empty file", "", "the file is empty", "named columns"),
    bad_items("empty items file", "", "the file is empty", "named columns"),
    bad_answers(
        "only a header", "user,left,right,response\n", "no comparisons", "give at least one"
    ),
    bad_answers(
        "wrong columns",
        ANSWERS.replace("response", "answer"),
        "the column 'response' is missing",
        "the columns must be user, left, right, response",
    ),
    bad_answers(
        "missing column",
        "user,left,right\nann,red,green\n",
        "the column 'response' is missing",
        "they are 'user', 'left', 'right'",
    ),
    bad_items("no id column", ITEMS.replace("item,", "thing,"), "the column 'item' is missing"),
    bad_answers(
        "not UTF-8",
        ANSWERS.replace("bob", "bób").encode("latin-1"),
        "line 4",
        "not UTF-8",
        "save the file as UTF-8",
    ),
    bad_items(
        "items not UTF-8", ITEMS.replace("blue", "bläu").encode("latin-1"), "line 4", "UTF-8"
    ),
    bad_answers(
        "unknown item",
        ANSWERS.replace("bob,red", "bob,rad"),
        "line 4",
        "no item 'rad'",
        "did you mean 'red'?",
        error=UnknownItemError,
    ),
    bad_answers(
        "an item against itself",
        ANSWERS.replace("bob,red,blue", "bob,red,red"),
        "line 4",
        "'red' is compared with itself",
        "correct or remove the row",
    ),
    bad_answers(
        "a response that is no word of ours",
        ANSWERS.replace("tie", "both"),
        "line 5",
        "'both' is none of left, right, tie",
    ),
    bad_items(
        "NaN feature",
        ITEMS.replace("0.2", "nan"),
        "line 3",
        "'green' has nan in the column 'warm'",
        "give a finite number",
    ),
    bad_items(
        "infinite feature",
        ITEMS.replace("0.3", "inf"),
        "line 4",
        "inf in the column 'light'",
        "give a finite number",
    ),
    bad_answers(
        "NaN weight",
        f"{WEIGHTED}\nann,red,green,left,1\nann,red,blue,left,nan\n",
        "line 3",
        "the weight is nan",
        "give a finite number, 0 or more",
    ),
    bad_answers(
        "infinite weight",
        f"{WEIGHTED}\nann,red,green,left,inf\n",
        "line 2",
        "the weight is inf",
        "give a finite number, 0 or more",
    ),
    bad_answers(
        "negative weight",
        f"{WEIGHTED}\nann,red,green,left,1\nann,red,blue,left,-2\n",
        "line 3",
        "the weight -2 is negative",
        "give 0 or more",
    ),
    bad_answers(
        "weights whose sum is infinite",
        f"{WEIGHTED}\nann,red,green,left,1e308\nann,red,blue,left,1e308\n",
        "the column 'weight' are too large to be added up",
        "divide them all by the largest",
    ),
    bad_items(
        "a feature too large to be squared",
        ITEMS.replace("0.2", "-1e160"),
        "line 3",
        "'green' has -1e+160 in the column 'warm'",
        "use other units, in which no number exceeds 1e+30",
    ),
    bad_items(
        "text in a numeric column",
        ITEMS.replace("0.2", "hot"),
        "line 3",
        "'warm' is 'hot', which is not a number",
        "0/1 column per category",
    ),
    bad_items(
        "duplicate item ids",
        ITEMS.replace("blue", "red"),
        "lines 2 and 4",
        "'red' is given twice",
        "keep one, or rename one",
    ),
    bad_items(
        "one item",
        "item,warm,light\nred,0.9,0.5\n",
        "at least two items, not 1",
        "add more items",
    ),
    Case(
        "a constant feature under standardize",
        f"{FIT} --features standardize",
        ("items.csv", "the column 'light' is 0.5 for every item", "remove the column"),
        standardize,
        DataError,
        {"items.csv": "item,warm,light\nred,0.9,0.5\ngreen,0.2,0.5\nblue,0.1,0.5\n"},
    ),
    Case(
        "radius zero",
        FIT.replace("--radius 2", "--radius 0"),
        ("--radius", "the radius must be a positive number, not 0"),
        lambda: cm.regions.NuclearFull(0.0),
        SettingError,
        code=2,
    ),
    Case(
        "negative radius",
        FIT.replace("--radius 2", "--region frobenius --radius 1 -3"),
        ("--radius", "the point radius must be a positive number, not -3"),
        lambda: cm.regions.FrobeniusMetric(1.0, -3.0),
        SettingError,
        code=2,
    ),
    Case(
        "more radii than the region takes",
        FIT.replace("--radius 2", "--radius 2 3"),
        ("--radius", "'nuclear-full' takes a radius, but 2 number(s) were given"),
        lambda: cm.regions.by_name("nuclear-full", (2.0, 3.0)),
        SettingError,
        code=2,
    ),
    Case(
        "fewer radii than the region takes",
        FIT.replace("--radius 2", "--region frobenius --radius 2"),
        ("--radius", "takes a radius and a point radius, but 1 number(s) were given"),
        lambda: cm.regions.by_name("frobenius", (2.0,)),
        SettingError,
        code=2,
    ),
    Case(
        "a user in predict whom the model never saw",
        "predict crowd.model pairs.csv --out new.csv",
        ("pairs.csv", "line 3", "no user 'rob'", "did you mean 'bob'?"),
        predict,
        UnknownUserError,
        {"pairs.csv": PAIRS.replace("bob", "rob")},
    ),
    Case(
        "items whose columns differ from the model's",
        "predict crowd.model pairs.csv --items other.csv --out new.csv",
        ("other.csv", "lack the feature 'light'", "give exactly the features of the model"),
        score_items,
        DataError,
        {"other.csv": ITEMS.replace("light", "dark")},
    ),
    Case(
        "an unknown item to exclude",
        "rank crowd.model --user ann --exclude green rad",
        ("crowd.model", "no item 'rad' among the 3 items", "did you mean 'red'?"),
        lambda: cm.load("crowd.model").items.known_ids.find("rad"),
        UnknownItemError,
    ),
    Case(
        "an item to exclude that is not among the new ones",
        "rank crowd.model --user ann --items other.csv --exclude blue",
        ("other.csv", "no item 'blue' among the 2 items", "leave it out of --exclude"),
        lambda: cm.read_items("other.csv").known_ids.find("blue", "leave it out of --exclude"),
        UnknownItemError,
        {"other.csv": "item,warm,light\nx,0.9,0.5\ny,0.2,0.6\n"},
    ),
    Case(
        "a model file that is not there",
        "rank nowhere.model --user ann",
        ("nowhere.model", "No such file", "check the path"),
        lambda: cm.load("nowhere.model"),
        ModelFileError,
    ),
    Case(
        "a file that is no model",
        "rank items.csv --user ann",
        ("items.csv", "not a model file", "give a file that Model.save wrote"),
        lambda: cm.load("items.csv"),
        ModelFileError,
    ),
    Case(
        "a truncated model file",
        "evaluate crowd.model answers.csv",
        ("crowd.model", "the file is truncated", "copy it again"),
        lambda: cm.load("crowd.model"),
        ModelFileError,
        damage=cut,
    ),
    Case(
        "an edited model file",
        "evaluate crowd.model answers.csv",
        ("crowd.model", "does not match its checksum", "copy it again"),
        lambda: cm.load("crowd.model"),
        ModelFileError,
        damage=edit,
    ),
    Case(
        "a model into a folder that is not there",
        FIT.replace("new.model", "nowhere/new.model"),
        ("nowhere/new.model", "cannot be written (No such file", "a folder that exists"),
        lambda: cm.load("crowd.model").save("nowhere/new.model"),
        OutputError,
    ),
    Case(
        "a model in place of a folder",
        FIT.replace("new.model", "folder"),
        ("folder", "cannot be written (Is a directory)", "name a file in a folder"),
        lambda: cm.load("crowd.model").save("folder"),
        OutputError,
        damage=lambda model: (model.parent / "folder").mkdir(),
    ),
    Case(
        "a model into a folder without write permission",
        FIT.replace("new.model", f"{READ_ONLY}/new.model"),
        (f"{READ_ONLY}/new.model", "cannot be written (", "that you may write to"),
        lambda: cm.load("crowd.model").save(f"{READ_ONLY}/new.model"),
        OutputError,
    ),
    Case(
        "predictions into a folder without write permission",
        f"predict crowd.model pairs.csv --out {READ_ONLY}/new.csv",
        (f"{READ_ONLY}/new.csv", "cannot be written (", "that you may write to"),
        lambda: write_table(f"{READ_ONLY}/new.csv", {"user": ["ann"]}),
        OutputError,
    ),
    Case(
        "a simulation into a folder without write permission",
        f"simulate --out {READ_ONLY}",
        (READ_ONLY, "the folder cannot be written to (", "choose another"),
        lambda: cm.simulate(n_users=1, pairs_per_user=1).write(READ_ONLY),
        OutputError,
    ),
    Case(
        "a model in place of a device",
        FIT.replace("new.model", "/dev/null"),
        ("/dev/null", "cannot be written (this is a device or a pipe)", "name a file"),
        lambda: cm.load("crowd.model").save("/dev/null"),
        OutputError,
    ),
    Case(
        "predictions below a file",
        "predict crowd.model pairs.csv --out items.csv/new.csv",
        ("items.csv/new.csv", "cannot be written (Not a directory)", "name a file in a folder"),
        lambda: write_table("items.csv/new.csv", {"user": ["ann"]}),
        OutputError,
    ),
    Case(
        "predictions in no known format",
        "predict crowd.model pairs.csv --out new.xlsx",
        ("new.xlsx", "no known format", "use one of .csv"),
        lambda: write_table("new.xlsx", {"user": ["ann"]}),
        OutputError,
    ),
    Case(
        "a simulation into a folder that is a file",
        "simulate --out items.csv",
        ("items.csv", "the folder cannot be made (File exists)", "choose another"),
        lambda: cm.simulate(n_users=1, pairs_per_user=1).write("items.csv"),
        OutputError,
    ),
]


@pytest.fixture(scope="module")
def good_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which everything is as it should be."""
    folder = tmp_path_factory.mktemp("good")
    for name, content in (("items", ITEMS), ("answers", ANSWERS), ("pairs", PAIRS)):
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    words = shlex.split(FIT.replace("answers.csv", f"{folder}/answers.csv"))
    words[words.index("items.csv")] = f"{folder}/items.csv"
    words[words.index("new.model")] = f"{folder}/crowd.model"
    assert main(words) == 0
    return folder


@pytest.fixture
def folder(good_files, tmp_path, monkeypatch) -> Path:
    """Return a copy of these files, as the current folder."""
    place = tmp_path / "here"
    shutil.copytree(good_files, place)
    monkeypatch.chdir(place)
    return place


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below the folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_sentence_and_nothing_written(case, folder, capsys):
    for name, content in case.files.items():
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if case.damage is not None:
        case.damage(folder / "crowd.model")
    before = contents(folder)
    capsys.readouterr()

    code = main(shlex.split(case.command))

    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert code == case.code
    assert line.startswith("crowdmetric: error: ")
    for part in case.says:
        assert part in line
    assert printed.out == ""
    assert contents(folder) == before
    with pytest.raises(case.error) as raised:
        case.python()
    assert str(raised.value) in line
