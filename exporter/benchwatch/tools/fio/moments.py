"""When fio's documents were written.

They begin with the time: `timestamp_ms`, in 3.0 `timestamp`. The document of a client has no such time (see
`document`). A document with another layout than fio's counts as written at the end of its last line.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from mmap import mmap

from ..api import LINE, Moment
from .framing import START, Framer, Piece, Whole

_TIMESTAMP = re.compile(rb'"timestamp(_ms)?"[ \t]*:[ \t]*(\d{1,15})(?!\d)')
_HEAD = 1024
_END = b"\n}"


def moments(data: bytes | mmap) -> Iterator[Moment]:
    """The documents of a stream."""
    begins = [match.start() for match in START.finditer(data)]
    if not begins or (begins[0] and data[begins[0] - 1] not in b"\r\n"):
        yield from _by_line(data)
        return
    for begin, following in pairwise([*begins, len(data)]):
        end = data.rfind(_END, begin, following) + len(_END)  # near the end, as text between documents is short
        if end < len(_END) or data.find(b'"client_stats"', begin, end) >= 0:
            continue
        time = _time(data[begin : min(end, begin + _HEAD)])
        if time is not None:
            yield Moment(end, time)


def _by_line(data: bytes | mmap) -> Iterator[Moment]:
    framer = Framer()
    for line in LINE.finditer(data):
        yield from _of_pieces(framer.feed(line[0]), line.end())
    yield from _of_pieces(framer.close(), len(data))


def _of_pieces(pieces: list[Piece], end: int) -> Iterator[Moment]:
    for piece in pieces:
        if isinstance(piece, Whole) and b'"client_stats"' not in piece.data:
            time = _time(piece.data)
            if time is not None:
                yield Moment(end, time)


def _time(text: bytes) -> float | None:
    """The last time in a document, Unix seconds; None without any."""
    times = dict(_TIMESTAMP.findall(text))
    if b"_ms" in times:
        return int(times[b"_ms"]) / 1000
    return float(times[b""]) if times else None
