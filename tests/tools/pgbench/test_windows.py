"""The seconds of the transaction log: exact, closed in time, the same in whatever order files are read."""

import math
import pickle
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from benchwatch.metrics.buckets import Buckets, bins
from benchwatch.tools.pgbench.log import Logs
from benchwatch.tools.pgbench.state import PgbenchState
from benchwatch.tools.pgbench.windows import KEPT, QUANTILES, WAIT, Windows

from .recordings import TRANSACTION_LOGS, new_state, parse, values

RUNS = sorted({path.parent for path in TRANSACTION_LOGS})
SECOND = 1_795_168_000
REPORT = (
    "transaction type: a.sql\nnumber of transactions actually processed: 10\n"
    "tps = 10.0 (without initial connection time)\n"
)


def add(windows: Windows, second: int, *latencies: int, stream: str = "a") -> None:
    latency = np.array(latencies)
    windows.add(stream, SECOND + second, latency, bins(latency * 1000))


def feed(state: PgbenchState, kind: str, text: str, stream: str, arrived: float = SECOND) -> None:
    for record in parse(kind, text.encode()):
        state.apply(record, stream, arrived)


def log(second: int, *latencies: int) -> str:
    return "".join(f"0 {number} {latency} 0 {SECOND + second} 5\n" for number, latency in enumerate(latencies, 1))


def window_of(state: PgbenchState) -> dict[str, float]:
    name = "pgbench_latency_window_seconds"
    return {key[1]: value for key, value in values(state).items() if key[0] == name}


@pytest.mark.parametrize("directory", RUNS, ids=lambda path: str(path.name))
def test_each_second_of_each_recording_is_exact(directory: Path) -> None:
    exact: dict[int, list[int]] = defaultdict(list)
    logs = {path.name: path.read_bytes() for path in TRANSACTION_LOGS if path.parent == directory}
    for data in logs.values():
        for line in data.decode().split("\n")[:-1]:
            fields = line.split()
            if fields[2].isdigit():
                exact[int(fields[4])].append(int(fields[2]))
    for second, values_of_second in exact.items():
        log = Logs(Buckets())
        for name, data in logs.items():
            until = [line + b"\n" for line in data.split(b"\n")[:-1] if int(line.split()[4]) <= second]
            for record in parse("log", b"".join(until)):
                log.add(record, name)
        log.windows.complete()
        window = log.windows.last
        assert window is not None
        assert window.second == second
        latencies = sorted(values_of_second)
        assert window.transactions == len(latencies)
        assert window.latency_average == pytest.approx(np.mean(latencies) / 1e6, rel=1e-12)
        assert window.latency_stddev == pytest.approx(np.std(latencies) / 1e6, rel=1e-6, abs=1e-9)
        assert window.quantiles[-1] == latencies[-1] / 1e6
        for quantile, value in zip(QUANTILES, window.quantiles, strict=False):
            true = latencies[math.ceil(round(quantile * len(latencies), 6)) - 1] / 1e6
            assert abs(value - true) <= 0.016 * true


def test_second_closes_when_every_file_has_moved_past_it() -> None:
    windows = Windows()
    add(windows, 0, 100)
    add(windows, 0, 200, stream="b")
    assert windows.closed is None
    add(windows, 1, 100)
    assert windows.closed is None
    add(windows, 1, 100, stream="b")
    assert windows.closed == SECOND
    assert windows.last is not None
    assert (windows.last.transactions, windows.last.quantiles[-1]) == (2, 0.0002)


def test_file_that_stopped_is_waited_for_no_longer_than_that() -> None:
    windows = Windows()
    add(windows, 0, 100, stream="b")
    for second in range(WAIT + 1):
        add(windows, second, 100)
    assert windows.closed is None
    add(windows, WAIT + 1, 100)
    assert windows.closed == SECOND


def test_second_closes_by_the_clock() -> None:
    windows = Windows()
    add(windows, 0, 100)
    windows.tick(SECOND + WAIT + 0.9)
    assert windows.closed is None
    windows.tick(SECOND + WAIT + 1)
    assert windows.closed == SECOND


def test_all_seconds_close_with_the_report() -> None:
    state = new_state()
    feed(state, "log", log(0, 100) + log(1, 300, 200), "a")
    assert window_of(state)["1"] == 0.0001
    feed(state, "text", REPORT, "stdout")
    assert window_of(state)["1"] == 0.0003


def test_window_is_gone_when_a_later_second_closes_empty() -> None:
    state = new_state()
    feed(state, "log", log(0, 100) + log(1, 100), "a")
    assert window_of(state)["0.5"] == pytest.approx(0.0001, rel=0.016)
    feed(state, "log", log(3, 100), "a")
    assert window_of(state) == {}


