"""``crowdmetric demo``: from simulated answers to a model, beside the truth."""

from __future__ import annotations

import argparse
from pathlib import Path

from crowdmetric.cli.output import complain
from crowdmetric.cli.parser import Parser, whole
from crowdmetric.files import new_folder

__all__ = ["add", "run"]


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command(
        "demo", run, "simulate a crowd, fit it, and compare the model with the truth"
    )
    command.add_argument(
        "--out",
        default="demo-output",
        metavar="DIR",
        help="folder for data, model and pictures (default demo-output)",
    )
    command.add_argument(
        "--seed", type=whole, default=0, metavar="S", help="same seed, same crowd (default 0)"
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the demo and print its summary."""
    with new_folder(Path(arguments.out)):
        complain("simulating a crowd and fitting it; this takes some seconds")
        from crowdmetric.demo import run_demo

        demo = run_demo(arguments.out, arguments.seed)
    for note in demo.model.notes:
        complain(f"note: {note}")
    print(demo.summary())
