"""Items and comparisons as immutable columns: ids outside, small integer codes inside."""

from crowdmetric.comparisons.answers import Answers, Comparisons, Ties
from crowdmetric.comparisons.items import Items

__all__ = ["Answers", "Comparisons", "Items", "Ties"]
