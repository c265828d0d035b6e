import csv
import errno
import io
import os
import re
import subprocess
from pathlib import Path

import pytest

from benchwatch.cli import main
from tests.compare.made import START
from tests.compare.made import place as made
from tests.support.places import RECORDINGS, Place


def test_a_file_is_a_run_named_after_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", str(RECORDINGS / "pgbench" / "tpcb-15.18.out")]) == 0
    out = capsys.readouterr().out
    assert 'pgbench_result_transactions{run="tpcb-15.18",worker="tpcb-15.18"} 16154\n' in out


def test_files_of_one_process_are_read_together(capsys: pytest.CaptureFixture[str], place: Place) -> None:
    for suffix in ("err", "out"):
        place(f"db1.{suffix}", RECORDINGS / "pgbench" / f"tpcb-15.18.{suffix}")
    folder = place("db1.err", RECORDINGS / "pgbench" / "tpcb-15.18.err").parent
    assert main(["metrics", str(folder / "db1.err"), str(folder / "db1.out")]) == 0
    out = capsys.readouterr().out
    assert 'pgbench_transactions_total{run="db1",worker="db1"} 16154\n' in out
    assert out.count('state="finished"} 1') == 1


def test_a_folder_is_a_run_and_a_folder_of_folders_holds_runs(
    capsys: pytest.CaptureFixture[str], place: Place, tmp_path: Path
) -> None:
    place("a/db1.err", RECORDINGS / "pgbench" / "tpcb-15.18.err")
    place("b/x.json", RECORDINGS / "fio" / "json-si1-randrw-3.33.out")
    place("c.err", RECORDINGS / "pgbench" / "tpcb-18.6.err")
    assert main(["metrics", str(tmp_path / "runs" / "a")]) == 0
    assert 'run="a",worker="db1"' in capsys.readouterr().out
    assert main(["metrics", str(tmp_path / "runs"), "--collect", "live"]) == 0
    out = capsys.readouterr().out
    assert all(f'benchwatch_run_state{{run="{run}"' in out for run in "abc")
    assert "benchwatch_run_info" not in out


def test_runs_of_the_same_name_keep_their_records(
    capsys: pytest.CaptureFixture[str], place: Place, tmp_path: Path
) -> None:
    for folder in "xy":
        place(f"{folder}/a/db.out", RECORDINGS / "pgbench/tpcb-15.18.out")
        place(f"{folder}/a/run.yaml", f"labels: {{of: {folder}}}".encode())
    assert main(["metrics", str(tmp_path / "runs/x/a"), str(tmp_path / "runs/y/a")]) == 0
    labels = re.findall(r'benchwatch_run_info\{run="[^"]*/([xy])/a",.*,of="(.)"', capsys.readouterr().out)
    assert labels == [("x", "x"), ("y", "y")]


def test_a_run_that_is_named_twice_is_there_once(capsys: pytest.CaptureFixture[str], place: Place) -> None:
    run = place("r1/db.out", RECORDINGS / "pgbench/tpcb-15.18.out").parent
    assert main(["metrics", str(run)]) == 0
    once = capsys.readouterr().out
    assert main(["metrics", str(run.parent), str(run)]) == 0
    assert capsys.readouterr().out == once


def test_the_name_of_an_experiment_stands_for_its_repeats_in_the_order_of_their_numbers(
    capsys: pytest.CaptureFixture[str], place: Place, tmp_path: Path
) -> None:
    for number in (10, 9, 1):
        place(f"a-{number}/db1.err", RECORDINGS / "pgbench" / "tpcb-15.18.err")
        place(f"a-{number}/db1.yaml", b"repeat_of: a\n")
    place("a-b/db1.err", RECORDINGS / "pgbench" / "tpcb-15.18.err")
    assert main(["metrics", str(tmp_path / "runs" / "a")]) == 0
    out = capsys.readouterr().out
    assert re.findall(r'benchwatch_run_info\{run="([^"]+)"', out) == ["a-1", "a-9", "a-10"]
    assert main(["backfill", str(tmp_path / "runs" / "a")]) == 0
    assert 'run="a-9"' in capsys.readouterr().out


