"""One run: a folder (or the files of one name beside the folders), its records, and its workers.

The files determine the workers (see `layout`). If a worker's files change other than by growing (a file is rewritten,
removed, or turns out to belong to another worker), the worker is read again from the start; its previous state stays
visible until that is done.
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress

from ..metrics.buckets import Buckets
from ..settings.record import SUFFIX, RunFile, default_runfile
from ..settings.settings import NOT_KNOWN, Here, RunsSettings
from .files import FileStatus, Rewritten, dangling
from .layout import StreamPlan, missing, plan
from .observer import Observer
from .place import RunPlace
from .recognition import Recognition
from .run_records import Records
from .stream import Stream, cut_into_runs
from .unusable import Faults

_log = logging.getLogger(__name__)


class ObservedRun:
    """One run and its workers."""

    def __init__(
        self, place: RunPlace, settings: RunsSettings, buckets: Buckets, faults: Faults, here: Here = NOT_KNOWN
    ) -> None:
        self.place = place
        """Where it is; `listed` are its files now."""
        self.name = place.name
        self.folder = place.folder
        self.due = 0.0
        """When the watcher checks it again, elapsed seconds."""
        self.modified = 0.0
        """When one of its files, except records, was last written, Unix seconds; 0 if it has none."""
        self.listed: Mapping[str, FileStatus] = {}
        """The files at the last look, including records."""
        self.files: Mapping[str, FileStatus] = {}
        """The files at the last look, without records."""
        self.plans: Mapping[str, Sequence[StreamPlan]] = {}
        """The streams of each worker, by the worker's name."""
        self.broken = ""
        """Why a bug prevents that its files are looked at, a sentence; empty if none does."""
        self._settings = settings
        self._buckets = buckets
        self._faults = faults
        self._said: set[object] = set()
        self._records = Records(self.name, self.folder, default_runfile(settings, here), self._say)
        self._recognition = Recognition(self.folder, self._say)
        self._quiet = False
        self._settled = False  # whether a look can be skipped while the files are the same
        self._gone: Mapping[str, str] = {}  # links to files that are gone, and where these were
        self._workers: dict[str, Observer] = {}  # of those plans
        self._shown: dict[str, Observer] = {}  # those that were read to the end, now or before they were begun again

    def _say(self, reason: str, sentence: str, what: object = None, error: Exception | None = None) -> None:
        """Report a fault once: by `what` is at fault or, without that, by its sentence."""
        if (fault := (reason, what or sentence)) not in self._said:
            self._said.add(fault)
            self._faults.say(reason, sentence, error)

    @property
    def workers(self) -> list[Observer]:
        """Its workers, except those whose files are still being read for the first time."""
        return list(self._shown.values())

    @property
    def missing(self) -> list[str]:
        """Files that its workers had and that are gone, a clause each."""
        return [clause for name in self.plans for clause in missing(self._gone, name)]

    @property
    def problems(self) -> list[str]:
        """Current problems with its files; each sentence says what is wrong, where, and what to do."""
        workers = self._workers.values()
        found = [*self.bugs, *self._recognition.problems, *self._records.problems.values()]
        if not self.ended:
            found += (f"{text}; left out" for worker in workers for text in worker.unread)
        for worker in workers:
            found += (f"{self.folder / text}; let the exporter's user read it" for text in worker.unreadable)
        return [*found, *filter(None, map(self._mixed, workers))]

    @property
    def bugs(self) -> list[str]:
        """What a bug in benchwatch keeps from being read, a sentence each."""
        found = [self.broken, *[worker.broken for worker in self._workers.values()]]
        return [text for text in found if text]

    @property
    def misread(self) -> list[str]:
        """Its files that cannot be read, and what is wrong with its records, a sentence each."""
        return [*self._recognition.unreadable, *self._records.problems.values()]

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels in the records of its workers."""
        return {name: value for one in self.plans for name, value in self._records.of(one, {}).labels.items()}

    @property
    def caught_up(self) -> bool:
        """Whether everything has been read."""
        return bool(self.broken) or all(worker.caught_up or worker.broken for worker in self._workers.values())

    @property
    def ended(self) -> bool:
        """Whether all workers have ended; if it has none, whether its files have long been unchanged."""
        if not self.plans:
            return self._quiet
        return all(worker.ended or worker.broken for worker in self._workers.values())

    @property
    def end(self) -> float:
        """When its last worker ended, Unix seconds."""
        return max((worker.end for worker in self._workers.values()), default=self.modified)

    @property
    def bytes_read(self) -> int:
        """Bytes read from its files."""
        return sum(worker.size for worker in self._workers.values())

    def look(self, files: Mapping[str, FileStatus], now: float) -> None:
        """Take the current files, read new records and plan the streams."""
        if self._settled and files == self.listed:
            return
        before = self.files
        records = {name: status for name, status in files.items() if name.endswith(SUFFIX)}
        self.listed = files
        self.files = {name: status for name, status in files.items() if name not in records}
        self.modified = max((status.modified for status in self.files.values()), default=0.0)
        # Records count here: a launcher writes one before the benchmark prints anything.
        modified = max((status.modified for status in files.values()), default=0.0)
        self._quiet = now - modified > self._settings.abandoned_after
        changed = self._records.look(records)
        if self._recognition.look(self.files, now):
            self._follow(plan(self._recognition.files, self.name))
        if changed or (self._records.ended and self.files != before):  # perhaps a run after the recorded end
            for name, worker in (*self._workers.items(), *self._shown.items()):
                worker.configure(self._runfile_of(name))
        known = self._recognition.complete and bool(self.plans)
        self._settled = known and all(status.settled for status in records.values())

    def _runfile_of(self, worker: str) -> RunFile:
        plans = self.plans[worker]
        texts = {name: self.files[name] for plan in plans if not plan.is_log for name, _ in plan.parts}
        return self._records.of(worker, texts)

    def _follow(self, plans: Mapping[str, Sequence[StreamPlan]]) -> None:
        self.plans = plans
        if self.place.own:
            with suppress(OSError):  # the next look says so
                self._gone = dangling(self.folder)
        before, self._workers = self._workers, {}
        for name in plans:
            known = before.get(name)
            goes_on = known is not None and known.follow(plans[name], self.folder)
            worker = self._workers[name] = known if known and goes_on else self.new_worker(name)
            worker.miss(missing(self._gone, name))
        self._recognition.read = {part for each in plans.values() for plan in each for part, _ in plan.parts}
        self._shown = {name: worker for name, worker in self._shown.items() if name in plans}

    def choose(self, number: int) -> int:
        """Show run `number` (from 1) of each worker's output instead of the last; returns the largest number of runs.

        Logs belong to the last run. Workers whose output holds fewer runs are not shown. Raises OSError.
        """
        most = 0
        chosen: dict[str, Sequence[StreamPlan]] = {}
        for name, plans in self.plans.items():
            cuts = [cut_into_runs(plan, self.folder) for plan in plans if not plan.is_log]
            count = max((len(each) for each in cuts), default=0)
            most = max(most, count)
            own = [each[number - 1] for each in cuts if number <= len(each)]
            own += [plan for plan in plans if plan.is_log and number == count]
            if own and number <= count:
                chosen[name] = own
        self.restrict(chosen)
        return most

    def restrict(self, plans: Mapping[str, Sequence[StreamPlan]]) -> None:
        """Show these workers and streams only."""
        self.plans = plans
        self._workers = {name: self.new_worker(name) for name in plans}

    def new_worker(self, name: str, streams: Sequence[Stream] = ()) -> Observer:
        """A worker that has read nothing yet, with new streams or these."""
        opened = streams or [Stream(plan, self.folder) for plan in self.plans[name]]
        worker = Observer(self.name, name, opened, self._buckets, self._runfile_of(name))
        worker.missing = missing(self._gone, name)
        return worker

    def clock_was_set(self, by: float) -> None:
        """See Observer."""
        for worker in {*self._workers.values(), *self._shown.values()}:
            worker.clock_was_set(by)

    def read(self, limit: int, now: float) -> int:
        """Read up to `limit` new bytes of each file and advance the clock; returns the number of bytes."""
        taken = 0
        for name, worker in self._workers.items():
            if not worker.broken:
                try:
                    taken += self._read(name, worker, limit, now)
                except Exception as error:  # a bug that one worker meets must not affect the others
                    why = f"{type(error).__name__}: {error}"
                    worker.broken = f"worker {worker.name} cannot be read further: {why}; please report this"
                    self._say("internal", f"run {self.name}: {worker.broken}", worker, error)
        return taken

    def _read(self, name: str, worker: Observer, limit: int, now: float) -> int:
        try:
            taken = worker.read(limit, self.files, now)
        except Rewritten:
            self._look_again(name)
            self._workers[name] = self.new_worker(name)
            return 1
        worker.tick(now)
        if mixed := self._mixed(worker):
            self._say("twins", mixed)
        for reason, text in worker.faults.items():
            if (news := (name, reason, "logged")) not in self._said:
                self._said.add(news)
                _log.log(logging.INFO if reason == "other_text" else logging.WARNING, "run %s: %s", self.name, text)
        if worker.caught_up and worker.size:
            if self._shown.get(name) is not worker:
                self._look_again(name)
            self._shown[name] = worker
        return taken

    def _look_again(self, name: str) -> None:
        """Look at the files of a worker once more: they may have been rewritten since, by another tool."""
        self._settled = False
        for stream in self.plans[name]:
            for part, _ in stream.parts:
                self._recognition.forget(part)

    def _mixed(self, worker: Observer) -> str:
        """A sentence that says if a worker's files are the output of several processes; else empty."""
        if len(worker.state.reporting) < 2:
            return ""
        names = " and ".join(str(self.folder / name) for name in sorted(worker.state.reporting))
        return f"{names} both have reports, and are read as the output of one process: rename one, before its suffix"
