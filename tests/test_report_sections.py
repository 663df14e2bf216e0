"""What a report says: against numbers counted by hand, and for crowds at the edge."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

import crowdmetric as cm
from crowdmetric import worth
from crowdmetric.cli.check import _facts as check_facts
from crowdmetric.comparisons import Comparisons
from crowdmetric.identify import check
from crowdmetric.metrics import accuracy as accuracy_of
from crowdmetric.model import example
from crowdmetric.report import Study, held_out_margins, learning_curve, write_report
from crowdmetric.report.charts import line_chart
from crowdmetric.report.held_out import _part
from crowdmetric.report.sections import SECTIONS
from crowdmetric.report.sections.accuracy import accuracy, wilson
from crowdmetric.report.sections.asked import asked, times_shown
from crowdmetric.report.sections.learning import learning
from crowdmetric.report.sections.metric import metric
from crowdmetric.report.sections.quality import ceiling_of, quality
from crowdmetric.report.sections.redo import fit_command, redo
from crowdmetric.report.sections.sufficiency import sufficiency
from crowdmetric.splits import PairFolds
from report_parser import Element, parse


@pytest.fixture(scope="module")
def fitted():
    """Return a small crowd and a model of it."""
    crowd = cm.simulate(n_items=12, dimension=3, n_users=4, pairs_per_user=30, noise=4.0, seed=3)
    fit = cm.CrowdMetric(crowd.items, cm.regions.NuclearFull(6.0), cm.losses.Logistic(2.0))
    return crowd, fit.fit(crowd.comparisons).model_


def rows_of(html: str, caption: str) -> dict[str, list[Element]]:
    """Return the cells of a table's rows, by their headers."""
    tables = parse(html).all("table")
    (table,) = [one for one in tables if one.all("caption")[0].text.startswith(caption)]
    return {row.children[0].text: row.children[1:] for row in table.all("tbody")[0].children}


def keys(cells: list[Element], column: int) -> float:
    """Return what a cell is sorted by."""
    return float(cells[column]["data-key"] or "nan")


def test_items_are_counted(fitted):
    crowd, model = fitted
    rows = rows_of(asked(Study.of(model, crowd.comparisons)).html, "Items")
    answers = crowd.comparisons
    for item in range(12):
        wins = np.where(answers.response < 0, answers.left, answers.right) == item
        seen = (answers.left == item) | (answers.right == item)
        assert keys(rows[str(item)], 0) == seen.sum()
        assert keys(rows[str(item)], 1) == pytest.approx(wins.sum() / seen.sum(), abs=1e-5)
    shares = [keys(cells, 1) for cells in rows.values()]
    assert shares == sorted(shares, reverse=True)


def test_people_are_measured_on_answers_that_were_held_out(fitted):
    crowd, model = fitted
    study = Study.of(model, crowd.comparisons)
    assert study.seen
    margins = held_out_margins(model, study.comparisons)
    rows = rows_of(accuracy(replace(study, held_out=margins)).html, "People, worst first")
    right = (margins > 0) == (crowd.comparisons.response > 0)
    for user in range(4):
        mine = crowd.comparisons.user == user
        assert keys(rows[f"u{user}"], 1) == pytest.approx(right[mine].mean(), abs=1e-5)
        loss = np.logaddexp(0, -2.0 * crowd.comparisons.response[mine] * margins[mine]).mean()
        assert keys(rows[f"u{user}"], 3) == pytest.approx(loss, rel=1e-3)
    shares = [keys(cells, 1) for cells in rows.values()]
    assert shares == sorted(shares)


def test_held_out_means_that_the_fit_has_not_seen_the_answer(fitted):
    crowd, model = fitted
    answers = crowd.comparisons
    triples = np.column_stack([answers.user, answers.left, answers.right])
    margins = held_out_margins(model, answers)
    train, test = next(iter(PairFolds(5, random_state=0).split(triples)))
    estimator = cm.CrowdMetric(crowd.items, model.region, model.loss, tol=1e-9)
    alone = estimator.fit(answers.subset(train)).model_.margins_of_codes(triples[test])
    np.testing.assert_allclose(margins[test], alone, atol=0.05)
    flipped = answers.response.copy()
    flipped[test] *= -1
    other = held_out_margins(model, replace(answers, response=flipped))
    np.testing.assert_array_equal(margins[test], other[test])


def test_seen_answers_are_known_by_their_risk(fitted):
    crowd, model = fitted
    answers = crowd.comparisons
    assert Study.of(model, answers.subset(np.arange(len(answers))[::-1])).seen
    assert not Study.of(model, crowd.test).seen
    assert not Study.of(model, answers.subset(np.arange(50))).seen
    ties = answers.response.copy()
    ties[:9] = 0
    for kept in ("half", "drop"):
        fit = cm.CrowdMetric(crowd.items, cm.regions.NuclearFull(2.0), ties=kept)
        tied = replace(answers, response=ties)
        assert Study.of(fit.fit(tied).model_, tied).seen


