"""Losses: what an answer costs, as a function of z = y * delta (larger is better).

A loss is a small frozen dataclass with a name, three functions of arrays, and two constants; see
`Loss`. To write your own, read docs/add-a-loss.md.

Logistic and Probit are also links: they are minus the log-likelihood of answers given with
probability f(delta), where f(x) = 1 - f(-x) (section 4 of the paper).

Examples
--------
>>> loss = Logistic(scale=2.0)
>>> loss.value(np.zeros(1)) == np.log(2)
array([ True])
>>> by_name("hinge")
Hinge()
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy.special import erfcx, expit, log_ndtr, ndtr, xlogy

from crowdmetric.errors import SettingError, did_you_mean

__all__ = [
    "CurvedLoss",
    "Hinge",
    "KinkedLoss",
    "Link",
    "Logistic",
    "Loss",
    "Probit",
    "SmoothedHinge",
    "SquaredHinge",
    "by_name",
]

Floats = npt.NDArray[np.float64]

_LOG_ROOT_TAU = 0.5 * np.log(2 * np.pi)
_NEWTON_STEPS = 12
_FAR = 300.0  # in units of the scale: from here on, series are exact and differences are not
_NO_SLOPE = 1e-300  # a steepness that is zero but for rounding


class Loss(Protocol):
    """A convex, non-increasing function of z = y * delta.

    Examples
    --------
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
    >>> isinstance(Probit(), Link), isinstance(Hinge(), Link)
    (True, False)
    """

    def probability(self, margin: Floats) -> Floats:
        """Return f(margin): how probable it is that the right item is preferred."""

    def probability_slope_floor(self, gamma: float) -> float:
        """Return C_f: the least slope of f over margins of at most gamma."""

    def lipschitz_within(self, gamma: float) -> float:
        """Return L: the Lipschitz constant of the loss over margins of at most gamma."""


@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-scale z)), for answers given with probability 1 / (1 + exp(-scale delta)).

    Parameters
    ----------
    scale : float
        The beta of the paper: how sharply the answers follow the margins.

    Examples
    --------
    >>> Logistic().probability(np.array([0.0]))
    array([0.5])
    """

    scale: float = 1.0
    name = "logistic"

    def __post_init__(self) -> None:
        """Refuse a scale that is not positive."""
        _check_positive(self.scale, "the loss scale")

    @property
    def lipschitz(self) -> float:
        """Lipschitz constant of the value."""
        return self.scale

    @property
    def smoothness(self) -> float:
        """Lipschitz constant of the slope."""
        return self.scale**2 / 4

    def value(self, z: Floats) -> Floats:
        """Return the loss of each z."""
        result: Floats = np.logaddexp(0.0, -self.scale * z)
        return result

    def slope(self, z: Floats) -> Floats:
        """Return the derivative at each z."""
        result: Floats = -self.scale * expit(-self.scale * z)
        return result

    def curvature(self, z: Floats) -> Floats:
        """Return the second derivative at each z."""
        share = expit(-self.scale * z)
        result: Floats = self.scale**2 * share * (1 - share)
        return result

    def conjugate(self, slope: Floats) -> Floats:
        """Return minus the entropy of the probability -slope / scale."""
        share = -np.asarray(slope, dtype=np.float64) / self.scale
        inside = (share >= 0) & (share <= 1)
        safe = np.clip(share, 0, 1)
        result: Floats = np.where(inside, xlogy(safe, safe) + xlogy(1 - safe, 1 - safe), np.inf)
        return result

    def probability(self, margin: Floats) -> Floats:
        """Return the probability that the right item is preferred."""
        result: Floats = expit(self.scale * np.asarray(margin))
        return result

    def probability_slope_floor(self, gamma: float) -> float:
        """Return C_f, found at the largest margin."""
        share = float(expit(self.scale * gamma))
        return self.scale * share * (1 - share)

    def lipschitz_within(self, gamma: float) -> float:
        """Return L over margins of at most gamma."""
        return float(self.scale * expit(self.scale * gamma))


