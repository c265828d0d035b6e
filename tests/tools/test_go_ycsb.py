"""go-ycsb against what its own output says, read here without the parser."""

import re

import pytest

from benchwatch.metrics.buckets import Buckets
from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.go_ycsb import GO_YCSB
from benchwatch.tools.kit.state import KitState
from tests.support.places import RECORDINGS

FOLDER = RECORDINGS / "go-ycsb"
NAMES = sorted(path.name for path in FOLDER.iterdir())
NO_RESULT = ("run-pg-csv-d383d2b", "run-refused-d383d2b")
PLAIN = re.compile(
    r"^([A-Z_]+) *- Takes\(s\): ([\d.]+), Count: (\d+), OPS: ([\d.]+), Avg\(us\): (\d+), .* 99th\(us\): (\d+)"
)


def read(data: bytes) -> tuple[KitState, list[Misread]]:
    state, misread = GO_YCSB.state(Buckets()), []
    assert isinstance(state, KitState)
    parser = GO_YCSB.parser("text")
    for record in (*parser.feed(data), *parser.close()):
        assert not isinstance(record, Begin)
        if isinstance(record, Misread):
            misread.append(record)
        else:
            state.apply(record, "out", 0.0)
    return state, misread


def recording(name: str) -> bytes:
    (file,) = (FOLDER / name).glob("*.out")
    return file.read_bytes()


def elapsed(state: KitState) -> float:
    assert state.last_report is not None
    assert state.start is not None
    return state.last_report - state.start


def values(state: KitState, family: str) -> dict[tuple[str, ...], float]:
    found = {sample.labels: sample.value for sample in state.samples(current=True) if sample.family.name == family}
    return found  # type: ignore[return-value]


def final(text: str) -> dict[str, dict[str, float]]:
    """The last figures of each operation, in any of the three styles."""
    end = text[text.index("Run finished") :]
    rows = [
        {"op": op, "count": count, "ops": ops, "avg": avg, "p99": p99}
        for op, _, count, ops, avg, p99 in (m.groups() for m in map(PLAIN.match, end.splitlines()) if m)
    ]
    for line in end.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 13 and cells[0] != "OPERATION":
            rows.append({"op": cells[0], "count": cells[2], "ops": cells[3], "avg": cells[4], "p99": cells[10]})
    for one in re.findall(r"\{[^}]*\}", end):
        fields = dict(re.findall(r'"([^"]*)":"([^"]*)"', one))
        rows.append(
            {"op": fields["Operation"], "count": fields["Count"], "ops": fields["OPS"], "avg": fields["Avg(us)"]}
            | {"p99": fields["99th(us)"]}
        )
    return {row.pop("op"): {name: float(value) for name, value in row.items()} for row in rows}


@pytest.mark.parametrize("name", NAMES)
def test_every_line_is_understood_and_the_result_is_the_tools_own(name: str) -> None:
    data = recording(name)
    state, misread = read(data)
    assert misread == []
    if name in NO_RESULT:
        assert values(state, "go_ycsb_result_operations_per_second") == {}
        return
    expected = final(data.decode())
    good = {op: row for op, row in expected.items() if not op.endswith("_ERROR")}
    assert {"TOTAL"} < good.keys()
    assert values(state, "go_ycsb_result_operations") == {(op,): row["count"] for op, row in good.items()}
    assert values(state, "go_ycsb_operations_total") == {(op,): row["count"] for op, row in good.items()}
    assert values(state, "go_ycsb_result_operations_per_second") == {(op,): row["ops"] for op, row in good.items()}
    means = {(op,): row["avg"] / 1e6 for op, row in good.items()}
    assert values(state, "go_ycsb_result_latency_average_seconds") == pytest.approx(means)
    p99 = {key[0]: n for key, n in values(state, "go_ycsb_result_latency_seconds").items() if key[1] == "0.99"}
    assert p99 == pytest.approx({op: row["p99"] / 1e6 for op, row in good.items()})
    failed = {(op.removesuffix("_ERROR"),): row["count"] for op, row in expected.items() if op.endswith("_ERROR")}
    assert values(state, "go_ycsb_failed_operations_total") == failed
    figures = state.figures()
    assert figures.operations == sum(row["count"] for op, row in good.items() if op != "TOTAL")
    assert figures.throughput == pytest.approx(good["TOTAL"]["ops"], rel=2e-2)


