"""vdbench against what its own output says, read here without the parser."""

import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.history.find import read_runs
from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.samples import HistogramValue
from benchwatch.settings.settings import RunsSettings
from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.kit import ToolReport
from benchwatch.tools.kit.state import KitState
from benchwatch.tools.launcher import CommandLine
from benchwatch.tools.states import State
from benchwatch.tools.vdbench import VDBENCH
from tests.support.places import RECORDINGS
from tests.tools.golden import exposition

FOLDER = RECORDINGS / "vdbench"
NAMES = sorted(path.name for path in FOLDER.iterdir())
ROW = re.compile(r"^\d\d:\d\d:\d\d\.\d{3} +(\d+) +([\d.]+) +([\d.]+)", re.M)
MEAN = re.compile(r"^\d\d:\d\d:\d\d\.\d{3} +avg_\d+-\d+ +([\d.]+)(.*)$", re.M)
UPPER = "Nov_22,_2026 interval i/o MB/sec bytes read resp read write read write resp queue cpu% cpu%"
LOWER = "- - rate 1024**2 i/o pct time resp resp max max stddev depth sys+u sys"


OUTPUT = FOLDER / "output-folder-50406"
STDOUT = [name for name in NAMES if name != OUTPUT.name]


def text_of(name: str) -> str:
    return (FOLDER / name / f"{name}.out").read_text()


def run_in(folder: Path) -> list[tuple[str, State]]:
    """The workers in a folder, and their states."""
    (run,) = read_runs([folder], RunsSettings(), Buckets())
    return [(worker.name, worker.state) for worker in run.workers]


def reports_of(data: bytes) -> tuple[KitState, list[ToolReport], list[Misread]]:
    state, parser = VDBENCH.state(Buckets()), VDBENCH.parser("text")
    assert isinstance(state, KitState)
    records = [*parser.feed(data), *parser.close()]
    for record in records:
        assert not isinstance(record, Begin)
        if not isinstance(record, Misread):
            state.apply(record, "out", 0.0)
    reports = [one for one in records if isinstance(one, ToolReport)]
    return state, reports, [one for one in records if isinstance(one, Misread)]


def values(state: KitState, family: str, current: bool = True) -> dict[tuple[str, ...], float]:
    found = state.samples(current=current)
    return {one.labels: one.value for one in found if one.family.name == family}  # type: ignore[misc]


@pytest.mark.parametrize("name", STDOUT)
def test_every_line_of_stdout_is_understood(name: str) -> None:
    assert reports_of((FOLDER / name / f"{name}.out").read_bytes())[2] == []


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith(("rate", "iorate", "curve", "slave-st"))])
def test_counters_are_the_rates_of_all_intervals(name: str) -> None:
    state, reports, _ = reports_of(text_of(name).encode())
    rates = [float(rate) for _, rate, _ in ROW.findall(text_of(name))]
    assert len(reports) == len(rates)
    assert values(state, "vdbench_ios_total") == {(): sum(rates)}


def test_the_mean_of_one_run_definition_is_the_result_as_printed() -> None:
    state, _, _ = reports_of(text_of("rate-warmup-50406").encode())
    ((rate, rest),) = MEAN.findall(text_of("rate-warmup-50406"))
    bandwidth, _, _, mean, _, _, most, *_ = rest.split()
    assert values(state, "vdbench_result_iops") == {(): float(rate)}
    assert values(state, "vdbench_result_response_time_seconds") == pytest.approx({(): float(mean) / 1e3})
    assert values(state, "vdbench_result_response_time_max_seconds") == pytest.approx({(): float(most) / 1e3})
    assert values(state, "vdbench_result_bandwidth_bytes_per_second") == {(): float(bandwidth) * 2**20}
    assert (state.outcome, state.tool_version) == ("finished", "50406")


def test_run_definitions_are_not_added_up() -> None:
    state, _, _ = reports_of(text_of("iorate-list-50406").encode())
    each = values(state, "vdbench_rd_iops")
    assert each == {("run1 iorate=200",): 161.67, ("run1 iorate=400",): 384.33}
    assert values(state, "vdbench_result_iops")[()] == pytest.approx((161.67 + 384.33) / 2)
    assert values(state, "vdbench_result_response_time_seconds")[()] == pytest.approx(
        (161.67 * 10e-6 + 384.33 * 8e-6) / (161.67 + 384.33)
    )


