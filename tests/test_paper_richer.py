"""Richer maps on the colours: splits that are what they say, and a better prediction."""

from __future__ import annotations

import numpy as np
import pytest

from crowdmetric.cli import main
from crowdmetric.features import RBF, KernelLift, SharedPoint
from crowdmetric.paper.colour_data import read_colours
from crowdmetric.paper.richer import SIZES, Richer, choose
from crowdmetric.paper.richer_table import run_richer, table
from crowdmetric.simulation import simulate


def test_length_scale_and_radius_are_chosen_by_answers_left_out():
    crowd = simulate(n_items=30, dimension=2, n_users=5, pairs_per_user=60, noise=4.0, seed=2)
    maps = [
        SharedPoint(KernelLift(RBF(relative=length))).fit(crowd.items.features, crowd.items.names)
        for length in (0.02, 1.0)  # the first one sees no item near another
    ]
    lifted = [one.transform(crowd.items.features) for one in maps]
    which, radius = choose(crowd.comparisons, lifted, [1e-6, 20.0], seed=0)
    assert (which, radius) == (1, 20.0)


@pytest.fixture(scope="module")
def data(colours_file):
    """Return the colours, where they are."""
    if colours_file is None:
        pytest.skip("the colour preferences are not there")
    return read_colours(colours_file)


def pairs(answers, rows):
    """Return each answer's person and two colours, in either order."""
    low, high = np.minimum(answers.left, answers.right), np.maximum(answers.left, answers.right)
    return set(zip(answers.user[rows], low[rows], high[rows], strict=True))


@pytest.mark.parametrize("split", ["paper", "together", "unseen"])
def test_what_test_answers_have_in_common_with_training(data, split):
    answers = data.answers
    training, test, known = Richer(split)._rows(data, np.random.default_rng(1))
    assert training.shape == (48, max(SIZES))
    assert (answers.user[training] == np.arange(48)[:, None]).all()
    assert not set(training.ravel()) & set(test)
    overlap = pairs(answers, training.ravel()) & pairs(answers, test)
    assert bool(overlap) == (split == "paper")
    if split == "unseen":
        assert len(known) == 30
        assert np.isin([answers.left[training], answers.right[training]], known).all()
        both = np.isin(answers.left[test], known) & np.isin(answers.right[test], known)
        assert not both.any()


def test_the_lift_predicts_better_from_twenty_answers_each(
    data, colours_file, tmp_path, monkeypatch
):
    monkeypatch.setattr("crowdmetric.paper.richer._LENGTHS", (0.5,))
    monkeypatch.setattr("crowdmetric.paper.richer._RADII", (6.0, 12.0))
    results = run_richer(str(colours_file), 1, 0, tmp_path, 1, sizes=(20,))
    for split in ("paper", "together", "unseen"):
        crowd, lifted = (
            results.trials(Richer(split), method, "accuracy")[1].item()
            for method in ("crowd", "lifted")
        )
        assert lifted > crowd + 0.03
    assert "7 of the 37 colours left out" in table(results)
    assert (tmp_path / "richer.parquet").exists()


def test_the_command_wants_data(capsys, tmp_path):
    assert main(["reproduce", "richer", "--colour-data", str(tmp_path / "none.mat")]) == 1
    assert "cannot be read" in capsys.readouterr().err
