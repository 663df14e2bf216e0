"""Names as pictures write them: short, still told apart, and in a font that has their letters."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FONTS = (  # for letters that matplotlib's own font lacks; the first that is there and has them
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Noto Sans SC", "Noto Sans KR"),
    *("Source Han Sans", "Hiragino Sans", "PingFang SC", "Apple SD Gothic Neo", "Yu Gothic"),
    *("Meiryo", "Microsoft YaHei", "Malgun Gothic", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei"),
    *("IPAGothic", "Droid Sans Fallback", "Noto Sans", "Noto Sans Devanagari", "Noto Sans Thai"),
    *("Noto Emoji", "Arial Unicode MS", "Nirmala UI", "Leelawadee UI", "Segoe UI Symbol"),
)


class MissingGlyphWarning(UserWarning):
    """No font on this computer has the letters of some names, and a picture numbers these names.

    Examples
    --------
    >>> issubclass(MissingGlyphWarning, UserWarning)
    True
    """


def written(names: Iterable[Hashable], limit: int) -> list[str]:
    """Return names as a picture can write them: short, distinct, and in letters that fonts have.

    Parameters
    ----------
    names : iterable of hashable
        Ids, or names of features.
    limit : int
        How many letters there is room for.

    Returns
    -------
    list of str
        A text for each name; its number, counted from 1, where no font has its letters.

    Examples
    --------
    >>> written(["Hotel Grand Palace 1", "Hotel Grand Palace 2", 7], 16)
    ['Hotel Gr…alace 1', 'Hotel Gr…alace 2', '7']
    """
    texts = [" ".join(str(name).split()) for name in names]
    _, missing = _fonts_for(texts)
    strange = [position for position, text in enumerate(texts) if not missing.isdisjoint(text)]
    short = shortened(texts, limit)
    for position in strange:
        short[position] = f"#{position + 1}"
    if strange:
        warnings.warn(
            f"no font here has the letters of {texts[strange[0]]!r}, so the picture calls it "
            f"{short[strange[0]]}, and others like it by their numbers too; install a font that "
            "has them, such as Noto Sans CJK",
            MissingGlyphWarning,
            stacklevel=3,
        )
    return short


def shortened(texts: Sequence[str], limit: int) -> list[str]:
    """Cut long texts in the middle; where that makes them alike, cut their common beginning first.

    Parameters
    ----------
    texts : sequence of str
        What must remain distinct.
    limit : int
        The most letters to leave; those of Chinese, Japanese and Korean count twice.

    Returns
    -------
    list of str
        The texts, with a "…" where something is missing.

    Examples
    --------
    >>> shortened(["wifi speed down (Mbit/s)", "wifi speed up (Mbit/s)", "wifi"], 15)
    ['…down (Mbit/s)', '…up (Mbit/s)', 'wifi']
    """
    short = [_cut(text, limit) for text in texts]
    alike: dict[str, list[int]] = {}
    for position, text in enumerate(short):
        alike.setdefault(text, []).append(position)
    for positions in alike.values():
        group = [texts[position] for position in positions]
        if len(set(group)) > 1:
            start = _common(group)
            rest = shortened([f"…{text[start:]}" for text in group], limit)
            for position, text in zip(positions, rest, strict=True):
                short[position] = text
    return short


def choose_fonts(figure: Figure) -> None:
    """Let the texts of a figure use other fonts for the letters that the usual one lacks.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure, with all of its texts.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> choose_fonts(Figure())
    """
    from matplotlib.text import Text

    texts = [text for text in figure.findobj(Text) if isinstance(text, Text)]
    fonts, _ = _fonts_for([text.get_text() for text in texts])
    for text in texts:
        text.set_fontfamily(fonts)


def _common(texts: Sequence[str]) -> int:
    """Return with how many letters all of the texts begin."""
    first, last = min(texts), max(texts)
    return next((at for at in range(len(first)) if first[at] != last[at]), len(first))


def _cut(text: str, limit: int) -> str:
    """Cut what is too much out of the middle."""
    if _width(text) <= limit:
        return text
    head, tail = text[: limit // 2], text[-((limit - 1) // 2) :]
    while _width(head) > limit // 2:
        head = head[:-1]
    while _width(tail) > (limit - 1) // 2:
        tail = tail[1:]
    return f"{head.rstrip()}…{tail.lstrip()}"


def _width(text: str) -> int:
    """Return how many letters wide a text is."""
    return sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text)


def _fonts_for(texts: Iterable[str]) -> tuple[list[str], set[str]]:
    """Return the families that have the letters of the texts, and the letters that none has."""
    from matplotlib import rcParams

    fonts: list[str] = list(rcParams["font.family"])
    missing = set().union(*texts).difference(*map(_letters_of, fonts))
    for font in _FONTS:
        found = missing & _letters_of(font) if missing else set()
        if found:
            fonts.append(font)
            missing -= found
    return fonts, missing


@lru_cache
def _letters_of(family: str) -> frozenset[str]:
    """Return the letters of a family of fonts; none if it is not installed."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    try:
        path = findfont(FontProperties(family=[family]), fallback_to_default=False)
    except ValueError:
        return frozenset()
    return frozenset(map(chr, get_font(path).get_charmap()))
