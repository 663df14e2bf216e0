"""The tidy table of all results, and questions to it."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crowdmetric import __version__
from crowdmetric.files import whole_file
from crowdmetric.paper.experiments import Experiment, Plan
from crowdmetric.paper.rows import Row
from crowdmetric.paper.units import Unit

__all__ = ["Results", "provenance"]

Floats = npt.NDArray[np.float64]

_SCHEMA = pa.schema(
    [
        ("experiment", pa.string()),
        ("rank", pa.int64()),
        ("beta", pa.float64()),
        ("method", pa.string()),
        ("pairs", pa.int64()),
        ("trial", pa.int64()),
        ("measure", pa.string()),
        ("value", pa.float64()),
    ]
)
_LIBRARIES = ("numpy", "scipy", "numba", "pyarrow", "scikit-learn")


@dataclass(frozen=True, eq=False)
class Results:
    """All rows of a run.

    Parameters
    ----------
    table : pyarrow.Table
        The columns experiment, rank, beta, method, pairs, trial, measure and value.

    Examples
    --------
    >>> from crowdmetric.paper.experiments import quick_plan
    >>> from crowdmetric.paper.units import units
    >>> first, second, *_ = units(quick_plan(trials=2))
    >>> results = Results.of({first: [("psd", 20, "accuracy", 0.7)]})
    >>> results.trials(first.experiment, "psd", "accuracy")
    (array([20]), array([[0.7]]))
    """

    table: pa.Table

    @classmethod
    def of(cls, rows: Mapping[Unit, list[Row]]) -> Results:
        """Join the rows of units."""
        columns: dict[str, list[object]] = {name: [] for name in _SCHEMA.names}
        for unit, measured in rows.items():
            kind = unit.experiment
            for method, pairs, measure, value in measured:
                values = (
                    kind.experiment, kind.rank, kind.beta, method, pairs, unit.trial, measure, value
                )  # fmt: skip
                for column, entry in zip(columns.values(), values, strict=True):
                    column.append(entry)
        return cls(pa.table(columns, schema=_SCHEMA))

    def write(self, path: Path, made_with: Mapping[str, object]) -> None:
        """Write the table to a Parquet file.

        Parameters
        ----------
        path : Path
            The file.
        made_with : mapping
            From `provenance`; kept in the file's metadata.
        """
        metadata = {b"crowdmetric": json.dumps(made_with).encode()}
        with whole_file(path, "results") as file:
            pq.write_table(self.table.replace_schema_metadata(metadata), file)

    @classmethod
    def read(cls, path: Path) -> Results:
        """Read a table that was written."""
        return cls(pq.read_table(path))

    def has(self, experiment: Experiment) -> bool:
        """Return whether there are rows of an experiment."""
        return bool(self._of(experiment).num_rows)

    def methods(self, experiment: Experiment) -> list[str]:
        """Return the methods of an experiment, in the order of their rows."""
        found: list[str] = pc.unique(self._of(experiment)["method"]).to_pylist()
        return found

    def trials(
        self, experiment: Experiment, method: str, measure: str
    ) -> tuple[npt.NDArray[np.int64], Floats]:
        """Return the sizes, and a measure for each trial (row) and size (column).

        Parameters
        ----------
        experiment : Experiment
            Of the plan.
        method, measure : str
            As in the table.

        Returns
        -------
        ndarray of shape (S,)
            Training pairs per user, ascending.
        ndarray of shape (trials, S)
            The values.
        """
        mine = self._of(experiment)
        mine = mine.filter((pc.field("method") == method) & (pc.field("measure") == measure))
        mine = mine.sort_by([("trial", "ascending"), ("pairs", "ascending")])
        sizes = np.unique(mine["pairs"].to_numpy())
        count = len(np.unique(mine["trial"].to_numpy()))
        return sizes, mine["value"].to_numpy().reshape(count, len(sizes))

    def values(self, experiment: Experiment, method: str, measure: str) -> Floats:
        """Return all values of a measure of a method, at all sizes and trials."""
        return self.trials(experiment, method, measure)[1].ravel()

    def _of(self, experiment: Experiment) -> pa.Table:
        """Return the rows of an experiment."""
        chosen = pc.field("experiment") == experiment.experiment
        for name in ("rank", "beta"):
            value = getattr(experiment, name)
            chosen &= pc.field(name).is_null() if value is None else pc.field(name) == value
        return self.table.filter(chosen)


def provenance(plan: Plan) -> dict[str, object]:
    """Return what the results were made with.

    Parameters
    ----------
    plan : Plan
        What was run.

    Returns
    -------
    dict
        Versions, seed, sizes and machine; nothing that another run on it would change.

    Examples
    --------
    >>> from crowdmetric.paper.experiments import quick_plan
    >>> provenance(quick_plan())["seed"]
    0
    """
    return {
        "crowdmetric": __version__,
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in _LIBRARIES},
        "machine": platform.platform(),
        "processor": platform.machine(),
        "seed": plan.seed,
        "trials": plan.trials,
        "experiments": [repr(experiment) for experiment in plan.experiments],
    }
