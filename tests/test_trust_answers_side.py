"""Fits with a side bias: one convex problem, its certificate, and what it finds."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdmetric as cm
from answering import answer
from cases import random_case, regions
from crowdmetric.certificate import recheck
from crowdmetric.errors import SettingError
from crowdmetric.losses import Hinge, Logistic
from crowdmetric.regions import NuclearFull, PSDOnly
from crowdmetric.solver import solve
from crowdmetric.trust import fit_with_side
from crowdmetric.trust.answers_region import with_side
from crowdmetric.trust.answers_side import default_limit, sided_problem
from oracles import constraints, loss_value, solve_tightly, variables

REGIONS = [region for region in regions(2) if not isinstance(region, PSDOnly)]
LIMIT = 0.8


def anywhere(seed, scale=2.0):
    random = np.random.default_rng(seed)
    return scale * random.normal(size=(3, 3)), scale * random.normal(size=(4, 3))


def inner(one, other):
    return sum(float(np.vdot(a, b)) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("sharing", ["shared", "person"])
@pytest.mark.parametrize("region", REGIONS, ids=lambda region: region.name)
@given(seed=st.integers(0, 1000))
def test_the_region_projects_and_its_support_holds(region, sharing, seed):
    whole = with_side(region, sharing, LIMIT)
    outside = anywhere(seed)
    nearest = whole.project(*outside)
    assert whole.violation(*nearest) < 1e-9
    assert whole.violation(*outside) > 0
    away = [a - b for a, b in zip(outside, nearest, strict=True)]
    others = [whole.project(*anywhere(seed + k)) for k in range(1, 6)]
    for other in others:
        assert inner(away, other) <= inner(away, nearest) + 1e-7
        assert inner(outside, other) <= whole.support(*outside) + 1e-9


@pytest.mark.parametrize("loss", [Logistic(2.0), Hinge()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("sharing", ["shared", "person"])
@pytest.mark.parametrize("region", REGIONS, ids=lambda region: region.name)
def test_the_joint_optimum_is_that_of_a_general_solver(region, sharing, loss):
    case = random_case(3)
    answers = case.problem(region, loss).answers
    problem = sided_problem(answers, case.features, loss, with_side(region, sharing, LIMIT))
    found = solve(problem, tol=1e-7)
    metric, points, bias = found.metric[:-1, :-1], found.points[:, :-1], found.points[:, -1]
    # The point is legal, and the risk is what the definition says, with no copies of items.
    assert np.abs(found.metric[-1]).max() == 0
    assert np.abs(bias).max() <= LIMIT + 1e-12
    z = case.margins(metric, points) + case.sign * bias[case.user]
    assert found.certificate.risk == pytest.approx(case.share @ loss_value(loss, z), abs=1e-12)
    assert found.certificate.risk == pytest.approx(joint(case, region, sharing, loss), abs=3e-7)
    assert found.certificate.gap <= 1e-7
    risk, lower, violation = recheck(problem, found.metric, found.points, found.certificate)
    assert risk - lower <= 1.01e-7
    assert violation <= 1e-9


def joint(case, region, sharing, loss):
    """Return the least risk with a bias, by CVXPY, from the definition of the margins."""
    d = case.features.shape[1]
    metric, points = variables(region, d, case.n_users)
    bias = cp.Variable(case.n_users)
    demands = [*constraints(region, metric, points), cp.abs(bias) <= LIMIT]
    if sharing == "shared":
        demands.append(bias == cp.sum(bias) / case.n_users)
    terms = []
    for k, i, j, y in zip(case.user, case.left, case.right, case.sign, strict=True):
        a, b = case.features[i], case.features[j]
        square = cp.sum(cp.multiply(np.outer(a, a) - np.outer(b, b), metric))
        terms.append(y * (square + points[k] @ (a - b) + bias[k]))
    z = cp.hstack(terms)
    cost = cp.logistic(-loss.scale * z) if loss.name == "logistic" else cp.pos(1 - z)
    return solve_tightly(cp.Problem(cp.Minimize(case.share @ cost), demands))


def test_each_person_s_bias_is_found_and_helps_to_predict():
    crowd = cm.simulate(n_items=30, dimension=2, n_users=6, pairs_per_user=400, noise=2.0, seed=4)
    truth = np.array([-1.0, -0.5, 0.0, 0.0, 0.5, 1.0])
    answers = answer(crowd, crowd.comparisons, 1, bias=truth)
    test = answer(crowd, crowd.test, 2, bias=truth)
    region, loss = NuclearFull(12.0), Logistic(2.0)
    fit = fit_with_side(answers, crowd.items, region, loss)
    assert np.abs(fit.bias - truth).max() < 0.3
    assert fit.certificate.gap <= 1e-6
    plain = cm.CrowdMetric(crowd.items, region, loss).fit(answers)
    with_bias = (fit.predict(test) == test.response).mean()
    assert with_bias > plain.score(test) + 0.03
    assert fit.predict_proba(test).sum(axis=1) == pytest.approx(1.0)
    # The metric is nearer to the truth too, now that taste need not explain the side.
    size = np.linalg.norm(crowd.metric)
    assert np.linalg.norm(fit.model.metric - crowd.metric) < 0.3 * size


def test_a_shared_bias_is_one_number():
    crowd = cm.simulate(n_items=20, dimension=2, n_users=5, pairs_per_user=200, noise=2.0, seed=5)
    answers = answer(crowd, crowd.comparisons, 1, bias=-0.5)
    fit = fit_with_side(answers, crowd.items, NuclearFull(10.0), Logistic(2.0), sharing="shared")
    assert np.ptp(fit.bias) < 1e-12
    assert fit.bias[0] == pytest.approx(-0.5, abs=0.15)


def test_without_bias_none_is_found():
    crowd = cm.simulate(n_items=20, dimension=2, n_users=5, pairs_per_user=300, noise=2.0, seed=6)
    fit = fit_with_side(
        crowd.comparisons, crowd.items, NuclearFull(10.0), Logistic(2.0), sharing="shared"
    )
    assert abs(fit.bias[0]) < 0.1


def test_who_always_says_left_gets_the_largest_bias_allowed():
    crowd = cm.simulate(n_items=12, dimension=2, n_users=2, pairs_per_user=60, noise=2.0, seed=7)
    answers = answer(crowd, crowd.comparisons, 1, bias=np.array([-1e9, 0.0]))
    fit = fit_with_side(answers, crowd.items, NuclearFull(2.0), features="standardize")
    assert fit.bias[0] == pytest.approx(-default_limit(Logistic()), rel=1e-3)
    mine = answers.user == 0
    assert (fit.predict(answers)[mine] == -1).mean() > 0.95
    assert fit.certificate.converged


def test_users_with_one_answer_and_ties_are_served():
    answers = cm.Comparisons.from_arrays([[0, 0, 1], [1, 1, 2], [1, 2, 0]], [-1, 0, 0])
    fit = fit_with_side(answers, cm.Items.from_arrays(np.eye(3)), NuclearFull(1.0))
    assert fit.certificate.converged
    assert fit.margins(answers)[0] < 0


def test_items_are_matched_by_their_ids():
    items = cm.Items.from_arrays([[0.0], [1.0], [3.0]], ids="abc")
    answers = cm.Comparisons.from_arrays([[0, 0, 1], [0, 1, 0]], [-1, 1], item_ids="ca")
    again = cm.Comparisons.from_arrays([[0, 2, 0], [0, 0, 2]], [-1, 1], item_ids="abc")
    one, other = (fit_with_side(data, items, NuclearFull(1.0)) for data in (answers, again))
    assert one.model.points == pytest.approx(other.model.points)
    assert one.margins(answers) == pytest.approx(other.margins(again))


@pytest.mark.parametrize(
    ("region", "sharing", "limit", "complaint"),
    [
        (PSDOnly(), "person", 1.0, "no bound"),
        (NuclearFull(1.0), "both", 1.0, "'shared' or one per 'person'"),
        (NuclearFull(1.0), "person", 0.0, "positive"),
    ],
)
def test_what_has_no_certificate_is_refused(region, sharing, limit, complaint):
    with pytest.raises(SettingError, match=complaint):
        with_side(region, sharing, limit)
