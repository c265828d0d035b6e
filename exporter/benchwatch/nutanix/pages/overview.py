"""The overview at the top of a CVM's main page: label | value, without a header.

Labels seen: `Start time` (20150618-11:12:52-GMT-0700), `Build version`, `SVM id`, `Incarnation id`,
`Content cache total hits(NonDedup)` (86.17%, or 0 without a sign), `Content cache flash pagin pct(Dedup)`,
`Content cache memory usage` (3220 MB), `QoS Queue (size/admitted)` (0/72: queued and admitted operations),
`NFS cache usage`. Older builds say extent cache, newer ones unified cache.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from ...metrics.samples import Family
from .. import families as f
from ..families import Series
from .notes import Notes
from .quantities import BYTES, MAX_NAME, NO_VALUE, PERCENT, PLAIN, PrintedUnit, QuantityUnreadable, label_value, number
from .tables import PageTable, collapse, identifier

SECTION = "overview"
MAX_ROWS = 200

_TEXTS = {"build version": "version", "svm id": "svm_id", "incarnation id": "incarnation"}
_START = "start time"
_EARLIEST, _LATEST = 1e9, 1e10
_WITHOUT_METRIC = re.compile(
    "build last commit date|(stargate|iscsi|nfs master) handle|highest (allocated|contiguous completed) opid"
)
_QUEUE = re.compile(r"(.+) queue ?\(([a-z]+)/([a-z]+)\)")
_STATES = {"size": "queued", "admitted": "admitted"}
_CACHE = re.compile(r"(?:content|extent|unified) cache ([^()]+?) ?(?:\(([^()]+)\))?")
_CACHE_RATIOS = {"total hits": f.CACHE_HITS, "flash pagin pct": f.CACHE_PAGEIN, "flash pagein pct": f.CACHE_PAGEIN}


class Overview(NamedTuple):
    """The content of the overview; missing texts are empty."""

    version: str = ""
    svm_id: str = ""
    incarnation: str = ""
    values: Mapping[Series, float] = {}

    @property
    def start(self) -> float | None:
        """When Stargate started, Unix seconds."""
        return self.values.get((f.STARGATE_START, ()))


def is_overview(table: PageTable) -> bool:
    """Whether a table without a header is an overview: one of its labels is known."""
    labels = [_label(row[0]) for row in table.rows if len(row) == 2]
    return any(label in _TEXTS or _numbers(label, "") is not None for label in labels)


def read_overview(table: PageTable, before: Overview, notes: Notes) -> Overview:
    """The content of the table, added to `before`."""
    texts: dict[str, str] = {}
    values = dict(before.values)
    seen: set[str] = set()
    for row in notes.first(table.rows, MAX_ROWS, SECTION):
        printed, text = map(collapse, row if len(row) == 2 else (" | ".join(row), ""))
        label = _label(printed)
        try:
            numbers = {} if label in _TEXTS else _numbers(label, text)
            text = label_value(text)
        except (QuantityUnreadable, ValueError):
            notes.refuse(SECTION, f"value of {printed[:MAX_NAME]!r}: {text[:MAX_NAME]!r}")
            continue
        if label in seen:
            notes.refuse(SECTION, f"row {printed[:MAX_NAME]!r}: a second row with this name")
        elif numbers is not None:
            seen.add(label)
            values |= numbers
            if label in _TEXTS and text not in NO_VALUE:
                texts[_TEXTS[label]] = text
            notes.found(SECTION, f"{printed}: {text}")
        elif printed:
            notes.refuse(SECTION, f"row {printed[:MAX_NAME]!r}: {text!r}")
    return before._replace(**texts, values=values)


def _label(text: str) -> str:
    return collapse(text).lower().rstrip(" :")


def _numbers(label: str, text: str) -> dict[Series, float] | None:
    """The numbers in the value of a row; None for an unknown label. Raises QuantityUnreadable or ValueError."""
    if _WITHOUT_METRIC.fullmatch(label):
        return {}
    if label == _START:
        return {} if text in NO_VALUE else {(f.STARGATE_START, ()): _time(text)}
    if label == "nfs cache usage":
        return _one(f.NFS_CACHE_BYTES, (), text, BYTES)
    queue = _QUEUE.fullmatch(label)
    if queue and queue[2] in _STATES and queue[3] in _STATES:
        name = identifier(queue[1])
        first, second = text.split("/") if text not in NO_VALUE else ("", "")
        size = _one(f.STARGATE_QUEUE, (name, _STATES[queue[2]]), first.strip(), PLAIN)
        return size | _one(f.STARGATE_QUEUE, (name, _STATES[queue[3]]), second.strip(), PLAIN)
    cache = _CACHE.fullmatch(label)
    if cache and cache[1] in _CACHE_RATIOS:
        return _one(_CACHE_RATIOS[cache[1]], (identifier(cache[2] or "all"),), text, PERCENT)
    if cache and cache[1].endswith(" usage") and cache[2] is None:
        return _one(f.CACHE_BYTES, (identifier(cache[1].removesuffix(" usage")),), text, BYTES)
    return None


def _one(family: Family, labels: tuple[str, ...], text: str, unit: PrintedUnit) -> dict[Series, float]:
    if unit is BYTES and text.isdecimal() and int(text):
        raise QuantityUnreadable(text)  # the unit is missing
    value = number(text, unit)
    return {} if value is None else {(family, labels): value}


def _time(text: str) -> float:
    """Unix seconds of `20150618-11:12:52-GMT-0700`; raises ValueError for another form or an impossible time."""
    seconds = datetime.strptime(text, "%Y%m%d-%H:%M:%S-GMT%z").timestamp()
    if not _EARLIEST <= seconds <= _LATEST:
        raise ValueError(f"expected a time from 2001 to 2286, got {text}")
    return seconds
