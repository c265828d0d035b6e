"""The records of a run (see settings.record): what they say about each worker, and what is wrong with them.

A run may write to the files of an earlier run whose records are still there. Therefore the start and end in a record
are ignored if output was written long after that end and after the record. A file that was written within a moment does
not count: it is a copy, or an editor has replaced it. A file edited in place does count, until the record is touched.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from ..machine.disks import check
from ..machine.mounts import Storage
from ..settings.record import NAME, SUFFIX, Record, RunFile, merge, read_record
from ..values.errors import ConfigError
from ..values.names import label
from .files import FileStatus, birth

_LATER = 10.0
"""Output written at least as many seconds after the end in a record belongs to another run."""
_MOMENT = 1.0
"""Seconds within which a copy of a file is written."""
_FAULTS_SAID = 10
"""Faults in the disks of one record that are counted and logged."""


class Records:
    """The records in the folder of one run."""

    def __init__(self, run: str, folder: Path, default: RunFile, say: Callable[..., None]) -> None:
        self.files: Mapping[str, FileStatus] = {}
        """The records at the last look."""
        self.ended = False
        """Whether any record says how a benchmark ended."""
        self.problems: dict[str, str] = {}
        """Current problems: a sentence by name of the record, or by fault of its disks."""
        self._run = run
        self._folder = folder
        self._say = say
        self._default = default
        self._contents: dict[str, Record] = {}  # the last usable content of each record
        self._of_run = default
        self._of_workers: dict[str, RunFile] = {}

    def look(self, files: Mapping[str, FileStatus]) -> bool:
        """Take the current records and read those that are new or have changed; returns whether any has."""
        # A record that is rewritten within the same moment may look unchanged.
        known = {name: status for name, status in self.files.items() if status.settled}
        if files == self.files == known:
            return False
        self.files = files
        self._contents = {name: content for name, content in self._contents.items() if name in files}
        self.problems = {name: text for name, text in self.problems.items() if name in files}
        for name in (name for name in files if files[name] != known.get(name)):
            try:
                self._contents[name] = read_record(self._folder / name)
                self.problems.pop(name, None)
            except ConfigError as error:
                instead = (
                    "its previous values stay in force" if name in self._contents else "the run is shown without it"
                )
                self.problems[name] = f"{error}; correct it: until then {instead}"
                self._say("run_yaml", str(error), files[name])
        self.ended = any(map(_ends, self._contents.values()))
        of_all = merge(self._contents.get(NAME, Record()), self._default)
        self._of_run = self._with_disks(of_all)
        self._of_workers = {
            _worker(name): self._with_disks(merge(content, of_all))
            for name, content in self._contents.items()
            if name != NAME
        }
        return True

    def _with_disks(self, runfile: RunFile) -> RunFile:
        """The same with disks named as node_exporter names them, if they are disks of this machine."""
        if not runfile.disks or not runfile.here.host or runfile.server != runfile.here.host:
            return runfile
        roles, faults = check(runfile.disks, Storage())
        for fault in faults[:_FAULTS_SAID]:
            self.problems[fault] = f"disks of its record: {fault}"
            self._say("disk", f"run {self._run}: disks: {fault}")
        return msgspec.structs.replace(runfile, disks=roles)

    def of(self, worker: str, texts: Mapping[str, FileStatus]) -> RunFile:
        """What the records say about a worker; `texts` are its files except logs."""
        found = self._of_workers.get(worker, self._of_run)
        if not _ends(found) or not texts:
            return found
        last = max(texts, key=lambda name: texts[name].modified)
        written = texts[last].modified
        recorded = (
            self.files[name].modified
            for name, record in self._contents.items()
            if (name == NAME or _worker(name) == worker) and _ends(record)
        )
        later = written > max(found.end or 0.0, *recorded) + _LATER
        continued = later and written - (birth(self._folder / last) or written) > _MOMENT
        return found.of_earlier() if continued else found


def _ends(record: Record) -> bool:
    return (record.end, record.exit_code) != (None, None)


def _worker(name: str) -> str:
    return label(name.removesuffix(SUFFIX))
