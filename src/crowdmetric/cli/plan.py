"""``crowdmetric plan``: how many comparisons a study needs."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdmetric.cli.output import about, complain, print_json
from crowdmetric.cli.parser import Parser, count, positive, share, whole
from crowdmetric.cli.progress import UnitsLine
from crowdmetric.errors import SettingError

if TYPE_CHECKING:
    from crowdmetric.planning.study import Study
    from crowdmetric.planning.target import Target

__all__ = ["add", "run"]

_EXAMPLES = """\
examples:
  crowdmetric plan --items items.csv --users 50
  crowdmetric plan --items 40 --dim 3 --users 50 --consistency 75% --metric-error 20%"""

_TARGETS = (
    ("accuracy_share", "prediction accuracy, as a share of the best possible (default 95%%)"),
    ("accuracy", "share of new answers that are predicted"),
    ("metric_error", "largest error of the metric, relative to its size"),
    ("ideal_point_error", "largest error of the ideal points, relative to their size"),
)


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command(
        "plan",
        run,
        "simulate a study that is planned, and say how many comparisons per person it needs",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "--items", required=True, metavar="ITEMS", help="file of features, or a number of items"
    )
    command.add_argument("--users", type=count, required=True, metavar="K", help="number of people")
    _add_assumptions(command)
    for measure, meaning in _TARGETS:
        command.add_argument(_option(measure), type=share, metavar="P", help=f"target: {meaning}")
    _add_simulation(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _add_assumptions(command: Parser) -> None:
    """Add the options that say what is assumed."""
    command.add_argument(
        "--dim", type=count, metavar="D", help="number of features, if --items is a number"
    )
    command.add_argument(
        "--rank", type=count, metavar="R", help="rank of the metric (default: full)"
    )
    command.add_argument(
        "--noise",
        type=positive,
        metavar="B",
        help="beta of the answers: the larger, the fewer are wrong (default 1)",
    )
    command.add_argument(
        "--consistency",
        type=share,
        metavar="P",
        help="instead: how often a person answers the same question the same way, such as 75%%",
    )


def _add_simulation(command: Parser) -> None:
    """Add the options that say what is simulated."""
    command.add_argument(
        "--pairs",
        type=count,
        nargs="+",
        metavar="N",
        help="comparisons per person to try (default: 5, 10, 20, ... 640, or all pairs)",
    )
    command.add_argument(
        "--other-users",
        type=count,
        nargs="+",
        metavar="K",
        help="further numbers of people to try (default: half as many and twice as many)",
    )
    command.add_argument(
        "--quick",
        action="store_true",
        help="fit within the smallest radius that holds the truth instead of choosing one by "
        "cross-validation: for accuracy much the same, for errors too good to be true",
    )
    command.add_argument(
        "--trials", type=count, default=20, metavar="N", help="studies to simulate (default 20)"
    )
    command.add_argument(
        "--seed", type=whole, default=0, metavar="S", help="same seed, same plan (default 0)"
    )
    command.add_argument(
        "--workers", type=count, metavar="N", help="processes (default: one per processor)"
    )
    command.add_argument(
        "--out",
        default="plan",
        metavar="DIR",
        help="folder for tables and pictures; a run that was stopped goes on from there "
        "(default plan)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Simulate, and say what the study needs."""
    begun = time.perf_counter()
    from crowdmetric.planning.pictures import draw_pictures
    from crowdmetric.planning.plan import plan_study
    from crowdmetric.planning.report import summary
    from crowdmetric.planning.tables import write_tables
    from crowdmetric.units import default_workers

    target, study = _target(arguments), _study(arguments)
    others = arguments.other_users or (max(study.users // 2, 1), 2 * study.users)
    folder = Path(arguments.out)
    progress = UnitsLine()
    workers = arguments.workers or default_workers()
    try:
        plan = plan_study(study, target, folder / "units", workers, others, progress)
    except KeyboardInterrupt:
        progress.close()
        complain("note: what is finished is kept; the same command goes on from there")
        raise
    finally:
        progress.close()
    files = [*write_tables(plan, folder), *draw_pictures(plan, folder)]
    if arguments.json:
        written: dict[str, Any] = {"files": [str(path) for path in files]}
        print_json(plan.facts() | written | {"seconds": time.perf_counter() - begun})
        return
    print(summary(plan))
    print(f"\n{folder} has {', '.join(path.name for path in files)}")


def _target(arguments: argparse.Namespace) -> Target:
    """Return what is to be reached."""
    from crowdmetric.planning.target import Target

    values = {measure: getattr(arguments, measure) for measure, _ in _TARGETS}
    given = {measure: value for measure, value in values.items() if value is not None}
    _at_most_one(map(_option, given))
    measure, value = next(iter(given.items()), ("accuracy_share", 0.95))
    return Target(measure, value)


def _option(measure: str) -> str:
    """Return the option for a target."""
    return "--" + measure.replace("_", "-")


def _at_most_one(options: Iterable[str]) -> None:
    """Refuse options that exclude each other."""
    given = list(options)
    if len(given) > 1:
        raise SettingError(f"{' and '.join(given)} exclude each other; give one of them")


def _study(arguments: argparse.Namespace) -> Study:
    """Return what is assumed, and what is to be tried."""
    from crowdmetric.planning.noise import with_consistency
    from crowdmetric.planning.study import Study, default_sizes, with_items
    from crowdmetric.readers import read_items

    noises = {"--noise": arguments.noise, "--consistency": arguments.consistency}
    _at_most_one(option for option, value in noises.items() if value is not None)
    if arguments.items.isdecimal():
        items, n_items, dimension = None, int(arguments.items), arguments.dim
        if dimension is None:
            raise SettingError(f"--items {n_items}: how many features have they? give --dim D")
    else:
        if arguments.dim is not None:
            raise SettingError("--dim: the file of items says how many features there are")
        given = read_items(arguments.items)
        with about(arguments.items):
            items = with_items(given)
        n_items, dimension = len(items), items.dimension
    study = Study(
        n_items,
        dimension,
        arguments.users,
        arguments.rank or dimension,
        arguments.noise or 1.0,
        tuple(sorted(set(arguments.pairs or default_sizes(n_items)))),
        arguments.trials,
        arguments.seed,
        items,
        arguments.quick,
    )
    if arguments.consistency is None:
        return study
    return with_consistency(study, arguments.consistency)
