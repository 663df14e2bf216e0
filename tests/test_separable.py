"""Whether there is a best point over the cone alone: decided like a cone programme decides it."""

from __future__ import annotations

import warnings
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles
from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.crowd import Crowd
from crowdmetric.losses import Logistic
from crowdmetric.paper.simulated import Simulated
from crowdmetric.regions import PSDOnly
from crowdmetric.solver import solve
from crowdmetric.solver.cycles import Cycles

LOGISTIC = Logistic(2.0)


def surest(case: oracles.Case) -> float:
    """Return how much surer the answers get, at most, along a direction that hurts none.

    The direction is of size 1; without one, the risk is lowest somewhere.
    """
    d, users = case.features.shape[1], case.n_users
    metric, points = cp.Variable((d, d), PSD=True), cp.Variable((users, d))
    x, y = case.features[case.left], case.features[case.right]
    squares = np.einsum("ti,tj->tij", x, x) - np.einsum("ti,tj->tij", y, y)
    of_metric = squares.reshape(len(x), -1) @ cp.reshape(metric, (d * d,), order="C")
    of_points = cp.sum(cp.multiply(x - y, points[case.user]), axis=1)
    margins = cp.multiply(case.sign, of_metric + of_points)
    size = cp.norm(metric, "fro") + cp.norm(points, "fro")
    problem = cp.Problem(cp.Maximize(cp.sum(margins)), [margins >= 0, size <= 1])
    return float(problem.solve(solver="CLARABEL"))


def status(case: oracles.Case) -> str:
    """Return how the solver ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        return solve(case.problem(PSDOnly(), LOGISTIC)).certificate.status


@given(st.integers(0, 10_000), st.integers(4, 60), st.booleans())
def test_the_status_is_that_of_a_cone_programme(seed, answers, contradict):
    case = oracles.random_case(seed, n_users=2, n_items=8, n_answers=answers, noise=0.3)
    if contradict:  # the first question once more, answered the other way round
        again = case.rows(np.arange(len(case.user)) == 0)
        case = replace(
            case,
            **{
                name: np.append(getattr(case, name), getattr(again, name))
                for name in ("user", "left", "right", "weight")
            },
            sign=np.append(case.sign, -again.sign),
        )
    most = surest(case)
    assume(not 1e-7 < most < 1e-3)  # too close to call for either
    assert status(case) == ("separable" if most > 1e-3 else "converged")


@pytest.mark.parametrize(
    ("rank", "beta", "trial", "size", "expected"),
    [
        (10, 4.0, 0, 200, "converged"),
        (1, 4.0, 0, 300, "converged"),
        (10, 1.0, 1, 50, "separable"),
        # But for some who answered one question in two ways:
        (10, 4.0, 0, 150, "separable"),
        (10, 4.0, 68, 180, "separable"),
        (10, 4.0, 3, 100, "separable"),
    ],
)
def test_crowds_that_are_nearly_or_only_just_separable(rank, beta, trial, size, expected):
    regime = Simulated("x", rank, beta, (size, 300))
    problem = regime.problems(regime.crowd(trial), size)["psd"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        certificate = solve(problem).certificate
    assert certificate.status == expected
    assert certificate.iterations < 100


def test_a_perfect_explanation_beside_a_contradiction_is_still_a_good_fit():
    case = oracles.random_case(5, noise=0.0)
    problem = case.problem(PSDOnly(), LOGISTIC)
    with pytest.warns(NotConvergedWarning):
        found = solve(problem)
    assert found.certificate.risk < 0.1 * LOGISTIC.value(np.zeros(1))[0]


def test_cycles_are_the_answers_that_cannot_all_be_explained():
    case = oracles.random_case(0, n_users=2, n_items=6, n_answers=12, noise=0.0)
    crowd = Crowd.of(case.problem(PSDOnly(), LOGISTIC).answers, case.features)
    assert Cycles(crowd).outside.all()  # who follows a score never goes round in a circle
    ring = np.array([0, 1, 2]), np.array([1, 2, 0])
    round_trip = replace(
        case, user=np.zeros(3, dtype=int), left=ring[0], right=ring[1],
        sign=np.ones(3), weight=np.ones(3),
    )  # fmt: skip
    crowd = Crowd.of(round_trip.problem(PSDOnly(), LOGISTIC).answers, case.features)
    cycles = Cycles(crowd)
    assert not cycles.outside.any()
    assert not cycles.possible
    assert status(round_trip) == "converged"
