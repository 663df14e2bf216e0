"""Intervals as tables: one about the crowd, one about its people, one about every item for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from crowdmetric.readers import write_table
from crowdmetric.trust.bootstrap_intervals import Interval
from crowdmetric.trust.bootstrap_uncertainty import Uncertainty
from crowdmetric.worth import names_of_features

__all__ = ["crowd_rows", "people_rows", "write_tables"]

Row = dict[str, Any]

_TOP = 3
_ENDS = ("fit", "estimate", "low", "high")


def write_tables(found: Uncertainty, folder: Path) -> list[Path]:
    """Write intervals.csv, people.csv and scores.csv.

    Parameters
    ----------
    found : Uncertainty
        The intervals.
    folder : Path
        A folder that exists; files of the same names in it are replaced.

    Returns
    -------
    list of Path
        The files.

    Examples
    --------
    >>> import tempfile
    >>> from crowdmetric.trust.bootstrap_example import example
    >>> with tempfile.TemporaryDirectory() as place:
    ...     [path.name for path in write_tables(example(), Path(place))]
    ['intervals.csv', 'people.csv', 'scores.csv']
    """
    tables = {
        "intervals.csv": crowd_rows(found),
        "people.csv": people_rows(found),
        "scores.csv": _score_rows(found),
    }
    for name, rows in tables.items():
        columns = {column: [row[column] for row in rows] for column in rows[0]}
        write_table(folder / name, columns)
    return [folder / name for name in tables]


def crowd_rows(found: Uncertainty) -> list[Row]:
    """Return what the intervals say about the crowd.

    Parameters
    ----------
    found : Uncertainty
        The intervals.

    Returns
    -------
    list of dict
        The accuracy, what each feature is worth, the eigenvalues and the entries of the metric.

    Examples
    --------
    >>> from crowdmetric.trust.bootstrap_example import example
    >>> [row["quantity"] for row in crowd_rows(example())]
    ['accuracy', 'worth', 'worth', 'eigenvalue', 'eigenvalue', 'metric', 'metric', 'metric']
    """
    names = _names(found)
    rows = [_row({"quantity": "accuracy", "feature": "", "with": ""}, found.accuracy)]
    worth, values, metric = found.features, found.eigenvalues, found.metric
    for j, name in enumerate(names):
        rows.append(_row({"quantity": "worth", "feature": name, "with": ""}, worth[j]))
    for j in range(len(names)):
        rows.append(_row({"quantity": "eigenvalue", "feature": str(j + 1), "with": ""}, values[j]))
    for row, column in zip(*np.triu_indices(len(names)), strict=True):
        label = {"quantity": "metric", "feature": names[row], "with": names[column]}
        rows.append(_row(label, metric[row, column]))
    return rows


def people_rows(found: Uncertainty) -> list[Row]:
    """Return what the intervals say about each user: accuracy and ideal point.

    Parameters
    ----------
    found : Uncertainty
        The intervals.

    Returns
    -------
    list of dict
        For each user the accuracy, and a value for each feature.

    Examples
    --------
    >>> from crowdmetric.trust.bootstrap_example import example
    >>> [row["quantity"] for row in people_rows(example())][:3]
    ['accuracy', 'ideal point', 'ideal point']
    """
    names, ideal, accuracy = _names(found), found.ideal_points, found.user_accuracy
    rows = []
    for k, user in enumerate(found.model.users):
        label = {"user": user, "quantity": "accuracy", "feature": ""}
        rows.append(_row(label, accuracy[k]))
        for j, name in enumerate(names):
            label = {"user": user, "quantity": "ideal point", "feature": name}
            rows.append(_row(label, ideal[k, j]))
    return rows


def _score_rows(found: Uncertainty) -> list[Row]:
    """Return score, and probability to be among the best three, of each item for each user."""
    scores, top = found.scores, found.top(_TOP)
    return [
        _row({"user": user, "item": item}, scores[k, i]) | {f"top_{_TOP}": float(top[k, i])}
        for k, user in enumerate(found.model.users)
        for i, item in enumerate(found.model.items.ids)
    ]


def _row(label: Row, one: Interval) -> Row:
    """Return a row: what it is about, and the four numbers."""
    return label | dict(_numbers(one))


def _numbers(one: Interval) -> Iterator[tuple[str, float]]:
    """Yield the four numbers by name."""
    for name in _ENDS:
        yield name, float(getattr(one, name))


def _names(found: Uncertainty) -> list[str]:
    """Return the names of the features of the metric."""
    return names_of_features(found.model.items.names, found.model.dimension)
