"""What is chosen among: each candidate has a region of some radii, a loss and a feature map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

from crowdmetric.comparisons import Comparisons, Items, Ties
from crowdmetric.errors import SettingError
from crowdmetric.estimator.inputs import as_loss
from crowdmetric.estimator.radii import Family, Radii, family, natural_radii
from crowdmetric.estimator.scales import scaled
from crowdmetric.features import FeatureMap, feature_map
from crowdmetric.losses import Link, Loss
from crowdmetric.problem import Problem
from crowdmetric.regions import PSDOnly, Region

__all__ = ["Candidate", "Wanted", "candidates"]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A kind of region, a loss and a feature map; the radii are chosen within it.

    Parameters
    ----------
    region : str or callable
        As the user gave it.
    features : str or FeatureMap
        As the user gave it.
    fitted : FeatureMap
        The same, fitted to the items.
    problem : Problem
        All answers with the mapped features and the loss; its region stands in for the family's.
    family : Family
        From radii to region.
    """

    region: str | Callable[..., Region]
    features: str | FeatureMap
    fitted: FeatureMap
    problem: Problem
    family: Family

    @cached_property
    def units(self) -> Radii:
        """The natural unit of each radius."""
        return natural_radii(self.problem, self.family)


@dataclass(frozen=True)
class Wanted:
    """What the user wants to choose among: one of each, or a list of several.

    Parameters
    ----------
    region, loss, features
        As in `CrowdMetricCV`.
    loss_scales : {"auto"} or sequence of float, optional
        As in `CrowdMetricCV`.
    margin_bound : float, optional
        For regions given by name.
    ties : {"half", "drop"}
        What becomes of a tie.
    single : bool
        Whether each user has a metric of their own.

    Examples
    --------
    >>> Wanted(["nuclear-full", "frobenius"], None, "raw").region
    ['nuclear-full', 'frobenius']
    """

    region: Any
    loss: Any
    features: Any
    loss_scales: Any = None
    margin_bound: float | None = None
    ties: Ties = "half"
    single: bool = False


def candidates(wanted: Wanted, items: Items, comparisons: Comparisons) -> list[Candidate]:
    """Return every combination of what is wanted.

    Parameters
    ----------
    wanted : Wanted
        What to choose among.
    items : Items
        The items, to which feature maps are fitted.
    comparisons : Comparisons
        All answers.

    Returns
    -------
    list of Candidate
        In the order in which they were asked for; of equals, the first is chosen.

    Examples
    --------
    >>> items = Items.from_arrays([[1.0], [2.0], [5.0]])
    >>> answers = Comparisons.from_arrays([[0, 0, 1], [0, 1, 2]], [-1, 1])
    >>> wanted = Wanted("frobenius", ["logistic", "probit"], ["raw", "standardize"])
    >>> [(c.features, c.problem.loss.name) for c in candidates(wanted, items, answers)]
    [('raw', 'logistic'), ('raw', 'probit'), ('standardize', 'logistic'), ('standardize', 'probit')]
    """
    answers = comparisons.answers(wanted.ties)
    losses = [as_loss(loss) for loss in _several(wanted.loss, "losses")]
    found = []
    for features in _several(wanted.features, "feature maps"):
        fitted = feature_map(features).fit(items.features, items.names)
        mapped = fitted.transform(items.features)
        for region, loss in product(_several(wanted.region, "regions"), losses):
            make = family(region, mapped.shape[1], wanted.margin_bound)
            problem = Problem(answers, mapped, loss, PSDOnly(), wanted.single)
            found += [
                Candidate(region, features, fitted, replace(problem, loss=one), make)
                for one in scaled(problem, make, wanted.loss_scales)
            ]
    return found


def comparable(found: Sequence[Candidate]) -> bool:
    """Return whether the losses of all candidates are in the same units.

    Examples
    --------
    >>> comparable([])
    True
    """
    losses: list[Loss] = [candidate.problem.loss for candidate in found]
    return all(isinstance(loss, Link) for loss in losses) or len(set(map(repr, losses))) == 1


def _several(value: Any, what: str) -> list[Any]:
    """Return a list as it is, and anything else as a list of one."""
    if not isinstance(value, list | tuple):
        return [value]
    if not value:
        raise SettingError(f"the list of {what} to choose from is empty; put at least one in it")
    return list(value)
