"""Does one metric fit everyone? A test, with the null hypothesis drawn from the fit itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from crowdmetric.checks import Codes, Floats
from crowdmetric.comparisons import Answers, Comparisons
from crowdmetric.errors import SettingError
from crowdmetric.losses import Link
from crowdmetric.model import Model
from crowdmetric.regions import FixedMetric
from crowdmetric.solver.threads import one_thread_for_linear_algebra
from crowdmetric.trust.audit_groups import Groups
from crowdmetric.trust.audit_refit import Settings, aligned
from crowdmetric.trust.audit_score import Directions, statistics

__all__ = ["DOUBT", "PERSONS", "MetricTest", "common_metric_test", "why_not"]

Progress = Callable[[int, int], None]

DOUBT = 0.05
"""The largest p-value that is a reason to doubt."""

PERSONS = "each person"
"""What groups of one are called."""


@dataclass(frozen=True)
class MetricTest:
    """Whether the answers of some groups speak against the metric that they share.

    Parameters
    ----------
    column : str
        What the groups are about; "each person" where everybody is a group.
    groups : int
        How many there are.
    statistic : float
        About 1 if the groups' answers pull the metric in no direction of their own.
    expected : float
        Its mean over answers that were drawn from the common fit.
    p_value : float
        How often answers drawn from the common fit give as large a statistic, or a larger one.
    replicates : int
        How many times answers were drawn.

    Examples
    --------
    >>> MetricTest("town", 2, 1.4, 1.0, 0.01, 199).reason_to_doubt
    True
    """

    column: str
    groups: int
    statistic: float
    expected: float
    p_value: float
    replicates: int

    @property
    def reason_to_doubt(self) -> bool:
        """Whether p is 5 % or below.

        Examples
        --------
        >>> MetricTest("town", 2, 1.1, 1.0, 0.2, 199).reason_to_doubt
        False
        """
        return self.p_value <= DOUBT


def common_metric_test(
    model: Model,
    comparisons: Comparisons,
    groups: Sequence[Groups] = (),
    replicates: int = 199,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[MetricTest]:
    """Test one common metric against one per group, and one per person, by parametric bootstrap.

    Parameters
    ----------
    model : Model
        With a metric that all users share, and a loss that gives probabilities.
    comparisons : Comparisons
        Answers; ties are left out.
    groups : sequence of Groups
        Of the model's users.
    replicates : int
        How many times answers are drawn.
    seed : int
        Of the drawing.
    progress : callable, optional
        Called with the numbers of replicates that are done, and that are to be done.

    Returns
    -------
    list of MetricTest
        One for each way to group, if there are two groups with answers, then one for persons.

    Raises
    ------
    SettingError
        If the question does not arise with such a model; see `why_not`.

    Examples
    --------
    >>> import crowdmetric as cm
    >>> crowd = cm.simulate(n_items=20, dimension=2, n_users=4, pairs_per_user=40, noise=4.0)
    >>> fit = cm.CrowdMetric(crowd.items, cm.regions.NuclearFull(5.0)).fit(crowd.comparisons)
    >>> (found,) = common_metric_test(fit.model_, crowd.comparisons, replicates=19)
    >>> found.groups, found.reason_to_doubt
    (4, False)
    """
    _refuse(model, comparisons, replicates)
    asked = _without_ties(aligned(model, comparisons))
    answers = asked.answers()
    ways = [*_with_choice(groups, answers), *_persons(model, answers)]
    if not ways:
        return []
    drawn = _Drawing(model, asked, answers, [way.of_user for way in ways])
    observed, simulated = drawn.run(replicates, np.random.default_rng(seed), progress)
    return [
        MetricTest(
            column=way.column,
            groups=len(np.unique(way.of_user[answers.user])),
            statistic=float(observed[k]),
            expected=float(simulated[:, k].mean()),
            p_value=float(1 + (simulated[:, k] >= observed[k]).sum()) / (replicates + 1),
            replicates=replicates,
        )
        for k, way in enumerate(ways)
    ]


def why_not(model: Model, comparisons: Comparisons) -> str | None:
    """Say why it makes no sense to ask whether one metric fits everyone, if so.

    Parameters
    ----------
    model : Model
        The model.
    comparisons : Comparisons
        The answers to ask it of.

    Returns
    -------
    str or None
        A sentence, or nothing if it does make sense.

    Examples
    --------
    >>> from crowdmetric.model import example
    >>> why_not(example(), Comparisons.from_arrays([[0, 0, 1]], [0]))
    'every answer is a tie, which says nothing about metrics; ask for left or right'
    """
    if model.metric.ndim == 3:
        return (
            "each user has a metric of their own already; fit without --single to test a common one"
        )
    if isinstance(model.region, FixedMetric):
        return "the metric was given, and not learned; fit another region to test a common metric"
    if not isinstance(model.loss, Link):
        return (
            f"the loss {model.loss.name!r} gives no probabilities to draw answers from; fit with "
            "logistic or probit to test the common metric"
        )
    if not comparisons.response.any():
        return "every answer is a tie, which says nothing about metrics; ask for left or right"
    if len(np.unique(comparisons.user[comparisons.response != 0])) < 2:
        return "only one person answered, who has nobody to share a metric with; ask others too"
    return None


def _refuse(model: Model, comparisons: Comparisons, replicates: int) -> None:
    """Refuse what cannot be tested."""
    refusal = why_not(model, comparisons)
    if refusal is not None:
        raise SettingError(refusal)
    if replicates < 1:
        raise SettingError(f"replicates must be at least 1, not {replicates}")


def _without_ties(asked: Comparisons) -> Comparisons:
    """Return the answers that say left or right, sorted by user."""
    order = np.argsort(asked.user, kind="stable")
    return asked.subset(order[asked.response[order] != 0])


@dataclass(frozen=True, eq=False)
class _Drawing:
    """What stays the same while answers are drawn again."""

    model: Model
    asked: Comparisons
    answers: Answers
    groupings: list[Codes]

    def run(
        self, replicates: int, generator: np.random.Generator, progress: Progress | None
    ) -> tuple[Floats, Floats]:
        """Return the statistics of the answers, and of answers drawn from their fit."""
        settings, loss = Settings(self.model), self.model.loss
        assert isinstance(loss, Link)
        directions = Directions.of(self.model.x, self.answers)
        fitted = settings.fit(self.answers)
        margins = settings.margins(fitted, self.asked)
        right = loss.probability(margins)

        def measure(answers: Answers, margins: Floats, points: Floats) -> list[float]:
            with one_thread_for_linear_algebra():
                return statistics(directions, answers, margins, points, loss, self.groupings)

        observed = measure(self.answers, margins, fitted.points)
        simulated = []
        for done in range(1, replicates + 1):
            sign = np.where(generator.random(len(right)) < right, 1.0, -1.0)
            answers = _answered(self.answers, sign)
            again = settings.fit(answers, start=fitted)
            simulated.append(measure(answers, settings.margins(again, self.asked), again.points))
            if progress is not None:
                progress(done, replicates)
        return np.array(observed), np.array(simulated)


def _answered(answers: Answers, sign: Floats) -> Answers:
    """Return the same questions with other answers."""
    sign.setflags(write=False)
    return Answers(
        user=answers.user,
        left=answers.left,
        right=answers.right,
        sign=sign,
        weight=answers.weight,
        n_users=answers.n_users,
        n_items=answers.n_items,
    )


def _with_choice(groups: Sequence[Groups], answers: Answers) -> list[Groups]:
    """Return the groupings with more than one group among those who answered."""
    return [one for one in groups if len(np.unique(one.of_user[answers.user])) > 1]


def _persons(model: Model, answers: Answers) -> list[Groups]:
    """Return everybody as a group, if more than one person answered."""
    alone = np.arange(len(model.users), dtype=np.int32)
    names = tuple(map(str, model.users))
    return _with_choice([Groups(PERSONS, names, alone)], answers)
