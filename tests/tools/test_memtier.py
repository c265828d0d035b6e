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
    rows = {line.split()[0]: line.split()[1:] for _, body in tables for line in body.splitlines()}
    totals = rows.get("Totals")
    if not totals or float(totals[0]) == 0:
        assert values(state, "memtier_result_operations_per_second") == {}
        return
    columns = re.split(r" {2,}", tables[0][0].strip())[1:]
    row = dict(zip(columns, totals, strict=True))
    assert values(state, "memtier_result_operations_per_second") == {(): float(row["Ops/sec"])}
    assert values(state, "memtier_result_latency_average_seconds") == {(): float(row["Avg. Latency"] + "e-3")}
    p99 = values(state, "memtier_result_latency_seconds")["0.99",]
    assert p99 == float(row["p99 Latency"] + "e-3")
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


def test_ctrl_c_interrupts_it() -> None:
    state, _ = read(*texts("interrupted-2.3.0", "err", "out"))
    assert state.outcome == "interrupted"
    assert values(state, "memtier_result_operations_per_second") == {(): 26116.69}
