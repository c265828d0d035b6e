"""Whatever is done to a file, what is shown a moment later is what a fresh reader of the file shows."""

import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from benchwatch.metrics.buckets import Buckets
from benchwatch.runs.files import listing
from benchwatch.runs.observed_run import ObservedRun
from benchwatch.runs.place import RunPlace
from benchwatch.runs.unusable import Faults
from benchwatch.runs.watcher import Runs
from benchwatch.settings.settings import RunsSettings
from tests.support.places import NOW, RECORDINGS, Place
from tests.support.waiting import PATIENCE

from .test_watcher import page, settle, watch

LOOK = 0.25
LOOKS = 400
"""More than enough looks for everything that may take several."""


def lines(number: int, seed: int, first: int = 1) -> bytes:
    """Progress lines of one length, with figures that depend on the seed."""
    chance = random.Random(seed)
    return b"".join(
        b"progress: %06d.0 s, %.1f tps, lat %.3f ms stddev 1.000\n"
        % (second, chance.uniform(1000, 9999), chance.uniform(1, 9))
        for second in range(first, first + number)
    )


def report(seed: int) -> bytes:
    """The final report of a run, of one length."""
    text = (RECORDINGS / "pgbench" / "tpcb-15.18.out").read_bytes()
    assert text.count(b"16154") == 1
    return text.replace(b"16154", b"%d" % random.Random(seed).randint(10000, 99999))


