"""``crowdmetric uncertainty``: what the answers leave open about a model."""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdmetric.cli.options import add_model
from crowdmetric.cli.output import about, complain, print_json, print_table
from crowdmetric.cli.parser import Parser, count, share, whole
from crowdmetric.cli.progress import UnitsLine

if TYPE_CHECKING:
    from crowdmetric.trust import Interval, Uncertainty

__all__ = ["add", "run"]

_MOST_LINES = 20  # of features, for people; --json and the tables have all
_TOP = 3
_EXAMPLES = """\
examples:
  crowdmetric uncertainty crowd.model comparisons.csv
  crowdmetric uncertainty crowd.model comparisons.csv --over people --resamples 1000"""


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command(
        "uncertainty",
        run,
        "say how far the truth may be from a model, by refitting it to resamples of its answers",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model(command)
    command.add_argument(
        "comparisons", metavar="COMPARISONS", help="file of the answers that it was fitted to"
    )
    command.add_argument(
        "--resamples", type=count, default=200, metavar="N", help="how many (default 200)"
    )
    command.add_argument(
        "--over",
        choices=("answers", "people"),
        default="answers",
        help="draw each person's answers again, for intervals about these people (default), or "
        "whole people too, for intervals about the metric of all people like them",
    )
    command.add_argument(
        "--level",
        type=share,
        default=0.9,
        metavar="P",
        help="how probable each interval shall be to hold the truth (default 90%%)",
    )
    command.add_argument(
        "--seed", type=whole, default=0, metavar="S", help="same seed, same intervals (default 0)"
    )
    command.add_argument(
        "--workers", type=count, metavar="N", help="processes (default: one per processor)"
    )
    command.add_argument(
        "--out",
        default="uncertainty",
        metavar="DIR",
        help="folder for tables and pictures; a run that was stopped goes on from there "
        "(default uncertainty)",
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    """Resample, and say what is left open."""
    from crowdmetric.files import check_folder
    from crowdmetric.readers import read_comparisons
    from crowdmetric.storage import load
    from crowdmetric.trust import bootstrap
    from crowdmetric.trust.bootstrap_pictures import draw_pictures
    from crowdmetric.trust.bootstrap_tables import write_tables
    from crowdmetric.units import default_workers

    begun = time.perf_counter()
    model = load(arguments.model)
    comparisons = read_comparisons(arguments.comparisons, model.items, model.users)
    folder = Path(arguments.out)
    check_folder(folder)
    progress = UnitsLine("resamples")
    try:
        with about(arguments.comparisons):
            found = bootstrap(
                model,
                comparisons,
                arguments.resamples,
                over=arguments.over,
                level=arguments.level,
                seed=arguments.seed,
                workers=arguments.workers or default_workers(),
                folder=folder / "units",
                progress=progress,
            )
    except KeyboardInterrupt:
        progress.close()
        complain("note: what is finished is kept; the same command goes on from there")
        raise
    finally:
        progress.close()
    files = [*write_tables(found, folder), *draw_pictures(found, folder)]
    if arguments.json:
        facts = _facts(found) | {"files": [str(path) for path in files]}
        print_json(facts | {"seconds": time.perf_counter() - begun})
        return
    for note in found.notes:
        complain(f"note: {note}")
    _print(found)
    print(f"\n{folder} has {', '.join(path.name for path in files)}")


def _facts(found: Uncertainty) -> dict[str, Any]:
    """Return what scripts want to know."""
    from crowdmetric.trust.bootstrap_tables import crowd_rows, people_rows

    return {
        "resamples": len(found.draws),
        "over": found.over,
        "level": found.level,
        "crowd": crowd_rows(found),
        "people": people_rows(found),
        "favourites": _favourites(found),
        "directions": int(found.directions.shape[1]),
        "notes": found.notes,
    }


def _favourites(found: Uncertainty) -> list[dict[str, Any]]:
    """Return for each user the items that are most probably among the best three."""
    top, ids = found.top(_TOP), found.model.items.ids
    return [
        {"user": user, "item": ids[i], f"top_{_TOP}": float(row[i])}
        for user, row in zip(found.model.users, top, strict=True)
        for i in (-row).argsort(kind="stable")[:_TOP].tolist()
    ]


def _print(found: Uncertainty) -> None:
    """Print the crowd's part."""
    from crowdmetric.worth import names_of_features

    values = found.eigenvalues
    rows = [
        ("resamples", f"{len(found.draws)} over {found.over}"),
        ("accuracy", f"{_written(found.accuracy, '.1%')} of new answers like these"),
        (
            "metric",
            f"{found.directions.shape[1]} of {found.model.dimension} directions surely count; "
            f"the largest eigenvalue is {_written(values[0], '.3g')}",
        ),
    ]
    print_table(rows)
    print(f"\nWhat each feature is worth, with {found.level:.0%} intervals.\n")
    names, worth = names_of_features(found.model.items.names, len(values.fit)), found.features
    order = (-worth.estimate).argsort(kind="stable").tolist()
    print_table([(f"  {names[j]}", _written(worth[j], ".1%")) for j in order[:_MOST_LINES]])
    if len(order) > _MOST_LINES:
        print(f"  and {len(order) - _MOST_LINES} more (intervals.csv has them all)")


def _written(one: Interval, form: str) -> str:
    """Write an estimate with its interval."""
    if not math.isfinite(float(one.low)):
        return "unknown"
    low, high = (format(float(end), form) for end in (one.low, one.high))
    return f"{format(float(one.estimate), form)} ({low} to {high})"
