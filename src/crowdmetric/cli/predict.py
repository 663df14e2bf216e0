"""``crowdmetric predict``: what each user is expected to answer."""

from __future__ import annotations

import argparse
import csv
import sys

from crowdmetric.cli.options import add_model, add_new_items, new_items, refuse_input
from crowdmetric.cli.parser import Parser

__all__ = ["add", "run"]


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command("predict", run, "predict which of two items each user prefers")
    add_model(command)
    command.add_argument("pairs", metavar="PAIRS", help="file with the columns user, left, right")
    add_new_items(command)
    command.add_argument(
        "--out",
        metavar="FILE",
        help="table to write, its format by the ending (default: CSV on standard output)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Read the pairs, predict, and write a row for each."""
    from crowdmetric.losses import Link
    from crowdmetric.readers import read_pairs, write_table
    from crowdmetric.storage import load

    if arguments.out is not None:
        refuse_input(arguments.out, arguments.model, arguments.pairs, arguments.items)
    model = load(arguments.model)
    items = new_items(arguments, model)
    table = model.items if items is None else items
    pairs = read_pairs(arguments.pairs, table, model.users)
    margins = model.margins(pairs, items)
    columns = {
        "user": [pairs.users[code] for code in pairs.user.tolist()],
        "left": [table.ids[code] for code in pairs.left.tolist()],
        "right": [table.ids[code] for code in pairs.right.tolist()],
        "prediction": ["left" if margin < 0 else "right" for margin in margins.tolist()],
        "margin": margins.tolist(),
    }
    if isinstance(model.loss, Link):
        columns["probability_left"] = model.probabilities(margins)[:, 0].tolist()
    if arguments.out is not None:
        write_table(arguments.out, columns)
        return
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(columns)
    rows.writerows(zip(*columns.values(), strict=True))
