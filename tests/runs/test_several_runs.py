"""Several runs of a tool, one after the other, in one file."""

import json
import os
import shutil
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.exposition import Exposition
from benchwatch.runs.watcher import Runs
from benchwatch.settings.settings import RunsSettings
from tests.support.places import NOW, RECORDINGS, placing

REPORT = """=== repeat {number} ===
progress: 5.0 s, {number}00.0 tps, lat 0.500 ms stddev 0.100
progress: 10.0 s, {number}00.0 tps, lat 0.500 ms stddev 0.100
transaction type: <builtin: select only>
scaling factor: 2
query mode: simple
number of clients: 4
number of threads: 2
duration: 10 s
number of transactions actually processed: {number}000
latency average = 0.500 ms
tps = {number}00.000000 (without initial connection time)
"""


@pytest.fixture
def night(tmp_path: Path) -> Path:
    """Six runs, without a newline at the end."""
    path = tmp_path / "runs" / "night.log"
    path.parent.mkdir()
    path.write_text("".join(REPORT.format(number=number) for number in range(1, 7)).rstrip("\n"))
    return path


def test_live_the_last_is_shown_and_which_it_is_is_said(night: Path) -> None:
    runs = Runs([night.parent], RunsSettings(), Buckets())
    while runs.poll(night.stat().st_mtime + 2):
        pass
    page = Exposition().render(runs.workers, ("live", "runs"))
    labels = 'run="night",worker="night"'
    assert f"pgbench_result_tps{{{labels}}} 600.0\n" in page
    assert f"benchwatch_run_repetitions{{{labels}}} 6\n" in page
    assert f'benchwatch_run_note_info{{{labels},note="run 6 of 6 in this file"}} 1\n' in page
    assert f'benchwatch_run_state{{{labels},state="finished"}} 1\n' in page


def test_the_start_in_the_record_is_that_of_the_first_run_in_a_file(tmp_path: Path) -> None:
    first, second = (
        "".join(f"progress: {start + second:.3f} s, 10.0 tps, lat 0.500 ms stddev 0.100\n" for second in range(1, 4))
        for start in (NOW, NOW + 100)
    )
    place = placing(tmp_path / "runs")
    place("once/db1.err", first.encode())
    place("twice/db1.err", f"pgbench (16.1)\n{first}pgbench (16.1)\n{second}".encode(), NOW + 103)
    for run in ("once", "twice"):
        place(f"{run}/run.yaml", f"start: {NOW - 0.5}\n".encode())
    runs = Runs([tmp_path / "runs"], RunsSettings(), Buckets())
    while runs.poll(NOW + 103):
        pass
    assert {worker.run: worker.start for worker in runs.workers} == {"once": NOW - 0.5, "twice": NOW + 100}


def test_of_a_single_run_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    main(["metrics", str(RECORDINGS / "pgbench" / "tpcb-15.18.out")])
    page = capsys.readouterr().out
    assert "benchwatch_run_repetitions{" not in page
    assert "benchwatch_run_note_info{" not in page


@pytest.mark.parametrize("number", range(1, 7))
def test_each_can_be_chosen(night: Path, capsys: pytest.CaptureFixture[str], number: int) -> None:
    assert main(["metrics", f"{night}#{number}"]) == 0
    page = capsys.readouterr().out
    labels = f'run="night#{number}",worker="night"'
    assert f"pgbench_result_tps{{{labels}}} {number}00.0\n" in page
    assert f"pgbench_transactions_total{{{labels}}} {number}000\n" in page
    assert f'benchwatch_run_note_info{{{labels},note="run {number} of 6 in this file"}} 1\n' in page
    assert f'benchwatch_run_state{{{labels},state="finished"}} 1\n' in page
    assert main(["backfill", f"{night}#{number}"]) == 0
    written = capsys.readouterr().out
    assert f'pgbench_result_tps{{job="benchwatch-runs",instance="127.0.0.1:19777",{labels}}} {number}00' in written


