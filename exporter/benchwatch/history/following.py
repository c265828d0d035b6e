"""Follows a run as it grows: the timelines that a replay would give now, at the cost of reading only the new part.

It plays the same events as `replay`, up to the last moment that all streams have reached. It leaves out the last second
of a transaction log, which may be incomplete. A stream without new content for some seconds does not hold up the
others. If such a stream later reports an earlier time, or a file changes other than by growing, everything is read
again. A run that has ended is read again once, because it is then complete.

Files are read in pieces and never mapped: truncating a mapped file would kill the process that reads it.
"""

import math
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from ..metrics.buckets import Buckets
from ..metrics.samples import Family
from ..runs.files import FileStatus, Rewritten, statuses
from ..runs.layout import StreamPlan
from ..runs.observed_run import ObservedRun
from ..runs.stream import Stream
from ..settings.record import SUFFIX
from ..settings.settings import RunsSettings
from ..tools.api import Moment, read_lines
from ..values.errors import UserError
from .find import open_run
from .recording import Recording
from .replay import Replay, Step, in_order, merged, moments
from .timeline import Book, Timeline

_PIECE = 4 << 20
"""Bytes read at a time."""
_KEPT = 1 << 20
"""Bytes that were played and stay in memory."""
_LATE = 5.0
"""Seconds by which a stream may be behind the others."""
_ELSEWHERE = "too many for a live page; `benchwatch report` draws them"
MOST_REPORTS = 500_000
"""Of a worker: six days of one a second. Each takes some 300 bytes of memory as long as the run is followed."""


class GrowingRecording(Recording):
    """A stream whose files grow; bytes that were played leave memory."""

    _begin = 0  # offset of the first byte in memory
    _listed: Mapping[str, FileStatus] = {}

    def _loaded(self, plan: StreamPlan, folder: Path) -> bytes:
        return b""

    @property
    def length(self) -> int:
        """Bytes read so far."""
        return self._begin + len(self.data)

    def grow(self, files: Mapping[str, FileStatus]) -> bool:
        """Read more of it; returns whether there may be still more. Raises Rewritten or OSError.

        A text whose times may count from the start of its last run is read to its end.
        """
        self._listed = files
        if self.plan.kind_of.piecewise and self._position - self._begin > _KEPT:
            self.data = self.data[self._position - self._begin :]
            self._begin = self._position
        limit = _PIECE if self.plan.kind_of.moments else math.inf
        more = b""
        while len(more) < limit and (piece := Stream.read(self, _PIECE, files)[0]):
            more += piece
        if more:
            self.data = bytes(self.data[:]) + more
        return len(more) >= limit

    def keep(self) -> None:
        """It grows, so its records are not kept."""

    def after(self, offset: int) -> bytes:
        """The bytes read so far from that offset on."""
        return self.data[offset - self._begin :]

    def restart(self) -> None:
        """See Recording. Raises Rewritten if its beginning has left memory."""
        if self._begin:
            raise Rewritten
        super().restart()
        length, self.data = len(self.data), b""
        while len(self.data) < length and (more := Stream.read(self, length - len(self.data), self._listed)[0]):
            self.data += more

    def read(self, limit: int, files: Mapping[str, object]) -> tuple[bytes, float]:
        """See Recording."""
        data = self.data[self._position - self._begin : max(0, self.until - self._begin)]
        self._position = max(self._position, self.until)
        return data, self.modified

    def content(self, begin: int, end: int) -> bytes:
        """See Recording."""
        found, before = b"", 0
        for file in self._files:
            if before < end and before + file.offset > begin:
                with file.path.open("rb", buffering=0) as opened:
                    first = max(0, begin - before)
                    found += os.pread(opened.fileno(), min(file.offset, end - before) - first, first)
            before += file.offset
        return found


