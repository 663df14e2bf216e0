"""The learning curve: whether more answers would help."""

from __future__ import annotations

import numpy as np

from crowdmetric.report.charts import count_of, line_chart
from crowdmetric.report.markup import element, join, paragraph, scrolling
from crowdmetric.report.section import Written
from crowdmetric.report.sections.quality import ceiling_of
from crowdmetric.report.study import Study
from crowdmetric.report.tables import Column, percentages, table
from crowdmetric.trust import people

__all__ = ["learning"]

_STILL = 0.01  # gain from the last doubling below which more of the same hardly helps


def learning(study: Study) -> Written | None:
    """Return the section about what fewer answers would have done.

    Parameters
    ----------
    study : Study
        What the report is about.

    Returns
    -------
    Written or None
        None where no answers were held out.

    Examples
    --------
    >>> from crowdmetric.report.examples import study
    >>> learning(study()) is None
    True
    """
    curve = study.learning
    if len(curve) < 2:
        return None
    gain = curve[-1].accuracy - curve[-2].accuracy
    few, many = (count_of(point.answers) for point in curve[-2:])
    said = f"Twice the answers, from {few} to {many} per person, "
    said += (
        f"still added {100 * gain:.1f} percentage points: more answers would help."
        if gain > _STILL
        else f"changed the accuracy by only {100 * gain:+.1f} percentage points: more answers of "
        "the same kind hardly help."
    )
    agreement = people(study.comparisons).agreement
    ceiling = None if np.isnan(agreement).all() else ceiling_of(agreement)
    points = [(point.answers, point.accuracy) for point in curve]
    described = "Learning curve: " + ", ".join(f"{count_of(a)} answers {b:.1%}" for a, b in points)
    columns = [
        Column("answers per person", [count_of(a) for a, _ in points], [a for a, _ in points]),
        percentages("accuracy, held out", [b for _, b in points], bars=True),
    ]
    chart = line_chart(points, "answers per person", described, ceiling, "ceiling, about")
    note = paragraph(
        "Fits with the model's settings to parts of everybody's answers, each predicting the same "
        "answers (of many, a part is enough), which it has not seen. The radius stays; a smaller "
        "one would do better with few answers, so the curve starts lower than it need.",
        class_="note",
    )
    framed = element("figure", scrolling(chart, "Learning curve"))
    return Written(
        "Would more answers help?",
        join([paragraph(said), framed, table("Learning curve", columns, sortable=False), note]),
    )
