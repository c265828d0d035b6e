"""A run looks the same whoever reads it: live, after a restart, and offline, wherever its recording is cut.

The files grow in pieces, with the modification times that the recording's own times give them. After each piece, and
when the silence has lasted so long that a run counts as abandoned, a reader that has read each piece as it came shows
what one shows that begins now. At the end, so does the replay that all offline commands use.
"""

import os
import random
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from benchwatch.history.find import open_run
from benchwatch.history.replay import Replay
from benchwatch.metrics.buckets import Buckets
from benchwatch.runs import stream
from benchwatch.runs.files import listing
from benchwatch.runs.observed_run import ObservedRun
from benchwatch.runs.observer import Observer
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
"""How many of the recordings are not cut."""
ABANDONED = 3600.0
"""Seconds after which every silent run is abandoned."""
SETTINGS, BUCKETS = RunsSettings(), Buckets(1)

Page = Mapping[tuple[str, ...], object]


def recordings(tool: str) -> Iterator[Recording]:
    """The newest recording of each group that has output of a moderate size."""
    for name, group in groups().items():
        newest = group[-1]
        size = sum(path.stat().st_size for path in newest.files.values())
        if name.startswith(f"{tool}/") and 0 < size < LARGEST:
            yield newest


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
    return ObservedRun(folder.name, folder, SETTINGS, BUCKETS, Faults())


def replayed(folder: Path, now: float) -> dict[str, Replay]:
    run = open_run(folder.name, folder, SETTINGS, BUCKETS)
    found = {name: run.new_worker(name, Replay) for name in run.plans}
    for replay in found.values():
        for _ in replay.play(run.files, now, complete=True):
            pass
        replay.tick(now)  # a replay stops its clock when a run has ended
    return found


def times_of(recording: Recording, folder: Path) -> tuple[float, float]:
    """When it began and last reported according to its output, Unix seconds; at least some seconds apart.

    A later report is dated by its file.
    """
    recording.put(folder)
    replays = replayed(folder / recording.name, recording.end).values()
    workers = [one for one in replays if not one.timeline().by_file_time]
    reports = [one.state.last_report for one in workers if one.state.last_report is not None]
    start = min((one.start for one in workers if one.start is not None), default=recording.start)
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
    chance = random.Random(part_of_them)
    differing = {}
    for recording in list(recordings(tool))[part_of_them::PARTS]:
        start, end = times_of(recording, tmp_path / "whole")
        contents = {name: path.read_bytes() for name, path in recording.files.items()}
        folder = tmp_path / recording.name
        folder.mkdir()
        live = fresh(folder)
        parts = sorted(chance.random() for _ in range(PIECES))
        if chance.random() < WHOLE:
            parts[-1] = 1.0
        before, readings = 0.0, []
        for part in parts:
            moment = start + part * (end - start)
            for name, content in contents.items():
                with (folder / name).open("ab") as file:
                    file.write(content[int(before * len(content)) : int(part * len(content))])
                os.utime(folder / name, (moment, moment))
            before = part
            readings.append((moment, read_live(live, moment), read_live(fresh(folder), moment)))
        later = moment + ABANDONED
        readings.append((later, read_live(live, later), read_live(fresh(folder), later)))
        for time, one, other in readings:
            differing[recording.name, part, f"at {time}: live, restarted"] = differences(one, other, end - start)
        offline = shown(replayed(folder, later).values())
        differing[recording.name, part, "restarted, offline"] = differences(readings[-1][2], offline)
    lines = [f"{where}: {what}: {values}" for where, found in differing.items() for what, values in found.items()]
    assert not lines, "\n".join(lines)
