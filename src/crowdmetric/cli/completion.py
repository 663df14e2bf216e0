"""``crowdmetric completion``: the Tab key in a shell."""

from __future__ import annotations

import argparse

from crowdmetric.cli.parser import Parser, one_of
from crowdmetric.errors import MissingExtraError

__all__ = ["add", "answer", "run"]

_SHELLS = ("bash", "zsh", "fish")
_USES = """\
bash:  eval "$(crowdmetric completion bash)"           in ~/.bashrc
zsh:   eval "$(crowdmetric completion zsh)"            in ~/.zshrc
fish:  crowdmetric completion fish | source            in ~/.config/fish/config.fish"""


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command(
        "completion",
        run,
        "print what makes the Tab key complete commands and options",
        epilog=_USES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "shell", type=one_of(_SHELLS), choices=_SHELLS, help="the shell to print it for"
    )


def run(arguments: argparse.Namespace) -> None:
    """Print the shell's code."""
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        raise _missing() from None
    print(shellcode(["crowdmetric"], shell=arguments.shell))


def answer(parser: Parser) -> None:
    """Answer the shell that asks what could come next, and exit."""
    try:
        from argcomplete import autocomplete
    except ImportError:
        raise _missing() from None
    autocomplete(parser)


def _missing() -> MissingExtraError:
    """Return the error for a library that is not installed."""
    return MissingExtraError("completion needs argcomplete", "completion")
