"""Units of work: run in processes, each saved as soon as it is done, none run twice.

Whoever has long work to do cuts it into units: named, so that each has a file of its own, and with
a fingerprint of all that its rows depend on, so that a file is used again only for the same work.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from threadpoolctl import threadpool_limits

from crowdmetric.files import check_folder, whole_file

__all__ = ["Progress", "Work", "default_workers", "run_all"]

_MARK = b"crowdmetric.unit"

Progress = Callable[[int, int], None]
"""Called with the numbers of units that are done, and that were to be done."""


class Work(Hashable, Protocol):
    """What can be run as a unit; it travels to another process, and so does what it returns."""

    @property
    def name(self) -> str:
        """The name of its file, unique among the units of a run."""

    @property
    def fingerprint(self) -> str:
        """What a saved unit must have been made with to be used again."""

    def run(self) -> list[Any]:
        """Return its rows, one or more: tuples of numbers and words."""


Some = TypeVar("Some", bound=Work)


def run_all(
    units: Sequence[Some],
    columns: Sequence[str],
    folder: Path,
    workers: int,
    progress: Progress | None = None,
) -> dict[Some, list[Any]]:
    """Run what has not been run yet, in processes, and return the rows of all units.

    Parameters
    ----------
    units : sequence of Work
        What to run, in this order.
    columns : sequence of str
        Names for the entries of a row.
    folder : Path
        Where finished units are kept, and looked for.
    workers : int
        How many processes.
    progress : callable, optional
        Called whenever a unit is done.

    Returns
    -------
    dict of Work to list of tuple
        In the order of the units.

    Raises
    ------
    OutputError
        If the folder cannot be written to.

    Examples
    --------
    >>> from pathlib import Path
    >>> run_all([], ["value"], Path("."), workers=1)
    {}
    """
    check_folder(folder)
    found = {unit: rows for unit in units if (rows := _load(unit, columns, folder)) is not None}
    missing = [unit for unit in units if unit not in found]
    if missing:
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(min(workers, len(missing)), context, _begin)
        try:
            running = {pool.submit(unit.run): unit for unit in missing}
            for done, future in enumerate(as_completed(running), start=1):
                unit = running[future]
                found[unit] = future.result()
                _save(unit, found[unit], columns, folder)
                if progress is not None:
                    progress(done, len(missing))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
    return {unit: found[unit] for unit in units}


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


def _begin() -> None:
    """Prepare a process: Ctrl-C is for the one that asks, and each has one thread."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(limits=1)


def _save(unit: Work, rows: list[Any], columns: Sequence[str], folder: Path) -> None:
    """Write a unit's rows to its file."""
    values = dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))
    table = pa.table(values).replace_schema_metadata({_MARK: unit.fingerprint.encode()})
    with whole_file(folder / f"{unit.name}.parquet", "results") as file:
        pq.write_table(table, file)


def _load(unit: Work, columns: Sequence[str], folder: Path) -> list[Any] | None:
    """Return the rows of a finished unit; None if it is to be run (again)."""
    path = folder / f"{unit.name}.parquet"
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowInvalid):
        return None
    if (table.schema.metadata or {}).get(_MARK) != unit.fingerprint.encode():
        return None
    return list(zip(*(table.column(name).to_pylist() for name in columns), strict=True))
