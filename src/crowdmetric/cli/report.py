"""``crowdmetric report``: a model and answers in one file of HTML, to show to others."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdmetric.cli.options import add_model, refuse_input
from crowdmetric.cli.output import about, complain, print_json, print_table
from crowdmetric.cli.parser import Parser
from crowdmetric.cli.progress import UnitsLine
from crowdmetric.files import check_file

if TYPE_CHECKING:
    from crowdmetric.report import Provenance, Study

__all__ = ["add", "run"]

_EXAMPLE = """\
example:
  crowdmetric report crowd.model answers.csv --items items.csv --out report.html

The report is one file that opens offline. If the answers are those the model was fitted to, parts
of them are held out and predicted by fits to the others, so that the accuracy is a fair one. Items
are shown as swatches if their ids read #rrggbb or their features are named L, a, b or r, g, b."""


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command(
        "report",
        run,
        "write all there is to say about a model and answers into one HTML file",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model(command)
    command.add_argument("comparisons", metavar="COMPARISONS", help="file of answers")
    command.add_argument(
        "--items",
        metavar="FILE",
        help="how items look: a column item, and a column image (paths of pictures, from the "
        "folder of this file) or colour (#rrggbb); others are left out",
    )
    command.add_argument(
        "--out", default="report.html", metavar="FILE", help="the report (default report.html)"
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    """Read, hold out, write, and say what came out."""
    begun = time.perf_counter()
    refuse_input(arguments.out, arguments.model, arguments.comparisons, arguments.items)
    check_file(Path(arguments.out), "report")
    from crowdmetric.readers import read_comparisons
    from crowdmetric.report import Looks, Study, read_looks, write_report
    from crowdmetric.storage import load

    model = load(arguments.model)
    comparisons = read_comparisons(arguments.comparisons, model.items, model.users)
    items = arguments.items
    looks = Looks.of(model.items) if items is None else read_looks(items, model.items)
    with about(arguments.comparisons):
        study = _held_out(Study.of(model, comparisons, looks, _provenance(arguments)))
    write_report(study, arguments.out)
    for note in [*model.notes, *looks.notes]:
        complain(f"note: {note}")
    facts = _facts(study, arguments.out)
    facts["seconds"] = time.perf_counter() - begun
    if arguments.json:
        print_json(facts)
    else:
        print_table(_summary(facts))


def _held_out(study: Study) -> Study:
    """Add predictions by fits that have not seen the answers, if the model has."""
    from dataclasses import replace

    from crowdmetric.report import held_out_margins, learning_curve

    if not study.seen:
        return study
    model, answers = study.model, study.comparisons
    with _progress("fits with answers held out") as line:
        margins = held_out_margins(model, answers, progress=line)
    if margins is None:
        return study
    with _progress("fits for the learning curve") as line:
        curve = learning_curve(model, answers, margins, line)
    return replace(study, held_out=margins, learning=curve)


@contextlib.contextmanager
def _progress(what: str) -> Iterator[UnitsLine | None]:
    """Yield a line of progress where somebody watches."""
    line = UnitsLine(what) if sys.stderr.isatty() else None
    try:
        yield line
    finally:
        if line is not None:
            line.close()


def _provenance(arguments: argparse.Namespace) -> Provenance:
    """Return the command as it was meant, its files, and the date."""
    from datetime import UTC, datetime

    from crowdmetric.report.provenance import Provenance, command_line, read_source

    words = ["crowdmetric", "report", arguments.model, arguments.comparisons]
    words += [] if arguments.items is None else ["--items", arguments.items]
    paths = (("model", arguments.model), ("answers", arguments.comparisons))
    sources = [read_source(role, path) for role, path in paths]
    if arguments.items is not None:
        sources.append(read_source("items", arguments.items))
    return Provenance(
        command_line([*words, "--out", arguments.out]),
        tuple(sources),
        datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _facts(study: Study, out: str) -> dict[str, Any]:
    """Return what scripts want to know."""
    from crowdmetric.metrics import accuracy

    answers = study.comparisons
    return {
        "report": out,
        "bytes": Path(out).stat().st_size,
        "comparisons": len(answers),
        "users": len(study.model.users),
        "items": len(study.model.items),
        "seen": study.seen,
        "held_out": study.held_out is not None,
        "accuracy": accuracy(study.judged, answers.response, answers.weight),
    }


def _summary(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what people want to know."""
    if facts["held_out"]:
        which = "held out from fits like the model's"
    else:
        which = "which the model has seen" if facts["seen"] else "which are not those of the fit"
    return [
        ("report", f"{facts['report']} ({facts['bytes'] / 1e6:.2f} MB)"),
        ("accuracy", f"{facts['accuracy']:.1%} of {facts['comparisons']:,} answers, {which}"),
        ("time", f"{facts['seconds']:.1f} s"),
    ]
