"""Maps that keep the features: as they are, centred, or centred and scaled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from crowdmetric import checks
from crowdmetric.checks import Floats, Locked
from crowdmetric.errors import DataError, SettingError
from crowdmetric.features.protocol import locked, numbers, same_columns, table_to_fit

__all__ = ["Center", "Raw", "Standardize", "UnitBall"]

# Spread that is smaller than this share of the numbers themselves is rounding, not spread.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Raw:
    """Features as they are.

    Examples
    --------
    >>> Raw().fit([[1.0], [3.0]], ["price"]).transform([[2.0]])
    array([[2.]])
    """

    name: ClassVar[str] = "raw"

    def fit(self, features: npt.ArrayLike, names: Sequence[str]) -> Raw:
        """Return the map itself, once the features are checked.

        Parameters
        ----------
        features : array-like of shape (n, d)
            Raw features.
        names : sequence of str
            One name per feature, for the messages.

        Returns
        -------
        Raw
            The fitted map.

        Examples
        --------
        >>> Raw().fit([[1.0], [3.0]], ["price"])
        Raw()
        """
        table_to_fit(features, names)
        return self

    def transform(self, features: npt.ArrayLike) -> Floats:
        """Return the features, read-only.

        Examples
        --------
        >>> Raw().transform([1.0, 2.0])
        array([1., 2.])
        """
        return numbers(features)

    def inverse(self, features: npt.ArrayLike) -> Floats:
        """Return the features, read-only.

        Examples
        --------
        >>> Raw().inverse([1.0, 2.0])
        array([1., 2.])
        """
        return numbers(features)


class _Affine(Locked):
    """Subtract the mean, then divide by the scale."""

    name: ClassVar[str]
    mean: Floats | None

    def __post_init__(self) -> None:
        """Keep a read-only float64 copy of the mean."""
        if self.mean is not None:
            object.__setattr__(self, "mean", checks.floats(self.mean, "the means", dimensions=1))

    def _learn(self, table: Floats, names: Sequence[str]) -> Self:
        """Return the map fitted to checked features."""
        raise NotImplementedError

    def _divisor(self) -> Floats | float | None:
        """Return what the centred features are divided by; None before the fit."""
        raise NotImplementedError

    def fit(self, features: npt.ArrayLike, names: Sequence[str]) -> Self:
        """Learn from the items of a fit.

        Parameters
        ----------
        features : array-like of shape (n, d)
            Raw features.
        names : sequence of str
            One name per feature, for the messages.

        Returns
        -------
        FeatureMap
            A new, fitted map of the same kind.

        Raises
        ------
        DataError
            If the items leave nothing to divide by: a constant feature under `Standardize`,
            items that are all alike under `UnitBall`.

        Examples
        --------
        >>> Standardize().fit([[1.0], [5.0]], ["price"]).scale
        array([2.])
        >>> UnitBall().fit([[0.0, 0.0], [6.0, 8.0]], ["a", "b"]).scale
        5.0
        """
        return self._learn(table_to_fit(features, names), names)

    def transform(self, features: npt.ArrayLike) -> Floats:
        """Return raw features as the scores see them.

        Parameters
        ----------
        features : array-like of shape (..., d)
            Raw features, of the items of the fit or of new ones.

        Returns
        -------
        ndarray of shape (..., d)
            The mapped features, read-only.

        Examples
        --------
        >>> Standardize(mean=[1.0], scale=[2.0]).transform([[5.0]])
        array([[2.]])
        """
        mean, scale = self._fitted()
        return locked((same_columns(features, len(mean), self.name) - mean) / scale)

    def inverse(self, features: npt.ArrayLike) -> Floats:
        """Return the raw features that `transform` maps to these.

        Parameters
        ----------
        features : array-like of shape (..., d)
            Features as the scores see them: an item's, or an ideal point's.

        Returns
        -------
        ndarray of shape (..., d)
            Features in the units of the user's file, read-only.

        Examples
        --------
        >>> Standardize(mean=[1.0], scale=[2.0]).inverse([[2.0]])
        array([[5.]])
        """
        mean, scale = self._fitted()
        return locked(same_columns(features, len(mean), self.name) * scale + mean)

    def _fitted(self) -> tuple[Floats, Floats | float]:
        """Return mean and scale, or say that there are none yet."""
        scale = self._divisor()
        if self.mean is None or scale is None:
            raise SettingError(f"the feature map {self.name!r} is not fitted yet; call fit first")
        return self.mean, scale


@dataclass(frozen=True, eq=False)
class Center(_Affine):
    """Subtract the mean item.

    Parameters
    ----------
    mean : array-like of shape (d,), optional
        The mean item; learned by `fit`.

    Examples
    --------
    >>> Center().fit([[1.0], [3.0]], ["price"]).transform([[1.0], [3.0]])
    array([[-1.],
           [ 1.]])
    """

    mean: Floats | None = None

    name: ClassVar[str] = "center"

    def _learn(self, table: Floats, names: Sequence[str]) -> Self:
        """Learn the mean item."""
        return replace(self, mean=table.mean(axis=0))

    def _divisor(self) -> float:
        """Return 1: the features keep their scale."""
        return 1.0


@dataclass(frozen=True, eq=False)
class Standardize(_Affine):
    """Subtract the mean of each feature, and divide by its standard deviation over the items.

    Parameters
    ----------
    mean, scale : array-like of shape (d,), optional
        Means and standard deviations; learned by `fit`.

    Examples
    --------
    >>> Standardize().fit([[1.0], [5.0]], ["price"]).transform([[1.0], [5.0]])
    array([[-1.],
           [ 1.]])
    """

    mean: Floats | None = None
    scale: Floats | None = None

    name: ClassVar[str] = "standardize"

    def __post_init__(self) -> None:
        """Keep read-only float64 copies; the scales must be positive."""
        super().__post_init__()
        if self.scale is not None:
            scale = checks.floats(self.scale, "the scales", dimensions=1)
            _positive(scale, self.name)
            checks.same_length(
                len(scale), 0 if self.mean is None else len(self.mean), "scales", "means"
            )
            object.__setattr__(self, "scale", scale)

    def _learn(self, table: Floats, names: Sequence[str]) -> Self:
        """Learn means and standard deviations; refuse a feature that is the same everywhere."""
        scale = table.std(axis=0)
        constant = checks.first_true(scale <= _ROUNDING * np.abs(table).max(axis=0))
        if constant is not None:
            raise DataError(
                f"the column {names[constant]!r} is {table[0, constant]:g} for every item, so it "
                "cannot be standardized; remove the column, or use the feature map 'center'"
            )
        return replace(self, mean=table.mean(axis=0), scale=scale)

    def _divisor(self) -> Floats | None:
        """Return the standard deviations."""
        return self.scale


@dataclass(frozen=True, eq=False)
class UnitBall(_Affine):
    """Subtract the mean item, and divide by the largest norm: all items lie in the unit ball.

    Parameters
    ----------
    mean : array-like of shape (d,), optional
        The mean item; learned by `fit`.
    scale : float, optional
        The largest distance of an item from the mean; learned by `fit`.

    Examples
    --------
    >>> UnitBall().fit([[0.0, 0.0], [6.0, 8.0]], ["a", "b"]).transform([6.0, 8.0])
    array([0.6, 0.8])
    """

    mean: Floats | None = None
    scale: float | None = None

    name: ClassVar[str] = "unit-ball"

    def __post_init__(self) -> None:
        """Keep a read-only float64 copy of the mean; the scale must be positive."""
        super().__post_init__()
        if self.scale is not None:
            _positive(self.scale, self.name)
            object.__setattr__(self, "scale", float(self.scale))

    def _learn(self, table: Floats, names: Sequence[str]) -> Self:
        """Learn the mean item and the largest distance from it; refuse items that are all alike."""
        mean = table.mean(axis=0)
        largest = float(np.linalg.norm(table - mean, axis=1).max())
        if largest <= _ROUNDING * float(np.abs(table).max()):
            raise DataError(
                "all items have the same features, so they cannot be scaled to the unit ball; "
                f"check the column(s) {', '.join(map(repr, names))}"
            )
        return replace(self, mean=mean, scale=largest)

    def _divisor(self) -> float | None:
        """Return the largest norm."""
        return self.scale


def _positive(scale: Floats | float, name: str) -> None:
    """Refuse a scale nothing can be divided by."""
    if not bool(np.all(np.isfinite(scale) & (np.asarray(scale) > 0))):
        raise SettingError(f"the scale of the feature map {name!r} must be positive and finite")
