"""Pages with the same numbers in other units."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from benchwatch.nutanix.simulator.page_html import Cell, PageColumn, PageSection


class Other(NamedTuple):
    """Another unit, and the factor for a number in the usual unit."""

    name: str
    factor: float


OTHER_UNITS: Mapping[str, Other] = {
    "usec": Other("msec", 1 / 1000),
    "KB": Other("MB", 1 / 1024),
    "KB/s": Other("MB/s", 1 / 1024),
    "GB": Other("MB", 1024),
    "MB": Other("KB", 1024),
    "MB/s": Other("KB/s", 1024),
    "kIO/s": Other("IO/s", 1000),
    "ms": Other("us", 1000),
    "kB": Other("B", 1024),
}
UNKNOWN_UNITS: Mapping[str, Other] = {"usec": Other("jiffies", 1), "KB/s": Other("XB/s", 1)}

_UNIT = re.compile(r"(?<![\w/])(usec|[kKMG]B/s|[kKMG]B|kIO/s|ms)(?![\w/])")
_UNNAMED = {"Average Bucket Latency": "Average Bucket Latency (usec)", "Avg op size": "Avg op size (B)"}


def change_units(section: PageSection, units: Mapping[str, Other]) -> PageSection:
    """The section with labels, ranges and numbers in these units."""
    columns, factors = [], []
    sizes = "Size Distribution" in section.title
    for column in section.columns:
        group = column.group if sizes else _UNNAMED.get(column.group, column.group)
        other_group, by_group = _label(group, units)
        other_label, by_label = _label(column.label, units)
        columns.append(PageColumn(other_group, other_label))
        factors.append(by_group * by_label)
    rows = tuple(
        tuple(
            _cell(cell, factor * _row_factor(cells, index, units), units)
            for index, (cell, factor) in enumerate(zip(cells, factors or [1.0] * len(cells), strict=True))
        )
        for cells in section.rows
    )
    return replace(section, columns=tuple(columns), rows=rows)


def _label(text: str, units: Mapping[str, Other]) -> tuple[str, float]:
    """The label with the other unit, and the factor for its numbers."""
    match = _UNIT.search(text)
    other = units.get(match[0]) if match else None
    return (text[: match.start()] + other.name + text[match.end() :], other.factor) if match and other else (text, 1.0)


def _row_factor(cells: tuple[Cell, ...], index: int, units: Mapping[str, Other]) -> float:
    """The factor by the label of the row, for the cells after it; a range has none."""
    label = cells[0]
    is_range = isinstance(label, str) and "<" in label
    return _label(label, units)[1] if index and isinstance(label, str) and not is_range else 1.0


def _cell(cell: Cell, factor: float, units: Mapping[str, Other]) -> Cell:
    if not isinstance(cell, str):
        return cell
    if re.fullmatch(r"\d+(\.\d+)?", cell):
        return f"{float(cell) * factor:.15g}"
    if re.search(r"\(\w+/s\)|\(\wB\)", cell):
        return _label(cell, units)[0]
    return re.sub(rf"(\d+) ?{_UNIT.pattern}", lambda match: _amount(match, units), cell)


def _amount(match: re.Match[str], units: Mapping[str, Other]) -> str:
    other = units.get(match[2])
    return f"{float(match[1]) * other.factor:.15g} {other.name}" if other else match[0]
