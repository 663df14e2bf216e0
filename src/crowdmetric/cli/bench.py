"""``crowdmetric bench``: our solvers beside general-purpose ones."""

from __future__ import annotations

import argparse
import sys

from crowdmetric.cli.output import print_json
from crowdmetric.cli.parser import Parser, count

__all__ = ["add", "run"]


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command(
        "bench", run, "time our solvers beside general-purpose ones, on the same problems"
    )
    command.add_argument(
        "names", nargs="*", metavar="NAME", help="paper, reproduce or scale (default: paper)"
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
