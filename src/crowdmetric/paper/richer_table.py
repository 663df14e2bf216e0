"""Run the comparison of richer maps with the paper's model, and say what came out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from crowdmetric.files import check_folder
from crowdmetric.paper.experiments import Plan
from crowdmetric.paper.results import Results, provenance
from crowdmetric.paper.richer import METHODS, SIZES, SPLITS, Richer
from crowdmetric.paper.units import run_units

__all__ = ["run_richer", "table"]

_WORDS = {
    "paper": "single answers left out",
    "together": "pairs left out with their reversals",
    "unseen": "7 of the 37 colours left out",
}


def run_richer(
    data: str,
    trials: int,
    seed: int,
    folder: Path,
    workers: int,
    progress: Callable[[int, int], None] | None = None,
    sizes: tuple[int, ...] = SIZES,
) -> Results:
    """Run the trials, or what is left of them, and write all that was measured.

    Parameters
    ----------
    data : str
        The file of the colour preferences.
    trials : int
        Splits of each kind.
    seed : int
        The root of all seeds.
    folder : Path
        Gets richer.parquet, and units/ with what is finished.
    workers : int
        How many processes.
    progress : callable, optional
        Called with the numbers of units that are done, and that were to be done.
    sizes : tuple of int
        Training pairs per person.

    Returns
    -------
    Results
        Everything that was measured.
    """
    check_folder(folder)
    plan = Plan(tuple(Richer(split, sizes, data) for split in SPLITS), trials, seed)
    results = Results.of(run_units(plan, folder / "units", workers, progress))
    results.write(folder / "richer.parquet", provenance(plan))
    return results


def table(results: Results) -> str:
    """Return means over the splits, and standard deviations, as readable lines.

    Parameters
    ----------
    results : Results
        From `run_richer`.

    Returns
    -------
    str
        A line for each split and size.
    """
    lines = [f"{'accuracy on':37}{'pairs':>5}  {'paper':>15}  {'lifted':>15}"]
    for split in SPLITS:
        experiment = Richer(split)
        found = [results.trials(experiment, method, "accuracy") for method in METHODS]
        for k, size in enumerate(found[0][0].tolist()):
            cells = [f"{v[:, k].mean():.3f} ± {v[:, k].std():.3f}" for _, v in found]
            lines.append(f"{_WORDS[split]:37}{size:>5}  {cells[0]:>15}  {cells[1]:>15}")
    return "\n".join(lines)
