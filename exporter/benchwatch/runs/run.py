"""One run: a folder (or the files of one name beside the folders), its records, and its workers.

The files determine the workers (see `layout`). If they change in a way that further reading cannot follow (a file was
rewritten, removed, or turns out to belong elsewhere), the worker is read again from the start; until then, its previous
state stays visible.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from zlib import crc32

import msgspec

from ..machine.disks import check
from ..machine.mounts import Storage
from ..metrics.buckets import Buckets
from ..settings.record import NAME, SUFFIX, Record, RunFile, default_runfile, merge, read_record
from ..settings.settings import NOT_KNOWN, Here, RunsSettings
from ..tools.api import Tool
from ..tools.registry import TOOLS, names
from ..values.errors import ConfigError
from ..values.names import label
from .birth import birth
from .faults import Faults
from .files import HEAD, FileStatus, Folder, Rewritten, read_head
from .layout import StreamPlan, WatchedFile, plan
from .prefix import Prefix, find_prefix
from .stream import Stream, cut_into_runs
from .worker import Worker

_log = logging.getLogger(__name__)

_UNRECOGNISED_AFTER = 30.0
"""Seconds without growth after which a file that no tool recognises is named in the log."""

_COARSE = 10.0
"""Seconds to which it matters when a log was last written to: the streams are planned again when that changes."""

_LATER = 10.0
"""Seconds after the end that a record says from which output is that of another run."""

_MOMENT = 1.0
"""Seconds within which a copied or edited file is written."""

_FAULTS_SAID = 10
"""How many faults of a record's disks are counted and named in the log."""

_OF_NO_FILE = ("disk", "misread")
"""Kinds of problems that do not end with a file."""

_RECORDS_AT_ONCE = 8
"""Records read before others get a turn; one takes a few milliseconds at most."""


