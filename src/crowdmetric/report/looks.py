"""How items look: a swatch for each that is a colour, a small picture for each that has one."""

from __future__ import annotations

import base64
import io
from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path

from crowdmetric.comparisons import Items
from crowdmetric.readers.columns import encode, ids_of
from crowdmetric.readers.sources import open_table
from crowdmetric.readers.table import Table
from crowdmetric.report.colour import colours_of, is_hex
from crowdmetric.report.markup import Html, element

__all__ = ["Looks", "read_looks"]

_SIDE = 64  # pixels of a small picture
_MOST_BYTES = 2_000_000  # of all pictures together; what comes later is left out
_IMAGE, _COLOURS = ("image", "picture", "photo"), ("colour", "color", "hex")


@dataclass(frozen=True)
class Looks:
    """What is shown beside the names of items.

    Parameters
    ----------
    colours : dict of int to str
        Of items, by their codes, in hexadecimal digits.
    pictures : dict of int to str
        Of items, by their codes: ``data:`` addresses, which hold a whole small picture.
    notes : tuple of str
        What could not be shown, and why.

    Examples
    --------
    >>> Looks({0: "#ff0000"}).colours
    {0: '#ff0000'}
    """

    colours: dict[int, str] = field(default_factory=dict)
    pictures: dict[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, items: Items) -> Looks:
        """Return what ids and features say: ids such as #ff0000; features L, a, b or r, g, b.

        Parameters
        ----------
        items : Items
            The items, in the units of their file.

        Returns
        -------
        Looks
            Colours, or nothing.

        Examples
        --------
        >>> Looks.of(Items.from_arrays([[0.0], [1.0]], ids=["#ff0000", "#00f"])).colours
        {0: '#ff0000', 1: '#00f'}
        """
        if all(map(is_hex, items.ids)):
            return cls(dict(enumerate(str(name).strip() for name in items.ids)))
        found = colours_of(items.features, items.names)
        return cls({} if found is None else dict(enumerate(found)))

    def __bool__(self) -> bool:
        """Say whether there is anything to show."""
        return bool(self.colours or self.pictures)

    def named(self, item: int, name: Hashable) -> Html:
        """Return the name of an item with its swatch or picture before it.

        Parameters
        ----------
        item : int
            Its code.
        name : hashable
            Its id.

        Returns
        -------
        Html
            The picture says nothing that the name does not, so it has no text of its own.

        Examples
        --------
        >>> Looks().named(0, "<red>")
        '<bdi>&lt;red&gt;</bdi>'
        """
        shown = element("bdi", name)
        if item in self.pictures:
            picture = element("img", src=self.pictures[item], alt="", class_="thumbnail")
            return Html(picture + shown)
        if item in self.colours:
            disc = element("circle", cx=8, cy=8, r=7, fill=self.colours[item])
            swatch = element("svg", disc, class_="swatch", viewBox="0 0 16 16", aria_hidden="true")
            return Html(swatch + shown)
        return shown


def read_looks(path: str, items: Items) -> Looks:
    r"""Read how items look from a table.

    Parameters
    ----------
    path : str
        A table with the column item, and a column image (paths of pictures, from the table's own
        folder) or colour (such as #ff0000).
    items : Items
        The items that it may be about; others are passed over.

    Returns
    -------
    Looks
        What the table says, and else what the items themselves say.

    Raises
    ------
    DataError
        If the file is not a table with the column item.

    Examples
    --------
    >>> import tempfile
    >>> items = Items.from_arrays([[0.0], [1.0]], ids=["sky", "sun"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/looks.csv"
    ...     _ = Path(path).write_text("item,colour\nsun,#ffcc00\n")
    ...     read_looks(path, items).colours
    {1: '#ffcc00'}
    """
    table = open_table(path)
    table.require(["item"], "'item', and 'image' or 'colour'")
    ids, (rows,) = ids_of(table, "item")
    known = [items.known_ids.position(name) for name in ids]  # -1: not among them
    code = [known[row] for row in rows]
    found = Looks.of(items)
    colours = {**found.colours, **_colours(table, code)}
    column = _column(table, _IMAGE)
    if column is None:
        return Looks(colours)
    pictures, notes = _pictures(_cells(table, column), code, Path(path).parent, items)
    return Looks(colours, pictures, notes)


def _colours(table: Table, code: list[int]) -> dict[int, str]:
    """Return the colours that the table gives."""
    column = _column(table, _COLOURS)
    cells = [] if column is None else _cells(table, column)
    return {
        item: str(cell).strip()
        for item, cell in zip(code, cells, strict=False)
        if item >= 0 and is_hex(cell)
    }


def _pictures(
    cells: list[Hashable], code: list[int], folder: Path, items: Items
) -> tuple[dict[int, str], tuple[str, ...]]:
    """Return the pictures as far as they can be read and there is room, and what is missing."""
    pictures: dict[int, str] = {}
    unread, room = [], _MOST_BYTES
    for item, cell in zip(code, cells, strict=True):
        if cell is None or item < 0:
            continue
        address = _small(folder / str(cell))
        if address is None or len(address) > room:
            unread.append(f"{items.ids[item]} ({cell})")
            continue
        pictures[item] = address
        room -= len(address)
    if not unread:
        return pictures, ()
    more = f" and {len(unread) - 3} more" if len(unread) > 3 else ""
    return pictures, (
        f"No picture is shown of {', '.join(unread[:3])}{more}: the file cannot be read as a "
        "picture, or there are too many for one report.",
    )


def _small(path: Path) -> str | None:
    """Return a picture, made small, as the address that holds it; None if it cannot be read."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            image.thumbnail((_SIDE, _SIDE))
            opaque = image.convert("RGBA")
    except (OSError, ValueError, Image.DecompressionBombError):
        return None
    file = io.BytesIO()
    opaque.save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"


def _column(table: Table, wanted: tuple[str, ...]) -> str | None:
    """Return the first column with one of some names."""
    return next((name for name in table.columns if name.strip().lower() in wanted), None)


def _cells(table: Table, name: str) -> list[Hashable]:
    """Return the cells of a column, None for those that are empty."""
    encoded = encode(table, name)
    values: list[Hashable] = [*encoded.values, None]
    return [values[at] for at in encoded.codes]
