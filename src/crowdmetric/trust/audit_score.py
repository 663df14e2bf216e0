r"""Whether groups' answers pull a common metric in different directions.

Of answer t by user k in group g, with residual e_t (the slope of the log-likelihood in the
margin), the metric of g feels the pull e_t b_t, where b_t = x_i x_i' - x_j x_j'. Two pulls are no
sign of a different metric: what the user's point could take up, and what the common metric could.
Both are regressed out of b_t and e_t, with the information of each answer as weights (Neyman's
C(alpha)), so errors in the fit of either count in second order only. What is left is summed over
each group; the statistic is the squared length of these sums, over what it would be if the answers
pulled independently:

    T = sum_g || sum_{t in g} e_t b_t ||^2 / sum_t e_t^2 || b_t ||^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric.checks import Codes, Floats
from crowdmetric.comparisons import Answers
from crowdmetric.losses import Link, Loss

__all__ = ["Directions", "statistics"]

_MOST_DIRECTIONS = 12  # principal directions of the items in which metrics are told apart
_FLAT = 1e-6  # of the largest spread: directions in which items do not differ
_SHRINKAGE = 1e-3  # of the weight that the prior of the points has: it only avoids division by 0


@dataclass(frozen=True, eq=False)
class Directions:
    """What each answer says about metrics: b_t, in units of the items' own spread.

    Parameters
    ----------
    differences : ndarray of shape (m, d)
        Features of the left item less those of the right.
    products : ndarray of shape (m, D)
        The products of two features, of the left item less those of the right.
    """

    differences: Floats
    products: Floats

    @classmethod
    def of(cls, x: Floats, answers: Answers) -> Directions:
        """Compute them.

        Parameters
        ----------
        x : ndarray of shape (n, d)
            The items' features, as the metric sees them.
        answers : Answers
            The answers.

        Returns
        -------
        Directions
            Of the first principal directions of the items, if there are many.

        Examples
        --------
        >>> from crowdmetric.comparisons import Comparisons
        >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 1]).answers()
        >>> Directions.of(np.random.default_rng(0).normal(size=(3, 2)), answers).products.shape
        (2, 3)
        """
        centred = x - x.mean(axis=0)
        _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
        kept = np.flatnonzero(sizes > _FLAT * sizes[0])[:_MOST_DIRECTIONS]
        z = centred @ (axes[kept].T / sizes[kept]) * np.sqrt(len(x))
        low, high = np.triu_indices(len(kept))
        # Off the diagonal a metric has each entry twice.
        table = z[:, low] * z[:, high] * np.where(low == high, 1.0, np.sqrt(2.0))
        return cls(x[answers.left] - x[answers.right], table[answers.left] - table[answers.right])


def statistics(
    directions: Directions,
    answers: Answers,
    margins: Floats,
    points: Floats,
    loss: Loss,
    groupings: Sequence[Codes],
) -> list[float]:
    """Return T for each way to group the users.

    Parameters
    ----------
    directions : Directions
        Of these answers.
    answers : Answers
        Sorted by user, without ties.
    margins : ndarray of shape (m,)
        Of the common fit.
    points : ndarray of shape (K, d)
        The points of the common fit.
    loss : Loss
        Of the fit; minus a log-likelihood.
    groupings : sequence of ndarray of int
        For each way to group, every user's group.

    Returns
    -------
    list of float
        About 1 if the groups pull in no direction of their own, more if they do.
    """
    assert isinstance(loss, Link)
    right = loss.probability(margins)
    up, down = -loss.slope(margins), loss.slope(-margins)
    residual = answers.weight * np.where(answers.sign > 0, up, down)
    information = answers.weight * (right * up**2 + (1 - right) * down**2)
    pulls, residual = _without_points(directions, answers, residual, information, points)
    pulls_information = pulls.T @ (information[:, None] * pulls)
    common = np.linalg.lstsq(pulls_information, pulls.T @ residual, rcond=1e-10)[0]
    residual = residual - information * (pulls @ common)
    alone = float(residual**2 @ np.einsum("td,td->t", pulls, pulls))
    if alone == 0:
        return [1.0] * len(groupings)
    forces = residual[:, None] * pulls
    found = []
    for grouping in groupings:
        sums = np.zeros((int(grouping.max()) + 1, forces.shape[1]))
        np.add.at(sums, grouping[answers.user], forces)
        found.append(float(np.vdot(sums, sums)) / alone)
    return found


def _without_points(
    directions: Directions,
    answers: Answers,
    residual: Floats,
    information: Floats,
    points: Floats,
) -> tuple[Floats, Floats]:
    """Regress out, user by user, what the user's point could take up."""
    # Points as long as everybody's are as likely as not: that scales the shrinkage.
    root = _root(points.T @ points / len(points))
    steps = directions.differences @ root
    pulls = directions.products.copy()
    left = residual.copy()
    starts = np.searchsorted(answers.user, np.arange(answers.n_users + 1))
    ridge = _SHRINKAGE * np.eye(steps.shape[1])
    for first, stop in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        if first == stop:
            continue
        rows = slice(first, stop)
        a, h = steps[rows], information[rows, None]
        gram = a.T @ (h * a) + ridge
        target = np.column_stack([h * pulls[rows], left[rows]])
        fitted = np.linalg.solve(gram, a.T @ target)
        pulls[rows] -= a @ fitted[:, :-1]
        left[rows] -= information[rows] * (a @ fitted[:, -1])
    return pulls, left


def _root(matrix: Floats) -> npt.NDArray[np.float64]:
    """Return a square root of a positive semidefinite matrix, made positive definite."""
    values, vectors = np.linalg.eigh(matrix)
    floor = max(float(values[-1]), np.finfo(np.float64).tiny) * 1e-3
    result: Floats = vectors * np.sqrt(np.maximum(values, floor))
    return result
