"""All pages of a CVM, fetched and read once: for `check` and `save`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from ..values.errors import FAILED, UserError
from .client import Client, PageError, vdisk_query
from .pages.main_page import MainPage, read_main_page
from .pages.oplog_page import OplogPage, read_oplog_page
from .pages.vdisk_page import VdiskPage, read_vdisk_page

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
