"""A run looks the same whoever reads it: live, after a restart, and offline, wherever its recording is cut.

The files grow in pieces, with the modification times that the recording's own times give them. After each piece, and
when the silence has lasted so long that a run counts as abandoned, a reader that has read each piece as it came shows
what one shows that begins now. At the end, so does the replay that all offline commands use.
"""

import os
import random
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from benchwatch.history.find import open_run
from benchwatch.history.replay import Replay
from benchwatch.metrics.buckets import Buckets
from benchwatch.runs import stream
from benchwatch.runs.files import listing
from benchwatch.runs.observed_run import ObservedRun
from benchwatch.runs.observer import Observer
from benchwatch.runs.place import RunPlace
from benchwatch.runs.unusable import Faults
from benchwatch.settings.settings import RunsSettings
from tests.golden.layout import TOOLS, Recording, groups

LARGEST = 2_000_000
"""Bytes of the largest recording that is read here."""
PARTS = 2
"""Into how many tests the recordings of a tool are divided."""
PIECES = 4
LONGEST = 120.0
"""Seconds that the longest recording took."""
WHOLE = 0.25
"""How many of the recordings are not cut, and how many pieces begin a new file where files are rotated."""
SHAPED = 4
"""Recordings of a tool that are rotated, or followed by another tool's."""
ABANDONED = 3600.0
"""Seconds after which every silent run is abandoned."""
SETTINGS, BUCKETS = RunsSettings(), Buckets(1)

Page = Mapping[tuple[str, ...], object]


@cache
def recordings(tool: str) -> Sequence[Recording]:
    """The newest recording of each group that has output of a moderate size."""
    found = []
    for name, group in groups().items():
        newest = group[-1]
        size = sum(path.stat().st_size for path in newest.files.values())
        if name.startswith(f"{tool}/") and 0 < size < LARGEST:
            found.append(newest)
    return found


def shown(workers: Iterable[Observer]) -> Page:
    """What is known of each worker, whether or not it still has a place on the page of metrics."""
    found: dict[tuple[str, ...], object] = {}
    for worker in workers:
        known = worker.state.samples(worker.current)
        found |= {(worker.name, sample.family.name, *sample.labels): sample.value for sample in known}
        for name in ("phase", "reason", "start", "parameters", "notes"):
            found[worker.name, name] = getattr(worker, name)
        found[worker.name, "end"] = worker.end if worker.ended else None
        for one in worker.streams:
            found[worker.name, one.plan.name, "read"] = one.size, one.parser.records, dict(one.errors)
    return found


def read_live(run: ObservedRun, now: float) -> Page:
    run.look(listing(run.folder).files, now)
    while run.read(1 << 20, now):
        pass
    return shown(run.workers)


def fresh(folder: Path) -> ObservedRun:
    return ObservedRun(RunPlace(folder.name, folder, {}), SETTINGS, BUCKETS, Faults())


def replayed(folder: Path, now: float) -> dict[str, Replay]:
    run = open_run(RunPlace(folder.name, folder, listing(folder).files), SETTINGS, BUCKETS)
    found = {name: Replay(run, name) for name in run.plans}
    for replay in found.values():
        for _ in replay.play(run.files, now, complete=True):
            pass
        replay.worker.tick(now)  # a replay stops its clock when a run has ended
    return found


def times_of(recording: Recording, folder: Path) -> tuple[float, float]:
    """When it began and last reported according to its output, Unix seconds; at least some seconds apart.

    A later report is dated by its file.
    """
    recording.put(folder)
    replays = replayed(folder / recording.name, recording.end).values()
    workers = [one for one in replays if not one.timeline().by_file_time]
    reports = [one.worker.state.last_report for one in workers if one.worker.state.last_report is not None]
    start = min((one.worker.start for one in workers if one.worker.start is not None), default=recording.start)
    return start, min(max([*reports, start + 5.0]), start + LONGEST)


