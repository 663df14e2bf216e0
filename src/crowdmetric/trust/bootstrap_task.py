"""What is resampled: a problem, and how often each of its answers is in each resample."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from crowdmetric import __version__
from crowdmetric.checks import Floats
from crowdmetric.problem import Problem

__all__ = ["Over", "Task"]

Over = Literal["answers", "people"]

_TOLERANCE_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class Task:
    """A problem whose answers are to be drawn again, with replacement.

    Parameters
    ----------
    problem : Problem
        What was fitted, with one metric for all users.
    user : ndarray of int
        Who gave each comparison.
    row : ndarray of int
        The comparison that each answer comes from: a tie is two answers, which stay together.
    over : {"answers", "people"}
        Each person's answers are drawn from that person's, or whole people from the crowd.
    seed : int
        The root of all draws.

    Examples
    --------
    >>> from crowdmetric import simulate
    >>> from crowdmetric.losses import Logistic
    >>> from crowdmetric.regions import NuclearFull
    >>> crowd = simulate(n_users=2, pairs_per_user=3)
    >>> answers = crowd.comparisons.answers()
    >>> problem = Problem(answers, crowd.items.features, Logistic(), NuclearFull(9.0))
    >>> task = Task(problem, crowd.comparisons.user, np.arange(6), "answers", seed=0)
    >>> int(task.counts(7).sum()), int(task.counts(7)[:3].sum())
    (6, 3)
    """

    problem: Problem
    user: npt.NDArray[np.integer]
    row: npt.NDArray[np.integer]
    over: Over
    seed: int

    @cached_property
    def fingerprint(self) -> str:
        """What a saved resample must have been made with to be used again."""
        answers, problem = self.problem.answers, self.problem
        digest = hashlib.sha256(f"{__version__} {self.over} {self.seed}".encode())
        digest.update(f"{problem.loss!r} {problem.region!r} {answers.n_users}".encode())
        columns = (answers.user, answers.left, answers.right, answers.sign, answers.weight)
        for array in (*columns, self.user, self.row, problem.features):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    @property
    def tolerance(self) -> float:
        """The gap that a refit must certify: a twentieth of what chance adds to the risk.

        Were it unregularised, the risk of a fit would exceed the least one in the long run by its
        number of unknowns over twice the number of answers (Akaike).
        """
        d, users = self.problem.features.shape[1], self.problem.answers.n_users
        unknowns = d * (d + 1) / 2 + users * d
        return float(min(_TOLERANCE_SHARE * unknowns / (2 * len(self.problem.answers)), 1e-3))

    def counts(self, resample: int) -> npt.NDArray[np.integer]:
        """Return how often each comparison is in a resample.

        Parameters
        ----------
        resample : int
            Which one; the same seed and number give the same draw.

        Returns
        -------
        ndarray of int
            One for each comparison.
        """
        generator = np.random.default_rng([self.seed, resample])
        user = self.user
        if self.over == "people":
            people = np.flatnonzero(np.bincount(user, minlength=self.problem.answers.n_users))
            drawn = generator.choice(people, size=len(people))
            times = np.bincount(drawn, minlength=int(user.max()) + 1)
            return np.asarray(times[user], dtype=np.intp)
        # Whoever has n answers draws n times; sorted by user, the draws of a user are neighbours.
        order, first, size = self._runs
        picked = order[first + np.floor(generator.random(len(user)) * size).astype(np.intp)]
        return np.bincount(picked, minlength=len(user))

    def weights(self, resample: int) -> Floats:
        """Return what each answer weighs in a resample.

        Parameters
        ----------
        resample : int
            Which one.

        Returns
        -------
        ndarray of shape (m,)
            Its own weight, as often as it was drawn.
        """
        result: Floats = self.counts(resample)[self.row] * self.problem.answers.weight
        return result

    @cached_property
    def _runs(self) -> tuple[npt.NDArray[np.intp], ...]:
        """The comparisons by user; where the run of each begins, and how long it is."""
        order = np.argsort(self.user, kind="stable")
        by_user = self.user[order]
        count = np.bincount(by_user, minlength=self.problem.answers.n_users)
        start = np.concatenate([[0], np.cumsum(count)[:-1]])
        return order, start[by_user], count[by_user]
