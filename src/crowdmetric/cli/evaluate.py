"""``crowdmetric evaluate``: how well a model predicts answers it has not seen."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from crowdmetric.cli.options import add_model, add_new_items, new_items
from crowdmetric.cli.output import print_json, print_table
from crowdmetric.cli.parser import Parser

if TYPE_CHECKING:
    from crowdmetric.comparisons import Comparisons, Items
    from crowdmetric.model import Model

__all__ = ["add", "run"]


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command("evaluate", run, "measure how well a model predicts given answers")
    add_model(command)
    command.add_argument("comparisons", metavar="COMPARISONS", help="file of answers")
    add_new_items(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    """Read the answers, and compare them with the model's."""
    from crowdmetric.readers import read_comparisons
    from crowdmetric.storage import load

    model = load(arguments.model)
    items = new_items(arguments, model)
    table = model.items if items is None else items
    comparisons = read_comparisons(arguments.comparisons, table, model.users)
    facts = _facts(model, comparisons, items)
    if arguments.json:
        print_json(facts)
        return
    loss = facts["log_loss"]
    print_table(
        [
            ("answers", str(facts["comparisons"])),
            ("accuracy", f"{facts['accuracy']:.1%} of the answers are predicted"),
            ("worst user", f"{facts['worst_user_accuracy']:.1%} ({facts['worst_user']})"),
            (
                "log-loss",
                f"none: the loss {model.loss.name!r} gives no probabilities"
                if loss is None
                else f"{loss:.4f} (0.6931 is guessing)",
            ),
        ]
    )


def _facts(model: Model, comparisons: Comparisons, items: Items | None) -> dict[str, Any]:
    """Return what scripts want to know."""
    import numpy as np

    from crowdmetric.losses import Link
    from crowdmetric.metrics import accuracy, accuracy_by_user, log_loss

    margins = model.margins(comparisons, items)
    response, weight = comparisons.response, comparisons.weight
    loss = None
    if isinstance(model.loss, Link):
        loss = log_loss(model.probabilities(margins)[:, 0], response, weight)
    of_users = accuracy_by_user(margins, response, comparisons.user, weight)
    worst = int(np.nanargmin(of_users))
    return {
        "accuracy": accuracy(margins, response, weight),
        "log_loss": loss,
        "worst_user_accuracy": float(of_users[worst]),
        "comparisons": len(comparisons),
        "worst_user": comparisons.users[worst],
    }
