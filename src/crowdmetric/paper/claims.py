"""The paper's empirical sentences, each beside what this run says about it.

A claim is a paired comparison: in every trial all methods see the same data, so the difference
of two methods within a trial is free of most of the noise. A t-test over trials decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from crowdmetric.checks import Floats
from crowdmetric.files import whole_file
from crowdmetric.paper.colours import metric_measure
from crowdmetric.paper.experiments import COLOURS, Experiment
from crowdmetric.paper.results import Results
from crowdmetric.readers import write_table

__all__ = ["CLAIMS", "Claim", "Finding", "check_claims", "compare", "write_claims"]

_LEVEL = 0.05
_HOLDS, _FAILS, _CLOSE = "holds", "does not hold", "too close to call"
_NOT_RUN = "not run"


@dataclass(frozen=True)
class Finding:
    """What the trials say.

    Parameters
    ----------
    difference, error : float
        The mean over trials of what the claim says is positive, and its standard error.
    verdict : str
        "holds", "does not hold", "too close to call" or "not run".

    Examples
    --------
    >>> print(Finding(0.0123, 0.001, "holds"))
    +0.0123 +- 0.0010: holds
    """

    difference: float
    error: float
    verdict: str

    @property
    def was_run(self) -> bool:
        """Whether there are trials to decide by."""
        return self.verdict != _NOT_RUN

    def __str__(self) -> str:
        """Return one line."""
        if not self.was_run:
            return self.verdict
        return f"{self.difference:+.4f} +- {self.error:.4f}: {self.verdict}"


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper, and how to check it.

    Parameters
    ----------
    sentence : str
        What the paper says, in our words.
    where : str
        The label of the figure or section.
    needs : str
        The experiment that it is about.
    measured : str
        What the figures are: a positive difference is in favour of the claim.
    differences : callable
        From results and experiment to one difference per trial.
    """

    sentence: str
    where: str
    needs: str
    measured: str
    differences: Callable[[Results, Experiment], Floats]


def compare(differences: Floats) -> Finding:
    """Test whether the mean of paired differences is positive, or negative.

    Parameters
    ----------
    differences : ndarray of shape (trials,)
        One per trial.

    Returns
    -------
    Finding
        Decided at the level of 5 %, two-sided.

    Examples
    --------
    >>> compare(np.array([1.0, 1.1, 0.9])).verdict, compare(np.array([1.0, -1.1, 0.2])).verdict
    ('holds', 'too close to call')
    """
    count, mean = len(differences), float(differences.mean())
    if count < 2 or not differences.any():
        return Finding(mean, float("nan") if count < 2 else 0.0, _CLOSE)
    error = float(differences.std(ddof=1) / np.sqrt(count))
    p = 2 * stats.t.sf(abs(mean) / error, count - 1) if error > 0 else 0.0
    verdict = _CLOSE if p >= _LEVEL else _HOLDS if mean > 0 else _FAILS
    return Finding(mean, error, verdict)


def check_claims(
    results: Results, experiments: Iterable[Experiment]
) -> list[tuple[Claim, Finding]]:
    """Decide every claim.

    Parameters
    ----------
    results : Results
        What was measured.
    experiments : iterable of Experiment
        What was run.

    Returns
    -------
    list of (Claim, Finding)
        In the order of `CLAIMS`.
    """
    there = {experiment.name: experiment for experiment in experiments}
    found = []
    for claim in CLAIMS:
        differences = np.zeros(0)
        if claim.needs in there:
            differences = claim.differences(results, there[claim.needs])
        nothing = Finding(float("nan"), float("nan"), _NOT_RUN)
        found.append((claim, compare(differences) if len(differences) else nothing))
    return found


