"""From the ids in a request to the rows of a model, with errors that say what to do."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from crowdmetric import checks
from crowdmetric.checks import Codes, Floats
from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.errors import DataError, UnknownItemError, UnknownUserError
from crowdmetric.ids import KnownIds

_SHOWN = 8  # names listed in a message


def aligned_features(items: Items, names: Sequence[str]) -> Floats:
    """Return the features of the items in the order of the model's names."""
    if not isinstance(items, Items):
        raise DataError(f"items must be Items, not a {_kind(items)}; read them with read_items")
    if items.names == tuple(names):
        return items.features
    missing = [name for name in names if name not in items.names]
    extra = [name for name in items.names if name not in names]
    if missing or extra:
        found = [f"lack {_listed(missing)}"] if missing else []
        found += [f"have {_listed(extra)}, which the model does not know"] if extra else []
        raise DataError(
            f"the items {' and '.join(found)}; give exactly the features of the model: "
            + ", ".join(map(repr, names))
        )
    return items.features[:, [items.names.index(name) for name in names]]


def user_codes(ids: Iterable[Hashable], known: KnownIds) -> Codes:
    """Return the position of each user, or name the first one the model never saw."""
    try:
        return np.array(known.positions(checks.listed(ids, "users")), dtype=np.int32)
    except UnknownUserError as error:
        raise UnknownUserError(f"{error} (add_users fits users the model never saw)") from None


def comparison_codes(
    comparisons: Comparisons, known: KnownIds, items: Items
) -> tuple[Codes, Codes, Codes]:
    """Return user, left and right as rows of the model; each id is looked up once."""
    require_comparisons(comparisons)
    seen = used(comparisons.user, comparisons.n_users)
    user = np.zeros(comparisons.n_users, dtype=np.int32)
    user[seen] = user_codes([comparisons.users[code] for code in seen], known)
    left, right = item_codes(comparisons, items)
    return user[comparisons.user], left, right


def item_codes(comparisons: Comparisons, items: Items) -> tuple[Codes, Codes]:
    """Return left and right as rows of the items."""
    seen = used(np.concatenate([comparisons.left, comparisons.right]), comparisons.n_items)
    item = np.zeros(comparisons.n_items, dtype=np.int32)
    try:
        item[seen] = items.codes([comparisons.item_ids[code] for code in seen])
    except UnknownItemError as error:
        raise UnknownItemError(f"{error} (give new items, with features, as items=)") from None
    return item[comparisons.left], item[comparisons.right]


def require_comparisons(given: Comparisons) -> None:
    """Refuse a file, a data frame or an array in the place of comparisons."""
    if not isinstance(given, Comparisons):
        raise DataError(
            f"the model takes Comparisons, not a {_kind(given)}; read a file or a data frame with "
            "read_comparisons(..., model.items), or with readers.read_pairs if it has no "
            "answers, and give rows of codes to margins_of_codes"
        )


def used(codes: Codes, count: int) -> Codes:
    """Return the codes that occur, in order."""
    return np.flatnonzero(np.bincount(codes, minlength=count)).astype(np.int32)


def _kind(given: object) -> str:
    """Return what something is called."""
    return type(given).__name__


def _listed(names: Sequence[str]) -> str:
    """Return the names as part of a sentence, cut short when there are many."""
    shown = ", ".join(map(repr, names[:_SHOWN]))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"the feature{'s' if len(names) > 1 else ''} {shown}{more}"
