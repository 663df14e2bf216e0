"""What a model is made of, and the checks that its parts belong together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdmetric import checks
from crowdmetric.certificate import Certificate
from crowdmetric.checks import Codes, Floats
from crowdmetric.comparisons import Items
from crowdmetric.errors import DataError
from crowdmetric.features import FeatureMap, SharedPoint
from crowdmetric.ids import KnownIds
from crowdmetric.losses import Loss
from crowdmetric.model import lookup
from crowdmetric.regions import Region


@dataclass(frozen=True, eq=False)
class Addition:
    """Users who were fitted after the others, with the metric held fixed.

    Parameters
    ----------
    users : tuple of hashable
        Their ids, which are also among the model's.
    certificate : Certificate
        How near their risk is to the least possible with this metric.

    Examples
    --------
    >>> from crowdmetric.model import example
    >>> example().additions
    ()
    """

    users: tuple[Hashable, ...]
    certificate: Certificate


@dataclass(frozen=True, eq=False, repr=False)
class Parts(checks.Locked):
    """The parts of a model; `crowdmetric.model.Model` says what they mean."""

    metric: Floats
    points: Floats
    users: tuple[Hashable, ...]
    items: Items
    features: FeatureMap
    loss: Loss
    region: Region
    certificate: Certificate
    additions: tuple[Addition, ...] = ()
    sharpness: float = 1.0

    def __post_init__(self) -> None:
        """Keep read-only arrays, and refuse shapes that do not belong together."""
        object.__setattr__(self, "users", checks.plain_ids(self.users))
        for name in ("metric", "points"):
            array = np.asarray(getattr(self, name))
            if array.dtype.kind != "f" or not np.isfinite(array).all():
                raise DataError(f"the {name} of a model must be finite floating-point numbers")
            object.__setattr__(self, name, checks.read_only(np.asarray(array, order="C")))
        shape, count = self.points.shape, len(self.users)
        if len(shape) != 2 or shape[0] != count or not count:
            raise DataError(
                f"the points have shape {shape} for {count} users; give one row for each user"
            )
        square = (shape[1], shape[1])
        if self.metric.shape not in (square, (count, *square)):
            raise DataError(
                f"the metric has shape {self.metric.shape}; give {square} for all users or "
                f"{(count, *square)} with one for each"
            )
        checks.distinct(self.users, "the user")

    @property
    def dimension(self) -> int:
        """Number of features after the feature map.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().dimension
        2
        """
        return int(self.metric.shape[-1])

    @cached_property
    def x(self) -> Floats:
        """The model's items after the feature map: what the scores are computed from.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().x.shape
        (3, 2)
        """
        return self._mapped(self.items)

    @cached_property
    def in_space(self) -> tuple[Floats, Floats]:
        """Metric and points as distances see them: what the crowd shares is in everyone's point.

        The metric and the points themselves, unless the feature map is a `SharedPoint`; then what
        belongs to its constant coordinate is zero.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().in_space[1]
        array([[-4.,  0.],
               [ 0., -2.]])
        """
        if not isinstance(self.features, SharedPoint):
            return self.metric, self.points
        metric, points = self.features.separate(self.metric, self.points)
        return checks.read_only(metric), checks.read_only(points)

    @property
    def varying(self) -> slice:
        """The coordinates in which items differ: all, or all but a constant that is the last.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().varying
        slice(0, 2, None)
        """
        return slice(0, self.dimension - isinstance(self.features, SharedPoint))

    @cached_property
    def known_users(self) -> KnownIds:
        """The ids of the users, to look others up among them; built on first use.

        Examples
        --------
        >>> from crowdmetric.model import example
        >>> example().known_users.position("bob")
        1
        """
        return KnownIds(self.users, "user")

    def _user_codes(self, ids: Iterable[Hashable]) -> Codes:
        """Return the rows of users."""
        return lookup.user_codes(ids, self.known_users)

    def _features_of(self, items: Items | None) -> Floats:
        """Return what the scores of the items are computed from."""
        return self.x if items is None else self._mapped(items)

    def _mapped(self, items: Items) -> Floats:
        """Return the features of the items, in the model's order, after the feature map."""
        raw = lookup.aligned_features(items, self.items.names)
        x = np.asarray(self.features.transform(raw), dtype=np.float64)
        if x.shape != (len(items), self.dimension):
            raise DataError(
                f"the feature map gives shape {x.shape} where the metric needs "
                f"{(len(items), self.dimension)}; fit the map and the metric on the same items"
            )
        return checks.read_only(x)
