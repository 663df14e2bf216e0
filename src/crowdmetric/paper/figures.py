"""The paper's figures, named like its labels, and those that it does not show."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crowdmetric import plots
from crowdmetric.errors import SettingError, did_you_mean
from crowdmetric.paper import colours, simulated
from crowdmetric.paper.colour_data import FEATURES
from crowdmetric.paper.curves import draw_curve, finish
from crowdmetric.paper.experiments import COLOURS, COLOURS_TOGETHER, Experiment
from crowdmetric.paper.people import draw_people
from crowdmetric.paper.results import Results
from crowdmetric.paper.simulated import BOUNDED, chosen

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURES", "PaperFigure", "choose", "draw_figures"]

Experiments = dict[str, Experiment]
Draw = Callable[["Axes", Results, Experiments], None]

_REGIMES = {
    "highLow": "high noise, rank 1",
    "highFull": "high noise, full rank",
    "medLow": "medium noise, rank 1",
    "medFull": "medium noise, full rank",
}
_MEASURES = {
    "test": ("accuracy", "test accuracy"),
    "Mrec": ("metric_error", "relative metric error"),
    "Urec": ("ideal_point_error", "relative ideal point error"),
    "Vrec": ("pseudo_point_error", "relative pseudo-ideal point error"),
}
_ERRORS_ABOVE = 2.5  # what is worse is cut off: PSD only starts far out
_ZOOM = 30


@dataclass(frozen=True)
class PaperFigure:
    """One figure.

    Parameters
    ----------
    name : str
        Of its files.
    needs : str
        The experiment that it shows.
    draw : callable
        Draws it on axes.
    width : float
        In inches.
    """

    name: str
    needs: str
    draw: Draw
    width: float = 5.4


def choose(words: Iterable[str]) -> list[PaperFigure]:
    """Return the figures of these names, or whose names begin with them.

    Parameters
    ----------
    words : iterable of str
        For example "normal-highLow" or "color-test"; none for all figures.

    Returns
    -------
    list of PaperFigure
        In the order of `FIGURES`.

    Raises
    ------
    SettingError
        If there is no such figure.

    Examples
    --------
    >>> [figure.name for figure in choose(["normal-test", "color-zoomed"])]
    ['normal-test', 'color-zoomed']
    """
    wanted = list(words)
    found = [f for f in FIGURES if not wanted or any(_matches(f, word) for word in wanted)]
    names = [figure.name for figure in FIGURES]
    for word in wanted:
        if not any(_matches(figure, word) for figure in found):
            raise SettingError(
                f"there is no figure {word!r}{did_you_mean(word, names)} (choose from "
                f"{', '.join(names)}, or from what these begin with, such as normal-highLow)"
            )
    return found


def draw_figures(
    figures: Iterable[PaperFigure],
    results: Results,
    experiments: Iterable[Experiment],
    folder: Path,
) -> list[Path]:
    """Draw figures as PDF and PNG.

    Parameters
    ----------
    figures : iterable of PaperFigure
        Which ones; those whose experiment was not run are left out.
    results : Results
        What was measured.
    experiments : iterable of Experiment
        What was run.
    folder : Path
        Where to put them.

    Returns
    -------
    list of Path
        The files.
    """
    from matplotlib.figure import Figure

    there = {experiment.name: experiment for experiment in experiments}
    written = []
    for figure in figures:
        if figure.needs not in there:
            continue
        canvas = Figure(figsize=(figure.width, 3.9), layout="constrained")
        figure.draw(canvas.subplots(), results, there)
        for ending in ("pdf", "png"):
            path = folder / f"{figure.name}.{ending}"
            plots.save(canvas, path)
            written.append(path)
    return written


def _matches(figure: PaperFigure, word: str) -> bool:
    """Return whether a word means a figure."""
    return figure.name == word or figure.name.startswith(f"{word}-")


def _methods_for(measure: str, plain: bool) -> tuple[str, ...]:
    """Return whom the paper shows: the poor baselines only where they are not in the way."""
    if measure == "accuracy":
        return simulated.METHODS
    rest = () if plain else ("psd", "nuclear-full-single")
    return (*BOUNDED, *rest)


def _normal(regime: str, part: str, plain: bool = False) -> Draw:
    """Return how to draw one measure of one regime."""
    measure, label = _MEASURES[part]

    def draw(axes: Axes, results: Results, experiments: Experiments) -> None:
        for method in _methods_for(measure, plain):
            draw_curve(axes, results, experiments[regime], method, measure)
        if measure != "accuracy":
            axes.set_ylim(0, min(axes.get_ylim()[1], _ERRORS_ABOVE))
        finish(axes, f"Normal items: {_REGIMES[regime]}", label)

    return draw


def _chosen_radii(regime: str) -> Draw:
    """Return how to draw what choosing the radii from the data costs."""

    def draw(axes: Axes, results: Results, experiments: Experiments) -> None:
        for method in BOUNDED:
            for name in (method, chosen(method)):
                draw_curve(axes, results, experiments[regime], name, "accuracy")
        draw_curve(axes, results, experiments[regime], "oracle", "accuracy")
        title = f"Radii of the oracle and by cross-validation: {_REGIMES[regime]}"
        finish(axes, title, "test accuracy")

    return draw


def _worst_user(regime: str) -> Draw:
    """Return how to draw the accuracy of the user who fares worst."""

    def draw(axes: Axes, results: Results, experiments: Experiments) -> None:
        for method in simulated.METHODS:
            draw_curve(axes, results, experiments[regime], method, "worst_user_accuracy")
        finish(axes, f"The worst user: {_REGIMES[regime]}", "lowest test accuracy of a user")

    return draw


def _colour_accuracy(
    name: str, title: str, measure: str = "accuracy", largest: float = np.inf
) -> Draw:
    """Return how to draw the accuracy on colours, up to some number of pairs."""
    label = "test accuracy" if measure == "accuracy" else "lowest test accuracy of a person"

    def draw(axes: Axes, results: Results, experiments: Experiments) -> None:
        for method in colours.METHODS:
            draw_curve(
                axes, results, experiments[name], method, measure,
                of_persons=True, sizes=(0, largest),
            )  # fmt: skip
        finish(axes, title, label)

    return draw


def _colour_metric(axes: Axes, results: Results, experiments: Experiments) -> None:
    """Draw the mean over trials of the crowd's metric."""
    d = len(FEATURES)
    metric = np.empty((d, d))
    for i, j in np.ndindex(d, d):
        metric[i, j] = results.values(
            experiments[COLOURS], "crowd", colours.metric_measure(i, j)
        ).mean()
    limit = float(np.abs(metric).max())
    image = axes.imshow(metric, cmap="RdBu_r", vmin=-limit, vmax=limit)
    for (i, j), value in np.ndenumerate(metric):
        dark = abs(value) > 0.6 * limit
        axes.text(j, i, f"{value:.2f}", ha="center", va="center", color="w" if dark else "k")
    axes.set_xticks(range(d), FEATURES, fontsize=8)
    axes.set_yticks(range(d), FEATURES, fontsize=8, rotation=90, va="center")
    axes.set_title("Average metric over all colour trials", fontsize=10)
    assert axes.figure is not None
    axes.figure.colorbar(image, ax=axes, label="entry of M")


