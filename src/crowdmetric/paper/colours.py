"""The paper's experiment on colour preferences: a crowd's metric, CIELAB's own, one for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Answers, Comparisons
from crowdmetric.losses import Hinge
from crowdmetric.paper.colour_data import ColourData, read_colours
from crowdmetric.paper.rows import Row, fit, labelled, predictions
from crowdmetric.problem import Problem
from crowdmetric.regions import FixedMetric, FrobeniusMetric

__all__ = ["METHODS", "Colours", "colour_problems", "metric_measure"]

METHODS = ("crowd", "identity", "individual")
"""A metric for all, the identity for all, and a metric for each."""

_TOLERANCE = 1e-5
_POINT_RADIUS = 2.0

Indices = npt.NDArray[np.intp]


def metric_measure(row: int, column: int) -> str:
    """Return the measure that an entry of the crowd's metric is.

    Examples
    --------
    >>> metric_measure(0, 2)
    'metric_13'
    """
    return f"metric_{row + 1}{column + 1}"


@dataclass(frozen=True)
class Colours:
    """How to split the answers of each person.

    Parameters
    ----------
    name : str
        Of the way to split.
    sizes : tuple of int
        Training pairs per person, ascending; each set holds the one before.
    together : bool
        Whether a pair and its reversal stay on one side: else, most test answers have been given
        in training, the other way round.
    training : int
        Training answers per person; the others are for testing.
    path : str
        The data file; which file it is says nothing about the experiment.
    """

    name: str
    sizes: tuple[int, ...]
    together: bool = False
    training: int = 300
    path: str = field(default="", repr=False, compare=False)
    rank: ClassVar[None] = None
    beta: ClassVar[None] = None

    @property
    def experiment(self) -> str:
        """The name in the table of results."""
        return self.name

    def run(self, seed: int) -> list[Row]:
        """Run one trial.

        Parameters
        ----------
        seed : int
            Of the split.

        Returns
        -------
        list of Row
            For every size and method.
        """
        data = _data(self.path)
        rows: list[Row] = []
        training, test_rows = self.split(data, np.random.default_rng(seed))
        test = data.answers.subset(test_rows)
        for size in self.sizes:
            answers = data.answers.subset(training[:, :size].ravel()).answers()
            for method, problem in colour_problems(answers, data.features).items():
                solution, measures = fit(problem, _TOLERANCE)
                measures |= predictions(solution.metric, solution.points, data.features, test)
                if method == "crowd" and size == self.sizes[-1]:
                    entries = np.ndenumerate(solution.metric)
                    measures |= {metric_measure(*at): value for at, value in entries}
                rows += labelled(method, size, measures)
        return rows

    def split(self, data: ColourData, generator: np.random.Generator) -> tuple[Indices, Indices]:
        """Return the training rows of each person in the order of use, and all test rows.

        Parameters
        ----------
        data : ColourData
            All answers.
        generator : numpy.random.Generator
            Draws the split.

        Returns
        -------
        ndarray of shape (K, training)
            Rows of the answers, person by person.
        ndarray
            Rows to test on.
        """
        answers = data.answers
        pair = _pairs(answers) if self.together else np.arange(len(answers))
        training, test = [], []
        for user in range(answers.n_users):
            rows = np.flatnonzero(answers.user == user)
            _, of_row = np.unique(pair[rows], return_inverse=True)
            place = generator.permutation(of_row.max() + 1)[of_row]
            order = rows[np.argsort(place, kind="stable")]
            # What is left of a pair that straddles the cut is in neither part.
            beyond = order[self.training :]
            test.append(beyond[~np.isin(pair[beyond], pair[order[: self.training]])])
            training.append(generator.permutation(order[: self.training]))
        return np.stack(training), np.concatenate(test)


def colour_problems(answers: Answers, features: Floats) -> dict[str, Problem]:
    """Return what each method solves, within radii as if the true metric were the identity.

    Parameters
    ----------
    answers : Answers
        To learn from.
    features : ndarray of shape (n, 3)
        In the unit ball.

    Returns
    -------
    dict of str to Problem
        By method.
    """
    learned = FrobeniusMetric(float(np.sqrt(3.0)), _POINT_RADIUS)
    given = FixedMetric(np.eye(3), _POINT_RADIUS)
    return {
        "crowd": Problem(answers, features, Hinge(), learned),
        "identity": Problem(answers, features, Hinge(), given),
        "individual": Problem(answers, features, Hinge(), learned, single=True),
    }


def _pairs(answers: Comparisons) -> Indices:
    """Return the same number for a person's answers about the same two colours."""
    low, high = np.minimum(answers.left, answers.right), np.maximum(answers.left, answers.right)
    result: Indices = (answers.user.astype(np.intp) * answers.n_items + low) * answers.n_items
    return result + high


@lru_cache(maxsize=1)
def _data(path: str) -> ColourData:
    """Read the data once for all trials of a process."""
    return read_colours(path)
