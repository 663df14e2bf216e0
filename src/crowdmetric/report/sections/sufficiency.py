"""Whether what was asked can determine metric and ideal points at all."""

from __future__ import annotations

from crowdmetric.comparisons import Items
from crowdmetric.errors import DataError
from crowdmetric.identify.verdict import Verdict, check
from crowdmetric.report.markup import Html, details, element, join, listing, paragraph
from crowdmetric.report.section import Written
from crowdmetric.report.study import Study
from crowdmetric.worth import names_of_features

__all__ = ["sufficiency"]

_MOST_SENTENCES = 12
_MOST_UNKNOWNS = 20_000  # of the linear system: beyond, its rank would take minutes
_TITLE = "Is it enough to determine everything?"


def sufficiency(study: Study) -> Written:
    """Return the section about identifiability.

    Parameters
    ----------
    study : Study
        What the report is about.

    Returns
    -------
    Written
        What `crowdmetric check` finds, or why it was not looked for.

    Examples
    --------
    >>> from crowdmetric.report.examples import study
    >>> "Not everything" in sufficiency(study()).html
    True
    """
    model = study.model
    d = model.dimension
    unknowns = d * (d + 1) // 2 + d * len(model.users)
    if d != model.items.dimension and unknowns > _MOST_UNKNOWNS:
        return Written(
            _TITLE,
            paragraph(
                f"Not looked for: {unknowns:,} unknown numbers are too many for an exact rank here."
            ),
        )
    try:
        verdict = check(study.comparisons, _items(study))
    except DataError as error:
        return Written(_TITLE, paragraph(f"It cannot be told: {error}."))
    return Written(_TITLE, _said(verdict))


def _items(study: Study) -> Items:
    """Return the items in the features that the metric measures.

    A map that only shifts and scales makes no difference; one that makes new features does.
    """
    model = study.model
    if model.dimension == model.items.dimension:
        return model.items
    return Items(model.items.ids, model.x, tuple(names_of_features((), model.dimension)))


def _said(verdict: Verdict) -> Html:
    """Return the verdict and its reasons."""
    rank = f"rank {verdict.rank:,} of {verdict.needed:,}"
    if verdict.identifiable:
        said = (
            f"Everything is determined: exact answers leave one metric and one point each ({rank})."
        )
    else:
        said = (
            f"Not everything is determined: even exact answers would leave something open ({rank})."
        )
    conditions = [
        f"{'holds' if one.holds else 'fails'}: {one.meaning}" for one in verdict.conditions
    ]
    parts = [
        paragraph(element("strong", said)),
        paragraph(
            "This is about what was asked, not about what was answered. What is left open, the "
            "fit fills with something that is not in the data."
        ),
        *_list("Missing", verdict.missing),
        *_list("Open: the metric may change, without a trace in the answers, in", _open(verdict)),
        details("Necessary conditions", listing(conditions)),
    ]
    return join(parts)


def _open(verdict: Verdict) -> tuple[str, ...]:
    """Return in which ways the metric may change."""
    return tuple(f"{way[:1].upper()}{way[1:]}" for way in verdict.undetermined)


def _list(title: str, sentences: tuple[str, ...]) -> list[Html]:
    """Return a titled list, cut short if it is long; nothing if there is nothing in it."""
    if not sentences:
        return []
    more = len(sentences) - _MOST_SENTENCES
    rest = [f"and {more:,} more (crowdmetric check has them all)"] if more > 0 else []
    return [element("h3", title), listing([*sentences[:_MOST_SENTENCES], *rest])]
