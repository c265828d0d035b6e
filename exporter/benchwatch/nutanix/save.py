"""`benchwatch nutanix save`: a copy of a CVM's pages that can be shared.

It replaces addresses, host names, uuids and names, and nothing else. A text has the same replacement on all pages.
Replacing takes place in the raw HTML, so that a parser meets the original structure, spelling and numbers. Names are
the names of vdisks, without their uuids; they are replaced word by word, to keep their form.
"""

import ipaddress
import os
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape, unescape
from pathlib import Path
from urllib.parse import quote

from ..values.errors import FAILED, UserError
from ..values.printable import say
from .check import MAIN, OPLOG, fetch
from .client import Client
from .pages.main_page import MainPage, read_main_page
from .pages.vdisk_page import read_vdisk_page

_UUID = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
_IPV4 = re.compile(r"(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w.-])")
_IPV6 = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?![\w:])")
_HOST = re.compile(r"(?<=://)[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*")
_WORD = re.compile(r"\w+")
_HARMLESS = re.compile(r"(?:NFS|[\d\W])*")
"""A name that reveals nothing: NFS, digits and punctuation."""
_LONG_ENOUGH = 6
"""Characters of the shortest name that is also replaced within words; a shorter one may be part of any word."""
_SPACE = r"(?:\s|&nbsp;)+"


def save(client: Client, vdisks: Sequence[str] | None, folder: Path) -> int:
    """Write main.html, vdisk-<id>.html and oplog_flush_stats.html; the exit code is 0 if all could be saved, else 1.

    Raises UserError if the main page cannot be read, a file already exists, or the folder cannot be written to.
    """
    pages = fetch(client, vdisks)
    sanitiser = Sanitiser()
    sanitiser.learn(pages.main)
    clean = {name: sanitiser.clean(body) for name, body in pages.bodies.items()}
    problems = dict(pages.problems)
    for name, body in clean.items():
        if left := sanitiser.leftovers(body):
            problems[name] = f"not saved: cannot replace {len(left)} names or addresses"
    different = [vdisk for vdisk, page in pages.vdisks.items() if read_vdisk_page(clean[vdisk]).vdisks != page.vdisks]
    if numbers(read_main_page(clean[MAIN])) != numbers(pages.main):
        different.append(MAIN)
    problems |= dict.fromkeys(different, "not saved: the copy would show other numbers")
    files = {MAIN: f"{MAIN}.html", OPLOG: f"{OPLOG}.html"}
    for number, vdisk in enumerate(pages.vdisks, 1):  # a page without ids has names only, which the copy must not show
        files[vdisk] = f"vdisk-{vdisk if vdisk.isdecimal() else number}.html"
    _write({folder / files[name]: body for name, body in clean.items() if name not in problems})
    print(f"Replaced: {', '.join(f'{count} {kind}' for kind, count in sanitiser.replaced.items())}.")
    print(
        "Not replaced: ids, versions, times, all numbers, and text in unknown places."
        " Review the files before you share them."
    )
    for name, problem in problems.items():
        say(f"page {name}: {problem}")
    return 1 if problems else 0


def _write(files: Mapping[Path, bytes]) -> None:
    """Write all of the files, or none if one exists."""
    for path in files:
        if os.path.lexists(path):
            raise UserError(f"{path} already exists: choose another folder with --output; nothing was written")
    for path, body in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write(body)
        except OSError as error:
            raise UserError(f"--output: {path} cannot be written: {error.strerror}", FAILED) from error
        print(f"{path}: {len(body)} bytes")


class Sanitiser:
    """Replaces texts on any number of pages."""

    def __init__(self) -> None:
        self._new: dict[str, dict[str, str]] = {"IP addresses": {}, "uuids": {}, "host names": {}, "words of names": {}}
        self._names: list[str] = []
        """The parts of vdisks' names that are replaced, longest first."""

    @property
    def replaced(self) -> dict[str, int]:
        """The number of different texts of each kind that were replaced."""
        return {kind: len(new) for kind, new in self._new.items()}

    def learn(self, page: MainPage) -> None:
        """Learn the names of the page's vdisks."""
        parts = dict.fromkeys(row.file or row.name for row in (*page.hosted.rows, *page.frontend.rows))
        telling = (part for part in parts if not _HARMLESS.fullmatch(_UUID.sub("", part)))
        self._names = sorted(telling, key=len, reverse=True)

    def clean(self, html: bytes) -> bytes:
        """The page with everything replaced."""
        text = html.decode("utf-8", "surrogateescape")
        for part in self._names:
            new = _WORD.sub(lambda match: self._replacement("words of names", match[0], lambda n: f"name{n}"), part)
            forms = {form(part): form(new) for form in (str, escape, quote)}  # as text, as HTML, in an address
            for old, other in forms.items():
                pattern = _SPACE.join(map(re.escape, old.split()))
                pattern = pattern if len(part) >= _LONG_ENOUGH else rf"(?<!\w){pattern}(?!\w)"
                text = re.sub(pattern, other.replace("\\", r"\\"), text)
        text = _UUID.sub(lambda match: self._uuid(match[0].lower()), text)
        text = _IPV4.sub(lambda match: self._address(match[0]), text)
        text = _IPV6.sub(lambda match: self._address(match[0]), text)
        text = _HOST.sub(lambda match: self._host(match[0]), text)
        for host, new in self._new["host names"].items():  # outside URLs too
            text = re.sub(rf"(?<![\w.-]){re.escape(host)}(?![\w-])", new, text)
        return text.encode("utf-8", "surrogateescape")

    def leftovers(self, html: bytes) -> list[str]:
        """Texts that should have been replaced but are still on a cleaned page."""
        text = unescape(html.decode("utf-8", "surrogateescape")).lower()
        old = [name for kind in ("uuids", "IP addresses", "host names") for name in self._new[kind]]
        new = {name for kind in self._new.values() for name in kind.values()}
        names = [name for name in self._names if len(name) >= _LONG_ENOUGH]
        return [name for name in old + names if name.lower() in text and name not in new]

    def _replacement(self, kind: str, text: str, make: Callable[[int], str]) -> str:
        new = self._new[kind]
        return new.setdefault(text, make(len(new) + 1))

    def _uuid(self, text: str) -> str:
        return self._replacement("uuids", text, lambda n: f"00000000-0000-4000-8000-{n:012d}")

    def _address(self, text: str) -> str:
        """An address of 198.18.0.0/15, which RFC 2544 reserves for tests, or 2001:db8::/32, for documentation."""
        if ":" not in text:
            first = ipaddress.IPv4Address("198.18.0.0")
            return self._replacement("IP addresses", text, lambda n: str(first + n % 131072))
        try:
            ipaddress.IPv6Address(text)
        except ValueError:
            return text  # a time of day
        return self._replacement("IP addresses", text, lambda n: f"2001:db8::{n:x}")

    def _host(self, text: str) -> str:
        return text if _IPV4.fullmatch(text) else self._replacement("host names", text, lambda n: f"host{n}.example")


def numbers(page: MainPage) -> tuple[object, ...]:
    """What a page and its copy must have in common: everything but names, addresses and links."""
    tables = (([row.id for row in table.rows], table.numbers) for table in (page.hosted, page.frontend))
    return *tables, page.disks, page.overview.values, page.left_out
