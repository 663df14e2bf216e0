"""What the answers can determine at all, before anything is fitted: the paper's theory as tools.

Each question asked of a person is a row of a linear system whose unknowns are the crowd's metric
and everybody's point. `selection` counts what the questions alone can tell (a forest of items),
`system` what they tell about the items at hand (the rank of the whole system, never made densely),
and `recovery` solves it where answers are measured differences of squared distances, or says what
they leave open. `check` gives the verdict on given questions, in words: with the paper's necessary
`conditions`, its sufficient ones (`partition_by_order`, `partition_by_rank`), and the rank for
almost all items (`generic`). `conjecture` tries the paper's conjecture on random instances.
"""

from __future__ import annotations

from crowdmetric.identify.generic import generic_rank
from crowdmetric.identify.recovery import Recovery, recover
from crowdmetric.identify.selection import (
    incremental_order,
    independent_rows,
    is_incremental,
    selection_matrix,
    selection_rank,
)
from crowdmetric.identify.system import LinearSystem
from crowdmetric.identify.verdict import Verdict, check

__all__ = [
    "LinearSystem",
    "Recovery",
    "Verdict",
    "check",
    "generic_rank",
    "incremental_order",
    "independent_rows",
    "is_incremental",
    "recover",
    "selection_matrix",
    "selection_rank",
]
