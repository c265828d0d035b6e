import json
import os
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from msgspec.structs import replace

from benchwatch.model.run import Report
from benchwatch.watch import sources
from benchwatch.watch.known import Slow, usual_key
from benchwatch.watch.sources import LATENCY, RATE, VDISK_OPLOG, WatchedExporter, WatchedPrometheus
from demo_processes import Processes
from tests.support.servers import Exporter
from tests.support.serving import FakeExporter, served
from tests.support.waiting import PATIENCE, eventually

from .pages import NOW, pgbench

pytestmark = pytest.mark.system


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no exporter that does not answer."""
    monkeypatch.setattr(sources, "_TIMEOUT", PATIENCE)


@pytest.fixture
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    made = Processes(tmp_path_factory.mktemp("logs"), os.environ)
    yield made
    made.stop_all()


def test_a_run_that_is_seen_first_brings_what_it_reported_before(processes: Processes, tmp_path: Path) -> None:
    begin = int(time.time()) - 60
    lines = [f"progress: {begin + n}.500 s, {n + 1}.0 tps, lat 1.000 ms stddev 0.100, 0 failed\n" for n in range(60)]
    for run in ("a", "b"):
        (tmp_path / run).mkdir()
        (tmp_path / run / "db1.err").write_text("".join(lines[:30] if run == "b" else lines))
    exporter = Exporter(processes, tmp_path)
    eventually(lambda: ("a", "db1") in WatchedExporter(exporter.url).read().past, "it is read")
    watched = WatchedExporter(exporter.url)
    past = watched.read().past
    assert list(past["a", "db1"]) == [(begin + n + 0.5, n + 1, pytest.approx(0.001)) for n in range(60)]
    watched._due = 0.0
    assert watched.read().past == past


def test_a_run_that_goes_away_between_two_requests_begins_now(monkeypatch: pytest.MonkeyPatch) -> None:
    board = FakeExporter([pgbench("db1")])
    monkeypatch.setattr(board, "run", lambda _: None)
    with served(board) as server:
        reading = WatchedExporter(server.url).read()
    assert [worker.name for run in reading.runs for worker in run.workers] == ["db1"]
    assert reading.past == {}


def test_names_of_runs_come_through_whatever_is_in_them() -> None:
    name = 'a/b?c#%20\n"\x1b[2J\u2028é'
    with served(FakeExporter([replace(pgbench("db1"), run=name, reports=(Report(NOW, 1.0, None),))])) as server:
        reading = WatchedExporter(server.url).read()
    assert [run.name for run in reading.runs] == [name]
    assert reading.past == {(name, "db1"): (Report(NOW, 1.0, None),)}


def test_a_clock_that_differs_is_known_from_the_answer() -> None:
    with served(FakeExporter(), clock=lambda: NOW) as server:
        assert WatchedExporter(server.url, clock=lambda: NOW + 100).read().clock_ahead == 100
        assert WatchedExporter(server.url, clock=lambda: NOW + 1).read().clock_ahead == 0


class FakePrometheus(BaseHTTPRequestHandler):
    """Answers with the series of the server whose `when` is the time asked for, by a word of the query."""

    def do_POST(self) -> None:
        asked = {
            name: one
            for name, (one,) in parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()).items()
        }
        self.server.asked.append(asked)  # type: ignore[attr-defined]
        kind = next(word for word in ("median5m", "node_cpu", "why_info") if word in asked["query"])
        self._answer({"result": self.server.series.get((kind, asked.get("time")), [])})  # type: ignore[attr-defined]

    def do_GET(self) -> None:
        if self.path.startswith("/api/v1/rules"):
            self.server.asked_for_rules += 1  # type: ignore[attr-defined]
            self._answer({"groups": self.server.groups})  # type: ignore[attr-defined]
            return
        self._answer({"alerts": []})

    def _answer(self, data: object) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"status": "success", "data": data}).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def prometheus() -> Iterator[HTTPServer]:
    with HTTPServer(("127.0.0.1", 0), FakePrometheus) as server:
        server.series, server.asked, server.groups = {}, [], [{}]  # type: ignore[attr-defined]
        server.asked_for_rules = 0  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def series(value: float, name: str = "", **labels: str) -> dict[str, object]:
    return {"metric": labels | ({"__name__": name} if name else {}), "value": [NOW, str(value)]}


def test_slow_times_of_the_rules_and_why(prometheus: HTTPServer) -> None:
    said = [
        series(1, run="a", host="pg1", text="It is the oplog.", **{"is": "text"}),
        series(NOW - 31, run="a", **{"is": "since"}),
        series(0.003, run="a", **{"is": "usual"}),
        *(series(NOW - 30, run="a", **{"is": when}) for when in ("begin", "slow")),
        series(NOW, run="a", **{"is": "end"}),
        series(1, run="b", host="pg2.example", **{"is": "host"}),
        *(series(NOW - 20, run="b", **{"is": when}) for when in ("begin", "slow")),
        series(NOW - 90, run="over", **{"is": "begin"}),
        series(NOW - 40, run="over", **{"is": "end"}),
        series(NOW - 90, run="short", **{"is": "begin"}),
        series(NOW - 83, run="short", **{"is": "end"}),
    ]
    prometheus.series = {  # type: ignore[attr-defined]
        ("why_info", None): said,
        ("node_cpu", None): [series(0.02, host="pg2.example")],
    }
    judged = WatchedPrometheus(f"http://127.0.0.1:{prometheus.server_port}").read()
    assert judged.problem == ""
    assert judged.slow == {
        "a": Slow(NOW - 31, None, "It is the oplog.", 0.003, "pg1"),
        "b": Slow(NOW - 20, host="pg2.example", busy=0.02),
        "over": Slow(NOW - 90, NOW - 43),
    }, "the rules hold a slow second for 3 s; 4 s are not worth a word"
    asked = [one["query"] for one in prometheus.asked if "node_cpu" in one["query"]]  # type: ignore[attr-defined]
    assert ['host=~"pg2\\\\.example"' in one for one in asked] == [True]


def test_a_prometheus_without_rules_says_so_instead_of_no_alerts(prometheus: HTTPServer) -> None:
    prometheus.groups = []  # type: ignore[attr-defined]
    url = f"http://127.0.0.1:{prometheus.server_port}"
    watched = WatchedPrometheus(url)
    for _ in range(2):
        judged = watched.read()
        assert judged.alerts is None
        assert (
            judged.problem == f"Prometheus at {url} has no rules, so it cannot say what is slow: load prometheus/rules"
        )
    prometheus.groups = [{}]  # type: ignore[attr-defined]
    assert [watched.read().problem for _ in range(3)] == [""] * 3
    assert prometheus.asked_for_rules == 3, "twice without an answer, then until there are some"  # type: ignore[attr-defined]


def test_processors_are_asked_for_only_while_a_run_is_slow_without_a_sentence(prometheus: HTTPServer) -> None:
    WatchedPrometheus(f"http://127.0.0.1:{prometheus.server_port}").read()
    assert not any("node_cpu" in one["query"] for one in prometheus.asked)  # type: ignore[attr-defined]


def test_what_is_usual_of_a_slow_run_is_that_of_its_begin(prometheus: HTTPServer) -> None:
    """Later, the medians of the rules take in the slow time itself."""
    prometheus.series = {  # type: ignore[attr-defined]
        ("why_info", None): [series(NOW - 300, run="a", **{"is": when}) for when in ("begin", "slow")],
        ("median5m", None): [
            series(50, RATE, run="a", worker="db1"),
            series(70, RATE, run="b", worker="db1", job="data", op="read", tool="fio"),
            series(0.4, VDISK_OPLOG, cvm="cvm1", vdisk="1", vm="pg1"),
        ],
        ("median5m", str(NOW - 300)): [
            series(400, RATE, run="a", worker="db1"),
            series(0.002, LATENCY, run="a", worker="db1"),
            series(90, RATE, run="b", worker="db1", job="data", op="read"),
            series(1.0, VDISK_OPLOG, cvm="cvm1", vdisk="1", vm="pg1"),
        ],
    }
    watched = WatchedPrometheus(f"http://127.0.0.1:{prometheus.server_port}")
    for _ in range(3):
        assert watched.read().usual == {
            usual_key(RATE, "a", "db1"): 400,
            usual_key(LATENCY, "a", "db1"): 0.002,
            usual_key(RATE, "b", "db1", "data", "read"): 70,
            usual_key(VDISK_OPLOG, cvm="cvm1", vdisk="1"): 1.0,
        }
    asked = [one.get("time") for one in prometheus.asked if "median5m" in one["query"]]  # type: ignore[attr-defined]
    assert sorted(asked, key=str) == [str(NOW - 300), None], "once each"


def test_what_is_asked_for_is_recorded_by_the_rules(prometheus: HTTPServer) -> None:
    prometheus.series = {("why_info", None): [series(1, run="a", host="pg1", **{"is": "text"})]}  # type: ignore[attr-defined]
    WatchedPrometheus(f"http://127.0.0.1:{prometheus.server_port}").read()
    asked = " ".join(one["query"] for one in prometheus.asked)  # type: ignore[attr-defined]
    names = set(re.findall(r"\b(?:run|worker|vdisk):\w+:\w+", asked))
    recorded = "".join(file.read_text() for file in (Path(__file__).parents[2] / "prometheus" / "rules").glob("*.yml"))
    assert len(names) == 7
    assert [name for name in sorted(names) if f"record: {name}\n" not in recorded] == []
