"""``crowdmetric bench``: our solvers beside general-purpose ones."""

from __future__ import annotations

import argparse
import sys

from crowdmetric.cli.output import print_json
from crowdmetric.cli.parser import Parser, count

__all__ = ["add", "run"]

_BENCHES = """\
benchmarks:
  paper      one fit of each kind, of the paper's sizes: our solver beside general-purpose ones,
             with everybody's time, risk, feasibility and certified gap
  reproduce  all fits of the paper's experiments: what they cost here, and what they would cost
             with the solvers that the paper used
  scale      one pass over the answers (margins and gradient): its time by number of answers,
             features and threads, beside NumPy
  identify   the rank of a crowd's linear system, and of a selection matrix with a million rows,
             beside dense and sparse algebra (two minutes)
  report     the report of 1,000 users and 100,000 answers: its time and its size
  bootstrap  what 200 refits for intervals cost, in single fits
  coverage   how often intervals hold the truth, over simulated crowds
  trust      what choosing a radius costs, in single fits

paper and reproduce need the libraries of the extra "bench"."""


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command(
        "bench",
        run,
        "time our solvers beside general-purpose ones, on the same problems",
        epilog=_BENCHES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="one or more of these (default: paper)",
    )
    command.add_argument(
        "--seeds", type=count, default=5, metavar="N", help="crowds per problem (default 5)"
    )
    command.add_argument(
        "--quick", action="store_true", help="small crowds, to try it out: the times say nothing"
    )
    command.add_argument(
        "--json", action="store_true", help="print one JSON object; the tables go to standard error"
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the benchmarks, and print their tables as they come."""
    from crowdmetric.bench import run as run_benchmarks

    stream = sys.stderr if arguments.json else sys.stdout
    rows = run_benchmarks(arguments.names, arguments.seeds, stream, quick=arguments.quick)
    if arguments.json:
        print_json({"rows": rows})
