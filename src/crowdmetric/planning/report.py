"""A plan in words, for somebody who is going to run the study."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from crowdmetric.planning.curve import Needed
from crowdmetric.planning.plan import Plan
from crowdmetric.plots.common import percent

__all__ = ["summary"]

_WIDTH = 100  # letters in a line


def summary(plan: Plan) -> str:
    """Return what was assumed, the answer, the learning curve, and the trade.

    Parameters
    ----------
    plan : Plan
        What came out.

    Returns
    -------
    str
        Some readable lines.

    Examples
    --------
    >>> from crowdmetric.planning.plan import example
    >>> print(summary(example()))
    study        6 people, 12 normal items, 2 features, a metric of rank 2
    ...
    """
    lines = _pairs_of_words(
        [
            ("study", _study(plan)),
            ("people", _people(plan)),
            ("target", str(plan.target)),
            ("answer", _answer(plan)),
            ("to be surer", _surer(plan)),
            ("simulated", _simulated(plan)),
            *_regularisation(plan),
        ]
    )
    return "\n".join([*lines, "", *_curve(plan), "", *_trade(plan)])


def _study(plan: Plan) -> str:
    """Say who compares what."""
    study = plan.study
    people = "person" if study.users == 1 else "people"
    items = "items" if study.items is not None else "normal items"
    return (
        f"{study.users} {people}, {study.n_items} {items}, {study.dimension} features, "
        f"a metric of rank {study.rank}"
    )


def _people(plan: Plan) -> str:
    """Say how noisy answers are."""
    return (
        f"asked the same question twice, they answer alike {percent(plan.consistency)} of the time "
        f"(beta {plan.study.noise:.3g}), so that at best {percent(plan.outlook.best_accuracy)} of "
        "new answers can be predicted"
    )


def _answer(plan: Plan) -> str:
    """Say how many comparisons it takes."""
    study, answer, curve = plan.study, plan.answer, plan.curve(plan.study.users)
    smallest, largest = (int(curve.sizes[end]) for end in (0, -1))
    if answer.pairs is None:
        reached = f"{percent(float(curve.mean[-1]))} with {largest}"
        if largest == study.n_pairs:
            return (
                f"not reached, even if everybody compares all {largest} pairs ({reached}); ask "
                "more people, take more items, or ask the same question more than once"
            )
        return (
            f"not reached with up to {largest} comparisons per person ({reached}, and the best "
            f"possible is {percent(plan.outlook.best)}); try more with --pairs, or more people"
        )
    if answer.pairs == smallest:
        return f"{smallest} comparisons per person, the fewest that were tried, or fewer"
    return (
        f"{answer.pairs} comparisons per person ({_interval(answer)}), "
        f"{study.users * answer.pairs:,} in all"
    )


def _interval(found: Needed) -> str:
    """Say how sure the answer is."""
    if found.high is None:
        return f"95% interval: {found.low} to more than were tried"
    return f"95% interval: {found.low} to {found.high}"


def _surer(plan: Plan) -> str:
    """Say what most studies need; half of them miss what is reached on average."""
    most = plan.answer.pairs_for_most
    if most is None:
        return "no number that was tried makes 8 of 10 studies like this reach the target"
    return f"{most} per person: with these, 8 of 10 studies like this reach the target"


def _simulated(plan: Plan) -> str:
    """Say with which estimator, and how that differs from a real study."""
    how = (
        "its radius the smallest that holds the truth: a real study must choose it from the "
        "answers, which costs little accuracy, but can take several times as many answers for the "
        "same errors; leave out --quick to simulate that"
        if plan.study.quick
        else "its radius chosen by cross-validation, as in a real study"
    )
    return f"{plan.study.trials} studies, fitted with the region nuclear-full, {how}"


def _regularisation(plan: Plan) -> list[tuple[str, str]]:
    """Say how ideal points were made of the fits, where they matter."""
    if plan.target.measure != "ideal_point_error":
        return []
    sizes = plan.curve(plan.study.users).sizes.tolist()
    best = ", ".join(f"{a:g} at {n}" for n, a in zip(sizes, plan.alphas, strict=True))
    text = f"regularised with the alpha that is best at each size: {best} (0: exact ideal points)"
    return [("ideal points", text)]


def _curve(plan: Plan) -> list[str]:
    """Return the learning curve as a table."""
    curve = plan.curve(plan.study.users)
    rows = [("comparisons per person", "mean", "standard error", "studies that reach the target")]
    rows += [
        (str(pairs), f"{mean:.1%}", f"{error:.1%}", f"{met:.0%}")
        for pairs, mean, error, met in zip(
            curve.sizes.tolist(), curve.mean, curve.error, curve.met(plan.target), strict=True
        )
    ]
    return _table(rows)


def _trade(plan: Plan) -> list[str]:
    """Return what more people, or more questions each, are worth, as a table."""
    sizes = plan.curve(plan.study.users).sizes.tolist()
    rows = [("people", "needed per person", "in all", *(f"at {size}" for size in sizes))]
    for users, found in plan.needed.items():
        least = found.pairs == sizes[0]
        per_person = "more" if found.pairs is None else f"{'up to ' * least}{found.pairs}"
        in_all = "more" if found.pairs is None else f"{'up to ' * least}{users * found.pairs:,}"
        levels = [f"{mean:.1%}" for mean in plan.curve(users).mean]
        rows.append((str(users), per_person, in_all, *levels))
    title = "More people, or more questions each? (the mean at so many comparisons per person)"
    return [title, "", *_table(rows)]


def _pairs_of_words(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Return names and values in two columns, the second wrapped."""
    width = max(len(name) for name, _ in rows)
    return [
        textwrap.fill(f"{name:<{width}}  {text}", _WIDTH, subsequent_indent=" " * (width + 2))
        for name, text in rows
    ]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows in columns, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:>{w}}" for cell, w in zip(row, widths, strict=True)) for row in rows]
