"""BenchBase against what its own output says, read here without the parser."""

import re

import pytest

from benchwatch.metrics.buckets import Buckets
from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.benchbase import BENCHBASE
from benchwatch.tools.kit import ToolReport
from benchwatch.tools.kit.state import KitState
from tests.support.places import RECORDINGS

FOLDER = RECORDINGS / "benchbase"
NAMES = sorted(path.name for path in FOLDER.iterdir())


def read(name: str) -> tuple[KitState, list[float]]:
    state, parser = BENCHBASE.state(Buckets()), BENCHBASE.parser("text")
    assert isinstance(state, KitState)
    rates = []
    for record in (*parser.feed((FOLDER / name / f"{name}.out").read_bytes()), *parser.close()):
        assert not isinstance(record, Begin | Misread), record
        state.apply(record, "out", 0.0)
        rates += [record.figures["rate",]] if isinstance(record, ToolReport) else []
    return state, rates


@pytest.mark.parametrize("name", NAMES)
def test_lines_count_after_the_warm_up_and_the_result_is_the_tools_own(name: str) -> None:
    text = (FOLDER / name / f"{name}.out").read_text()
    measured = text.partition("Warmup complete")[2]
    state, rates = read(name)
    printed = [float(rate) for rate in re.findall(r"Throughput: ([\d.]+) txn/sec", measured)]
    assert rates in (printed, printed[1:])
    ((nanoseconds, number, throughput),) = re.findall(
        r"nanoSeconds=(\d+), measuredRequests=(\d+)\) = ([\d.]+) requests/sec \(throughput\)", text
    )
    assert state.figures().throughput == pytest.approx(float(throughput), rel=1e-12)
    assert state.figures().operations == int(number)
    found = {one.family.name: one.value for one in state.samples(current=False)}
    assert found["benchbase_transactions_total"] == int(number)
    assert found["benchbase_result_duration_seconds"] == pytest.approx(int(nanoseconds) / 1e9)
    assert state.outcome == "finished"


def test_a_stall_prints_zero_and_a_warm_up_nothing() -> None:
    _, rates = read("ycsb-server-stop4s-2023-SNAPSHOT")
    assert rates == [328, 362, 0, 0, 0, 292, 796, 1055, 962, 1826]
    state, rates = read("ycsb-im500-rate-warmup-2023-SNAPSHOT")
    assert rates[:3] == [208, 196, 208] and 0 not in rates
    assert dict(state.parameters()) | {"terminals": "4", "benchmark": "YCSB"} == dict(state.parameters())


DIED = (
    "[ERROR] 2026-11-22 08:18:26,100 [Thread-9]  com.oltpbenchmark.ThreadBench uncaughtException - the server is gone\n"
    "java.lang.RuntimeException: the server is gone\n\tat com.oltpbenchmark.api.Worker.run(Worker.java:300)\n"
    "Caused by: org.postgresql.util.PSQLException: FATAL: terminating\n\t... 12 more\n"
)
RESULT = (
    "[INFO ] 2026-11-22 08:18:27,100 [main]  com.oltpbenchmark.DBWorkload runWorkload - Rate limited reqs/s: Results("
    "state={}, nanoSeconds=2000000000, measuredRequests=100) = 50.0 requests/sec (throughput), "
    "51 requests/sec (goodput)\n"
)
COLLECTOR = (
    "[ERROR] 2026-11-22 08:18:26,100 [main]  com.oltpbenchmark.api.collectors.PostgresCollector <init> - Error while "
    "collecting DB parameters: denied\n"
)
REFUSED = (
    "[ERROR] 2026-11-22 08:18:26,100 [main]  com.oltpbenchmark.DBWorkload main - Unexpected error when executing "
    "benchmarks.\norg.postgresql.util.PSQLException: Connection to 127.0.0.1:5432 refused\n"
)


@pytest.mark.parametrize(
    ("text", "outcome", "reason"),
    [
        (DIED + RESULT.format("ERROR"), "failed", "the server is gone"),
        (RESULT.format("ERROR"), "failed", "a worker died"),
        (COLLECTOR + RESULT.format("EXIT"), "finished", ""),
        (REFUSED, "failed", "Unexpected error when executing benchmarks."),
    ],
)
def test_errors_of_workers_and_of_the_benchmark_are_failures(text: str, outcome: str, reason: str) -> None:
    state, parser = BENCHBASE.state(Buckets()), BENCHBASE.parser("text")
    records = [*parser.feed(text.encode()), *parser.close()]
    for record in records:
        assert not isinstance(record, Begin | Misread), record
        state.apply(record, "out", 0.0)
    assert (state.outcome, state.reason) == (outcome, reason)
    assert (state.figures().throughput == 50.0) == ("Results" in text)
