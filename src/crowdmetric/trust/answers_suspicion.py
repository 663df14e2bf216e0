"""Who stands out, and why: people whose answers somebody should look at.

Nobody is suspicious because a model fails: who agrees with themselves when a question comes again
has a taste, only not one that the model can see.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons
from crowdmetric.trust.answers_consistency import Consistency
from crowdmetric.trust.answers_lean import Lean
from crowdmetric.trust.answers_repeats import Repeats

__all__ = ["Suspicion", "missed", "suspicious"]

Mask = npt.NDArray[np.bool_]

_ODDS = 20.0  # how many times better coins must explain answers than the typical person's do
_NEARLY = 0.25  # of a typical person's consistency: not coins, but little else
_LEAST_TYPICAL = 0.75  # agreement with oneself
_MOSTLY_TIES = 0.9
_ENOUGH = 10  # answers, or repeated questions, from which a person can be named


@dataclass(frozen=True)
class Suspicion:
    """A person whose answers somebody should look at, and why.

    Parameters
    ----------
    user : hashable
        Who.
    reasons : tuple of str
        In readable words.

    Examples
    --------
    >>> Suspicion("ann", ("answers 'left' 40 times of 40",)).user
    'ann'
    """

    user: Hashable
    reasons: tuple[str, ...]


def suspicious(
    comparisons: Comparisons, asked: Repeats, leaning: Lean, found: Consistency | None
) -> tuple[Suspicion, ...]:
    """Name who stands out.

    Parameters
    ----------
    comparisons : Comparisons
        The answers.
    asked : Repeats
        What repeated questions say.
    leaning : Lean
        The sides and ties.
    found : Consistency or None
        What a model says, if there is one.

    Returns
    -------
    tuple of Suspicion
        The most reasons first.

    Examples
    --------
    >>> from crowdmetric.trust.answers_lean import lean
    >>> from crowdmetric.trust.answers_repeats import repeats
    >>> answers = Comparisons.from_arrays([[0, 0, 1]] * 12, [0] * 12, users=["ann"])
    >>> suspicious(answers, repeats(answers), lean(answers), None)[0].reasons[0]
    '100% of the answers are ties'
    """
    reasons: dict[int, list[str]] = {}
    for kind in (
        _one_sided(leaning),
        _tied(leaning, np.bincount(comparisons.user, minlength=comparisons.n_users)),
        _at_odds_with_themselves(asked),
        _at_odds_with_the_model(asked, found),
    ):
        for k, reason in kind:
            reasons.setdefault(k, []).append(reason)
    named = sorted(reasons.items(), key=lambda one: (-len(one[1]), one[0]))
    return tuple(Suspicion(comparisons.users[k], tuple(why)) for k, why in named)


def missed(asked: Repeats, found: Consistency) -> Mask:
    """Return who agrees with themselves, and is hardly predicted all the same.

    Parameters
    ----------
    asked : Repeats
        What repeated questions say.
    found : Consistency
        What a model says.

    Returns
    -------
    ndarray of bool, shape (K,)
        True for whom the model misses.

    Examples
    --------
    >>> from crowdmetric.trust.answers_repeats import repeats
    >>> answers = Comparisons.from_arrays([[0, i, i + 1] for i in range(9)] * 2, [-1, 1, 1] * 6)
    >>> nothing, much = np.zeros(1), np.full(1, 100.0)
    >>> missed(repeats(answers), Consistency(nothing, nothing, nothing, nothing, much, 1.0))
    array([ True])
    """
    return np.asarray(_unlike_model(found) & (_coin_log_odds(asked)[0] <= -np.log(_ODDS)))


def _one_sided(leaning: Lean) -> Iterator[tuple[int, str]]:
    """Say who answers for one side only."""
    for k in np.flatnonzero(leaning.one_sided).tolist():
        left = float(leaning.left[k])
        side, share = ("left", left) if left > 0.5 else ("right", 1 - left)
        count = int(leaning.answered[k])
        yield k, f"answers '{side}' {round(share * count)} times of {count}"


def _tied(leaning: Lean, answers: npt.NDArray[np.intp]) -> Iterator[tuple[int, str]]:
    """Say who hardly ever chooses."""
    for k in np.flatnonzero((leaning.ties >= _MOSTLY_TIES) & (answers >= _ENOUGH)).tolist():
        yield k, f"{leaning.ties[k]:.0%} of the answers are ties"


def _at_odds_with_themselves(asked: Repeats) -> Iterator[tuple[int, str]]:
    """Say who answers a question anew each time."""
    log_odds, near = _coin_log_odds(asked)
    like_coins = near & (log_odds >= np.log(_ODDS)) & (asked.questions >= _ENOUGH)
    for k in np.flatnonzero(like_coins).tolist():
        yield (
            k,
            f"agrees with themselves on {asked.agreement[k]:.0%} of {asked.questions[k]} repeated "
            "questions, where coin flips would on 50%",
        )


def _at_odds_with_the_model(asked: Repeats, found: Consistency | None) -> Iterator[tuple[int, str]]:
    """Say whom the model cannot predict, unless they agree with themselves."""
    if found is None:
        return
    for k in np.flatnonzero(_unlike_model(found) & ~missed(asked, found)).tolist():
        yield (
            k,
            f"{found.accuracy[k]:.0%} of the answers are predicted from all others, and the rest "
            "often surely wrong: coin flips explain them better",
        )


def _unlike_model(found: Consistency) -> Mask:
    """Return whose answers coins explain far better than the model does."""
    return np.asarray((found.coin_odds >= _ODDS) & (found.share <= _NEARLY))


def _coin_log_odds(asked: Repeats) -> tuple[Floats, Mask]:
    """Return how much better coins explain agreement than typical people do, and who is near coins.

    The reference is the median person, or three of four where even that one agrees less often:
    in a crowd of coins, all stand out. Questions count as independent of each other.
    """
    some = asked.questions > 0
    agreement = np.where(some, asked.agreement, 1.0)
    median = float(np.median(agreement[some])) if some.any() else 0.0
    typical = float(np.clip(median, _LEAST_TYPICAL, 0.99))
    agreed = agreement * asked.questions
    otherwise = asked.questions - agreed
    log_odds = agreed * np.log(0.5 / typical) + otherwise * np.log(0.5 / (1 - typical))
    return log_odds, agreement <= 0.5 + _NEARLY * (typical - 0.5)
