"""Replays a worker's output as a live exporter read it, but at the times in the output itself, and follows it.

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

Output that may still grow is played up to the last moment that all streams have reached, without the last second of a
transaction log, which may be incomplete. A stream without new content for some seconds does not hold up the others. If
such a stream later reports an earlier time, or a file changes other than by growing, everything is read again.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec.structs import replace

from ..metrics.buckets import Buckets
from ..metrics.latencies import Group, Latencies
from ..metrics.samples import Family, Part
from ..runs.files import FileStatus, Rewritten
from ..runs.observed_run import ObservedRun
from ..runs.observer import KEPT_LIVE, Observer
from ..settings.record import RunFile
from ..tools.api import Moment, State
from ..tools.beginning import PUNCTUAL
from .events import STEP, Event, in_order, merged, moments
from .ledger import Ledger
from .recording import Recording
from .timeline import Timeline

_LOG_HEAD = 1 << 16
_SOON = 300.0
"""Seconds after the last report within which a file's modification time dates its last text; a copy is later."""
_LATE = 5.0
"""Seconds by which a stream may be behind the others while they grow."""


class Replay:
    """One worker of a run and its ledger, played as far as its output goes.

    `families` limits the series to these families of its tool. `hold` says for each part after how many seconds an
    unchanged value is repeated, as by scrapes, until it leaves the page. With `gather`, all latencies are gathered by
    time and bin. The output of a run that is not `growing` is complete.
    """

    def __init__(
        self,
        run: ObservedRun,
        name: str,
        buckets: Buckets,
        *,
        families: Collection[Family] | None = None,
        hold: Mapping[Part, float] | None = None,
        gather: bool = False,
        growing: bool = False,
    ) -> None:
        self._run = run
        self._name = name
        self._buckets = buckets
        self._families = families
        self._hold = hold
        self._recordings = {
            plan.name: Recording(plan, run.folder, gather=gather, growing=growing) for plan in run.plans[name]
        }
        self._last_written: Mapping[str, float] = {}
        self._now = -math.inf
        self._clock = -math.inf  # the time of the last event played
        self._waiting: dict[str, list[Moment]] = {name: [] for name in self._recordings}
        self._reported: dict[str, Moment] = {}  # the last moment of each stream, in its own time
        self._last: dict[str, Moment] = {}  # the same in Unix time
        self._ledger = Ledger(families, hold)
        self._reruns = 0  # when the last page was entered
        self._has_text = False  # logs without a text belong to the last run
        self._silent = True  # whether no stream reported at the last page
        self._by_file_time = False
        self.reports = 0
        """Pages entered so far."""
        self.worker = self._new_worker()
        self._runfile = self.worker.runfile

    @property
    def size(self) -> int:
        """Bytes read so far."""
        return sum(recording.length for recording in self._recordings.values())

    @property
    def _copied(self) -> bool:
        """Whether its times say nothing: its files date it, and were written faster than the benchmark ran."""
        start, end = self.worker.start, self.worker.end
        if not self._by_file_time or start is None or self._runfile.scheduled:
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
        plans = self._run.plans[self._name]
        return self._run.new_worker(self._name, plans, lambda plan, _: self._recordings[plan.name])

    def play(self, files: Mapping[str, FileStatus], now: float, *, complete: bool) -> Iterator[int]:
        """Move the worker on from report to report; yields `reports` after each of them.

        If the output is `complete`, the last report is followed by the time up to its end or, if it has none, to `now`.
        A second between reports or after the end is a report too if it changes the worker or, with `hold`, always.
        Raises Rewritten if everything must be read again, OSError if a file cannot be read.
        """
        self._now = now
        self._last_written = {name: files[one.plan.parts[-1][0]].modified for name, one in self._recordings.items()}
        behind = dict.fromkeys(self._recordings, True)
        while any(behind.values()):
            behind = {name: behind[name] and one.grow(files) for name, one in self._recordings.items()}
            for name, recording in self._recordings.items():
                self._wait_for(name, recording, whole=complete and not behind[name])
            if self._clock == -math.inf:
                self._begin()
            if complete and not any(behind.values()):
                yield from self._to_the_end()
            else:
                yield from self._as_far_as_known(behind)

    def _wait_for(self, name: str, recording: Recording, *, whole: bool) -> None:
        """Queue the new moments of a stream, including those of an unfinished line or second if it is `whole`."""
        before = self._reported.get(name, Moment(0, -math.inf))
        plan = recording.plan
        found = moments(plan, *recording.after(before.offset, whole=whole))
        if plan.kind_of.piecewise:
            found = [one._replace(offset=one.offset + before.offset) for one in found]
        else:
            every, found = found, [one for one in found if one.offset > before.offset]
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
        recording.release()
        self._waiting[name] += dated
        self._reported[name], self._last[name] = found[-1], dated[-1]

    def _begin(self) -> None:
        for recording in self._recordings.values():
            recording.until = 0
        self.worker = self._new_worker()

    def _as_far_as_known(self, behind: Mapping[str, bool]) -> Iterator[int]:
        latest = max((last.time for last in self._last.values()), default=-math.inf)
        times = {
            name: last.time if behind[name] else max(last.time, latest - _LATE) for name, last in self._last.items()
        }
        until = min(
            (times.get(name, -math.inf if more else math.inf) for name, more in behind.items()), default=-math.inf
        )
        due = {name: [one for one in each if one.time <= until] for name, each in self._waiting.items()}
        self._waiting = {name: each[len(due[name]) :] for name, each in self._waiting.items()}
        yield from self._play_all(merged(due), complete=False)

    def _play_all(self, events: Sequence[Event], *, complete: bool) -> Iterator[int]:
        """Play events and the time before each of them; raises Rewritten if they begin before those played already."""
        if events and events[0].time < self._clock:
            raise Rewritten
        for event in events:
            if self._clock > -math.inf:
                yield from self._pass_time(self._clock, event.time)
            yield self._play(event, last=complete and event is events[-1])
            self._clock = event.time

    def _play(self, event: Event, *, last: bool) -> int:
        # Live, the recorded end was not known before the end.
        known = self._runfile if last else replace(self._runfile, exit_code=None, end=None)
        for name, offset in event.offsets.items():
            self._recordings[name].until, self._recordings[name].modified = offset, event.time
        self.worker.files_written = self._modified
        self._read(event.time, known)
        if last:
            self.worker.output.over()
            self._tick(event.time)
        return self._enter(event.time, frozenset(self._recordings[name].plan.kind for name in event.offsets))

    @property
    def _latencies(self) -> Mapping[Group, Latencies]:
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
        while not self.worker.output.caught_up:  # logs are read again for another run of the tool
            self.worker.output.read(-1, {}, time)
        self.worker.configure(known)
        self._tick(time)

    def _tick(self, time: float) -> None:
        self.worker.tick(time)
        self.worker.state.reached(time)

    def _pass_time(self, begin: float, end: float) -> Iterator[int]:
        idle = self._hold is not None
        time = begin + STEP
        while time < end - STEP / 2 and not (self.worker.ended and (not idle or time - begin >= KEPT_LIVE)):
            before = self.worker.version
            self._tick(time)
            if idle or self.worker.version != before:
                yield self._enter(time, frozenset())
            time += STEP

    def _to_the_end(self) -> Iterator[int]:
        yield from self._play_all(self._last_events(), complete=True)
        if self._clock > -math.inf:
            yield from self._pass_time(self._clock, self._now - self.worker.clock_behind)

    def _last_events(self) -> list[Event]:
        """The events of all streams that were not played yet, then output without a time, and the end."""
        waiting, lasts = self._waiting, dict(self._last)
        self._waiting = {name: [] for name in waiting}
        end = self._runfile.end
        self._by_file_time |= not lasts and end is None
        last = max((moment.time for moment in lasts.values()), default=self._modified if end is None else end)
        printed = max((lasts[name].time for name in lasts if not self._recordings[name].plan.is_log), default=last)
        for each in waiting.values():
            each[:] = [one._replace(time=max(one.time, printed)) if one.final else one for one in each]
        for name, recording in self._recordings.items():
            if name not in lasts or lasts[name].offset < recording.length:
                written = min(self._last_written[name], math.inf if end is None else end)
                rest = written if 0 <= written - last <= _SOON else last
                waiting[name].append(Moment(recording.length, rest))
        events = merged(waiting)
        if self._runfile.exit_code is not None:
            events.append(Event(max(last, end or last), {}))
        return events

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
        self._by_file_time |= undated in (None, math.inf) and self._runfile.start is None
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

    def _enter(self, time: float, kinds: Collection[str]) -> int:
        """Record the page at a moment at which streams of these kinds reported; returns `reports`."""
        worker = self.worker
        self.reports += 1
        if self._reruns != worker.output.reruns and self._hold is None:
            self._reruns = worker.output.reruns
            self._ledger = Ledger(self._families, None) if self._has_text else self._ledger
        page = worker.samples() if self._families is None else worker.state.samples(worker.current)
        self._ledger.enter(time, kinds, page)
        self._has_text |= not all(worker.tool.kinds[kind].is_log for kind in kinds)
        self._silent = not kinds
        return self.reports

    def timeline(self) -> Timeline:
        """Everything recorded so far."""
        worker = self.worker
        series = list(self._ledger.series(worker.labels))
        if worker.state.left_behind and worker.start is not None and self._hold is None:
            series = [later for one in series if len((later := one.after(worker.start)).times)]
        final = list(worker.samples())
        if self._silent:  # the counters of an abandoned run leave the page
            shown = {(sample.family, sample.labels) for sample in final}
            every = worker.state.samples(current=False)
            final += (one for one in every if one.family.kind != "gauge" and (one.family, one.labels) not in shown)
        return Timeline(
            worker.run,
            worker.name,
            worker.tool.name,
            worker.state.tool_version,
            worker.start,
            worker.end if worker.ended else None,
            worker.phase,
            worker.reason,
            worker.runfile,
            worker.parameters,
            final,
            series,
            self._by_file_time,
            self._copied,
            worker.figures,
            self._latencies,
        )
