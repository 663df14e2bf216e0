"""Model files: what goes in comes out to the last bit, and nothing else is let in."""

import json
import os
import struct
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdmetric import features as maps
from crowdmetric import storage
from crowdmetric.comparisons import Items
from crowdmetric.errors import DataError, ModelFileError, OutputError, SettingError
from crowdmetric.losses import Hinge, Logistic, Probit, SmoothedHinge, SquaredHinge
from crowdmetric.model import Addition, Model, example
from crowdmetric.regions import (
    FixedMetric,
    NuclearFull,
    NuclearMetric,
    NuclearSplit,
    PSDOnly,
)
from crowdmetric.storage import container, encoding

EYE = np.eye(2)


def same(one, other):
    """Return whether two values are alike in type and in every bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return (
            one.dtype == other.dtype
            and one.shape == other.shape
            and np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()
        )
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "__dataclass_fields__"):
        return all(same(getattr(one, k), getattr(other, k)) for k in one.__dataclass_fields__)
    return bool(one == other)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "crowd.model"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the bytes of a saved model that has a little of everything."""
    path = tmp_path_factory.mktemp("whole") / "crowd.model"
    full = replace(
        example(),
        certificate=replace(example().certificate, slopes=np.array([-0.5, -0.1]), dual=EYE),
        region=FixedMetric(EYE, 2.0),
    )
    full.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"metric": EYE.astype("f4"), "points": np.array([[0.1, -0.0], [1e-40, 3]], "f4")},
        {"metric": np.stack([EYE, np.zeros((2, 2))])},
        {"metric": np.asfortranarray([[2.0, 0.5], [0.5, 1.0]])},
        {"points": np.array([[5e-324, -0.0], [0.1 + 0.2, 1e308]])},
        {"users": (("ann", 1, (True, 2.5)), "1")},
        {"users": (1, "1")},
        {"users": (True, 2)},
        {"users": (np.int64(3), np.str_("b"))},
        {"users": ("\ud800 lone", "naïve ☃ \x00")},
        {"users": (float("inf"), 2**70)},
        {"users": (-0.0, 0.1)},
        {"certificate": replace(example().certificate, slopes=np.array([-0.5]), dual=EYE)},
        {"certificate": replace(example().certificate, lower_bound=-np.inf)},
        {"additions": (Addition(("bob",), example().certificate),)},
        {"features": maps.Center().fit(example().items.features, ("warm", "light"))},
        {"features": maps.Standardize().fit(example().items.features, ("warm", "light"))},
        {"features": maps.UnitBall().fit(example().items.features, ("warm", "light"))},
        *({"loss": loss} for loss in (Probit(0.1), Hinge(), SquaredHinge(), SmoothedHinge(0.3))),
        {"region": NuclearFull(0.1, margin_bound=3.0)},
        {"region": NuclearMetric((0.1, 0.2), (0.3, 0.4))},
        {"region": NuclearSplit(0.1, 7.0)},
        {"region": PSDOnly()},
        {"region": FixedMetric(np.array([[2.0, 0.1], [0.1, 1.0]]), 2.0)},
    ],
)
def test_what_is_saved_comes_back_to_the_last_bit(file, parts, mmap):
    model = replace(example(), **parts)
    model.save(file)
    back = Model.load(file, mmap)
    assert same(back, model)
    assert same(back.scores(), model.scores())
    for array in (back.metric, back.points, back.items.features):
        assert not array.flags.writeable
    second = file.with_name("again.model")
    back.save(second)
    assert second.read_bytes() == file.read_bytes()


PLAIN = st.one_of(st.text(max_size=8), st.integers(), st.floats(allow_nan=False), st.booleans())
IDS = st.lists(
    st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4),
    min_size=2,
    max_size=5,
    unique=True,
)


@settings(max_examples=40, deadline=None)
@given(users=IDS, items=IDS, seed=st.integers(0, 2**32 - 1), small=st.booleans())
def test_any_model_comes_back(tmp_path_factory, users, items, seed, small):
    rng = np.random.default_rng(seed)
    kind = np.float32 if small else np.float64
    model = replace(
        example(),
        metric=np.diag(rng.uniform(size=2)).astype(kind),
        points=rng.normal(size=(len(users), 2)).astype(kind),
        users=tuple(users),
        items=Items(tuple(items), rng.normal(size=(len(items), 2)), ("a", "b")),
    )
    file = tmp_path_factory.mktemp("any") / "crowd.model"
    model.save(file)
    assert same(storage.load(file), model)


