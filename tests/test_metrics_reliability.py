"""Reliability: bins, ties, weights, and the picture."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.calibration import calibration_curve

from crowdmetric import CrowdMetric, losses, plots, regions
from crowdmetric.errors import DataError, SettingError
from crowdmetric.metrics import Reliability, reliability


@st.composite
def answers(draw):
    """Return probabilities, responses and weights."""
    count = draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    left = np.where(rng.random(count) < 0.2, rng.integers(0, 2, count), rng.random(count))
    return left, rng.integers(-1, 2, count), rng.random(count) + 0.1


@given(answers(), st.integers(1, 12))
def test_it_is_the_definition(data, bins):
    left, response, weight = data
    table = reliability(left, response, weight, bins)
    total, off = 0.0, 0.0
    for number in range(bins):
        low, high = number / bins, (number + 1) / bins
        inside = (low <= left) & ((left < high) | (number == bins - 1))
        if inside.any():
            total += weight[inside].sum()
            said = np.average((1 - response[inside]) / 2, weights=weight[inside])
            off += weight[inside].sum() * abs(
                said - np.average(left[inside], weights=weight[inside])
            )
    assert_allclose(table.weight.sum(), total)
    assert_allclose(table.error, off / total, atol=1e-12)


def test_it_agrees_with_scikit_learn():
    rng = np.random.default_rng(1)
    left = rng.random(500)
    response = np.where(rng.random(500) < left**2, -1, 1)
    table = reliability(left, response)
    observed, predicted = calibration_curve(response < 0, left, n_bins=10)
    assert_allclose(table.observed, observed)
    assert_allclose(table.predicted, predicted)


def test_honest_probabilities_have_the_error_of_chance():
    rng = np.random.default_rng(2)
    left = rng.random(20_000)
    response = np.where(rng.random(20_000) < left, -1, 1)
    assert reliability(left, response).error < 2 * 0.4 * np.sqrt(10 / 20_000)
    sure = reliability(np.where(left < 0.5, 0.0, 1.0), response)
    assert_allclose(sure.error, 0.25, atol=0.01)


def test_bad_input_is_refused():
    with pytest.raises(SettingError, match="bins must be at least 1, not 0"):
        reliability([0.5], [1], bins=0)
    with pytest.raises(DataError, match="alike"):
        reliability([0.5, 0.5], [1])
    with pytest.raises(DataError, match="no answers of positive weight"):
        reliability([0.5], [1], [0.0])


def test_the_picture_shows_the_bins(crowd):
    fit = CrowdMetric(crowd.items, regions.NuclearFull(4.0)).fit(crowd.comparisons)
    figure = plots.plot_reliability(fit.model_, crowd.test)
    axes, below = figure.axes
    table = reliability(fit.predict_proba(crowd.test)[:, 0], crowd.test.response)
    assert isinstance(table, Reliability)
    assert_allclose(axes.lines[1].get_xydata(), np.column_stack([table.predicted, table.observed]))
    assert [bar.get_height() for bar in below.patches] == table.weight.tolist()
    assert f"{table.error:.3f}" in axes.get_title()
    (segments,) = axes.collections
    for (_, low), (_, high) in segments.get_segments():
        assert 0 <= low < high <= 1


def test_a_loss_without_probabilities_has_no_picture(crowd):
    fit = CrowdMetric(crowd.items, regions.NuclearFull(4.0), losses.Hinge())
    with pytest.raises(SettingError, match="gives no probabilities"):
        plots.plot_reliability(fit.fit(crowd.comparisons).model_, crowd.test)
