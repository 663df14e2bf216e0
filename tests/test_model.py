"""The model against direct formulas, and every mistake a caller can make with it."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdmetric import features as maps
from crowdmetric.certificate import Certificate
from crowdmetric.comparisons import Comparisons, Items
from crowdmetric.errors import DataError, SettingError, UnknownItemError, UnknownUserError
from crowdmetric.losses import Hinge, Logistic, Probit
from crowdmetric.model import Model, example, scoring
from crowdmetric.regions import FrobeniusMetric, PSDOnly

SEEDS = st.integers(0, 2**32 - 1)
DONE = Certificate(
    risk=0.3, lower_bound=0.3, tolerance=1e-6, status="converged", iterations=1, seconds=0.0
)


def crowd(seed=0, single=False, rank=3, feature_map=None, **parts):
    """Return a model of 4 users and 7 items in 3 dimensions, with the metric's rank as asked."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(4, 3, rank) if single else (3, rank))
    items = Items(tuple("abcdefg"), rng.normal(size=(7, 3)), ("price", "size", "weight"))
    given_parts = {
        "metric": root @ np.swapaxes(root, -1, -2),
        "points": rng.normal(size=(4, 3)),
        "users": ("ann", "bob", 7, ("cho", 1)),
        "items": items,
        "features": (feature_map or maps.Raw()).fit(items.features, items.names),
        "loss": Logistic(2.0),
        "region": FrobeniusMetric(10.0, 5.0),
        "certificate": DONE,
    }
    return Model(**{**given_parts, **parts})


def questions(model, seed=0, count=50):
    """Return random comparisons whose user and item codes are not those of the model."""
    rng = np.random.default_rng(seed)
    users, ids = tuple(reversed(model.users)), tuple(reversed(model.items.ids))
    left = rng.integers(0, len(ids), count)
    right = (left + rng.integers(1, len(ids), count)) % len(ids)
    triples = np.column_stack([rng.integers(0, len(users), count), left, right])
    return Comparisons.from_arrays(triples, np.zeros(count, int), users=users, item_ids=ids)


def direct_score(model, user, x):
    """Return x' M x + v' x, one item at a time."""
    k = model.users.index(user)
    metric = model.metric if model.metric.ndim == 2 else model.metric[k]
    return x @ metric @ x + model.points[k] @ x


@pytest.mark.parametrize("feature_map", [maps.Raw(), maps.Standardize(), maps.UnitBall()])
@pytest.mark.parametrize("single", [False, True])
def test_scores_are_the_formula(single, feature_map):
    model = crowd(3, single=single, feature_map=feature_map)
    x = model.features.transform(model.items.features)
    expected = [[direct_score(model, user, row) for row in x] for user in model.users]
    np.testing.assert_allclose(model.scores(), expected, atol=1e-12)
    chosen = [("cho", 1), "ann", "ann"]
    rows = [model.users.index(user) for user in chosen]
    np.testing.assert_allclose(model.scores(chosen), np.array(expected)[rows], atol=1e-12)


@pytest.mark.parametrize("single", [False, True])
@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_margins_are_differences_of_scores_matched_by_id(single, seed):
    model = crowd(seed, single=single)
    asked = questions(model, seed)
    table = model.scores()
    expected = []
    for user, left, right in zip(asked.user, asked.left, asked.right, strict=True):
        row = table[model.users.index(asked.users[user])]
        place = model.items.ids.index
        expected.append(row[place(asked.item_ids[left])] - row[place(asked.item_ids[right])])
    found = model.margins(asked)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    codes = np.column_stack([3 - asked.user, 6 - asked.left, 6 - asked.right])
    np.testing.assert_array_equal(model.margins_of_codes(codes), found)
    np.testing.assert_array_equal(model.predict(asked), np.where(found < 0, -1, 1))


def test_margins_are_the_same_in_pieces(monkeypatch):
    model = crowd(1)
    whole = model.margins(questions(model))
    monkeypatch.setattr(scoring, "_CHUNK", 7)
    np.testing.assert_array_equal(model.margins(questions(model)), whole)


