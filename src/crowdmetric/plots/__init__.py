"""Pictures of a fitted model: metric, spectrum, a map of items and ideal points, reliability.

Every function returns a matplotlib ``Figure`` of its own and leaves pyplot's state alone, so it
works in a notebook, in a server and without a screen. Matplotlib is imported on first use.

Examples
--------
>>> import crowdmetric as cm
>>> from crowdmetric.model import example
>>> cm.plots.metric(example()).axes[0].get_title()
'Metric: 2 features, rank 2'
"""

from crowdmetric.plots.eigenvalues import plot_spectrum
from crowdmetric.plots.files import draw_all, save
from crowdmetric.plots.heat_map import plot_metric
from crowdmetric.plots.item_map import plot_map
from crowdmetric.plots.names import MissingGlyphWarning
from crowdmetric.plots.reliability import plot_reliability

__all__ = [
    "MissingGlyphWarning",
    "draw_all",
    "map",
    "metric",
    "plot_map",
    "plot_metric",
    "plot_reliability",
    "plot_spectrum",
    "save",
    "spectrum",
]

# As they are called with the room's name before them: cm.plots.map(model).
map, metric, spectrum = plot_map, plot_metric, plot_spectrum
