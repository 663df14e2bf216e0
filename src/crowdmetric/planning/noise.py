"""Noise in words: how often a person answers the same question the same way twice."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from crowdmetric.checks import Floats
from crowdmetric.errors import SettingError
from crowdmetric.planning.crowds import draw_crowd
from crowdmetric.planning.study import Study

__all__ = ["answered_alike", "consistency", "with_consistency"]

_CROWDS = 10
_WIDEST = 20.0  # logarithms of beta, either way: beyond, answers are all noise or none


def answered_alike(margins: Floats, noise: float) -> float:
    """Return how often questions are answered the same way twice.

    Parameters
    ----------
    margins : ndarray of shape (m,)
        The true ones, of the questions.
    noise : float
        Beta of the answers.

    Returns
    -------
    float
        From 1/2, for pure noise, to 1.

    Examples
    --------
    >>> answered_alike(np.array([0.0, 1e9]), 1.0)
    0.75
    """
    left = expit(-noise * margins)
    return float((left**2 + (1 - left) ** 2).mean())


def consistency(study: Study) -> float:
    """Return how often people answer the same random question the same way twice.

    Parameters
    ----------
    study : Study
        Whose people.

    Returns
    -------
    float
        From 1/2 to 1.

    Examples
    --------
    >>> study = Study(n_items=10, dimension=2, users=4, rank=1, noise=1.0, sizes=(5,))
    >>> 0.6 < consistency(study) < consistency(replace(study, noise=9.0)) < 1
    True
    """
    return answered_alike(_margins(study), study.noise)


def with_consistency(study: Study, share: float) -> Study:
    """Return a study whose people answer the same question the same way so often.

    Parameters
    ----------
    study : Study
        Its own noise does not matter.
    share : float
        More than 1/2 and less than 1.

    Returns
    -------
    Study
        With the noise that makes it so.

    Raises
    ------
    SettingError
        If no noise does.

    Examples
    --------
    >>> study = Study(n_items=10, dimension=2, users=4, rank=1, noise=1.0, sizes=(5,))
    >>> round(consistency(with_consistency(study, 0.8)), 6)
    0.8
    """
    margins = _margins(study)

    def excess(logarithm: float) -> float:
        """Return how much more consistent people are than wanted."""
        return answered_alike(margins, math.exp(logarithm)) - share

    if not (0.5 < share < 1 and excess(-_WIDEST) < 0 < excess(_WIDEST)):
        raise SettingError(
            f"people who answer the same question the same way {100 * share:.4g}% of the time "
            "cannot be simulated; give more than 50%, which is pure chance, and less than 100%"
        )
    return replace(study, noise=math.exp(brentq(excess, -_WIDEST, _WIDEST)))


def _margins(study: Study) -> Floats:
    """Return true margins of random questions to random people."""
    crowds = [draw_crowd(study, study.users, trial) for trial in range(_CROWDS)]
    return np.concatenate([crowd.margins(crowd.test) for crowd in crowds])
