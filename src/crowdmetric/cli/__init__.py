# PYTHON_ARGCOMPLETE_OK
"""The command line: parse, call, print.

Results go to standard output; progress, notices and errors to standard error. Nothing heavy is
imported before a command has been chosen, so that ``crowdmetric --help`` is there at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from crowdmetric.cli import (
    audit,
    bench,
    check,
    completion,
    demo,
    design,
    evaluate,
    fit,
    ideal,
    plan,
    predict,
    quality,
    rank,
    report,
    reproduce,
    show,
    simulate,
    uncertainty,
)
from crowdmetric.cli.output import complain
from crowdmetric.cli.parser import Parser, ShowVersion, UsageError
from crowdmetric.errors import CrowdMetricError, SettingError

__all__ = ["build_parser", "main"]

_COMMANDS = (
    demo,
    simulate,
    plan,
    design,
    check,
    quality,
    fit,
    show,
    predict,
    evaluate,
    audit,
    rank,
    ideal,
    report,
    uncertainty,
    reproduce,
    bench,
    completion,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process when not given.

    Returns
    -------
    int
        0: done; 1: the data or the request cannot be served; 2: wrong usage; 130: interrupted.

    Examples
    --------
    >>> main(["--version"])
    crowdmetric ...
    0
    """
    try:
        return _run(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:
        complain("interrupted; no unfinished file was left behind")
        return 130
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    except CrowdMetricError as error:
        complain(f"error: {error}")
        return 2 if isinstance(error, SettingError) else 1
    except OSError as error:
        # Python must not complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # whoever reads has seen enough
            return 0
        complain(f"error: the output cannot be written ({error.strerror}); check where it goes")
        return 1
    except MemoryError:
        complain("error: there is not enough memory; use fewer answers, items or features")
        return 1


def build_parser() -> Parser:
    """Return the parser of the whole command line.

    Returns
    -------
    Parser
        With one parser per command in ``commands``.

    Examples
    --------
    >>> list(build_parser().commands)
    ['demo', 'simulate', 'plan', 'design', 'check', 'quality', 'fit', 'show', 'predict',
     'evaluate', 'audit', 'rank', 'ideal', 'report', 'uncertainty', 'reproduce', 'bench',
     'completion']
    """
    parser = Parser(
        prog="crowdmetric",
        description="One metric for a crowd, and an ideal point for each person, from paired "
        "comparisons; every fit says how far it is from the best possible.",
        epilog="Start with: crowdmetric demo. Each command has its own --help.",
    )
    parser.add_argument("--version", action=ShowVersion, help="print the version and exit")
    for command in _COMMANDS:
        command.add(parser)
    return parser


def _run(argv: list[str]) -> int:
    """Parse, run the command, and make sure that what it printed has arrived."""
    parser = build_parser()
    if "_ARGCOMPLETE" in os.environ:
        completion.answer(parser)
    parser.refuse_unknown(argv)
    try:
        arguments = parser.parse_args(argv)
    except SystemExit:  # after --help and --version
        return 0
    arguments.run(arguments)
    sys.stdout.flush()
    return 0
