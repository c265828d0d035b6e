"""redis-benchmark against what its own output says, read here without the parser."""

import re

import pytest

from benchwatch.metrics.buckets import Buckets
from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.kit.state import KitState
from benchwatch.tools.redis_benchmark import REDIS_BENCHMARK
from tests.support.places import RECORDINGS

FOLDER = RECORDINGS / "redis-benchmark"
NAMES = sorted(path.name for path in FOLDER.iterdir())


def read(data: bytes) -> tuple[list[KitState], list[Misread]]:
    """The states of the tests, one after the other."""

    def new() -> KitState:
        state = REDIS_BENCHMARK.state(Buckets())
        assert isinstance(state, KitState)
        return state

    states, misread = [new()], []
    parser = REDIS_BENCHMARK.parser("text")
    for record in (*parser.feed(data), *parser.close()):
        if isinstance(record, Begin):
            states.append(new())
        elif isinstance(record, Misread):
            misread.append(record)
        else:
            states[-1].apply(record, "out", 0.0)
    return states, misread


def text(name: str, suffix: str = "out") -> bytes:
    (file,) = (FOLDER / name).glob(f"*.{suffix}")
    return file.read_bytes()


def elapsed(state: KitState) -> float:
    assert state.last_report is not None
    assert state.start is not None
    return state.last_report - state.start


def value(state: KitState, family: str, *labels: str) -> float | None:
    found = {sample.labels: sample.value for sample in state.samples(current=True) if sample.family.name == family}
    return found.get(labels)  # type: ignore[return-value]


@pytest.mark.parametrize("name", NAMES)
def test_every_line_is_understood(name: str) -> None:
    for suffix in ("out", "err"):
        for file in (FOLDER / name).glob(f"*.{suffix}"):
            assert read(file.read_bytes())[1] == []


@pytest.mark.parametrize("name", ["default-7.0.15", "pipelined-7.0.15", "own-command-7.0.15"])
def test_each_test_is_a_run_with_the_tools_own_result(name: str) -> None:
    data = text(name)
    states, _ = read(data)
    plain = data.decode().replace("\r", "\n")
    titles = re.findall(r"====== (.*) ======", plain)
    done = re.findall(r"(\d+) requests completed in ([\d.]+) seconds", plain)
    rates = re.findall(r"throughput summary: ([\d.]+)", plain)
    latencies = re.findall(r"p99 +max\n +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)", plain)
    assert len(states) == len(titles) == len(rates) == len(latencies) > 0
    for state, title, (number, seconds), rate, row in zip(states, titles, done, rates, latencies, strict=True):
        assert state.parameters()["test"] == title
        assert state.outcome == "finished"
        assert value(state, "redis_benchmark_result_requests_per_second") == float(rate)
        assert value(state, "redis_benchmark_result_requests") == float(number)
        assert value(state, "redis_benchmark_requests_total") == float(number)
        assert value(state, "redis_benchmark_result_duration_seconds") == float(seconds)
        mean, lowest, p50, p95, p99, highest = (float(f"{one}e-3") for one in row)
        assert value(state, "redis_benchmark_result_latency_average_seconds") == mean
        assert value(state, "redis_benchmark_result_latency_min_seconds") == lowest
        assert value(state, "redis_benchmark_result_latency_max_seconds") == highest
        found = [value(state, "redis_benchmark_result_latency_seconds", q) for q in ("0.5", "0.95", "0.99")]
        assert found == [p50, p95, p99]


def test_quiet_and_csv_have_the_results_that_they_print() -> None:
    (first, second), _ = read(text("set-get-quiet-7.0.15"))
    printed = re.findall(rb"(\w+): ([\d.]+) requests per second, p50=([\d.]+)", text("set-get-quiet-7.0.15"))
    for state, (name, rate, p50) in zip((first, second), printed, strict=True):
        assert state.parameters()["test"] == name.decode()
        assert value(state, "redis_benchmark_result_requests_per_second") == float(rate)
        assert value(state, "redis_benchmark_result_latency_seconds", "0.5") == float(p50.decode() + "e-3")
    (first, second), _ = read(text("csv-7.0.15"))
    assert (first.parameters()["test"], second.parameters()["test"]) == ("SET", "GET")
    assert value(second, "redis_benchmark_result_requests_per_second") == 18754.69
    assert value(second, "redis_benchmark_result_latency_max_seconds") == 0.058239


