"""sysbench 0.4 and 0.5, whose reports and interval lines have other forms, beside what simpler means read."""

import re

import pytest

from .recordings import OLD, data_of, parse, read, text_of, values

MS = 1e-3
MIB = 1024 * 1024


def number(pattern: str, name: str) -> float | None:
    found = re.findall(pattern, text_of(name))
    return float(found[-1]) if found else None


def of_intervals(pattern: str, name: str) -> list[float]:
    return [float(text) for text in re.findall(rf"^\[ *\d+s\].*?{pattern}", text_of(name), re.M)]


REPORTS = [name for name in OLD if "Threads fairness:" in text_of(name)]
RATES = [name for name in OLD if re.search(r"^\[ *\d+s\].* tps: ", text_of(name), re.M)]
DATABASE = [name for name in RATES if "checkpoints" not in name]
FAILED = {
    "refused-0.4.12": "Connection to database failed: connection to server at",
    "rw-refused-0.5": "Connection to database failed: connection to server at",
    "rw-forced-shutdown-0.5": "The --max-time limit has expired, forcing shutdown...",
    "rw-t4-early-0.5": "ERROR:  duplicate key value violates unique constraint",
}


@pytest.mark.parametrize("name", OLD)
def test_outcome_reason_and_version(name: str) -> None:
    state = read(data_of(name))[-1]
    assert state.outcome == ("failed" if name in FAILED else "finished" if name in REPORTS else "")
    assert state.reason.startswith(FAILED.get(name, "")) and bool(state.reason) == (name in FAILED)
    assert f"-{state.tool_version}" == re.search(r"-0[\d.]+$", name)[0]  # type: ignore[index]
    assert (
        state.parameters().get("threads") == (re.search(r"Number of threads: (\d+)", text_of(name)) or [None, None])[1]
    )


@pytest.mark.parametrize("name", [name for name in REPORTS if "checkpoints" not in name])
def test_results_are_those_of_the_report(name: str) -> None:
    found = values(read(data_of(name))[-1])
    events = number(r"total number of events: +(\d+)", name)
    taken = number(r"total time taken by event execution: +([\d.]+)", name)
    seconds = number(r"total time: +([\d.]+)s", name)
    assert events and taken and seconds
    assert found["result_transactions",] == events
    assert found["result_latency_average_seconds",] == pytest.approx(taken / events)
    assert found["result_duration_seconds",] == seconds
    assert found.get(("result_tps",)) == number(r" transactions: +\d+ +\((\S+) per sec", name)
    for which in ("min", "max"):
        printed = number(rf" {which}: +([\d.]+)ms", name) or 0.0
        assert found.get((f"result_latency_{which}_seconds",), 0.0) == pytest.approx(printed * MS)
    percentile = number(r"approx\. +(\d+) percentile", name)
    latency = number(r"percentile: +([\d.]+)ms", name) or 0.0
    expected = {("result_latency_seconds", f"0.{percentile:.0f}"): pytest.approx(latency * MS)} if latency else {}
    shown = {key: value for key, value in found.items() if key[0] == "result_latency_seconds"}
    assert shown == ({} if name == "mutex-0.4.12" else expected), "mutex prints the end of its scale, 10,000 s"
    if "OLTP" in text_of(name):
        for op in ("read", "write", "other"):
            assert found["queries_total", op] == number(rf"{op}: +(\d+)", name)
        assert found["errors_total",] == number(r"(?:deadlocks|ignored errors): +(\d+)", name)
        assert found["transactions_total",] == number(r" transactions: +(\d+)", name)
    elif "MB transferred" not in text_of(name) and "Total transferred" not in text_of(name):
        assert found["result_events_per_second",] == pytest.approx(events / seconds)


