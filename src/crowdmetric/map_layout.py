"""Where things go on a map of items and ideal points: the frame, the stacks, the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_FLAT = 0.02  # points this many times as wide as they are high lie on a line
_EDGE = 0.98  # of the way from the middle of the frame to its edge
_HEADROOM = 0.25  # above and below the stacks of a strip
_STACKS = 80  # the stacks that fit side by side into a strip
_APART = np.array([-4.0, 0.0, 4.0, 0.0])  # so that two labels in a row do not read as one


@dataclass(frozen=True)
class MapLayout:
    """Positions in a frame, and how they came to be there.

    Parameters
    ----------
    items, ideal : ndarray of shape (n, 2), (K, 2)
        Where to draw the items and the ideal points; all lie in the frame.
    beyond : ndarray of bool, shape (K,)
        The ideal points that really lie outside and were moved to the edge.
    low, high : ndarray of shape (2,)
        The corners of the frame.
    strip : bool
        Whether only the first direction counts; the second is then a height to tell points apart.

    Examples
    --------
    >>> layout([[0.0, 0.0], [1.0, 0.0]], [[9.0, 0.0]]).strip
    True
    """

    items: Floats
    ideal: Floats
    beyond: npt.NDArray[np.bool_]
    low: Floats
    high: Floats
    strip: bool


def layout(items: npt.ArrayLike, ideal: npt.ArrayLike) -> MapLayout:
    """Lay out a map, or a strip where the items hardly differ in the second direction.

    Parameters
    ----------
    items, ideal : array-like of shape (n, 2), (K, 2)
        Coordinates along the two leading directions.

    Returns
    -------
    MapLayout
        Its frame holds all items, and the ideal points not farther from them than they extend.

    Examples
    --------
    >>> found = layout([[0.0, 0.0], [1.0, 1.0]], [[0.5, 0.5], [99.0, 0.5]])
    >>> found.beyond, found.high[0] < 2.0
    (array([False,  True]), np.True_)
    """
    at, goal = np.array(items, dtype=np.float64), np.array(ideal, dtype=np.float64)
    width, height = np.ptp(at, axis=0)
    strip = bool(height <= _FLAT * width)
    if strip:
        at[:, 1] = goal[:, 1] = 0.0
    low, high = _frame(at, goal)
    middle, half = (low + high) / 2, (high - low) / 2
    # Towards the middle, so that a point at the edge still shows which way to look for it.
    times = np.maximum(1.0, (np.abs(goal - middle) / half).max(axis=1))
    beyond = times > 1.0
    shown = middle + (goal - middle) / np.where(beyond, times / _EDGE, 1.0)[:, None]
    if strip:
        at[:, 1] = -_stacked(at[:, 0], high[0] - low[0])
        shown[:, 1] = _stacked(shown[:, 0], high[0] - low[0])
        low[1], high[1] = at[:, 1].min() - _HEADROOM, shown[:, 1].max() + _HEADROOM
    return MapLayout(at, shown, beyond, low, high, strip)


def place_labels(
    anchors: Floats, sizes: Floats, taken: Floats, low: Floats, high: Floats
) -> list[tuple[float, float] | None]:
    """Find a place beside each anchor where its label covers nothing.

    Parameters
    ----------
    anchors, sizes : ndarray of shape (m, 2)
        The points to label, and the width and height of their labels.
    taken : ndarray of shape (b, 4)
        Boxes to keep clear: left, bottom, right, top.
    low, high : ndarray of shape (2,)
        The corners of the frame that labels must stay in.

    Returns
    -------
    list
        For each label the offset of its lower left corner from the anchor; None where there is
        no room. Earlier labels choose first.

    Examples
    --------
    >>> one = np.zeros((1, 2))
    >>> place_labels(one, one + 5.0, np.empty((0, 4)), one[0] - 20.0, one[0] + 20.0)
    [(4.0, -2.5)]
    """
    places: list[tuple[float, float] | None] = []
    for anchor, size in zip(anchors, sizes, strict=True):
        places.append(None)
        for offset in _offsets(float(size[0]), float(size[1])):
            corner = anchor + np.array(offset)
            box = np.append(corner, corner + size)
            if (box[:2] < low).any() or (box[2:] > high).any() or _overlaps(box, taken):
                continue
            taken = np.vstack([taken, box + _APART])
            places[-1] = offset
            break
    return places


def _offsets(wide: float, high: float) -> Sequence[tuple[float, float]]:
    """Return the places a label may take around its point, the best first."""
    right, left, up, down = 4.0, -wide - 4.0, 4.0, -high - 4.0
    middle, centre = -high / 2, -wide / 2
    beside = [(right, middle), (left, middle), (centre, up), (centre, down)]
    return [*beside, (right, up - 1), (left, up - 1), (right, down + 1), (left, down + 1)]


def _overlaps(box: Floats, others: Floats) -> bool:
    """Say whether a box shares area with any of the others."""
    apart = (others[:, :2] >= box[2:]).any(axis=1) | (others[:, 2:] <= box[:2]).any(axis=1)
    return not bool(apart.all())


def _frame(items: Floats, ideal: Floats) -> tuple[Floats, Floats]:
    """Return the corners of a frame around the items and the ideal points within their reach."""
    low, high = items.min(axis=0), items.max(axis=0)
    reach = float((high - low).max()) or 1.0
    near = ((ideal >= low - reach) & (ideal <= high + reach)).all(axis=1)
    inside = np.vstack([items, ideal[near]])
    low, high = inside.min(axis=0), inside.max(axis=0)
    half = 0.55 * (high - low)
    half = np.maximum(half, half.max() / 3 or 1.0)  # not too thin to read
    half[0] = max(half[0], 0.8 * half[1])  # and wide enough for a title
    middle = (low + high) / 2
    return middle - half, middle + half


def _stacked(positions: Floats, width: float) -> Floats:
    """Return heights, all above zero, at which neighbours on a strip do not cover each other."""
    column = np.floor(_STACKS * positions / width).astype(np.int64)
    order = np.argsort(column, kind="stable")
    level = np.empty(len(column))
    level[order] = np.arange(len(column)) - np.searchsorted(column[order], column[order])
    step = min(0.12, 0.85 / (float(level.max(initial=0.0)) + 1.0))
    return np.asarray((level + 1.0) * step)
