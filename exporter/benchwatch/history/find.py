"""Finds the runs that paths name, and reads their output once, as it is now."""

import glob
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from pathlib import Path

from ..metrics.buckets import Buckets
from ..runs.files import listing
from ..runs.layout import STANDARD_STREAMS, group_name
from ..runs.observed_run import ObservedRun
from ..runs.place import RunPlace
from ..runs.unusable import Faults
from ..settings.record import SUFFIX, load_runfile
from ..settings.settings import RunsSettings
from ..tools import registry
from ..values.errors import FAILED, ConfigError, UserError
from ..values.input_files import shown, unopened
from ..values.names import label, natural

NO_HISTOGRAMS = Buckets(1)
"""For what needs no histograms of the page: exact percentiles come from all bins."""
_CHUNK = 1024 * 1024
_GREETING = 1024
"""Bytes that a tool may print on standard output before it measures anything; results are longer."""
_NUMBER = re.compile(r"[1-9]\d{0,8}")


def read_runs(paths: Iterable[Path], settings: RunsSettings, buckets: Buckets = NO_HISTOGRAMS) -> list[ObservedRun]:
    """The runs in these files and folders (see find_runs), read to their end and judged as of their last change.

    The last line of a file counts even if its newline is missing.
    """
    runs = find_runs(paths, settings, buckets)
    for run in runs:
        _read(run)
    return runs


def _read(run: ObservedRun) -> None:
    while run.read(_CHUNK, run.modified):
        pass
    for worker in run.workers:
        worker.over()
        worker.tick(run.modified)


def find_runs(
    paths: Iterable[Path],
    settings: RunsSettings,
    buckets: Buckets = NO_HISTOGRAMS,
    *,
    different: str = "",
    unreadable: list[str] | None = None,
) -> list[ObservedRun]:
    """The runs in these files and folders (see find_places), not yet read. Raises ConfigError and OSError."""
    runs: list[ObservedRun] = []
    most: dict[str, int] = {}  # by what was asked for with a number: how many runs a file holds
    for place in find_places(paths, settings, different=different, unreadable=unreadable):
        run = open_run(place, settings, buckets)
        if place.number:
            most[place.asked] = max(most.get(place.asked, 0), run.choose(place.number))
        if run.plans or not place.number:
            runs.append(run)
    for asked, number in most.items():
        if number and all(run.place.asked != asked for run in runs):
            path = asked.rpartition("#")[0]
            expected = f"#1 to #{number}" if number > 1 else "the path alone"
            raise ConfigError(
                f"{asked}: {path} holds {number} run{'s' * (number > 1)} in one file; expected {expected}"
            )
    return runs


def find_places(
    paths: Iterable[Path], settings: RunsSettings, *, different: str = "", unreadable: list[str] | None = None
) -> list[RunPlace]:
    """The runs in these files and folders.

    A folder that contains folders holds runs, at any depth; any other folder is one run, and so are the files beside
    folders below the first level; a file is a run named after it. PATH#3 is
    the third of several runs in one file (of each file in a folder), unless a path of that name exists. A path that
    does not exist may name an experiment, and stands for its repeats. A run that several paths name is returned once.
    Raises ConfigError if `different` (the name of a command) is given for such a run, and for a path that cannot be
    read; with `unreadable`, a folder that cannot be read is left out, and its sentence added there.
    """
    files: dict[Path, list[str]] = {}
    found: list[RunPlace] = []
    for given in paths:
        try:
            if choice := chosen(given):
                found += _numbered(*choice, settings)
                continue
            for path in [given] if given.exists() else repeats(given, settings) or [given]:
                if path.is_dir():
                    content = listing(path)
                    if not content.folders:
                        found += _nested(path, unreadable, set())
                    for name in sorted(content.folders):
                        found += _nested(path / name, unreadable, {path.resolve()})
                    if content.folders and content.files:
                        files.setdefault(path, []).extend(content.files)
                else:
                    path.stat()
                    files.setdefault(path.parent, []).append(path.name)
        except OSError as error:
            raise ConfigError(_cannot_be_read(given, error)) from error
    for folder, names in files.items():
        found += _beside(folder, names)
    real = {folder: folder.resolve() for folder in {place.folder for place in found}}
    each: dict[object, RunPlace] = {}
    for place in found:
        each.setdefault((real[place.folder], place.number, *sorted(place.outputs)), place)
    if different and len(each) < len(found):
        raise ConfigError(f"{different}: the same run was given twice; expected different ones")
    taken = Counter(place.name for place in each.values())
    return [place if taken[place.name] == 1 else place._replace(name=_by_path(place)) for place in each.values()]


def _by_path(place: RunPlace) -> str:
    """A name that no other run has."""
    folder = label(shown(place.folder))
    if not place.own:
        return f"{folder}/{place.name}"
    return f"{folder}#{place.number}" if place.number else folder


def _beside(folder: Path, names: Iterable[str]) -> Iterator[RunPlace]:
    """The runs of these files in a folder of many. Raises OSError."""
    groups: dict[str, list[str]] = {}
    beside = frozenset(names)
    there = listing(folder).files
    for name in sorted(beside):
        group = folder.resolve().name if name in STANDARD_STREAMS else group_name(name, beside)
        groups.setdefault(group, []).append(name)
    for group, members in groups.items():
        yield RunPlace(label(group), folder, {name: there[name] for name in members if name in there}, own=False)


