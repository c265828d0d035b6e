import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.exposition import Exposition
from benchwatch.runs.files import FileStatus
from benchwatch.runs.recognition import Recognition
from benchwatch.runs.watcher import Runs
from benchwatch.settings.settings import RunsSettings
from benchwatch.tools.fio.parser import FioParser
from tests.support.places import NOW, RECORDINGS, Place, placing

PGBENCH = RECORDINGS / "pgbench"
FIO = RECORDINGS / "fio"
BUCKETS = Buckets()


def watch(root: Path, **settings: object) -> Runs:
    return Runs([root / "runs"], RunsSettings(**settings), BUCKETS)


def settle(runs: Runs, now: float = NOW) -> Runs:
    while runs.poll(now):
        pass
    return runs


def page(runs: Runs, part: str = "") -> dict[str, float]:
    """Series and numbers of the page."""
    text = Exposition().render([runs, *runs.workers], [part] if part else ("live", "runs"))
    lines = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {series: float(number) for series, number in lines}


def state_of(runs: Runs, run: str, worker: str) -> str:
    (found,) = [w for w in runs.workers if (w.run, w.name) == (run, worker)]
    return found.phase


def test_two_files_of_one_process_are_one_worker(tmp_path: Path, place: Place) -> None:
    place("tpcb/db1.err", PGBENCH / "tpcb-15.18.err")
    place("tpcb/db1.out", PGBENCH / "tpcb-15.18.out")
    found = page(settle(watch(tmp_path)))
    labels = 'run="tpcb",worker="db1"'
    assert found[f'benchwatch_run_state{{{labels},state="finished"}}'] == 1
    assert found[f'benchwatch_run_state{{{labels},state="running"}}'] == 0
    assert found[f"pgbench_clients{{{labels}}}"] == 4
    assert found[f'benchwatch_run_parameter{{{labels},name="clients",value="4"}}'] == 1
    assert found[f'benchwatch_run_info{{{labels},tool="pgbench",tool_version="15.18"}}'] == 1
    assert found[f"pgbench_transactions_total{{{labels}}}"] == found[f"pgbench_result_transactions{{{labels}}}"]


def test_a_run_is_seen_at_once_though_its_record_came_before_its_output(tmp_path: Path, place: Place) -> None:
    place("a/db1.yaml", b"labels: {vm: pg1}", NOW)
    runs = settle(watch(tmp_path))
    place("a/db1.err", b"progress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 0.100\n", NOW + 0.2)
    assert page(settle(runs, NOW + 0.25))['pgbench_tps{run="a",worker="db1"}'] == 10


def test_a_file_beside_the_folders_is_a_run_named_after_it(tmp_path: Path, place: Place) -> None:
    place("night.json", FIO / "json-si1-randrw-3.33.out")
    runs = settle(watch(tmp_path))
    assert [(worker.run, worker.name, worker.phase) for worker in runs.workers] == [("night", "night", "finished")]


def test_run_yaml_adds_labels_parameters_objective_and_disks(tmp_path: Path, place: Place) -> None:
    place("a/db1.err", PGBENCH / "tpcb-15.18.err")
    place(
        "a/run.yaml",
        b"labels: {cluster: c1}\nparameters: {shared_buffers: 16GB, huge_pages: true}\nlatency_objective: 2ms\n"
        b"disks: {sdb: log}\ncommand: [pgbench, -S]\nstart: 1789999000.5\n",
    )
    found = page(settle(watch(tmp_path)))
    labels = 'run="a",worker="db1"'
    assert found[f'benchwatch_run_info{{{labels},tool="pgbench",tool_version="",cluster="c1"}}'] == 1
    assert found[f'benchwatch_run_parameter{{{labels},name="shared_buffers",value="16GB"}}'] == 1
    assert found[f'benchwatch_run_parameter{{{labels},name="huge_pages",value="on"}}'] == 1
    assert found[f'benchwatch_run_parameter{{{labels},name="command",value="pgbench -S"}}'] == 1
    assert found[f"benchwatch_run_latency_objective_seconds{{{labels}}}"] == 0.002
    assert found[f'benchwatch_run_disk_info{{{labels},host="",device="sdb",role="log"}}'] == 1
    assert found[f"benchwatch_run_start_timestamp_seconds{{{labels}}}"] == 1789999000.5