def test_compare_and_report_take_them(night: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", f"{night}#2", f"{night}#3", str(night), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    tps = [next(row for row in other["measures"] if row["name"] == "throughput") for other in found["others"]]
    assert [(row["base"], row["other"]) for row in tps] == [(200, 300), (200, 600)]
    assert {"kind": "reading", "text": "night#3: run 3 of 6 in this file"} in found["others"][0]["findings"]
    page = tmp_path / "report.html"
    assert main(["report", f"{night}#2", f"{night}#3", "--output", str(page)]) in (0, 1)  # dated by its file: said
    assert "run 2 of 6 in this file" in page.read_text()


def test_a_number_that_there_is_not_is_said(night: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", f"{night}#7"]) == 2
    assert f"{night}#7: {night} holds 6 runs in one file; expected #1 to #6" in capsys.readouterr().err


def test_a_file_of_that_very_name_is_itself(night: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(night, f"{night}#2")
    assert main(["metrics", f"{night}#2"]) == 0
    assert "} 600.0\n" in capsys.readouterr().out


def test_runs_on_two_streams_are_chosen_in_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    names = ("tpcb-15.18", "txlog-failures-15.18")
    for suffix, name in (("err", "stderr"), ("out", "stdout")):
        first = RECORDINGS / "pgbench" / f"tpcb-15.18.{suffix}"
        second = RECORDINGS / "pgbench" / names[1] / name
        if not second.exists():
            second = RECORDINGS / "pgbench" / names[1] / suffix
        (folder / f"db1.{suffix}").write_bytes(first.read_bytes() + second.read_bytes())
    assert main(["metrics", f"{folder}#1"]) == 0
    page = capsys.readouterr().out
    assert 'pgbench_transactions_total{run="a#1",worker="db1"} 16154\n' in page
    assert 'pgbench_result_transactions{run="a#1",worker="db1"} 16154\n' in page


def test_documents_of_several_runs_of_fio_are_chosen_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("json-si1-randrw-3.33.out", "json-multi-stonewall-3.42.out")
    path = tmp_path / "disk.json"
    path.write_bytes(b"".join((RECORDINGS / "fio" / name).read_bytes() for name in names))
    found = []
    for number, name in enumerate(names, 1):
        assert main(["metrics", str(RECORDINGS / "fio" / name)]) == 0
        alone = capsys.readouterr().out
        assert main(["metrics", f"{path}#{number}"]) == 0
        part = capsys.readouterr().out
        found.append(
            [
                [line.rpartition(" ")[2] for line in p.splitlines() if line.startswith("fio_result")]
                for p in (alone, part)
            ]
        )
    for alone, part in found:
        assert alone == part != []


LINE = "progress: {}.0 s, 100.0 tps, lat 2.000 ms stddev 0.100, 0 failed\n"
LINES = "".join(LINE.format(second) for second in range(1, 21))


def log_of(second: float) -> bytes:
    """2000 transactions of 1 ms, 100 a second from there on."""
    times = (second + number / 100 for number in range(2000))
    lines = (f"0 {number} 1000 0 {time:.0f} 0\n" for number, time in enumerate(times, 1))
    return "".join(lines).encode()


@pytest.mark.parametrize("earlier", ["", "pgbench (15.18)\n" + LINES + "pgbench (15.18)\n"], ids=["anew", "appended"])
@pytest.mark.parametrize("copied", [False, True])
def test_a_log_that_an_earlier_run_left_behind_is_not_that_of_the_next(
    tmp_path: Path, earlier: str, copied: bool
) -> None:
    """A copied log may be this run's, whatever the times of the files are."""
    place = placing(tmp_path / "runs")
    place("a/pgbench_log.123", log_of(NOW - 1000), NOW - (50 if copied else 980))
    place("a/db1.err", (earlier + "".join(LINE.format(second) for second in range(1, 11))).encode(), NOW)
    runs = Runs([tmp_path / "runs"], RunsSettings(), Buckets())
    while runs.poll(NOW + 0.2):
        pass
    page = Exposition().render(runs.workers, ("live", "runs"))
    labels = 'run="a",worker="db1"'
    if copied:
        assert f"pgbench_transactions_total{{{labels}}} 2000\n" in page
        return
    assert f"pgbench_tps{{{labels}}} 100.0\n" in page
    assert f"pgbench_transactions_total{{{labels}}} 989\n" in page
    assert f"benchwatch_run_start_timestamp_seconds{{{labels}}} {NOW - 10}\n" in page
    assert f"benchwatch_run_last_report_timestamp_seconds{{{labels}}} {NOW}\n" in page
    assert "pgbench_latency_" not in page.replace("pgbench_latency_average", "").replace("pgbench_latency_stddev", "")


@pytest.mark.parametrize("ahead", [0, 600, -600])
@pytest.mark.parametrize(("since", "shown"), [(1000, 999), (25, 2000)])
def test_a_log_that_was_left_behind_is_older_than_the_times_of_the_lines(
    tmp_path: Path, since: float, shown: int, ahead: float
) -> None:
    """Whether the clock of the benchmark is `ahead` of that of the files or not.

    While nothing says how long the first interval was, the log may be a minute older.
    """
    place = placing(tmp_path / "runs")
    place("a/pgbench_log.123", log_of(NOW + ahead - since), NOW - since + 20)
    lines = (LINE.format(f"{NOW + ahead + second:.0f}.000").replace(".000.0", ".000") for second in range(-9, 1))
    place("a/db1.err", "".join(lines).encode(), NOW)
    runs = Runs([tmp_path / "runs"], RunsSettings(), Buckets())
    while runs.poll(NOW + 0.2):
        pass
    page = Exposition().render(runs.workers, ("live",))
    assert f'pgbench_transactions_total{{run="a",worker="db1"}} {shown}\n' in page


def test_a_log_with_the_transactions_of_the_report_is_of_that_run_whenever_the_text_was_edited(tmp_path: Path) -> None:
    place = placing(tmp_path / "runs")
    place("a/pgbench_log.123", log_of(NOW - 1000), NOW - 980)
    place("a/db1.out", REPORT.format(number=2).split("\n", 1)[1].encode(), NOW)
    runs = Runs([tmp_path / "runs"], RunsSettings(), Buckets())
    while runs.poll(NOW + 2):
        pass
    page = Exposition().render(runs.workers, ("runs",))
    assert 'pgbench_result_latency_seconds{run="a",worker="db1",quantile="1"} 0.001\n' in page


def test_the_log_of_a_thread_that_an_earlier_process_of_the_same_number_had_is_left_out(tmp_path: Path) -> None:
    """In a container each process may have the same number."""
    place = placing(tmp_path / "runs")
    place("a/pgbench_log.7", log_of(NOW - 20), NOW)
    place("a/pgbench_log.7.1", log_of(NOW - 1000), NOW - 980)
    place("a/db1.err", LINES.encode(), NOW)
    runs = Runs([tmp_path / "runs"], RunsSettings(), Buckets())
    while runs.poll(NOW + 0.2):
        pass
    page = Exposition().render(runs.workers, ("live", "runs"))
    labels = 'run="a",worker="db1"'
    assert f"pgbench_transactions_total{{{labels}}} 2000\n" in page
    assert f"benchwatch_run_start_timestamp_seconds{{{labels}}} {NOW - 20.001}\n" in page
    place("a/pgbench_log.7.1", log_of(NOW - 1000), NOW)  # a copy
    while runs.poll(NOW + 5):
        pass
    page = Exposition().render(runs.workers, ("live",))
    assert f"pgbench_transactions_total{{{labels}}} 4000\n" in page


def test_a_record_says_nothing_of_a_later_run_of_its_name(tmp_path: Path) -> None:
    """What was copied or edited later was written in a moment, and what is pushed comes before its record."""
    place = placing(tmp_path / "runs")
    text = REPORT.format(number=1).encode()
    for run in ("again", "running", "copied", "pushed"):
        file = place(f"{run}/db1.out", text if run != "running" else text[:90])
        begun = file.stat().st_ctime
        ended = b"start: %d\nend: %d\nexit_code: 1\ncpu_seconds: 2\n" % (begun - 990, begun - 970)
        place(f"{run}/db1.yaml", b"labels: {vm: pg1}\n" + ended, begun + 10 if run == "pushed" else begun - 970)
        last = begun if run == "copied" else begun + 10
        os.utime(file, (last, last))
    runs = Runs([tmp_path / "runs"], RunsSettings(), Buckets())
    while runs.poll(begun + 11):
        pass
    workers = {worker.run: worker for worker in runs.workers}
    assert {name: worker.phase for name, worker in workers.items()} == {
        "again": "finished",
        "running": "running",
        "copied": "failed",
        "pushed": "failed",
    }
    assert all(worker.runfile.labels == {"vm": "pg1"} for worker in workers.values())
    again = workers["again"]
    assert again.start == pytest.approx(begun, abs=1)
    assert (again.runfile.cpu_seconds, again.notes) == (
        None,
        ["start and end in its record are ignored: its output is newer (if that was only edited, touch the record)"],
    )
    assert workers["copied"].notes == []
    os.utime(tmp_path / "runs/again/db1.yaml", (begun + 11, begun + 11))
    while runs.poll(begun + 14):
        pass
    assert (again.phase, again.notes) == ("failed", [])


def test_logs_are_read_again_for_a_run_that_the_last_line_begins_before_it_has_ended(tmp_path: Path) -> None:
    place = placing(tmp_path / "runs")
    second = 'connection to database "bench" failed: FATAL'
    place("r/db1.err", (REPORT.format(number=1) + second).encode())
    place("r/db1.77", b"0 1 500 0 1795168490 415032\n" * 5)
    pages = []
    for text in (b"", b"\n"):
        with (tmp_path / "runs" / "r" / "db1.err").open("ab") as file:
            file.write(text)
        os.utime(tmp_path / "runs" / "r" / "db1.err", (NOW, NOW))
        runs = Runs([tmp_path / "runs"], RunsSettings(), Buckets())
        while runs.poll(NOW + 2):
            pass
        pages.append([line for line in Exposition().render(runs.workers, ("runs",)).splitlines() if "records" in line])
    assert pages[0] == pages[1]