def test_an_interval_is_the_difference_of_two_lines() -> None:
    text = recording("run-pg-backends-terminated-d383d2b").decode()
    live = text[: text.index("Got signal")]
    state, _ = read(live.encode())
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for found in filter(None, map(PLAIN.match, live.splitlines())):
        rows.setdefault(found[1], []).append((float(found[2]), float(found[3]), float(found[5])))
    for op in ("READ", "UPDATE", "TOTAL"):
        (_, before, mean_before), (_, after, mean) = rows[op][-2:]
        assert values(state, "go_ycsb_operations_per_second")[op,] == pytest.approx(after - before)
        expected = (after * mean - before * mean_before) / (after - before) / 1e6
        assert values(state, "go_ycsb_latency_average_seconds")[op,] == pytest.approx(expected)
    assert elapsed(state) == pytest.approx(5.0, abs=0.11)


def test_time_begins_with_the_warm_up_and_a_first_use_later_is_dated() -> None:
    state, _ = read(recording("run-basic-warmup-d383d2b").split(b"\nGot signal")[0])
    assert elapsed(state) == pytest.approx(5.0)
    line = "{} - Takes(s): {}, Count: {}, OPS: 1.0, Avg(us): 9, Min(us): 1, Max(us): 9" + "".join(
        f", {name}(us): 9" for name in ("50th", "90th", "95th", "99th", "99.9th", "99.99th")
    )
    lines = ['"measurement.interval"="1"'] + [line.format("READ", f"{second}.0", 10 * second) for second in (1, 2)]
    lines += [line.format("READ", "3.0", 40), line.format("READ_ERROR", "0.4", 4), line.format("READ", "4.0", 41)]
    lines += [line.format("READ_ERROR", "1.4", 5)]
    state, misread = read("\n".join(lines).encode() + b"\n")
    assert misread == []
    assert elapsed(state) == pytest.approx(4.0)
    assert values(state, "go_ycsb_operations_per_second") == {("READ",): 1.0}
    assert values(state, "go_ycsb_failed_operations_total") == {("READ",): 5}


def test_a_mean_that_rounding_hides_is_left_out() -> None:
    line = "READ - Takes(s): {}, Count: {}, OPS: 1.0, Avg(us): 100, Min(us): 1, Max(us): 9" + "".join(
        f", {name}(us): 9" for name in ("50th", "90th", "95th", "99th", "99.9th", "99.99th")
    )
    for new, is_known in ((30_000, True), (100, False)):
        state, _ = read("\n".join([line.format("1.0", 100_000), line.format("2.0", 100_000 + new), ""]).encode())
        assert (("READ",) in values(state, "go_ycsb_latency_average_seconds")) == is_known


def test_a_refused_connection_is_a_failure_also_in_a_file_of_its_own() -> None:
    (file,) = (FOLDER / "run-refused-d383d2b").glob("*.err")
    assert GO_YCSB.recognise(file.read_bytes()) == "text"
    state, misread = read(file.read_bytes())
    assert (state.outcome, misread) == ("failed", [])
    assert state.reason.endswith("connection refused")
    assert read(b"nosuchdb is not registered\n")[0].outcome == "failed"


@pytest.mark.parametrize("number", ["nan", "inf", "1e400", "-5", "9" * 400, ""])
def test_a_figure_that_is_no_number_is_not_read(number: str) -> None:
    data = recording("run-pg-json-d383d2b")
    (line, *_) = re.findall(rb"^\[\{.*\n", data, re.M)
    state, misread = read(re.sub(rb'("Count":")\d+', rb"\g<1>" + number.encode(), line, count=1) + line)
    assert [one.reason for one in misread] == ["other_text"]
    assert len(state.history) == 1
