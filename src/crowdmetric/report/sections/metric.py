"""The metric: heat map, spectrum, and what each feature, and each pair of them, is worth."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crowdmetric import worth
from crowdmetric.model import Model
from crowdmetric.points import RANK_TOLERANCE
from crowdmetric.report.colour import blend, ink_on
from crowdmetric.report.markup import Html, element, join, paragraph, scrolling
from crowdmetric.report.section import Written
from crowdmetric.report.sections.asked import plural
from crowdmetric.report.study import Study
from crowdmetric.report.tables import Column, names, percentages, table

__all__ = ["heat_map", "metric"]

Floats = npt.NDArray[np.float64]

_MOST_NUMBERS = 16  # features up to which the heat map has its entries written in
_MOST_CELLS = 80  # features up to which each has a row in it; beyond, those worth most
_MOST_ROWS = 200  # of the other tables
_MOST_PAIRS = 10
_LEAST_PAIR = 0.01  # share below which a pair is not worth a row


def metric(study: Study) -> Written:
    """Return the section about the metric.

    Parameters
    ----------
    study : Study
        What the report is about.

    Returns
    -------
    Written
        Of the average metric, where each person has one of their own.

    Examples
    --------
    >>> from crowdmetric.report.examples import study
    >>> "rank 2 of 2" in metric(study()).html
    True
    """
    model = study.model
    matrix = np.asarray(model.metric, dtype=np.float64)
    own = matrix.ndim == 3
    if own:
        matrix = matrix.mean(axis=0)
    features = worth.names_of_features(model.items.names, model.dimension)
    shares = worth.feature_shares(matrix, model.x)
    parts = [
        paragraph(_summary(model, matrix)),
        paragraph(
            "Each person of this model has a metric of their own; this is the average of them."
        )
        if own
        else Html(),
        _worth(features, shares),
        _pairs(features, worth.pair_shares(matrix, model.x)),
        element("h3", "Heat map"),
        heat_map(matrix, features, shares),
        element("h3", "Spectrum"),
        _spectrum(matrix),
    ]
    return Written("The metric: what counts", join(parts))


def heat_map(matrix: Floats, features: list[str], shares: Floats) -> Html:
    """Return the entries of a metric as a table with coloured cells, or as a picture if large.

    Parameters
    ----------
    matrix : ndarray of shape (d, d)
        The metric.
    features : list of str
        Their names.
    shares : ndarray of shape (d,)
        What each is worth: the most valuable stay where there are too many.

    Returns
    -------
    Html
        With the numbers in the cells for up to 16 features, and else beneath the pointer.

    Examples
    --------
    >>> "<td" in heat_map(np.eye(2), ["warm", "light"], np.array([0.5, 0.5]))
    True
    """
    chosen = np.sort(np.argsort(-shares, kind="stable")[:_MOST_CELLS])
    kept = matrix[np.ix_(chosen, chosen)]
    limit = float(np.abs(kept).max()) or 1.0
    words = [features[code] for code in chosen]
    legend = [
        "Blue is below zero, red above. An entry says what the product of two features' "
        "differences adds to a squared distance, in the units of the metric's features.",
    ]
    if len(kept) < len(matrix):
        legend.append(f"The {_MOST_CELLS} features that are worth most, of {len(matrix)}.")
    shown = _cells(kept, words, limit) if len(kept) <= _MOST_NUMBERS else _picture(kept, words)
    return join([shown, *(paragraph(words, class_="note") for words in legend)])


def _summary(model: Model, matrix: Floats) -> str:
    """Say how many directions the metric measures."""
    return (
        f"The metric has rank {model.rank} of {model.dimension}; its effective rank is "
        f"{worth.effective_rank(matrix):.2f}: that many directions of equal size would say as much."
    )


def _worth(features: list[str], shares: Floats) -> Html:
    """Return a table of what each feature is worth."""
    order = np.argsort(-shares, kind="stable")[:_MOST_ROWS]
    columns = [
        names("feature", [features[code] for code in order]),
        percentages(
            "worth",
            shares[order],
            "its part in how far apart items are: its entry on the diagonal of the metric times "
            "its variance over the items, as a share of the sum",
            bars=True,
        ),
    ]
    return table("What each feature is worth", columns, falling="worth")


def _pairs(features: list[str], pairs: Floats) -> Html:
    """Return a table of the pairs that add most, or take most away."""
    first, second = np.triu_indices(len(features), 1)
    sizes = pairs[first, second]
    order = np.argsort(-np.abs(sizes), kind="stable")[:_MOST_PAIRS]
    order = order[np.abs(sizes[order]) >= _LEAST_PAIR]
    if not len(order):
        return paragraph("No pair of features adds or takes away as much as 1%.")
    columns = [
        names("pair", [f"{features[first[at]]}, {features[second[at]]}" for at in order]),
        Column(
            "adds",
            [f"{sizes[at]:+.1%}" for at in order],
            sizes[order].tolist(),
            "what the pair adds, in the same unit, if two items differ in both features in the "
            "same direction by a standard deviation: above 0 they work together, below against "
            "each other",
        ),
    ]
    return table("Pairs of features", columns)


def _cells(matrix: Floats, features: list[str], limit: float) -> Html:
    """Return a table with a colour in each cell."""
    head = [element("th", element("bdi", name), scope="col") for name in features]
    rows = [element("tr", element("td"), *head)]
    for name, values in zip(features, matrix.tolist(), strict=True):
        cells = [element("th", element("bdi", name), scope="row")]
        for value in values:
            colour = blend(value / limit)
            style = f"background:{colour};color:{ink_on(colour)}"
            cells.append(element("td", f"{value:.3g}", style=style))
        rows.append(element("tr", *cells))
    body = element(
        "table",
        element("caption", "Entries of the metric"),
        element("thead", rows[0]),
        element("tbody", *rows[1:]),
        class_="heat",
    )
    return scrolling(body, "Entries of the metric")


def _picture(matrix: Floats, features: list[str]) -> Html:
    """Return a picture with a square for each entry."""
    limit, size = float(np.abs(matrix).max()) or 1.0, len(matrix)
    squares = [
        element(
            "rect",
            element("title", f"{features[i]}, {features[j]}: {matrix[i, j]:.3g}"),
            x=j,
            y=i,
            width=1,
            height=1,
            fill=blend(matrix[i, j] / limit),
        )
        for i in range(size)
        for j in range(size)
    ]
    label = f"Heat map of the metric, {size} by {size}; the tables beside it have the main entries"
    return element(
        "svg",
        *squares,
        class_="squares pointed",
        viewBox=f"0 0 {size} {size}",
        role="img",
        aria_label=label,
    )


def _spectrum(matrix: Floats) -> Html:
    """Return a table of the eigenvalues."""
    values = np.linalg.eigvalsh(matrix)[::-1]
    values = np.where(values > RANK_TOLERANCE * values[0], values, 0.0)
    share = values / (float(values.sum()) or 1.0)
    kept = min(max(int((values > 0).sum()), 1), _MOST_ROWS)
    columns = [
        Column("direction", [str(at + 1) for at in range(kept)]),
        Column("eigenvalue", [f"{value:.4g}" for value in values[:kept]], values[:kept].tolist()),
        percentages("share of the trace", share[:kept], bars=True),
        percentages("up to here", np.cumsum(share)[:kept]),
    ]
    zero = len(values) - int((values > 0).sum())
    rest = paragraph(f"{plural(zero, 'eigenvalue')} of zero left out.", class_="note")
    return join(
        [
            table("Eigenvalues, largest first", columns, falling="eigenvalue"),
            rest if zero else Html(),
        ]
    )
