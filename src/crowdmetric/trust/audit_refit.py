"""A model's own settings, fitted again: to some of the answers, to a group, to drawn answers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from crowdmetric.certificate import NotConvergedWarning
from crowdmetric.checks import Floats
from crowdmetric.comparisons import Answers, Comparisons
from crowdmetric.model import Model, lookup, scoring
from crowdmetric.problem import Problem
from crowdmetric.regions import NuclearFull, NuclearSplit, Region
from crowdmetric.solver import Solution, solve

__all__ = ["Settings", "aligned", "of_group", "of_persons"]

_LEAST_SHARE = 1e-6  # of a radius: a region must have some room


@dataclass(frozen=True, eq=False)
class Settings:
    """What a model is fitted with, whatever the answers.

    Parameters
    ----------
    model : Model
        Whose items, loss and region are used.
    tol : float
        The gap to certify.

    Examples
    --------
    >>> import crowdmetric as cm
    >>> crowd = cm.simulate(n_items=20, dimension=2, n_users=3, pairs_per_user=20)
    >>> model = (
    ...     cm.CrowdMetric(crowd.items, cm.regions.NuclearFull(3.0)).fit(crowd.comparisons).model_
    ... )
    >>> Settings(model).fit(crowd.comparisons.answers()).certificate.converged
    True
    """

    model: Model
    tol: float = 1e-5

    def fit(
        self,
        answers: Answers,
        region: Region | None = None,
        start: Solution | None = None,
        single: bool = False,
    ) -> Solution:
        """Fit answers whose codes are the model's.

        Parameters
        ----------
        answers : Answers
            Users without answers keep their rows.
        region : Region, optional
            The model's own when not given.
        start : Solution, optional
            Where to start.
        single : bool
            Fit each user alone; so are the users of a model with a metric for each.

        Returns
        -------
        Solution
            With its certificate, which says so if it did not converge.
        """
        where = self.model.region if region is None else region
        alone = single or self.model.metric.ndim == 3
        problem = Problem(answers, self.model.x, self.model.loss, where, alone)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)  # its certificate says so
            return solve(problem, tol=self.tol, start=start)

    def margins(self, solution: Solution, asked: Comparisons) -> Floats:
        """Return the margins that a solution predicts.

        Parameters
        ----------
        solution : Solution
            From `fit`.
        asked : Comparisons
            With the model's codes.

        Returns
        -------
        ndarray of shape (m,)
            The margins delta.
        """
        return scoring.margins(
            solution.metric, solution.points, self.model.x, asked.user, asked.left, asked.right
        )


def aligned(model: Model, comparisons: Comparisons) -> Comparisons:
    """Return the comparisons with the model's codes, without answers of no weight.

    Parameters
    ----------
    model : Model
        Whose users and items they are about.
    comparisons : Comparisons
        Matched by their ids.

    Returns
    -------
    Comparisons
        The same answers.

    Examples
    --------
    >>> from crowdmetric.model import example
    >>> ids = {"users": ["bob"], "item_ids": ["red", "green"]}
    >>> aligned(example(), Comparisons.from_arrays([[0, 0, 1]], [1], **ids)).user
    array([1], dtype=int32)
    """
    user, left, right = lookup.comparison_codes(comparisons, model.known_users, model.items)
    found = Comparisons(
        users=model.users,
        item_ids=model.items.ids,
        user=user,
        left=left,
        right=right,
        response=comparisons.response,
        weight=comparisons.weight,
    )
    return found if found.weight is None else found.subset(found.weight > 0)


def of_group(region: Region, fitted: Solution, members: npt.NDArray[np.bool_]) -> Region:
    """Return the region for some of the users alone, no wider than what they have in the crowd's.

    Radii that bound all users' points together shrink to the members' share of them in a fit; so
    the crowd's fit, cut down to the members, is on the edge of their region.

    Parameters
    ----------
    region : Region
        The crowd's.
    fitted : Solution
        The crowd's fit.
    members : ndarray of bool, shape (K,)
        Who belongs to the group.

    Returns
    -------
    Region
        Of the same kind.

    Examples
    --------
    >>> from crowdmetric.regions import FrobeniusMetric
    >>> of_group(FrobeniusMetric(1.0, 2.0), None, np.array([True]))
    FrobeniusMetric(radius=1.0, point_radius=2.0, margin_bound=None)
    """
    if isinstance(region, NuclearFull):
        parts = np.vstack([fitted.metric, fitted.points[members]])
        whole = np.vstack([fitted.metric, fitted.points])
        return replace(region, radius=_share(parts, whole) * float(np.max(region.radius)))
    if isinstance(region, NuclearSplit):
        share = _share(fitted.points[members], fitted.points)
        return replace(region, point_radius=share * float(np.max(region.point_radius)))
    return region


def of_persons(region: Region, fitted: Solution) -> Region:
    """Return the region of every user alone, as `of_group` does for groups of one.

    Parameters
    ----------
    region : Region
        The crowd's.
    fitted : Solution
        The crowd's fit.

    Returns
    -------
    Region
        With a radius per user where the crowd's bounds all users' points together.

    Examples
    --------
    >>> found = Solution(np.eye(1), np.array([[0.0], [1.0]]), None)
    >>> [round(radius, 3) for radius in of_persons(NuclearFull(2.0), found).radius]
    [1.414, 2.0]
    """
    alone = [of_group(region, fitted, row) for row in np.eye(len(fitted.points), dtype=bool)]
    radii = tuple(float(one.radii[-1]) for one in alone)  # type: ignore[arg-type]
    if isinstance(region, NuclearFull):
        return replace(region, radius=radii)
    if isinstance(region, NuclearSplit):
        return replace(region, point_radius=radii)
    return region


def _share(part: Floats, whole: Floats) -> float:
    """Return the nuclear norm of some rows over that of all."""
    size = float(np.linalg.norm(whole, "nuc"))
    return max(float(np.linalg.norm(part, "nuc")) / size, _LEAST_SHARE) if size else 1.0
