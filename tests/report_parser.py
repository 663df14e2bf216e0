"""A strict reader of HTML for the tests of reports: what is not nested as it should be, fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

EMPTY = {"br", "col", "img", "link", "meta"}
PHRASING = {"a", "b", "bdi", "button", "code", "em", "i", "img", "span", "strong", "svg"}
CHILDREN = {
    "ul": {"li"},
    "ol": {"li"},
    "dl": {"div"},
    "table": {"caption", "thead", "tbody"},
    "thead": {"tr"},
    "tbody": {"tr"},
    "tr": {"th", "td"},
}
INSIDE_PHRASING = {"p", "h1", "h2", "h3", "summary", "caption", "bdi", "code", "button", "dt"}


@dataclass
class Element:
    """An element, its attributes, its children and its text."""

    name: str
    attributes: dict[str, str | None]
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> str | None:
        return self.attributes.get(name)

    @property
    def text(self) -> str:
        """All text inside, pieces joined."""
        return "".join([*self.texts, *(child.text for child in self.children)]).strip()

    def all(self, *names: str) -> list[Element]:
        """Return the elements of some names inside, in the order of the document."""
        found = [self] if self.name in names or not names else []
        return found + [one for child in self.children for one in child.all(*names)]


class Reader(HTMLParser):
    """Builds the tree, and refuses what a browser would have to repair."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self.open = Element("document", {})

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs), (tag, attrs)
        allowed = CHILDREN.get(self.open.name)
        assert allowed is None or tag in allowed, f"<{tag}> in <{self.open.name}>"
        if self.open.name in INSIDE_PHRASING:
            assert tag in PHRASING, f"<{tag}> in <{self.open.name}>"
        made = Element(tag, dict(attrs), self.open)
        self.open.children.append(made)
        if tag not in EMPTY:
            self.open = made

    def handle_endtag(self, tag):
        assert tag == self.open.name, f"</{tag}> closes <{self.open.name}>"
        self.open = self.open.parent

    def handle_data(self, data):
        if self.open.name in CHILDREN:
            assert not data.strip(), f"text in <{self.open.name}>: {data!r}"
        self.open.texts.append(data)


def parse(html: str) -> Element:
    """Return the document as a tree."""
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open is reader.root, f"<{reader.open.name}> is not closed"
    return reader.root
