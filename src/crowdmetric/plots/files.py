"""Pictures as files."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING

from crowdmetric.errors import OutputError
from crowdmetric.files import whole_file
from crowdmetric.plots.eigenvalues import plot_spectrum
from crowdmetric.plots.heat_map import plot_metric
from crowdmetric.plots.item_map import plot_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from crowdmetric.model import Model

_FORMATS = ("pdf", "png", "svg")
_PICTURES = {"metric.png": plot_metric, "map.png": plot_map, "spectrum.png": plot_spectrum}


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure to a file, whole or not at all.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    path : str or Path
        Ends in .png, .svg or .pdf; a file of this name is replaced.

    Raises
    ------
    OutputError
        If the ending is none of these, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Figure(), Path(folder) / "empty.svg")
    ...     [path.name for path in Path(folder).iterdir()]
    ['empty.svg']
    """
    target = Path(path)
    ending = target.suffix.removeprefix(".").lower()
    if ending not in _FORMATS:
        raise OutputError(f"{target}: pictures are written as .png, .svg or .pdf; choose one")
    with whole_file(target, "picture") as file:
        figure.savefig(file, format=ending, dpi=150)


def draw_all(model: Model, folder: str | Path, user: Hashable | None = None) -> list[Path]:
    """Write every picture of a model into a folder, as PNG.

    Parameters
    ----------
    model : Model
        What a fit gives.
    folder : str or Path
        A folder that exists; pictures of the same names in it are replaced.
    user : hashable, optional
        Whose pictures to draw, where each user has a metric of their own.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    OutputError
        If one cannot be written.
    SettingError
        If each user has a metric and none is named.
    UnknownUserError
        If the model has no such user.

    Examples
    --------
    >>> import tempfile
    >>> from crowdmetric.model import example
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in draw_all(example(), folder)]
    ['metric.png', 'map.png', 'spectrum.png']
    """
    paths = []
    for name, picture in _PICTURES.items():
        paths.append(Path(folder) / name)
        save(picture(model, user), paths[-1])
    return paths
