"""The study that is planned, as data: what is compared, by how many, and what is assumed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from crowdmetric.comparisons import Items
from crowdmetric.errors import SettingError
from crowdmetric.features import Standardize

__all__ = ["Study", "default_sizes", "with_items"]

_FOLDS = 5  # of the cross-validation
_FIRST, _STEPS = 5, 8  # sizes to try: 5, 10, 20, ... 640


@dataclass(frozen=True, eq=False)
class Study:
    """A study that could be run: all that its simulations depend on.

    Parameters
    ----------
    n_items, dimension : int
        The numbers n of items and d of features.
    users : int
        How many people K will be asked.
    rank : int
        Of the metric that is assumed.
    noise : float
        Beta of the answers that are assumed: the larger, the fewer are wrong.
    sizes : tuple of int
        Comparisons per person to try, ascending.
    trials : int
        How many studies to simulate at each size; two or more.
    seed : int
        The root of all seeds.
    items : Items, optional
        The items themselves, as `with_items` makes them; normal ones, drawn anew for each trial,
        when not given.
    quick : bool
        Fit within the smallest radius that holds the truth, instead of one that is chosen from the
        answers by cross-validation, as in a real study. Accuracies are much the same, but errors
        are much smaller than in reality.

    Examples
    --------
    >>> study = Study(n_items=40, dimension=3, users=50, rank=3, noise=1.0, sizes=(10, 20))
    >>> study.n_pairs
    780
    """

    n_items: int
    dimension: int
    users: int
    rank: int
    noise: float
    sizes: tuple[int, ...]
    trials: int = 20
    seed: int = 0
    items: Items | None = None
    quick: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be simulated."""
        least = {
            "items": (self.n_items, 2),
            "features": (self.dimension, 1),
            "users": (self.users, 1),
            "trials": (self.trials, 2),
        }
        for name, (value, minimum) in least.items():
            if value < minimum:
                raise SettingError(f"the number of {name} must be at least {minimum}, not {value}")
        if not 1 <= self.rank <= self.dimension:
            raise SettingError(
                f"the rank must lie between 1 and the number of features, {self.dimension}, "
                f"not {self.rank}"
            )
        if not (self.noise > 0 and np.isfinite(self.noise)):
            raise SettingError(f"the noise must be a positive number, not {self.noise}")
        if self.seed < 0:
            raise SettingError(f"the seed must not be negative, but it is {self.seed}")
        self._check_sizes()

    def _check_sizes(self) -> None:
        """Refuse sizes without order, and more questions than there are."""
        if not self.sizes or list(self.sizes) != sorted(set(self.sizes)) or self.sizes[0] < 1:
            raise SettingError(
                "the numbers of comparisons to try must be from 1 up, ascending, each once; "
                f"not {', '.join(map(str, self.sizes)) or 'none'}"
            )
        if self.sizes[-1] > self.n_pairs:
            raise SettingError(
                f"{self.sizes[-1]} comparisons per person are more than the {self.n_pairs} pairs "
                f"that {self.n_items} items make; try at most {self.n_pairs}, or take more items"
            )
        if not self.quick and self.users * self.sizes[0] < _FOLDS:
            raise SettingError(
                f"cross-validation needs at least {_FOLDS} answers, but {self.users} user(s) with "
                f"{self.sizes[0]} each give fewer; try larger sizes"
            )

    @property
    def n_pairs(self) -> int:
        """How many pairs of items there are to ask about.

        Examples
        --------
        >>> Study(4, 2, users=1, rank=1, noise=1.0, sizes=(6,)).n_pairs
        6
        """
        return self.n_items * (self.n_items - 1) // 2

    @property
    def fingerprint(self) -> str:
        """What tells this study from others, its numbers of users, trials and items aside.

        Examples
        --------
        >>> study = Study(4, 2, users=1, rank=1, noise=1.0, sizes=(6,))
        >>> study.fingerprint == replace(study, users=9, trials=30).fingerprint
        True
        >>> study.fingerprint == replace(study, noise=4.0).fingerprint
        False
        """
        settings = (
            self.n_items, self.dimension, self.rank, self.noise, self.sizes, self.seed,
            self.quick,
        )  # fmt: skip
        features = b"" if self.items is None else self.items.features.tobytes()
        return hashlib.sha256(repr(settings).encode() + features).hexdigest()


def with_items(items: Items) -> Items:
    """Return items in the units in which crowds are simulated.

    Every feature is standardized and divided by the root of d, as wide as the normal items of the
    paper's experiments, so that a beta means as much noise as there.

    Parameters
    ----------
    items : Items
        In the units of their file.

    Returns
    -------
    Items
        With the same ids and names.

    Raises
    ------
    DataError
        If a feature is the same for all items.

    Examples
    --------
    >>> items = with_items(Items.from_arrays([[1.0, 0.0], [3.0, 9.0]]))
    >>> print((items.features**2).sum().round(9))
    2.0
    """
    standard = Standardize().fit(items.features, items.names).transform(items.features)
    return replace(items, features=standard / np.sqrt(items.dimension))


def default_sizes(n_items: int) -> tuple[int, ...]:
    """Return comparisons per person worth trying: doubling from 5, up to all pairs there are.

    Parameters
    ----------
    n_items : int
        The number of items.

    Returns
    -------
    tuple of int
        At most eight, ascending.

    Examples
    --------
    >>> default_sizes(40), default_sizes(10)
    ((5, 10, 20, 40, 80, 160, 320, 640), (5, 10, 20, 40, 45))
    """
    n_pairs = n_items * (n_items - 1) // 2
    return tuple(sorted({min(_FIRST * 2**step, n_pairs) for step in range(_STEPS)}))
