"""The style sheet: every pair of colours meets WCAG AA, light, dark and printed."""

from __future__ import annotations

import re
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdmetric.report.colour import blend, colours_of, contrast, from_lab, ink_on

STYLE = files("crowdmetric.report").joinpath("style.css").read_text(encoding="utf-8")
SCHEMES = [
    dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6});", block))
    for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
]
TEXT = [  # on what: 4.5 to 1 (1.4.3)
    ("ink", "paper"), ("ink", "raised"), ("muted", "paper"), ("link", "paper"),
    ("paper", "ink"), ("person", "paper"),
]  # fmt: skip
GRAPHICS = [("item", "paper"), ("person", "paper"), ("line", "paper"), ("link", "paper")]  # 1.4.11


def test_there_are_three_schemes_with_the_same_names():
    assert len(SCHEMES) == 3
    assert SCHEMES[0].keys() == SCHEMES[1].keys() == SCHEMES[2].keys()
    used = set(re.findall(r"var\(--([a-z]+)\)", STYLE))
    assert used == SCHEMES[0].keys()


def test_colours_are_named_and_nothing_else_is_a_colour():
    rules = re.sub(r":root \{.*?\}", "", STYLE, flags=re.DOTALL)
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(", rules)
    assert "url(" not in STYLE
    assert "@import" not in STYLE


@pytest.mark.parametrize("scheme", SCHEMES, ids=["light", "dark", "print"])
def test_contrasts_meet_wcag_aa(scheme):
    for ink, ground in TEXT:
        assert contrast(scheme[ink], scheme[ground]) >= 4.5, (ink, ground)
    for mark, ground in GRAPHICS:
        assert contrast(scheme[mark], scheme[ground]) >= 3.0, (mark, ground)


def test_every_pair_in_the_style_is_in_the_list():
    pairs = set()
    for rule in re.findall(r"\{([^{}]*)\}", re.sub(r":root \{.*?\}", "", STYLE, flags=re.DOTALL)):
        ink = re.search(r"(?<!-)\bcolor: var\(--([a-z]+)\)", rule)
        ground = re.search(r"background: var\(--([a-z]+)\)", rule)
        if ink:
            pairs.add((ink[1], ground[1] if ground else "paper"))
    assert pairs <= set(TEXT), pairs - set(TEXT)


@given(st.floats(-1, 1))
def test_numbers_in_the_heat_map_are_read_on_any_colour(share):
    colour = blend(share)
    assert contrast(colour, ink_on(colour)) >= 4.5


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [("#000000", "#ffffff", 21.0), ("#777777", "#ffffff", 4.48), ("#0000ff", "#ffffff", 8.59)],
)
def test_contrast_is_that_of_wcag(one, other, ratio):  # by WebAIM's calculator
    assert contrast(one, other) == pytest.approx(ratio, abs=0.01)


@pytest.mark.parametrize(
    ("lab", "rgb"),  # from Lindbloom's calculator, sRGB and D65
    [
        ((53.2408, 80.0925, 67.2032), (255, 0, 0)),
        ((87.7347, -86.1827, 83.1793), (0, 255, 0)),
        ((32.2970, 79.1875, -107.8602), (0, 0, 255)),
        ((53.5850, 0.0, 0.0), (128, 128, 128)),
    ],
)
def test_lab_becomes_what_a_screen_shows(lab, rgb):
    np.testing.assert_allclose(255 * from_lab([lab])[0], rgb, atol=0.6)


@pytest.mark.parametrize(
    ("names", "row", "colour"),
    [
        (["CIELAB L", "CIELAB a", "CIELAB b"], [100.0, 0.0, 0.0], "#ffffff"),
        (["b*", "L*", "a*"], [0.0, 100.0, 0.0], "#ffffff"),
        (["L", "a", "b"], [105.9, 0.0, 0.0], "#ffffff"),  # the white of Palmer and Schloss
        (["lab_l", "lab_a", "lab_b", "size"], [100.0, 0.0, 0.0, 3.0], "#ffffff"),
        (["red", "green", "blue"], [0.0, 1.0, 0.0], "#00ff00"),
        (["r", "g", "b"], [0.0, 128.0, 255.0], "#0080ff"),
        (["L", "a", "b"], [300.0, 0.0, 0.0], None),
        (["r", "g", "b"], [-1.0, 0.0, 0.0], None),
        (["price", "time"], [1.0, 2.0], None),
    ],
)
def test_features_are_known_as_colours_by_name_and_range(names, row, colour):
    found = colours_of(np.array([row]), names)
    assert found == (None if colour is None else [colour])
