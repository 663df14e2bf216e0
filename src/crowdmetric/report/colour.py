"""Colours: from the features of items to what a screen shows, and how well one is read on another.

The conversions are those of CIE 15 and IEC 61966-2-1 (sRGB), for the white of daylight (D65); the
contrast is that of WCAG 2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["blend", "colours_of", "contrast", "from_lab", "ink_on", "is_hex"]

Floats = npt.NDArray[np.float64]

_HEX = re.compile(r"#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_PREFIX = re.compile(r"^(cie\s*)?(lab|s?rgb)?[\s_.:-]*")
_LAB, _RGB = ("l", "a", "b"), ("r", "g", "b")
_WORDS = {"red": "r", "green": "g", "blue": "b", "lightness": "l"}
_LIGHTEST = 115.0  # colours of lamps and screens go beyond the 100 of white paper
_WHITE = np.array([0.95047, 1.0, 1.08883])
_TO_LINEAR_RGB = np.array(
    [
        [3.2404542, -1.5371385, -0.4985314],
        [-0.9692660, 1.8760108, 0.0415560],
        [0.0556434, -0.2040259, 1.0572252],
    ]
)


def is_hex(name: object) -> bool:
    """Say whether something reads as a colour in hexadecimal digits.

    Parameters
    ----------
    name : object
        An id, or a cell.

    Returns
    -------
    bool
        Whether it is "#" and three or six digits.

    Examples
    --------
    >>> is_hex("#ff0000"), is_hex("#f00"), is_hex("red"), is_hex("#ff00001")
    (True, True, False, False)
    """
    return isinstance(name, str) and _HEX.fullmatch(name.strip()) is not None


def colours_of(features: Floats, names: Sequence[str]) -> list[str] | None:
    """Return the colours that features describe, if they are named L, a, b or r, g, b.

    Parameters
    ----------
    features : ndarray of shape (n, d)
        A row per item.
    names : sequence of str
        Of the features: capitals, stars and beginnings such as "CIELAB " or "lab_" do not matter.

    Returns
    -------
    list of str or None
        In hexadecimal digits; None where the features are no colours, by name or by range.

    Examples
    --------
    >>> colours_of(np.array([[255.0, 0.0, 0.0]]), ["R", "G", "B"])
    ['#ff0000']
    >>> colours_of(np.array([[53.24, 80.09, 67.2]]), ["CIELAB L*", "a*", "b*"])
    ['#ff0000']
    >>> colours_of(np.array([[1.0, 2.0]]), ["price", "comfort"])
    """
    plain = [_plain(name) for name in names]
    if set(_LAB) <= set(plain):
        lab = features[:, [plain.index(letter) for letter in _LAB]]
        low, high = np.array([-1.0, -150.0, -150.0]), np.array([_LIGHTEST, 150.0, 150.0])
        within = bool(((lab >= low) & (lab <= high)).all()) and lab[:, 0].max() > 1.0
        return [_hex(row) for row in from_lab(lab)] if within else None
    if set(_RGB) <= set(plain):
        rgb = features[:, [plain.index(letter) for letter in _RGB]]
        if rgb.min() < 0 or rgb.max() > 255:
            return None
        return [_hex(row) for row in (rgb / 255.0 if rgb.max() > 1.0 else rgb)]
    return None


def from_lab(lab: npt.ArrayLike) -> Floats:
    """Return sRGB colours, moved to the nearest edge where a screen cannot show them.

    Parameters
    ----------
    lab : array-like of shape (n, 3)
        CIELAB, with L from 0 to 100.

    Returns
    -------
    ndarray of shape (n, 3)
        Between 0 and 1.

    Examples
    --------
    >>> from_lab([[100.0, 0.0, 0.0], [0.0, 0.0, 0.0]]).round(2)
    array([[1., 1., 1.],
           [0., 0., 0.]])
    """
    table = np.asarray(lab, dtype=np.float64)
    y = (table[:, 0] + 16.0) / 116.0
    f = np.column_stack([y + table[:, 1] / 500.0, y, y - table[:, 2] / 200.0])
    xyz = np.where(f > 6 / 29, f**3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * _WHITE
    linear = np.clip(xyz @ _TO_LINEAR_RGB.T, 0.0, 1.0)
    rgb: Floats = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.clip(rgb, 0.0, 1.0)


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, as WCAG 2 defines it.

    Parameters
    ----------
    one, other : str
        In hexadecimal digits.

    Returns
    -------
    float
        From 1, for the same colour, to 21, for black on white.

    Examples
    --------
    >>> round(contrast("#000000", "#fff"), 6)
    21.0
    """
    light, dark = sorted([_luminance(one), _luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


def ink_on(background: str) -> str:
    """Return black or white, whichever is read better on a background.

    Parameters
    ----------
    background : str
        In hexadecimal digits.

    Returns
    -------
    str
        The contrast is at least 4.5, whatever the background.

    Examples
    --------
    >>> ink_on("#ffff00"), ink_on("#000080")
    ('#000000', '#ffffff')
    """
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, background))


def blend(share: float) -> str:
    """Return a colour between blue (-1), white (0) and red (1).

    Parameters
    ----------
    share : float
        Between -1 and 1.

    Returns
    -------
    str
        In hexadecimal digits.

    Examples
    --------
    >>> blend(0.0), blend(1.0), blend(-1.0)
    ('#ffffff', '#b2182b', '#2166ac')
    """
    end = np.array([178.0, 24.0, 43.0]) if share > 0 else np.array([33.0, 102.0, 172.0])
    return _hex((255.0 + min(abs(share), 1.0) * (end - 255.0)) / 255.0)


def _plain(name: str) -> str:
    """Return the letter that a name means, if it means one."""
    word = _PREFIX.sub("", name.strip().lower(), count=1).rstrip("* ")
    return _WORDS.get(word, word)


def _hex(rgb: Floats) -> str:
    """Return a colour in hexadecimal digits."""
    red, green, blue = (round(255 * float(part)) for part in rgb)
    return f"#{red:02x}{green:02x}{blue:02x}"


def _luminance(colour: str) -> float:
    """Return how bright a colour is, from 0 to 1."""
    digits = colour.strip().removeprefix("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    parts = np.array([int(digits[at : at + 2], 16) for at in (0, 2, 4)]) / 255.0
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ np.array([0.2126, 0.7152, 0.0722]))
