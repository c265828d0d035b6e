"""YCSB against what its own output says, read here without the parser."""

import re

import pytest

from benchwatch.metrics.buckets import Buckets
from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.kit.state import KitState
from benchwatch.tools.launcher import CommandLine
from benchwatch.tools.ycsb import YCSB
from tests.support.places import RECORDINGS

FOLDER = RECORDINGS / "ycsb"
NAMES = sorted(path.name for path in FOLDER.iterdir())
DATES = re.compile(r"2026-11-22 08:\d\d:(\d\d):(\d{3}) (\d+) sec: (\d+) operations", re.M)
COUNTS = re.compile(r"\[([\w-]+): Count=(\d+), Max=(\d+), Min=\d+, Avg=([\d.,]+), 50=(\d+), 90=\d+, 99=(\d+)")


def read(*texts: bytes) -> tuple[KitState, list[Misread]]:
    state, misread = YCSB.state(Buckets()), []
    assert isinstance(state, KitState)
    for place, data in enumerate(texts):
        parser = YCSB.parser("text")
        for record in (*parser.feed(data), *parser.close()):
            assert not isinstance(record, Begin)
            if isinstance(record, Misread):
                misread.append(record)
            else:
                state.apply(record, str(place), 0.0)
    return state, misread


def of(name: str, *suffixes: str) -> KitState:
    return read(*(file.read_bytes() for suffix in suffixes for file in (FOLDER / name).glob(f"*.{suffix}")))[0]


def values(state: KitState, family: str) -> dict[tuple[str, ...], float]:
    found = {sample.labels: sample.value for sample in state.samples(current=True) if sample.family.name == family}
    return found  # type: ignore[return-value]


def lines_of_one_type(text: str) -> str:
    """The results as YCSB writes them by default: of JSON, of raw data, of the first of two types of measurements."""
    parts = r'"metric" : "([^"]*)",\n *"measurement" : "([^"]*)",\n *"value" : (.*)\n'
    text = "\n".join([text, *(f"[{op}], {name}, {value}" for op, name, value in re.findall(parts, text))])
    text = re.sub(r"^\[(?:Bucket|GCS|THREAD|USED|SYS)[\w-]*\], .*\n?", "", text, flags=re.M).replace("[Hdr", "[")
    text = text.replace("], Total Operations,", "], Operations,").replace("], Average,", "], AverageLatency(us),")
    return re.sub(r"], p99, (\d+)$", r"], 99thPercentileLatency(us), \1", text, flags=re.M)


@pytest.mark.parametrize("name", NAMES)
def test_every_line_is_understood_and_the_result_is_the_tools_own(name: str) -> None:
    files = [path.read_bytes() for path in (FOLDER / name).iterdir() if path.suffix in (".out", ".err")]
    state, misread = read(*files)
    assert misread == []
    text = lines_of_one_type(b"".join(files).decode())
    operations = {(op,): float(n) for op, n in re.findall(r"^\[([\w-]+)\], Operations, (\d+)$", text, re.M)}
    assert values(state, "ycsb_result_operations") == {
        key: n for key, n in operations.items() if not key[0].endswith("-FAILED")
    }
    means = re.findall(r"^\[([\w-]+)\], AverageLatency\(us\), ([\d.]+)$", text, re.M)
    expected = {(op,): float(us) * 1e-6 for op, us in means if not op.endswith("-FAILED")}
    assert values(state, "ycsb_result_latency_average_seconds") == pytest.approx(expected)
    highest = re.findall(r"^\[([\w-]+)\], 99thPercentileLatency\(us\), (\d+)$", text, re.M)
    p99 = {labels[0]: n for labels, n in values(state, "ycsb_result_latency_seconds").items() if labels[1] == "0.99"}
    assert p99 == pytest.approx({op: float(us) * 1e-6 for op, us in highest})
    if throughput := re.search(r"Throughput\(ops/sec\), ([\d.]+)$", text, re.M):
        rate = state.figures().throughput or 0.0
        failed = sum(values(state, "ycsb_failed_operations_total").values())
        assert rate + failed == pytest.approx(float(throughput[1]), rel=1e-9)


@pytest.mark.parametrize("name", ["status-1s-0.18.0-SNAPSHOT", "status-de-locale-0.18.0-SNAPSHOT"])
def test_the_last_status_line_is_the_live_figure(name: str) -> None:
    (file,) = (FOLDER / name).glob("*.err")
    text = file.read_text()
    state, _ = read(text.encode())
    (*_, before, last) = DATES.findall(text)
    length = (int(last[0]) + int(last[1]) / 1e3) - (int(before[0]) + int(before[1]) / 1e3)
    line = text[text.rindex("2026-11-22") :]
    groups = {op: rest for op, *rest in COUNTS.findall(line)}
    assert set(groups) == {"READ", "UPDATE", "CLEANUP"}
    for op, (count, most, mean, p50, p99) in groups.items():
        assert values(state, "ycsb_operations_per_second")[op,] == pytest.approx(int(count) / length, rel=2e-3)
        assert values(state, "ycsb_latency_average_seconds")[op,] == pytest.approx(float(mean.replace(",", ".")) / 1e6)
        assert values(state, "ycsb_latency_max_seconds")[op,] == pytest.approx(int(most) / 1e6)
        window = values(state, "ycsb_latency_window_seconds")
        assert (window[op, "0.5"], window[op, "0.99"]) == pytest.approx((int(p50) / 1e6, int(p99) / 1e6))
    done = values(state, "ycsb_operations_total")
    assert done["READ",] + done["UPDATE",] == int(last[3]), "at the end the brackets have counted every operation"
    assert state.figures().operations == int(last[3]), "CLEANUP is none of them"


