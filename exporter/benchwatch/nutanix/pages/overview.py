"""The overview at the top of a CVM's main page: label | value, without a header.

Labels seen: `Start time` (20150618-11:12:52-GMT-0700), `Build version`, `SVM id`, `Incarnation id`,
`Content cache total hits(NonDedup)` (86.17%, or 0 without a sign), `Content cache flash pagin pct(Dedup)`,
`Content cache memory usage` (3220 MB), `QoS Queue (size/admitted)` (0/72: queued and admitted operations),
`NFS cache usage`. Older builds say extent cache, newer ones unified cache.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from .. import families as f
from ..families import Series
from .quantities import BYTES, MAX_NAME, NO_VALUE, PERCENT, PLAIN, QuantityUnreadable, label_value, number
from .tables import Notes, PageTable, collapse, identifier

SECTION = "overview"
MAX_ROWS = 200

_TEXTS = {"build version": "version", "svm id": "svm_id", "incarnation id": "incarnation"}
_WITHOUT_METRIC = re.compile(
    "build last commit date|(stargate|iscsi|nfs master) handle|highest (allocated|contiguous completed) opid"
)
_CACHE = "(?:content|extent|unified) cache"
_NUMBERS = (
    (re.compile("start time"), f.STARGATE_START, PLAIN),
    (re.compile(r"(.+) queue ?\(size/admitted\)"), f.STARGATE_QUEUE, PLAIN),
    (re.compile(rf"{_CACHE} total hits ?(?:\(([^()]+)\))?"), f.CACHE_HITS, PERCENT),
    (re.compile(rf"{_CACHE} flash page?in pct ?(?:\(([^()]+)\))?"), f.CACHE_PAGEIN, PERCENT),
    (re.compile(rf"{_CACHE} ([^()]+) usage"), f.CACHE_BYTES, BYTES),
    (re.compile("nfs cache usage"), f.NFS_CACHE_BYTES, BYTES),
)
"""The forms of labels with a number; a group is the value of the family's first label, `all` if it is missing."""


@dataclass
class Overview:
    """The content of the overview; missing texts are empty."""

    version: str = ""
    svm_id: str = ""
    incarnation: str = ""
    values: dict[Series, float] = field(default_factory=dict)

    @property
    def start(self) -> float | None:
        """When Stargate started, Unix seconds."""
        return self.values.get((f.STARGATE_START, ()))


def is_overview(table: PageTable) -> bool:
    """Whether a table without a header is an overview: one of its labels is known."""
    labels = [_label(row[0]) for row in table.rows if len(row) == 2]
    return any(label in _TEXTS or _numbers(label, "") is not None for label in labels)


def read_overview(table: PageTable, overview: Overview, notes: Notes) -> None:
    """Add the content of the table."""
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
            overview.values |= numbers
            if label in _TEXTS and text not in NO_VALUE:
                setattr(overview, _TEXTS[label], text)
            notes.found(SECTION, f"{printed}: {text}")
        elif printed:
            notes.refuse(SECTION, f"row {printed[:MAX_NAME]!r}: {text!r}")


def _label(text: str) -> str:
    return collapse(text).lower().rstrip(" :")


def _numbers(label: str, text: str) -> Mapping[Series, float] | None:
    """The numbers in the value of a row; None for an unknown label. Raises QuantityUnreadable or ValueError."""
    if _WITHOUT_METRIC.fullmatch(label):
        return {}
    for form, family, unit in _NUMBERS:
        match = form.fullmatch(label)
        if match is None:
            continue
        kind = tuple(identifier(group or "all") for group in match.groups())
        found: dict[tuple[str, ...], float | None]
        if text in NO_VALUE:
            found = {}
        elif family is f.STARGATE_START:
            found = {(): datetime.strptime(text, "%Y%m%d-%H:%M:%S-GMT%z").timestamp()}
        elif family is f.STARGATE_QUEUE:
            queued, admitted = text.split("/")
            found = {(*kind, "queued"): number(queued.strip()), (*kind, "admitted"): number(admitted.strip())}
        elif unit is BYTES and text.isdecimal() and int(text):
            raise QuantityUnreadable(text)  # the unit is missing
        else:
            found = {kind: number(text, unit)}
        return {(family, labels): value for labels, value in found.items() if value is not None}
    return None
