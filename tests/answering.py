"""People with habits, for the tests: who leans to a side, tosses coins, or is asked twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import expit

from crowdmetric.comparisons import Comparisons
from crowdmetric.simulation import Simulation

__all__ = ["answer", "margins_of", "mirrored"]


def margins_of(crowd: Simulation, questions: Comparisons) -> np.ndarray:
    """Return the true margins, from the definition of the scores."""
    x = crowd.items.features
    scores = np.einsum("nd,de,ne->n", x, crowd.metric, x) + crowd.points @ x.T
    return scores[questions.user, questions.left] - scores[questions.user, questions.right]


def answer(
    crowd: Simulation,
    questions: Comparisons,
    seed: int,
    bias: np.ndarray | float = 0.0,
    consistency: np.ndarray | float = 1.0,
) -> Comparisons:
    """Return the questions with new answers: a bias of the margins, and a share of coin flips."""
    random = np.random.default_rng(seed)
    pull = np.broadcast_to(bias, questions.n_users)[questions.user]
    share = np.broadcast_to(consistency, questions.n_users)[questions.user]
    right = expit(crowd.noise * (margins_of(crowd, questions) + pull))
    right = np.where(random.random(len(questions)) < share, right, 0.5)
    response = np.where(random.random(len(questions)) < right, 1, -1)
    return replace(questions, response=response.astype(np.int8))


def mirrored(questions: Comparisons) -> Comparisons:
    """Return every question, then each again the other way round."""
    triples = np.column_stack([questions.user, questions.left, questions.right])
    both = np.concatenate([triples, triples[:, [0, 2, 1]]])
    return Comparisons.from_arrays(
        both,
        np.concatenate([questions.response, -questions.response]),
        users=questions.users,
        item_ids=questions.item_ids,
    )
