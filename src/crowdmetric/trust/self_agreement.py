"""How each person answers: how consistent they are, and which side they prefer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdmetric.checks import Codes, Floats
from crowdmetric.comparisons import Comparisons

__all__ = ["People", "people", "repeated_questions"]


@dataclass(frozen=True, eq=False)
class People:
    """What each person's answers say about their answering.

    Parameters
    ----------
    names : tuple of str
        The persons.
    answered : ndarray of shape (K,)
        How many answers each gave.
    agreement : ndarray of shape (K,)
        How often two answers to the same question name the same item; nan for a person who was
        asked nothing twice.
    left : ndarray of shape (K,)
        The share of answers for the item on the left.

    Examples
    --------
    >>> People(("ann",), np.array([10.0]), np.array([0.82]), np.array([0.5])).names
    ('ann',)
    """

    names: tuple[str, ...]
    answered: Floats
    agreement: Floats
    left: Floats

    @property
    def ceiling(self) -> Floats:
        """The accuracy that no predictor can exceed on average, for each person.

        If a pair is answered independently each time, with probability p for its favourite,
        the two answers agree with probability a = (1 + (2p - 1)^2) / 2, and the best guess is right
        with probability (1 + |2p - 1|) / 2. By Jensen's inequality the mean of the latter over
        pairs is at most (1 + sqrt(2a - 1)) / 2.

        Examples
        --------
        >>> People(("ann",), np.array([10.0]), np.array([0.82]), np.array([0.5])).ceiling
        array([0.9])
        """
        result: Floats = (1 + np.sqrt(np.maximum(2 * self.agreement - 1, 0.0))) / 2
        return result


def people(answers: Comparisons) -> People:
    """Look at how each person answered.

    Parameters
    ----------
    answers : Comparisons
        Questions may be asked again, the same way round or the other.

    Returns
    -------
    People
        In the order of ``answers.users``.

    Examples
    --------
    >>> people(Comparisons.from_arrays([[0, 0, 1], [0, 1, 0]], [-1, 1])).agreement
    array([1.])
    """
    count = answers.n_users
    user, share = repeated_questions(answers)
    agreement = np.full(count, np.nan)
    repeated = np.bincount(user, minlength=count)
    total = np.bincount(user, share, minlength=count)
    np.divide(total, repeated, out=agreement, where=repeated > 0)
    given = np.bincount(answers.user, minlength=count).astype(np.float64)
    left = np.bincount(answers.user, answers.response < 0, minlength=count) / np.maximum(given, 1)
    return People(tuple(map(str, answers.users)), given, agreement, left)


def repeated_questions(answers: Comparisons) -> tuple[Codes, Floats]:
    """Return the questions that somebody answered more than once, and how these answers agree.

    A question is a person and two items, whichever is on the left. Ties are left out.

    Parameters
    ----------
    answers : Comparisons
        The answers.

    Returns
    -------
    user : ndarray of int
        Whose question each is.
    agreement : ndarray of float64
        The share of the pairs of its answers that name the same item.

    Examples
    --------
    >>> repeated_questions(Comparisons.from_arrays([[0, 0, 1], [0, 1, 0], [0, 0, 1]], [-1, 1, 1]))
    (array([0], dtype=int32), array([0.33333333]))
    """
    said = answers.response != 0
    user = answers.user[said].astype(np.int64)
    left, right = answers.left[said].astype(np.int64), answers.right[said].astype(np.int64)
    low, high = np.minimum(left, right), np.maximum(left, right)
    order = np.lexsort((high, low, user))
    rows = np.column_stack([user, low, high])[order]
    first = np.append(True, (np.diff(rows, axis=0) != 0).any(axis=1)) if len(rows) else rows[:, 0]
    start = np.flatnonzero(first)
    question = np.cumsum(first) - 1
    for_low = ((answers.response[said] < 0) == (left < right))[order]
    times = np.diff(start, append=len(rows)).astype(np.float64)
    one = np.bincount(question, for_low, minlength=len(start))
    pairs = times * (times - 1) / 2
    agreeing = (one * (one - 1) + (times - one) * (times - one - 1)) / 2
    again = times > 1
    return rows[start[again], 0].astype(np.int32), agreeing[again] / pairs[again]
