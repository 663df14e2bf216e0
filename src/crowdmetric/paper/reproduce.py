"""All of it: run what is missing, and write the table, the figures and the claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from crowdmetric.files import check_folder
from crowdmetric.paper.certificates import Tally, tally, write_tally
from crowdmetric.paper.claims import Claim, Finding, check_claims, write_claims
from crowdmetric.paper.colour_data import read_colours
from crowdmetric.paper.colours import Colours
from crowdmetric.paper.experiments import Plan
from crowdmetric.paper.figures import PaperFigure, draw_figures
from crowdmetric.paper.people import write_people
from crowdmetric.paper.results import Results, provenance
from crowdmetric.paper.units import run_units

__all__ = ["Reproduction", "reproduce"]


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What came out.

    Parameters
    ----------
    results : Results
        Everything that was measured.
    tallies : list of Tally
        How the fits went.
    claims : list of (Claim, Finding)
        The paper's sentences, checked.
    figures : list of Path
        The pictures.
    """

    results: Results
    tallies: list[Tally]
    claims: list[tuple[Claim, Finding]]
    figures: list[Path]

    def summary(self) -> str:
        """Return some readable lines."""
        fits = sum(one.fits for one in self.tallies)
        converged = sum(one.converged for one in self.tallies)
        separable = sum(one.separable for one in self.tallies)
        missed = [one for one in self.tallies if one.missed]
        lines = [
            f"{fits} fits: {converged} certified to their tolerance (1e-6; 1e-5 with the hinge), "
            f"{separable} without a best fit (PSD only, answers explained perfectly), "
            f"{fits - converged - separable} missed",
            *(
                f"missed: {one.missed} of {one.fits} by {one.method} in {one.experiment}, "
                f"gaps up to {one.largest_gap:.1e}"
                for one in missed
            ),
            "",
            *(
                f"{finding.verdict:18} {claim.sentence}"
                for claim, finding in self.claims
                if finding.was_run
            ),
        ]
        return "\n".join(lines)


def reproduce(
    plan: Plan,
    figures: Sequence[PaperFigure],
    folder: Path,
    workers: int,
    progress: Callable[[int, int], None] | None = None,
) -> Reproduction:
    """Run a plan, or what is left of it, and write everything.

    Parameters
    ----------
    plan : Plan
        What to run.
    figures : sequence of PaperFigure
        What to draw.
    folder : Path
        Gets results.parquet, certificates.csv, claims.csv, claims.md, people.csv (with colours),
        the figures, and units/ with what is finished.
    workers : int
        How many processes.
    progress : callable, optional
        Called with the numbers of units that are done, and that were to be done.

    Returns
    -------
    Reproduction
        What came out.
    """
    check_folder(folder)
    data = [
        read_colours(experiment.path)
        for experiment in plan.experiments
        if isinstance(experiment, Colours)
    ]
    results = Results.of(run_units(plan, folder / "units", workers, progress))
    results.write(folder / "results.parquet", provenance(plan))
    tallies = tally(results, plan.experiments)
    write_tally(tallies, folder / "certificates.csv")
    claims = check_claims(results, plan.experiments)
    write_claims(claims, folder)
    for colours in data[:1]:
        write_people(colours, folder / "people.csv")
    drawn = draw_figures(figures, results, plan.experiments, folder)
    return Reproduction(results, tallies, claims, drawn)
