"""Which answers are predicted from which: so that nobody is judged by answers already seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons
from crowdmetric.errors import DataError, FoldsError, SettingError
from crowdmetric.losses import Link, Loss
from crowdmetric.splits import PairFolds

__all__ = ["LeftOut", "Rounds"]


@dataclass(frozen=True, eq=False)
class Rounds:
    """Rounds of fitting to some answers and predicting others; each answer is predicted once.

    Parameters
    ----------
    answers : Comparisons
        All that are predicted, with a model's codes.
    rounds : tuple of pairs
        For each round the comparisons to fit to, and the rows of ``answers`` to predict.
    how : str
        A sentence that says so.

    Examples
    --------
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2], [0, 2, 3]], [-1, 1, 1])
    >>> rounds = Rounds.folds(answers, 3, seed=0)
    >>> [(len(train), len(rows)) for train, rows in rounds.rounds]
    [(2, 1), (2, 1), (2, 1)]
    """

    answers: Comparisons
    rounds: tuple[tuple[Comparisons, np.ndarray[tuple[int], np.dtype[np.intp]]], ...]
    how: str

    @classmethod
    def folds(cls, answers: Comparisons, count: int, seed: int) -> Rounds:
        """Leave out one fold of the answers after the other.

        Parameters
        ----------
        answers : Comparisons
            A question asked again, or the other way round, stays in one fold.
        count : int
            How many folds; as many as there are different questions, if those are fewer.
        seed : int
            Of the folds.

        Returns
        -------
        Rounds
            One per fold.

        Examples
        --------
        >>> Rounds.folds(Comparisons.from_arrays([[0, 0, 1]], [1]), 5, seed=0)
        Traceback (most recent call last):
        crowdmetric.errors.DataError: all answers are about one question, so none can be left out
        and predicted from the others; give more answers, or those the model was fitted to apart
        """
        if count < 2:
            raise SettingError(f"there must be at least 2 folds, not {count}")
        triples = np.column_stack([answers.user, answers.left, answers.right]).astype(np.int64)
        for splits in range(count, 1, -1):
            try:
                found = list(PairFolds(splits, random_state=seed).split(triples))
            except FoldsError:
                continue
            how = f"answers left out, in {splits} folds, by fits to the others"
            rounds = tuple((answers.subset(train), test) for train, test in found)
            return cls(answers, rounds, how)
        raise DataError(
            "all answers are about one question, so none can be left out and predicted from the "
            "others; give more answers, or those the model was fitted to apart"
        )

    @classmethod
    def unseen(cls, training: Comparisons, answers: Comparisons) -> Rounds:
        """Predict answers from others that are not among them.

        Parameters
        ----------
        training : Comparisons
            To fit to.
        answers : Comparisons
            To predict.

        Returns
        -------
        Rounds
            One round.

        Examples
        --------
        >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 1])
        >>> len(Rounds.unseen(answers.subset([0]), answers.subset([1])).rounds)
        1
        """
        how = "answers that the fit has not seen"
        return cls(answers, ((training, np.arange(len(answers))),), how)

    def margins(self, fitted: Callable[[Comparisons], Callable[[Comparisons], Floats]]) -> Floats:
        """Return the margin of every answer, predicted from a fit that has not seen it.

        Parameters
        ----------
        fitted : callable
            From comparisons to fit to, to a function from questions to margins.

        Returns
        -------
        ndarray of shape (m,)
            In the order of the answers.

        Examples
        --------
        >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 1])
        >>> rounds = Rounds.folds(answers, 2, seed=0)
        >>> rounds.margins(lambda train: lambda asked: np.full(len(asked), train.response[0]))
        array([ 1., -1.])
        """
        found = np.empty(len(self.answers))
        for training, rows in self.rounds:
            found[rows] = fitted(training)(self.answers.subset(rows))
        return found


@dataclass(frozen=True, eq=False)
class LeftOut:
    """How well answers were predicted, one by one.

    Parameters
    ----------
    correct : ndarray of shape (m,)
        1 where the side was predicted, 0 where not, 1/2 for a tie.
    log_loss : ndarray of shape (m,), optional
        Minus the log of the predicted probability of the answer; None if there is none.

    Examples
    --------
    >>> from crowdmetric.losses import Hinge, Logistic
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 0])
    >>> LeftOut.of(np.array([-2.0, 1.0]), answers, Hinge()).correct
    array([1. , 0.5])
    >>> LeftOut.of(np.zeros(2), answers, Logistic()).log_loss.round(4)
    array([0.6931, 0.6931])
    """

    correct: Floats
    log_loss: Floats | None

    @classmethod
    def of(cls, margins: Floats, answers: Comparisons, loss: Loss) -> LeftOut:
        """Compare predictions with answers.

        Parameters
        ----------
        margins : ndarray of shape (m,)
            Predicted; negative for left.
        answers : Comparisons
            What was answered.
        loss : Loss
            Minus a log-likelihood, if there are to be probabilities.

        Returns
        -------
        LeftOut
            Answer by answer.
        """
        response = answers.response.astype(np.float64)
        correct = 0.5 * (1 + response * np.where(margins < 0, -1.0, 1.0))
        if not isinstance(loss, Link):
            return cls(correct, None)
        right = 0.5 * (1 + response)
        return cls(correct, right * loss.value(margins) + (1 - right) * loss.value(-margins))