def test_arrays_stay_in_the_file_until_they_are_needed(file):
    example().save(file)
    owner = storage.load(file).metric
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    assert isinstance(owner, np.memmap)
    copied = storage.load(file, mmap=False)
    file.unlink()
    np.testing.assert_array_equal(copied.metric, example().metric)


def test_arrays_lie_on_boundaries_that_processors_like(file):
    example().save(file)
    model = storage.load(file)
    for array in (model.metric, model.points, model.items.features):
        assert array.__array_interface__["data"][0] % 64 == 0


def test_the_file_is_what_its_description_says(file):
    example().save(file)
    content = file.read_bytes()
    magic, schema, length = struct.unpack("<16sQQ", content[:32])
    assert (magic, schema) == (b"\x93crowdmetric\r\n\x1a\n", storage.SCHEMA)
    header = json.loads(content[64 : 64 + length])
    entry = header["arrays"]["points"]
    start = 64 + length + entry["offset"]
    found = np.frombuffer(content, entry["dtype"], 4, start).reshape(entry["shape"])
    np.testing.assert_array_equal(found, example().points)
    assert header["document"]["model"]["fields"]["loss"]["$class"] == "Logistic"


def refused(path, content, words="."):
    """Check that a file with this content is refused in one sentence that names it."""
    path.write_bytes(content)
    for mmap in (True, False):
        with pytest.raises(ModelFileError, match=words) as caught:
            storage.load(path, mmap)
        assert str(caught.value).startswith(f"{path}: ")
        assert "\n" not in str(caught.value)
        assert "; " in str(caught.value)


def test_every_byte_counts(file, whole):
    for position in range(0, len(whole), 7):  # 7 is prime to 64: all parts of the file are met
        changed = bytearray(whole)
        changed[position] ^= 1 << position % 8
        refused(file, bytes(changed))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_changed_byte_is_never_overlooked(tmp_path_factory, whole, data):
    changed = bytearray(whole)
    changed[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    refused(tmp_path_factory.getbasetemp() / "changed.model", bytes(changed))


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_truncated_file_is_never_overlooked(tmp_path_factory, whole, data):
    length = data.draw(st.integers(0, len(whole) - 1))
    refused(tmp_path_factory.getbasetemp() / "short.model", whole[:length])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"user,left,right\n", "not a model file"),
        (b"user,left,right\n" * 100, "not a model file"),
        (bytes(1000), "not a model file"),
    ],
)
def test_other_files_are_refused(file, content, words):
    refused(file, content, words)


def test_a_longer_file_is_refused(file, whole):
    refused(file, whole + bytes(64), "longer than it says")


def test_a_newer_schema_is_refused_with_the_remedy(file, whole):
    newer = whole[:16] + struct.pack("<Q", storage.SCHEMA + 1) + whole[24:]
    refused(file, newer, "schema 2 .*upgrade crowdmetric")


def test_what_is_not_a_readable_file_is_refused(tmp_path):
    for path in (tmp_path / "absent.model", tmp_path):
        with pytest.raises(ModelFileError, match="cannot be read"):
            storage.load(path)


