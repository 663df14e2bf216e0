"""Kernels: how much the likings of two items have in common, by their features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from scipy.spatial.distance import cdist, pdist

from crowdmetric.checks import Floats
from crowdmetric.errors import DataError, SettingError

__all__ = ["RBF", "Covariance", "Matern", "Polynomial"]

_MOST_MEASURED = 1000  # items among which the typical distance is looked for
_SMOOTHNESSES = (0.5, 1.5, 2.5)


@runtime_checkable
class Covariance(Protocol):
    """What a kernel must offer; write your own as a frozen dataclass with these methods.

    Examples
    --------
    >>> isinstance(RBF(), Covariance)
    True
    """

    @property
    def name(self) -> str:
        """How the kernel is called on the command line."""

    def fit(self, features: Floats) -> Covariance:
        """Return a kernel that has taken from the items what was not given."""

    def between(self, one: Floats, other: Floats) -> Floats:
        """Return the kernel of each row of one table with each row of the other."""


class _Stationary:
    """A kernel of the distance in units of a length scale."""

    length_scale: float | None
    relative: float

    def __post_init__(self) -> None:
        """Refuse a length scale that nothing can be divided by."""
        for scale in (self.length_scale, self.relative):
            if scale is not None and not 0 < scale < np.inf:
                raise SettingError(f"a length scale must be positive and finite, not {scale:g}")

    def fit(self, features: Floats) -> Self:
        """Return the kernel with a length scale: the one given, else the items' median distance.

        Parameters
        ----------
        features : ndarray of shape (n, d)
            The items.

        Returns
        -------
        Covariance
            The fitted kernel.

        Raises
        ------
        DataError
            If all items are alike.

        Examples
        --------
        >>> RBF().fit(np.array([[0.0], [1.0], [3.0]]))
        RBF(length_scale=2.0, relative=1.0)
        """
        if self.length_scale is not None:
            return self
        step = -(-len(features) // _MOST_MEASURED)
        distances = pdist(features[::step])
        apart = distances[distances > 0]
        if not len(apart):
            raise DataError("all items have the same features, so no kernel can tell them apart")
        scale = self.relative * float(np.median(apart))
        return replace(self, length_scale=scale)  # type: ignore[type-var]

    def between(self, one: Floats, other: Floats) -> Floats:
        """Return the kernel of each row of one table with each row of the other.

        Parameters
        ----------
        one : ndarray of shape (n, d)
            Items.
        other : ndarray of shape (m, d)
            Items.

        Returns
        -------
        ndarray of shape (n, m)
            1 for items that are alike, less the farther apart they are.

        Examples
        --------
        >>> RBF(1.0).between(np.array([[0.0]]), np.array([[0.0], [2.0]])).round(3)
        array([[1.   , 0.135]])
        """
        if self.length_scale is None:
            raise SettingError("the kernel has no length scale yet; give one, or call fit first")
        return self._of(cdist(one, other) / self.length_scale)

    def _of(self, distance: Floats) -> Floats:
        """Return the kernel at distances in units of the length scale."""
        raise NotImplementedError


@dataclass(frozen=True)
class RBF(_Stationary):
    """exp(-r^2 / 2), with r the distance in units of the length scale: very smooth likings.

    Parameters
    ----------
    length_scale : float, optional
        The distance at which items still have much in common (0.61), in the units that features
        have after the scaling.
    relative : float
        The length scale in medians of the distances between items, where none is given.

    Examples
    --------
    >>> RBF(1.0).between(np.zeros((1, 2)), np.eye(2)).round(2)
    array([[0.61, 0.61]])
    """

    length_scale: float | None = None
    relative: float = 1.0

    name: ClassVar[str] = "rbf"

    def _of(self, distance: Floats) -> Floats:
        result: Floats = np.exp(-0.5 * distance**2)
        return result


@dataclass(frozen=True)
class Matern(_Stationary):
    """The kernel of Matern: likings of less smoothness, for items that differ abruptly.

    Parameters
    ----------
    length_scale : float, optional
        The unit of distance, in the units that features have after the scaling.
    relative : float
        The length scale in medians of the distances between items, where none is given.
    smoothness : {0.5, 1.5, 2.5}
        How smooth: likings have 0, 1 or 2 derivatives.

    Examples
    --------
    >>> Matern(1.0, smoothness=0.5).between(np.zeros((1, 1)), np.ones((1, 1))).round(3)
    array([[0.368]])
    """

    length_scale: float | None = None
    relative: float = 1.0
    smoothness: float = 1.5

    name: ClassVar[str] = "matern"

    def __post_init__(self) -> None:
        """Refuse a smoothness for which there is no short formula."""
        super().__post_init__()
        if self.smoothness not in _SMOOTHNESSES:
            raise SettingError(
                f"the smoothness of a Matern kernel is 0.5, 1.5 or 2.5, not {self.smoothness:g}"
            )

    def _of(self, distance: Floats) -> Floats:
        r = np.sqrt(2 * self.smoothness) * distance
        shape = {0.5: np.ones_like(r), 1.5: 1 + r, 2.5: 1 + r + r**2 / 3}[self.smoothness]
        result: Floats = shape * np.exp(-r)
        return result


@dataclass(frozen=True)
class Polynomial:
    """(1 + x'y)^degree: products of up to that many features.

    Parameters
    ----------
    degree : int
        At least 1.

    Examples
    --------
    >>> Polynomial(2).between(np.ones((1, 2)), np.ones((1, 2)))
    array([[9.]])
    """

    degree: int = 2

    name: ClassVar[str] = "polynomial"

    def __post_init__(self) -> None:
        """Refuse a degree that is no whole number, or too small."""
        if int(self.degree) != self.degree or self.degree < 1:
            raise SettingError(f"the degree must be a whole number, 1 or more, not {self.degree}")

    def fit(self, features: Floats) -> Polynomial:
        """Return the kernel itself, which takes nothing from the items.

        Examples
        --------
        >>> Polynomial().fit(np.eye(2))
        Polynomial(degree=2)
        """
        return self

    def between(self, one: Floats, other: Floats) -> Floats:
        """Return the kernel of each row of one table with each row of the other.

        Examples
        --------
        >>> Polynomial(3).between(np.eye(2), np.eye(2))
        array([[8., 1.],
               [1., 8.]])
        """
        result: Floats = (1.0 + one @ other.T) ** self.degree
        return result
