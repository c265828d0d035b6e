"""Replays a worker's output as a live exporter read it, but at the times in the output itself.

A replay moves an observer from report to report (see tools.Moment) and enters each in a ledger; each stream is read
exactly as far as it had been written by then. Between reports, and after the last one, the clock advances in steps of a
second, so a run stalls and is abandoned at the same times as when it was live.

Output without absolute times is dated as follows:

- Seconds since the start (pgbench without --progress-timestamp, its final report) count from the start that a live
  exporter shows for these files: the first time in the transaction log or in other lines, otherwise a start from
  run.yaml and the file system (see tools.beginning).
- Text after the last report is dated by the modification time of its file if that is soon after the worker's last
  report, otherwise by that report.
- If no output of a worker has a time, all of it is dated by the recorded `end`, otherwise by the modification time.

Output that may still grow is played up to the last moment that all streams have reached, without the last second of a
transaction log, which may be incomplete. A stream without new content for some seconds does not hold up the others. If
such a stream later reports an earlier time, or a file changes other than by growing, everything is read again.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from ..metrics.latencies import Group, Latencies
from ..metrics.samples import Family, Part
from ..runs.files import FileStatus, Rewritten
from ..runs.observed_run import ObservedRun
from ..runs.observer import KEPT_LIVE
from ..runs.worker_model import of_whole_run
from ..tools.api import Moment
from ..tools.states import PUNCTUAL
from .recording import STEP, Recording
from .timeline import Ledger, Timeline

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


class Replay:
    """One worker of a run, played as far as its output goes, and its ledger.

    `families` limits the series to these families of its tool. `hold` says for each part after how many seconds an
    unchanged value is repeated, as by scrapes, until it leaves the page. With `gather`, all latencies are gathered by
    time and bin.
    """

    def __init__(
        self,
        run: ObservedRun,
        name: str,
        *,
        families: Collection[Family] | None = None,
        hold: Mapping[Part, float] | None = None,
        gather: bool = False,
    ) -> None:
        self._recordings = {plan.name: Recording(plan, run.folder, gather=gather) for plan in run.plans[name]}
        self._new_worker = partial(run.new_worker, name, list(self._recordings.values()))
        self.worker = self._new_worker()
        """The observer, which a new one replaces if everything is read again."""
        self.reports = 0
        """Pages entered so far."""
        self._families = families
        self._hold = hold
        self._ledger = Ledger(families, hold)
        self._record = self.worker.runfile
        self._record_before = replace(self._record, exit_code=None, end=None)  # live, its end was not known earlier
        self._files: Mapping[str, FileStatus] = {}
        self._clock = -math.inf  # the time of the last event played
        self._began: float | None = None  # when the run began, if its times count from there
        self._rerun_shown = 0  # the run of the tool on the last page
        self._has_text = False  # logs without a text belong to the last run
        self._silent = True  # whether no stream reported at the last page
        self._by_file_time = False

    @property
    def length(self) -> int:
        """Bytes of its output, as far as it was read."""
        return sum(one.length for one in self._recordings.values())

    def play(self, files: Mapping[str, FileStatus], now: float, *, complete: bool) -> Iterator[int]:
        """Move the worker on from report to report; yields `reports` after each of them.

        If the output is `complete`, the last report is followed by the time up to its end or, if it has none, to `now`.
        A second between reports or after the end is a report too if it changes the worker or, with `hold`, always.
        Raises Rewritten if everything must be read again, OSError if a file cannot be read.
        """
        behind = dict.fromkeys(self._recordings, True)
        while any(behind.values()):
            behind = self._read_on(files, behind)
            for name, recording in self._recordings.items():
                recording.wait(self._start_of_run, whole=complete and not behind[name])
            if self._clock == -math.inf:
                self._read_again(dict.fromkeys(self._recordings, 0))
            if complete and not any(behind.values()):
                yield from self._play_all(self._last_events(), complete=True)
                if self._clock > -math.inf:
                    yield from self._pass_time(self._clock, now - self.worker.clock_behind)
            else:
                yield from self._play_all(self._known_events(behind), complete=False)

    def has_result(self, files: Mapping[str, FileStatus], now: float) -> bool:
        """Read everything at once; returns whether it ended with a final report that says all there is.

        Then there is nothing to play: no warm-up is left out, and no stream has the latencies of single operations.
        """
        if self._record.warmup or any(one.plan.kind_of.bins for one in self._recordings.values()):
            return False
        behind = dict.fromkeys(self._recordings, True)
        while any(behind.values()):
            behind = self._read_on(files, behind)
        for recording in self._recordings.values():
            recording.modified = recording.newest
        self._read_to_end()
        self.worker.tick(self._files_written)
        self._silent = False
        return self.worker.phase == self.worker.state.outcome == "finished"

    def _read_on(self, files: Mapping[str, FileStatus], behind: Mapping[str, bool]) -> dict[str, bool]:
        """Read more of the streams that are behind; returns which of them still are."""
        self._files = files
        for recording in self._recordings.values():
            recording.newest = files[recording.plan.parts[-1][0]].modified
        return {name: behind[name] and recording.grow(files) for name, recording in self._recordings.items()}

    @property
    def _files_written(self) -> float:
        return max(one.newest for one in self._recordings.values())

    def _read_again(self, until: Mapping[str, int]) -> None:
        """Begin from the start, with each stream up to that offset."""
        for name, recording in self._recordings.items():
            recording.until = until[name]
            recording.forget()
        self.worker = self._new_worker()

    def _deliver(self, now: float) -> None:
        """Let the worker read what was written by now."""
        while due := [one for one in self._recordings.values() if one.size < one.until]:
            for one in due:  # logs are read again for another run of the tool
                self.worker.take(one, one.deliver(), min(one.modified, now), now)
        self.worker.caught_up = True

    def _known_events(self, behind: Mapping[str, bool]) -> list[_Event]:
        """The events up to the last moment that all streams have reached."""
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
        return _merged(due)

    def _last_events(self) -> list[_Event]:
        """The events that were not played yet, then output without a time, and the end."""
        recordings, end = self._recordings.values(), self._record.end
        lasts = [one.last.time for one in recordings if one.last]
        self._by_file_time |= not lasts and end is None
        last = max(lasts, default=self._files_written if end is None else end)
        printed = max((one.last.time for one in recordings if one.last and not one.plan.is_log), default=last)
        due = {}
        for name, one in self._recordings.items():
            due[name] = [each._replace(time=max(each.time, printed)) if each.final else each for each in one.waiting]
            one.waiting = []
            if one.last is None or one.last.offset < one.length:
                written = min(one.newest, math.inf if end is None else end)
                due[name].append(Moment(one.length, written if 0 <= written - last <= _SOON else last))
        events = _merged(due)
        if self._record.exit_code is not None:
            events.append(_Event(max(last, end or last), {}))
        return events

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
            self._deliver(event.time)
        except Rewritten:  # it was abandoned, then continued
            self._read_again({name: one.until for name, one in self._recordings.items()})
            self._deliver(event.time)
        self.worker.configure(self._record if last else self._record_before)
        self._move_to(event.time)
        if last:
            self.worker.over()
            self._move_to(event.time)
        return self._enter(event.time, {self._recordings[name].plan.kind for name in event.offsets})

    def _move_to(self, time: float) -> None:
        self.worker.tick(time)
        self.worker.state.tick(time, is_read=True)

    def _pass_time(self, begin: float, end: float) -> Iterator[int]:
        """Play the time between two moments at which streams reported."""
        idle = self._hold is not None
        time = begin + STEP
        while time < end - STEP / 2:
            if self.worker.ended and (not idle or time - begin >= KEPT_LIVE):
                return
            before = self.worker.version
            self._move_to(time)
            if idle or self.worker.version != before:
                yield self._enter(time, ())
            time += STEP

    def _enter(self, time: float, kinds: Collection[str]) -> int:
        """Record the page at a moment at which streams of these kinds reported; returns `reports`."""
        worker = self.worker
        self.reports += 1
        if self._rerun_shown != worker.reruns and self._hold is None:
            self._rerun_shown = worker.reruns
            if self._has_text:
                self._ledger = Ledger(self._families, None)
        page = worker.samples() if self._families is None else worker.state.samples(worker.current)
        self._ledger.enter(time, kinds, page)
        self._has_text |= not all(worker.tool.kinds[kind].is_log for kind in kinds)
        self._silent = not kinds
        return self.reports

    def _start_of_run(self) -> float:
        """When the run began, Unix seconds, as everything that was read says."""
        if self._began is not None:
            return self._began
        if self._clock > -math.inf:
            raise Rewritten
        for recording in self._recordings.values():
            recording.modified = recording.newest
        self._read_to_end()
        start = self.worker.state.start
        if start is None:
            start = self._files_written if self._record.start is None else self._record.start
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
            self._read_to_end(self.worker.state.left_behind)
        else:
            for recording in self._recordings.values():
                recording.written = math.inf
                self.worker.date(recording)
        return self.worker.state.start in (None, math.inf)

    def _read_to_end(self, without: Collection[str] = ()) -> None:
        """Read all streams except `without` at once; of recent logs, only their beginning."""
        recent = self._files_written - PUNCTUAL
        self._read_again({name: 0 if one.plan.is_log else one.length for name, one in self._recordings.items()})
        self._deliver(math.inf)
        for name, one in self._recordings.items():
            if one.plan.is_log and name not in without:
                one.bins = None
                for piece in one.read_again(_LOG_HEAD if one.newest > recent else math.inf, self._files):
                    self.worker.take(one, piece, one.modified, math.inf)
        self.worker.over()

    def timeline(self) -> Timeline:
        """Everything recorded so far."""
        worker, state = self.worker, self.worker.state
        series = list(self._ledger.series(worker.labels))
        if state.left_behind and worker.start is not None and self._hold is None:
            series = [one for each in series if len((one := each.after(worker.start)).times)]
        own = list(state.samples(worker.current))
        final = list(worker.samples_with(own))
        if self._silent:  # the counters of an abandoned run leave the page
            shown = {(sample.family, sample.labels) for sample in final}
            every = state.samples(current=False)
            final += (one for one in every if one.family.kind != "gauge" and (one.family, one.labels) not in shown)
        latencies: dict[Group, Latencies] = {}
        for name, recording in self._recordings.items():
            if recording.bins is not None and name not in state.left_behind:
                for group, found in recording.bins.found().items():
                    latencies.setdefault(group, Latencies()).extend(found)
        return Timeline(
            **of_whole_run(worker, own),
            runfile=worker.runfile,
            roles=worker.roles,
            final=final,
            series=series,
            by_file_time=self._by_file_time,
            copied=self._copied,
            latencies=latencies,
        )

    @property
    def _copied(self) -> bool:
        """Whether its times say nothing: its files date it, and were written faster than it ran."""
        start, end = self.worker.start, self.worker.end
        if not self._by_file_time or start is None or self._record.scheduled:
            return False
        texts = [one for one in self._recordings.values() if not one.plan.is_log]
        written = [one.newest - one.born for one in texts if one.born is not None]
        return bool(written) and 0 <= max(written) < (end - start) / 2


def _merged(due: Mapping[str, Sequence[Moment]]) -> list[_Event]:
    """The moments of all streams as events, one for each time; each final moment after the others."""
    events: list[_Event] = []
    for time, final, name, offset in sorted(
        (one.time, one.final, name, one.offset) for name, each in due.items() for one in each
    ):
        if not events or events[-1].time != time or name in events[-1].offsets or final:
            events.append(_Event(time, {}))
        events[-1].offsets[name] = offset
    return events
