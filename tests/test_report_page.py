"""The report as a document: valid, self-contained, escaped, and fit to be read aloud."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import crowdmetric as cm
from crowdmetric.comparisons import Comparisons
from crowdmetric.model import example
from crowdmetric.report import Looks, Provenance, Source, Study, Written, write_report
from crowdmetric.report.markup import Html
from report_parser import parse

EVIL = "<script>alert('x')</script>\"&amp;\x00"


def answers_of(model, rows=((0, 0, 1), (0, 2, 1), (1, 0, 1), (1, 1, 2), (1, 2, 1)), response=None):
    response = [-1, 1, 1, -1, 0] if response is None else response
    return Comparisons.from_arrays(
        list(rows), response, users=model.users, item_ids=model.items.ids
    )


def evil_study() -> Study:
    """Return a study in which every name is an attack."""
    model = example()
    items = cm.Items((EVIL, "javascript:1", "東京"), model.items.features, (f"1{EVIL}", f"2{EVIL}"))
    model = replace(model, items=items, users=(f"u{EVIL}", "bob"))
    source = Source("answers", f"/tmp/{EVIL}.csv", "00ff")
    looks = Looks(notes=(EVIL,))
    return Study.of(model, answers_of(model), looks, Provenance(EVIL, (source,), "today"))


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> dict[str, tuple[str, object]]:
    """Return reports of all kinds: their text, and their trees."""
    folder = tmp_path_factory.mktemp("reports")
    crowd = cm.simulate(n_items=12, dimension=3, n_users=3, pairs_per_user=20)
    fit = cm.CrowdMetric(crowd.items, cm.regions.NuclearFull(3.0)).fit(crowd.comparisons)
    wide = cm.simulate(n_items=20, dimension=18, n_users=2, pairs_per_user=20)
    squares = cm.CrowdMetric(wide.items, cm.regions.FrobeniusMetric(1.0, 1.0)).fit(wide.comparisons)
    each = replace(example(), metric=np.stack([np.diag([2.0, 1.0]), np.diag([1.0, 0.0])]))
    colours = cm.Items(("#ff0000", "#00ff00", "#00f"), example().items.features, ("warm", "light"))
    painted = replace(example(), items=colours)
    studies = {
        "crowd": Study.of(fit.model_, crowd.comparisons),
        "wide": Study.of(squares.model_, wide.comparisons),
        "each": Study.of(each, answers_of(each)),
        "colours": Study.of(painted, answers_of(painted)),
        "evil": evil_study(),
    }
    found = {}
    for name, study in studies.items():
        write_report(study, folder / f"{name}.html")
        html = (folder / f"{name}.html").read_text(encoding="utf-8")
        found[name] = (html, parse(html))
    return found


KINDS = ["crowd", "wide", "each", "colours", "evil"]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_asked_of_anybody(made, kind):
    html, tree = made[kind]
    assert not re.search(r"(?:https?:)?//\w", re.sub(r"<code>.*?</code>", "", html))
    for one in tree.all():
        for name in ("src", "href", "action", "srcset", "data", "poster"):
            link = one[name]
            assert link is None or link.startswith(("#", "data:image/png;base64,")), link
        assert not any(name.startswith("on") for name in one.attributes)
    assert not tree.all("link", "iframe", "object", "embed", "form", "base")
    (policy,) = [one["content"] for one in tree.all("meta") if one["http-equiv"]]
    assert policy.startswith("default-src 'none'; img-src data:;")


@pytest.mark.parametrize("kind", KINDS)
def test_landmarks_headings_and_links_fit_together(made, kind):
    _, tree = made[kind]
    (page,) = tree.all("html")
    assert page["lang"] == "en"
    for landmark in ("header", "nav", "main", "footer", "h1"):
        assert len(tree.all(landmark)) == 1, landmark
    ids = [one["id"] for one in tree.all() if one["id"] is not None]
    assert len(set(ids)) == len(ids)
    assert {one["href"] for one in tree.all("a")} <= {f"#{name}" for name in ids}
    levels = [int(one.name[1]) for one in tree.all("h1", "h2", "h3")]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for section in tree.all("section"):
        (heading,) = section.all("h2")
        assert section["aria-labelledby"] == heading["id"]
    assert len(tree.all("section")) == len(tree.all("nav")[0].all("a"))


@pytest.mark.parametrize("kind", KINDS)
def test_tables_have_captions_and_headers_with_a_scope(made, kind):
    _, tree = made[kind]
    for table in tree.all("table"):
        assert table.all("caption")[0].text
        width = {len(row.children) for row in table.all("tr")}
        assert len(width) == 1
        for header in table.all("thead")[0].all("th"):
            assert (header["scope"], bool(header.text)) == ("col", True)
        for row in table.all("tbody")[0].all("tr"):
            assert (row.children[0].name, row.children[0]["scope"]) == ("th", "row")
        assert table.parent["tabindex"] == "0"
        assert table.parent["aria-label"] == table.all("caption")[0].text


@pytest.mark.parametrize("kind", KINDS)
def test_what_scrolls_can_be_reached_with_the_keyboard(made, kind):
    _, tree = made[kind]
    frames = [one for one in tree.all("div") if "scroll" in (one["class"] or "").split()]
    assert frames
    for frame in frames:
        assert (frame["tabindex"], frame["role"]) == ("0", "group")
        assert frame["aria-label"]
    assert all(one["tabindex"] == "0" for one in tree.all("pre"))


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_have_a_text_or_are_passed_over(made, kind):
    _, tree = made[kind]
    for picture in tree.all("svg"):
        hidden, told = picture["aria-hidden"] == "true", picture["aria-label"]
        assert hidden or (picture["role"] == "img" and told)
    for image in tree.all("img"):
        assert image["alt"] is not None


def test_names_are_shown_as_they_are_and_run_nothing(made):
    html, tree = made["evil"]
    assert len(tree.all("script")) == 1
    assert "alert" not in tree.all("script")[0].text
    assert "<script>alert" not in html
    people = next(table for table in tree.all("table") if "People" in table.all("caption")[0].text)
    shown = {row.children[0].text for row in people.all("tbody")[0].children}
    assert shown == {"u" + EVIL.replace("\x00", "\ufffd"), "bob"}


def test_the_script_that_may_run_is_the_one_that_is_there(made):
    import base64
    import hashlib

    _, tree = made["crowd"]
    script = "".join(tree.all("script")[0].texts)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [one["content"] for one in tree.all("meta") if one["http-equiv"]]
    assert f"script-src 'sha256-{digest}'" in policy


def test_colours_are_shown_as_such(made):
    _, tree = made["colours"]
    fills = {one["fill"] for one in tree.all("circle") if one["fill"]}
    assert fills == {"#ff0000", "#00ff00", "#00f"}
    _, tree = made["crowd"]
    assert not [one for one in tree.all("circle") if one["fill"]]


def test_the_map_has_everybodys_name_to_hover_over(made):
    _, tree = made["crowd"]
    titles = [one.text for one in tree.all("title")]
    assert {f"u{k}, ideal point" for k in range(3)} <= set(titles)
    assert {str(item) for item in range(12)} <= set(titles)


def test_points_have_labels_where_there_is_room(made):
    _, tree = made["crowd"]
    (picture,) = [one for one in tree.all("svg") if "Map of" in (one["aria-label"] or "")]
    marks = [(float(one["cx"]), float(one["cy"])) for one in picture.all("circle")]
    labels = picture.all("text")
    assert len(labels) >= 10  # of 12 items and 3 people
    assert {"u0", "u1", "u2"} <= {one.text for one in labels if one["class"] == "named"}
    boxes = []
    for one in labels:
        left, bottom = float(one["x"]), float(one["y"])
        boxes.append((left, bottom - 10, left + 7 * len(one.text), bottom))
        near = min(np.hypot(left - x, bottom - y) for x, y in marks)
        assert near < 80 or one["class"] == "named"
    for number, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[:number]:
            apart = other[2] <= left or right <= other[0] or other[3] <= top or bottom <= other[1]
            assert apart
        for x, y in marks:
            assert not (left < x < right and top < y < bottom)


def test_sections_of_ones_own_come_before_the_last(tmp_path):
    more = [Written("Baselines", Html("<p>None yet.</p>"))]
    write_report(evil_study(), tmp_path / "r.html", more)
    titles = [one.text for one in parse((tmp_path / "r.html").read_text()).all("h2")]
    assert titles[-2] == "Baselines"
    assert len(titles) == 8


def test_what_is_written_twice_is_the_same(tmp_path):
    for name in ("a", "b"):
        write_report(evil_study(), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
