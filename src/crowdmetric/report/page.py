"""The page around the sections: one file that needs no other, and asks for none."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from crowdmetric.files import whole_file
from crowdmetric.report.markup import Html, element, paragraph
from crowdmetric.report.section import Section, anchor
from crowdmetric.report.sections import SECTIONS
from crowdmetric.report.sections.asked import plural
from crowdmetric.report.study import Study

__all__ = ["page", "sections_of", "write_report"]

_TITLE = "What a crowd prefers, and how sure that is"


def write_report(study: Study, path: str | Path, more: Sequence[Section] = ()) -> None:
    """Write a report to one file that opens offline.

    Parameters
    ----------
    study : Study
        What the report is about.
    path : str or Path
        The file; one of this name is replaced.
    more : sequence of Section
        Sections of your own, before the last one.

    Raises
    ------
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from crowdmetric.report.examples import study
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "report.html"
    ...     write_report(study(), target)
    ...     target.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    content = page(sections_of(study, more), _subtitle(study))
    with whole_file(Path(path), "report") as file:
        file.write(content.encode("utf-8"))


def sections_of(study: Study, more: Sequence[Section] = ()) -> list[Section]:
    """Return the sections of a report.

    Parameters
    ----------
    study : Study
        What the report is about.
    more : sequence of Section
        Sections of your own, before the last one.

    Returns
    -------
    list of Section
        In the order in which they are shown.

    Examples
    --------
    >>> from crowdmetric.report.examples import study
    >>> [section.title for section in sections_of(study())][0]
    'What was asked and answered'
    """
    made = [section for write in SECTIONS if (section := write(study)) is not None]
    return [*made[:-1], *more, made[-1]]


def page(sections: Sequence[Section], subtitle: str = "") -> Html:
    """Return a whole document.

    Parameters
    ----------
    sections : sequence of Section
        What it shows.
    subtitle : str
        What it is about.

    Returns
    -------
    Html
        With its style, its script, and a policy by which a browser asks nobody for anything.

    Examples
    --------
    >>> from crowdmetric.report.section import Written
    >>> "<p>Three.</p>" in page([Written("Answers", Html("<p>Three.</p>"))])
    True
    """
    entries = [
        element("li", element("a", section.title, href=f"#{anchor(section.title)}"))
        for section in sections
    ]
    contents = element("nav", element("ol", *entries), aria_label="Contents")
    body = element(
        "body",
        element("a", "Skip to the content", class_="skip", href="#content"),
        element("header", element("h1", _TITLE), paragraph(subtitle)),
        contents,
        element("main", *map(_framed, sections), id="content"),
        element("footer", paragraph("Written by crowdmetric. This file needs no other.")),
        element("p", class_="visually-hidden", id="said", role="status"),
        element("script", Html(_resource("script.js"))),
    )
    document = element("html", _head(), body, lang="en")
    return Html("<!DOCTYPE html>\n" + document + "\n")


def _head() -> Html:
    """Return what browsers must know first."""
    script = hashlib.sha256(_resource("script.js").encode("utf-8")).digest()
    policy = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{base64.b64encode(script).decode('ascii')}'"
    )
    return element(
        "head",
        element("meta", charset="utf-8"),
        # It has an attribute with a hyphen that is not one of ours: http-equiv.
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", _TITLE),
        element("style", Html(_resource("style.css"))),
    )


def _framed(section: Section) -> Html:
    """Return a section with its heading, as a landmark of its own."""
    name = anchor(section.title)
    heading = element("h2", section.title, id=f"{name}-title")
    return element("section", heading, section.html, id=name, aria_labelledby=f"{name}-title")


def _subtitle(study: Study) -> str:
    """Say what the report is about, in one line."""
    date = study.provenance.date
    return (
        f"{plural(len(study.comparisons), 'answer')} of {plural(len(study.model.users), 'person')} "
        f"about {plural(len(study.model.items), 'item')}" + (f"; {date}" if date else "")
    )


def _resource(name: str) -> str:
    """Return a file that lies beside this one."""
    return files("crowdmetric.report").joinpath(name).read_text(encoding="utf-8")
