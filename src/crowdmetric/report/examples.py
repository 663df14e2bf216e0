"""A small study, for the examples in docstrings."""

from __future__ import annotations

from crowdmetric.comparisons import Comparisons
from crowdmetric.model import example
from crowdmetric.report.study import Study

__all__ = ["study"]


def study() -> Study:
    """Return three answers each of ann, all predicted, and of bob, one of them not.

    Returns
    -------
    Study
        About the model of `crowdmetric.model.example`.

    Examples
    --------
    >>> len(study().comparisons)
    6
    """
    triples = [[0, 0, 1], [0, 0, 2], [0, 1, 2], [1, 0, 1], [1, 1, 2], [1, 0, 2]]
    model = example()
    answers = Comparisons.from_arrays(
        triples, [-1, -1, -1, 1, 1, -1], users=model.users, item_ids=model.items.ids
    )
    return Study.of(model, answers)
