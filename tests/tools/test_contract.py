"""What every tool keeps to, and that a tool which is declared is shown everywhere: those of the table, and a toy."""

import importlib
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

import worker_rules
from benchwatch.cli import main
from benchwatch.launch.bar import Live
from benchwatch.launch.worker_record import RunRecord
from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.samples import PARTS, Sample
from benchwatch.model.run import Loss
from benchwatch.runs.files import read_head
from benchwatch.runs.watcher import Runs
from benchwatch.server.exporter import Exporter
from benchwatch.server.landing import landing_page
from benchwatch.settings.settings import RunsSettings
from benchwatch.tools.api import Begin, Misread, Tool
from benchwatch.tools.registry import TOOLS
from benchwatch.tools.states import State
from metrics_reference import markdown
from tests.support.grafana import DASHBOARDS, load, targets
from tests.support.places import NOW, RECORDINGS
from tests.support.programs import output as said_by
from tests.support.programs import program
from tests.support.shown import shown_workers

from .toy import TOY, output

ALL = [*TOOLS, TOY]
each_tool = pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
_HEAD = 65536
_LATE = 4e9
"""Unix seconds; after all recordings."""
_SMALL = 12_000
"""Bytes up to which a recording is cut in every way."""


@cache
def recorded(tool: Tool) -> list[tuple[Path, str, bytes]]:
    """The recordings of a tool: where from, which kind, and what is in them; the smallest first."""
    if tool is TOY:
        return [(Path("toy"), "text", output())]
    files = (path for path in sorted((RECORDINGS / tool.name).rglob("*")) if path.is_file() and path.suffix != ".cmd")
    found = [(path, path.read_bytes()) for path in files]
    known = [(path, tool.recognise(data[:_HEAD]), data) for path, data in found]
    return sorted((one for one in known if one[1]), key=lambda one: len(one[2]))


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[begin : begin + size] for begin in range(0, len(data), size))


def told(tool: Tool, kind: str, parts: Iterator[bytes]) -> tuple[list[list[Sample]], list[Misread]]:
    """What is shown at the end of each run in a stream, and what was not understood."""
    parser, states, misread = tool.parser(kind), [tool.state(Buckets())], []
    for records in (*map(parser.feed, parts), parser.close()):
        for record in records:
            if isinstance(record, Begin):
                states.append(tool.state(Buckets()))
            elif isinstance(record, Misread):
                misread.append(record)
            else:
                states[-1].apply(record, "stream", NOW)
    return [shown(state) for state in states], misread


def shown(state: State) -> list[Sample]:
    state.tick(_LATE, is_read=True)
    return sorted(state.samples(current=True), key=lambda sample: (sample.family.name, sample.labels))


@each_tool
def test_roles_name_families_of_the_tool_with_the_labels_of_a_group(tool: Tool) -> None:
    assert len({family.name for family in tool.families}) == len(tool.families)
    prefix = tool.name.rstrip("0123456789").replace("-", "_")
    assert all(family.name.startswith(f"{prefix}_") for family in tool.families)
    for roles in tool.roles:
        assert roles.families <= set(tool.families)
        of_groups = (
            roles.rate,
            roles.result_rate,
            roles.latency,
            roles.latency_max,
            roles.histogram,
            roles.bandwidth,
            roles.total,
            roles.target_rate,
            roles.target_bandwidth,
            roles.result_latency,
            roles.result_deviation,
            roles.result_bandwidth,
            roles.result_operations,
        )
        for family in filter(None, of_groups):
            assert family.labels[: len(roles.labels)] == roles.labels, family.name
        for family in filter(None, (roles.window, roles.result_quantile)):
            assert family.labels == (*roles.labels, "quantile"), family.name
        assert set(roles.sources) <= set(tool.families)
        for lost in roles.lost.values():
            assert all(one.labels == lost.counter.labels for one in lost.of)
            assert not lost.of or lost.result is None or lost.result.labels == lost.counter.labels
            assert lost.remark.count("{}") == bool(lost.remark)
    assert tool.advice and tool.name in tool.example


