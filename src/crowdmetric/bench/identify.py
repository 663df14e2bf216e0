"""The benchmark `identify`: ranks found without dense algebra, beside the general-purpose way."""

from __future__ import annotations

import tracemalloc
from functools import partial
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from crowdmetric.bench.table import table
from crowdmetric.bench.timing import Settings, Worker, median, seconds, single_thread
from crowdmetric.identify import LinearSystem, selection_rank

__all__ = ["bench_identify", "dense_system"]

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Row = dict[str, Any]
Asked = tuple[Floats, Places, Places, Places, int]

_REPEATS = 5
_SIZES = {False: (20, 200, 20_000, 500), True: (4, 10, 200, 50)}  # by quick: d, K, m, items
_PAIRS = {False: 1_000_000, True: 10_000}
_NEEDED = {"system": 50.0, "memory": 20.0, "forest": 10.0}
_NOTES = """\
Ranks, on one thread; ours are medians of {repeats} calls on each of {seeds} seeds.
  system  all questions of a crowd (eq:full-linear-system). numpy's matrix_rank gets the matrix
          ready made, and is timed once, on the first seed{limit}. Memory: our peak, by
          tracemalloc; of numpy's, the matrix alone, without the copies that it makes
  forest  a selection matrix of full rank, from an array of pairs. scipy's connected_components
          needs a sparse matrix of them; to make it is counted
"""
_VERDICTS = {True: "met", False: "NOT MET"}


def bench_identify(settings: Settings, stream: TextIO) -> list[Row]:
    """Time the rank of a linear system and of a selection matrix.

    Parameters
    ----------
    settings : Settings
        How many seeds, whether small ones are enough, and when to stop dense algebra.
    stream : text stream
        Where the table goes.

    Returns
    -------
    list of dict
        One for the linear system and one for the forest.

    Examples
    --------
    >>> import io
    >>> rows = bench_identify(Settings(seeds=1, quick=True), io.StringIO())
    >>> [(row["rank"], row["agree"]) for row in rows]
    [('system', True), ('forest', True)]
    """
    limit = f", for {settings.limit:g} s at most"
    notes = _NOTES.format(repeats=_REPEATS, seeds=settings.seeds, limit=limit)
    print(notes, file=stream, flush=True)
    with single_thread():
        rows = [_system(settings), _forest(settings)]
    heads = ["rank", "sizes", "ours/s", "peer/s", "x time", "needed", "x memory", "verdict"]
    cells = [
        [
            row["rank"],
            row["sizes"],
            f"{row['ours_seconds']:.4f}",
            f"{row['peer_seconds']:.4f}",
            f"{row['ratio']:.1f}",
            f"{row['needed']:g}",
            f"{row['memory_ratio']:.1f}" if "memory_ratio" in row else "-",
            _VERDICTS[row["met"]],
        ]
        for row in rows
    ]
    print(table(heads, cells), file=stream)
    forest = rows[1]
    print(
        f"\nOurs: {forest['rows_per_second'] / 1e6:.1f} million pairs of a forest per second.\n"
        f"scipy without the making of its matrix takes {forest['search_ratio']:.1f} times as long.",
        file=stream,
    )
    if settings.quick:
        print("These sizes are small, so their times say nothing.", file=stream)
    return rows


def dense_system(
    features: Floats, user: Places, left: Places, right: Places, n_users: int
) -> Floats:
    """Return the matrix of eq:full-linear-system, every zero of it.

    Parameters
    ----------
    features : ndarray of shape (n, d)
        The items.
    user, left, right : ndarray of int, shape (m,)
        The questions.
    n_users : int
        How many users there are.

    Returns
    -------
    ndarray of shape (m, D + d K)
        A row for each question.

    Examples
    --------
    >>> dense_system(np.array([[1.0], [3.0]]), *np.array([[1], [0], [1]]), n_users=2)
    array([[-8.,  0., -2.]])
    """
    count, d = len(user), features.shape[1]
    first, second = np.triu_indices(d)
    squares = features[:, first] * features[:, second]
    matrix = np.zeros((count, len(first) + d * n_users))
    matrix[:, : len(first)] = squares[left] - squares[right]
    columns = len(first) + d * user[:, None] + np.arange(d)
    matrix[np.arange(count)[:, None], columns] = features[left] - features[right]
    return matrix