def test_what_is_not_recognised_or_not_there_is_said(
    capsys: pytest.CaptureFixture[str], place: Place, tmp_path: Path
) -> None:
    notes = place("notes.txt", b"remember the milk\n")
    assert main(["metrics", str(notes)]) == 1
    assert "nothing recognised in" in capsys.readouterr().err
    assert main(["metrics", str(tmp_path / "nowhere")]) == 2
    assert "nowhere: cannot be read: No such file or directory; expected a file or a folder" in capsys.readouterr().err


def test_of_a_folder_of_runs_the_one_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").mkdir()
    scan = os.scandir

    def denied(path: object) -> object:
        if str(path) == str(tmp_path / "a"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(str(path))

    monkeypatch.setattr(os, "scandir", denied)
    assert main(["metrics", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"benchwatch: {tmp_path}/a: cannot be read: Permission denied;")


def test_promtool_accepts_what_all_recordings_give(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    main(
        ["metrics", *(str(path) for path in sorted(RECORDINGS.rglob("*")) if path.is_file() and path.suffix != ".cmd")]
    )
    page = capsys.readouterr().out
    assert page.count("# TYPE pgbench_") > 15
    assert page.count("# TYPE fio_") > 15
    checked = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, text=True)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_names_that_are_not_utf_8_are_printed(capsys: pytest.CaptureFixture[str], place: Place) -> None:
    recording = RECORDINGS / "pgbench" / "tpcb-15.18.out"
    folders = [place(f"{os.fsdecode(name)}/x.out", recording).parent for name in (b"a\xff", b"a\xfe")]
    assert main(["metrics", *map(str, folders), str(folders[0] / "x.out")]) == 0
    out = capsys.readouterr().out
    assert [f'pgbench_clients{{run="{run}",worker="x"}} 4' in out for run in (r"a\\xff", r"a\\xfe")] == [True, True]
    assert main(["metrics", str(folders[0] / "\x1b[31m")]) == 2
    assert r"/a\xff/\x1b[31m: cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ending", "state"),
    [
        (b"job1: (groupid=0, jobs=1): err= 0: pid=7: Fri Nov 20 10:00:00 2026", "finished"),
        (b"job1: (groupid=0, jobs=1): err=28 (file:io_u.c:1, func=io_u error): pid=7: Fri", "failed"),
        (b"job1: (groupid=0, jobs=1): err= 0: pid=7: Fri Nov 20 10:00:00 2026\n  read: IOPS=1\n", "finished"),
        (b"Jobs: 1 (f=1): [R(1)][50.0%][r=4KiB/s][r=1 IOPS][eta 00m:01s]", "running"),
    ],
)
@pytest.mark.parametrize("prefix", [b"", b"fio-1  | "])
def test_output_of_fio_without_documents_is_over_as_its_text_says(
    capsys: pytest.CaptureFixture[str], place: Place, tmp_path: Path, ending: bytes, state: str, prefix: bytes
) -> None:
    text = (
        b"job1: (g=0): rw=read, bs=(R) 4096B-4096B, ioengine=psync, iodepth=1\nfio-3.33\nStarting 1 process\n" + ending
    )
    lines = b"".join(prefix + line for line in text.splitlines(keepends=True))
    assert main(["metrics", str(place("a/disk1.out", lines))]) == 0
    assert f'benchwatch_run_state{{run="disk1",worker="disk1",state="{state}"}} 1\n' in capsys.readouterr().out
    assert main(["backfill", str(tmp_path / "runs" / "a" / "disk1.out")]) == 0
    (*_, last) = re.findall(r'benchwatch_run_state\{.*state="(\w+)"\} 1 ', capsys.readouterr().out)
    assert last == ("abandoned" if state == "running" else state)


