"""The sections of a report, a file each: from a study to a title and its markup.

To add one, write a function from a `Study` to a `Section`, or to None where there is nothing to
say, and name it in `SECTIONS`.
"""

from collections.abc import Callable

from crowdmetric.report.section import Section
from crowdmetric.report.sections.accuracy import accuracy
from crowdmetric.report.sections.asked import asked
from crowdmetric.report.sections.item_map import item_map
from crowdmetric.report.sections.learning import learning
from crowdmetric.report.sections.metric import metric
from crowdmetric.report.sections.quality import quality
from crowdmetric.report.sections.redo import redo
from crowdmetric.report.sections.sufficiency import sufficiency
from crowdmetric.report.study import Study

__all__ = ["SECTIONS"]

SECTIONS: tuple[Callable[[Study], Section | None], ...] = (
    asked,
    quality,
    accuracy,
    learning,
    metric,
    item_map,
    sufficiency,
    redo,
)
"""In the order in which a report shows them."""
