"""Whom to ask: names, or how many."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from crowdmetric import checks
from crowdmetric.errors import SettingError

__all__ = ["Users", "named"]

Users = int | Iterable[Hashable]

_MOST = 10**7


def named(users: Users) -> tuple[Hashable, ...]:
    """Return the ids of the users.

    Parameters
    ----------
    users : int or iterable of hashable
        How many, who are then called u0, u1, ..., or their distinct ids.

    Returns
    -------
    tuple of hashable
        The ids.

    Examples
    --------
    >>> named(2), named(["ann", "bob"])
    (('u0', 'u1'), ('ann', 'bob'))
    """
    if isinstance(users, int):
        if not 1 <= users <= _MOST:
            raise SettingError(
                f"the number of users must lie between 1 and {_MOST}, not {users}; give another"
            )
        return tuple(f"u{k}" for k in range(users))
    ids = checks.listed(users, "users")
    if not ids:
        raise SettingError("there are no users; give at least one")
    checks.distinct(ids, "the user")
    return ids