def test_a_bad_run_yaml_is_named_once_and_the_run_is_watched_all_the_same(
    tmp_path: Path, place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    place("a/db1.err", PGBENCH / "tpcb-15.18.err")
    place("a/run.yaml", b"labels: {run: x}\n")
    runs = watch(tmp_path)
    for second in range(20):
        settle(runs, NOW + second)
    assert len([record for record in caplog.records if "labels: expected a name" in record.message]) == 1
    found = page(runs)
    assert found['benchwatch_watch_errors_total{reason="run_yaml"}'] == 1
    (sentence,) = (one for one in found if one.startswith("benchwatch_watch_error_timestamp_seconds"))
    assert 'reason="run_yaml",sentence="' in sentence
    assert "labels: expected a name" in sentence
    assert 'benchwatch_run_state{run="a",worker="db1",state="running"}' in found


def test_the_exit_code_of_run_yaml_decides_where_the_output_does_not(tmp_path: Path, place: Place) -> None:
    for run, code in (("bad", b"3"), ("good", b"0")):
        place(f"{run}/db1.err", PGBENCH / "tpcb-15.18.err")
        place(f"{run}/run.yaml", b"exit_code: " + code)
    runs = settle(watch(tmp_path))
    assert (state_of(runs, "bad", "db1"), state_of(runs, "good", "db1")) == ("failed", "finished")


@pytest.mark.parametrize(
    ("signal", "state"),
    [("SIGINT", "interrupted"), ("SIGTERM", "interrupted"), ("SIGKILL", "failed"), ("SIGSEGV", "failed")],
)
def test_a_run_that_somebody_told_to_end_is_interrupted_and_did_not_fail(
    tmp_path: Path, place: Place, signal: str, state: str
) -> None:
    place("a/db1.err", PGBENCH / "tpcb-15.18.err")
    place("a/db1.yaml", f"exit_code: 130\nsignal: {signal}\n".encode())
    found = page(settle(watch(tmp_path)))
    assert found[f'benchwatch_run_state{{run="a",worker="db1",state="{state}"}}'] == 1
    assert found[f'benchwatch_run_reason_info{{run="a",worker="db1",reason="ended by {signal}"}}'] == 1


def test_a_silent_run_stalls_within_three_intervals_and_is_abandoned_at_last(tmp_path: Path, place: Place) -> None:
    place("a/db1.err", PGBENCH / "tpcb-15.18.err")
    runs = watch(tmp_path)
    states = {second: state_of(settle(runs, NOW + second), "a", "db1") for second in (0, 2.5, 3, 299, 301)}
    assert states == {0: "running", 2.5: "running", 3: "stalled", 299: "stalled", 301: "abandoned"}


def test_a_run_that_the_line_begins_which_silence_ends_has_its_own_state(tmp_path: Path, place: Place) -> None:
    first = (PGBENCH / "tpcb-15.18.out").read_bytes()
    place("a/db1.out", first + b"pgbench (15.18)")
    runs = watch(tmp_path)
    states = [state_of(settle(runs, NOW + second), "a", "db1") for second in (0, 299, 3001, 3002)]
    assert states == ["finished", "finished", "abandoned", "abandoned"]


def test_a_run_that_reports_every_ten_minutes_is_running_between_its_reports(tmp_path: Path, place: Place) -> None:
    place("a/db1.err", b"progress: 600.0 s, 10.0 tps, lat 1.000 ms stddev 0.100\n")
    runs = watch(tmp_path)
    states = {second: state_of(settle(runs, NOW + second), "a", "db1") for second in (0, 599, 1799, 1801, 2399, 2401)}
    assert states == {
        **{0: "running", 599: "running", 1799: "running"},
        **{1801: "stalled", 2399: "stalled", 2401: "abandoned"},
    }
    assert runs.workers[0].reason == "silent for more than 2400 s"


def test_a_stalled_run_shows_no_figures_of_its_last_interval(tmp_path: Path, place: Place) -> None:
    place("a/db1.err", PGBENCH / "tpcb-15.18.err")
    runs = watch(tmp_path)
    before = page(settle(runs, NOW))
    after = page(settle(runs, NOW + 4))
    gauges = {'pgbench_tps{run="a",worker="db1"}', 'pgbench_latency_average_seconds{run="a",worker="db1"}'}
    assert gauges <= before.keys()
    assert not gauges & after.keys()
    assert 'pgbench_transactions_total{run="a",worker="db1"}' in after


def test_an_ended_run_leaves_the_live_part_after_a_minute_and_its_results_stay(tmp_path: Path, place: Place) -> None:
    place("a/a.log", PGBENCH / "merged-appended-15.18.log")
    place("b/b.json", FIO / "json-si1-randrw-3.33.out")
    runs = watch(tmp_path)
    soon = page(settle(runs, NOW))
    late = page(settle(runs, NOW + 3600))
    assert any(series.startswith("fio_ios_total") for series in soon)
    assert {series for series in late if 'run="b"' in series and not series.startswith("benchwatch_")} == {
        series for series in soon if series.startswith(("fio_result_", "fio_job_info", "fio_job_error"))
    }
    assert late['benchwatch_run_state{run="b",worker="b",state="finished"}'] == 1
    assert 'benchwatch_run_state{run="b",worker="b",state="running"}' not in late


def test_a_growing_file_shows_at_each_point_what_reading_it_whole_shows(tmp_path: Path, place: Place) -> None:
    data = (PGBENCH / "rate-lat-18.6.err").read_bytes() + (PGBENCH / "rate-lat-18.6.out").read_bytes()
    path = place("a/db1.log", b"")
    grown = watch(tmp_path)
    for end in range(0, len(data) + 1, 37):
        path.write_bytes(data[:end])
        os.utime(path, (NOW, NOW))
        settle(grown, NOW)
        assert page(settle(grown, NOW)) == page(settle(watch(tmp_path), NOW))


def test_a_file_written_anew_in_place_is_another_run_and_the_old_one_shows_until_it_is_read(
    tmp_path: Path, place: Place
) -> None:
    place("a/fio.json", FIO / "json-si1-randrw-3.33.out")
    runs = settle(watch(tmp_path))
    first = page(runs)
    place("a/fio.json", FIO / "json-si1-randrw-3.42.out", NOW + 10)
    second = page(settle(runs, NOW + 10))
    assert second != first
    assert second == page(settle(watch(tmp_path), NOW + 10))


def test_a_rotated_file_is_one_stream_live_and_after_a_restart(tmp_path: Path, place: Place) -> None:
    data = (PGBENCH / "rate-lat-18.6.err").read_bytes()
    cut = data.index(b"progress: 3")
    path = place("a/db1.err", data[:cut])
    runs = settle(watch(tmp_path))
    path.rename(path.with_name("db1.err.1"))
    place("a/db1.err", data[cut:])
    live, again = page(settle(runs, NOW + 6)), page(settle(watch(tmp_path), NOW + 6))
    (tmp_path / "runs" / "a" / "db1.err.1").unlink()
    path.write_bytes(data)
    os.utime(path, (NOW, NOW))
    whole = page(settle(watch(tmp_path), NOW + 6))
    assert live == again == whole


def test_a_copied_and_truncated_file_is_one_stream(tmp_path: Path, place: Place) -> None:
    data = (PGBENCH / "rate-lat-18.6.err").read_bytes()
    cut = data.index(b"progress: 3")
    path = place("a/db1.err", data[:cut])
    runs = settle(watch(tmp_path))
    shutil.copy2(path, path.with_name("db1.err.1"))
    place("a/db1.err", data[cut:])
    found = page(settle(runs, NOW + 6))
    assert found == page(settle(watch(tmp_path), NOW + 6))
    assert found['benchwatch_stream_records_total{run="a",worker="db1",tool="pgbench"}'] >= data.count(b"progress: ")


def test_a_removed_run_is_gone_and_a_folder_that_vanishes_changes_nothing(
    tmp_path: Path, place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    place("a/db1.err", PGBENCH / "tpcb-15.18.err")
    place("b/db1.err", PGBENCH / "tpcb-15.18.err")
    runs = settle(watch(tmp_path))
    shutil.rmtree(tmp_path / "runs" / "a")
    settle(runs, NOW + 1)
    assert {worker.run for worker in runs.workers} == {"b"}
    (tmp_path / "runs").rename(tmp_path / "elsewhere")
    for second in range(5):
        settle(runs, NOW + 1 + second)
    assert {worker.run for worker in runs.workers} == {"b"}
    assert len([r for r in caplog.records if "cannot be read: No such file" in r.message]) == 1
    (tmp_path / "elsewhere").rename(tmp_path / "runs")
    place("b/db1.out", PGBENCH / "tpcb-15.18.out")
    settle(runs, NOW + 8)
    assert state_of(runs, "b", "db1") == "finished"


def test_a_file_that_is_no_tools_output_is_named_once_and_left_alone(
    tmp_path: Path, place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    place("a/db1.err", PGBENCH / "tpcb-15.18.err")
    place("a/notes.txt", b"remember the milk\n")
    place("a/core", os.urandom(200_000))
    runs = watch(tmp_path)
    for second in range(0, 100, 7):
        settle(runs, NOW + second)
    named = [record.message for record in caplog.records if "is ignored" in record.message]
    assert sorted(text.split(" ")[0].rsplit("/", 1)[1] for text in named) == ["core", "notes.txt"]
    assert page(runs)['benchwatch_watch_errors_total{reason="unrecognised"}'] == 2
    assert [worker.name for worker in runs.workers] == ["db1"]


def test_of_ended_runs_the_newest_are_remembered_and_an_old_one_comes_back_when_it_changes(
    tmp_path: Path, place: Place
) -> None:
    for number in range(6):
        place(f"r{number}/fio.json", FIO / "json-si1-randrw-3.33.out", NOW - 10_000 + number)
    runs = settle(watch(tmp_path, keep=3))
    assert sorted(worker.run for worker in runs.workers) == ["r3", "r4", "r5"]
    place("r0/fio.json", FIO / "json-si1-randrw-3.42.out", NOW)
    settle(runs, NOW + 10)
    assert "r0" in {worker.run for worker in runs.workers}


def test_logs_of_a_process_feed_its_worker(tmp_path: Path, place: Place) -> None:
    for name in ("pgbench_log.9794", "pgbench_log.9794.1", "stdout", "stderr"):
        place(f"a/{name}", PGBENCH / "txlog-j2-15.18" / name)
    runs = settle(watch(tmp_path))
    assert [worker.name for worker in runs.workers] == ["a"]
    found = page(runs)
    lines = sum(log.read_bytes().count(b"\n") for log in (tmp_path / "runs/a").glob("pgbench_log.*"))
    assert found['pgbench_latency_seconds_count{run="a",worker="a",script="0"}'] == lines
    assert found['pgbench_transactions_total{run="a",worker="a"}'] == lines


def test_a_worker_is_shown_only_when_what_was_there_has_been_read(tmp_path: Path, place: Place) -> None:
    line = b"0 %d 1000 0 1790000000 %d\n"
    place("a/pgbench_log.7", b"".join(line % (number, number) for number in range(1, 200_001)))
    runs = watch(tmp_path)
    seen = []
    more = True
    while more:
        more = runs.poll(NOW)
        seen += [page(runs).get('pgbench_transactions_total{run="a",worker="pgbench_log"}')]
    assert {value for value in seen if value is not None} == {200_000}
    assert seen[0] is None


@pytest.fixture
def as_nobody() -> Iterator[Path]:
    """A folder open to everybody, while this process has the rights of nobody."""
    if os.geteuid() != 0:
        pytest.skip("only root can take the rights of another user")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path in (root, root / "runs", root / "runs" / "a", root / "runs" / "closed"):
            path.mkdir(exist_ok=True)
            path.chmod(0o755)
        (root / "runs" / "closed").chmod(0o700)
        shutil.copyfile(PGBENCH / "tpcb-15.18.err", root / "runs" / "a" / "db1.err")
        (root / "runs" / "a" / "db1.err").chmod(0o600)
        try:
            yield root
        finally:
            os.seteuid(0)


def test_what_may_not_be_read_is_said_once_and_read_as_soon_as_it_may_be(
    as_nobody: Path, caplog: pytest.LogCaptureFixture
) -> None:
    runs = watch(as_nobody)
    now = time.time()
    os.seteuid(65534)
    for second in (*range(10), 60, 61):
        settle(runs, now + second)
    denied = [record.message for record in caplog.records if "Permission denied" in record.message]
    assert sorted(text.rpartition("/")[2] for text in denied) == [
        "closed cannot be read: Permission denied; expected a folder of runs",
        "db1.err cannot be read: Permission denied",
    ]
    found = page(runs)
    assert found['benchwatch_watch_errors_total{reason="unreadable"}'] == 1
    assert 'benchwatch_watch_errors_total{reason="unrecognised"}' not in found
    assert found['benchwatch_watch_errors_total{reason="folder"}'] == 1
    os.seteuid(0)
    (as_nobody / "runs" / "a" / "db1.err").chmod(0o644)
    os.seteuid(65534)
    settle(runs, now + 20)
    assert [worker.name for worker in runs.workers] == ["db1"]


def test_a_worker_that_never_stops_growing_is_shown(tmp_path: Path, place: Place) -> None:
    log = place("a/pgbench_log.7", b"0 1 1000 0 1790000000 5\n")
    runs = watch(tmp_path)
    for number in range(2, 6):
        runs.poll(NOW)
        assert page(runs)['pgbench_transactions_total{run="a",worker="pgbench_log"}'] == number - 1
        with log.open("ab") as more:
            more.write(b"0 %d 1000 0 1790000000 5\n" % number)


def test_a_fault_of_ours_in_one_run_does_not_take_the_others_down(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_arguments: object) -> None:
        raise RuntimeError("not thought of")

    monkeypatch.setattr(FioParser, "feed", fail)
    place("a/fio.json", FIO / "json-si1-randrw-3.33.out")
    place("b/db1.err", PGBENCH / "tpcb-15.18.err")
    place("a/z.err", PGBENCH / "tpcb-15.18.err")
    runs = watch(tmp_path)
    for second in range(3):
        settle(runs, NOW + second)
    assert state_of(runs, "b", "db1") == "running"
    assert state_of(runs, "a", "z") == "running"
    assert page(runs)['benchwatch_watch_errors_total{reason="internal"}'] == 1
    sentence = "worker fio cannot be read further: RuntimeError: not thought of; please report this"
    assert [record.message for record in caplog.records] == [f"run a: {sentence}"]
    assert runs.problems == [f"a: {sentence}"]


def test_a_run_whose_files_a_bug_keeps_from_being_looked_at_is_tried_again_with_other_files(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Recognition.look

    def fail(self: Recognition, files: dict[str, FileStatus], now: float) -> bool:
        if "bad.err" in files:
            raise RuntimeError("not thought of")
        return real(self, files, now)

    monkeypatch.setattr(Recognition, "look", fail)
    place("a/db1.err", PGBENCH / "tpcb-15.18.err")
    place("b/db1.err", PGBENCH / "tpcb-15.18.err")
    bad = place("a/bad.err", b"x")
    runs = watch(tmp_path)
    for second in range(3):
        settle(runs, NOW + second)
    assert {worker.run for worker in runs.workers} == {"b"}
    assert runs.problems == ["a: its files cannot be looked at: RuntimeError: not thought of; please report this"]
    assert page(runs)['benchwatch_watch_errors_total{reason="internal"}'] == 1
    bad.unlink()
    settle(runs, NOW + 3)
    assert {worker.run for worker in runs.workers} == {"a", "b"}
    assert runs.problems == []


def test_a_run_whose_log_is_gone_says_so_in_every_view(
    tmp_path: Path, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    path = place("a/db1.err", PGBENCH / "tpcb-15.18.err")
    place("a/db1.out", PGBENCH / "tpcb-15.18.out")
    place("a/db10.err", PGBENCH / "tpcb-15.18.err")
    log = place("work/pgbench_log.7", PGBENCH / "txlog-j2-15.18/pgbench_log.9794")
    (path.parent / "db1.7").symlink_to(log)
    runs = settle(watch(tmp_path))
    sentence = f"transaction log missing: {log}"
    assert sentence not in " ".join(page(runs))
    log.unlink()
    for each in (settle(runs, NOW + 1), settle(watch(tmp_path), NOW + 1)):
        assert f'benchwatch_run_note_info{{run="a",worker="db1",note="{sentence}"}}' in page(each)
        assert not any("note_info" in series and "db10" in series for series in page(each))
    for command in (["show", str(path.parent)], ["show", "--json", str(path.parent)], ["list", str(tmp_path / "runs")]):
        main(command)
        shown = capsys.readouterr()
        assert sentence in shown.out + shown.err


def test_names_that_are_not_utf_8_stay_distinct_everywhere(tmp_path: Path, place: Place) -> None:
    odd = [b"a\xff", b"a\xfe", rb"a\xff", b"a\nb", "ä".encode()]
    shown = [r"a\xff", r"a\xfe", r"a\\xff", r"a\nb", "ä"]
    for number, name in enumerate(map(os.fsdecode, odd)):
        line = b"progress: 1.0 s, %d.0 tps, lat 1.000 ms stddev 0.100\n" % number
        place(f"{name}/worker.err", line)
        place(f"workers/{name}.err", line)
        place(f"workers/{name}.yaml", b"labels: {number: '%d'}" % number)
        place(f"beside-{name}.err", line)
    runs = settle(watch(tmp_path))
    text = Exposition().render([runs, *runs.workers])
    assert text.encode().decode() == text
    series = [line.rsplit(" ", 1)[0] for line in text.splitlines()]
    assert len(series) == len(set(series))
    tps = {(worker.run, worker.name): worker.state.figures().throughput for worker in runs.workers}
    assert tps == {
        pair: number
        for number, name in enumerate(shown)
        for pair in ((name, "worker"), ("workers", name), (f"beside-{name}",) * 2)
    }
    assert {worker.name: worker.runfile.labels for worker in runs.workers if worker.run == "workers"} == {
        name: {"number": str(number)} for number, name in enumerate(shown)
    }


class Stepped:
    """A run that writes a line a second, seen by an exporter whose clock is set now and then.

    `files` is by how much the clock is ahead that dates the files, `clock` the exporter's, in seconds.
    """

    def __init__(self, root: Path, place: Place, **settings: object) -> None:
        self._place = place
        self._data = b""
        self.runs = watch(root, **settings)
        self.second = 0
        self.clock = self.files = 0.0

    def pass_time(self, seconds: int, *, writing: bool = True) -> set[str]:
        """The states that are seen in the meantime."""
        seen = set()
        for _ in range(seconds):
            self.second += 1
            if writing:
                self._data += b"progress: %d.0 s, %d.0 tps, lat 1.000 ms stddev 0.100\n" % (self.second, self.second)
                self._place("a/db1.err", self._data, NOW + self.second + self.files)
            for part in range(4):
                elapsed = self.second + part / 4
                while self.runs.poll(NOW + elapsed + self.clock, elapsed):
                    pass
                seen.add(state_of(self.runs, "a", "db1"))
                assert not writing or page(self.runs)['pgbench_tps{run="a",worker="db1"}'] == self.second
        return seen


@pytest.mark.parametrize("by", [3600.0, -3600.0, 30.0, -30.0, 86400.0 * 365, -86400.0 * 365])
@pytest.mark.parametrize("of_the_machine", [False, True])
def test_a_clock_that_is_set_changes_no_state(tmp_path: Path, place: Place, by: float, of_the_machine: bool) -> None:
    run = Stepped(tmp_path, place)
    assert run.pass_time(5) == {"running"}
    run.clock, run.files = by, by * of_the_machine
    assert run.pass_time(10) == {"running"}
    run.clock = run.files = 0.0
    assert run.pass_time(10) == {"running"}
    assert run.pass_time(1, writing=False) == {"running"}
    run.clock, run.files = by, by * of_the_machine
    assert run.pass_time(10, writing=False) == {"running", "stalled"}
    assert run.pass_time(280, writing=False) == {"stalled"}
    run.clock = run.files = 0.0
    assert run.pass_time(20, writing=False) == {"stalled", "abandoned"}
    assert run.pass_time(5) == {"running"}


@pytest.mark.parametrize("by", [3600.0, -3600.0])
def test_what_ended_before_the_clock_was_set_is_looked_at_as_ever(tmp_path: Path, place: Place, by: float) -> None:
    runs = watch(tmp_path, keep=1)
    for number in range(3):
        place(f"r{number}/w.out", PGBENCH / "tpcb-15.18.out", NOW - 1000 * number)
    for second in range(10):
        settle_at(runs, second, 0.0)
    counters = 'pgbench_transactions_total{run="r0",worker="w"}'
    assert counters in page(runs)
    settle_at(runs, 11, by)
    assert counters in page(runs)
    for second in range(12, 80):
        settle_at(runs, second, by)
    assert counters not in page(runs)
    place("r0/w.out", PGBENCH / "tpcb-18.6.out", NOW)
    place("r2/w.out", PGBENCH / "tpcb-18.6.out", NOW + 1)
    for second in range(80, 90):
        settle_at(runs, second, 0.0)
    assert {worker.state.tool_version for worker in runs.workers if worker.run == "r2"} == {"18.6"}


def settle_at(runs: Runs, elapsed: float, ahead: float) -> None:
    while runs.poll(NOW + elapsed + ahead, elapsed):
        pass


def test_a_clock_that_is_set_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "runs").mkdir()
    runs = watch(tmp_path)
    for second, ahead in enumerate((0.0, 0.0001, 0.0002, 3600.0, 3600.0, -1.5)):
        settle_at(runs, second, ahead)
    assert [record.message for record in caplog.records] == [
        "the clock was set forward by 3600.0 s",
        "the clock was set back by 3601.5 s",
    ]


@pytest.mark.parametrize("roots", [("here", "pushed"), ("pushed", "here")])
def test_of_workers_of_one_name_in_two_folders_the_active_one_is_shown_and_it_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, roots: tuple[str, str]
) -> None:
    line = "progress: 1.0 s, {}.0 tps, lat 1.000 ms stddev 0.100\n"
    placing(tmp_path)("here/a/db1.err", line.format(10).encode(), NOW - 1000)
    placing(tmp_path)("pushed/a/db1.err", line.format(20).encode(), NOW)
    runs = settle(Runs([tmp_path / root for root in roots], RunsSettings(), BUCKETS))
    sentence = (
        f"worker db1 of run a is in {tmp_path}/here/a and in {tmp_path}/pushed/a: "
        "the active one is shown, or the one that ended last; rename one"
    )
    settle(runs)
    assert page(runs)['pgbench_tps{run="a",worker="db1"}'] == 20
    assert page(runs)['benchwatch_watch_errors_total{reason="twins"}'] == 1
    assert runs.problems == [sentence] == [record.getMessage() for record in caplog.records]
    settle(runs, NOW + 1000)
    placing(tmp_path)("here/a/db1.err", 2 * line.format(30).encode(), NOW + 1002)
    assert page(settle(runs, NOW + 1003))['pgbench_tps{run="a",worker="db1"}'] == 30


def test_a_folder_that_is_written_in_two_ways_is_watched_once(tmp_path: Path, place: Place) -> None:
    place("a/db1.err", b"progress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 0.100\n")
    (tmp_path / "pushed").symlink_to(tmp_path / "runs")
    runs = settle(Runs([tmp_path / "runs", tmp_path / "pushed"], RunsSettings(), BUCKETS))
    assert [place.folder for place in runs.places("a")] == [tmp_path / "runs/a"]
    assert (len(runs.workers), runs.problems) == (1, [])


def test_outputs_of_two_processes_under_one_name_are_said(
    tmp_path: Path, place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    line = "progress: 1.0 s, {}.0 tps, lat 1.000 ms stddev 0.100\n"
    before, after = (place(f"a/db1.{when}", line.format(tps).encode()) for when, tps in (("before", 10), ("after", 20)))
    runs = settle(settle(watch(tmp_path)))
    said = (
        f"{after} and {before} both have reports, and are read as the output of one process: "
        "rename one, before its suffix"
    )
    assert runs.problems == [f"a: {said}"]
    assert [record.getMessage() for record in caplog.records] == [said]
    assert page(runs)['benchwatch_watch_errors_total{reason="twins"}'] == 1
    place("b/db1.err", PGBENCH / "tpcb-15.18.err")
    place("b/db1.out", PGBENCH / "tpcb-15.18.out")
    assert len(settle(runs, NOW + 1).problems) == 1


def test_a_torn_line_counts_after_a_long_silence_whenever_the_record_of_its_end_came(
    tmp_path: Path, place: Place
) -> None:
    log = b"0 1 500 0 1795168490 415032\n" * 5 + b"0 6 5"
    place("r/db1.4711", log)
    live = settle(watch(tmp_path), NOW + 3000)
    place("r/db1.yaml", b"exit_code: 1\nsignal: SIGKILL\n")
    restarted = watch(tmp_path)
    for runs in (live, restarted):
        found = page(settle(runs, NOW + 3001))
        assert state_of(runs, "r", "db1") == "failed"
        series = 'benchwatch_stream_errors_total{run="r",worker="db1",tool="pgbench",reason="truncated_line"}'
        assert found[series] == 1
