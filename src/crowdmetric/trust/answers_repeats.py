"""What repeated questions say: how far each person agrees with themselves.

Write s = +1 where an answer is for the first of the two items (in the order of the items, whatever
side it was on), -1 for the second, 0 for a tie. Let q_L be the mean of s over all the answers the
person might give with the first item on the left, and q_R with it on the right. Two answers to one
question that are independent of each other then have, on average, the product

    q_L^2 or q_R^2    asked the same way round
    q_L q_R           asked the other way round

and d = (q_L - q_R) / 2 is what the side does. The two squares of which ceilings are made are

    blind   ((q_L + q_R) / 2)^2    for who does not know, or use, the side
    sided   (q_L^2 + q_R^2) / 2    for who does

Only questions asked again the same way round tell of the second. For the first, those asked both
ways once do too, if the side moves all of a person's answers alike: blind = q_L q_R + d^2, with d^2
from all their questions together. (Where it moves them differently, that is too little.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons

__all__ = ["Repeats", "Squares", "repeats"]

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Squares:
    """A mean square for each person, with its standard error.

    Parameters
    ----------
    questions : ndarray of shape (K,)
        How many questions it rests on.
    mean : ndarray of shape (K,)
        Without bias, so that few questions may give less than 0; nan without any.
    error : ndarray of shape (K,)
        Its standard error.

    Examples
    --------
    >>> Squares(np.array([9]), np.array([0.5]), np.array([0.1])).mean
    array([0.5])
    """

    questions: Counts
    mean: Floats
    error: Floats


@dataclass(frozen=True, eq=False)
class Repeats:
    """What each person's answers to repeated questions say.

    Parameters
    ----------
    questions : ndarray of shape (K,)
        How many questions were asked more than once.
    agreement : ndarray of shape (K,)
        The share of pairs of answers to one question that are for the same item, averaged over
        questions; a tie agrees by half. nan without such a question.
    blind, sided : Squares
        The squares of which ceilings are made, without and with the side.
    side_known : bool
        Whether the data says who was shown what on which side.

    Examples
    --------
    >>> repeats(Comparisons.from_arrays([[0, 0, 1], [0, 1, 0]], [-1, 1])).agreement
    array([1.])
    """

    questions: Counts
    agreement: Floats
    blind: Squares
    sided: Squares
    side_known: bool


def repeats(comparisons: Comparisons) -> Repeats:
    """Look at the questions that were asked more than once, of one person, either way round.

    Parameters
    ----------
    comparisons : Comparisons
        All answers.

    Returns
    -------
    Repeats
        One entry for each person.

    Examples
    --------
    >>> twice = [[0, 0, 1], [0, 0, 1], [1, 0, 1]]
    >>> found = repeats(Comparisons.from_arrays(twice, [-1, 1, 1]))
    >>> found.questions, found.agreement
    (array([1, 0]), array([ 0., nan]))
    """
    # If all answers are for one side, the file tells winners from losers, and no more.
    side_known = bool(np.ptp(comparisons.response) > 0)
    asked = _Asked.of(comparisons, side_known)
    count = comparisons.n_users
    questions = np.bincount(asked.user, minlength=count)
    across = np.where(asked.both, asked.mean_left * asked.mean_right, 0.0)
    within = np.where(asked.again, asked.within, 0.0)
    # A question that was asked both ways and again each way round has both kinds of pairs.
    pairs = asked.pairs_across + asked.pairs_within
    product = (asked.pairs_across * across + asked.pairs_within * within) / pairs
    agreement = (1 + _mean_of(product, asked.user, count)) / 2
    full = asked.both & asked.again
    blind = np.where(full, (across + within) / 2, np.where(asked.both, across, within))
    of_blind = np.where(full, 0.0, np.where(asked.both, 1.0, -1.0))
    return Repeats(
        questions,
        agreement,
        _squares(blind, of_blind, asked, np.ones(len(blind), dtype=bool), count),
        _squares(within, np.zeros(len(within)), asked, asked.again, count),
        side_known,
    )


@dataclass(frozen=True, eq=False)
class _Asked:
    """The repeated questions: answers for the first item, by the side that it was on."""

    user: npt.NDArray[np.intp]
    both: npt.NDArray[np.bool_]  # asked both ways round
    again: npt.NDArray[np.bool_]  # asked at least twice one way round
    mean_left: Floats
    mean_right: Floats
    within: Floats  # mean product of answers given one way round
    pairs_across: Floats
    pairs_within: Floats

    @classmethod
    def of(cls, comparisons: Comparisons, side_known: bool) -> _Asked:
        """Group the answers by person and pair of items."""
        user, left, right = (
            column.astype(np.int64)
            for column in (comparisons.user, comparisons.left, comparisons.right)
        )
        n = comparisons.n_items
        key = (user * n + np.minimum(left, right)) * n + np.maximum(left, right)
        first_left = left < right
        s = np.where(first_left, -1.0, 1.0) * comparisons.response
        _, row, place, count = np.unique(
            key, return_index=True, return_inverse=True, return_counts=True
        )
        on_left = first_left if side_known else np.ones_like(first_left)
        kept = np.flatnonzero(count > 1)
        sides = [
            [
                np.bincount(place, mask * values, minlength=len(count))[kept]
                for values in (1, s, s**2)
            ]
            for mask in (on_left, ~on_left)
        ]
        (n_left, sum_left, squares_left), (n_right, sum_right, squares_right) = sides
        pairs_within = (n_left * (n_left - 1) + n_right * (n_right - 1)) / 2
        doubled = sum_left**2 - squares_left + sum_right**2 - squares_right
        return cls(
            user=user[row[kept]],
            both=(n_left > 0) & (n_right > 0),
            again=pairs_within > 0,
            mean_left=sum_left / np.maximum(n_left, 1),
            mean_right=sum_right / np.maximum(n_right, 1),
            within=doubled / np.maximum(2 * pairs_within, 1),
            pairs_across=np.asarray(n_left * n_right, dtype=np.float64),
            pairs_within=pairs_within,
        )


def _squares(
    base: Floats, of_side: Floats, asked: _Asked, kept: npt.NDArray[np.bool_], count: int
) -> Squares:
    """Return the mean over a person's kept questions of base + of_side * d^2, with its error."""
    both = asked.both
    d = (asked.mean_left - asked.mean_right) / 2
    shown = asked.user[both]
    n = np.bincount(shown, minlength=count)
    total = np.bincount(shown, d[both], minlength=count)
    squares = np.bincount(shown, d[both] ** 2, minlength=count)
    # Over pairs of different questions, so that chance alone averages to 0.
    d_squared = (total**2 - squares) / np.maximum(n * (n - 1), 1)
    user = asked.user[kept]
    share = _mean_of(of_side[kept], user, count)
    plain = _mean_of(base[kept], user, count)
    mean = plain + share * d_squared
    middle = total / np.maximum(n, 1)
    questions = np.bincount(user, minlength=count)
    # How much each question moves the estimate, to first order.
    per_d = 2 * share * middle * questions / np.maximum(n, 1)
    moved = (
        base - plain[asked.user] + np.where(both, per_d[asked.user] * (d - middle[asked.user]), 0.0)
    )
    spread = np.bincount(user, moved[kept] ** 2, minlength=count)
    # Two more questions, one agreed on and one not: no run of luck makes the error zero.
    error = np.sqrt((spread + 2.0) / np.maximum(questions, 1)) / np.sqrt(questions + 2.0)
    return Squares(questions, mean, np.where(questions > 0, error, np.nan))


def _mean_of(values: Floats, user: npt.NDArray[np.intp], count: int) -> Floats:
    """Return each person's mean; nan for who has none."""
    number = np.bincount(user, minlength=count)
    mean = np.full(count, np.nan)
    np.divide(np.bincount(user, values, minlength=count), number, out=mean, where=number > 0)
    return mean