def test_margins_look_only_at_ids_that_occur():
    model = example()
    asked = Comparisons.from_arrays(
        [[1, 1, 2]], [0], users=["stranger", "bob"], item_ids=["unseen", "red", "green"]
    )
    np.testing.assert_array_equal(model.margins(asked), [3.0])


def test_no_questions_have_no_margins():
    assert crowd(single=True).margins_of_codes(np.empty((0, 3), int)).shape == (0,)


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_new_items_just_work_whatever_the_order_of_their_columns(seed):
    model = crowd(seed, feature_map=maps.Standardize())
    rng = np.random.default_rng(seed)
    new = Items(("x", "y", "z"), rng.normal(size=(3, 3)), model.items.names)
    turned = Items(new.ids, new.features[:, [2, 0, 1]], ("weight", "price", "size"))
    x = model.features.transform(new.features)
    expected = [[direct_score(model, user, row) for row in x] for user in model.users]
    np.testing.assert_allclose(model.scores(items=new), expected, atol=1e-10)
    np.testing.assert_array_equal(model.scores(items=turned), model.scores(items=new))
    np.testing.assert_array_equal(model.distances(turned), model.distances(new))
    assert model.rank_items("ann", items=turned) == model.rank_items("ann", items=new)
    asked = Comparisons.from_arrays([[0, 0, 2]], [0], users=["bob"], item_ids=["z", "y", "x"])
    scores = model.scores(["bob"], new)[0]
    np.testing.assert_allclose(model.margins(asked, turned), scores[2] - scores[0], atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_a_rotation_of_the_features_changes_nothing_that_users_see(seed):
    model = crowd(seed)
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    turned = replace(
        model,
        metric=turn @ model.metric @ turn.T,
        points=model.points @ turn.T,
        items=replace(model.items, features=model.items.features @ turn.T),
    )
    np.testing.assert_allclose(turned.scores(), model.scores(), atol=1e-10)
    np.testing.assert_allclose(turned.distances(), model.distances(), atol=1e-7)
    regular = {"method": "regularised", "alpha": 2.0}
    np.testing.assert_allclose(
        turned.ideal_points(**regular), model.ideal_points(**regular) @ turn.T, atol=1e-9
    )


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, top=st.one_of(st.none(), st.integers(0, 9)))
def test_rank_is_the_argsort_of_the_scores(seed, top):
    model = crowd(seed)
    scores = model.scores(["bob"])[0]
    expected = [(model.items.ids[k], scores[k]) for k in np.argsort(scores)]
    assert model.rank_items("bob", top=top) == expected[:top]
    kept = [pair for pair in expected if pair[0] not in ("a", "d")]
    assert model.rank_items("bob", exclude=("a", "d", "sold out"), top=top) == kept[:top]


def test_equal_scores_keep_the_order_of_the_items():
    model = crowd(metric=np.zeros((3, 3)), points=np.zeros((4, 3)))
    assert [name for name, _ in model.rank_items(7)] == list("abcdefg")


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_distances_are_the_formula(single, rank):
    model = crowd(5, single=single, rank=rank)
    steps = model.x[:, None] - model.x[None]
    squares = np.einsum("ijd,...de,ije->...ij", steps, model.metric, steps)
    np.testing.assert_allclose(model.distances() ** 2, squares, atol=1e-10)


def test_distances_do_not_lose_a_weak_direction():
    model = crowd(metric=np.diag([1.0, 1.0, 1e-12]))
    apart = Items(("near", "far"), np.array([[0.0, 0, 0], [0, 0, 1.0]]), model.items.names)
    assert model.distances(apart)[0, 1] == pytest.approx(1e-6)


def test_a_metric_that_measures_nothing_has_no_rank_and_no_distances():
    model = crowd(metric=np.zeros((3, 3)))
    assert model.rank == 0
    np.testing.assert_array_equal(model.distances(), np.zeros((7, 7)))


