"""The whole audit of a model: for whom it is right, whether one metric will do, and beside what."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons
from crowdmetric.model import Model
from crowdmetric.trust.audit_gain import Gain, gains
from crowdmetric.trust.audit_groups import Groups
from crowdmetric.trust.audit_metric_test import MetricTest, common_metric_test, why_not
from crowdmetric.trust.audit_refit import Settings, aligned
from crowdmetric.trust.audit_rounds import LeftOut, Rounds
from crowdmetric.trust.audit_table import Measured, measured, per_group, per_person
from crowdmetric.trust.baselines_beside import BASELINES, Baseline, baselines

__all__ = ["Audit", "audit"]

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Audit:
    """What an audit found.

    Parameters
    ----------
    overall : Measured
        How well the model predicts.
    people : list of Measured
        The same of everybody, the worst first.
    groups : dict of str to list of Measured
        The same of every group, column by column, the worst first.
    tests : list of MetricTest
        Whether one metric fits all groups, and everybody.
    gains : list of Gain
        What metrics of their own would gain them.
    untested : str or None
        Why there are no tests and gains, if so.
    baselines : list of Baseline
        Simple predictors beside the model.
    how : str
        Which answers were predicted, and from which.
    gap : float
        How far the fits that predicted are, at most, from the best of their kind, in risk.

    Examples
    --------
    >>> import crowdmetric as cm
    >>> crowd = cm.simulate(n_items=20, dimension=2, n_users=4, pairs_per_user=40, noise=4.0)
    >>> fit = cm.CrowdMetric(crowd.items, cm.regions.NuclearFull(5.0)).fit(crowd.comparisons)
    >>> audit(fit.model_, crowd.comparisons, replicates=0).how
    'answers left out, in 5 folds, by fits to the others'
    """

    overall: Measured
    people: list[Measured]
    groups: dict[str, list[Measured]]
    how: str
    gap: float
    tests: list[MetricTest] = field(default_factory=list)
    gains: list[Gain] = field(default_factory=list)
    untested: str | None = None
    baselines: list[Baseline] = field(default_factory=list)


def audit(
    model: Model,
    comparisons: Comparisons,
    groups: Sequence[Groups] = (),
    *,
    training: Comparisons | None = None,
    with_baselines: bool = False,
    replicates: int = 199,
    folds: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
) -> Audit:
    """Audit a model; nobody is judged by answers that were fitted to.

    Parameters
    ----------
    model : Model
        What is audited.
    comparisons : Comparisons
        Answers of the model's users.
    groups : sequence of Groups
        Ways to group them; see `read_groups`.
    training : Comparisons, optional
        What the model has been fitted to, if the comparisons are not among it. Without it, the
        model's settings are fitted to all folds of the comparisons but one, in turn.
    with_baselines : bool
        Fit simple predictors too.
    replicates : int
        Of the bootstrap behind the tests of the common metric; 0 for neither tests nor gains.
    folds : int
        How many.
    seed : int
        Of the folds, and of the bootstrap.
    progress : callable, optional
        Called with the numbers of steps that are done, and that are to be done.

    Returns
    -------
    Audit
        Everything found.

    Examples
    --------
    >>> import crowdmetric as cm
    >>> crowd = cm.simulate(n_items=20, dimension=2, n_users=4, pairs_per_user=40, noise=4.0)
    >>> fit = cm.CrowdMetric(crowd.items, cm.regions.NuclearFull(5.0)).fit(crowd.comparisons)
    >>> towns = Groups.of("town", ["Ulm", "Bonn", "Ulm", "Bonn"])
    >>> found = audit(fit.model_, crowd.test, [towns], training=crowd.comparisons, replicates=19)
    >>> found.overall.accuracy.value > 0.8, [one.column for one in found.tests]
    (True, ['town', 'each person'])
    """
    answers = aligned(model, comparisons)
    seen = answers if training is None else aligned(model, training)
    apart = training is not None
    rounds = Rounds.unseen(seen, answers) if apart else Rounds.folds(answers, folds, seed)
    untested = why_not(model, seen) if replicates else "the tests were not asked for"
    test = untested is None
    step = _steps(
        progress, test * (replicates + len(rounds.rounds)) + with_baselines * len(BASELINES)
    )
    return replace(
        _judged(model, rounds, apart, groups),
        untested=untested,
        tests=common_metric_test(model, seen, groups, replicates, seed, step) if test else [],
        gains=gains(model, rounds, groups, step) if test else [],
        baselines=baselines(model, rounds, step) if with_baselines else [],
    )


def _judged(model: Model, rounds: Rounds, apart: bool, groups: Sequence[Groups]) -> Audit:
    """Return the tables."""
    margins, gap = _predicted(model, rounds, apart)
    answers = rounds.answers
    left_out = LeftOut.of(model.sharpness * margins, answers, model.loss)
    return Audit(
        overall=measured("model", left_out, answers),
        people=per_person(left_out, answers),
        groups={one.column: per_group(one, left_out, answers) for one in groups},
        how=rounds.how,
        gap=gap,
    )


def _predicted(model: Model, rounds: Rounds, apart: bool) -> tuple[Floats, float]:
    """Return the margins of all answers, and the gap of the fits they come from."""
    if apart:
        return model.margins(rounds.answers), model.certificate.gap
    settings, gaps = Settings(model), []

    def fitted(training: Comparisons) -> Callable[[Comparisons], Floats]:
        solution = settings.fit(training.answers())
        gaps.append(solution.certificate.gap)
        return lambda asked: settings.margins(solution, asked)

    margins = rounds.margins(fitted)
    return margins, max(gaps)


def _steps(progress: Progress | None, total: int) -> Progress | None:
    """Return what counts the steps of all parts together."""
    if progress is None:
        return None
    done = itertools.count(1)
    return lambda *_: progress(next(done), total)
