"""Losses: what an answer costs, as a function of z = y * delta (larger is better).

A loss is a small frozen dataclass with a name, three functions of arrays, and two constants; see
`Loss`. To write your own, read docs/add-a-loss.md.

Logistic and Probit are also links: they are minus the log-likelihood of answers given with
probability f(delta), where f(x) = 1 - f(-x) (section 4 of the paper).

Examples
--------
>>> import numpy as np
>>> loss = Logistic(scale=2.0)
>>> loss.value(np.zeros(1)) == np.log(2)
array([ True])
>>> by_name("hinge")
Hinge()
"""

from __future__ import annotations

from crowdmetric.errors import SettingError, did_you_mean
from crowdmetric.losses.hinges import Hinge, SmoothedHinge, SquaredHinge
from crowdmetric.losses.links import Logistic, Probit
from crowdmetric.losses.protocol import CurvedLoss, KinkedLoss, Link, Loss

__all__ = [
    "BUILT_IN",
    "CurvedLoss",
    "Hinge",
    "KinkedLoss",
    "Link",
    "Logistic",
    "Loss",
    "Probit",
    "SmoothedHinge",
    "SquaredHinge",
    "by_name",
]

BUILT_IN: dict[str, type[Logistic | Probit | Hinge | SquaredHinge | SmoothedHinge]] = {
    loss.name: loss for loss in (Logistic, Probit, Hinge, SquaredHinge, SmoothedHinge)
}


def by_name(name: str, scale: float | None = None) -> Loss:
    """Return a loss from its name, as at the command line.

    Parameters
    ----------
    name : str
        One of "logistic", "probit", "hinge", "squared-hinge", "smoothed-hinge".
    scale : float, optional
        The scale of logistic and probit.

    Returns
    -------
    Loss
        The loss.

    Examples
    --------
    >>> by_name("probit", scale=2.0)
    Probit(scale=2.0)
    """
    if name not in BUILT_IN:
        raise SettingError(
            f"there is no loss {name!r}{did_you_mean(name, BUILT_IN)} "
            f"(choose from {', '.join(BUILT_IN)})"
        )
    if scale is None:
        return BUILT_IN[name]()
    if name == "logistic":
        return Logistic(scale)
    if name == "probit":
        return Probit(scale)
    raise SettingError(f"the loss {name!r} has no scale: only logistic and probit have one")
