"""A picture of the eigenvalues of the metric."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from crowdmetric.plots.common import ITEM_COLOUR, Floats, of_user, one_metric, percent
from crowdmetric.plots.names import choose_fonts
from crowdmetric.points import RANK_TOLERANCE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from crowdmetric.model import Model

_MOST_SHARES = 12  # eigenvalues up to which each bar has its share written on it


def plot_spectrum(model: Model, user: Hashable | None = None) -> Figure:
    """Draw the eigenvalues of the metric, largest first, with their shares of the trace.

    Parameters
    ----------
    model : Model
        What a fit gives.
    user : hashable, optional
        Whose metric to draw, where each user has one of their own.

    Returns
    -------
    matplotlib.figure.Figure
        One bar for each eigenvalue: its size on the left axis, its share on the right.

    Raises
    ------
    SettingError
        If each user has a metric and none is named.
    UnknownUserError
        If the model has no such user.

    Examples
    --------
    >>> from crowdmetric.model import example
    >>> len(plot_spectrum(example()).axes[0].patches)
    2
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    metric, _ = one_metric(model, user)
    metric = metric[model.varying, model.varying]
    values = np.array(np.linalg.eigvalsh(metric)[::-1], dtype=np.float64)
    values[values <= RANK_TOLERANCE * values[0]] = 0.0
    trace = float(values.sum()) or 1.0
    count = len(values)
    figure = Figure(
        figsize=(float(np.clip(3.5 + 0.18 * count, 5.0, 9.0)), 3.8), layout="constrained"
    )
    axes = figure.subplots()
    bars = axes.bar(np.arange(1, count + 1), values, color=ITEM_COLOUR, width=0.8)
    if count <= _MOST_SHARES:
        axes.bar_label(bars, [percent(value / trace) for value in values], fontsize=8, padding=2)
    axes.set_ylim(0.0, 1.12 * (float(values[0]) or 1.0))
    axes.set_xlim(0.3, count + 0.7)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12, min_n_ticks=1))
    axes.set_xlabel("eigenvalues, largest first")
    axes.set_ylabel("eigenvalue of M")
    axes.spines["top"].set_visible(False)
    shares = axes.secondary_yaxis(
        "right", functions=(partial(np.multiply, 1.0 / trace), partial(np.multiply, trace))
    )
    shares.yaxis.set_major_formatter(PercentFormatter(1.0))
    shares.set_ylabel("share of the trace")
    axes.set_title(f"{_summary(values, trace)}{of_user(model, user)}", parse_math=False)
    choose_fonts(figure)
    return figure


def _summary(values: Floats, trace: float) -> str:
    """Say how many eigenvalues hold nearly all of the trace."""
    needed = int(np.searchsorted(np.cumsum(values) / trace, 0.95)) + 1
    if not values.any():
        return "The metric is zero"
    share = percent(float(values[:needed].sum()) / trace)
    hold = "holds" if needed == 1 else "hold"
    return f"{needed} of {len(values)} eigenvalues {hold} {share} of the trace"
