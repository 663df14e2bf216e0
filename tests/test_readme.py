"""The examples in README.md and docs/: what a page tells its reader to run is run, in order.

Each page gets a folder of its own, with the files of a simulated crowd unless the page makes those
of the demo. Its Python blocks share one namespace; blocks with prompts are checked as doctests. Its
shell lines that start with ``crowdmetric`` are run by the command line's own entry point, and
``make demo`` too; ``cd`` is obeyed.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]

FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHELLS = {"bash", "console", "sh", "shell"}
SLOW = {"bench", "plan", "reproduce"}  # minutes long, and tested on their own
MAKE_DEMO = "make demo"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

NEEDS = {"trains.md": "trains_file"}  # real data, which may not be in the repository
CROWD = "simulate --items 20 --dim 3 --rank 1 --users 4 --pairs 60 --noise 4 --seed 0 --out ."


def blocks(text: str) -> list[tuple[str, str, int]]:
    """Return the language, the code and the line of each fenced block."""
    found = FENCE.finditer(text)
    return [(m[1], m[2], text.count("\n", 0, m.start()) + 1) for m in found]


def commands(code: str) -> list[list[str]]:
    """Return the crowdmetric commands in a shell block, the demo that make runs, and each cd."""
    lines = code.replace("\\\n", " ").replace(MAKE_DEMO, "crowdmetric demo").splitlines()
    words = [shlex.split(line.strip().removeprefix("$ "), comments=True) for line in lines]
    return [line for line in words if line[:1] in (["crowdmetric"], ["cd"])]


def run_command(arguments: list[str], where: str) -> None:
    """Run one command, its output kept, or written to a file after ">"."""
    main = importlib.import_module("crowdmetric.cli").main
    output: str | None = None
    if ">" in arguments:
        position = arguments.index(">")
        arguments, output = arguments[:position], arguments[position + 1]
    if "|" in arguments:
        arguments = arguments[: arguments.index("|")]
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            code = main(arguments)
    except SystemExit as end:
        code = end.code
    assert code in (None, 0), f"{where}: crowdmetric {shlex.join(arguments)} ended with {code}"
    if output is not None:
        Path(output).write_text(printed.getvalue(), encoding="utf-8")


def run_python(code: str, namespace: dict[str, object], where: str, line: int) -> None:
    """Run one Python block; one with prompts must also print what it says it prints."""
    if ">>> " not in code:
        padded = "\n" * line + code  # so that a traceback counts the lines of the page
        exec(compile(padded, where, "exec"), namespace)
        return
    test = doctest.DocTestParser().get_doctest(code, {}, where, where, line)
    test.globs = namespace
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
    runner.run(test, out=report.write, clear_globs=False)
    assert not runner.failures, report.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_runs_as_written(page, tmp_path, monkeypatch, request):
    if page.name in NEEDS:
        data = request.getfixturevalue(NEEDS[page.name])
        if data is None:
            pytest.skip(f"{page.name} needs the real data of {NEEDS[page.name]}, not there")
        (tmp_path / data.name).symlink_to(data)
    monkeypatch.chdir(tmp_path)
    examples = blocks(page.read_text(encoding="utf-8"))
    if not any(MAKE_DEMO in code for _, code, _ in examples):
        run_command(CROWD.split(), page.name)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for language, code, line in examples:
        where = f"{page.name}, line {line}"
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                run_python(code, namespace, where, line)
        elif language in SHELLS:
            for program, *arguments in commands(code):
                if program == "cd":
                    monkeypatch.chdir(arguments[0])
                elif arguments and arguments[0] not in SLOW:
                    run_command(arguments, where)


def test_commands_are_found_in_shell_blocks():
    code = "make demo\nls\n$ crowdmetric fit a \\\n  --json > b.json  # fit\ncd demo-output\n"
    assert commands(code) == [
        ["crowdmetric", "demo"],
        ["crowdmetric", "fit", "a", "--json", ">", "b.json"],
        ["cd", "demo-output"],
    ]


def test_blocks_are_found_with_their_lines():
    page = "Text\n\n```python\nx = 1\n```\n\n```\nplain\n```\n\n```console\n$ ls\n```\n"
    assert blocks(page) == [("python", "x = 1\n", 3), ("console", "$ ls\n", 11)]


def test_python_blocks_share_names_and_are_checked():
    namespace: dict[str, object] = {}
    run_python("x = 2\n", namespace, "page", 1)
    run_python(">>> x + 1\n3\n>>> y = 5\n", namespace, "page", 5)
    assert namespace["y"] == 5
    with pytest.raises(AssertionError, match="Expected"):
        run_python(">>> x\n7\n", namespace, "page", 9)
