"""The benchmarks: that peers solve the same problems, and that the tables say what was measured."""

from __future__ import annotations

import io
import json
import math
import time

import numpy as np
import pytest

from crowdmetric import bench
from crowdmetric.bench import paper as paper_module
from crowdmetric.bench import peers, timing
from crowdmetric.bench.problems import Case, cases, parts_of
from crowdmetric.bench.scale import numpy_pass
from crowdmetric.bench.table import OURS, table
from crowdmetric.comparisons import Comparisons
from crowdmetric.crowd import Crowd
from crowdmetric.errors import MissingExtraError, SettingError
from crowdmetric.losses import Logistic, Probit
from crowdmetric.problem import Problem
from crowdmetric.regions import FrobeniusMetric, PSDOnly
from crowdmetric.simulation import Simulation

PAPER_KEYS = {
    "bench", "problem", "sizes", "tolerance", "solver", "seeds", "solved", "status",
    "compile_seconds", "solve_seconds", "total_seconds", "risk", "violation", "gap",
    "ratio", "solve_ratio", "fastest_peer", "needed", "against", "met",
}  # fmt: skip


@pytest.fixture(scope="module")
def outcome() -> tuple[list[dict[str, object]], str]:
    """Run the small version of the benchmark once: its rows, and what it printed."""
    stream = io.StringIO()
    return bench.run(["paper"], seeds=1, stream=stream, quick=True), stream.getvalue()


def test_rows_are_plain_and_complete(outcome) -> None:
    rows, _ = outcome
    assert all(set(row) == PAPER_KEYS for row in rows)
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    expected = [(case.name, solver) for case in cases() for solver in (OURS, *case.peers)]
    assert [(row["problem"], row["solver"]) for row in rows] == expected


def test_peers_and_ours_agree(outcome) -> None:
    rows, _ = outcome
    ours = {row["problem"]: row for row in rows if row["solver"] == OURS}
    for row in rows:
        assert row["risk"] == pytest.approx(ours[row["problem"]]["risk"], rel=1e-4)
        assert row["violation"] < (1e-9 if row["solver"] == OURS else 1e-3)
        assert abs(row["gap"]) < 1e-4


def test_ours_are_certified(outcome) -> None:
    rows, _ = outcome
    for row in rows:
        if row["solver"] == OURS:
            assert row["status"] == "converged"
            assert -1e-12 <= row["gap"] <= row["tolerance"]


def test_ratios_compare_with_the_fastest_peer(outcome) -> None:
    rows, _ = outcome
    for case in cases():
        ours = next(row for row in rows if (row["problem"], row["solver"]) == (case.name, OURS))
        where = case.against or case.name
        others = [row for row in rows if row["problem"] == where and row["solver"] != OURS]
        fastest = min(others, key=lambda row: row["total_seconds"])
        assert ours["fastest_peer"] == fastest["solver"]
        assert ours["ratio"] == pytest.approx(fastest["total_seconds"] / ours["total_seconds"])
        assert ours["met"] == (ours["ratio"] >= ours["needed"])
        for row in others:
            assert row["total_seconds"] >= row["solve_seconds"]


def test_tables_name_everything(outcome) -> None:
    _, text = outcome
    for word in ("compile/s", "x solve", "violation", "Asked and measured", "verdict"):
        assert word in text
    for case in cases():
        assert f"{case.name}: " in text
    assert max(map(len, text.splitlines())) <= 120


def test_a_peer_that_takes_too_long_is_shown_and_not_asked_again(monkeypatch) -> None:
    first = cases(quick=True)[0]
    monkeypatch.setattr(paper_module, "cases", lambda quick=False: [first])
    stream = io.StringIO()
    rows = bench.run(["paper"], seeds=2, stream=stream, quick=True, limit=1e-6)
    ours, *others = rows
    assert ours["met"] is None
    assert all(row["status"] == "out of time" and row["seeds"] == 1 for row in others)
    assert all(row["total_seconds"] is None and row["gap"] is None for row in others)
    assert "nothing to compare with" in stream.getvalue()
    json.dumps(rows, allow_nan=False)


def test_a_missed_target_is_said(monkeypatch) -> None:
    first = cases(quick=True)[0]
    harder = Case(first.name, first.sizes, first.make, 1e-6, 1e9, ("Clarabel",))
    monkeypatch.setattr(paper_module, "cases", lambda quick=False: [harder])
    stream = io.StringIO()
    ours, _ = bench.run(["paper"], seeds=1, stream=stream, quick=True)
    assert ours["met"] is False
    assert "NOT MET" in stream.getvalue()


def test_single_parts_are_the_users_own_problems() -> None:
    problem = next(case for case in cases(quick=True) if "single" in case.name).problem(seed=3)
    parts = parts_of(problem)
    assert sum(len(part.answers) for part in parts) == len(problem.answers)
    assert tuple(part.region.radii[0] for part in parts) == problem.region.radii[0]
    answer = peers.solve_with("Clarabel", parts)
    assert answer.metric.shape == (4, 3, 3)
    assert answer.points.shape == (4, 1, 3)


