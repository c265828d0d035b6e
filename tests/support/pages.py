"""A page as a program sees it."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

VOID = frozenset({"meta", "img", "br", "path", "use", "image", "rect", "link", "input"})
URLS = frozenset({"src", "href", "xlink:href", "action", "poster", "srcset", "data"})


class Drawing(NamedTuple):
    """A plot: its title, what it says in words, and the figure that plotly draws."""

    title: str
    description: str
    figure: dict[str, Any]

    @property
    def lines(self) -> dict[str, dict[str, Any]]:
        """The traces that have a name, by it."""
        return {trace["name"]: trace for trace in self.figure["data"] if "name" in trace}

    @property
    def levels(self) -> dict[str, float]:
        """The lines across the whole plot, by the words beside them."""
        layout = self.figure["layout"]
        lines = [shape for shape in layout["shapes"] if shape["type"] == "line"]
        words = [text["text"] for text in layout["annotations"]]
        return {text: line["y0"] for text, line in zip(words, lines, strict=True)}

    @property
    def marks(self) -> list[dict[str, Any]]:
        """What is marked behind the lines."""
        return [shape for shape in self.figure["layout"]["shapes"] if shape["type"] == "rect"]


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

    def drawings(self) -> list[Drawing]:
        """The plots, in their order."""
        titles = [attributes["data-plot"] for _, attributes in self.elements if "data-plot" in attributes]
        figures = [place for place, (tag, data) in enumerate(self.texts) if tag == "script" and data.startswith("{")]
        words = [self.texts[place - 1][1] for place in figures]
        assert len(titles) == len(figures)
        return [
            Drawing(title, description, json.loads(self.texts[place][1]))
            for title, description, place in zip(titles, words, figures, strict=True)
        ]

    def drawing(self, title: str) -> Drawing:
        """The plot of that title."""
        return next(one for one in self.drawings() if one.title == title)

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
