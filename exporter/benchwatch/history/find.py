"""Finds the runs that paths name, and reads their output once, as it is now."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from pathlib import Path

from ..metrics.buckets import Buckets
from ..runs.files import Listing, listing
from ..runs.layout import STANDARD_STREAMS, group_name
from ..runs.observed_run import ObservedRun
from ..runs.unusable import Faults
from ..settings.record import NAME, SUFFIX, load_runfile
from ..settings.settings import RunsSettings
from ..tools import registry
from ..values.errors import FAILED, ConfigError, UserError
from ..values.input_files import shown
from ..values.names import label, natural

_CHUNK = 1024 * 1024
_GREETING = 1024
"""Bytes that a tool may print on standard output before it measures anything; results are longer."""
_NUMBER = re.compile(r"[1-9]\d{0,8}")


def read_runs(paths: Iterable[Path], settings: RunsSettings, buckets: Buckets) -> list[ObservedRun]:
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
    buckets: Buckets,
    *,
    different: str = "",
    unreadable: list[str] | None = None,
) -> list[ObservedRun]:
    """The runs in these files and folders, not yet read.

    A folder that contains folders holds runs, at any depth; any other folder is one run, and so are the files beside
    folders below the first level; a file is a run named after it. PATH#3 is
    the third of several runs in one file (of each file in a folder), unless a path of that name exists. A path that
    does not exist may name an experiment, and stands for its repeats. A run that several paths name is returned once.
    Raises ConfigError if `different` (the name of a command) is given for such a run, and for a path or run that cannot
    be read; with `unreadable`, such a run is left out, and its sentence added there.
    """
    files: dict[Path, list[str]] = {}
    runs = []
    for path in (one for given in paths for one in _expanded(given, settings)):
        try:
            if choice := chosen(path):
                runs += _choose(*choice, settings, buckets)
                continue
            if path.is_dir():
                found = listing(path)
                if not found.folders:
                    runs += _nested(path, settings, buckets, unreadable, set())
                for name in sorted(found.folders):
                    runs += _nested(path / name, settings, buckets, unreadable, {path.resolve()})
                if found.folders and found.files:
                    files.setdefault(path, []).extend(found.files)
            else:
                path.stat()
                files.setdefault(path.parent, []).append(path.name)
        except OSError as error:
            raise ConfigError(_cannot_be_read(path, error)) from error
    for folder, names in files.items():
        groups: dict[str, list[str]] = {}
        beside = frozenset(names)
        there = listing(folder)
        for name in sorted(names):
            group = folder.resolve().name if name in STANDARD_STREAMS else group_name(name, beside)
            groups.setdefault(group, []).append(name)
        for group, members in groups.items():
            with reading(folder / group, unreadable):
                runs.append(open_run(label(group), folder, settings, buckets, members, there, alone=False))
    real = {folder: folder.resolve() for folder in {run.folder for run in runs}}
    each: dict[object, ObservedRun] = {}
    for run in runs:
        each.setdefault((real[run.folder], run.chosen, *sorted(run.files)), run)
    if different and len(each) < len(runs):
        raise ConfigError(f"{different}: the same run was given twice; expected different ones")
    taken = Counter(run.name for run in each.values())
    for run in each.values():
        if taken[run.name] > 1:  # then each is named with its folder
            run.rename(f"{label(shown(run.folder))}/{run.name}")
    return list(each.values())


def _nested(
    folder: Path, settings: RunsSettings, buckets: Buckets, unreadable: list[str] | None, above: Set[Path]
) -> Iterator[ObservedRun]:
    """The run in a folder, and those in its folders; no folder twice, as links could lead back to one."""
    inner: Iterable[str] = ()
    real = folder.resolve()
    with reading(folder, unreadable):
        found = listing(folder)
        if found.files or not found.folders:
            yield open_run(label(real.name), folder, settings, buckets, found=found)
        inner = sorted(found.folders)
    for name in inner if real not in above else ():
        yield from _nested(folder / name, settings, buckets, unreadable, above | {real})


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


def _expanded(path: Path, settings: RunsSettings) -> list[Path]:
    try:
        return [path] if chosen(path) or path.exists() else repeats(path, settings) or [path]
    except OSError:  # find_runs reports it when it reads the path
        return [path]


def nothing_recognised(paths: Iterable[Path]) -> UserError:
    """The error of a command that found no output of any tool in these paths."""
    return UserError(
        f"nothing recognised in {', '.join(map(str, paths))}: expected output of {registry.names()}", FAILED
    )


def find_worker(
    folder: Path, worker: str, settings: RunsSettings, buckets: Buckets, *, logs: bool = True
) -> ObservedRun:
    """The run in that folder with only this worker, read as by read_runs; without `logs`, only what it printed."""
    name = label(folder.resolve().name)
    files = {file for file in listing(folder).files if file.startswith(f"{worker}.")}
    # db.2.out does not belong to db.
    plans = open_run(name, folder, settings, buckets, files).plans.get(label(worker), ())
    own = {part for plan in plans if logs or not plan.is_log for part, _ in plan.parts}
    run = open_run(name, folder, settings, buckets, {*own, NAME, f"{worker}{SUFFIX}"})
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
        found = find_worker(folder, worker, RunsSettings(), Buckets(1)).workers
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


def _choose(path: Path, number: int, settings: RunsSettings, buckets: Buckets) -> list[ObservedRun]:
    runs, most = [], 0
    for run in find_runs([path], settings, buckets):
        # Without records: they belong to the last run.
        run = open_run(f"{run.name}#{number}", run.folder, settings, buckets, run.files, alone=run.alone)
        most = max(most, run.choose(number))
        if run.plans:
            runs.append(run)
    if most and not runs:
        expected = f"#1 to #{most}" if most > 1 else "the path alone"
        raise ConfigError(
            f"{path}#{number}: {path} holds {most} run{'s' * (most > 1)} in one file; expected {expected}"
        )
    return runs


def open_run(
    name: str,
    folder: Path,
    settings: RunsSettings,
    buckets: Buckets,
    only: Iterable[str] | None = None,
    found: Listing | None = None,
    *,
    alone: bool = True,
) -> ObservedRun:
    """The run that consists of these files of a folder (by default, all of them), not yet read. Raises OSError.

    `found` is the listing of the folder, if it is known; `alone`: whether no other run has files in it.
    """
    run = ObservedRun(name, folder, settings, buckets, Faults(), alone=alone)
    files = (found or listing(folder)).files
    if only is not None:
        files = {file: files[file] for file in only if file in files}
    run.look(files, max((status.modified for status in files.values()), default=0.0))
    run.read_records(len(files))
    return run
