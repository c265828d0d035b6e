"""Line patterns as people read them: `[ <time>s ] thds: <threads> tps: <tps> lat (ms,<quantile>%): <latency:2>`.

- `<name>` is the number of a figure, `<name.label>` one with that value of its label, `<_>` a number without meaning;
- `<name:2>` has exactly two decimals, so that a line that ends with it is complete without its newline;
- `<time>` is in seconds since the start, `<unix>` in Unix seconds;
- `<quantile>` is a percentage, the label `quantile` of the figures in the line; 0 means that there is none;
- `<label>` is a word, if it is a label of the figures in the line: an operation, a job;
- a blank stands for one or more, at the beginning for any number; `{...}` may be missing, `{a|b}` is one of these or
  missing; `...` at the end is any rest of the line.

A pattern counts from the beginning of the line.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from .tool_figures import Key, ToolFigure

_FIELD = re.compile(r"<(\w+)(?:\.([\w.]+))?(?::(\d))?>|\{([^}]*)\}|( +)|([^<{ ]+|.)", re.DOTALL)
_NUMBER = r"\d{1,15}(?:\.\d{1,9})?"


class ReadFigures(NamedTuple):
    """What a template found in a line."""

    figures: dict[Key, float]
    """In base units."""
    time: float | None
    unix: float | None


class Template:
    """One pattern."""

    def __init__(self, text: str, figures: Mapping[str, ToolFigure]) -> None:
        self._labels = {label for one in figures.values() for label in one.labels}
        self._fields: list[tuple[str, str]] = []  # name and label of each group
        form = "".join(map(self._part, _FIELD.finditer(text.removesuffix("..."))))
        self.pattern = re.compile(form + ("" if text.endswith("...") else "$"))
        self.is_whole = not re.search(r"<\w[\w.]*>$", text)
        """Whether a line of this form is complete without its newline."""
        places = {name: place for place, (name, _) in enumerate(self._fields)}
        self._time, self._unix = places.get("time"), places.get("unix")
        self._plan: list[tuple[int, ToolFigure, Key | None, tuple[tuple[int | None, str], ...]]] = []
        """Of each figure: its place, its key if that is always the same, the places or values of the key's parts."""
        for place, (name, label) in enumerate(self._fields):
            if name in figures and name not in ("time", "unix"):
                parts = ((None, name), *((places.get(each), label) for each in figures[name].labels))
                fixed = None if any(at is not None for at, _ in parts) else tuple(value for _, value in parts)
                if fixed is None or "" not in fixed:
                    self._plan.append((place, figures[name], fixed, parts))
        self._quantile = places.get("quantile")

    def _part(self, field: re.Match[str]) -> str:
        name, label, decimals, optional, blank, literal = field.groups()
        if blank:
            return " +" if field.start() else " *"  # programs that put something before each line may strip it
        if optional is not None:
            return f"(?:{'|'.join(map(re.escape, optional.split('|')))})?" if optional.strip() else " *"
        if name is None:
            return re.escape(literal)
        number = rf"\d{{1,15}}\.\d{{{decimals}}}" if decimals else _NUMBER
        if name == "_":
            return number
        self._fields.append((name, label or ""))
        return r"([^\s,:\]]+)" if name in self._labels and name != "quantile" else f"({number})"

    def read(self, text: str) -> ReadFigures | None:
        """What a line says; None if it has another form."""
        match = self.pattern.match(text)
        if match is None:
            return None
        words = match.groups()
        numbers: dict[Key, float] = {}
        for place, figure, fixed, parts in self._plan:
            value = milliseconds(words[place]) if figure.scale == 1e-3 else float(words[place]) * figure.scale
            if figure.positive and not value:
                continue
            key = fixed or tuple([part if at is None else self._label(at, words) for at, part in parts])
            if fixed or "" not in key:
                numbers[key] = value
        time = None if self._time is None else float(words[self._time])
        return ReadFigures(numbers, time, None if self._unix is None else float(words[self._unix]))

    def _label(self, place: int, words: Sequence[str]) -> str:
        return quantile(words[place]) if place == self._quantile else words[place]


def read_first(templates: Sequence[Template], text: str) -> ReadFigures | None:
    """What a line says by the first of the templates that has its form; None if none has."""
    for template in templates:
        if line := template.read(text):
            return line
    return None


def milliseconds(number: str) -> float:
    """Seconds; exact in decimals."""
    return float(f"{number}e-3")


@lru_cache(maxsize=64)
def quantile(percent: str) -> str:
    """The label of a percentage; empty for 0."""
    value = float(percent) / 100
    return f"{value:g}" if value else ""
