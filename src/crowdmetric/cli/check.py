"""``crowdmetric check``: whether answers can determine the metric and everybody's point."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from crowdmetric.cli.output import about, print_json, print_table
from crowdmetric.cli.parser import Parser

if TYPE_CHECKING:
    from crowdmetric.identify.partition import Decision
    from crowdmetric.identify.verdict import Verdict

__all__ = ["add", "run"]

_EXAMPLE = """\
example:
  crowdmetric check answers.csv --items items.csv

It is about what was asked, not about what was answered: with exact answers, would one metric, and
one ideal point for each user, be left? If not, no estimate from left-or-right answers can be relied
on there; what fills the gap is then not in the data. That the answer is no is not an error."""

_REASONS = 12  # sentences that are printed at most; --json has them all
_WAYS = 4


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command(
        "check",
        run,
        "tell whether what was asked can determine metric and ideal points, or what is missing",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("comparisons", metavar="COMPARISONS", help="file of answers")
    command.add_argument("--items", required=True, metavar="ITEMS", help="file of features")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    """Read, check, and say what was found."""
    from crowdmetric.identify.verdict import check
    from crowdmetric.readers import read_comparisons, read_items

    items = read_items(arguments.items)
    comparisons = read_comparisons(arguments.comparisons, items)
    with about(arguments.comparisons):
        verdict = check(comparisons, items)
    if arguments.json:
        print_json(_facts(verdict))
    else:
        print_table(_rows(verdict, arguments))


def _facts(verdict: Verdict) -> dict[str, Any]:
    """Return what scripts want to know."""
    asked = verdict.asked
    return {
        "identifiable": verdict.identifiable,
        "rank": verdict.rank,
        "needed": verdict.needed,
        "missing": list(verdict.missing),
        "users": asked.n_users,
        "items": asked.n_items,
        "features": asked.dimension,
        "comparisons": len(asked),
        "items_needed": verdict.items_needed,
        "users_short": [
            {"user": verdict.users[user], "needs": short}
            for user, short in verdict.users_short.items()
        ],
        "crowd_short": verdict.crowd_short,
        "highest_rank": verdict.highest_rank,
        "undetermined": list(verdict.undetermined),
        "generic_rank": verdict.generic_rank,
        "generically_identifiable": verdict.generic_rank == verdict.needed,
        "conditions": [
            {
                "condition": one.name,
                "meaning": one.meaning,
                "holds": one.holds,
                **one.numbers,
                "failing_users": [verdict.users[user] for user in one.users],
            }
            for one in verdict.conditions
        ],
        "sufficient_condition": _decision(verdict.by_order, verdict),
        "conjectured_condition": _decision(verdict.by_rank, verdict),
    }


def _decision(decision: Decision, verdict: Verdict) -> dict[str, Any]:
    """Return an answer, with the comparisons (counted from 1) that prove a yes."""
    facts: dict[str, Any] = {"answer": decision.answer}
    if decision.partition is not None:
        own = (verdict.rows[decision.partition.own] + 1).tolist()
        facts["own"] = [
            {"user": user, "comparisons": rows}
            for user, rows in zip(verdict.users, own, strict=True)
        ]
        facts["metric"] = (verdict.rows[decision.partition.metric] + 1).tolist()
    return facts


def _rows(verdict: Verdict, arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """Return what people want to know."""
    asked = verdict.asked
    rank = f"rank {verdict.rank} of {verdict.needed}"
    rows = [
        (
            "verdict",
            f"identifiable: exact answers would leave one metric and one point for each user "
            f"({rank})"
            if verdict.identifiable
            else f"not identifiable: even exact answers would leave something open ({rank})",
        ),
        (
            "data",
            f"{asked.n_users} users, {asked.n_items} items, {asked.dimension} features, "
            f"{len(asked)} comparisons",
        ),
    ]
    rows += [("missing", text) for text in _first(verdict.missing)]
    rows += _open(verdict.undetermined)
    if not verdict.identifiable and (verdict.users_short or verdict.crowd_short):
        rows.append(
            (
                "remedy",
                f"crowdmetric design --items {arguments.items} --complete "
                f"{arguments.comparisons} --out more.csv writes the fewest questions that are "
                "missing",
            )
        )
    for one in verdict.conditions:
        name = "enough" if one.name == "count" else f"({one.name})"
        holds = "holds" if one.holds else "FAILS"
        rows.append((name, f"{holds}: {one.meaning} {_counted(one.numbers)}"))
    return [*rows, *_about_almost_all_items(verdict)]


def _first(sentences: tuple[str, ...]) -> list[str]:
    """Return the first of many sentences, and how many more there are."""
    left = len(sentences) - _REASONS
    more = [f"... and {left} more; --json has them all"] if left > 0 else []
    return [*sentences[:_REASONS], *more]


def _open(ways: tuple[str, ...]) -> list[tuple[str, str]]:
    """Say in which ways the metric may change, or how many ways there are."""
    if len(ways) <= _WAYS:
        return [("open", f"the metric may change in {way}, without a trace") for way in ways]
    return [
        ("open", f"the metric may change in {len(ways)} ways without a trace; --json has them all")
    ]


def _counted(numbers: dict[str, int]) -> str:
    """Return numbers with their names."""
    named = (f"{name.replace('_', ' ')} {value}" for name, value in numbers.items())
    return f"({', '.join(named)})"


def _about_almost_all_items(verdict: Verdict) -> list[tuple[str, str]]:
    """Say what the same questions would do for other items."""
    if verdict.generic_rank == verdict.needed:
        text = "the same questions about almost any other items would do (proved)"
    else:
        text = (
            f"the same questions would do for no items, whatever their features (rank "
            f"{verdict.generic_rank} at most, wrong with a probability below 1e-12)"
        )
    words = {
        "yes": "yes, here is the partition: see --json",
        "no": "no",
        "undecided": "undecided: a long search found no partition, but did not try all",
    }
    return [
        ("in general", text),
        ("sufficient", f"the paper's sufficient condition: {words[verdict.by_order.answer]}"),
        ("conjectured", f"its conjectured condition: {words[verdict.by_rank.answer]}"),
    ]
