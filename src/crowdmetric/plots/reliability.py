"""A picture of how far predicted probabilities can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crowdmetric.metrics import Reliability, reliability
from crowdmetric.plots.common import ITEM_COLOUR, Floats
from crowdmetric.plots.names import choose_fonts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from crowdmetric.comparisons import Comparisons, Items
    from crowdmetric.model import Model

_Z = 1.645  # of a normal interval that holds 90 %


def plot_reliability(
    model: Model, comparisons: Comparisons, items: Items | None = None, bins: int = 10
) -> Figure:
    """Draw how often left was the answer, by how probable the model said it was.

    Parameters
    ----------
    model : Model
        What a fit gives, with a loss that gives probabilities.
    comparisons : Comparisons
        Answers that the model has not seen.
    items : Items, optional
        The items compared, when they are not the model's own.
    bins : int
        Into how many the probabilities are sorted.

    Returns
    -------
    matplotlib.figure.Figure
        A point for each bin, with a 90 % interval (Wilson's), beside the line on which
        probabilities are what they say; below, how many answers there are in each bin.

    Raises
    ------
    SettingError
        If the loss gives no probabilities.

    Examples
    --------
    >>> from crowdmetric.comparisons import Comparisons
    >>> from crowdmetric.model import example
    >>> asked = Comparisons.from_arrays(
    ...     [[0, 0, 1], [0, 1, 0]], [-1, -1], users=["bob"], item_ids=["red", "green"]
    ... )
    >>> len(plot_reliability(example(), asked).axes)
    2
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    left = model.predict_proba(comparisons, items)[:, 0]
    table = reliability(left, comparisons.response, comparisons.weight, bins)
    figure = Figure(figsize=(4.6, 5.2), layout="constrained")
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1])
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle="--", zorder=1)
    axes.vlines(table.predicted, *_interval(table), color=ITEM_COLOUR, linewidth=1.5)
    axes.plot(table.predicted, table.observed, "o-", color=ITEM_COLOUR, markersize=5)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_ylabel("how often the answer was left")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_title(f"Expected calibration error {table.error:.3f}")
    below.bar(table.predicted, table.weight, width=0.8 / bins, color=ITEM_COLOUR)
    below.set_ylabel("answers")
    below.set_xlabel("predicted probability of left")
    below.xaxis.set_major_formatter(PercentFormatter(1.0))
    for part in (axes, below):
        part.spines[["top", "right"]].set_visible(False)
    choose_fonts(figure)
    return figure


def _interval(table: Reliability) -> tuple[Floats, Floats]:
    """Return Wilson's intervals, which do not collapse where all answers of a bin are alike."""
    share, count = table.observed, table.weight
    spread = _Z * np.sqrt(share * (1 - share) / count + (_Z / (2 * count)) ** 2)
    middle, shrink = share + _Z**2 / (2 * count), 1 + _Z**2 / count
    return (middle - spread) / shrink, (middle + spread) / shrink
