"""``crowdmetric reproduce``: the paper's experiments and figures."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from crowdmetric.cli.output import complain
from crowdmetric.cli.parser import Parser, count, whole
from crowdmetric.errors import SettingError

__all__ = ["add", "run"]

_COLOUR_FILE = "CPdata.mat"


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
        "or color-test; only what they need is run (default: everything)",
    )
    command.add_argument(
        "--quick", action="store_true", help="3 trials at a few sizes: about a minute"
    )
    command.add_argument(
        "--trials", type=count, metavar="N", help="trials per experiment (default 30; quick: 3)"
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
    """Run the experiments and print what came of the claims."""
    from crowdmetric.paper.experiments import full_plan, quick_plan
    from crowdmetric.paper.figures import choose
    from crowdmetric.paper.reproduce import reproduce
    from crowdmetric.paper.units import default_workers

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
    progress = _ProgressLine()
    workers = arguments.workers or default_workers()
    try:
        made = reproduce(plan, figures, folder, workers, progress)
    except KeyboardInterrupt:
        progress.close()
        complain("note: what is finished is kept; the same command goes on from there")
        raise
    finally:
        progress.close()
    print(made.summary())
    print(f"\n{len(made.figures)} pictures, results.parquet, certificates.csv and claims.md are in")
    print(f"{folder}")


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


class _ProgressLine:
    """One line of progress on standard error, with an estimate of the time left."""

    def __init__(self) -> None:
        """Start the clock."""
        self._begun = time.monotonic()
        self._width = 0

    def __call__(self, done: int, total: int) -> None:
        """Update the line."""
        left = (time.monotonic() - self._begun) / done * (total - done)
        text = f"{done} of {total} units done, about {_duration(left)} left"
        terminal = sys.stderr.isatty()
        sys.stderr.write(f"\r{text.ljust(self._width)}" if terminal else f"{text}\n")
        sys.stderr.flush()
        self._width = len(text) if terminal else 0

    def close(self) -> None:
        """End the line."""
        if self._width:
            sys.stderr.write("\n")
            self._width = 0


def _duration(seconds: float) -> str:
    """Return a time in words."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
