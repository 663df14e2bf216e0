"""The paper's experiments in miniature: trials, units that survive, tables, figures, claims."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from crowdmetric import metrics, units
from crowdmetric.comparisons import Comparisons
from crowdmetric.errors import DataError, OutputError, SettingError
from crowdmetric.model.scoring import margins
from crowdmetric.paper import colour_data, figures
from crowdmetric.paper.certificates import tally
from crowdmetric.paper.claims import CLAIMS, check_claims, compare
from crowdmetric.paper.colours import METHODS as COLOUR_METHODS
from crowdmetric.paper.colours import Colours
from crowdmetric.paper.experiments import (
    COLOURS,
    COLOURS_TOGETHER,
    Plan,
    full_plan,
    quick_plan,
)
from crowdmetric.paper.reproduce import reproduce
from crowdmetric.paper.results import Results, provenance
from crowdmetric.paper.rows import MEASURES
from crowdmetric.paper.simulated import BOUNDED, METHODS, Simulated, chosen
from crowdmetric.paper.units import Unit, run_units
from crowdmetric.problem import Problem
from crowdmetric.regions import by_name
from crowdmetric.simulation import oracle_radii
from crowdmetric.solver import solve
from crowdmetric.trust import People, people

SMALL = {"dimension": 3, "items": 20, "users": 4, "test_pairs": 50}
REGIMES = tuple(
    Simulated(name, rank, beta, (10, 20), (20,), **SMALL)
    for name, rank, beta in (("highLow", 1, 1.0), ("highFull", 3, 1.0), ("medLow", 1, 4.0))
)
PLAN = Plan(REGIMES, trials=2)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Run the miniature once."""
    folder = tmp_path_factory.mktemp("reproduction")
    return folder, reproduce(PLAN, figures.choose([]), folder, workers=2)


def without_seconds(path):
    """Return a table's rows, but for what a clock says."""
    table = pq.read_table(path)
    return table.filter(np.array([m != "seconds" for m in table["measure"].to_pylist()]))


# What is run


def test_the_full_plan_is_the_papers():
    plan = full_plan("somewhere.mat")
    regimes = {e.name: e for e in plan.experiments if isinstance(e, Simulated)}
    assert plan.trials == 30
    assert {(e.rank, e.beta) for e in regimes.values()} == {(1, 1), (10, 1), (1, 4), (10, 4)}
    for regime in regimes.values():
        assert (regime.dimension, regime.items, regime.users) == (10, 100, 10)
        assert regime.test_pairs == 300
    assert regimes["highLow"].sizes == tuple(range(5, 301, 5))
    assert regimes["medFull"].sizes == tuple(range(30, 301, 30))
    colours = {e.name: e for e in plan.experiments if isinstance(e, Colours)}
    assert set(range(1, 31)) | set(range(5, 301, 5)) == set(colours[COLOURS].sizes)
    assert colours[COLOURS_TOGETHER].together
    assert colours[COLOURS].training == 300


def test_the_quick_plan_has_the_sizes_that_scripts_ask_for():
    for experiment in quick_plan("somewhere.mat").experiments:
        if experiment.beta != 4:
            assert {20, 50, 150} <= set(experiment.sizes)


def test_a_trial_measures_what_the_paper_defines():
    regime = REGIMES[0]
    crowd = regime.crowd(seed=3)
    rows = {(m, s, what): value for m, s, what, value in regime.run(seed=3)}
    answers = crowd.comparisons.subset(np.arange(80) % 20 < 10).answers()
    (radius,) = oracle_radii(crowd)["nuclear-full"]
    problem = Problem(
        answers, crowd.items.features, regime.problems(crowd, 10)["psd"].loss,
        by_name("nuclear-full", [radius]),
    )  # fmt: skip
    found = solve(problem)
    test = crowd.test
    delta = margins(
        found.metric, found.points, crowd.items.features, test.user, test.left, test.right
    )
    d, true = 3, crowd.metric
    ideal = -2 * np.linalg.solve(
        4 * found.metric @ found.metric + d * np.eye(d), found.metric @ found.points.T
    )
    reachable = np.linalg.pinv(true) @ true @ crowd.ideal_points.T
    expected = {
        "accuracy": metrics.accuracy(delta, test.response),
        "metric_error": np.linalg.norm(found.metric - true) / np.linalg.norm(true),
        "ideal_point_error": np.linalg.norm(ideal - reachable) / np.linalg.norm(reachable),
        "pseudo_point_error": np.linalg.norm(found.points - crowd.points)
        / np.linalg.norm(crowd.points),
        "risk": found.certificate.risk,
    }
    for measure, value in expected.items():
        assert rows["nuclear-full", 10, measure] == pytest.approx(value, rel=1e-9)
    assert rows["oracle", 10, "accuracy"] == crowd.truth_accuracy


