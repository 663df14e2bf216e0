"""A map of items and ideal points."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from crowdmetric.map_layout import MapLayout, layout, place_labels
from crowdmetric.plots.common import (
    ITEM_COLOUR,
    MOST_LETTERS,
    USER_COLOUR,
    Floats,
    count,
    of_user,
    one_metric,
    percent,
)
from crowdmetric.plots.names import choose_fonts, written
from crowdmetric.points import factor

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Annotation

    from crowdmetric.model import Model

_MOST_ITEMS = 60  # up to which there are labels
_MOST_USERS = 30
_LABEL_SIZE = 7.0  # points
_MARKER = 4.0  # from its middle to its edge


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
        One map, with up to 60 items and 30 users labelled as far as there is room; the legend
        says how many are not.

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
    metric, rows = one_metric(model, user)
    found, shares = located(model, metric, rows)
    figure, axes = _framed(found, shares, of_user(model, user))
    _draw_points(axes, found)
    legend = figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    items = written(model.items.ids, MOST_LETTERS) if len(model.items) <= _MOST_ITEMS else []
    users = written(model.users, MOST_LETTERS) if len(rows) <= _MOST_USERS else []
    users = [users[row] for row in rows if users]
    labels = _labels(axes, found, users, items)
    choose_fonts(figure)
    named = _place(labels, found, axes)
    _tell_unnamed(legend, found, named[: len(users)], named[len(users) :])
    return figure


def located(model: Model, metric: Floats, rows: list[int]) -> tuple[MapLayout, Floats]:
    """Return where the items and some users' ideal points are on the map of a metric.

    Parameters
    ----------
    model : Model
        What a fit gives.
    metric : ndarray of shape (d, d)
        Whose leading directions span the map.
    rows : list of int
        The users.

    Returns
    -------
    found : MapLayout
        The positions, around the average item.
    shares : ndarray of shape (2,)
        What each direction has of the metric's trace.

    Examples
    --------
    >>> from crowdmetric.model import example
    >>> found, shares = located(example(), example().metric, [0])
    >>> found.ideal.shape, shares.round(3)
    ((1, 2), array([0.667, 0.333]))
    """
    features = np.asarray(model.features.transform(model.items.features), dtype=np.float64)
    directions = np.pad(factor(metric), ((0, 0), (0, 2)))[:, :2]
    centre = features.mean(axis=0)
    ideal = np.asarray(model.ideal_points(), dtype=np.float64)[rows]
    found = layout((features - centre) @ directions, (ideal - centre) @ directions)
    return found, (directions**2).sum(axis=0) / (float(np.trace(metric)) or 1.0)


def _framed(found: MapLayout, shares: Floats, whose: str) -> tuple[Figure, Axes]:
    """Return a map without its points: frame, labels, title."""
    from matplotlib.figure import Figure

    width, height = found.high - found.low
    tall = 1.7 + (1.5 * height if found.strip else 5.8 * height / width)
    figure = Figure(figsize=(7.5, tall), layout="constrained")
    axes = figure.subplots()
    axes.set(xlim=(found.low[0], found.high[0]), ylim=(found.low[1], found.high[1]))
    axes.set_xlabel(f"direction 1 ({percent(shares[0])} of the metric's trace)")
    if found.strip:
        axes.axhline(0.0, color="0.6", linewidth=0.8)
        axes.set_yticks([])
        title = "Items and ideal points along the leading direction of the metric"
    else:
        axes.set_aspect("equal")
        axes.set_ylabel(f"direction 2 ({percent(shares[1])})")
        title = "Items and ideal points as the metric sees them"
    axes.set_title(title + whose, parse_math=False)
    return figure, axes


def _draw_points(axes: Axes, found: MapLayout) -> None:
    """Draw the items, the ideal points, and those that were moved in to the frame."""
    x, y = found.items.T
    axes.scatter(
        x,
        y,
        s=30 if len(x) <= 100 else 12,
        color=ITEM_COLOUR,
        alpha=0.75,
        linewidths=0,
        label=count(len(x), "item"),
    )
    for chosen, hollow in ((~found.beyond, False), (found.beyond, True)):
        if chosen.any():
            x, y = found.ideal[chosen].T
            axes.scatter(
                x,
                y,
                s=34,
                marker="D",
                facecolors="none" if hollow else USER_COLOUR,
                edgecolors=USER_COLOUR if hollow else "white",
                linewidths=1.2 if hollow else 0.5,
                clip_on=False,
                zorder=3,
                label=count(len(x), "ideal point") + (" beyond the frame" if hollow else ""),
            )


def _labels(
    axes: Axes, found: MapLayout, users: Sequence[str], items: Sequence[str]
) -> list[Annotation]:
    """Return labels of points, first the users', on top of their points for now."""
    points = np.vstack([found.ideal[: len(users)], found.items[: len(items)]])
    labels = [
        axes.annotate(
            text,
            (float(x), float(y)),
            xytext=(0.0, 0.0),
            textcoords="offset points",
            fontsize=_LABEL_SIZE,
            verticalalignment="bottom",
            parse_math=False,
            zorder=4,
        )
        for text, (x, y) in zip((*users, *items), points, strict=True)
    ]
    for number, label in enumerate(labels):
        label.set_in_layout(False)  # so that the frame stays where it was when places were found
        if number < len(users):
            label.set(color=USER_COLOUR, fontweight="bold")
    return labels


def _place(labels: Sequence[Annotation], found: MapLayout, axes: Axes) -> npt.NDArray[np.bool_]:
    """Move each label to where it covers nothing, or remove it; return which ones are left."""
    figure = axes.get_figure(root=True)
    if figure is None or not labels:
        return np.zeros(0, dtype=np.bool_)
    figure.draw_without_rendering()  # only the layout knows how long an inch of data is
    to_points = 72.0 / figure.dpi
    markers = axes.transData.transform(np.vstack([found.items, found.ideal])) * to_points
    frame = np.array(axes.get_window_extent().extents) * to_points
    boxes = np.array([label.get_window_extent().extents for label in labels]) * to_points
    places = place_labels(
        axes.transData.transform([label.xy for label in labels]) * to_points,
        boxes[:, 2:] - boxes[:, :2],
        np.hstack([markers - _MARKER, markers + _MARKER]),
        frame[:2],
        frame[2:],
    )
    for label, place in zip(labels, places, strict=True):
        if place is None:
            label.remove()
        else:
            label.set_position(place)
    return np.array([place is not None for place in places])


def _tell_unnamed(
    legend: Legend, found: MapLayout, users: npt.NDArray[np.bool_], items: npt.NDArray[np.bool_]
) -> None:
    """Say in the legend how many points of each kind have no label."""
    with_label = np.zeros(len(found.ideal), dtype=np.bool_)
    with_label[: len(users)] = users
    counts = [(len(found.items), int(items.sum()))]
    for chosen in (~found.beyond, found.beyond):
        counts.append((int(chosen.sum()), int(with_label[chosen].sum())))
    shown = [(points, labels) for points, labels in counts if points]
    for text, (points, labels) in zip(legend.get_texts(), shown, strict=True):
        if labels < points:
            missing = f"{points - labels} " if labels else ""
            text.set_text(f"{text.get_text()} ({missing}unlabelled)")
