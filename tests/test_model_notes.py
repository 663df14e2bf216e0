"""What a model says about features on very different scales."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdmetric import features as maps
from crowdmetric.comparisons import Items
from crowdmetric.model import example

FEATURES = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])


@pytest.mark.parametrize(
    ("scales", "feature_map", "noted"),
    [
        ((1.0, 1.0), maps.Raw(), False),
        ((50.0, 1.0), maps.Raw(), False),
        ((300.0, 1.0), maps.Raw(), True),
        ((1e30, 1e-30), maps.Raw(), True),
        ((300.0, 1.0), maps.Center(), True),
        ((300.0, 1.0), maps.UnitBall(), True),
        ((300.0, 1.0), maps.Standardize(), False),
        ((300.0, 0.0), maps.Raw(), False),  # one that is the same everywhere has no scale
    ],
)
def test_features_on_very_different_scales_are_named_once(scales, feature_map, noted):
    items = Items(("red", "green", "blue"), FEATURES * scales, ("price", "comfort"))
    fitted = feature_map.fit(items.features, items.names)
    notes = replace(example(), items=items, features=fitted).notes
    assert len(notes) == noted
    for note in notes:
        assert note.startswith("the features are on very different scales: 'price' varies ")
        assert " times as much as 'comfort', " in note
        assert "--features standardize" in note
