"""The kit on formats that it was not made for: excerpts of real output of redis-benchmark, YCSB and vdbench."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchwatch.machine.host import Host
from benchwatch.metrics.buckets import Buckets
from benchwatch.tools.api import Begin, Misread, Tool
from benchwatch.tools.invocation import Benchmark
from benchwatch.tools.kit import Families, KitParser, Record, TextTool, ToolFigure, ToolReport, ToolResult
from benchwatch.tools.kit.state import MOST
from benchwatch.tools.launcher import CommandLine
from benchwatch.tools.registry import named
from benchwatch.tools.roles import Roles, Unit
from benchwatch.tools.states import State

OP = ("op",)
FIGURES = {
    "rate": ToolFigure("Operations", "ops_per_second", "ops", labels=OP, rate=True),
    "count": ToolFigure("Operations", live="ops", total="ops_counted", labels=OP, added=True),
    "mean": ToolFigure("Mean", "latency_average_seconds", labels=OP, scale=1e-3),
    "latency": ToolFigure("Latency", live="latency_window_seconds", labels=("op", "quantile")),
}
FAMILIES = Families("t", FIGURES)
ROLES: Sequence[Roles] = [FAMILIES.roles(Unit("ops/s"), "operations", labels=OP)]


def state_of(tool: Tool, text: str) -> State:
    parser, state = tool.parser("text"), tool.state(Buckets())
    for record in (*parser.feed(text.encode()), *parser.close()):
        assert not isinstance(record, Misread | Begin), record
        state.apply(record, "out", 1000.0)
    return state


def values(state: State) -> dict[tuple[str, ...], float]:
    found = {(one.family.name, *one.labels): one.value for one in state.samples(True)}
    return {key: value for key, value in found.items() if isinstance(value, int | float)}


def made(**more: Any) -> Tool:
    return TextTool(name="t", families=FAMILIES, roles=ROLES, **more).tool()


REDIS = (
    "          \r0.25 SET: rps=0.0 (overall: 0.0) avg_msec=-nan (overall: -nan)\r                \r"
    "0.5 SET: rps=23088.0 (overall: 22996.0) avg_msec=0.366 (overall: 0.366)\r                 \r"
    "0.75 SET: rps=14764.9 (overall: 18880.5) avg_msec=0.556 (overall: 0.440)\r"
)  # with times


def test_reports_that_end_in_a_carriage_return() -> None:
    tool = made(
        banner="redis-benchmark",
        reports=["<time> <op>: rps=<rate> (overall: <_>) avg_msec=<mean> (overall: <_>)"],
        known=r".*-nan",
        carriage_returns=True,
    )
    assert tool.recognise(REDIS.encode()) == "text"
    state = state_of(tool, REDIS)
    assert [report.throughput for report in state.history] == [23088.0, 14764.9]
    assert values(state)["t_latency_average_seconds", "SET"] == 0.000556
    assert values(state)["t_ops_total", "SET"] == int(23088.0 / 2 + 14764.9 / 4)
    assert state.report_interval == 0.25


YCSB = """\
2026-11-22 08:11:02:858 2 sec: 3297 operations; 2286 current ops/sec; est completion in 16 hours 51 minutes \
[READ: Count=1154, Max=14431, Min=0, Avg=1726.95, 50=2057, 90=3097, 99=6867, 99.9=12287, 99.99=14431] \
[UPDATE: Count=1103, Max=19615, Min=0, Avg=1736.25, 50=2071, 90=3097, 99=5015, 99.9=18095, 99.99=19615]
2026-11-22 08:11:03:860 3 sec: 5666 operations; 2369 current ops/sec; est completion in 14 hours 42 minutes \
[READ: Count=1178, Max=14463, Min=0, Avg=1666.02, 50=1917, 90=3091, 99=4903, 99.9=13167, 99.99=14463]
"""


class Status(KitParser):
    """A line has several series."""

    def line(self, text: str) -> Sequence[Record] | None:
        if (moment := re.search(r" (\d+) sec: \d+ operations;", text)) is None:
            return None
        each = re.finditer(r"\[([\w-]+): Count=(\d+), .*?Avg=([\d.]+), .*?99=(\d+),", text)
        return [
            ToolReport(
                float(moment[1]),
                {
                    ("count", one[1]): int(one[2]),
                    ("mean", one[1]): float(one[3]) / 1e6,
                    ("latency", one[1], "0.99"): int(one[4]) / 1e6,
                },
            )
            for one in each
        ]


def test_several_series_in_a_line_are_one_moment() -> None:
    state = state_of(made(parser=Status, banner="YCSB Client"), YCSB)
    found = values(state)
    assert found["t_ops_counted_total", "READ"] == 1154 + 1178 and found["t_ops_counted_total", "UPDATE"] == 1103
    assert found["t_latency_window_seconds", "READ", "0.99"] == 0.004903
    assert ("t_latency_window_seconds", "UPDATE", "0.99") not in found, "it did nothing in the last interval"
    assert state.last_report is not None and state.start == state.last_report - 3


VDBENCH = """\
Nov 22, 2026  interval        i/o   MB/sec   bytes   read     resp     read    write     resp     resp queue  cpu%  cpu%
                             rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth sys+u   sys
