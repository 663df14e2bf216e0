"""The copies of splitting: each holds one simple part of the problem, and sees x through a map.

The problem is to minimise a smooth risk plus g_1(A_1 x) + g_2(A_2 x) + ..., where x = (M, V) and
each g is easy on its own: the indicator of a set with a closed-form projection, or a loss with a
corner. All arrays are flat, one row per problem: x is M row by row, then V row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from crowdmetric.crowd import Crowd
from crowdmetric.losses import KinkedLoss
from crowdmetric.margin_bound import MarginBound
from crowdmetric.regions.projections import onto_range
from crowdmetric.regions.protocol import Piece

__all__ = ["AnswersCopy", "Copy", "MetricCopy", "ScoresCopy", "Shape", "WholeCopy"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Shape:
    """The shapes of M (B, d, d) and V (B, K / B, d), and their flat form.

    Examples
    --------
    >>> shape = Shape(1, 2, 3)
    >>> metric, points = shape.open(np.zeros((1, shape.size)))
    >>> metric.shape, points.shape, shape.size
    ((1, 2, 2), (1, 3, 2), 10)
    """

    problems: int
    dimension: int
    users: int

    @property
    def metric_size(self) -> int:
        """Numbers in one metric."""
        return self.dimension**2

    @property
    def size(self) -> int:
        """Numbers in one x."""
        return self.dimension * (self.dimension + self.users)

    def open(self, flat: Floats) -> tuple[Floats, Floats]:
        """Return M and V as views of flat rows."""
        cut, d = self.metric_size, self.dimension
        metric = flat[:, :cut].reshape(self.problems, d, d)
        return metric, flat[:, cut : self.size].reshape(self.problems, self.users, d)

    def close(self, metric: Floats, points: Floats) -> Floats:
        """Return flat rows."""
        rows = (metric.reshape(self.problems, -1), points.reshape(self.problems, -1))
        return np.concatenate(rows, axis=1)


class Copy(Protocol):
    """One part of the problem, and the map through which it sees x."""

    size: int

    def look(self, flat: Floats) -> Floats:
        """Return A x."""

    def pull(self, values: Floats, into: Floats) -> None:
        """Add A' values to a flat gradient."""

    def settle(self, values: Floats, weight: float) -> Floats:
        """Return the proximal point of g / weight: a projection, where g is an indicator."""


class WholeCopy:
    """A set of pairs (M, V), seen in units of their own where M and V are projected separately."""

    def __init__(self, shape: Shape, piece: Piece, units: Floats) -> None:
        """Remember the set, and the unit of each number in x."""
        self.size = shape.size
        self._shape, self._piece, self._units = shape, piece, units

    def look(self, flat: Floats) -> Floats:
        """Return x in the units."""
        return flat * self._units

    def pull(self, values: Floats, into: Floats) -> None:
        """Add the adjoint."""
        into += values * self._units

    def settle(self, values: Floats, weight: float) -> Floats:
        """Project on the set."""
        projected = self._piece.project(*self._shape.open(values / self._units))
        return self._shape.close(*projected) * self._units


class MetricCopy:
    """A set of metrics, whatever the points."""

    def __init__(self, shape: Shape, piece: Piece, units: Floats) -> None:
        """Remember the set, and the unit of each number in x."""
        self.size = shape.metric_size
        self._shape, self._piece, self._units = shape, piece, units[: self.size]
        self._points = np.zeros((shape.problems, 0, shape.dimension))

    def look(self, flat: Floats) -> Floats:
        """Return M in the units."""
        return flat[:, : self.size] * self._units

    def pull(self, values: Floats, into: Floats) -> None:
        """Add the adjoint to M's part."""
        into[:, : self.size] += values * self._units

    def settle(self, values: Floats, weight: float) -> Floats:
        """Project on the set."""
        d = self._shape.dimension
        matrix = (values / self._units).reshape(-1, d, d)
        metric, _ = self._piece.project(matrix, self._points)
        return metric.reshape(-1, self.size) * self._units


class ScoresCopy:
    """The margin bound: a set of tables of scores, seen in units that balance it with the rest."""

    def __init__(self, shape: Shape, bound: MarginBound) -> None:
        """Choose the units so that the curvature of the map is about 1."""
        features = bound.crowd.features
        self.size = shape.users * len(features)
        self.unit = 1.0 / float(np.sqrt(np.einsum("nd,nd->", features, features) / shape.dimension))
        self._shape, self._bound = shape, bound
        self._table = (shape.problems, shape.users, len(features))

    def look(self, flat: Floats) -> Floats:
        """Return the scores of all items for all users."""
        scores = self._bound.scores(*self._shape.open(flat))
        return self.unit * scores.reshape(self._shape.problems, self.size)

    def pull(self, values: Floats, into: Floats) -> None:
        """Add the adjoint."""
        into += self.unit * self._shape.close(*self._bound.pull(values.reshape(self._table)))

    def settle(self, values: Floats, weight: float) -> Floats:
        """Clip every user's scores to the best interval."""
        table = onto_range(values.reshape(self._table), self.unit * self._bound.gamma)
        return table.reshape(values.shape)

    def multiplier(self, values: Floats) -> Floats:
        """Return multipliers of the scores from those of the copy."""
        return self.unit * values.reshape(self._table)


class AnswersCopy:
    """A loss with a corner: each answer's z, scaled by the root of its share."""

    def __init__(self, crowd: Crowd, loss: KinkedLoss, unit: float) -> None:
        """Give every problem as many places as the largest has answers."""
        self._crowd, self._loss = crowd, loss
        problem = crowd.user // crowd.users_per_problem
        counts = np.bincount(problem, minlength=crowd.n_problems)
        self.size = int(counts.max())
        first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self._place = problem * self.size + np.arange(len(problem)) - first[problem]
        self._scale = unit * np.sqrt(crowd.share)
        self._inverse = np.divide(
            1.0, self._scale, out=np.zeros_like(self._scale), where=self._scale > 0
        )
        self.unit = unit

    def look(self, flat: Floats) -> Floats:
        """Return the scaled margins."""
        shape = Shape(self._crowd.n_problems, self._crowd.dimension, self._crowd.users_per_problem)
        return self._place_values(self._scale * self._crowd.margins(*shape.open(flat)))

    def pull(self, values: Floats, into: Floats) -> None:
        """Add the adjoint."""
        metric, points = self._crowd.gradient(self.unit**2 * self._read(values) * self._inverse)
        cut = metric[0].size
        into[:, :cut] += metric.reshape(len(into), -1)
        into[:, cut:] += points.reshape(len(into), -1)

    def settle(self, values: Floats, weight: float) -> Floats:
        """Return the proximal point of the loss."""
        z = self._read(values) * self._inverse
        settled = self._loss.proximal(z, 1.0 / (weight * self.unit**2))
        return self._place_values(self._scale * settled)

    def slopes(self, multiplier: Floats, weight: float) -> Floats:
        """Return the slopes that the multiplier of the copy stands for."""
        slopes = weight * self.unit**2 * self._read(multiplier) * self._inverse
        return np.clip(slopes, -self._loss.lipschitz, 0.0)

    def _read(self, values: Floats) -> Floats:
        """Return the values of the answers, in the crowd's order."""
        result: Floats = values.ravel()[self._place]
        return result

    def _place_values(self, values: Floats) -> Floats:
        """Undo `_read`, with zeros where there is no answer."""
        flat = np.zeros(self._crowd.n_problems * self.size)
        flat[self._place] = values
        return flat.reshape(self._crowd.n_problems, self.size)
