"""The units of a plan: one trial of one experiment each."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crowdmetric import __version__
from crowdmetric.paper.experiments import Experiment, Plan
from crowdmetric.paper.rows import Row
from crowdmetric.units import Progress, run_all

__all__ = ["Unit", "run_units", "units"]

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
    plan: Plan, folder: Path, workers: int, progress: Progress | None = None
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
    return run_all(list(units(plan)), _COLUMNS, folder, workers, progress)