def test_what_features_are_worth_is_that_of_show(fitted):
    crowd, model = fitted
    rows = rows_of(metric(Study.of(model, crowd.comparisons)).html, "What each feature")
    for name, share in zip(
        crowd.items.names, worth.feature_shares(model.metric, model.x), strict=True
    ):
        assert keys(rows[name], 0) == pytest.approx(share, rel=1e-5)
    rows = rows_of(metric(Study.of(model, crowd.comparisons)).html, "Eigenvalues")
    found = [keys(cells, 0) for cells in rows.values()]
    values = np.linalg.eigvalsh(model.metric)[::-1]
    np.testing.assert_allclose(found, values[: len(found)], rtol=1e-4, atol=1e-9)


def test_the_verdict_is_that_of_check(fitted):
    crowd, model = fitted
    for rows in (slice(0, 6), slice(0, 120)):
        answers = crowd.comparisons.subset(np.arange(120)[rows])
        html = sufficiency(Study.of(model, answers)).html
        facts = check_facts(check(answers, crowd.items))
        assert (f"rank {facts['rank']} of {facts['needed']}") in html
        assert ("Everything is determined" in html) == facts["identifiable"]
        text = parse(html).text
        for sentence in facts["missing"][:12]:
            assert sentence in text


def test_the_command_fits_the_model_again(fitted, tmp_path, monkeypatch, capsys):
    crowd, model = fitted
    monkeypatch.chdir(tmp_path)
    crowd.write(".")
    command = fit_command(model, "comparisons.csv", "items.csv", "again.model")
    from crowdmetric.cli import main

    assert command is not None
    assert main(command.split()[1:]) == 0
    again = cm.load("again.model")
    np.testing.assert_allclose(again.metric, model.metric, atol=1e-3)
    assert again.certificate.gap <= 1e-6


@pytest.mark.parametrize(("right", "asked"), [(0, 1), (3, 4), (40, 50), (120, 120)])
def test_intervals_are_those_of_scipy(right, asked):
    low, high = wilson(np.array([right / asked]), np.array([float(asked)]))
    expected = binomtest(right, asked).proportion_ci(0.95, method="wilson")
    np.testing.assert_allclose([low[0], high[0]], expected, atol=1e-12)


def test_no_predictor_exceeds_the_ceiling_of_the_mean_agreement():
    rng = np.random.default_rng(1)
    favourite = rng.uniform(0.5, 1.0, (50, 200))  # per person and pair
    agreement = (favourite**2 + (1 - favourite) ** 2).mean(axis=1)
    assert favourite.mean() <= ceiling_of(agreement) <= favourite.mean() + 0.05


def test_who_leans_to_a_side_is_named():
    model = example()
    rng = np.random.default_rng(0)
    triples = [[user, 0, 1 + row % 2] for user in (0, 1) for row in range(60)]
    response = np.concatenate([-np.ones(60), rng.choice([-1, 1], 60)])
    answers = Comparisons.from_arrays(
        triples, response, users=model.users, item_ids=model.items.ids
    )
    said = parse(quality(Study.of(model, answers)).html).text
    assert "lean: ann (100% left)" in said
    assert "bob (" not in said


def test_what_was_never_shown_is_named():
    model = example()
    answers = Comparisons.from_arrays([[0, 0, 1]], [1], users=model.users, item_ids=model.items.ids)
    said = parse(quality(Study.of(model, answers)).html).text
    assert "never shown: 'blue'" in said
    assert "no answers of: 'bob'" in said


def test_times_shown_counts_ties_half():
    shown, won = times_shown(Comparisons.from_arrays([[0, 0, 1], [0, 2, 0]], [0, 1]))
    np.testing.assert_array_equal(shown, [2, 1, 1])
    np.testing.assert_array_equal(won, [1.5, 0.5, 0.0])


def edge_crowds():
    """Yield crowds at the edge of what makes sense."""
    items = cm.Items.from_arrays(np.random.default_rng(0).normal(size=(5, 2)))
    rows = [[k % 3, k % 5, (k + 1 + k % 3) % 5] for k in range(30)]
    everyone = np.where(np.arange(30) % 2, 1, -1)
    yield "one user", items, [[0, *row[1:]] for row in rows], everyone
    yield "one answer each", items, [[k, k % 5, (k + 1) % 5] for k in range(6)], everyone[:6]
    yield "one answer", items, [[0, 0, 1]], [1]
    yield "all left", items, rows, -np.ones(30)
    yield "ties only", items, rows, np.zeros(30)
    yield "contradictions only", items, [[0, 0, 1], [0, 1, 0]] * 5, -np.ones(10)
    tall = cm.Items.from_arrays(np.random.default_rng(1).normal(size=(4, 6)))
    yield "more features than items", tall, [[0, 0, 1], [0, 1, 2], [1, 2, 3]] * 3, [1, -1, 1] * 3
    line = cm.Items.from_arrays([[1.0], [2.0], [4.0], [9.0]])
    yield "one feature", line, [[0, 0, 1], [0, 1, 2], [1, 2, 3]] * 3, [1, -1, 1] * 3


