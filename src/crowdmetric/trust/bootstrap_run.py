"""The bootstrap: refit a model to resamples of its answers, and see how much changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from crowdmetric.comparisons import Answers, Comparisons, Ties
from crowdmetric.errors import DataError, SettingError, did_you_mean
from crowdmetric.model import Model
from crowdmetric.model.lookup import comparison_codes
from crowdmetric.problem import Problem
from crowdmetric.regions import FixedMetric
from crowdmetric.trust.bootstrap_accuracy import Unseen
from crowdmetric.trust.bootstrap_debias import debiased, determined_users
from crowdmetric.trust.bootstrap_intervals import Interval
from crowdmetric.trust.bootstrap_refits import Draws, Progress, refit_all
from crowdmetric.trust.bootstrap_task import Over, Task
from crowdmetric.trust.bootstrap_uncertainty import Uncertainty

__all__ = ["bootstrap"]

_OVER = ("answers", "people")
_FEWEST = 20  # resamples: with fewer, the 90% ends are the extremes
_MOST_NUMBERS = 2e8  # that the curvature may need
_SAME_RISK = 1e-4


def bootstrap(
    model: Model,
    comparisons: Comparisons,
    resamples: int = 200,
    *,
    over: Over = "answers",
    level: float = 0.9,
    seed: int = 0,
    workers: int = 1,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Uncertainty:
    """Say how far the truth may be from a model, by refitting it to resamples of its answers.

    Over answers: each person's answers are drawn again from that person's, so the intervals are
    about these people. Over people: whole people are drawn from the crowd too, so the intervals
    for metric, eigenvalues and features are about all people like these, even if they do not
    quite share a metric; those for accuracies, ideal points and scores are as before.

    Parameters
    ----------
    model : Model
        A fit with one metric for all users.
    comparisons : Comparisons
        The answers that it was fitted to.
    resamples : int
        How many.
    over : {"answers", "people"}
        What is drawn.
    level : float
        How probable each interval shall be to hold the truth.
    seed : int
        The same seed gives the same intervals, whatever the number of processes.
    workers : int
        How many processes.
    folder : Path, optional
        Where finished resamples are kept; a run that was stopped goes on from there.
    progress : callable, optional
        Called with the numbers of resamples that are done, and that were to be done.

    Returns
    -------
    Uncertainty
        Intervals for all that the model says.

    Raises
    ------
    SettingError
        If the model or the numbers do not allow it.
    DataError
        If these are not the model's answers.

    Examples
    --------
    >>> from crowdmetric import CrowdMetric, regions, simulate
    >>> crowd = simulate(n_items=20, dimension=2, n_users=3, pairs_per_user=60, noise=3.0)
    >>> fit = CrowdMetric(crowd.items, regions.NuclearFull(8.0)).fit(crowd.comparisons)
    >>> found = bootstrap(fit.model_, crowd.comparisons, resamples=40)
    >>> share = found.accuracy
    >>> bool(0.5 < share.low < share.estimate < share.high < 1.0)
    True
    """
    _check(model, resamples, over, level)
    mine = _of_model(model, comparisons)
    answers, row = _answers(model, mine)
    problem = Problem(answers, model.x, model.loss, model.region)
    kinds: tuple[Over, ...] = ("answers",) if over == "answers" else ("answers", "people")
    tasks = {kind: Task(problem, mine.user, row, kind, seed) for kind in kinds}
    draws = {
        kind: refit_all(
            task,
            resamples,
            workers,
            None if folder is None else folder / kind,
            _from(progress, place * resamples, len(kinds) * resamples),
        )
        for place, (kind, task) in enumerate(tasks.items())
    }
    crowd = problem.crowd()
    metric, points = (np.asarray(part, dtype=np.float64) for part in (model.metric, model.points))
    frozen = isinstance(model.region, FixedMetric)
    free_metric, free_points = debiased(
        crowd, model.loss, metric[None], points[None], frozen=frozen
    )
    return Uncertainty(
        model,
        draws["answers"],
        draws.get("people"),
        free_metric[0],
        free_points[0],
        determined_users(crowd),
        *_accuracies(model, mine, tasks["answers"], draws["answers"], level),
        level,
        len(answers),
    )


def _from(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Return what tells about a part of the work, in numbers of all of it."""
    if progress is None:
        return None
    return lambda done, _: progress(before + done, total)


