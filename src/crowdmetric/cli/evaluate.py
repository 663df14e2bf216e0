"""``crowdmetric evaluate``: how well a model predicts answers it has not seen."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from crowdmetric.cli.options import add_model, add_new_items, new_items
from crowdmetric.cli.output import print_json, print_table
from crowdmetric.cli.parser import Parser
from crowdmetric.errors import SettingError

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
    command.add_argument(
        "--training",
        metavar="FILE",
        help="what the model was fitted to: baselines are fitted to it, and shown beside the model",
    )
    command.add_argument(
        "--picture",
        metavar="FILE",
        help="draw how far the probabilities can be trusted (.png, .svg or .pdf)",
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    """Read the answers, and compare them with the model's."""
    from crowdmetric.readers import read_comparisons
    from crowdmetric.storage import load

    if arguments.training is not None and arguments.items is not None:
        raise SettingError(
            "--training: baselines without features know nothing of other items; leave out "
            "--items or --training"
        )
    model = load(arguments.model)
    items = new_items(arguments, model)
    table = model.items if items is None else items
    comparisons = read_comparisons(arguments.comparisons, table, model.users)
    facts = _facts(model, comparisons, items)
    if arguments.training is not None:
        training = read_comparisons(arguments.training, model.items, model.users)
        facts["baselines"] = _beside(model, training, comparisons)
    if arguments.picture is not None:
        from crowdmetric import plots

        plots.save(plots.plot_reliability(model, comparisons, items), arguments.picture)
    if arguments.json:
        print_json(facts)
        return
    loss, off = facts["log_loss"], facts["calibration_error"]
    lines = [
        ("answers", str(facts["comparisons"])),
        ("accuracy", f"{facts['accuracy']:.1%} of the answers are predicted"),
        ("worst user", f"{facts['worst_user_accuracy']:.1%} ({facts['worst_user']})"),
    ]
    if loss is None:
        none = f"none: the loss {model.loss.name!r} gives no probabilities"
        lines.append(("log-loss", none))
    else:
        lines.append(("log-loss", f"{loss:.4f} (0.6931 is guessing)"))
        lines.append(("calibration", f"probabilities are off by {off:.1%} on average"))
    print_table([*lines, *map(_said, facts.get("baselines", ()))])


def _facts(model: Model, comparisons: Comparisons, items: Items | None) -> dict[str, Any]:
    """Return what scripts want to know."""
    import numpy as np

    from crowdmetric.losses import Link
    from crowdmetric.metrics import accuracy, accuracy_by_user, log_loss, reliability

    margins = model.margins(comparisons, items)
    response, weight = comparisons.response, comparisons.weight
    loss = off = None
    if isinstance(model.loss, Link):
        left = model.probabilities(margins)[:, 0]
        loss = log_loss(left, response, weight)
        off = reliability(left, response, weight).error
    of_users = accuracy_by_user(margins, response, comparisons.user, weight)
    worst = int(np.nanargmin(of_users))
    return {
        "accuracy": accuracy(margins, response, weight),
        "log_loss": loss,
        "calibration_error": off,
        "worst_user_accuracy": float(of_users[worst]),
        "comparisons": len(comparisons),
        "worst_user": comparisons.users[worst],
    }


def _beside(model: Model, training: Comparisons, comparisons: Comparisons) -> list[dict[str, Any]]:
    """Return how well simple predictors do that have learned from the same answers."""
    from crowdmetric.trust.audit_refit import aligned
    from crowdmetric.trust.audit_rounds import Rounds
    from crowdmetric.trust.baselines_beside import baselines

    rounds = Rounds.unseen(aligned(model, training), aligned(model, comparisons))
    return [
        {
            "name": one.measured.name,
            "accuracy": one.measured.accuracy.value,
            "log_loss": None if one.measured.log_loss is None else one.measured.log_loss.value,
            "gap": one.gap,
        }
        for one in baselines(model, rounds)
    ]


def _said(baseline: dict[str, Any]) -> tuple[str, str]:
    """Say how well a baseline does, and how far it is from the best of its kind."""
    loss = "" if baseline["log_loss"] is None else f", log-loss {baseline['log_loss']:.4f}"
    return baseline[
        "name"
    ], f"{baseline['accuracy']:.1%}{loss} (certified gap {baseline['gap']:.0e})"
