"""The paper's conjecture on random small instances (sec:ident-append:conjectures).

It says: if the questions can be partitioned so that each user's own d rows and the D metric rows
together are independent, then almost all items are identified. Instances are drawn with such a
partition, which is checked again, and their rank is exact (see `generic`): a full one proves the
instance; a deficient one would be a counterexample, wrong with a probability below 2^-40.

A few observations, proved in docs/identifiability.md, say where to look. The conjecture is true if
no more than D + d + 1 items are compared, and for one or two users. So more than half of the
instances have more users and more items, but few, and are drawn crowded: with pairs that users
share, and with some items in many pairs.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from crowdmetric.errors import DataError
from crowdmetric.files import whole_file
from crowdmetric.identify.generic import generic_rank
from crowdmetric.identify.partition import Partition, satisfies_rank
from crowdmetric.identify.questions import Places, Questions
from crowdmetric.identify.selection import independent_rows
from crowdmetric.units import Progress, run_all

__all__ = ["Instances", "Outcome", "draw_instance", "run_conjecture"]

_COLUMNS = ("dimension", "users", "items", "instances", "confirmed", "counterexample")
_DIMENSIONS = (1, 2, 2, 3, 3, 3, 4)  # as often as they are drawn
_MORE_ITEMS = (0, 1, 1, 2, 2, 3)
_MOST_USERS = 6
_UNIT = 1000
_DRAWS = 1  # to be raised when other instances are drawn: then none of the finished ones count

Row = tuple[int, int, int, int, int, str]


@dataclass(frozen=True)
class Instances:
    """Some of the instances, as a unit of work.

    Parameters
    ----------
    number : int
        Which unit, from 0.
    size : int
        How many instances.
    root : int
        The seed that all seeds come from.

    Examples
    --------
    >>> sum(row[4] for row in Instances(number=0, size=5, root=0).run())
    5
    """

    number: int
    size: int
    root: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"conjecture-{self.number:04d}"

    @property
    def fingerprint(self) -> str:
        """What a saved unit must have been made with to be used again."""
        return hashlib.sha256(f"{_DRAWS} {self!r}".encode()).hexdigest()

    def run(self) -> list[Row]:
        """Draw the instances, and count those whose rank is full."""
        generator = np.random.default_rng([self.root, self.number])
        drawn: Counter[tuple[int, int, int]] = Counter()
        confirmed: Counter[tuple[int, int, int]] = Counter()
        against: list[Row] = []
        for _ in range(self.size):
            asked, partition = draw_instance(generator)
            if not satisfies_rank(partition, asked):
                raise DataError("an instance was drawn that is none; report this as a bug")
            sizes = asked.dimension, asked.n_users, asked.n_items
            rank = _rank(asked, int(generator.integers(2**32)))
            drawn[sizes] += 1
            if rank == asked.needed:
                confirmed[sizes] += 1
            else:
                against.append((*sizes, 0, 0, _described(asked, partition, rank)))
        return [(*sizes, drawn[sizes], confirmed[sizes], "") for sizes in sorted(drawn)] + against


@dataclass(frozen=True)
class Outcome:
    """What came of all instances.

    Parameters
    ----------
    counts : dict
        By dimension, users and items: how many instances there were, and how many confirmed.
    counterexamples : tuple of str
        The others, as JSON.

    Examples
    --------
    >>> Outcome({(2, 3, 7): (5, 5)}, ()).summary()
    '5 of 5 instances confirm the conjecture; no counterexample was found'
    """

    counts: dict[tuple[int, int, int], tuple[int, int]]
    counterexamples: tuple[str, ...]

    @property
    def instances(self) -> int:
        """How many there were."""
        return sum(drawn for drawn, _ in self.counts.values())

    @property
    def confirmed(self) -> int:
        """How many of them have full rank."""
        return sum(full for _, full in self.counts.values())

    def summary(self) -> str:
        """Return a sentence."""
        found = len(self.counterexamples)
        against = f"{found} counterexamples were found" if found else "no counterexample was found"
        return f"{self.confirmed} of {self.instances} instances confirm the conjecture; {against}"


def run_conjecture(
    folder: Path, instances: int, workers: int, seed: int = 0, progress: Progress | None = None
) -> Outcome:
    """Run instances, or what is left of them, and write what came out.

    Parameters
    ----------
    folder : Path
        Gets conjecture.csv with the counts, a file for each counterexample, and units/ with what
        is finished.
    instances : int
        How many.
    workers : int
        How many processes.
    seed : int
        Of all draws.
    progress : callable, optional
        Called whenever a unit is done.

    Returns
    -------
    Outcome
        The counts, and counterexamples if there are any.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_conjecture(Path(folder), instances=0, workers=1).summary()
    '0 of 0 instances confirm the conjecture; no counterexample was found'
    """
    units = [
        Instances(number, min(_UNIT, instances - begin), seed)
        for number, begin in enumerate(range(0, instances, _UNIT))
    ]
    done = run_all(units, _COLUMNS, folder / "units", workers, progress)
    counts: dict[tuple[int, int, int], tuple[int, int]] = {}
    against = []
    for *sizes, drawn, full, text in (row for rows in done.values() for row in rows):
        key = (sizes[0], sizes[1], sizes[2])
        so_far = counts.get(key, (0, 0))
        counts[key] = so_far[0] + drawn, so_far[1] + full
        if text:
            against.append(text)
    outcome = Outcome(dict(sorted(counts.items())), tuple(against))
    _write(outcome, folder)
    return outcome


def draw_instance(generator: np.random.Generator) -> tuple[Questions, Partition]:
    """Draw questions with a partition, as the conjecture asks for.

    Parameters
    ----------
    generator : Generator
        Source of randomness.

    Returns
    -------
    Questions
        D + d K of them, more than d of each user.
    Partition
        One that satisfies the condition.

    Examples
    --------
    >>> asked, partition = draw_instance(np.random.default_rng(0))
    >>> len(asked) == asked.needed, satisfies_rank(partition, asked)
    (True, True)
    """
    d = int(generator.choice(_DIMENSIONS))
    size = d * (d + 1) // 2
    n_users = int(generator.integers(1, min(size, _MOST_USERS) + 1, size=2).max())
    n_items = size + d + 1 + int(generator.choice(_MORE_ITEMS))
    pool = _pairs_in_some_order(n_items, generator)
    metric = pool[independent_rows(pool, n_items)][:size]
    shared = pool[: int(generator.integers(1, len(pool) + 1))]
    own = []
    for _ in range(n_users):
        mixed = np.concatenate([generator.permutation(shared), generator.permutation(pool)])
        free = independent_rows(np.concatenate([metric, mixed]), n_items)[size:]
        own.append(mixed[free][:d])
    # Everybody has a metric row; whose the others are is left to chance.
    owner = np.concatenate([np.arange(n_users), generator.integers(n_users, size=size - n_users)])
    pairs = np.concatenate([*own, metric])
    user = np.concatenate([np.repeat(np.arange(n_users), d), generator.permutation(owner)])
    asked = Questions(user, pairs[:, 0], pairs[:, 1], n_users, n_items, d)
    rows = np.arange(len(pairs))
    return asked, Partition(rows[: n_users * d].reshape(n_users, d), rows[n_users * d :])


def _pairs_in_some_order(n_items: int, generator: np.random.Generator) -> Places:
    """Return all pairs: at random, or those of a few items first, crowded together."""
    pairs = generator.permutation(np.array(list(combinations(range(n_items), 2))))
    rank = generator.permutation(n_items)[pairs]
    first = (np.zeros(len(pairs)), rank.max(axis=1), rank.min(axis=1))[generator.integers(3)]
    return pairs[np.argsort(first, kind="stable")]


def _rank(asked: Questions, seed: int) -> int:
    """Return the rank for almost all items."""
    sizes = asked.n_users, asked.n_items, asked.dimension
    return generic_rank(asked.user, asked.left, asked.right, *sizes, seed=seed)


def _described(asked: Questions, partition: Partition, rank: int) -> str:
    """Return all there is to know about an instance."""
    return json.dumps(
        {
            "dimension": asked.dimension,
            "users": asked.n_users,
            "items": asked.n_items,
            "questions": np.column_stack([asked.user, asked.pairs]).tolist(),
            "own_rows": partition.own.tolist(),
            "metric_rows": partition.metric.tolist(),
            "rank": rank,
            "needed": asked.needed,
        }
    )


def _write(outcome: Outcome, folder: Path) -> None:
    """Write the counts, and each counterexample to a file of its own."""
    lines = ["dimension,users,items,instances,confirmed"]
    for sizes, (drawn, full) in outcome.counts.items():
        lines.append(",".join(map(str, (*sizes, drawn, full))))
    with whole_file(folder / "conjecture.csv", "counts") as file:
        file.write(("\n".join(lines) + "\n").encode())
    for number, text in enumerate(outcome.counterexamples):
        with whole_file(folder / f"counterexample-{number}.json", "counterexample") as file:
            file.write(f"{text}\n".encode())