@each_tool
def test_a_tool_recognises_its_own_output_and_no_other(tool: Tool) -> None:
    assert tool.recognise(b"") == "" and tool.recognise(b"Tue Nov 10 12:00:00 nothing of the kind\n" * 9) == ""
    others = [other for other in ALL if other is not tool]
    assert {kind for _, kind, _ in recorded(tool)} <= set(tool.kinds)
    for path, _, data in recorded(tool):
        assert not any(other.recognise(data[:_HEAD]) for other in others), path


@each_tool
def test_borders_of_chunks_do_not_matter(tool: Tool) -> None:
    seen = set()
    for path, kind, data in recorded(tool):
        whole = told(tool, kind, iter([data]))
        seen.add(kind)
        for size in (1, 7, 977) if len(data) < _SMALL else (4093,):
            assert told(tool, kind, pieces(data, size)) == whole, (path, size)
    assert seen == set(tool.kinds), "no recording of a kind"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_ends_of_lines_as_on_windows_and_a_mark_of_the_order_of_bytes_do_not_matter(tool: Tool, tmp_path: Path) -> None:
    """Of texts: nobody edits a transaction log."""
    for path, kind, data in recorded(tool)[:60]:
        if tool.kinds[kind].is_log or len(data) > 10 * _SMALL:
            continue
        expected = told(tool, kind, pieces(data, 4096))
        for other in (b"\xef\xbb\xbf" + data, b"\n".join(data.split(b"\r\n")).replace(b"\n", b"\r\n")):
            found = told(tool, kind, pieces(other, 1 if len(data) < _SMALL else 4096))
            assert [found[0], len(found[1])] == [expected[0], len(expected[1])], path
        file = tmp_path / "out"
        file.write_bytes(b"\xef\xbb\xbf" + data)
        assert tool.recognise(read_head(file)) == kind


@each_tool
def test_moments_grow_within_the_stream(tool: Tool) -> None:
    for path, kind, data in recorded(tool):
        offsets = [moment.offset for moment in tool.moments(kind, data)]
        assert offsets == sorted(set(offsets)) and all(0 < offset <= len(data) for offset in offsets), path


def processes(tool: Tool) -> Iterator[Sequence[tuple[str, str, bytes]]]:
    """The streams of each process that was recorded: in a folder of its own, or a file alone; of the toy two."""
    if tool is TOY:
        reports, _, results = output().partition(b"result")
        yield [("out", "text", reports), ("err", "text", b"result" + results)]
        return
    folders: dict[Path, list[tuple[str, str, bytes]]] = {}
    for path, kind, data in recorded(tool):
        folders.setdefault(path if path.parent.name == tool.name else path.parent, []).append((path.name, kind, data))
    for streams in folders.values():
        ranked = sorted(tool.kinds[kind].rank for _, kind, _ in streams if tool.kinds[kind].rank)
        yield [stream for stream in streams if tool.kinds[stream[1]].rank in (0, *ranked[:1])]


@each_tool
def test_every_family_that_plays_a_part_is_exported_by_a_recording(tool: Tool) -> None:
    wanted = {family.name for roles in tool.roles for family in roles.families}
    for streams in processes(tool):
        state = _together(tool, streams)
        state.tick(state.last_report or _LATE, is_read=True)
        wanted -= {sample.family.name for sample in state.samples(current=True)}
    assert not wanted


@each_tool
def test_the_order_of_the_streams_does_not_matter(tool: Tool) -> None:
    for streams in processes(tool):
        one, other = (shown(_together(tool, order)) for order in (streams, streams[::-1]))
        assert one == other, streams[0][0]


def _together(tool: Tool, streams: Sequence[tuple[str, str, bytes]]) -> State:
    state = tool.state(Buckets())
    for name, kind, data in streams:
        parser = tool.parser(kind)
        for record in (*parser.feed(data), *parser.close()):
            if not isinstance(record, Begin | Misread):
                state.apply(record, name, NOW)
    state.over()
    return state


@pytest.fixture
def toy() -> Iterator[None]:
    """The table has one line more."""
    TOOLS.append(TOY)
    yield
    TOOLS.remove(TOY)