def test_the_first_of_each_pair_is_the_live_figure_also_where_nothing_ended() -> None:
    data = text("stall-7.0.15").split(b"requests per second")[0].rpartition(b"\r")[0] + b"\r"
    (state,), _ = read(data)
    rate, mean = re.findall(rb"rps=([\d.]+) \(overall: [\d.]+\) avg_msec=([\d.]+)", data)[-1]
    assert value(state, "redis_benchmark_requests_per_second") == float(rate)
    assert value(state, "redis_benchmark_latency_average_seconds") == float(mean.decode() + "e-3")
    assert elapsed(state) == pytest.approx(0.25 * (data.count(b"rps=") - 1))
    (state,), _ = read(b"SET: rps=0.0 (overall: 100.0) avg_msec=-nan (overall: 0.4)\r" * 9)
    assert value(state, "redis_benchmark_requests_per_second") == 0
    assert value(state, "redis_benchmark_latency_average_seconds") is None
    assert state.idle_reports >= 2


def test_a_report_before_6_2_has_its_throughput() -> None:
    old = b"SET: 91234.5\rSET: 93000.0\r====== SET ======\n  100000 requests completed in 1.05 seconds\n"
    old += b"  50 parallel clients\n  3 bytes payload\n  keep alive: 1\n\n99.51% <= 1 milliseconds\n"
    old += b"100.00% <= 2 milliseconds\n95238.10 requests per second\n\n"
    (state,), misread = read(old)
    assert misread == []
    assert value(state, "redis_benchmark_result_requests_per_second") == 95238.1
    assert value(state, "redis_benchmark_result_requests") == 100000
    assert state.parameters() == {"test": "SET", "clients": "50", "payload": "3"}


def test_a_lost_connection_is_a_failure() -> None:
    (state,), _ = read(text("killed-server-7.0.15", "err"))
    assert (state.outcome, state.reason) == ("failed", "Connection reset by peer")


def test_the_same_test_again_is_another_run() -> None:
    printed = re.findall(rb"([\d.]+) requests per second", text("set-loop-7.0.15"))
    states, _ = read(text("set-loop-7.0.15"))
    results = [value(state, "redis_benchmark_result_requests_per_second") for state in states]
    assert results == [*map(float, printed), None]
    assert [elapsed(state) < 2 for state in states] == [True] * len(states)


@pytest.mark.parametrize("stream", ["err", "out"])
def test_a_server_without_config_is_no_failure(stream: str) -> None:
    data = text("set-no-config-6.2.16", stream)
    assert REDIS_BENCHMARK.recognise(data) == "text"
    (state,), misread = read(data)
    assert (state.outcome, misread) == ("finished" if stream == "out" else "", [])


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Writing to socket: Connection refused\nAll clients disconnected... aborting.", "All clients disconnected"),
        ("ERROR: NOAUTH Authentication required.\nERROR: failed to fetch CONFIG from 127.0.0.1:6379", "NOAUTH"),
        ("Node 127.0.0.1:6379 replied with error:\nWRONGPASS invalid username-password pair", "WRONGPASS invalid"),
        ("Cluster node 127.0.0.1:6379 replied with error:\nERR This instance has cluster support", "ERR This instance"),
        ("Error from server 127.0.0.1:7000: READONLY You can't write", "READONLY You can't write"),
        ("Invalid cluster: 1 node(s).", "Invalid cluster: 1 node(s)."),
    ],
)
def test_errors_that_end_a_run_are_its_reason(message: str, reason: str) -> None:
    (state,), misread = read(f"{message}\n".encode())
    assert (state.outcome, misread) == ("failed", [])
    assert state.reason.startswith(reason)
    if not message.startswith("Error from server"):
        assert REDIS_BENCHMARK.recognise(message.encode()) == "text"
