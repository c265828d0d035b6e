"""The ways in which a real page may differ from the published ones, by name: in content or in style."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Literal, NamedTuple

from benchwatch.nutanix.simulator.page_html import (
    BAR,
    Cell,
    Heading,
    PageBar,
    PageColumn,
    PageDocument,
    PageSection,
    PageWriter,
)

from .other_units import OTHER_UNITS, UNKNOWN_UNITS, change_units


@dataclass(frozen=True)
class Style:
    """How the HTML is written; `heading` overrides the sections' own."""

    heading: Heading | None = None
    space: str = " "
    escape_less_than: bool = True
    quotes: Literal["links", "all", "none"] = "links"
    upper_case: bool = False
    unclosed: bool = False
    multiline: bool = False
    empty: str = ""
    header_every: int = 0
    """Rows after which the header is repeated; 0: never."""


class StyledWriter(PageWriter):
    """Writes pages in another style."""

    def __init__(self, style: Style) -> None:
        self._style = style

    def heading(self, heading: Heading, title: str) -> str:
        found = super().heading(self._style.heading or heading, title.replace(" ", "\0"))
        return found.replace("\0", self._style.space)

    def rows(self, header: list[str], body: list[str]) -> list[str]:
        every = self._style.header_every
        for index in range(len(body) // every * every, 0, -every) if every else ():
            body[index:index] = header
        return header + body

    def cell(self, cell: Cell) -> str:
        if isinstance(cell, PageBar) or not (cell is None or self._style.multiline):
            return super().cell(cell)
        content = self._style.empty
        if cell is not None:
            content = super().cell(cell)[len("<td>") :].removesuffix(f"</{self._cased('td')}>")
        return self.tag("td", f"\n  {content}\n" if self._style.multiline else content)

    def tag(self, name: str, content: str, **attributes: str) -> str:
        found = super().tag(self._cased(name), content, **attributes)
        is_open = self._style.unclosed and name in ("td", "th", "tr", "p")
        return found.removesuffix(f"</{self._cased(name)}>") if is_open else found

    def attribute(self, name: str, value: str) -> str:
        quotes = {"all": '"', "none": "", "links": '"' if name == "href" else ""}[self._style.quotes]
        return f"{self._cased(name)}={quotes}{escape(value) if quotes else value}{quotes}"

    def text(self, text: str) -> str:
        return super().text(text) if self._style.escape_less_than else text.replace("&", "&amp;")

    def _cased(self, name: str) -> str:
        return name.upper() if self._style.upper_case else name


Change = Callable[[PageDocument], PageDocument]


class Variation(NamedTuple):
    """`style` has the changed fields of Style; `absent` says what the page no longer shows."""

    description: str
    change: Change | None = None
    style: Mapping[str, Any] = {}
    absent: str = ""


def each(change: Callable[[PageSection], PageSection], *keys: str) -> Change:
    """A change of all sections, or of the sections with these keys."""
    return lambda document: replace(
        document, sections=tuple(change(s) if not keys or s.key in keys else s for s in document.sections)
    )


def _without(*keys: str) -> Change:
    return lambda document: replace(document, sections=tuple(s for s in document.sections if s.key not in keys))


def _titled(**titles: str) -> Change:
    return each(lambda section: replace(section, title=titles.get(section.key, section.title)))


def _picked(section: PageSection, order: Iterable[int]) -> PageSection:
    """The section with only the columns at these positions, in this order; unchanged if it has no header."""
    kept = list(order)
    if not section.columns:
        return section
    rows = tuple(tuple(cells[index] for index in kept) for cells in section.rows)
    return replace(section, columns=tuple(section.columns[index] for index in kept), rows=rows)


def _reordered_columns(section: PageSection) -> PageSection:
    positions = list(range(len(section.columns)))
    return _picked(section, [*positions[1::2], *positions[::2][::-1]])


def _extra_columns(section: PageSection) -> PageSection:
    if not section.columns:
        return section
    columns = (section.columns[0], PageColumn("New thing"), *section.columns[1:], PageColumn("Another", "Part 1"))
    return replace(section, columns=columns, rows=tuple((row[0], "77", *row[1:], "78") for row in section.rows))


_LESS = frozenset(("Usage (GB)", "Avg op size", "% busy", "Percent", BAR, "Total", "1 hr"))


def _missing_columns(section: PageSection) -> PageSection:
    return _picked(section, (index for index, column in enumerate(section.columns) if column.group not in _LESS))


def _single_header(section: PageSection) -> PageSection:
    columns = (PageColumn(f"{column.group} {column.label}".strip()) for column in section.columns)
    return replace(section, columns=tuple(columns))


def _extra_rows(section: PageSection) -> PageSection:
    new: list[Cell] = [PageBar(0) if column.group == BAR else "1" for column in section.columns] or ["1", "1"]
    return replace(section, rows=(("Something new", *new[1:]), *section.rows))


def _renamed(rename: Callable[[str], str], *sections: str) -> Change:
    def change(section: PageSection) -> PageSection:
        where = [column.group for column in section.columns].index("VDisk Name")
        rows = tuple((*row[:where], rename(str(row[where])), *row[where + 1 :]) for row in section.rows)
        return replace(section, rows=rows)

    return each(change, *sections or ("nfs", "hosted_vdisks"))


def _plain_name(name: str) -> str:
    return name.partition(" (")[0]


def _nested_name(name: str) -> str:
    return f"{_plain_name(name)} (vm (old) {_plain_name(name)[4:]}-flat.vmdk)"


def _signs(signed: bool) -> Change:
    """Percentages with or without their sign, by the labels of columns and rows."""

    def is_percentage(column: str, row: str) -> bool:
        return "%" in column + row or "Percent" in column or "total hits" in row or "pct" in row

    def changed(cell: Cell) -> Cell:
        bare = cell.removesuffix("%") if isinstance(cell, str) else ""
        return f"{bare}{'%' * signed}" if bare.replace(".", "").isdecimal() else cell

    def change(section: PageSection) -> PageSection:
        groups = [column.group for column in section.columns] or ["", ""]
        rows = []
        for row in section.rows:
            cells = zip(row[1:], groups[1:], strict=True)
            rows.append((row[0], *(changed(c) if is_percentage(group, str(row[0])) else c for c, group in cells)))
        return replace(section, rows=tuple(rows))

    return each(change)


def _local_and_remote(section: PageSection) -> PageSection:
    """The rows of Estore split as newer builds probably do: what was SSD is local, what was HDD is remote."""
    names = {"Estore SSD": "Estore SSD Local", "Estore HDD": "Estore HDD Remote"}
    return replace(section, rows=tuple((names.get(str(row[0]), row[0]), *row[1:]) for row in section.rows))


_MISSING_SECTIONS = (
    "overview",
    "cluster_state",
    "nfs",
    "hosted_vdisks",
    "ops_and_randomness",
    "frontend_read_latency",
    "read_source",
    "extent_group_up_migration",
)

PAGE_VARIATIONS: Mapping[str, Variation] = {
    "titles-2014": Variation(
        "`Hosted&nbsp;Active&nbsp;VDisks`", _titled(hosted_vdisks="Hosted Active VDisks"), {"space": "&nbsp;"}
    ),
    "titles-newer": Variation("`NFS Worker` for `NFS Slave`", _titled(nfs="NFS Worker")),
    "local-and-remote": Variation(
        "read source split into local and remote",
        each(_local_and_remote, "read_source"),
        absent="the sources by their old names",
    ),
    "no-titles": Variation("main page without titles", _titled(hosted_vdisks="", nfs="", cluster_state="")),
    "nbsp": Variation("&nbsp; in titles", style={"space": "&nbsp;"}),
    "nbsp-character": Variation("U+00A0 in titles", style={"space": "\u00a0"}),
    **{f"headings-{tag}": Variation(f"titles in <{tag}>", style={"heading": tag}) for tag in ("h1", "h2", "h3", "b")},
    "headings-table": Variation("each title in a table of its own", style={"heading": "table"}),
    "raw-less-than": Variation("`<` in texts not escaped", style={"escape_less_than": False}),
    "attributes-unquoted": Variation("no quotes in tags", style={"quotes": "none"}),
    "attributes-quoted": Variation("all attributes quoted", style={"quotes": "all"}),
    "upper-case": Variation("tags in upper case", style={"upper_case": True}),
    "unclosed": Variation("td, th, tr and p not closed", style={"unclosed": True}),
    "multiline": Variation("cells over several lines", style={"multiline": True}),
    "repeated-header": Variation("header again after every 2 rows", style={"header_every": 2}),
    "empty-nbsp": Variation("&nbsp; for no value", style={"empty": "&nbsp;"}),
    "empty-dash": Variation("- for no value", style={"empty": "-"}),
    "empty-na": Variation("N/A for no value", style={"empty": "N/A"}),
    "percent-signs": Variation("all percentages with their sign", _signs(True)),
    "percent-bare": Variation("all percentages without their sign", _signs(False)),
    "columns-reordered": Variation("columns in another order, groups split", each(_reordered_columns)),
    "columns-extra": Variation("two unknown columns in each table", each(_extra_columns)),
    "columns-missing": Variation(
        "some columns left out",
        each(_missing_columns),
        absent="usage, operation size, busy, percent of sources and destinations, 1 hour of working set",
    ),
    "header-single": Variation("one header row with whole labels", each(_single_header)),
    "rows-reordered": Variation("rows from the last to the first", each(lambda s: replace(s, rows=s.rows[::-1]))),
    "rows-extra": Variation("an unknown row in each table", each(_extra_rows)),
    "rows-missing": Variation(
        "the first row of each table left out",
        each(lambda s: replace(s, rows=s.rows[1:])),
        absent="these rows, and the histograms whose lowest range they are",
    ),
    "rows-duplicate": Variation(
        "the first row of each table twice", each(lambda s: replace(s, rows=(*s.rows, s.rows[0])))
    ),
    "units-other": Variation("other units in labels and cells", each(lambda s: change_units(s, OTHER_UNITS))),
    "units-unknown": Variation(
        "units that benchwatch does not know",
        each(lambda s: change_units(s, UNKNOWN_UNITS)),
        absent="latencies and throughput of the main page, averages of the latency histograms",
    ),
    "names-plain": Variation("names without parentheses", _renamed(_plain_name), absent="the vdisks' uuids"),
    "names-nested": Variation(
        "file names with spaces and parentheses", _renamed(_nested_name), absent="the vdisks' uuids"
    ),
    "names-differ": Variation(
        "NFS:4:0:1 (uuid) in Hosted VDisks, NFS:1 (uuid) in the front-end view",
        _renamed(lambda name: name.replace("NFS:", "NFS:4:0:", 1), "hosted_vdisks"),
    ),
    "names-shadow": Variation("shadow clones, name#id@svm", _renamed(lambda name: f"{name}#77@7")),
    **{
        f"missing-{key.replace('_', '-')}": Variation(f"without the section {key}", _without(key), absent="the section")
        for key in _MISSING_SECTIONS
    },
}


def write(document: PageDocument, variations: Iterable[str]) -> str:
    """The page's HTML with these page variations; other names are ignored."""
    style = Style()
    for name in variations:
        variation = PAGE_VARIATIONS.get(name)
        if variation is not None:
            style = replace(style, **variation.style)
            document = variation.change(document) if variation.change else document
    return StyledWriter(style).page(document)
