"""A recorded stream, which delivers its content up to a given offset: as much as was written by then.

A complete stream is mapped. One that may grow is read in pieces, because truncating a mapped file
would kill the process that reads it; bytes that were replayed leave memory.

A text dated by its lines is read up to three times (to date its parts, to find the start of its
run, and to replay it); if it is complete, it is parsed once. Its latencies are gathered during the
replay, if requested.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from mmap import ACCESS_READ, MADV_DONTNEED, mmap
from pathlib import Path
from typing import Any, NamedTuple

from ..runs.files import FileStatus, Rewritten
from ..runs.layout import StreamPlan
from ..runs.stream import Stream
from ..tools.api import Bins, Moment, Parser, ReadLine, read_lines
from ..values.errors import ConfigError

_MOST_KEPT = 1 << 26
"""Bytes of the largest stream whose records stay in memory."""
_HELD = 1 << 24
"""Bytes of a mapped file that are read before their memory is released."""
_SMALL = 1 << 16
"""Bytes of the largest file that is read at once instead of being mapped."""
_PIECE = 4 << 20
"""Bytes of a growing file read at a time."""
_KEPT = 1 << 20
"""Bytes of a growing file that were replayed and stay in memory."""
STEP = 1.0
"""Seconds by which a replay's clock advances between reports."""


class Recording(Stream):
    """A stream whose `read` delivers its content up to the offset `until`, bytes."""

    def __init__(self, plan: StreamPlan, folder: Path, *, gather: bool, growing: bool) -> None:
        self._new_bins = plan.kind_of.bins if gather else None
        self.bins: Bins | None = None
        """The latencies gathered so far, if requested."""
        self._source = Stream(plan, folder) if growing else None
        self._begin = 0  # offset of the first byte in memory
        self.data: bytes | mmap = b"" if growing else _whole(plan, folder)
        """Its content from the first byte in memory on."""
        self.until = 0
        self.modified = math.inf
        """When the part being read was written, Unix seconds."""
        self.file_time = 0.0
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
        return self._begin + len(self.data)

    def grow(self, files: Mapping[str, FileStatus]) -> bool:
        """Read more of it; returns whether there may be still more. Raises Rewritten or OSError.

        A text whose times may count from the start of its last run is read to its end.
        """
        if self._source is None:
            return False
        if self.plan.kind_of.piecewise and self._position - self._begin > _KEPT:
            self.data = self.data[self._position - self._begin :]
            self._begin = self._position
        limit = _PIECE if self.plan.kind_of.moments else math.inf
        more = b""
        while len(more) < limit and (piece := self._source.read(_PIECE, files)[0]):
            more += piece
        if more:
            self.data = bytes(self.data[:]) + more
        return len(more) >= limit

    def wait(self, start: Callable[[], float], *, whole: bool) -> None:
        """Queue its new moments, with those of an unfinished line or second if it is `whole`.

        `start` says when the run began, if they count from there. Raises Rewritten if there is
        another run of the tool, and everything must be read again.
        """
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
        self.release()
        self.waiting += dated
        self._reported, self.last = found[-1], dated[-1]

    def _moments(self, after: int, *, whole: bool) -> list[Moment]:
        """The moments after that offset; unless `whole`, without those of an unfinished line."""
        plan, kind, data = self.plan, self.plan.kind_of, self.data
        lines: Iterable[ReadLine]
        if self._source is None:
            lines = self._lines()
        else:
            if kind.piecewise:
                data = data[after - self._begin :]
                data = data if whole else data[: data.rfind(b"\n") + 1]
            lines = read_lines(plan.parser(), data)
        if plan.prefix and kind.moments:
            found = list(plan.prefix.moments(plan.tool, plan.kind, data[:]))
        else:
            found = list(plan.tool.moments(plan.kind, data, lines))
        if kind.piecewise and self._source is not None:
            return [one._replace(offset=one.offset + after) for one in found]
        new = [one for one in found if one.offset > after]
        if after and len(new) == len(found):
            raise Rewritten  # another run of the tool, the only one with moments from now on
        return new

    def content(self, begin: int, end: int) -> bytes:
        """The bytes between two offsets."""
        if begin >= self._begin:
            return self.data[begin - self._begin : end - self._begin]
        assert self._source is not None
        return self._source.reread(begin, end)

    def keep(self) -> None:
        """Parse a complete text dated by its lines, and keep its records, unless it is huge."""
        dated_by_lines = not self.plan.kind_of.moments and self._source is None
        if self._parsed is None and dated_by_lines and self.length <= _MOST_KEPT:
            self._parsed = _Parsed(self.plan.parser(), self.data)

    def _lines(self) -> Iterator[ReadLine]:
        self.keep()
        return self._parsed.lines() if self._parsed else read_lines(self.plan.parser(), self.data)

    def restart(self) -> None:
        """Deliver it from the start again. Raises Rewritten if its beginning has left memory."""
        if self._begin:
            raise Rewritten
        super().restart()
        self._position = self._released = self._gathered = 0
        if self._parsed is not None:
            self._parsed.rewind()
            self.parser = self._parsed
        self.bins = self._new_bins(self.content) if self._new_bins else None

    def read(self, limit: int, files: Mapping[str, object]) -> tuple[bytes, float]:
        """The bytes written since the last call."""
        data = self.data[self._position - self._begin : max(0, self.until - self._begin)]
        self._position = max(self._position, self.until)
        if self._position - self._released > _HELD:
            self.release()
        return data, self.modified

    def gather(self, records: Sequence[Any]) -> None:
        """Take the latencies of these records, which end in what was delivered since the last call."""
        if self.bins is not None:
            self.bins.take(records, self._gathered, self._position)
            self._gathered = self._position

    def release(self) -> None:
        """Let the system reclaim a mapped file's memory; its content can still be read again."""
        self._released = self._position
        if isinstance(self.data, mmap):
            self.data.madvise(MADV_DONTNEED)

    def begun(self, recorded: float | None) -> tuple[float | None, bool]:
        """See Stream; during a replay, the start that it found."""
        return super().begun(recorded) if self.start is None else (self.start, True)


