"""What was asked and answered: how much, of whom, and about which items."""

from __future__ import annotations

import numpy as np

from crowdmetric.comparisons import Comparisons
from crowdmetric.report.markup import Html, definitions, details, join, listing, paragraph
from crowdmetric.report.section import Written
from crowdmetric.report.study import Study
from crowdmetric.report.tables import Column, counts, percentages, table

__all__ = ["asked", "plural", "times_shown"]

_MOST_ITEMS = 1000  # rows of the table


def asked(study: Study) -> Written:
    """Return the section about questions and answers.

    Parameters
    ----------
    study : Study
        What the report is about.

    Returns
    -------
    Written
        Counts, and a table of the items.

    Examples
    --------
    >>> from crowdmetric.report.examples import study
    >>> "each answered 3 times" in asked(study()).html
    True
    """
    model, answers = study.model, study.comparisons
    ties = int((answers.response == 0).sum())
    given = np.bincount(answers.user, minlength=len(model.users))
    facts: list[tuple[object, object]] = [
        ("answers", f"{len(answers):,}" + (f", of which {plural(ties, 'tie')}" if ties else "")),
        ("people", f"{len(model.users):,}, {_spread(given)}"),
        ("different questions", f"{_questions(answers):,} (a person and two items)"),
        ("items", f"{len(model.items):,}"),
        ("features", f"{model.items.dimension:,}: {', '.join(_first(model.items.names))}"),
    ]
    if answers.weight is not None:
        facts.append(("weights", "answers count differently; all shares below are weighted"))
    notes = listing(study.looks.notes, class_="notes")
    return Written("What was asked and answered", join([definitions(facts), notes, _items(study)]))


def plural(count: int, what: str) -> str:
    """Return a number of things.

    Parameters
    ----------
    count : int
        How many.
    what : str
        One of them.

    Returns
    -------
    str
        In words, but for the number.

    Examples
    --------
    >>> plural(1, "tie"), plural(1200, "tie"), plural(2, "person")
    ('1 tie', '1,200 ties', '2 people')
    """
    if count == 1:
        return f"1 {what}"
    return f"{count:,} {'people' if what == 'person' else what + 's'}"


def _spread(given: np.ndarray) -> str:
    """Say how many answers each person gave."""
    low, middle, high = int(given.min()), float(np.median(given)), int(given.max())
    if low == high:
        return f"each answered {plural(low, 'time')}"
    return f"who answered {low:,} to {high:,} times each (median {middle:,.4g})"


def _questions(answers: Comparisons) -> int:
    """Return how many different questions were asked, whichever item was on the left."""
    low, high = np.minimum(answers.left, answers.right), np.maximum(answers.left, answers.right)
    n = answers.n_items
    code = (answers.user.astype(np.int64) * n + low) * n + high
    return len(np.unique(code))


def _first(names: tuple[str, ...], most: int = 20) -> list[str]:
    """Return the first names, and how many more there are."""
    return [*names[:most], *([f"and {len(names) - most} more"] if len(names) > most else [])]


def _items(study: Study) -> Html:
    """Return a table of the items: how often each was shown, and preferred."""
    answers, items = study.comparisons, study.model.items
    shown, won = times_shown(answers)
    share = np.full(len(items), np.nan)
    np.divide(won, shown, out=share, where=shown > 0)
    order = np.argsort(np.where(shown > 0, -share, 2.0), kind="stable")[:_MOST_ITEMS]
    columns = [
        Column("item", [study.looks.named(int(code), items.ids[code]) for code in order]),
        counts("shown", shown[order], "how many answers are about it"),
        percentages(
            "preferred",
            share[order],
            "how often it was the one preferred, of those; a tie counts as half",
            bars=True,
        ),
    ]
    cut = len(items) - len(order)
    note = paragraph(f"{plural(cut, 'more item')} left out here.") if cut else Html()
    return details(
        f"The {plural(len(order), 'item')}, most preferred first",
        table("Items", columns, falling="preferred"),
        note,
    )


def times_shown(answers: Comparisons) -> tuple[np.ndarray, np.ndarray]:
    """Return how often each item was shown, and how often preferred.

    Parameters
    ----------
    answers : Comparisons
        The answers.

    Returns
    -------
    shown, preferred : ndarray of shape (n,)
        A tie is half a preference for either item.

    Examples
    --------
    >>> times_shown(Comparisons.from_arrays([[0, 0, 1], [0, 0, 1]], [-1, 0]))
    (array([2., 2.]), array([1.5, 0.5]))
    """
    n = answers.n_items
    right = 0.5 * (1.0 + answers.response)
    shown = np.bincount(answers.left, minlength=n) + np.bincount(answers.right, minlength=n)
    won = np.bincount(answers.left, 1.0 - right, n) + np.bincount(answers.right, right, n)
    return shown.astype(np.float64), won
