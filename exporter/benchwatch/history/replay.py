"""Replays a worker's output as a live exporter read it, but at the times in the output itself.

A replay is an observer whose clock moves from report to report (see tools.Moment); each stream is
read exactly as far as it had been written by then. Between reports, and after the last one, the
clock advances in steps of a second, so a run stalls and is abandoned at the same times as when it
was live.

Output without absolute times is dated as follows:

- Seconds since the start (pgbench without --progress-timestamp, its final report) count from the
  start that a live exporter shows for these files: the first time in the transaction log or in
  other lines, otherwise a start from run.yaml and the file system (see tools.beginning).
- Text after the last report is dated by the modification time of its file if that is soon after
  the worker's last report, otherwise by that report.
- If no output of a worker has a time, all of it is dated by the recorded `end`, otherwise by the
  modification time.

Output that may still grow is played up to the last moment that all streams have reached, without
the last second of a transaction log, which may be incomplete. A stream without new content for some
seconds does not hold up the others. If such a stream later reports an earlier time, or a file
changes other than by growing, everything is read again.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from ..metrics.latencies import Group, Latencies
from ..metrics.samples import Family, Part
from ..runs.files import FileStatus, Rewritten
from ..runs.layout import StreamPlan
from ..runs.observer import KEPT_LIVE, Observer
from ..runs.stream import Stream
from ..runs.worker_model import of_whole_run
from ..tools.api import Moment
from ..tools.beginning import PUNCTUAL
from ..tools.states import State
from .ledger import Ledger
from .recording import STEP, Recording
from .timeline import Timeline

_LOG_HEAD = 1 << 16
_SOON = 300.0
"""Seconds after the last report within which a file's time dates its last text; a copy is later."""
_LATE = 5.0
"""Seconds by which a stream may be behind the others while they grow."""


class _Event(NamedTuple):
    """Output that was written at one moment."""

    time: float
    """Unix seconds."""
    offsets: dict[str, int]
    """The bytes that each of the streams with new output held by then."""


