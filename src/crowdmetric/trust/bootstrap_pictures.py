"""Pictures of intervals: the metric as a heat map, and what each feature is worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crowdmetric import plots
from crowdmetric.plots.names import choose_fonts, written
from crowdmetric.trust.bootstrap_uncertainty import Uncertainty
from crowdmetric.worth import names_of_features

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_pictures", "plot_features", "plot_metric"]

_MOST_VALUES = 8  # features up to which a heat map has room for numbers and their intervals
_MOST_NAMES = 40
_MOST_LETTERS = 24
_BLUE, _ORANGE, _QUIET = "#0072B2", "#D55E00", "#555555"
_LINE = 0.28  # inches for a feature


def draw_pictures(found: Uncertainty, folder: Path) -> list[Path]:
    """Draw metric-intervals.png and worth-intervals.png.

    Parameters
    ----------
    found : Uncertainty
        The intervals.
    folder : Path
        A folder that exists; files of the same names in it are replaced.

    Returns
    -------
    list of Path
        The files.

    Examples
    --------
    >>> import tempfile
    >>> from crowdmetric.trust.bootstrap_example import example
    >>> with tempfile.TemporaryDirectory() as place:
    ...     [path.name for path in draw_pictures(example(), Path(place))]
    ['metric-intervals.png', 'worth-intervals.png']
    """
    paths = []
    for name, figure in (
        ("metric-intervals.png", plot_metric(found)),
        ("worth-intervals.png", plot_features(found)),
    ):
        paths.append(folder / name)
        plots.save(figure, paths[-1])
    return paths


def plot_metric(found: Uncertainty) -> Figure:
    """Draw the metric as a heat map; entries whose interval holds zero are hatched.

    Parameters
    ----------
    found : Uncertainty
        The intervals.

    Returns
    -------
    matplotlib.figure.Figure
        With estimates and intervals written in, for up to 8 features.

    Examples
    --------
    >>> from crowdmetric.trust.bootstrap_example import example
    >>> plot_metric(example()).axes[0].get_title()
    'Metric, with 90% intervals'
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch, Rectangle

    metric = found.metric
    d = len(metric.fit)
    side = float(np.clip((1.25 if d <= _MOST_VALUES else 0.35) * d, 3.5, 10.0))
    figure = Figure(figsize=(side + 2.2, side + 1.4), layout="compressed")
    axes = figure.subplots()
    limit = float(np.abs(metric.estimate).max()) or 1.0
    image = axes.imshow(metric.estimate, cmap="RdBu_r", vmin=-limit, vmax=limit)
    figure.colorbar(image, ax=axes, label="entry of M (without the radius's bias)")
    open_ = (metric.low <= 0) & (metric.high >= 0)
    for i, j in zip(*np.nonzero(open_), strict=True):
        axes.add_patch(
            Rectangle(
                (j - 0.5, i - 0.5), 1, 1, fill=False, hatch="///", edgecolor="#888888", linewidth=0
            )
        )
    if d <= _MOST_VALUES:
        _write_intervals(axes, found, limit)
    _name(axes, found)
    axes.set_title(f"Metric, with {found.level:.0%} intervals")
    if open_.any():
        axes.legend(
            handles=[Patch(fill=False, hatch="///", edgecolor="#888888", label="could be zero")],
            loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False, fontsize=8,
        )  # fmt: skip
    choose_fonts(figure)
    return figure


def plot_features(found: Uncertainty) -> Figure:
    """Draw what each feature is worth, with its interval.

    Parameters
    ----------
    found : Uncertainty
        The intervals.

    Returns
    -------
    matplotlib.figure.Figure
        A line for each feature, the one worth most on top; at most the first 40.

    Examples
    --------
    >>> from crowdmetric.trust.bootstrap_example import example
    >>> plot_features(example()).axes[0].get_xlabel()
    'part in how far apart items are'
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    worth = found.features
    order = np.argsort(-worth.estimate, kind="stable")[:_MOST_NAMES]
    shown = worth[order]
    figure = Figure(figsize=(6.4, 1.6 + _LINE * len(order)), layout="constrained")
    axes = figure.subplots()
    at = np.arange(len(order))
    axes.hlines(at, shown.low, shown.high, color=_BLUE, linewidth=2.5, label=_interval_of(found))
    axes.plot(shown.estimate, at, "o", color=_BLUE, label="estimate")
    axes.plot(shown.fit, at, "x", color=_ORANGE, label="fit (within its radius)")
    names = written(names_of_features(found.model.items.names, len(worth.fit)), _MOST_LETTERS)
    axes.set_yticks(at, [names[j] for j in order])
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    axes.invert_yaxis()
    axes.set_xlim(left=0.0)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel("part in how far apart items are")
    axes.set_title("What each feature is worth")
    axes.legend(fontsize=8, frameon=False)
    choose_fonts(figure)
    return figure


def _interval_of(found: Uncertainty) -> str:
    """Return what an interval is called."""
    return f"{found.level:.0%} interval"


def _write_intervals(axes: Axes, found: Uncertainty, limit: float) -> None:
    """Write each entry with its interval below."""
    metric = found.metric
    decimals = max(0, 1 - int(np.floor(np.log10(limit))))
    for (i, j), value in np.ndenumerate(metric.estimate):
        ink = "white" if abs(value) > 0.6 * limit else "black"
        low, high = (f"{end[i, j]:.{decimals}f}" for end in (metric.low, metric.high))
        box = {"facecolor": "white", "alpha": 0.6, "edgecolor": "none", "pad": 1.0}
        axes.text(
            j, i, f"{value:.{decimals}f}\n[{low}, {high}]", ha="center", va="center",
            color=ink, fontsize=8, bbox=box if ink == "black" else None,
        )  # fmt: skip


def _name(axes: Axes, found: Uncertainty) -> None:
    """Write the names of the features along both axes, as many as can be read."""
    d = found.model.dimension
    names = written(names_of_features(found.model.items.names, d), _MOST_LETTERS)
    step = -(-d // _MOST_NAMES)
    ticks = np.arange(0, d, step)
    turned = 90 if max(map(len, names)) > 8 else 0
    axes.set_xticks(ticks, names[::step], fontsize=8, rotation=turned)
    axes.set_yticks(ticks, names[::step], fontsize=8)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)
