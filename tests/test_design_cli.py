"""``crowdmetric design``: the file of questions, what is printed, and what is refused."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

import numpy as np
import pytest

import crowdmetric as cm
from crowdmetric.cli import main
from crowdmetric.design import minimal_design
from crowdmetric.identify.system import LinearSystem
from crowdmetric.metrics import accuracy
from crowdmetric.readers import ENDINGS, read_pairs
from crowdmetric.simulation import Simulation


@pytest.fixture
def crowd(tmp_path, monkeypatch) -> Simulation:
    """Return a crowd of 5 users whose files are in the current folder."""
    monkeypatch.chdir(tmp_path)
    crowd = cm.simulate(30, 3, 3, 5, pairs_per_user=3, noise=4.0, seed=2)
    crowd.write(".")
    return crowd


def design(options: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Run the command, and return the lines that it printed."""
    capsys.readouterr()
    assert main(shlex.split(f"design --items items.csv {options}")) == 0
    return capsys.readouterr().out.splitlines()


def facts_of(options: str, capsys: pytest.CaptureFixture[str]) -> dict:
    """Run the command with --json, and return the one object that it printed."""
    (line,) = design(f"{options} --json", capsys)
    return json.loads(line)


def test_a_minimal_design_can_be_answered_and_solved(crowd, capsys):
    lines = design("--users 5 --out questions.csv", capsys)
    assert (
        lines[0] == "questions.csv: 21 questions to 5 of 5 users, 4 to 5 each, about 10 of 30 items"
    )
    assert lines[1].startswith("exact answers would determine the metric and every point (rank 21")
    assert Path("questions.csv").read_text().splitlines()[0] == "user,left,right"
    asked = read_pairs("questions.csv", crowd.items, crowd.comparisons.users)
    system = LinearSystem.of(crowd.items.features, asked.user, asked.left, asked.right, 5)
    metric, points, _ = system.solve(crowd.margins(asked))
    np.testing.assert_allclose(metric, crowd.metric, atol=1e-9)
    np.testing.assert_allclose(points, crowd.points, atol=1e-9)


def test_an_optimal_design_can_be_answered_and_fitted(crowd, capsys):
    facts = facts_of("--users 5 --scheme optimal --pairs 60 --out questions.csv", capsys)
    assert facts["worth_in_random_questions"] > 1
    asked = read_pairs("questions.csv", crowd.items, crowd.comparisons.users)
    says = np.where(crowd.margins(asked) < 0, "left", "right")
    with open("questions.csv", newline="") as file:
        rows = [[*row, answer] for row, answer in zip([*csv.reader(file)][1:], says, strict=True)]
    with open("answers.csv", "w", newline="") as file:
        csv.writer(file).writerows([["user", "left", "right", "response"], *rows])
    answers = cm.read_comparisons("answers.csv", crowd.items)
    fit = cm.CrowdMetric(crowd.items, cm.regions.NuclearFull(20.0)).fit(answers)
    right = np.sign(crowd.margins(crowd.test)).astype(int)
    assert accuracy(fit.model_.margins(crowd.test), right) > 0.9


def test_json_is_one_object(crowd, capsys):
    facts = facts_of("--users ann bob --scheme random --pairs 9 --seed 3 --out q.jsonl", capsys)
    assert facts.pop("seconds") >= 0
    assert 9 <= facts.pop("items_used") <= 30
    assert facts == {
        "scheme": "random",
        "questions": 18,
        "users": 2,
        "users_asked": 2,
        "least_per_user": 9,
        "most_per_user": 9,
        "items": 30,
        "rank": 12,
        "needed": 12,
        "determined": True,
        "worth_in_random_questions": None,
        "reason": None,
        "out": "q.jsonl",
    }


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_holds_the_same_questions(ending, crowd, capsys):
    design(f"--users ann bob --seed 4 --out q{ending}", capsys)
    asked = read_pairs(f"q{ending}", crowd.items)
    expected = minimal_design(crowd.items, ["ann", "bob"], seed=4)
    assert asked.users == ("ann", "bob")
    for side in ("user", "left", "right"):
        assert np.array_equal(getattr(asked, side), getattr(expected, side))