@dataclass(frozen=True)
class Probit:
    """-log Phi(scale z), for answers given with probability Phi(scale delta).

    Parameters
    ----------
    scale : float
        How sharply the answers follow the margins.

    Examples
    --------
    >>> Probit().probability(np.array([0.0]))
    array([0.5])
    """

    scale: float = 1.0
    name = "probit"

    def __post_init__(self) -> None:
        """Refuse a scale that is not positive."""
        _check_positive(self.scale, "the loss scale")

    @property
    def lipschitz(self) -> float:
        """Lipschitz constant of the value: none, the loss grows like a square."""
        return np.inf

    @property
    def smoothness(self) -> float:
        """Lipschitz constant of the slope."""
        return self.scale**2

    def value(self, z: Floats) -> Floats:
        """Return the loss of each z."""
        result: Floats = -log_ndtr(self.scale * z)
        return result

    def slope(self, z: Floats) -> Floats:
        """Return the derivative at each z."""
        return -self.scale * _density_over_tail(self.scale * z)

    def curvature(self, z: Floats) -> Floats:
        """Return the second derivative at each z."""
        t = self.scale * z
        ratio = _density_over_tail(t)
        far = np.minimum(t, -_FAR) ** -2.0
        result: Floats = np.where(t < -_FAR, 1 - far + 6 * far**2, ratio * (ratio + t))
        return self.scale**2 * result

    def conjugate(self, slope: Floats) -> Floats:
        """Return slope * z - value(z) at the z of that slope, found by Newton's method."""
        steepness = -np.asarray(slope, dtype=np.float64) / self.scale
        inner = np.where(steepness > _NO_SLOPE, steepness, 1.0)
        # The log of the ratio is concave and decreasing, so Newton's method converges from the
        # right, and its first step from the left lands there.
        near = np.minimum(inner, _FAR)
        t = np.where(near < 0.3, np.sqrt(np.maximum(0.0, -2 * np.log(2.5 * near))), -near)
        for _ in range(_NEWTON_STEPS):
            ratio = _density_over_tail(t)
            t = t + (np.log(ratio) - np.log(near)) / (t + ratio)
        far = np.maximum(inner, _FAR)
        t = np.where(inner > _FAR, -far + 1 / far - far**-3.0, t)
        found = -inner * t + log_ndtr(t)
        outside = np.where(steepness >= 0, 0.0, np.inf)
        result: Floats = np.where(steepness > _NO_SLOPE, found, outside)
        return result

    def probability(self, margin: Floats) -> Floats:
        """Return the probability that the right item is preferred."""
        result: Floats = ndtr(self.scale * np.asarray(margin))
        return result

    def probability_slope_floor(self, gamma: float) -> float:
        """Return C_f, found at the largest margin."""
        return float(self.scale * np.exp(-0.5 * (self.scale * gamma) ** 2 - _LOG_ROOT_TAU))

    def lipschitz_within(self, gamma: float) -> float:
        """Return L over margins of at most gamma."""
        return float(self.scale * _density_over_tail(np.array([-self.scale * gamma]))[0])


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
        _check_positive(self.width, "the width of the smoothed hinge")

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


BUILT_IN: dict[str, type[Logistic | Probit | Hinge | SquaredHinge | SmoothedHinge]] = {
    loss.name: loss for loss in (Logistic, Probit, Hinge, SquaredHinge, SmoothedHinge)
}


def by_name(name: str, scale: float | None = None) -> Loss:
    """Return a loss from its name, as at the command line.

    Parameters
    ----------
    name : str
        One of "logistic", "probit", "hinge", "squared-hinge", "smoothed-hinge".
    scale : float, optional
        The scale of logistic and probit.

    Returns
    -------
    Loss
        The loss.

    Examples
    --------
    >>> by_name("probit", scale=2.0)
    Probit(scale=2.0)
    """
    if name not in BUILT_IN:
        raise SettingError(
            f"there is no loss {name!r}{did_you_mean(name, BUILT_IN)} "
            f"(choose from {', '.join(BUILT_IN)})"
        )
    if scale is None:
        return BUILT_IN[name]()
    if name == "logistic":
        return Logistic(scale)
    if name == "probit":
        return Probit(scale)
    raise SettingError(f"the loss {name!r} has no scale: only logistic and probit have one")


def _density_over_tail(t: Floats) -> Floats:
    """Return phi(t) / Phi(t), without underflow or cancellation however negative t is."""
    result: Floats = np.sqrt(2 / np.pi) / erfcx(-t / np.sqrt(2))
    return result


def _within(slope: Floats, value: Floats, least: float) -> Floats:
    """Return the value where least <= slope <= 0, and inf elsewhere."""
    return np.where((slope >= least) & (slope <= 0), value, np.inf)


def _check_positive(value: float, what: str) -> None:
    """Refuse what is not a positive finite number."""
    if not (np.isfinite(value) and value > 0):
        raise SettingError(f"{what} must be a positive number, not {value}")
