"""One process of a run: its streams, its phase (see phase), its samples."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..metrics.buckets import Buckets
from ..metrics.samples import Sample
from ..settings.record import RunFile
from ..tools.api import Begin, Figures, Misread, State, Written
from ..tools.roles import Roles, roles_of
from ..values.printable import printable
from .families import (
    RUN_DISK,
    RUN_END,
    RUN_HOST,
    RUN_INFO,
    RUN_INTERVAL,
    RUN_LAST_REPORT,
    RUN_NOTE,
    RUN_OBJECTIVE,
    RUN_PARAMETER,
    RUN_REASON,
    RUN_REPETITIONS,
    RUN_START,
    RUN_STATE,
    RUN_VM,
    RUN_WARMUP,
    STREAM_BYTES,
    STREAM_ERRORS,
    STREAM_RECORDS,
)
from .files import FileStatus, Rewritten
from .layout import StreamPlan
from .phase import ENDED, IDLE, PHASES, StateSays, judge
from .stream import Stream

KEPT_LIVE = 60.0
"""How long the counters of an ended run stay on the page, seconds: long enough for every scrape to see their end."""
_SETTLED_AFTER = 1.0
"""Seconds of silence after which a last line that lacks only its newline counts."""
_REASON_LENGTH = 200
_OUTDATED = "start and end in its record left out: they are of an earlier run"
_STATES = {phase: tuple(Sample(RUN_STATE, (name,), int(name == phase)) for name in PHASES) for phase in PHASES}


class Fault(NamedTuple):
    """Something wrong with a worker's output: a constant reason, and a sentence for the log."""

    reason: str
    text: str


