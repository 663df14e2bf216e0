"""What a report consists of: sections, each a title and its markup."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from crowdmetric.report.markup import Html

__all__ = ["Section", "Written", "anchor"]


class Section(Protocol):
    """A part of a report; anything with these two attributes can be one.

    Examples
    --------
    >>> section: Section = Written("What was asked", Html("<p>Much.</p>"))
    >>> section.title
    'What was asked'
    """

    @property
    def title(self) -> str:
        """Its heading, in plain text; no two sections share one."""

    @property
    def html(self) -> Html:
        """What stands below the heading; headings in it start at ``h3``."""


@dataclass(frozen=True)
class Written:
    """A section that is ready.

    Parameters
    ----------
    title : str
        Its heading, in plain text.
    html : Html
        What stands below the heading.

    Examples
    --------
    >>> Written("What was asked", Html("<p>Much.</p>")).html
    '<p>Much.</p>'
    """

    title: str
    html: Html


def anchor(title: str) -> str:
    """Return the name by which links find a section.

    Parameters
    ----------
    title : str
        Its heading.

    Returns
    -------
    str
        Letters, digits and hyphens.

    Examples
    --------
    >>> anchor("What was asked, and answered")
    'what-was-asked-and-answered'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
