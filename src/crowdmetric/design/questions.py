"""A design: who is asked which pairs, in what order, and what the answers can determine."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crowdmetric import checks
from crowdmetric.checks import Codes
from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.design.items import Unseen, degrees_of_metric
from crowdmetric.errors import DataError
from crowdmetric.identify.generic import generic_rank
from crowdmetric.identify.system import LinearSystem

__all__ = ["Design", "RankCertificate", "certify", "certify_all"]

Triples = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RankCertificate:
    """The rank of the linear system that exact answers would make (eq:full-linear-system).

    Parameters
    ----------
    rank : int
        How many numbers of metric and points the answers determine.
    needed : int
        How many there are: D + d K.
    generic : bool
        Whether this is the rank for almost all items, rather than for given ones.

    Examples
    --------
    >>> RankCertificate(rank=8, needed=9, generic=False).determined
    False
    """

    rank: int
    needed: int
    generic: bool

    @property
    def determined(self) -> bool:
        """Whether exact answers determine the metric and every point.

        Examples
        --------
        >>> RankCertificate(rank=9, needed=9, generic=False).determined
        True
        """
        return self.rank == self.needed


@dataclass(frozen=True, eq=False, repr=False)
class Design(checks.Locked):
    """Questions, user by user and in the order to ask.

    Parameters
    ----------
    users : tuple of hashable
        The ids of the users, also of those who are asked nothing.
    item_ids : tuple of hashable
        The ids of the items.
    user, left, right : ndarray of int32
        Whom to ask, and about which items on which side: positions in these ids.
    certificate : RankCertificate
        What the answers can determine, together with those that were there before.

    Examples
    --------
    >>> from crowdmetric.design import minimal_design
    >>> design = minimal_design(Unseen(6, 2), ["ann", "bob"])
    >>> design, design.certificate.determined
    (Design(7 questions to 2 users about 6 items, rank 7 of 7), True)
    """

    users: tuple[Hashable, ...]
    item_ids: tuple[Hashable, ...]
    user: Codes
    left: Codes
    right: Codes
    certificate: RankCertificate

    def __post_init__(self) -> None:
        """Keep read-only columns."""
        for name in ("user", "left", "right"):
            column = checks.read_only(np.ascontiguousarray(getattr(self, name), dtype=np.int32))
            object.__setattr__(self, name, column)

    def __len__(self) -> int:
        """Return the number of questions."""
        return len(self.user)

    def __repr__(self) -> str:
        """Return a summary in one line."""
        return (
            f"Design({len(self)} questions to {self.n_asked} users about {len(self.item_ids)} "
            f"items, rank {self.certificate.rank} of {self.certificate.needed})"
        )

    @property
    def n_asked(self) -> int:
        """How many users are asked anything."""
        return len(np.unique(self.user))

    @property
    def comparisons(self) -> Comparisons:
        """The questions as comparisons that nobody has answered yet: every response is 0.

        Examples
        --------
        >>> from crowdmetric.design import random_design
        >>> random_design(Unseen(6, 2), users=3, pairs=4).comparisons
        Comparisons(12 answers, 3 users, 6 items)
        """
        nothing = np.zeros(len(self), dtype=np.int8)
        return Comparisons(self.users, self.item_ids, self.user, self.left, self.right, nothing)

    def pairs_of(self, user: Hashable) -> list[tuple[Hashable, Hashable]]:
        """Return one user's questions.

        Parameters
        ----------
        user : hashable
            The user's id.

        Returns
        -------
        list of (left, right)
            Item ids in the order to ask.

        Examples
        --------
        >>> from crowdmetric.design import random_design
        >>> len(random_design(Unseen(6, 2), users=3, pairs=4).pairs_of("u2"))
        4
        """
        mine = self.user == self.users.index(user)
        sides = zip(self.left[mine].tolist(), self.right[mine].tolist(), strict=True)
        return [(self.item_ids[left], self.item_ids[right]) for left, right in sides]

    def write(self, path: str | Path) -> None:
        """Write the questions as a table with the columns user, left, right.

        Parameters
        ----------
        path : str or Path
            The ending says the format, as everywhere.

        Raises
        ------
        OutputError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from crowdmetric.design import minimal_design
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     minimal_design(Unseen(3, 1), ["ann"]).write(Path(folder) / "questions.csv")
        ...     print((Path(folder) / "questions.csv").read_text().splitlines()[0])
        user,left,right
        """
        from crowdmetric.readers import write_table

        write_table(
            path,
            {
                "user": [self.users[code] for code in self.user.tolist()],
                "left": [self.item_ids[code] for code in self.left.tolist()],
                "right": [self.item_ids[code] for code in self.right.tolist()],
            },
        )


def certify(
    items: Items | Unseen, triples: Triples, n_users: int, seed: int = 0
) -> RankCertificate:
    """Return the rank of the system that answers would make.

    Parameters
    ----------
    items : Items or Unseen
        The items; for unseen ones, the rank is the generic one.
    triples : ndarray of shape (m, 3)
        User, left and right item of each question.
    n_users : int
        How many users there are.
    seed : int
        Of the random items that stand for unseen ones.

    Returns
    -------
    RankCertificate
        The rank.

    Examples
    --------
    >>> certify(Unseen(3, 1), np.array([[0, 0, 1], [0, 1, 2]]), n_users=1)
    RankCertificate(rank=2, needed=2, generic=True)
    """
    user, left, right = triples.T
    needed = degrees_of_metric(items.dimension) + items.dimension * n_users
    if isinstance(items, Unseen):
        rank = generic_rank(user, left, right, n_users, len(items), items.dimension, seed)
        return RankCertificate(rank, needed, generic=True)
    system = LinearSystem.of(items.features, user, left, right, n_users)
    return RankCertificate(system.rank, needed, generic=False)


def certify_all(
    items: Items | Unseen, triples: Triples, n_users: int, seed: int = 0
) -> RankCertificate:
    """Return the rank of a system that must determine everything.

    Parameters
    ----------
    items, triples, n_users, seed
        As for `certify`.

    Returns
    -------
    RankCertificate
        Of full rank.

    Raises
    ------
    DataError
        If rounding leaves it in doubt.

    Examples
    --------
    >>> certify_all(Unseen(3, 1), np.array([[0, 0, 1], [0, 1, 2]]), n_users=1).determined
    True
    """
    certificate = certify(items, triples, n_users, seed)
    if not certificate.determined:
        raise DataError(
            "the items differ by so little, beside the size of their features, that rounding hides "
            "what answers about them determine; give features with more digits, or less their mean"
        )
    return certificate
