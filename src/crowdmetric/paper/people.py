"""The people behind the colour data: how consistent they are, and which side they prefer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crowdmetric.paper.colour_data import ColourData, read_colours
from crowdmetric.paper.colours import Colours
from crowdmetric.paper.experiments import COLOURS, Experiment
from crowdmetric.paper.results import Results
from crowdmetric.readers import write_table
from crowdmetric.trust.self_agreement import people

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_people", "write_people"]


def write_people(data: ColourData, path: Path) -> None:
    """Write a table with a row per person.

    Parameters
    ----------
    data : ColourData
        The answers.
    path : Path
        A CSV file.
    """
    found = people(data.answers)
    columns = {
        "person": np.array(found.names),
        "answers": found.answered.astype(np.int64),
        "agreement_with_self": found.agreement,
        "accuracy_ceiling": found.ceiling,
        "share_left": found.left,
    }
    write_table(path, columns)


def draw_people(axes: Axes, results: Results, experiments: Mapping[str, Experiment]) -> None:
    """Draw each person's agreement with themselves, their ceiling, and their side bias."""
    experiment = experiments[COLOURS]
    assert isinstance(experiment, Colours)
    found = people(read_colours(experiment.path).answers)
    order = np.argsort(found.agreement)
    at = np.arange(len(order))
    axes.plot(at, found.ceiling[order], "^", ms=4, c="#009E73", label="ceiling it implies, at most")
    axes.plot(at, found.agreement[order], "o", ms=4, c="#0072B2", label="agreement with oneself")
    axes.plot(at, found.left[order], "s", ms=4, c="#D55E00", mfc="w", label="answers for the left")
    accuracy = results.trials(experiment, "crowd", "accuracy")[1][:, -1].mean()
    axes.axhline(accuracy, c="k", lw=1, ls="--", label=f"crowd metric, mean: {accuracy:.1%}")
    axes.axhline(0.5, c="0.6", lw=0.8)
    axes.set_xlabel("people, by agreement with themselves")
    axes.set_ylabel("share")
    axes.set_ylim(0.3, 1.0)
    axes.set_title("How consistent people are, and what can be predicted at best", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=7.5, frameon=False, ncols=2, loc="upper left")
