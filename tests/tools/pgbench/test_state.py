"""One run: totals, outcome, times, and that the order in which streams are read does not matter."""

import itertools
import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.pgbench import PGBENCH
from benchwatch.tools.states import Figures, Report

from .recordings import (
    ARRIVED,
    NAMES,
    PROGRESS,
    ROOT,
    command,
    counters,
    new_state,
    parse,
    read,
    state_of,
    streams,
    values,
)

ONE_RUN = [name for name in NAMES if name != "merged-appended-15.18"]
SUMMARY = {
    "pgbench_transactions_total": r"^number of transactions actually processed: (\d+)",
    "pgbench_failed_transactions_total": r"^number of failed transactions: (\d+)",
    "pgbench_skipped_transactions_total": r"^number of transactions skipped: (\d+)",
    "pgbench_retried_transactions_total": r"^number of transactions retried: (\d+)",
    "pgbench_retries_total": r"^total number of retries: (\d+)",
}


def whole(state: object) -> dict[str, object]:
    """All that a state tells."""
    names = (
        "tool_version",
        "start",
        "end",
        "last_report",
        "report_interval",
        "outcome",
        "reason",
        "idle_reports",
        "history",
    )
    return {
        **{name: getattr(state, name) for name in names},
        "figures": state.figures(),  # type: ignore[attr-defined]
        "parameters": state.parameters(),  # type: ignore[attr-defined]
        "current": values(state),  # type: ignore[arg-type]
        "ended": values(state, current=False),  # type: ignore[arg-type]
    }


@pytest.mark.parametrize("name", NAMES)
def test_totals_equal_the_report(name: str) -> None:
    printed = [
        report.decode()
        for data in streams(name).values()
        for report in re.split(rb"(?m)^(?=transaction type: )", data)
        if report.startswith(b"transaction type: ")
    ]
    states = [state for state in read(streams(name)) if "transaction_type" in state.parameters()]
    assert len(states) == len(printed)
    for state, report in zip(states, printed, strict=True):
        for counter, pattern in SUMMARY.items():
            if found := re.search(pattern, report, re.MULTILINE):
                assert counters(state)[counter] == int(found[1])


@pytest.mark.parametrize("name", NAMES)
def test_counters_never_go_back(name: str) -> None:
    # Line by line, logs first, so that every source has its turn before the report settles it.
    state = new_state()
    before: dict[str, int] = {}
    for stream, data in sorted(streams(name).items()):
        kind = PGBENCH.recognise(data) or "text"
        parser = PGBENCH.parser(kind)
        lines = rb"(?:.*\n){1,50}|.+$" if kind == "log" else rb".*\n|.+$"
        for piece in [*re.findall(lines, data), None]:
            for record in parser.close() if piece is None else parser.feed(piece):
                if isinstance(record, Begin):
                    state, before = new_state(), {}
                elif not isinstance(record, Misread):
                    state.apply(record, stream, ARRIVED)
            shown = counters(state)
            assert all(shown[counter] >= total for counter, total in before.items())
            before = shown


@pytest.mark.parametrize("name", ONE_RUN)
def test_streams_may_be_read_in_any_order(name: str) -> None:
    parts = list(streams(name).items())
    expected = whole(read(dict(parts))[0])
    for order in itertools.permutations(parts):
        assert whole(read(dict(order))[0]) == expected


@settings(max_examples=40)
@given(st.sampled_from(["txlog-failures-15.18", "server-stop-mid-15.18", "multi-script-rate-limit-15.18"]), st.data())
def test_streams_may_be_read_in_turns(name: str, data: st.DataObject) -> None:
    parts = {stream: parse(PGBENCH.recognise(content), content) for stream, content in streams(name).items() if content}
    state = new_state()
    while parts:
        stream = data.draw(st.sampled_from(sorted(parts)))
        record = parts[stream].pop(0)
        if not isinstance(record, Misread):
            state.apply(record, stream, ARRIVED)
        if not parts[stream]:
            del parts[stream]
    assert whole(state) == whole(read(streams(name))[0])


@pytest.mark.parametrize(
    "name", [name for name in ONE_RUN if re.search(r"-T|-t ", command(name)) and "start=" in command(name)]
)
def test_start_and_end_are_those_of_the_process(name: str) -> None:
    begun, ended = (float(re.search(rf" {word}=([\d.]+)", command(name))[1]) for word in ("start", "end"))  # type: ignore[index]
    (state,) = read(streams(name), arrived=ended)
    if state.start is None:
        assert state.reason
        return
    assert state.end is not None
    assert begun - 0.005 <= state.start <= begun + (1.0 if "-n" not in command(name) else 0.1)
    assert ended - 0.1 <= state.end <= ended + 0.005


def test_live_reading_and_reading_afterwards_agree() -> None:
    directory = ROOT / "txlog-timing-lowtps-15.18"
    began, *events = (directory / "timing.log").read_text().splitlines()
    begun = float(re.search(r"t0=([\d.]+)", began)[1])  # type: ignore[index]
    live, parser = new_state(), PGBENCH.parser("text")
    text = b""
    for elapsed, piece in re.findall(r"(?m)^([\d.]+) stderr \d+ b'(.*)'$", "\n".join(events)):
        data = piece.encode().decode("unicode_escape").encode()
        text += data
        for record in parser.feed(data):
            live.apply(record, "stderr", begun + float(elapsed))
    (later,) = read({"stderr": text}, arrived=begun + float(elapsed))
    assert live.start == pytest.approx(begun, abs=0.01)
    assert later.start == pytest.approx(live.start, abs=0.01)
    assert later.last_report == pytest.approx(live.last_report, abs=0.01)
    assert [report.time for report in later.history] == pytest.approx(
        [report.time for report in live.history], abs=0.01
    )
    assert len(later.history) == 7


