"""The noise ceiling: the accuracy that the best predictor there could be would reach.

Whoever answers a question for the first item with probability p is predicted rightly, at best, with
probability (1 + |q|) / 2, where q = 2 p - 1. Two answers to a question tell of q^2 only. So, with m
the mean of q^2 over questions,

    (1 + m) / 2  <=  ceiling  <=  (1 + sqrt(m)) / 2

because |q| is between q^2 and 1, and the mean of a root is at most the root of the mean. Between
these bounds, the estimate supposes that answers are logistic in the margins, as in the paper, and
that a person's margins have the density exp(-|margin| / size): most are small and some large. For
crowds simulated as in the paper (rank 1 to 10, beta 1 and 4) that is off by half a percentage point
at most, and normally distributed margins would be by 1.2 points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons
from crowdmetric.errors import SettingError
from crowdmetric.trust.answers_repeats import Squares, repeats

__all__ = ["Ceiling", "ceiling_of", "noise_ceiling", "person_ceilings"]


@dataclass(frozen=True)
class Ceiling:
    """The best accuracy that is possible for a crowd's answers.

    Parameters
    ----------
    estimate : float
        With the margins that the module describes.
    low, high : float
        Its interval: what chance in the repeated questions leaves open.
    at_least, at_most : float
        Bounds that suppose nothing, at the estimated self-agreement.
    questions : int
        How many repeated questions it rests on.

    Examples
    --------
    >>> print(Ceiling(0.85, 0.83, 0.87, 0.77, 0.86, 400))
    85.0% (83.0% to 87.0%) from 400 repeated questions
    """

    estimate: float
    low: float
    high: float
    at_least: float
    at_most: float
    questions: int

    def __str__(self) -> str:
        """Return one line."""
        return (
            f"{self.estimate:.1%} ({self.low:.1%} to {self.high:.1%}) from {self.questions} "
            "repeated questions"
        )


def noise_ceiling(
    comparisons: Comparisons, *, side: bool = False, level: float = 0.9
) -> Ceiling | None:
    """Estimate the noise ceiling from questions that were asked more than once.

    Parameters
    ----------
    comparisons : Comparisons
        Answers with repeated questions, the same or the other way round.
    side : bool
        Whether the predictor may use which item was on the left. Only questions that were asked
        again the same way round tell.
    level : float
        How sure the interval is.

    Returns
    -------
    Ceiling or None
        None if no question was repeated.

    Examples
    --------
    >>> questions = [[0, i, i + 1] for i in range(20)] + [[0, i + 1, i] for i in range(20)]
    >>> answers = Comparisons.from_arrays(questions, [-1] * 20 + [1] * 18 + [-1] * 2)
    >>> found = noise_ceiling(answers)
    >>> print(f"{found.at_least:.2f} <= {found.estimate:.2f} <= {found.at_most:.2f}")
    0.90 <= 0.93 <= 0.95
    """
    found = repeats(comparisons)
    answered = np.bincount(comparisons.user, minlength=comparisons.n_users)
    squares = found.sided if side else found.blind
    return ceiling_of(squares, answered.astype(np.float64), level=level)


def ceiling_of(squares: Squares, answered: Floats, *, level: float = 0.9) -> Ceiling | None:
    """Estimate the noise ceiling from what is known about repeated questions.

    Parameters
    ----------
    squares : Squares
        Those of `repeats`, without or with the side.
    answered : ndarray of shape (K,)
        How many answers each person gave: how much each counts.
    level : float
        As in `noise_ceiling`.

    Returns
    -------
    Ceiling or None
        None if no question was repeated.

    Examples
    --------
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 1])
    >>> ceiling_of(repeats(answers).blind, np.array([2.0])) is None
    True
    """
    if not 0 < level < 1:
        raise SettingError(f"the level of an interval must lie between 0 and 1, not {level}")
    some = squares.questions > 0
    if not some.any():
        return None
    share = answered[some] / answered[some].sum()
    shrunk = _shrunk(squares)[some]
    error = float(np.sqrt(share**2 @ squares.error[some] ** 2))
    reach = float(ndtri((1 + level) / 2)) * error

    def mean_of(move: float) -> float:
        return float(share @ (1 + _mean_size(np.clip(shrunk + move, 0.0, 1.0))) / 2)

    inside = np.clip(shrunk, 0.0, 1.0)
    return Ceiling(
        estimate=mean_of(0.0),
        low=mean_of(-reach),
        high=mean_of(reach),
        at_least=float(share @ (1 + inside) / 2),
        at_most=float(share @ (1 + np.sqrt(inside)) / 2),
        questions=int(squares.questions.sum()),
    )


def person_ceilings(squares: Squares) -> Floats:
    """Estimate each person's ceiling; who had few repeated questions is drawn to the mean.

    Parameters
    ----------
    squares : Squares
        Those of `repeats`, without or with the side.

    Returns
    -------
    ndarray of shape (K,)
        nan without repeated questions.

    Examples
    --------
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 0], [1, 0, 1]], [-1, 1, 1])
    >>> person_ceilings(repeats(answers).blind).round(2)
    array([ 1., nan])
    """
    result: Floats = (1 + _mean_size(np.clip(_shrunk(squares), 0.0, 1.0))) / 2
    return result


def _shrunk(squares: Squares) -> Floats:
    """Draw each person's square to the mean, the more the less is known (empirical Bayes)."""
    questions = squares.questions
    some = questions > 0
    if not some.any():
        return np.full(len(questions), np.nan)
    mean, error = squares.mean[some], squares.error[some]
    share = questions[some] / questions[some].sum()
    # One error for all but for their number of questions: who agrees more has less, and would
    # otherwise be drawn to the mean less than others, which would move the mean.
    error = np.sqrt(share @ (error**2 * questions[some]) / questions[some])
    centre = float(share @ mean)
    # Variance between people, by the method of moments: what chance does not explain.
    chance = share @ (error**2 * (1 - share))
    between = max(float(share @ (mean - centre) ** 2 - chance), 0.0)
    between /= max(1 - float(share @ share), 1e-12)
    result = np.full(len(questions), np.nan)
    result[some] = centre + between / (between + error**2) * (mean - centre)
    return result


def _mean_size(square: Floats) -> Floats:
    """Return the mean of |q| given that of q^2, for q = tanh(margin / 2)."""
    squares, sizes = _table()
    result: Floats = np.interp(square, squares, sizes)
    return result


@lru_cache(maxsize=1)
def _table() -> tuple[Floats, Floats]:
    """Return the means of q^2 and |q| for margins from tiny to huge."""
    quantiles = -np.log((np.arange(2000) + 0.5) / 2000)
    q = np.tanh(np.outer(np.geomspace(1e-3, 1e3, 400), quantiles) / 2)
    squares, sizes = (q**2).mean(axis=1), np.abs(q).mean(axis=1)
    return np.concatenate([[0.0], squares, [1.0]]), np.concatenate([[0.0], sizes, [1.0]])