_TOGETHER = "Colours, a pair and its reversal kept together"

FIGURES: tuple[PaperFigure, ...] = (
    *(PaperFigure(f"normal-{part}", "highLow", _normal("highLow", part, plain=True))
      for part in ("test", "Mrec", "Urec")),
    *(PaperFigure(f"normal-{regime}-{part}", regime, _normal(regime, part))
      for regime in _REGIMES for part in _MEASURES),
    PaperFigure("color-test", COLOURS, _colour_accuracy(COLOURS, "Colour preferences")),
    PaperFigure("color-zoomed", COLOURS,
                _colour_accuracy(COLOURS, "Colour preferences, few pairs", largest=_ZOOM)),
    PaperFigure("color-metric", COLOURS, _colour_metric, width=4.9),
    # What the paper does not show.
    *(PaperFigure(f"normal-{regime}-chosen", regime, _chosen_radii(regime)) for regime in _REGIMES),
    *(PaperFigure(f"normal-{regime}-worst", regime, _worst_user(regime)) for regime in _REGIMES),
    PaperFigure("color-together-test", COLOURS_TOGETHER,
                _colour_accuracy(COLOURS_TOGETHER, _TOGETHER)),
    PaperFigure("color-worst", COLOURS,
                _colour_accuracy(COLOURS, "Colours: the worst person", "worst_user_accuracy")),
    PaperFigure("color-people", COLOURS, draw_people, width=7.4),
)  # fmt: skip
"""All figures, the paper's first."""