def test_window_is_gone_when_a_later_progress_line_says_that_nothing_completed() -> None:
    state = new_state()
    feed(state, "log", log(0, 100) + log(1, 100), "a")
    idle = "progress: {}.000 s, 0.0 tps, lat 0.000 ms stddev 0.000\n"
    feed(state, "text", idle.format(SECOND + 1), "stderr")
    assert window_of(state) != {}
    feed(state, "text", idle.format(SECOND + 2), "stderr")
    assert window_of(state) == {}


def test_window_does_not_outlive_a_log_that_went_quiet() -> None:
    state = new_state()
    feed(state, "log", log(0, 100) + log(1, 100), "a")
    for now in range(WAIT + 2):
        state.tick(SECOND + now + 0.5)
        assert window_of(state) != {}
    version = state.version
    state.tick(SECOND + WAIT + 3)
    assert window_of(state) == {}
    assert state.version > version
    version = state.version
    state.tick(SECOND + 10_000)
    assert state.version == version


@pytest.mark.parametrize("ahead", [-3600.0, -20.0, 0.0, 20.0, 3600.0])
def test_windows_go_by_the_clock_that_dates_the_log(ahead: float) -> None:
    """The benchmark may run on a machine whose clock is set otherwise than the exporter's."""
    state = new_state()
    for second in range(5):
        now = SECOND + second + 1 - ahead
        feed(state, "log", log(second, 100), "a", now)
        state.tick(now)
    assert window_of(state) != {}
    state.tick(SECOND + 5 - ahead + WAIT - 1)
    assert window_of(state) != {}
    state.tick(SECOND + 5 - ahead + WAIT + 2)
    assert window_of(state) == {}


def times_of(state: PgbenchState) -> tuple[float | None, float | None]:
    found = values(state)
    names = ("pgbench_interval_timestamp_seconds", "pgbench_latency_window_timestamp_seconds")
    interval, window = (found.get((name,)) for name in names)
    assert (state.figures().time, state.figures().p99_time) == (interval, window)
    return interval, window


def test_the_time_of_a_late_log_is_told_beside_that_of_the_progress_line() -> None:
    state = new_state()
    feed(state, "log", log(0, 100) + log(1, 100), "a")
    assert times_of(state) == (None, SECOND + 1), "the run's first second is no whole one"
    feed(state, "log", log(2, 100), "a")
    assert times_of(state) == (SECOND + 2, SECOND + 2), "the log drives both"
    feed(state, "text", f"progress: {SECOND + 6.25} s, 2.0 tps, lat 6660.000 ms stddev 0.100\n", "stderr")
    assert times_of(state) == (SECOND + 6.25, SECOND + 2)
    feed(state, "text", f"progress: {SECOND + 7.25} s, 0.0 tps, lat 0.000 ms stddev 0.000\n", "stderr")
    assert times_of(state) == (SECOND + 7.25, None)


def test_window_is_no_part_of_a_run_that_ended() -> None:
    state = new_state()
    feed(state, "log", log(0, 100) + log(1, 100), "a")
    assert not [key for key in values(state, current=False) if key[0] == "pgbench_latency_window_seconds"]


def test_files_may_be_read_one_after_the_other() -> None:
    lines = {
        "a": [log(second, 100 + second, 900) for second in range(40)],
        "b": [log(second, 500) for second in range(38)],
    }
    together, apart = new_state(), new_state()
    for second in range(40):
        for stream, texts in lines.items():
            feed(together, "log", "".join(texts[second : second + 1]), stream)
    for stream in ("b", "a"):
        feed(apart, "log", "".join(lines[stream]), stream)
    assert values(apart) == values(together)
    assert apart.history == together.history


def test_what_comes_for_a_closed_second_is_added() -> None:
    windows = Windows()
    for second in range(3):
        add(windows, second, 100)
    add(windows, 1, 5000)
    assert windows.last is not None
    assert (windows.last.second, windows.last.transactions, windows.last.quantiles[-1]) == (SECOND + 1, 2, 0.005)


def test_memory_is_bounded() -> None:
    windows, sizes = Windows(), {}
    for second in range(3 * KEPT):
        add(windows, second, 100)
        sizes[second] = len(pickle.dumps(windows))
    add(windows, 3, 100)
    assert [report.time - SECOND for report in windows.reports()] == list(range(2 * KEPT + 1, 3 * KEPT))
    assert sizes[3 * KEPT - 1] == pytest.approx(sizes[KEPT], rel=0.02)


def test_long_latencies_are_exact_too() -> None:
    windows = Windows()
    add(windows, 0, 3_600_000_000, 7_200_000_000)
    windows.complete()
    assert windows.last is not None
    assert (windows.last.latency_average, windows.last.latency_stddev) == (5400.0, 1800.0)


def test_clock_that_is_set_back_does_not_mix_seconds() -> None:
    state = new_state()
    feed(state, "log", log(4, 100) + log(5, 100) + log(6, 100) + log(5, 300) + log(7, 100), "a")
    assert [(report.time - SECOND, report.throughput) for report in state.history] == [(6, 2), (7, 1)]
