"""The learning curve: what would have been predicted with fewer answers of everybody."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons
from crowdmetric.metrics import accuracy
from crowdmetric.model import Model
from crowdmetric.report.held_out import FOLDS, Progress, held_out_margins

__all__ = ["SHARES", "LearningPoint", "learning_curve"]

_ENOUGH = 10_000  # answers to measure an accuracy with: half a point, at worst, is chance
SHARES = (0.125, 0.25, 0.5)  # of the answers, before all of them


@dataclass(frozen=True)
class LearningPoint:
    """What is predicted after some answers.

    Parameters
    ----------
    answers : float
        How many the fits saw, per person.
    accuracy : float
        Of answers that were held out.

    Examples
    --------
    >>> LearningPoint(30.0, 0.8).accuracy
    0.8
    """

    answers: float
    accuracy: float


def learning_curve(
    model: Model,
    comparisons: Comparisons,
    held_out: Floats,
    progress: Progress | None = None,
) -> tuple[LearningPoint, ...]:
    """Return the accuracies that the model's settings reach with parts of the answers.

    Parameters
    ----------
    model : Model
        Gives the loss, the region and the feature map.
    comparisons : Comparisons
        The answers that it was fitted to, with its codes.
    held_out : ndarray of shape (m,)
        From `held_out_margins`, for the last point.
    progress : callable, optional
        Called with the number of fits that are done, and that there are.

    Returns
    -------
    tuple of LearningPoint
        From few answers to all, but for those held out.

    Examples
    --------
    >>> import crowdmetric as cm
    >>> crowd = cm.simulate(n_items=8, dimension=2, n_users=2, pairs_per_user=40)
    >>> fit = cm.CrowdMetric(crowd.items, cm.regions.NuclearFull(2.0)).fit(crowd.comparisons)
    >>> margins = held_out_margins(fit.model_, crowd.comparisons)
    >>> [point.answers for point in learning_curve(fit.model_, crowd.comparisons, margins)]
    [4.0, 8.0, 16.0, 32.0]
    """
    # Of many answers, a part is enough to measure with, and costs less.
    folds = min(FOLDS, -(-_ENOUGH * FOLDS // len(comparisons)))
    most = len(comparisons) * (1 - 1 / FOLDS) / len(model.users)
    points = []
    for number, share in enumerate(SHARES):

        def told(done: int, total: int, before: int = number) -> None:
            if progress is not None:
                progress(before * total + done, len(SHARES) * total)

        margins = held_out_margins(model, comparisons, share, folds, told)
        if margins is None:
            return ()
        known = ~np.isnan(margins)
        points.append(LearningPoint(share * most, _accuracy(margins, comparisons, known)))
    return (*points, LearningPoint(most, _accuracy(held_out, comparisons, known)))


def _accuracy(margins: Floats, comparisons: Comparisons, rows: npt.NDArray[np.bool_]) -> float:
    """Return the share of some of the answers that is predicted."""
    weight = None if comparisons.weight is None else comparisons.weight[rows]
    return accuracy(margins[rows], comparisons.response[rows], weight)
