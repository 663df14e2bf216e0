"""Pictures of a fitted model: its metric, its spectrum, and a map of items and ideal points.

Every function returns a matplotlib ``Figure`` of its own and leaves pyplot's state alone, so it
works in a notebook, in a server and without a screen. Matplotlib is imported on first use.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from crowdmetric.errors import OutputError, SettingError, UnknownUserError, did_you_mean
from crowdmetric.map_layout import MapLayout, layout, place_labels
from crowdmetric.points import RANK_TOLERANCE, factor

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from crowdmetric.model import Model

__all__ = ["plot_map", "plot_metric", "plot_spectrum", "save"]

Floats = npt.NDArray[np.float64]

_ITEM_COLOUR = "#0072B2"  # from the palette of Okabe and Ito, told apart by colour-blind readers
_USER_COLOUR = "#D55E00"
_MOST_VALUES = 8  # features up to which a heat map has its numbers written in
_MOST_NAMES = 48  # features up to which each is named; beyond, every second, third, ...
_MOST_SHARES = 12  # eigenvalues up to which each bar has its share written on it
_MOST_ITEM_LABELS = 60
_MOST_USER_LABELS = 30
_LABEL_SIZE = 7.0  # points
_FORMATS = ("pdf", "png", "svg")


def plot_metric(model: Model, user: Hashable | None = None) -> Figure:
    """Draw the metric as a heat map, blue below zero and red above.

    Parameters
    ----------
    model : Model
        What a fit gives.
    user : hashable, optional
        Whose metric to draw, where each user has one of their own.

    Returns
    -------
    matplotlib.figure.Figure
        One heat map and its colour bar; the entries are written in for up to 8 features.

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

    metric, _ = _one_metric(model, user)
    dimension = len(metric)
    side = float(np.clip(3.2 + 0.16 * dimension, 4.4, 10.0))
    figure = Figure(figsize=(side + 0.8, side), layout="compressed")
    axes = figure.subplots()
    limit = float(np.abs(metric).max()) or 1.0
    image = axes.imshow(metric, cmap="RdBu_r", vmin=-limit, vmax=limit)
    figure.colorbar(image, ax=axes, label="entry of M")
    axes.set_title(
        f"Metric: {_count(dimension, 'feature')}, rank {factor(metric).shape[1]}{_of(user)}"
    )
    _name_features(axes, _feature_names(model, dimension), side)
    if dimension <= _MOST_VALUES:
        for (row, column), value in np.ndenumerate(metric):
            ink = "white" if abs(value) > 0.6 * limit else "black"
            axes.text(column, row, f"{value:.3g}", ha="center", va="center", color=ink, fontsize=8)
    return figure


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

    metric, _ = _one_metric(model, user)
    values = np.array(np.linalg.eigvalsh(metric)[::-1], dtype=np.float64)
    values[values <= RANK_TOLERANCE * values[0]] = 0.0
    trace = float(values.sum()) or 1.0
    count = len(values)
    figure = Figure(
        figsize=(float(np.clip(3.5 + 0.18 * count, 5.0, 9.0)), 3.8), layout="constrained"
    )
    axes = figure.subplots()
    bars = axes.bar(np.arange(1, count + 1), values, color=_ITEM_COLOUR, width=0.8)
    if count <= _MOST_SHARES:
        axes.bar_label(bars, [_percent(value / trace) for value in values], fontsize=8, padding=2)
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
    axes.set_title(f"{_summary(values, trace)}{_of(user)}")
    return figure


