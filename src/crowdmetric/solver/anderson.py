"""Anderson acceleration of a fixed-point iteration, for a stack of problems at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["Anderson"]

Floats = npt.NDArray[np.float64]

_REGULARISATION = 1e-10
_DIVERGED = 2.0  # a residual this many times the least one so far: the memory misleads
_LONGEST = 100.0  # how many residuals long an extrapolation may be
_PATIENCE = 4  # memories' lengths without a new least residual: nothing is gained


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
        self._least, self._best = np.full((2, len(self._steps)), np.inf)
        self._safe = np.zeros((len(self._steps), self._steps.shape[-1]))
        self._waited, self._stalled, self._rest = np.zeros((3, len(self._steps)), dtype=np.int64)

    def _watch(self, image: Floats, size: Floats) -> npt.NDArray[np.bool_]:
        """Let problems forget whose residuals grow, or have stopped shrinking.

        Returns those that have not got anywhere for long. They go back to the best image so far,
        and take plain steps for a while: an averaged map never moves further than before, so
        these make up for any harm that extrapolation did.
        """
        self._waited += 1
        self._stalled += 1
        self._rest -= 1
        misled = ~(size <= _DIVERGED * self._least) | (self._waited > self._memory)
        lost: npt.NDArray[np.bool_] = (self._stalled > _PATIENCE * self._memory) & (self._rest < 0)
        if misled.any() or lost.any():
            for array in (self._steps, self._changes, self._gram):
                array[misled | lost] = 0.0
            self._least[misled] = np.inf
            self._best[lost] = np.inf
            self._rest[lost] = _PATIENCE * self._memory
        self._waited[misled | (size < self._least)] = 0
        self._least = np.minimum(self._least, size)
        best = ~lost & (size < self._best)
        self._safe[best], self._best[best] = image[best], size[best]
        self._stalled[best | lost] = 0
        return lost

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
        size = np.sqrt(np.einsum("bi,bi->b", residual, residual))
        lost = self._watch(image, size)
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
        step = (np.swapaxes(weights, -1, -2) @ self._steps[:, :used])[:, 0]
        length = np.sqrt(np.einsum("bi,bi->b", step, step))
        step *= np.minimum(1.0, _LONGEST * size / np.maximum(length, 1e-300))[:, None]
        result: Floats = image - step
        result[lost] = self._safe[lost]
        return result
