"""Kernel features at the command line: fit, show, ideal, and what is refused."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest

import crowdmetric as cm
from crowdmetric.cli import main
from crowdmetric.comparisons import Items
from crowdmetric.features import RBF, KernelLift, Matern, Polynomial, SharedPoint, Standardize


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a small crowd and a lifted model of it."""
    path = tmp_path_factory.mktemp("lifted")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        crowd = "simulate --items 12 --dim 2 --rank 1 --users 3 --pairs 30 --out ."
        assert main(shlex.split(crowd)) == 0
        fit = "fit comparisons.csv --items items.csv --features kernel --radius 8 --tol 1e-4"
        assert main(shlex.split(f"{fit} --out lifted.model")) == 0
    return path


@pytest.fixture
def here(folder, monkeypatch):
    """Go there."""
    monkeypatch.chdir(folder)
    return folder


def run(words: str, capsys) -> tuple[int, str, str]:
    """Run a command."""
    code = main(shlex.split(words))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_a_kernel_fit_is_a_model_like_any_other(here, capsys):
    model = cm.load("lifted.model")
    assert isinstance(model.features, SharedPoint)
    assert isinstance(model.features.inner.covariance, Matern)
    assert model.certificate.converged
    code, out, _ = run("evaluate lifted.model test.csv --json", capsys)
    assert code == 0
    assert json.loads(out)["accuracy"] > 0.6
    code, out, _ = run("rank lifted.model --user u0 --top 3 --items items.csv", capsys)
    assert len(out.splitlines()) == 3


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ("--kernel rbf --length-scale 0.5", RBF(relative=0.5)),
        ("--kernel polynomial", Polynomial(2)),
        ("--length-scale 2", Matern(relative=2.0)),
    ],
)
def test_which_kernel(here, capsys, options, wanted):
    words = "fit comparisons.csv --items items.csv --features kernel --radius 4 --tol 1e-3"
    assert run(f"{words} {options} --shared-point 0 --out other.model", capsys)[0] == 0
    features = cm.load("other.model").features
    assert isinstance(features, KernelLift)
    x = Standardize().fit(features_of(here), ("x0", "x1")).transform(features_of(here))
    assert features.covariance == wanted.fit(np.asarray(x))


def test_too_few_landmarks_are_told(here, capsys):
    words = "fit comparisons.csv --items items.csv --features kernel --radius 4 --tol 1e-3"
    code, _, err = run(f"{words} --landmarks 2 --out other.model", capsys)
    assert code == 0
    assert "of the items' variance; give it more landmarks than 2" in err
    assert cm.load("other.model").dimension == 3


def features_of(folder):
    """Return the raw features of the items."""
    return cm.read_items(folder / "items.csv").features


def test_any_features_take_a_shared_point(here, capsys):
    words = "fit comparisons.csv --items items.csv --radius 4 --tol 1e-3 --out other.model"
    assert run(f"{words} --features standardize --shared-point 2", capsys)[0] == 0
    features = cm.load("other.model").features
    assert (features.inner.name, features.weight) == ("standardize", 2.0)
    _, out, _ = run("show other.model --json", capsys)
    facts = json.loads(out)
    assert {row["feature"] for row in facts["features"]} == {"x0", "x1"}
    assert facts["worth_by"] == "metric"


def test_show_tells_what_matters_in_raw_features(here, capsys):
    code, out, _ = run("show lifted.model --json", capsys)
    facts, model = json.loads(out), cm.load("lifted.model")
    assert code == 0
    assert facts["worth_by"] == "slopes"
    weights = {row["feature"]: row["weight"] for row in facts["features"]}
    np.testing.assert_allclose([weights["x0"], weights["x1"]], model.sensitivity().diagonal())
    assert len(facts["eigenvalues"]) == model.dimension - 1
    out = run("show lifted.model", capsys)[1]
    assert "its part in how scores change" in out
    assert "crowdmetric ideal" in out


def test_ideal_stays_within_the_bounds_given(here, capsys):
    words = "ideal lifted.model --user u1 --bounds x0 -0.5 0.5 --bounds x1 0 0.25"
    code, out, _ = run(f"{words} --json", capsys)
    assert code == 0
    facts = json.loads(out)
    assert -0.5 <= facts["ideal"]["x0"] <= 0.5
    assert 0 <= facts["ideal"]["x1"] <= 0.25
    model = cm.load("lifted.model")
    assert facts["best_item"] == model.rank_items("u1", top=1)[0][0]
    values = [list(facts["ideal"].values())] * 2
    item = Items.from_arrays(values, names=facts["ideal"])
    assert facts["score"] == pytest.approx(model.scores(["u1"], item)[0, 0])
    out = run(words, capsys)[1]
    assert "best item there is" in out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("fit c --items i --kernel rbf", 2, "--kernel is about --features kernel, not raw"),
        ("fit c --items i --landmarks 9", 2, "--landmarks is about --features kernel"),
        ("fit c --items i --length-scale 2", 2, "--length-scale is about --features kernel"),
        ("fit c --items i --features kernel --kernel polynomial --length-scale 2", 2, "has none"),
        ("fit c --items i --shared-point -1", 2, "--shared-point: the weight of a shared point"),
        ("fit c --items i --features kernel --kernel rbff", 2, "did you mean"),
        ("ideal lifted.model --user nobody", 1, "nobody"),
        ("ideal lifted.model --user u0 --bounds x0 low 1", 2, "--bounds: x0 needs two numbers"),
        ("ideal lifted.model --user u0 --bounds x9 0 1", 2, "bounds for 'x9'"),
        ("ideal lifted.model --user u0 --bounds x0 1 0", 2, "the lower one first"),
        ("ideal nowhere.model --user u0", 1, "cannot be read"),
        ("reproduce richer", 2, "give --colour-data PATH"),
        ("reproduce richer conjecture", 2, "give it a command of its own"),
    ],
)
def test_what_is_refused(here, capsys, words, code, message):
    found, out, err = run(words, capsys)
    assert (found, out) == (code, "")
    assert message in err
