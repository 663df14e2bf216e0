"""Which radii to try: a common factor first, up or down while that helps, then each by itself."""

from __future__ import annotations

from collections.abc import Sequence

from crowdmetric.estimator.candidates import Candidate
from crowdmetric.estimator.folds import Folds
from crowdmetric.estimator.radii import grid_around

__all__ = ["planned_fits", "search"]

_FACTORS = tuple(2.0**k for k in range(-2, 6))
_NEARBY = (0.35, 0.6, 1.7, 2.8)
_MOST_EXTENSIONS = 6


def search(folds: Folds, candidates: Sequence[Candidate]) -> None:
    """Try radii of all candidates, coarsely; then more of them around the best.

    Parameters
    ----------
    folds : Folds
        Where they are tried, and recorded.
    candidates : sequence of Candidate
        All of them.
    """
    folds.try_all([(one, grid_around(one.units, None, _FACTORS)) for one in candidates])
    for candidate in candidates:
        _extend(folds, candidate)
    best = folds.record.best().candidate
    for which in range(best.family.count):
        around = folds.record.best(best).radii
        folds.try_all([(best, grid_around(around, which, _NEARBY))])


def planned_fits(candidates: Sequence[Candidate]) -> int:
    """Return how many radii `search` is going to try, if the best is not far away."""
    most = max(one.family.count for one in candidates)
    return len(candidates) * len(_FACTORS) + most * len(_NEARBY)


def _extend(folds: Folds, candidate: Candidate) -> None:
    """Go on beyond the radii tried for as long as the best lies at their end."""
    for _ in range(_MOST_EXTENSIONS):
        tried, best = folds.record.radii_of(candidate), folds.record.best(candidate).radii
        if best not in (min(tried), max(tried)):
            return
        factor = 2.0 if best == max(tried) else 0.5
        folds.try_all([(candidate, [tuple(factor * radius for radius in best)])])