def test_an_interval_in_which_nothing_ended_has_a_rate_of_zero_and_no_latency() -> None:
    (file,) = (FOLDER / "status-slow-ops-0.18.0-SNAPSHOT").glob("*.err")
    lines = file.read_text().splitlines(keepends=True)
    last = next(place for place, line in enumerate(lines) if " 5 sec: 1 operations" in line)
    state, _ = read("".join(lines[: last + 1]).encode())
    assert values(state, "ycsb_operations_per_second") == {("UPDATE",): 0.0}
    assert values(state, "ycsb_latency_average_seconds") == values(state, "ycsb_latency_window_seconds") == {}
    assert state.idle_reports == 2


def test_means_of_several_operations_are_weighted_by_their_rates() -> None:
    state = of("made-read-failed", "err")
    assert state.figures().latency == pytest.approx((60 * 400e-6 + 80 * 500e-6) / 140)
    assert values(state, "ycsb_failed_operations_total") == {("READ",): 20.0}
    assert state.tool_version == "0.17.0"
    assert dict(state.parameters()) == {"threads": "2", "target": "200"}


def test_without_counts_the_line_has_one_rate() -> None:
    state = of("status-timeseries-0.18.0-SNAPSHOT", "err")
    assert state.figures().throughput == 2380.95
    assert of("status-timeseries-0.18.0-SNAPSHOT", "err", "out").figures().throughput == pytest.approx(
        9427 / 4.042, 1e-3
    )


@pytest.mark.parametrize(
    ("command", "added", "length"),
    [
        ("run basic -P w", ("-s", "-p", "status.interval=1"), None),
        ("load basic -s -p maxexecutiontime=60", ("-p", "status.interval=1"), 60.0),
        ("run basic -s -p status.interval=5 -threads 4", (), None),
    ],
)
def test_missing_flags_follow_the_command(command: str, added: tuple[str, ...], length: float | None) -> None:
    assert YCSB.launcher is not None
    read = YCSB.launcher(CommandLine(command.split()))
    assert read.appended == added
    assert read.length == length


@pytest.mark.parametrize(
    "line",
    [
        "2026-99-22 08:11:01:538 1 sec: 300 operations; 5 current ops/sec; [READ: Count=1, Max=1, Min=0, Avg=1]",
        "2026-11-22 08:11:01:538 1 sec: 300 operations; 5 current ops/sec; [READ: Count=1, Max=1, Min=0, Avg=1.2.3]",
        "2026-11-22 08:11:01:538 1 sec: 300 operations; 5.6.7 current ops/sec; ",
    ],
)
def test_a_line_with_a_torn_number_is_counted_and_nothing_else(line: str) -> None:
    state, misread = read(line.encode() + b"\n")
    assert len(misread) == 1
    assert state.figures().throughput is None


@pytest.mark.parametrize("kind", ["raw", "two-types", "json"])
def test_other_types_of_measurement_are_live_and_agree_with_the_result(kind: str) -> None:
    name = f"status-{kind}-0.18.0-SNAPSHOT"
    live, whole = of(name, "err"), of(name, "err", "out")
    done = values(live, "ycsb_operations_total")
    assert done == values(whole, "ycsb_result_operations") | {("CLEANUP",): 2.0}
    assert set(done) == {("READ",), ("UPDATE",), ("CLEANUP",)}
    (file,) = (FOLDER / name).glob("*.err")
    *_, last = re.findall(r"(\d+) sec: (\d+) operations; ([\d.]+) current", file.read_text())
    assert live.figures().operations == int(last[1])
    assert live.figures().throughput == pytest.approx(float(last[2]), rel=0.02)
    assert len(live.history) >= 2


def test_a_bin_of_a_histogram_is_no_percentile() -> None:
    state, _ = read(b"[OVERALL], RunTime(ms), 1000\n[READ], Operations, 9\n[READ], 10, 4\n[READ], 99, 5\n")
    assert values(state, "ycsb_result_latency_seconds") == {}


def test_raw_data_is_known_and_recognised() -> None:
    text = b"Raw data measurement: will output to stdout.\nREAD latency raw data: op, timestamp(ms), latency(us)\n"
    text += b"READ,1795844553188,27876\nRMW-FAILED,1795844553210,7910\n"
    assert YCSB.recognise(text) == "text"
    assert read(text)[1] == []


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("java.lang.ClassNotFoundException: site.ycsb.NoDB\n\tat java.base/x", "site.ycsb.NoDB"),
        (
            'Exception in thread "Thread-1" java.lang.NullPointerException: no db',
            "java.lang.NullPointerException: no db",
        ),
        ("Unable to open the properties file /none", "Unable to open the properties file /none"),
    ],
)
def test_errors_that_end_a_run_are_its_reason(message: str, reason: str) -> None:
    state, misread = read(f"{message}\n".encode())
    assert (state.outcome, state.reason, misread) == ("failed", reason, [])


def test_the_intended_cleanup_is_no_operation() -> None:
    line = "2026-11-28 05:42:52:578 1 sec: 5 operations; 5 current ops/sec; [READ: Count=5, Avg=2] "
    state, _ = read(
        f"{line}[CLEANUP: Count=4, Avg=1] [Intended-READ: Count=5, Avg=2] [Intended-CLEANUP: Count=4, Avg=1]\n".encode()
    )
    assert state.figures().operations == 5
