"""How consistent each person is: which share of the answers follows the model, not a coin.

A person of consistency c follows the model for a share c of the answers, and tosses a coin for the
rest, so an answer y to a question of margin delta has the probability

    c f(t y delta) + (1 - c) / 2    f logistic, t one scale for the whole crowd

The margins must come from a fit that did not see the answer (`held_out_margins`): a flexible model
explains even coin flips that it has learned from. What no model of these features can see counts as
a coin, too: who agrees with themselves all the same is not at fault (`answers_suspicion`). How
consistencies are spread over the crowd is estimated too (empirical Bayes), so who gave few answers
is taken to be much like the others.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.errors import DataError, SettingError
from crowdmetric.estimator import CrowdMetric
from crowdmetric.features import FeatureMap
from crowdmetric.losses import Loss
from crowdmetric.regions import Region
from crowdmetric.splits import PairFolds

__all__ = ["Consistency", "consistency_of", "down_weighted", "held_out_margins"]

_STEPS = 41  # consistencies that are told apart, from 0 to 1
_SCALES = 2.0 ** np.arange(-3, 4.01, 0.5)
_ROUNDS = 60  # of the estimate of how consistencies are spread
_EDGE = 1e-9  # no answer is that sure
_COARSE = 1e-4  # a certified gap that moves held-out margins less than the folds do


@dataclass(frozen=True, eq=False)
class Consistency:
    """What held-out answers say about how consistently each person answers.

    Parameters
    ----------
    share : ndarray of shape (K,)
        The share of answers that follow what the model says: 1 all, 0 coin flips (posterior
        mean).
    low, high : ndarray of shape (K,)
        Its interval (90%).
    accuracy : ndarray of shape (K,)
        The share of held-out answers predicted; a tie counts half. nan for who gave no answer.
    coin_odds : ndarray of shape (K,)
        How many times more probable the answers are if all were coin flips than if the person were
        as consistent as the median of the crowd.
    scale : float
        The t of the crowd: 1 if the margins are as sure as they should be.

    Examples
    --------
    >>> one = np.ones(1)
    >>> Consistency(one, one, one, one, one, 1.0).share
    array([1.])
    """

    share: Floats
    low: Floats
    high: Floats
    accuracy: Floats
    coin_odds: Floats
    scale: float


def held_out_margins(
    comparisons: Comparisons,
    items: Items,
    region: Region,
    loss: Loss | None = None,
    *,
    features: str | FeatureMap = "raw",
    folds: int = 5,
    random_state: int = 0,
    threads: int = 1,
) -> Floats:
    """Return the margin of each question, from a fit to the other folds' answers.

    A question that was asked again, or the other way round, is in the same fold.

    Parameters
    ----------
    comparisons : Comparisons
        The answers.
    items : Items
        The items compared.
    region : Region
        Where metric and points may live.
    loss : Loss, optional
        ``losses.Logistic()`` when not given.
    features : str or FeatureMap
        As in `CrowdMetric`.
    folds : int
        How many fits.
    random_state : int
        Seed of the folds.
    threads : int
        As in `CrowdMetric`.

    Returns
    -------
    ndarray of shape (m,)
        Negative predicts left.

    Examples
    --------
    >>> import crowdmetric as cm
    >>> crowd = cm.simulate(n_items=20, dimension=2, n_users=3, pairs_per_user=40, noise=4.0)
    >>> margins = held_out_margins(crowd.comparisons, crowd.items, cm.regions.NuclearFull(5.0))
    >>> margins.shape
    (120,)
    """
    triples = np.column_stack([comparisons.user, comparisons.left, comparisons.right])
    margins = np.zeros(len(comparisons))
    fit = CrowdMetric(items, region, loss, features=features, tol=_COARSE, threads=threads)
    splits = PairFolds(folds, random_state=random_state)
    for train, test in splits.split(triples.astype(np.int64)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)
            fit.fit(comparisons.subset(train))
        margins[test] = fit.model_.margins(comparisons.subset(test))
    return margins


def consistency_of(comparisons: Comparisons, margins: Floats) -> Consistency:
    """Estimate each person's consistency from margins of a model that did not see the answers.

    Parameters
    ----------
    comparisons : Comparisons
        The answers; ties are half an answer each way.
    margins : ndarray of shape (m,)
        From `held_out_margins`, or of a test set.

    Returns
    -------
    Consistency
        With one entry for each user.

    Examples
    --------
    >>> questions = [[k, 0, 1] for k in (0, 1) for _ in range(50)]
    >>> answers = Comparisons.from_arrays(questions, [-1] * 50 + [-1, 1] * 25)
    >>> found = consistency_of(answers, np.full(100, -3.0))
    >>> found.share.round(1), bool(found.coin_odds[1] > 1000)
    (array([1., 0.]), True)
    """
    if len(margins) != len(comparisons):
        raise DataError(
            f"there are {len(margins)} margins for {len(comparisons)} answers; give one for each"
        )
    shares = np.linspace(0.0, 1.0, _STEPS)
    found = [
        (_spread(table), table, scale) for scale, table in _tables(comparisons, margins, shares)
    ]
    (_, spread), table, scale = max(found, key=lambda one: one[0][0])
    posterior = _posterior(table, spread)
    total = np.cumsum(posterior, axis=1)
    median = int(np.searchsorted(np.cumsum(spread), 0.5))
    right = 0.5 * (1 + comparisons.response * np.where(margins < 0, -1, 1))
    answered = np.bincount(comparisons.user, minlength=comparisons.n_users)
    accuracy = np.full(len(answered), np.nan)
    hits = np.bincount(comparisons.user, right, minlength=len(answered))
    np.divide(hits, answered, out=accuracy, where=answered > 0)
    mean = posterior @ shares
    return Consistency(
        share=mean,
        low=np.minimum(shares[(total < 0.05).sum(axis=1)], mean),
        high=np.maximum(shares[np.minimum((total < 0.95).sum(axis=1), _STEPS - 1)], mean),
        accuracy=accuracy,
        coin_odds=np.exp(np.clip(table[:, 0] - table[:, median], -700, 700)),
        scale=float(scale),
    )


def down_weighted(comparisons: Comparisons, found: Consistency) -> Comparisons:
    """Return the same answers, each counting as much as its person is consistent.

    Parameters
    ----------
    comparisons : Comparisons
        The answers that the consistency was estimated from, or others of the same users.
    found : Consistency
        One entry for each user.

    Returns
    -------
    Comparisons
        With weights: those there were, times the consistency.

    Examples
    --------
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [1, 0, 1]], [-1, 1])
    >>> half = np.array([1.0, 0.5])
    >>> down_weighted(answers, Consistency(half, half, half, half, half, 1.0)).weight
    array([1. , 0.5])
    """
    if len(found.share) != comparisons.n_users:
        raise SettingError(
            f"the consistency is of {len(found.share)} users, but the answers are of "
            f"{comparisons.n_users}; estimate it from answers of the same users"
        )
    before = 1.0 if comparisons.weight is None else comparisons.weight
    return replace(comparisons, weight=before * found.share[comparisons.user])


def _tables(
    comparisons: Comparisons, margins: Floats, shares: Floats
) -> list[tuple[float, Floats]]:
    """Return for each scale the log-likelihood of each user's answers, by consistency."""
    # A tie is half an answer each way, as in a fit, whatever the answers weigh.
    answers = replace(comparisons, weight=None).answers("half")
    rows = np.repeat(np.arange(len(comparisons)), np.where(comparisons.response == 0, 2, 1))
    z = answers.sign * margins[rows]
    unit = float(np.sqrt(np.mean(margins**2))) or 1.0
    tables = []
    for scale in _SCALES / unit:
        follows = np.clip(expit(scale * z), _EDGE, 1 - _EDGE)
        table = np.empty((comparisons.n_users, len(shares)))
        for column, share in enumerate(shares):
            log = answers.weight * np.log(share * follows + (1 - share) / 2)
            table[:, column] = np.bincount(answers.user, log, minlength=len(table))
        tables.append((float(scale), table))
    return tables


def _spread(table: Floats) -> tuple[float, Floats]:
    """Return the log-likelihood of all answers, and how consistencies are spread (by EM)."""
    spread = np.full(table.shape[1], 1 / table.shape[1])
    for _ in range(_ROUNDS):
        # One imagined person about whom nothing is known keeps the spread from shrinking to points.
        spread = (_posterior(table, spread).sum(axis=0) + 1 / len(spread)) / (len(table) + 1)
    top = table.max(axis=1, keepdims=True)
    return float((top[:, 0] + np.log(np.exp(table - top) @ spread)).sum()), spread


def _posterior(table: Floats, spread: Floats) -> Floats:
    """Return how probable each consistency is, for each user."""
    weight = np.exp(table - table.max(axis=1, keepdims=True)) * spread
    result: Floats = weight / weight.sum(axis=1, keepdims=True)
    return result
