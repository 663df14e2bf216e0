"""The losses that are links: minus the log-likelihood of random answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, expit, log_ndtr, ndtr, xlogy

from crowdmetric.losses.protocol import Floats, check_positive

__all__ = ["Logistic", "Probit"]

_LOG_ROOT_TAU = 0.5 * np.log(2 * np.pi)
_NEWTON_STEPS = 12
_FAR = 300.0  # in units of the scale: from here on, series are exact and differences are not
_NO_SLOPE = 1e-300  # a steepness that is zero but for rounding


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
        check_positive(self.scale, "the loss scale")

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
        check_positive(self.scale, "the loss scale")

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


def _density_over_tail(t: Floats) -> Floats:
    """Return phi(t) / Phi(t), without underflow or cancellation however negative t is."""
    result: Floats = np.sqrt(2 / np.pi) / erfcx(-t / np.sqrt(2))
    return result
