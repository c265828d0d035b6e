"""A stream whose content is delivered as far as it had been written by some time.

It is read ahead of that: logs and documents in pieces, which leave memory when they were replayed; a text at once,
because its times may count from the start of its last run. Such a text is read up to three times (to date its lines, to
find the start of its run, and to replay it), but parsed once when it is complete. Latencies are gathered during the
replay, if requested.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from ..runs.files import FileStatus, Rewritten
from ..runs.layout import StreamPlan
from ..runs.stream import Stream
from ..tools.api import Bins, Moment, Parser, ReadLine, read_lines

_PIECE = 4 << 20
"""Bytes read at a time."""
_KEPT = 1 << 20
"""Bytes that were replayed and stay in memory."""
_MOST_PARSED = 1 << 26
"""Bytes of the largest text whose records stay in memory."""
STEP = 1.0
"""Seconds by which a replay's clock advances between reports."""


class Recording(Stream):
    """A stream that delivers its content up to the offset `until`, bytes."""

    def __init__(self, plan: StreamPlan, folder: Path, *, gather: bool) -> None:
        self._new_bins = plan.kind_of.bins if gather else None
        self.bins: Bins | None = None
        """The latencies gathered so far, if requested."""
        self._begin = 0  # offset of the first byte in memory
        self._data = b""  # the content from there on
        self.until = 0
        self.modified = math.inf
        """When the part being delivered was written, Unix seconds."""
        self.newest = 0.0
        """When its newest file was last written, Unix seconds."""
        self.start: float | None = None
        """When the run began, Unix seconds; None until the replay has found out."""
        self.waiting: list[Moment] = []
        """Its moments that were not played yet, Unix seconds."""
        self.last: Moment | None = None
        """Its last moment, Unix seconds."""
        self._reported = Moment(0, -math.inf)  # the same in its own time
        self._parsed: _Parsed | None = None
        super().__init__(plan, folder)

    @property
    def size(self) -> int:
        """Bytes delivered so far."""
        return self._position

    @property
    def length(self) -> int:
        """Bytes of the stream, as far as it was read."""
        return self._begin + len(self._data)

    @property
    def file_time(self) -> float:
        """See Stream: not when its output says."""
        return self.newest

    def begun(self, recorded: float | None) -> tuple[float | None, bool]:
        """See Stream; once the replay has found the start, that."""
        return super().begun(recorded) if self.start is None else (self.start, True)

    def forget(self) -> None:
        """Deliver and parse it from the start again."""
        super().forget()
        if self._parsed:
            self.parser = self._parsed.again()
        self._position = self._gathered = 0
        self.bins = self._new_bins(self._content) if self._new_bins else None

    restart = forget

    def deliver(self) -> bytes:
        """The next bytes up to `until`: all that are in memory, or a piece. Raises OSError."""
        begin, end = self._position, self.until
        if begin < self._begin:
            end = min(end, self._begin, begin + _PIECE)
        self._position = end
        return self._content(begin, end)

    def read_again(self, most: float, files: Mapping[str, FileStatus]) -> Iterator[bytes]:
        """What its files hold, or the first of it, without keeping it. Raises Rewritten or OSError."""
        again, left = Stream(self.plan, self._folder), most
        while left > 0 and (piece := again.read(int(min(left, _PIECE)), files)[0]):
            left -= len(piece)
            yield piece

    def gather(self, records: Sequence[Any]) -> None:
        """Take the latencies of these records, which end in what was delivered since the last call."""
        if self.bins is not None:
            self.bins.take(records, self._gathered, self._position)
            self._gathered = self._position

    def _content(self, begin: int, end: int) -> bytes:
        """The bytes between two offsets."""
        if begin < self._begin:
            return self.reread(begin, end)
        return self._data[begin - self._begin : end - self._begin]

    def grow(self, files: Mapping[str, FileStatus]) -> bool:
        """Read more of it; returns whether there may be still more. Raises Rewritten or OSError."""
        kind = self.plan.kind_of
        in_pieces = kind.piecewise and (kind.is_log or kind.bins is not None) and self.plan.cut is None
        if in_pieces and self._position - self._begin > _KEPT:
            self._data = self._data[self._position - self._begin :]
            self._begin = self._position
        pieces = [self._data]
        while piece := self.read(_PIECE, files)[0]:
            pieces.append(piece)
            if in_pieces and sum(map(len, pieces[1:])) >= _PIECE:
                break
        if self._parsed and len(pieces) > 1:
            raise Rewritten  # it was complete, and goes on
        self._data = b"".join(pieces)
        return bool(piece)

    def wait(self, start: Callable[[], float], *, whole: bool) -> None:
        """Queue its new moments, with those of an unfinished line or second if it is `whole`.

        `start` says when the run began, if they count from there. Raises Rewritten if there is another run of the
        tool, and everything must be read again.
        """
        if self._parsed:  # all its moments are known
            return
        before = self._reported
        found = self._moments(before.offset, whole=whole)
        if self.plan.is_log and not whole:
            found = found[:-1]
        if not found:
            return
        if before.elapsed and (not found[0].elapsed or found[0].time < before.time):
            raise Rewritten
        since = start() if any(one.elapsed for one in found) else 0.0
        dated = _in_order(found, since, self.last.time if self.last else -math.inf)
        self.waiting += dated
        self._reported, self.last = found[-1], dated[-1]

    def _moments(self, after: int, *, whole: bool) -> list[Moment]:
        """The moments after that offset; unless `whole`, without those of an unfinished line."""
        plan, kind = self.plan, self.plan.kind_of
        data, skipped = self._data, 0
        if kind.piecewise:
            data, skipped = data[after - self._begin :], after
            data = data if whole else data[: data.rfind(b"\n") + 1]
        if plan.prefix and kind.moments:
            found = list(plan.prefix.moments(plan.tool, plan.kind, data))
        else:
            if whole and not after and not kind.moments and len(data) <= _MOST_PARSED:
                self._parsed = _Parsed(plan.parser(), data)
            lines = self._parsed.lines if self._parsed else read_lines(plan.parser(), data)
            found = list(plan.tool.moments(plan.kind, data, lines))
        new = [one._replace(offset=one.offset + skipped) for one in found if one.offset + skipped > after]
        if after and len(new) == len(found) and not kind.piecewise:
            raise Rewritten  # another run of the tool, the only one with moments from now on
        return new