def test_preparations_count_neither_in_counters_nor_in_the_result() -> None:
    state, reports, _ = reports_of(text_of("two-sd-max-50406").encode())
    assert [report.counted for report in reports] == [False] + [True] * 6
    ((rate, _),) = MEAN.findall(text_of("two-sd-max-50406").partition("RD=run1")[2])
    assert values(state, "vdbench_result_iops") == {(): float(rate)}
    rows = ROW.findall(text_of("two-sd-max-50406"))[1:]
    assert values(state, "vdbench_ios_total") == {(): sum(float(rate) for _, rate, _ in rows)}


def test_rows_that_a_frozen_slave_brings_late_belong_to_their_own_intervals() -> None:
    _, reports, _ = reports_of(text_of("slave-stopped5s-50406").encode())
    times = [report.time for report in reports]
    assert [round(later - earlier, 9) for earlier, later in pairwise(times)] == [1.0] * 13
    still = [report for report in reports if report.figures["iops",] == 0]
    assert len(still) == 2 and all(("response",) not in report.figures for report in still)
    assert not any(key[0] == "cpu" for report in still for key in report.figures)


def test_file_systems_have_operations_by_kind() -> None:
    state, reports, _ = reports_of(text_of("filesystem-fwd-50406").encode())
    last = reports[-1].figures
    assert {key: last[key] for key in (("ops",), ("kind", "open"), ("bytes",), ("size",))} == {
        ("ops",): 220.0,
        ("kind", "open"): 16.0,
        ("bytes",): 0.86 * 2**20,
        ("size",): 4096.0,
    }
    assert last["took", "open"] == pytest.approx(0.195e-3)
    assert last["mean", "read"] == pytest.approx(0.009e-3)
    assert ("kind", "mkdir") in last and ("took", "mkdir") not in last
    assert state.figures().throughput == 195.5
    assert values(state, "vdbench_fs_ios_total") == {(): 193 + 174 + 193 + 196 + 197 + 220}


def test_flatfile_says_what_stdout_says() -> None:
    flat, of_flat, _ = reports_of(text_of("flatfile-50406").encode())
    console, of_console, _ = reports_of(text_of("rate-warmup-50406").encode())
    assert [one.figures["iops",] for one in of_flat] == [one.figures["iops",] for one in of_console]
    assert values(flat, "vdbench_ios_total") == values(console, "vdbench_ios_total")
    assert of_flat[0].figures["cpu", "user"] == pytest.approx(0.147841)


@pytest.mark.parametrize(
    ("name", "outcome", "reason"),
    [
        ("slave-killed-50406", "failed", "Slave localhost-0 terminated unexpectedly"),
        ("no-such-lun-50406", "failed", "Slave localhost-0 aborting: Open for lun '/nonexistent/f' failed"),
        ("sigint-50406", "interrupted", "CTRL-C requested"),
        ("master-killed-50406", "", ""),
        ("curve-50406", "finished", ""),
    ],
)
def test_it_ends_as_it_says(name: str, outcome: str, reason: str) -> None:
    state, _, _ = reports_of(text_of(name).encode())
    assert (state.outcome or "", state.reason) == (outcome, reason)


def test_50407_has_a_maximum_by_kind_and_longer_intervals_are_dated_by_their_number() -> None:
    both = ("".join(f"{word:>13}" for word in row.split()) for row in (UPPER, LOWER))
    head = "\n".join(row.replace("-", " ").removeprefix(" ") for row in both).replace("_", " ")
    rows = f"""\
23:59:52.000 Starting RD=rd1; I/O rate: 100; elapsed=15; For loops: None

{head}
23:59:57.010 1 100.0 0.39 4096 70.00 0.300 0.200 0.533 1.500 9.250 0.100 0.0 33.7 18.9
00:00:02.020 2 102.4 0.40 4096 100.00 0.200 0.200 0.000 2.500 0.000 0.100 0.0 33.7 18.9
00:00:02.030 avg_2-2 102.4 0.40 4096 100.00 0.200 0.200 0.000 2.500 0.000 0.100 0.0 33.7 18.9
"""
    state, reports, misread = reports_of(rows.encode())
    assert misread == []
    assert [(report.time, report.length) for report in reports] == [(5.0, 5.0), (10.0, 5.0)]
    assert reports[0].figures["max", "write"] == pytest.approx(9.25e-3)
    assert reports[1].figures.keys().isdisjoint({("max", "write"), ("mean", "write")})
    assert values(state, "vdbench_ios_total") == {(): 1012.0}
    assert values(state, "vdbench_rd_response_time_max_seconds") == {("rd1",): pytest.approx(2.5e-3)}
    decimal = rows.replace("1024**2", "1000**2").encode()
    assert reports_of(decimal)[1][0].figures["bytes",] == 390_000.0


