"""What the runs of a folder came to: plain data, remembered from one command to the next.

Replaying the runs of months takes many seconds. What came of it is kept in the user's cache folder, a file for each
folder of runs: $XDG_CACHE_HOME/benchwatch, by default ~/.cache/benchwatch. It counts as long as the files of a run have
the same identity, size and times, and program and settings are the same. Runs that may still change are read each time:
those that have not ended, and those with files that changed a moment ago or cannot be read. A file of the cache that is
damaged counts for nothing, one that cannot be written is not written, and any may be deleted at any time.
"""

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..compare.measures import MEASURES
from ..compare.result import Outcome, Result
from ..history.find import open_run, reading
from ..runs.files import FileStatus
from ..runs.phase import ENDED
from ..runs.place import RunPlace
from ..settings.settings import RunsSettings
from ..values import forked
from ..values.input_files import shown
from ..values.version import VERSION
from .subject import of_run

_KEPT_SECONDS = 90 * 86400.0
"""A file of the cache that was not written for so long is deleted."""


class PastRun(msgspec.Struct, frozen=True):
    """One run."""

    files: Mapping[bytes, FileStatus]
    intervals: bool
    """Whether its figures have intervals."""
    labels: Mapping[str, str]
    results: tuple[Outcome, ...]
    problems: tuple[str, ...]
    """What could not be read, a clause each."""


class _Memories(msgspec.Struct):
    """A file of the cache."""

    basis: str
    """The program and the settings with which the runs were read."""
    runs: dict[bytes, PastRun]
    """By folder and name."""


class _Read(NamedTuple):
    """What came of reading a run."""

    run: PastRun | None
    """None without these labels, or if it cannot be read."""
    stays: bool
    """Whether it can be expected to stay as it is."""
    unreadable: Sequence[str]
    """What cannot be read, a sentence each."""


def past_runs(
    places: Iterable[RunPlace],
    settings: RunsSettings,
    labels: Mapping[str, str],
    unreadable: list[str],
    *,
    intervals: bool,
) -> Iterator[tuple[RunPlace, PastRun]]:
    """The runs with these labels, remembered or read; `unreadable` takes a sentence for each that cannot be read.

    Without `intervals`, a run may have none, which takes a third of the time.
    """
    folders: dict[Path, _Folder] = {}
    basis = f"{VERSION} {_program()} {settings}"
    found: list[tuple[RunPlace, _Folder, PastRun | None]] = []
    for place in places:
        above = place.folder.parent if place.own else place.folder
        folder = folders.get(above) or folders.setdefault(above, _Folder(above, basis))
        found.append((place, folder, folder.recall(place, intervals=intervals)))
    unknown = [place for place, _, run in found if run is None]
    read = partial(_read, settings=settings, labels=labels, intervals=intervals)
    answers = forked.each(read, unknown, "runs read")
    try:
        for place, folder, run in found:
            if run is None:
                run, stays, sentences = next(answers)
                unreadable += sentences
                if run is not None and stays:
                    folder.keep(place, run)
            if run is not None and labels.items() <= run.labels.items():
                yield place, run
    finally:
        for folder in folders.values():
            folder.save()


def _read(place: RunPlace, *, settings: RunsSettings, labels: Mapping[str, str], intervals: bool) -> _Read:
    unreadable: list[str] = []
    with reading(place.path, unreadable):
        run = open_run(place, settings)
        if not labels.items() <= run.labels.items():
            return _Read(None, False, run.misread)
        results = of_run(run, course=intervals)
        found = PastRun(_files(place), intervals, run.labels, tuple(map(_plain, results)), (*run.bugs, *run.missing))
        ended = all(worker.state in ENDED for result in results for worker in result.workers)
        settled = all(status.settled for status in place.files.values())
        stays = ended and settled and not run.misread and not found.problems and shown(run.folder) == run.folder
        return _Read(found, stays, run.misread)
    return _Read(None, False, unreadable)


class _Folder:
    """What is remembered of a folder of runs."""

    def __init__(self, folder: Path, basis: str) -> None:
        self._folder = folder
        self._basis = basis
        self._file = _cache_file(folder)
        self._runs: dict[bytes, PastRun] = {}
        self._asked: set[bytes] = set()
        self._changed = False
        with suppress(OSError, msgspec.DecodeError):
            content = msgspec.msgpack.decode(self._file.read_bytes() if self._file else b"", type=_Memories)
            if content.basis == self._basis:
                self._runs = content.runs

    def recall(self, place: RunPlace, *, intervals: bool) -> PastRun | None:
        """What is known of a run, if that still holds."""
        key = _key(place)
        self._asked.add(key)
        known = self._runs.get(key)
        if known is None or known.files != _files(place) or (intervals and not known.intervals):
            return None
        return known

    def keep(self, place: RunPlace, run: PastRun) -> None:
        """Remember a run."""
        self._runs[_key(place)] = run
        self._changed = True

    def save(self) -> None:
        """Write what is known of the runs that exist."""
        if not self._changed or self._file is None:
            return
        kept = {key: one for key, one in self._runs.items() if key in self._asked or self._exists(key, one)}
        beside = self._file.with_suffix(f".{os.getpid()}")
        with suppress(OSError, UnicodeEncodeError):
            content = msgspec.msgpack.encode(_Memories(self._basis, kept), enc_hook=float)
            for folder in (self._file.parent.parent, self._file.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
            try:
                beside.write_bytes(content)
                beside.replace(self._file)
            finally:
                beside.unlink(missing_ok=True)
            for other in self._file.parent.iterdir():
                if time.time() - other.stat().st_mtime > _KEPT_SECONDS:
                    other.unlink()

    def _exists(self, key: bytes, run: PastRun) -> bool:
        folder, _, _ = key.partition(b"/")
        return any((self._folder / os.fsdecode(folder) / os.fsdecode(name)).exists() for name in run.files)


def _key(place: RunPlace) -> bytes:
    return os.fsencode(f"{place.folder.name if place.own else ''}/{place.name}")


def _files(place: RunPlace) -> Mapping[bytes, FileStatus]:
    return {os.fsencode(name): status for name, status in place.files.items()}


def _cache_file(folder: Path) -> Path | None:
    """The file of the cache for a folder of runs; None without a cache folder."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    above = given if os.path.isabs(given) else os.path.expanduser("~/.cache")  # noqa: PTH111, PTH117
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
    return Path(above, "benchwatch", f"{name}.runs") if os.path.isabs(above) else None  # noqa: PTH117


def _program() -> str:
    """A digest of the names, sizes and times of this package's files."""
    folder = Path(__file__).parents[1]
    statuses = ((path, path.stat()) for path in sorted(folder.rglob("*.py")))
    known = [(str(path.relative_to(folder)), one.st_size, one.st_mtime_ns) for path, one in statuses]
    return hashlib.sha256(repr(known).encode()).hexdigest()


def _plain(result: Result) -> Outcome:
    """The result without what it was measured from, and with the figures of what is watched."""
    groups = {group for group, _ in result.watched}
    figures = {key: one for key, one in result.figures.items() if key[0] in groups and key[1] in MEASURES}
    kept = {name: getattr(result, name) for name in Outcome.__struct_fields__}
    return Outcome(**{**kept, "figures": figures})