def write_claims(found: list[tuple[Claim, Finding]], folder: Path) -> None:
    """Write claims.csv, and the same to read in claims.md.

    Parameters
    ----------
    found : list of (Claim, Finding)
        From `check_claims`.
    folder : Path
        Where to write them.
    """
    columns = {
        "claim": np.array([claim.sentence for claim, _ in found]),
        "where": np.array([claim.where for claim, _ in found]),
        "measured": np.array([claim.measured for claim, _ in found]),
        "difference": np.array([finding.difference for _, finding in found]),
        "standard_error": np.array([finding.error for _, finding in found]),
        "verdict": np.array([finding.verdict for _, finding in found]),
    }
    write_table(folder / "claims.csv", columns)
    lines = [
        "# The paper's claims, checked",
        "",
        "A positive difference is in favour of the claim. Differences are taken within trials; a "
        "two-sided t-test over trials, at 5 %, decides.",
        "",
        "| claim | where | measured | difference +- standard error | verdict |",
        "|---|---|---|---|---|",
    ]
    for claim, finding in found:
        figures, _, verdict = str(finding).rpartition(": ")
        cells = claim.sentence, claim.where, claim.measured, figures or "-", verdict
        lines.append("| " + " | ".join(cells) + " |")
    with whole_file(folder / "claims.md", "claims") as file:
        file.write("\n".join([*lines, ""]).encode())


Sizes = tuple[float, float]
_ALL, _FEW, _MANY = (0.0, np.inf), (0.0, 100.0), (200.0, np.inf)


def _mean_over(results: Results, of: Experiment, method: str, measure: str, sizes: Sizes) -> Floats:
    """Return each trial's mean over some sizes."""
    at, values = results.trials(of, method, measure)
    within = (sizes[0] <= at) & (at <= sizes[1])
    return values[:, within].mean(axis=1) if within.any() else np.zeros(0)


def _higher(
    method: str, other: str, sizes: Sizes = _ALL, measure: str = "accuracy"
) -> Callable[[Results, Experiment], Floats]:
    """Return by how much one method's measure is above another's."""

    def differences(results: Results, experiment: Experiment) -> Floats:
        first = _mean_over(results, experiment, method, measure, sizes)
        return first - _mean_over(results, experiment, other, measure, sizes)

    return differences


def _lower(
    method: str, other: str, measure: str, sizes: Sizes = _ALL
) -> Callable[[Results, Experiment], Floats]:
    """Return by how much one method's error is below another's."""
    return _higher(other, method, sizes, measure)


def _lightness_dominates(results: Results, experiment: Experiment) -> Floats:
    """Return by how much lightness weighs more than the other two together."""
    lightness, *others = (
        results.trials(experiment, "crowd", metric_measure(i, i))[1].mean(axis=1) for i in range(3)
    )
    result: Floats = lightness - sum(others)
    return result


def _first_in(needs: str, where: str, sentence: str) -> list[Claim]:
    """Return the claims that Nuclear full predicts better than each of the other methods."""
    others = {
        "nuclear-split": "Nuclear split",
        "nuclear-metric": "Nuclear metric",
        "frobenius": "Frobenius metric",
        "psd": "PSD only",
        "nuclear-full-single": "Nuclear full, single",
    }
    return [
        Claim(
            f"{sentence} (against {label})",
            where,
            needs,
            "accuracy of Nuclear full less the other's, mean over sizes",
            _higher("nuclear-full", other),
        )
        for other, label in others.items()
    ]