@pytest.mark.parametrize("name", DATABASE)
def test_the_lines_of_intervals_are_read(name: str) -> None:
    state = read(data_of(name))[-1]
    found = values(state)
    assert [report.throughput for report in state.history] == of_intervals(r"tps: ([\d.]+)", name)
    assert found["tps",] == of_intervals(r"tps: ([\d.]+)", name)[-1]
    assert found["threads",] == (of_intervals(r"threads: (\d+)", name) or of_intervals(r"(\d+) threads,", name))[-1]
    assert found["queries_per_second", "read"] == of_intervals(r"\breads(?:/s)?: ([\d.]+)", name)[-1]
    assert found["queries_per_second", "write"] == of_intervals(r"writes(?:/s)?: ([\d.]+)", name)[-1]
    percentile = of_intervals(r"ms \((\d+)%", name)[-1]
    latency = of_intervals(r"response time: ([\d.]+)ms", name)[-1]
    assert found["latency_window_seconds", f"0.{percentile:.0f}"] == pytest.approx(latency * MS)


def test_a_report_at_a_checkpoint_has_the_time_since_the_one_before() -> None:
    state = read(data_of("rw-checkpoints-0.5"))[-1]
    found = values(state)
    assert found["transactions_total",] == 982 + 1358 + 669
    assert found["result_transactions",] == 983 + 1358 + 669
    assert found["result_duration_seconds",] == pytest.approx(2.0007 + 1.9995 + 1.0055)
    assert found["result_tps",] == pytest.approx(3009 / 5.0057)
    assert found["result_latency_average_seconds",] == pytest.approx((7.9603 + 8.0166 + 4.0230) / 3010)


def test_the_interval_in_which_a_checkpoint_resets_the_counters_has_no_rates() -> None:
    """Its line says tps: 0.00 beside thousands of reads."""
    state = read(data_of("rw-checkpoints-0.5"))[-1]
    assert [report.throughput for report in state.history] == [563.61, 660.99, 667.06]
    second = text_of("rw-checkpoints-0.5")
    found = values(read(second[: second.index("    total time:")].encode())[-1])
    assert ("tps",) not in found and ("queries_per_second", "read") not in found
    assert found["latency_window_seconds", "0.95"] == pytest.approx(16.61 * MS)


def test_fileio() -> None:
    found = values(read(data_of("fileio-rndrw-0.5"))[-1])
    assert found["bandwidth_bytes_per_second", "read"] == 216.54 * MIB
    assert found["throughput_bytes_per_second",] == (216.54 + 144.36) * MIB
    assert found["latency_window_seconds", "0.95"] == 5e-6
    assert found["result_throughput_bytes_per_second",] == 408.51 * MIB
    assert found["result_bandwidth_bytes_per_second", "write"] == pytest.approx(653.75 * MIB / 4.0008)
    assert found["result_iops", "sync"] == pytest.approx(4181 / 4.0008)
    assert values(read(data_of("fileio-rndrw-0.4.12"))[-1])["result_iops", "read"] == pytest.approx(168984 / 3.0002)


def test_memory() -> None:
    found = values(read(data_of("memory-0.5"))[-1])
    assert found["throughput_bytes_per_second",] == 3473.94 * MIB
    assert found["result_throughput_bytes_per_second",] == 3638.00 * MIB
    assert values(read(data_of("memory-0.4.12"))[-1])["result_throughput_bytes_per_second",] == 4192.75 * MIB


def test_the_queue_of_a_fixed_rate() -> None:
    state = read(data_of("rw-rate-0.5"))[-1]
    assert (values(state)["queue_length",], state.parameters()["rate"]) == (0, "200")


@pytest.mark.parametrize("name", OLD)
def test_pieces_make_no_difference(name: str) -> None:
    data = data_of(name)
    assert parse(data, range(1, len(data))) == parse(data)


def test_two_versions_in_one_file_are_two_runs() -> None:
    first, second = read(data_of("rw-t4-0.5") + data_of("rw-t8"))
    assert (first.tool_version, second.tool_version) == ("0.5", "1.0.20")
    assert values(second) == values(read(data_of("rw-t8"))[-1])
