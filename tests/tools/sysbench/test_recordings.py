"""Every recording, beside what it says when read by simpler means."""

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest

from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.sysbench import SYSBENCH

from .recordings import NAMES, OLD, data_of, new_state, parse, read, text_of, values

FAILED = {
    "connection-refused": "Connection to database failed: connection to server at",
    "fileio-no-files": "Cannot open file 'test_file.0' errno = 2 (No such file or directory)",
    "forced-shutdown": "The --max-time limit has expired, forcing shutdown...",
    "missing-table": "PQprepare() failed: ERROR:  relation ",
    "prepare-2tables": 'PQexec() failed: 7 relation "sbtest2" already exists',
    "server-hung-at-connect": "Worker threads failed to initialize within 30 seconds!",
}
MIB = 1024 * 1024


def last_report(text: str) -> str:
    """The text of the last final report, with the histogram before it."""
    return text[max(text.rfind("Threads started!"), text.rfind("\n[ ") + 1) :]


def number(pattern: str, text: str) -> float | None:
    found = re.findall(pattern, text)
    return float(found[-1]) if found else None


def counted(name: str, pattern: str) -> int:
    """A count of the final report; of all of them where there were checkpoints."""
    found = [int(count) for count in re.findall(pattern, text_of(name))]
    return sum(found) if name == "checkpoints" else found[-1]


def with_report() -> list[str]:
    return [name for name in NAMES if "Threads fairness:" in text_of(name)]


WITHOUT_REPORT = {"hook-csv-both"}
"""Runs that end with the line of a hook."""


def test_no_recording_is_missing() -> None:
    assert (len(NAMES), len(OLD)) == (52, 25)


@pytest.mark.parametrize("name", NAMES + OLD)
def test_every_line_is_understood(name: str) -> None:
    records = parse(data_of(name))
    misread = [record.text for record in records if isinstance(record, Misread)]
    assert not misread
    assert SYSBENCH.recognise(data_of(name)) == "text"
    assert (
        sum(isinstance(record, Begin) for record in records)
        == len(re.findall(r"^sysbench \d", text_of(name), re.M)) - 1
    )


@pytest.mark.parametrize("name", NAMES)
def test_outcome_and_reason(name: str) -> None:
    state = read(data_of(name))[-1]
    expected = "failed" if name in FAILED else "finished" if name in {*with_report(), *WITHOUT_REPORT} else ""
    assert state.outcome == expected
    assert state.reason.startswith(FAILED.get(name, ""))
    assert bool(state.reason) == (name in FAILED)
    assert state.tool_version == "1.0.20"


@pytest.mark.parametrize("name", with_report())
def test_results_are_those_of_the_report(name: str) -> None:
    found = values(read(data_of(name))[-1])
    report = last_report(text_of(name))
    events = counted(name, r"total number of events: +(\d+)")
    assert found["result_transactions",] == events
    if name != "checkpoints":
        assert found.get(("result_tps",)) == number(r"transactions: .*\((\S+) per sec", report)
    for op in ("read", "writ"):
        rate = number(rf"{op}\w*, MiB/s: +(\S+)", report)
        key = ("result_bandwidth_bytes_per_second", "write" if op == "writ" else op)
        assert found.get(key) == (None if rate is None else rate * MIB)
    for op, printed in (("read", "reads"), ("write", "writes"), ("sync", "fsyncs")):
        assert found.get(("result_iops", op)) == number(rf"{printed}/s: +(\S+)", report)
    for which in ("min", "max"):
        latencies = [float(value) for value in re.findall(rf"^ +{which}: +(\S+)", text_of(name), re.M)]
        expected = {"min": min, "max": max}[which](latencies) if name == "checkpoints" else latencies[-1]
        assert found.get((f"result_latency_{which}_seconds",), 0) == pytest.approx(expected / 1000)
    total = number(r"sum: +(\S+)", report) if name != "checkpoints" else 3986.33 + 6004.56 + 2013.72
    assert total is not None
    assert found["result_latency_average_seconds",] * events == pytest.approx(total / 1000)
    percentile = re.search(r"(\d+)th percentile: +(\S+)", report)
    quantiles = {key[1]: value for key, value in found.items() if key[0] == "result_latency_seconds"}
    if percentile and float(percentile[2]) and name != "checkpoints":
        told = min(float(percentile[2]) / 1000, found["result_latency_max_seconds",])  # the middle of a bin is above
        assert quantiles == {f"{int(percentile[1]) / 100:g}": pytest.approx(told)}
    else:
        assert not quantiles


