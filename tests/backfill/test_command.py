import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.tools.registry import names
from tests.support.places import NOW, RECORDINGS, Place
from tests.support.programs import output, program

FIO = RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.42.out"
LABELS = 'job="benchwatch-live",instance="127.0.0.1:19777",run="db1",worker="db1"'


def lines(count: int, begin: int = 1_795_000_000) -> bytes:
    """A line a second of pgbench -P 1 --progress-timestamp."""
    text = (
        f"progress: {begin + at}.000 s, {100 + at}.0 tps, lat 4.000 ms stddev 2.000\n" for at in range(1, count + 1)
    )
    return "".join(text).encode()


def samples(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_openmetrics_has_each_report_at_its_time(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backfill", str(place("db1.err", lines(3)))]) == 0
    out, err = capsys.readouterr()
    assert [line for line in samples(out) if line.startswith("pgbench_tps")] == [
        f"pgbench_tps{{{LABELS}}} 101 1795000001.000",
        f"pgbench_tps{{{LABELS}}} 102 1795000002.000",
        f"pgbench_tps{{{LABELS}}} 103 1795000003.000",
        f"pgbench_tps{{{LABELS}}} 103 1795000004.000",  # until it stalls
        f"pgbench_tps{{{LABELS}}} 103 1795000005.000",
    ]
    assert next(line for line in samples(out) if line.startswith("pgbench_latency_average")) == (
        f"pgbench_latency_average_seconds{{{LABELS}}} 0.004 1795000001.000"
    )
    assert err == (
        f"benchwatch: {len(samples(out))} samples from 2026-11-18 11:06:41 UTC to 2026-11-18 11:11:43 UTC written\n"
    )


def test_openmetrics_is_in_the_order_that_the_format_asks_for(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place("a/disk1.out", FIO)
    folder = place("b/disk1.out", FIO).parent.parent
    assert main(["backfill", str(folder)]) == 0
    out = capsys.readouterr().out
    assert out.endswith("\n# EOF\n")
    heads = re.findall(r"^# TYPE (\S+) (\S+)$", out, re.MULTILINE)
    assert len(heads) == len(set(heads)) > 20
    assert {("fio_ios", "counter"), ("fio_completion_latency_seconds", "histogram"), ("fio_iops", "gauge")} < set(heads)
    points: dict[str, list[str]] = {}
    family = ""
    for line in out.splitlines()[:-1]:
        if line.startswith("# TYPE "):
            family = line.split()[2]
        elif not line.startswith("#"):
            assert line.startswith(family)
            metric = re.sub(r'^(\w+?)(?:_bucket|_sum|_count)?\{(.*?)(?:,le="[^"]+")?\} .*', r"\1{\2}", line)
            points.setdefault(metric, []).append(line.rsplit(" ", 1)[1])
    assert all(times == sorted(times) for times in points.values())  # so the buckets of a point are together
    assert 'fio_ios_total{job="rrw",instance="127.0.0.1:19777",run="a",worker="disk1",op="read"} 44477 ' in out


def test_labels_of_the_scrape_can_be_chosen(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place("a/db1.err", lines(2))
    folder = place("a/disk1.out", FIO).parent
    assert main(["backfill", str(folder), "--instance", "bench:1", "--job", "own"]) == 0
    out = capsys.readouterr().out
    assert 'pgbench_tps{job="own-live",instance="bench:1",run="a",worker="db1"}' in out
    assert 'benchwatch_run_info{job="own-runs",instance="bench:1",run="a",worker="disk1",tool="fio",' in out
    assert 'fio_iops{job="rrw",instance="bench:1",' in out


def test_values_are_repeated_as_scrapes_do(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backfill", str(place("disk1.out", FIO))]) == 0
    out = capsys.readouterr().out
    end = 1795168697.057
    for name, step, number in (("fio_ios_total", 1, 63), ("fio_result_iops", 10, 6), ("fio_iops", 1, 3)):
        found = [line for line in samples(out) if line.startswith(f"{name}{{") and 'op="read"' in line]
        times = [float(line.rsplit(" ", 1)[1]) for line in found]
        assert len(times) == number
        assert [round(time - end, 3) for time in times if time > end] == list(range(step, 60, step))[: len(times)] * (
            name != "fio_iops"
        )


def test_output_goes_to_a_file(place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = place("db1.err", lines(3))
    assert main(["backfill", str(path), "--output", str(tmp_path / "om.txt")]) == 0
    assert capsys.readouterr().out == ""
    assert main(["backfill", str(path)]) == 0
    assert (tmp_path / "om.txt").read_text() == capsys.readouterr().out


def test_a_run_that_is_named_twice_is_written_once(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    run = place("r1/db.err", lines(3)).parent
    assert main(["backfill", str(run)]) == 0
    once = capsys.readouterr().out
    assert main(["backfill", str(run.parent), str(run), str(run / ".." / "r1")]) == 0
    assert capsys.readouterr().out == once


def test_blocks_are_made_and_counted(place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "data"
    data.mkdir()
    # Two hours of a clock are a block: 12:00 UTC is 1795003200.
    assert main(["backfill", str(place("db1.err", lines(60, 1_795_003_170))), "--into", str(data)]) == 0
    said = capsys.readouterr().err
    found = re.fullmatch(
        r"benchwatch: (\d+) samples from 2026-11-18 11:59:31 UTC to 2026-11-18 12:05:30 UTC in 2 blocks in (\S+)\n"
        r"benchwatch: a Prometheus running on that folder shows them within a minute\n"
        r"(?:benchwatch: Prometheus deletes .*\n)?",
        said,
    )
    assert found, said
    assert found[2] == str(data)
    assert len(list(data.iterdir())) == 2
    (data / "wal").mkdir()  # without which promtool reads nothing
    # From 2.53 on it makes a folder of its own in `data` of its working folder.
    dumped = output(program("promtool"), "tsdb", "dump", data, folder=tmp_path)
    assert dumped.count("\n") == int(found[1])
    assert (
        '{__name__="pgbench_tps", instance="127.0.0.1:19777", job="benchwatch-live", run="db1", worker="db1"}' in dumped
    )


def test_a_run_older_than_prometheus_keeps_data_is_named(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backfill", str(place("db1.err", lines(3, 1_600_000_000))), "--into", str(tmp_path)]) == 0
    assert "Prometheus deletes data older than 15 days unless you start it with" in capsys.readouterr().err


def test_a_prometheus_whose_own_data_would_be_lost_is_left_alone(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segment = tmp_path / "data/wal/00000000"
    segment.parent.mkdir(parents=True)
    segment.write_bytes(b"")
    data = str(tmp_path / "data")
    recent = int(segment.stat().st_mtime) - 3 * 3600
    assert main(["backfill", str(place("db1.err", lines(3, recent))), "--into", data]) == 1
    assert "in blocks and would lose them at its next start" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["wal"]
    assert main(["backfill", str(place("db1.err", lines(3, recent - 400))), "--into", data]) == 0


def test_what_is_dated_by_its_files_is_said(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    path = place("db1.out", RECORDINGS / "pgbench/tpcb-15.18.out")
    assert main(["backfill", str(path)]) == 0
    out, err = capsys.readouterr()
    labels = LABELS.replace("-live", "-runs")
    assert f"pgbench_result_transactions{{{labels}}} 16154 {NOW:.3f}" in out
    assert "run db1, db1: no timestamps in the output; using file modification times" in err


def test_what_is_dated_by_its_recorded_end_is_not_said_to_be_dated_by_its_files(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place("a/db1.err", RECORDINGS / "pgbench/conn-refused-15.18.err", written=1_795_000_000)
    folder = place("a/db1.yaml", b"start: 1790000000\nend: 1790000001.5\nexit_code: 1\n").parent
    assert main(["backfill", str(folder)]) == 0
    out, err = capsys.readouterr()
    failed = [line for line in samples(out) if line.startswith("benchwatch_run_state{") and 'state="failed"' in line]
    assert failed[0].endswith(" 1 1790000001.500")
    assert "dated by" not in err


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (
            ["RUNS/notes.txt"],
            1,
            f"nothing recognised in RUNS/notes.txt: expected output of {names()}",
        ),
        (["RUNS/nowhere"], 2, "RUNS/nowhere: cannot be read: No such file or directory; expected a file or a folder"),
        (["RUNS/db1.err", "--output", "/dev/full"], 1, "/dev/full: cannot be written: No space left on device"),
        (["RUNS/db1.err", "--output", "RUNS/no/x"], 1, "RUNS/no/x: cannot be written: No such file or directory"),
        (
            ["RUNS/db1.err", "--into", "RUNS/no"],
            2,
            "--into RUNS/no: no such folder; expected the folder of Prometheus' --storage.tsdb.path",
        ),
    ],
)
def test_what_does_not_work_is_said(
    place: Place, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, sentence: str
) -> None:
    place("notes.txt", b"remember the milk\n")
    runs = str(place("db1.err", lines(3)).parent)
    assert main(["backfill", *(argument.replace("RUNS", runs) for argument in arguments)]) == code
    assert capsys.readouterr().err == f"benchwatch: {sentence.replace('RUNS', runs)}\n"


def test_standard_output_on_a_full_disk_is_said(place: Place) -> None:
    command = [sys.executable, "-m", "benchwatch", "backfill", str(place("db1.err", lines(3)))]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "benchwatch: standard output: cannot be written: No space left on device\n",
    )


def test_a_missing_promtool_is_said(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["backfill", str(place("db1.err", lines(3))), "--into", str(tmp_path)]) == 2
    assert capsys.readouterr().err == ("benchwatch: --into needs promtool on PATH; it comes with Prometheus\n")


def test_a_promtool_that_fails_is_quoted(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = tmp_path / "promtool"
    failing.write_text("#!/bin/sh\necho 'block creation: no room' >&2\nexit 3\n")
    failing.chmod(failing.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    assert main(["backfill", str(place("db1.err", lines(3))), "--into", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "benchwatch: promtool failed with exit code 3: block creation: no room\n"
