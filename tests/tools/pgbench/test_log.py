"""What the transaction log gives a run: counters, histograms, and all there is when nothing else is."""

import pytest

from benchwatch.tools.states import Report

from .recordings import PROGRESS, counters, read, state_of, streams, values


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("txlog-j2-15.18", {"transactions": 1000}),
        ("txlog-j2-9.3.19", {"transactions": 1000}),
        (
            "txlog-failures-15.18",
            {"transactions": 268, "failed_transactions": 212, "retried_transactions": 280, "retries": 280},
        ),
        (
            "txlog-failures-detailed-18.6",
            {"transactions": 306, "failed_transactions": 174, "retried_transactions": 236, "retries": 236},
        ),
        ("txlog-rate-limit-13.16", {"transactions": 847, "skipped_transactions": 1}),
        ("strace-writes-15.18", {"transactions": 205, "retried_transactions": 0, "retries": 0}),
    ],
)
def test_whole_log_alone_counts_what_the_report_says(name: str, expected: dict[str, int]) -> None:
    logs = {stream: data for stream, data in streams(name).items() if "log." in stream}
    (state,) = read(logs)
    assert counters(state) == {f"pgbench_{counter}_total": count for counter, count in expected.items()}


def test_histogram_has_every_entry_of_the_log() -> None:
    (state,) = read(streams("txlog-disk-full-15.18"))
    histogram = values(state)["pgbench_latency_seconds", "0"]
    latencies = [
        int(line.split()[2]) for line in streams("txlog-disk-full-15.18")["pgb.18245"].decode().splitlines()[:-1]
    ]
    assert histogram.counts[-1] == len(latencies) == 8738
    assert histogram.sum == sum(latencies) / 1e6
    for bound, count in zip(histogram.bounds[:-1], histogram.counts, strict=False):
        assert count == sum(latency <= float(bound) * 1e6 for latency in latencies)
    assert counters(state)["pgbench_transactions_total"] == 74697


@pytest.mark.parametrize(("logged", "quantiles"), [(700, 5), (690, 0)])
def test_a_log_that_lacks_transactions_has_no_result_where_the_report_leaves_out_failed_ones(
    logged: int, quantiles: int
) -> None:
    log = "".join(f"0 {number} 100 0 1795168289 1\n" for number in range(1, logged + 1))
    report = (
        "transaction type: <builtin: TPC-B (sort of)>\nnumber of transactions actually processed: 700\n"
        "number of failed transactions: 200 (20.000%)\nnumber of transactions skipped: 100 (10.000%)\n"
        "tps = 70.000000 (without initial connection time)\n"
    )
    (state,) = read({"pgbench_log.1": log.encode(), "out": report.encode()})
    assert sum(key[0] == "pgbench_result_latency_seconds" for key in values(state)) == quantiles


def test_each_script_has_its_histogram() -> None:
    lines = "".join(f"0 {number} {100 * (number % 3 + 1)} {number % 3} 1795168289 1\n" for number in range(1, 31))
    (state,) = read({"pgbench_log.1": lines.encode()})
    assert {
        key[1]: value.counts[-1] for key, value in values(state).items() if key[0] == "pgbench_latency_seconds"
    } == {
        "0": 10,
        "1": 10,
        "2": 10,
    }
    assert values(state)["pgbench_latency_seconds", "2"].sum == pytest.approx(0.003)


def test_sampled_log_does_not_drive_the_counter() -> None:
    parts = streams("txlog-sampling-15.18")
    log = {stream: data for stream, data in parts.items() if "log." in stream}
    (alone,) = read(log)
    assert counters(alone) == {}
    assert ("pgbench_tps",) not in values(alone)
    assert values(alone)["pgbench_latency_seconds", "0"].counts[-1] == 134
    assert ("pgbench_latency_window_seconds", "1") in values(alone)
    assert not alone.history
    (state,) = read({**log, "stderr": PROGRESS.format(1, 4700).encode()})
    assert counters(state)["pgbench_transactions_total"] == 4229
    (state,) = read(parts)
    assert counters(state)["pgbench_transactions_total"] == 14338


def test_log_alone_gives_rate_latency_and_history_of_whole_seconds() -> None:
    logs = {stream: data for stream, data in streams("txlog-timing-lowtps-15.18").items() if "log." in stream}
    (state,) = read(logs)
    found = values(state)
    seconds = [int(line.split()[4]) for line in next(iter(logs.values())).decode().splitlines()]
    assert [(report.time, report.throughput) for report in state.history] == [
        (second + 1, seconds.count(second)) for second in range(seconds[0] + 1, seconds[-1])
    ]
    assert found["pgbench_tps",] == state.history[-1].throughput
    assert found["pgbench_latency_average_seconds",] == state.history[-1].latency
    assert state.report_interval == pytest.approx(5.2, abs=0.1)
    assert state.start == pytest.approx(1795168272.129239 - 0.002002, abs=1e-6)
    assert state.last_report == 1795168280.023461


def test_lag_of_a_log_is_not_taken_for_retries() -> None:
    logs = {stream: data for stream, data in streams("txlog-rate-limit-15.18").items() if "log." in stream}
    (state,) = read(logs)
    assert set(counters(state)) == {"pgbench_transactions_total"}


def test_log_takes_over_when_thread_0_prints_no_more() -> None:
    second = 1_795_168_000
    lines = "".join(f"0 {number} 250 0 {second + number // 10} {number % 10}\n" for number in range(1, 100))
    stopped = state_of(PROGRESS.replace("{}.0", f"{second + 1}.000", 1).format(500), lines)
    assert values(stopped)["pgbench_tps",] == 10
    assert values(stopped)["pgbench_latency_average_seconds",] == 0.00025
    assert stopped.report_interval == pytest.approx(15.6, abs=0.1)  # a block of the log holds as many seconds
    assert stopped.history[-1] == Report(second + 9, 10, 0.00025)
    late = state_of(PROGRESS.replace("{}.0", f"{second + 8}.000", 1).format(500), lines)
    assert values(late)["pgbench_tps",] == 500