class Worker:
    """One worker of a run, as a source of samples (see samples.Source)."""

    def __init__(
        self,
        run: str,
        name: str,
        plans: Sequence[StreamPlan],
        folder: Path,
        buckets: Buckets,
        runfile: RunFile,
        open_stream: Callable[[StreamPlan, Path], Stream] = Stream,
    ) -> None:
        self.run = run
        self.name = name
        self.tool = plans[0].tool
        self.labels = (("run", run), ("worker", name))
        self.phase = "running"
        self.reason = ""
        self.caught_up = False
        """Whether the existing output has been read once; before that, growing counters would look like a burst."""
        self.faults: dict[str, Fault] = {}
        """The first fault of each reason."""
        self._folder = folder
        self._streams = [open_stream(plan, folder) for plan in plans]
        self._runfile = runfile
        self._buckets = buckets
        self._states: dict[int, State] = {0: self.tool.state(buckets, runfile.limits)}
        self._last = 0  # of these
        # Since when there was neither report nor byte, on the clock as it is set now; internal.
        self._silent: float | None = None
        self._idle = 0.0
        self._ticked: float | None = None
        self._written = 0.0
        self._closed = False
        self._cut_off = False
        self._kept_live = True
        self._changes = 0
        self._last_said: StateSays | None = None

    @property
    def state(self) -> State:
        """The state of the current (last) run of the tool in this worker's output."""
        return self._states[self._last]

    @property
    def version(self) -> tuple[int, int, int]:
        """See samples.Source."""
        return self._changes, self._last, self.state.version

    @property
    def plans(self) -> list[StreamPlan]:
        """The plan that it was made from."""
        return [stream.plan for stream in self._streams]

    @property
    def ended(self) -> bool:
        """Whether it can report no more."""
        return self.phase in ENDED

    @property
    def current(self) -> bool:
        """Whether its last report is still true: in a stall that the tool itself reports, but not in a silent one."""
        return self.phase == "running" or (self.phase == "stalled" and self.reason == IDLE)

    @property
    def tells(self) -> bool:
        """Whether it has figures to show: a last report that is still true or, once it has ended, a result."""
        return bool(self.state.outcome) if self.ended else self.current

    @property
    def figures(self) -> Figures:
        """Its main figures, as far as it has some to show."""
        found = self.state.figures()
        return found if self.tells else found._replace(throughput=None, latency=None, p99=None)

    @property
    def roles(self) -> Roles:
        """The roles of its tool's families for the current run."""
        several = self.tool.roles
        known = {sample.family.name for sample in self.state.samples(current=True)} if len(several) > 1 else ()
        return roles_of(several, known)

    @property
    def runfile(self) -> RunFile:
        """What the run's records say about it."""
        return self._runfile

    @property
    def objective(self) -> float | None:
        """Latency it should stay below, seconds."""
        return self._runfile.latency_objective

    @property
    def parameters(self) -> Mapping[str, str]:
        """Settings that the tool reports; the run's records extend and override them."""
        found = {**self.state.parameters(), **self._runfile.parameters}
        return {name: value for name, value in found.items() if value}

    @property
    def repetition(self) -> tuple[int, int]:
        """Which run of the tool in its output is shown, from 1, and how many there are."""
        cuts = [stream.plan.cut for stream in self._streams if stream.plan.cut]
        last = self._last + 1
        return max(((cut.number, cut.of) for cut in cuts), default=(last, last))

    @property
    def notes(self) -> list[str]:
        """Remarks on how its output was read, one clause each."""
        number, of = self.repetition
        notes = [f"run {number} of {of} in this file"] if of > 1 else []
        notes += [_OUTDATED] if self._runfile.outdated else []
        return notes + list(dict.fromkeys(s.plan.prefix.note for s in self._streams if s.plan.prefix))

    @property
    def unreadable(self) -> list[str]:
        """Files that cannot be read at the moment, and why: a clause each."""
        return [f"{stream.plan.name} cannot be read: {why}" for stream in self._streams if (why := stream.unreadable)]

    @property
    def quiet(self) -> float:
        """Seconds since something was last read of it, or since its start if that is earlier."""
        began = self._idle if self.start is None else min(self._idle, self.start)
        return 0.0 if self._ticked is None else self._ticked - began

    @property
    def planned(self) -> float | None:
        """How long it is to run, seconds; None if that is not known."""
        roles, shown = self.roles, list(self.state.samples(current=True))
        told = next((one.value for one in shown if one.family is roles.duration), None)
        alone = sum(one.family is roles.jobs for one in shown) <= 1
        return told if isinstance(told, int | float) else self.tool.planned(self.parameters, alone=alone)

    def configure(self, runfile: RunFile) -> None:
        """Apply changed records."""
        if runfile != self._runfile:
            self._runfile = runfile
            self._changes += 1
            for stream in self._streams:
                self._date(stream)

    def follow(self, plans: Sequence[StreamPlan]) -> bool:
        """Continue under a new plan; false if that is impossible and everything must be read again."""
        known = {stream.plan.name: stream for stream in self._streams}
        if plans[0].tool is not self.tool or not known.keys() <= {plan.name for plan in plans}:
            return False
        if not all(known[plan.name].follow(plan, self._folder) for plan in plans if plan.name in known):
            return False
        self._streams = [known.get(plan.name) or Stream(plan, self._folder) for plan in plans]
        return True

    def read(self, limit: int, files: Mapping[str, FileStatus], now: float) -> int:
        """Read up to `limit` new bytes of each stream, whose files are as listed; the number of bytes.

        Raises Rewritten when the worker has to be read again from the start.
        """
        taken, more = 0, False
        for stream in self._streams:
            try:
                data, modified = stream.read(limit, files)
            except FileNotFoundError:  # removed since the folder was listed: the next look drops it
                continue
            except OSError as error:
                if not stream.unreadable:
                    self._misread(stream, "unreadable", f"{stream.plan.name}: cannot be read: {error.strerror}")
                stream.unreadable = str(error.strerror)
                continue
            stream.unreadable = ""
            taken += stream.compared
            if data and (self._closed or (stream.settled and data[:1] not in b"\r\n")):
                raise Rewritten  # its parsers were told of an end, or of the end of a line that continues
            if data:
                self._take(stream, data, min(modified, now), now)
                taken += len(data)
                more |= len(data) == limit or stream.in_older_part
            elif (written := stream.written_since(files)) is not None:
                stream.written = min(written, now)
                self._written = max(stream.written, self._written)
                self._date(stream)
        self.caught_up |= not more
        return taken

    def _take(self, stream: Stream, data: bytes, arrived: float, now: float) -> None:
        stream.settled = False
        stream.written = arrived
        before = stream.parser.records
        self._apply(stream, stream.parser.feed(data), arrived)
        # What is new since the last look is not older than that, whatever the file's time says.
        came = arrived if self._ticked is None else max(arrived, min(self._ticked, now))
        if stream.parser.records != before:
            self._silent = max(came, self._silent or 0.0)
        self._idle = max(came, self._idle)
        self._written = max(arrived, self._written)
        self._date(stream)
        self._changes += 1

    def _date(self, stream: Stream) -> None:
        """Tell the state when the text just read from a stream was written."""
        if stream.written is None or stream.plan.is_log or stream.run not in self._states:
            return
        record = self._runfile
        last = stream.written if record.end is None else min(stream.written, record.end)
        begun, recorded = stream.begun(record.start)
        times = Written(last, begun, recorded, stream.parser.undated)
        self._states[stream.run].written(stream.plan.name, times)

    def settle(self) -> None:
        """The output is complete: judge it as finished, even if the last line lacks its newline."""
        self._settle()
        self.state.over()

    def _settle(self) -> None:
        """Count last lines that lack only their newline; if one continues after all, everything is read again."""
        for stream in self._streams:
            if not stream.settled and (records := stream.parser.settle()):
                stream.settled = True
                self._apply(stream, records, self._written)
                self._date(stream)
                self._changes += 1

    def _apply(self, stream: Stream, records: Sequence[Any], arrived: float) -> None:
        for record in records:
            if isinstance(record, Misread):
                self._misread(
                    stream,
                    record.reason,
                    f"{stream.plan.name}, {record.where}: {record.reason.replace('_', ' ')}: {record.text}",
                )
            elif isinstance(record, Begin):
                stream.run += 1
                self._begin(stream.run)
            else:
                run = self._last if stream.plan.is_log else stream.run
                if run in self._states:
                    self._states[run].apply(record, stream.plan.name, arrived)

    def _begin(self, run: int) -> None:
        """Another run of the tool in the same output: logs belong to the last one, so they are read for it again."""
        if run <= self._last:
            return
        self._last = run
        self._states[run] = self.tool.state(self._buckets, self._runfile.limits)
        for old in sorted(self._states)[:-2]:
            del self._states[old]
        for stream in self._streams:
            if stream.plan.is_log:
                stream.restart()

    def _misread(self, stream: Stream, reason: str, text: str) -> None:
        stream.errors[reason] += 1
        if reason not in self.faults:
            self.faults[reason] = Fault(reason, printable(text))
        self._changes += 1

    def tick(self, now: float) -> None:
        """Let time pass: close windows, mark a silent run stalled, then abandoned."""
        if not self.caught_up:
            return
        if self._ticked is not None and now < self._ticked:
            self.clock_was_set(now - self._ticked)
        self._ticked = now
        if now - self._idle >= _SETTLED_AFTER:
            self._settle()
        self.state.tick(now)
        phase, reason = self._judge(now)
        if phase == "abandoned" and not self._closed:
            self._close()
            phase, reason = self._judge(now)
        kept = phase not in ENDED or now - self._idle < KEPT_LIVE
        if (phase, reason, kept) != (self.phase, self.reason, self._kept_live):
            self.phase, self.reason, self._kept_live = phase, reason, kept
            self._changes += 1

    def clock_was_set(self, by: float) -> None:
        """The clock was set forward by so many seconds (back, if negative): a silence does not get longer by that."""
        self._silent = None if self._silent is None else self._silent + by
        self._idle += by
        self._ticked = None if self._ticked is None else self._ticked + by

    @property
    def start(self) -> float | None:
        """When the benchmark began, Unix seconds."""
        return self._said.start if self._runfile.start is None else self._runfile.start

    @property
    def size(self) -> int:
        """Bytes read so far."""
        return sum(stream.size for stream in self._streams)

    @property
    def end(self) -> float:
        """When it ended or, failing that, last reported or was written to; Unix seconds."""
        return self.state.end or self._runfile.end or self.state.last_report or self._written

    @property
    def _said(self) -> StateSays:
        """What its state says, asked only when that may have changed: this is needed at every look and scrape."""
        state, said = self.state, self._last_said
        version = self._last, state.version
        if said is None or said.version != version:
            said = self._last_said = StateSays(
                version,
                state.outcome,
                state.reason,
                state.start,
                state.last_report,
                state.report_interval,
                state.idle_reports,
            )
        return said

    def _judge(self, now: float) -> tuple[str, str]:
        silent = now - (self._idle if self._silent is None else self._silent)
        return judge(self._said, self._runfile, silent, cut_off=self._cut_off)

    def _close(self) -> None:
        self._closed = True
        for stream in self._streams:
            records = stream.parser.close()
            self._cut_off |= any(isinstance(record, Misread) and "truncated" in record.reason for record in records)
            self._apply(stream, records, self._written)

    def samples(self) -> Iterator[Sample]:
        """See samples.Source."""
        state, said, tool = self.state, self._said, self.tool.name
        yield from _STATES[self.phase] if self._kept_live else (Sample(RUN_STATE, (self.phase,), 1),)
        if self.reason:
            yield Sample(RUN_REASON, (self.reason[:_REASON_LENGTH],), 1)
        info = (tool, state.tool_version)
        yield Sample(RUN_INFO, info, 1, tuple(sorted(self._runfile.labels.items())))
        for parameter in self.parameters.items():
            yield Sample(RUN_PARAMETER, parameter, 1)
        for note in self.notes:
            yield Sample(RUN_NOTE, (note,), 1)
        if (repetitions := self.repetition[1]) > 1:
            yield Sample(RUN_REPETITIONS, (), repetitions)
        yield from self._places()
        for family, moment in (
            (RUN_START, self.start),
            (RUN_END, self.end if self.ended else None),
            (RUN_LAST_REPORT, said.last_report if self._kept_live else None),
            (RUN_INTERVAL, said.report_interval),
            (RUN_OBJECTIVE, self.objective),
            (RUN_WARMUP, self._runfile.warmup or None),
        ):
            if moment is not None:
                yield Sample(family, (), moment)
        yield Sample(STREAM_BYTES, (tool,), self.size)
        yield Sample(STREAM_RECORDS, (tool,), sum(stream.parser.records for stream in self._streams))
        for reason in dict.fromkeys(reason for stream in self._streams for reason in stream.errors):
            yield Sample(STREAM_ERRORS, (tool, reason), sum(stream.errors[reason] for stream in self._streams))
        shown = state.samples(self.current)
        yield from shown if self._kept_live else (sample for sample in shown if sample.family.part == "runs")

    def _places(self) -> Iterator[Sample]:
        """Where the run is, as far as that is known."""
        record = self._runfile
        client = record.peer if self.tool.has_server else record.client
        if client:
            yield Sample(RUN_HOST, (client, "client"), 1)
        if record.server:
            yield Sample(RUN_HOST, (record.server, "server"), 1)
        if record.virtual_machine:
            yield Sample(RUN_VM, (record.server, record.virtual_machine), 1)
        for device, role in record.roles.items():
            yield Sample(RUN_DISK, (record.server, device, role), 1)
