"""The figures of merit against their formulas, written out again in the plainest way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from crowdmetric import metrics
from crowdmetric.errors import DataError

ANSWERS = st.sampled_from([-1, 0, 1])
MARGINS = st.floats(-5, 5)


@st.composite
def predictions(draw):
    count = draw(st.integers(1, 20))
    return (
        draw(hnp.arrays(np.float64, count, elements=MARGINS)),
        draw(hnp.arrays(np.int8, count, elements=ANSWERS)),
        draw(hnp.arrays(np.float64, count, elements=st.floats(0.1, 3))),
        draw(hnp.arrays(np.int64, count, elements=st.integers(0, 3))),
    )


def plain_accuracy(margins, response, weight):
    right = 0.0
    for margin, answer, count in zip(margins, response, weight, strict=True):
        said = -1 if margin < 0 else 1
        right += count * (0.5 if answer == 0 else float(said == answer))
    return right / sum(weight)


@given(predictions())
def test_accuracy_counts_the_answers_predicted(case):
    margins, response, weight, _ = case
    assert metrics.accuracy(margins, response, weight) == pytest.approx(
        plain_accuracy(margins, response, weight)
    )
    assert metrics.accuracy(margins, response) == pytest.approx(
        plain_accuracy(margins, response, np.ones(len(margins)))
    )


@given(predictions())
def test_accuracy_by_user_is_the_accuracy_of_each_user(case):
    margins, response, weight, user = case
    found = metrics.accuracy_by_user(margins, response, user, weight)
    assert len(found) == user.max() + 1
    for code, value in enumerate(found):
        mine = user == code
        if mine.any():
            expected = plain_accuracy(margins[mine], response[mine], weight[mine])
            assert value == pytest.approx(expected)
        else:
            assert math.isnan(value)


@given(
    hnp.arrays(np.float64, 12, elements=st.floats(0.001, 0.999)),
    hnp.arrays(np.int8, 12, elements=ANSWERS),
)
def test_log_loss_is_the_mean_negative_log_likelihood(left, response):
    cost = {-1: lambda p: -math.log(p), 1: lambda p: -math.log(1 - p)}
    cost[0] = lambda p: (cost[-1](p) + cost[1](p)) / 2
    expected = np.mean([cost[int(y)](p) for p, y in zip(left, response, strict=True)])
    assert metrics.log_loss(left, response) == pytest.approx(expected)


def test_log_loss_of_certainty_is_finite():
    assert metrics.log_loss([1.0, 0.0], [-1, 1]) == pytest.approx(0.0, abs=1e-12)
    assert 30 < metrics.log_loss([0.0], [-1]) < 40


def test_relative_errors_are_ratios_of_frobenius_norms():
    generator = np.random.default_rng(0)
    truth, estimate = generator.standard_normal((2, 4, 4))
    expected = math.sqrt(((estimate - truth) ** 2).sum() / (truth**2).sum())
    assert metrics.relative_metric_error(estimate, truth) == pytest.approx(expected)
    assert metrics.relative_pseudo_point_error(estimate, truth) == pytest.approx(expected)
    assert metrics.relative_metric_error(truth, truth) == 0.0


def test_ideal_points_are_compared_on_the_range_of_the_metric():
    generator = np.random.default_rng(1)
    factor = generator.standard_normal((5, 2))
    metric = factor @ factor.T
    truth, estimate = generator.standard_normal((2, 7, 5))
    seen = truth @ metric @ np.linalg.pinv(metric)
    expected = np.linalg.norm(estimate - seen) / np.linalg.norm(seen)
    found = metrics.relative_ideal_point_error(estimate, truth, metric)
    assert found == pytest.approx(expected)
    assert metrics.relative_ideal_point_error(seen, truth, metric) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: metrics.accuracy([1.0, 2.0], [1]), "they must be alike"),
        (lambda: metrics.accuracy([1.0], [1], [0.0]), "no answers of positive weight"),
        (lambda: metrics.accuracy([1.0], [1], [1.0, 1.0]), "weights of shape"),
        (lambda: metrics.accuracy([], []), "no answers of positive weight"),
        (lambda: metrics.relative_metric_error(np.eye(2), np.zeros((2, 2))), "all zero"),
        (
            lambda: metrics.relative_ideal_point_error([[1.0]], [[1.0]], np.eye(2)),
            "must be square of that size",
        ),
    ],
)
def test_what_cannot_be_measured_is_refused(call, words):
    with pytest.raises(DataError, match=words):
        call()
