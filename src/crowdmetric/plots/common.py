"""What the pictures share: whose metric, and how numbers and names are written."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from crowdmetric.errors import SettingError, shown
from crowdmetric.ids import KnownIds
from crowdmetric.plots.names import written

if TYPE_CHECKING:
    from crowdmetric.model import Model

Floats = npt.NDArray[np.float64]

ITEM_COLOUR = "#0072B2"  # from the palette of Okabe and Ito, told apart by colour-blind readers
USER_COLOUR = "#D55E00"
MOST_LETTERS = 16  # of an id


def one_metric(model: Model, user: Hashable | None) -> tuple[Floats, list[int]]:
    """Return the metric to draw and the users it belongs to."""
    metric = np.asarray(model.in_space[0], dtype=np.float64)
    everyone = list(range(len(model.users)))
    if user is None and metric.ndim == 2:
        return metric, everyone
    if user is None:
        raise SettingError(
            "each user of this model has a metric of their own; name one of them, "
            f"for example user={shown(model.users[0])}"
        )
    (row,) = KnownIds(model.users, "user").positions([user])
    return (metric if metric.ndim == 2 else metric[row]), [row]


def percent(share: float) -> str:
    """Write a share so that little is not mistaken for nothing, nor most for all."""
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1 - 1e-9:
        return ">99.9%"
    return f"{100 * share:.3g}%"


def count(number: int, what: str) -> str:
    """Write a number of things."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def of_user(model: Model, user: Hashable | None) -> str:
    """End a title with the user it is about."""
    if user is None:
        return ""
    row = KnownIds(model.users, "user").position(user)
    return f" (user {written(model.users, MOST_LETTERS)[row]})"
