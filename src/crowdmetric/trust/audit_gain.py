"""How much better, or worse, answers left out are predicted with a metric per group or person."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from crowdmetric.checks import Codes, Floats
from crowdmetric.comparisons import Answers, Comparisons
from crowdmetric.losses import Link
from crowdmetric.model import Model
from crowdmetric.solver import Solution
from crowdmetric.trust.audit_groups import Groups
from crowdmetric.trust.audit_intervals import Interval, mean_interval
from crowdmetric.trust.audit_metric_test import PERSONS
from crowdmetric.trust.audit_refit import Settings, of_group, of_persons
from crowdmetric.trust.audit_rounds import LeftOut, Rounds

__all__ = ["Gain", "gains"]


@dataclass(frozen=True)
class Gain:
    """What separate metrics gain on answers left out; less than 0 where they lose.

    Parameters
    ----------
    column : str
        What the groups are about; "each person" where everybody has a metric of their own.
    accuracy : Interval
        Share of answers that are predicted with metrics per group, less that with a common one.
    log_loss : Interval, optional
        Log-loss with a common metric less that with metrics per group, in nats per answer.

    Examples
    --------
    >>> Gain("town", Interval(0.01, -0.01, 0.03), None).accuracy.value
    0.01
    """

    column: str
    accuracy: Interval
    log_loss: Interval | None


def gains(
    model: Model,
    rounds: Rounds,
    groups: Sequence[Groups],
    progress: Callable[[int, int], None] | None = None,
) -> list[Gain]:
    """Measure what a metric per group gains, and one per person.

    Every group is fitted alone, in a region no wider than what its members have in the crowd's.

    Parameters
    ----------
    model : Model
        Whose settings are fitted.
    rounds : Rounds
        What is predicted from what, with the model's codes.
    groups : sequence of Groups
        Of the model's users.
    progress : callable, optional
        Called with the numbers of rounds that are done, and that are to be done.

    Returns
    -------
    list of Gain
        One for each way to group with more than one group, then one for persons.

    Examples
    --------
    >>> import crowdmetric as cm
    >>> crowd = cm.simulate(n_items=20, dimension=2, n_users=4, pairs_per_user=40, noise=4.0)
    >>> fit = cm.CrowdMetric(crowd.items, cm.regions.NuclearFull(5.0)).fit(crowd.comparisons)
    >>> rounds = Rounds.unseen(crowd.comparisons, crowd.test)
    >>> (found,) = gains(fit.model_, rounds, [])
    >>> found.column, found.log_loss.value < 0
    ('each person', True)
    """
    settings = Settings(model)
    answered = np.unique(rounds.answers.user)
    ways = [one for one in groups if len(np.unique(one.of_user[answered])) > 1]
    common = np.empty(len(rounds.answers))
    apart = {way.column: np.empty_like(common) for way in ways}
    if len(answered) > 1:
        apart[PERSONS] = np.empty_like(common)
    for done, (training, rows) in enumerate(rounds.rounds if apart else (), start=1):
        asked, answers = rounds.answers.subset(rows), training.answers()
        fitted = settings.fit(answers)
        common[rows] = settings.margins(fitted, asked)
        for way in ways:
            apart[way.column][rows] = _grouped(settings, fitted, answers, asked, way.of_user)
        alone = settings.fit(answers, of_persons(model.region, fitted), single=True)
        apart[PERSONS][rows] = settings.margins(alone, asked)
        if progress is not None:
            progress(done, len(rounds.rounds))
    return [_gain(column, common, other, rounds, model) for column, other in apart.items()]


def _grouped(
    settings: Settings, fitted: Solution, answers: Answers, asked: Comparisons, group: Codes
) -> Floats:
    """Return the margins predicted by fits to each group alone."""
    found = np.empty(len(asked))
    for code in np.unique(group[asked.user]):
        members = group == code
        rows = members[answers.user]
        if not rows.any():  # nothing is known about the group: the common fit is all there is
            solution = fitted
        else:
            region = of_group(settings.model.region, fitted, members)
            solution = settings.fit(_of_rows(answers, rows), region, fitted)
        theirs = np.flatnonzero(members[asked.user])
        found[theirs] = settings.margins(solution, asked.subset(theirs))
    return found


def _of_rows(answers: Answers, rows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Answers:
    """Return some of the answers; users keep their codes."""
    columns = ("user", "left", "right", "sign", "weight")
    return replace(answers, **{name: getattr(answers, name)[rows] for name in columns})


def _gain(column: str, common: Floats, apart: Floats, rounds: Rounds, model: Model) -> Gain:
    """Compare two predictions of the same answers."""
    answers, loss = rounds.answers, model.loss
    weight = np.ones(len(answers)) if answers.weight is None else answers.weight
    before, after = (LeftOut.of(margins, answers, loss) for margins in (common, apart))
    accuracy = mean_interval(after.correct - before.correct, weight, answers.user)
    if not isinstance(loss, Link):
        return Gain(column, accuracy, None)
    assert before.log_loss is not None
    assert after.log_loss is not None
    gained = mean_interval(before.log_loss - after.log_loss, weight, answers.user)
    return Gain(column, accuracy, gained)
