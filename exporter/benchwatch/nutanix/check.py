"""`benchwatch nutanix check`: fetches a CVM's pages once, and reports what is recognised on them and what is not."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

from ..metrics.exposition import Exposition
from ..values.errors import FAILED, UserError
from ..values.printable import printable, say
from . import families as f
from .client import Client, PageError, vdisk_query
from .cvm_snapshot import CvmSource, Detail, Snapshot, Status
from .families import Series
from .pages.main_page import CLUSTER, FRONTEND, HOSTED, OVERVIEW, MainPage, read_main_page
from .pages.oplog_page import OplogPage, read_oplog_page
from .pages.tables import Notes
from .pages.vdisk_page import SECTION_NAMES, VdiskPage, read_vdisk_page

MOST_LINES = 50
MAIN, OPLOG = "main", "oplog_flush_stats"
_MOST_NAMED = 10

ADVICE = """\
Port 2009 is usually closed outside the CVM's own network. To reach it without changing its firewall, forward it:
  ssh -N -L 12009:127.0.0.1:2009 nutanix@cvm
and use http://127.0.0.1:12009 here."""


@dataclass
class Pages:
    """`bodies` and `problems` are by page: main, oplog_flush_stats, and the label of each requested vdisk."""

    main: MainPage
    bodies: dict[str, bytes]
    problems: dict[str, str] = field(default_factory=dict)
    vdisks: dict[str, VdiskPage] = field(default_factory=dict)
    """The vdisks whose own pages were read."""
    oplog: OplogPage | None = None

    def add(self, name: str, get: Callable[[], bytes]) -> bytes | None:
        """Add a page, or why there is none."""
        try:
            return self.bodies.setdefault(name, get())
        except PageError as error:
            self.problems[name] = error.text
            return None


def fetch(client: Client, vdisks: Sequence[str] | None) -> Pages:
    """The main page, the pages of these vdisks (None: the first one), and the oplog page.

    Raises UserError if the main page cannot be read.
    """
    try:
        body = client.get("/")
        main = read_main_page(body)
        if not main.recognised:
            raise PageError("not_a_cvm", "it answers, but not with the main page of a CVM")
    except PageError as error:
        raise UserError(f"{client.url}: {error.text}", FAILED, ADVICE) from error
    pages = Pages(main, {MAIN: body})
    linked = {row.label: row.links for row in main.hosted.rows if any(vdisk_query(h, client.url) for h in row.links)}
    for vdisk in list(linked)[:1] if vdisks is None else vdisks:
        if vdisk not in linked:
            some = f"{', '.join(list(linked)[:_MOST_NAMED]) or 'none'}{', ...' * (len(linked) > _MOST_NAMED)}"
            pages.problems[vdisk] = f"the main page has no such vdisk, or no link to its page; linked vdisks: {some}"
        elif (page := pages.add(vdisk, partial(client.get_vdisk, linked[vdisk]))) is not None:
            pages.vdisks[vdisk] = read_vdisk_page(page)
    if (page := pages.add(OPLOG, partial(client.get, "/oplog_flush_stats"))) is not None:
        pages.oplog = read_oplog_page(page)
    return pages


def check(client: Client, vdisks: Sequence[str] | None, metrics: bool) -> int:
    """Print what is recognised on the main page, the pages of these vdisks (None: the first one) and the oplog page.

    The exit code is 0 if the main page has a table of vdisks and the page of each vdisk could be read, else 1. Raises
    UserError if the main page cannot be read.
    """
    began = time.monotonic()
    pages = fetch(client, vdisks)
    seconds = time.monotonic() - began
    usable = HOSTED in pages.main.recognised or FRONTEND in pages.main.recognised
    if metrics:
        now = time.time()
        read = {vdisk: Detail(now, stats) for vdisk, page in pages.vdisks.items() if (stats := page.of(vdisk))}
        polled: dict[Series, float] = {(f.CVM_POLL_DURATION, ()): seconds, (f.CVM_UNMATCHED_ROWS, ()): 0}
        oplog = Detail(now, pages.oplog.values) if pages.oplog else None
        source = CvmSource(urlsplit(client.url).hostname or "", {})
        source.status = Status(True, now, Snapshot(now, pages.main, read, oplog), polled=polled)
        sys.stdout.write(Exposition().render([source]))
        for name, problem in pages.problems.items():
            say(f"page {name}: {problem}")
    else:
        size = len(pages.bodies[MAIN])
        print(f"{client.url}: read {len(pages.bodies)} pages in {seconds:.2f} s; the main page has {size} bytes.")
        print("\n".join(map(printable, _words(pages))))
        advice = f"Not usable: the page has no table of vdisks.\n\n{ADVICE}"
        print("", "Usable." if usable else advice, sep="\n")
    return 0 if usable and set(vdisks or ()) <= pages.vdisks.keys() else 1


def _words(pages: Pages) -> Iterator[str]:
    main = pages.main
    sections = (
        (OVERVIEW, "Overview", "", "so start time, caches and queues are missing"),
        (CLUSTER, "Cluster State", _count(len(main.disks), "disk"), "so disks are missing"),
        (
            FRONTEND,
            "NFS Slave or NFS Worker (what the virtual machine sees)",
            _count(len(main.frontend.rows), "vdisk"),
            "so latency comes from the vdisks' pages",
        ),
        (
            HOSTED,
            "Hosted VDisks (behind the oplog)",
            _count(len(main.hosted.rows), "vdisk"),
            "so the oplog and the links to the vdisks' pages are missing",
        ),
    )
    for section, name, count, meaning in sections:
        if section in main.recognised:
            yield from ("", f"{name}{count}", *(f"  {label}" for label in main.recognised[section]))
        else:
            yield from ("", f"{name}: not found, {meaning}")
        if section == FRONTEND:
            names = [row.name for row in main.unmatched]
            yield from _some("Without a matching row in Hosted VDisks, by name or uuid", names)
    yield from _left_out(main)
    for vdisk, page in pages.vdisks.items():
        recognised = page.recognised if page.of(vdisk) else {}
        yield from ("", f"Page of vdisk {vdisk}: {len(recognised)} of {len(SECTION_NAMES)} sections")
        for name in SECTION_NAMES:
            yield f"  {name}: {', '.join(recognised[name]) or 'found' if name in recognised else 'not found'}"
        yield from _left_out(page)
    if pages.oplog is not None:
        shares = ", ".join(f"{store} {ratio:.1%}" for (_, (store,)), ratio in pages.oplog.values.items())
        yield from ("", f"Oplog flush statistics: {shares or 'no utilisation found'}")
        yield from _left_out(pages.oplog)
    for page_name, problem in pages.problems.items():
        yield from ("", f"Page {page_name}: {problem}")


def _count(count: int, noun: str) -> str:
    return f": {count} {noun}{'s' * (count != 1)}"


def _left_out(page: Notes) -> Iterator[str]:
    return _some("Not recognised and left out", [f"{section}: {text}" for section, text in page.unrecognised])


def _some(title: str, lines: Sequence[str]) -> Iterator[str]:
    """A list with its title and number, at most MOST_LINES lines; nothing if it is empty."""
    if lines:
        yield f"  {title} ({len(lines)}):"
        yield from (f"    {line}" for line in lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        yield f"    ... and {len(lines) - MOST_LINES} more"