def test_a_parameter_without_a_value_is_not_exported(capsys: pytest.CaptureFixture[str], place: Place) -> None:
    """To Prometheus a label without a value is no label; fio 3.39 prints a switch such as time_based with none."""
    folder = place("a/disk1.out", RECORDINGS / "fio" / "json-si1-randrw-3.39.out").parent
    place("a/run.yaml", b"parameters: {shared_buffers: 16GB, comment: ''}\n")
    assert main(["metrics", str(folder)]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("benchwatch_run_parameter{")]
    names = [line.partition('name="')[2].partition('"')[0] for line in lines]
    assert names == ["name", "rw", "rwmixread", "directory", "size", "bs", "ioengine", "runtime", "shared_buffers"]


def csv_rows(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[dict[str, str]]:
    assert main(["metrics", *map(str, arguments), "--csv"]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def test_csv_has_a_record_for_each_progress_line(capsys: pytest.CaptureFixture[str]) -> None:
    path = RECORDINGS / "pgbench" / "tpcb-15.18.err"
    lines = re.findall(r"progress: ([\d.]+) s, ([\d.]+) tps", path.read_text())
    rows = csv_rows(capsys, path)
    assert [float(row["pgbench_tps"]) for row in rows] == [float(tps) for _, tps in lines]
    assert [float(row["elapsed_seconds"]) for row in rows] == [float(elapsed) for elapsed, _ in lines]
    assert float(rows[1]["time"]) - float(rows[0]["time"]) == 1.0


def test_csv_has_the_percentiles_of_a_log_in_the_records_of_the_reports(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = made(tmp_path / "r", [1000.0] * 5)
    lines = (f"0 {n} 5000 0 {START + second} {500_000 + n}\n" for second in range(5) for n in range(1000))
    (run / "db.77").write_text("".join(lines))
    rows = csv_rows(capsys, run)
    (column,) = [name for name in rows[0] if "pgbench_latency_window" in name and '"0.99"' in name]
    assert [float(row["time"]) - START for row in rows][:4] == [1, 2, 3, 4]
    assert [row["pgbench_tps"] for row in rows][:4] == ["1000"] * 4
    assert float(rows[2][column]) == pytest.approx(0.005, rel=0.02)


def test_csv_of_two_tools_has_the_columns_of_both(capsys: pytest.CaptureFixture[str]) -> None:
    paths = [RECORDINGS / "pgbench/tpcb-15.18.err", RECORDINGS / "fio/json-si1-randrw-3.39.out"]
    rows = csv_rows(capsys, *paths)
    assert {row["worker"] for row in rows} == {"tpcb-15.18", "json-si1-randrw-3.39"}
    fio = 'fio_ios_total{job="rrw",op="read"}'
    assert [bool(row[fio]) for row in rows] == [row["worker"].startswith("json") for row in rows]
    assert [bool(row["pgbench_tps"]) for row in rows] == [row["worker"].startswith("tpcb") for row in rows]


def test_csv_cells_of_foreign_text_are_no_formulas(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    made(tmp_path / "runs" / "=cmd|x", [1000.0] * 3)
    assert {row["run"] for row in csv_rows(capsys, tmp_path / "runs")} == {"'=cmd|x"}


def test_csv_of_results_has_what_the_final_report_says(capsys: pytest.CaptureFixture[str]) -> None:
    rows = csv_rows(capsys, RECORDINGS / "pgbench" / "tpcb-15.18.out", "--collect", "runs")
    assert rows[-1]["pgbench_result_transactions"] == "16154"


def test_csv_of_a_file_that_is_no_output_is_refused(capsys: pytest.CaptureFixture[str], place: Place) -> None:
    assert main(["metrics", str(place("notes.txt", b"remember the milk\n")), "--csv"]) == 1
    assert "nothing recognised in" in capsys.readouterr().err
