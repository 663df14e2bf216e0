"""Data quality: how consistent people are, which side they prefer, and what was never asked."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from crowdmetric.errors import shown
from crowdmetric.report.markup import definitions, join, paragraph
from crowdmetric.report.section import Written
from crowdmetric.report.sections.asked import plural, times_shown
from crowdmetric.report.study import Study
from crowdmetric.trust import people

__all__ = ["ceiling_of", "one_sided", "quality"]

_LEVEL = 0.05  # how often somebody is named who has no side, over the whole crowd
_MOST_NAMED = 8
_FEW = 10  # answers of a person


def quality(study: Study) -> Written:
    """Return the section about the answers as data.

    Parameters
    ----------
    study : Study
        What the report is about.

    Returns
    -------
    Written
        Agreement, ceiling, sides and coverage.

    Examples
    --------
    >>> from crowdmetric.report.examples import study
    >>> "nothing was asked twice" in quality(study()).html
    True
    """
    facts: list[tuple[object, object]] = [
        ("agreement with oneself", _agreement(study)),
        ("ceiling of accuracy", _ceiling(study)),
        ("sides", _sides(study)),
        ("coverage", _coverage(study)),
    ]
    intro = paragraph(
        "No model predicts a person better than that person agrees with themselves. This is what "
        "the answers say about that, whatever the model."
    )
    return Written("Data quality", join([intro, definitions(facts)]))


def one_sided(left: npt.ArrayLike, said: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Say who chooses one side more often than chance allows, if sides mean nothing.

    Parameters
    ----------
    left, said : array-like of shape (K,)
        How many answers of each person are for the left, and for either side.

    Returns
    -------
    ndarray of bool
        By the normal approximation, at a level of 5% for the whole crowd (Bonferroni's).

    Examples
    --------
    >>> one_sided([52, 90], [100, 100])
    array([False,  True])
    """
    for_left, number = np.asarray(left, dtype=np.float64), np.asarray(said, dtype=np.float64)
    limit = float(norm.isf(_LEVEL / 2 / max(len(number), 1)))
    off: npt.NDArray[np.bool_] = np.abs(for_left - number / 2) > limit * np.sqrt(number) / 2
    return off & (number >= _FEW)


def _agreement(study: Study) -> str:
    """Say how often people give the same answer again."""
    agreement = people(study.comparisons).agreement
    known = agreement[~np.isnan(agreement)]
    if not len(known):
        return "unknown: nothing was asked twice of the same person"
    return (
        f"{known.mean():.1%} on average over the {plural(len(known), 'person')} who answered some "
        f"question again, either way round ({known.min():.1%} to {known.max():.1%}; at random: 50%)"
    )


def _ceiling(study: Study) -> str:
    """Say what can be predicted at best."""
    agreement = people(study.comparisons).agreement
    if np.isnan(agreement).all():
        return "unknown: ask some questions again, with the items swapped, to learn it"
    return (
        f"about {ceiling_of(agreement):.1%} at most, on average over the same people: what their "
        "agreement allows, if each time they answer independently"
    )


def ceiling_of(agreement: npt.ArrayLike) -> float:
    """Return the accuracy that no predictor exceeds, on average over people.

    Parameters
    ----------
    agreement : array-like of shape (K,)
        How often each agrees with themselves; nan where that is not known.

    Returns
    -------
    float
        That of the mean agreement: it changes less by chance than the mean of ceilings, and by
        Jensen's inequality is no smaller.

    Examples
    --------
    >>> round(ceiling_of([0.82, 0.82, float("nan")]), 6)
    0.9
    """
    mean = float(np.nanmean(np.asarray(agreement, dtype=np.float64)))
    return (1.0 + math.sqrt(max(2.0 * mean - 1.0, 0.0))) / 2.0


def _sides(study: Study) -> str:
    """Say whether people prefer a side."""
    answers = study.comparisons
    said = answers.response != 0
    left = answers.response < 0
    if left[said].all():
        return "unknown: every answer is for the left, as in a file of winners and losers"
    count = len(study.model.users)
    by_left = np.bincount(answers.user, left, count)
    by_all = np.bincount(answers.user, said, count)
    rows = np.flatnonzero(one_sided(by_left, by_all))
    rows = rows[np.argsort(-np.abs(by_left[rows] / by_all[rows] - 0.5), kind="stable")]
    named = [f"{study.model.users[k]} ({by_left[k] / by_all[k]:.0%} left)" for k in rows]
    whole = f"{left[said].mean():.1%} of the answers are for the left"
    if not named:
        return f"{whole}; nobody prefers a side beyond what chance explains"
    return f"{whole}; beyond what chance explains lean: {_some(named)}"


def _coverage(study: Study) -> str:
    """Say who, and what, the answers leave out."""
    items, users = study.model.items, study.model.users
    seen, _ = times_shown(study.comparisons)
    given = np.bincount(study.comparisons.user, minlength=len(users))
    unseen = [shown(items.ids[code]) for code in np.flatnonzero(seen == 0)]
    silent = [shown(users[code]) for code in np.flatnonzero(given == 0)]
    few = [shown(users[code]) for code in np.flatnonzero((given > 0) & (given < _FEW))]
    told = [
        "every item was shown" if not unseen else f"never shown: {_some(unseen)}",
        "everybody answered" if not silent else f"no answers of: {_some(silent)}",
    ]
    if few:
        told.append(f"fewer than {_FEW} answers of: {_some(few)}")
    return "; ".join(told)


def _some(names: list[str]) -> str:
    """Return the first of many names, and how many more there are."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
