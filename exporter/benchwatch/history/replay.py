"""Replays a worker's recorded output as a live exporter read it, but at the times in the output itself.

The clock moves from report to report (see tools.Moment), and each stream is read exactly as far as it had been written
by then. Between reports, and after the last one, the clock advances in steps of a second, so a run stalls and is
abandoned at the same times as when it was live.

Output without absolute times is dated as follows:

- Seconds since the start (pgbench without --progress-timestamp, its final report) count from the start that a live
  exporter shows for these files: the first time in the transaction log or in other lines, otherwise a start from
  run.yaml and the file system (see tools.beginning).
- Text after the last report is dated by the modification time of its file if that is soon after the worker's last
  report, otherwise by that report.
- If no output of a worker has a time, all of it is dated by the recorded `end`, otherwise by the modification time.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from mmap import mmap
from typing import NamedTuple

from msgspec.structs import replace

from ..metrics.buckets import Buckets
from ..metrics.latencies import Group, Latencies
from ..runs.files import Rewritten
from ..runs.layout import StreamPlan
from ..runs.observed_run import ObservedRun
from ..runs.observer import KEPT_LIVE, Observer
from ..settings.record import RunFile
from ..tools.api import Moment, ReadLine, State
from ..tools.beginning import PUNCTUAL
from .recording import Recording

_LOG_HEAD = 1 << 16
_STEP = 1.0
"""Seconds."""
_SOON = 300.0
"""Seconds after the last report within which a file's modification time dates its last text; a copy is later."""


class Step(NamedTuple):
    """An advance of the clock."""

    time: float
    """Unix seconds."""
    kinds: frozenset[str]
    """Kinds of the streams that reported; none if only time has passed."""


class Event(NamedTuple):
    """Output that was written at one moment."""

    time: float
    """Unix seconds."""
    offsets: dict[str, int]
    """The bytes that each of the streams with new output held by then."""


