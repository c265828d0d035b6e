"""The key `nutanix` of the configuration file.

nutanix:
  cvms:
    - {name: cvm-a, url: "http://10.0.0.11:2009"}
  poll_interval: 10s        # less than 10s needs allow_fast_polling: true
  connect_timeout: 5s
  deadline: 60s             # for one page, including its last byte
  max_page_bytes: 16777216
  max_vdisks: 10000         # per table of vdisks; further rows count as unrecognised
  oplog_flush_stats: false  # true: read /oplog_flush_stats too
  vdisks:                   # vdisks whose detail pages are read, besides those in the mapping
    include: ["45269", "vm-.*"]
    exclude: []
    max_detail_pages: 32    # per poll
  mapping:                  # or mapping_file: a YAML file with the same content
    1a8ef41c-ae3f-4293-a46e-49d7e6c1c907: {vm: db1, disk: scsi.1, role: data}

A pattern is a regular expression that must match a vdisk's whole id, whole name, or whole file name (the text in
parentheses in its name). The keys of the mapping are file names; on AHV, the file name is the uuid of the VM disk.
"""

import re
from collections import Counter
from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec

from ..values.durations import Duration
from ..values.errors import excerpt

DEFAULT_PORT = 2009
KEEP_INTERVALS = 3
"""Poll intervals for which numbers are shown after their page was read."""
MINIMUM_POLL_INTERVAL = 10.0
"""Seconds; a poll is work for the CVM."""
LONGEST = 86400.0
"""Longest duration, seconds: nobody means more, and no system call waits arbitrarily long."""
LARGEST_PAGE = 256 * 1024 * 1024
MAX_NAME = 200

_HOST = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]")


def base_url(url: str) -> str:
    """The URL with its port; `http://host[:port]` only. Raises ValueError with a sentence."""
    expected = f"{url!r}: expected http://host or http://host:port (port {DEFAULT_PORT} if none is given)"
    try:
        parts = urlsplit(url)
        port = DEFAULT_PORT if parts.port is None else parts.port
    except ValueError as error:
        raise ValueError(f"{expected}: {error}") from None
    if parts.scheme != "http":
        raise ValueError(f"{expected}; port {DEFAULT_PORT} serves plain HTTP")
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"{expected}; there is no login")
    if parts.path not in ("", "/") or "?" in url or "#" in url:
        raise ValueError(f"{expected}; leave out the path, because only fixed pages are read")
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    if not _HOST.fullmatch(host) or not port:
        raise ValueError(expected)
    return f"http://{host}:{port}"


class CvmSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One controller VM: its name in metrics, and the address of its pages."""

    name: str
    url: str

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("name: expected the name of the CVM in metrics, got an empty text")
        if not self.name.isprintable() or len(self.name) > MAX_NAME:
            raise ValueError(f"name: expected at most {MAX_NAME} printable characters, got {self.name[:MAX_NAME]!r}")
        base_url(self.url)


class VdiskDisk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The VM, disk and role (data, log ...) of a vdisk."""

    vm: str = ""
    disk: str = ""
    role: str = ""


def mapped(mapping: Mapping[str, VdiskDisk]) -> "Mapped":
    """The mapping with file names in lower case. Raises ValueError, a sentence, if one is empty or occurs twice."""
    names = [file.strip().lower() for file in mapping]
    if "" in names:
        raise ValueError("mapping: expected the uuid or file name of a vdisk, got an empty text")
    if twice := _twice(names):
        raise ValueError(f"mapping: expected each uuid or file name once, got {twice!r} twice (ignoring case)")
    return dict(zip(names, mapping.values(), strict=True))


def _twice(values: list[str]) -> str:
    """The first value in the order of the alphabet that is there twice; empty if none is."""
    return min((value for value, times in Counter(values).items() if times > 1), default="")


Mapped = Mapping[str, VdiskDisk]
"""By file name, in lower case."""


class VdiskSelection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Vdisks whose detail pages are read, besides the mapped ones; `exclude` overrides everything."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_detail_pages: int = 32

    def __post_init__(self) -> None:
        for key, patterns in (("include", self.include), ("exclude", self.exclude)):
            for pattern in patterns:
                try:
                    re.compile(pattern)
                except (re.error, OverflowError, RecursionError) as error:
                    raise ValueError(f"{key}: {excerpt(pattern)} is not a regular expression: {error}") from None
        if self.max_detail_pages < 0:
            raise ValueError(f"max_detail_pages: expected 0 or more pages per poll, got {self.max_detail_pages}")


class NutanixSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The key `nutanix`; the module's docstring explains each field. Durations are in seconds."""

    cvms: tuple[CvmSettings, ...] = ()
    poll_interval: Duration = Duration(10)
    allow_fast_polling: bool = False
    connect_timeout: Duration = Duration(5)
    deadline: Duration = Duration(60)
    max_page_bytes: int = 16 * 1024 * 1024
    max_vdisks: int = 10_000
    oplog_flush_stats: bool = False
    vdisks: VdiskSelection = VdiskSelection()
    mapping: dict[str, VdiskDisk] = {}
    mapping_file: str = ""

    def __post_init__(self) -> None:
        for key in ("poll_interval", "connect_timeout", "deadline"):
            if not 0 < getattr(self, key) <= LONGEST:
                raise ValueError(f"{key}: expected more than 0 and at most 1d, got {getattr(self, key):g}s")
        if self.poll_interval < MINIMUM_POLL_INTERVAL and not self.allow_fast_polling:
            raise ValueError(
                f"poll_interval: expected {MINIMUM_POLL_INTERVAL:g}s or more, got {self.poll_interval:g}s: each poll "
                f"costs the CVM time; to poll faster anyway, set allow_fast_polling: true"
            )
        if not 1024 <= self.max_page_bytes <= LARGEST_PAGE:
            raise ValueError(f"max_page_bytes: expected 1024 to {LARGEST_PAGE}, got {self.max_page_bytes}")
        if self.max_vdisks < 1:
            raise ValueError(f"max_vdisks: expected 1 or more, got {self.max_vdisks}")
        mapped(self.mapping)
        if self.mapping and self.mapping_file:
            raise ValueError("mapping_file: expected either mapping or mapping_file, got both")
        for what, values in (
            ("name", [cvm.name for cvm in self.cvms]),
            ("url", [base_url(cvm.url) for cvm in self.cvms]),
        ):
            if twice := _twice(values):
                raise ValueError(f"cvms: expected each {what} once, got {twice!r} twice")
