"""Pictures: the right data in the right place, readable, and written whole or not at all."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from crowdmetric import plots, points
from crowdmetric.comparisons import Items
from crowdmetric.errors import OutputError, SettingError, UnknownUserError
from crowdmetric.map_layout import layout, place_labels
from crowdmetric.model import example
from crowdmetric.plots.names import shortened
from crowdmetric.simulation import simulate


def model_of(metric, pseudo, *, items=None, users=None, seed=0):
    """Return what the pictures read of a fitted model."""
    metric, pseudo = np.asarray(metric, dtype=float), np.asarray(pseudo, dtype=float)
    if items is None:
        features = np.random.default_rng(seed).standard_normal((12, metric.shape[-1]))
        items = Items.from_arrays(features)
    return SimpleNamespace(
        metric=metric,
        points=pseudo,
        users=tuple(f"u{k}" for k in range(len(pseudo))) if users is None else users,
        items=items,
        features=SimpleNamespace(transform=lambda features: features),
        in_space=(metric, pseudo),
        varying=slice(None),
        ideal_points=lambda: points.ideal_points(metric, pseudo),
    )


def model_from_crowd(n_items, dimension, rank, n_users):
    crowd = simulate(n_items, dimension, rank, n_users, 1, test_pairs_per_user=1)
    return model_of(crowd.metric, crowd.points, items=crowd.items, users=crowd.comparisons.users)


@pytest.fixture
def model():
    return model_of(np.diag([4.0, 1.0, 0.0]), -2 * np.diag([4.0, 1.0, 0.0]))


def drawn(scatter):
    return np.asarray(scatter.get_offsets())


def labels(axes):
    return [text.get_text() for text in axes.texts]


def boxes_overlap(figure, axes):
    figure.draw_without_rendering()
    extents = [text.get_window_extent().extents for text in axes.texts]
    return any(
        min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 1
        for number, a in enumerate(extents)
        for b in extents[:number]
    )


def test_the_heat_map_shows_the_metric_centred_at_zero():
    metric = [[2.0, -1.0], [-1.0, 3.0]]
    axes = plots.plot_metric(model_of(metric, np.ones((2, 2)))).axes[0]
    assert np.array_equal(axes.images[0].get_array(), metric)
    assert axes.images[0].get_clim() == (-3.0, 3.0)
    assert labels(axes) == ["2", "-1", "-1", "3"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["x0", "x1"]
    assert axes.get_title() == "Metric: 2 features, rank 2"


@pytest.mark.parametrize(("dimension", "named"), [(13, 13), (40, 40), (120, 40)])
def test_a_large_heat_map_names_what_can_be_read(dimension, named):
    axes = plots.plot_metric(model_of(np.eye(dimension), np.ones((2, dimension)))).axes[0]
    assert len(axes.get_yticklabels()) == named
    assert not axes.texts


@pytest.mark.parametrize(("dimension", "scale"), [(6, 1.0), (8, 1e-5), (12, 1.0), (12, 1e7)])
def test_numbers_stay_inside_their_cells(dimension, scale):
    root = np.random.default_rng(0).standard_normal((dimension, dimension))
    names = [f"a rather long name of feature {j}" for j in range(dimension)]
    items = Items.from_arrays(np.eye(dimension), names=names)
    model = model_of(scale * root @ root.T, np.ones((1, dimension)), items=items)
    figure = plots.plot_metric(model)
    axes = figure.axes[0]
    figure.draw_without_rendering()
    cell = axes.get_window_extent().width / dimension
    assert len(axes.texts) == dimension**2
    assert max(text.get_window_extent().width for text in axes.texts) < cell
    assert min(text.get_fontsize() for text in axes.texts) >= 5.0
    written = [tick.get_text() for tick in axes.get_xticklabels()]
    assert len(set(written)) == dimension


def test_numbers_that_cannot_be_read_are_left_out(monkeypatch):
    monkeypatch.setattr("crowdmetric.plots.heat_map._LEGIBLE", 20.0)
    assert not plots.plot_metric(model_of(np.eye(9), np.ones((2, 9)))).axes[0].texts


def test_a_dash_marks_what_is_below_zero_where_there_are_no_numbers():
    metric = np.eye(20)
    metric[2, 5] = metric[5, 2] = -0.7
    metric[3, 4] = metric[4, 3] = -0.01
    figure = plots.plot_metric(model_of(metric, np.ones((1, 20))))
    (dashes,) = figure.axes[0].collections
    assert sorted(map(tuple, drawn(dashes).tolist())) == [(2, 5), (5, 2)]
    assert figure.axes[1].get_ylabel() == "entry of M (dash: below zero)"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["short", "also short"], ["short", "also short"]),
        (["Hotel Palace 1", "Hotel Palace 2"], ["Hotel…ace 1", "Hotel…ace 2"]),
        (
            ["wifi down", "wifi speed down (Mbit/s)", "wifi speed up (Mbit/s)"],
            ["wifi down", "…down…it/s)", "…up (Mbit/s)"],
        ),
        (["0123456789abcdef"] * 2, ["012345…bcdef"] * 2),
        (["東京都千代田区丸の内"], ["東京都…の内"]),
    ],
)
def test_long_names_are_cut_so_that_they_remain_distinct(texts, expected):
    assert shortened(texts, 12) == expected


def test_names_of_the_same_beginning_and_end_remain_distinct():
    texts = [f"a long common beginning {a} and {b} end" for a in "xyz" for b in range(40)]
    short = shortened(texts, 16)
    assert len(set(short)) == len(texts)
    assert max(map(len, short)) <= 16


def test_names_that_no_font_can_write_are_numbered_with_one_warning(tmp_path, monkeypatch):
    monkeypatch.setattr("crowdmetric.plots.names._FONTS", ("no such font",))
    features = np.random.default_rng(0).standard_normal((3, 2))
    items = Items(("red", "\U000e0f00", "blue"), features, ("warm", "light"))
    with pytest.warns(plots.MissingGlyphWarning, match="calls it #2.*install a font") as caught:
        figure = plots.plot_map(model_of(np.eye(2), np.ones((1, 2)), items=items))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert {"#2", "red", "blue"} <= set(labels(figure.axes[0]))
    plots.save(figure, tmp_path / "map.png")


def test_a_font_that_has_the_letters_is_used(monkeypatch, tmp_path):
    monkeypatch.setattr("crowdmetric.plots.names._FONTS", ("no such font", "STIXGeneral"))
    items = Items.from_arrays(np.eye(2), names=["x0", "\u210a"])  # which DejaVu Sans does not have
    figure = plots.plot_metric(model_of(np.eye(2), np.ones((1, 2)), items=items))
    names = figure.axes[0].get_xticklabels()
    assert [name.get_text() for name in names] == ["x0", "\u210a"]
    assert names[1].get_fontfamily()[-1] == "STIXGeneral"
    plots.save(figure, tmp_path / "metric.png")


def test_features_that_are_not_the_items_own_are_numbered():
    items = Items.from_arrays(np.eye(3))
    axes = plots.plot_metric(model_of(np.eye(2), np.ones((1, 2)), items=items)).axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["z0", "z1"]


def test_names_are_never_read_as_formulas(tmp_path):
    items = Items(
        ("$a_$", "b^", "c"), np.random.default_rng(0).standard_normal((3, 2)), ("$", "$_$")
    )
    model = model_of(np.eye(2), np.ones((1, 2)), items=items, users=("$\\bad$",))
    for number, figure in enumerate((plots.plot_metric(model), plots.plot_map(model))):
        plots.save(figure, tmp_path / f"{number}.png")


def test_the_spectrum_shows_every_eigenvalue_largest_first(model):
    axes = plots.plot_spectrum(model).axes[0]
    assert [bar.get_height() for bar in axes.patches] == [4.0, 1.0, 0.0]
    assert labels(axes) == ["80%", "20%", "0%"]
    assert axes.get_title() == "2 of 3 eigenvalues hold 100% of the trace"


def test_the_map_shows_items_and_ideal_points_to_the_scale_of_the_metric(model):
    axes = plots.plot_map(model).axes[0]
    items, ideal = axes.collections
    features = model.items.features
    scaled = features @ np.diag([2.0, 1.0, 0.0])[:, :2]
    np.testing.assert_allclose(drawn(items), scaled - scaled.mean(axis=0), atol=1e-12)
    between = np.linalg.norm(drawn(items)[0] - drawn(items)[1])
    gap = features[0] - features[1]
    assert between == pytest.approx(np.sqrt(gap @ model.metric @ gap))
    expected = np.diag([2.0, 1.0, 0.0])[:, :2] - scaled.mean(axis=0)
    np.testing.assert_allclose(drawn(ideal), expected, atol=1e-12)
    assert axes.get_xlabel() == "direction 1 (80% of the metric's trace)"
    assert axes.get_ylabel() == "direction 2 (20%)"
    assert axes.get_aspect() == 1.0


@pytest.mark.parametrize("dimension", [1, 4])
def test_a_metric_of_rank_one_is_a_strip(dimension):
    model = model_from_crowd(30, dimension, 1, 5)
    axes = plots.plot_map(model).axes[0]
    items, ideal = axes.collections
    root = points.factor(model.metric)[:, 0]
    along = model.items.features @ root
    np.testing.assert_allclose(drawn(items)[:, 0], along - along.mean(), atol=1e-9)
    assert (drawn(items)[:, 1] < 0).all()
    assert (drawn(ideal)[:, 1] > 0).all()
    assert len(axes.get_yticks()) == 0


def test_far_ideal_points_are_marked_at_the_edge_of_the_frame():
    ideal = [[0.0, 0.0], [1e6, 0.0], [0.0, -1e6]]
    figure = plots.plot_map(model_of(np.eye(2), -2 * np.array(ideal)))
    axes = figure.axes[0]
    _, near, far = axes.collections
    assert len(drawn(near)) == 1
    assert len(drawn(far)) == 2
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert max(right - left, top - bottom) < 20
    for x, y in drawn(far):
        assert left < x < right
        assert bottom < y < top
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["12 items", "1 ideal point", "2 ideal points beyond the frame"]


@pytest.mark.parametrize("sizes", [(37, 3, 2, 20), (60, 2, 2, 30), (25, 1, 1, 8)])
def test_labels_cover_no_other_labels(sizes):
    figure = plots.plot_map(model_from_crowd(*sizes))
    assert labels(figure.axes[0])
    assert not boxes_overlap(figure, figure.axes[0])


def test_many_items_and_users_go_without_labels():
    figure = plots.plot_map(model_from_crowd(61, 3, 2, 31))
    assert not labels(figure.axes[0])
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert all(text.endswith("(unlabelled)") for text in texts)


def test_the_legend_says_how_many_have_no_label():
    features = np.repeat(np.random.default_rng(0).standard_normal((5, 2)), 5, axis=0)
    items = Items.from_arrays(features, ids=[f"Hotel Grand Palace {i}" for i in range(25)])
    figure = plots.plot_map(model_of(np.eye(2), np.ones((1, 2)), items=items))
    written = labels(figure.axes[0])
    missing = 26 - len(written)
    assert 0 < missing < 25
    assert len(set(written)) == len(written)
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == [f"25 items ({missing} unlabelled)", "1 ideal point"]


@pytest.mark.parametrize("plot", [plots.plot_metric, plots.plot_map, plots.plot_spectrum])
def test_a_metric_of_zeros_can_be_drawn(plot, tmp_path):
    plots.save(plot(model_of(np.zeros((3, 3)), np.zeros((2, 3)))), tmp_path / "zero.png")


@pytest.mark.parametrize("plot", [plots.plot_metric, plots.plot_map, plots.plot_spectrum])
def test_where_each_user_has_a_metric_one_must_be_named(plot):
    model = model_of([np.eye(2), 2 * np.eye(2)], np.ones((2, 2)))
    with pytest.raises(SettingError, match="name one of them, for example user='u0'"):
        plot(model)
    with pytest.raises(UnknownUserError, match="did you mean 'u1'"):
        plot(model, "U1")
    assert "(user u1)" in plot(model, "u1").axes[0].get_title()


def test_one_users_map_has_one_ideal_point():
    model = model_of([np.eye(2), np.diag([4.0, 1.0])], [[-2.0, 0.0], [-8.0, 0.0]])
    _, ideal = plots.plot_map(model, "u1").axes[0].collections
    centre = model.items.features.mean(axis=0)
    np.testing.assert_allclose(drawn(ideal), [[2 * (1 - centre[0]), -centre[1]]])


@pytest.mark.parametrize(
    ("name", "start"), [("a.png", b"\x89PNG"), ("b.svg", b"<?xml"), ("c.PDF", b"%PDF")]
)
def test_saved_files_are_of_their_kind(model, tmp_path, name, start):
    plots.save(plots.plot_spectrum(model), tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    content = (tmp_path / name).read_bytes()
    assert content.startswith(start)
    assert len(content) > 1000


def test_what_cannot_be_saved_leaves_nothing_behind(model, tmp_path):
    figure = plots.plot_spectrum(model)
    with pytest.raises(OutputError, match=r"\.png, \.svg or \.pdf"):
        plots.save(figure, tmp_path / "picture.gif")
    with pytest.raises(OutputError, match="cannot be written"):
        plots.save(figure, tmp_path / "nowhere" / "picture.png")
    (tmp_path / "taken.png").mkdir()
    with pytest.raises(OutputError, match="cannot be written"):
        plots.save(figure, tmp_path / "taken.png")
    assert [path.name for path in tmp_path.iterdir()] == ["taken.png"]


def test_matplotlib_is_imported_on_first_use_and_pyplot_never(tmp_path):
    code = (
        "import sys, crowdmetric.plots as plots; assert 'matplotlib' not in sys.modules; "
        "import matplotlib.figure as f; plots.save(f.Figure(), sys.argv[1]); "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "empty.png")], check=True)


@pytest.mark.parametrize("plot", [plots.plot_metric, plots.plot_map, plots.plot_spectrum])
def test_a_fitted_model_has_what_the_pictures_read(plot, tmp_path):
    plots.save(plot(example()), tmp_path / "picture.svg")
    assert plot(example(), "bob").axes[0].get_title().endswith("(user bob)")


def test_the_map_of_a_model_places_ids_by_the_metric():
    items, ideal = plots.plot_map(example()).axes[0].collections
    root = np.sqrt(2)
    np.testing.assert_allclose(
        drawn(items), [[root, -1 / 3], [0, 2 / 3], [-root, -1 / 3]], atol=1e-9
    )
    np.testing.assert_allclose(drawn(ideal), [[root, -1 / 3], [0, 2 / 3]], atol=1e-9)


def test_the_frame_holds_all_items_and_every_position_shown():
    generator = np.random.default_rng(0)
    for scale in (1e-6, 1.0, 1e6):
        items = scale * generator.standard_normal((30, 2))
        ideal = scale * generator.standard_normal((20, 2)) * generator.choice([1, 100], (20, 1))
        found = layout(items, ideal)
        for shown in (found.items, found.ideal):
            assert ((shown >= found.low) & (shown <= found.high)).all()
        assert np.array_equal(found.items, items)
        np.testing.assert_allclose(found.ideal[~found.beyond], ideal[~found.beyond], rtol=1e-9)
        assert found.beyond.any()
        assert not found.beyond.all()


def test_labels_in_a_row_do_not_touch():
    low, high, size = np.array([-1.0, -3.0]), np.array([60.0, 3.0]), np.full((2, 2), 6.0)
    for distance, found in ((7.0, [(4.0, -3.0), None]), (10.0, [(4.0, -3.0)] * 2)):
        anchors = np.array([[0.0, 0.0], [distance, 0.0]])
        assert place_labels(anchors, size, np.empty((0, 4)), low, high) == found


def test_labels_without_room_are_left_out():
    anchors = np.zeros((30, 2))
    places = place_labels(
        anchors, np.full((30, 2), 6.0), np.empty((0, 4)), np.full(2, -30.0), np.full(2, 30.0)
    )
    placed = [place for place in places if place is not None]
    assert 4 <= len(placed) <= 8
    assert places[-1] is None
