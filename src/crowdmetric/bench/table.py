"""Tables for people to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["OURS", "notes", "side_by_side", "table", "verdicts"]

OURS = "crowdmetric"
_VERDICTS = {True: "met", False: "NOT MET", None: "nothing to compare with"}
_NOTES = """\
One thread for everybody. Times are medians over seeds, each the median of up to {repeats} solves.
  compile    ours: what the first call takes longer than the next (compiled code is loaded, or
             made); peers: to build the CVXPY model and compile it to the solver's form
  solve      ours: all that solve() does, sorting and certificate included; peers: as the solver
             reports (what CVXPY leaves over, where it reports nothing)
  total      what the user waits for: peers with compile, ours without the first call's extra
  x ours     the peer's total / our total; the fastest peer's is what counts
  x solve    the peer's solve / our total; again the fastest counts, be it another one
  violation  of the region's constraints, relative to its radii; the largest of all seeds
  gap        risk - our certified lower bound, so a violation can make it negative; the largest
             in size of all seeds (single: of all users)
  status     the worst of all seeds; "out of time": more than {limit:g} s, and not asked again
"""


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return texts in columns: the first and the last to the left, numbers to the right.

    Parameters
    ----------
    heads : sequence of str
        What the columns are called.
    rows : sequence of sequence of str
        As many texts in each as there are heads.

    Returns
    -------
    str
        Lines without a line break at the end.

    Examples
    --------
    >>> print(table(["solver", "time", "status"], [["ours", "0.5", "converged"]]))
      solver  time  status
      ours     0.5  converged
    """
    lines = [heads, *rows]
    widths = [max(len(text) for text in column) for column in zip(*lines, strict=True)]
    last = len(heads) - 1
    return "\n".join(
        "  "
        + "  ".join(
            text.ljust(width) if place in (0, last) else text.rjust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def notes(repeats: int, limit: float) -> str:
    """Explain the columns.

    Parameters
    ----------
    repeats : int
        How often the same problem is solved at most.
    limit : float
        Seconds after which a peer is stopped.

    Returns
    -------
    str
        Several lines.

    Examples
    --------
    >>> "more than 60 s" in notes(3, 60.0)
    True
    """
    return _NOTES.format(repeats=repeats, limit=limit)


def side_by_side(rows: Sequence[dict[str, Any]]) -> str:
    """Return the solvers of one problem side by side.

    Parameters
    ----------
    rows : sequence of dict
        As `bench_paper` makes them, ours first.

    Returns
    -------
    str
        A title and a table, with an empty line after them.
    """
    heads = [
        "solver", "compile/s", "solve/s", "total/s", "x ours", "x solve", "risk", "violation",
        "gap", "status",
    ]  # fmt: skip
    cells = []
    for row in rows:
        ratios = (None, None) if row["solver"] == OURS else (row["ratio"], row["solve_ratio"])
        cells.append(
            [
                row["solver"],
                _text(row["compile_seconds"], "{:.4f}"),
                _text(row["solve_seconds"], "{:.4f}"),
                _text(row["total_seconds"], "{:.4f}"),
                *(_text(ratio, "{:.1f}") for ratio in ratios),
                _text(row["risk"], "{:.7f}"),
                _text(row["violation"], "{:.1e}"),
                _text(row["gap"], "{:.1e}"),
                row["status"],
            ]
        )
    ours = rows[0]
    title = (
        f"{ours['problem']}: {ours['sizes']}; gap {ours['tolerance']:.0e}; seeds: {ours['seeds']}"
    )
    return f"{title}\n{table(heads, cells)}\n"


def verdicts(rows: Sequence[dict[str, Any]]) -> str:
    """Return what is asked of each problem beside what was measured.

    Parameters
    ----------
    rows : sequence of dict
        Our rows of `bench_paper`.

    Returns
    -------
    str
        A title, a table, and a note for each problem compared with another.
    """
    heads = ["problem", "ours/s", "gap", "fastest peer", "needed", "x ours", "x solve", "verdict"]
    cells = [
        [
            row["problem"],
            _text(row["total_seconds"], "{:.4f}"),
            _text(row["gap"], "{:.1e}"),
            row["fastest_peer"] or "-",
            f"{row['needed']:g}",
            _text(row["ratio"], "{:.1f}"),
            _text(row["solve_ratio"], "{:.1f}"),
            _VERDICTS[row["met"]],
        ]
        for row in rows
    ]
    remarks = [
        f'"{row["problem"]}" is compared with the peers on "{row["against"]}".'
        for row in rows
        if row["against"] != row["problem"]
    ]
    return "\n".join(["Asked and measured", table(heads, cells), *remarks])


def _text(value: float | None, form: str) -> str:
    """Return a number as text, or a dash where there is none."""
    return "-" if value is None else form.format(value)
