"""Write the options of every command into docs/command-line.md; ``make docs`` runs this."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from crowdmetric.cli import build_parser

PAGE = Path(__file__).with_name("command-line.md")
MARK = "<!-- What follows is written by `make docs`, from the parser itself. -->\n"


def page() -> str:
    """Return the whole page: what people wrote down to the mark, then the options."""
    written = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    return written + MARK + "".join(_commands())


def _commands() -> Iterator[str]:
    """Yield a section for each command."""
    for name, parser in build_parser().commands.items():
        yield f"\n## {name}\n\n{parser.description}\n\n```text\n{_usage(parser)}\n```\n"
        arguments = list(_arguments(parser))
        if arguments:
            yield "\n| argument | meaning |\n|---|---|\n" + "".join(map(_row, arguments))
        if parser.epilog:
            yield f"\n```text\n{parser.epilog.strip()}\n```\n"


def _arguments(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments in the order in which they were added; --help goes without saying."""
    return (action for action in parser._actions if "--help" not in action.option_strings)


def _usage(parser: argparse.ArgumentParser) -> str:
    """Return what must be typed, and whether there is more."""
    arguments = list(_arguments(parser))
    optional = any(not action.required for action in arguments)
    return " ".join(
        [parser.prog]
        + [_name(action) for action in arguments if action.required]
        + ["[options]" * optional]
    ).rstrip()


def _row(action: argparse.Action) -> str:
    """Return one row of the table."""
    choices = f"; one of {', '.join(map(str, action.choices))}" if action.choices else ""
    meaning = (action.help or "") % vars(action)
    return f"| `{_name(action)}` | {meaning}{choices} |\n"


def _name(action: argparse.Action) -> str:
    """Return an argument as it is typed."""
    value = _value(action)
    if not action.option_strings:
        return value
    names = ", ".join(action.option_strings)
    return f"{names} {value}".rstrip()


def _value(action: argparse.Action) -> str:
    """Return what stands for the value of an argument."""
    if action.nargs == 0:
        return ""
    if isinstance(action.metavar, tuple):
        return f"{action.metavar[0]} " + " ".join(f"[{word}]" for word in action.metavar[1:])
    word = action.metavar or action.dest.upper()
    return {"*": f"[{word} ...]", "+": f"{word} [{word} ...]"}.get(action.nargs, word)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