class Watched:
    """Runs that are looked at again and again, on a clock of the test."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.now = NOW
        self.runs = watch(root)

    def look(self) -> dict[str, float]:
        self.now += LOOK
        return self._page(self.runs)

    def fresh(self) -> dict[str, float]:
        return self._page(watch(self.root))

    def _page(self, runs: Runs) -> dict[str, float]:
        """Without what happened while it was watched."""
        found = page(settle(runs, self.now))
        return {series: value for series, value in found.items() if "watch_error" not in series}

    def agrees(self) -> bool:
        """Whether what is shown becomes what a fresh reader shows; waits for that."""
        deadline = time.monotonic() + PATIENCE
        before: dict[str, float] = {}
        for number in range(LOOKS):
            found = self.look()
            if (found != before or number % 8 == 0) and found == self.fresh():  # a fresh reader reads everything
                return True
            before = found
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        return False


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def overwrite(path: Path, data: bytes) -> None:
    """As `> path` does."""
    path.write_bytes(data)


def overwrite_keeping_the_time(path: Path, data: bytes) -> None:
    before = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def overwrite_without_truncating(path: Path, data: bytes) -> None:
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()


def truncate_first(path: Path, data: bytes) -> None:
    os.truncate(path, 0)
    with path.open("ab") as file:
        file.write(data)


def replace(path: Path, data: bytes) -> None:
    beside = path.with_name(".new")
    beside.write_bytes(data)
    beside.replace(path)


def remove_first(path: Path, data: bytes) -> None:
    path.unlink()
    path.write_bytes(data)


WAYS = (overwrite, overwrite_keeping_the_time, overwrite_without_truncating, truncate_first, replace, remove_first)
Way = Callable[[Path, bytes], None]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(report(1), report(2), id="report of the same size"),
        pytest.param(lines(50, 1), lines(50, 2), id="lines of the same size"),
        pytest.param(lines(50, 1), lines(10, 1) + lines(60, 2, 11), id="longer with the same first lines"),
        pytest.param(lines(4000, 1), lines(1000, 1) + lines(4000, 2, 1001), id="longer with the same first blocks"),
        pytest.param(lines(50, 1), lines(20, 1), id="cut off"),
        pytest.param(lines(50, 1), lines(20, 2), id="shorter"),
        pytest.param(
            lines(50, 1), (RECORDINGS / "fio/json-si1-randrw-3.33.out").read_bytes(), id="longer, of another tool"
        ),
        pytest.param(b"x" * len(lines(50, 1)), lines(50, 1), id="of no tool before"),
        pytest.param(lines(50, 1), b"x" * len(lines(50, 1)), id="of no tool any more"),
        pytest.param(b"x" * 100_000 + b"y", lines(4000, 1), id="long and of no tool before"),
        pytest.param(lines(50, 1), b"", id="emptied"),
    ],
)
def test_a_file_that_was_written_anew_is_read_again(
    watched: Watched, place: Place, way: Way, before: bytes, after: bytes
) -> None:
    path = place("r/w.out", before)
    assert watched.look() == watched.fresh()
    for content in (after, before):
        way(path, content)
        assert watched.agrees()


def test_a_file_that_is_written_again_in_the_moment_it_is_read_is_read_again(watched: Watched, place: Place) -> None:
    path = place("r/w.out", report(0))
    for seed in range(1, 200):
        path.write_bytes(report(seed))
        watched.look()
        path.write_bytes(report(seed + 1000))
        assert watched.agrees()


def test_a_record_that_is_written_again_in_the_moment_it_is_read_is_read_again(watched: Watched, place: Place) -> None:
    place("r/w.out", lines(50, 1))
    path = place("r/run.yaml", b"exit_code: 1")
    for number in range(20):
        path.write_bytes(b"exit_code: %d" % (number % 2))
        watched.look()
        path.write_bytes(b"exit_code: %d" % ((number + 1) % 2))
        assert watched.agrees()


def test_a_record_that_is_removed_in_the_moment_it_is_read_is_gone(watched: Watched, place: Place) -> None:
    place("r/w.out", lines(50, 1))
    for _ in range(5):
        path = place("r/w.yaml", b"exit_code: 1")
        watched.look()
        path.unlink()
        assert watched.agrees()


def test_output_that_goes_on_in_a_file_that_was_put_away_is_read(watched: Watched, place: Place) -> None:
    path = place("r/w.out", lines(10, 1))
    with path.open("ab") as writer:
        watched.look()
        path.rename(path.with_name("w.out.1"))
        path.touch()
        for first in (11, 21, 31):
            assert watched.agrees()
            writer.write(lines(10, 1, first))
            writer.flush()
        assert watched.agrees()
        path.write_bytes(lines(10, 1, 51))
        assert watched.agrees()
        writer.write(lines(10, 1, 41))
    assert watched.agrees()
    assert watched.look()['benchwatch_stream_records_total{run="r",worker="w",tool="pgbench"}'] == 60


def test_a_part_that_was_put_away_and_is_written_anew_is_read_again(watched: Watched, place: Place) -> None:
    place("r/w.out.1", lines(10, 1))
    place("r/w.out", lines(10, 1, 11))
    assert watched.look() == watched.fresh()
    (watched.root / "runs/r/w.out.1").write_bytes(lines(10, 2))
    assert watched.agrees()


def test_a_part_that_was_put_away_and_becomes_a_log_is_part_of_the_stream_no_more(
    watched: Watched, place: Place
) -> None:
    place("r/w.out.1", lines(10, 1))
    place("r/w.out", lines(10, 1, 11))
    assert watched.look() == watched.fresh()
    log = b"".join(b"0 %d 1000 0 1790000000 5\n" % number for number in range(5))
    (watched.root / "runs/r/w.out.1").write_bytes(log)
    assert watched.agrees()
    assert watched.look()['benchwatch_stream_records_total{run="r",worker="w",tool="pgbench"}'] == 10


def test_a_file_that_is_written_anew_while_it_becomes_another_worker_is_recognised(
    watched: Watched, place: Place
) -> None:
    path = place("r/w.log", lines(1, 1))
    watched.look()
    log = b"".join(b"0 %d 1000 0 1790000000 5\n" % number for number in range(10))
    path.write_bytes(log)
    place("r/w", RECORDINGS / "fio/json-si1-randrw-3.33.out")
    assert watched.agrees()
    assert watched.look()['benchwatch_stream_records_total{run="r",worker="w.log",tool="pgbench"}'] == 10


def test_a_file_that_another_tool_writes_before_it_is_read_again_is_recognised(place: Place) -> None:
    folder = place("r/w.out", lines(10, 1)).parent
    sysbench = (RECORDINGS / "sysbench/hook-json-1.0.20/hook-json-1.0.20.out").read_bytes()
    run = ObservedRun(RunPlace("r", folder, {}), RunsSettings(), Buckets(1), Faults())

    def look_and_read(times: int) -> None:
        run.look(listing(folder).files, NOW)
        for _ in range(times):
            run.read(1 << 20, NOW)

    look_and_read(2)
    place("r/w.out", lines(20, 2))
    look_and_read(1)  # it was written anew, and is to be read from the start
    run.look(listing(folder).files, NOW)
    place("r/w.out", sysbench * 4)
    look_and_read(2)
    look_and_read(2)
    assert [worker.tool.name for worker in run.workers] == ["sysbench"]


def test_a_log_that_is_written_anew_although_nobody_reads_it_is_recognised_again(
    watched: Watched, place: Place
) -> None:
    def log(begin: int) -> bytes:
        return b"".join(b"0 %d 1000 0 %d 5\n" % (number, begin + number) for number in range(10))

    place("r/w.7", log(1_789_999_000))
    path = place("r/w.7.1", log(1_789_990_000), NOW - 2000)
    watched.look()
    assert watched.agrees()
    records = 'benchwatch_stream_records_total{run="r",worker="w",tool="pgbench"}'
    assert watched.look()[records] == 10
    path.write_bytes(log(1_789_999_000))
    os.utime(path, (NOW - 2000, NOW - 2000))
    assert watched.agrees()
    assert watched.look()[records] == 20


def test_an_abandoned_run_whose_file_is_touched_may_go_on(watched: Watched, place: Place) -> None:
    path = place("r/w.out", lines(10, 1) + b"progress: 11")

    def phases() -> list[str]:
        watched.look()
        return [worker.phase for worker in watched.runs.workers]

    watched.look()
    watched.now += 1000
    assert phases() == ["abandoned"]
    os.utime(path, (watched.now, watched.now))
    assert watched.agrees()
    assert phases() == ["running"]


@pytest.mark.parametrize("after", [b"7", lines(3, 2)])
def test_a_change_beside_a_hole_is_found(watched: Watched, place: Place, after: bytes) -> None:
    path = place("r/w.out", b"\0" * 1000 + lines(10, 1))
    watched.look()
    for offset in (1012, 500):
        with path.open("r+b") as file:
            file.seek(offset)
            file.write(after)
        assert watched.agrees()


def test_a_file_that_is_copied_and_truncated_is_one_stream(watched: Watched, place: Place) -> None:
    path = place("r/w.out", lines(10, 1))
    watched.look()
    for part in (2, 1):
        shutil.copyfile(path, path.with_name(f"w.out.{part}"))
        truncate_first(path, lines(40, 1, 11))
        assert watched.agrees()


def test_a_run_whose_files_were_removed_is_gone_and_comes_back(watched: Watched, place: Place) -> None:
    path = place("r/w.out", report(1))
    before = watched.look()
    path.unlink()
    assert watched.agrees()
    assert not watched.runs.workers
    place("r/w.out", report(1))
    assert watched.agrees()
    assert watched.look() == before


def test_a_run_that_is_not_remembered_is_looked_at_in_turn(tmp_path: Path, place: Place) -> None:
    for number in range(450):
        place(f"r{number}/w.out", report(number), NOW - 10_000 - number)
    runs = settle(watch(tmp_path, keep=3))
    assert sorted(worker.run for worker in runs.workers) == ["r0", "r1", "r2"]
    for number in (3, 200, 449):
        place(f"r{number}/w.out", report(1000), NOW)
    settle(runs, NOW + 1)
    for look in range(20):
        settle(runs, NOW + 1 + (look + 1) / 4)
    assert sorted(worker.run for worker in runs.workers) == ["r200", "r3", "r449"]


def test_a_new_run_is_seen_at_once_however_many_there_are(tmp_path: Path, place: Place) -> None:
    for number in range(450):
        place(f"r{number}/w.out", report(number), NOW - 10_000 - number)
        (tmp_path / f"runs/empty{number}").mkdir()
    runs: Runs = settle(watch(tmp_path, keep=3))
    (tmp_path / "runs/new").mkdir()
    settle(runs, NOW + LOOK)
    place("new/w.err", lines(1, 1), NOW + LOOK)
    place("beside.err", lines(1, 1), NOW + LOOK)
    settle(runs, NOW + 2 * LOOK)
    assert {"new", "beside"} <= {worker.run for worker in runs.workers}


def test_runs_that_are_removed_before_all_have_been_looked_at_are_gone(tmp_path: Path, place: Place) -> None:
    for number in range(600):
        place(f"r{number}/w.out", report(number))
    runs = watch(tmp_path)
    assert runs.poll(NOW)
    for number in range(590):
        shutil.rmtree(tmp_path / f"runs/r{number}")
    settle(runs, NOW + LOOK)
    assert {worker.run for worker in runs.workers} == {f"r{number}" for number in range(590, 600)}
    found = page(runs)
    assert found['benchwatch_runs{phase="on"}'] + found['benchwatch_runs{phase="ended"}'] == 10
    assert not any("watch_errors" in series for series in found)


def test_a_link_that_leads_to_itself_is_no_run(tmp_path: Path, place: Place) -> None:
    for folder in (tmp_path / "runs", tmp_path / "runs/r"):
        folder.mkdir()
        (folder / "loop").symlink_to("loop")
    place("r/w.out", report(1))
    place("beside.out", report(1))
    runs = settle(watch(tmp_path))
    assert {worker.run for worker in runs.workers} == {"r", "beside"}


def test_a_run_whose_files_come_back_is_seen_at_once_though_it_was_not_remembered(tmp_path: Path, place: Place) -> None:
    for number in range(450):
        place(f"r{number}/w.out", report(number), NOW - 10_000 - number)
    runs = settle(watch(tmp_path, keep=3))
    (tmp_path / "runs/r400/w.out").unlink()
    for look in range(20):
        settle(runs, NOW + 1 + look / 4)
    place("r400/w.out", report(1), NOW)
    settle(runs, NOW + 10)
    assert "r400" in {worker.run for worker in runs.workers}


@pytest.mark.parametrize("output", ["pgbench/tpcb-15.18.err", "fio/json-si1-randrw-3.33.out"])
def test_what_follows_a_hole_is_recognised_however_large_that_is(tmp_path: Path, place: Place, output: str) -> None:
    """A file that is truncated while a tool holds it open goes on where the tool was."""
    data = (RECORDINGS / output).read_bytes()
    path = place("a/w.log", data)
    whole = page(settle(watch(tmp_path), NOW + 5))
    with path.open("r+b") as file:
        file.truncate(0)
        file.seek(1_000_000)
        file.write(data)
    os.utime(path, (NOW, NOW))
    bytes_read = next(series for series in whole if "stream_bytes" in series)
    assert page(settle(watch(tmp_path), NOW + 5)) == {**whole, bytes_read: 1_000_000 + len(data)}


def test_an_old_part_that_rotation_removes_stays_counted(tmp_path: Path, place: Place) -> None:
    """A reader that starts later cannot know it: the one exception from what this file is about."""
    watched, found = Watched(tmp_path), []
    folder = tmp_path / "runs/a"
    for number in range(5):
        for part in (2, 1, 0):
            path = folder / f"w.err{f'.{part}' if part else ''}"
            if path.exists():
                path.rename(folder / f"w.err.{part + 1}") if part < 2 else path.unlink()
        place("a/w.err", lines(100, seed=1, first=1 + 100 * number), watched.now)
        shown = watched.look()
        found.append(shown['pgbench_transactions_total{run="a",worker="w"}'])
        assert shown['benchwatch_stream_bytes_total{run="a",worker="w",tool="pgbench"}'] == 100 * (number + 1) * len(
            lines(1, seed=1)
        )
    assert found == sorted(found)


def test_a_file_that_did_not_change_stays_when_another_file_of_its_worker_is_written_anew(
    watched: Watched, place: Place
) -> None:
    place("r/w.err", lines(50, 1))
    path = place("r/w.out", report(1))
    time.sleep(2.1)  # until another change would show in the files' times
    assert watched.agrees()
    for seed in (2, 3):
        path.write_bytes(report(seed))
        assert watched.agrees()
        records = watched.look()['benchwatch_stream_records_total{run="r",worker="w",tool="pgbench"}']
        assert records == 50 + report(1).count(b"\n")


def test_a_file_that_is_cut_off_and_then_removed_is_no_worker(watched: Watched, place: Place) -> None:
    path = place("r/w.err", lines(10, 1))
    place("r/x.err", lines(10, 1))
    watched.look()
    with path.open("ab") as file:
        file.write(lines(100, 1, 11))
    watched.look()
    os.truncate(path, len(lines(50, 1)))
    watched.runs.poll(watched.now)
    path.unlink()
    assert watched.agrees()
    assert [worker.name for worker in watched.runs.workers] == ["x"]


def test_a_log_that_precedes_a_text_of_two_runs_is_read_at_once(tmp_path: Path, place: Place) -> None:
    """The log belongs to the last run, whose beginning is found when the log has been read."""
    place("r/w", b"".join(b"0 %d 1000 0 1790000000 5\n" % number for number in range(10)))
    place("r/w.log", report(1) + report(2))
    runs = watch(tmp_path)
    found = page(settle(runs))
    assert found['pgbench_latency_seconds_count{run="r",worker="w",script="0"}'] == 10
