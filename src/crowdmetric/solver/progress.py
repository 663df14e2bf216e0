"""What a solver tells while it works, and a line for people to watch."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

__all__ = ["Callback", "Progress", "ProgressLine"]


@dataclass(frozen=True)
class Progress:
    """How far a solver has come.

    Parameters
    ----------
    iteration : int
        Steps taken so far.
    risk : float
        The risk of the best feasible point so far.
    gap : float
        How far that is from the best possible at most.
    tolerance : float
        The gap that is asked for.
    seconds : float
        Time taken so far.

    Examples
    --------
    >>> print(Progress(20, 0.5, 1e-3, 1e-6, 2.0))
    iteration 20, risk 0.5, gap 1.0e-03 of 1.0e-06
    """

    iteration: int
    risk: float
    gap: float
    tolerance: float
    seconds: float

    def __str__(self) -> str:
        """Return one line."""
        return (
            f"iteration {self.iteration}, risk {self.risk:.6g}, "
            f"gap {self.gap:.1e} of {self.tolerance:.1e}"
        )


_SILENCE = 3.0  # seconds without a word from the solver, after which it says why
_PREPARING = "preparing (the first fit after an installation compiles its loops, once)"

Callback = Callable[[Progress], bool | None]
"""Called with the progress; a solver stops when it returns True."""


class ProgressLine:
    """A callback that keeps one line of progress, with an estimate of the time left.

    Nothing is written about work that ends within the first second.

    Parameters
    ----------
    stream : file, optional
        Where to write; standard error when not given.
    interval : float
        Seconds between updates.
    silence : float
        Seconds after which the line says what keeps the solver from its first step.

    Examples
    --------
    >>> line = ProgressLine(sys.stdout, interval=0.0)
    >>> line(Progress(10, 0.5, 1e-2, 1e-6, 1.0))
    >>> line(Progress(20, 0.5, 1e-4, 1e-6, 2.0))
    iteration 20, risk 0.5, gap 1.0e-04 of 1.0e-06, about 1 s left
    """

    def __init__(
        self, stream: TextIO | None = None, interval: float = 1.0, silence: float = _SILENCE
    ) -> None:
        """Write nothing yet."""
        self._stream = sys.stderr if stream is None else stream
        self._interval = interval
        self._first: Progress | None = None
        self._written = time.monotonic()
        self._width = 0
        self._preparing = threading.Timer(silence, self._write, [_PREPARING])
        self._preparing.daemon = True
        self._preparing.start()

    def __call__(self, progress: Progress) -> None:
        """Update the line if it is time."""
        self._preparing.cancel()
        if self._first is None or progress.iteration < self._first.iteration:
            self._first = progress
            return
        if time.monotonic() - self._written < self._interval:
            return
        self._written = time.monotonic()
        self._write(f"{progress}{self._left(progress)}")

    def close(self) -> None:
        """Leave a terminal's line blank."""
        self._preparing.cancel()
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0

    def _write(self, text: str) -> None:
        """Write the line over the last one."""
        terminal = self._stream.isatty()
        padded = text.ljust(self._width)
        self._stream.write(f"\r{padded}" if terminal else f"{text}\n")
        self._stream.flush()
        self._width = len(text) if terminal else 0

    def _left(self, progress: Progress) -> str:
        """Return an estimate, from how fast the gap has shrunk so far."""
        first = self._first
        if first is None or not 0 < progress.gap < first.gap < math.inf:
            return ""
        rate = math.log(first.gap / progress.gap) / max(progress.seconds - first.seconds, 1e-9)
        left = math.log(max(progress.gap / progress.tolerance, 1.0)) / rate
        return f", about {left:.0f} s left"
