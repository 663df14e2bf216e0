"""What a report is about: a model, answers, and what the sections share of what follows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crowdmetric.comparisons import Comparisons, Ties
from crowdmetric.model import Model
from crowdmetric.model.lookup import comparison_codes
from crowdmetric.report.learning import LearningPoint
from crowdmetric.report.looks import Looks
from crowdmetric.report.provenance import Provenance

__all__ = ["Study"]

Floats = npt.NDArray[np.float64]

_TIES: tuple[Ties, ...] = ("half", "drop")
_ROUNDING = 1e-7  # relative difference of two risks of the same answers, float32 included


@dataclass(frozen=True, eq=False)
class Study:
    """A model, answers to look at with it, and where both come from.

    Parameters
    ----------
    model : Model
        What a fit gave.
    comparisons : Comparisons
        Answers of the model's users about the model's items, with the model's codes; `of` makes
        them so.
    looks : Looks
        How the items look.
    provenance : Provenance
        The command, the files and the versions.
    held_out : ndarray of shape (m,), optional
        A margin for each answer from a fit that has not seen it; see `held_out_margins`.
    learning : tuple of LearningPoint
        What fits to parts of the answers predict; see `learning_curve`.

    Examples
    --------
    >>> from crowdmetric.model import example
    >>> answers = Comparisons.from_arrays(
    ...     [[0, 0, 1]], [-1], users=["bob"], item_ids=["green", "red", "blue"]
    ... )
    >>> study = Study.of(example(), answers)
    >>> study.comparisons.user, study.comparisons.left, study.seen
    (array([1], dtype=int32), array([1], dtype=int32), False)
    """

    model: Model
    comparisons: Comparisons
    looks: Looks = field(default_factory=Looks)
    provenance: Provenance = field(default_factory=Provenance)
    held_out: Floats | None = None
    learning: tuple[LearningPoint, ...] = ()

    @classmethod
    def of(
        cls,
        model: Model,
        comparisons: Comparisons,
        looks: Looks | None = None,
        provenance: Provenance | None = None,
    ) -> Study:
        """Return a study of any answers of the model's users about its items.

        Parameters
        ----------
        model : Model
            What a fit gave.
        comparisons : Comparisons
            The answers; users and items are matched by their ids.
        looks : Looks, optional
            How the items look; by their ids and features when not given.
        provenance : Provenance, optional
            The command and the files.

        Returns
        -------
        Study
            Without held-out margins.

        Examples
        --------
        >>> import crowdmetric as cm
        >>> crowd = cm.simulate(n_items=8, dimension=2, n_users=2, pairs_per_user=20)
        >>> fit = cm.CrowdMetric(crowd.items, cm.regions.NuclearFull(2.0)).fit(crowd.comparisons)
        >>> Study.of(fit.model_, crowd.comparisons).seen
        True
        """
        user, left, right = comparison_codes(comparisons, model.known_users, model.items)
        recoded = replace(
            comparisons,
            users=model.users,
            item_ids=model.items.ids,
            user=user,
            left=left,
            right=right,
        )
        looks = Looks.of(model.items) if looks is None else looks
        return cls(model, recoded, looks, provenance or Provenance())

    @cached_property
    def margins(self) -> Floats:
        """The model's own margins."""
        return self.model.margins(self.comparisons)

    @cached_property
    def seen(self) -> bool:
        """Whether these are the answers that the model was fitted to: their risk tells."""
        certified = self.model.certificate.risk
        later = {name for added in self.model.additions for name in added.users}
        of_later = np.array([name in later for name in self.comparisons.users], dtype=bool)
        first = ~of_later[self.comparisons.user]
        if not first.any() or not _weighs(self.comparisons, first):
            return False
        risks = [self._risk(first, ties) for ties in _TIES]
        return any(abs(risk - certified) <= _ROUNDING * max(1.0, certified) for risk in risks)

    @property
    def judged(self) -> Floats:
        """The fairest margins there are: held out if the model has seen these answers."""
        return self.margins if self.held_out is None else self.held_out

    def _risk(self, rows: npt.NDArray[np.bool_], ties: Ties) -> float:
        """Return the model's mean loss on some of the answers."""
        chosen = self.comparisons.subset(rows)
        if ties == "drop" and not chosen.response.any():
            return float("nan")
        answers = chosen.answers(ties)
        triples = np.column_stack([answers.user, answers.left, answers.right])
        values = self.model.loss.value(answers.sign * self.model.margins_of_codes(triples))
        return float(values @ answers.weight / answers.weight.sum())


def _weighs(comparisons: Comparisons, rows: npt.NDArray[np.bool_]) -> bool:
    """Say whether any of these rows counts."""
    return comparisons.weight is None or bool(comparisons.weight[rows].any())