def test_models_follow_weights_and_scale() -> None:
    comparisons = Comparisons.from_arrays([[0, 0, 1], [0, 0, 1]], [-1, 1], weight=[3.0, 1.0])
    region = FrobeniusMetric(1.0, 10.0)
    problem = Problem(comparisons.answers(), np.eye(2), Logistic(2.0), region)
    answer = peers.solve_with("Clarabel", [problem])
    margin = problem.crowd().margins(answer.metric, answer.points)
    assert np.abs(margin) == pytest.approx([math.log(3.0) / 2.0] * 2, abs=1e-4)


@pytest.mark.parametrize(
    ("loss", "region", "message"),
    [
        (Probit(), FrobeniusMetric(1.0, 1.0), "no model of the loss probit"),
        (Logistic(1.0), PSDOnly(1.0), "no model of a margin bound"),
    ],
)
def test_models_that_do_not_exist_are_refused(loss, region, message: str) -> None:
    answers = Comparisons.from_arrays([[0, 0, 1]], [-1]).answers()
    with pytest.raises(SettingError, match=message):
        peers.solve_with("Clarabel", [Problem(answers, np.eye(2), loss, region)])


def test_missing_peers_are_named_with_the_extra(monkeypatch) -> None:
    monkeypatch.setattr(peers, "find_spec", lambda name: None if name == "scs" else name)
    with pytest.raises(MissingExtraError, match=r"scs, which.* --editable '\.\[bench\]'"):
        bench.run(["paper"], stream=io.StringIO())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"names": ["papers"]}, "did you mean 'paper'"),
        ({"names": ["xyz"]}, "there are paper, reproduce, scale, identify, report"),
        ({"names": ["scale"], "seeds": 0}, "seeds must be at least 1"),
        ({"names": ["scale"], "limit": 0.0}, "limit must be a positive"),
    ],
)
def test_bad_settings_are_refused(arguments, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        bench.run(**arguments, stream=io.StringIO())


def test_scale_prints_a_row_for_each_size_and_way() -> None:
    stream = io.StringIO()
    rows = bench.run(["scale"], seeds=1, stream=stream, quick=True)
    assert [(row["dimension"], row["solver"], row["threads"]) for row in rows] == [
        (d, *way)
        for d in (3, 10, 30)
        for way in (("crowdmetric", 1), ("crowdmetric", 2), ("numpy", 1))
    ]
    assert all(row["microseconds_per_thousand"] > 0 for row in rows)
    assert len(stream.getvalue().splitlines()) == 2 + len(rows)


def test_the_formula_in_numpy_is_ours(crowd: Simulation) -> None:
    ours = Crowd.of(crowd.comparisons.answers(), crowd.items.features)
    slopes = -np.linspace(0.1, 0.9, len(ours.user))
    margins, of_metric, of_points = numpy_pass(ours, crowd.metric, crowd.points, slopes)
    assert margins == pytest.approx(ours.margins(crowd.metric[None], crowd.points[None]))
    expected = ours.gradient(slopes)
    assert of_metric == pytest.approx(expected[0][0])
    assert of_points == pytest.approx(expected[1][0])


def test_identify_finds_the_ranks_that_its_peers_find() -> None:
    stream = io.StringIO()
    rows = bench.run(["identify"], seeds=2, stream=stream, quick=True)
    assert [(row["rank"], row["agree"], row["seeds"]) for row in rows] == [
        ("system", True, 2),
        ("forest", True, 2),
    ]
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    system, forest = rows
    assert system["ratio"] == pytest.approx(system["peer_seconds"] / system["ours_seconds"])
    assert system["memory_ratio"] == pytest.approx(system["peer_bytes"] / system["ours_bytes"])
    assert forest["rows_per_second"] == pytest.approx(10_000 / forest["ours_seconds"])
    assert "million pairs of a forest per second" in stream.getvalue()


def test_dense_algebra_out_of_time_makes_a_lower_bound(monkeypatch) -> None:
    monkeypatch.setattr(timing.Worker, "ask", lambda *_: None)
    stream = io.StringIO()
    system, _ = bench.run(["identify"], seeds=1, stream=stream, quick=True, limit=7.0)
    assert system["peer_seconds"] == 7.0


def test_worker_stops_and_starts_again() -> None:
    with timing.Worker(int) as worker:
        assert worker.ask(60.0, abs, -1) == 1
        begun = time.perf_counter()
        assert worker.ask(0.1, time.sleep, 60) is None
        assert time.perf_counter() - begun < 10
        assert worker.ask(60.0, abs, -2) == 2


def test_worker_hands_on_exceptions() -> None:
    with timing.Worker(int) as worker, pytest.raises(ValueError, match="domain"):
        worker.ask(60.0, math.sqrt, -1.0)


def test_table_aligns() -> None:
    text = table(["a", "bb", "c"], [["long", "1", "x"], ["s", "1000", "yy"]])
    assert text.splitlines() == ["  a       bb  c", "  long     1  x", "  s     1000  yy"]


def test_trust_counts_choosing_in_fits() -> None:
    stream = io.StringIO()
    rows = bench.run(["trust"], seeds=1, stream=stream, quick=True)
    choosing = [row for row in rows if row["work"] == "choosing"]
    assert {row["region"] for row in choosing} == {
        "nuclear-full", "nuclear-split", "nuclear-metric", "frobenius",
    }  # fmt: skip
    for row in choosing:
        assert row["fits"] == pytest.approx(row["seconds"] / row["fit_seconds"])
        assert row["met"] is (row["fits"] <= 15)
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert "their times say nothing" in stream.getvalue()