class Replay(Observer):
    """One worker of a run and its ledger, played as far as its output goes.

    `of_worker` are the arguments of Observer. `families` limits the series to these families of its
    tool. `hold` says for each part after how many seconds an unchanged value is repeated, as by
    scrapes, until it leaves the page. With `gather`, all latencies are gathered by time and bin.
    The output of a run that is not `growing` is complete.
    """

    def __init__(
        self,
        *of_worker: Any,
        families: Collection[Family] | None = None,
        hold: Mapping[Part, float] | None = None,
        gather: bool = False,
        growing: bool = False,
    ) -> None:
        self._families = families
        self._hold = hold
        self._how = {"gather": gather, "growing": growing}
        self._recordings: dict[str, Recording] = {}
        super().__init__(*of_worker)
        self.reports = 0
        """Pages entered so far."""
        self._record = self.runfile
        self._record_before = replace(self.runfile, exit_code=None, end=None)  # live, its end was not known earlier
        self._ledger = Ledger(families, hold)
        self._present = -math.inf
        self._clock = -math.inf  # the time of the last event played
        self._began: float | None = None  # when the run began, if its times count from there
        self._rerun_shown = 0  # the run of the tool on the last page
        self._has_text = False  # logs without a text belong to the last run
        self._silent = True  # whether no stream reported at the last page
        self._by_file_time = False

    def _open(self, plan: StreamPlan) -> Recording:
        recording = self._recordings[plan.name] = Recording(plan, self._folder, **self._how)
        return recording

    def _apply(self, stream: Stream, records: Sequence[Any], arrived: float) -> None:
        self._recordings[stream.plan.name].gather(records)
        super()._apply(stream, records, arrived)

    @property
    def length(self) -> int:
        """Bytes of its output, as far as it was read."""
        return sum(one.length for one in self._recordings.values())

    @property
    def files_written(self) -> float:
        """See Observer: not when its output says."""
        return max(one.file_time for one in self._recordings.values())

    @property
    def _copied(self) -> bool:
        """Whether its times say nothing: its files date it, and were written faster than it ran."""
        start, end = self.start, self.end
        if not self._by_file_time or start is None or self._record.scheduled:
            return False
        texts = [one for one in self._recordings.values() if not one.plan.is_log]
        written = [one.file_time - one.born for one in texts if one.born is not None]
        return bool(written) and 0 <= max(written) < (end - start) / 2

    def play(self, files: Mapping[str, FileStatus], now: float, *, complete: bool) -> Iterator[int]:
        """Move the worker on from report to report; yields `reports` after each of them.

        If the output is `complete`, the last report is followed by the time up to its end or, if it
        has none, to `now`. A second between reports or after the end is a report too if it changes
        the worker or, with `hold`, always. Raises Rewritten if everything must be read again,
        OSError if a file cannot be read.
        """
        self._find_times(files, now)
        behind = dict.fromkeys(self._recordings, True)
        while any(behind.values()):
            for name, recording in self._recordings.items():
                behind[name] = behind[name] and recording.grow(files)
            for name, recording in self._recordings.items():
                recording.wait(self._start_of_run, whole=complete and not behind[name])
            if self._clock == -math.inf:
                self._read_again(dict.fromkeys(self._recordings, 0))
            if complete and not any(behind.values()):
                yield from self._to_the_end()
            else:
                yield from self._as_far_as_known(behind)

    def has_result(self, files: Mapping[str, FileStatus], now: float) -> bool:
        """Read everything at once; returns whether it ended with a final report that says all there is.

        Then there is nothing to play: no warm-up is left out, and no stream has the latencies of single operations.
        """
        if self._record.warmup or any(one.plan.kind_of.bins for one in self._recordings.values()):
            return False
        self._find_times(files, now)
        self._state_at_end(())
        self.tick(self.files_written)
        self._silent = False
        return self.phase == "finished" and self.state.outcome == "finished"

    def _find_times(self, files: Mapping[str, FileStatus], now: float) -> None:
        self._present = now
        for recording in self._recordings.values():
            recording.file_time = recording.modified = files[recording.plan.parts[-1][0]].modified

    def _read_again(self, until: Mapping[str, int]) -> None:
        """Begin from the start, with each stream up to that offset."""
        for name, recording in self._recordings.items():
            recording.until = until[name]
            recording.restart()
        self.runfile = self._record
        self._begin_reading()

    def _as_far_as_known(self, behind: Mapping[str, bool]) -> Iterator[int]:
        lasts = {name: one.last.time for name, one in self._recordings.items() if one.last}
        latest = max(lasts.values(), default=-math.inf)
        until = math.inf
        for name, more in behind.items():
            if more:
                until = min(until, lasts.get(name, -math.inf))
            elif name in lasts:
                until = min(until, max(lasts[name], latest - _LATE))
        due = {}
        for name, recording in self._recordings.items():
            due[name] = [one for one in recording.waiting if one.time <= until]
            del recording.waiting[: len(due[name])]
        yield from self._play_all(_merged(due), complete=False)

    def _play_all(self, events: Sequence[_Event], *, complete: bool) -> Iterator[int]:
        """Play events and the time before each; raises Rewritten if they begin before those played."""
        if events and events[0].time < self._clock:
            raise Rewritten
        for event in events:
            if self._clock > -math.inf:
                yield from self._pass_time(self._clock, event.time)
            yield self._play(event, last=complete and event is events[-1])
            self._clock = event.time

    def _play(self, event: _Event, *, last: bool) -> int:
        for name, offset in event.offsets.items():
            self._recordings[name].until, self._recordings[name].modified = offset, event.time
        try:
            self.read(-1, {}, event.time)
        except Rewritten:  # it was abandoned, then continued
            self._read_again({name: one.until for name, one in self._recordings.items()})
            self.read(-1, {}, event.time)
        while not self.caught_up:  # logs are read again for another run of the tool
            self.read(-1, {}, event.time)
        self.configure(self._record if last else self._record_before)
        self._move_to(event.time)
        if last:
            self.over()
            self._move_to(event.time)
        kinds = frozenset(self._recordings[name].plan.kind for name in event.offsets)
        return self._enter(event.time, kinds)

    def _move_to(self, time: float) -> None:
        self.tick(time)
        self.state.tick(time, is_read=True)

    def _pass_time(self, begin: float, end: float) -> Iterator[int]:
        idle = self._hold is not None
        time = begin + STEP
        while time < end - STEP / 2:
            if self.ended and (not idle or time - begin >= KEPT_LIVE):
                return
            before = self.version
            self._move_to(time)
            if idle or self.version != before:
                yield self._enter(time, frozenset())
            time += STEP

    def _to_the_end(self) -> Iterator[int]:
        yield from self._play_all(self._last_events(), complete=True)
        if self._clock > -math.inf:
            yield from self._pass_time(self._clock, self._present - self.clock_behind)

    def _last_events(self) -> list[_Event]:
        """The events that were not played yet, then output without a time, and the end."""
        recordings, end = self._recordings.values(), self._record.end
        lasts = [one.last.time for one in recordings if one.last]
        self._by_file_time |= not lasts and end is None
        last = max(lasts, default=self.files_written if end is None else end)
        texts = [one.last.time for one in recordings if one.last and not one.plan.is_log]
        printed = max(texts, default=last)
        waiting: dict[str, list[Moment]] = {}
        for name, one in self._recordings.items():
            each = waiting[name] = [
                moment._replace(time=max(moment.time, printed)) if moment.final else moment for moment in one.waiting
            ]
            one.waiting = []
            if one.last is None or one.last.offset < one.length:
                written = min(one.file_time, math.inf if end is None else end)
                rest = written if 0 <= written - last <= _SOON else last
                each.append(Moment(one.length, rest))
        events = _merged(waiting)
        if self._record.exit_code is not None:
            events.append(_Event(max(last, end or last), {}))
        return events

    def _start_of_run(self) -> float:
        """When the run began, Unix seconds, as everything that was read says."""
        if self._began is not None:
            return self._began
        if self._clock > -math.inf:
            raise Rewritten
        for recording in self._recordings.values():
            recording.keep()
            recording.modified = recording.file_time
        start = self._state_at_end(()).start
        if start is None:
            start = self.files_written if self._record.start is None else self._record.start
        if self._record.start is None:
            self._by_file_time |= self._depends_on_files()
        for recording in self._recordings.values():
            recording.start = start
        self._began = start
        return start

    def _depends_on_files(self) -> bool:
        """Whether the start that was found depends on when files were written: at infinity, it follows."""
        for recording in self._recordings.values():
            recording.modified = math.inf
        if any(one.plan.is_log for one in self._recordings.values()):
            return self._state_at_end(self.state.left_behind).start in (None, math.inf)
        for recording in self._recordings.values():
            recording.written = math.inf
            self._date(recording)
        return self.state.start in (None, math.inf)

    def _state_at_end(self, without: Collection[str]) -> State:
        """The state after all streams except `without`; of recent logs, only after their beginning."""
        recent = self.files_written - PUNCTUAL
        until = {}
        for name, one in self._recordings.items():
            in_use = one.plan.is_log and one.file_time > recent
            until[name] = 0 if name in without else _LOG_HEAD if in_use else one.length
        self._read_again(until)
        self.read(-1, {}, math.inf)
        self.over()
        return self.state

    def _enter(self, time: float, kinds: Collection[str]) -> int:
        """Record the page at a moment at which streams of these kinds reported; returns `reports`."""
        self.reports += 1
        if self._rerun_shown != self.reruns and self._hold is None:
            self._rerun_shown = self.reruns
            if self._has_text:
                self._ledger = Ledger(self._families, None)
        limited = self._families is not None
        page = self.state.samples(self.current) if limited else self.samples()
        self._ledger.enter(time, kinds, page)
        self._has_text |= not all(self.tool.kinds[kind].is_log for kind in kinds)
        self._silent = not kinds
        return self.reports

    def timeline(self) -> Timeline:
        """Everything recorded so far."""
        series = list(self._ledger.series(self.labels))
        if self.state.left_behind and self.start is not None and self._hold is None:
            series = [one for each in series if len((one := each.after(self.start)).times)]
        own = list(self.state.samples(self.current))
        final = list(self.samples_with(own))
        if self._silent:  # the counters of an abandoned run leave the page
            shown = {(sample.family, sample.labels) for sample in final}
            every = self.state.samples(current=False)
            final += (one for one in every if one.family.kind != "gauge" and (one.family, one.labels) not in shown)
        return Timeline(
            **of_whole_run(self, own),
            runfile=self.runfile,
            roles=self.roles,
            final=final,
            series=series,
            by_file_time=self._by_file_time,
            copied=self._copied,
            latencies=self._latencies(),
        )

    def _latencies(self) -> Mapping[Group, Latencies]:
        """All latencies played so far, by group."""
        found: dict[Group, Latencies] = {}
        for name, recording in self._recordings.items():
            if recording.bins is None or name in self.state.left_behind:
                continue
            for group, latencies in recording.bins.found().items():
                found.setdefault(group, Latencies()).extend(latencies)
        return found


def _merged(found: Mapping[str, Sequence[Moment]]) -> list[_Event]:
    """The moments of all streams as events, one for each time; each final moment after the others."""
    events: list[_Event] = []
    for time, final, name, offset in sorted(
        (one.time, one.final, name, one.offset) for name, each in found.items() for one in each
    ):
        if not events or events[-1].time != time or name in events[-1].offsets or final:
            events.append(_Event(time, {}))
        events[-1].offsets[name] = offset
    return events
