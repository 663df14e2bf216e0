"""Accuracy and log-loss of everybody, and of every group; the worst first."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric.checks import Codes, Floats
from crowdmetric.comparisons import Comparisons
from crowdmetric.trust.audit_groups import Groups
from crowdmetric.trust.audit_intervals import Interval, mean_interval, share_interval
from crowdmetric.trust.audit_rounds import LeftOut

__all__ = ["Measured", "measured", "per_group", "per_person"]


@dataclass(frozen=True)
class Measured:
    """How well some answers were predicted.

    Parameters
    ----------
    name : hashable
        Whose answers they are: a user's id, a group, or a predictor's name.
    people : int
        How many people gave them.
    answers : int
        How many there are.
    accuracy : Interval
        The share predicted.
    log_loss : Interval, optional
        In nats; None where there are no probabilities.

    Examples
    --------
    >>> Measured("ann", 1, 10, Interval(0.8, 0.5, 0.9), None).accuracy.value
    0.8
    """

    name: Hashable
    people: int
    answers: int
    accuracy: Interval
    log_loss: Interval | None


def measured(
    name: Hashable,
    left_out: LeftOut,
    answers: Comparisons,
    rows: npt.NDArray[np.intp] | slice = slice(None),
) -> Measured:
    """Measure how well some of the answers were predicted.

    Parameters
    ----------
    name : hashable
        What to call them.
    left_out : LeftOut
        How well each was predicted.
    answers : Comparisons
        All answers.
    rows : ndarray of int or slice
        Which of them.

    Returns
    -------
    Measured
        With intervals that are about further answers if one person gave them all, else about
        further people.

    Examples
    --------
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [1, 1, 2]], [-1, 1])
    >>> print(measured("all", LeftOut(np.array([1.0, 0.0]), None), answers).accuracy.value)
    0.5
    """
    person = answers.user[rows]
    weight = np.ones(len(person)) if answers.weight is None else answers.weight[rows]
    loss: Floats | None = None if left_out.log_loss is None else left_out.log_loss[rows]
    return Measured(
        name=name,
        people=len(np.unique(person)),
        answers=len(person),
        accuracy=share_interval(left_out.correct[rows], weight, person),
        log_loss=None if loss is None else mean_interval(loss, weight, person),
    )


def per_person(left_out: LeftOut, answers: Comparisons) -> list[Measured]:
    """Measure how well everybody is predicted.

    Parameters
    ----------
    left_out : LeftOut
        How well each answer was predicted.
    answers : Comparisons
        The answers.

    Returns
    -------
    list of Measured
        Whoever is predicted worst first; people without answers are left out.

    Examples
    --------
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [1, 1, 2]], [-1, 1], users=["ann", "bob"])
    >>> [one.name for one in per_person(LeftOut(np.array([1.0, 0.0]), None), answers)]
    ['bob', 'ann']
    """
    return _worst_first(answers.users, answers.user, left_out, answers)


def per_group(groups: Groups, left_out: LeftOut, answers: Comparisons) -> list[Measured]:
    """Measure how well every group is predicted.

    Parameters
    ----------
    groups : Groups
        Who belongs where.
    left_out : LeftOut
        How well each answer was predicted.
    answers : Comparisons
        The answers.

    Returns
    -------
    list of Measured
        The group that is predicted worst first; groups without answers are left out.

    Examples
    --------
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [1, 1, 2]], [-1, 1])
    >>> towns = Groups.of("town", ["Ulm", "Bonn"])
    >>> [one.name for one in per_group(towns, LeftOut(np.array([1.0, 0.0]), None), answers)]
    ['Bonn', 'Ulm']
    """
    return _worst_first(groups.names, groups.of_user[answers.user], left_out, answers)


def _worst_first(
    names: Sequence[Hashable], code: Codes, left_out: LeftOut, answers: Comparisons
) -> list[Measured]:
    """Measure the answers of each code; of equally bad ones, the one that is surer comes first."""
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    found = [
        measured(names[int(code[rows[0]])], left_out, answers, rows)
        for rows in np.split(order, starts[1:])
    ]
    return sorted(found, key=lambda one: (one.accuracy.value, one.accuracy.high))
