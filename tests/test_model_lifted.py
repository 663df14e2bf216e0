"""Models in a lifted space, with a shared point: all that a model is asked for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import crowdmetric as cm
from crowdmetric import plots
from crowdmetric.certificate import recheck
from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.errors import SettingError
from crowdmetric.features import RBF, KernelLift, Raw, SharedPoint
from crowdmetric.problem import Problem
from crowdmetric.regions import FixedMetric, FrobeniusMetric, NuclearFull, NuclearMetric
from crowdmetric.solver import solve

LIKED = np.array([0.6, -0.3])
USERS = 6


def taste(raw, user):
    """Return how little a user likes items: two hills, which no parabola has."""
    near = np.square(raw - LIKED).sum(axis=1)
    far = np.square(raw + LIKED + 0.05 * user).sum(axis=1)
    return -np.exp(-3 * near) - 0.9 * np.exp(-3 * far)


def answers_of(items, users, count, seed, names=None):
    """Return noiseless answers."""
    generator = np.random.default_rng(seed)
    rows = [
        (k, *generator.choice(len(items), 2, replace=False)) for k in users for _ in range(count)
    ]
    user, left, right = np.array(rows).T
    scores = np.array([taste(items.features, k) for k in range(max(users) + 1)])
    said = np.where(scores[user, left] < scores[user, right], -1, 1)
    ids = [f"u{k}" for k in range(max(users) + 1)] if names is None else names
    return Comparisons.from_arrays(np.array(rows), said, users=ids, item_ids=items.ids)


@pytest.fixture(scope="module")
def items():
    raw = np.random.default_rng(0).uniform(-1, 1, size=(25, 2))
    return Items(tuple(f"i{k}" for k in range(25)), raw, ("x", "y"))


@pytest.fixture(scope="module")
def model(items):
    lift = SharedPoint(KernelLift(RBF(0.6), scaling=Raw()))
    fit = cm.CrowdMetric(items, NuclearFull(40.0), features=lift, tol=1e-5)
    return fit.fit(answers_of(items, range(USERS), 60, seed=1)).model_


def test_the_certificate_is_that_of_the_lifted_problem(model, items):
    answers = answers_of(items, range(USERS), 60, seed=1).answers()
    problem = Problem(answers, model.x, model.loss, model.region)
    risk, bound, violation = recheck(problem, model.metric, model.points, model.certificate)
    assert 0 <= risk - bound <= 1e-5
    assert violation <= 1e-9
    assert model.certificate.converged


@pytest.mark.parametrize(
    "region", [NuclearFull(5.0), FrobeniusMetric(2.0, 3.0), NuclearMetric(2.0, 3.0)]
)
def test_every_region_takes_a_shared_point(items, region):
    x = SharedPoint().fit(items.features, items.names).transform(items.features)
    answers = answers_of(items, range(USERS), 20, seed=2).answers()
    found = solve(Problem(answers, x, cm.losses.Logistic(), region), tol=1e-6)
    assert found.certificate.gap <= 1e-6
    plain = solve(Problem(answers, x[:, :2], cm.losses.Logistic(), region), tol=1e-6)
    assert found.certificate.risk <= plain.certificate.risk + 1e-6


def test_hills_need_the_lift(model, items):
    test = answers_of(items, range(USERS), 200, seed=5)
    flat = cm.CrowdMetric(items, NuclearFull(40.0), tol=1e-4)
    flat.fit(answers_of(items, range(USERS), 60, seed=1))
    lifted, plain = ((m.predict(test) == test.response).mean() for m in (model, flat.model_))
    assert lifted > 0.9
    assert lifted > plain + 0.05


def test_new_items_are_ranked_too(model):
    raw = np.random.default_rng(9).uniform(-0.9, 0.9, size=(40, 2))
    fresh = Items(tuple(range(40)), raw[:, ::-1], ("y", "x"))  # the columns in another order
    ranked = [name for name, _ in model.rank_items("u1", fresh)]
    wanted = np.argsort(taste(raw, 1))
    agreement = np.corrcoef(np.argsort(ranked), np.argsort(wanted))[0, 1]
    assert agreement > 0.8


def test_newcomers_start_from_what_the_crowd_shares(model, items):
    few = answers_of(items, [0], 4, seed=11, names=["new"])
    longer = model.add_users(few, tol=1e-6)
    assert longer.additions[0].certificate.gap <= 1e-6
    test = answers_of(items, [0], 300, seed=12, names=["new"])
    with_crowd = (longer.predict(test) == test.response).mean()
    x = model.x[:, :-1]
    alone = Problem(few.answers(), x, model.loss, FixedMetric(np.zeros((len(x[0]),) * 2), 100.0))
    own = solve(alone, tol=1e-5).points[0]
    margins = (x[test.left] - x[test.right]) @ own
    by_oneself = (np.where(margins < 0, -1, 1) == test.response).mean()
    assert with_crowd > 0.85
    assert with_crowd > by_oneself


def test_it_is_saved_readably_and_comes_back(model, tmp_path):
    path = tmp_path / "lifted.model"
    model.save(path)
    again = cm.load(path)
    np.testing.assert_array_equal(again.scores(), model.scores())
    assert again.features.inner.covariance == RBF(0.6)
    content = Path(path).read_bytes()
    for words in (b"SharedPoint", b"KernelLift", b"length_scale", b"model.features.inner"):
        assert words.split(b".")[-1] in content
    assert again.ideal_item("u2") == model.ideal_item("u2")
    text = content[content.index(b"{") :]
    header, _ = json.JSONDecoder().raw_decode(text.decode("utf-8", "replace"))
    assert "KernelLift" in json.dumps(header)


@pytest.mark.parametrize("user", ["u0", "u4"])
def test_the_ideal_item_is_the_best_in_the_box(model, user):
    bounds = {"x": (-0.9, 0.2), "y": (-0.5, 0.5)}
    side = np.linspace(0, 1, 60)
    grid = np.stack(np.meshgrid(-0.9 + 1.1 * side, -0.5 + side), axis=-1).reshape(-1, 2)
    best = model.scores([user], Items.from_arrays(grid, names=("x", "y"))).min()
    found = model.ideal_item(user, bounds=bounds)
    assert all(low <= found[name] <= high for name, (low, high) in bounds.items())
    values = [list(found.values())] * 2
    assert model.scores([user], Items.from_arrays(values, names=found))[0, 0] <= best + 1e-9


def test_without_bounds_it_stays_within_the_range_of_the_items(model, items):
    found = model.ideal_item("u0")
    low, high = items.features.min(axis=0), items.features.max(axis=0)
    assert (low <= list(found.values())).all()
    assert (list(found.values()) <= high).all()
    best = model.rank_items("u0", top=1)[0][1]
    values = [list(found.values())] * 2
    assert model.scores(["u0"], Items.from_arrays(values, names=found))[0, 0] <= best


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"z": (0, 1)}, "there are bounds for 'z', which is no feature"),
        ({"x": (1, 0)}, "must be two finite numbers, the lower one first"),
        ({"x": (0, np.inf)}, "must be two finite numbers"),
        ({"x": (0,)}, "must be two finite numbers"),
    ],
)
def test_bounds_that_make_no_sense(model, bounds, message):
    with pytest.raises(SettingError, match=message):
        model.ideal_item("u0", bounds=bounds)


def test_slopes_are_those_of_the_scores(model, items):
    step, slopes = 1e-5, []
    for j in range(2):
        moved = step * np.eye(2)[j]
        ends = [
            model.scores(items=Items(items.ids, items.features + s * moved, items.names))
            for s in (1, -1)
        ]
        slopes.append((ends[0] - ends[1]) / (2 * step))
    slopes = np.array(slopes)
    wanted = np.einsum("ikn,jkn->ij", slopes, slopes) / slopes[0].size
    np.testing.assert_allclose(model.sensitivity(), wanted, rtol=1e-4)
    one = np.einsum("in,jn->ij", slopes[:, 3], slopes[:, 3]) / len(items)
    np.testing.assert_allclose(model.sensitivity("u3"), one, rtol=1e-4)


def test_with_a_metric_in_plain_features_distances_tell_scores(items):
    features = SharedPoint(weight=1.0)
    fit = cm.CrowdMetric(items, FrobeniusMetric(4.0, 2.0), features=features)
    model = fit.fit(answers_of(items, range(USERS), 30, seed=3)).model_
    model = replace(model, metric=model.metric + 0.1 * np.eye(3))  # of full rank
    assert model.outside_range().max() < 1e-9
    ideal = model.ideal_points()
    np.testing.assert_allclose(ideal[:, -1], model.features.constant)
    away = model.x[None] - ideal[:, None]
    squared = np.einsum("kni,ij,knj->kn", away, model.metric, away)
    scores = model.scores()
    np.testing.assert_allclose(squared - squared[:, :1], scores - scores[:, :1], atol=1e-8)
    named = model.ideal_item("u0")
    assert list(named) == ["x", "y"]
    raw = features.fit(items.features, items.names).inner.inverse(ideal[0, :-1])
    np.testing.assert_allclose(list(named.values()), raw)


def test_pictures_leave_the_constant_out(model):
    size = model.dimension - 1
    assert plots.plot_metric(model).axes[0].get_title().startswith(f"Metric: {size} features")
    assert len(plots.plot_spectrum(model).axes[0].patches) == size
    plots.plot_map(model)


def test_one_user_alone_has_a_lifted_metric_too(items):
    answers = answers_of(items, range(2), 30, seed=3)
    fit = cm.CrowdMetric(items, FrobeniusMetric(2.0, 2.0), features="kernel", single=True, tol=1e-4)
    model = fit.fit(answers).model_
    assert model.sensitivity().shape == (2, 2)
    assert set(model.ideal_item("u1", bounds={"x": (0.0, 0.5)})) == {"x", "y"}