def plot_map(model: Model, user: Hashable | None = None) -> Figure:
    """Draw items and ideal points as the metric sees them, along its two leading directions.

    With M = L L', a distance under M is a distance between rows of X L. The map shows the first
    two columns of that product around the average item, to one scale. A metric that has only one
    direction to speak of is drawn as a strip, where equal points are stacked and height means
    nothing. Ideal points far outside the items are drawn hollow at the edge of the frame.

    Parameters
    ----------
    model : Model
        What a fit gives.
    user : hashable, optional
        Whose map to draw, where each user has a metric of their own.

    Returns
    -------
    matplotlib.figure.Figure
        One map, with items and users labelled, where they are few, as far as there is room.

    Raises
    ------
    SettingError
        If each user has a metric and none is named.
    UnknownUserError
        If the model has no such user.

    Examples
    --------
    >>> from crowdmetric.model import example
    >>> plot_map(example()).axes[0].get_xlabel()
    "direction 1 (66.7% of the metric's trace)"
    """
    from matplotlib.figure import Figure

    metric, rows = _one_metric(model, user)
    features = np.asarray(model.features.transform(model.items.features), dtype=np.float64)
    directions = np.pad(factor(metric), ((0, 0), (0, 2)))[:, :2]
    centre = features.mean(axis=0)
    ideal = np.asarray(model.ideal_points(), dtype=np.float64)[rows]
    found = layout((features - centre) @ directions, (ideal - centre) @ directions)
    shares = (directions**2).sum(axis=0) / (float(np.trace(metric)) or 1.0)
    width, height = found.high - found.low
    tall = 1.7 + (1.5 * height if found.strip else 5.8 * height / width)
    figure = Figure(figsize=(7.5, tall), layout="constrained")
    axes = figure.subplots()
    axes.set(xlim=(found.low[0], found.high[0]), ylim=(found.low[1], found.high[1]))
    axes.set_xlabel(f"direction 1 ({_percent(shares[0])} of the metric's trace)")
    if found.strip:
        axes.axhline(0.0, color="0.6", linewidth=0.8)
        axes.set_yticks([])
        title = "Items and ideal points along the leading direction of the metric"
    else:
        axes.set_aspect("equal")
        axes.set_ylabel(f"direction 2 ({_percent(shares[1])})")
        title = "Items and ideal points as the metric sees them"
    axes.set_title(title + _of(user))
    _draw_points(axes, found)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    _label_points(axes, found, model.items.ids, [model.users[row] for row in rows])
    return figure


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure to a file, whole or not at all.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    path : str or Path
        Ends in .png, .svg or .pdf; a file of this name is replaced.

    Raises
    ------
    OutputError
        If the ending is none of these, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Figure(), Path(folder) / "empty.svg")
    ...     [path.name for path in Path(folder).iterdir()]
    ['empty.svg']
    """
    target = Path(path)
    ending = target.suffix.removeprefix(".").lower()
    if ending not in _FORMATS:
        raise OutputError(f"{target}: pictures are written as .png, .svg or .pdf; choose one")
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        figure.savefig(unfinished, format=ending, dpi=150)
        os.replace(unfinished, target)
    except OSError as error:
        raise OutputError(
            f"{target}: the picture cannot be written ({error.strerror}); choose another folder"
        ) from error
    finally:
        unfinished.unlink(missing_ok=True)


def _one_metric(model: Model, user: Hashable | None) -> tuple[Floats, list[int]]:
    """Return the metric to draw and the users it belongs to."""
    metric = np.asarray(model.metric, dtype=np.float64)
    everyone = list(range(len(model.users)))
    if user is None and metric.ndim == 2:
        return metric, everyone
    if user is None:
        raise SettingError(
            "each user of this model has a metric of their own; name one of them, "
            f"for example user={model.users[0]!r}"
        )
    if user not in model.users:
        raise UnknownUserError(
            f"there is no user {user!r} among the {len(everyone)} users of the model"
            + did_you_mean(user, model.users)
        )
    row = model.users.index(user)
    return (metric if metric.ndim == 2 else metric[row]), [row]


def _feature_names(model: Model, dimension: int) -> list[str]:
    """Return the names of the metric's features; numbered where they are not the items' own."""
    names = model.items.names
    if len(names) != dimension:
        return [f"z{j}" for j in range(dimension)]
    return [_short(name) for name in names]


def _name_features(axes: Axes, names: Sequence[str], width: float) -> None:
    """Write the names along both axes, as many as can be read; upright if the width asks for it."""
    step = -(-len(names) // _MOST_NAMES)
    ticks = np.arange(0, len(names), step)
    size = 9 if len(names) <= 12 else 7
    upright = len(names) * (max(map(len, names)) + 2) * 0.6 * size / 72 > 0.7 * width
    axes.set_xticks(ticks, names[::step], fontsize=size, rotation=90 if upright else 0)
    axes.set_yticks(ticks, names[::step], fontsize=size)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)


def _summary(values: Floats, trace: float) -> str:
    """Say how many eigenvalues hold nearly all of the trace."""
    needed = int(np.searchsorted(np.cumsum(values) / trace, 0.95)) + 1
    if not values.any():
        return "The metric is zero"
    share = _percent(float(values[:needed].sum()) / trace)
    hold = "holds" if needed == 1 else "hold"
    return f"{needed} of {len(values)} eigenvalues {hold} {share} of the trace"


def _percent(share: float) -> str:
    """Write a share so that little is not mistaken for nothing, nor most for all."""
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1 - 1e-9:
        return ">99.9%"
    return f"{100 * share:.3g}%"


def _of(user: Hashable | None) -> str:
    """End a title with the user it is about."""
    return "" if user is None else f" (user {_short(user)})"


def _short(name: Hashable) -> str:
    """Write a name in no more than 16 characters."""
    text = str(name)
    return text if len(text) <= 16 else f"{text[:15]}…"


def _count(number: int, what: str) -> str:
    """Write a number of things."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _draw_points(axes: Axes, found: MapLayout) -> None:
    """Draw the items, the ideal points, and those that were moved in to the frame."""
    x, y = found.items.T
    axes.scatter(
        x,
        y,
        s=30 if len(x) <= 100 else 12,
        color=_ITEM_COLOUR,
        alpha=0.75,
        linewidths=0,
        label=_count(len(x), "item"),
    )
    for chosen, hollow in ((~found.beyond, False), (found.beyond, True)):
        if chosen.any():
            x, y = found.ideal[chosen].T
            axes.scatter(
                x,
                y,
                s=34,
                marker="D",
                facecolors="none" if hollow else _USER_COLOUR,
                edgecolors=_USER_COLOUR if hollow else "white",
                linewidths=1.2 if hollow else 0.5,
                clip_on=False,
                zorder=3,
                label=_count(len(x), "ideal point") + (" beyond the frame" if hollow else ""),
            )


