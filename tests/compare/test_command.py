import io
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from benchwatch.cli import main
from benchwatch.tools.registry import names

from .made import START, autoregressive, place, summary

Compare = Callable[..., tuple[int, str, str]]


@pytest.fixture
def compare(capsys: pytest.CaptureFixture[str]) -> Compare:
    """Runs the command; its exit code, what it printed, and what it complained about."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main(["compare", *map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def found(compare: Compare) -> Callable[..., dict[str, Any]]:
    """The first comparison in the JSON, with its measures by group and name."""

    def run(*arguments: object) -> dict[str, Any]:
        code, out, err = compare(*arguments, "--format", "json")
        assert (code, err) == (0, "")
        other = json.loads(out)["others"][0]
        other["by_name"] = {(one.get("job", ""), one.get("op", ""), one["name"]): one for one in other["measures"]}
        return dict(other)

    return run


# The published experiment with huge pages: default, 2 MB, 1 GB; "+7.5 %" and "+12 %".


def test_the_published_percentages_of_huge_pages_come_from_the_final_reports_alone(
    compare: Compare, tmp_path: Path
) -> None:
    for name, tps in (("default", 62_190.0), ("2MB", 66_864.0), ("1GB", 69_702.0)):
        place(tmp_path / name, tps)
    code, out, err = compare(tmp_path / "default", tmp_path / "2MB", tmp_path / "1GB")
    assert (code, err) == (0, "")
    assert "TPS +7.5 %, not judged: one run each and no reports\n" in out
    assert "TPS +12.1 %, not judged: one run each and no reports\n" in out
    assert ["TPS", "62,190", "66,864", "+7.5", "%", "▲", "unclear"] in [line.split() for line in out.splitlines()]
    code, out, _ = compare(tmp_path / "default", tmp_path / "1GB", "--format", "json")
    assert round(100 * json.loads(out)["others"][0]["measures"][0]["change"]) == 12
    code, out, _ = compare(tmp_path / "default", tmp_path / "2MB", "--format", "markdown")
    assert "| **TPS** | **62,190** | **66,864** | **+7.5 %** | **▲ unclear** |" in out.splitlines()


# Repeats


def repeat(folder: Path, name: str, values: list[float]) -> None:
    for number, tps in enumerate(values, 1):
        place(folder / f"{name}-{number}", tps, record=f"repeat_of: {name}\n")


def test_repeated_runs_are_judged_by_their_differences(found: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    repeat(tmp_path, "default", [62_000.0, 62_500.0, 61_900.0, 62_300.0, 62_250.0])
    repeat(tmp_path, "huge", [66_700.0, 67_100.0, 66_500.0, 66_900.0, 67_120.0])
    (tmp_path / "huge-pages").mkdir()  # another run, whose record says nothing
    other = found(tmp_path / "default", tmp_path / "huge")
    assert [run["name"] for run in other["runs"]] == [f"huge-{number}" for number in range(1, 6)]
    tps = other["by_name"]["", "", "throughput"]
    assert (tps["base"], tps["other"]) == (62_190.0, 66_864.0)
    assert tps["change"] == pytest.approx(0.0752, abs=0.0001)
    assert tps["interval"] == [pytest.approx(0.0692, abs=0.0005), pytest.approx(0.0812, abs=0.0005)]
    assert other["verdicts"] == [
        {"name": "throughput", "verdict": "better", "reason": "5 v 5 runs, by the differences between them"}
    ]
    other = found(tmp_path / "huge", tmp_path / "default")
    assert other["verdicts"][0]["verdict"] == "worse"


def test_repeated_runs_that_differ_more_among_themselves_show_no_difference(
    found: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    repeat(tmp_path, "a", [60_000.0, 66_000.0, 54_000.0])
    repeat(tmp_path, "b", [63_000.0, 57_000.0, 69_000.0])
    assert found(tmp_path / "a", tmp_path / "b")["verdicts"][0]["verdict"] == "no difference shown"


def test_too_few_repeats_for_an_interval_say_so(compare: Compare, tmp_path: Path) -> None:
    repeat(tmp_path, "a", [60_000.0, 66_000.0])
    repeat(tmp_path, "b", [20_000.0, 90_000.0])
    code, out, _ = compare(tmp_path / "a", tmp_path / "b", "--format", "markdown")
    assert code == 0
    assert "**TPS -12.7 %, not judged: 2 v 2 runs and too few runs for an interval**" in out
    (row,) = (line for line in out.splitlines() if line.startswith("| **TPS**"))
    assert row == "| **TPS** | **63,000** | **55,000** | **-12.7 %** | **▼ unclear** |"


def test_an_interval_that_reaches_down_to_nothing_is_none(compare: Compare, tmp_path: Path) -> None:
    repeat(tmp_path, "a", [1000.0, 1200.0])
    place(tmp_path / "b", 1000.0)
    code, out, err = compare(tmp_path / "a", tmp_path / "b", "--confidence", "0.999")
    assert (code, err) == (0, "")
    assert "TPS -9.1 %, not judged: 2 v 1 runs and too few runs for an interval\n" in out


def test_a_single_run_is_judged_by_how_much_the_repeats_of_the_other_side_differ(
    found: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    repeat(tmp_path, "a", [62_000.0, 62_500.0, 61_900.0, 62_300.0, 62_250.0])
    place(tmp_path / "near", 62_600.0)
    place(tmp_path / "far", 66_000.0)
    near, far = (found(tmp_path / "a", tmp_path / name)["verdicts"][0] for name in ("near", "far"))
    assert near == {
        "name": "throughput",
        "verdict": "no difference shown",
        "reason": "5 v 1 runs, by the differences between them",
    }
    assert far["verdict"] == "better"


def test_a_difference_that_rounding_makes_is_none(found: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    for name, latency in (("base", 0.120), ("other", 0.121)):
        for number in (1, 2):
            run = tmp_path / f"{name}-{number}"
            place(run, 1000.0, latency=latency, lag="0.010", record=f"repeat_of: {name}\n")
    other = found(tmp_path / "base", tmp_path / "other")
    assert other["by_name"]["", "", "latency_mean"]["interval"] == [
        pytest.approx(-0.0063, abs=0.0001),
        pytest.approx(0.0231, abs=0.0001),
    ]
    assert other["verdicts"][0]["verdict"] == "no difference shown"


def test_several_verdicts_make_every_interval_wider(compare: Compare, tmp_path: Path) -> None:
    for name in "abcd":
        repeat(tmp_path, name, [62_000.0, 62_500.0, 61_900.0])
    widths = {}
    for others in ("b", "bcd"):
        _, out, _ = compare(tmp_path / "a", *(tmp_path / name for name in others), "--format", "json")
        content = json.loads(out)
        low, high = content["others"][0]["measures"][0]["interval"]
        widths[others] = content["confidence"], round(content["interval_level"], 4), high - low
    assert widths["b"][:2] == (0.95, 0.95)
    assert widths["bcd"][:2] == (0.95, 0.9833)
    assert widths["bcd"][2] > 1.2 * widths["b"][2]


# One run each


def pair(
    folder: Path, other: float, size: int = 300, correlation: float = 0.5, deviation: float = 0.1
) -> tuple[Path, Path]:
    place(folder / "base", autoregressive(1, size, 1000, correlation, deviation))
    place(folder / "other", autoregressive(2, size, other, correlation, deviation))
    return folder / "base", folder / "other"


def test_single_runs_far_apart_are_judged_with_an_allowance(
    found: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    base, other = pair(tmp_path, 1200)
    (verdict,) = found(base, other)["verdicts"]
    assert verdict["verdict"] == "better"
    assert verdict["reason"] == "one run each: judged by its batches and an allowance of 5 % between runs"
    assert found(other, base)["verdicts"][0]["verdict"] == "worse"


def test_single_runs_nearer_than_the_allowance_show_no_difference(
    found: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    base, other = pair(tmp_path, 1045)
    result = found(base, other)
    low, _ = result["by_name"]["", "", "throughput"]["interval"]
    assert low > 0  # beyond what the reports of two runs would differ by chance, and yet
    assert result["verdicts"][0]["verdict"] == "no difference shown"


def test_single_runs_whose_batches_differ_as_much_are_not_judged(
    found: Callable[..., dict[str, Any]], compare: Compare, tmp_path: Path
) -> None:
    noisy = pair(tmp_path / "noisy", 1200, deviation=0.4)
    result = found(*noisy)
    assert result["verdicts"][0]["verdict"] == "not judged"
    assert result["verdicts"][0]["reason"] == "one run each, and batches of a single run differ as much as the two runs"
    assert {one["interval"] for one in result["measures"]} == {None}  # nothing that looks like certainty
    assert "TPS +24.5 %, not judged: one run each, and batches" in compare(*noisy)[1]
    quiet = pair(tmp_path / "quiet", 1040, deviation=0.02)
    assert found(*quiet)["verdicts"][0]["verdict"] == "no difference shown"
    assert found(*quiet, "--allowance", 0)["verdicts"][0]["verdict"] == "better"


def test_what_blocks_a_verdict_on_single_runs_is_its_reason(
    found: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    """The interval beside it shows the same: it contains 0, or begins nearer to 0 than the allowance."""
    for name, other, reason in (
        ("same", 1000, "one run each, and their batches show no change"),
        ("near", 1045, "one run each, and the interval is not beyond the 5 % that two equal runs may differ"),
    ):
        result = found(*pair(tmp_path / name, other))
        assert result["verdicts"][0] == {"name": "throughput", "verdict": "no difference shown", "reason": reason}
        low, high = result["by_name"]["", "", "throughput"]["interval"]
        assert (low < 0 < high) == (name == "same")
        assert low < 0.05


def test_single_runs_that_are_short_or_entangled_are_not_judged(
    found: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    for name, size, correlation in (("short", 9, 0.0), ("entangled", 60, 0.95)):
        (verdict,) = found(*pair(tmp_path / name, 2000, size, correlation))["verdicts"]
        assert verdict["verdict"] == "not judged"
        assert verdict["reason"].startswith("one run each and too short to tell: fewer than 10 batches")


def test_single_runs_that_are_not_steady_are_not_judged(found: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    place(tmp_path / "base", autoregressive(1, 300, 1000))
    place(tmp_path / "other", autoregressive(2, 300, 2000) + np.where(np.arange(300) < 60, -300.0, 0.0))
    result = found(tmp_path / "base", tmp_path / "other")
    assert result["verdicts"][0] == {
        "name": "throughput",
        "verdict": "not judged",
        "reason": "one run each and not steady: other",
    }
    assert result["by_name"]["", "", "throughput"]["interval"] is None
    assert found(tmp_path / "base", tmp_path / "other", "--warmup", "1m")["verdicts"][0]["verdict"] == "better"


def test_percentiles_are_no_surer_than_their_bins_are_wide(
    found: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    for name, microseconds in (("a", 1000), ("b", 1010)):
        run = place(tmp_path / name, np.full(60, 10.0))
        lines = (f"0 {n} {microseconds if n else 5000} 0 {START + n // 10} 5000\n" for n in range(600))
        (run / "db.77").write_text("".join(lines))
    # Bins of 8.192 us: standard deviations of 2.365 us each, together 0.332 %; t(0.975, 38) = 2.024.
    p50 = found(tmp_path / "a", tmp_path / "b")["by_name"]["", "", "latency_p50"]
    assert p50["change"] == pytest.approx(0.00816, abs=0.00001)
    assert p50["interval"] == [pytest.approx(0.0014, abs=0.0001), pytest.approx(0.0150, abs=0.0001)]


def test_at_a_given_rate_the_verdict_is_about_the_latency(found: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    repeat_latency = {"fast": [0.5, 0.51, 0.52], "slow": [0.9, 0.92, 0.91]}
    for name, values in repeat_latency.items():
        for number, latency in enumerate(values, 1):
            run = tmp_path / f"{name}-{number}"
            place(run, 1000.0, latency=latency, lag="0.090", record=f"repeat_of: {name}\n")
    (verdict,) = found(tmp_path / "slow", tmp_path / "fast")["verdicts"]
    assert (verdict["name"], verdict["verdict"]) == ("latency_mean", "better")


# Figures


def test_workers_are_summed_latencies_weighted_and_the_slowest_connection_counts(
    found: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    for name, figures in (("one", [(1000.0, 1.0)]), ("two", [(1000.0, 1.0), (3000.0, 2.0)])):
        (tmp_path / name).mkdir()
        for number, (tps, latency) in enumerate(figures, 1):
            text = summary(tps, latency=latency, connection=f"{10 * number}.000")
            path = tmp_path / name / f"db{number}.out"
            path.write_text(text)
            os.utime(path, (time.time() + 60,) * 2)  # a minute after it was created
    other = found(tmp_path / "one", tmp_path / "two")
    assert other["runs"][0]["workers"] == 2
    assert other["by_name"]["", "", "throughput"]["other"] == pytest.approx(4000.0)
    assert other["by_name"]["", "", "latency_mean"]["other"] == pytest.approx((1000 * 0.001 + 3000 * 0.002) / 4000)
    assert other["by_name"]["", "", "connection_time"]["other"] == 0.02


def test_the_warm_up_is_left_out(found: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    rates = np.where(np.arange(100) < 20, 500.0, 1000.0)
    place(tmp_path / "a", rates)
    place(tmp_path / "b", rates, record="warmup: 20s\n")
    other = found(tmp_path / "a", tmp_path / "b")
    tps = other["by_name"]["", "", "throughput"]
    assert (tps["base"], tps["other"]) == (900.0, pytest.approx(1000.0))
    assert other["runs"][0]["warmup_seconds"] == 20
    other = found(tmp_path / "a", tmp_path / "b", "--warmup", "20s")
    assert other["by_name"]["", "", "throughput"]["change"] == pytest.approx(0.0)


def logged(folder: Path, name: str, *, lines: bool, sampled: bool = False) -> Path:
    """Sixty seconds, ten transactions in each: 50 ms up to 2.1 s, then 2 ms, the last one before and the first after
    longer than all others."""
    run = place(folder / name, np.where(np.arange(60) < 2, 400.0, 10.0) if lines else 10.0, latency=4.0)
    moments = [0.05 + 0.1 * number for number in range(600)]
    text = ""
    for number, moment in enumerate(moments):
        latency = {20: 90_000, 21: 70_000}.get(number, 50_000 if moment < 2.1 else 2_000)
        if not sampled or number % 3 == 0:
            text += f"0 {number + 1} {latency} 0 {START + int(moment)} {round(moment % 1 * 1e6)}\n"
    (run / "db.77").write_text(text)
    (run / "db.out").write_text(summary(600 / 59.95, seconds=60, latency=4.0))
    (run / "run.yaml").write_text(f"start: {START}\nwarmup: 2.1s\n")
    return run


@pytest.mark.parametrize("lines", [False, True])
def test_a_warm_up_ends_at_the_same_transaction_for_all_figures(
    lines: bool, found: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    runs = [logged(tmp_path, name, lines=lines) for name in "ab"]
    by_name = {name: one["base"] for (_, _, name), one in found(*runs)["by_name"].items()}
    # 579 transactions complete after 2.1 s, the first of them at 2.15 s, the last at 59.95 s.
    assert by_name["throughput"] == pytest.approx(579 / (60 - 2.1), rel=0.002)
    assert by_name["latency_mean"] == pytest.approx((0.07 + 578 * 0.002) / 579)
    assert by_name["latency_max"] == 0.07
    assert by_name["latency_p99_9"] == pytest.approx(0.07, rel=0.016)
    assert by_name["latency_p99"] == pytest.approx(0.002, rel=0.016)


def test_without_a_whole_log_all_figures_begin_with_the_same_report(
    found: Callable[..., dict[str, Any]], compare: Compare, tmp_path: Path
) -> None:
    runs = [logged(tmp_path, name, lines=True, sampled=True) for name in "ab"]
    for run in runs:
        (run / "run.yaml").write_text(f"start: {START}\nwarmup: 1.5s\n")
    assert found(*runs)["by_name"]["", "", "latency_max"]["base"] == 0.07, "in the report from 2 s on"
    for run in runs:
        (run / "run.yaml").write_text(f"start: {START}\nwarmup: 2.14s\n")
    other = found(*runs)
    by_name = {name: one["base"] for (_, _, name), one in other["by_name"].items()}
    assert by_name["throughput"] == pytest.approx(10.0)
    assert by_name["latency_max"] == 0.002, "the 70 ms at 2.15 s are in a report that began before"
    assert other["runs"][0]["left_out_seconds"] == pytest.approx(3, abs=0.001)
    _, out, _ = compare(*runs, "--format", "markdown")
    assert "without the first 3 s (its warm-up of 2.14 s ends within a report)" in out


def test_both_results_of_a_run_with_a_warm_up_are_named(compare: Compare, tmp_path: Path) -> None:
    runs = [logged(tmp_path, name, lines=True) for name in "ab"]
    _, out, _ = compare(*runs, "--format", "markdown")
    assert "- base: a: pgbench 15.18, 1 run of 60 s without the first 2.1 s; whole run: 10.0 TPS, mean 4.00 ms\n" in out
    assert "| failed, whole run | 0 % | 0 % |" in out
    assert "| connection time, whole run | 20.0 ms |" in out
    _, out, _ = compare(*runs, "--format", "markdown", "--warmup", "0s")
    assert "whole run" not in out


def test_the_longest_warm_up_that_a_worker_has_is_that_of_the_run(
    found: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    for name in "ab":
        run = place(tmp_path / name, np.where(np.arange(100) < 20, 500.0, 1000.0))
        for file in list(run.iterdir()):
            shutil.copy(file, run / file.name.replace("db", "late"))
    (tmp_path / "b" / "db.yaml").write_text("warmup: 5s\n")
    (tmp_path / "b" / "late.yaml").write_text("warmup: 20s\n")
    other = found(tmp_path / "a", tmp_path / "b")
    assert other["runs"][0]["warmup_seconds"] == 20
    tps = other["by_name"]["", "", "throughput"]
    assert (tps["base"], tps["other"]) == (1800.0, pytest.approx(2000.0))


def test_percentiles_come_from_the_summed_transaction_logs(
    found: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    place(tmp_path / "a", 10.0)
    (tmp_path / "b").mkdir()
    for worker, times in (("db1", [1000] * 90), ("db2", [9000] * 9 + [50_000])):
        (tmp_path / "b" / f"{worker}.out").write_text(summary(10.0, seconds=len(times) // 10))
        lines = (f"0 {n} {time} 0 {START + 1 + n // 50} 0\n" for n, time in enumerate(times, 1))
        (tmp_path / "b" / f"{worker}.77").write_text("".join(lines))
    shutil.copytree(tmp_path / "b", tmp_path / "c")
    by_name = found(tmp_path / "b", tmp_path / "c")["by_name"]
    values = {name: one["other"] for (_, _, name), one in by_name.items() if name.startswith("latency_")}
    assert values.pop("latency_max") == 0.05
    assert values == {
        "latency_mean": 0.00016,
        "latency_p50": pytest.approx(0.001, rel=0.008),
        "latency_p95": pytest.approx(0.009, rel=0.008),
        "latency_p99": pytest.approx(0.009, rel=0.008),
        "latency_p99_9": pytest.approx(0.05, rel=0.008),
    }
    assert "latency_p50" not in {name for _, _, name in found(tmp_path / "a", tmp_path / "b")["by_name"]}


def test_fio_is_compared_by_operation_with_percentiles_from_its_bins(
    found: Callable[..., dict[str, Any]], recordings: Path
) -> None:
    name = "jsonplus-si1-libaio-qd16-{}.out"
    other = found(recordings / "fio" / name.format("3.33"), recordings / "fio" / name.format("3.42"))
    assert {key[:2] for key in other["by_name"]} == {("", "read"), ("", "write"), ("", "all")}
    read, write, both = (other["by_name"]["", op, "throughput"] for op in ("read", "write", "all"))
    assert both["base"] == pytest.approx(read["base"] + write["base"])
    final = json.loads((recordings / "fio" / name.format("3.33")).read_text().rpartition("\n{\n")[2].join(["{\n", ""]))
    printed = final["jobs"][0]["read"]
    assert read["base"] == pytest.approx(printed["iops"], rel=1e-6)
    p99 = other["by_name"]["", "read", "latency_p99"]
    assert p99["base"] == pytest.approx(printed["clat_ns"]["percentile"]["99.000000"] / 1e9, rel=0.008)
    assert other["by_name"]["", "read", "latency_max"]["base"] == printed["clat_ns"]["max"] / 1e9
    assert [(one["op"], one["name"]) for one in other["verdicts"]] == [("all", "throughput")]


def test_a_verification_is_compared_on_its_own_and_never_added_to_the_writes(
    found: Callable[..., dict[str, Any]], recordings: Path
) -> None:
    fio = recordings / "fio"
    other = found(fio / "json-verify-write-3.33.out", fio / "json-verify-slow-3.33.out")
    assert {key[:2] for key in other["by_name"]} == {("", "write"), ("", "verify")}
    assert other["by_name"]["", "write", "throughput"]["base"] == pytest.approx(1024 / 0.004)
    assert other["by_name"]["", "verify", "throughput"]["other"] == pytest.approx(7168 / 14.826)
    assert [(one["op"], one["name"]) for one in other["verdicts"]] == [("write", "throughput")]


def test_a_mix_whose_reads_hold_verification_reads_has_no_sum_and_a_verdict_on_its_writes_alone(
    found: Callable[..., dict[str, Any]], recordings: Path, tmp_path: Path
) -> None:
    one = recordings / "fio" / "jsonplus-verify-randrw-3.33.out"
    (tmp_path / "other.out").write_bytes(one.read_bytes())
    other = found(one, tmp_path / "other.out")
    assert {key[1] for key in other["by_name"]} == {"read", "write"}
    assert [(each["op"], each["name"]) for each in other["verdicts"]] == [("write", "latency_mean")]


# Bad input


def test_what_cannot_be_compared_is_said_in_a_sentence(
    compare: Compare, recordings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fine = place(tmp_path / "fine", 1000.0)
    fio = recordings / "fio" / "json-si1-randrw-3.33.out"
    (tmp_path / "notes.txt").write_text("remember the milk\n")
    (tmp_path / "still").mkdir()
    (tmp_path / "still" / "db.err").write_text("progress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 0.100, 0 failed\n")
    place(tmp_path / "failed", 1000.0, record="exit_code: 2\n")
    old = tmp_path / "old" / "db.err"
    old.parent.mkdir()
    old.write_text("progress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 0.100, 0 failed\n")
    os.utime(old, (START, START))
    place(tmp_path / "both", 1000.0)
    (tmp_path / "refused").mkdir()
    (tmp_path / "refused" / "db.err").write_text("pgbench: error: connection to server failed\n")
    for number in (1, 2):
        place(tmp_path / f"both-{number}", 1000.0, record="repeat_of: both\n")
    forced = "expected a run that finished (--force compares it anyway)"
    for other, code, sentence in (
        (fio, 1, "fine is a run of pgbench, json-si1-randrw-3.33 of fio; expected runs of the same tool"),
        (
            tmp_path / "notes.txt",
            1,
            f"notes.txt: nothing recognised; expected output of {names()}",
        ),
        (tmp_path / "still", 1, f"still, worker db: the run is still active; {forced}"),
        (tmp_path / "failed", 1, f"failed, worker db: the run failed: exit code 2; {forced}"),
        (tmp_path / "old", 1, f"old, worker db: the run has no end: silent for more than 300 s; {forced}"),
        (tmp_path, 1, "runs ("),
        (
            tmp_path / "refused",
            1,
            "refused: nothing was measured (refused, worker db: the run failed: connection to server failed)",
        ),
        (tmp_path / "nowhere", 2, "nowhere: no such run; expected a file, a folder, or the name of an experiment"),
        (tmp_path / "both", 2, "both: a run, and an experiment of 2 runs (both-1 ...); expected the name of one thing"),
        (fine, 2, "compare: the same run was given twice; expected different ones"),
    ):
        result, out, err = compare(fine, other)
        assert (result, out) == (code, "")
        assert sentence in err
        assert err.count("\n") == 1
    for arguments, sentence in (
        ([fine], "the following arguments are required: OTHER"),
        ([fine, fio, "--confidence", "95"], "--confidence: expected a ratio from 0 to 1, such as 0.95, got '95'"),
    ):
        result, out, err = compare(*arguments)
        assert (result, out) == (2, "")
        assert err.splitlines()[0] == f"benchwatch: {sentence}"


def test_a_failed_run_can_be_forced_and_that_is_said(compare: Compare, tmp_path: Path) -> None:
    fine = place(tmp_path / "fine", 1000.0)
    failed = place(tmp_path / "failed", 900.0, record="exit_code: 2\n")
    code, out, err = compare(fine, failed, "--force")
    assert (code, err) == (0, "")
    assert "! failed, worker db: the run failed: exit code 2" in out


def test_a_warning_about_the_base_stands_once_for_several_others(compare: Compare, tmp_path: Path) -> None:
    failed = place(tmp_path / "failed", 900.0, record="exit_code: 2\n")
    others = [place(tmp_path / name, 1000.0) for name in ("one", "two")]
    _, out, _ = compare(failed, *others, "--force")
    assert out.count("! failed, worker db: the run failed: exit code 2") == 1


def test_a_failed_run_is_not_judged(found: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    base, other = pair(tmp_path, 1200)
    (other / "run.yaml").write_text("exit_code: 2\n")
    for sides in ((base, other), (other, base)):
        result = found(*sides, "--force")
        assert result["verdicts"] == [
            {"name": "throughput", "verdict": "not judged", "reason": "other, worker db: the run failed: exit code 2"}
        ]
        assert result["by_name"]["", "", "throughput"]["interval"] is None


def test_a_warm_up_longer_than_the_run_leaves_nothing(compare: Compare, tmp_path: Path) -> None:
    base, other = pair(tmp_path, 1000, 30)
    code, _, err = compare(base, other, "--warmup", "1m")
    assert code == 1
    assert "base: nothing was measured after the warm-up of 60 s; expected reports or a final report" in err


def test_with_fail_on_worse_the_exit_code_is_the_verdict(compare: Compare, tmp_path: Path) -> None:
    repeat(tmp_path, "a", [62_000.0, 62_500.0, 61_900.0])
    repeat(tmp_path, "slow", [52_000.0, 52_500.0, 51_900.0])
    repeat(tmp_path, "same", [62_100.0, 62_400.0, 61_800.0])
    place(tmp_path / "short", 1000.0)
    a, slow, same, short = (tmp_path / name for name in ("a", "slow", "same", "short"))
    assert compare(a, slow)[0] == 0
    assert compare(a, slow, "--fail-on", "worse")[0] == 3
    assert compare(a, same, slow, "--fail-on", "worse")[0] == 3
    assert compare(slow, a, "--fail-on", "worse")[0] == 0
    assert compare(a, same, "--fail-on", "worse")[0] == 0
    place(tmp_path / "shorter", 500.0)
    assert compare(short, tmp_path / "shorter", "--fail-on", "worse")[0] == 0


def test_junit_has_a_case_for_each_verdict(compare: Compare, tmp_path: Path) -> None:
    repeat(tmp_path, "a", [62_000.0, 62_500.0, 61_900.0])
    repeat(tmp_path, "b", [52_000.0, 52_500.0, 51_900.0])
    place(tmp_path / "c", 1000.0)
    place(tmp_path / "d", 900.0, scale=200)
    _, out, _ = compare(tmp_path / "a", tmp_path / "b", "--format", "junit")
    (suite,) = ElementTree.fromstring(out)
    assert suite.attrib == {"name": "b against a", "tests": "1", "failures": "1", "skipped": "0"}
    ((failure,),) = suite
    assert failure.attrib["message"].startswith("TPS -16.1 % (95 % interval -1")
    code, out, _ = compare(tmp_path / "c", tmp_path / "d", "--format", "junit", "--vary", "clients")
    (suite,) = ElementTree.fromstring(out)
    assert (code, suite.attrib["failures"], suite.attrib["skipped"]) == (1, "1", "1")
    assert [case.attrib["name"] for case in suite] == ["TPS", "no other parameter differs"]
    assert suite[1][0].attrib["message"] == "scale_factor"


# Terminal


def test_runs_of_the_same_name_are_told_apart_by_their_paths(compare: Compare, tmp_path: Path) -> None:
    paths = [place(tmp_path / year / "run", 1000.0) for year in ("2025", "2026")]
    _, out, _ = compare(*paths, "--format", "markdown")
    assert out.startswith(f"## {paths[1]} against {paths[0]}\n")


@pytest.mark.parametrize("encoding", ["ascii", "iso-8859-2", "utf-8"])
@pytest.mark.parametrize("form", ["terminal", "markdown", "json"])
def test_what_an_encoding_has_not_is_no_reason_to_fail(
    form: str, encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = place(tmp_path / "base", 1000.0)
    other = place(tmp_path / os.fsdecode(b"sl\xf6w"), 1000.0, latency=0.170)
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["compare", str(base), str(other), "--format", form]) == 0
    stream.seek(0)
    text = stream.read()
    if form == "json":
        assert json.loads(text)["others"][0]["name"] == r"sl\xf6w"
    else:
        assert r"sl\xf6w" in text.replace(r"\\", "\\")  # Markdown has its own escapes
        assert f"170 {'µ' if encoding == 'utf-8' else '?'}s" in text


def test_what_is_piped_is_plain_and_its_table_fits_80_columns(
    compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = compare(*pair(tmp_path, 1200))
    assert "\x1b" not in out
    head = next(line for line in out.splitlines() if "base " in line and "95 % interval" in line)
    row = next(line for line in out.splitlines() if line.startswith("  TPS  "))
    assert len(head) <= 80
    assert head.index("interval") < row.index("▲ ") < 80


def test_figures_keep_their_digits_on_a_narrow_terminal(
    compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    _, out, _ = compare(*pair(tmp_path, 1200))
    assert "…" not in out
    row = next(line for line in out.splitlines() if line.startswith("  TPS  "))
    assert row.split()[1:4] == ["982", "1,189", "+21.1"]


def test_where_the_rate_was_given_and_there_is_no_mean_the_percentile_of_the_reports_is_judged(
    recordings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """sysbench says that a rate was given by the length of its queue, while it runs alone."""
    runs = [str(recordings / "sysbench" / name) for name in ("rw-rate-1.0.20", "rw-rate-overload-1.0.20")]
    assert main(["compare", *runs, "--format", "json"]) == 0
    (other,) = json.loads(capsys.readouterr().out)["others"]
    assert [verdict["name"] for verdict in other["verdicts"]] == ["latency_p99_of_reports"]
