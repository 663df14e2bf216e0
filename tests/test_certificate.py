"""Certificates, recomputed from the data with plain formulas and compared with the true optimum."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from crowdmetric.certificate import Certificate, recheck
from crowdmetric.losses import Hinge, KinkedLoss, Logistic, SquaredHinge
from crowdmetric.regions import FrobeniusMetric, NuclearFull, PSDOnly, SplitRegion
from crowdmetric.solver import solve

CASE = oracles.CASES["plane"]
EVERY_LOSS = pytest.mark.parametrize("loss", oracles.LOSSES, ids=oracles.by_name)
EVERY_REGION = pytest.mark.parametrize(
    "region",
    [*oracles.regions(2), *oracles.regions(2, margin_bound=1.0)],
    ids=lambda region: f"{region.name}-{region.margin_bound}",
)


def slopes_of(case, loss, certificate, metric, points):
    """Return the slopes of the bound: the certificate's, or those of the loss at the point."""
    if certificate.slopes is not None:
        return certificate.slopes
    return oracles.loss_slope(loss, case.margins(metric, points))


def duals_of(certificate, n_users, n_items, dimension):
    """Return the multipliers in their plain shapes."""
    dual, table = certificate.dual, certificate.margin_dual
    return (
        None if dual is None else dual.reshape(-1, dimension, dimension)[-1],
        None if table is None else table.reshape(n_users, n_items),
    )


@EVERY_REGION
@EVERY_LOSS
def test_a_certificate_can_be_computed_from_the_data_alone(region, loss):
    solution = solve(CASE.problem(region, loss), tol=1e-6)
    certificate = solution.certificate
    assert oracles.violation(region, solution.metric, solution.points) <= 1e-12
    if region.margin_bound is not None:
        spread = np.ptp(CASE.scores(solution.metric, solution.points), axis=1).max()
        assert spread <= region.margin_bound
    risk = oracles.risk(CASE, loss, solution.metric, solution.points)
    assert certificate.risk == pytest.approx(risk, rel=1e-12)
    slopes = slopes_of(CASE, loss, certificate, solution.metric, solution.points)
    duals = duals_of(certificate, 3, 7, 2)
    lower = oracles.lower_bound(CASE, region, loss, slopes, *duals, certificate.distance)
    assert certificate.lower_bound == pytest.approx(lower, abs=1e-9)
    assert 0 <= certificate.gap == certificate.risk - certificate.lower_bound <= 1e-6
    assert certificate.converged


@EVERY_REGION
@EVERY_LOSS
def test_rechecking_finds_the_same(region, loss):
    problem = CASE.problem(region, loss)
    solution = solve(problem, tol=1e-5)
    certificate = solution.certificate
    risk, lower, outside = recheck(problem, solution.metric, solution.points, certificate)
    assert risk == pytest.approx(certificate.risk, abs=1e-14)
    assert lower == pytest.approx(certificate.lower_bound, abs=1e-13)
    assert outside <= 1e-12


@EVERY_REGION
@pytest.mark.parametrize("loss", [Logistic(2.0), Hinge(), SquaredHinge()], ids=oracles.by_name)
def test_any_slopes_and_multipliers_give_a_bound_below_the_optimum(region, loss):
    optimum = oracles.reference_risk(CASE, region, loss)
    problem, rng = CASE.problem(region, loss), np.random.default_rng(0)
    anywhere = np.zeros((2, 2)), np.zeros((3, 2))
    steepest = min(loss.lipschitz, 1.0)
    for _ in range(20):
        claim = Certificate(
            risk=-1.0,
            lower_bound=7.0,
            tolerance=1.0,
            status="converged",
            iterations=0,
            seconds=0.0,
            slopes=-steepest * rng.random(len(CASE.sign)),
            dual=rng.normal(size=(2, 2)),
            margin_dual=0.1 * rng.normal(size=(3, 7)) if region.margin_bound else None,
            distance=10.0 if isinstance(region, PSDOnly) else None,
        )
        assert recheck(problem, *anywhere, claim)[1] <= optimum + 1e-8


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_bound_of_true_slopes_lies_below_the_risk_everywhere(seed):
    rng = np.random.default_rng(seed)
    region, loss = NuclearFull(1.2), Logistic(2.0)
    here, there = (
        region.project(rng.normal(size=(2, 2)), rng.normal(size=(3, 2))) for _ in range(2)
    )
    claim = Certificate(0.0, 0.0, 1.0, "converged", 0, 0.0)
    _, lower, _ = recheck(CASE.problem(region, loss), *here, claim)
    assert lower <= oracles.risk(CASE, loss, *there) + 1e-12


