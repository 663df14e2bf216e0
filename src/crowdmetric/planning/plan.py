"""Planning: simulate a study at many sizes, and read off how many comparisons it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdmetric.checks import Floats
from crowdmetric.files import new_folder
from crowdmetric.planning.curve import Curve, Needed, needed
from crowdmetric.planning.noise import consistency
from crowdmetric.planning.study import Study
from crowdmetric.planning.target import Outlook, Target, outlook
from crowdmetric.planning.trial import ALPHAS, COLUMNS, Row, Trial, ideal_point_error, trials
from crowdmetric.units import Progress, run_all

__all__ = ["Plan", "example", "plan_study"]


@dataclass(frozen=True, eq=False)
class Plan:
    """How many comparisons a study takes.

    Parameters
    ----------
    study : Study
        What was assumed.
    target : Target
        What is to be reached.
    outlook : Outlook
        The best possible, and what guessing comes to.
    consistency : float
        How often a person answers the same question the same way twice.
    curves : mapping
        The learning curves by number of people and measure.
    needed : mapping
        Comparisons per person by number of people; among them the study's.
    alphas : ndarray of shape (S,)
        How strongly to regularise the study's ideal points, for each size: what came out best.
    """

    study: Study
    target: Target
    outlook: Outlook
    consistency: float
    curves: Mapping[int, Mapping[str, Curve]]
    needed: Mapping[int, Needed]
    alphas: Floats

    @classmethod
    def of(
        cls, study: Study, target: Target, hopes: Outlook, rows: Mapping[Trial, list[Row]]
    ) -> Plan:
        """Return what the rows of trials come to.

        Parameters
        ----------
        study : Study
            What was assumed.
        target : Target
            What is to be reached.
        hopes : Outlook
            What can be.
        rows : mapping
            By trial; some of them with the study's own number of people.

        Returns
        -------
        Plan
            How many comparisons it takes.

        Examples
        --------
        >>> sorted(example().needed)
        [3, 6]
        """
        users = sorted({trial.users for trial in rows})
        found = {count: _curves(rows, count) for count in users}
        curves = {count: of_count for count, (of_count, _) in found.items()}
        answers = {
            count: needed(curves[count][target.measure], target, study.seed) for count in users
        }
        alphas = found[study.users][1] * study.dimension
        return cls(study, target, hopes, consistency(study), curves, answers, alphas)

    @property
    def answer(self) -> Needed:
        """The comparisons per person for the study's own number of people.

        Examples
        --------
        >>> plan = example()
        >>> plan.answer == plan.needed[plan.study.users]
        True
        """
        return self.needed[self.study.users]

    def curve(self, users: int) -> Curve:
        """Return the learning curve of the measure aimed at.

        Examples
        --------
        >>> example().curve(users=6).sizes
        array([ 5, 15, 45])
        """
        return self.curves[users][self.target.measure]

    @property
    def largest_gap(self) -> float:
        """How far the worst of all fits is, at most, from the best there is.

        Examples
        --------
        >>> example().largest_gap <= 1e-6
        True
        """
        return max(float(curves["gap"].values.max()) for curves in self.curves.values())

    def facts(self) -> dict[str, Any]:
        """Return what scripts want to know.

        Returns
        -------
        dict
            Numbers and words only.

        Examples
        --------
        >>> facts = example().facts()
        >>> facts["measure"], facts["users"], len(facts["curve"])
        ('accuracy_share', 6, 3)
        """
        study, answer = self.study, self.answer
        return {
            "answer": answer.pairs,
            "interval": [answer.low, answer.high],
            "answer_for_most": answer.pairs_for_most,
            "measure": self.target.measure,
            "target": self.target.value,
            "best_possible": self.outlook.best,
            "guessing": self.outlook.nothing,
            "best_accuracy": self.outlook.best_accuracy,
            "items": study.n_items,
            "features": study.dimension,
            "rank": study.rank,
            "noise": study.noise,
            "consistency": self.consistency,
            "users": study.users,
            "trials": study.trials,
            "seed": study.seed,
            "radius": "oracle" if study.quick else "cross-validation",
            "largest_gap": self.largest_gap,
            "curve": self._levels(study.users),
            "alphas": self.alphas.tolist(),
            "trade": [
                {
                    "users": users,
                    "answer": found.pairs,
                    "interval": [found.low, found.high],
                    "answers_in_all": None if found.pairs is None else users * found.pairs,
                    "curve": self._levels(users),
                }
                for users, found in self.needed.items()
            ],
        }

    def _levels(self, users: int) -> list[dict[str, float]]:
        """Return the points of a learning curve."""
        curve = self.curve(users)
        columns = (curve.sizes, curve.mean, curve.error, curve.met(self.target))
        names = ("pairs", "mean", "standard_error", "studies_that_reach_it")
        points = zip(*(column.tolist() for column in columns), strict=True)
        return [dict(zip(names, point, strict=True)) for point in points]


def plan_study(
    study: Study,
    target: Target,
    folder: Path,
    workers: int,
    other_users: Sequence[int] = (),
    progress: Progress | None = None,
) -> Plan:
    """Simulate a study, or what is left of it to simulate, and find what it takes.

    Parameters
    ----------
    study : Study
        What is assumed.
    target : Target
        What to reach.
    folder : Path
        Keeps what has been simulated, so that the next plan of this study need not.
    workers : int
        How many processes.
    other_users : sequence of int
        Further numbers of people to try.
    progress : callable, optional
        Called with the numbers of trials that are done, and that were to be done.

    Returns
    -------
    Plan
        How many comparisons it takes.

    Raises
    ------
    TargetError
        If no number of comparisons reaches the target, or none are needed.
    OutputError
        If the folder cannot be written to.

    Examples
    --------
    >>> study = Study(n_items=12, dimension=2, users=6, rank=2, noise=1.0, sizes=(5, 15, 45))
    >>> plan_study(study, Target("accuracy", 0.99), Path("units"), workers=1)
    Traceback (most recent call last):
    crowdmetric.errors.TargetError: no number of comparisons reaches 99% of new answers predicted:
    the best possible here is ...
    """
    users = sorted({study.users, *other_users})
    for count in users:
        replace(study, users=count)  # refuses what cannot be simulated
    with new_folder(folder):
        hopes = outlook(study, target)
        rows = run_all(trials(study, users), COLUMNS, folder, workers, progress)
    return Plan.of(study, target, hopes, rows)


def example() -> Plan:
    """Return a small plan, made without other processes, for the examples in this room.

    Examples
    --------
    >>> example().study.users
    6
    """
    study = Study(12, 2, users=6, rank=2, noise=2.0, sizes=(5, 15, 45), trials=3, quick=True)
    target = Target("accuracy_share", 0.93)
    rows = {trial: trial.run() for trial in trials(study, [3, 6])}
    return Plan.of(study, target, outlook(study, target), rows)


def _curves(rows: Mapping[Trial, list[Row]], users: int) -> tuple[dict[str, Curve], Floats]:
    """Return the curves of every measure, and the strengths of `ALPHAS` that are best by size."""
    tables = [
        {(measure, pairs): value for pairs, measure, value in measured}
        for trial, measured in rows.items()
        if trial.users == users
    ]
    sizes = np.array(sorted({pairs for _, pairs in tables[0]}))

    def curve(measure: str) -> Curve:
        """Return the curve of one measure."""
        return Curve(sizes, np.array([[of[measure, size] for size in sizes] for of in tables]))

    points = [curve(ideal_point_error(alpha)) for alpha in ALPHAS]
    best = np.argmin([one.mean for one in points], axis=0)
    each_best = np.column_stack([points[row].values[:, at] for at, row in enumerate(best)])
    curves = {name: curve(name) for name in ("accuracy_share", "accuracy", "metric_error", "gap")}
    return curves | {"ideal_point_error": Curve(sizes, each_best)}, np.array(ALPHAS)[best]
