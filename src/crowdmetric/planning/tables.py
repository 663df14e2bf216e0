"""A plan as tables: every measure at every size, and what each number of people takes."""

from __future__ import annotations

from pathlib import Path

from crowdmetric.planning.plan import Plan
from crowdmetric.planning.target import MEASURES
from crowdmetric.readers import write_table

__all__ = ["write_tables"]


def write_tables(plan: Plan, folder: Path) -> list[Path]:
    """Write curve.csv and trade.csv.

    Parameters
    ----------
    plan : Plan
        What came out.
    folder : Path
        A folder that exists.

    Returns
    -------
    list of Path
        The files.

    Examples
    --------
    >>> import tempfile
    >>> from crowdmetric.planning.plan import example
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_tables(example(), Path(folder))]
    ['curve.csv', 'trade.csv']
    """
    paths = [folder / "curve.csv", folder / "trade.csv"]
    for path, rows in zip(paths, (_levels(plan), _trade(plan)), strict=True):
        write_table(path, {name: [row[name] for row in rows] for name in rows[0]})
    return paths


Rows = list[dict[str, object]]


def _levels(plan: Plan) -> Rows:
    """Return a row for each number of people, measure and size."""
    return [
        {
            "users": users,
            "pairs": pairs,
            "answers": users * pairs,
            "measure": measure,
            "mean": mean,
            "standard_error": error,
            "trials": len(curves[measure].values),
        }
        for users, curves in plan.curves.items()
        for measure in MEASURES
        for pairs, mean, error in zip(
            curves[measure].sizes.tolist(),
            curves[measure].mean.tolist(),
            curves[measure].error.tolist(),
            strict=True,
        )
    ]


def _trade(plan: Plan) -> Rows:
    """Return a row for each number of people; what was not reached is left empty."""
    rows: Rows = []
    for users, found in plan.needed.items():
        curve = plan.curve(users)
        levels = zip(curve.sizes.tolist(), curve.mean.tolist(), strict=True)
        rows.append(
            {
                "users": users,
                "pairs_needed": _text(found.pairs),
                "low": _text(found.low),
                "high": _text(found.high),
                "answers_needed": _text(None if found.pairs is None else users * found.pairs),
                **{f"{plan.target.measure}_at_{pairs}": mean for pairs, mean in levels},
            }
        )
    return rows


def _text(number: int | None) -> str:
    """Return a number as a cell."""
    return "" if number is None else str(number)
