"""The benchmark `bootstrap`: 200 refits of resamples, in units of one fit from nothing."""

from __future__ import annotations

from typing import Any, TextIO

from crowdmetric.bench.table import table
from crowdmetric.bench.timing import Settings, median, seconds, single_thread
from crowdmetric.estimator import CrowdMetric
from crowdmetric.losses import Logistic
from crowdmetric.regions import NuclearFull
from crowdmetric.simulation import Simulation, oracle_radii, simulate
from crowdmetric.trust import bootstrap

__all__ = ["bench_bootstrap"]

Row = dict[str, Any]

_RESAMPLES = 200
_AT_MOST = 60.0  # fits
_REPEATS = 3


def bench_bootstrap(settings: Settings, stream: TextIO) -> list[Row]:
    """Time the bootstrap in one process beside fits that start from nothing.

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
    >>> rows = bench_bootstrap(Settings(seeds=1, quick=True), io.StringIO())
    >>> rows[0]["resamples"], rows[0]["bootstrap_seconds"] > 0
    (20, True)
    """
    print("The bootstrap, all its intervals of answers included, in fits", file=stream, flush=True)
    with single_thread():
        rows = [_measure(seed, settings.quick) for seed in range(settings.seeds)]
    heads = ["crowd", "fit/s", "bootstrap/s", "fits", "at most", "verdict"]
    cells = [
        [
            f"seed {row['seed']}, {row['resamples']} resamples",
            f"{row['fit_seconds']:.4f}",
            f"{row['bootstrap_seconds']:.3f}",
            f"{row['fits']:.1f}",
            f"{row['at_most']:g}",
            "met" if row["met"] else "NOT MET",
        ]
        for row in rows
    ]
    print(table(heads, cells), file=stream, flush=True)
    return rows


def _measure(seed: int, quick: bool) -> Row:
    """Time one crowd of the paper's size, fitted within the oracle's radius to a gap of 1e-6."""
    crowd = _crowd(seed, quick)
    resamples = 20 if quick else _RESAMPLES
    region = NuclearFull(*oracle_radii(crowd)["nuclear-full"])
    estimator = CrowdMetric(crowd.items, region, Logistic(crowd.noise))
    model = estimator.fit(crowd.comparisons).model_
    bootstrap(model, crowd.comparisons, 20)  # compiled code is loaded
    spent, fits = [], []
    for _ in range(_REPEATS):  # in turns, so that what else the machine does slows both down
        fits += [seconds(lambda: estimator.fit(crowd.comparisons))[0] for _ in range(_REPEATS)]
        spent.append(seconds(lambda: bootstrap(model, crowd.comparisons, resamples))[0])
    ratio = median(spent) / median(fits)
    return {
        "bench": "bootstrap",
        "seed": seed,
        "resamples": resamples,
        "fit_seconds": median(fits),
        "bootstrap_seconds": median(spent),
        "fits": ratio,
        "at_most": _AT_MOST,
        "met": ratio <= _AT_MOST,
    }


def _crowd(seed: int, quick: bool) -> Simulation:
    """Draw a crowd."""
    if quick:
        return simulate(n_items=20, dimension=3, n_users=4, pairs_per_user=30, seed=seed)
    return simulate(seed=seed)
