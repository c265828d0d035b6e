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

from .notes import Notes
from .quantities import BYTES, MAX_NAME, NO_VALUE, PERCENT, PrintedUnit, QuantityUnreadable, label_value, number
from .tables import PageTable, collapse

SECTION = "overview"
MAX_ROWS = 200

_TEXTS = {"build version": "version", "svm id": "svm_id", "incarnation id": "incarnation"}
_START = "start time"
_EARLIEST, _LATEST = 1e9, 1e10
_WITHOUT_METRIC = frozenset(
    (
        "build last commit date",
        "stargate handle",
        "iscsi handle",
        "nfs master handle",
        "highest allocated opid",
        "highest contiguous completed opid",
    )
)
_QUEUE = re.compile(r"(.+) queue ?\(([a-z]+)/([a-z]+)\)")
_STATES = {"size": "queued", "admitted": "admitted"}
_CACHE = re.compile(r"(?:content|extent|unified) cache ([^()]+?) ?(?:\(([^()]+)\))?")
_CACHE_RATIOS = {
    "total hits": "content_cache_hit_ratio",
    "flash pagin pct": "content_cache_flash_pagein_ratio",
    "flash pagein pct": "content_cache_flash_pagein_ratio",
}

Key = tuple[str, str, str]
"""Field, kind and state; kind and state are empty if the field has none."""


class Overview(NamedTuple):
    """The content of the overview. `start` is Unix seconds; missing texts are empty."""

    version: str = ""
    svm_id: str = ""
    incarnation: str = ""
    start: float | None = None
    values: Mapping[Key, float] = {}


def is_overview(table: PageTable) -> bool:
    """Whether a table without a header is an overview: one of its labels is known."""
    labels = [_label(row[0]) for row in table.rows if len(row) == 2]
    return any(label in _TEXTS or _numbers(label, "") is not None for label in labels)


def read_overview(table: PageTable, before: Overview, notes: Notes) -> Overview:
    """The content of the table, added to `before`."""
    texts: dict[str, str] = {}
    values = dict(before.values)
    if len(table.rows) > MAX_ROWS:
        left_out = len(table.rows) - MAX_ROWS
        notes.refuse(SECTION, f"{left_out} rows after the first {MAX_ROWS}", left_out)
    for row in table.rows[:MAX_ROWS]:
        printed, text = (collapse(row[0]), collapse(row[1])) if len(row) == 2 else (collapse(" | ".join(row)), "")
        label = _label(printed)
        try:
            numbers = None if label in _TEXTS else _numbers(label, text)
            text = label_value(text)
        except (QuantityUnreadable, ValueError):
            notes.refuse(SECTION, f"value of {printed[:MAX_NAME]!r}: {text[:MAX_NAME]!r}")
            continue
        if label in _TEXTS:
            if text not in NO_VALUE:
                texts[_TEXTS[label]] = text
        else:
            if numbers is None:
                if printed:
                    notes.refuse(SECTION, f"row {printed[:MAX_NAME]!r}: {text!r}")
                continue
            values |= numbers
        notes.found(SECTION, f"{printed}: {text}")
    start = values.pop(("start", "", ""), before.start)
    return before._replace(**texts, start=start, values=values)


def identifier(text: str) -> str:
    """A label of the page in lower case, with its words joined by `_`."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def _label(text: str) -> str:
    return collapse(text).lower().rstrip(" :")


def _numbers(label: str, text: str) -> dict[Key, float] | None:
    """The numbers in the value of a row; None for an unknown label. Raises QuantityUnreadable or ValueError."""
    if label in _WITHOUT_METRIC:
        return {}
    if label == _START:
        return {} if text in NO_VALUE else {("start", "", ""): _time(text)}
    if label == "nfs cache usage":
        return _size("nfs_cache_bytes", "", text)
    queue = _QUEUE.fullmatch(label)
    if queue and queue[2] in _STATES and queue[3] in _STATES:
        return _queue(identifier(queue[1]), (_STATES[queue[2]], _STATES[queue[3]]), text)
    cache = _CACHE.fullmatch(label)
    if cache and cache[1] in _CACHE_RATIOS:
        return _one(_CACHE_RATIOS[cache[1]], identifier(cache[2] or "all"), text, PERCENT)
    if cache and cache[1].endswith(" usage") and cache[2] is None:
        return _size("content_cache_bytes", identifier(cache[1].removesuffix(" usage")), text)
    return None


def _one(field: str, kind: str, text: str, unit: PrintedUnit) -> dict[Key, float]:
    value = number(text, unit)
    return {} if value is None else {(field, kind, ""): value}


def _size(field: str, kind: str, text: str) -> dict[Key, float]:
    if text.isdecimal() and int(text):
        raise QuantityUnreadable(text)  # the unit is missing
    return _one(field, kind, text, BYTES)


def _queue(name: str, states: tuple[str, str], text: str) -> dict[Key, float]:
    if text in NO_VALUE:
        return {}
    counts = [number(part.strip()) for part in text.split("/")]
    return {
        ("queue_operations", name, state): count
        for state, count in zip(states, counts, strict=True)
        if count is not None
    }


def _time(text: str) -> float:
    """Unix seconds of `20150618-11:12:52-GMT-0700`; raises ValueError for another form or an impossible time."""
    seconds = datetime.strptime(text, "%Y%m%d-%H:%M:%S-GMT%z").timestamp()
    if not _EARLIEST <= seconds <= _LATEST:
        raise ValueError(f"expected a time from 2001 to 2286, got {text}")
    return seconds