08:02:52.122         1     313.00     1.22    4096  72.20    0.041    0.049    0.020    2.635    0.193   0.0  33.7  18.9
08:02:53.034         2     498.00     1.95    4096  66.47    0.037    0.044    0.022    6.142    0.280   0.0  25.4  12.2
08:02:59.080   avg_3-8     500.57     1.96    4096  69.41    0.030    0.034    0.022    7.605    0.195   0.0  35.5  17.0
08:03:00.184 Vdbench execution completed successfully.
"""


class Table(KitParser):
    """Its columns have the names in two lines above them, which end where the numbers do."""

    def begin(self) -> None:
        super().begin()
        self._first = ""
        self._columns: list[str] = []

    def line(self, text: str) -> Sequence[Record] | None:
        ends = {match.end(): match[0] for match in re.finditer(r"\S+", self._first)}
        if "  interval " in text:
            self._first = text
            return []
        if text.startswith(" " * 20):
            below = re.finditer(r"\S+", text)
            self._columns = [f"{ends.get(match.end(), '')} {match[0]}" for match in below]
            return []
        if not (row := re.match(r"[\d:.]+ +(avg_\S+|\d+) +(.+)", text)):
            return None
        cells = dict(zip(self._columns, map(float, row[2].split()), strict=True))
        figures = {("rate", "all"): cells["i/o rate"], ("mean", "all"): cells["resp time"] / 1e3}
        return [ToolResult(figures) if row[1].startswith("avg") else ToolReport(float(row[1]), figures)]


def test_columns_are_named_by_a_header_and_the_average_is_the_result() -> None:
    tool = made(parser=Table, banner="Vdbench distribution", known=r"[\d:.]+ Vdbench execution completed")
    state = state_of(tool, VDBENCH)
    assert [(report.throughput, report.latency) for report in state.history] == [(313.0, 4.1e-05), (498.0, 3.7e-05)]
    assert state.outcome == "finished"
    assert values(state)["t_result_ops_per_second", "all"] == 500.57


def test_a_file_with_ever_new_names_takes_bounded_memory() -> None:
    tool = made(banner="never", reports=["<time> <op> <rate>"], summary=["end <op> <rate>"])
    text = "".join(f"1 name{n} 5\n" for n in range(3000)) + "".join(f"end name{n} 5\n" for n in range(3000))
    assert len(values(state_of(tool, text))) == 3 * MOST


def test_the_tool_in_the_documentation_is_complete() -> None:
    page = (Path(__file__).parents[2] / "docs" / "adding-a-tool.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    module: dict[str, Any] = {}
    exec(code.replace("from .", "from benchwatch.tools."), module)
    state = state_of(module["TOY"], "".join(f"{line}\n" for line in module["__doc__"].splitlines()[2:]))
    found = values(state)
    assert (state.outcome, state.tool_version, state.start) == ("finished", "1.0", 1790000000)
    assert found["toy_laps_per_second", "left"] == 100 and found["toy_laps_total", "left"] == 1000
    assert found["toy_result_lap_seconds", "left", "0.95"] == 0.0026


def test_a_counter_ends_at_the_final_report_whichever_stream_is_read_first() -> None:
    figures = {
        "rate": ToolFigure("Rate", live="rate", result="rate", rate=True),
        "done": ToolFigure("Operations", total="operations", added=True, number="number"),
        "number": ToolFigure("Operations", result="operations"),
    }
    families = Families("t", figures)
    roles = [families.roles(Unit("op/s"), "operations")]
    tool = TextTool(name="t", families=families, roles=roles, banner="t ").tool()
    reports: list[Record] = [ToolReport(1.0, {("done",): 60.0}), ToolReport(2.0, {("done",): 25.0})]
    result: Record = ToolResult({("number",): 80.0})
    found = []
    for records in ([*reports, result], [result, *reports]):
        state = tool.state(Buckets())
        for record in records:
            state.apply(record, "err" if record in reports else "out", 1000.0)
        found.append(repr(values(state)["t_operations_total",]))
    assert found == ["80", "80"]


def test_reports_of_parts_of_a_run_are_joined_and_a_rate_follows_from_its_number() -> None:
    figures = {
        "rate": ToolFigure("Operations", "ops_per_second", "ops", number="done"),
        "max": ToolFigure("Highest latency", result="latency_max_seconds"),
        "time": ToolFigure("Time", result="duration_seconds"),
    }
    families = Families("t", figures)
    tool = TextTool(
        name="t",
        families=families,
        roles=[families.roles(Unit("op/s"), "operations")],
        banner="t ",
        part="checkpoint",
        summary=["{ops|operations} <done>", "max <max>", "took <time>"],
        last="end",
    ).tool()
    part = "t 1\ncheckpoint\nops 30\nmax 4\ntook 10\nend\n"
    assert (state_of(tool, part).outcome, values(state_of(tool, part))) == ("", {})
    state = state_of(tool, f"{part}operations 10\nmax 3\ntook 20\nend\n")
    assert state.outcome == "finished"
    assert values(state) == {
        ("t_ops_total",): 40,
        ("t_result_ops_per_second",): 2,
        ("t_result_latency_max_seconds",): 4,
        ("t_result_duration_seconds",): 20,
    }


CLIENTS = {"requests": "1000", "clients": "10", "pipeline": "16"}


@pytest.mark.parametrize(
    ("tool", "command", "length", "added", "recorded"),
    [
        ("memtier", "-t 2 --test-time=60 --ratio=1:1 -x 2", 60, "", {"ratio": "1:1", "runs": "2"}),
        ("memtier", "--test-time 60 -d 100", 60, "", {"data_size": "100"}),
        ("redis-benchmark", "-q -t set,get -n 1000 -c 10 -P 16", None, "", CLIENTS),
        ("go-ycsb", "run pg -P a -p pg.host=x", None, "--interval 1", {}),
        ("go-ycsb", "run pg --interval=5", None, "", {}),
        ("go-ycsb", "run pg -p measurement.interval=5", None, "", {}),
        ("ycsb", "run basic -s -p maxexecutiontime=9 -threads 4", 9, "-p status.interval=1", {"threads": "4"}),
    ],
)
def test_options_of_a_plain_launcher(
    tool: str, command: str, length: float | None, added: str, recorded: dict[str, str]
) -> None:
    known = named(tool)
    assert known
    assert known.launcher
    read = known.launcher(CommandLine(command.split()))
    assert read.length == length
    assert " ".join(read.appended) == added
    assert read.facts(Benchmark((), tool, (), tool), Host()).parameters == recorded
