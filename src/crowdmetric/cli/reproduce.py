"""``crowdmetric reproduce``: the paper's experiments and figures, and its conjecture."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path

from crowdmetric.cli.output import complain
from crowdmetric.cli.parser import Parser, count, whole
from crowdmetric.cli.progress import UnitsLine
from crowdmetric.errors import SettingError

__all__ = ["add", "run"]

_COLOUR_FILE = "CPdata.mat"
_CONJECTURE = "conjecture"
_RICHER = "richer"


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command(
        "reproduce", run, "run the paper's experiments, draw its figures and check its claims"
    )
    command.add_argument(
        "figures",
        nargs="*",
        metavar="FIGURE",
        help="figures to draw, by name or by what their names begin with, such as normal-highLow "
        "or color-test; only what they need is run (default: everything); or conjecture, to test "
        "the paper's conjecture on questions that determine everything; or richer, to compare "
        "kernel features with the paper's on the colours",
    )
    command.add_argument(
        "--quick",
        action="store_true",
        help="3 trials at a few sizes: about a minute; 5,000 instances of the conjecture",
    )
    command.add_argument(
        "--trials",
        type=count,
        metavar="N",
        help="trials per experiment (default 30; quick: 3), or instances of the conjecture "
        "(default 100000), or splits of each kind (richer: 5; quick: 1)",
    )
    command.add_argument(
        "--seed", type=whole, default=0, metavar="S", help="root of all seeds (default 0)"
    )
    command.add_argument(
        "--out",
        default="reproduction",
        metavar="DIR",
        help="folder for tables and figures; a run that was stopped goes on from there (default "
        "reproduction)",
    )
    command.add_argument(
        "--workers", type=count, metavar="N", help="processes (default: one per processor)"
    )
    command.add_argument(
        "--colour-data", metavar="PATH", help=f"the colour preferences, {_COLOUR_FILE}"
    )
    command.add_argument(
        "--fetch-colour",
        action="store_true",
        help="download the colour preferences from the public home of the paper's code into DIR; "
        "they have no licence, so this is for your own use",
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the experiments or test the conjecture, and print what came of it."""
    special = {_CONJECTURE: _test_conjecture, _RICHER: _compare_richer}
    named = [name for name in arguments.figures if name in special]
    if not named:
        _run_experiments(arguments)
        return
    if len(arguments.figures) > 1:
        raise SettingError(
            f"{named[0]} has trials of its own, other than those of the figures; give it a command "
            "of its own"
        )
    special[named[0]](arguments)


def _compare_richer(arguments: argparse.Namespace) -> None:
    """Compare kernel features with the paper's on the colours."""
    from crowdmetric.paper.richer_table import run_richer, table
    from crowdmetric.units import default_workers

    folder = Path(arguments.out)
    data = _colour_data(arguments, folder)
    if data is None:
        raise SettingError(
            f"{_RICHER} is about the colour data; give --colour-data PATH, or --fetch-colour"
        )
    trials = arguments.trials or (1 if arguments.quick else 5)
    workers = arguments.workers or default_workers()
    with _progress() as progress:
        results = run_richer(data, trials, arguments.seed, folder, workers, progress)
    print(table(results))
    print(f"\nall that was measured is in {folder / 'richer.parquet'}")


def _test_conjecture(arguments: argparse.Namespace) -> None:
    """Run random instances of the conjecture, and count."""
    from crowdmetric.identify.conjecture import run_conjecture
    from crowdmetric.units import default_workers

    instances = arguments.trials or (5_000 if arguments.quick else 100_000)
    folder = Path(arguments.out)
    with _progress() as progress:
        outcome = run_conjecture(
            folder, instances, arguments.workers or default_workers(), arguments.seed, progress
        )
    print(outcome.summary())
    print(f"the counts by number of features, users and items are in {folder / 'conjecture.csv'}")
    if outcome.counterexamples:
        print(f"the counterexamples are in {folder}: please report them, they would be news")


def _run_experiments(arguments: argparse.Namespace) -> None:
    """Run the experiments and print what came of the claims."""
    from crowdmetric.paper.experiments import full_plan, quick_plan
    from crowdmetric.paper.figures import choose
    from crowdmetric.paper.reproduce import reproduce
    from crowdmetric.units import default_workers

    figures = choose(arguments.figures)
    folder = Path(arguments.out)
    data = _colour_data(arguments, folder)
    make = quick_plan if arguments.quick else full_plan
    trials = {} if arguments.trials is None else {"trials": arguments.trials}
    plan = make(data, seed=arguments.seed, **trials).only(figure.needs for figure in figures)
    there = {experiment.name for experiment in plan.experiments}
    skipped = [figure.name for figure in figures if figure.needs not in there]
    if skipped:
        complain(
            f"note: left out for want of the colour data: {', '.join(skipped)}; give "
            "--colour-data PATH, or --fetch-colour"
        )
    workers = arguments.workers or default_workers()
    with _progress() as progress:
        made = reproduce(plan, figures, folder, workers, progress)
    print(made.summary())
    print(f"\n{len(made.figures)} pictures, results.parquet, certificates.csv and claims.md are in")
    print(f"{folder}")


@contextlib.contextmanager
def _progress() -> Iterator[UnitsLine]:
    """Show how far the units have come; if they are interrupted, say that nothing is lost."""
    line = UnitsLine()
    try:
        yield line
    except KeyboardInterrupt:
        line.close()
        complain("note: what is finished is kept; the same command goes on from there")
        raise
    finally:
        line.close()


def _colour_data(arguments: argparse.Namespace, folder: Path) -> str | None:
    """Return where the colour data is, if it is to be used."""
    from crowdmetric.files import check_folder
    from crowdmetric.paper.colour_data import fetch, read_colours

    if arguments.fetch_colour and arguments.colour_data:
        raise SettingError("--colour-data and --fetch-colour exclude each other; give one of them")
    if arguments.fetch_colour:
        check_folder(folder)
        return str(fetch(folder / _COLOUR_FILE))
    if arguments.colour_data:
        read_colours(arguments.colour_data)
        return str(arguments.colour_data)
    return None
