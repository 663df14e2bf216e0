"""``crowdmetric design``: which pairs to ask of whom."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TYPE_CHECKING

from crowdmetric.cli.choices import SCHEMES
from crowdmetric.cli.options import refuse_input
from crowdmetric.cli.output import about, print_json
from crowdmetric.cli.parser import Parser, count, one_of, whole
from crowdmetric.cli.progress import UnitsLine
from crowdmetric.errors import DataError, SettingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from crowdmetric.comparisons import Items
    from crowdmetric.design import Design
    from crowdmetric.losses import Logistic, Probit

__all__ = ["add", "run"]

_QUIET = 2.0  # seconds of work without a line of progress


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command("design", run, "choose which pairs of items to ask of whom")
    command.add_argument(
        "--items", required=True, metavar="FILE", help="items: a column of ids, then features"
    )
    command.add_argument(
        "--users",
        nargs="+",
        metavar="USER",
        help="how many users, who are then called u0, u1, ...; or their names; or a table with a "
        "column user (with --complete: users to be asked beside those who have answered)",
    )
    command.add_argument(
        "--scheme",
        type=one_of(SCHEMES),
        choices=SCHEMES,
        help="the fewest pairs that can determine metric and points, random pairs, or the pairs "
        "whose answers tell most (default minimal)",
    )
    command.add_argument(
        "--pairs",
        type=count,
        metavar="M",
        help="questions per user, for the schemes random and optimal (default: twice as many as "
        "can determine everything)",
    )
    command.add_argument(
        "--guess",
        metavar="MODEL",
        help="for the scheme optimal: a fit of earlier answers, to leave out what is certain by "
        "then; worth having whenever answers are not mere noise (default: all answers count as "
        "even)",
    )
    command.add_argument(
        "--complete",
        metavar="COMPARISONS",
        help="answers that are there already: ask only the fewest pairs that are missing to "
        "determine metric and points",
    )
    command.add_argument(
        "--seed", type=whole, default=0, metavar="S", help="same seed, same design (default 0)"
    )
    command.add_argument(
        "--out", required=True, metavar="FILE", help="table to write, its format by the ending"
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    """Make the design, write it, and say what its answers can determine."""
    from crowdmetric.readers import check_table, read_items

    _check(arguments)
    refuse_input(
        arguments.out,
        arguments.items,
        arguments.complete,
        arguments.guess,
        *(arguments.users or []),
    )
    check_table(arguments.out)
    items = read_items(arguments.items)
    started = time.monotonic()
    design, worth = _made(arguments, items)
    facts = _facts(design, worth, items, arguments)
    facts["seconds"] = time.monotonic() - started
    design.write(arguments.out)
    if arguments.json:
        print_json(facts)
    else:
        print(f"{arguments.out}: {_size(facts)}\n{_verdict(facts)}")


def _check(arguments: argparse.Namespace) -> None:
    """Refuse options that exclude each other, or lack each other."""
    if arguments.complete is None and arguments.users is None:
        raise SettingError("--users is missing: say how many users there are, or name them")
    if arguments.complete is not None and arguments.scheme is not None:
        raise SettingError("--complete and --scheme exclude each other; leave one of them out")
    if arguments.pairs is not None and (arguments.scheme or "minimal") == "minimal":
        raise SettingError(
            "--pairs: only the schemes random and optimal ask as many pairs as they are told; "
            "choose one of them with --scheme"
        )
    if arguments.guess is not None and arguments.scheme != "optimal":
        raise SettingError("--guess: only the scheme optimal takes one; add --scheme optimal")


def _made(arguments: argparse.Namespace, items: Items) -> tuple[Design, float | None]:
    """Return the design that is asked for; of an optimal one, what it is worth beside chance."""
    from crowdmetric.design import complete, minimal_design, random_design
    from crowdmetric.readers import read_comparisons

    seed = arguments.seed
    if arguments.complete is not None:
        collected = read_comparisons(arguments.complete, items)
        more = None if arguments.users is None else _people(arguments.users)
        with about(arguments.items):
            return complete(items, collected, more, seed), None
    users = _people(arguments.users)
    with about(arguments.items):
        if arguments.scheme == "random":
            pairs = _pairs(arguments, items, len(users))
            return random_design(items, users, pairs, seed), None
        if arguments.scheme == "optimal":
            return _optimal(arguments, items, users)
        return minimal_design(items, users, seed), None


def _optimal(
    arguments: argparse.Namespace, items: Items, users: tuple[Hashable, ...]
) -> tuple[Design, float]:
    """Return a D-optimal design and its efficiency, and show how far it has come."""
    from crowdmetric.design import efficiency, optimal_design

    link, guess = _guess(arguments, items, users)
    pairs, line, seed = _pairs(arguments, items, len(users)), UnitsLine("questions"), arguments.seed
    try:
        design = optimal_design(items, users, pairs, link, guess, seed, _seldom(line))
    finally:
        line.close()
    return design, efficiency(items, design, link, guess, seed)


def _guess(
    arguments: argparse.Namespace, items: Items, users: tuple[Hashable, ...]
) -> tuple[Logistic | Probit | None, NDArray[np.float64] | None]:
    """Return the loss of the model of --guess, and each user's scores; the mean for newcomers."""
    if arguments.guess is None:
        return None, None
    import numpy as np

    from crowdmetric.ids import KnownIds
    from crowdmetric.losses import Logistic, Probit
    from crowdmetric.storage import load

    model = load(arguments.guess)
    if not isinstance(model.loss, Logistic | Probit):
        raise SettingError(
            f"--guess {arguments.guess}: the loss {model.loss.name!r} does not say how probable an "
            "answer is; fit with --loss logistic or probit"
        )
    scores = model.scores(items=items)
    rows = np.vstack([scores, scores.mean(axis=0)])
    known = KnownIds(model.users, "user")
    return model.loss, rows[[known.position(user) for user in users]]


