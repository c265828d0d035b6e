"""When a run without times of its own began: the same for whoever reads its files, whenever."""

import os
from pathlib import Path

import pytest

from benchwatch.metrics.buckets import Buckets
from benchwatch.runs.files import birth
from benchwatch.runs.observer import Observer
from benchwatch.runs.watcher import Runs
from benchwatch.settings.settings import RunsSettings
from benchwatch.tools.states import Written, beginning
from tests.support.timelines import read_timelines

from .recordings import PROGRESS, new_state, parse, text_records

ERROR = "pgbench: error: client 1 script 0 aborted in command 0 query 0: server closed the connection unexpectedly\n"
REPORT = (
    "transaction type: a.sql\nnumber of transactions actually processed: 500\n"
    "tps = 100.000000 (without initial connection time)\n"
)


class Output:
    """A file that grows at known moments, and an exporter that watches it all the while."""

    def __init__(self, root: Path, name: str = "db1.err") -> None:
        self.path = root / "runs" / "a" / name
        self.path.parent.mkdir(parents=True)
        self.path.write_bytes(b"")
        born = birth(self.path)
        if born is None:
            pytest.skip("this file system does not keep when a file was made")
        self.born = born
        self._live = self._runs()

    def _runs(self) -> Runs:
        return Runs([self.path.parents[1]], RunsSettings(), Buckets())

    def add(self, text: str, at: float) -> tuple[float, float]:
        """Appends `at` seconds after the birth; what the exporter and all others then show, in seconds from it."""
        with self.path.open("a") as file:
            file.write(text)
        os.utime(self.path, (self.born + at, self.born + at))
        now = self.born + at + 0.1
        live, fresh = (self._read(runs, now) for runs in (self._live, self._runs()))
        (replayed,) = read_timelines([self.path], now=now)
        (last,) = [s.value for s in replayed.final if s.family.name == "benchwatch_run_last_report_timestamp_seconds"]
        shown = (live.start, live.state.last_report)
        assert shown == (fresh.start, fresh.state.last_report) == pytest.approx((replayed.start, last), abs=1e-6)
        assert live.end == fresh.end
        assert shown[0] is not None
        assert shown[1] is not None
        return round(shown[0] - self.born, 3), round(shown[1] - self.born, 3)

    def _read(self, runs: Runs, now: float) -> Observer:
        while runs.poll(now):
            pass
        (worker,) = runs.workers
        return worker


def test_an_error_line_after_a_silence_moves_neither_start_nor_last_report(tmp_path: Path) -> None:
    output = Output(tmp_path)
    for second in range(1, 6):
        assert output.add(PROGRESS.format(second, 100), second + 0.2) == (0, second)
    assert output.add(ERROR, 11.3) == (0, 5)


def test_when_the_exporter_reads_is_of_no_consequence(tmp_path: Path) -> None:
    output = Output(tmp_path)
    late = (0.02, 0.06, 0.01, 0.09, 0.04)
    for second, more in enumerate(late, 1):
        assert output.add(PROGRESS.format(second, 100), second + more) == (0, second)


def test_a_file_written_anew_in_place_is_dated_by_its_last_write(tmp_path: Path) -> None:
    output = Output(tmp_path)
    for second in range(1, 4):
        assert output.add(PROGRESS.format(second, 100), 600 + second) == (600, 600 + second)


def test_the_report_is_exact_and_what_a_script_says_after_it_goes_back_to_the_birth(tmp_path: Path) -> None:
    output = Output(tmp_path)
    output.add(PROGRESS.format(4, 100), 4.5)
    assert output.add(REPORT, 5.4) == (0.4, 5.4)
    assert output.add("all done\n", 7.0) == (0, 5)


