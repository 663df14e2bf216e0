"""What the tests share: how hypothesis draws, where the real data is, one small crowd."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from crowdmetric.simulation import Simulation, simulate

# Derandomised: a run that fails can be repeated, on any machine.
settings.register_profile("crowdmetric", max_examples=30, deadline=None, derandomize=True)
settings.load_profile("crowdmetric")

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
COLOURS = DATA / "CPdata.mat"
TRAINS = DATA / "train_data.csv.gz"


def pytest_report_header() -> list[str]:
    """Say whether the real data is there, since it cannot be part of the repository."""
    return [
        f"{what}: {path if path.exists() else 'not there, so simulated crowds only'}"
        for what, path in (("colour preferences", COLOURS), ("train journeys", TRAINS))
    ]


@pytest.fixture(scope="session")
def colours_file() -> Path | None:
    """Return the colour preferences of Palmer and Schloss (2010), or None."""
    return COLOURS if COLOURS.exists() else None


@pytest.fixture(scope="session")
def trains_file() -> Path | None:
    """Return the choices between train journeys, or None."""
    return TRAINS if TRAINS.exists() else None


@pytest.fixture(scope="session")
def crowd() -> Simulation:
    """Return a small crowd with known truth: 20 items, 3 features, 4 users."""
    return simulate(n_items=20, dimension=3, rank=1, n_users=4, pairs_per_user=50, seed=1)
