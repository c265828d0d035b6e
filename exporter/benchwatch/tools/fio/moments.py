"""When fio's documents were written: `timestamp_ms`, in 3.0 `timestamp`, which stand at their beginning.

The document of a client has no such time (see `document`).
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from mmap import mmap

from .. import Moment
from .framing import START

_TIMESTAMP = re.compile(rb'"timestamp(_ms)?"[ \t]*:[ \t]*(\d{1,15})(?!\d)')
_HEAD = 1024
_END = b"\n}"


def moments(data: bytes | mmap) -> Iterator[Moment]:
    """The documents of a stream."""
    begins = [match.start() for match in START.finditer(data)]
    for begin, following in pairwise([*begins, len(data)]):
        end = data.find(_END, begin, following) + len(_END)
        if end < len(_END) or data.find(b'"client_stats"', begin, end) >= 0:
            continue
        times = dict(_TIMESTAMP.findall(data[begin : min(end, begin + _HEAD)]))
        if b"_ms" in times:
            yield Moment(end, int(times[b"_ms"]) / 1000)
        elif times:
            yield Moment(end, float(times[b""]))