class Run:
    """One run and its workers."""

    def __init__(
        self,
        name: str,
        folder: Path,
        settings: RunsSettings,
        buckets: Buckets,
        faults: Faults,
        here: Here = NOT_KNOWN,
    ) -> None:
        self.name = name
        self.folder = folder
        self.content = Folder(folder)
        """What is in it; of no use for the files of one name beside the folders."""
        self.due = 0.0
        """When the watcher checks it again, seconds of its clock."""
        self.modified = 0.0
        """When one of its files, records aside, was last written to, Unix seconds; 0 without any."""
        self._faults = faults
        self.listed: Mapping[str, FileStatus] = {}
        """The files at the last look, records included."""
        self.files: Mapping[str, FileStatus] = {}
        self._settings = settings
        self._buckets = buckets
        self._records: dict[str, FileStatus] = {}
        self._unread: list[str] = []
        self._contents: dict[str, Record] = {}  # by record: the last content that could be used
        self._default = default_runfile(settings, here)
        self._runfile: RunFile = self._default
        self._runfiles: dict[str, RunFile] = {}
        self._watched: dict[str, WatchedFile] = {}
        self._tried: dict[str, FileStatus] = {}
        self._heads: dict[str, int] = {}  # checksums of files that no tool recognises
        self.chosen: int | None = None
        """Which of several runs in one file is shown, from 1; None: the last."""
        self.broken = False
        """Whether a fault of ours prevents further reading."""
        self._quiet = False
        self._settled = False
        """Whether there is nothing to note as long as the files are the same."""
        self._said: set[object] = set()
        self._problems: dict[tuple[str, str], str] = {}  # what is wrong now: kind and file (or more), a sentence
        self._workers: dict[str, Worker] = {}
        self._shown: dict[str, Worker] = {}

    @property
    def workers(self) -> list[Worker]:
        """Its workers, without those whose files are still being read for the first time."""
        return list(self._shown.values())

    @property
    def problems(self) -> list[str]:
        """What is wrong with its files at the moment: a sentence each says what, where, and what to do."""
        unreadable = [
            f"{self.folder / text}; let the exporter's user read it"
            for w in self._workers.values()
            for text in w.unreadable
        ]
        problems = [text for (kind, _), text in self._problems.items() if kind != "misread" or not self.ended]
        return [*problems, *unreadable, *filter(None, map(self._mixed, self._workers.values()))]

    @property
    def plans(self) -> Mapping[str, Sequence[StreamPlan]]:
        """The streams of each worker, by the worker's name."""
        return {name: worker.plans for name, worker in self._workers.items()}

    @property
    def caught_up(self) -> bool:
        """Whether everything has been read."""
        return self.broken or (not self._unread and all(worker.caught_up for worker in self._workers.values()))

    @property
    def ended(self) -> bool:
        """Whether no worker can report any more; without a worker, whether its files have long been unchanged."""
        return all(worker.ended for worker in self._workers.values()) if self._workers else self._quiet

    @property
    def end(self) -> float:
        """When its last worker ended, Unix seconds."""
        return max((worker.end for worker in self._workers.values()), default=self.modified)

    @property
    def bytes_read(self) -> int:
        """Bytes read of its files."""
        return sum(worker.size for worker in self._workers.values())

    def look(self, files: Mapping[str, FileStatus], now: float) -> None:
        """Take note of the current files."""
        if self._settled and files == self.listed:
            return
        self.listed = files
        records = {name: status for name, status in files.items() if name.endswith(SUFFIX)}
        self._note_records(records)
        self.files = {name: status for name, status in files.items() if name not in records} if records else files
        self.modified = max((status.modified for status in self.files.values()), default=0.0)
        if self._problems:
            self._problems = {
                what: text for what, text in self._problems.items() if what[1] in files or what[0] in _OF_NO_FILE
            }
        watched = {name: self._watch(name, status) for name, status in self.files.items()}
        for name, status in self.files.items():
            if watched[name].tool is None:
                self._name_unrecognised(name, status, now)
        # Records count: a launcher writes one before the benchmark's first byte.
        modified = max([self.modified, *(status.modified for status in records.values())])
        self._quiet = now - modified > self._settings.abandoned_after
        if watched != self._watched:
            self._watched = watched
            self._follow(plan(watched, self.name))
        if self._contents:
            self._configure()
        known = all(file.tool for file in watched.values()) and self._workers
        self._settled = bool(known) and all(status.settled for status in self._records.values())

    def _watch(self, name: str, status: FileStatus) -> WatchedFile:
        known, tried = self._watched.get(name), self._tried.get(name)
        tool: Tool | None = None
        kind, prefix, begun = "", None, 0.0
        if known and tried and known.identity == status.identity and status.size >= tried.size:
            tool, kind, prefix, begun = known.tool, known.kind, known.prefix, known.begun
        if tool is None and status.size and not (status == tried and status.settled):
            self._tried[name] = status
            tool, kind, prefix, begun = self._recognise(name)
        if tool is not None:
            self._problems.pop(("unrecognised", name), None)
        is_log = tool is not None and tool.kinds[kind].is_log
        modified = status.modified // _COARSE * _COARSE if is_log else 0.0
        return WatchedFile(status.identity, modified, tool, kind, prefix, begun)

    def _recognise(self, name: str) -> tuple[Tool | None, str, Prefix | None, float]:
        try:
            head = read_head(self.folder / name)
        except OSError as error:
            said = f"{self.folder / name} cannot be read: {error.strerror}"
            self._problems["unreadable", name] = f"{said}; let the exporter's user read it"
            self._fault("unreadable", said, name)
            del self._tried[name]  # so that it is read again
            return None, "", None, 0.0
        self._problems.pop(("unreadable", name), None)
        checksum = crc32(head)
        if self._heads.get(name) == checksum:
            return None, "", None, 0.0
        for tool in TOOLS:
            kind = tool.recognise(head)
            if kind:
                first = next(tool.moments(kind, head), None) if tool.kinds[kind].is_log else None
                return tool, kind, None, first.time if first else 0.0
        if found := find_prefix(head, TOOLS):
            return *found, 0.0
        self._heads[name] = checksum
        return None, "", None, 0.0

    def _name_unrecognised(self, name: str, status: FileStatus, now: float) -> None:
        quiet = status.size >= HEAD or now - status.modified >= _UNRECOGNISED_AFTER
        part_of_another = name.rpartition(".")[0] in self.files
        if status.size and quiet and not part_of_another and name in self._tried:
            text = f"{self.folder / name} is left alone: expected the output of {names()}"
            self._problems["unrecognised", name] = text
            self._fault("unrecognised", text, name)

    def _note_records(self, records: dict[str, FileStatus]) -> None:
        # A record rewritten in the same moment may look unchanged.
        known = {name: status for name, status in self._records.items() if status.settled}
        if records == known:
            return
        self._records = records
        self._unread = [name for name in records if name in self._unread or records[name] != known.get(name)]
        self._contents = {name: content for name, content in self._contents.items() if name in records}
        self.read_records()

    def read_records(self, limit: int = _RECORDS_AT_ONCE) -> None:
        """Read up to `limit` of the new and changed records."""
        for name in self._unread[:limit]:
            try:
                self._contents[name] = read_record(self.folder / name)
                self._problems.pop(("record", name), None)
            except ConfigError as error:
                known = name in self._contents
                instead = "its previous values stay in force" if known else "the run is shown without it"
                self._problems["record", name] = f"{error}; correct it: until then {instead}"
                self._fault("run_yaml", str(error), self._records[name])
        del self._unread[:limit]
        self._problems = {what: text for what, text in self._problems.items() if what[0] != "disk"}
        base, of_all = self._default, self._contents.get(NAME, Record())
        self._runfile = self._with_disks(merge(of_all, base))
        self._runfiles = {
            label(name.removesuffix(SUFFIX)): self._with_disks(merge(content, merge(of_all, base)))
            for name, content in self._contents.items()
            if name != NAME
        }
        self._configure()

    def _configure(self) -> None:
        for worker in {*self._workers.values(), *self._shown.values()}:
            worker.configure(self._runfile_of(worker.name, worker.plans))

    def _with_disks(self, runfile: RunFile) -> RunFile:
        """The same with the names that this machine's disks have, if it is this machine's disks that it names."""
        if not runfile.disks or not runfile.here.host or runfile.server != runfile.here.host:
            return runfile
        roles, faults = check(runfile.disks, Storage())
        for fault in faults[:_FAULTS_SAID]:
            self._problems["disk", fault] = f"disks of its record: {fault}"
            self._fault("disk", f"run {self.name}: disks: {fault}", fault)
        return msgspec.structs.replace(runfile, disks=roles)

    def _runfile_of(self, worker: str, plans: Sequence[StreamPlan]) -> RunFile:
        found = self._runfiles.get(worker, self._runfile)
        ended = (found.end, found.exit_code) != (None, None)
        return found.of_earlier() if ended and self._goes_on(worker, plans, found.end or 0.0) else found

    def _goes_on(self, worker: str, plans: Sequence[StreamPlan], end: float) -> bool:
        """Whether there is output from long after the records that say how the worker ended.

        What was copied later, or edited, was written in a moment.
        """
        texts = [part for plan in plans if not plan.is_log for part, _ in plan.parts]
        if not texts:
            return False
        last = max(texts, key=lambda name: self.files[name].modified)
        written = self.files[last].modified
        recorded = (
            self._records[name].modified
            for name, record in self._contents.items()
            if (name == NAME or label(name.removesuffix(SUFFIX)) == worker)
            and (record.end, record.exit_code) != (None, None)
        )
        later = written > max(end, *recorded) + _LATER
        return later and written - (birth(self.folder / last) or written) > _MOMENT

    def _follow(self, plans: Mapping[str, tuple[StreamPlan, ...]]) -> None:
        workers = {}
        for name, streams in plans.items():
            worker = self._workers.get(name)
            if worker is None or not worker.follow(streams):
                worker = self.new_worker(name, streams)
            workers[name] = worker
        self._workers = workers
        self._shown = {name: worker for name, worker in self._shown.items() if name in workers}

    def choose(self, number: int) -> int:
        """Show that run of each worker's output, from 1, instead of the last; how many the longest output holds.

        Logs belong to the last run. Workers whose output holds fewer runs are not shown. Raises OSError.
        """
        self.chosen = number
        most = 0
        chosen: dict[str, Worker] = {}
        for name, worker in self._workers.items():
            cuts = [cut_into_runs(plan, self.folder) for plan in worker.plans if not plan.is_log]
            count = max((len(each) for each in cuts), default=0)
            most = max(most, count)
            plans = [each[number - 1] for each in cuts if number <= len(each)]
            plans += [plan for plan in worker.plans if plan.is_log and number == count]
            if plans and number <= count:
                chosen[name] = self.new_worker(name, plans)
        self._workers = chosen
        return most

    def new_worker(
        self,
        name: str,
        streams: Sequence[StreamPlan],
        open_stream: Callable[[StreamPlan, Path], Stream] = Stream,
    ) -> Worker:
        """A worker that has read nothing yet."""
        return Worker(
            self.name, name, streams, self.folder, self._buckets, self._runfile_of(name, streams), open_stream
        )

    def clock_was_set(self, by: float) -> None:
        """See Worker."""
        for worker in {*self._workers.values(), *self._shown.values()}:
            worker.clock_was_set(by)

    def read(self, limit: int, now: float) -> int:
        """Read up to `limit` new bytes of each file, and let time pass; the number of bytes."""
        taken = len(self._unread)
        if self._unread:
            self.read_records()
        for name, worker in self._workers.items():
            try:
                taken += worker.read(limit, self.files, now)
            except Rewritten:
                self._workers[name] = self.new_worker(name, tuple(worker.plans))
                self._settled = False
                for stream in worker.plans:
                    for part, _ in stream.parts:  # its tool or kind may have changed too
                        self._watched.pop(part, None)
                taken += 1
                continue
            worker.tick(now)
            self._say_faults(worker)
            if worker.caught_up and not self._unread:
                self._shown[name] = worker
        return taken

    def _mixed(self, worker: Worker) -> str:
        """That a worker's files are the outputs of several processes; empty if they are not."""
        if len(worker.state.reporting) < 2:
            return ""
        names = " and ".join(str(self.folder / name) for name in sorted(worker.state.reporting))
        return f"{names} both have reports, and are read as the output of one process: rename one, before its suffix"

    def _say_faults(self, worker: Worker) -> None:
        if mixed := self._mixed(worker):
            self._fault("twins", mixed, mixed)
        while worker.faults:
            reason, fault = worker.faults.popitem()
            level = logging.INFO if reason == "other_text" else logging.WARNING
            if level == logging.WARNING:
                self._problems["misread", f"{worker.name} {reason}"] = f"{fault.text}; left out"
            if self._is_news(worker.name, reason):
                _log.log(level, "run %s: %s", self.name, fault.text)

    def _fault(self, reason: str, sentence: str, what: object) -> None:
        """Said once of each thing."""
        if self._is_news(reason, what):
            self._faults.say(reason, sentence)

    def _is_news(self, *what: object) -> bool:
        is_news = what not in self._said
        self._said.add(what)
        return is_news
