"""Plays a worker's recorded output again, as a live exporter read it, but at the times that the output itself tells.

The clock stands at one report after the other (see tools.Moment), and each stream is read just as far as it had been
written by then. Between reports, and after the last one, the clock goes on in steps of a second, so that a run stalls
and is given up when it was.

What has no time of its own follows from what has:

- seconds since the start (pgbench without --progress-timestamp, its final report): from the start that the transaction
  log or other lines tell, else `start` of run.yaml, else the one by which the file was last modified when its last line
  was written, which is what a live exporter goes by;
- text after the last report: at the last report of the worker;
- a worker none of whose output has a time: all of it at the recorded `end`, else when it was last modified.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from .errors import ConfigError
from .histogram import Buckets
from .run import Run
from .runfile import RunFile
from .streams.files import Rewritten
from .streams.layout import StreamPlan
from .streams.stream import Stream
from .tools import Moment
from .worker import KEPT_LIVE, Worker

_LOG_HEAD = 1 << 16
_STEP = 1.0
"""Seconds."""


class Recording(Stream):
    """A stream whose files were read whole; it gives them as far as `until`, bytes."""

    def __init__(self, plan: StreamPlan, folder: Path) -> None:
        self.data = _content([folder / name for name, _ in plan.parts])
        self.until = 0
        super().__init__(plan, folder)

    def restart(self) -> None:
        """Read from the start again."""
        super().restart()
        self._position = 0

    @property
    def size(self) -> int:
        """How much was read of it."""
        return self._position

    def read(self, limit: int, files: Mapping[str, object]) -> tuple[bytes, float]:
        """What has been written since the last call; it is not older than that."""
        data = self.data[self._position : self.until]
        self._position = max(self._position, self.until)
        return data, math.inf


class Step(NamedTuple):
    """The clock has moved on."""

    time: float
    """Unix seconds."""
    kinds: frozenset[str]
    """Kinds of the streams that had something to report; none where only time has passed."""


class _Event(NamedTuple):
    time: float
    """Unix seconds."""
    offsets: dict[str, int]
    """How far each stream had been written that has something new then."""


class Replay:
    """One worker of a run, to be played from its first report to its end or, where it has none, to `now`."""

    def __init__(self, run: Run, name: str, buckets: Buckets, now: float) -> None:
        self._run = run
        self._name = name
        self._buckets = buckets
        self._now = now
        self._recordings = {plan.name: Recording(plan, run.folder) for plan in run.plans[name]}
        self._modified = max(run.files[plan.parts[-1][0]].modified for plan in run.plans[name])
        self.by_file_time = False
        """Whether times rest on when the files were last modified."""
        self.worker = self._new_worker()
        self._runfile = self.worker.runfile

    def _new_worker(self) -> Worker:
        for recording in self._recordings.values():
            recording.restart()
        plans = self._run.plans[self._name]
        return self._run.new_worker(self._name, plans, lambda plan, _: self._recordings[plan.name])

    def steps(self, idle: bool) -> Iterator[Step]:
        """Moves the worker on from report to report; with `idle` from second to second too, beyond the end as well.

        Without it, time that passes is a step only if it changes the worker.
        """
        events = self._events()
        for recording in self._recordings.values():
            recording.until = 0
        self.worker = self._new_worker()
        for event, (following, _) in pairwise([*events, _Event(self._now, {})]):
            # How the benchmark ended was not known before it did.
            known = self._runfile if event is events[-1] else replace(self._runfile, exit_code=None, end=None)
            for name, offset in event.offsets.items():
                self._recordings[name].until = offset
            self._read(event.time, known)
            yield Step(event.time, frozenset(self._recordings[name].plan.kind for name in event.offsets))
            yield from self._pass_time(event.time, following, idle)

    def _read(self, time: float, known: RunFile) -> None:
        try:
            self.worker.read(-1, {}, time)
        except Rewritten:  # it was given up, and goes on
            self.worker = self._new_worker()
            self.worker.read(-1, {}, time)
        self.worker.configure(known)
        self._tick(time)

    def _tick(self, time: float) -> None:
        self.worker.tick(time)
        self.worker.state.reached(time)

    def _pass_time(self, begin: float, end: float, idle: bool) -> Iterator[Step]:
        time = begin + _STEP
        while time < end - _STEP / 2 and not (self.worker.ended and (not idle or time - begin >= KEPT_LIVE)):
            before = self.worker.version
            self._tick(time)
            if idle or self.worker.version != before:
                yield Step(time, frozenset())
            time += _STEP

    def _events(self) -> list[_Event]:
        found = {name: self._dated(recording) for name, recording in self._recordings.items()}
        end = self._runfile.end
        self.by_file_time |= not any(found.values()) and end is None
        told = self._modified if end is None else end
        last = max((moments[-1].time for moments in found.values() if moments), default=told)
        for name, recording in self._recordings.items():
            if not found[name] or found[name][-1].offset < len(recording.data):
                found[name].append(Moment(len(recording.data), last))
        events: list[_Event] = []
        ordered = sorted((moment.time, name, moment.offset) for name, each in found.items() for moment in each)
        for time, name, offset in ordered:
            if not events or events[-1].time != time or name in events[-1].offsets:
                events.append(_Event(time, {}))
            events[-1].offsets[name] = offset
        if self._runfile.exit_code is not None:
            events.append(_Event(max(last, end or last), {}))
        return events

    def _dated(self, recording: Recording) -> list[Moment]:
        """The moments of a stream in Unix time, in order."""
        plan = recording.plan
        found = list(plan.tool.moments(plan.kind, recording.data))
        start = self._start if any(moment.elapsed for moment in found) else 0.0
        times = accumulate((moment.time + start * moment.elapsed for moment in found), max)
        return [Moment(moment.offset, time) for moment, time in zip(found, times, strict=True)]

    @cached_property
    def _start(self) -> float:
        """When the run began, Unix seconds."""
        told = self._start_told(math.inf)
        if told < math.inf:
            return told
        if self._runfile.start is not None:
            return self._runfile.start
        self.by_file_time = True
        return self._start_told(self._modified)

    def _start_told(self, arrived: float) -> float:
        """The start that the output tells if all of it arrived at once; infinite: when it did is not known."""
        for recording in self._recordings.values():
            recording.until = _LOG_HEAD if recording.plan.is_log else len(recording.data)
        worker = self._new_worker()
        worker.read(-1, {}, arrived)
        start = worker.state.start
        return arrived if start is None else start


def _content(paths: Sequence[Path]) -> bytes | mmap:
    """What is in these files, one after the other."""
    try:
        if len(paths) == 1 and paths[0].stat().st_size:
            with paths[0].open("rb") as file:
                return mmap(file.fileno(), 0, access=ACCESS_READ)
        return b"".join(path.read_bytes() for path in paths)
    except OSError as error:
        raise ConfigError(
            f"{error.filename}: cannot be read: {error.strerror}; expected output of a benchmark"
        ) from error