def _nested(folder: Path, unreadable: list[str] | None, above: Set[Path]) -> Iterator[RunPlace]:
    """The run in a folder, and those in its folders; no folder twice, as links could lead back to one."""
    inner: Iterable[str] = ()
    real = folder.resolve()
    with reading(folder, unreadable):
        found = listing(folder)
        if found.files or not found.folders:
            yield RunPlace(label(real.name), folder, found.files)
        inner = sorted(found.folders)
    for name in inner if real not in above else ():
        yield from _nested(folder / name, unreadable, above | {real})


def _numbered(path: Path, number: int, settings: RunsSettings) -> Iterator[RunPlace]:
    """The runs in a path, of each the one with this number, without records: they belong to the last one."""
    for place in find_places([path], settings):
        name = f"{place.name}#{number}"
        yield place._replace(name=name, files=place.outputs, number=number, asked=f"{path}#{number}")


@contextmanager
def reading(run: Path, unreadable: list[str] | None) -> Iterator[None]:
    """Read one of several runs: what goes wrong is added to `unreadable`, a sentence; None: it is raised."""
    try:
        yield
    except Exception as error:
        if unreadable is None:
            raise
        unreadable.append(_cannot_be_read(run, error))


def _cannot_be_read(path: Path, error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or path}: cannot be read: {error.strerror}; expected a file or a folder"
    return f"{path}: cannot be read: {type(error).__name__}: {error}; please report this"


def nothing_recognised(paths: Iterable[Path]) -> UserError:
    """The error of a command that found no output of any tool in these paths."""
    paths = list(paths)
    names = ", ".join(str(shown(path)) for path in paths)
    packed = unopened(file for path in paths if path.is_dir() for file in path.rglob("*"))
    return UserError(f"nothing recognised in {names}: expected output of {registry.names()}", FAILED, packed)


def find_worker(folder: Path, worker: str, settings: RunsSettings, *, logs: bool = True) -> ObservedRun:
    """The run in that folder with only this worker, read as by read_runs; without `logs`, only what it printed."""
    run = open_run(RunPlace(label(folder.resolve().name), folder, listing(folder).files), settings)
    name = label(worker)
    own = [plan for plan in run.plans.get(name, ()) if logs or not plan.is_log]
    run.restrict({name: own} if own else {})
    _read(run)
    return run


def failed_start(folder: Path, worker: str) -> str | None:
    """Why a benchmark failed before it measured anything; None if it may have measured something, or may still run.

    Another start may use the name of such a worker.
    """
    try:
        record = load_runfile(folder / f"{worker}{SUFFIX}", RunsSettings())
        if not record.exit_code:
            return None
        found = find_worker(folder, worker, RunsSettings()).workers
        output = folder / f"{worker}.out"
        printed = output.stat().st_size if output.exists() else 0
    except (UserError, OSError):
        return None
    measured = any(worker.state.figures().operations or worker.state.history for worker in found)
    if measured or printed > (_GREETING if found else 0):
        return None
    return next((worker.reason for worker in found if worker.reason), f"exit code {record.exit_code}")


def one_thing(path: Path, settings: RunsSettings) -> list[Path]:
    """The path of one run, or the paths of the repeats of one experiment.

    Raises ConfigError if the path names neither, or both.
    """
    there = chosen(path) is not None or path.exists()
    found = repeats(path, settings, tolerant=there)
    if there and found:
        raise ConfigError(
            f"{path}: a run, and an experiment of {len(found)} runs ({found[0].name} ...); expected the name "
            f"of one thing: rename one of them, or move it out of {path.parent}"
        )
    if not there and not found and glob.has_magic(str(path)):
        raise ConfigError(f"{path}: matches no file and no folder")
    if not there and not found:
        raise ConfigError(
            f"{path}: no such run; expected a file, a folder, or the name of an experiment, "
            f"whose repeats are {path.name}-1, {path.name}-2 ... in {path.parent}"
        )
    return found or [path]


def repeats(path: Path, settings: RunsSettings, *, tolerant: bool = False) -> list[Path]:
    """The runs of the experiment `path.name`, in the order of their numbers; empty if there is no such experiment.

    They are the folders `<name>-...` whose records say `repeat_of: <name>` or, for the points of a sweep,
    `sweep: {of: <name>}`. Raises ConfigError for a record that cannot be read, unless `tolerant`.
    """
    try:
        beside = list(path.parent.iterdir()) if path.name and path.parent.is_dir() else []
    except OSError:  # the folder may be entered, but not listed
        beside = []
    named = sorted((one for one in beside if one.name.startswith(f"{path.name}-")), key=lambda one: natural(one.name))
    return [one for one in named if _repeats(one, path.name, settings, tolerant=tolerant)]


def _repeats(folder: Path, name: str, settings: RunsSettings, *, tolerant: bool) -> bool:
    try:
        paths = folder.glob(f"*{SUFFIX}") if folder.is_dir() else ()
        records = (load_runfile(path, settings) for path in paths)
        return any(name in (one.repeat_of, one.sweep and one.sweep.of) for one in records)
    except (ConfigError, OSError):
        if tolerant:
            return False
        raise


def chosen(path: Path) -> tuple[Path, int] | None:
    """The path and the number in PATH#3; None for any other path."""
    left, _, number = path.name.rpartition("#")
    there = path.with_name(left) if left else path.parent
    return (there, int(number)) if _NUMBER.fullmatch(number) and not path.exists() and there.exists() else None


def open_run(place: RunPlace, settings: RunsSettings, buckets: Buckets = NO_HISTOGRAMS) -> ObservedRun:
    """That run, not yet read. Raises OSError."""
    run = ObservedRun(place, settings, buckets, Faults())
    run.look(place.files, place.modified)
    return run
