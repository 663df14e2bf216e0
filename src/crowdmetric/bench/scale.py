"""The benchmark `scale`: what one pass over the answers costs, by size and by thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from crowdmetric.bench.table import table
from crowdmetric.bench.timing import Settings, median, seconds, single_thread
from crowdmetric.crowd import Crowd
from crowdmetric.simulation import simulate

__all__ = ["bench_scale", "numpy_pass"]

Floats = npt.NDArray[np.float64]
Row = dict[str, Any]

_DIMENSIONS = (3, 10, 30)
_USERS, _ITEMS = 100, 500
_REPEATS = 5


def bench_scale(settings: Settings, stream: TextIO) -> list[Row]:
    """Time margins and gradient of crowds of several sizes.

    Parameters
    ----------
    settings : Settings
        How many seeds, and whether small crowds are enough.
    stream : text stream
        Where the table goes.

    Returns
    -------
    list of dict
        One for each size and way to compute.

    Examples
    --------
    >>> import io
    >>> rows = bench_scale(Settings(seeds=1, quick=True), io.StringIO())
    >>> sorted({row["solver"] for row in rows}), len(rows)
    (['crowdmetric', 'numpy'], 9)
    """
    print(
        "One pass over the answers, margins and gradient, in microseconds per thousand answers",
        file=stream,
        flush=True,
    )
    rows: list[Row] = []
    with single_thread():
        for answers in (1_000,) if settings.quick else (10_000, 100_000, 1_000_000):
            for dimension in _DIMENSIONS:
                rows.extend(_rows(answers, dimension, settings.seeds))
    heads = ["answers", "d", "threads", "median", "way"]
    cells = [
        [
            f"{row['answers']:,}",
            str(row["dimension"]),
            str(row["threads"]),
            f"{row['microseconds_per_thousand']:.1f}",
            row["solver"],
        ]
        for row in rows
    ]
    print(table(heads, cells), file=stream, flush=True)
    return rows


def numpy_pass(crowd: Crowd, metric: Floats, points: Floats, slopes: Floats) -> tuple[Floats, ...]:
    """Return margins and gradient by the formula, in vectorised NumPy.

    Parameters
    ----------
    crowd : Crowd
        With one metric for all, and answers of every user.
    metric : ndarray of shape (d, d)
        The metric.
    points : ndarray of shape (K, d)
        The points.
    slopes : ndarray of shape (m,)
        The slope of the loss at each answer.

    Returns
    -------
    tuple of ndarray
        The margins, the gradient with respect to the metric, and that with respect to the points.

    Examples
    --------
    >>> drawn = simulate(dimension=2, n_users=3)
    >>> crowd = Crowd.of(drawn.comparisons.answers(), drawn.items.features)
    >>> parts = numpy_pass(crowd, np.eye(2), np.zeros((3, 2)), np.ones(len(crowd.user)))
    >>> [part.shape for part in parts]
    [(900,), (2, 2), (3, 2)]
    """
    x, left, right = crowd.features, crowd.up, crowd.down
    apart = x[left] - x[right]
    size = np.einsum("nd,nd->n", x @ metric, x)
    along = np.einsum("td,td->t", apart, points[crowd.user])
    margins = np.asarray(size[left] - size[right] + along, dtype=np.float64)
    pull = slopes * crowd.share
    of_item = np.bincount(left, pull, len(x)) - np.bincount(right, pull, len(x))
    of_metric = np.asarray(x.T @ (of_item[:, None] * x), dtype=np.float64)
    of_points = np.asarray(
        np.add.reduceat(pull[:, None] * apart, crowd.starts[:-1]), dtype=np.float64
    )
    return margins, of_metric, of_points


def _rows(answers: int, dimension: int, seeds: int) -> list[Row]:
    """Time one size: our loops with one and two threads, and the formula in NumPy."""
    times: dict[tuple[str, int], list[float]] = {}
    for seed in range(seeds):
        drawn = simulate(
            n_items=_ITEMS,
            dimension=dimension,
            n_users=_USERS,
            pairs_per_user=answers // _USERS,
            test_pairs_per_user=1,
            seed=seed,
        )
        metric, points = np.eye(dimension), drawn.points
        slopes = np.full(answers, -0.5)
        for threads in (1, 2):
            crowd = Crowd.of(drawn.comparisons.answers(), drawn.items.features, threads=threads)
            spent = _time(_our_pass(crowd, metric, points, slopes))
            times.setdefault(("crowdmetric", threads), []).append(spent)
        spent = _time(_their_pass(crowd, metric, points, slopes))
        times.setdefault(("numpy", 1), []).append(spent)
    return [
        {
            "bench": "scale",
            "answers": answers,
            "dimension": dimension,
            "solver": way,
            "threads": threads,
            "seeds": seeds,
            "microseconds_per_thousand": median(spent) * 1e9 / answers,
        }
        for (way, threads), spent in times.items()
    ]


def _our_pass(crowd: Crowd, metric: Floats, points: Floats, slopes: Floats) -> Callable[[], object]:
    """Return a call of our loops."""
    return lambda: (crowd.margins(metric[None], points[None]), crowd.gradient(slopes))


def _their_pass(
    crowd: Crowd, metric: Floats, points: Floats, slopes: Floats
) -> Callable[[], object]:
    """Return a call of the formula."""
    return lambda: numpy_pass(crowd, metric, points, slopes)


def _time(call: Callable[[], object]) -> float:
    """Return the median seconds of a call, the first one left out."""
    call()
    return median([seconds(call)[0] for _ in range(_REPEATS)])
