"""memtier_benchmark against what its own output says, read here without the parser."""

import re

import pytest

from benchwatch.metrics.buckets import Buckets
from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.kit.state import KitState
from benchwatch.tools.memtier import MEMTIER
from tests.support.places import RECORDINGS

FOLDER = RECORDINGS / "memtier"
NAMES = sorted(path.name for path in FOLDER.iterdir())
LIVE = re.compile(r"(\d+) threads.*? (\d+) ops, +(\d+) \(avg: +(\d+)\) ops/sec.*, +(-?[\d.]+) \(avg: +-?[\d.]+\) msec")
NUMBERS = re.compile(r"(?: +(?:[\d.]+|---|-nan))+ *$")


def read(*texts: bytes) -> tuple[KitState, list[Misread]]:
    state, misread = MEMTIER.state(Buckets()), []
    assert isinstance(state, KitState)
    for place, data in enumerate(texts):
        parser = MEMTIER.parser("text")
        for record in (*parser.feed(data), *parser.close()):
            assert not isinstance(record, Begin)
            if isinstance(record, Misread):
                misread.append(record)
            else:
                state.apply(record, str(place), 0.0)
    return state, misread


def texts(name: str, *suffixes: str) -> list[bytes]:
    return [path.read_bytes() for suffix in suffixes for path in (FOLDER / name).glob(f"*.{suffix}")]


def elapsed(state: KitState) -> float:
    assert state.last_report is not None
    assert state.start is not None
    return state.last_report - state.start


def values(state: KitState, family: str) -> dict[tuple[str, ...], float]:
    found = {sample.labels: sample.value for sample in state.samples(current=True) if sample.family.name == family}
    return found  # type: ignore[return-value]


@pytest.mark.parametrize("name", NAMES)
def test_every_line_is_understood_and_the_result_is_the_tools_own(name: str) -> None:
    state, misread = read(*texts(name, "err", "out"))
    assert misread == []
    out = b"".join(texts(name, "out")).decode()
    tables = re.findall(
        r"(?:ALL STATS|AGGREGATED AVERAGE RESULTS \(\d+ runs\))\n=+\n(Type .*)\n-+\n((?:\S+ .*\n)+)", out
    )
    lines = [(line, NUMBERS.search(line)) for _, body in tables for line in body.splitlines()]
    rows = {line[: numbers.start()]: numbers[0].split() for line, numbers in lines if numbers}
    totals = rows.get("Totals")
    if not totals or float(totals[0]) == 0:
        assert values(state, "memtier_result_operations_per_second") == {}
        return
    columns = re.split(r" {2,}", tables[0][0].strip())[1:]
    row = dict(zip(columns, totals, strict=True))
    assert values(state, "memtier_result_operations_per_second") == {(): float(row["Ops/sec"])}
    mean = row.get("Avg. Latency") or row["Latency"]
    assert values(state, "memtier_result_latency_average_seconds") == {(): float(mean + "e-3")}
    p99 = values(state, "memtier_result_latency_seconds").get(("0.99",))
    assert p99 == (float(row["p99 Latency"] + "e-3") if "p99 Latency" in row else None)
    kinds = {(kind,): float(cells[0]) for kind, cells in rows.items() if kind != "Totals"}
    assert values(state, "memtier_result_kind_operations_per_second") == kinds
    assert state.figures().throughput == float(row["Ops/sec"])


@pytest.mark.parametrize("name", ["time-5s-1.4.0", "time-5s-2.3.0", "stall-2.3.0"])
def test_the_last_whole_interval_is_live_and_operations_are_counted(name: str) -> None:
    (text,) = texts(name, "err")
    found = LIVE.findall(text.decode().replace("\r", "\n"))
    *running, (_, _, rate, _, latency), end = found
    state, _ = read(text[: text.rindex(b"[RUN #1")])
    assert values(state, "memtier_operations_per_second") == {(): float(rate)}
    assert values(state, "memtier_latency_average_seconds") == {(): float(latency + "e-3")}
    assert elapsed(state) == pytest.approx(len(running) + 1, rel=1e-2)
    state, _ = read(text)
    assert end[0] == "0"
    assert values(state, "memtier_operations_total") == {(): float(end[1])}


def test_runs_one_after_the_other_are_one_run() -> None:
    (text,) = texts("two-runs-2.3.0", "err")
    state, _ = read(text)
    ends = [int(ops) for threads, ops, *_ in LIVE.findall(text.decode().replace("\r", "\n")) if threads == "0"]
    assert len(ends) == 2
    assert values(state, "memtier_operations_total") == {(): sum(ends)}
    assert elapsed(state) == pytest.approx(4.0, abs=0.1)