def test_rechecking_reports_what_a_wrong_claim_hides():
    region, loss = FrobeniusMetric(0.5, 0.7, margin_bound=1.0), Logistic(2.0)
    problem = CASE.problem(region, loss)
    solution = solve(problem)
    certificate = replace(solution.certificate, risk=0.0, lower_bound=0.0)
    risk, lower, outside = recheck(problem, solution.metric, solution.points, certificate)
    assert risk > lower > 0.1
    _, _, outside = recheck(problem, 1.01 * solution.metric, 1.01 * solution.points, certificate)
    assert outside == pytest.approx(0.01, abs=1e-3)
    _, lower, _ = recheck(
        problem,
        solution.metric,
        solution.points,
        replace(solution.certificate, slopes=np.full(len(CASE.sign), 0.1)),
    )
    assert np.isneginf(lower)


@pytest.mark.parametrize(
    "region",
    [*oracles.regions(2), NuclearFull((1.2, 0.4, 3.0)), FrobeniusMetric((0.5, 1, 2), 0.7)],
    ids=repr,
)
@pytest.mark.parametrize("loss", [SquaredHinge(), Hinge()], ids=oracles.by_name)
def test_every_users_own_fit_has_a_certificate_of_its_own(region, loss):
    problem = CASE.problem(region, loss, single=True)
    solution = solve(problem, tol=1e-6)
    certificate = solution.certificate
    assert certificate.user_gaps.shape == (3,)
    assert certificate.gap == certificate.user_gaps.max() <= 1e-6
    risks, lowers = [], []
    for k in range(3):
        own = CASE.of_user(k)
        radii = [r[k] if isinstance(r, tuple) else r for r in region.radii]
        names = ("radius", "point_radius")[-len(radii) or 2 :]
        names = ("radius",) if isinstance(region, NuclearFull) else names
        alone = replace(region, **dict(zip(names, radii, strict=True)))
        metric, points = solution.metric[k], solution.points[[k]]
        assert oracles.violation(alone, metric, points) <= 1e-12
        risks.append(oracles.risk(own, loss, metric, points))
        if certificate.slopes is None:
            slopes = oracles.loss_slope(loss, own.margins(metric, points))
        else:
            slopes = certificate.slopes[CASE.user == k]
        dual = certificate.dual[k] if isinstance(region, SplitRegion) else None
        lowers.append(
            oracles.lower_bound(own, alone, loss, slopes, dual, distance=certificate.distance)
        )
        slack = 1e-9 if certificate.distance is None else 1e-6
        assert risks[k] - lowers[k] <= certificate.user_gaps[k] + slack
    shares = np.bincount(CASE.user, CASE.weight) / CASE.weight.sum()
    assert certificate.risk == pytest.approx(shares @ risks, rel=1e-12)
    if certificate.distance is None:
        assert certificate.lower_bound == pytest.approx(shares @ lowers, abs=1e-9)
    assert certificate.lower_bound <= shares @ lowers + 1e-9
    _, lower, outside = recheck(problem, solution.metric, solution.points, certificate)
    assert lower == pytest.approx(shares @ lowers, abs=1e-9)
    assert outside <= 1e-12


@EVERY_LOSS
def test_without_a_radius_the_certificate_says_how_far_it_looks(loss):
    problem = CASE.problem(PSDOnly(), loss)
    solution = solve(problem, tol=1e-6)
    size = np.sqrt((solution.metric**2).sum() + (solution.points**2).sum())
    assert solution.certificate.distance >= 2 * size * (1 - 1e-12)
    assert solution.certificate.distance > 0.1
    assert f"up to distance {solution.certificate.distance:.3g}" in str(solution.certificate)


@EVERY_LOSS
def test_slopes_are_kept_exactly_where_the_point_does_not_tell_them(loss):
    certificate = solve(CASE.problem(FrobeniusMetric(0.5, 0.7), loss)).certificate
    assert (certificate.slopes is not None) == isinstance(loss, KinkedLoss)


def test_a_certificate_reads_as_one_sentence():
    certificate = Certificate(0.5, 0.4, 1e-3, "iteration-limit", 20, 0.25)
    assert not certificate.converged
    assert certificate.gap == pytest.approx(0.1)
    assert str(certificate) == (
        "iteration-limit: risk 0.5 is within 1.0e-01 of the best possible (20 iterations, 0.25 s)"
    )
