"""The problems of the benchmark `paper`, and what is asked of the solver on each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from crowdmetric.features import UnitBall
from crowdmetric.losses import Hinge, Logistic
from crowdmetric.problem import Problem
from crowdmetric.regions import (
    FrobeniusMetric,
    NuclearFull,
    NuclearMetric,
    NuclearSplit,
    Region,
    by_name,
)
from crowdmetric.simulation import Simulation, oracle_radii, simulate

__all__ = ["Case", "cases", "colours_like", "parts_of"]

_SMOOTH_PEERS = ("Clarabel", "SCS at 1e-6")


@dataclass(frozen=True)
class Sizes:
    """How large a crowd is: d, K, n, answers per user, and the rank of the true metric."""

    dimension: int
    users: int
    items: int
    pairs: int
    rank: int = 1

    def crowd(self, seed: int) -> Simulation:
        """Draw a crowd of these sizes, as in the paper's experiments, with beta = 1."""
        return simulate(
            n_items=self.items,
            dimension=self.dimension,
            rank=self.rank,
            n_users=self.users,
            pairs_per_user=self.pairs,
            test_pairs_per_user=1,
            seed=seed,
        )

    def __str__(self) -> str:
        """Return the sizes in words."""
        return (
            f"d={self.dimension}, r={self.rank}, K={self.users}, n={self.items}, "
            f"{self.users * self.pairs:,} answers"
        )


@dataclass(frozen=True)
class Case:
    """One problem, drawn anew for each seed.

    Parameters
    ----------
    name : str
        Short and unique.
    sizes : Sizes
        Of the crowd.
    make : callable
        From a crowd to a problem.
    tolerance : float
        The gap that we must certify.
    needed : float
        How many times our time the fastest peer must need.
    peers : tuple of str
        Who else solves it.
    against : str, optional
        The case whose peers count, where it is not this one's.

    Examples
    --------
    >>> case = cases(quick=True)[0]
    >>> print(f"{case.name}: {case.sizes}")
    nuclear-full: d=3, r=1, K=4, n=20, 80 answers
    >>> case.problem(seed=0).region.name
    'nuclear-full'
    """

    name: str
    sizes: Sizes
    make: Callable[[Simulation], Problem]
    tolerance: float
    needed: float
    peers: tuple[str, ...] = _SMOOTH_PEERS
    against: str | None = None

    def problem(self, seed: int) -> Problem:
        """Draw the crowd of a seed, and state the problem."""
        return self.make(self.sizes.crowd(seed))


def cases(quick: bool = False) -> list[Case]:
    """Return all problems, in the order in which they are solved.

    Parameters
    ----------
    quick : bool
        Small crowds, to try everything out in seconds.

    Returns
    -------
    list of Case
        The times of small crowds say nothing.

    Examples
    --------
    >>> len(cases())
    7
    """
    usual, large = Sizes(10, 10, 100, 300), Sizes(30, 100, 500, 200)
    colours = Sizes(3, 48, 37, 300, rank=3)
    if quick:
        usual, large = Sizes(3, 4, 20, 20), Sizes(4, 5, 20, 20)
        colours = Sizes(3, 4, 20, 20, rank=3)
    hinge_peers = (*_SMOOTH_PEERS, "CVXOPT")
    return [
        Case("nuclear-full", usual, _within(NuclearFull, "nuclear-full"), 1e-6, 80),
        Case("frobenius", usual, _within(FrobeniusMetric, "frobenius"), 1e-6, 40),
        Case("nuclear-split", usual, _within(NuclearSplit, "nuclear-split"), 1e-6, 40),
        Case("nuclear-metric", usual, _within(NuclearMetric, "nuclear-metric"), 1e-6, 40),
        Case("frobenius, hinge", colours, _colours, 1e-5, 40, hinge_peers),
        Case(
            "nuclear-full, d=30",
            large,
            _within(NuclearFull, "nuclear-full"),
            1e-5,
            4,
            peers=(),
            against="nuclear-full",
        ),
        Case("nuclear-full, single", usual, _single, 1e-6, 20),
    ]


def parts_of(problem: Problem) -> list[Problem]:
    """Return what a peer has to solve: the problem, or one problem per user.

    Parameters
    ----------
    problem : Problem
        With one metric for all, or one for each user ("single").

    Returns
    -------
    list of Problem
        Each for all users, or for one.

    Examples
    --------
    >>> [len(parts_of(case.problem(seed=0))) for case in cases(quick=True)]
    [1, 1, 1, 1, 1, 1, 4]
    """
    if not problem.single:
        return [problem]
    answers = problem.answers
    radii = np.array([np.broadcast_to(r, answers.n_users) for r in problem.region.radii])
    parts = []
    for user in range(answers.n_users):
        rows = answers.user == user
        own = replace(
            answers,
            user=np.zeros(np.count_nonzero(rows), dtype=np.int32),
            left=answers.left[rows],
            right=answers.right[rows],
            sign=answers.sign[rows],
            weight=answers.weight[rows],
            n_users=1,
        )
        region = by_name(problem.region.name, radii[:, user].tolist())
        parts.append(Problem(own, problem.features, problem.loss, region))
    return parts


def _within(kind: Callable[..., Region], name: str) -> Callable[[Simulation], Problem]:
    """Return how to state the logistic problem within the oracle's radii."""

    def make(crowd: Simulation) -> Problem:
        region = kind(*oracle_radii(crowd)[name])
        answers = crowd.comparisons.answers()
        return Problem(answers, crowd.items.features, Logistic(crowd.noise), region)

    return make


def _single(crowd: Simulation) -> Problem:
    """State the problem of every user alone, within the oracle's radius of each."""
    region = NuclearFull(oracle_radii(crowd)["nuclear-full-single"])
    loss = Logistic(crowd.noise)
    return Problem(crowd.comparisons.answers(), crowd.items.features, loss, region, single=True)


def colours_like(seed: int, pairs: int) -> Problem:
    """Draw a crowd of the size of the paper's colour data, and state its problem.

    Parameters
    ----------
    seed : int
        Of the crowd.
    pairs : int
        Answers per user.

    Returns
    -------
    Problem
        Hinge loss, Frobenius balls.

    Examples
    --------
    >>> len(colours_like(0, 5).answers)
    240
    """
    return _colours(Sizes(3, 48, 37, pairs, rank=3).crowd(seed))


def _colours(crowd: Simulation) -> Problem:
    """State a problem like the paper's on colours: hinge loss, items in the unit ball."""
    items = crowd.items
    features = UnitBall().fit(items.features, items.names).transform(items.features)
    region = FrobeniusMetric(float(np.sqrt(3.0)), 2.0)
    return Problem(crowd.comparisons.answers(), features, Hinge(), region)