def _label_points(
    axes: Axes, found: MapLayout, items: Sequence[Hashable], users: Sequence[Hashable]
) -> None:
    """Write ids beside their points, first the users', wherever they cover nothing."""
    named_users = users if len(users) <= _MOST_USER_LABELS else ()
    named_items = items if len(items) <= _MOST_ITEM_LABELS else ()
    texts = [_short(name) for name in (*named_users, *named_items)]
    points = np.vstack([found.ideal[: len(named_users)], found.items[: len(named_items)]])
    figure = axes.get_figure(root=True)
    if figure is None or not texts:
        return
    figure.draw_without_rendering()  # only the layout knows how long an inch of data is
    to_points = 72.0 / figure.dpi
    markers = axes.transData.transform(np.vstack([found.items, found.ideal])) * to_points
    frame = np.array(axes.get_window_extent().extents) * to_points
    places = place_labels(
        axes.transData.transform(points) * to_points,
        _LABEL_SIZE * np.array([(0.62 * len(text), 1.1) for text in texts]),
        np.hstack([markers - 2.5, markers + 2.5]),
        frame[:2],
        frame[2:],
    )
    for number, (text, place) in enumerate(zip(texts, places, strict=True)):
        if place is not None:
            axes.annotate(
                text,
                (float(points[number, 0]), float(points[number, 1])),
                xytext=place,
                textcoords="offset points",
                fontsize=_LABEL_SIZE,
                color=_USER_COLOUR if number < len(named_users) else "black",
                verticalalignment="bottom",
                parse_math=False,
                zorder=4,
            )