def test_the_wider_table_of_file_systems_of_50407_is_read() -> None:
    rows = """\
08:00:01.001 Starting RD=rd1; elapsed=3; fwdrate=max. For loops: None

Nov 28, 2026 ..Interval.. .ReqstdOps... ...cpu%...  read ....read..... ....write.... ..mb/sec... mb/sec .xfer..
                            rate   resp total  sys   pct   rate   resp   rate   resp  read write  total    size
08:00:02.011            1  310.0  1.250  20.0 10.0  50.0  155.0  1.000  155.0  1.500  0.61  0.61   1.21    4096
08:00:03.011            2  300.0  1.500  20.0 10.0  50.0  150.0  1.000  150.0  2.000  0.59  0.59   1.17    4096
08:00:04.011            3  320.0  1.250  20.0 10.0  50.0  160.0  1.000  160.0  1.500  0.63  0.63   1.25    4096
08:00:04.021      avg_2-3  310.0  1.371  20.0 10.0  50.0  155.0  1.000  155.0  1.742  0.61  0.61   1.21    4096
08:00:05.001 Vdbench execution completed successfully
"""
    state, reports, misread = reports_of(rows.encode())
    assert misread == []
    assert [report.figures["ops",] for report in reports] == [310.0, 300.0, 320.0]
    assert reports[1].figures["mean", "write"] == pytest.approx(2e-3)
    assert state.figures().throughput == 310.0


def test_the_output_folder_is_one_process_and_counts_once() -> None:
    ((name, state),) = run_in(OUTPUT)
    assert isinstance(state, KitState)
    text = (OUTPUT / "logfile.html").read_text().partition("Starting RD=run1")[2]  # after a preparation
    means = [float(rate) for rate, _ in MEAN.findall(text)]
    assert (name, state.outcome, len(means)) == ("output-folder-50406", "finished", 2)
    assert values(state, "vdbench_result_iops") == {(): pytest.approx(sum(means) / 2)}


@pytest.mark.parametrize(("kept", "outcome"), [("flatfile", ""), ("summary", "finished"), ("totals", "")])
def test_each_of_its_files_will_do(kept: str, outcome: str, tmp_path: Path) -> None:
    for name in (kept, "histogram", "sd1", "sd2", "status"):
        shutil.copy(OUTPUT / f"{name}.html", tmp_path)
    ((_, state),) = run_in(tmp_path)
    assert isinstance(state, KitState)
    assert state.outcome == outcome
    text = (OUTPUT / "totals.html").read_text().partition("Starting RD=run1")[2]
    means = dict(zip(("iorate=100", "iorate=200"), MEAN.findall(text), strict=True))
    if kept != "flatfile":  # which does not say what differs between its run definitions
        expected = {(f"run1 {words}",): float(rate) for words, (rate, _) in means.items()}
        assert values(state, "vdbench_rd_iops") == expected


def test_files_of_devices_alone_are_workers_of_their_own(tmp_path: Path) -> None:
    for name in ("sd1", "sd2"):
        shutil.copy(OUTPUT / f"{name}.html", tmp_path)
    assert [name for name, _ in run_in(tmp_path)] == ["sd1", "sd2"]


def test_files_beside_stdout_add_the_histogram_and_nothing_else(tmp_path: Path) -> None:
    shutil.copy(OUTPUT / "logfile.html", tmp_path / "db1.out")
    shutil.copytree(OUTPUT, tmp_path, dirs_exist_ok=True)
    ((name, state),) = run_in(tmp_path)
    assert isinstance(state, KitState)
    assert (name, len(state.history)) == ("db1", len(ROW.findall((OUTPUT / "logfile.html").read_text())))
    (histogram,) = values(state, "vdbench_latency_seconds").values()
    assert isinstance(histogram, HistogramValue)
    text = (OUTPUT / "histogram.html").read_text().partition("Starting RD=run1")[2]
    tables = [part.partition("Reads:")[0] for part in text.split("Reads and writes:")[1:]]
    counts = [[int(n.replace(",", "")) for n in re.findall(r" < +\S+ +([\d,]+) ", one)] for one in tables]
    assert histogram.counts[-1] == sum(map(sum, counts))
    assert histogram.counts[0] == sum(one[0] for one in counts)
    assert (histogram.bounds[0], histogram.bounds[-2:]) == ("2e-05", ["2", "+Inf"])


