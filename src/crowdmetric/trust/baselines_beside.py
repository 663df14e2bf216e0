"""All baselines, fitted to the same answers as a model, and judged on the same ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons
from crowdmetric.losses import Logistic, Loss
from crowdmetric.model import Model
from crowdmetric.trust.audit_rounds import LeftOut, Rounds
from crowdmetric.trust.audit_table import Measured, measured
from crowdmetric.trust.baselines_bradley_terry import chosen_ridge, fit_bradley_terry
from crowdmetric.trust.baselines_linear import Linear, identity, per_person_linear, pooled_linear

__all__ = ["BASELINES", "Baseline", "baselines"]

BASELINES = (
    "best constant guess",
    "pooled Bradley-Terry",
    "pooled linear",
    "per-person linear",
    "identity metric",
)

Fitted = Callable[[Comparisons], Floats]


@dataclass(frozen=True)
class Baseline:
    """A simple predictor beside the model.

    Parameters
    ----------
    measured : Measured
        How well it predicts.
    gap : float
        How far its fits are, at most, from the best of their kind, in risk.

    Examples
    --------
    >>> from crowdmetric.trust.audit_intervals import Interval
    >>> Baseline(Measured("best constant guess", 1, 9, Interval(0.5, 0.2, 0.8), None), 0.0).gap
    0.0
    """

    measured: Measured
    gap: float


def baselines(
    model: Model, rounds: Rounds, progress: Callable[[int, int], None] | None = None
) -> list[Baseline]:
    """Fit every baseline to what the model is fitted to, and judge it by the same answers.

    What the model's radius is to the model, its own radius or ridge is to each baseline: chosen
    once, by cross-validation in all answers that are fitted to.

    Parameters
    ----------
    model : Model
        Beside which they stand.
    rounds : Rounds
        What is predicted from what, with the model's codes.
    progress : callable, optional
        Called with the numbers of baselines that are done, and that there are.

    Returns
    -------
    list of Baseline
        In the order of `BASELINES`.

    Examples
    --------
    >>> import crowdmetric as cm
    >>> crowd = cm.simulate(n_items=20, dimension=2, n_users=4, pairs_per_user=40, noise=4.0)
    >>> fit = cm.CrowdMetric(crowd.items, cm.regions.NuclearFull(5.0)).fit(crowd.comparisons)
    >>> rounds = Rounds.unseen(crowd.comparisons, crowd.test)
    >>> [one.measured.name for one in baselines(fit.model_, rounds)] == list(BASELINES)
    True
    """
    found = []
    for done, (name, fit, loss) in enumerate(_all(model, _settled_by(rounds)), start=1):
        gaps: list[float] = []
        margins = rounds.margins(_keeping_gaps(fit, gaps))
        left_out = LeftOut.of(margins, rounds.answers, loss)
        found.append(Baseline(measured(name, left_out, rounds.answers), max(gaps)))
        if progress is not None:
            progress(done, len(BASELINES))
    return found


def _settled_by(rounds: Rounds) -> Comparisons:
    """Return the answers by which radii are chosen."""
    return rounds.rounds[0][0] if len(rounds.rounds) == 1 else rounds.answers


def _all(
    model: Model, answers: Comparisons
) -> Iterator[tuple[str, Callable[[Comparisons], tuple[Fitted, float]], Loss]]:
    """Yield each baseline's name, how it is fitted, and its loss."""
    yield BASELINES[0], _constant(answers), Logistic()
    ridge = chosen_ridge(answers)

    def bradley_terry(training: Comparisons) -> tuple[Fitted, float]:
        fitted = fit_bradley_terry(training.answers(), ridge)
        return fitted.margins, fitted.gap

    yield BASELINES[1], bradley_terry, Logistic()
    for name, make in zip(BASELINES[2:], (pooled_linear, per_person_linear, identity), strict=True):
        yield name, _linear(make(model), answers), model.loss


def _linear(
    baseline: Linear, answers: Comparisons
) -> Callable[[Comparisons], tuple[Fitted, float]]:
    """Return how a linear baseline is fitted, with its radii settled."""
    region = baseline.chosen(answers)
    return lambda training: baseline.fitted(training, region)


def _constant(answers: Comparisons) -> Callable[[Comparisons], tuple[Fitted, float]]:
    """Guess the side that more of all answers are for: that is what makes it the best constant."""
    weight = np.ones(len(answers)) if answers.weight is None else answers.weight
    right = float(weight @ (0.5 * (1 + answers.response)))
    # One answer more each way: a side that nobody has chosen yet is not impossible.
    margin = float(np.log((right + 1) / (weight.sum() - right + 1)))
    return lambda training: (lambda asked: np.full(len(asked), margin), 0.0)


def _keeping_gaps(
    fit: Callable[[Comparisons], tuple[Fitted, float]], gaps: list[float]
) -> Callable[[Comparisons], Fitted]:
    """Return the fit alone, its gap kept in a list."""

    def fitted(training: Comparisons) -> Fitted:
        predict, gap = fit(training)
        gaps.append(gap)
        return predict

    return fitted