class Replay:
    """Plays one worker of a run from its first report to its end or, if it has no end, to `now`.

    With `gather`, it also gathers all latencies by time and bin.
    """

    open: type[Recording] = Recording
    """The class that reads a stream."""

    def __init__(self, run: ObservedRun, name: str, buckets: Buckets, now: float, gather: bool = False) -> None:
        self._run = run
        self._name = name
        self._buckets = buckets
        self._now = now
        self._recordings = {plan.name: self.open(plan, run.folder, gather) for plan in run.plans_of(name)}
        self._last_written = {plan.name: run.files[plan.parts[-1][0]].modified for plan in run.plans_of(name)}
        self.by_file_time = False
        """Whether the times come from the modification times of the files."""
        self.worker = self._new_worker()
        self._runfile = self.worker.runfile

    @property
    def copied(self) -> bool:
        """Whether its times say nothing: its files date it, and were written faster than the benchmark ran."""
        start, end = self.worker.start, self.worker.end
        if not self.by_file_time or start is None or self._runfile.scheduled:
            return False
        births = {name: recording.born for name, recording in self._recordings.items() if not recording.plan.is_log}
        written = [self._last_written[name] - born for name, born in births.items() if born is not None]
        return bool(written) and 0 <= max(written) < (end - start) / 2

    @property
    def _modified(self) -> float:
        return max(self._last_written.values())

    def _new_worker(self) -> Observer:
        for recording in self._recordings.values():
            recording.restart()
        plans = self._run.plans_of(self._name)
        return self._run.new_worker(self._name, plans, lambda plan, _: self._recordings[plan.name])

    def steps(self, idle: bool) -> Iterator[Step]:
        """Moves the worker from report to report; yields a step for each.

        A second between reports or after the end is a step too if it changes the worker or, with `idle`, always.
        """
        events = self._events({name: self._dated(recording) for name, recording in self._recordings.items()})
        self._begin()
        yield from self._to_the_end(events, idle)

    def _begin(self) -> None:
        for recording in self._recordings.values():
            recording.until = 0
        self.worker = self._new_worker()

    def _to_the_end(self, events: Sequence[Event], idle: bool = False) -> Iterator[Step]:
        """Play the last events; the output is complete after them."""
        for event, (following, _) in pairwise([*events, Event(math.inf, {})]):
            yield self._play(event, last=event is events[-1])
            if following == math.inf:
                following = self._now - self.worker.clock_behind
            yield from self._pass_time(event.time, following, idle)

    def _play(self, event: Event, *, last: bool) -> Step:
        # Live, the recorded end was not known before the end.
        known = self._runfile if last else replace(self._runfile, exit_code=None, end=None)
        for name, offset in event.offsets.items():
            self._recordings[name].until, self._recordings[name].modified = offset, event.time
        self.worker.files_written = self._modified
        self._read(event.time, known)
        if last:
            self.worker.output.over()
            self._tick(event.time)
        return Step(event.time, frozenset(self._recordings[name].plan.kind for name in event.offsets))

    @property
    def latencies(self) -> Mapping[Group, Latencies]:
        """All latencies played so far, by group."""
        found: dict[Group, Latencies] = {}
        for recording in self._recordings.values():
            if recording.plan.name in self.worker.state.left_behind:
                continue
            for group, latencies in recording.bins.found().items() if recording.bins else ():
                found.setdefault(group, Latencies()).extend(latencies)
        return found

    def _read(self, time: float, known: RunFile) -> None:
        try:
            self.worker.output.read(-1, {}, time)
        except Rewritten:  # it was abandoned, then continued
            self.worker = self._new_worker()
            self.worker.output.read(-1, {}, time)
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

    def _events(self, found: dict[str, list[Moment]], before: Mapping[str, Moment] | None = None) -> list[Event]:
        """The events of all streams in order, then output without a time, and the end.

        `before` are the last moments of the streams that were played already.
        """
        lasts = {**(before or {}), **{name: each[-1] for name, each in found.items() if each}}
        end = self._runfile.end
        self.by_file_time |= not lasts and end is None
        last = max((moment.time for moment in lasts.values()), default=self._modified if end is None else end)
        printed = max((lasts[name].time for name in lasts if not self._recordings[name].plan.is_log), default=last)
        for each in found.values():
            each[:] = [one._replace(time=max(one.time, printed)) if one.final else one for one in each]
        for name, recording in self._recordings.items():
            if name not in lasts or lasts[name].offset < recording.length:
                written = min(self._last_written[name], math.inf if end is None else end)
                rest = written if 0 <= written - last <= _SOON else last
                found[name].append(Moment(recording.length, rest))
        events = merged(found)
        if self._runfile.exit_code is not None:
            events.append(Event(max(last, end or last), {}))
        return events

    def _dated(self, recording: Recording) -> list[Moment]:
        """The moments of a stream in Unix time, in order."""
        plan = recording.plan
        found = moments(plan, recording.data, recording.lines())
        start = self._start if any(moment.elapsed for moment in found) else 0.0
        recording.release()
        return in_order(found, start)

    @cached_property
    def _start(self) -> float:
        """When the run began, Unix seconds."""
        for recording in self._recordings.values():
            recording.keep()
            recording.modified = self._last_written[recording.plan.name]
        state = self._state_at_end(())
        start = state.start
        if start is None:
            start = self._modified if self._runfile.start is None else self._runfile.start
        for recording in self._recordings.values():
            recording.modified = math.inf
        undated = self._state_at_end(state.left_behind).start  # infinite if it depends on files' times
        self.by_file_time |= undated in (None, math.inf) and self._runfile.start is None
        for recording in self._recordings.values():
            recording.start = start
        return start

    def _state_at_end(self, without: Collection[str]) -> State:
        """The state after everything is read except the streams `without`, and only the beginning of recent logs."""
        for name, recording in self._recordings.items():
            in_use = recording.plan.is_log and self._last_written[name] > self._modified - PUNCTUAL
            recording.until = 0 if name in without else _LOG_HEAD if in_use else recording.length
        worker = self._new_worker()
        worker.output.read(-1, {}, math.inf)
        worker.output.over()
        return worker.state


def moments(plan: StreamPlan, data: bytes | mmap, lines: Iterable[ReadLine]) -> list[Moment]:
    """The moments of a stream, see tools.Kind; `lines` are the records of its lines."""
    if plan.prefix and plan.kind_of.moments:
        return list(plan.prefix.moments(plan.tool, plan.kind, data[:]))
    return list(plan.tool.moments(plan.kind, data, lines))


def in_order(found: Sequence[Moment], start: float, least: float = -math.inf) -> list[Moment]:
    """The moments in Unix time and in order, none before `least`; `start` is when the run began, Unix seconds.

    If the clock goes back, as it may between two runs in one file, moments later than those that follow are left out,
    and the next moment dates their output. A final moment leaves out no other: it depends on the start, which may come
    from another clock, that of a file server.
    """
    times = [max(least, moment.time + start * moment.elapsed) for moment in found]
    own = [math.inf if moment.final else time for moment, time in zip(found, times, strict=True)]
    earliest = reversed([*accumulate(reversed(own), min)])  # of each moment and those that follow
    kept = [(moment, time) for moment, time, first in zip(found, times, earliest, strict=True) if time - first < _STEP]
    in_turn = accumulate((time for _, time in kept), max)
    return [moment._replace(time=time, elapsed=False) for (moment, _), time in zip(kept, in_turn, strict=True)]


def merged(found: Mapping[str, Sequence[Moment]]) -> list[Event]:
    """The moments of all streams as events, one for each time; each final moment is an event after the others."""
    events: list[Event] = []
    for time, final, name, offset in sorted(
        (moment.time, moment.final, name, moment.offset) for name, each in found.items() for moment in each
    ):
        if not events or events[-1].time != time or name in events[-1].offsets or final:
            events.append(Event(time, {}))
        events[-1].offsets[name] = offset
    return events