class _Answer(NamedTuple):
    """A parser's answer to a line."""

    end: int
    """Where the line ends, bytes."""
    records: Sequence[Any]
    understood: int
    """The parser's `records` up to there."""
    undated: bool


class _Parsed:
    """A parser of a stream that was parsed before: it repeats the answer to each line."""

    def __init__(self, parser: Parser, data: bytes | mmap) -> None:
        *self._lines, self._last = [
            _Answer(end, records, parser.records, parser.undated) for end, records in read_lines(parser, data)
        ]
        self._closed = _Answer(len(data), parser.close(), parser.records, parser.undated)
        self.rewind()

    def rewind(self) -> None:
        """Begin again."""
        self._offset = self._repeated = 0
        self._settled = False
        self.records = 0
        self.undated = False

    def lines(self) -> Iterator[ReadLine]:
        """The records of all lines; see read_lines."""
        return ((line.end, line.records) for line in (*self._lines, self._last))

    def feed(self, data: bytes) -> Sequence[Any]:
        """See tools.Parser."""
        self._offset += len(data)
        found: list[Any] = []
        while self._repeated < len(self._lines):
            line = self._lines[self._repeated]
            if line.end > self._offset:
                break
            found += self._repeat(line)
            self._repeated += 1
        return found

    def settle(self) -> Sequence[Any]:
        """See tools.Parser: only the last line may lack its end."""
        if self._offset < self._last.end or self._settled:
            return ()
        self._settled = True
        return self._repeat(self._last)

    def close(self) -> Sequence[Any]:
        """See tools.Parser."""
        if self._offset < self._last.end:
            return ()
        return [*self.settle(), *self._repeat(self._closed)]

    def _repeat(self, answer: _Answer) -> Sequence[Any]:
        self.records, self.undated = answer.understood, answer.undated
        return answer.records


def _whole(plan: StreamPlan, folder: Path) -> bytes | mmap:
    """The content of a stream's files in order. Raises ConfigError if one cannot be read."""
    paths = [folder / name for name, _ in plan.parts]
    try:
        if len(paths) == 1 and paths[0].stat().st_size > _SMALL:
            with paths[0].open("rb") as file:
                whole: bytes | mmap = mmap(file.fileno(), 0, access=ACCESS_READ)
        else:
            whole = b"".join(path.read_bytes() for path in paths)
    except OSError as error:
        raise ConfigError(
            f"{error.filename}: cannot be read: {error.strerror}; expected output of a benchmark"
        ) from error
    return whole if plan.cut is None else whole[plan.cut.begin : plan.cut.end]


def _in_order(found: Sequence[Moment], start: float, least: float) -> list[Moment]:
    """The moments in Unix time and in order, none before `least`; `start`: when the run began.

    If the clock goes back, as it may between two runs in one file, moments later than those that
    follow are left out, and the next moment dates their output. A final moment leaves out no other:
    it depends on the start, which may come from another clock, that of a file server.
    """
    times = [max(least, moment.time + start * moment.elapsed) for moment in found]
    own = [math.inf if one.final else time for one, time in zip(found, times, strict=True)]
    earliest = reversed([*accumulate(reversed(own), min)])  # of each moment and those that follow
    kept = [(moment, time) for moment, time, first in zip(found, times, earliest, strict=True) if time - first < STEP]
    in_turn = accumulate((time for _, time in kept), max)
    return [moment._replace(time=time, elapsed=False) for (moment, _), time in zip(kept, in_turn, strict=True)]