def test_what_is_missing_is_asked_and_then_nothing_is(crowd, capsys):
    complete = "--complete comparisons.csv --out more.csv"
    assert facts_of(complete, capsys)["questions"] == 21 - 15
    assert facts_of(f"{complete} --users u4 new", capsys)["users"] == 6
    assert facts_of(f"{complete} --users 7", capsys)["users"] == 7
    design("--users 5 --out questions.csv", capsys)
    answered = ["user,left,right,response"]
    answered += [f"{row},left" for row in Path("questions.csv").read_text().splitlines()[1:]]
    Path("answers.csv").write_text("\n".join(answered))
    lines = design("--complete answers.csv --out more.csv", capsys)
    assert lines[0] == "more.csv: no questions: nothing is missing"
    assert Path("more.csv").read_text() == "user,left,right\n"


def test_users_come_from_a_table(crowd, capsys):
    Path("people.csv").write_text("name,user\nAnn,7\nBob,8\nAnn again,7\n")
    design("--users people.csv --out q.csv", capsys)
    assert read_pairs("q.csv", crowd.items).users == (7, 8)


def test_a_fit_of_earlier_answers_guides_the_next(crowd, capsys):
    fit = "fit test.csv --items items.csv --radius 8 --features standardize --out pilot.model"
    assert main(shlex.split(fit)) == 0
    optimal = "--users u0 u1 new --scheme optimal --pairs 10 --out q.csv"
    blind = facts_of(optimal, capsys)
    before = Path("q.csv").read_text()
    informed = facts_of(f"{optimal} --guess pilot.model", capsys)
    assert informed["determined"]
    assert informed["worth_in_random_questions"] > blind["worth_in_random_questions"]
    assert Path("q.csv").read_text() != before
    assert main(shlex.split(fit.replace("--radius 8", "--radius 8 --loss hinge"))) == 0
    refused = f"design --items items.csv {optimal} --guess pilot.model"
    assert main(shlex.split(refused)) == 2
    assert "the loss 'hinge' does not say how probable" in capsys.readouterr().err


def test_what_stays_open_is_said(crowd, capsys):
    lines = design("--users 4 --scheme random --pairs 3 --out q.csv", capsys)
    assert lines[1] == (
        "even exact answers would leave some of the metric and points open (rank 12 of 18): 18 "
        "numbers need as many questions; ask each user 5 or more"
    )
    Path("items.csv").write_text("\n".join(Path("items.csv").read_text().splitlines()[:9]))
    lines = design("--users 4 --scheme optimal --out q.csv", capsys)
    assert "a metric on 3 features needs at least 10 items, and there are 8; add" in lines[1]


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ("--out q.csv", 2, "--users is missing"),
        ("--users 0 --out q.csv", 2, "the number of users must lie between 1 and"),
        ("--users 3", 2, "the following arguments are required: --out"),
        ("--users a a --out q.csv", 1, "the user 'a' is given twice"),
        ("--users none.csv --out q.csv", 1, "none.csv: there is no such file"),
        ("--users 3 --scheme rand --out q.csv", 2, "did you mean 'random'?"),
        ("--users 3 --pairs 5 --out q.csv", 2, "--pairs: only the schemes random and optimal"),
        ("--users 3 --guess m --out q.csv", 2, "--guess: only the scheme optimal takes one"),
        ("--users 3 --scheme random --pairs 436 --out q.csv", 1, "30 items make 435; ask for"),
        ("--complete test.csv --scheme random --out q.csv", 2, "--complete and --scheme exclude"),
        ("--complete none.csv --out q.csv", 1, "none.csv: there is no such file"),
        ("--users 3 --out q.txt", 1, "the ending '.txt' says no known format"),
        ("--users 3 --out nowhere/q.csv", 1, "the table cannot be written"),
        ("--users 3 --out items.csv", 2, "this is a file that the command reads"),
        ("--complete test.csv --out test.csv", 2, "this is a file that the command reads"),
    ],
)
def test_refusals_are_one_line_and_leave_nothing(options, code, says, crowd, capsys, tmp_path):
    before = {path.name for path in tmp_path.iterdir()}
    capsys.readouterr()
    assert main(shlex.split(f"design --items items.csv {options}")) == code
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert says in line
    assert printed.out == ""
    assert {path.name for path in tmp_path.iterdir()} == before


def test_too_few_items_are_refused_with_the_number_needed(crowd, capsys):
    Path("few.csv").write_text("\n".join(Path("items.csv").read_text().splitlines()[:9]))
    assert main(shlex.split("design --items few.csv --users 3 --out q.csv")) == 1
    assert capsys.readouterr().err == (
        "crowdmetric: error: few.csv: a metric on 3 features needs at least 10 items, and there "
        "are 8; add items, or use 2 features at most\n"
    )
