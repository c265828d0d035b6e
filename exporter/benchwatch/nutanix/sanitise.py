"""A copy of a CVM's pages that can be shared: it replaces addresses, host names, uuids and names, and nothing else.

A text has the same replacement on all pages. Replacing takes place in the raw HTML, so that a parser meets the original
structure, spelling and numbers. Names are the names of vdisks, without their uuids; they are replaced word by word, to
keep their form.
"""

import ipaddress
import re
from collections.abc import Callable
from html import escape, unescape
from urllib.parse import quote

from .pages.main_page import MainPage
from .pages.tables import collapse

_TAG = re.compile(r"(<[A-Za-z/!][^<>]*>)")
_UUID = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
_IPV4 = re.compile(r"(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w.-])")
_IPV6 = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?![\w:])")
_HOST = re.compile(r"(?<=://)[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*")
_WORD = re.compile(r"\w+")
_LETTER = re.compile(r"[^\W\d]")
_HARMLESS = re.compile(r"(?:NFS|[\d\W])*")
"""A name that reveals nothing: NFS, digits and punctuation."""
_LONG_ENOUGH = 6
"""Characters of the shortest name that is also replaced within other texts; a shorter one may be part of any word."""


class Sanitiser:
    """Replaces texts on any number of pages."""

    def __init__(self) -> None:
        self._new: dict[str, dict[str, str]] = {"IP addresses": {}, "uuids": {}, "host names": {}, "words of names": {}}
        self._names: dict[str, str] = {}
        """The part of a vdisk's name that is replaced, by the whole name."""
        self._long: list[str] = []
        """Parts that are also replaced within other texts, longest first."""
        self._forms: list[tuple[str, str]] = []
        """The forms in which a tag may contain them, and the replacements."""

    @property
    def replaced(self) -> dict[str, int]:
        """The number of different texts of each kind that were replaced."""
        return {kind: len(new) for kind, new in self._new.items()}

    def learn(self, page: MainPage) -> None:
        """Learn the names of the page's vdisks."""
        for row in (*page.hosted.rows, *page.frontend.rows):
            part = row.file or row.name
            if not _HARMLESS.fullmatch(_UUID.sub("", part)):
                self._names[row.name] = part
        self._long = sorted({part for part in self._names.values() if len(part) >= _LONG_ENOUGH}, key=len, reverse=True)
        self._forms = [(form, self._name(part)) for part in self._long for form in {part, escape(part), quote(part)}]

    def clean(self, html: bytes) -> bytes:
        """The page with everything replaced."""
        parts = _TAG.split(html.decode("utf-8", "surrogateescape"))
        parts[::2] = map(self._text, parts[::2])
        parts[1::2] = map(self._tag, parts[1::2])
        text = _UUID.sub(lambda match: self._uuid(match[0].lower()), "".join(parts))
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
        return [name for name in old + self._long if name.lower() in text and name not in new]

    def _text(self, segment: str) -> str:
        if not _LETTER.search(segment):  # a number, as in most cells
            return segment
        plain = unescape(segment)
        folded = collapse(plain)
        part = self._names.get(folded)
        parts = [part] if part else [part for part in self._long if part in folded]
        if not parts:
            return segment
        for part in parts:
            plain = (plain if part in plain else folded).replace(part, self._name(part))
        return escape(plain, quote=False)

    def _tag(self, tag: str) -> str:
        for form, new in self._forms if "=" in tag else ():
            tag = tag.replace(form, new)
        return tag

    def _replacement(self, kind: str, text: str, make: Callable[[int], str]) -> str:
        new = self._new[kind]
        return new.setdefault(text, make(len(new) + 1))

    def _name(self, part: str) -> str:
        return _WORD.sub(lambda match: self._replacement("words of names", match[0], lambda n: f"name{n}"), part)

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