def test_gauges_are_those_of_the_last_line_and_end_with_the_run() -> None:
    state = state_of("progress: 1.0 s, 408.0 tps, lat 0.331 ms stddev 0.472, lag 0.047 ms, 3 skipped\n")
    gauges = {
        ("pgbench_tps",): 408.0,
        ("pgbench_latency_average_seconds",): 0.000331,
        ("pgbench_latency_stddev_seconds",): 0.000472,
        ("pgbench_rate_limit_lag_seconds",): 0.000047,
        ("pgbench_interval_timestamp_seconds",): ARRIVED,
    }
    totals = {("pgbench_transactions_total",): 367, ("pgbench_skipped_transactions_total",): 3}
    assert values(state) == {**gauges, **totals}
    assert values(state, current=False) == totals


@pytest.mark.parametrize("name", ["zerotx-sleep2.5-9.4.14", "zerotx-sleep2.5-15.18"])
def test_stall_is_zero_throughput_and_no_latency(name: str) -> None:
    (state,) = read({"stderr": streams(name)[f"{name}.err"]})
    found = values(state)
    assert found["pgbench_tps",] == 0
    assert ("pgbench_latency_average_seconds",) not in found
    assert ("pgbench_latency_stddev_seconds",) not in found
    assert found["pgbench_transactions_total",] == 2
    assert state.idle_reports == 1
    assert [report.latency is None for report in state.history] == [True, True, False, True, True, False, True]


def test_idle_reports_count_whole_intervals_in_a_row() -> None:
    idle = "progress: {} s, 0.0 tps, lat 0.000 ms stddev 0.000, 0 failed\n"
    assert state_of(idle.format("1.0") + idle.format("2.0") + idle.format("3.0")).idle_reports == 3
    assert state_of(idle.format("1.0") + idle.format("2.0") + PROGRESS.format(3, 5)).idle_reports == 0
    late = "".join(PROGRESS.format(second, 5) for second in (1, 2, 3, 4)) + idle.format("7.7")
    assert state_of(late).idle_reports == 1
    assert state_of(late + idle.format("8.0")).idle_reports == 1
    assert state_of(late + idle.format("8.0") + idle.format("9.0")).idle_reports == 2


def test_counter_of_something_this_run_cannot_have_is_absent() -> None:
    assert counters(state_of("progress: 1.0 s, 4.0 tps, lat 1.000 ms stddev 0.500\n")) == {
        "pgbench_transactions_total": 4
    }
    assert counters(state_of("starting vacuum...end.\n")) == {}


def test_failed_and_retried_are_the_sums_of_the_lines() -> None:
    (state,) = read({"stderr": streams("serial-maxtries3-detailed-15.18")["serial-maxtries3-detailed-15.18.err"]})
    found = counters(state)
    assert found["pgbench_failed_transactions_total"] == 1384 + 1837 + 2335
    assert found["pgbench_retried_transactions_total"] == 2408 + 3221 + 3918
    assert found["pgbench_retries_total"] == 4208 + 5629 + 6915


def test_start_by_time_stamps_and_length_of_the_run() -> None:
    (state,) = read(streams("progress-timestamp-15.18"))
    assert state.start == 1795168147.54
    assert state.end == pytest.approx(1795168147.54 + 123611 / 41214.492340 + 0.003807, abs=1e-6)
    assert state.history[0] == Report(1795168148.54, 38777.0, 0.00005)


def test_history_is_bounded() -> None:
    state = state_of("".join(PROGRESS.format(second, 10) for second in range(1, 1000)))
    assert len(state.history) == 300
    assert state.history[-1].time == ARRIVED


def test_version_grows_with_every_change() -> None:
    state = new_state()
    seen = [state.version]
    for record in parse("text", b"pgbench (15.18)\n" + PROGRESS.format(1, 10).encode() * 3):
        state.apply(record, "a", 1.0)
        seen.append(state.version)
    assert seen == sorted(set(seen))


def test_figures_are_those_of_the_last_report_and_at_the_end_of_the_whole_run() -> None:
    second = 1_795_168_000
    log = "".join(f"0 {number} {100 * number} 0 {second + number // 101} 5\n" for number in range(1, 102))
    running = state_of(PROGRESS.format(1, 408), log)
    assert running.figures()[:2] == (408.0, 0.001)
    assert running.figures().p99 == pytest.approx(0.0099, rel=0.016)
    assert state_of(PROGRESS.format(1, 408)).figures() == Figures(408.0, 0.001, None, 367, ARRIVED)
    assert state_of("").figures() == Figures(None, None, None, None)
    (ended,) = read(streams("txlog-rate-limit-15.18"))
    assert ended.figures()[:2] == (316.008227, 0.000601)
    latencies = sorted(
        int(line.split()[2]) for line in streams("txlog-rate-limit-15.18")["pgbench_log.9860"].splitlines()
    )
    assert ended.figures().p99 == pytest.approx(latencies[math.ceil(0.99 * len(latencies)) - 1] / 1e6, rel=0.016)
    assert ended.figures().operations == 944
