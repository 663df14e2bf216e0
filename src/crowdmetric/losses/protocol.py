"""What a loss must offer, and what it may."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from crowdmetric.errors import SettingError

__all__ = ["CurvedLoss", "Floats", "KinkedLoss", "Link", "Loss", "check_positive"]

Floats = npt.NDArray[np.float64]


class Loss(Protocol):
    """A convex, non-increasing function of z = y * delta.

    Examples
    --------
    >>> from crowdmetric.losses import Hinge, SmoothedHinge, SquaredHinge
    >>> [loss.name for loss in (Hinge(), SquaredHinge(), SmoothedHinge())]
    ['hinge', 'squared-hinge', 'smoothed-hinge']
    """

    @property
    def name(self) -> str:
        """Name in messages, files and at the command line."""

    @property
    def lipschitz(self) -> float:
        """Lipschitz constant of the value (the paper's L); inf if there is none."""

    @property
    def smoothness(self) -> float:
        """Lipschitz constant of the slope; inf if there is none."""

    def value(self, z: Floats) -> Floats:
        """Return the loss of each z."""

    def slope(self, z: Floats) -> Floats:
        """Return a derivative at each z, never positive."""

    def conjugate(self, slope: Floats) -> Floats:
        """Return sup over z of slope * z - value(z), and inf outside the domain."""


@runtime_checkable
class CurvedLoss(Protocol):
    """A loss with a second derivative, which lets the solver take longer steps.

    Examples
    --------
    >>> from crowdmetric.losses import Hinge, Logistic
    >>> isinstance(Logistic(), CurvedLoss), isinstance(Hinge(), CurvedLoss)
    (True, False)
    """

    def curvature(self, z: Floats) -> Floats:
        """Return the second derivative at each z."""


@runtime_checkable
class KinkedLoss(Protocol):
    """A loss with a corner or a sharp bend, which the solver takes through its proximal point.

    Examples
    --------
    >>> from crowdmetric.losses import Hinge, Logistic
    >>> isinstance(Hinge(), KinkedLoss), isinstance(Logistic(), KinkedLoss)
    (True, False)
    """

    @property
    def lipschitz(self) -> float:
        """Lipschitz constant of the value."""

    def proximal(self, z: Floats, step: float) -> Floats:
        """Return the minimiser of value(s) + (s - z)^2 / (2 step), for each z."""


@runtime_checkable
class Link(Protocol):
    """A loss that is minus the log-likelihood of random answers.

    Examples
    --------
    >>> from crowdmetric.losses import Hinge, Probit
    >>> isinstance(Probit(), Link), isinstance(Hinge(), Link)
    (True, False)
    """

    def probability(self, margin: Floats) -> Floats:
        """Return f(margin): how probable it is that the right item is preferred."""

    def probability_slope_floor(self, gamma: float) -> float:
        """Return C_f: the least slope of f over margins of at most gamma."""

    def lipschitz_within(self, gamma: float) -> float:
        """Return L: the Lipschitz constant of the loss over margins of at most gamma."""


def check_positive(value: float, what: str) -> None:
    """Refuse what is not a positive finite number."""
    if not (np.isfinite(value) and value > 0):
        raise SettingError(f"{what} must be a positive number, not {value}")
