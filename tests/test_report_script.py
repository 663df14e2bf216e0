"""The report's script: tables sort, names appear, and what is folded away is printed.

It runs in Node where that is installed, on a document as small as `report_dom.js`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from crowdmetric.report.page import page
from crowdmetric.report.section import Written
from crowdmetric.report.tables import counts, names, percentages, table
from report_parser import Element, parse

NODE = shutil.which("node")
DOM = Path(__file__).with_name("report_dom.js").read_text(encoding="utf-8")
SCRIPT = files("crowdmetric.report").joinpath("script.js").read_text(encoding="utf-8")
START = """
var document = build(%s), window = new Node("window");
window.innerWidth = 800;
%s
function order(at) {
  return document.querySelectorAll("table")[at].tBodies[0].rows.map(function (row) {
    return row.cells[0].textContent;
  });
}
function press(at, column) {
  var header = document.querySelectorAll("table")[at].tHead.rows[0].cells[column];
  header.children[0].dispatch("click");
  return { order: order(at), sort: document.querySelectorAll("th").map(function (one) {
    return one.getAttribute("aria-sort");
  }), said: document.getElementById("said").textContent };
}
"""

pytestmark = pytest.mark.skipif(NODE is None, reason="Node is not installed, to run scripts with")


def plain(one: Element) -> dict[str, object]:
    """Return an element as JSON can hold it."""
    children = [plain(child) for child in one.children]
    own = "" if children else "".join(one.texts)
    return {"name": one.name, "attributes": one.attributes, "text": own, "children": children}


def run(html: str, expression: str) -> object:
    """Load a page with its script, and return what an expression is then."""
    assert NODE is not None
    start = START % (json.dumps(plain(parse(html))), SCRIPT)
    program = f"{DOM}{start}console.log(JSON.stringify({expression}));"
    found = subprocess.run([NODE, "-"], input=program, capture_output=True, text=True, timeout=30)
    assert found.returncode == 0, found.stderr
    assert not found.stderr
    return json.loads(found.stdout)


@pytest.fixture(scope="module")
def html() -> str:
    """Return a page with one table."""
    columns = [
        names("person", ["p10", "p9", "Ann", "bob"]),
        counts("answers", [10, 9, 1200, 9]),
        percentages("accuracy", [0.5, float("nan"), 0.25, 1.0], bars=True),
    ]
    return page([Written("People", table("People", columns))])


@pytest.mark.parametrize(
    ("column", "up", "down"),
    [
        (0, ["Ann", "bob", "p9", "p10"], ["p10", "p9", "bob", "Ann"]),
        (1, ["p9", "bob", "p10", "Ann"], ["Ann", "p10", "p9", "bob"]),
        (2, ["Ann", "p10", "bob", "p9"], ["bob", "p10", "Ann", "p9"]),
    ],
)
def test_tables_sort_both_ways_with_what_is_missing_last(html, column, up, down):
    first, second = run(html, f"[press(0, {column}), press(0, {column})]")
    assert first["order"] == up
    assert second["order"] == down
    assert [sort for sort in first["sort"] if sort] == ["ascending"]
    assert first["sort"][column] == "ascending"
    assert second["sort"][column] == "descending"
    title = ["person", "answers", "accuracy"][column]
    assert second["said"] == f"People: sorted by {title}, descending"


def test_another_column_takes_the_mark_along(html):
    _, second = run(html, "[press(0, 0), press(0, 2)]")
    assert second["sort"][:3] == [None, None, "ascending"]


def test_headers_are_buttons_that_keep_their_names(html):
    expression = "document.querySelectorAll('button').map(b => [b.type, b.textContent])"
    assert run(html, expression) == [
        ["button", "person"], ["button", "answers"], ["button", "accuracy"],
    ]  # fmt: skip


def test_names_appear_at_the_pointer_and_go_again():
    from crowdmetric.report.examples import study
    from crowdmetric.report.page import sections_of

    html = page(sections_of(study()))
    expression = """(function () {
      var picture = document.querySelectorAll("svg.pointed")[0];
      var tip = document.querySelectorAll("div.tip").concat(
        document.body.children.filter(function (one) { return one.className === "tip"; }))[0];
      var mark = picture.querySelectorAll("path.person")[0], found = [tip.hidden];
      picture.dispatch("pointermove", { target: mark, clientX: 10, clientY: 20 });
      found.push(tip.hidden, tip.textContent, tip.style.left);
      picture.dispatch("pointermove", { target: picture, clientX: 10, clientY: 20 });
      found.push(tip.hidden);
      picture.dispatch("pointerdown", { target: mark, clientX: 700, clientY: 20 });
      found.push(tip.style.left, tip.style.right);
      picture.dispatch("pointerleave");
      return found.concat([tip.hidden, picture.querySelectorAll("title").length]);
    })()"""
    assert run(html, expression) == [
        True, False, "ann, ideal point", "22px", True, "", "112px", True, 0,
    ]  # fmt: skip


def test_all_is_unfolded_for_print():
    from crowdmetric.report.examples import study
    from crowdmetric.report.page import sections_of

    html = page(sections_of(study()))
    expression = """(window.dispatch("beforeprint"),
      document.querySelectorAll("details").map(function (one) { return one.open; }))"""
    found = run(html, expression)
    assert found
    assert all(found)
