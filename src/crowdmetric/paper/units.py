"""Running a plan: one trial of one experiment is a unit, saved at once, never run twice."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from threadpoolctl import threadpool_limits

from crowdmetric import __version__
from crowdmetric.files import check_folder, whole_file
from crowdmetric.paper.experiments import Experiment, Plan
from crowdmetric.paper.rows import Row

__all__ = ["Unit", "run_units", "units"]

_MARK = b"crowdmetric.unit"
_COLUMNS = ("method", "pairs", "measure", "value")


@dataclass(frozen=True)
class Unit:
    """One trial of one experiment.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    trial : int
        Which trial, from 0.
    root : int
        The seed that all seeds come from.

    Examples
    --------
    >>> from crowdmetric.paper.experiments import quick_plan
    >>> next(units(quick_plan())).name
    'highLow-00'
    """

    experiment: Experiment
    trial: int
    root: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{self.experiment.name}-{self.trial:02d}"

    @property
    def seed(self) -> int:
        """Its seed, which no other unit's existence changes."""
        key = zlib.crc32(self.experiment.name.encode())
        sequence = np.random.SeedSequence(self.root, spawn_key=(key, self.trial))
        return int(sequence.generate_state(1)[0])

    @property
    def fingerprint(self) -> str:
        """What a saved unit must have been made with to be used again."""
        made_with = f"{__version__} {self.experiment!r} {self.seed}"
        return hashlib.sha256(made_with.encode()).hexdigest()

    def run(self) -> list[Row]:
        """Run the trial."""
        return self.experiment.run(self.seed)


def units(plan: Plan) -> Iterator[Unit]:
    """Yield the units of a plan, trial by trial, so that early results are about everything.

    Parameters
    ----------
    plan : Plan
        What to run.

    Yields
    ------
    Unit
        In a fixed order.
    """
    for trial in range(plan.trials):
        for experiment in plan.experiments:
            yield Unit(experiment, trial, plan.seed)


def run_units(
    plan: Plan,
    folder: Path,
    workers: int,
    progress: Callable[[int, int], None] | None = None,
) -> dict[Unit, list[Row]]:
    """Run what has not been run yet, in processes, and return the rows of all units.

    Parameters
    ----------
    plan : Plan
        What to run.
    folder : Path
        Where finished units are kept, and looked for.
    workers : int
        How many processes.
    progress : callable, optional
        Called with the numbers of units that are done, and that were to be done, whenever one is.

    Returns
    -------
    dict of Unit to list of Row
        In the plan's order.
    """
    check_folder(folder)
    everything = list(units(plan))
    found = {unit: rows for unit in everything if (rows := _load(unit, folder)) is not None}
    missing = [unit for unit in everything if unit not in found]
    if missing:
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(min(workers, len(missing)), context, _begin)
        try:
            running = {pool.submit(unit.run): unit for unit in missing}
            for done, future in enumerate(as_completed(running), start=1):
                unit = running[future]
                found[unit] = future.result()
                _save(unit, found[unit], folder)
                if progress is not None:
                    progress(done, len(missing))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
    return {unit: found[unit] for unit in everything}


def _begin() -> None:
    """Prepare a process: Ctrl-C is for the one that asks, and each has one thread."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(limits=1)


def _save(unit: Unit, rows: list[Row], folder: Path) -> None:
    """Write a unit's rows to its file."""
    columns = dict(zip(_COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    table = pa.table(columns).replace_schema_metadata({_MARK: unit.fingerprint.encode()})
    with whole_file(folder / f"{unit.name}.parquet", "results") as file:
        pq.write_table(table, file)


def _load(unit: Unit, folder: Path) -> list[Row] | None:
    """Return the rows of a finished unit; None if it is to be run (again)."""
    path = folder / f"{unit.name}.parquet"
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowInvalid):
        return None
    if (table.schema.metadata or {}).get(_MARK) != unit.fingerprint.encode():
        return None
    return list(zip(*(table.column(name).to_pylist() for name in _COLUMNS), strict=True))


def default_workers() -> int:
    """Return how many processors this process may use.

    Examples
    --------
    >>> default_workers() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
