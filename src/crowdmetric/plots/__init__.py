"""Pictures of a fitted model: metric, spectrum, a map of items and ideal points, reliability.

Every function returns a matplotlib ``Figure`` of its own and leaves pyplot's state alone, so it
works in a notebook, in a server and without a screen. Matplotlib is imported on first use.
"""

from crowdmetric.plots.files import draw_all, save
from crowdmetric.plots.heat_map import plot_metric
from crowdmetric.plots.item_map import plot_map
from crowdmetric.plots.names import MissingGlyphWarning
from crowdmetric.plots.reliability import plot_reliability
from crowdmetric.plots.spectrum import plot_spectrum

__all__ = [
    "MissingGlyphWarning",
    "draw_all",
    "plot_map",
    "plot_metric",
    "plot_reliability",
    "plot_spectrum",
    "save",
]
