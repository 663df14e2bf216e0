"""The quality of answers, in one look: ceiling, consistency, side, and who stands out.

Nobody is left out because of what is found here: it names people, with the reason, so that somebody
can look at their answers.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from crowdmetric.certificate import Certificate
from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.errors import DataError, FoldsError
from crowdmetric.estimator import CrowdMetricCV
from crowdmetric.features import FeatureMap
from crowdmetric.losses import Logistic
from crowdmetric.trust.answers_ceiling import Ceiling, ceiling_of, person_ceilings
from crowdmetric.trust.answers_consistency import Consistency, consistency_of, held_out_margins
from crowdmetric.trust.answers_lean import Lean, lean
from crowdmetric.trust.answers_region import Sharing
from crowdmetric.trust.answers_repeats import Repeats, repeats
from crowdmetric.trust.answers_side import fit_with_side
from crowdmetric.trust.answers_suspicion import Suspicion, missed, suspicious

__all__ = ["Fitted", "Quality", "Side", "quality"]

_SHARINGS: tuple[Sharing, Sharing] = ("shared", "person")


@dataclass(frozen=True, eq=False)
class Side:
    """How often "left" is expected where a person has no preference, from fits with a side bias.

    Parameters
    ----------
    left : float
        With one bias for all.
    left_of : ndarray of shape (K,)
        With one for each person.
    certificate : Certificate
        That of the fit with one for all.

    Examples
    --------
    >>> Side.__name__
    'Side'
    """

    left: float
    left_of: Floats
    certificate: Certificate


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a model adds: who is predicted, and what the side does once taste is known.

    Parameters
    ----------
    consistency : Consistency
        From answers held out.
    accuracy : float
        The share of answers predicted, each held out.
    side : Side or None
        What the side does; None where the sides are not known.

    Examples
    --------
    >>> Fitted.__name__
    'Fitted'
    """

    consistency: Consistency
    accuracy: float
    side: Side | None


@dataclass(frozen=True, eq=False)
class Quality:
    """What is known about the quality of answers.

    Parameters
    ----------
    users : tuple of hashable
        The people; all arrays have an entry for each.
    repeats : Repeats
        What their repeated questions say.
    ceiling, ceiling_with_side : Ceiling or None
        The best accuracy possible, without and with the side; None without questions asked again,
        for the latter the same way round.
    person_ceilings : ndarray of shape (K,)
        The former for each person; nan without repeated questions.
    lean : Lean
        How often each answers "left".
    fitted : Fitted or None
        What a model adds; None without items, or where no model can be fitted.
    suspicious : tuple of Suspicion
        Who stands out, the most reasons first.
    notes : tuple of str
        What could not be told, and why.

    Examples
    --------
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 0]], [-1, 1], users=["ann"])
    >>> quality(answers).suspicious
    ()
    """

    users: tuple[Hashable, ...]
    repeats: Repeats
    ceiling: Ceiling | None
    ceiling_with_side: Ceiling | None
    person_ceilings: Floats
    lean: Lean
    fitted: Fitted | None
    suspicious: tuple[Suspicion, ...]
    notes: tuple[str, ...]


def quality(
    comparisons: Comparisons,
    items: Items | None = None,
    *,
    features: str | FeatureMap = "standardize",
    random_state: int = 0,
    threads: int = 1,
    progress: bool = False,
) -> Quality:
    """Look at the quality of answers.

    Parameters
    ----------
    comparisons : Comparisons
        The answers.
    items : Items, optional
        With them, a model is fitted (its radius chosen by cross-validation), and people are also
        judged by how well it predicts answers that it has not seen.
    features : str or FeatureMap
        As in `CrowdMetric`.
    random_state : int
        Seed of the folds.
    threads : int
        As in `CrowdMetric`.
    progress : bool
        Show a line of progress on standard error.

    Returns
    -------
    Quality
        What was found.

    Examples
    --------
    >>> questions = [[0, i, i + 1] for i in range(30)]
    >>> answers = Comparisons.from_arrays(questions * 2, [-1] * 29 + [1] + [-1] * 30)
    >>> found = quality(answers)
    >>> print(found.suspicious[0].reasons[0])
    answers 'left' 59 times of 60
    """
    asked, leaning = repeats(comparisons), lean(comparisons)
    answered = np.bincount(comparisons.user, minlength=comparisons.n_users).astype(np.float64)
    notes = _notes(asked, leaning)
    fitted = None
    if items is not None:
        try:
            fitted = _fit(comparisons, items, features, random_state, threads, progress, leaning)
        except (DataError, FoldsError) as error:
            notes.append(f"no model, and so no consistency from held-out answers: {error}")
    judged = None if fitted is None else fitted.consistency
    count = 0 if judged is None else int(missed(asked, judged).sum())
    if count:
        notes.append(
            f"the model hardly predicts {count} of those who agree with themselves: the features "
            "lack what they go by"
        )
    return Quality(
        users=comparisons.users,
        repeats=asked,
        ceiling=ceiling_of(asked.blind, answered),
        ceiling_with_side=ceiling_of(asked.sided, answered) if asked.side_known else None,
        person_ceilings=person_ceilings(asked.blind),
        lean=leaning,
        fitted=fitted,
        suspicious=suspicious(comparisons, asked, leaning, judged),
        notes=tuple(notes),
    )


def _notes(asked: Repeats, leaning: Lean) -> list[str]:
    """Say what cannot be told."""
    notes = []
    if not asked.questions.any():
        notes.append(
            "no question was asked twice of anybody, so the ceiling is not known: ask some again, "
            "the other way round"
        )
    if not leaning.known:
        notes.append(
            "all answers are for one side, as in a file of winners and losers, so nothing can be "
            "said about a side bias"
        )
    return notes


def _fit(
    comparisons: Comparisons,
    items: Items,
    features: str | FeatureMap,
    random_state: int,
    threads: int,
    progress: bool,
    leaning: Lean,
) -> Fitted:
    """Choose a radius, predict each answer from the others, and fit once more with the side."""
    chosen = CrowdMetricCV(
        items,
        features=features,
        random_state=random_state,
        threads=threads,
        progress=progress,
    ).fit(comparisons)
    # As sure as the answers left out let one be: a wide radius alone is surer than it should be.
    margins = chosen.model_.sharpness * held_out_margins(
        comparisons,
        items,
        chosen.region_,
        features=features,
        random_state=random_state + 1,
        threads=threads,
    )
    side = None
    if leaning.known:
        shared, own = (
            fit_with_side(
                comparisons,
                items,
                chosen.region_,
                sharing=sharing,
                features=features,
                threads=threads,
            )
            for sharing in _SHARINGS
        )
        left_of = Logistic().probability(-own.bias)
        left = float(Logistic().probability(-shared.bias[:1])[0])
        side = Side(left, left_of, shared.certificate)
    right = 0.5 * (1 + comparisons.response * np.where(margins < 0, -1, 1))
    return Fitted(consistency_of(comparisons, margins), float(right.mean()), side)
