"""Margins from fits that have not seen the answers they are about, and how fits learn from more."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.checks import Codes, Floats
from crowdmetric.comparisons import Comparisons
from crowdmetric.errors import CrowdMetricError
from crowdmetric.estimator import CrowdMetric
from crowdmetric.model import Model
from crowdmetric.splits import PairFolds, Rows

__all__ = ["FOLDS", "held_out_margins"]

Progress = Callable[[int, int], None]

FOLDS = 5
_TOLERANCE = 1e-4  # of a fold's risk: far less than what leaving answers out changes


def held_out_margins(
    model: Model,
    comparisons: Comparisons,
    share: float = 1.0,
    folds: int = FOLDS,
    progress: Progress | None = None,
) -> Floats | None:
    """Return a margin for each answer, from a fit with the model's settings to other answers.

    A question and its mirror image are left out together, and every person has part of theirs in
    each fold.

    Parameters
    ----------
    model : Model
        Gives the loss, the region and the feature map.
    comparisons : Comparisons
        The answers that it was fitted to, with its codes.
    share : float
        How much of the other answers each fit sees: the same part of everybody's.
    folds : int
        How many of the five parts are predicted; the answers of the others get nan.
    progress : callable, optional
        Called with the number of fits that are done, and that there are.

    Returns
    -------
    ndarray of shape (m,), or None
        None where there are too few answers to leave any out.

    Examples
    --------
    >>> import crowdmetric as cm
    >>> crowd = cm.simulate(n_items=8, dimension=2, n_users=2, pairs_per_user=20)
    >>> fit = cm.CrowdMetric(crowd.items, cm.regions.NuclearFull(2.0)).fit(crowd.comparisons)
    >>> held_out_margins(fit.model_, crowd.comparisons).shape
    (40,)
    """
    triples = np.column_stack([comparisons.user, comparisons.left, comparisons.right])
    margins = np.full(len(triples), np.nan)
    estimator = CrowdMetric(
        items=model.items,
        region=model.region,
        loss=model.loss,
        features=model.features,
        single=model.metric.ndim == 3,
        tol=max(_TOLERANCE, model.certificate.tolerance),
    )
    try:
        parts = list(PairFolds(FOLDS, random_state=0).split(triples))[:folds]
        for done, (train, test) in enumerate(parts, start=1):
            with warnings.catch_warnings():
                # A fold that stops short of the tolerance still predicts what it predicts.
                warnings.simplefilter("ignore", NotConvergedWarning)
                fit = estimator.fit(comparisons.subset(_part(triples[train, 0], train, share)))
            margins[test] = fit.model_.margins_of_codes(triples[test])
            if progress is not None:
                progress(done, folds)
    except CrowdMetricError:  # such as a fold whose answers are all ties
        return None
    return margins


def _part(user: Codes, rows: Rows, share: float) -> Rows:
    """Return a share of the rows of each user; a smaller share is part of a larger one."""
    if share >= 1.0:
        return rows
    generator = np.random.default_rng(0)
    order = np.lexsort((generator.random(len(rows)), user))
    sorted_user = user[order]
    place = np.arange(len(rows)) - np.searchsorted(sorted_user, sorted_user)
    size = np.bincount(user)[sorted_user]
    # At least one answer of everybody, so that nobody is left without a point.
    return np.sort(rows[order[place < np.maximum(np.round(share * size), 1)]])