def _people(words: list[str]) -> tuple[Hashable, ...]:
    """Return the users: of a number, in a file, or as named."""
    from crowdmetric.design.people import named
    from crowdmetric.readers import ENDINGS, read_users

    word = words[0]
    if len(words) == 1 and word.lstrip("-").isdecimal():
        return named(int(word))
    if len(words) == 1 and (word.lower().endswith(ENDINGS) or Path(word).is_file()):
        return named(read_users(word))
    return named(words)


def _pairs(arguments: argparse.Namespace, items: Items, n_users: int) -> int:
    """Return how many questions each user gets."""
    if arguments.pairs is not None:
        return int(arguments.pairs)
    from crowdmetric.design.items import degrees_of_metric

    enough = items.dimension + math.ceil(degrees_of_metric(items.dimension) / n_users)
    return max(1, min(2 * enough, len(items) * (len(items) - 1) // 2))


def _seldom(line: UnitsLine) -> Callable[[int, int], None]:
    """Return progress that starts late and comes about once a second."""
    due = time.monotonic() + _QUIET

    def progress(done: int, total: int) -> None:
        nonlocal due
        if time.monotonic() >= due:
            line(done, total)
            due = time.monotonic() + 1.0

    return progress


def _facts(
    design: Design, worth: float | None, items: Items, arguments: argparse.Namespace
) -> dict[str, object]:
    """Return what there is to say about a design."""
    per_user = [0] * len(design.users)
    for user in design.user.tolist():
        per_user[user] += 1
    asked = [number for number in per_user if number]
    return {
        "scheme": "complete" if arguments.complete else arguments.scheme or "minimal",
        "questions": len(design),
        "users": len(design.users),
        "users_asked": len(asked),
        "least_per_user": min(asked, default=0),
        "most_per_user": max(asked, default=0),
        "items": len(items),
        "items_used": len({*design.left.tolist(), *design.right.tolist()}),
        "rank": design.certificate.rank,
        "needed": design.certificate.needed,
        "determined": design.certificate.determined,
        "worth_in_random_questions": worth,
        "reason": None if design.certificate.determined else _reason(design, items),
        "out": arguments.out,
    }


def _reason(design: Design, items: Items) -> str:
    """Say why answers leave something open, and what to do."""
    from crowdmetric.design.items import identifying_geometry

    try:
        identifying_geometry(items)
    except DataError as error:
        return str(error)
    needed = design.certificate.needed
    if len(design) < needed:
        return (
            f"{needed} numbers need as many questions; ask each user "
            f"{math.ceil(needed / len(design.users))} or more"
        )
    return "by chance, some of these pairs say the same; ask more of each user, or change the seed"


def _size(facts: dict[str, object]) -> str:
    """Say how much is asked of whom."""
    if not facts["questions"]:
        return "no questions: nothing is missing"
    least, most = facts["least_per_user"], facts["most_per_user"]
    each = f"{least} each" if least == most else f"{least} to {most} each"
    text = (
        f"{facts['questions']} questions to {facts['users_asked']} of {facts['users']} users, "
        f"{each}, about {facts['items_used']} of {facts['items']} items"
    )
    worth = facts["worth_in_random_questions"]
    if isinstance(worth, float) and math.isfinite(worth):
        text += f"; one tells as much as {worth:.1f} random ones"
    return text


def _verdict(facts: dict[str, object]) -> str:
    """Say whether the answers can determine metric and points."""
    rank = f"rank {facts['rank']} of {facts['needed']}"
    if facts["determined"]:
        return (
            f"exact answers would determine the metric and every point ({rank}); answers that "
            "only say left or right estimate them, the better the more there are"
        )
    return (
        f"even exact answers would leave some of the metric and points open ({rank}): "
        f"{facts['reason']}"
    )
