"""HTML from Python: text is escaped wherever it comes from, and only markup made here is markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

__all__ = [
    "Html",
    "definitions",
    "details",
    "element",
    "join",
    "listing",
    "paragraph",
    "scrolling",
    "text",
]

_EMPTY = frozenset({"br", "col", "img", "link", "meta"})  # elements without a closing tag
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")  # HTML has none of them


class Html(str):
    """Text that is markup already.

    Examples
    --------
    >>> element("b", Html("<i>so</i>"), " & ", "<i>so</i>")
    '<b><i>so</i> &amp; &lt;i&gt;so&lt;/i&gt;</b>'
    """

    __slots__ = ()


def text(content: object) -> Html:
    """Return anything as markup that shows it as it reads.

    Parameters
    ----------
    content : object
        Markup stays as it is; of anything else, the text is escaped.

    Returns
    -------
    Html
        Safe within an element, and within a quoted attribute.

    Examples
    --------
    >>> text("<script>alert('hi')</script>")
    '&lt;script&gt;alert(&#x27;hi&#x27;)&lt;/script&gt;'
    """
    if isinstance(content, Html):
        return content
    return Html(html.escape(_UNSEEN.sub("\ufffd", str(content))))


def element(name: str, /, *children: object, **attributes: object) -> Html:
    """Return an element with its children.

    Parameters
    ----------
    name : str
        Such as "p".
    *children : object
        What is in it, escaped unless it is markup.
    **attributes : object
        None or False leaves one out, True writes its name alone. An underscore at the end of a
        name falls away (``class_``); others become hyphens (``aria_label``).

    Returns
    -------
    Html
        The element.

    Examples
    --------
    >>> element("p", "a < b", class_="note", aria_label='"so"', hidden=True, id=None)
    '<p class="note" aria-label="&quot;so&quot;" hidden>a &lt; b</p>'
    """
    opening = name
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        opening += f" {key.rstrip('_').replace('_', '-')}"
        opening += "" if value is True else f'="{text(value)}"'
    if name in _EMPTY:
        return Html(f"<{opening}>")
    return Html(f"<{opening}>{join(children)}</{name}>")


def join(parts: Iterable[object], between: str = "") -> Html:
    """Return parts one after the other.

    Parameters
    ----------
    parts : iterable of object
        Markup, or what is to be escaped.
    between : str
        Plain text between them.

    Returns
    -------
    Html
        All of them.

    Examples
    --------
    >>> join(["a", Html("<br>"), "<b>"])
    'a<br>&lt;b&gt;'
    """
    return Html(text(between).join(map(text, parts)))


def paragraph(*children: object, **attributes: object) -> Html:
    """Return a paragraph.

    Parameters
    ----------
    *children, **attributes
        As in `element`.

    Returns
    -------
    Html
        The paragraph.

    Examples
    --------
    >>> paragraph("so")
    '<p>so</p>'
    """
    return element("p", *children, **attributes)


def listing(sentences: Iterable[object], **attributes: object) -> Html:
    """Return an unordered list; nothing where there is nothing to list.

    Parameters
    ----------
    sentences : iterable of object
        Its entries.
    **attributes
        As in `element`.

    Returns
    -------
    Html
        The list.

    Examples
    --------
    >>> listing(["a", "b"]), listing([])
    ('<ul><li>a</li><li>b</li></ul>', '')
    """
    entries = [element("li", sentence) for sentence in sentences]
    return element("ul", *entries, **attributes) if entries else Html()


def definitions(pairs: Iterable[tuple[object, object]]) -> Html:
    """Return a list of terms with what they are.

    Parameters
    ----------
    pairs : iterable of (term, description)
        Escaped unless they are markup.

    Returns
    -------
    Html
        The list.

    Examples
    --------
    >>> definitions([("people", 4)])
    '<dl class="facts"><div><dt>people</dt><dd>4</dd></div></dl>'
    """
    entries = [element("div", element("dt", term), element("dd", said)) for term, said in pairs]
    return element("dl", *entries, class_="facts")


def details(summary: str, *children: object) -> Html:
    """Return what is folded away until somebody wants to see it.

    Parameters
    ----------
    summary : str
        What there is to see.
    *children : object
        What is folded away.

    Returns
    -------
    Html
        It works with the keyboard, and without scripts.

    Examples
    --------
    >>> details("More", "this")
    '<details><summary>More</summary>this</details>'
    """
    return element("details", element("summary", summary), *children)


def scrolling(content: object, label: str, class_: str = "") -> Html:
    """Return what may be wider than a screen, in a frame that scrolls.

    Parameters
    ----------
    content : object
        A table, or a picture.
    label : str
        What it is: whatever scrolls must be reachable with the keyboard, and then needs a name.
    class_ : str
        Further classes.

    Returns
    -------
    Html
        The frame.

    Examples
    --------
    >>> print(scrolling("wide", "People"))
    <div class="scroll" tabindex="0" role="group" aria-label="People">wide</div>
    """
    classes = f"scroll {class_}".strip()
    return element("div", content, class_=classes, tabindex=0, role="group", aria_label=label)
