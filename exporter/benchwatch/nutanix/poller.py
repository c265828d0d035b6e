"""Reads the pages of a CVM in the background, one poll after another, and keeps the last snapshot.

A poll reads the main page, the pages of selected vdisks, and the oplog page if configured. Vdisks take turns, least
recently read first, up to a maximum per poll and until the poll interval is used up; one is always read. Polls start on
a grid of the interval and never overlap. The numbers of the main page are shown before other pages are requested. A
page that fails is counted; a vdisk that disappears between the main page and its own is not an error.

Numbers are shown only while they are younger than three intervals (those of a vdisk's own page: three rounds of turns).
After that, the CVM counts as down.
"""

import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import get_args

from ..metrics.samples import Family
from ..settings.cvm_settings import KEEP_INTERVALS, CvmSettings, Mapped, NutanixSettings
from ..values.printable import printable
from . import families as f
from .client import Client, NoAnswer, PageError
from .cvm_snapshot import Clock, CvmSource, Detail, Snapshot
from .families import Series
from .mapping import selected
from .pages.main_page import MainPage, VdiskRow, read_main_page
from .pages.oplog_page import read_oplog_page
from .pages.tables import Notes
from .pages.vdisk_page import read_vdisk_page

_log = logging.getLogger(__name__)


class Poller(CvmSource):
    """Polls one CVM, and is the source of its samples.

    `wall_clock` gives Unix seconds, `monotonic` seconds for intervals. `wait` sleeps for so many seconds and returns
    whether to stop.
    """

    def __init__(
        self,
        cvm: CvmSettings,
        settings: NutanixSettings,
        mapping: Mapped,
        client: Client,
        *,
        wall_clock: Clock = time.time,
        monotonic: Clock = time.monotonic,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        super().__init__(cvm.name, mapping, KEEP_INTERVALS * settings.poll_interval, monotonic)
        self.name = cvm.name
        self.url = client.url
        self._settings = settings
        self._client = client
        self._wall_clock = wall_clock
        self._stopping = threading.Event()
        self._wait = wait or self._stopping.wait
        self._polled: dict[Series, float] = {(f.CVM_POLL_DURATION, ()): 0, (f.CVM_UNMATCHED_ROWS, ()): 0}
        self._turns: list[str] = []
        """Selected vdisks, the one whose page was requested last at the end."""
        self._broken: set[str] = set()
        """Vdisks whose page could not be used at their last turn. A missing page is an error only the second time: the
        vdisk may be gone from the next main page."""
        self._conditions: dict[str, str] = {}

    def start(self) -> None:
        """Poll in a separate thread: at once, then at every interval."""
        threading.Thread(target=self.run, name=f"cvm {self.name}", daemon=True).start()

    def stop(self) -> None:
        """Ask the thread to end, which it does after the page that it is reading."""
        self._stopping.set()

    def run(self) -> None:
        """Poll until stopped."""
        interval = self._settings.poll_interval
        start = self._clock()
        while True:
            self.poll()
            passed = self._clock() - start
            if self._wait(interval - passed % interval) or self._stopping.is_set():
                return

    def poll(self) -> None:
        """Read the pages once and replace the status."""
        began = self._clock()
        problem = ""
        try:
            self._read(began)
        except PageError as error:
            self._fail("main", error)
            problem = error.text
        except Exception:  # without this, the thread would end and leave old numbers that look new
            _log.exception("cvm %s: an error in benchwatch itself", self.name)
            self._add(f.CVM_PAGE_ERRORS, "main", "internal")
            problem = "an error in benchwatch; see its log"
        self._polled[f.CVM_POLL_DURATION, ()] = self._clock() - began
        status = self.status
        up = bool(status.up) and not problem
        self.status = replace(status, up=up, error=problem or status.error, polled=dict(self._polled))

    def _read(self, began: float) -> None:
        """Read the pages and show them. Raises PageError if the main page cannot be used."""
        previous = self.status.snapshot
        main = read_main_page(self._client.get("/"), self._settings.max_vdisks)
        if not main.recognised:
            raise PageError("not_a_cvm", "the page does not look like the main page of a CVM")
        snapshot = Snapshot(self._wall_clock(), main, until=self._clock() + self._keep)
        self._add(f.CVM_UNMATCHED_ROWS, times=len(main.unmatched))
        self._report("main", "")
        self._count(main)
        unread = main.left_out.total()
        text = f"{unread} items not recognised: run benchwatch nutanix check"
        self._report("main, in part", "unrecognised" if unread else "", text)
        if previous is not None and _process(previous.main) != _process(main):
            _log.info("cvm %s: Stargate was restarted", self.name)
        elif previous is not None:
            hosted = {row.label for row in main.hosted.rows}
            details = {vdisk: detail for vdisk, detail in previous.details.items() if vdisk in hosted}
            snapshot = replace(snapshot, details=details, oplog=previous.oplog)
        self._show(snapshot)
        details = dict(snapshot.details)
        answers = self._read_details(main, details, began)
        snapshot = replace(snapshot, details=details)
        if answers and self._settings.oplog_flush_stats:
            snapshot = replace(snapshot, oplog=self._oplog())
        self._show(snapshot)

    def _read_details(self, main: MainPage, details: dict[str, Detail], began: float) -> bool:
        """Read some of the details again; whether the CVM still answers."""
        vdisks = self._settings.vdisks
        wanted = {row.label: row for row in main.hosted.rows if selected(row, vdisks, self._mapping)}
        rounds = max(math.ceil(len(wanted) / max(vdisks.max_detail_pages, 1)), 1)
        known = dict.fromkeys(vdisk for vdisk in self._turns if vdisk in wanted)
        self._turns = [*(vdisk for vdisk in wanted if vdisk not in known), *known]
        self._broken.intersection_update(wanted)
        for index, vdisk in enumerate(self._turns[: vdisks.max_detail_pages]):
            if self._stopping.is_set() or (index and self._clock() - began >= self._settings.poll_interval):
                break
            self._turns.append(self._turns.pop(0))
            details.pop(vdisk, None)
            try:
                details[vdisk] = self._detail(vdisk, wanted[vdisk], rounds * self._keep)
                self._broken.discard(vdisk)
            except PageError as error:
                may_be_gone = error.reason in ("http_status", "not_a_cvm") and vdisk not in self._broken
                self._broken.add(vdisk)
                if not may_be_gone:
                    self._fail("vdisk_stats", error)
                if error.reason in get_args(NoAnswer):
                    return False
        if not self._broken:
            self._report("vdisk_stats", "")
        return True

    def _detail(self, vdisk: str, row: VdiskRow, keep: float) -> Detail:
        page = read_vdisk_page(self._client.get_vdisk(row.links))
        stats = page.of(vdisk)
        if stats is None:
            raise PageError("not_a_cvm", f"the page of vdisk {vdisk} has no data about it")
        self._count(page)
        return Detail(self._wall_clock(), stats, self._clock() + keep)

    def _oplog(self) -> Detail | None:
        try:
            page = read_oplog_page(self._client.get("/oplog_flush_stats"))
            if not page.recognised:
                raise PageError("not_a_cvm", "the page has no row of totals")
        except PageError as error:
            self._fail("oplog_flush_stats", error)
            return None
        self._report("oplog_flush_stats", "")
        self._count(page)
        return Detail(self._wall_clock(), page.values, self._clock() + self._keep)

    def _show(self, snapshot: Snapshot) -> None:
        self.status = replace(self._status, up=True, last_success=snapshot.time, snapshot=snapshot, error="")

    def _count(self, page: Notes) -> None:
        for section, times in page.left_out.items():
            self._add(f.CVM_UNRECOGNISED_ROWS, section, times=times)

    def _add(self, counter: Family, *labels: str, times: int = 1) -> None:
        self._polled[counter, labels] = self._polled.get((counter, labels), 0) + times

    def _fail(self, page: str, error: PageError) -> None:
        self._add(f.CVM_PAGE_ERRORS, page, error.reason)
        self._report(page, error.reason, error.text)

    def _report(self, page: str, condition: str, text: str = "") -> None:
        """Log one line when the condition of a kind of page changes (empty: no problem), not one per poll."""
        if condition == self._conditions.get(page, ""):
            return
        self._conditions[page] = condition
        if condition:
            _log.warning("cvm %s: page %s: %s: %s", self.name, page, condition, printable(text))
        else:
            _log.info("cvm %s: page %s: readable again", self.name, page)


def _process(main: MainPage) -> tuple[str, float | None]:
    """What identifies the Stargate process."""
    return main.overview.incarnation, main.overview.start


def start_pollers(settings: NutanixSettings, mapping: Mapped) -> list[Poller]:
    """A running poller for each CVM; its thread does not keep the process alive."""
    pollers = []
    for cvm in settings.cvms:
        client = Client(
            cvm.url,
            connect_timeout=settings.connect_timeout,
            deadline=settings.deadline,
            max_page_bytes=settings.max_page_bytes,
        )
        pollers.append(Poller(cvm, settings, mapping, client))
        pollers[-1].start()
    return pollers
