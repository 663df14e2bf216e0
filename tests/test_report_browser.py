"""The report in headless Chromium: no errors, no requests, tables that sort, WCAG AA by axe.

Playwright and axe come with the extra ``test``; the browser is one that is installed, or that
Playwright has fetched (``make test`` asks it to). Without one, these tests are skipped.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import crowdmetric as cm
from crowdmetric.report import Study, held_out_margins, learning_curve, write_report

playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SCREENS = {"light": (1100, "light"), "dark": (1100, "dark"), "phone": (380, "light")}
SORTED = """[...document.querySelectorAll("table")].find(
    one => one.caption.textContent.startsWith("People")
)"""


@dataclass
class Opened:
    """A page, and what it complained of or asked for."""

    page: object
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """Return a browser, if there is one."""
    with playwright.sync_playwright() as made:
        own = Path(made.chromium.executable_path)
        installed = next((path for name in BROWSERS if (path := shutil.which(name))), None)
        if not own.exists() and installed is None:
            pytest.skip("no Chromium is installed")
        path = str(own) if own.exists() else installed
        found = made.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """Return a report with all sections, swatches, and names that attack."""
    crowd = cm.simulate(n_items=12, dimension=3, n_users=5, pairs_per_user=40, noise=4.0, seed=2)
    ids = [f"#{20 * k:02x}80{255 - 20 * k:02x}" for k in range(12)]
    items = cm.Items(tuple(ids), crowd.items.features, ("<img src=x>", "b", "c"))
    users = ("<script>alert(1)</script>", "u9", "u10", "Ann", "<b>bob")
    asked = crowd.comparisons
    answers = cm.Comparisons.from_arrays(
        np.column_stack([asked.user, asked.left, asked.right]),
        asked.response,
        users=users,
        item_ids=ids,
    )
    model = cm.CrowdMetric(items, cm.regions.NuclearFull(8.0)).fit(answers).model_
    margins = held_out_margins(model, answers)
    curve = learning_curve(model, answers, margins)
    study = Study.of(model, answers)
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(Study(model, answers, study.looks, held_out=margins, learning=curve), path)
    return path


@pytest.fixture
def opened(browser, report, request) -> Iterator[Opened]:
    """Return the report, opened offline."""
    width, scheme = SCREENS[getattr(request, "param", "light")]
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    found = Opened(page)
    page.on("console", lambda message: found.complaints.append(message.text))
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    page.on("request", lambda asked: found.requests.append(asked.url))
    page.on("dialog", lambda dialog: found.complaints.append(dialog.message))
    page.goto(report.as_uri())
    yield found
    context.close()


@pytest.mark.parametrize("opened", SCREENS, indirect=True)
def test_it_opens_without_errors_requests_or_a_page_that_is_too_wide(opened, report):
    assert opened.complaints == []
    assert opened.requests == [report.as_uri()]
    wide = opened.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0


@pytest.mark.parametrize("opened", SCREENS, indirect=True)
def test_axe_finds_nothing_against_wcag(opened):
    opened.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = axe.Axe().run(opened.page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []


def test_tables_sort_with_the_keyboard(opened):
    page = opened.page
    names = f"[...{SORTED}.tBodies[0].rows].map(row => row.cells[0].textContent)"
    shares = f"[...{SORTED}.tBodies[0].rows].map(row => Number(row.cells[2].dataset.key))"
    first = page.evaluate(shares)
    assert first == sorted(first)
    page.evaluate(f"{SORTED}.tHead.rows[0].cells[0].firstChild.focus()")
    page.keyboard.press("Enter")
    up = page.evaluate(names)
    assert [name for name in up if name.startswith("u")] == ["u9", "u10"]
    page.keyboard.press("Enter")
    assert page.evaluate(names) == up[::-1]
    marks = f"[...{SORTED}.tHead.rows[0].cells].map(cell => cell.getAttribute('aria-sort'))"
    assert [mark for mark in page.evaluate(marks) if mark] == ["descending"]
    assert page.locator("#said").text_content().endswith("sorted by person, descending")
    assert opened.complaints == []


def test_names_appear_at_the_pointer(opened):
    tip, mark = opened.page.locator(".tip"), opened.page.locator(".map path.person").first
    assert not tip.is_visible()
    mark.scroll_into_view_if_needed()
    mark.dispatch_event("pointermove", {"clientX": 50, "clientY": 50, "bubbles": True})
    assert tip.text_content() == "<script>alert(1)</script>, ideal point"
    assert tip.is_visible()


def test_all_is_there_without_scripts(browser, report):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator("button").count() == 0
    assert page.locator("main > section").count() == 8
    context.close()


def test_it_prints(opened):
    assert opened.page.pdf(format="A4").startswith(b"%PDF")
    assert opened.page.evaluate("[...document.querySelectorAll('details')].every(one => one.open)")
