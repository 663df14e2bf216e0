"""Scales of a loss worth trying.

Within the built-in regions of given radii, to double the scale is to double the radii: the same
predictions are within reach, and the radii are chosen anyway. So a scale of its own matters only
where something fixes the size of margins: a fixed metric, or a margin bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crowdmetric import checks
from crowdmetric.errors import SettingError
from crowdmetric.estimator.radii import Family
from crowdmetric.losses import Logistic, Loss, Probit
from crowdmetric.problem import Problem
from crowdmetric.regions import FixedMetric

__all__ = ["scaled"]

_FACTORS = tuple(4.0**k for k in range(-3, 3))


def scaled(problem: Problem, make: Family, scales: str | Sequence[float] | None) -> list[Loss]:
    """Return the problem's loss at every scale to try.

    Parameters
    ----------
    problem : Problem
        Its own region is not used.
    make : Family
        From radii to region.
    scales : {"auto"} or sequence of float, optional
        Which scales; "auto": multiples of what the data suggest, where a scale matters, or else
        the loss as it is. None: the loss as it is.

    Returns
    -------
    list of Loss
        One for each scale.

    Examples
    --------
    >>> from crowdmetric.comparisons import Comparisons
    >>> from crowdmetric.estimator.radii import family
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 1]).answers()
    >>> x = np.array([[0.0], [1.0], [2.0]])
    >>> problem = Problem(answers, x, Logistic(), FixedMetric(np.eye(1), 1.0))
    >>> [loss.scale for loss in scaled(problem, family("nuclear-full", 1, None), [0.5, 1.0])]
    [0.5, 1.0]
    >>> len(scaled(problem, family("fixed", 1, None), "auto"))
    6
    >>> scaled(problem, family("nuclear-full", 1, None), "auto")
    [Logistic(scale=1.0)]
    """
    loss = problem.loss
    if scales is None:
        return [loss]
    if not isinstance(loss, Logistic | Probit):
        raise SettingError(
            f"the loss {loss.name!r} has no scale to choose: only logistic and probit have one"
        )
    if isinstance(scales, str):
        if scales != "auto":
            raise SettingError(f"loss_scales must be 'auto' or numbers, not {scales!r}")
        unit = _natural_scale(problem, make)
        tried = [loss.scale] if unit is None else [unit * factor for factor in _FACTORS]
    else:
        tried = checks.floats(np.asarray(scales), "the loss scales", dimensions=1).tolist()
    if not tried:
        raise SettingError("there are no loss scales to choose from; leave loss_scales out")
    return [replace(loss, scale=scale) for scale in tried]


def _natural_scale(problem: Problem, make: Family) -> float | None:
    """Return a scale at which margins of their fixed size are worth about one; None without."""
    region: Any = make(*[1.0] * make.count)
    if isinstance(region, FixedMetric) and region.metric.any():
        crowd = replace(problem, single=False).crowd()
        d = crowd.dimension
        margins = crowd.margins(region.metric[None], np.zeros((1, crowd.n_users, d)))
        size = float(np.sqrt(crowd.mean(margins**2)[0]))
        return 1.0 / size if size > 0 else None
    bound = getattr(region, "margin_bound", None)
    return None if bound is None else 2.0 / float(bound)
