"""Accuracy: how well answers are predicted, and for whom it goes wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from crowdmetric.losses import Link
from crowdmetric.metrics import accuracy as accuracy_of
from crowdmetric.metrics import accuracy_by_user, log_loss
from crowdmetric.report.held_out import FOLDS
from crowdmetric.report.markup import Html, definitions, join, paragraph
from crowdmetric.report.section import Written
from crowdmetric.report.sections.asked import plural
from crowdmetric.report.sections.quality import ceiling_of
from crowdmetric.report.study import Study
from crowdmetric.report.tables import Column, counts, names, percentages, table
from crowdmetric.trust import people

__all__ = ["accuracy", "wilson"]

Floats = npt.NDArray[np.float64]

_MOST_PEOPLE = 5000  # rows of the table
_LEVEL = 0.95  # of the intervals


def accuracy(study: Study) -> Written:
    """Return the section about what is predicted, with the table of people.

    Parameters
    ----------
    study : Study
        What the report is about.

    Returns
    -------
    Written
        The worst person first.

    Examples
    --------
    >>> from crowdmetric.report.examples import study
    >>> html = accuracy(study()).html
    >>> html.index("bob") < html.index("ann")
    True
    """
    parts = [_about(study), definitions(_facts(study)), _people(study)]
    return Written("Accuracy, person by person", join(parts))


def wilson(share: Floats, count: Floats, level: float = _LEVEL) -> tuple[Floats, Floats]:
    """Return intervals of shares, each from a number of independent answers (Wilson, 1927).

    Parameters
    ----------
    share, count : ndarray of shape (K,)
        What was found, and in how many answers.
    level : float
        How often the intervals are to cover.

    Returns
    -------
    low, high : ndarray of shape (K,)
        From 0 to 1 where there is nothing to go by.

    Examples
    --------
    >>> low, high = wilson(np.array([0.8]), np.array([50.0]))
    >>> print(f"{low[0]:.3f} to {high[0]:.3f}")
    0.670 to 0.888
    """
    z = float(norm.isf((1 - level) / 2))
    n = np.maximum(count, 1e-12)
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)


def _about(study: Study) -> Html:
    """Say which answers are predicted, and whether that is fair."""
    if study.held_out is not None:
        said = (
            "The model was fitted to these answers. So that it is not praised for what it was "
            f"told, they were split into {FOLDS} parts, and each part is predicted by a fit, with "
            "the same settings, to the other parts; a question and its mirror image are in the "
            "same part. The radius is the model's own, which may have been chosen with the help "
            "of these answers."
        )
    elif study.seen:
        said = (
            "The model was fitted to these very answers, so their accuracy flatters it: it says "
            "how well the model describes them, not how well it predicts others."
        )
    else:
        said = (
            "These are not exactly the answers that the model was fitted to, since their risk is "
            "not the certified one. If none of them was used for the fit, this is a fair test."
        )
    return paragraph(said)


def _facts(study: Study) -> list[tuple[object, object]]:
    """Return the accuracy, and what to compare it with."""
    answers = study.comparisons
    response, weight = answers.response, answers.weight
    own = accuracy_of(study.margins, response, weight)
    left = accuracy_of(-np.ones(len(answers)), response, weight)
    facts: list[tuple[object, object]] = []
    if study.held_out is not None:
        held_out = accuracy_of(study.held_out, response, weight)
        facts.append(("accuracy, held out", f"{held_out:.1%} of the answers"))
        facts.append(("accuracy, as fitted", f"{own:.1%} of the answers"))
    else:
        facts.append(("accuracy", f"{own:.1%} of the answers"))
    side = "left" if left >= 0.5 else "right"
    facts.append(
        ("without a model", f"50.0% at random; {max(left, 1 - left):.1%} by always saying {side}")
    )
    agreement = people(answers).agreement
    if not np.isnan(agreement).all():
        facts.append(("ceiling", f"about {ceiling_of(agreement):.1%} at most (see data quality)"))
    if isinstance(study.model.loss, Link):
        loss = log_loss(study.model.probabilities(study.judged)[:, 0], response, weight)
        facts.append(("log-loss", f"{loss:.4f} (guessing: 0.6931)"))
    return facts


def _people(study: Study) -> Html:
    """Return the table of people, the worst first."""
    answers, count = study.comparisons, len(study.model.users)
    share = np.full(count, np.nan)
    found = accuracy_by_user(study.judged, answers.response, answers.user, answers.weight)
    share[: len(found)] = found
    who = people(answers)
    order = np.argsort(np.where(np.isnan(share), 2.0, share), kind="stable")[:_MOST_PEOPLE]
    ids = [study.model.users[code] for code in order]
    meaning = "held out" if study.held_out is not None else "of these answers"
    columns = [
        names("person", ids),
        counts("answers", who.answered[order]),
        percentages("accuracy", share[order], f"share predicted, {meaning}", bars=True),
        _interval(share[order], who.answered[order]),
        *_by_loss(study, order),
        *_consistency(who.agreement[order], who.ceiling[order]),
        percentages("left", who.left[order], "share of answers for the item on the left"),
        *_outside(study, order),
    ]
    columns = [column for column in columns if _tells(column)]
    cut = count - len(order)
    note = paragraph(f"{plural(cut, 'person')} with a higher accuracy left out here.")
    return join([table("People, worst first", columns, rising="accuracy"), note if cut else Html()])


def _interval(share: Floats, count: Floats) -> Column:
    """Return the intervals of the accuracies, sorted by their lower ends."""
    low, high = wilson(share, count)
    cells = [
        "none" if np.isnan(a) else f"{a:.0%} to {b:.0%}" for a, b in zip(low, high, strict=True)
    ]
    return Column(
        "interval",
        cells,
        low.tolist(),
        f"Wilson's, of the accuracy, at {_LEVEL:.0%}: with few answers, a low accuracy may be "
        "bad luck",
    )


def _by_loss(study: Study, order: npt.NDArray[np.intp]) -> list[Column]:
    """Return the log-loss of each person, where there are probabilities."""
    if not isinstance(study.model.loss, Link):
        return []
    answers = study.comparisons
    left, right = study.model.probabilities(study.judged).T.clip(1e-15)
    cost = -0.5 * ((1 - answers.response) * np.log(left) + (1 + answers.response) * np.log(right))
    weight = np.ones(len(answers)) if answers.weight is None else answers.weight
    total = np.bincount(answers.user, weight, len(study.model.users))
    mean = np.full(len(total), np.nan)
    np.divide(
        np.bincount(answers.user, weight * cost, len(total)), total, out=mean, where=total > 0
    )
    values = mean[order].tolist()
    cells = ["none" if np.isnan(value) else f"{value:.3f}" for value in values]
    return [Column("log-loss", cells, values, "lower is better; 0.693 is guessing")]


def _consistency(agreement: Floats, ceiling: Floats) -> list[Column]:
    """Return how often people agree with themselves, and what follows."""
    return [
        percentages("agreement", agreement, "how often the same answer was given again"),
        percentages("ceiling", ceiling, "accuracy that this agreement allows; rough"),
    ]


def _outside(study: Study, order: npt.NDArray[np.intp]) -> list[Column]:
    """Return how much of a person's taste the metric does not measure, where it is some."""
    outside = np.asarray(study.model.outside_range(), dtype=np.float64)
    if outside.max() < 1e-3:
        return []
    return [
        percentages(
            "outside",
            outside[order],
            "share of the person's score that follows directions the metric does not measure: "
            "their ideal point means little where it is large",
        )
    ]


def _tells(column: Column) -> bool:
    """Say whether a column has anything in it."""
    return column.keys is None or not np.isnan(np.asarray(column.keys, dtype=np.float64)).all()
