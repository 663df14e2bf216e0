"""The things compared."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crowdmetric import checks
from crowdmetric.checks import Codes, Floats
from crowdmetric.errors import DataError
from crowdmetric.ids import KnownIds

__all__ = ["Items"]


@dataclass(frozen=True, eq=False, repr=False)
class Items(checks.Locked):
    """The things compared: an id and a vector of features each.

    Parameters
    ----------
    ids : tuple of hashable
        One distinct id per item.
    features : ndarray of shape (n, d)
        Finite numbers; kept as a read-only float64 copy.
    names : tuple of str
        One distinct name per feature.

    Examples
    --------
    >>> items = Items(("red", "blue"), np.eye(2), ("warm", "cold"))
    >>> items
    Items(2 items, 2 features)
    >>> items.codes(["blue", "red", "blue"])
    array([1, 0, 1], dtype=int32)
    """

    ids: tuple[Hashable, ...]
    features: Floats
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse items that no model can be fitted to."""
        object.__setattr__(self, "ids", checks.plain_ids(self.ids))
        object.__setattr__(self, "names", tuple(self.names))
        features = checks.floats(self.features, "the features", dimensions=2)
        object.__setattr__(self, "features", features)
        count, dimension = features.shape
        if count < 2:
            raise DataError(f"a comparison needs at least two items, not {count}; add more items")
        if dimension == 0:
            raise DataError("the items have no features; give at least one numeric column")
        checks.same_length(len(self.ids), count, "item ids", "rows of features")
        checks.same_length(len(self.names), dimension, "feature names", "feature columns")
        checks.distinct(self.ids, "the item")
        checks.distinct(self.names, "the feature")
        checks.usable_features(features, self.ids, self.names)

    @classmethod
    def from_arrays(
        cls,
        features: npt.ArrayLike,
        ids: Iterable[Hashable] | None = None,
        names: Iterable[str] | None = None,
    ) -> Items:
        """Build items from a plain array.

        Parameters
        ----------
        features : array-like of shape (n, d)
            One row per item.
        ids : iterable of hashable, optional
            One id per item; 0 to n-1 when not given.
        names : iterable of str, optional
            One name per feature; "x0", "x1", ... when not given.

        Returns
        -------
        Items
            The checked items.

        Examples
        --------
        >>> Items.from_arrays([[0.0, 1.0], [2.0, 3.0]]).names
        ('x0', 'x1')
        """
        table = checks.floats(features, "the features", dimensions=2)
        count, dimension = table.shape
        return cls(
            ids=tuple(range(count) if ids is None else ids),
            features=table,
            names=tuple(f"x{j}" for j in range(dimension)) if names is None else tuple(names),
        )

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.ids)

    def __repr__(self) -> str:
        """Return a summary in one line."""
        return f"Items({len(self)} items, {self.dimension} features)"

    @property
    def dimension(self) -> int:
        """Number of features.

        Examples
        --------
        >>> Items.from_arrays([[0.0, 1.0], [2.0, 3.0]]).dimension
        2
        """
        return int(self.features.shape[1])

    def codes(self, ids: Iterable[Hashable]) -> Codes:
        """Return the position of each id.

        Parameters
        ----------
        ids : iterable of hashable
            Ids to look up, repeats allowed; an id may also be given as it reads, "1" for 1.

        Returns
        -------
        ndarray of int32
            Row numbers into ``features``.

        Raises
        ------
        UnknownItemError
            Naming the first id that is not there.

        Examples
        --------
        >>> Items.from_arrays(np.eye(3), ids="abc").codes(["c", "a"])
        array([2, 0], dtype=int32)
        """
        return np.array(self.known_ids.positions(checks.listed(ids, "item ids")), dtype=np.int32)

    def take(self, codes: npt.ArrayLike) -> Items:
        """Return some of the items, in the order asked for.

        Parameters
        ----------
        codes : array-like of int
            Row numbers, each at most once.

        Returns
        -------
        Items
            The chosen items.

        Examples
        --------
        >>> Items.from_arrays(np.eye(3), ids="abc").take([2, 0]).ids
        ('c', 'a')
        """
        chosen = checks.codes(codes, len(self), "item")
        return Items(tuple(self.ids[code] for code in chosen), self.features[chosen], self.names)

    @cached_property
    def known_ids(self) -> KnownIds:
        """The ids, to look others up among them; built on first use.

        Examples
        --------
        >>> Items.from_arrays(np.eye(3), ids=[1, 2, 3]).known_ids.find("2")
        2
        """
        return KnownIds(self.ids, "item")