def test_a_histogram_without_its_sum_exports_none(tmp_path: Path) -> None:
    """One NaN would make the sum over all workers NaN; without a sum, OpenMetrics allows no count."""
    ((name, state),) = run_in(OUTPUT)
    page = exposition("r", name, state, current=False)
    assert re.search(r"^vdbench_latency_seconds_bucket\{.*le=\"\+Inf\"\} 776$", page, re.M)
    assert main(["backfill", str(OUTPUT), "--output", str(tmp_path / "text")]) == 0
    text = (tmp_path / "text").read_text()
    assert not re.search("vdbench_latency_seconds_(sum|count)", page + text)


def test_files_that_two_workers_may_own_are_left_out(tmp_path: Path) -> None:
    for name in ("db1.out", "db2.out"):
        shutil.copy(OUTPUT / "logfile.html", tmp_path / name)
    shutil.copy(OUTPUT / "histogram.html", tmp_path)
    assert [name for name, _ in run_in(tmp_path)] == ["db1", "db2"]


def test_a_run_that_follows_a_killed_one_in_a_file_begins_anew(tmp_path: Path) -> None:
    killed, whole = text_of("master-killed-50406"), text_of("rate-warmup-50406")
    (tmp_path / "db1.out").write_text(killed[: killed.rindex("\n") + 1] + whole)
    ((_, state),) = run_in(tmp_path)
    assert isinstance(state, KitState)
    alone, _, _ = reports_of(whole.encode())
    assert values(state, "vdbench_result_iops") == values(alone, "vdbench_result_iops")
    assert values(state, "vdbench_ios_total") == values(alone, "vdbench_ios_total")


@pytest.mark.parametrize(
    ("arguments", "added", "histogram"),
    [
        ("-f job.parm", "-o /runs/a/.db1", "/runs/a/.db1/histogram.html"),
        ("-f job.parm -o out", "", "out/histogram.html"),
        ("-f job.parm -oout", "", "out/histogram.html"),
        ("-f job.parm -o out+", "", None),
    ],
)
def test_output_goes_into_the_folder_of_the_run(arguments: str, added: str, histogram: str | None) -> None:
    assert VDBENCH.launcher is not None
    found = VDBENCH.launcher(CommandLine(arguments.split(), own=Path("/runs/a/.db1")))
    assert " ".join(found.appended) == added
    assert found.writes.get("histogram") == (Path(histogram) if histogram else None)


@pytest.mark.parametrize("rate", ["inf", "9" * 400, "1e300", "nan"])
def test_a_figure_that_no_disk_can_have_is_not_measured(rate: str) -> None:
    text = text_of("rate-warmup-50406")
    rows = ROW.findall(text)
    damaged = text.replace(f" {rows[-1][1]} ", f" {rate} ", 1)
    assert damaged != text
    state, _, _ = reports_of(damaged.encode())
    assert values(state, "vdbench_ios_total") == {(): sum(float(row[1]) for row in rows[:-1])}


def test_a_figure_below_zero_is_not_measured() -> None:
    text = text_of("rate-warmup-50406")
    *_, last = ROW.finditer(text)
    damaged = f"{text[: last.end() - len(last[3])]}-{last[3]}{text[last.end() :]}"
    state, _, _ = reports_of(damaged[: damaged.index("\n", last.end()) + 1].encode())
    assert values(state, "vdbench_iops") and not values(state, "vdbench_bandwidth_bytes_per_second")


def test_operations_of_file_systems_are_the_same_in_both_outputs() -> None:
    console, *_ = reports_of(text_of("filesystem-getattr-50406").encode())
    flat, *_ = reports_of(text_of("flatfile-filesystem-50406").encode())
    _, *rows = re.findall(r"^\S+ +\d+ +([\d.]+) .* ([\d.]+) +[\d.]+$", text_of("filesystem-getattr-50406"), re.M)
    for state in (console, flat):
        assert values(state, "vdbench_fs_ios_total") == {(): sum(float(rate) for rate, _ in rows)}
        assert values(state, "vdbench_fs_iops") == {(): float(rows[-1][0])}
        assert values(state, "vdbench_operations_per_second")["getattr",] == float(rows[-1][1]) > 0
        assert values(state, "vdbench_iops") == {}
    slow = "vdbench_operation_latency_average_seconds"
    assert values(flat, slow)["getattr",] == pytest.approx(values(console, slow)["getattr",], abs=1e-6)


def test_a_mistake_in_the_parameters_is_a_failure() -> None:
    file = FOLDER / "no-duplicate-rd-50406" / "no-duplicate-rd-50406.err"
    assert VDBENCH.recognise(file.read_bytes()) == "text"
    state, _, misread = reports_of(file.read_bytes())
    assert (state.outcome, state.reason, misread) == ("failed", "Duplicate RD names not allowed: rd_one", [])
