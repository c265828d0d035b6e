import csv
import io
import json
import os
import re
import shutil
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchwatch.cli import main
from benchwatch.values.timestamps import shown_moment
from tests.compare.made import START, place, progress, summary
from tests.support.places import RECORDINGS

from .conftest import Show

STEADY = [1000.0, 1010.0, 990.0, 1005.0, 995.0] * 4


def repeat(folder: Path, name: str, values: list[float]) -> None:
    for number, tps in enumerate(values, 1):
        place(folder / f"{name}-{number}", tps, record=f"repeat_of: {name}\n")


def test_a_terminal_sees_how_many_runs_are_read(
    show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(42):
        place(tmp_path / f"runs/n{number}", 1000.0)
    assert show(tmp_path / "runs", "--csv")[2] == ""
    seconds = count()
    monkeypatch.setattr(time, "monotonic", lambda: 10.0 * next(seconds))
    assert show(tmp_path / "runs", "--csv")[2] == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    code, out, err = show(*sorted((tmp_path / "runs").iterdir()), "--csv")
    assert (code, len(out.splitlines()) > 42) == (0, True)
    assert [part for part in err.split("\r") if part] == [
        *(f"benchwatch: {number} of 42 runs read" for number in (1, 21, 41)),
        "\033[K",
    ]


def test_a_run_has_its_figures_and_what_speaks_against_them(show: Show, tmp_path: Path) -> None:
    run = place(tmp_path / "a", [*STEADY, *([0.0] * 3), *([600.0] * 17)], failed=3, record="latency_objective: 0.1ms\n")
    code, out, _ = show(run)
    assert code == 0
    assert out.splitlines() == [
        "a: pgbench 15.18, finished, 40 s",
        "  TPS    mean  connection time",
        "  755  160 µs          20.0 ms",
        "  failed 3 of 30,203 transactions (0.00993 %)",
        "  stalls: 3.0 s",
        "  steady: no, a: TPS 1,000 up to 20 s, then 510 (-49.0 %)",
        "  objective: missed, mean 160 µs against 100 µs, above it in 37 of 37 reports",
    ]


def test_of_several_runs_in_one_file_only_the_last_counts(show: Show, tmp_path: Path) -> None:
    banner, report = summary(1000.0, seconds=20).split("\n", 1)
    texts = []
    for begin, rates in ((0, [100.0] * 15 + [0.0] * 5), (100, STEADY)):
        shifted = re.sub(r"\d{10}", lambda found, by=begin: str(int(found[0]) + by), progress(rates))
        texts.append(f"{banner}\n{shifted}{report}")
    (tmp_path / "a.log").write_text("".join(texts))
    _, out, _ = show(tmp_path / "a.log")
    assert out.splitlines()[-3:] == ["  stalls: none", "  steady: yes", "  ! a: run 2 of 2 in this file"]
    _, out, _ = show(tmp_path / "a.log#1")
    assert "  stalls: 5.0 s\n" in out
    _, out, _ = show(RECORDINGS / "fio/append-two-runs-stdout-3.33.out")
    assert [line.split()[0] for line in out.splitlines()[1:3]] == ["IOPS", "read"]


def test_each_of_several_normal_reports_of_fio_in_a_file_can_be_shown(show: Show, tmp_path: Path) -> None:
    reports = [RECORDINGS / f"fio/normal-si1-{version}.out" for version in ("3.33", "3.42", "3.33")]
    (tmp_path / "a.log").write_text("".join(report.read_text() for report in reports))
    for number, report in enumerate(reports, 1):
        of_all, alone = show(tmp_path / f"a.log#{number}")[1], show(report)[1]
        assert of_all.splitlines()[1:4] == alone.splitlines()[1:4]
        assert f"run {number} of 3 in this file" in of_all


def test_a_last_run_that_measured_nothing_is_said_to_be_one_of_several(show: Show, tmp_path: Path) -> None:
    recordings = (RECORDINGS / f"sysbench/{name}/{name}.out" for name in ("rw-t8-1.0.20", "cleanup-table10-1.0.20"))
    (tmp_path / "a.log").write_text("".join(recording.read_text() for recording in recordings))
    _, out, _ = show(tmp_path / "a.log")
    assert out.splitlines()[1:] == ["  nothing was measured", "  ! a: run 2 of 2 in this file"]


def test_what_was_not_measured_is_absent(show: Show, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/db.out").write_text(summary(1000.0).replace("number of failed transactions: 0 (0.000%)\n", ""))
    _, out, _ = show(tmp_path / "a", "--json")
    (result,) = json.loads(out)["subjects"][0]["results"]
    assert {one["name"] for one in result["figures"]} == {"throughput", "latency_mean", "connection_time"}
    assert (result["lost"], result["stalled_seconds"], result["steady"], result["objective"]) == ({}, None, None, None)


@pytest.mark.parametrize(
    ("recording", "line"),
    [
        ("iperf3/text-p4-bidir-3.22.out", "retransmits 6 (1.50/s)"),
        ("iperf3/text-udp-3.12.out", "lost packets 1 (0.131 %)"),
        ("iperf3/json-udp-omit-3.18.out", "lost packets 0"),
        ("sysbench/deadlocks-t8-psdisable-1.0.20", "retried 31 (2.75/s)"),
    ],
)
def test_what_is_no_part_of_the_operations_is_not_said_to_be_one(show: Show, recording: str, line: str) -> None:
    _, out, _ = show(RECORDINGS / recording)
    assert f"  {line}\n" in out


def test_failed_and_skipped_transactions_are_a_part_of_all_and_retries_are_none(show: Show) -> None:
    _, out, _ = show(RECORDINGS / "pgbench/txlog-failures-detailed-18.6")
    assert "  failed 174 of 480 transactions (36.2 %), retries 236 (1,536/s)\n" in out
    _, out, _ = show(RECORDINGS / "pgbench/multi-script-rate-limit-18.6.out")
    assert "  failed 0 of 1,459 transactions, skipped 8 of 1,467 transactions (0.545 %)\n" in out


def test_the_highest_latency_of_sysbench_is_what_it_printed(show: Show) -> None:
    for recording, milliseconds in (
        ("ro-t8-p999x-1.0.20", 70.71),
        ("rw-t1-p99-1.0.20", 334.08),
        ("slow-query-interval-1.0.20", 3250.87),
    ):
        _, out, _ = show(RECORDINGS / "sysbench" / recording, "--json")
        (result,) = json.loads(out)["subjects"][0]["results"]
        figures = {one["name"]: one["value"] for one in result["figures"]}
        assert figures["latency_max"] == pytest.approx(milliseconds / 1e3)
        percentiles = [value for name, value in figures.items() if name.startswith("latency_p")]
        assert max(percentiles, default=0) <= figures["latency_max"]


def test_the_operations_of_a_run_are_those_of_the_workload(show: Show) -> None:
    for recording, written in (
        ("fio/json-verify-write-3.33.out", 1024),
        ("fio/json-sync-fsync8-3.42.out", 149_296),
        ("iperf3/stream-udp-3.18.server.out", 25_034_752),  # bytes, of a family of its own
    ):
        _, out, _ = show(RECORDINGS / recording, "--json")
        (result,) = json.loads(out)["subjects"][0]["results"]
        assert result["operations"] == written


def test_a_silence_is_a_stall_as_in_the_plots(show: Show, tmp_path: Path) -> None:
    run = RECORDINGS / "pgbench/sigstop-cont-15.18"
    assert "  stalls: 3.7 s\n" in show(run)[1]
    assert main(["report", str(run), "--output", str(tmp_path / "page.html")]) == 0
    assert "Marked: 1 stall, 3.7 s in all." in (tmp_path / "page.html").read_text()


def test_a_fixed_rate_without_a_latency_has_stalls_and_is_steady_or_not(show: Show, tmp_path: Path) -> None:
    stopped = RECORDINGS / "iperf3/stream-server-stopped4s-3.18.out"
    code, out, _ = show(stopped, "--require", "stalled < 1s")
    assert "  stalls: 3.0 s\n" in out
    assert (code, out.splitlines()[-1]) == (3, "NOT MET: stalled < 1s: 3.00 s")


def rate_limited(folder: Path, latencies: list[float]) -> Path:
    """Milliseconds for each second of a run at 1000 TPS; without one, nothing completed."""
    (folder / "a").mkdir(parents=True)
    lines = (
        f"progress: {START + second}.000 s, {1000.0 if latency else 0.0:.1f} tps, lat {latency:.3f} ms stddev 0.010, "
        f"0 failed, lag {latency / 2:.3f} ms\n"
        for second, latency in enumerate(latencies, 1)
    )
    (folder / "a/db.err").write_text("".join(lines))
    mean = sum(latencies) / len(latencies)
    (folder / "a/db.out").write_text(summary(1000.0, seconds=len(latencies), latency=mean, lag=f"{mean / 2:.3f}"))
    return folder / "a"


@pytest.mark.parametrize(
    ("latencies", "line"),
    [
        ([4.0, 4.1, 3.9, 4.0] * 15, "yes"),
        (
            [4.0] * 30 + [1500.0, 900.0] + [4.0] * 28,
            "no, a: latency mean 43.9 ms, 4.00 ms in half of its reports",
        ),
        ([4.0] * 40 + [0.0] * 5 + [4.0] * 15, "no, a: stood still for 5 s at a fixed rate"),
        ([4.0] * 30 + [6.0] * 30, "no, a: latency mean 4.00 ms up to 30 s, then 6.00 ms (+50.0 %)"),
    ],
)
def test_a_run_at_a_fixed_rate_is_steady_if_its_latency_is(
    show: Show, tmp_path: Path, latencies: list[float], line: str
) -> None:
    run = rate_limited(tmp_path, latencies)
    assert f"  steady: {line}\n" in show(run)[1]
    (run / "db.out").unlink()  # without a final report, the lag of its reports shows that the rate was fixed
    assert f"  steady: {line.split(':')[0]}" in show(run)[1]


def test_what_else_a_final_report_has_is_shown(show: Show, tmp_path: Path) -> None:
    _, out, _ = show(RECORDINGS / "pgbench/multi-script-rate-limit-15.18.out")
    assert out.splitlines()[4:8] == [
        "  above the 1.0 ms limit: 85 of 1,515 transactions (5.61 %)",
        "  schedule lag: mean 101 µs, max 3.49 ms",
        "  script 1, <builtin: simple update>, weight 1: 251 transactions, 83.9 TPS, mean 829 µs",
        "  script 2, <builtin: select only>, weight 5: 1,264 transactions, 423 TPS, mean 388 µs",
    ]
    run = place(tmp_path / "a", 1000.0, lag="0.090", record="command: pgbench -P1 -R 1000 mydb\n")
    assert "  schedule lag: mean 90.0 µs, max 9.00 ms, at -R 1000\n" in show(run)[1]
    _, out, _ = show(RECORDINGS / "sysbench/fileio-rndrw-t4-1.0.20")
    assert "  reads 41,149/s, writes 27,433/s, fsyncs 2,746/s\n" in out
    _, out, _ = show(RECORDINGS / "sysbench/memory-1.0.20")
    assert "reads" not in out


@pytest.mark.parametrize(("rates", "asked"), [((200, 100), "-R 200 and -R 100"), ((200, 200), "-R 200 each")])
def test_the_rates_of_workers_that_ran_together_are_all_named(
    show: Show, tmp_path: Path, rates: tuple[int, int], asked: str
) -> None:
    run = place(tmp_path / "a", STEADY, lag="0.090")
    for worker, rate in zip(("db", "eb"), rates, strict=True):
        (run / f"{worker}.yaml").write_text(f"command: pgbench -l --log-prefix={worker} -P1 -R {rate}\n")
        for suffix in ("out", "err"):
            (run / f"{worker}.{suffix}").write_bytes((run / f"db.{suffix}").read_bytes())
    assert f"  schedule lag: mean 90.0 µs, max 9.00 ms, at {asked}\n" in show(run)[1]


def test_json_has_every_number_of_the_final_report_under_the_name_of_its_metric(show: Show) -> None:
    _, out, _ = show(RECORDINGS / "pgbench/multi-script-rate-limit-15.18.out", "--json")
    (result,) = json.loads(out)["subjects"][0]["results"]
    found = {(one["name"], one["labels"].get("script")): one["value"] for one in result["final_report"]}
    assert found["pgbench_result_late_transactions", None] == 85
    assert found["pgbench_result_script_tps", "1"] == 422.525842
    assert found["pgbench_result_rate_limit_lag_max_seconds", None] == 0.003495
    assert {one["worker"] for one in result["final_report"]} == {result["workers"][0]}


def test_a_silence_up_to_the_end_of_the_run_is_a_stall(show: Show, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for worker, seconds in (("db1", 20), ("db2", 15)):
        (tmp_path / "a" / f"{worker}.err").write_text(progress([1000.0] * seconds))
    (tmp_path / "a/run.yaml").write_text(f"start: {START}\nend: {START + 320}\nexit_code: 137\nsignal: SIGKILL\n")
    assert "  stalls: 5m 00s\n" in show(tmp_path / "a")[1]
    assert main(["report", str(tmp_path / "a"), "--output", str(tmp_path / "page.html")]) == 0
    assert "Marked: 1 stall, 300 s in all." in (tmp_path / "page.html").read_text()


def test_the_other_workers_of_a_run_may_go_on_when_one_has_ended(
    show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: START + 60.0)
    run = place(tmp_path / "a", STEADY)
    (run / "db2.err").write_text(progress([1000.0] * 60))
    assert show(run)[1].splitlines()[0] == "a: pgbench 15.18, running, 1m 00s"


def test_a_run_that_ended_before_it_started_has_no_length(
    show: Show, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = place(tmp_path / "runs/a", STEADY)
    (run / "run.yaml").write_text(f"start: {START + 100}\nend: {START + 90}\nexit_code: 0\n")
    for file in run.iterdir():
        os.utime(file, (START + 90,) * 2)
    assert show(run)[1].splitlines()[0] == "a: pgbench 15.18, finished"
    assert main(["list", str(tmp_path / "runs"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["seconds"] is None
    assert main(["report", str(run), "--output", str(tmp_path / "page.html")]) == 0
    # The plots begin with the first report, whatever the record says.
    assert (
        '<p class="soft">pgbench 15.18, 0:19 from 2026-09-21 14:13:21 UTC, finished.'
        in (tmp_path / "page.html").read_text()
    )


def test_fio_has_reads_and_writes_apart_with_their_bandwidth(show: Show) -> None:
    _, out, _ = show(RECORDINGS / "fio/json-multi-stonewall-3.42.out")
    assert "  reader read    32,068   125 MiB/s  61.4 µs  60.7 µs  85.5 µs  99.8 µs   173 µs  1.90 ms\n" in out
    assert "  seqmix write  128,849  7.86 GiB/s  2.97 µs  2.10 µs  6.94 µs  9.66 µs   115 µs  1.47 ms\n" in out


def test_a_run_that_goes_on_failed_or_was_interrupted_shows_what_it_has(
    show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: float(START + len(STEADY)))
    for name, record in (("on", ""), ("failed", "exit_code: 2"), ("stopped", "exit_code: 130\nsignal: SIGINT")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "db.err").write_text(progress(STEADY))
        (tmp_path / name / "db.yaml").write_text(record or "{}")
    states = {}
    for name in ("on", "failed", "stopped"):
        code, out, _ = show(tmp_path / name)
        head, _, figures, *_ = out.splitlines()
        states[name] = head.split("5.18")[-1]
        assert (code, figures.split()) == (0, ["1,000", "160", "µs"])
    assert states == {
        "on": "on: pgbench, running, 20 s",
        "failed": "failed: pgbench, failed (exit code 2), 20 s",
        "stopped": "stopped: pgbench, interrupted (ended by SIGINT), 20 s",
    }


def test_repeats_have_a_mean_an_interval_a_spread_and_outliers(show: Show, tmp_path: Path) -> None:
    repeat(tmp_path, "a", [1000.0, 1004.0, 996.0, 1002.0, 700.0])
    code, out, _ = show(tmp_path / "a", "--json")
    (subject,) = json.loads(out)["subjects"]
    assert (code, subject["name"], subject["repeated"], len(subject["results"])) == (0, "a", True, 5)
    tps = subject["repeats"]["measures"][0]
    # Student's t for 4 degrees of freedom is 2.776; the standard deviation 134.42, over the root of 5 60.11.
    assert (tps["name"], tps["runs"], tps["mean"], tps["lowest"], tps["highest"]) == (
        *("throughput", 5),
        *(pytest.approx(940.4), 700.0, 1004.0),
    )
    assert tps["interval"] == [pytest.approx(940.4 - 166.9, abs=0.1), pytest.approx(940.4 + 166.9, abs=0.1)]
    assert tps["spread"] == pytest.approx(134.42 / 940.4, rel=1e-3)
    assert tps["outliers"] == ["a-5"]
    _, out, _ = show(tmp_path / "a")
    assert "a: 5 runs of 60 s together\n" in out
    assert ["TPS", "940", "773", "to", "1,107", "14.3", "%", "700", "1,004"] in [
        line.split() for line in out.splitlines()
    ]
    assert out.splitlines()[-1] == "  ! a-5 is far from the others: TPS"


def test_interval_and_outliers_of_repeats_are_those_of_scipy(show: Show, tmp_path: Path) -> None:
    from scipy import stats  # type: ignore[import-untyped]  # here, as loading it takes long

    values = [1000.0, 1004.0, 996.0, 1002.0, 999.0, 1001.0, 1060.0]
    repeat(tmp_path, "a", values)
    tps = json.loads(show(tmp_path / "a", "--json")[1])["subjects"][0]["repeats"]["measures"][0]
    expected = stats.t.interval(0.95, 6, loc=sum(values) / 7, scale=stats.sem(values))
    assert tps["interval"] == pytest.approx(list(expected), rel=1e-6)
    grubbs = stats.t.ppf(1 - 0.01 / 14, 5) ** 2
    limit = 6 / 7**0.5 * (grubbs / (5 + grubbs)) ** 0.5
    far = (1060 - sum(values) / 7) / stats.tstd(values)
    assert (far > limit, tps["outliers"]) == (True, ["a-7"])


def test_two_repeats_are_too_few_for_an_interval(show: Show, tmp_path: Path) -> None:
    repeat(tmp_path, "a", [1000.0, 1100.0])
    _, out, _ = show(tmp_path / "a")
    assert "interval" not in out.replace("too few runs for an interval: expected 3 or more", "")
    assert out.splitlines()[-1] == "  too few runs for an interval: expected 3 or more"


def test_a_repeat_that_did_not_finish_does_not_count(show: Show, tmp_path: Path) -> None:
    repeat(tmp_path, "a", [1000.0, 1004.0])
    place(tmp_path / "a-3", 10.0, record="repeat_of: a\nexit_code: 130\nsignal: SIGINT\n")
    (tmp_path / "a-3/db.out").write_text("pgbench (15.18)\n")
    _, out, _ = show(tmp_path / "a")
    assert "a: 2 runs of 60 s together\n  " in out
    assert "\n  without a-3 (interrupted)\n" in out


def test_a_warm_up_is_left_out_and_said(show: Show, tmp_path: Path) -> None:
    run = place(tmp_path / "a", [100.0] * 10 + [1000.0] * 20)
    _, out, _ = show(run, "--warmup", "10s")
    head, _, figures, *_ = out.splitlines()
    assert head == "a: pgbench 15.18, finished, 30 s without its first 10 s"
    assert figures.split()[0] == "1,000"


@pytest.mark.parametrize(
    ("asked", "code", "line"),
    [
        ("p99 < 100us", 0, "met: p99 < 100us: 99.8 µs (reader read)"),
        ("sync p99 < 100us", 3, "NOT MET: sync p99 < 100us: 255 µs (writer sync)"),
        ("IOPS>=32k", 0, "met: IOPS>=32k: 32,068 (reader read)"),
        ("throughput > 40,000", 3, "NOT MET: throughput > 40,000: 32,068 (reader read)"),
        ("seqmix iops > 250000", 3, "NOT MET: seqmix iops > 250000: 128,506 (seqmix read), and 1 more"),
        ("seqmix all iops > 250000", 0, "met: seqmix all iops > 250000: 257,355 (seqmix all)"),
        ("reader bandwidth >= 125MiB/s", 0, "met: reader bandwidth >= 125MiB/s: 125 MiB/s (reader read)"),
        ("reader bandwidth >= 132MB/s", 3, "NOT MET: reader bandwidth >= 132MB/s: 125 MiB/s (reader read)"),
        ("reader p99 < 1,000us", 0, "met: reader p99 < 1,000us: 99.8 µs (reader read)"),
        ("stalled == 0", 0, "met: stalled == 0: 0 s"),
        ("trim mean < 1s", 3, "NOT MET: trim mean < 1s: not measured"),
    ],
)
def test_requirements_know_units_groups_and_what_was_not_measured(show: Show, asked: str, code: int, line: str) -> None:
    found, out, _ = show(RECORDINGS / "fio/json-multi-stonewall-3.42.out", "--require", asked)
    assert (found, out.splitlines()[-1]) == (code, line)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (
            "speed > 3",
            "unknown figure 'speed'; expected tps, iops, events/s, op/s, tpm, req/s, seeks/s, throughput, bandwidth,",
        ),
        (
            "trougput > 3",
            "unknown figure 'trougput'; expected tps, iops, events/s, op/s, tpm, req/s, seeks/s, throughput, "
            "bandwidth, mean, p50, p95, p99, p99.9, max, connection, failed, skipped, stalled; "
            "did you mean throughput?\n",
        ),
        ("p99 < 20", "p99: expected a time, such as 20ms, got '20'"),
        ("throughput > 20ms", "throughput: expected bytes or bits a second, such as 100MiB/s or 9Gbit/s, got '20ms'"),
        ("tps > 1MiB/s", "tps: expected a number, such as 1000 or 1k, got '1MiB/s'"),
        ("failed < 20ms", "failed: expected a number, or a part such as 0.1%, got '20ms'"),
        ("p99 < 1,5ms", "expected FIGURE OPERATOR VALUE, such as 'p99 < 20ms' or 'failed == 0'"),
        (" < 20ms", "expected FIGURE OPERATOR VALUE, such as 'p99 < 20ms' or 'failed == 0'"),
        ("p99 20ms", "expected FIGURE OPERATOR VALUE, such as 'p99 < 20ms' or 'failed == 0'"),
    ],
)
def test_a_requirement_that_cannot_be_read_says_what_was_expected(show: Show, asked: str, sentence: str) -> None:
    code, out, err = show(RECORDINGS / "fio/json-multi-stonewall-3.42.out", "--require", asked)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"--require '{asked}': {sentence}" in err


def test_failures_are_counted_or_a_part_and_every_repeat_must_meet_a_requirement(show: Show, tmp_path: Path) -> None:
    for number, failed in enumerate((0, 60, 6), 1):
        place(tmp_path / f"a-{number}", 1000.0, failed=failed, record="repeat_of: a\n")
    asked = ["failed == 0", "failed < 100", "failed <= 0.1%", "failed < 0.01%"]
    code, out, _ = show(tmp_path / "a", *(word for one in asked for word in ("--require", one)))
    assert code == 3
    assert out.splitlines()[-4:] == [
        "NOT MET: failed == 0: 60 (in a-2), and 1 more",
        "met: failed < 100: 60 (in a-2)",
        "met: failed <= 0.1%: 0.0999 % (in a-2)",
        "NOT MET: failed < 0.01%: 0.0999 % (in a-2)",
    ]


def test_a_run_that_did_not_end_well_meets_no_requirement(show: Show, tmp_path: Path) -> None:
    run = place(tmp_path / "a", STEADY, record="exit_code: 2\n")
    (run / "db.out").unlink()
    code, out, _ = show(run, "--require", "tps > 1")
    assert (code, out.splitlines()[-1]) == (3, "NOT MET: tps > 1: a failed: exit code 2")


def test_a_word_of_one_tool_is_required_of_the_workers_of_that_tool(show: Show, tmp_path: Path) -> None:
    run = place(tmp_path / "a", STEADY)
    shutil.copyfile(RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.42.out", run / "disk.out")
    asked = ["tps >= 990", "iops > 1k", "failed == 0", "mean < 100us", "skipped == 0"]
    code, out, _ = show(run, *(word for one in asked for word in ("--require", one)))
    assert code == 3
    assert out.splitlines()[-5:] == [
        "met: tps >= 990: 1,000",
        "met: iops > 1k: 96,854 (rrw all)",
        "met: failed == 0: 0",
        "NOT MET: mean < 100us: 175 µs (rrw write), and 2 more",
        "NOT MET: skipped == 0: not measured",
    ]


def test_a_mean_that_is_as_high_as_the_limit_keeps_it(show: Show, tmp_path: Path) -> None:
    run = place(tmp_path / "a", [100.0] * 20, record="latency_objective: 0.16ms\n")
    code, out, _ = show(run, "--warmup", "5s", "--require", "mean <= 160us")
    assert "  objective: met, mean 160 µs against 160 µs, above it in 0 of 15 reports\n" in out
    assert (code, out.splitlines()[-1]) == (0, "met: mean <= 160us: 160 µs")


def test_a_warm_up_that_the_throughput_includes_is_in_the_percentiles_too(show: Show) -> None:
    run = RECORDINGS / "pgbench/txlog-sampling-15.18"
    whole, warm = (show(run, *more)[1].splitlines() for more in ((), ("--warmup", "1s")))
    assert warm[:3] == whole[:3]
    assert "its figures include the warm-up of 1 s" in warm[-1]


def test_a_document_that_cannot_be_read_is_the_reason_why_nothing_was_measured(show: Show, tmp_path: Path) -> None:
    text = (RECORDINGS / "fio/json-si1-randrw-3.33.out").read_text().replace('"fio-3.33"', '"fio-2.17"')
    (tmp_path / "old.json").write_text(text)
    os.utime(tmp_path / "old.json", (START, START))
    _, out, _ = show(tmp_path / "old.json")
    why = "old.json, byte 0: bad document: fio-2.17: its numbers have other units; expected fio 3.0 or newer"
    assert out.splitlines()[1:] == ["  nothing was measured", f"  ! old: {why}"]


def test_a_run_of_which_nothing_is_left_after_the_warm_up_meets_no_requirement(show: Show) -> None:
    run = RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.42.out"
    code, out, _ = show(run, "--warmup", "2s", "--require", "p99 < 1s")
    assert "  nothing was measured after the warm-up of 2 s\n" in out
    assert (code, out.splitlines()[-1]) == (3, "NOT MET: p99 < 1s: not measured")


def test_a_run_that_is_not_over_meets_no_requirement(show: Show, tmp_path: Path) -> None:
    later = int(time.time()) - len(STEADY) - START
    (tmp_path / "a").mkdir()
    reports = re.sub(r"\d{10}", lambda found: str(int(found[0]) + later), progress(STEADY))
    (tmp_path / "a/db.err").write_text(reports)
    code, out, _ = show(tmp_path / "a", "--require", "tps > 1")
    assert (code, out.splitlines()[-1]) == (3, "NOT MET: tps > 1: a running")


def test_a_latency_that_one_of_the_operations_lacks_does_not_meet_a_requirement(show: Show, tmp_path: Path) -> None:
    document = json.loads((RECORDINGS / "fio/json-multi-stonewall-3.42.out").read_text().split("\n}\n")[-2] + "}")
    del document["jobs"][1]["write"]["clat_ns"]["percentile"]
    (tmp_path / "a.out").write_text(json.dumps(document, indent=2))
    code, out, _ = show(tmp_path / "a.out", "--require", "p99 < 1s", "--require", "reader p99 < 1s")
    assert code == 3
    assert out.splitlines()[-2:] == [
        "NOT MET: p99 < 1s: not measured",
        "met: reader p99 < 1s: 99.8 µs (reader read)",
    ]


def test_a_repeat_in_which_nothing_is_recognised_is_named_and_meets_no_requirement(show: Show, tmp_path: Path) -> None:
    repeat(tmp_path, "a", [1000.0, 1004.0])
    (tmp_path / "a-3").mkdir()
    (tmp_path / "a-3/db.yaml").write_text("repeat_of: a\nexit_code: 0\n")
    (tmp_path / "a-3/db.out").write_text("something else\n")
    code, out, _ = show(tmp_path / "a", "--require", "tps > 1")
    assert "\n  without a-3 (no result)\n" in out
    assert (code, out.splitlines()[-1]) == (3, "NOT MET: tps > 1: not measured in a-3")
    _, out, _ = show(tmp_path / "a", "--json")
    assert json.loads(out)["subjects"][0]["without"] == ["a-3"]
    assert '<failure message="a-3: no result" />' in show(tmp_path / "a", "--format", "junit")[1]


def test_repeats_with_workers_of_several_tools_have_a_mean_for_each(show: Show, tmp_path: Path) -> None:
    recording = (RECORDINGS / "sysbench/rw-t8-1.0.20/rw-t8-1.0.20.out").read_text()
    for number, tps in enumerate((100.0, 104.0), 1):
        place(tmp_path / f"a-{number}", tps, record="repeat_of: a\n")
        (tmp_path / f"a-{number}/other.out").write_text(recording)
    _, out, _ = show(tmp_path / "a", "--json")
    measures = json.loads(out)["subjects"][0]["repeats"]["measures"]
    found = {one["tool"]: one for one in measures if one["name"] == "throughput"}
    assert (found["pgbench"]["mean"], found["pgbench"]["runs"]) == (102.0, 2)
    assert (found["sysbench"]["spread"], found["sysbench"]["runs"]) == (0.0, 2)
    _, out, _ = show(tmp_path / "a")
    assert "a (pgbench, TPS): 2 runs of 60 s together\n" in out
    assert "a (sysbench, TPS): 2 runs of 6.1 s together\n" in out
    assert "| 102 |" in show(tmp_path / "a", "--format", "markdown")[1]


def test_junit_has_a_case_for_the_run_and_each_requirement(show: Show, tmp_path: Path) -> None:
    run = place(tmp_path / "a<b", STEADY)
    code, out, _ = show(run, "--format", "junit", "--require", "tps > 1", "--require", "tps < 1")
    (suite,) = ElementTree.fromstring(out)
    assert (code, suite.attrib) == (3, {"name": "a<b", "tests": "3", "failures": "1", "skipped": "0"})
    cases = {case.attrib["name"]: [failure.attrib["message"] for failure in case] for case in suite}
    assert cases == {"the run has finished": [], "tps > 1": [], "tps < 1": ["1,000"]}


@pytest.mark.parametrize("form", ["terminal", "json", "markdown", "junit"])
def test_each_of_two_runs_of_the_same_name_must_meet_a_requirement(show: Show, tmp_path: Path, form: str) -> None:
    slow, fast = place(tmp_path / "x/r", [10.0] * 20), place(tmp_path / "y/r", STEADY)
    code, out, _ = show(slow, fast, "--format", form, "--require", "tps > 900")
    assert code == 3
    assert "10.0" in out.replace("\\", "")
    assert "x/r" in out
    assert "y/r" in out


def test_markdown_escapes_what_others_chose(show: Show, tmp_path: Path) -> None:
    run = place(tmp_path / "a_*b*", STEADY)
    _, out, _ = show(run, "--format", "markdown", "--require", "tps > 1")
    assert out.startswith("## a\\_\\*b\\*: pgbench 15.18, finished, 20 s\n\n| TPS | mean | connection")
    assert "| tps \\> 1 | met | 1,000 |\n" in out


def test_the_schema_is_named_and_its_keys_are_documented(show: Show, tmp_path: Path) -> None:
    repeat(tmp_path, "a", [1000.0, 1004.0, 996.0])
    _, out, _ = show(tmp_path / "a", "--json", "--require", "tps > 1")
    content = json.loads(out)
    assert content["schema"] == 1
    documented = (Path(__file__).parents[2] / "docs/results.md").read_text()
    assert [key for key in sorted(_keys(content)) if f"`{key}`" not in documented] == []


def _keys(content: Any) -> set[str]:
    if isinstance(content, list):
        return {key for one in content for key in _keys(one)}
    if not isinstance(content, dict):
        return set()
    free = ("labels", "parameters", "lost")
    return {*content} | {key for name, one in content.items() if name not in free for key in _keys(one)}


def test_what_is_not_there_or_nothing_is_said(show: Show, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("remember the milk\n")
    code, _, err = show(tmp_path / "notes.txt")
    assert (code, "notes.txt: expected output of pgbench" in err) == (1, True)
    code, _, err = show(tmp_path / "nowhere")
    assert (code, "nowhere: no such run; expected a file, a folder, or the name of an experiment" in err) == (2, True)


def test_workers_that_waited_for_one_moment_show_how_near_to_it_they_started_if_they_did(
    show: Show, tmp_path: Path
) -> None:
    run = place(tmp_path / "a", 1000.0)
    for worker, kept in (
        ("db", "at: 1790000000, late: 0.0005, clock_error: 0.012"),
        ("db2", "at: 1790000000, late: 0.0021, clock_error: 0.003"),
        ("db3", "at: 1790000000.0, late: 0.0001"),
        ("db4", "at: 1790000000"),
    ):
        (run / f"{worker}.yaml").write_text(f"scheduled: {{{kept}}}\n")
        (run / f"{worker}.out").write_text(summary(1000.0))
    _, out, _ = show(run)
    (line,) = (line.strip() for line in out.splitlines() if "started:" in line)
    assert re.fullmatch(
        rf"started: 3 of 4 workers, within 2\.10 ms after {re.escape(shown_moment(START))} "
        r"\(clocks: off by 12\.0 ms at most; 1 not known to be synchronised\)",
        line,
    )


def test_a_name_is_that_of_a_run_in_the_folder_runs_as_in_the_list(
    show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place(tmp_path / "runs/test1", STEADY)
    repeat(tmp_path / "runs", "huge", [1000.0, 1010.0, 990.0])
    assert show("test1")[1].startswith("test1: pgbench 15.18, finished")
    assert "huge: 3 runs" in show("huge")[1]
    assert show("test1#1")[1].startswith("test1#1: pgbench")
    assert main(["compare", "huge", "test1"]) == 0
    assert main(["report", "test1"]) == 0
    code, _, err = show("nowhere")
    assert (code, err) == (
        2,
        "benchwatch: runs/nowhere: no such run; expected a file, a folder, or the name of an "
        "experiment, whose repeats are nowhere-1, nowhere-2 ... in runs\n",
    )
    (tmp_path / "night.log").write_text(summary(1000.0))
    assert show("night.log#1")[1].startswith("night#1: pgbench")
    place(tmp_path / "test1", 10.0)
    assert show("test1")[1].splitlines()[2].split()[0] == "10.0"


def test_parts_of_the_final_report_are_lines_and_records_of_csv(capsys: pytest.CaptureFixture[str]) -> None:
    path = RECORDINGS / "pgbench/multi-script-r-18.6.out"
    assert main(["show", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  script 2, <builtin: select only>, weight 5: 23,876 transactions, 11,934 TPS, mean 68.0 µs" in lines
    slowest = [line for line in lines if re.match(r"  script \d+, mean", line)]
    assert len(slowest) == 5
    assert slowest[0] == (
        "  script 1, mean 153 µs: UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;"
    )
    assert main(["show", str(path), "--csv"]) == 0
    records = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    found = {(one["measure"], one["part"]): float(one["value"]) for one in records}
    assert found["throughput", ""] == found["pgbench_result_tps", ""] == 19127.185336
    assert found["pgbench_result_script_tps", "script=1"] == 11934.371951
    assert found["pgbench_result_statement_latency_average_seconds", "script=0, statement=BEGIN;"] == 6.4e-05


def test_a_path_given_twice_is_shown_once(show: Show, tmp_path: Path) -> None:
    place(tmp_path / "a", 1000.0)
    shutil.copyfile(tmp_path / "a/db.out", tmp_path / "b.out")
    _, out, _ = show(tmp_path / "a", tmp_path / "b.out", tmp_path / "a", tmp_path / "a/../b.out")
    assert [line.split(":")[0] for line in out.splitlines() if "finished" in line] == ["a", "b"]


def test_runs_of_one_name_are_called_by_their_paths(
    show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("old", "new"):
        place(tmp_path / folder / "a", 1000.0)
        shutil.copyfile(tmp_path / folder / "a/db.out", tmp_path / folder / "b.txt")
        repeat(tmp_path / folder, "huge", [1000.0, 1001.0])
    both = [f"{folder}/{name}" for name in ("a", "b.txt") for folder in ("old", "new")]
    _, out, _ = show(*both, "old/huge", "new/huge")
    heads = [line.split(":")[0] for line in out.splitlines() if "finished" in line or "together" in line]
    assert heads[:4] == both
    assert heads[4:] == [f"{folder}/huge{part}" for folder in ("old", "new") for part in ("-1", "-2", "")]


def test_a_folder_that_cannot_be_read_hides_no_other_run(
    show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        place(tmp_path / "runs" / name, 1000.0)
    scan = os.scandir

    def denied(path: object) -> object:
        if str(path) == str(tmp_path / "runs/b"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(str(path))

    monkeypatch.setattr(os, "scandir", denied)
    code, out, err = show(tmp_path / "runs")
    assert (code, [line[0] for line in out.splitlines() if "finished" in line]) == (1, ["a", "c"])
    where = f"benchwatch: {tmp_path}/runs/b: cannot be read: Permission denied"
    assert err == f"{where}; expected a file or a folder\n"
