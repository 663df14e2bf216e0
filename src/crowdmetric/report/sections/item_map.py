"""The map of items and people, as the metric sees them, with names on hover."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from crowdmetric.map_layout import MapLayout, place_labels
from crowdmetric.plots.common import percent
from crowdmetric.plots.item_map import located
from crowdmetric.plots.names import shortened
from crowdmetric.report.markup import Html, details, element, join, paragraph, scrolling
from crowdmetric.report.section import Written
from crowdmetric.report.sections.asked import plural, times_shown
from crowdmetric.report.study import Study
from crowdmetric.report.tables import Column, table

__all__ = ["item_map"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]

_TITLE = "Map of items and people"
_WIDTH = 1000.0  # units of the picture
_STRIP = 300.0  # height of one, in these units
_MOST_POINTS = 2500  # of either kind; those with the most answers stay
_MOST_ITEMS, _MOST_PEOPLE = 60, 30  # up to which they have labels
_LETTERS = 16  # of a label
_FONT = 13.0
_LETTER = 0.56 * _FONT  # how wide a letter is, about
_MARKER = 7.0
_CLEAR = 9.0  # from the middle of a mark to where its label begins
_BESIDE = 4.0  # the same, in `place_labels`
_OUTSIDE = 0.05  # share of a point outside range(M) below which the map hardly misleads


def item_map(study: Study) -> Written:
    """Return the section with the map.

    Parameters
    ----------
    study : Study
        What the report is about.

    Returns
    -------
    Written
        A picture, and a table that says the same.

    Examples
    --------
    >>> from crowdmetric.report.examples import study
    >>> "<title>ann, ideal point</title>" in item_map(study()).html
    True
    """
    metric = np.asarray(study.model.metric, dtype=np.float64)
    if metric.ndim == 3:
        return Written(
            _TITLE,
            paragraph(
                "Each person of this model has a metric of their own, so there is no map of all; "
                "crowdmetric show MODEL --user NAME --out DIR draws the one of a person."
            ),
        )
    model, answers = study.model, study.comparisons
    found, shares = located(model, metric, list(range(len(model.users))))
    items = _busiest(times_shown(answers)[0])
    users = _busiest(np.bincount(answers.user, minlength=len(model.users)))
    axes = f"From left to right: direction 1 ({percent(float(shares[0]))} of the metric's trace). "
    axes += (
        "Heights only keep the points apart: the metric has one direction to speak of."
        if found.strip
        else f"From bottom to top: direction 2 ({percent(float(shares[1]))})."
    )
    figure = element(
        "figure",
        scrolling(_picture(study, found, items, users, axes), _TITLE, "map"),
        element("figcaption", _legend(study, found), " ", axes, _left_out(study, items, users)),
    )
    said = (
        "The nearer an item is to a person's ideal point, the better they like it, as far as these "
        "directions show. "
    )
    if float(np.max(model.outside_range())) > _OUTSIDE:
        said += (
            "That does not hold for people whose taste follows directions that the metric does not "
            "measure: see the column outside in the table of people. "
        )
    intro = paragraph(said, "Point at a mark, or touch it, for its name.")
    return Written(_TITLE, join([intro, figure, _table(study, found, items, users)]))


def _busiest(counts: npt.ArrayLike) -> Rows:
    """Return those with the most answers, as many as a picture can hold, in their own order."""
    order: Rows = np.argsort(-np.asarray(counts), kind="stable")[:_MOST_POINTS]
    return np.sort(order)


def _picture(study: Study, found: MapLayout, items: Rows, users: Rows, axes: str) -> Html:
    """Return the map itself."""
    extent = found.high - found.low
    height = _STRIP if found.strip else _WIDTH * float(extent[1] / extent[0])
    scale = np.array([_WIDTH, -height]) / extent

    def placed(points: Floats) -> Floats:
        inside: Floats = (points - np.array([found.low[0], found.high[1]])) * scale
        return inside

    at, ideal = placed(found.items[items]), placed(found.ideal[users])
    ids, who = study.model.items.ids, study.model.users
    colours = study.looks.colours
    marks = [
        element(
            "circle",
            element("title", ids[code]),
            cx=f"{x:.1f}",
            cy=f"{y:.1f}",
            r=_MARKER if code in colours or len(items) <= 100 else _MARKER / 2,
            class_="swatch" if code in colours else "item",
            fill=colours.get(int(code)),
        )
        for code, (x, y) in zip(items.tolist(), at.tolist(), strict=True)
    ]
    marks += [
        element(
            "path",
            element("title", f"{who[code]}, ideal point{' beyond the frame' * outside}"),
            d=f"M{x:.1f} {y - _MARKER:.1f}l7 7-7 7-7-7z",
            class_="person beyond" if outside else "person",
        )
        for code, outside, (x, y) in zip(
            users.tolist(), found.beyond[users].tolist(), ideal.tolist(), strict=True
        )
    ]
    labels = _labels(study, at, ideal, height)
    label = f"Map of {plural(len(items), 'item')} and the ideal points of "
    label += f"{plural(len(users), 'person')}. {axes} The table below has their places."
    return element(
        "svg",
        *marks,
        *labels,
        class_="pointed",
        viewBox=f"0 0 {_WIDTH:.0f} {height:.0f}",
        role="img",
        aria_label=label,
    )


def _labels(study: Study, at: Floats, ideal: Floats, height: float) -> list[Html]:
    """Return names beside marks, where there are not too many and there is room."""
    people = list(study.model.users) if len(ideal) <= _MOST_PEOPLE else []
    items = list(study.model.items.ids) if len(at) <= _MOST_ITEMS else []
    texts = shortened([" ".join(str(name).split()) for name in (*people, *items)], _LETTERS)
    anchors = np.vstack([ideal[: len(people)], at[: len(items)]])
    if not texts:
        return []
    sizes = np.array([[_LETTER * len(words) + 2.0, _FONT] for words in texts])
    marks = np.vstack([ideal, at])
    taken = np.hstack([marks - _CLEAR, marks + _CLEAR])
    high = np.array([_WIDTH, height])
    # Labels begin _BESIDE away from the middle of a mark; here in a unit in which that is clear.
    unit = _CLEAR / _BESIDE
    places = place_labels(anchors / unit, sizes / unit, taken / unit, np.zeros(2), high / unit)
    return [
        element(
            "text",
            words,
            x=f"{x + unit * place[0]:.1f}",
            # Downwards is up here: the box that was placed begins where the letters end.
            y=f"{y + unit * place[1] + 0.8 * _FONT:.1f}",
            class_="named" if number < len(people) else None,
        )
        for number, (words, place, (x, y)) in enumerate(
            zip(texts, places, anchors.tolist(), strict=True)
        )
        if place is not None
    ]


def _legend(study: Study, found: MapLayout) -> Html:
    """Say what the marks mean."""

    def key(mark: Html, words: str) -> Html:
        picture = element("svg", mark, class_="key", viewBox="0 0 16 16", aria_hidden="true")
        return Html(picture + words)

    disc = element("circle", cx=8, cy=8, r=6, class_="item")
    diamond = element("path", d="M8 1l7 7-7 7-7-7z", class_="person")
    hollow = element("path", d="M8 1l7 7-7 7-7-7z", class_="person beyond")
    items = "items, in their own colours" if study.looks.colours else "items"
    entries = [key(disc, items), key(diamond, "ideal points of people")]
    if found.beyond.any():
        entries.append(key(hollow, f"{plural(int(found.beyond.sum()), 'ideal point')} farther out"))
    return element("span", join(entries, "; "), ".", class_="legend")


def _left_out(study: Study, items: Rows, users: Rows) -> str:
    """Say how many points there was no room for."""
    missing = [
        plural(total - shown, word)
        for total, shown, word in (
            (len(study.model.items), len(items), "item"),
            (len(study.model.users), len(users), "person"),
        )
        if total > shown
    ]
    return f" {' and '.join(missing)} with the fewest answers left out." if missing else ""


def _table(study: Study, found: MapLayout, items: Rows, users: Rows) -> Html:
    """Return the places of everything on the map, to be read instead of seen."""
    places = np.vstack([found.items[items], found.ideal[users]])
    ids: Iterable[object] = [
        *(study.looks.named(code, study.model.items.ids[code]) for code in items.tolist()),
        *(element("bdi", study.model.users[code]) for code in users.tolist()),
    ]
    columns = [
        Column("name", list(ids)),
        Column("what", ["item"] * len(items) + ["ideal point"] * len(users)),
        *(
            Column(
                f"direction {axis + 1}",
                [_short(value) for value in places[:, axis].tolist()],
                places[:, axis].tolist(),
            )
            for axis in range(1 if found.strip else 2)
        ),
    ]
    return details("The map as a table", table("Places on the map", columns))


def _short(value: float) -> str:
    """Return a coordinate with three digits."""
    return f"{value:.3g}" if math.isfinite(value) else "none"
