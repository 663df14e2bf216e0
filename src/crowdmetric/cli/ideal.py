"""``crowdmetric ideal``: the item that a user would like best, if it could be made."""

from __future__ import annotations

import argparse
import math

from crowdmetric.cli.options import NO_SUCH_USER, add_model
from crowdmetric.cli.output import about, print_json, print_table
from crowdmetric.cli.parser import Parser
from crowdmetric.errors import SettingError

__all__ = ["add", "run"]


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command(
        "ideal", run, "describe the item that a user would like best, within bounds"
    )
    add_model(command)
    command.add_argument("--user", required=True, metavar="U", help="the user's id")
    command.add_argument(
        "--bounds",
        action="append",
        nargs=3,
        default=[],
        metavar=("FEATURE", "LOW", "HIGH"),
        help="how low and how high a feature may be; repeat it for others (default: the range of "
        "the model's items)",
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    """Search, and print the item beside the best of those that there are."""
    from crowdmetric.comparisons import Items
    from crowdmetric.storage import load

    bounds = {name: (_end(name, low), _end(name, high)) for name, low, high in arguments.bounds}
    model = load(arguments.model)
    with about(arguments.model):
        user = model.known_users.find(arguments.user, NO_SUCH_USER)
    ideal = model.ideal_item(user, bounds=bounds)
    values = list(ideal.values())
    table = Items.from_arrays([values, values], names=ideal)  # no fewer than two
    score = float(model.scores([user], table)[0, 0])
    best, known = model.rank_items(user, top=1)[0]
    if arguments.json:
        found = {"user": user, "ideal": ideal, "score": score}
        print_json(found | {"best_item": best, "best_item_score": known})
        return
    print_table(
        [
            *((name, f"{value:.6g}") for name, value in ideal.items()),
            ("score", f"{score:.6g}"),
            ("best item there is", f"{best}, with a score of {known:.6g} (lower is better)"),
        ]
    )


def _end(name: str, text: str) -> float:
    """Return an end of a range as a number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise SettingError(f"--bounds: {name} needs two numbers, not {text!r}")
    return value
