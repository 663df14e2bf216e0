"""How the figures draw: one look per method, told apart by colour, marker and dash alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crowdmetric.paper.experiments import Experiment
from crowdmetric.paper.results import Floats, Results
from crowdmetric.paper.simulated import chosen

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LOOKS", "Look", "draw_curve", "finish", "mean_and_error", "percentiles"]

_MOST_MARKS = 10


@dataclass(frozen=True)
class Look:
    """How a method is drawn.

    Parameters
    ----------
    label : str
        As the paper calls it.
    colour, marker : str
        Of its line; the colours are from the palette of Okabe and Ito.
    dash : str or tuple
        Of its line, as matplotlib takes it.
    """

    label: str
    colour: str
    marker: str
    dash: str | tuple[int, tuple[int, ...]]


LOOKS = {
    "nuclear-full": Look("Nuclear full", "#0072B2", "o", "-"),
    "nuclear-split": Look("Nuclear split", "#D55E00", "s", "--"),
    "nuclear-metric": Look("Nuclear metric", "#009E73", "^", "-."),
    "frobenius": Look("Frobenius metric", "#CC79A7", "D", ":"),
    "psd": Look("PSD only", "#8C6D00", "v", (0, (5, 1, 1, 1, 1, 1))),
    "nuclear-full-single": Look("Nuclear full, single", "#56B4E9", "P", (0, (3, 2))),
    "oracle": Look("Oracle", "#000000", "", (0, (1, 3))),
    "crowd": Look("Crowd metric", "#0072B2", "o", "-"),
    "identity": Look("Identity metric", "#D55E00", "s", "--"),
    "individual": Look("Individual metrics", "#009E73", "^", "-."),
}
"""By method; radii chosen by cross-validation look like the oracle's, hollow."""


def mean_and_error(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mean over trials, and the mean less and plus one standard error.

    Parameters
    ----------
    values : ndarray of shape (trials, sizes)
        From `Results.trials`.

    Returns
    -------
    tuple of ndarray
        Middle, low and high.

    Examples
    --------
    >>> mean_and_error(np.array([[1.0], [3.0]]))
    (array([2.]), array([1.]), array([3.]))
    """
    count = len(values)
    middle = values.mean(axis=0)
    error = values.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.zeros_like(middle)
    return middle, middle - error, middle + error


def percentiles(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mean over trials, and the percentiles 2.5 and 97.5.

    Parameters
    ----------
    values : ndarray of shape (trials, sizes)
        From `Results.trials`.

    Returns
    -------
    tuple of ndarray
        Middle, low and high.

    Examples
    --------
    >>> percentiles(np.array([[1.0], [1.0]]))
    (array([1.]), array([1.]), array([1.]))
    """
    low, high = np.percentile(values, [2.5, 97.5], axis=0)
    return values.mean(axis=0), low, high


def draw_curve(
    axes: Axes,
    results: Results,
    experiment: Experiment,
    method: str,
    measure: str,
    *,
    of_persons: bool = False,
    sizes: tuple[float, float] = (0, np.inf),
) -> None:
    """Draw a measure of a method against the number of training pairs.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    results : Results
        What was measured.
    experiment : Experiment
        Which one.
    method, measure : str
        As in the table; nothing is drawn where there are no rows.
    of_persons : bool
        Percentiles around the curve, as the paper has for colours, in place of a standard error.
    sizes : tuple of float
        The least and the largest size to draw.
    """
    at, values = results.trials(experiment, method, measure)
    within = (sizes[0] <= at) & (at <= sizes[1])
    if not within.any():
        return
    middle, low, high = (percentiles if of_persons else mean_and_error)(values[:, within])
    hollow = method not in LOOKS
    look = LOOKS[method.removesuffix(chosen(""))]
    if hollow:  # at a few sizes only: a band between them would say what was not measured
        axes.vlines(at[within], low, high, color=look.colour, linewidth=1.0)
    else:
        axes.fill_between(at[within], low, high, color=look.colour, alpha=0.15, linewidth=0)
    axes.plot(
        at[within],
        middle,
        label=f"{look.label}, radii chosen" if hollow else look.label,
        color=look.colour,
        linestyle="-" if hollow else look.dash,
        marker=look.marker,
        markevery=1 if hollow else max(1, int(within.sum()) // _MOST_MARKS),
        markersize=6.5 if hollow else 4,
        markerfacecolor="white" if hollow else look.colour,
        linewidth=0.6 if hollow else 1.4,
    )


def finish(axes: Axes, title: str, ylabel: str) -> None:
    """Label the axes, and list the methods outside them where there are many.

    Parameters
    ----------
    axes : Axes
        After its curves are drawn.
    title, ylabel : str
        What to write.
    """
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("training pairs per user")
    axes.set_ylabel(ylabel)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=7.5, frameon=False, handlelength=3.2)
