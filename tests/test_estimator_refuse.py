"""CrowdMetric refuses what makes no sense, in one sentence that says what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from crowdmetric import Comparisons, CrowdMetric, Items, losses, regions
from crowdmetric.errors import (
    CrowdMetricError,
    DataError,
    RowError,
    SettingError,
    UnknownUserError,
)

REGION = regions.FrobeniusMetric(8.0, 6.0)

BAD_SETTINGS = [
    ({"items": None}, SettingError, "no items: give items="),
    ({"items": "items.csv"}, DataError, "is a str, which must be read first, .*read_items"),
    ({"items": pd.DataFrame({"item": [1, 2], "x": [3, 4]})}, DataError, "DataFrame, .*read_items"),
    ({"items": [[0.0, np.nan], [1.0, 2.0]]}, RowError, "row 1: .*give a finite number"),
    ({"region": None}, SettingError, "no region: give region=.*NuclearFull.*CrowdMetricCV"),
    ({"region": "nuclear-full"}, SettingError, "'nuclear-full' is no region: give one with"),
    ({"region": regions.NuclearFull}, SettingError, "is no region: give one with its radii"),
    ({"loss": "hing"}, SettingError, "no loss 'hing'; did you mean 'hinge'"),
    ({"loss": losses.Hinge}, SettingError, r"must be a loss such as losses.Hinge\(\)"),
    ({"features": "unitball"}, SettingError, "no feature map 'unitball'.*did you mean 'unit-ball'"),
    ({"ties": "keep"}, SettingError, "ties must be 'half' or 'drop', not 'keep'"),
    ({"dtype": "float16"}, SettingError, "dtype must be 'float64' or 'float32', not 'float16'"),
    ({"region": regions.FixedMetric(np.eye(2), 1.0)}, SettingError, "for 2 features.* have 3"),
    ({"region": regions.NuclearFull((1.0, 2.0))}, SettingError, "only for single=True"),
    ({"tol": 0.0}, SettingError, "tolerance must be positive"),
    ({"threads": 0}, SettingError, "threads must be at least 1"),
    ({"users": 1}, RowError, r"row 2: the user code 1 is outside 0\.\.0"),
    ({"users": ["ann", "ann"]}, RowError, "'ann' is given twice"),
]


@pytest.mark.parametrize(("settings", "error", "sentence"), BAD_SETTINGS)
def test_a_bad_setting_is_refused_in_one_sentence(settings, error, sentence):
    fit = CrowdMetric(**{"items": np.eye(3), "region": REGION} | settings)
    with pytest.raises(error, match=sentence) as caught:
        fit.fit([[0, 0, 1], [1, 1, 2]], [1, -1])
    assert "\n" not in str(caught.value)


BAD_TRIPLES = [
    ([0, 1, 2], r"shape \(m, 3\).*its shape is \(3,\)"),
    ([[0, 1]], r"shape is \(1, 2\)"),
    ([[0, 1, 2], [0, 1]], "rows of equal length"),
    ([[0, 0, 1], [0.5, 1, 2]], r"row 2: \[0.5, 1.0, 2.0\] are not all whole numbers"),
    ([[0, 0, np.nan]], "row 1: .*not all whole numbers"),
    ([[0, 0, np.inf]], "row 1: .*not all whole numbers"),
    ([["ann", "x", "y"]], "whole numbers; give row numbers counted from 0, or Comparisons"),
    ([[0, 0, 1], [0, 0, 3]], r"row 2: the right item code 3 is outside 0\.\.2"),
    ([[0, 7, 1]], "row 1: the left item code 7 is outside"),
    ([[-1, 0, 1]], "row 1: the user code -1 is negative"),
    ([[0, -2, 1]], "row 1: the left item code -2 is negative"),
]


@pytest.mark.parametrize(("triples", "sentence"), BAD_TRIPLES)
def test_bad_triples_are_refused_in_one_sentence(triples, sentence):
    fit = CrowdMetric(np.eye(3), REGION).fit([[0, 0, 1]], [1])
    for call in (lambda: fit.fit(triples, [1] * len(triples)), lambda: fit.predict(triples)):
        with pytest.raises(DataError, match=sentence) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "answers",
    [
        "answers.csv",
        Path("answers.csv"),
        pd.DataFrame({"user": [0], "left": [0], "right": [1], "response": [1]}),
        pa.table({"user": ["ann"], "left": ["x"], "right": ["y"]}),
    ],
    ids=lambda answers: type(answers).__name__,
)
def test_files_and_frames_must_be_read_first(answers):
    fit = CrowdMetric(np.eye(3), REGION).fit([[0, 0, 1]], [1])
    for call in (fit.fit, fit.predict):
        with pytest.raises(DataError, match=r"read first, with crowdmetric\.read_comparisons"):
            call(answers)


def test_a_frame_of_row_numbers_will_do():
    frame = pd.DataFrame({"user": [0, 0], "left": [0, 1], "right": [1, 2]})
    assert CrowdMetric(np.eye(3), REGION).fit(frame, [1, -1]).predict(frame).shape == (2,)


BAD_ANSWERS = [
    (None, None, "responses are missing: give y"),
    ([1], None, "1 responses for 2 comparisons"),
    ([1, 2], None, "row 2: the response 2 is none of"),
    (["left", "right"], None, "must be one column of numbers"),
    ([[1], [1]], None, "must be one column of numbers"),
    ([1, 0], None, "y holds 0 and 1 only, and 0 would mean a tie; write -1 for left"),
    (1, None, "must be one column of numbers"),
    ([1, -1], [1.0], "1 values of weight"),
    ([1, -1], [1.0, -2.0], "row 2: the weight -2 is negative"),
    ([1, -1], [0.0, 0.0], "all weights are zero"),
]


@pytest.mark.parametrize(("y", "weight", "sentence"), BAD_ANSWERS)
def test_bad_answers_are_refused_in_one_sentence(y, weight, sentence):
    fit = CrowdMetric(np.eye(3), REGION)
    triples = [[0, 0, 1], [1, 1, 2]]
    with pytest.raises(CrowdMetricError, match=sentence) as caught:
        fit.fit(triples, y, sample_weight=weight)
    assert "\n" not in str(caught.value)
    if weight is None and y != [1, 0]:  # one fold may have no left answers, but ties
        with pytest.raises(CrowdMetricError, match=sentence):
            fit.fit(triples, [1, -1]).score(triples, y)


def test_an_item_compared_with_itself_is_refused():
    with pytest.raises(RowError, match="row 2: the item 'b' is compared with itself"):
        CrowdMetric(Items.from_arrays(np.eye(3), "abc"), REGION).fit([[0, 0, 1], [0, 1, 1]], [1, 1])


def test_comparisons_hold_their_responses(crowd):
    fit = CrowdMetric(crowd.items, REGION).fit(crowd.comparisons)
    for call in (fit.fit, fit.score):
        with pytest.raises(DataError, match="leave y out"):
            call(crowd.comparisons, crowd.comparisons.response)


def test_a_user_the_fit_never_saw_is_named(crowd):
    fit = CrowdMetric(crowd.items, REGION).fit(crowd.comparisons)
    stranger = Comparisons.from_arrays([[0, 0, 1]], [1], users=["u9"])
    with pytest.raises(UnknownUserError, match="no user 'u9'"):
        fit.predict(stranger)
