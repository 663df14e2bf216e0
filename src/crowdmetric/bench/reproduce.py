"""The benchmark `reproduce`: what the paper's experiments cost here, and with a CVXPY model."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO

from crowdmetric.bench.peers import prepare, require, solve_with
from crowdmetric.bench.problems import colours_like, parts_of
from crowdmetric.bench.table import table
from crowdmetric.bench.timing import Settings, Worker, single_thread
from crowdmetric.paper.colours import colour_problems
from crowdmetric.paper.experiments import COLOURS, full_plan
from crowdmetric.paper.rows import fit
from crowdmetric.paper.simulated import Simulated
from crowdmetric.problem import Problem

__all__ = ["bench_reproduce"]

Row = dict[str, Any]

_FASTEST = "Clarabel"
_PAPERS = {"logistic": "SCS at 1e-6", "hinge": "CVXOPT"}
_NOTES = f"""\
Processor time on one thread, means over sizes. The paper's solvers are SCS at 1e-6 and, for the
hinge, CVXOPT; {_FASTEST} is the fastest there is. Every fit measured stands for those of about its
size; a problem without a best fit counts for nobody.
"""
_SIZES = (20, 100, 300)
_QUICK_SIZES = (20,)
_COLOUR_SIZES = (*range(1, 31), *range(35, 301, 5))
_COLOUR_TOLERANCE, _TOLERANCE = 1e-5, 1e-6
_NEEDED = 50.0


@dataclass(frozen=True, eq=False)
class Sample:
    """A fit that stands for those of the paper with about as many answers."""

    experiment: str
    method: str
    pairs: int
    stands_for: int
    problem: Problem
    tolerance: float
    before: Problem | None = None
    """That of the next smaller size, from whose fit the paper's experiments start."""


def bench_reproduce(settings: Settings, stream: TextIO) -> list[Row]:
    """Make some of the paper's fits in several ways, and compare the processor time of all.

    Parameters
    ----------
    settings : Settings
        How many trials, whether few sizes are enough, and when to stop a peer.
    stream : text stream
        Where the table goes.

    Returns
    -------
    list of dict
        One for each method, size and experiment, and one for the whole set.
    """
    require()
    print(_NOTES, file=stream, flush=True)
    rows: list[Row] = []
    with single_thread(), Worker(prepare) as worker:
        for trial in range(1 if settings.quick else settings.seeds):
            for sample in _samples(trial, _QUICK_SIZES if settings.quick else _SIZES):
                if (row := _measure(sample, worker, settings.limit)) is not None:
                    rows.append(row | {"trial": trial})
    whole = _mean(rows) | {"bench": "reproduce", "experiment": "all", "needed": _NEEDED}
    whole["met"] = bool(whole["fastest_ratio"] >= _NEEDED)  # the fastest peer counts
    whole["met_by_papers"] = bool(whole["papers_ratio"] >= _NEEDED)
    print(_table(rows), file=stream)
    print(
        f"\nThe whole set, per fit: ours {whole['ours'] * 1e3:.1f} ms; at least {_NEEDED:g} times "
        f"as long is asked for.\nThe paper's solvers: {whole['papers'] * 1e3:.0f} ms, "
        f"{whole['papers_ratio']:.1f} times as long: {_verdict(whole['met_by_papers'])}\n"
        f"{_FASTEST}: {whole['fastest'] * 1e3:.0f} ms, {whole['fastest_ratio']:.1f} times as long: "
        f"{_verdict(whole['met'])}",
        file=stream,
    )
    return [*rows, whole]


def _verdict(met: bool) -> str:
    """Return a word for it."""
    return "met" if met else "not met"


def _samples(trial: int, sizes: tuple[int, ...]) -> Iterator[Sample]:
    """Yield fits of every method and experiment."""
    for regime in full_plan().experiments:
        assert isinstance(regime, Simulated)
        crowd = regime.crowd(trial)
        for size, weight in _shares(regime.sizes, sizes):
            smaller = max((other for other in regime.sizes if other < size), default=None)
            before = {} if smaller is None else regime.problems(crowd, smaller)
            for method, problem in regime.problems(crowd, size).items():
                start = before.get(method)
                yield Sample(regime.name, method, size, weight, problem, _TOLERANCE, start)
    for size, weight in _shares(_COLOUR_SIZES, sizes):
        problem = colours_like(trial, size)
        for method, own in colour_problems(problem.answers, problem.features).items():
            yield Sample(COLOURS, method, size, weight, own, _COLOUR_TOLERANCE)


def _shares(paper_sizes: tuple[int, ...], sizes: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return each size with the number of the paper's sizes that it is nearest to."""
    nearest = [min(sizes, key=lambda size: abs(size - paper)) for paper in paper_sizes]
    return [(size, nearest.count(size)) for size in sizes if size in nearest]


def _measure(sample: Sample, worker: Worker, limit: float) -> Row | None:
    """Return everybody's processor time; None where there is no best fit to find."""
    fit(sample.problem, sample.tolerance)  # loads what is compiled
    before = sample.before
    start = None if before is None else fit(before, sample.tolerance)[0]
    begun = time.process_time()
    _, measures = fit(sample.problem, sample.tolerance, start)
    ours = time.process_time() - begun
    if measures["separable"]:
        return None
    parts = parts_of(sample.problem)
    papers, fastest = (
        worker.ask(limit, _peer_seconds, peer, parts)
        for peer in (_PAPERS[sample.problem.loss.name], _FASTEST)
    )
    return {
        "bench": "reproduce",
        "experiment": sample.experiment,
        "method": sample.method,
        "pairs": sample.pairs,
        "stands_for": sample.stands_for,
        "ours": ours,
        # A peer that is out of time is counted with the limit: the ratio is then a lower bound.
        "papers": limit if papers is None else papers,
        "fastest": limit if fastest is None else fastest,
        "converged": bool(measures["converged"]),
    }


def _peer_seconds(peer: str, parts: list[Problem]) -> float:
    """Return the processor time that a peer takes, in a process of its own."""
    begun = time.process_time()
    solve_with(peer, parts)
    return time.process_time() - begun


def _mean(rows: list[Row]) -> Row:
    """Return the means over all fits that the rows stand for, and their ratios."""
    count = sum(row["stands_for"] for row in rows)
    ours, papers, fastest = (
        sum(row[key] * row["stands_for"] for row in rows) / count
        for key in ("ours", "papers", "fastest")
    )
    return {
        "ours": ours,
        "papers": papers,
        "fastest": fastest,
        "papers_ratio": papers / ours,
        "fastest_ratio": fastest / ours,
    }


def _table(rows: list[Row]) -> str:
    """Return the means over sizes and trials, by experiment and method."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["experiment"], row["method"]), []).append(row)
    lines = []
    for names, members in groups.items():
        mean = _mean(members)
        times = (f"{mean[key] * 1e3:.1f}" for key in ("ours", "papers", "fastest"))
        ratios = (f"{mean[key]:.1f}" for key in ("papers_ratio", "fastest_ratio"))
        missed = "" if all(row["converged"] for row in members) else "MISSED"
        lines.append([*names, *times, *ratios, missed])
    heads = ["experiment", "method", "ours/ms", "paper's/ms", f"{_FASTEST}/ms"]
    return table([*heads, "x paper's", f"x {_FASTEST}", ""], lines)