@pytest.mark.parametrize("case", list(edge_crowds()), ids=lambda case: case[0])
@pytest.mark.parametrize("loss", ["logistic", "squared-hinge"])
def test_crowds_at_the_edge_get_a_report(case, loss, tmp_path):
    _, items, triples, response = case
    answers = Comparisons.from_arrays(triples, response, n_items=len(items))
    fit = cm.CrowdMetric(items, cm.regions.FrobeniusMetric(1.0, 1.0), loss).fit(answers)
    study = Study.of(fit.model_, answers)
    assert study.seen
    study = replace(study, held_out=held_out_margins(fit.model_, study.comparisons))
    write_report(study, tmp_path / "report.html")
    text = parse((tmp_path / "report.html").read_text(encoding="utf-8")).all("main")[0].text
    assert not re.search(r"\b(nan|inf)\b", text)


def test_the_learning_curve_ends_where_the_accuracy_is(fitted):
    crowd, model = fitted
    study = Study.of(model, crowd.comparisons)
    margins = held_out_margins(model, study.comparisons)
    told = []
    curve = learning_curve(model, study.comparisons, margins, lambda *line: told.append(line))
    assert told == [(done, 15) for done in range(1, 16)]
    assert [point.answers for point in curve] == [3.0, 6.0, 12.0, 24.0]
    assert curve[-1].accuracy == accuracy_of(margins, crowd.comparisons.response)
    half = held_out_margins(model, study.comparisons, 0.5)
    assert curve[2].accuracy == accuracy_of(half, crowd.comparisons.response)
    html = learning(replace(study, held_out=margins, learning=curve)).html
    rows = rows_of(html, "Learning curve")
    assert [keys(cells, 0) for cells in rows.values()] == pytest.approx(
        [point.accuracy for point in curve], abs=1e-5
    )


def test_many_answers_are_measured_by_a_part_of_them(fitted, monkeypatch):
    crowd, model = fitted
    monkeypatch.setattr("crowdmetric.report.learning._ENOUGH", 40)
    answers = Study.of(model, crowd.comparisons).comparisons
    margins, told = held_out_margins(model, answers), []
    curve = learning_curve(model, answers, margins, lambda *line: told.append(line))
    assert told[-1] == (6, 6)
    part = ~np.isnan(held_out_margins(model, answers, 0.5, 2))
    assert part.sum() == 48
    assert curve[-1].accuracy == accuracy_of(margins[part], answers.response[part])


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.floats(0.05, 1.0))
def test_parts_are_the_same_share_of_everybodys_answers_and_nested(user, share):
    codes, rows = np.array(user), 10 * np.arange(len(user))
    part = _part(codes, rows, share)
    assert set(part) <= set(rows)
    assert set(_part(codes, rows, share / 2)) <= set(part)
    for person in set(user):
        mine = int((codes == person).sum())
        kept = int((codes[part // 10] == person).sum())
        assert kept == max(round(share * mine), 1)


@pytest.mark.parametrize("low", [0.5, 0.612, 0.99])
@pytest.mark.parametrize("spread", [0.0, 0.004, 0.31])
def test_charts_hold_what_they_show(low, spread):
    points = [(10.0, low), (20.0, min(low + spread, 1.0))]
    (chart,) = parse(line_chart(points, "answers", "It rises.", 0.8, "ceiling")).all("svg")
    for one in chart.all("circle"):
        assert 0 <= float(one["cx"]) <= 640
        assert 20 <= float(one["cy"]) <= 250
    high = [float(one["cy"]) for one in chart.all("circle")]
    assert high[0] >= high[1]


def test_a_metric_of_zeros_and_one_for_each_person_get_a_report(tmp_path):
    study = Study.of(example(), crowd_of_example())
    for matrix in (np.zeros((2, 2)), np.stack([np.eye(2), np.zeros((2, 2))])):
        other = replace(study, model=replace(example(), metric=matrix))
        sections = [made for write in SECTIONS if (made := write(other)) is not None]
        text = "".join(parse(section.html).text for section in sections)
        assert not re.search(r"\b(nan|inf)\b", text)


def crowd_of_example() -> Comparisons:
    model = example()
    return Comparisons.from_arrays(
        [[0, 0, 1], [1, 1, 2]], [-1, 1], users=model.users, item_ids=model.items.ids
    )


def test_settings_and_certificate_are_there(fitted):
    crowd, model = fitted
    said = parse(redo(Study.of(model, crowd.comparisons)).html).text
    for words in ("nuclear-full: radius 6", "logistic, scale 2", "converged", cm.__version__):
        assert words in said