def test_every_method_has_every_measure():
    rows = REGIMES[0].run(seed=0)
    found = {(method, size, measure) for method, size, measure, _ in rows}
    fitted = [m for m in METHODS if m != "oracle"]
    assert {(m, s, what) for m in fitted for s in (10, 20) for what in MEASURES} <= found
    assert {(chosen(m), 20, what) for m in BOUNDED for what in MEASURES} <= found
    assert not any(method == chosen("frobenius") and size == 10 for method, size, *_ in rows)


# Units


def test_seeds_depend_on_root_experiment_and_trial_only():
    seeds = {Unit(e, t, root).seed for e in REGIMES for t in range(5) for root in (0, 1)}
    assert len(seeds) == len(REGIMES) * 5 * 2
    assert Unit(REGIMES[1], 3, 0).seed == Unit(replace(REGIMES[1], sizes=(5,)), 3, 0).seed


def test_a_killed_run_goes_on_where_it_was(made, tmp_path, monkeypatch):
    folder, _ = made
    kept = tmp_path / "units"
    kept.mkdir()
    finished = sorted((folder / "units").glob("*.parquet"))
    for path in finished[:3]:
        (kept / path.name).write_bytes(path.read_bytes())
    (kept / finished[3].name).write_bytes(finished[3].read_bytes()[:100])  # cut off
    ran = []
    original = units._save
    monkeypatch.setattr(units, "_save", lambda u, *rest: (ran.append(u.name), original(u, *rest)))
    reproduce(PLAN, [], tmp_path, workers=1)
    assert sorted(ran) == [path.stem for path in finished[3:]]
    for path in finished[:3]:
        assert (kept / path.name).read_bytes() == path.read_bytes()
    again, first = (without_seconds(f / "results.parquet") for f in (tmp_path, folder))
    assert again.equals(first)
    for name in ("claims.csv", "claims.md", "certificates.csv"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_a_run_that_is_finished_writes_the_same_bytes_again(made, tmp_path):
    folder, _ = made
    before = {p.name: p.read_bytes() for p in folder.iterdir() if p.suffix in (".parquet", ".csv")}
    reproduce(PLAN, [], folder, workers=1)
    assert before == {name: (folder / name).read_bytes() for name in before}


def test_units_of_other_settings_are_run_again(tmp_path):
    one = Plan(REGIMES[:1], trials=1)
    first = run_units(one, tmp_path, workers=1)
    other = run_units(replace(one, seed=1), tmp_path, workers=1)
    assert list(first.values()) != list(other.values())


def test_progress_counts_what_is_left(tmp_path):
    seen = []
    run_units(Plan(REGIMES[:1], trials=1), tmp_path, 1, lambda *done: seen.append(done))
    run_units(Plan(REGIMES[:1], trials=2), tmp_path, 1, lambda *done: seen.append(done))
    assert seen == [(1, 1), (1, 1)]


def test_a_full_disk_is_one_message(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(units.pq, "write_table", full)
    with pytest.raises(OutputError, match="No space left on device"):
        run_units(Plan(REGIMES[:1], trials=1), tmp_path, workers=1)
    assert not list(tmp_path.iterdir())


# Tables and figures


def test_the_table_is_tidy_and_says_where_it_is_from(made):
    folder, result = made
    table = pq.read_table(folder / "results.parquet")
    assert table.column_names == [
        "experiment", "rank", "beta", "method", "pairs", "trial", "measure", "value"
    ]  # fmt: skip
    assert table.num_rows == result.results.table.num_rows
    assert set(table["method"].to_pylist()) == {*METHODS, *map(chosen, BOUNDED)}
    made_with = json.loads(table.schema.metadata[b"crowdmetric"])
    assert made_with == json.loads(json.dumps(provenance(PLAN)))
    assert made_with["seed"] == 0


def test_all_fits_are_certified_or_separable(made):
    _, result = made
    for count in result.tallies:
        assert count.missed == 0
        assert count.method == "psd" or count.separable == 0
        assert count.largest_gap <= 1e-6
    assert "0 missed" in result.summary()


def test_fits_that_miss_are_named():
    unit = Unit(REGIMES[0], 0, 0)
    rows = [("psd", 10, name, value) for name, value in
            (("converged", 0.0), ("separable", 0.0), ("gap", 0.5))]  # fmt: skip
    (count,) = tally(Results.of({unit: rows}), [REGIMES[0]])
    assert (count.missed, count.largest_gap) == (1, 0.5)


def test_every_figure_of_what_was_run_is_drawn(made):
    folder, result = made
    names = {path.stem for path in result.figures}
    expected = {f.name for f in figures.FIGURES if f.needs in {e.name for e in REGIMES}}
    assert names == expected
    for path in result.figures:
        start = path.read_bytes()[:4]
        assert start == (b"%PDF" if path.suffix == ".pdf" else b"\x89PNG")
    assert folder / "normal-highLow-test.pdf" in result.figures


def test_figures_are_chosen_by_name_or_beginning():
    assert len(figures.choose(["normal-medFull"])) == 6
    assert [f.name for f in figures.choose(["color-metric"])] == ["color-metric"]
    with pytest.raises(SettingError, match=r"no figure 'color-tset'; did you mean 'color-test'"):
        figures.choose(["color-tset"])


# Means over the 30 trials of `crowdmetric reproduce`, and how much single trials differ.
GOLDEN = {
    ("nuclear-full", 20, "accuracy"): (0.7040, 0.0296),
    ("nuclear-full", 150, "accuracy"): (0.7577, 0.0243),
    ("frobenius", 20, "accuracy"): (0.6396, 0.0287),
    ("nuclear-full-single", 150, "accuracy"): (0.7327, 0.0273),
    ("oracle", 150, "accuracy"): (0.7717, 0.0259),
    ("nuclear-full", 150, "metric_error"): (0.2449, 0.0469),
    ("nuclear-full", 150, "ideal_point_error"): (0.2640, 0.0557),
    ("nuclear-metric", 150, "ideal_point_error"): (0.3655, 0.1046),
    ("nuclear-full", 150, "pseudo_point_error"): (0.3192, 0.0435),
}


def test_a_few_trials_lie_where_the_papers_curves_are():
    regime, trials = Simulated("highLow", 1, 1.0, (20, 150, 300)), 3
    rows = [row for trial in range(trials) for row in regime.run(Unit(regime, trial, 0).seed)]
    for key, (mean, deviation) in GOLDEN.items():
        found = np.mean([value for *where, value in rows if tuple(where) == key])
        assert abs(found - mean) < 3 * deviation / np.sqrt(trials), key


# Claims


def test_claims_are_decided_by_paired_differences():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=30)
    assert compare(0.5 + 0.1 * noise).verdict == "holds"
    assert compare(-0.5 + 0.1 * noise).verdict == "does not hold"
    assert compare(noise - noise.mean()).verdict == "too close to call"
    finding = compare(np.array([1.0, 2.0, 3.0]))
    assert finding.difference == 2.0
    assert finding.error == pytest.approx(1 / np.sqrt(3))


def test_chance_alone_seldom_decides():
    rng = np.random.default_rng(1)
    verdicts = [compare(rng.normal(size=30)).verdict for _ in range(2000)]
    assert 0.93 <= verdicts.count("too close to call") / 2000 <= 0.97


def test_every_claim_is_in_the_table(made):
    folder, result = made
    assert [claim for claim, _ in result.claims] == list(CLAIMS)
    text = (folder / "claims.md").read_text()
    for claim, finding in result.claims:
        assert claim.sentence in text
        assert finding.verdict in text
        missing = claim.needs in ("medFull", COLOURS) or "from 200 pairs" in claim.measured
        assert (finding.verdict == "not run") == missing


def test_claims_see_the_direction():
    unit = {trial: Unit(REGIMES[0], trial, 0) for trial in range(3)}
    rows = {
        unit[trial]: [
            (method, size, "accuracy", 0.6 + 0.01 * trial + 0.1 * (method == "nuclear-full"))
            for method in METHODS for size in (10, 20)
        ]
        for trial in unit
    }  # fmt: skip
    found = dict(
        (claim.sentence, finding)
        for claim, finding in check_claims(Results.of(rows), [REGIMES[0]])
        if "predicts best" in claim.sentence and claim.needs == "highLow"
    )
    assert len(found) == 5
    assert {finding.verdict for finding in found.values()} == {"holds"}


# Colours


def test_people_are_described_by_their_mirrored_answers():
    answers = Comparisons.from_arrays(
        [[0, 0, 1], [0, 1, 0], [0, 0, 2], [0, 2, 0], [1, 0, 1], [1, 1, 0], [1, 1, 2]],
        [-1, 1, -1, -1, -1, -1, 1],
    )
    found = people(answers)
    np.testing.assert_allclose(found.agreement, [0.5, 0.0])
    np.testing.assert_allclose(found.left, [0.75, 2 / 3])
    np.testing.assert_allclose(found.answered, [4, 3])


def test_no_predictor_exceeds_the_ceiling():
    rng = np.random.default_rng(0)
    favourite = rng.uniform(0.5, 1.0, 20_000)  # the probability of the likelier answer, per pair
    agreement = np.array([(favourite**2 + (1 - favourite) ** 2).mean()])
    ceiling = People(("one",), np.array([1.0]), agreement, np.array([0.5])).ceiling
    assert favourite.mean() <= ceiling[0] <= favourite.mean() + 0.05


def test_the_colour_file_is_checked(tmp_path):
    wrong = tmp_path / "CPdata.mat"
    wrong.write_bytes(b"something else")
    with pytest.raises(DataError, match="not the published colour data"):
        colour_data.read_colours(wrong)
    with pytest.raises(DataError, match=r"nowhere.mat: the colour data cannot be read \(No such"):
        colour_data.read_colours(tmp_path / "nowhere.mat")


def test_fetching_refuses_another_file_and_names_an_unreachable_address(tmp_path):
    wrong = tmp_path / "wrong.mat"
    wrong.write_bytes(b"something else")
    target = tmp_path / "CPdata.mat"
    with pytest.raises(DataError, match="not the published colour data"):
        colour_data.fetch(target, wrong.as_uri())
    with pytest.raises(Exception, match="cannot be fetched"):
        colour_data.fetch(target, (tmp_path / "nothing.mat").as_uri())
    assert not target.exists()


def test_the_colours_are_read_as_the_file_says(colours_file):
    if colours_file is None:
        pytest.skip("the colour preferences are not there: they have no licence to be shipped")
    data = colour_data.read_colours(colours_file)
    assert data.features.shape == (37, 3)
    np.testing.assert_allclose(np.linalg.norm(data.features, axis=1).max(), 1.0)
    np.testing.assert_allclose(data.features.mean(axis=0), 0.0, atol=1e-12)
    given = np.bincount(data.answers.user)
    assert given.shape == (48,)
    assert sorted(set(given)) == [829, 1332]  # one person left 503 questions out
    assert set(np.unique(data.answers.response)) == {-1, 1}


@pytest.mark.parametrize("together", [False, True])
def test_splits_of_colours(together, colours_file):
    if colours_file is None:
        pytest.skip("the colour preferences are not there: they have no licence to be shipped")
    data = colour_data.read_colours(colours_file)
    experiment = Colours("x", (5, 300), together, path=str(colours_file))
    training, test = experiment.split(data, np.random.default_rng(0))
    answers = data.answers
    assert training.shape == (48, 300)
    assert (answers.user[training] == np.arange(48)[:, None]).all()
    assert not np.isin(training, test).any()
    full = np.bincount(answers.user[test])
    assert (np.delete(full, 5) == 1032).all()
    low, high = np.minimum(answers.left, answers.right), np.maximum(answers.left, answers.right)
    question = np.column_stack([answers.user, low, high])
    seen = {tuple(q) for q in question[training.ravel()]}
    mirrored = sum(tuple(q) in seen for q in question[test])
    assert mirrored == 0 if together else mirrored > 5000


def test_colour_trials_run_end_to_end(colours_file, tmp_path):
    if colours_file is None:
        pytest.skip("the colour preferences are not there: they have no licence to be shipped")
    path = str(colours_file)
    experiments = (
        Colours(COLOURS, (5, 10, 300), path=path),
        Colours(COLOURS_TOGETHER, (5,), together=True, path=path),
    )
    result = reproduce(Plan(experiments, trials=2), figures.choose(["color"]), tmp_path, workers=2)
    assert {p.stem for p in result.figures} == {f.name for f in figures.choose(["color"])}
    sizes, accuracy = result.results.trials(experiments[0], "crowd", "accuracy")
    np.testing.assert_array_equal(sizes, [5, 10, 300])
    assert accuracy[:, 2].mean() == pytest.approx(0.626, abs=0.01)
    assert set(result.results.methods(experiments[0])) == set(COLOUR_METHODS)
    assert all(count.missed == 0 and count.largest_gap <= 1e-5 for count in result.tallies)
    rows = (tmp_path / "people.csv").read_text().splitlines()
    assert len(rows) == 49
