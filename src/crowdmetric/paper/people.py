"""The people behind the colour data: how consistent they are, and which side they prefer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crowdmetric.checks import Floats
from crowdmetric.comparisons import Comparisons
from crowdmetric.paper.colour_data import ColourData, read_colours
from crowdmetric.paper.colours import Colours
from crowdmetric.paper.experiments import COLOURS, Experiment
from crowdmetric.paper.results import Results
from crowdmetric.readers import write_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["People", "draw_people", "people", "write_people"]


@dataclass(frozen=True, eq=False)
class People:
    """What each person's answers say about their answering.

    Parameters
    ----------
    names : tuple of str
        The persons.
    answered : ndarray of shape (K,)
        How many answers each gave.
    agreement : ndarray of shape (K,)
        The share of pairs asked both ways round that got the same colour as an answer.
    left : ndarray of shape (K,)
        The share of answers for the colour on the left.
    """

    names: tuple[str, ...]
    answered: Floats
    agreement: Floats
    left: Floats

    @property
    def ceiling(self) -> Floats:
        """The accuracy that no predictor can exceed on average, for each person.

        If a pair is answered independently each time, with probability p for its favourite,
        the two answers agree with probability a = (1 + (2p - 1)^2) / 2, and the best guess is right
        with probability (1 + |2p - 1|) / 2. By Jensen's inequality the mean of the latter over
        pairs is at most (1 + sqrt(2a - 1)) / 2.

        Examples
        --------
        >>> People(("ann",), np.array([10.0]), np.array([0.82]), np.array([0.5])).ceiling
        array([0.9])
        """
        result: Floats = (1 + np.sqrt(np.maximum(2 * self.agreement - 1, 0.0))) / 2
        return result


def people(answers: Comparisons) -> People:
    """Look at how each person answered.

    Parameters
    ----------
    answers : Comparisons
        With pairs that are asked both ways round.

    Returns
    -------
    People
        A person without such a pair has an agreement of nan.

    Examples
    --------
    >>> people(Comparisons.from_arrays([[0, 0, 1], [0, 1, 0]], [-1, 1])).agreement
    array([1.])
    """
    count, n = answers.n_users, answers.n_items
    table = np.zeros((count, n, n))
    table[answers.user, answers.left, answers.right] = answers.response
    mirrored = np.swapaxes(table, 1, 2)
    both = np.triu((table != 0) & (mirrored != 0), k=1)
    same = both & (table == -mirrored)
    asked = both.sum(axis=(1, 2))
    agreement = np.full(count, np.nan)
    np.divide(same.sum(axis=(1, 2)), asked, out=agreement, where=asked > 0)
    given = np.bincount(answers.user, minlength=count).astype(np.float64)
    left = np.bincount(answers.user, answers.response < 0, minlength=count) / np.maximum(given, 1)
    return People(tuple(map(str, answers.users)), given, agreement, left)


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
