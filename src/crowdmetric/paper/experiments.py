"""Which experiments there are: data, not scripts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from crowdmetric.paper.colours import Colours
from crowdmetric.paper.rows import Row
from crowdmetric.paper.simulated import Simulated

__all__ = ["COLOURS", "COLOURS_TOGETHER", "Experiment", "Plan", "full_plan", "quick_plan"]

COLOURS, COLOURS_TOGETHER = "colours", "colours-together"
"""Splits of single answers, as in the paper, and of pairs with their reversals."""

_HIGH, _MEDIUM = 1.0, 4.0
_LOW, _FULL = 1, 10


class Experiment(Protocol):
    """What can be run, trial by trial."""

    @property
    def name(self) -> str:
        """Unique among experiments."""

    @property
    def experiment(self) -> str:
        """The kind, for the table of results."""

    @property
    def rank(self) -> int | None:
        """Of the true metric, where there is a truth."""

    @property
    def beta(self) -> float | None:
        """Of the answers, where there is a truth."""

    def run(self, seed: int) -> list[Row]:
        """Run one trial."""


@dataclass(frozen=True)
class Plan:
    """What to run.

    Parameters
    ----------
    experiments : tuple of Experiment
        Each with a name of its own.
    trials : int
        How many of each.
    seed : int
        The root of all seeds.

    Examples
    --------
    >>> [experiment.name for experiment in full_plan().experiments]
    ['highLow', 'highFull', 'medLow', 'medFull']
    """

    experiments: tuple[Experiment, ...]
    trials: int
    seed: int = 0

    def only(self, names: Iterable[str]) -> Plan:
        """Return the plan with only the experiments of some names.

        Parameters
        ----------
        names : iterable of str
            Names that the plan does not have do no harm.

        Returns
        -------
        Plan
            In the same order.

        Examples
        --------
        >>> [experiment.name for experiment in quick_plan().only(["medLow"]).experiments]
        ['medLow']
        """
        wanted = set(names)
        return replace(self, experiments=tuple(e for e in self.experiments if e.name in wanted))


def full_plan(colour_data: str | None = None, trials: int = 30, seed: int = 0) -> Plan:
    """Return the paper's experiments, at its sizes.

    Parameters
    ----------
    colour_data : str, optional
        The file of the colour preferences; without it, those experiments are left out.
    trials : int
        The paper has 30.
    seed : int
        The root of all seeds.

    Returns
    -------
    Plan
        Four regimes, and two ways to split the colours.

    Examples
    --------
    >>> full_plan().experiments[0].sizes[-1]
    300
    """
    high = tuple(range(5, 301, 5)), (10, 20, 50, 150, 300)
    medium = tuple(range(30, 301, 30)), (30, 90, 300)
    paper_sizes = tuple(sorted({*range(1, 31), *range(5, 301, 5)}))
    fewer = (1, 2, 5, 10, 15, 20, 30, 50, 100, 200, 300)
    return Plan(_regimes(high, medium) + _colours(colour_data, paper_sizes, fewer), trials, seed)


def quick_plan(colour_data: str | None = None, trials: int = 3, seed: int = 0) -> Plan:
    """Return the same experiments at a few sizes: to look at in a minute.

    Parameters
    ----------
    colour_data : str, optional
        The file of the colour preferences; without it, those experiments are left out.
    trials : int
        Few.
    seed : int
        The root of all seeds.

    Returns
    -------
    Plan
        With the same names as in the full plan.

    Examples
    --------
    >>> quick_plan().experiments[0].sizes
    (20, 50, 150, 300)
    """
    high, medium = ((20, 50, 150, 300), (50,)), ((30, 90, 300), (90,))
    sizes = (2, 5, 10, 20, 50, 150, 300)
    return Plan(_regimes(high, medium) + _colours(colour_data, sizes, sizes), trials, seed)


Sizes = tuple[tuple[int, ...], tuple[int, ...]]


def _regimes(high: Sizes, medium: Sizes) -> tuple[Experiment, ...]:
    """Return the four regimes of the paper."""
    return (
        Simulated("highLow", _LOW, _HIGH, *high),
        Simulated("highFull", _FULL, _HIGH, *high),
        Simulated("medLow", _LOW, _MEDIUM, *medium),
        Simulated("medFull", _FULL, _MEDIUM, *medium),
    )


def _colours(
    path: str | None, sizes: tuple[int, ...], fewer: tuple[int, ...]
) -> tuple[Experiment, ...]:
    """Return the colour experiments, if there is data for them."""
    if path is None:
        return ()
    return (
        Colours(COLOURS, sizes, path=path),
        Colours(COLOURS_TOGETHER, fewer, together=True, path=path),
    )
