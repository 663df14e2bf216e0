"""How many fits reached their tolerance, and what became of those that did not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crowdmetric.paper.experiments import Experiment
from crowdmetric.paper.results import Results
from crowdmetric.readers import write_table

__all__ = ["Tally", "tally", "write_tally"]


@dataclass(frozen=True)
class Tally:
    """The fits of one method in one experiment.

    Parameters
    ----------
    experiment, method : str
        Whose fits.
    fits : int
        How many.
    converged : int
        How many were certified to their tolerance: 1e-6, and 1e-5 with the hinge.
    separable : int
        How many have no best fit, because the answers can be explained perfectly.
    largest_gap : float
        Of those that have one.

    Examples
    --------
    >>> Tally("highLow", "psd", 10, 7, 3, 1e-7).missed
    0
    """

    experiment: str
    method: str
    fits: int
    converged: int
    separable: int
    largest_gap: float

    @property
    def missed(self) -> int:
        """How many have a best fit that was not reached."""
        return self.fits - self.converged - self.separable


def tally(results: Results, experiments: Iterable[Experiment]) -> list[Tally]:
    """Count the fits of every method.

    Parameters
    ----------
    results : Results
        What was measured.
    experiments : iterable of Experiment
        What was run.

    Returns
    -------
    list of Tally
        In the order of experiments and methods.
    """
    found = []
    for experiment in experiments:
        for method in results.methods(experiment):
            converged = results.values(experiment, method, "converged") == 1
            if not converged.size:  # the truth itself is not fitted
                continue
            separable = results.values(experiment, method, "separable") == 1
            gaps = results.values(experiment, method, "gap")[~separable]
            found.append(
                Tally(
                    experiment.name,
                    method,
                    converged.size,
                    int(converged.sum()),
                    int(separable.sum()),
                    float(gaps.max(initial=0.0)),
                )
            )
    return found


def write_tally(found: list[Tally], path: Path) -> None:
    """Write the counts to a CSV file.

    Parameters
    ----------
    found : list of Tally
        From `tally`.
    path : Path
        The file.
    """
    names = ("experiment", "method", "fits", "converged", "separable", "missed", "largest_gap")
    write_table(path, {name: np.array([getattr(one, name) for one in found]) for name in names})