def differences(one: Page, other: Page, tolerance: float = 0.0) -> dict[tuple[str, ...], tuple[object, object]]:
    """What differs; starts and ends may by `tolerance`, seconds.

    Output without times is dated by when its file was written, of which a reader that comes later knows only the last.
    """
    found = {key: (one.get(key), other.get(key)) for key in {*one, *other} if one.get(key) != other.get(key)}
    return {key: values for key, values in found.items() if key[-1] not in _TIMES or not _near(*values, tolerance)}


_TIMES = ("start", "end")


def _near(one: object, other: object, tolerance: float) -> bool:
    return isinstance(one, float) and isinstance(other, float) and abs(one - other) <= tolerance


@pytest.mark.slow(5)
@pytest.mark.parametrize("part_of_them", range(PARTS))
@pytest.mark.parametrize("tool", TOOLS)
def test_whoever_reads_a_run_shows_the_same(
    tool: str, part_of_them: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "birth", lambda _path: None)  # a copy was created today
    chance, lines = random.Random(part_of_them), []
    for recording in recordings(tool)[part_of_them::PARTS]:
        contents = {name: path.read_bytes() for name, path in recording.files.items()}
        lines += differing(recording, contents, chance, tmp_path, rotated=False)
    assert not lines, "\n".join(lines)


@pytest.mark.slow(5)
@pytest.mark.parametrize("tool", TOOLS)
def test_rotated_files_and_those_of_two_tools_look_the_same_too(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "birth", lambda _path: None)
    chance, lines = random.Random(tool), []
    every = recordings(tool)
    others = [one for name in TOOLS if name != tool for one in recordings(name)]
    for recording in chance.sample(every, min(SHAPED, len(every))):
        contents = {name: path.read_bytes() for name, path in recording.files.items()}
        after = chance.choice([path.read_bytes() for path in chance.choice(others).files.values()])
        lines += differing(recording, contents, chance, tmp_path / "rotated", rotated=True)
        first, *more = contents
        two = {first: contents[first] + after, **{name: contents[name] for name in more}}
        lines += differing(recording, two, chance, tmp_path / "two", rotated=False)
    assert not lines, "\n".join(lines)


def differing(
    recording: Recording, contents: Mapping[str, bytes], chance: random.Random, place: Path, *, rotated: bool
) -> list[str]:
    """What readers show differently while these files grow; if they are `rotated`, texts are renamed to older parts."""
    start, end = times_of(recording, place / "whole")
    found = {}
    folder = place / recording.name
    folder.mkdir(parents=True)
    live = fresh(folder)
    parts = sorted(chance.random() for _ in range(PIECES))
    if chance.random() < WHOLE:
        parts[-1] = 1.0
    before, readings = 0.0, []
    for part in parts:
        moment = start + part * (end - start)
        for name, content in contents.items():
            if rotated and chance.random() < WHOLE:
                rotate(folder / name)
            with (folder / name).open("ab") as file:
                file.write(content[int(before * len(content)) : int(part * len(content))])
            os.utime(folder / name, (moment, moment))
        before = part
        readings.append((moment, read_live(live, moment), read_live(fresh(folder), moment)))
    later = moment + ABANDONED
    readings.append((later, read_live(live, later), read_live(fresh(folder), later)))
    for time, one, other in readings:
        found[f"at {time}: live, restarted"] = differences(one, other, end - start)
    offline = shown(one.worker for one in replayed(folder, later).values())
    found["restarted, offline"] = differences(readings[-1][2], offline)
    where = recording.name, parts
    return [f"{where}, {what}: {key}: {values}" for what, each in found.items() for key, values in each.items()]


def rotate(path: Path) -> None:
    """Rename it to part 1, and older parts to the next numbers; the log of a process is never rotated."""
    if path.exists() and path.stat().st_size and path.suffix[1:].isalpha():
        older = sorted(path.parent.glob(f"{path.name}.[0-9]"), reverse=True)
        for part in older:
            part.rename(path.with_name(f"{path.name}.{int(part.suffix[1:]) + 1}"))
        path.rename(path.with_name(f"{path.name}.1"))
