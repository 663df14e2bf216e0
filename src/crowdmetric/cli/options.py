"""Arguments that several commands share."""

from __future__ import annotations

import argparse
import contextlib
import os
from typing import TYPE_CHECKING

from crowdmetric.cli.output import about
from crowdmetric.cli.parser import Parser
from crowdmetric.errors import SettingError

if TYPE_CHECKING:
    from crowdmetric.comparisons import Items
    from crowdmetric.model import Model

__all__ = ["NO_SUCH_USER", "add_model", "add_new_items", "new_items", "refuse_input"]

NO_SUCH_USER = "fit again with answers of this user"  # the remedy, if no other id is close


def add_model(command: Parser) -> None:
    """Add the model file."""
    command.add_argument("model", metavar="MODEL", help="file that crowdmetric fit wrote")


def add_new_items(command: Parser) -> None:
    """Add the option for items that the model has not seen."""
    command.add_argument(
        "--items",
        metavar="FILE",
        help="other items, with the columns of the model's (default: the model's own)",
    )


def new_items(arguments: argparse.Namespace, model: Model) -> Items | None:
    """Read the items of ``--items``, and refuse those that the model cannot score."""
    if arguments.items is None:
        return None
    from crowdmetric.readers import read_items

    items = read_items(arguments.items)
    with about(arguments.items):
        model.scores(model.users[:1], items)
    return items


def refuse_input(out: str, *inputs: str | None) -> None:
    """Refuse an ``--out`` that would replace one of the files that the command reads."""
    for path in inputs:
        if path is None:
            continue
        with contextlib.suppress(OSError):  # what is not there is nothing to lose
            if os.path.samefile(out, path):
                raise SettingError(
                    f"--out {out}: this is a file that the command reads; name another to write to"
                )
