"""The documentation keeps up: links lead somewhere, every option and every module is named."""

from __future__ import annotations

import importlib
import inspect
import re
import runpy
from pathlib import Path

import pytest

import crowdmetric

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    broken = [link for link in LINK.findall(text) if not (page.parent / link).exists()]
    assert not broken, f"{page.name} links to what is not there: {', '.join(broken)}"


def test_every_page_can_be_reached():
    linked = {
        (page.parent / link).resolve()
        for page in PAGES
        for link in LINK.findall(page.read_text(encoding="utf-8"))
    }
    lost = set(PAGES) - linked - {ROOT / "README.md"}
    assert not lost, f"no page links to {', '.join(sorted(page.name for page in lost))}"


def test_the_command_line_is_documented_as_it_is():
    script = runpy.run_path(str(ROOT / "docs" / "command_line.py"))
    page = script["PAGE"].read_text(encoding="utf-8")
    assert page == script["page"](), "docs/command-line.md is out of date; run: make docs"


def test_the_map_names_every_module():
    package = Path(crowdmetric.__file__).parent
    modules = {path.stem for path in package.iterdir() if path.suffix == ".py"}
    modules |= {path.parent.name for path in package.glob("*/__init__.py")}
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(\w+)` \|", contributing, re.MULTILINE))
    assert named == modules - {"__init__", "__main__"}


def test_the_changelog_starts_with_this_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\S+)", changelog, re.MULTILINE)
    assert versions[0] == crowdmetric.__version__


@pytest.mark.parametrize(
    "module",
    ["", ".losses", ".regions", ".features", ".certificate", ".problem", ".solver", ".splits",
     ".metrics", ".plots", ".simulation", ".comparisons", ".readers", ".model", ".estimator",
     ".planning", ".identify", ".trust"],
)  # fmt: skip
def test_what_users_import_has_an_example(module):
    room = importlib.import_module(f"crowdmetric{module}")
    for name in room.__all__:
        thing = getattr(room, name)
        if inspect.isfunction(thing) or inspect.isclass(thing):
            is_protocol = getattr(thing, "_is_protocol", False)  # nothing that could be run
            assert is_protocol or ">>>" in (inspect.getdoc(thing) or ""), name