def _check(model: Model, resamples: int, over: str, level: float) -> None:
    """Refuse what cannot be resampled."""
    if over not in _OVER:
        raise SettingError(
            f"over must be answers or people, not {over!r}{did_you_mean(over, _OVER)}"
        )
    if resamples < _FEWEST:
        raise SettingError(f"resamples must be at least {_FEWEST}, not {resamples}")
    if not 0 < level < 1:
        raise SettingError(f"the level must lie between 0 and 1, not {level}; try 0.9")
    if model.metric.ndim == 3:
        raise SettingError(
            "in this model each user has a metric of their own; the bootstrap is for a metric that "
            "all users share: fit without single=True"
        )
    if model.additions:
        raise SettingError(
            "this model has users who were added after its fit; fit everybody together first"
        )
    d, users = model.dimension, len(model.users)
    packed = d * (d + 1) / 2
    if users * d * (2 * packed + d) + 2 * packed**2 > _MOST_NUMBERS:
        raise SettingError(
            f"intervals for {d} features and {users} users would take too much memory; use fewer "
            "features, or a part of the users"
        )


def _of_model(model: Model, comparisons: Comparisons) -> Comparisons:
    """Return the comparisons with users and items as the model counts them."""
    codes = comparison_codes(comparisons, model.known_users, model.items)
    return Comparisons.from_arrays(
        np.column_stack(codes),
        comparisons.response,
        comparisons.weight,
        users=model.users,
        item_ids=model.items.ids,
    )


def _answers(model: Model, comparisons: Comparisons) -> tuple[Answers, npt.NDArray[np.integer]]:
    """Return the answers that the model was fitted to, and the comparison of each."""
    risks = []
    ways: tuple[Ties, ...] = ("half", "drop")
    for ties in ways if (comparisons.response == 0).any() else ways[:1]:
        answers = comparisons.answers(ties)
        crowd = Problem(answers, model.x, model.loss, model.region).crowd()
        metric, points = (np.asarray(a, np.float64)[None] for a in (model.metric, model.points))
        risks.append(float(crowd.mean(model.loss.value(crowd.margins(metric, points)))[0]))
        if abs(risks[-1] - model.certificate.risk) <= _SAME_RISK * (1 + abs(risks[-1])):
            copies = np.where(comparisons.response == 0, 2 if ties == "half" else 0, 1)
            return answers, np.repeat(np.arange(len(comparisons)), copies)
    raise DataError(
        f"the model's risk is {model.certificate.risk:.5g}, but on these answers it is "
        f"{risks[0]:.5g}: they are not the answers that it was fitted to; give those"
    )


def _accuracies(
    model: Model, comparisons: Comparisons, task: Task, draws: Draws, level: float
) -> tuple[Interval, Interval]:
    """Return the accuracy to expect, over all users and of each."""
    size = len(comparisons)
    weight = np.ones(size) if comparisons.weight is None else comparisons.weight
    unseen = Unseen(
        comparisons.user,
        comparisons.left,
        comparisons.right,
        comparisons.response.astype(np.float64),
        weight,
        model.x,
        len(model.users),
    )
    hits, times = np.zeros(size), np.zeros(size)
    for number, (metric, points) in enumerate(zip(draws.metric, draws.points, strict=True)):
        left_out = task.counts(number) == 0
        times += left_out
        hits += left_out * unseen.predicted(metric, points)
    seen = unseen.predicted(model.metric, model.points)
    expected = unseen.expected(seen, hits, times)
    return unseen.of_crowd(expected, seen, level), unseen.of_users(expected, seen, level)
