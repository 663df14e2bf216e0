"""Beyond the paper: a kernel lift and a shared point on the colours, beside the paper's model.

Length scale and radius are chosen by cross-validation among the training answers. There are three
splits: the paper's, one that keeps a pair and its reversal on one side, and one that keeps some
colours out of training altogether.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons
from crowdmetric.features import FeatureMap, KernelLift, Matern, Raw, SharedPoint
from crowdmetric.losses import Logistic
from crowdmetric.paper.colour_data import FEATURES, ColourData, read_colours
from crowdmetric.paper.colours import Colours, Indices, colour_problems
from crowdmetric.paper.rows import Row, fit, labelled, predictions
from crowdmetric.problem import Problem
from crowdmetric.regions import NuclearFull
from crowdmetric.solver import Path
from crowdmetric.splits import PairFolds

__all__ = ["METHODS", "SIZES", "SPLITS", "Richer", "choose"]

METHODS = ("crowd", "lifted")
"""The paper's model and ours."""

SIZES = (20, 50, 300)
SPLITS = ("paper", "together", "unseen")
"""Single answers at random; pairs with their reversals; colours that nobody was asked about."""

_LENGTHS = (0.5, 1.0)  # in medians of the distance between colours
_RADII = tuple(6.0 * 2.0**k for k in range(4))  # times the root of the number of people
_FOLDS = 3
_ENOUGH = 4_000  # answers left out tell accuracies apart that differ by a point
_COARSE, _TOLERANCE = 1e-3, 1e-4
_HELD_OUT = 7  # colours of 37


@dataclass(frozen=True)
class Richer:
    """One way to split the answers, and what both models make of it.

    Parameters
    ----------
    split : {"paper", "together", "unseen"}
        What the test answers have in common with those trained on.
    sizes : tuple of int
        Training pairs per person.
    path : str
        The data file.

    Examples
    --------
    >>> Richer("unseen").name
    'richer-unseen'
    """

    split: str
    sizes: tuple[int, ...] = SIZES
    path: str = field(default="", repr=False, compare=False)
    rank: ClassVar[None] = None
    beta: ClassVar[None] = None

    @property
    def name(self) -> str:
        """Unique among experiments."""
        return f"richer-{self.split}"

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
        training, test_rows, known = self._rows(data, np.random.default_rng(seed))
        test = data.answers.subset(test_rows)
        rows: list[Row] = []
        for size in self.sizes:
            answers = data.answers.subset(training[:, :size].ravel())
            problem = colour_problems(answers.answers(), data.features)["crowd"]
            rows += labelled("crowd", size, _measured(problem, test))
            problem, chosen = _lifted(answers, data.features, known, seed)
            rows += labelled("lifted", size, _measured(problem, test) | chosen)
        return rows

    def _rows(
        self, data: ColourData, generator: np.random.Generator
    ) -> tuple[Indices, Indices, Indices]:
        """Return the training rows of each person, all test rows, and the colours of training."""
        answers = data.answers
        if self.split != "unseen":
            together = self.split == "together"
            training, test = Colours(self.name, self.sizes, together).split(data, generator)
            return training, test, np.arange(answers.n_items)
        order = generator.permutation(answers.n_items)
        new = np.isin(answers.left, order[:_HELD_OUT]) | np.isin(answers.right, order[:_HELD_OUT])
        known = [
            generator.permutation(np.flatnonzero(~new & (answers.user == user)))
            for user in range(answers.n_users)
        ]
        training = np.stack([rows[: max(self.sizes)] for rows in known])
        return training, np.flatnonzero(new), np.sort(order[_HELD_OUT:])


def choose(
    answers: Comparisons, lifted: Sequence[Floats], radii: Sequence[float], seed: int
) -> tuple[int, float]:
    """Choose features and a radius by the accuracy on answers left out, pairs kept together.

    Parameters
    ----------
    answers : Comparisons
        To learn from: nothing else is looked at.
    lifted : sequence of ndarray of shape (n, r)
        The features to choose from.
    radii : sequence of float
        Ascending.
    seed : int
        Of the folds.

    Returns
    -------
    int
        Which features.
    float
        Which radius.
    """
    triples = np.column_stack([answers.user, answers.left, answers.right])
    folds = list(PairFolds(_FOLDS, random_state=seed).split(triples))
    folds = folds[: math.ceil(_ENOUGH * _FOLDS / len(answers))]
    found = np.zeros((len(lifted), len(radii)))
    for which, x in enumerate(lifted):
        for train, test in folds:
            learned, left_out = answers.subset(train).answers(), answers.subset(test)
            path = Path(Problem(learned, x, Logistic(), NuclearFull(radii[0])), tol=_COARSE)
            for k, radius in enumerate(radii):
                solution = path.solve(NuclearFull(radius))
                right = predictions(solution.metric, solution.points, x, left_out)
                found[which, k] += right["accuracy"]
    best = np.unravel_index(int(np.argmax(found)), found.shape)
    return int(best[0]), radii[int(best[1])]


def _lifted(
    answers: Comparisons, raw: Floats, known: Indices, seed: int
) -> tuple[Problem, dict[str, float]]:
    """Return the problem of our model, and what was chosen; maps see the known colours alone."""
    maps: list[FeatureMap] = [
        SharedPoint(KernelLift(Matern(relative=length), scaling=Raw())).fit(raw[known], FEATURES)
        for length in _LENGTHS
    ]
    lifted = [one.transform(raw) for one in maps]
    radii = [factor * math.sqrt(answers.n_users) for factor in _RADII]
    which, radius = choose(answers, lifted, radii, seed)
    problem = Problem(answers.answers(), lifted[which], Logistic(), NuclearFull(radius))
    return problem, {"radius": radius, "length_scale": _LENGTHS[which]}


def _measured(problem: Problem, test: Comparisons) -> dict[str, float]:
    """Solve, and return how that went and what it predicts."""
    solution, measures = fit(problem, _TOLERANCE)
    return measures | predictions(solution.metric, solution.points, problem.features, test)


@lru_cache(maxsize=1)
def _data(path: str) -> ColourData:
    """Read the data once for all trials of a process."""
    return read_colours(path)
