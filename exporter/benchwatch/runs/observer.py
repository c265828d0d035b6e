"""One worker of a run as it is now: its phase, what is known of it, its samples.

The clock is handed in: `tick` says what time it is, `read` reads what has been written by then. A live exporter passes
its own clock; `history.replay` passes the times in the output. All times are Unix seconds.
"""

from collections.abc import Iterator, Mapping, Sequence

from ..metrics.buckets import Buckets
from ..metrics.samples import Sample
from ..settings.record import RunFile
from ..tools.roles import Roles, roles_of
from ..tools.states import Figures, State
from ..values.numbers import duration
from . import worker_families as families
from .phase import ENDED, IDLE, judge, patience
from .reader import Reader
from .stream import Stream

_REASON_LENGTH = 200
KEPT_LIVE = 60.0
"""Seconds for which the counters of an ended run stay on the page, so that every scrape sees them."""
_SETTLED_AFTER = 1.0
"""Seconds of silence after which a last line that lacks only its newline counts."""
_CLOCKS_DIFFER = 10.0
"""Seconds from which on a difference of clocks is one."""
_OUTDATED = "start and end in its record are ignored: its output is newer (if that was only edited, touch the record)"


class Observer(Reader):
    """One worker of a run, as a source of samples (see samples.Source)."""

    def __init__(self, run: str, name: str, streams: Sequence[Stream], buckets: Buckets, runfile: RunFile) -> None:
        super().__init__(streams, buckets, runfile)
        self.run = run
        self.name = name
        self.labels = (("run", run), ("worker", name))
        self.broken = ""
        """Why a bug prevents that it is read further, a sentence; empty if none does."""
        self.missing: Sequence[str] = ()
        """Its files that are gone, a clause each."""
        self.phase = "running"
        self.reason = ""
        """Why it is in that phase, a clause; may be empty."""
        self.kept_live = True
        """Whether its last counters are on the page."""
        self._judged: tuple[State, int, int] | None = None  # state, version, limits passed
        self._limits = 0.0, 0.0
        self._planned: dict[bool, float | None] = {}
        self._timed: tuple[object, tuple[float | None, float | None]] = None, (None, None)

    @property
    def version(self) -> tuple[int, int]:
        """See samples.Source."""
        return self.changes, self.state.version

    @property
    def ended(self) -> bool:
        """Whether it can report no more."""
        return self.phase in ENDED

    @property
    def current(self) -> bool:
        """Whether its last report holds: yes in a stall that its tool reports, no in a silent one."""
        return self.phase == "running" or (self.phase == "stalled" and self.reason == IDLE)

    @property
    def complete(self) -> bool:
        """Whether it has ended, or stalled without a word: what it has written so far is all there is."""
        return self.ended or not self.current

    @property
    def figures(self) -> Figures:
        """Its main figures; those of the last interval are None if they no longer hold."""
        found = self.state.figures()
        if self.state.outcome if self.ended else self.current:
            return found
        return found._replace(throughput=None, latency=None, p99=None, time=None, p99_time=None)

    @property
    def roles(self) -> Roles:
        """The roles of its tool's families for the current run."""
        several = self.tool.roles
        if len(several) == 1:
            return several[0]
        return roles_of(several, {one.family.name for one in self.state.samples(current=True)})

    @property
    def parameters(self) -> Mapping[str, str]:
        """Settings that the tool reports, extended and overridden by the run's records."""
        found = {**self.state.parameters(), **self.runfile.parameters}
        return {name: value for name, value in found.items() if value}

    @property
    def repetition(self) -> tuple[int, int]:
        """The number of the run of the tool that is shown, from 1, and the number of runs."""
        cuts = [(cut.number, cut.of) for stream in self.streams if (cut := stream.plan.cut)]
        return max(cuts, default=(self.reruns + 1, self.reruns + 1))

    @property
    def unread(self) -> list[str]:
        """What of its output should say something and cannot be read, a sentence each."""
        return [text for reason, text in self.faults.items() if reason != "other_text"]

    @property
    def notes(self) -> list[str]:
        """Clauses about how its output was read."""
        number, of = self.repetition
        notes = list(self.missing)
        if of > 1:
            notes.append(f"run {number} of {of} in this file")
        if self.runfile.outdated:
            notes.append(_OUTDATED)
        if behind := self.clock_behind:
            word = "behind" if behind > 0 else "ahead of"
            notes.append(f"its clock is {duration(10 * round(abs(behind) / 10))} {word} the clock of its files")
        if self.ended and self.unread and not self.cut_off and self.state.figures().throughput is None:
            notes += self.unread
        prefixes = dict.fromkeys(prefix.note for stream in self.streams if (prefix := stream.plan.prefix))
        return [*notes, *prefixes]

    @property
    def clock_behind(self) -> float:
        """Seconds by which its clock is behind that of its files; negative: ahead; 0: as far as known none.

        Its start and its last report must differ alike from when its files were created and last written: a copy has
        the right clock, but was written in a moment.
        """
        if self.reruns or self.runfile.end is not None:  # its record may be that of other output
            return 0.0
        born = min((one.born for one in self.streams if one.born is not None), default=None)
        begun, reported = self._times
        if born is None or begun is None or reported is None:
            return 0.0
        written = max(one.file_time for one in self.streams)
        first, last = born - begun, written - reported
        alike = abs(first - last) < _CLOCKS_DIFFER / 2 < written - born
        return first if alike and abs(first) > _CLOCKS_DIFFER else 0.0

    @property
    def quiet(self) -> float:
        """Seconds since new output was last read, or since its start if that is earlier."""
        start = self.heard if self.start is None else self.start
        return 0.0 if self.now is None else self.now - min(self.heard, start)

    def planned(self, own: Sequence[Sample]) -> float | None:
        """Planned duration, seconds; None if unknown. `own` are the samples of its tool."""
        roles = self.roles
        reported = next((one.value for one in own if one.family is roles.duration), None)
        if isinstance(reported, int | float):
            return reported
        alone = roles.jobs is None or sum(one.family is roles.jobs for one in own) <= 1
        if self._planned.get(alone) is None:  # found once: each scrape asks
            self._planned[alone] = self.tool.planned(self.parameters, alone=alone)
        return self._planned[alone]

    @property
    def _times(self) -> tuple[float | None, float | None]:
        """Start and last report by its state: found once a version, as each scrape asks several times."""
        version = self.state, self.state.version
        if self._timed[0] != version:
            self._timed = version, (self.state.start, self.state.last_report)
        return self._timed[1]

    @property
    def last_report(self) -> float | None:
        """When its tool last reported."""
        return self._times[1]

    @property
    def start(self) -> float | None:
        """When the benchmark began; a recorded start is that of the first run in the output."""
        recorded, reported = self.runfile.start, self._times[0]
        is_later = self.reruns > 0 and reported is not None
        return reported if recorded is None or is_later else recorded

    @property
    def end(self) -> float:
        """When it ended; if unknown, when it last reported or was written."""
        return self.state.end or self.runfile.end or self.last_report or self.written

    def samples(self) -> Iterator[Sample]:
        """See samples.Source."""
        return self.samples_with(list(self.state.samples(self.current)))

    def samples_with(self, own: Sequence[Sample]) -> Iterator[Sample]:
        """Everything that is known of it, with its tool's `own` samples."""
        state, tool, record, live = self.state, self.tool.name, self.runfile, self.kept_live
        yield from families.STATES[self.phase] if live else (Sample(families.RUN_STATE, (self.phase,), 1),)
        if self.reason:
            yield Sample(families.RUN_REASON, (self.reason[:_REASON_LENGTH],), 1)
        yield Sample(families.RUN_INFO, (tool, state.tool_version), 1, tuple(sorted(record.labels.items())))
        for parameter in self.parameters.items():
            yield Sample(families.RUN_PARAMETER, parameter, 1)
        for note in self.notes:
            yield Sample(families.RUN_NOTE, (note,), 1)
        if (repetitions := self.repetition[1]) > 1:
            yield Sample(families.RUN_REPETITIONS, (), repetitions)
        yield from families.places(record, self.tool.has_server)
        for family, number in (
            (families.RUN_START, self.start),
            (families.RUN_END, self.end if self.ended else None),
            (families.RUN_LAST_REPORT, self.last_report if live else None),
            (families.RUN_INTERVAL, state.report_interval),
            (families.RUN_PLANNED, None if self.ended else self.planned(own)),
            (families.RUN_OBJECTIVE, record.latency_objective),
            (families.RUN_WARMUP, record.warmup or None),
        ):
            if number is not None:
                yield Sample(family, (), number)
        yield Sample(families.STREAM_BYTES, (tool,), self.size)
        yield Sample(families.STREAM_RECORDS, (tool,), sum(one.parser.records for one in self.streams))
        for reason in dict.fromkeys(reason for one in self.streams for reason in one.errors):
            count = sum(one.errors[reason] for one in self.streams)
            yield Sample(families.STREAM_ERRORS, (tool, reason), count)
        yield from own if live else (one for one in own if one.family.part == "runs")

    def miss(self, missing: Sequence[str]) -> None:
        """Note its files that are gone, a clause each."""
        self.changes += missing != self.missing
        self.missing = missing

    def configure(self, runfile: RunFile) -> None:
        """Apply changed records."""
        if runfile != self.runfile:
            self.runfile = runfile
            self.changes += 1
            self._judged = None
            self._planned.clear()
            for stream in self.streams:
                self.date(stream)

    def tick(self, now: float) -> None:
        """Advance the clock: settle last lines, close windows, mark it stalled, then abandoned."""
        if not self.caught_up:
            return
        if self.now is not None and now < self.now:
            self.clock_was_set(now - self.now)
        self.now = now
        if now - self.heard >= _SETTLED_AFTER:
            self.settle()
        self.state.tick(now)
        self._judge(now - (self.heard if self.reported is None else self.reported))
        kept = not self.ended or now - self.heard < KEPT_LIVE
        if kept != self.kept_live:
            self.kept_live = kept
            self.changes += 1

    def _judge(self, silent: float) -> None:
        """Find the phase after so many seconds of silence, if anything has changed."""
        version = self.state, self.state.version
        if self._judged is None or self._judged[:2] != version:
            self._limits = patience(self.state, self.runfile)
        passed = sum(silent >= limit for limit in self._limits)
        if self._judged == (*version, passed):
            return
        if silent >= self._limits[1] and self.cut_off is None:
            self.close()  # whatever its phase: a record may come and go, and what was counted stays
            self._limits = patience(self.state, self.runfile)  # an incomplete line may begin another run
        self._judged = self.state, self.state.version, passed
        found = judge(self.state, self.runfile, self._limits, silent, cut_off=bool(self.cut_off))
        if found != (self.phase, self.reason):
            self.phase, self.reason = found
            self.changes += 1
