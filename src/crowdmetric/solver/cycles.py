"""Answers around a cycle: even where all others are explained perfectly, these cannot be.

If someone prefers a to b and b to a, or goes round in a longer circle, no point explains it. But
the risk may still fall for ever along a direction that leaves such answers alone and makes all
others surer: then, too, there is no best point.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from crowdmetric.crowd import Crowd
from crowdmetric.solver.curvature import pack, unpack

__all__ = ["Cycles"]

Floats = npt.NDArray[np.float64]

_ROUNDING = 1e-9  # of the largest margin
_MOST_NUMBERS = 3e6


class Cycles:
    """The cycles among each user's answers, and directions that are level around them.

    Parameters
    ----------
    crowd : Crowd
        One problem's answers, in float64.

    Examples
    --------
    >>> from crowdmetric.comparisons import Comparisons
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 0], [0, 1, 2]], [1, 1, 1])
    >>> features = np.array([[0.0, 3.0], [2.0, 0.0], [0.0, 0.0]])
    >>> cycles = Cycles(Crowd.of(answers.answers(), features))
    >>> cycles.apart(None, np.array([[1.0, 0.5]]))  # 3 and 2 are of equal worth, and more than 0
    True
    >>> cycles.apart(None, np.array([[-1.0, 0.5]]))
    False
    """

    def __init__(self, crowd: Crowd) -> None:
        """Find the items that a cycle joins: those must be of equal worth."""
        self._crowd = crowd
        items = len(crowd.features)
        counts = crowd.share > 0
        up, down = crowd.user * items + crowd.up, crowd.user * items + crowd.down
        size = crowd.n_users * items
        edges = csr_array((np.ones(counts.sum()), (up[counts], down[counts])), (size, size))
        _, part = connected_components(edges, directed=True, connection="strong")
        self.outside = counts & (part[up] != part[down])
        # Each item of a part, beside the first of the part.
        _, first, of_part = np.unique(part, return_index=True, return_inverse=True)
        others = np.flatnonzero(first[of_part] != np.arange(size))
        self._users, self._items = np.divmod(others, items)
        self._beside = first[of_part][others] % items
        d = crowd.dimension
        free = crowd.n_users * d + d * (d + 1) // 2
        few = len(others) < free and len(others) * free <= _MOST_NUMBERS
        self.possible = few and bool(self.outside.any())

    def apart(self, root: Floats | None, points: Floats) -> bool:
        """Return whether a point, made level around all cycles, explains all other answers.

        Parameters
        ----------
        root : ndarray of shape (d, d) or None
            R of M = R R'. None leaves the metric out, and asks the same of any one user.
        points : ndarray of shape (K, d)
            The points v_k.

        Returns
        -------
        bool
            True is proof, up to rounding; False is not.
        """
        if not self.possible:
            return False
        crowd, d = self._crowd, self._crowd.dimension
        inner = np.zeros((d, d)) if root is None else root
        # Relative changes: M = R (I + E) R', and points in units of their typical length.
        unit = float(np.sqrt(np.mean(points**2))) or 1.0
        x, y = crowd.reference[self._items], crowd.reference[self._beside]
        seen_x, seen_y = x @ inner, y @ inner
        squares = seen_x[:, :, None] * seen_x[:, None, :] - seen_y[:, :, None] * seen_y[:, None, :]
        rows = np.zeros((len(x), crowd.n_users, d))
        rows[np.arange(len(x)), self._users] = unit * (x - y)
        system = np.hstack([pack(squares), rows.reshape(len(x), points.size)])
        here = np.concatenate([pack(np.eye(d)), points.ravel() / unit])
        level = here - np.linalg.lstsq(system, system @ here, rcond=None)[0]
        cut = d * (d + 1) // 2
        metric = unpack(level[:cut], d)
        if np.linalg.eigvalsh(metric)[0] < 0:
            return False
        metric = inner @ metric @ inner.T
        margins = crowd.margins(metric[None], unit * level[cut:].reshape(1, -1, d))
        least = _ROUNDING * float(np.abs(margins).max())
        wrong = self.outside & (margins <= least)
        if root is not None:
            return not wrong.any()
        count = crowd.n_users
        asked = np.bincount(crowd.user, self.outside, minlength=count) > 0
        return bool((asked & (np.bincount(crowd.user, wrong, minlength=count) == 0)).any())