CLAIMS: tuple[Claim, ...] = (
    *_first_in("highLow", "fig:results:normal-test",
               "High noise, rank 1: Nuclear full predicts best"),
    Claim(
        "High noise, rank 1: Nuclear split comes second (ahead of Nuclear metric)",
        "fig:results:normal-test", "highLow",
        "accuracy of Nuclear split less Nuclear metric's, mean over sizes",
        _higher("nuclear-split", "nuclear-metric"),
    ),
    Claim(
        "High noise, rank 1: with few pairs Nuclear full recovers a better metric than "
        "Nuclear metric",
        "fig:results:normal-Mrec", "highLow",
        "metric error of Nuclear metric less Nuclear full's, up to 100 pairs",
        _lower("nuclear-full", "nuclear-metric", "metric_error", _FEW),
    ),
    Claim(
        "High noise, rank 1: with few pairs Nuclear split recovers a better metric than "
        "Nuclear metric",
        "fig:results:normal-Mrec", "highLow",
        "metric error of Nuclear metric less Nuclear split's, up to 100 pairs",
        _lower("nuclear-split", "nuclear-metric", "metric_error", _FEW),
    ),
    Claim(
        "High noise, rank 1: with many pairs Nuclear metric recovers a slightly better metric "
        "than Nuclear full",
        "fig:results:normal-Mrec", "highLow",
        "metric error of Nuclear full less Nuclear metric's, from 200 pairs",
        _lower("nuclear-metric", "nuclear-full", "metric_error", _MANY),
    ),
    Claim(
        "High noise, rank 1: Nuclear full recovers far better ideal points than Nuclear metric",
        "fig:results:normal-Urec", "highLow",
        "ideal-point error of Nuclear metric less Nuclear full's, mean over sizes",
        _lower("nuclear-full", "nuclear-metric", "ideal_point_error"),
    ),
    Claim(
        "High noise, rank 1: Nuclear split recovers far better ideal points than Nuclear metric",
        "fig:results:normal-Urec", "highLow",
        "ideal-point error of Nuclear metric less Nuclear split's, mean over sizes",
        _lower("nuclear-split", "nuclear-metric", "ideal_point_error"),
    ),
    Claim(
        "High noise, rank 1: Nuclear full recovers better pseudo-ideal points than Nuclear metric",
        "fig:results:normal-highLow-Vrec", "highLow",
        "pseudo-ideal-point error of Nuclear metric less Nuclear full's, mean over sizes",
        _lower("nuclear-full", "nuclear-metric", "pseudo_point_error"),
    ),
    *_first_in("highFull", "fig:results:normal-highFull-test",
               "High noise, full rank: Nuclear full still predicts best"),
    Claim(
        "High noise, full rank: the difference in metrics is less stark than the rank-1 one "
        "(Nuclear full is still ahead of Frobenius metric)",
        "fig:results:normal-highFull-Mrec", "highFull",
        "metric error of Frobenius metric less Nuclear full's, mean over sizes",
        _lower("nuclear-full", "frobenius", "metric_error"),
    ),
    *_first_in("medLow", "fig:results:normal-medLow-test",
               "Medium noise, rank 1: Nuclear full predicts best"),
    Claim(
        "Medium noise, rank 1: with many pairs Nuclear metric recovers a better metric than "
        "Nuclear full",
        "fig:results:normal-medLow-Mrec", "medLow",
        "metric error of Nuclear full less Nuclear metric's, from 200 pairs",
        _lower("nuclear-metric", "nuclear-full", "metric_error", _MANY),
    ),
    Claim(
        "Medium noise, rank 1: with many pairs Frobenius metric recovers a better metric than "
        "Nuclear full",
        "fig:results:normal-medLow-Mrec", "medLow",
        "metric error of Nuclear full less Frobenius metric's, from 200 pairs",
        _lower("frobenius", "nuclear-full", "metric_error", _MANY),
    ),
    Claim(
        "Medium noise, rank 1: with many pairs Nuclear metric recovers better pseudo-ideal points "
        "than Nuclear full",
        "fig:results:normal-medLow-Vrec", "medLow",
        "pseudo-ideal-point error of Nuclear full less Nuclear metric's, from 200 pairs",
        _lower("nuclear-metric", "nuclear-full", "pseudo_point_error", _MANY),
    ),
    Claim(
        "Medium noise, rank 1: even with many pairs Nuclear full's ideal points are better than "
        "Nuclear metric's",
        "fig:results:normal-medLow-Urec", "medLow",
        "ideal-point error of Nuclear metric less Nuclear full's, from 200 pairs",
        _lower("nuclear-full", "nuclear-metric", "ideal_point_error", _MANY),
    ),
    Claim(
        "Colours: CIELAB's own metric predicts markedly worse than a learned one",
        "fig:results:color-test", COLOURS,
        "accuracy of the crowd metric less the identity's, mean over sizes",
        _higher("crowd", "identity"),
    ),
    Claim(
        "Colours: below 20 pairs per person a common metric predicts slightly better than a "
        "metric for each",
        "fig:color-zoomed", COLOURS,
        "accuracy of the crowd metric less the individual metrics', below 20 pairs",
        _higher("crowd", "individual", (0.0, 19.5)),
    ),
    Claim(
        "Colours: with many pairs individual metrics predict better than a common one",
        "fig:results:color-test", COLOURS,
        "accuracy of the individual metrics less the crowd metric's, from 200 pairs",
        _higher("individual", "crowd", _MANY),
    ),
    Claim(
        "Colours: lightness dominates the metric",
        "fig:results:color-metric", COLOURS,
        "M's entry for lightness less the sum of the other two on the diagonal",
        _lightness_dominates,
    ),
)  # fmt: skip
"""Every empirical sentence of the paper that these experiments can speak about."""
