"""Benchmarks: our solver beside general-purpose ones, and the cost of one pass over the answers.

Examples
--------
>>> sorted(BENCHES)
['bootstrap', 'coverage', 'identify', 'paper', 'report', 'reproduce', 'scale', 'trust']
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, TextIO

from crowdmetric.bench.bootstrap import bench_bootstrap
from crowdmetric.bench.coverage import bench_coverage
from crowdmetric.bench.identify import bench_identify
from crowdmetric.bench.paper import bench_paper
from crowdmetric.bench.report import bench_report
from crowdmetric.bench.reproduce import bench_reproduce
from crowdmetric.bench.scale import bench_scale
from crowdmetric.bench.timing import Settings
from crowdmetric.bench.trust import bench_trust
from crowdmetric.errors import SettingError, did_you_mean

__all__ = ["BENCHES", "run"]

BENCHES: dict[str, Callable[[Settings, TextIO], list[dict[str, Any]]]] = {
    "paper": bench_paper,
    "reproduce": bench_reproduce,
    "scale": bench_scale,
    "identify": bench_identify,
    "report": bench_report,
    "bootstrap": bench_bootstrap,
    "coverage": bench_coverage,
    "trust": bench_trust,
}


def run(
    names: Iterable[str] = ("paper",),
    seeds: int = 5,
    stream: TextIO | None = None,
    *,
    quick: bool = False,
    limit: float = 120.0,
) -> list[dict[str, Any]]:
    """Run benchmarks, and print their tables as they come.

    Parameters
    ----------
    names : iterable of str
        Some of `BENCHES`; if there are none, ``paper``.
    seeds : int
        How many crowds to draw for each problem.
    stream : text stream, optional
        Where the tables go; standard output by default.
    quick : bool
        Small crowds, to try everything out in seconds: the times say nothing.
    limit : float
        Seconds after which a general-purpose solver is stopped.

    Returns
    -------
    list of dict
        Plain numbers and texts, ready for JSON; one for each problem and solver.

    Raises
    ------
    SettingError
        If there is no such benchmark, or the numbers make no sense.
    MissingExtraError
        If the libraries to compare with are not installed.

    Examples
    --------
    >>> import io
    >>> rows = run(["scale"], seeds=1, stream=io.StringIO(), quick=True)
    >>> rows[0]["bench"], rows[0]["dimension"]
    ('scale', 3)
    """
    chosen = list(dict.fromkeys(names)) or ["paper"]
    for name in chosen:
        if name not in BENCHES:
            hint = did_you_mean(name, BENCHES) or f"; there are {', '.join(BENCHES)}"
            raise SettingError(f"there is no benchmark {name!r}{hint}")
    settings = Settings(seeds, quick, limit)
    out = sys.stdout if stream is None else stream
    return [row for name in chosen for row in BENCHES[name](settings, out)]
