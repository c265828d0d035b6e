"""The runs of the watched folders: which exist, in what order they are read, and how many stay in memory.

A run is a folder `runs/<run>/`, or the files `runs/<run>.<suffix>` of one name beside the folders. Active runs are
checked at each poll, finished runs every two seconds. Only the newest finished runs stay in memory. The others, and
empty folders, are checked in turn, a hundred a second, so a long history costs no more than a short one; they are
loaded again when their files change. The newest empty folders are checked at each poll.

Intervals are measured in `elapsed` seconds, which only grow; `now` is Unix time, and the clock can be set.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter, itemgetter
from pathlib import Path

from ..metrics.buckets import Buckets
from ..metrics.samples import Family, Sample
from ..settings.settings import NOT_KNOWN, Here, RunsSettings
from ..values.names import label
from .files import FileStatus
from .observed_run import ObservedRun
from .observer import Observer
from .place import Roots, RunKey, RunPlace
from .unusable import WATCH_ERROR_TIME, WATCH_ERRORS, Faults

_log = logging.getLogger(__name__)

_ENDED_EVERY = 2.0
"""Seconds between two checks of a finished run in memory."""
_UNLOADED_A_SECOND = 100
"""Runs outside memory that are checked per second, and at most per poll."""
_NEW_AT_ONCE = 250
"""New runs that are checked per poll."""
_EMPTY_WATCHED = 20
"""Empty folders that are checked at each poll: the ones found last."""
_CLOCK_SET = 0.1
"""The clock was set if it advances by this many seconds more or less than elapsed time between two polls."""
CHUNK = 256 * 1024
"""Bytes of a file that are read at a time."""
BUDGET = 4 * 1024 * 1024
"""Bytes after which a round of reading gives others a turn."""

RUNS_KNOWN = Family("benchwatch_runs", "gauge", "Known runs, active or ended.", ("phase",))
FAMILIES = (WATCH_ERRORS, WATCH_ERROR_TIME, RUNS_KNOWN)

_Files = Mapping[str, FileStatus]


class Runs:
    """All runs, as a source of samples about themselves (see samples.Source); each worker is a source of its own."""

    labels: tuple[tuple[str, str], ...] = ()

    def __init__(self, roots: Sequence[Path], settings: RunsSettings, buckets: Buckets, here: Here = NOT_KNOWN) -> None:
        self._settings = settings
        self._buckets = buckets
        self._here = here
        self.faults = Faults()
        """Faults of all runs and of the configuration."""
        self.roots = Roots(roots, self.faults)
        self._unseen: dict[RunKey, None] = {}  # not looked at yet
        self._found: list[tuple[float, RunKey, _Files]] = []  # looked at, until all are: when written, and its files
        self._runs: dict[RunKey, ObservedRun] = {}  # in memory
        self._unloaded: dict[RunKey, _Files] = {}  # outside memory, least recently checked first
        self._empty: dict[RunKey, None] = {}  # those of them without files, in the order in which they were found
        self._elapsed = 0.0
        self._ahead: float | None = None  # Unix time less elapsed time
        self._configured: dict[str, None] = {}  # faults of the configuration
        self._said: set[str] = set()  # sentences about workers that are in two folders
        self.looked = False
        """Whether all folders have been examined."""
        self.more = False
        """Whether there is more to read at once."""

    @property
    def workers(self) -> list[Observer]:
        """The workers of all runs in memory. Of two with one name: the active one, else the last to end."""
        found: dict[object, Observer] = {}
        for run in self._runs.values():
            for worker in run.workers:
                other = found.setdefault(worker.labels, worker)
                if other is not worker and (not worker.ended, worker.end) > (not other.ended, other.end):
                    found[worker.labels] = worker
        return list(found.values())

    @property
    def behind(self) -> list[ObservedRun]:
        """Runs whose files have not yet been read to their end."""
        return [run for run in self._runs.values() if not run.caught_up]

    @property
    def problems(self) -> list[str]:
        """Current problems: those of the configuration, then those of runs in memory, newest runs first."""
        newest = sorted(self._runs.values(), key=attrgetter("modified"), reverse=True)
        of_runs = (f"{run.name}: {problem}" for run in newest for problem in run.problems)
        return [*self._configured, *self._twins(), *of_runs]

    def _twins(self) -> Iterator[str]:
        """A sentence for each worker that is in two folders."""
        folders: dict[object, Path] = {}
        for run in self._runs.values() if len(self.roots.paths) > 1 else ():
            for worker in run.workers:
                first = folders.setdefault(worker.labels, run.folder)
                if first != run.folder:
                    here, there = sorted((first, run.folder))
                    yield (
                        f"worker {worker.name} of run {run.name} is in {here} and in {there}: "
                        "the active one is shown, or the one that ended last; rename one"
                    )

    def places(self, name: str) -> list[RunPlace]:
        """Where the files of the runs with that label are, each place with workers of its own."""
        found = []
        for key in self._keys(name):
            run = self._runs.get(key)
            place = self._place(key, self._unloaded.get(key, {}) if run is None else run.listed)
            complete = frozenset(worker.name for worker in run.workers if worker.complete) if run else None
            found.append(place._replace(complete=complete))
        return found

    def named(self, name: str) -> list[ObservedRun] | None:
        """The runs in memory with that label: one, or one in each of several folders; None if there is no such run."""
        keys = self._keys(name)
        return [self._runs[key] for key in keys if key in self._runs] if keys else None

    def _keys(self, name: str) -> list[RunKey]:
        keys = [key for root in self.roots.paths for key in ((root / name, name), (root, name))]
        known = [key for key in keys if key in self._runs or self._unloaded.get(key)]
        if not known:  # the label differs from the name
            known = [key for key in (*self._runs, *self._unloaded) if key[1] != name == label(key[1])]
        return known

    def _place(self, key: RunKey, files: _Files) -> RunPlace:
        folder, name = key
        return RunPlace(label(name), folder, files, own=folder not in self.roots.paths)

    @property
    def names(self) -> list[str]:
        """The labels of all runs with files, the most recently changed first."""
        of_all = {**self._unloaded, **{key: run.listed for key, run in self._runs.items()}}
        with_files = [(key, files.values()) for key, files in of_all.items() if files]
        with_files.sort(key=lambda one: max(status.modified for status in one[1]), reverse=True)
        return list(dict.fromkeys(label(name) for (_, name), _ in with_files))

    @property
    def version(self) -> tuple[int, ...]:
        """See samples.Source."""
        return self.faults.version, len(self._runs), self._active, len(self._unloaded)

    @property
    def _active(self) -> int:
        return sum(not run.ended for run in self._runs.values())

    def samples(self) -> Iterator[Sample]:
        """See samples.Source."""
        yield Sample(RUNS_KNOWN, ("on",), self._active)
        yield Sample(RUNS_KNOWN, ("ended",), len(self._runs) - self._active)
        yield from self.faults.samples()

    def fault(self, reason: str, sentence: str) -> None:
        """Report a fault of the configuration."""
        self._configured[sentence] = None
        self.faults.say(reason, sentence)

    def poll(self, now: float, elapsed: float | None = None) -> bool:
        """Take all steps at once; `elapsed` is `now` by default. Returns `more`."""
        for _ in self.steps(now, now if elapsed is None else elapsed):
            pass
        return self.more

    def steps(self, now: float, elapsed: float) -> Iterator[None]:
        """Check all files and read what is new; between two steps the caller may do other things, such as take samples.

        `now` is Unix time, `elapsed` the seconds of a clock that cannot be set. It raises nothing: input that cannot be
        used is counted and logged.
        """
        self.more = True
        passed = self._pass_time(now, elapsed)
        self._discover(now, passed)
        for key, run in list(self._runs.items()):
            if elapsed >= run.due:
                self._look_at(key, run, now)
            yield
        taken = 0
        due = [run for run in self._runs.values() if elapsed >= run.due]
        for run in sorted(due, key=attrgetter("modified"), reverse=True):
            if taken >= BUDGET:
                return
            read = 0
            try:
                read = run.read(CHUNK, now)
            except Exception as error:
                self._break(run, error)
            taken += read
            run.due = elapsed + _ENDED_EVERY if run.ended and not read else 0.0
            yield
        for sentence in self._twins():
            if sentence not in self._said:
                self._said.add(sentence)
                self.faults.say("twins", sentence)
        self._unload_old()
        self.looked = not self._unseen
        self.more = taken >= CHUNK or bool(self._unseen or self.behind) or not all(run.caught_up for run in due)

    def _pass_time(self, now: float, elapsed: float) -> float:
        """Advance both clocks; returns the seconds since the last look."""
        passed, self._elapsed = elapsed - self._elapsed, elapsed
        if passed < 0:
            for run in self._runs.values():
                run.due = 0.0
        ahead = now - elapsed
        by = 0.0 if self._ahead is None else ahead - self._ahead
        self._ahead = ahead
        if abs(by) >= _CLOCK_SET:
            if abs(by) >= 1:
                _log.warning("the clock was set %s by %.1f s", "forward" if by > 0 else "back", abs(by))
            for run in self._runs.values():
                run.clock_was_set(by)
        return passed

    def _break(self, run: ObservedRun, error: Exception) -> None:
        """Note a bug that one run meets: it must not affect the others."""
        why = f"{type(error).__name__}: {error}"
        run.broken = f"its files cannot be looked at: {why}; please report this"
        self.faults.say("internal", f"run {run.name}: {run.broken}", error)

    def _discover(self, now: float, passed: float) -> None:
        """Find out which runs there are, and which of those outside memory have changed."""
        gone, appeared = self.roots.look(self._elapsed)
        for key in gone:
            for known in (self._runs, self._unloaded, self._empty, self._unseen):
                known.pop(key, None)
        self._found = [found for found in self._found if found[1] not in gone]
        self._unseen.update(dict.fromkeys(appeared))
        new = islice(self._unseen, _NEW_AT_ONCE)
        turn = islice(self._unloaded, max(1, round(_UNLOADED_A_SECOND * min(passed, 1.0))))
        newest = islice(reversed(self._empty), _EMPTY_WATCHED)
        for key in dict.fromkeys([*new, *turn, *newest]):
            self._unseen.pop(key, None)
            files = self.roots.files(key) or {}
            before = self._unloaded.pop(key, None)
            if not files or files == before:
                self._unloaded[key] = files
                if not files:
                    self._empty.setdefault(key)
                continue
            self._empty.pop(key, None)
            if before:
                self._load(key, files, now)
            else:
                self._found.append((max(status.modified for status in files.values()), key, files))
        if not self._unseen and self._found:  # load the newest, and those that may be active
            self._found.sort(key=itemgetter(0), reverse=True)
            for rank, (modified, key, files) in enumerate(self._found):
                if rank < self._settings.keep or now - modified <= self._settings.abandoned_after:
                    self._load(key, files, now)
                else:
                    self._unloaded[key] = files
            self._found.clear()

    def _look_at(self, key: RunKey, run: ObservedRun, now: float) -> None:
        files = self.roots.files(key)
        if not files:
            if files is not None:  # it has none any more
                del self._runs[key]
                self._unloaded[key], self._empty[key] = {}, None
        elif not run.broken:
            self._look(run, files, now)
        elif files.keys() != run.listed.keys():
            self._load(key, files, now)

    def _look(self, run: ObservedRun, files: _Files, now: float) -> None:
        try:
            run.look(files, now)
        except Exception as error:
            self._break(run, error)

    def _load(self, key: RunKey, files: _Files, now: float) -> None:
        run = ObservedRun(self._place(key, files), self._settings, self._buckets, self.faults, self._here)
        self._look(run, files, now)
        self._runs[key] = run

    def _unload_old(self) -> None:
        ended = [key for key, run in self._runs.items() if run.ended and run.caught_up]
        if len(ended) > self._settings.keep:
            ended.sort(key=lambda key: (self._runs[key].end, key), reverse=True)
            for key in ended[self._settings.keep :]:
                self._unloaded[key] = self._runs.pop(key).listed
