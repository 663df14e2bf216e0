"""Tables that can be read aloud, printed, and sorted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric.report.markup import Html, element, join, scrolling
from crowdmetric.report.section import anchor

__all__ = ["Column", "bar", "counts", "names", "percentages", "table"]

MISSING = "none"  # in place of a number that there is not


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Parameters
    ----------
    title : str
        Its header.
    cells : sequence of object
        What it shows, escaped unless it is markup.
    keys : sequence of float, optional
        What it is sorted by, with nan for what is missing; by its text when not given.
    meaning : str
        What it says, in a sentence below the table.

    Examples
    --------
    >>> Column("person", ["ann"]).title
    'person'
    """

    title: str
    cells: Sequence[object]
    keys: Sequence[float] | None = None
    meaning: str = ""


def names(title: str, cells: Sequence[object], meaning: str = "") -> Column:
    """Return a column of names, each read in the direction of its letters.

    Parameters
    ----------
    title : str
        Its header.
    cells : sequence of object
        The names.
    meaning : str
        As in `Column`.

    Returns
    -------
    Column
        The column.

    Examples
    --------
    >>> names("person", ["<ann>"]).cells
    ['<bdi>&lt;ann&gt;</bdi>']
    """
    return Column(title, [element("bdi", cell) for cell in cells], None, meaning)


def counts(title: str, values: npt.ArrayLike, meaning: str = "") -> Column:
    """Return a column of whole numbers.

    Parameters
    ----------
    title : str
        Its header.
    values : array-like
        The numbers.
    meaning : str
        As in `Column`.

    Returns
    -------
    Column
        The column.

    Examples
    --------
    >>> counts("answers", [1200]).cells
    ['1,200']
    """
    numbers = np.asarray(values, dtype=np.float64).tolist()
    return Column(title, [f"{number:,.0f}" for number in numbers], numbers, meaning)


def percentages(title: str, values: npt.ArrayLike, meaning: str = "", bars: bool = False) -> Column:
    """Return a column of shares, nan for those that are missing.

    Parameters
    ----------
    title : str
        Its header.
    values : array-like
        Between 0 and 1.
    meaning : str
        As in `Column`.
    bars : bool
        Draw each as a bar, too.

    Returns
    -------
    Column
        The column.

    Examples
    --------
    >>> percentages("accuracy", [0.725, float("nan")]).cells
    ['72.5%', 'none']
    """
    shares = np.asarray(values, dtype=np.float64).tolist()
    cells: list[object] = [MISSING if math.isnan(share) else f"{share:.1%}" for share in shares]
    if bars:
        cells = [
            cell if math.isnan(share) else join([cell, bar(share)])
            for cell, share in zip(cells, shares, strict=True)
        ]
    return Column(title, cells, shares, meaning)


def bar(share: float) -> Html:
    """Return a bar that fills part of its cell; the number beside it says the same.

    Parameters
    ----------
    share : float
        How much to fill, from 0 to 1.

    Returns
    -------
    Html
        A picture that screen readers pass over.

    Examples
    --------
    >>> '<rect width="50" height="9"></rect>' in bar(0.5)
    True
    """
    filled = element("rect", width=f"{100 * min(max(share, 0.0), 1.0):.3g}", height=9)
    return element(
        "svg",
        filled,
        class_="bar",
        viewBox="0 0 100 9",
        preserveAspectRatio="none",  # the bar fills its frame, whatever shape that has
        aria_hidden="true",
    )


def table(
    caption: str,
    columns: Sequence[Column],
    rising: str = "",
    falling: str = "",
    sortable: bool = True,
) -> Html:
    """Return a table whose first column heads its rows.

    Parameters
    ----------
    caption : str
        What it shows.
    columns : sequence of Column
        At least one.
    rising, falling : str
        The title of the column that the rows are in order of, if they are.
    sortable : bool
        Whether a click on a header sorts it, where there are scripts.

    Returns
    -------
    Html
        The table, and below it what the columns mean.

    Examples
    --------
    >>> markup = table("People", [names("person", ["ann"]), counts("answers", [3])])
    >>> '<th scope="row"><bdi>ann</bdi></th><td data-key="3">3</td>' in markup
    True
    """
    order = {rising: "ascending", falling: "descending"}
    heads = [
        element(
            "th",
            column.title,
            scope="col",
            class_=None if column.keys is None else "number",
            aria_sort=order.get(column.title),
        )
        for column in columns
    ]
    rows = (_row(columns, row) for row in range(len(columns[0].cells)))
    body = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *heads)),
        element("tbody", Html("\n"), join(rows)),
        class_="sortable" if sortable else None,
        id=f"table-{anchor(caption)}",
    )
    return join([scrolling(body, caption), _meanings(columns)])


def _row(columns: Sequence[Column], row: int) -> Html:
    """Return one row, on a line of its own."""
    cells = [element("th", columns[0].cells[row], scope="row")]
    for column in columns[1:]:
        key = None
        if column.keys is not None and not math.isnan(column.keys[row]):
            key = f"{column.keys[row]:.6g}"
        cells.append(element("td", column.cells[row], data_key=key))
    return Html(element("tr", *cells) + "\n")


def _meanings(columns: Sequence[Column]) -> Html:
    """Return what the columns say, as a list of terms."""
    told = [column for column in columns if column.meaning]
    terms = [
        element("div", element("dt", column.title), element("dd", column.meaning))
        for column in told
    ]
    return element("dl", *terms, class_="meanings") if terms else Html()
