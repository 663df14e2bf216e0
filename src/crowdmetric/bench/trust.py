"""The benchmark `trust`: what it costs to choose and to doubt a fit, in fits."""

from __future__ import annotations

from functools import partial
from typing import Any, TextIO

import numpy as np

from crowdmetric.bench.table import table
from crowdmetric.bench.timing import Settings, median, seconds, single_thread
from crowdmetric.estimator import CrowdMetric, CrowdMetricCV
from crowdmetric.regions import by_name
from crowdmetric.simulation import Simulation, oracle_radii, simulate

__all__ = ["bench_trust"]

Row = dict[str, Any]

_SIZES = {False: (100, 10, 10, 300), True: (20, 3, 4, 30)}  # by quick: n, d, K, pairs per user
_REGIONS = ("nuclear-full", "nuclear-split", "nuclear-metric", "frobenius")
_REPEATS = 3
_RADII, _FOLDS = 12, 5
_MOST_FITS = {"choosing": 15.0}
_VERDICTS = {True: "met", False: "NOT MET"}
_NOTES = """\
Costs in single fits, on one thread and in one process. A single fit is CrowdMetric.fit within the
oracle's radii, to a gap of 1e-6. Medians over {seeds} seeds, each the median of {repeats} runs.
  choosing  all of CrowdMetricCV.fit with {folds} folds and {radii} radii, from 1/8 to 8 times the
            oracle's; its last fit, with the radius chosen, is counted
"""


def bench_trust(settings: Settings, stream: TextIO) -> list[Row]:
    """Time what makes a fit trustworthy, beside the fit itself.

    Parameters
    ----------
    settings : Settings
        How many seeds, and whether small crowds are enough.
    stream : text stream
        Where the table goes.

    Returns
    -------
    list of dict
        One for each thing done and region.

    Examples
    --------
    >>> import io
    >>> rows = bench_trust(Settings(seeds=1, quick=True), io.StringIO())
    >>> {row["work"] for row in rows}
    {'choosing'}
    """
    notes = _NOTES.format(seeds=settings.seeds, repeats=_REPEATS, folds=_FOLDS, radii=_RADII)
    print(notes, file=stream, flush=True)
    with single_thread():
        rows = [_choosing(settings, region) for region in _REGIONS]
    heads = ["work", "region", "fit/s", "work/s", "fits", "at most", "verdict"]
    cells = [
        [
            row["work"],
            row["region"],
            f"{row['fit_seconds']:.4f}",
            f"{row['seconds']:.4f}",
            f"{row['fits']:.1f}",
            f"{row['most']:g}",
            _VERDICTS[row["met"]],
        ]
        for row in rows
    ]
    print(table(heads, cells), file=stream)
    if settings.quick:
        print("\nThese crowds are small, so their times say nothing.", file=stream)
    return rows


def _choosing(settings: Settings, region: str) -> Row:
    """Compare choosing a radius with a fit within the oracle's."""
    fits, choices = [], []
    for seed in range(settings.seeds):
        crowd = _crowd(seed, settings.quick)
        oracle = oracle_radii(crowd)[region]
        factors = np.geomspace(1 / 8, 8, _RADII).tolist()
        radii = [tuple(factor * radius for radius in oracle) for factor in factors]
        single = CrowdMetric(crowd.items, by_name(region, oracle))
        chooser = CrowdMetricCV(crowd.items, region, radii=radii, cv=_FOLDS)
        fits.append(_typical(single, crowd))
        choices.append(_typical(chooser, crowd))
    return _row("choosing", region, settings, fits, choices)


def _crowd(seed: int, quick: bool) -> Simulation:
    """Draw a crowd of the paper's size."""
    n_items, dimension, n_users, pairs = _SIZES[quick]
    return simulate(n_items, dimension, 1, n_users, pairs, seed=seed)


def _typical(estimator: CrowdMetric, crowd: Simulation) -> float:
    """Return the median time of a fit; what is compiled is loaded first."""
    fit = partial(estimator.fit, crowd.comparisons)
    fit()
    return median([seconds(fit)[0] for _ in range(_REPEATS)])


def _row(work: str, region: str, settings: Settings, fits: list[float], times: list[float]) -> Row:
    """Return the times of some work beside those of fits, seed by seed."""
    ratio = median([spent / fit for spent, fit in zip(times, fits, strict=True)])
    return {
        "bench": "trust",
        "work": work,
        "region": region,
        "seeds": settings.seeds,
        "fit_seconds": median(fits),
        "seconds": median(times),
        "fits": ratio,
        "most": _MOST_FITS[work],
        "met": bool(ratio <= _MOST_FITS[work]),
    }
