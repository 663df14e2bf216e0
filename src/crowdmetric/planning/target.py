"""What a study is to reach, and what is out of reach whatever is asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons
from crowdmetric.errors import SettingError, TargetError, did_you_mean
from crowdmetric.planning.crowds import asked, draw_crowd, expected_accuracy
from crowdmetric.planning.study import Study
from crowdmetric.planning.trial import against_truth, oracle_fit
from crowdmetric.plots.common import percent
from crowdmetric.simulation import Simulation

__all__ = ["MEASURES", "Outlook", "Target", "outlook"]

MEASURES = {
    "accuracy_share": "{} of the best possible accuracy",
    "accuracy": "{} of new answers predicted",
    "metric_error": "an error of the metric of {}",
    "ideal_point_error": "an error of the ideal points of {}",
}
"""What can be aimed at, and how to say it; errors are relative, as in the paper's experiments."""

_CROWDS = 10
_CROWDS_OF_ERRORS = 3  # each costs a fit to all answers there could be
_MOST_QUESTIONS = 2000  # per person: more say no more about d features
_EXACT = 1e-7


@dataclass(frozen=True)
class Target:
    """A measure, and the value that it is to reach on average over studies like this.

    Parameters
    ----------
    measure : {"accuracy_share", "accuracy", "metric_error", "ideal_point_error"}
        What is measured.
    value : float
        Between 0 and 1.

    Examples
    --------
    >>> print(Target("metric_error", 0.2))
    an error of the metric of 20%
    >>> Target("metric_error", 0.2).met(np.array([0.3, 0.1]))
    array([False,  True])
    """

    measure: str
    value: float

    def __post_init__(self) -> None:
        """Refuse what is no target."""
        if self.measure not in MEASURES:
            raise SettingError(
                f"there is no measure {self.measure!r}{did_you_mean(self.measure, MEASURES)} "
                f"(choose from {', '.join(MEASURES)})"
            )
        if not 0 < self.value < 1:
            raise SettingError(
                f"the target must lie between 0% and 100%, not at {percent(self.value)}: no finite "
                "number of comparisons gets to either end"
            )

    def __str__(self) -> str:
        """Return it in words."""
        return MEASURES[self.measure].format(percent(self.value))

    @property
    def rises(self) -> bool:
        """Whether more is better.

        Examples
        --------
        >>> Target("accuracy", 0.8).rises, Target("metric_error", 0.2).rises
        (True, False)
        """
        return self.measure.startswith("accuracy")

    def met(self, values: Floats) -> npt.NDArray[np.bool_]:
        """Return where values are as good as the target."""
        return np.asarray(values >= self.value if self.rises else values <= self.value)


@dataclass(frozen=True)
class Outlook:
    """Between what a study will come out.

    Parameters
    ----------
    best_accuracy : float
        The share of new answers that the truth itself predicts.
    best, nothing : float
        The measure aimed at: after endlessly many answers, and after none.
    """

    best_accuracy: float
    best: float
    nothing: float


def outlook(study: Study, target: Target) -> Outlook:
    """Return what is possible, and refuse targets that nothing, or anything, reaches.

    Parameters
    ----------
    study : Study
        What is assumed.
    target : Target
        What to reach.

    Returns
    -------
    Outlook
        What lies between nothing and the best.

    Raises
    ------
    TargetError
        If no number of comparisons reaches the target, or none are needed.

    Examples
    --------
    >>> study = Study(n_items=10, dimension=2, users=4, rank=1, noise=1.0, sizes=(5, 20))
    >>> outlook(study, Target("accuracy", 0.99))
    Traceback (most recent call last):
    crowdmetric.errors.TargetError: no number of comparisons reaches 99% of new answers predicted:
    the best possible here is ...
    """
    crowds = [draw_crowd(study, study.users, trial) for trial in range(_CROWDS)]
    best_accuracy = float(np.mean([_best_accuracy(crowd) for crowd in crowds]))
    if target.measure == "accuracy_share":
        found = Outlook(best_accuracy, 1.0, 0.5 / best_accuracy)
    elif target.measure == "accuracy":
        found = Outlook(best_accuracy, best_accuracy, 0.5)
    else:
        limits = [_in_the_limit(crowd, study) for crowd in crowds[:_CROWDS_OF_ERRORS]]
        names = [m for m in limits[0] if m.startswith(target.measure)]  # one for each alpha
        best = min(float(np.mean([limit[name] for limit in limits])) for name in names)
        found = Outlook(best_accuracy, best, 1.0)
    if not target.met(np.array(found.best)):
        remedy = (
            "people answer at random too often; aim lower, or make the questions easier to answer"
            if target.measure == "accuracy"
            else "the items do not show more, however often they are compared; aim lower, or take "
            "more items or fewer features"
        )
        raise TargetError(
            f"no number of comparisons reaches {target}: the best possible here is "
            f"{percent(found.best)}; {remedy}"
        )
    if target.met(np.array(found.nothing)):
        raise TargetError(
            f"{target} needs no study: guessing comes to {percent(found.nothing)} here; aim higher"
        )
    return found


def _best_accuracy(crowd: Simulation) -> float:
    """Return the share of new answers that the truth predicts."""
    true = crowd.margins(crowd.test)
    return expected_accuracy(true, true, crowd.noise)


def _in_the_limit(crowd: Simulation, study: Study) -> dict[str, float]:
    """Return how near to the truth a fit comes when every pair has been asked endlessly often.

    Instead of endlessly many answers, each pair has both, with their probabilities as weights.
    """
    questions = asked(crowd, min(study.n_pairs, _MOST_QUESTIONS), study.seed)
    wrong = np.exp(-np.logaddexp(0.0, crowd.noise * np.abs(crowd.margins(questions))))
    likely = np.where(crowd.margins(questions) < 0, -1, 1)
    codes = np.column_stack([questions.user, questions.left, questions.right])
    both = Comparisons.from_arrays(
        np.vstack([codes, codes]),
        np.concatenate([likely, -likely]),
        weight=np.concatenate([1 - wrong, wrong]),
        users=questions.users,
        item_ids=questions.item_ids,
    )
    solution = oracle_fit(crowd, both.answers(), tol=_EXACT)
    return against_truth(solution.metric, solution.points, crowd)
