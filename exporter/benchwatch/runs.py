"""The runs of the watched folders: which there are, in what order they are read, and how many are remembered.

A run is a folder `runs/<run>/`, or the files `runs/<run>.<suffix>` of one name beside the folders. Runs that are on
are looked at each time; ended ones every few seconds. Of the ended ones the newest are remembered, the others are let
go until their files change.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from .config import RunsSettings
from .exposition import Family, Sample
from .histogram import Buckets
from .run import Run
from .streams.files import FileStatus, Listing, listing
from .streams.layout import group_name
from .streams.names import label
from .worker import Worker

_log = logging.getLogger(__name__)

_ENDED_EVERY = 5.0
"""Seconds between two looks at a run that has ended."""
CHUNK = 256 * 1024
"""How much of a file is read at a time, bytes."""
BUDGET = 4 * 1024 * 1024
"""After how many bytes a round of reading lets others have a turn."""

WATCH_ERRORS = Family(
    "benchwatch_watch_errors_total",
    "counter",
    "Files and folders that could not be used, by reason: folder, unreadable, unrecognised, run_yaml, internal.",
    ("reason",),
)
RUNS_KNOWN = Family("benchwatch_runs", "gauge", "Runs that are known, by whether they are on or ended.", ("phase",))
FAMILIES = (WATCH_ERRORS, RUNS_KNOWN)

_T = TypeVar("_T")
_Key = tuple[Path, str]
"""Folder and name of a run."""
_Files = Mapping[str, FileStatus]


class Runs:
    """All runs, as a source of samples about themselves (see exposition.Source); each worker is a source of its own."""

    labels: tuple[tuple[str, str], ...] = ()

    def __init__(self, roots: Sequence[Path], settings: RunsSettings, buckets: Buckets) -> None:
        self._roots = roots
        self._settings = settings
        self._buckets = buckets
        self._errors: Counter[str] = Counter()
        self._runs: dict[_Key, Run] = {}
        self._let_go: dict[_Key, _Files] = {}
        self._due: dict[_Key, float] = {}
        self._unlisted: set[Path] = set()
        self.looked = False
        """Whether the folders have been looked at."""

    @property
    def workers(self) -> list[Worker]:
        """The workers of all runs that are remembered; of two of the same name in two folders, one."""
        return list({worker.labels: worker for run in self._runs.values() for worker in run.workers}.values())

    @property
    def behind(self) -> list[Run]:
        """Runs whose files have not been read once to their end."""
        return [run for run in self._runs.values() if not run.caught_up]

    @property
    def version(self) -> tuple[tuple[int, ...], ...]:
        """See exposition.Source."""
        return tuple(self._errors.values()), (len(self._runs), len(self._on()), len(self._let_go))

    def samples(self) -> Iterator[Sample]:
        """See exposition.Source."""
        on = len(self._on())
        yield Sample(RUNS_KNOWN, ("on",), on)
        yield Sample(RUNS_KNOWN, ("ended",), len(self._runs) - on)
        for reason, count in self._errors.items():
            yield Sample(WATCH_ERRORS, (reason,), count)

    def poll(self, now: float) -> bool:
        """Look at the files and read on; true when there is more to read at once.

        Raises nothing: what cannot be used is counted and named in the log.
        """
        self._discover(now)
        taken = 0
        for key, run in sorted(self._runs.items(), key=lambda item: item[1].modified, reverse=True):
            if now < self._due.get(key, 0.0):
                continue
            if taken >= BUDGET:
                return True
            read = self._safely(run, partial(run.read, CHUNK, now)) or 0
            taken += read
            self._due[key] = now + _ENDED_EVERY if run.ended and not read else 0.0
        self._let_old_go()
        self.looked = True
        return taken >= CHUNK or bool(self.behind)

    def _safely(self, run: Run, step: Callable[[], _T]) -> _T | None:
        """A fault of ours in one run must not take the others down."""
        try:
            return step()
        except Exception as error:
            if not self._errors["internal"]:
                _log.exception("run %s cannot be read on: %s; please report this", run.name, error)
            self._errors["internal"] += 1
            run.broken = True
            return None

    def _on(self) -> list[Run]:
        return [run for run in self._runs.values() if not run.ended]

    def _discover(self, now: float) -> None:
        listed: dict[_Key, dict[str, FileStatus] | None] = {}
        for root in self._roots:
            found = self._list(root)
            if found is None:  # not there at the moment: what is known of it stays
                known = self._runs.keys() | self._let_go.keys()
                listed |= {key: {} for key in known if root in (key[0], key[0].parent)}
                continue
            listed |= {(root / name, name): None for name in found.folders}
            files_beside: dict[_Key, dict[str, FileStatus]] = defaultdict(dict)
            for file, status in found.files.items():
                name = group_name(file, found.files)
                key = (root, f"{name} (files)" if name in found.folders else name)
                files_beside[key][file] = status
            listed |= files_beside
        for gone in (self._runs.keys() | self._let_go.keys()) - listed.keys():
            self._runs.pop(gone, None)
            self._let_go.pop(gone, None)
        fresh: list[tuple[float, _Key, _Files]] = []
        for key, seen in listed.items():
            if now < self._due.get(key, 0.0):
                continue
            files = self._files_of(key) if seen is None else seen
            if not files:
                continue
            if key in self._runs:
                run = self._runs[key]
                self._safely(run, partial(run.look, files, now))
            elif key not in self._let_go:
                fresh.append((max(status.modified for status in files.values()), key, files))
            elif files != self._let_go[key]:
                del self._let_go[key]
                self._take_up(key, files, now)
            else:
                self._due[key] = now + _ENDED_EVERY
        fresh.sort(key=lambda item: item[0], reverse=True)
        for rank, (modified, key, files) in enumerate(fresh):
            if rank >= self._settings.keep and now - modified > self._settings.abandoned_after:
                self._let_go[key] = files
            else:
                self._take_up(key, files, now)

    def _take_up(self, key: _Key, files: _Files, now: float) -> None:
        folder, name = key
        run = Run(label(name), folder, self._settings, self._buckets, self._errors)
        self._safely(run, partial(run.look, files, now))
        self._runs[key] = run

    def _let_old_go(self) -> None:
        ended = [(run.end, key) for key, run in self._runs.items() if run.ended and run.caught_up]
        for _, key in sorted(ended, reverse=True)[self._settings.keep :]:
            self._let_go[key] = self._runs.pop(key).listed

    def _files_of(self, key: _Key) -> _Files:
        found = self._list(key[0])
        return found.files if found else {}

    def _list(self, folder: Path) -> Listing | None:
        try:
            found = listing(folder)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and folder not in self._roots:
                return None  # a run that was removed a moment ago
            if folder not in self._unlisted:
                self._unlisted.add(folder)
                self._errors["folder"] += 1
                _log.warning("%s cannot be read: %s; expected a folder of runs", folder, error.strerror)
            return None
        if folder in self._unlisted:
            self._unlisted.discard(folder)
            _log.info("%s can be read again", folder)
        return found
