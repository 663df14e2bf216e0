"""How loose the bounds are: the theorems' numbers beside what really happens, by simulation.

For a crowd with known truth, answers are drawn as the theorems ask, fitted over the smallest region
that holds the truth, margin bound included, and the fit's excess risk and squared error computed
exactly. A bound that is a thousand times larger is no less true; it is no sample size, though.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from crowdmetric.checks import Floats
from crowdmetric.errors import DataError, SettingError
from crowdmetric.planning.bounds import frobenius_risk_bound, nuclear_risk_bound
from crowdmetric.planning.known_truth import KnownCrowd
from crowdmetric.planning.rates import RateBound
from crowdmetric.planning.recovery_bounds import recovery_bound
from crowdmetric.problem import Problem
from crowdmetric.regions import FrobeniusMetric, NuclearFull
from crowdmetric.solver import solve

__all__ = ["BesideSimulation", "Looseness", "measure_looseness", "region_of_truth", "risk_bound"]

_TOLERANCE = 1e-6  # of the fits: far below every excess risk that is of interest
_ROOM = 1 + 1e-9  # the truth itself is inside, whatever the rounding

Bounded = FrobeniusMetric | NuclearFull
Progress = Callable[[int, int], object]


@dataclass(frozen=True, eq=False)
class BesideSimulation:
    """A bound beside what was simulated, for several numbers of answers.

    Parameters
    ----------
    what : str
        What is bounded, by which theorem.
    answers : tuple of int
        The numbers m of answers of all users together.
    bound : RateBound
        The bound.
    simulated : ndarray of shape (len(answers), trials)
        What came out.

    Examples
    --------
    >>> beside = BesideSimulation(
    ...     "excess risk",
    ...     (100, 400),
    ...     RateBound(1.0, 0.0, 1.0),
    ...     np.array([[0.01, 0.03], [0.0, 0.01]]),
    ... )
    >>> print(beside)
    excess risk
     answers      bound  simulated    largest  times too large
         100        0.2       0.02       0.03              6.7
         400        0.1      0.005       0.01               10
    >>> beside.share_above
    0.0
    """

    what: str
    answers: tuple[int, ...]
    bound: RateBound
    simulated: Floats

    @property
    def bounds(self) -> Floats:
        """The bound for each number of answers.

        Examples
        --------
        >>> BesideSimulation("", (4,), RateBound(1.0, 0.0, 1.0), np.array([[0.5]])).bounds
        array([1.])
        """
        return np.array([self.bound.at(count) for count in self.answers])

    @property
    def times_too_large(self) -> Floats:
        """The bound, divided by the largest value simulated.

        Examples
        --------
        >>> BesideSimulation("", (4,), RateBound(1.0, 0.0, 1.0), np.array([[0.5]])).times_too_large
        array([2.])
        """
        with np.errstate(divide="ignore"):
            result: Floats = self.bounds / self.simulated.max(axis=1)
        return result

    @property
    def share_above(self) -> float:
        """The share of trials that exceed the bound; the theorems allow delta.

        Examples
        --------
        >>> BesideSimulation("", (4,), RateBound(1.0, 0.0, 1.0), np.array([[0.5, 2]])).share_above
        0.5
        """
        return float((self.simulated > self.bounds[:, None]).mean())

    def __str__(self) -> str:
        """Return a table."""
        lines = [self.what, " answers      bound  simulated    largest  times too large"]
        for count, bound, values, ratio in zip(
            self.answers, self.bounds, self.simulated, self.times_too_large, strict=True
        ):
            numbers = (_short(number) for number in (bound, values.mean(), values.max()))
            cells = "".join(f"{number:>11}" for number in numbers)
            lines.append(f"{count:>8}{cells}{_short(ratio):>17}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Looseness:
    """The bounds on excess risk and on recovery beside the same fits.

    Parameters
    ----------
    risk : BesideSimulation
        The excess risk.
    recovery : BesideSimulation or None
        The squared error of metric and points; None if no bound exists, because the items cannot
        tell all metrics apart.

    Examples
    --------
    >>> beside = BesideSimulation("risk", (4,), RateBound(1.0, 0.0, 1.0), np.array([[0.5]]))
    >>> print(Looseness(beside, None))
    risk
     answers      bound  simulated    largest  times too large
           4          1        0.5        0.5                2
    """

    risk: BesideSimulation
    recovery: BesideSimulation | None

    def __str__(self) -> str:
        """Return both tables."""
        tables = [self.risk] if self.recovery is None else [self.risk, self.recovery]
        return "\n\n".join(str(table) for table in tables)


def region_of_truth(crowd: KnownCrowd, name: str) -> Bounded:
    """Return the smallest region of a theorem that holds the truth, with its margin bound.

    Parameters
    ----------
    crowd : KnownCrowd
        With its truth.
    name : {"frobenius", "nuclear-full"}
        The region of thm:multi-risk-fro or of thm:multi-risk-nuc.

    Returns
    -------
    FrobeniusMetric or NuclearFull
        The region.

    Examples
    --------
    >>> from crowdmetric.losses import Logistic
    >>> crowd = KnownCrowd(np.eye(2), np.diag([1.0, 3.0]), np.zeros((1, 2)), Logistic())
    >>> region = region_of_truth(crowd, "nuclear-full")
    >>> print(f"{region.radius:.6f} {region.margin_bound:.6f}")
    4.000000 2.000000
    """
    gamma = crowd.margin_bound * _ROOM
    if name == "frobenius":
        return FrobeniusMetric(crowd.metric_size * _ROOM, crowd.longest_point * _ROOM, gamma)
    if name == "nuclear-full":
        return NuclearFull(crowd.nuclear_norm * _ROOM, gamma)
    raise SettingError(f"there is no theorem for the region {name!r}: frobenius or nuclear-full")


def risk_bound(crowd: KnownCrowd, region: Bounded, failure: float = 0.05) -> RateBound:
    """Return the theorem's bound on the excess risk for a crowd and a region.

    Parameters
    ----------
    crowd : KnownCrowd
        Its items and its loss.
    region : FrobeniusMetric or NuclearFull
        With one radius for all users, and a margin bound.
    failure : float
        How probable it may be that the bound does not hold (delta).

    Returns
    -------
    RateBound
        thm:multi-risk-fro or thm:multi-risk-nuc.

    Examples
    --------
    >>> from crowdmetric.losses import Logistic
    >>> crowd = KnownCrowd(np.eye(2), np.diag([1.0, 3.0]), np.ones((5, 2)), Logistic())
    >>> print(f"{risk_bound(crowd, region_of_truth(crowd, 'frobenius')).at(1e6):.3f}")
    0.098
    """
    gamma = region.margin_bound
    if gamma is None:
        raise SettingError("the theorems need a margin bound; give the region one")
    count, dimension = crowd.features.shape
    longest = float(np.linalg.norm(crowd.features, axis=1).max())
    lipschitz = crowd.loss.lipschitz_within(gamma)
    radii = [float(np.max(radius)) for radius in region.radii]
    if isinstance(region, FrobeniusMetric):
        return frobenius_risk_bound(
            dimension, len(crowd.points), radii[0], radii[1], gamma, lipschitz, failure, longest
        )
    spectral_norm = float(np.linalg.norm(crowd.features, 2))
    return nuclear_risk_bound(
        dimension, len(crowd.points), count, radii[0], gamma, spectral_norm,
        lipschitz, failure, longest,
    )  # fmt: skip


def measure_looseness(
    crowd: KnownCrowd,
    region: str = "frobenius",
    answers: Sequence[int] = (100, 1000, 10_000),
    trials: int = 5,
    failure: float = 0.05,
    seed: int = 0,
    progress: Progress | None = None,
) -> Looseness:
    """Draw answers, fit them over the theorem's region, and put the bounds beside the result.

    Parameters
    ----------
    crowd : KnownCrowd
        The truth, with its items and its loss; see `in_unit_ball`.
    region : {"frobenius", "nuclear-full"}
        The region of thm:multi-risk-fro or of thm:multi-risk-nuc, as small as the truth lets it.
    answers : sequence of int
        The numbers m of answers of all users together.
    trials : int
        How many fits for each.
    failure : float
        How probable it may be that the bound does not hold (delta).
    seed : int
        The same seed draws the same answers.
    progress : callable, optional
        Called with the numbers of fits that are done, and to be done, whenever one is.

    Returns
    -------
    Looseness
        Tables of bounds and simulations.

    Examples
    --------
    >>> from crowdmetric.planning.known_truth import in_unit_ball
    >>> from crowdmetric.simulation import simulate
    >>> crowd = in_unit_ball(simulate(n_items=12, dimension=2, n_users=5, noise=0.3))
    >>> loose = measure_looseness(crowd, answers=[1000], trials=2)
    >>> loose.risk.share_above, bool(loose.risk.times_too_large[0] > 100)
    (0.0, True)
    """
    if trials < 1:
        raise SettingError(f"there must be at least one trial, not {trials}")
    where = region_of_truth(crowd, region)
    excess, error = _simulate(crowd, where, answers, trials, seed, progress)
    bound = risk_bound(crowd, where, failure)
    risk = BesideSimulation(f"excess risk, {_theorem(where, 'risk')}", (*answers,), bound, excess)
    assert where.margin_bound is not None
    try:
        error_bound = recovery_bound(bound, crowd.features, crowd.loss, where.margin_bound)
    except DataError:
        return Looseness(risk, None)
    title = f"squared error of M and V, {_theorem(where, 'recovery')}"
    return Looseness(risk, BesideSimulation(title, (*answers,), error_bound, error))


def _simulate(
    crowd: KnownCrowd,
    region: Bounded,
    answers: Sequence[int],
    trials: int,
    seed: int,
    progress: Progress | None,
) -> tuple[Floats, Floats]:
    """Return the excess risk and the squared error of each trial, a row per number of answers."""
    excess, error = np.empty((2, len(answers), trials))
    generators = iter(np.random.default_rng(seed).spawn(len(answers) * trials))
    for row, count in enumerate(answers):
        for trial in range(trials):
            drawn = crowd.draw(count, next(generators))
            fit = solve(Problem(drawn, crowd.features, crowd.loss, region), tol=_TOLERANCE)
            excess[row, trial] = crowd.excess_risk(fit.metric, fit.points)
            error[row, trial] = crowd.squared_error(fit.metric, fit.points)
            if progress is not None:
                progress(row * trials + trial + 1, len(answers) * trials)
    return excess, error


def _theorem(region: Bounded, what: str) -> str:
    """Return the label of the theorem."""
    names = {
        "frobenius": {"risk": "thm:multi-risk-fro", "recovery": "thm:recovery_full_rank"},
        "nuclear-full": {"risk": "thm:multi-risk-nuc", "recovery": "thm:recovery_low_rank"},
    }
    return names[region.name][what]


def _short(number: float) -> str:
    """Return two digits of a number, as a person would write them."""
    return f"{number:.2g}" if not 0.001 <= number < 10_000 else f"{float(f'{number:.2g}'):g}"
