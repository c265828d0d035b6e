"""One process of a run: its output, records, phase (see phase) and samples."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from ..metrics.buckets import Buckets
from ..metrics.samples import Sample
from ..settings.record import RunFile
from ..tools.api import Figures, State
from ..tools.roles import Roles, roles_of
from ..values.numbers import duration
from . import worker_families
from .birth import clock_behind
from .layout import StreamPlan
from .output import Output
from .phase import ENDED, IDLE, PHASES, StateSays, judge, silence_limit
from .stream import Stream

KEPT_LIVE = 60.0
"""Seconds for which the counters of an ended run stay on the page, so that every scrape sees their final values."""
_REASON_LENGTH = 200
_OUTDATED = "start and end in its record are ignored: its output is newer (if that was only edited, touch the record)"
_STATES = {
    phase: tuple(Sample(worker_families.RUN_STATE, (name,), int(name == phase)) for name in PHASES) for phase in PHASES
}


class Observer:
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
        self.broken = ""
        """Why a bug prevents that it is read further, a sentence; empty if none does."""
        self.missing: Sequence[str] = ()
        """Its files that are gone, a clause each."""
        self.runfile = runfile
        """What the run's records say about this worker."""
        self.output = Output(plans, folder, partial(self.tool.state, buckets, runfile.limits), open_stream)
        self.output.date(runfile.start, runfile.end)
        self.files_written: float | None = None
        """When its files were last written, if that is not when its output says, as in a replay."""
        self._kept_live = True
        self._changes = 0
        self._last_said: StateSays | None = None

    @property
    def state(self) -> State:
        """The state of the last run of the tool in this worker's output."""
        return self.output.state

    @property
    def version(self) -> tuple[int, int, int]:
        """See samples.Source."""
        return self._changes, self.output.changes, self.state.version

    @property
    def ended(self) -> bool:
        """Whether it can report no more."""
        return self.phase in ENDED

    @property
    def current(self) -> bool:
        """Whether its last report still holds: yes in a stall that the tool itself reports, no in a silent one."""
        return self.phase == "running" or (self.phase == "stalled" and self.reason == IDLE)

    @property
    def complete(self) -> bool:
        """Whether it has ended, or stalled without a word: what it has written so far is all there is."""
        return self.ended or not self.current

    @property
    def has_figures(self) -> bool:
        """Whether it has figures to show: a last report that still holds or, if it has ended, a result."""
        return bool(self.state.outcome) if self.ended else self.current

    @property
    def figures(self) -> Figures:
        """Its main figures; those of the last interval are None if they no longer hold."""
        found = self.state.figures()
        return found if self.has_figures else found._replace(throughput=None, latency=None, p99=None)

    @property
    def roles(self) -> Roles:
        """The roles of its tool's families for the current run."""
        several = self.tool.roles
        known = {sample.family.name for sample in self.state.samples(current=True)} if len(several) > 1 else ()
        return roles_of(several, known)

    @property
    def objective(self) -> float | None:
        """Latency it should stay below, seconds."""
        return self.runfile.latency_objective

    @property
    def parameters(self) -> Mapping[str, str]:
        """Settings that the tool reports, extended and overridden by the run's records."""
        found = {**self.state.parameters(), **self.runfile.parameters}
        return {name: value for name, value in found.items() if value}

    @property
    def notes(self) -> list[str]:
        """Clauses about how its output was read."""
        number, of = self.output.repetition
        notes = [*self.missing, *([f"run {number} of {of} in this file"] if of > 1 else [])]
        notes += [_OUTDATED] if self.runfile.outdated else []
        if behind := self.clock_behind:
            word = "behind" if behind > 0 else "ahead of"
            notes.append(f"its clock is {duration(10 * round(abs(behind) / 10))} {word} the clock of its files")
        return notes + list(dict.fromkeys(plan.prefix.note for plan in self.output.plans if plan.prefix))

    @property
    def clock_behind(self) -> float:
        """Seconds by which its clock is behind that of its files, see `birth.clock_behind`."""
        born = min((one.born for one in self.output.streams if one.born is not None), default=None)
        begun, reported = self._said.start, self._said.last_report
        if born is None or begun is None or reported is None or self.output.reruns:
            return 0.0
        if self.runfile.end is not None:  # its record may be that of other output
            return 0.0
        return clock_behind(born, self.files_written or self.output.written, begun, reported)

    @property
    def quiet(self) -> float:
        """Seconds since new output was last read, or since its start if that is earlier."""
        output, start = self.output, self.start
        began = output.heard if start is None else min(output.heard, start)
        return 0.0 if output.now is None else output.now - began

    @property
    def planned(self) -> float | None:
        """Planned duration, seconds; None if unknown."""
        roles, shown = self.roles, list(self.state.samples(current=True))
        reported = next((one.value for one in shown if one.family is roles.duration), None)
        alone = sum(one.family is roles.jobs for one in shown) <= 1
        return reported if isinstance(reported, int | float) else self.tool.planned(self.parameters, alone=alone)

    def miss(self, missing: Sequence[str]) -> None:
        """Note its files that are gone, a clause each."""
        self._changes += missing != self.missing
        self.missing = missing

    def configure(self, runfile: RunFile) -> None:
        """Apply changed records."""
        if runfile != self.runfile:
            self.runfile = runfile
            self._changes += 1
            self.output.date(runfile.start, runfile.end)

    def tick(self, now: float) -> None:
        """Advance the clock: close windows, mark a silent run stalled, then abandoned."""
        output = self.output
        if not output.caught_up:
            return
        output.tick(now)
        silent = now - (output.heard if output.reported is None else output.reported)
        said = self._said
        if output.cut_off is None and silent >= silence_limit(said, self.runfile):
            output.close()  # whatever its phase: a record may come and go, and what was counted stays counted
            said = self._said
        phase, reason = judge(said, self.runfile, silent, cut_off=bool(output.cut_off))
        kept = phase not in ENDED or now - output.heard < KEPT_LIVE
        if (phase, reason, kept) != (self.phase, self.reason, self._kept_live):
            self.phase, self.reason, self._kept_live = phase, reason, kept
            self._changes += 1

    @property
    def start(self) -> float | None:
        """When the benchmark began, Unix seconds; a recorded start is that of the first run in the output."""
        reported, recorded = self._said.start, self.runfile.start
        if recorded is None or (self.output.reruns and reported is not None):
            return reported
        return recorded

    @property
    def end(self) -> float:
        """When it ended; if unknown, when it last reported or was written. Unix seconds."""
        return self.state.end or self.runfile.end or self.state.last_report or self.output.written

    @property
    def _said(self) -> StateSays:
        """What its state says. Cached until the state changes, because each poll and scrape needs it."""
        state, said = self.state, self._last_said
        version = self.output.reruns, state.version
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

    def samples(self) -> Iterator[Sample]:
        """See samples.Source."""
        state, said, tool, streams = self.state, self._said, self.tool.name, self.output.streams
        yield from _STATES[self.phase] if self._kept_live else (Sample(worker_families.RUN_STATE, (self.phase,), 1),)
        if self.reason:
            yield Sample(worker_families.RUN_REASON, (self.reason[:_REASON_LENGTH],), 1)
        info = (tool, state.tool_version)
        yield Sample(worker_families.RUN_INFO, info, 1, tuple(sorted(self.runfile.labels.items())))
        for parameter in self.parameters.items():
            yield Sample(worker_families.RUN_PARAMETER, parameter, 1)
        for note in self.notes:
            yield Sample(worker_families.RUN_NOTE, (note,), 1)
        if (repetitions := self.output.repetition[1]) > 1:
            yield Sample(worker_families.RUN_REPETITIONS, (), repetitions)
        yield from self._places()
        for family, moment in (
            (worker_families.RUN_START, self.start),
            (worker_families.RUN_END, self.end if self.ended else None),
            (worker_families.RUN_LAST_REPORT, said.last_report if self._kept_live else None),
            (worker_families.RUN_INTERVAL, said.report_interval),
            (worker_families.RUN_OBJECTIVE, self.objective),
            (worker_families.RUN_WARMUP, self.runfile.warmup or None),
        ):
            if moment is not None:
                yield Sample(family, (), moment)
        yield Sample(worker_families.STREAM_BYTES, (tool,), self.output.size)
        yield Sample(worker_families.STREAM_RECORDS, (tool,), sum(stream.parser.records for stream in streams))
        for reason in dict.fromkeys(reason for stream in streams for reason in stream.errors):
            yield Sample(
                worker_families.STREAM_ERRORS, (tool, reason), sum(stream.errors[reason] for stream in streams)
            )
        shown = state.samples(self.current)
        yield from shown if self._kept_live else (sample for sample in shown if sample.family.part == "runs")

    def _places(self) -> Iterator[Sample]:
        """Where the run is; unknown places are left out."""
        record = self.runfile
        client = record.peer if self.tool.has_server else record.client
        if client:
            yield Sample(worker_families.RUN_HOST, (client, "client"), 1)
        if record.server:
            yield Sample(worker_families.RUN_HOST, (record.server, "server"), 1)
        if record.virtual_machine:
            yield Sample(worker_families.RUN_VM, (record.server, record.virtual_machine), 1)
        for device, role in record.roles.items():
            yield Sample(worker_families.RUN_DISK, (record.server, device, role), 1)
