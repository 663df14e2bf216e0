"""A line chart that follows the page's colours."""

from __future__ import annotations

import math
from collections.abc import Sequence

from crowdmetric.report.markup import Html, element

__all__ = ["count_of", "line_chart"]

_WIDTH, _HEIGHT = 640.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 60.0, 20.0, 20.0, 50.0  # margins
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)  # between grid lines
_MOST_LINES = 6


def line_chart(
    points: Sequence[tuple[float, float]],
    across: str,
    described: str,
    limit: float | None = None,
    limit_name: str = "",
) -> Html:
    """Return a line through points whose heights are shares; each double width is one step.

    Parameters
    ----------
    points : sequence of (x, share)
        From left to right, with positive x.
    across : str
        What x is.
    described : str
        What the picture shows, for who does not see it.
    limit : float, optional
        A share to draw as a broken line.
    limit_name : str
        What that is.

    Returns
    -------
    Html
        A picture.

    Examples
    --------
    >>> "<polyline" in line_chart([(10, 0.6), (20, 0.7)], "answers", "It rises.")
    True
    """
    shares = [share for _, share in points] + ([] if limit is None else [limit])
    low, high, step = _range(min(shares), max(shares))
    first, last = (math.log(points[at][0]) for at in (0, -1))

    def across_at(x: float) -> float:
        part = (math.log(x) - first) / (last - first) if last > first else 0.5
        return _LEFT + part * (_WIDTH - _LEFT - _RIGHT)

    def height_at(share: float) -> float:
        return _HEIGHT - _BOTTOM - (share - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

    parts = []
    for number in range(round((high - low) / step) + 1):
        share = low + number * step
        parts += _line(height_at(share), "grid")
        parts.append(_text(f"{share:.0%}", _LEFT - 8, height_at(share) + 5, "end"))
    if limit is not None:
        parts += _line(height_at(limit), "limit")
        parts.append(_text(limit_name, _LEFT + 4, height_at(limit) - 5, "start"))
    at = [(across_at(x), height_at(share)) for x, share in points]
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    parts.append(element("polyline", points=joined, class_="curve"))
    for (x, y), (value, share) in zip(at, points, strict=True):
        title = element("title", f"{count_of(value)}: {share:.1%}")
        parts.append(element("circle", title, cx=f"{x:.1f}", cy=f"{y:.1f}", r=5, class_="item"))
        parts.append(_text(count_of(value), x, _HEIGHT - _BOTTOM + 20, "middle"))
    parts.append(_text(across, (_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, "middle"))
    return element(
        "svg",
        *parts,
        class_="chart pointed",
        viewBox=f"0 0 {_WIDTH:.0f} {_HEIGHT:.0f}",
        role="img",
        aria_label=described,
    )


def count_of(number: float) -> str:
    """Write a number of which decimals do not matter, unless it is small.

    Parameters
    ----------
    number : float
        Such as an average count.

    Returns
    -------
    str
        With three digits at least.

    Examples
    --------
    >>> count_of(1057.2), count_of(528.6), count_of(3.25)
    ('1,057', '529', '3.25')
    """
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _range(low: float, high: float) -> tuple[float, float, float]:
    """Return the ends of an axis around shares, and the step between its lines."""
    for step in _STEPS:
        bottom = math.floor(low / step + 1e-9)
        top = max(math.ceil(high / step - 1e-9), bottom + 1)
        if top - bottom <= _MOST_LINES:
            break
    return bottom * step, top * step, step


def _line(height: float, kind: str) -> list[Html]:
    """Return a line from left to right."""
    y = f"{height:.1f}"
    return [element("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y, y2=y, class_=kind)]


def _text(words: str, x: float, y: float, anchor: str) -> Html:
    """Return words in the picture."""
    return element("text", words, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor)
