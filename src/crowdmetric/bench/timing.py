"""What makes times comparable: one thread for everybody, medians, and a limit that holds."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing.pool import Pool
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from crowdmetric.errors import SettingError

__all__ = ["Settings", "Worker", "median", "seconds", "single_thread"]

Result = TypeVar("Result")


@dataclass(frozen=True)
class Settings:
    """How much to measure.

    Parameters
    ----------
    seeds : int
        How many crowds to draw for each problem.
    quick : bool
        Small crowds, to try everything out in seconds: their times say nothing.
    limit : float
        Seconds after which a general-purpose solver is stopped.

    Examples
    --------
    >>> Settings(quick=True).seeds
    5
    """

    seeds: int = 5
    quick: bool = False
    limit: float = 120.0

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        if self.seeds < 1:
            raise SettingError(f"seeds must be at least 1, not {self.seeds}")
        if not self.limit > 0:
            raise SettingError(f"the limit must be a positive number of seconds, not {self.limit}")


@contextmanager
def single_thread() -> Iterator[None]:
    """Keep every linear algebra library of this process to one thread.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> with single_thread():
    ...     {library["num_threads"] for library in threadpool_info()} <= {1}
    True
    """
    with threadpool_limits(limits=1):
        yield


def seconds(call: Callable[[], Result]) -> tuple[float, Result]:
    """Return how long a call took, and what it returned.

    Parameters
    ----------
    call : callable
        Without arguments.

    Returns
    -------
    float
        Wall time in seconds.
    object
        What the call returned.

    Examples
    --------
    >>> spent, result = seconds(lambda: 6 * 7)
    >>> spent >= 0, result
    (True, 42)
    """
    begun = time.perf_counter()
    result = call()
    return time.perf_counter() - begun, result


def median(values: list[float]) -> float:
    """Return the median of the values; nan when there are none.

    Parameters
    ----------
    values : list of float
        For example the times of several seeds.

    Returns
    -------
    float
        The median.

    Examples
    --------
    >>> median([3.0, 1.0, 2.0]), median([])
    (2.0, nan)
    """
    return float(np.median(values)) if values else float("nan")


class Worker(AbstractContextManager["Worker"]):
    """A process that can be stopped in the middle of a call, however deep in a library.

    Parameters
    ----------
    prepare : callable
        Called in the new process before its first task; a function of a module.

    Examples
    --------
    >>> with Worker(int) as worker:
    ...     worker.ask(60.0, abs, -3)
    3
    """

    def __init__(self, prepare: Callable[[], object]) -> None:
        self._prepare = prepare
        self._pool: Pool | None = None

    def ask(self, limit: float, function: Callable[..., Result], *arguments: Any) -> Result | None:
        """Return what a function of a module returns in the process, or None when out of time.

        Parameters
        ----------
        limit : float
            Seconds from now; the process is stopped then, and the next task gets a new one.
        function : callable
            A function of a module.
        *arguments : object
            Its arguments.

        Returns
        -------
        object or None
            None when it was stopped.
        """
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = context.Pool(1, _begin, (self._prepare,))
            self._pool.apply(int)  # waits for the process, so that its start is not counted
        try:
            return self._pool.apply_async(function, arguments).get(limit)
        except multiprocessing.TimeoutError:
            self._stop()
            return None

    def _stop(self) -> None:
        """End the process."""
        if self._pool is not None:
            self._pool.terminate()
            self._pool.join()
            self._pool = None

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._stop()


def _begin(prepare: Callable[[], object]) -> None:
    """Keep the new process to one thread, before and after its libraries are loaded."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ[name] = "1"
    prepare()
    threadpool_limits(limits=1)