def test_a_line_that_is_being_written_moves_nothing(tmp_path: Path) -> None:
    output = Output(tmp_path)
    output.add(PROGRESS.format(1, 100) + PROGRESS.format(2, 100), 2.1)
    assert output.add("progress: 3.0 s, 10", 3.1) == (0, 2)
    assert output.add("0.0 tps, lat 1.000 ms stddev 0.500\n", 3.1) == (0, 3)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (Written(105.2), 100.2),
        (Written(105.2, 100.0), 100),
        (Written(106.2, 100.0), 101.2),
        (Written(106.2, 100.0, undated=True), 100),
        (Written(146.2, 100.0, undated=True), 141.2),
        (Written(104.0, 100.0), 99),
        (Written(104.0, 100.0, recorded=True), 100),
        (Written(125.0, 100.0, recorded=True), 120),
        (Written(125.0, 100.0, recorded=True, undated=True), 100),
        (Written(900.0, 100.0, recorded=True), 100),
    ],
)
def test_birth_record_and_last_write_are_weighed(times: Written, expected: float) -> None:
    assert beginning(5.0, times, 1.0, 2.0) == pytest.approx(expected)


def test_initialisation_begins_with_its_file(tmp_path: Path) -> None:
    output = Output(tmp_path)
    generated = "100000 of 100000 tuples (100%) of pgbench_accounts done (elapsed {} s, remaining 0.00 s)\n"
    assert output.add("creating tables...\n" + generated.format("0.50"), 0.9) == (0, 0.9)
    assert output.add("vacuuming...\n", 3.0) == (0, 3)


def test_a_failed_run_that_was_copied_long_after_ends_with_its_last_report() -> None:
    state = new_state()
    lines = "progress: 1795168139.000 s, 9.0 tps, lat 1.000 ms stddev 0.500\npgbench: fatal: x\n"
    for record in text_records(lines):
        state.apply(record, "err", 1795168140.0)
    state.written("err", Written(1795168140.0))
    assert (state.outcome, state.end) == ("failed", 1795168140.0)
    state.written("err", Written(1795999999.0))
    assert state.end == 1795168139.0


def test_a_file_that_was_read_midway_through_a_write_is_dated_by_its_end(tmp_path: Path) -> None:
    output = Output(tmp_path)
    output.add(REPORT, 5.4)
    os.utime(output.path, (output.born + 5.402, output.born + 5.402))
    assert output.add("", 5.402) == (0.402, 5.402)


@pytest.mark.parametrize("logged", [False, True])
@pytest.mark.parametrize("ahead", [-30, 0, 30])
def test_the_report_does_not_move_a_run_to_the_clock_of_its_files(ahead: int, logged: bool) -> None:
    """The clock of the benchmark's machine is `ahead` of that of the files."""
    state, begun = new_state(), 1_795_168_000 + ahead
    for second in range(1, 11):
        line = f"progress: {begun + second}.000 s, 1.0 tps, lat 1.000 ms stddev 0.000, 0 failed\n"
        parts = [("text", "err", line), ("log", "pgbench_log.1", f"0 {second} 1000 0 {begun + second - 1} 1000\n")]
        for kind, stream, text in parts[: 1 + logged]:
            for record in parse(kind, text.encode()):
                state.apply(record, stream, begun - ahead + second)
    assert state.start == begun
    report = "transaction type: a.sql\nnumber of transactions actually processed: 10\n"
    for record in parse("text", (report + "tps = 1.0 (without initial connection time)\n").encode()):
        state.apply(record, "out", begun - ahead + 10)
    assert (state.start, state.end) == (begun, begun + 10)


def test_a_file_that_grew_after_its_times_were_looked_up_is_not_on_another_clock() -> None:
    starts = []
    for late in (0.0, 0.5):  # behind the lines, where another reader sees the file's last write
        state, begun = new_state(), 1_795_168_000
        for record in text_records(f"progress: {begun + 10}.000 s, 1.0 tps, lat 1.000 ms stddev 0.000, 0 failed\n"):
            state.apply(record, "err", begun + 10 - late)
        report = "transaction type: a.sql\nnumber of transactions actually processed: 12\n"
        for record in parse("text", (report + "tps = 1.0 (without initial connection time)\n").encode()):
            state.apply(record, "out", begun + 12)
        state.written("err", Written(begun + 10.0))
        starts.append(state.start)
    assert starts == [begun, begun]