@pytest.mark.parametrize(
    "feature_map", [maps.Raw(), maps.Center(), maps.Standardize(), maps.UnitBall()]
)
@pytest.mark.parametrize("single", [False, True])
def test_the_ideal_item_inverts_the_feature_map(feature_map, single):
    model = crowd(2, single=single, feature_map=feature_map)
    for k, user in enumerate(model.users):
        for method in ("exact", "regularised"):
            ideal = model.ideal_item(user, method)
            assert list(ideal) == list(model.items.names)
            at = model.features.transform([list(ideal.values())])[0]
            np.testing.assert_allclose(at, model.ideal_points(method)[k], atol=1e-10)


def test_the_ideal_item_has_the_best_score_of_all():
    model = crowd(2, feature_map=maps.Standardize())
    best = list(model.ideal_item("ann").values())
    rng = np.random.default_rng(0)
    others = np.vstack([best, best + rng.normal(scale=0.5, size=(200, 3))])
    items = Items.from_arrays(others, names=model.items.names)
    assert model.rank_items("ann", items=items)[0][0] == 0


def test_ideal_points_three_ways():
    model = crowd(4, rank=2)
    metric, pseudo = model.metric, model.points
    exact = -0.5 * pseudo @ np.linalg.pinv(metric, rcond=1e-9)
    np.testing.assert_allclose(model.ideal_points(), exact, atol=1e-9)
    for prior, asked in [
        (3 * np.eye(3), {}),
        (0.7 * np.eye(3), {"alpha": 0.7}),
        (np.diag([1.0, 2.0, 5.0]), {"prior": np.diag([1.0, 2.0, 5.0])}),
    ]:
        expected = -2 * np.linalg.solve(4 * metric @ metric + prior, metric @ pseudo.T).T
        found = model.ideal_points("regularised", **asked)
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("loss", [Logistic(0.5), Probit(2.0)])
def test_probabilities_sum_to_one_and_agree_with_the_margins(loss):
    model = crowd(1, loss=loss)
    asked = questions(model)
    both, margins = model.predict_proba(asked), model.margins(asked)
    np.testing.assert_allclose(both.sum(axis=1), 1.0, atol=1e-14)
    np.testing.assert_array_equal(both[:, 0] > 0.5, margins < 0)
    np.testing.assert_allclose(both[:, 1], np.exp(-loss.value(margins)), rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(both[:, 0], np.exp(-loss.value(-margins)), rtol=1e-10, atol=1e-300)


def test_rank_factor_and_summary():
    model = crowd(rank=2)
    assert (model.rank, model.dimension) == (2, 3)
    np.testing.assert_allclose(model.factor() @ model.factor().T, model.metric, atol=1e-12)
    assert repr(model) == "Model(4 users, 7 items, 3 features, rank 2)"
    assert crowd(rank=2, single=True).factor().shape == (4, 3, 2)


def test_notes_say_when_points_leave_the_range_of_the_metric():
    assert crowd().notes == []
    half = crowd(metric=np.diag([1.0, 1.0, 0.0]), points=np.eye(3)[[0, 1, 2, 2]])
    np.testing.assert_array_equal(half.outside_range(), [0, 0, 1, 1])
    (note,) = half.notes
    assert note.startswith("2 of 4 users also follow directions that the metric does not measure")
    assert "by up to 100.0% of its length" in note


def test_notes_say_when_the_fit_is_not_certified():
    stopped = replace(DONE, lower_bound=0.1, status="iteration-limit")
    (note,) = crowd(certificate=stopped).notes
    assert note.startswith("the fit did not reach the tolerance asked for: iteration-limit: risk")


def test_arrays_are_read_only_and_the_callers_stay_writable():
    metric = np.eye(3)
    model = crowd(metric=metric)
    metric[0, 0] = 5.0
    assert model.metric[0, 0] == 1.0
    copy = pickle.loads(pickle.dumps(model))
    for array in (model.metric, model.points, model.x, copy.metric, copy.points):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1.0
    np.testing.assert_array_equal(copy.scores(), model.scores())


def test_single_precision_stays_and_scores_nearly_the_same():
    model = crowd(6)
    small = crowd(6, metric=model.metric.astype("f4"), points=model.points.astype("f4"))
    assert (small.metric.dtype, small.points.dtype) == (np.float32, np.float32)
    np.testing.assert_allclose(small.scores(), model.scores(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        small.margins(questions(small)), model.margins(questions(model)), rtol=1e-4, atol=1e-5
    )


NEW = Items(("x", "y"), np.eye(2, 3), ("price", "sise", "weight"))
ASKED = Comparisons.from_arrays([[0, 0, 1]], [0], users=["anna"], item_ids=["a", "b"])
ODD = Comparisons.from_arrays([[0, 0, 1]], [0], users=["ann"], item_ids=["a", "zebra"])
MISTAKES = [
    (lambda m: m.margins(ASKED), UnknownUserError, r"'anna'.*did you mean 'ann'.*add_users"),
    (lambda m: m.rank_items("bbo"), UnknownUserError, "did you mean 'bob'"),
    (lambda m: m.ideal_item("nobody"), UnknownUserError, "among the 4 users"),
    (lambda m: m.scores("ann"), SettingError, r"users must be a list of ids; write \['ann'\]"),
    (lambda m: m.scores([["ann"]]), DataError, "user ids must be hashable"),
    (lambda m: m.predict("a.csv"), DataError, r"not a str; read .*read_comparisons\(.*read_pairs"),
    (lambda m: m.add_users([[0, 1, 2]]), DataError, "not a list; .*to margins_of_codes"),
    (lambda m: m.scores(items="i.csv"), DataError, "must be Items, not a str; .*read_items"),
    (lambda m: m.margins(ODD), UnknownItemError, "'zebra'.*items="),
    (lambda m: m.scores(items=NEW), DataError, "lack the feature 'size' and have .*'sise'"),
    (lambda m: m.scores(items=Items.from_arrays(np.eye(2, 3))), DataError, "lack the features"),
    (lambda m: m.margins_of_codes([[0, 1]]), DataError, r"its shape is \(1, 2\)"),
    (lambda m: m.margins_of_codes([[0, 1, 7]]), DataError, "right item code 7"),
    (lambda m: m.margins_of_codes([[4, 1, 2]]), DataError, "user code 4"),
    (lambda m: m.rank_items("ann", top=-1), SettingError, "top must be"),
    (lambda m: m.ideal_points("exakt"), SettingError, "did you mean 'exact'"),
    (lambda m: m.ideal_points(alpha=1.0), SettingError, "method='regularised'"),
    (lambda m: replace(m, loss=Hinge()).predict_proba(questions(m)), SettingError, "'hinge'"),
    (lambda m: replace(m, metric=np.eye(2)), DataError, r"metric has shape \(2, 2\)"),
    (lambda m: replace(m, metric=np.ones((5, 3, 3))), DataError, "one for each"),
    (lambda m: replace(m, points=np.ones((3, 3))), DataError, "for 4 users"),
    (lambda m: replace(m, points=np.full((4, 3), np.nan)), DataError, "finite"),
    (lambda m: replace(m, metric=np.eye(3, dtype=int)), DataError, "floating-point"),
    (lambda m: replace(m, users=("ann", "ann", 1, 2)), DataError, "given twice"),
    (lambda m: replace(m, metric=np.eye(2), points=np.ones((4, 2))).x, DataError, "feature map"),
]


@pytest.mark.parametrize(("mistake", "error", "words"), MISTAKES)
def test_mistakes_are_named_in_one_sentence(mistake, error, words):
    with pytest.raises(error, match=words) as caught:
        mistake(crowd())
    assert "\n" not in str(caught.value)


def newcomers(model, seed=0, count=400, users=("dee", "eve")):
    """Return answers of new users with known points, in their own codes."""
    rng = np.random.default_rng(seed)
    true = -2 * rng.normal(size=(len(users), 3)) @ model.metric * 0.3
    user = rng.integers(0, len(users), count)
    left = rng.integers(0, 7, count)
    right = (left + rng.integers(1, 7, count)) % 7
    x = model.x
    squares = np.einsum("id,de,ie->i", x, model.metric, x)
    margins = squares[left] - squares[right]
    margins += np.einsum("td,td->t", true[user], x[left] - x[right])
    answers = np.where(rng.uniform(size=count) < 1 / (1 + np.exp(-2 * margins)), 1, -1)
    triples = np.column_stack([user, 6 - left, 6 - right])
    ids = tuple(reversed(model.items.ids))
    return Comparisons.from_arrays(triples, answers, users=users, item_ids=ids)


def test_new_users_are_fitted_against_the_fixed_metric():
    model = crowd(8)
    answers = newcomers(model)
    grown = model.add_users(answers)
    assert grown.users == (*model.users, "dee", "eve")
    np.testing.assert_array_equal(grown.metric, model.metric)
    np.testing.assert_array_equal(grown.points[:4], model.points)
    assert grown.certificate is model.certificate
    assert grown.notes[-1].startswith("2 user(s) were fitted later, with the metric fixed")
    assert grown.additions[0].certificate.gap <= 1e-6
    # The risk cannot be lowered by moving a newcomer's point within the radius.
    signs = answers.response
    best = np.mean(model.loss.value(signs * grown.margins(answers)))
    rng = np.random.default_rng(1)
    for _ in range(20):
        moved = grown.points.copy()
        moved[4:] += rng.normal(scale=0.05, size=(2, 3))
        length = np.linalg.norm(moved, axis=1, keepdims=True)
        moved *= np.minimum(1.0, 5.0 / length)
        other = replace(grown, points=moved)
        assert np.mean(model.loss.value(signs * other.margins(answers))) >= best - 2e-6
    again = grown.add_users(newcomers(model, 3, users=("fay",)))
    assert again.users[-1] == "fay"
    assert [added.users for added in again.additions] == [("dee", "eve"), ("fay",)]


def test_the_point_radius_of_new_users():
    model = crowd(8)
    answers = newcomers(model)
    short = model.add_users(answers, point_radius=0.1)
    assert np.linalg.norm(short.points[4:], axis=1).max() <= 0.1 * (1 + 1e-9)
    free = replace(model, region=PSDOnly()).add_users(answers)
    limit = 2 * np.linalg.norm(model.points, axis=1).max()
    assert np.linalg.norm(free.points[4:], axis=1).max() <= limit * (1 + 1e-9)


def test_a_single_precision_model_takes_new_users():
    model = crowd(8)
    small = crowd(8, metric=model.metric.astype("f4"), points=model.points.astype("f4"))
    grown = small.add_users(newcomers(model))
    assert grown.points.dtype == np.float32
    assert len(grown.users) == 6


@pytest.mark.parametrize(
    ("parts", "users", "radius", "error", "words"),
    [
        ({}, ("dee", "bob"), None, DataError, "the user 'bob' already"),
        ({}, ("dee", "7"), None, DataError, "the user '7' already"),
        ({"single": True}, ("dee", "eve"), None, SettingError, "all users share"),
        ({}, ("dee", "eve"), -1.0, SettingError, "point_radius must be"),
        (
            {"points": np.zeros((4, 3)), "region": PSDOnly()},
            ("dee", "eve"),
            None,
            SettingError,
            "point_radius must be",
        ),
    ],
)
def test_new_users_that_cannot_be_added(parts, users, radius, error, words):
    answers = newcomers(crowd(8), users=users)
    with pytest.raises(error, match=words):
        crowd(8, **parts).add_users(answers, point_radius=radius)