class _Parsed:
    """A parser that repeats what another one has made of a whole text, line by line."""

    def __init__(self, parser: Parser, data: bytes) -> None:
        self.lines: list[ReadLine] = []
        counts = []
        for line in read_lines(parser, data):
            self.lines.append(line)
            counts.append((parser.records, parser.undated))
        self._closed = parser.close()
        self._counts = [*counts, (parser.records, parser.undated)]
        self.again()

    def again(self) -> "_Parsed":
        """The same, from the start."""
        self._offset = self._repeated = self.records = 0
        self.undated = False
        return self

    def feed(self, data: bytes) -> Sequence[Any]:
        """See tools.Parser."""
        self._offset += len(data)
        return self._repeat_to(len(self.lines) - 1)

    def settle(self) -> Sequence[Any]:
        """See tools.Parser: only the last line may lack its end."""
        return self._repeat_to(len(self.lines))

    def close(self) -> Sequence[Any]:
        """See tools.Parser."""
        if self._offset < self.lines[-1][0]:
            return ()
        found = self.settle()
        self.records, self.undated = self._counts[-1]
        return [*found, *self._closed]

    def _repeat_to(self, most: int) -> Sequence[Any]:
        """The records of the lines up to the offset, and at most of so many lines, that were not repeated yet."""
        found: list[Any] = []
        while self._repeated < most and self.lines[self._repeated][0] <= self._offset:
            found += self.lines[self._repeated][1]
            self.records, self.undated = self._counts[self._repeated]
            self._repeated += 1
        return found


def _in_order(found: Sequence[Moment], start: float, least: float) -> list[Moment]:
    """The moments in Unix time and in order, none before `least`; `start`: when the run began.

    If the clock goes back, as it may between two runs in one file, moments later than those that follow are left out,
    and the next moment dates their output. A final moment leaves out no other: it depends on the start, which may come
    from another clock, that of a file server.
    """
    times = [max(least, moment.time + start * moment.elapsed) for moment in found]
    own = [math.inf if one.final else time for one, time in zip(found, times, strict=True)]
    earliest = reversed([*accumulate(reversed(own), min)])  # of each moment and those that follow
    kept = [(moment, time) for moment, time, first in zip(found, times, earliest, strict=True) if time - first < STEP]
    in_turn = accumulate((time for _, time in kept), max)
    return [moment._replace(time=time, elapsed=False) for (moment, _), time in zip(kept, in_turn, strict=True)]
