"""The ways in which a real page may differ from the published ones, by name: in content or in style."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from benchwatch.nutanix.simulator.page_html import (
    BAR,
    Cell,
    PageBar,
    PageColumn,
    PageDocument,
    PageSection,
    render,
)

from .other_units import OTHER_UNITS, UNKNOWN_UNITS, change_units

Change = Callable[[PageDocument], PageDocument]


class Variation(NamedTuple):
    """`change` is of the content, `style` of the HTML; `absent` says what the page no longer shows."""

    description: str
    change: Change | None = None
    style: Callable[[str], str] = str
    absent: str = ""


def _replaced(pattern: str, new: str) -> Callable[[str], str]:
    """A style that replaces a pattern (`^` and `$` are those of lines, of which each cell of data is one)."""
    return partial(re.compile(pattern, re.MULTILINE).sub, new)


def _empty(sign: str) -> Variation:
    return Variation(f"{sign} for no value", style=_replaced("^<td></td>$", f"<td>{sign}</td>"))


def _upper_case(html: str) -> str:
    html = re.sub(r"(?<=[<\s])(?:border|colspan|bgcolor|href)=", lambda attribute: attribute[0].upper(), html)
    return re.sub(r"</?[a-z]\w*", lambda tag: tag[0].upper(), html)


def _repeated_header(html: str) -> str:
    """Each header again after every 2 rows."""

    def table(found: re.Match[str]) -> str:
        rows = re.findall("<tr>\n.*?</tr>\n", found[0], re.DOTALL)
        header = [row for row in rows if "<th" in row]
        body = rows[len(header) :]
        for index in range(len(body) // 2 * 2, 0, -2):
            body[index:index] = header
        return "".join(("<table border=1>\n", *header, *body, "</table>"))

    return re.sub(r"<table border=1>\n.*?</table>", table, html, flags=re.DOTALL)


def _spaced(space: str) -> Change:
    """Titles with this character for each space."""
    return each(lambda section: replace(section, title=section.title.replace(" ", space)))


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
        "`Hosted&nbsp;Active&nbsp;VDisks`",
        lambda document: _spaced("\0")(_titled(hosted_vdisks="Hosted Active VDisks")(document)),
        _replaced("\0", "&nbsp;"),
    ),
    "titles-newer": Variation("`NFS Worker` for `NFS Slave`", _titled(nfs="NFS Worker")),
    "local-and-remote": Variation(
        "read source split into local and remote",
        each(_local_and_remote, "read_source"),
        absent="the sources by their old names",
    ),
    "no-titles": Variation("main page without titles", _titled(hosted_vdisks="", nfs="", cluster_state="")),
    "nbsp": Variation("&nbsp; in titles", _spaced("\0"), _replaced("\0", "&nbsp;")),
    "nbsp-character": Variation("U+00A0 in titles", _spaced("\u00a0")),
    **{
        f"headings-{tag}": Variation(f"titles in <{tag}>", each(partial(replace, heading=tag)))
        for tag in ("h1", "h2", "h3", "b")
    },
    "headings-table": Variation("each title in a table of its own", each(partial(replace, heading="table"))),
    "raw-less-than": Variation("`<` in texts not escaped", style=_replaced("&lt;", "<")),
    "attributes-unquoted": Variation("no quotes in tags", style=_replaced('="([^"]*)"', r"=\1")),
    "attributes-quoted": Variation(
        "all attributes quoted", style=_replaced(r"(border|colspan|bgcolor)=(\w+)", r'\1="\2"')
    ),
    "upper-case": Variation("tags in upper case", style=_upper_case),
    "unclosed": Variation("td, th, tr and p not closed", style=_replaced("</(?:td|th|tr|p)>", "")),
    "multiline": Variation("cells over several lines", style=_replaced("^<td>(.*)</td>$", r"<td>\n  \1\n</td>")),
    "repeated-header": Variation("header again after every 2 rows", style=_repeated_header),
    "empty-nbsp": _empty("&nbsp;"),
    "empty-dash": _empty("-"),
    "empty-na": _empty("N/A"),
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
    chosen = [PAGE_VARIATIONS[name] for name in variations if name in PAGE_VARIATIONS]
    for variation in chosen:
        document = variation.change(document) if variation.change else document
    html = render(document)
    for variation in chosen:
        html = variation.style(html)
    return html
