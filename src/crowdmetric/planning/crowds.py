"""Crowds for a study that is planned: who they are, what they are asked, and what they answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons
from crowdmetric.planning.study import Study
from crowdmetric.simulation import Simulation, simulate

__all__ = ["asked", "draw_crowd", "expected_accuracy", "first"]

_TEST_QUESTIONS = 300  # per person, to measure accuracy on; all pairs, if these are fewer
_QUESTIONS, _TEST = range(2)  # random streams of a person

Integers = npt.NDArray[np.int64]


def draw_crowd(study: Study, users: int, trial: int) -> Simulation:
    """Draw the crowd of a trial and its answers; fewer users are the first of more.

    The metric and, for normal items, the items and ideal points are drawn as in the paper. Ideal
    points among given items have those items' covariance: people like what is like what there is.
    Each person is asked about distinct pairs in random order.

    Parameters
    ----------
    study : Study
        What is assumed.
    users : int
        How many people.
    trial : int
        Which trial, from 0.

    Returns
    -------
    Simulation
        Users follow each other, with as many answers each as the largest size; the test questions
        are others in the same manner.

    Examples
    --------
    >>> study = Study(n_items=10, dimension=2, users=4, rank=1, noise=1.0, sizes=(5, 20))
    >>> draw_crowd(study, 4, trial=0)
    Simulation(10 items, 2 features, rank 1, 4 users, 80 answers, 180 for testing)
    """
    seeds = np.random.SeedSequence(study.seed, spawn_key=(trial,))
    seed = int(seeds.generate_state(1)[0])
    drawn = simulate(
        study.n_items, study.dimension, study.rank, users, 1, study.noise, seed, 1
    )  # the metric and the people; their questions come below
    if study.items is not None:
        like_items = _root_of_covariance(study.items.features) * np.sqrt(study.dimension)
        drawn = replace(drawn, items=study.items, ideal_points=drawn.ideal_points @ like_items)
    return replace(
        drawn,
        comparisons=asked(drawn, study.sizes[-1], seed, _QUESTIONS),
        test=asked(drawn, min(_TEST_QUESTIONS, study.n_pairs), seed, _TEST),
    )


def asked(crowd: Simulation, count: int, seed: int, stream: int = _QUESTIONS) -> Comparisons:
    """Ask everybody about distinct pairs, in random order, and return their answers.

    Parameters
    ----------
    crowd : Simulation
        Who is asked.
    count : int
        How many pairs.
    seed : int
        Of the questions and answers; who comes later changes neither for those before.
    stream : int
        Another one gives other questions.

    Returns
    -------
    Comparisons
        Users follow each other.

    Examples
    --------
    >>> asked(simulate(n_items=5, n_users=2), count=10, seed=0)
    Comparisons(20 answers, 2 users, 5 items)
    """
    n_pairs = len(crowd.items) * (len(crowd.items) - 1) // 2
    chosen, turned, luck = [], [], []
    for person in range(len(crowd.ideal_points)):
        generator = np.random.default_rng([seed, stream, person])
        chosen.append(generator.choice(n_pairs, count, replace=False))
        turned.append(generator.random(count) < 0.5)
        luck.append(generator.random(count))
    one, other = _pair_of_number(np.concatenate(chosen))
    turn = np.concatenate(turned)
    user = np.repeat(np.arange(len(chosen)), count)
    triples = np.column_stack([user, np.where(turn, one, other), np.where(turn, other, one)])
    silent = Comparisons.from_arrays(
        triples, np.ones(len(triples)), users=range(len(chosen)), item_ids=crowd.items.ids
    )
    says_left = np.concatenate(luck) < expit(-crowd.noise * crowd.margins(silent))
    return replace(silent, response=np.where(says_left, -1, 1))


def first(comparisons: Comparisons, size: int) -> Comparisons:
    """Return everybody's first answers.

    Parameters
    ----------
    comparisons : Comparisons
        Users follow each other, with equally many answers each.
    size : int
        How many to keep of each.

    Returns
    -------
    Comparisons
        In the same order.

    Examples
    --------
    >>> first(asked(simulate(n_items=5, n_users=2), count=10, seed=0), 3)
    Comparisons(6 answers, 2 users, 5 items)
    """
    per_user = len(comparisons) // comparisons.n_users
    return comparisons.subset(np.arange(len(comparisons)) % per_user < size)


def expected_accuracy(margins: Floats, true_margins: Floats, noise: float) -> float:
    """Return the share of answers that predictions get right on average over the answers' noise.

    Parameters
    ----------
    margins : ndarray of shape (m,)
        Predicted; with the true ones the result is the best possible.
    true_margins : ndarray of shape (m,)
        The true ones.
    noise : float
        Beta of the answers.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> delta = np.array([-1.0, 2.0])
    >>> best = expected_accuracy(delta, delta, noise=1.0)
    >>> print(f"{best:.3f} {expected_accuracy(-delta, delta, noise=1.0):.3f}")
    0.806 0.194
    """
    agrees = (margins < 0) == (true_margins < 0)
    return float(expit(noise * np.where(agrees, 1.0, -1.0) * np.abs(true_margins)).mean())


def _pair_of_number(number: Integers) -> tuple[Integers, Integers]:
    """Return the items of pairs that are numbered (0, 1), (0, 2), (1, 2), (0, 3), and so on."""
    larger = ((1 + np.sqrt(1 + 8 * number)) // 2).astype(np.int64)
    return number - larger * (larger - 1) // 2, larger


def _root_of_covariance(features: Floats) -> Floats:
    """Return the symmetric square root of the covariance of the rows."""
    centred = features - features.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(features))
    root: Floats = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return root
