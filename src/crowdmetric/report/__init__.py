"""One file of HTML about a model and answers, which opens offline and needs nothing else.

A report is a sequence of sections, each with a title and markup; `sections` has ours, a file each,
and `write_report` takes more.
"""

from crowdmetric.report.held_out import held_out_margins
from crowdmetric.report.learning import LearningPoint, learning_curve
from crowdmetric.report.looks import Looks, read_looks
from crowdmetric.report.page import write_report
from crowdmetric.report.provenance import Provenance, Source
from crowdmetric.report.section import Section, Written
from crowdmetric.report.study import Study

__all__ = [
    "LearningPoint",
    "Looks",
    "Provenance",
    "Section",
    "Source",
    "Study",
    "Written",
    "held_out_margins",
    "learning_curve",
    "read_looks",
    "write_report",
]
