"""A model small enough to check by hand, for examples and tests."""

from __future__ import annotations

import numpy as np

from crowdmetric.certificate import Certificate
from crowdmetric.comparisons import Items
from crowdmetric.features import Raw
from crowdmetric.losses import Logistic
from crowdmetric.model.fitted import Model
from crowdmetric.regions import FrobeniusMetric


def example() -> Model:
    """Return a model of two users and three colours, with the ideal points (1, 0) and (0, 1).

    Returns
    -------
    Model
        The metric is diag(2, 1): a step in warmth counts twice.

    Examples
    --------
    >>> model = example()
    >>> model.users, model.items.ids, model.items.names
    (('ann', 'bob'), ('red', 'green', 'blue'), ('warm', 'light'))
    """
    colours = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    return Model(
        metric=np.diag([2.0, 1.0]),
        points=np.array([[-4.0, 0.0], [0.0, -2.0]]),
        users=("ann", "bob"),
        items=Items(("red", "green", "blue"), colours, ("warm", "light")),
        features=Raw(),
        loss=Logistic(),
        region=FrobeniusMetric(3.0, 5.0),
        certificate=Certificate(
            risk=0.25,
            lower_bound=0.25,
            tolerance=1e-6,
            status="converged",
            iterations=0,
            seconds=0.0,
        ),
    )
