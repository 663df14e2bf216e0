"""The hinge and its smoother relatives: no cost at all beyond a margin of 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdmetric.losses.protocol import Floats, check_positive

__all__ = ["Hinge", "SmoothedHinge", "SquaredHinge"]


@dataclass(frozen=True)
class Hinge:
    """max(0, 1 - z): the support vector machine's loss.

    Examples
    --------
    >>> Hinge().value(np.array([0.5, 2.0]))
    array([0.5, 0. ])
    """

    name = "hinge"

    @property
    def lipschitz(self) -> float:
        """Lipschitz constant of the value."""
        return 1.0

    @property
    def smoothness(self) -> float:
        """Lipschitz constant of the slope: none, it jumps."""
        return np.inf

    def value(self, z: Floats) -> Floats:
        """Return the loss of each z."""
        result: Floats = np.maximum(0.0, 1 - z)
        return result

    def slope(self, z: Floats) -> Floats:
        """Return a derivative at each z."""
        return np.where(z < 1, -1.0, 0.0)

    def conjugate(self, slope: Floats) -> Floats:
        """Return the slope itself, between -1 and 0."""
        return _within(slope, slope, least=-1.0)

    def proximal(self, z: Floats, step: float) -> Floats:
        """Return the minimiser of value(s) + (s - z)^2 / (2 step), for each z."""
        return np.where(z > 1, z, np.minimum(z + step, 1.0))


@dataclass(frozen=True)
class SquaredHinge:
    """max(0, 1 - z)^2.

    Examples
    --------
    >>> SquaredHinge().value(np.array([0.5, 2.0]))
    array([0.25, 0.  ])
    """

    name = "squared-hinge"

    @property
    def lipschitz(self) -> float:
        """Lipschitz constant of the value: none, the loss grows like a square."""
        return np.inf

    @property
    def smoothness(self) -> float:
        """Lipschitz constant of the slope."""
        return 2.0

    def value(self, z: Floats) -> Floats:
        """Return the loss of each z."""
        result: Floats = np.maximum(0.0, 1 - z) ** 2
        return result

    def slope(self, z: Floats) -> Floats:
        """Return the derivative at each z."""
        result: Floats = -2 * np.maximum(0.0, 1 - z)
        return result

    def conjugate(self, slope: Floats) -> Floats:
        """Return the conjugate, finite for slopes of at most 0."""
        return _within(slope, slope + slope**2 / 4, least=-np.inf)


@dataclass(frozen=True)
class SmoothedHinge:
    """The hinge with its corner rounded by a parabola over 1 - width < z < 1.

    Parameters
    ----------
    width : float
        How far the parabola reaches; the loss lies below the hinge by at most width / 2.

    Examples
    --------
    >>> SmoothedHinge(width=0.5).value(np.array([0.0, 0.5, 1.0]))
    array([0.75, 0.25, 0.  ])
    """

    width: float = 0.5
    name = "smoothed-hinge"

    def __post_init__(self) -> None:
        """Refuse a width that is not positive."""
        check_positive(self.width, "the width of the smoothed hinge")

    @property
    def lipschitz(self) -> float:
        """Lipschitz constant of the value."""
        return 1.0

    @property
    def smoothness(self) -> float:
        """Lipschitz constant of the slope."""
        return 1 / self.width

    def value(self, z: Floats) -> Floats:
        """Return the loss of each z."""
        short = 1 - z
        curved = np.clip(short, 0.0, self.width)
        result: Floats = curved**2 / (2 * self.width) + np.maximum(0.0, short - self.width)
        return result

    def slope(self, z: Floats) -> Floats:
        """Return the derivative at each z."""
        result: Floats = -np.clip((1 - z) / self.width, 0.0, 1.0)
        return result

    def conjugate(self, slope: Floats) -> Floats:
        """Return the conjugate, finite for slopes between -1 and 0."""
        return _within(slope, slope + self.width * slope**2 / 2, least=-1.0)

    def proximal(self, z: Floats, step: float) -> Floats:
        """Return the minimiser of value(s) + (s - z)^2 / (2 step), for each z."""
        curved = (self.width * z + step) / (self.width + step)
        return np.where(z > 1, z, np.minimum(np.maximum(curved, z), z + step))


def _within(slope: Floats, value: Floats, least: float) -> Floats:
    """Return the value where least <= slope <= 0, and inf elsewhere."""
    return np.where((slope >= least) & (slope <= 0), value, np.inf)
