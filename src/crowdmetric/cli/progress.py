"""How far long work has come, for people to watch."""

from __future__ import annotations

import sys
import time

__all__ = ["UnitsLine"]


class UnitsLine:
    """One line on standard error: how many units are done, and an estimate of the time left.

    Parameters
    ----------
    units : str
        What the units are called.

    Examples
    --------
    >>> UnitsLine()(1, 4)  # to standard error: 1 of 4 units done, about 0 s left
    """

    def __init__(self, units: str = "units") -> None:
        """Start the clock."""
        self._units = units
        self._begun = time.monotonic()
        self._counted = 0
        self._width = 0

    def __call__(self, done: int, total: int) -> None:
        """Update the line."""
        now = time.monotonic()
        left = (now - self._begun) / (done - self._counted) * (total - done)
        if not self._counted:  # from here on, without what it took to start the processes
            self._begun, self._counted = now, done
        text = f"{done} of {total} {self._units} done, about {_duration(left)} left"
        terminal = sys.stderr.isatty()
        sys.stderr.write(f"\r{text.ljust(self._width)}" if terminal else f"{text}\n")
        sys.stderr.flush()
        self._width = len(text) if terminal else 0

    def close(self) -> None:
        """End the line."""
        if self._width:
            sys.stderr.write("\n")
            self._width = 0


def _duration(seconds: float) -> str:
    """Return a time in words."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
