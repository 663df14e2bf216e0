"""A picture of the entries of the metric."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from crowdmetric.plots.common import Floats, count, of_user, one_metric
from crowdmetric.plots.names import choose_fonts, written
from crowdmetric.points import factor
from crowdmetric.worth import names_of_features

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from crowdmetric.model import Model

_MOST_VALUES = 12  # features up to which a heat map has its numbers written in
_MOST_NAMES = 48  # features up to which each is named; beyond, every second, third, ...
_MOST_LETTERS = 24  # of the name of a feature
_LETTER = 0.075  # inches that a letter is wide
_CELL = 0.55  # inches that an entry is wide, while there is room
_FEW = 6  # features up to which entries have three digits instead of two
_LEGIBLE = 5.0  # points that a number must be high


def plot_metric(model: Model, user: Hashable | None = None) -> Figure:
    """Draw the metric as a heat map, blue below zero and red above.

    Where there is no room for numbers, a dash marks what is clearly below zero, so that the
    picture can be read without its colours.

    Parameters
    ----------
    model : Model
        What a fit gives.
    user : hashable, optional
        Whose metric to draw, where each user has one of their own.

    Returns
    -------
    matplotlib.figure.Figure
        One heat map and its colour bar; the entries are written in for up to 12 features.

    Raises
    ------
    SettingError
        If each user has a metric and none is named.
    UnknownUserError
        If the model has no such user.

    Examples
    --------
    >>> from crowdmetric.model import example
    >>> plot_metric(example()).axes[0].get_title()
    'Metric: 2 features, rank 2'
    """
    from matplotlib.figure import Figure

    metric, _ = one_metric(model, user)
    metric = metric[model.varying, model.varying]
    dimension = len(metric)
    names = written(names_of_features(model.items.names, dimension), _MOST_LETTERS)
    side = float(np.clip(_CELL * dimension, 3.0, 9.0))
    margin = min(max(map(len, names)), _MOST_LETTERS) * _LETTER
    figure = Figure(figsize=(side + margin + 1.2, side + margin + 0.6), layout="compressed")
    axes = figure.subplots()
    limit = float(np.abs(metric).max()) or 1.0
    image = axes.imshow(metric, cmap="RdBu_r", vmin=-limit, vmax=limit)
    dashes = _MOST_VALUES < dimension <= _MOST_NAMES
    meaning = "entry of M (dash: below zero)" if dashes else "entry of M"
    figure.colorbar(image, ax=axes, label=meaning)
    axes.set_title(
        f"Metric: {count(dimension, 'feature')}, rank {factor(metric).shape[1]}"
        f"{of_user(model, user)}",
        parse_math=False,
    )
    _name_features(axes, names, side)
    choose_fonts(figure)
    if dimension <= _MOST_VALUES:
        _write_values(figure, axes, metric, limit)
    elif dashes:
        _mark_signs(axes, metric, limit)
    return figure


def _name_features(axes: Axes, names: Sequence[str], width: float) -> None:
    """Write the names along both axes, as many as can be read; upright if the width asks for it."""
    step = -(-len(names) // _MOST_NAMES)
    ticks = np.arange(0, len(names), step)
    size = 9 if len(names) <= 12 else 7
    upright = len(names) * (max(map(len, names)) + 2) * 0.6 * size / 72 > width
    axes.set_xticks(ticks, names[::step], fontsize=size, rotation=90 if upright else 0)
    axes.set_yticks(ticks, names[::step], fontsize=size)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)


def _write_values(figure: Figure, axes: Axes, metric: Floats, limit: float) -> None:
    """Write the entries in, as large as the cells allow; nothing if they would be too small."""
    decimals = (2 if len(metric) <= _FEW else 1) - int(np.floor(np.log10(limit)))
    texts = []
    for (row, column), value in np.ndenumerate(metric):
        ink = "white" if abs(value) > 0.6 * limit else "black"
        short = f"{round(float(value), decimals) + 0.0:.3g}"
        texts.append(axes.text(column, row, short, ha="center", va="center", color=ink, fontsize=9))
    figure.draw_without_rendering()  # only the layout knows how large a cell is
    cell = axes.get_window_extent().width / len(metric)
    widest = max(text.get_window_extent().width for text in texts)
    size = min(9.0, 9.0 * 0.85 * cell / widest)
    for text in texts:
        if size < _LEGIBLE:
            text.remove()
        else:
            text.set_fontsize(size)


def _mark_signs(axes: Axes, metric: Floats, limit: float) -> None:
    """Draw a dash into each entry that is clearly below zero."""
    rows, columns = np.nonzero(metric < -0.05 * limit)
    ink = np.where(metric[rows, columns] < -0.6 * limit, "white", "black")
    axes.scatter(columns, rows, s=1500 / len(metric), marker="_", c=ink.tolist(), linewidths=0.8)
