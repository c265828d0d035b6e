"""A page as a program sees it."""

import re
from html.parser import HTMLParser
from pathlib import Path

VOID = frozenset({"meta", "img", "br", "path", "use", "image", "rect", "link", "input"})
URLS = frozenset({"src", "href", "xlink:href", "action", "poster", "srcset", "data"})


class Page(HTMLParser):
    """Elements, text by element, and what is loaded from elsewhere; fails where an element is not closed."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[str, str]] = []
        self.loaded: list[str] = []
        self._open: list[str] = []
        self.feed(self.source)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.elements.append((tag, attributes))
        self.loaded += [value for name, value in attributes.items() if name in URLS and not value.startswith("#")]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self._open[-1] if self._open else "", data))

    def text(self, element: str) -> list[str]:
        """The texts right in elements of that name."""
        return ["".join(data.split("\n")).strip() for tag, data in self.texts if tag == element]

    def drawings(self) -> list[dict[str, str]]:
        """The attributes of the plots."""
        return [attributes for tag, attributes in self.elements if attributes.get("role") == "img"]

    def paths(self, drawing: str, name: str, value: str) -> list[list[tuple[float, float]]]:
        """The points of the paths with that in an attribute, of the plot whose description begins so, in its units."""
        found = []
        inside = False
        for tag, attributes in self.elements:
            if attributes.get("role") == "img":
                inside = attributes["aria-label"].startswith(drawing)
            elif inside and tag == "path" and value in attributes.get(name, ""):
                numbers = list(map(float, re.findall(r"-?[\d.]+", attributes["d"])))
                found.append(list(zip(numbers[::2], numbers[1::2], strict=False)))
        return found

    def rows(self) -> dict[str, list[str]]:
        """The rows of all tables, by their first cell."""
        found: dict[str, list[str]] = {}
        name = ""
        for tag, data in self.texts:
            if tag == "th":
                name = data
            elif tag in ("td", "span") and name:
                found.setdefault(name, []).append(data)
        return found