def _system(settings: Settings) -> Row:
    """Compare the rank of the whole system."""
    times, peaks, ranks = [], [], []
    for seed in range(settings.seeds):
        asked = _questions(seed, settings.quick)
        times += [seconds(partial(_our_rank, asked))[0] for _ in range(_REPEATS)]
        tracemalloc.start()
        ranks.append(_our_rank(asked))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    with Worker(int) as worker:
        answer = worker.ask(settings.limit, _dense_rank, 0, settings.quick)
    d, n_users, count, _ = _SIZES[settings.quick]
    peer_bytes = count * (d * (d + 1) // 2 + d * n_users) * 8
    # If dense algebra is out of time, the ratio is a lower bound.
    peer, rank = (settings.limit, None) if answer is None else answer
    row: Row = {
        "bench": "identify",
        "rank": "system",
        "sizes": f"d = {d}, K = {n_users}, m = {count:,}",
        "seeds": settings.seeds,
        "ours_seconds": median(times),
        "peer_seconds": peer,
        "ratio": peer / median(times),
        "needed": _NEEDED["system"],
        "ours_bytes": max(peaks),
        "peer_bytes": peer_bytes,
        "memory_ratio": peer_bytes / max(peaks),
        "agree": rank in (None, ranks[0]),
    }
    fast = row["ratio"] >= row["needed"] and row["memory_ratio"] >= _NEEDED["memory"]
    return row | {"met": bool(fast and row["agree"])}


def _forest(settings: Settings) -> Row:
    """Compare the rank of a selection matrix whose rows are independent."""
    count = _PAIRS[settings.quick]
    ours, theirs, searches, agree = [], [], [], True
    for seed in range(settings.seeds):
        pairs = _tree(seed, count)
        first = selection_rank(pairs, count + 1)  # loads what is compiled
        graph = _graph(pairs, count + 1)
        agree &= first == count == count + 1 - _parts(graph)
        for _ in range(_REPEATS):
            ours.append(seconds(partial(selection_rank, pairs, count + 1))[0])
            making = seconds(partial(_graph, pairs, count + 1))[0]
            searches.append(seconds(partial(_parts, graph))[0])
            theirs.append(making + searches[-1])
    ratio = median(theirs) / median(ours)
    return {
        "bench": "identify",
        "rank": "forest",
        "sizes": f"{count:,} pairs",
        "seeds": settings.seeds,
        "ours_seconds": median(ours),
        "peer_seconds": median(theirs),
        "search_ratio": median(searches) / median(ours),
        "ratio": ratio,
        "needed": _NEEDED["forest"],
        "rows_per_second": count / median(ours),
        "agree": bool(agree),
        "met": bool(agree and ratio >= _NEEDED["forest"]),
    }


def _our_rank(asked: Asked) -> int:
    """Return the rank of the linear system by elimination."""
    return LinearSystem.of(*asked).rank


def _dense_rank(seed: int, quick: bool) -> tuple[float, int]:
    """Return how long the rank of the whole matrix takes, and the rank, in a process of its own."""
    spent, rank = seconds(partial(np.linalg.matrix_rank, dense_system(*_questions(seed, quick))))
    return spent, int(rank)


def _questions(seed: int, quick: bool) -> Asked:
    """Draw items and questions."""
    d, n_users, count, n_items = _SIZES[quick]
    rng = np.random.default_rng(seed)
    user = rng.integers(0, n_users, count)
    left = rng.integers(0, n_items, count)
    right = (left + rng.integers(1, n_items, count)) % n_items
    return rng.normal(size=(n_items, d)), user, left, right, n_users


def _tree(seed: int, count: int) -> Places:
    """Draw a tree: its pairs in any order, and items with any numbers."""
    rng = np.random.default_rng(seed)
    child = np.arange(1, count + 1)
    pairs = rng.permutation(count + 1)[np.column_stack([child, rng.integers(0, child)])]
    return pairs[rng.permutation(count)]


def _graph(pairs: Places, n_items: int) -> sp.csr_array[Any]:
    """Return the sparse matrix that scipy searches."""
    ones = np.ones(len(pairs))
    return sp.csr_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(n_items, n_items))


def _parts(graph: sp.csr_array[Any]) -> int:
    """Return the number of connected parts, by scipy."""
    return int(connected_components(graph, directed=False)[0])
