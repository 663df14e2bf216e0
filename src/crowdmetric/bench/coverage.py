"""The benchmark `coverage`: how often intervals hold the truth, in crowds whose truth is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from crowdmetric.bench.table import table
from crowdmetric.bench.timing import Settings, single_thread
from crowdmetric.checks import Floats
from crowdmetric.estimator import CrowdMetricCV
from crowdmetric.losses import Logistic
from crowdmetric.simulation import Simulation, simulate
from crowdmetric.trust import Uncertainty, bootstrap
from crowdmetric.trust.bootstrap_task import Over
from crowdmetric.trust.bootstrap_uncertainty import best_within
from crowdmetric.worth import feature_shares

__all__ = ["Regime", "bench_coverage", "measure", "regimes"]

Row = dict[str, Any]

_CROWDS = 20  # for each of the seeds
_LEVEL = 0.9
_PROMISED = (0.85, 0.95)
_ZERO = "eigenvalues of 0"
_TOP = 3
_BINS = 10
_WELL_CALIBRATED = 0.03


@dataclass(frozen=True)
class Regime:
    """A kind of study.

    Parameters
    ----------
    name : str
        What it is called.
    dimension, rank, users, items, pairs : int
        The sizes d, r, K and n, and the answers per user.
    noise : float
        Beta of the answers.
    resamples : int
        How many for each crowd.
    over : {"answers", "people"}
        What is resampled.

    Examples
    --------
    >>> Regime("tiny", 2, 1, 3, 20, 60).crowd(0)
    Simulation(20 items, 2 features, rank 1, 3 users, 180 answers, 3 for testing)
    """

    name: str
    dimension: int
    rank: int
    users: int
    items: int
    pairs: int
    noise: float = 1.0
    resamples: int = 200
    over: Over = "answers"

    def crowd(self, seed: int) -> Simulation:
        """Draw a crowd."""
        return simulate(
            n_items=self.items,
            dimension=self.dimension,
            rank=self.rank,
            n_users=self.users,
            pairs_per_user=self.pairs,
            noise=self.noise,
            seed=seed,
            test_pairs_per_user=1,
        )

    def __str__(self) -> str:
        """Return the sizes in words."""
        return (
            f"{self.name}: d={self.dimension}, r={self.rank}, K={self.users}, n={self.items}, "
            f"{self.pairs} answers each, over {self.over}"
        )


def regimes(quick: bool = False) -> list[Regime]:
    """Return the kinds of studies that are simulated.

    Parameters
    ----------
    quick : bool
        A small one only.

    Returns
    -------
    list of Regime
        From small to large.

    Examples
    --------
    >>> [regime.name for regime in regimes(quick=True)]
    ['small']
    """
    small = Regime("small", 3, 3, 8, 30, 120, resamples=100)
    if quick:
        return [small]
    return [
        small,
        Regime("low rank", 5, 1, 10, 50, 150),
        Regime("full rank", 5, 5, 10, 50, 150),
        Regime("paper", 10, 1, 10, 100, 300),
        Regime("few answers", 5, 2, 20, 50, 30),
        Regime("people", 3, 2, 40, 30, 60, over="people"),
    ]


def bench_coverage(settings: Settings, stream: TextIO) -> list[Row]:
    """Simulate studies, choose the radius by cross-validation, and count what intervals hold.

    Parameters
    ----------
    settings : Settings
        20 crowds are drawn for each of its seeds.
    stream : text stream
        Where the table goes.

    Returns
    -------
    list of dict
        One for each kind of study and quantity.
    """
    print(f"How often {_LEVEL:.0%} intervals hold the truth", file=stream, flush=True)
    rows: list[Row] = []
    with single_thread():
        for regime in regimes(settings.quick):
            found = measure(regime, _CROWDS * settings.seeds)
            rows += found
            print(f"{regime}\n{_text(found)}\n", file=stream, flush=True)
    return rows


def measure(regime: Regime, crowds: int) -> list[Row]:
    """Return the coverage of every quantity in so many crowds.

    Parameters
    ----------
    regime : Regime
        The kind of study.
    crowds : int
        How many are drawn.

    Returns
    -------
    list of dict
        One for each quantity.

    Examples
    --------
    >>> rows = measure(Regime("tiny", 2, 1, 3, 20, 60, resamples=20), crowds=2)
    >>> [row["quantity"] for row in rows][:3]
    ['metric', 'eigenvalues', 'features']
    """
    held: dict[str, list[float]] = {}
    widths: dict[str, list[float]] = {}
    top: list[tuple[Floats, Floats]] = []
    for seed in range(crowds):
        crowd = regime.crowd(seed)
        loss = Logistic(regime.noise)
        fit = CrowdMetricCV(crowd.items, "nuclear-full", loss=loss, cv=3).fit(crowd.comparisons)
        found = bootstrap(
            fit.model_,
            crowd.comparisons,
            regime.resamples,
            over=regime.over,
            level=_LEVEL,
            seed=seed,
        )
        for quantity, covered, width in _against_truth(found, crowd):
            held.setdefault(quantity, []).extend(covered.ravel().tolist())
            widths.setdefault(quantity, []).extend(width.ravel().tolist())
        top.append((found.top(_TOP), _in_top(_scores(crowd))))
    study = {"bench": "coverage", "regime": regime.name, "over": regime.over, "crowds": crowds}
    rows: list[Row] = [
        study
        | {
            "quantity": quantity,
            "intervals": len(covered),
            "coverage": float(np.mean(covered)),
            "width": float(np.median(widths[quantity])),
            "met": _as_promised(quantity, float(np.mean(covered))),
        }
        for quantity, covered in held.items()
    ]
    stated, true = (np.concatenate([pair[i].ravel() for pair in top]) for i in (0, 1))
    error = _calibration_error(stated, true)
    name = {"quantity": f"probability of the top {_TOP}", "calibration_error": error}
    return [*rows, study | name | {"met": error < _WELL_CALIBRATED}]


def _as_promised(quantity: str, coverage: float) -> bool:
    """Return whether intervals hold the truth as often as they should."""
    least, most = _PROMISED
    return least <= coverage and (coverage <= most or quantity == _ZERO)


def _text(rows: list[Row]) -> str:
    """Return a table of one kind of study."""
    heads = ["quantity", "coverage", "intervals", "width", "as promised"]
    cells = []
    for row in rows:
        if "coverage" in row:
            numbers = [f"{row['coverage']:.1%}", str(row["intervals"]), f"{row['width']:.3g}"]
        else:
            numbers = [f"off by {row['calibration_error']:.1%}", "", ""]
        cells.append([row["quantity"], *numbers, "yes" if row["met"] else "NO"])
    return table(heads, cells)


def _against_truth(
    found: Uncertainty, crowd: Simulation
) -> Iterator[tuple[str, npt.NDArray[np.bool_], Floats]]:
    """Yield for each quantity whether the intervals hold the truth, and how wide they are."""
    x, metric, points = found.model.x, crowd.metric, crowd.points
    half, true = np.triu_indices(len(metric)), np.linalg.eigvalsh(metric)[::-1]
    rank = int(np.linalg.matrix_rank(metric))
    truths = [
        ("metric", found.metric[half], metric[half]),
        ("eigenvalues", found.eigenvalues[:rank], true[:rank]),
        ("features", found.features, feature_shares(metric, x)),
    ]
    if found.over == "answers":
        scores = _scores(crowd)
        of_users = _accuracies(found, scores, crowd.noise)
        truths += [
            ("scores", found.scores, scores),
            ("accuracy", found.accuracy, of_users.mean()),
            ("accuracy of a user", found.user_accuracy, of_users),
        ]
        if found.directions.shape[1]:
            ideal = best_within(found.directions, metric, points)
            truths.append(("ideal points", found.ideal_points, ideal))
    if rank < len(metric):
        # None can be missed from above, so these are held as often as one-sided intervals.
        truths.append((_ZERO, found.eigenvalues[rank:], 0.0 * true[rank:]))
    for quantity, interval, truth in truths:
        yield quantity, interval.covers(truth), interval.high - interval.low


def _accuracies(found: Uncertainty, scores: Floats, noise: float) -> Floats:
    """Return how probably the model predicts an answer of each user to a random question."""
    margins = scores[:, :, None] - scores[:, None, :]
    guessed = found.model.scores()
    right = np.where(guessed[:, :, None] < guessed[:, None, :], 1.0, -1.0)
    agreed = expit(-noise * margins * right)
    n = scores.shape[1]
    result: Floats = agreed[:, ~np.eye(n, dtype=bool)].mean(axis=1)
    return result


def _scores(crowd: Simulation) -> Floats:
    """Return the true scores of all items for all users."""
    x = crowd.items.features
    result: Floats = crowd.points @ x.T + np.einsum("id,id->i", x @ crowd.metric, x)
    return result


def _in_top(scores: Floats) -> Floats:
    """Return 1 for the items that are truly among a user's best, 0 for all others."""
    result = np.zeros(scores.shape)
    np.put_along_axis(result, np.argsort(scores, axis=1)[:, :_TOP], 1.0, axis=1)
    return result


def _calibration_error(stated: Floats, true: Floats) -> float:
    """Return by how much stated probabilities are off: the mean over bins, weighted by size."""
    which = np.minimum((stated * _BINS).astype(int), _BINS - 1)
    sums = np.bincount(which, stated - true, minlength=_BINS)
    return float(np.abs(sums).sum() / len(stated))