@pytest.mark.parametrize("name", with_report())
def test_counters_end_at_the_report(name: str) -> None:
    found = values(read(data_of(name))[-1])
    if "transactions: " in text_of(name):
        assert found["transactions_total",] == counted(name, r"transactions: +(\d+)")
        assert found["errors_total",] == counted(name, r"ignored errors: +(\d+)")
        assert found["reconnects_total",] == counted(name, r"reconnects: +(\d+)")
        for op in ("read", "write", "other"):
            assert found["queries_total", op] == counted(name, rf"(?<!/){op}: +(\d+)")
    elif "File operations:" not in text_of(name) and "MiB transferred" not in text_of(name):
        assert found["events_total",] == counted(name, r"total number of events: +(\d+)")
        seconds = number(r"total time: +([\d.]+)", text_of(name)) or 0
        assert found["result_events_per_second",] * seconds == pytest.approx(found["events_total",], rel=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_counters_are_never_ahead_and_never_go_back(name: str) -> None:
    """After every line, of the end; where there is no report, of the sum of the rates."""
    state = new_state()
    seen: list[dict[tuple[str, ...], int]] = []
    for record in parse(data_of(name)):
        if isinstance(record, Begin):
            state, seen = new_state(), []
        elif not isinstance(record, Misread):
            state.apply(record, "stdout", 0.0)
            found = values(state)
            seen.append({key: value for key, value in found.items() if key[0].endswith("_total")})
    for earlier, later in pairwise(seen):
        assert all(later[key] >= value for key, value in earlier.items())
    rates = re.findall(r"tps: ([\d.]+)|^\d+,[1-9]\d*,([\d.]+)", text_of(name), re.M)
    if seen and ("transactions_total",) in seen[-1] and not state.outcome:
        assert seen[-1]["transactions_total",] <= sum(float(first or second) for first, second in rates)


SQL, FILEIO = ([name for name in NAMES if f"s ] {start}" in text_of(name)] for start in ("thds: 8 tps", "reads: "))
GAUGES = [
    *((name, r"tps: (\S+)", ("tps",)) for name in NAMES if " tps: " in text_of(name)),
    *((name, r"eps: (\S+)", ("events_per_second",)) for name in NAMES if " eps: " in text_of(name)),
    *((name, r"qps: .*r/w/o: [\d.]+/([\d.]+)/", ("queries_per_second", "write")) for name in SQL),
    *((name, r"fsyncs: ([\d.]+)", ("fsyncs_per_second",)) for name in FILEIO),
    *((name, r"writes: (\S+) MiB", ("bandwidth_bytes_per_second", "write")) for name in FILEIO),
    ("memory", r"\] ([\d.]+) MiB/sec", ("throughput_bytes_per_second",)),
    *((name, r"queue length: (\d+)", ("queue_length",)) for name in ("rw-rate", "rw-rate-overload")),
]


@pytest.mark.parametrize(("name", "pattern", "key"), GAUGES)
def test_gauges_are_those_of_the_last_line(name: str, pattern: str, key: tuple[str, ...]) -> None:
    factor = MIB if "bytes" in key[0] else 1
    assert values(read(data_of(name))[-1])[key] == float(re.findall(pattern, text_of(name))[-1]) * factor


@pytest.mark.parametrize("name", [name for name in NAMES if "Latency histogram" in text_of(name)])
def test_the_histogram_has_every_event_within_the_edges_of_its_bins(name: str) -> None:
    found = values(read(data_of(name))[-1])
    histogram = found["latency_seconds",]
    bins: Counter[str] = Counter()
    for middle, count in re.findall(r"^ *([\d.]+) \|\** +(\d+)$", text_of(name), re.M):
        bins[middle] += int(count)
    bounds = [float(bound) for bound in histogram.bounds[:-1]]
    assert histogram.bounds[-1] == "+Inf"
    assert histogram.counts[-1] == histogram.counts[-2] == bins.total() == found["result_transactions",]
    for (middle, _), bound, total in zip(bins.items(), bounds, histogram.counts, strict=False):
        seconds = float(middle) / 1000
        assert seconds - 5e-7 < bound < (seconds + 5e-7) * 1.0182, "between it and the next bin's middle"
        assert total == sum(count for other, count in bins.items() if float(other) <= float(middle))
    assert bounds == sorted(set(bounds))
    assert histogram.sum == pytest.approx((number(r"sum: +(\S+)", text_of(name)) or 0) / 1000)


def test_the_percentile_of_the_report_is_where_the_histogram_has_it() -> None:
    found = values(read(data_of("rw-t8-histogram"))[-1])
    histogram = found["latency_seconds",]
    reached = next(place for place, count in enumerate(histogram.counts) if count >= 0.99 * histogram.counts[-1])
    below, above = float(histogram.bounds[reached - 1]), float(histogram.bounds[reached])
    assert below < found["result_latency_seconds", "0.99"] < above


@pytest.mark.parametrize("name", ["hook-csv", "hook-csv-killed", "hook-csv-both"])
def test_the_lines_of_the_csv_hook_are_intervals_without_a_latency(name: str) -> None:
    lines = [line.split(",") for line in text_of(name).splitlines() if re.match(r"\d+,[1-9]\d*,", line)]
    state = read(data_of(name))[-1]
    assert [report.throughput for report in state.history] == [float(line[2]) for line in lines]
    found = values(state)
    assert found["tps",] == float(lines[-1][2])
    ops = [found["queries_per_second", op] for op in ("read", "write", "other")]
    assert ops == [float(number) for number in lines[-1][4:7]]
    assert found["threads",] == 4
    assert not [key for key in found if key[0] == "latency_window_seconds"], "nothing says which percentile it is"
    assert found.get(("result_tps",)) == {"hook-csv": 3376.74, "hook-csv-killed": None, "hook-csv-both": 3385.95}[name]


def test_the_objects_of_the_json_hook_are_intervals_without_a_latency() -> None:
    state = read(data_of("hook-json"))[-1]
    rates = [float(number) for number in re.findall(r'"tps": +([\d.]+)', text_of("hook-json"))]
    assert [report.throughput for report in state.history] == rates
    found = values(state)
    assert (found["result_tps",], found["tps",]) == (1259.98, 1111.73)
    assert not [key for key in found if key[0] == "latency_window_seconds"]


def test_lines_that_lack_a_colon_after_the_errors_are_read() -> None:
    rates = [float(number) for number in re.findall(r" tps: ([\d.]+)", text_of("hook-without-colon"))]
    state = read(data_of("hook-without-colon"))[-1]
    assert len(rates) == 4 and [report.throughput for report in state.history] == rates


SMALL: list[tuple[str, Callable[[str], str]]] = [
    ("with CRLF", lambda text: text.replace("\n", "\r\n")),
    ("with a CR before each line", lambda text: text.replace("\n", "\n\r")),
    ("behind a hole of NUL bytes", lambda text: "\0" * 100 + text),
]


@pytest.mark.parametrize("change", [change for _, change in SMALL], ids=[name for name, _ in SMALL])
def test_the_same_is_read(change: Callable[[str], str]) -> None:
    text = text_of("rw-rate")
    assert values(read(change(text).encode())[-1]) == values(read(text.encode())[-1])
