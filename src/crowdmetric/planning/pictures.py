"""A plan as pictures: the learning curve with its answer, and those of more and fewer people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crowdmetric import plots
from crowdmetric.planning.curve import Curve
from crowdmetric.planning.plan import Plan
from crowdmetric.plots.common import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_pictures"]

_LABELS = {
    "accuracy_share": "accuracy, of the best possible",
    "accuracy": "share of new answers predicted",
    "metric_error": "relative metric error",
    "ideal_point_error": "relative ideal point error",
}
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8C6D00", "#56B4E9")
_MARKERS = ("o", "s", "^", "D", "v", "P")  # told apart without colours, too
_DASHES = ("-", "--", "-.", ":")
_QUIET = "#555555"
_ERRORS_ABOVE = 2.0  # what is worse than nothing is cut off


def draw_pictures(plan: Plan, folder: Path) -> list[Path]:
    """Draw the learning curve and the trade, each as PNG, PDF and SVG.

    Parameters
    ----------
    plan : Plan
        What came out.
    folder : Path
        A folder that exists.

    Returns
    -------
    list of Path
        The files.

    Examples
    --------
    >>> import tempfile
    >>> from crowdmetric.planning.plan import example
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(draw_pictures(example(), Path(folder)))
    6
    """
    from matplotlib.figure import Figure

    written = []
    for name, draw in (("curve", _draw_curve), ("trade", _draw_trade)):
        canvas = Figure(figsize=(5.4, 3.9), layout="constrained")
        axes = canvas.subplots()
        draw(axes, plan)
        _finish(axes, plan)
        for ending in ("png", "pdf", "svg"):
            written.append(folder / f"{name}.{ending}")
            plots.save(canvas, written[-1])
    return written


def _draw_curve(axes: Axes, plan: Plan) -> None:
    """Draw the curve of the study, where it reaches the target, and how sure that is."""
    study, answer, curve = plan.study, plan.answer, plan.curve(plan.study.users)
    low, high = np.percentile(curve.values, [10, 90], axis=0)
    axes.fill_between(
        curve.sizes, low, high, color=_COLOURS[0], alpha=0.15, linewidth=0, label="8 of 10 studies"
    )
    _draw_line(axes, curve, 0, "mean of the studies")
    if answer.pairs is not None:
        far = float(curve.sizes[-1]) if answer.high is None else answer.high
        axes.axvspan(answer.low or far, far, color=_COLOURS[1], alpha=0.25, linewidth=0)
        label = f"needed: {answer.pairs} per person (band: 95% interval)"
        axes.axvline(answer.pairs, color=_COLOURS[1], linewidth=1.2, label=label)
    axes.set_xscale("log")
    axes.set_xticks(curve.sizes, [str(size) for size in curve.sizes])
    axes.minorticks_off()
    axes.set_xlabel("comparisons per person")
    title = f"{study.users} people, {study.n_items} items, {study.dimension} features"
    axes.set_title(title, fontsize=10)


def _draw_trade(axes: Axes, plan: Plan) -> None:
    """Draw a curve for each number of people, over what all answers cost."""
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    for look, users in enumerate(plan.needed):
        _draw_line(axes, plan.curve(users), look, f"{users} people", users)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlabel("answers in all")
    axes.set_title("More people, or more questions each?", fontsize=10)


def _draw_line(axes: Axes, curve: Curve, look: int, label: str, users: int = 1) -> None:
    """Draw the means, over the comparisons of so many people together."""
    colour = _COLOURS[look % len(_COLOURS)]
    at = users * curve.sizes
    if users > 1:
        low, high = curve.mean - curve.error, curve.mean + curve.error
        axes.fill_between(at, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(
        at,
        curve.mean,
        label=label,
        color=colour,
        marker=_MARKERS[look % len(_MARKERS)],
        linestyle=_DASHES[look % len(_DASHES)],
        markersize=4,
        linewidth=1.4,
    )


def _finish(axes: Axes, plan: Plan) -> None:
    """Draw the target and the best possible, and label the rest."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    target, best = plan.target, plan.outlook.best
    for level, name, colour, dash in (
        (target.value, "target", _QUIET, (0, (4, 2))),
        (best, "best possible", "#000000", (0, (1, 3))),
    ):
        label = f"{name}: {percent(level)}"
        axes.axhline(level, color=colour, linewidth=1, linestyle=dash, label=label)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda level, _: f"{100 * level:.4g}%"))
    if not target.rises:
        axes.set_ylim(0, min(axes.get_ylim()[1], _ERRORS_ABOVE))
    axes.set_ylabel(_LABELS[target.measure])
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=7.5, frameon=False, handlelength=3.2)
