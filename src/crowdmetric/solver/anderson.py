"""Anderson acceleration of a fixed-point iteration, for a stack of problems at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["Anderson"]

Floats = npt.NDArray[np.float64]

_REGULARISATION = 1e-10
_DIVERGED = 2.0  # a residual this many times the least one so far: the memory misleads


class Anderson:
    """Extrapolate a fixed-point map from its last few steps (type II).

    Parameters
    ----------
    memory : int
        How many steps to remember.
    problems, size : int
        The shape (B, P) of the states.

    Examples
    --------
    A linear map of the plane is solved after two steps and an extrapolation.

    >>> matrix, shift = np.array([[0.5, 0.4], [0.0, 0.9]]), np.array([1.0, 1.0])
    >>> state, anderson = np.zeros((1, 2)), Anderson(2, 1, 2)
    >>> for _ in range(3):
    ...     state = anderson.extrapolate(state, state @ matrix.T + shift)
    >>> bool(np.allclose(state, state @ matrix.T + shift))
    True
    """

    def __init__(self, memory: int, problems: int, size: int) -> None:
        """Make room for the memory."""
        self._steps = np.zeros((problems, memory, size))
        self._changes = np.zeros((problems, memory, size))
        self._gram = np.zeros((problems, memory, memory))
        self._memory = memory
        self.forget()

    def forget(self) -> None:
        """Start again from nothing."""
        self._count = 0
        self._last: tuple[Floats, Floats] | None = None
        self._least = np.full(len(self._steps), np.inf)
        self._best = np.zeros((len(self._steps), self._steps.shape[-1]))
        self._waited, self._rest, self._longer = np.zeros((3, len(self._steps)), dtype=np.int64)

    def _watch(self, image: Floats, residual: Floats) -> npt.NDArray[np.bool_]:
        """Return which problems were misled: their residuals grow, or have stopped shrinking.

        They forget, and take plain steps for a while, each time for longer: an averaged map never
        moves further than before, so these make up for any harm that extrapolation did.
        """
        size = np.sqrt(np.einsum("bi,bi->b", residual, residual))
        self._waited += 1
        self._rest -= 1
        misled: npt.NDArray[np.bool_] = ~(size <= _DIVERGED * self._least)  # NaN misleads too
        misled |= (self._waited > self._memory) & (self._rest < 0)
        if misled.any():
            for array in (self._steps, self._changes, self._gram):
                array[misled] = 0.0
            self._least[misled] = np.inf
            self._longer[misled] = 2 * self._longer[misled] + 1
            self._rest[misled] = self._longer[misled]
        better = ~misled & (size < self._least)
        self._best[better] = image[better]
        self._least[better] = size[better]
        self._waited[misled | better] = 0
        return misled

    def extrapolate(self, state: Floats, image: Floats) -> Floats:
        """Return where to go on from, given a state and its image under the map.

        Parameters
        ----------
        state, image : ndarray of shape (B, P)
            A point, and where the map takes it.

        Returns
        -------
        ndarray of shape (B, P)
            The next state.
        """
        residual = image - state
        misled = self._watch(image, residual)
        if self._last is not None:
            slot = self._count % self._memory
            self._steps[:, slot] = image - self._last[0]
            change = residual - self._last[1]
            self._changes[:, slot] = change
            self._count += 1
            row = (self._changes @ change[..., None])[..., 0]
            self._gram[:, slot, :] = self._gram[:, :, slot] = row
        self._last = (image, residual)
        used = min(self._count, self._memory)
        if used == 0:
            return image
        right = (self._changes[:, :used] @ residual[..., None])[..., 0]
        gram = self._gram[:, :used, :used].copy()
        diagonal = np.einsum("bii->bi", gram)
        diagonal += _REGULARISATION * diagonal.max(axis=-1, keepdims=True) + 1e-300
        weights = np.linalg.solve(gram, right[..., None])
        weights[self._rest >= 0] = 0.0
        result: Floats = image - (np.swapaxes(weights, -1, -2) @ self._steps[:, :used])[:, 0]
        result[misled] = self._best[misled]
        return result