@pytest.mark.parametrize("name", ["refused-1.4.0", "killed-server-1.4.0"])
def test_results_of_nothing_are_a_failure_though_it_ended_with_0(name: str) -> None:
    state, _ = read(*texts(name, "err", "out"))
    assert (state.outcome, state.reason) == ("failed", "no connection lasted: the results are 0 operations a second")


def test_threads_that_are_started_again_and_again_complete_nothing() -> None:
    state, _ = read(*texts("killed-server-2.3.0", "err"))
    assert values(state, "memtier_operations_per_second") == {(): 0.0}
    assert state.idle_reports >= 2


def test_an_interval_in_which_nothing_ended_is_one_though_its_latency_is_nan() -> None:
    (text,) = texts("stall-rate-limited-2f74d61", "err")
    (*_, place) = [found.end() for found in re.finditer(rb"-nan \(avg: +[\d.]+\) msec latency", text)]
    state, _ = read(text[: place + 1])
    assert values(state, "memtier_operations_per_second") == {(): 0.0}
    assert state.idle_reports == 2
    assert elapsed(state) == pytest.approx(4.0, abs=0.1)


def test_seconds_are_counted_where_rates_are_too_low_to_say_them() -> None:
    (text,) = texts("time-few-operations-2f74d61", "err")
    state, _ = read(text[: text.rindex(b"[RUN #1")])
    assert elapsed(state) == pytest.approx(5.0, abs=0.1)
    assert [report.time for report in state.history] == pytest.approx([-4, -3, -2, -1, 0], abs=0.1)


def test_seconds_before_it_connected_are_part_of_the_run() -> None:
    (text,) = texts("refused-at-first-2f74d61", "err")
    state, _ = read(text[: text.rindex(b"[RUN #1")])
    assert elapsed(state) == pytest.approx(7.0, abs=0.1)
    assert [report.throughput for report in state.history] == [0, 0, 0, 0, 102, 99, 99]
    assert values(state, "memtier_operations_total") == {(): 302}


@pytest.mark.parametrize("place", [1, 2])
def test_no_single_run_of_several_is_the_result(place: int) -> None:
    (text,) = texts("two-runs-all-2f74d61", "out")
    state, _ = read(text[: text.index(f"RUN #{place} RESULTS".encode())] + text[text.index(b"BEST RUN") :])
    whole, _ = read(text)
    assert state.figures() == whole.figures()
    state, _ = read(text[: text.index(b"AGGREGATED")])
    assert values(state, "memtier_result_operations_per_second") == {}


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("no.such.host:6379: error: Name or service not known", "Name or service not known"),
        ("cluster slot failed.", "cluster slot failed."),
        ("Error: Failed to load certificate file.", "Failed to load certificate file."),
        ("error: authentication failed [-ERR AUTH]", "authentication failed [-ERR AUTH]"),
    ],
)
def test_errors_that_end_a_run_are_its_reason(message: str, reason: str) -> None:
    state, misread = read(message.encode() + b"\n")
    assert (state.outcome, state.reason, misread) == ("failed", reason, [])


def test_another_run_in_the_same_file_is_another_run() -> None:
    (text,) = texts("requests-1.2.17", "err")
    parser = MEMTIER.parser("text")
    assert sum(isinstance(record, Begin) for record in parser.feed(text * 2)) == 1


def test_an_operation_that_the_server_refused_failed() -> None:
    state, _ = read(*texts("requests-no-password-2f74d61", "err", "out"))
    assert values(state, "memtier_failed_operations_total") == values(state, "memtier_operations_total") == {(): 10.0}
    assert values(read(*texts("requests-2.3.0", "err"))[0], "memtier_failed_operations_total") == {}


def test_ctrl_c_interrupts_it() -> None:
    state, _ = read(*texts("interrupted-2.3.0", "err", "out"))
    assert state.outcome == "interrupted"
    assert values(state, "memtier_result_operations_per_second") == {(): 26116.69}


LINE = (
    "[RUN #1 40%,   2 secs]  2 threads  5 conns:  115 ops,  61533 (avg:  57) ops/sec, 3.49MB/sec (avg: 3MB/sec), "
    "{} (avg:  0.17) msec latency\n"
)
TABLE = "ALL STATS\nType         Ops/sec    Avg. Latency     KB/sec\nTotals      {}   0.15   3.1\n"


@pytest.mark.parametrize(("text", "number"), [(LINE, "nan"), (TABLE, "1.2.3")])
def test_a_figure_that_is_no_number_is_not_read(text: str, number: str) -> None:
    assert len(read(text.format(number).encode())[1]) == 1
    assert not read(text.format("0.16").encode())[1]
