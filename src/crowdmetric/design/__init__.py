"""Designs: which pairs of items to ask of whom, each with the rank of the system that they make.

`minimal_design` asks as little as can determine metric and points, `complete` the least that is
missing from answers already there, `random_design` a number of random pairs, and `optimal_design`
pairs whose answers tell the most.
"""

from crowdmetric.design.completion import complete
from crowdmetric.design.items import Unseen
from crowdmetric.design.minimal import minimal_design
from crowdmetric.design.optimal import efficiency, optimal_design
from crowdmetric.design.questions import Design, RankCertificate
from crowdmetric.design.random_pairs import random_design

__all__ = [
    "Design",
    "RankCertificate",
    "Unseen",
    "complete",
    "efficiency",
    "minimal_design",
    "optimal_design",
    "random_design",
]