@pytest.fixture
def runs(toy: None, tmp_path: Path) -> Path:
    """Two runs of the toy that are over, the second half as fast again."""
    for name, more in (("one", 100), ("two", 150)):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "w.log").write_bytes(output(rate=lambda second, more=more: more + second % 3))
    return tmp_path / "runs"


def test_metrics_shows_a_tool_of_the_table(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", str(runs / "one")]) == 0
    text = capsys.readouterr().out
    assert 'toy_laps_total{run="one",worker="w",lane="left"} 6060' in text
    assert 'toy_failed_laps_total{run="one",worker="w",lane="left"} 3' in text
    assert 'benchwatch_run_info{run="one",worker="w",tool="toy",tool_version="1.0"} 1' in text


def test_watch_shows_it(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (runs / "one" / "w.log").write_bytes(output(start=int(NOW) - 60, ended=False))
    one, two = sorted(shown_workers(runs), key=lambda worker: worker.run)
    assert [(part.op, part.rate, part.quantiles) for part in two.result] == [
        ("left", 151, {"0.95": 0.001656}),
        ("right", 75, {"0.95": 0.001656}),
    ]
    assert two.lost == {"failed": Loss(3, 13583, True)}
    assert one.unit == two.unit == TOY.roles[0].unit.name


def test_the_page_of_the_exporter_shows_it_and_how_to_have_it_watched(runs: Path) -> None:
    (runs / "one" / "w.log").write_bytes(output(60, start=int(NOW) - 60, ended=False))
    watched = Runs([runs], RunsSettings(), Buckets())
    while watched.poll(NOW):
        pass
    board = Exporter(watched, push_folder=runs)
    assert 'toy_laps_per_second{run="one",worker="w",lane="left"} 100' in board.render(frozenset(PARTS))
    tree = LexborHTMLParser(landing_page(board, now=NOW, url="http://bench.example:19777"))
    figures = [cell.text() for cell in tree.css("td[data-label=Throughput]")]
    assert figures == ["150 laps/s", "226 laps/s"]
    assert "3 failed (0.0221 %)" in [reason.text() for reason in tree.css(".reason")]
    assert "toy --report 2>&1 | tee -p toy.log | curl -sS -T - http://bench.example:19777/ingest/my-run/toy1" in [
        code.text() for code in tree.css("pre code")
    ]


def test_compare_shows_it_and_judges_by_its_throughput(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(runs / name) for name in ("one", "two")]
    assert main(["compare", *paths, "--format", "json"]) == 0
    (other,) = json.loads(capsys.readouterr().out)["others"]
    found = {(row.get("lane"), row["name"]): (row["base"], row["other"]) for row in other["measures"]}
    assert found["left", "throughput"] == (101, 151)
    assert found["left", "latency_p95"] == (0.002475, 0.001656)
    assert found["all", "throughput"] == (151, 226)
    assert found[None, "failed"] == (pytest.approx(3 / 9083), pytest.approx(3 / 13583))
    assert [(one["lane"], one["name"], one["verdict"]) for one in other["verdicts"]] == [
        ("all", "throughput", "better")
    ]


def test_after_a_warm_up_the_percentile_of_the_reports_is_compared(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(runs / name) for name in ("one", "two")]
    assert main(["compare", *paths, "--warmup", "30s", "--format", "json"]) == 0
    (other,) = json.loads(capsys.readouterr().out)["others"]
    found = {(row.get("lane"), row["name"]): row for row in other["measures"]}
    row = found["left", "latency_p95_of_reports"]
    assert row["base"] == pytest.approx(0.25 / 101, rel=1e-3) and row["interval"] is not None
    assert ("left", "latency_p95") not in found, "the final report is of the whole run"


def test_show_and_list_have_its_results(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(runs / "one"), "--require", "laps/s >= 151", "--require", "left p95 < 3ms"]) == 0
    head, titles, left, right, together, lost, *_ = capsys.readouterr().out.splitlines()
    assert head == "one: toy 1.0, finished, 1m 00s"
    assert titles.split() == ["laps/s", "p95", "per", "report,", "averaged", "p95"]
    assert (left.split()[:2], right.split()[:2]) == (["left", "101"], ["right", "50.0"])
    assert (together.split()[:2], lost.strip()) == (["all", "151"], "failed 3 of 9,083 laps (0.033 %)")
    assert main(["list", str(runs), "--json"]) == 0
    found = {run["run"]: run for run in json.loads(capsys.readouterr().out)["runs"]}
    assert [(found[name]["rate"], found[name]["unit"]) for name in ("one", "two")] == [(151, "laps/s"), (226, "laps/s")]


def test_the_status_line_of_the_launcher_shows_it(toy: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW)
    record = RunRecord(tmp_path, "one", "w")
    record.folder.mkdir()
    live = Live(record)
    live.look()
    assert list(live.figures) == []
    record.file("out").write_bytes(output(3, start=int(NOW) - 3, ended=False))
    record.file("77").write_bytes(b"a log\n")
    live.look()
    assert live.figures == ["150 laps/s"]
    assert live.line(60, before="one", after="0:57 left").startswith("one  ")
    with record.file("out").open("ab") as file:
        file.write(f"{int(NOW)} left laps 48 p95 0.002000\n{int(NOW)} right laps 50 p95 0.002000\n".encode())
    live.look()
    assert live.figures == ["98.0 laps/s"]


def test_report_draws_it(runs: Path, tmp_path: Path) -> None:
    assert main(["report", str(runs / "one"), "--output", str(tmp_path / "one.html")]) == 0
    text = (tmp_path / "one.html").read_text()
    for said in ("Throughput", "From the toy's own reports.", "Latency percentiles of left", "The toy&#x27;s own"):
        assert said in text or said.replace("'", "&#x27;") in text, said
    assert main(["report", *(str(runs / name) for name in ("one", "two")), "--output", str(tmp_path / "2.html")]) == 0
    assert "95th percentile" in (tmp_path / "2.html").read_text()


def test_backfill_writes_it(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backfill", str(runs / "one"), "--output", str(tmp_path / "out")]) == 0
    text = (tmp_path / "out").read_text()
    assert len(re.findall(r'(?m)^toy_laps_per_second\{[^}]*lane="left"[^}]*\} ', text)) == 60


def test_output_that_nothing_recognises_names_it_among_what_was_expected(
    toy: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "what").write_text("nothing\n")
    assert main(["metrics", str(tmp_path / "what")]) == 1
    assert capsys.readouterr().err.endswith(" or toy\n")


def test_the_reference_of_metrics_has_it(toy: None) -> None:
    (section,) = re.findall(r"(?ms)^## toy$.*?(?=^## |\Z)", markdown())
    assert re.search(r"(?m)^Part `live`:\n\n(- .*\n)*- `toy_laps_per_second`.* `\{lane\}`: ", section)


def test_it_has_rules_that_alert_on_the_percentile_where_there_is_no_mean(toy: None, tmp_path: Path) -> None:
    rules = tmp_path / "workers.yml"
    rules.write_text(worker_rules.whole(worker_rules.WORKERS))
    runs = worker_rules.WORKERS.parent / "runs.yml"
    assert "SUCCESS" in said_by(program("promtool"), "check", "rules", "--lint=all", "--lint-fatal", rules)
    (tmp_path / "test.yml").write_text(_SPIKE.format(rules=rules, runs=runs))
    assert "SUCCESS" in said_by(program("promtool"), "test", "rules", tmp_path / "test.yml")


def test_it_has_rules_of_a_database_if_it_says_that_it_is_one(toy: None, tmp_path: Path) -> None:
    for path in worker_rules.FILES:
        (tmp_path / path.name).write_text(worker_rules.whole(path))
    files = [tmp_path / path.name for path in worker_rules.FILES]
    assert "SUCCESS" in said_by(program("promtool"), "check", "rules", "--lint=all", "--lint-fatal", *files)
    (tmp_path / "test.yml").write_text(_DATABASE)
    assert "SUCCESS" in said_by(program("promtool"), "test", "rules", tmp_path / "test.yml")


_DATABASE = """
rule_files: [runs.yml]
evaluation_interval: 1s
tests:
  - interval: 1s
    input_series:
      - {series: 'benchwatch_run_state{instance="b:1", run="one", worker="w", state="running"}', values: 1x60}
      - {series: 'toy_laps_total{instance="b:1", run="one", worker="w", lane="left"}', values: 0+90x60}
      - {series: 'toy_failed_laps_total{instance="b:1", run="one", worker="w", lane="left"}', values: 0+10x60}
      - {series: 'pgbench_transactions_total{instance="b:1", run="two", worker="w"}', values: 0+90x60}
      - {series: 'sysbench_transactions_total{instance="b:1", run="three", worker="w"}', values: 0+90x60}
      - {series: 'sysbench_events_total{instance="b:1", run="four", worker="w"}', values: 0+90x60}
      - {series: 'fio_operations_total{instance="b:1", run="five", worker="w", job="db", op="read"}', values: 0+90x60}
    promql_expr_test:
      - expr: sum by (run) (run:database_benchmark:info)
        eval_time: 60s
        exp_samples:
          - {labels: '{run="one"}', value: 1}
          - {labels: '{run="two"}', value: 1}
          - {labels: '{run="three"}', value: 1}
      - {expr: 'run:database_benchmark:info{latency="mean"} unless on (run) {run="two"}', eval_time: 60s}
      - expr: count by (run) (ALERTS{alertname="FailedTransactions"})
        eval_time: 60s
        exp_samples: [{labels: '{run="one"}', value: 1}]
"""

_SPIKE = """
rule_files: [{runs}, {rules}]
evaluation_interval: 1s
group_eval_order: [runs, worker_baselines, workers]
tests:
  - interval: 500ms
    input_series:
      - series: benchwatch_run_state{{instance="b:1", run="one", worker="w", state="running"}}
        values: 1x400
      - series: toy_laps_per_second{{instance="b:1", run="one", worker="w", lane="left"}}
        values: 100x300 0x100
      - series: toy_lap_window_seconds{{instance="b:1", run="one", worker="w", lane="left", quantile="0.95"}}
        values: 0.002x240 0.03 0.002x160
    promql_expr_test:
      - expr: count by (severity, tool, op, quantile) (ALERTS{{alertname="LatencySpike"}})
        eval_time: 122s
        exp_samples:
          - {{labels: '{{severity="warning", tool="toy", op="left", quantile="0.95"}}', value: 1}}
          - {{labels: '{{severity="critical", tool="toy", op="left", quantile="0.95"}}', value: 1}}
      - expr: count by (tool, op) (ALERTS{{alertname="ThroughputZero"}})
        eval_time: 158s
        exp_samples: [{{labels: '{{tool="toy", op="left"}}', value: 1}}]
"""


def test_it_has_the_standard_dashboard_and_is_compared(
    toy: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(DASHBOARDS / "src"))
    for name in [name for name in sys.modules if name.partition(".")[0] == "boards"]:
        monkeypatch.delitem(sys.modules, name)  # made with the tools of their time
    boards = importlib.import_module("boards.__main__")
    monkeypatch.setattr(sys, "argv", ["boards", str(tmp_path)])
    boards.main()
    made = load(tmp_path / "toy.json")
    assert (made["uid"], made["title"]) == ("benchwatch-toy", "toy")
    asked = " ".join(target.expression for target in targets(made))
    shown = {family.name for family in TOY.roles[0].families} - {TOY.roles[0].result_operations.name}
    assert {name for name in shown if name not in asked} == set()
    compared = load(tmp_path / "compare.json")
    by_panel: dict[str, str] = {}
    for target in targets(compared):
        by_panel[target.panel] = f"{by_panel.get(target.panel, '')} {target.expression}"
    (baseline,) = [one["query"]["query"] for one in compared["templating"]["list"] if one["name"] == "baseline"]
    results = by_panel["Results, as multiples of the baseline's"]
    assert [
        name
        for name, place in (
            ("toy_result_laps_per_second", results),
            ("toy_result_lap_seconds", results),
            ("toy_result_lap_seconds", by_panel["Latency of the whole run"]),
            ("toy_laps_per_second", by_panel["Throughput over elapsed time"]),
            ("toy_lap_window_seconds", by_panel["Percentiles over elapsed time"]),
            ("toy_result_laps_per_second", baseline),
        )
        if name not in place
    ] == []
