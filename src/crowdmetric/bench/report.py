"""The benchmark `report`: how long the report of a large crowd takes, and how large it is."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from crowdmetric.bench.table import table
from crowdmetric.bench.timing import Settings, seconds
from crowdmetric.estimator import CrowdMetric
from crowdmetric.regions import NuclearFull
from crowdmetric.report import Study, held_out_margins, learning_curve, write_report
from crowdmetric.simulation import simulate

__all__ = ["bench_report"]

Row = dict[str, Any]

_SECONDS, _BYTES = 60.0, 5_000_000  # at most


def bench_report(settings: Settings, stream: TextIO) -> list[Row]:
    """Time the report of 1,000 users who answered 100,000 times, held-out fits included.

    Parameters
    ----------
    settings : Settings
        How many crowds, and whether small ones are enough.
    stream : text stream
        Where the table goes.

    Returns
    -------
    list of dict
        One for each crowd.

    Examples
    --------
    >>> import io
    >>> rows = bench_report(Settings(seeds=1, quick=True), io.StringIO())
    >>> rows[0]["users"], rows[0]["met"]
    (10, True)
    """
    print("A report with all its sections, fits to parts included", file=stream, flush=True)
    rows = [_measure(seed, settings.quick) for seed in range(settings.seeds)]
    heads = ["crowd", "users", "answers", "seconds", "MB", "verdict"]
    cells = [
        [
            f"seed {row['seed']}",
            f"{row['users']:,}",
            f"{row['answers']:,}",
            f"{row['seconds']:.1f}",
            f"{row['bytes'] / 1e6:.2f}",
            "met" if row["met"] else "NOT MET",
        ]
        for row in rows
    ]
    print(table(heads, cells), file=stream, flush=True)
    return rows


def _measure(seed: int, quick: bool) -> Row:
    """Fit a crowd, and time its report."""
    users = 10 if quick else 1000
    crowd = simulate(
        n_items=100, dimension=6, rank=3, n_users=users, pairs_per_user=100, noise=4.0, seed=seed
    )
    model = CrowdMetric(crowd.items, NuclearFull(0.2 * users)).fit(crowd.comparisons).model_
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"

        def work() -> None:
            study = Study.of(model, crowd.comparisons)
            margins = held_out_margins(model, study.comparisons)
            assert margins is not None
            curve = learning_curve(model, study.comparisons, margins)
            write_report(replace(study, held_out=margins, learning=curve), path)

        spent, _ = seconds(work)
        size = path.stat().st_size
    return {
        "bench": "report",
        "seed": seed,
        "users": users,
        "answers": len(crowd.comparisons),
        "seconds": spent,
        "bytes": size,
        "met": spent <= _SECONDS and size <= _BYTES,
    }
