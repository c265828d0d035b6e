"""`benchwatch nutanix check`: reports what is recognised on a CVM's pages and what is not, or prints metrics."""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

from ..metrics.exposition import Exposition
from ..values.printable import printable, say
from .client import Client
from .cvm_snapshot import CvmSource, Detail, Snapshot, Status
from .fetch import ADVICE, MAIN, OPLOG, Pages, fetch
from .pages.main_page import CLUSTER, FRONTEND, HOSTED, OVERVIEW, MainPage
from .pages.notes import Unrecognised
from .pages.oplog_page import OplogPage, read_oplog_page
from .pages.vdisk_page import SECTION_NAMES, VdiskPage, read_vdisk_page

MOST_LINES = 50

_SECTIONS = {
    OVERVIEW: ("Overview", "so start time, caches and queues are missing"),
    CLUSTER: ("Cluster State", "so disks are missing"),
    FRONTEND: ("NFS Slave or NFS Worker (what the virtual machine sees)", "so latency comes from the vdisks' pages"),
    HOSTED: ("Hosted VDisks (behind the oplog)", "so the oplog and the links to the vdisks' pages are missing"),
}


def check(client: Client, vdisks: Sequence[str] | None, metrics: bool) -> int:
    """Print what is recognised on the main page, the pages of these vdisks (None: the first one) and the oplog page.

    The exit code is 0 if the main page has a table of vdisks and the page of each vdisk could be read, else 1. Raises
    UserError if the main page cannot be read.
    """
    began = time.monotonic()
    pages = fetch(client, vdisks)
    details = {vdisk: read_vdisk_page(pages.bodies[vdisk]) for vdisk in pages.vdisks}
    oplog = read_oplog_page(pages.bodies[OPLOG]) if OPLOG in pages.bodies else None
    if metrics:
        now = time.time()
        read = {vdisk: Detail(now, stats) for vdisk, page in details.items() if (stats := page.of(vdisk))}
        source = CvmSource(urlsplit(client.url).hostname or "", {})
        snapshot = Snapshot(now, pages.main, read, oplog)
        source.status = Status(1, True, time.monotonic() - began, now, snapshot)
        sys.stdout.write(Exposition().render([source]))
        for name, problem in pages.problems.items():
            say(f"page {name}: {problem}")
    else:
        print("\n".join(map(printable, _words(client, pages, details, oplog, time.monotonic() - began))))
    return 0 if _is_usable(pages.main) and set(vdisks or ()) <= set(details) else 1


def _is_usable(main: MainPage) -> bool:
    return HOSTED in main.recognised or FRONTEND in main.recognised


def _words(
    client: Client, pages: Pages, details: dict[str, VdiskPage], oplog: OplogPage | None, seconds: float
) -> Iterator[str]:
    main = pages.main
    size = len(pages.bodies[MAIN])
    yield f"{client.url}: read {len(pages.bodies)} pages in {seconds:.2f} s; the main page has {size} bytes."
    counts = {
        CLUSTER: f": {_number(len(main.disks), 'disk')}",
        FRONTEND: f": {_number(len(main.frontend.rows), 'vdisk')}",
        HOSTED: f": {_number(len(main.hosted.rows), 'vdisk')}",
    }
    for section, (name, meaning) in _SECTIONS.items():
        if section in main.recognised:
            yield from ("", f"{name}{counts.get(section, '')}", *(f"  {label}" for label in main.recognised[section]))
        else:
            yield from ("", f"{name}: not found, {meaning}")
        if section == FRONTEND:
            names = [row.name for row in main.unmatched]
            yield from _some("Without a matching row in Hosted VDisks, by name or uuid", names)
    yield from _left_out(main.unrecognised)
    for vdisk, page in details.items():
        sections = page.recognised if page.of(vdisk) else {}
        yield from ("", f"Page of vdisk {vdisk}: {len(sections)} of {len(SECTION_NAMES)} sections")
        for name in SECTION_NAMES:
            labels = ", ".join(sections.get(name, ()))
            yield f"  {name}: {labels or 'found' if name in sections else 'not found'}"
        yield from _left_out(page.unrecognised)
    if oplog is not None:
        shares = ", ".join(f"{store} {ratio:.1%}" for store, ratio in oplog.utilisation.items())
        yield from ("", f"Oplog flush statistics: {shares or 'no utilisation found'}")
        yield from _left_out(oplog.unrecognised)
    for page_name, problem in pages.problems.items():
        yield from ("", f"Page {page_name}: {problem}")
    advice = ("Not usable: the page has no table of vdisks.", "", *ADVICE.splitlines())
    yield from ("", *(["Usable."] if _is_usable(main) else advice))


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _left_out(entries: Iterable[Unrecognised]) -> Iterator[str]:
    return _some("Not recognised and left out", [f"{section}: {text}" for section, text, _ in entries])


def _some(title: str, lines: Sequence[str]) -> Iterator[str]:
    """A list with its title and number, at most MOST_LINES lines; nothing if it is empty."""
    if lines:
        yield f"  {title} ({len(lines)}):"
        yield from (f"    {line}" for line in lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        yield f"    ... and {len(lines) - MOST_LINES} more"