def crafted(path, change):
    """Write a file whose checksums are right and whose content is not."""
    arrays = {}
    document = {"version": "1", "model": encoding.encode(example(), "", arrays)}
    change(document["model"])
    container.write(path, document, arrays)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda model: model["fields"].pop("points"), "not that of a model"),
        (lambda model: model["fields"].update(extra=1), "not that of a model"),
        (lambda model: model["fields"].update(users={"$tuple": ["ann"]}), "for 1 users"),
        (lambda model: model["fields"].update(points={"$array": "none"}), "not that of a model"),
        (lambda model: model["fields"].update(points={"$odd": "none"}), "not that of a model"),
        (lambda model: model["fields"].update(points={}), "not that of a model"),
        (lambda model: model["fields"]["loss"]["fields"].update(scale=-1), "not that of a model"),
        (lambda model: model["fields"]["loss"].update({"$class": "Popen"}), "the class Popen"),
        (lambda model: model.update(model["fields"]["loss"]), "holds no model"),
    ],
)
def test_a_rewritten_file_with_right_checksums_is_refused(file, change, words):
    crafted(file, change)
    refused(file, file.read_bytes(), words)


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: folder / "absent" / "crowd.model",
        lambda folder: folder,
        lambda folder: folder / "file" / "crowd.model",
    ],
)
def test_an_output_that_cannot_be_written_leaves_nothing_behind(tmp_path, make):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"cannot be written .*; name a file in a folder"):
        example().save(make(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_interrupted_save_keeps_the_old_model(file, monkeypatch):
    example().save(file)
    before = file.read_bytes()

    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        replace(example(), loss=Hinge()).save(file)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_a_model_may_be_saved_over_the_file_it_lives_in(file):
    example().save(file)
    model = storage.load(file)
    replace(model, loss=Hinge()).save(file)
    np.testing.assert_array_equal(model.points, example().points)
    assert storage.load(file).loss == Hinge()


def test_a_saved_file_has_the_permissions_of_any_new_file(file):
    example().save(file)
    plain = file.with_name("plain")
    plain.touch()
    assert file.stat().st_mode == plain.stat().st_mode


@dataclass(frozen=True)
class FlatLoss(Logistic):
    """A loss of a user's own, with more kinds of fields than the built-in ones have."""

    table: dict[str, float] | None = None
    levels: list[float] | None = None


@dataclass(frozen=True)
class StrangerLoss(Logistic):
    """A loss that nobody registers."""


class PlainLoss(Hinge):
    """A class that is a dataclass by birth, but not registered."""


def test_a_registered_class_is_saved_and_loaded(file, monkeypatch):
    monkeypatch.setattr(encoding, "_registry", dict(encoding._registry))
    loss = FlatLoss(2.0, table={"a": float("inf"), "b": 0.5}, levels=[1.0, 2.0])
    with pytest.raises(SettingError, match=r"storage\.register\(FlatLoss\)"):
        replace(example(), loss=loss).save(file)
    assert storage.register(FlatLoss) is FlatLoss
    replace(example(), loss=loss).save(file)
    assert storage.load(file).loss == loss
    del encoding._registry["FlatLoss"]
    with pytest.raises(ModelFileError, match=r"uses the class FlatLoss.*register"):
        storage.load(file)


@pytest.mark.parametrize("part", [StrangerLoss(), PlainLoss(), object(), len])
def test_an_unregistered_class_is_refused_before_anything_is_written(file, part):
    with pytest.raises(SettingError, match=r"the model's loss cannot be saved.*register"):
        replace(example(), loss=part).save(file)
    assert not file.exists()


def test_what_cannot_be_registered():
    with pytest.raises(SettingError, match="not a dataclass"):
        storage.register(int)
    with pytest.raises(SettingError, match="not a dataclass"):
        storage.register(Hinge())
    impostor = type("Hinge", (Hinge,), {"__module__": "elsewhere"})
    with pytest.raises(SettingError, match=r"is taken by crowdmetric\.losses\.hinges\.Hinge"):
        storage.register(impostor)


@pytest.mark.parametrize("odd", [Path("x"), frozenset({1}), b"bytes", ("a", b"b"), 1j])
def test_ids_that_would_not_come_back_are_refused(file, odd):
    with pytest.raises(DataError, match=r"the user id .* cannot be saved; make the ids text"):
        replace(example(), users=(odd, "bob")).save(file)
    items = Items((odd, "b", "c"), np.ones((3, 2)), ("warm", "light"))
    with pytest.raises(DataError, match="the item id"):
        replace(example(), items=items).save(file)
    assert not file.exists()


def test_arrays_of_objects_are_refused(file):
    odd = replace(example().certificate, slopes=np.array([object()]))
    with pytest.raises(SettingError, match=r"'certificate\.slopes' of type object"):
        replace(example(), certificate=odd).save(file)


def test_a_big_endian_array_is_stored_little_endian(file):
    swapped = replace(example(), points=example().points.astype(">f8"))
    swapped.save(file)
    np.testing.assert_array_equal(storage.load(file).points, example().points)