class Following(Replay):
    """One worker of a run, which is played as far as its output goes."""

    open = GrowingRecording
    _recordings: dict[str, GrowingRecording]  # type: ignore[assignment]

    def __init__(self, run: ObservedRun, name: str, buckets: Buckets) -> None:
        super().__init__(run, name, buckets, -math.inf, gather=True)
        self._reported: dict[str, Moment] = {}  # the last moment of each stream, in its own time
        self._last: dict[str, Moment] = {}  # the same in Unix time
        self._waiting: dict[str, list[Moment]] = {plan.name: [] for plan in run.plans[name]}
        self._clock = -math.inf

    def further(self, files: Mapping[str, FileStatus], now: float, *, ended: bool) -> Iterator[Step]:
        """The steps since the last call, up to the end if the output is complete.

        Raises Rewritten if everything must be read again, OSError if a file cannot be read.
        """
        self._now = now
        self._last_written = {name: files[one.plan.parts[-1][0]].modified for name, one in self._recordings.items()}
        behind = dict.fromkeys(self._recordings, True)
        while any(behind.values()):
            behind = {name: behind[name] and one.grow(files) for name, one in self._recordings.items()}
            for name, recording in self._recordings.items():
                self._wait_for(name, recording, whole=ended and not behind[name])
            if self._clock == -math.inf:
                self._begin()
            if ended and not any(behind.values()):
                events = self._events(self._waiting, self._last)
                self._waiting = {name: [] for name in self._waiting}
                if events and events[0].time < self._clock:
                    raise Rewritten
                if events and self._clock > -math.inf:
                    yield from self._pass_time(self._clock, events[0].time, False)
                yield from self._to_the_end(events)
                return
            yield from self._as_far_as_known(behind)

    def _wait_for(self, name: str, recording: GrowingRecording, *, whole: bool) -> None:
        """Queue the new moments of a stream, including those of an unfinished line or second if it is `whole`."""
        before = self._reported.get(name, Moment(0, -math.inf))
        plan = recording.plan
        if plan.kind_of.piecewise:
            rest = recording.after(before.offset)
            rest = rest if whole else rest[: rest.rfind(b"\n") + 1]
            every = moments(plan, rest, read_lines(plan.parser(), rest))
            found = [one._replace(offset=one.offset + before.offset) for one in every]
        else:
            every = moments(plan, recording.data, read_lines(plan.parser(), recording.data))
            found = [one for one in every if one.offset > before.offset]
            if len(every) == len(found) and before.offset:
                raise Rewritten  # another run of the tool, the only one with moments from now on
        if plan.is_log and not whole:
            found = found[:-1]
        if not found:
            return
        if before.elapsed and (not found[0].elapsed or found[0].time < before.time):
            raise Rewritten  # another run of the tool
        elapsed = any(one.elapsed for one in found)
        if elapsed and "_start" not in self.__dict__ and self._clock > -math.inf:
            raise Rewritten
        least = self._last[name].time if name in self._last else -math.inf
        dated = in_order(found, self._start if elapsed else 0.0, least)
        self._waiting[name] += dated
        self._reported[name], self._last[name] = found[-1], dated[-1]

    def _as_far_as_known(self, behind: Mapping[str, bool]) -> Iterator[Step]:
        latest = max((last.time for last in self._last.values()), default=-math.inf)
        times = {
            name: last.time if behind[name] else max(last.time, latest - _LATE) for name, last in self._last.items()
        }
        until = min(
            (times.get(name, -math.inf if more else math.inf) for name, more in behind.items()), default=-math.inf
        )
        due = {name: [one for one in each if one.time <= until] for name, each in self._waiting.items()}
        self._waiting = {name: each[len(due[name]) :] for name, each in self._waiting.items()}
        for event in merged(due):
            if event.time < self._clock:
                raise Rewritten
            if self._clock > -math.inf:
                yield from self._pass_time(self._clock, event.time, False)
            yield self._play(event, last=False)
            self._clock = event.time

    @property
    def progress(self) -> int:
        """Bytes read so far."""
        return sum(recording.length for recording in self._recordings.values())


class FollowedRun:
    """A run that is followed: all its workers."""

    def __init__(
        self, name: str, folder: Path, settings: RunsSettings, buckets: Buckets, families: Collection[Family]
    ) -> None:
        self.name = name
        self.timelines: list[Timeline] = []
        """Those of the last complete look."""
        self.size = 0
        """Size of its files in bytes."""
        self._folder = folder
        self._settings = settings
        self._buckets = buckets
        self._families = families
        self._seen: object = None
        self._shape: object = None
        self._followed: list[tuple[Following, Book]] = []
        self._too_long = ""
        self.stopping = False
        """Set to stop reading at once."""

    @property
    def read(self) -> int:
        """Bytes read so far."""
        return sum(following.progress for following, _ in self._followed)

    def look(self, names: Collection[str], ended: Collection[str] | None, now: float) -> bool:
        """Read what is new in the files of these names; returns whether there are new timelines.

        `ended` names the workers whose output is complete for now; None: all. Raises OSError or ConfigError if a file
        cannot be read, UserError if a worker has more than MOST_REPORTS.
        """
        if self._too_long:
            raise UserError(self._too_long)
        files = statuses(self._folder, names)
        if self._seen == (seen := (files, None if ended is None else frozenset(ended))):
            return False
        self.size = sum(status.size for status in files.values())
        records = {name: status for name, status in files.items() if name.endswith(SUFFIX)}
        shape = ({name: status.identity for name, status in files.items()}, records, seen[1])
        if shape != self._shape:
            run = open_run(self.name, self._folder, self._settings, self._buckets, files)
            followed = [Following(run, worker, self._buckets) for worker in run.plans]
            self._followed = [(one, Book(one, self._families)) for one in followed]
        self._shape = None  # until everything is read
        try:
            for following, book in self._followed:
                for step in following.further(files, now, ended=ended is None or following.worker.name in ended):
                    book.enter(step)
                    if book.reports > MOST_REPORTS:
                        name = following.worker.name
                        self._followed, self.timelines = [], []
                        self._too_long = f"{name} has more than {MOST_REPORTS:,} reports: {_ELSEWHERE}"
                        raise UserError(self._too_long)
                    if self.stopping:
                        return False
        except Rewritten:
            return False
        self._shape, self._seen = shape, seen
        self.timelines = [book.timeline() for _, book in self._followed]
        return True
