"""Arguments to values; what is wrong with them in one line, with the nearest right word."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from crowdmetric import __version__
from crowdmetric.errors import did_you_mean

__all__ = [
    "Parser",
    "ShowVersion",
    "UsageError",
    "count",
    "number",
    "one_of",
    "positive",
    "share",
    "whole",
]


class UsageError(Exception):
    """Wrong usage: the message is all that is to be printed."""


class Parser(argparse.ArgumentParser):
    """A parser that ends with one line instead of its whole usage, and knows near misses.

    Examples
    --------
    >>> parser = Parser(prog="cook")
    >>> _ = parser.add_argument("--salt", type=positive)
    >>> parser.refuse_unknown(["--sal=3"])
    Traceback (most recent call last):
    crowdmetric.cli.parser.UsageError: cook: error: there is no option --sal; did you mean
    '--salt'? (see cook --help)
    """

    def __init__(self, **settings: Any) -> None:
        """Take the settings of argparse; options must be written out."""
        self.options: list[str] = []
        self.commands: dict[str, Parser] = {}
        self._group: Any = None
        super().__init__(allow_abbrev=False, **settings)

    def add_argument(self, *names: str, **settings: Any) -> argparse.Action:
        """Add an argument, as in argparse."""
        action = super().add_argument(*names, **settings)
        self.options += action.option_strings
        return action

    def command(
        self, name: str, run: Callable[[argparse.Namespace], None], summary: str, **settings: Any
    ) -> Parser:
        """Add a command.

        Parameters
        ----------
        name : str
            What the user types.
        run : callable
            What to call with the parsed arguments.
        summary : str
            One line about it.
        **settings
            Further settings of its parser.

        Returns
        -------
        Parser
            Its parser, to which its arguments can be added.

        Examples
        --------
        >>> parser = Parser(prog="cook")
        >>> _ = parser.command("soup", print, "boil water")
        >>> parser.parse_args(["soup"]).run is print
        True
        """
        if self._group is None:
            self._group = self.add_subparsers(
                title="commands", metavar="COMMAND", dest="command", required=True
            )
        description = f"{summary[0].upper()}{summary[1:]}."
        parser = self._group.add_parser(name, help=summary, description=description, **settings)
        assert isinstance(parser, Parser)
        parser.set_defaults(run=run)
        self.commands[name] = parser
        return parser

    def refuse_unknown(self, words: Sequence[str]) -> None:
        """Refuse an unknown command or option before anything else is looked at.

        Parameters
        ----------
        words : sequence of str
            The arguments.
        """
        for position, word in enumerate(words):
            if word == "--":
                return
            if word.startswith("--"):
                name = word.partition("=")[0]
                if name not in self.options:
                    self.error(f"there is no option {name}{did_you_mean(name, self.options)}")
            elif self.commands and not word.startswith("-"):
                if word not in self.commands:
                    self.error(f"there is no command {word!r}{did_you_mean(word, self.commands)}")
                self.commands[word].refuse_unknown(words[position + 1 :])
                return

    def error(self, message: str) -> NoReturn:
        """Raise a `UsageError` of one line."""
        line = " ".join(f"{self.prog}: error: {message}".split())
        raise UsageError(f"{line} (see {self.prog} --help)")


class ShowVersion(argparse.Action):
    """Print the version."""

    def __init__(self, option_strings: Sequence[str], dest: str, **settings: Any) -> None:
        """Take no value."""
        super().__init__(option_strings, dest, nargs=0, **settings)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print and exit."""
        print(parser.prog, __version__)
        parser.exit()


def one_of(names: Sequence[str]) -> Callable[[str], str]:
    """Return a parser of one of some words.

    Parameters
    ----------
    names : sequence of str
        The words.

    Returns
    -------
    callable
        From text to the word.

    Examples
    --------
    >>> one_of(["red", "blue"])("rad")
    Traceback (most recent call last):
    argparse.ArgumentTypeError: 'rad' is none of red, blue; did you mean 'red'?
    """

    def parse(text: str) -> str:
        if text in names:
            return text
        raise argparse.ArgumentTypeError(
            f"{text!r} is none of {', '.join(names)}{did_you_mean(text, names)}"
        )

    return parse


def number(text: str) -> float:
    """Parse a number.

    Parameters
    ----------
    text : str
        What the user typed.

    Returns
    -------
    float
        Any, also infinite or not a number: who uses it knows what makes sense.

    Examples
    --------
    >>> number("-1")
    -1.0
    """
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number; give one") from None


def positive(text: str) -> float:
    """Parse a number above zero.

    Parameters
    ----------
    text : str
        What the user typed.

    Returns
    -------
    float
        Finite and positive.

    Examples
    --------
    >>> positive("1e-6")
    1e-06
    """
    value = number(text)
    if 0 < value < math.inf:
        return value
    raise argparse.ArgumentTypeError(f"{text!r} is not usable; give a finite number above 0")


def share(text: str) -> float:
    """Parse a share: a number from 0 to 1, or a percentage.

    Parameters
    ----------
    text : str
        What the user typed.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> share("95%"), share("0.2")
    (0.95, 0.2)
    >>> share("95")
    Traceback (most recent call last):
    argparse.ArgumentTypeError: '95' is not usable; write a share as 95% or as 0.95
    """
    part = text.strip().removesuffix("%")
    value = number(part) / (1.0 if part == text.strip() else 100.0)
    if 0 <= value <= 1:
        return value
    raise argparse.ArgumentTypeError(f"{text!r} is not usable; write a share as 95% or as 0.95")


def count(text: str) -> int:
    """Parse a whole number, 1 or more.

    Parameters
    ----------
    text : str
        What the user typed.

    Returns
    -------
    int
        Positive.

    Examples
    --------
    >>> count("3")
    3
    """
    return _integer(text, 1)


def whole(text: str) -> int:
    """Parse a whole number, 0 or more.

    Parameters
    ----------
    text : str
        What the user typed.

    Returns
    -------
    int
        Not negative.

    Examples
    --------
    >>> whole("0")
    0
    """
    return _integer(text, 0)


def _integer(text: str, least: int) -> int:
    """Parse a whole number that is not too small."""
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value >= least:
        return value
    raise argparse.ArgumentTypeError(f"{text!r} is not usable; give a whole number from {least} up")
