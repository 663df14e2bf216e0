"""``crowdmetric rank``: a user's favourites."""

from __future__ import annotations

import argparse

from crowdmetric.cli.options import NO_SUCH_USER, add_model, add_new_items, new_items
from crowdmetric.cli.output import about, print_json
from crowdmetric.cli.parser import Parser, count

__all__ = ["add", "run"]


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command("rank", run, "list items in the order in which a user prefers them")
    add_model(command)
    command.add_argument("--user", required=True, metavar="U", help="the user's id")
    command.add_argument("--top", type=count, metavar="N", help="how many (default: all)")
    command.add_argument(
        "--exclude", nargs="+", default=(), metavar="ITEM", help="ids of items to leave out"
    )
    add_new_items(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    """Score the items, and print the best first."""
    from crowdmetric.storage import load

    model = load(arguments.model)
    with about(arguments.model):
        user = model.known_users.find(arguments.user, NO_SUCH_USER)
    items = new_items(arguments, model)
    with about(arguments.model if items is None else arguments.items):
        known = (model.items if items is None else items).known_ids
        exclude = [known.find(name, "leave it out of --exclude") for name in arguments.exclude]
    ranked = model.rank_items(user, items, exclude, arguments.top)
    if arguments.json:
        listed = [{"item": name, "score": score} for name, score in ranked]
        print_json({"user": user, "items": listed})
        return
    places, width = len(str(len(ranked))), max((len(str(name)) for name, _ in ranked), default=0)
    for place, (name, score) in enumerate(ranked, start=1):
        print(f"{place:>{places}}  {name!s:<{width}}  {score:.6g}")
