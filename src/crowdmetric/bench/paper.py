"""The benchmark `paper`: our solver beside general-purpose ones on the paper's problems."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, TextIO

from crowdmetric.bench.judge import Judge
from crowdmetric.bench.peers import PeerAnswer, prepare, require, solve_with
from crowdmetric.bench.problems import Case, cases, parts_of
from crowdmetric.bench.table import OURS, notes, side_by_side, verdicts
from crowdmetric.bench.timing import Settings, Worker, median, seconds, single_thread
from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.problem import Problem
from crowdmetric.solver import Solution, solve

__all__ = ["bench_paper"]

Row = dict[str, Any]

_REPEATS, _ENOUGH = 3, 1.0  # solve the same problem again, unless that took seconds already
_BEST_FIRST = ("converged", "optimal", "optimal_inaccurate")


@dataclass(frozen=True)
class Run:
    """What one solver did on one seed."""

    status: str
    compile_seconds: float
    solve_seconds: float
    total_seconds: float
    risk: float | None = None
    violation: float | None = None
    gap: float | None = None


def bench_paper(settings: Settings, stream: TextIO) -> list[Row]:
    """Solve every problem with every solver, and print the times as they come.

    Parameters
    ----------
    settings : Settings
        How many seeds, whether small crowds are enough, and when to stop a peer.
    stream : text stream
        Where the tables go.

    Returns
    -------
    list of dict
        One for each problem and solver.

    Raises
    ------
    MissingExtraError
        If the peers are not installed.

    Examples
    --------
    >>> import io
    >>> rows = bench_paper(Settings(seeds=1, quick=True), io.StringIO())
    >>> [row["solver"] for row in rows if row["problem"] == "frobenius"]
    ['crowdmetric', 'Clarabel', 'SCS at 1e-6']
    """
    require()
    print(notes(_REPEATS, settings.limit), file=stream, flush=True)
    rows: list[Row] = []
    with single_thread(), Worker(prepare) as worker:
        for case in cases(settings.quick):
            runs = _runs(case, settings, worker)
            found = [_row(case, solver, done) for solver, done in runs.items()]
            _compare(case, found, rows)
            rows.extend(found)
            print(side_by_side(found), file=stream, flush=True)
    print(verdicts([row for row in rows if row["solver"] == OURS]), file=stream)
    if settings.quick:
        print("These crowds are small, so their times say nothing.", file=stream)
    return rows


def _runs(case: Case, settings: Settings, worker: Worker) -> dict[str, list[Run]]:
    """Return what each solver does on each seed."""
    runs: dict[str, list[Run]] = {solver: [] for solver in (OURS, *case.peers)}
    for seed in range(settings.seeds):
        problem = case.problem(seed)
        ours, solution = _our_run(problem, case.tolerance)
        judge = Judge.of(problem, solution)
        runs[OURS].append(ours)
        for peer in case.peers:
            if not any(run.status == "out of time" for run in runs[peer]):
                runs[peer].append(_peer_run(peer, judge, settings.limit, worker))
    return runs


def _our_run(problem: Problem, tolerance: float) -> tuple[Run, Solution]:
    """Solve with our solver: once to load what is compiled, and then to be timed."""

    def call() -> Solution:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)  # the status says it
            return solve(problem, tol=tolerance)

    first, solution = seconds(call)
    times: list[float] = []
    while len(times) < _REPEATS and sum(times) < _ENOUGH:
        times.append(seconds(call)[0])
    spent = median(times)
    measured = Judge.of(problem, solution).measure(solution.metric, solution.points)
    status = solution.certificate.status
    return Run(status, max(first - spent, 0.0), spent, spent, **measured), solution


def _peer_run(peer: str, judge: Judge, limit: float, worker: Worker) -> Run:
    """Solve with a peer, in a process of its own."""
    answers: list[PeerAnswer] = []
    while len(answers) < _REPEATS and sum(answer.total_seconds for answer in answers) < _ENOUGH:
        answer = worker.ask(limit, solve_with, peer, parts_of(judge.problem))
        if answer is None:
            return Run("out of time", math.nan, math.nan, math.nan)
        answers.append(answer)
    answer = sorted(answers, key=lambda answer: answer.total_seconds)[len(answers) // 2]
    times = (answer.compile_seconds, answer.solve_seconds, answer.total_seconds)
    if answer.metric is None or answer.points is None:
        return Run(answer.status, *times)
    return Run(answer.status, *times, **judge.measure(answer.metric, answer.points))


def _row(case: Case, solver: str, runs: list[Run]) -> Row:
    """Sum up what one solver did on all seeds."""
    solved = [run for run in runs if run.risk is not None]
    compiling = [run.compile_seconds for run in solved]
    row: Row = {
        "bench": "paper",
        "problem": case.name,
        "sizes": str(case.sizes),
        "tolerance": case.tolerance,
        "solver": solver,
        "seeds": len(runs),
        "solved": len(solved),
        "status": max((run.status for run in runs), key=_badness),
        # Only our first call loads what is compiled; a model is compiled again for every seed.
        "compile_seconds": _number(max(compiling) if solver == OURS else median(compiling)),
        "solve_seconds": _number(median([run.solve_seconds for run in solved])),
        "total_seconds": _number(median([run.total_seconds for run in solved])),
        "risk": _number(median([run.risk for run in solved if run.risk is not None])),
        "violation": max((run.violation or 0.0 for run in solved), default=None),
        "gap": max((run.gap or 0.0 for run in solved), key=abs, default=None),
        "ratio": None,
        "solve_ratio": None,
        "fastest_peer": None,
        "needed": None,
        "against": None,
        "met": None,
    }
    return row


def _badness(status: str) -> int:
    """Order statuses from the best to the worst."""
    return _BEST_FIRST.index(status) if status in _BEST_FIRST else len(_BEST_FIRST)


def _number(value: float) -> float | None:
    """Return None in place of nan, which JSON does not know."""
    return None if math.isnan(value) else value


def _compare(case: Case, found: list[Row], earlier: list[Row]) -> None:
    """Fill in how many times our time the peers need, and whether that is enough."""
    ours, *peers = found
    if case.against is not None:
        peers = [row for row in earlier if row["problem"] == case.against][1:]
    for row in found[1:]:
        row["ratio"] = _ratio(row["total_seconds"], ours["total_seconds"])
        row["solve_ratio"] = _ratio(row["solve_seconds"], ours["total_seconds"])
    answered = [row for row in peers if row["solved"] == row["seeds"]]
    ours["needed"], ours["against"] = case.needed, case.against or case.name
    if not answered:
        return
    fastest = min(answered, key=lambda row: row["total_seconds"])
    solving = min(row["solve_seconds"] for row in answered)
    ours["fastest_peer"] = fastest["solver"]
    ours["ratio"] = _ratio(fastest["total_seconds"], ours["total_seconds"])
    ours["solve_ratio"] = _ratio(solving, ours["total_seconds"])
    ours["met"] = ours["status"] == "converged" and ours["ratio"] >= case.needed


def _ratio(theirs: float | None, ours: float) -> float | None:
    """Return theirs / ours, if they have an answer at all."""
    return None if theirs is None else theirs / ours
