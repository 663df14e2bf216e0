"""The commands fit and evaluate: what is chosen, and how far the probabilities can be trusted."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import crowdmetric as cm
from crowdmetric import features, regions
from crowdmetric.cli import choices, main
from crowdmetric.estimator.candidates import Wanted
from crowdmetric.estimator.record import SCORINGS
from crowdmetric.metrics import reliability

SIMULATE = "simulate --items 20 --dim 2 --users 3 --pairs 40 --test-pairs 50 --noise 4"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a simulated crowd."""
    place = tmp_path_factory.mktemp("crowd")
    assert main(shlex.split(f"{SIMULATE} --out {place}")) == 0
    return place


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Return what runs a command there and returns the object that it prints."""
    monkeypatch.chdir(folder)

    def call(command: str) -> dict:
        capsys.readouterr()
        assert main(shlex.split(f"{command} --json")) == 0
        return json.loads(capsys.readouterr().out)

    return call


FIT = "fit comparisons.csv --items items.csv"


def test_what_is_asked_for_is_chosen(run):
    facts = run(f"{FIT} --choose region features --scoring accuracy --one-standard-error")
    items = cm.read_items("items.csv")
    names = ["nuclear-full", "frobenius", "nuclear-metric", "nuclear-split"]
    fit = cm.CrowdMetricCV(items, names, features=list(choices.FEATURES), scoring="accuracy")
    fit.set_params(one_standard_error=True).fit(cm.read_comparisons("comparisons.csv", items))
    assert facts["chosen"] is True
    assert (facts["region"], facts["features"]) == (fit.region_.name, fit.features_)
    assert facts["radius"] == list(fit.radius_)


def test_the_scale_of_a_fixed_metric_is_chosen(run):
    facts = run(f"{FIT} --region fixed --choose loss-scale")
    assert facts["loss_scale"] == cm.load("crowd.model").loss.scale != 1.0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--choose region --region frobenius", "--choose region: --region says already"),
        ("--choose features --features center", "--choose features: --features says already"),
        ("--choose loss-scale --loss-scale 2", "--choose loss-scale: --loss-scale says already"),
        ("--choose features --radius 2", "--choose: radii are chosen too; leave --radius out"),
        ("--choose features --region psd", "'psd' has no radius"),
        ("--choose loss-scale --loss hinge", "'hinge' has no scale to choose"),
    ],
)
def test_what_makes_no_sense_is_refused(folder, monkeypatch, capsys, options, sentence):
    monkeypatch.chdir(folder)
    assert main(shlex.split(f"{FIT} {options}")) == 2
    assert sentence in capsys.readouterr().err


def test_the_words_are_those_of_the_package():
    assert choices.SCORINGS == SCORINGS
    assert set(choices.FEATURES) >= {features.Raw.name, features.Standardize.name}
    assert set(choices.REGIONS) - {"psd", "fixed"} <= set(regions.RADII)
    assert {word.replace("loss-scale", "loss_scales") for word in choices.CHOSEN} <= set(
        Wanted.__dataclass_fields__
    )


def test_evaluate_says_how_far_the_probabilities_are_off(run, capsys):
    run(f"{FIT} --radius 5")
    facts = run("evaluate crowd.model test.csv --picture reliability.png")
    model = cm.load("crowd.model")
    test = cm.read_comparisons("test.csv", model.items)
    table = reliability(model.predict_proba(test)[:, 0], test.response)
    assert facts["calibration_error"] == table.error
    assert Path("reliability.png").stat().st_size > 1000
    assert main(shlex.split("evaluate crowd.model test.csv")) == 0
    assert f"off by {table.error:.1%}" in capsys.readouterr().out


def test_without_probabilities_there_is_no_calibration(run, capsys):
    run(f"{FIT} --radius 5 --loss hinge")
    assert run("evaluate crowd.model test.csv")["calibration_error"] is None
    assert main(shlex.split("evaluate crowd.model test.csv --picture no.png")) == 2
    assert "gives no probabilities" in capsys.readouterr().err
    assert not Path("no.png").exists()
