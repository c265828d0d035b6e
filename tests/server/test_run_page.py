"""The page of a run: what it shows, at whose cost, and that nothing of what others wrote becomes markup."""

import http.server
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import requests
from selectolax.lexbor import LexborHTMLParser

from benchwatch.cli import main
from benchwatch.metrics.buckets import Buckets
from benchwatch.plots.figure import PLOTLY_NAME, plotly
from benchwatch.runs.watcher import Runs
from benchwatch.server import looks as looks_module
from benchwatch.server.assets import RUN_POLICY
from benchwatch.server.exporter import Exporter
from benchwatch.server.looks import Looks
from benchwatch.server.run_page import run_page
from benchwatch.settings.settings import RunsSettings
from benchwatch.tools.registry import names
from tests.support.pages import Page
from tests.support.places import NOW, RECORDINGS, Place
from tests.support.ports import free_port
from tests.support.serving import served
from tests.support.waiting import PATIENCE, eventually

PGBENCH = RECORDINGS / "dashboards/pgbench-rate-retries-15.18"
FIO = RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.42.out"
EVIL = "<script>alert(1)</script>"


class Site(NamedTuple):
    """A server whose runs are those of a folder."""

    url: str
    runs: Runs
    looks: Looks

    def get(self, name: str, **query: str) -> requests.Response:
        return requests.get(f"{self.url}/runs/{name}", params=query, timeout=PATIENCE)

    def tree(self, name: str) -> LexborHTMLParser:
        """The page, once its plots are there."""
        eventually(lambda: 'id="course" data-version=""' not in self.get(name).text, "the plots")
        return LexborHTMLParser(self.get(name).text)


@contextmanager
def site(folder: Path, prometheus: str = "", now: float = NOW) -> Iterator[Site]:
    runs = Runs([folder], RunsSettings(), Buckets())
    while runs.poll(now):
        pass
    looks = Looks(RunsSettings(), Buckets(), prometheus)
    with served(Exporter(runs), looks=looks) as server:  # type: ignore[arg-type]
        yield Site(server.url, runs, looks)


@pytest.fixture
def pgbench(place: Place) -> Path:
    """The folder of runs, with one of pgbench with a log that has ended."""
    for name, recording in (("db1.err", "stderr"), ("db1.out", "stdout"), ("db1.30137", "db1.30137")):
        place(f"a/{name}", PGBENCH / recording)
    return place("a/run.yaml", b"{warmup: 3s, latency_objective: 5ms, labels: {vm: pg1}}").parents[1]


def texts(tree: LexborHTMLParser, selector: str) -> list[str]:
    return [node.text(separator=" ", strip=True) for node in tree.css(selector)]


def figures(tree: LexborHTMLParser) -> list[Any]:
    """What plotly draws in the page."""
    return [json.loads(node.text()) for node in tree.css("#course .chart script")]


def test_the_page_has_the_figures_of_show_and_the_plots_of_the_report(
    pgbench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(pgbench / "a")]) == 0
    shown = [re.split(r"\s{2,}", line.strip()) for line in capsys.readouterr().out.splitlines()]
    assert main(["report", str(pgbench / "a"), "--output", str(tmp_path / "report.html")]) == 0
    report = Page(tmp_path / "report.html")
    with site(pgbench) as server:
        tree = server.tree("a")
    (head, names, values, *lines) = shown
    section = "#course section:nth-of-type(2)"
    assert texts(tree, f"{section} > p") == head
    assert texts(tree, f"{section} thead th") == names
    assert texts(tree, f"{section} td") == values
    assert texts(tree, f"{section} .result p") == [line for (line,) in lines]
    drawings = report.drawings()
    assert texts(tree, "#course .chart p") == [drawing.description for drawing in drawings]
    on_page, of_report = figures(tree), [drawing.figure for drawing in drawings]
    assert [figure["layout"].pop("height") for figure in on_page] == [148, 148, 270, 270, 270, 270]
    assert [figure["layout"].pop("height") for figure in of_report] == [270] * 6
    assert on_page == of_report
    rows = report.rows()
    for row in tree.css("#course details tbody tr"):
        name, *cells = [node.text(strip=True) for node in row.css("th, td")]
        assert cells[0] == rows[name][0]


def test_who_returns_to_a_page_reads_what_prometheus_says_now(pgbench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers of the last visit may say that a run is still slow which has ended since."""
    asked: list[str] = []

    def answers(*_: object) -> str:
        time.sleep(0.1)
        asked.append("visit")
        return f"<p>visit {len(asked)}</p>"

    monkeypatch.setattr(looks_module, "slowness", lambda *_: None)
    monkeypatch.setattr(looks_module, "answers", answers)
    for name, seconds in (("_AWAY", 0.0), ("_ANSWERS", 0.0), ("_SHARE", 0.0), ("_FIRST", PATIENCE)):
        monkeypatch.setattr(looks_module, name, seconds)
    with site(pgbench, "http://127.0.0.1:9") as server:
        eventually(lambda: "<p>visit " in server.get("a").text, "the first answers")
        for _ in range(3):
            before = len(asked)
            (said,) = texts(LexborHTMLParser(server.get("a").text), "#answers p")
            assert int(said.split()[1]) > before


def test_the_result_of_a_run_that_has_stalled_is_that_of_show(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: NOW + 30)
    place("a/db1.err", PGBENCH / "stderr")
    folder = place("a/db1.30137", PGBENCH / "db1.30137").parents[1]
    with site(folder, now=NOW + 30) as server:
        tree = server.tree("a")
    assert texts(tree, "#now .state") == ["stalled"]
    assert main(["show", str(folder / "a")]) == 0
    _, names, values, *_ = (re.split(r"\s{2,}", line.strip()) for line in capsys.readouterr().out.splitlines())
    section = "#course section:nth-of-type(2)"
    assert texts(tree, f"{section} thead th") == names
    assert texts(tree, f"{section} td") == values
    assert "stalls: now" in texts(tree, f"{section} .result p")


def test_the_time_between_workers_that_followed_each_other_is_no_stall(place: Place) -> None:
    for worker, begin in (("db1", 0), ("db2", 142)):
        lines = "".join(
            f"progress: {int(NOW) - 300 + begin + n}.000 s, 100.0 tps, lat 2.000 ms stddev 0.100\n"
            for n in range(1, 61)
        )
        folder = place(f"a/{worker}.err", lines.encode(), NOW - 240 + begin).parents[1]
        place(f"a/{worker}.yaml", f"{{end: {NOW - 240 + begin}, exit_code: 0}}".encode())
    with site(folder) as server:
        tree = server.tree("a")
    heads = [text for text in texts(tree, "#course section > p") if text.startswith("a/")]
    assert heads == [f"a/{worker}: pgbench, finished, 1m 00s" for worker in ("db1", "db2")]
    assert not [text for text in texts(tree, "figcaption") if "Marked" in text]


def test_all_is_there_without_a_script_and_nothing_comes_from_elsewhere(pgbench: Path) -> None:
    with site(pgbench) as server:
        tree = server.tree("a")
        answer = server.get("a")
    assert answer.headers["Content-Security-Policy"] == RUN_POLICY
    scripts = RUN_POLICY.partition("script-src ")[2].partition(";")[0]
    assert "unsafe" not in scripts and "http" not in RUN_POLICY
    assert not tree.css("[style]")
    assert all(texts(tree, ".chart p")), "each plot in words"
    assert tree.css_first("noscript meta[http-equiv=refresh]") is not None
    loaded = [
        node.attributes.get("href") or node.attributes.get("src") or "" for node in tree.css("link, image, [src]")
    ]
    assert [target for target in loaded if not target.startswith("data:image/")] == [f"../{PLOTLY_NAME}"]
    assert all(not (node.attributes["href"] or "").startswith(("http", "//")) for node in tree.css("a"))


def test_plotly_is_served_to_be_kept(pgbench: Path) -> None:
    with site(pgbench) as server:
        answer = requests.get(f"{server.url}/{PLOTLY_NAME}", timeout=PATIENCE)
    assert (answer.text, "immutable" in answer.headers["Cache-Control"]) == (plotly(), True)
    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_browser_is_sent_only_what_it_does_not_have(pgbench: Path) -> None:
    with site(pgbench) as server:
        (course,) = server.tree("a").css("#course")
        version = course.attributes["data-version"]
        same = LexborHTMLParser(server.get("a", since=f"course:{version},machine:").text)
        other = LexborHTMLParser(server.get("a", since="course:1").text)
    assert [node.attributes["id"] for node in same.css("main > div")] == ["now", "answers", "machine"]
    assert "course" in [node.attributes["id"] for node in other.css("main > div")]


def test_a_run_is_followed_only_while_somebody_looks(pgbench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks_module, "KEPT", 0.2)
    with site(pgbench) as server:
        requests.get(server.url, timeout=PATIENCE)
        assert server.looks.names == []
        eventually(lambda: server.get("a").ok and server.looks.names == ["a"], "the run is followed")
        eventually(lambda: server.looks.names == [], "the run is let go")


@pytest.mark.parametrize("name", ["a{b}", "a%2Fb", "a?b=c#d", "a;b+c d", "é"])
def test_the_landing_page_links_to_a_run_of_any_name(name: str, place: Place) -> None:
    folder = place(f"{name}/db1.err", PGBENCH / "stderr").parents[1]
    with site(folder) as server:
        landing = LexborHTMLParser(requests.get(server.url, timeout=PATIENCE).text)
        link = landing.css_first("th a").attributes["href"] or ""
        assert texts(server.tree(link.removeprefix("runs/")), "h1") == [name]


def test_a_run_whose_clock_is_ahead_has_just_begun(place: Place) -> None:
    lines = "".join(f"progress: {NOW + at:.3f} s, 50.0 tps, lat 4.000 ms stddev 2.000\n" for at in (21, 22))
    place("a/db1.err", lines.encode())
    folder = place("a/db1.yaml", b"command: pgbench -T 60").parents[1]
    with site(folder) as server:
        page = server.get("a").text
    assert "running for 0.0 s · 1m 20s left · as of" in page


def test_more_runs_than_can_be_followed_are_refused_with_a_reason(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looks_module, "_FIRST", 0.0)  # nobody waits for plots, and none is let go meanwhile
    monkeypatch.setattr(looks_module, "_PAUSE", PATIENCE)
    for number in range(looks_module._MOST + 1):
        folder = place(f"r{number}/db1.err", PGBENCH / "stderr").parents[1]
    with site(folder) as server:
        answers = [server.get(f"r{number}").text for number in range(looks_module._MOST + 1)]
    assert "8 other runs are open" in answers[-1]
    assert not any("other runs are open" in answer for answer in answers[:-1])


def test_a_running_run_tells_its_time_left_and_its_result_so_far(place: Place) -> None:
    lines = "".join(
        f"progress: {int(NOW) - 60 + n}.000 s, 100.0 tps, lat 2.000 ms stddev 0.100\n" for n in range(1, 61)
    )
    folder = place("a/db1.err", lines.encode()).parents[1]
    place("a/db1.yaml", f"{{start: {NOW - 60}, parameters: {{planned_seconds: 90}}}}".encode())
    with site(folder) as server:
        tree = server.tree("a")
    assert "running for 1m 00s · 30 s left" in texts(tree, "#now p")[0]
    assert "Result so far" in texts(tree, "h2")
    assert "Last report, 0.0 s ago: 100 TPS · mean latency 2.00 ms · 6.00k operations so far" in texts(tree, "#now p")


def test_a_worker_without_a_throughput_has_no_unit(place: Place) -> None:
    for worker in ("db1", "db2"):
        folder = place(f"a/{worker}.err", b"pgbench (15.18)\nstarting vacuum...end.\n").parents[1]
    with site(folder) as server:
        rows = LexborHTMLParser(server.get("a").text).css("#now tbody tr")
        assert [node.text(separator="|", strip=True) for node in rows] == [
            "db1|running|–|–|–|–|–",
            "db2|running|–|–|–|–|–",
        ]


@pytest.mark.parametrize("start", [NOW - 10, NOW + 10])
def test_reports_before_the_start_in_a_record_are_drawn(start: float, place: Place) -> None:
    lines = "".join(
        f"progress: {int(NOW) - 60 + n}.000 s, {n}.0 tps, lat 2.000 ms stddev 0.100\n" for n in range(1, 61)
    )
    folder = place("a/db1.err", lines.encode()).parents[1]
    place("a/db1.yaml", f"start: {start}".encode())
    with site(folder) as server:
        tree = server.tree("a")
    rows = [node.text(separator="|", strip=True) for node in tree.css("#course tbody tr")]
    assert "Length|0:59" in rows
    across = figures(tree)[0]["data"][0]["x"]
    assert len(across) == 60 and min(across) >= 0


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"run.yaml": b"warmup: [3s"}, "run.yaml:1: expected YAML"),
        ({"run.yaml": b"warmups: 3s"}, "run.yaml:1: warmups: no such key"),
        ({"notes.txt": b"remember the milk\n"}, "notes.txt is ignored: expected the output of pgbench, fio"),
    ],
)
def test_what_is_wrong_with_files_is_said_on_both_pages(files: dict[str, bytes], said: str, place: Place) -> None:
    folder = place("a/db1.err", PGBENCH / "stderr", NOW - 100).parents[1]
    for name, content in files.items():
        place(f"a/{name}", content, NOW - 100)
    with site(folder) as server:
        banners = texts(server.tree("a"), ".banner.warn")
        landing = texts(LexborHTMLParser(requests.get(server.url, timeout=PATIENCE).text), ".banner.warn")
        assert any(said in text for text in banners), banners
        assert any(said in text for text in landing), landing
        place("a/run.yaml", b"{}", NOW - 50)
        (folder / "a" / "notes.txt").unlink(missing_ok=True)
        eventually(lambda: server.runs.poll(NOW, NOW + 100) or not server.runs.problems, "it is mended")


FIO_TEXT = b"""job1: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1
fio-3.33
Starting 1 process
"""


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (
            b"pgbench (15.18)\nstarting vacuum...end.\n",
            "pgbench has not reported since it began: -P 1 and -l give reports after a restart",
        ),
        (
            FIO_TEXT,
            "fio has not reported since it began: --output-format=json+ --status-interval=1 gives reports",
        ),
    ],
)
def test_a_benchmark_that_does_not_report_is_told_how(printed: bytes, said: str, place: Place) -> None:
    folder = place("a/w.out", printed, NOW - 30).parents[1]
    with site(folder) as server:
        found = texts(server.tree("a"), "#now p")
    assert any(text.startswith(said) for text in found), found


def test_an_ended_run_without_reports_says_what_would_give_some(place: Place) -> None:
    folder = place("a/db1.out", RECORDINGS / "pgbench/tpcb-15.18.out").parents[1]
    with site(folder) as server:
        notes = texts(server.tree("a"), ".note")
    assert notes == ["There is nothing to draw: pgbench wrote no report while it ran; -P 1 and -l give some."]


def test_what_others_wrote_stays_text(place: Place) -> None:
    job = re.findall(rb'"jobname" : "(\w+)"', FIO.read_bytes())[0]
    parameter = """ "a<b>\\e]0;": '"><img src=x onerror=alert(1)>' """
    record = f"labels: {{vm: '{EVIL}'}}\nparameters: {{{parameter}}}\ncommand: '{EVIL}'"
    name = "<svg onload=x>'&\""
    place(f"{name}/<i>w.out", FIO.read_bytes().replace(b'"jobname" : "' + job, b'"jobname" : "<script>$x^2$'))
    folder = place(f"{name}/run.yaml", record.encode()).parents[1]
    with site(folder) as server:
        landing = LexborHTMLParser(requests.get(server.url, timeout=PATIENCE).text)
        link = landing.css_first("th a").attributes["href"] or ""
        tree = server.tree(link.removeprefix("runs/"))
    assert len(tree.css("script:not([type])")) == 3
    assert not tree.css("img, b, i, [onload], [onerror]")
    assert texts(tree, "h1") == [name]
    assert EVIL in texts(tree, "td")


@pytest.mark.parametrize("name", ["b", "..", "..%2F..%2Fetc", "%2Fetc%2Fpasswd", "a%00", ".", "a/../../x", EVIL, "%FF"])
def test_what_is_no_run_is_not_found_and_the_runs_are_named(name: str, pgbench: Path) -> None:
    (pgbench.parent / "b").mkdir()
    (pgbench.parent / "b" / "db1.err").write_bytes((PGBENCH / "stderr").read_bytes())
    with site(pgbench) as server:
        session = requests.Session()
        request = requests.Request("GET", server.url).prepare()
        request.url = f"{server.url}/runs/{name}"  # as it is, not made shorter
        answer = session.send(request, timeout=PATIENCE)
    assert answer.status_code == 404
    tree = LexborHTMLParser(answer.text)
    assert not tree.css("script")
    if "/" not in name:
        assert [node.attributes["href"] for node in tree.css("li a")] == ["../runs/a"]


def test_a_prometheus_that_is_down_is_said_and_the_page_works(pgbench: Path) -> None:
    with site(pgbench, f"http://127.0.0.1:{free_port()}") as server:
        eventually(lambda: "keeps trying" in server.get("a").text, "Prometheus is asked")
        tree = server.tree("a")
    assert len(tree.css("#course figure")) == 6
    (note,) = texts(tree, "#answers .note")
    assert note.startswith("No alerts and no disks: Prometheus at") and note.endswith("this page keeps trying.")


def test_a_fault_of_ours_in_the_plots_leaves_the_page(pgbench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        raise OverflowError("too large")

    monkeypatch.setattr("benchwatch.server.looks.drawn", broken)
    with site(pgbench) as server:
        tree = server.tree("a")
    assert texts(tree, "#course .note") == ["cannot be drawn: OverflowError; see the exporter's log"]
    assert "finished" in texts(tree, "#now p")[0]


def test_a_run_of_which_nothing_is_recognised_yet_says_so(place: Place) -> None:
    folder = place("a/db1.out", b"").parents[1]
    with site(folder) as server:
        notes = texts(server.tree("a"), "#course .note")
    expected = names()
    assert notes == [f"the files of this run have no recognised output yet: expected output of {expected}"]


class Alerting(http.server.BaseHTTPRequestHandler):
    """A Prometheus with alerts of this run, of another one and of no run, and nothing else."""

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        found = [
            {"state": "firing", "labels": {"alertname": "Slow", "severity": "warning", "run": "a"}},
            {"state": "firing", "labels": {"alertname": "ThroughputZero", "severity": "warning", "run": "a"}},
            {"state": "firing", "labels": {"alertname": "ThroughputZero", "severity": "critical", "run": "a"}},
            {
                "state": "firing",
                "labels": {"alertname": "RunSlow", "severity": "warning", "run": "a"},
                "annotations": {"summary": "a is slow: database", "verdict": "It waits for a lock."},
            },
            {"state": "firing", "labels": {"alertname": "RunExplained", "severity": "info", "run": "a"}},
            {"state": "firing", "labels": {"alertname": "Other", "severity": "critical", "run": "b"}},
            {"state": "pending", "labels": {"alertname": "Soon", "severity": "critical"}},
            {
                "state": "firing",
                "labels": {"alertname": EVIL, "severity": "critical"},
                "annotations": {"summary": EVIL},
            },
        ]
        data = {"alerts": found} if self.path == "/api/v1/alerts" else {"result": []}
        body = json.dumps({"status": "success", "data": data}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_: object) -> None:
        pass


def test_alerts_that_fire_are_shown_those_of_other_runs_are_not(pgbench: Path) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Alerting) as prometheus:
        threading.Thread(target=prometheus.serve_forever, daemon=True).start()
        with site(pgbench, f"http://127.0.0.1:{prometheus.server_address[1]}") as server:
            eventually(lambda: "<h2>Disks</h2>" in server.get("a").text, "Prometheus is asked")
            tree = server.tree("a")
        prometheus.shutdown()
    answers = dict(zip(texts(tree, "#answers dt"), texts(tree, "#answers dd"), strict=True))
    assert answers == {
        "Objective": "met, mean 3.83 ms against 5 ms, above it in 4 of 16 reports",
        "Alerts": f"4 alerts fire ThroughputZero critical {EVIL} critical : {EVIL} "
        "RunSlow warning : a is slow: database and Slow",
    }
    assert texts(tree, "#machine .note") == ["Prometheus has no disk of node_exporter with any I/O in this time."]


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ([{"name": "runs"}], "none fires"),
        ([], "Prometheus has no rules, so no alert can fire: load prometheus/rules"),
    ],
)
def test_a_prometheus_without_rules_is_said_where_alerts_would_be(
    groups: list[object], said: str, pgbench: Path
) -> None:
    class Silent(Alerting):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            data = {"alerts": [], "result": [], "groups": groups}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"status": "success", "data": data}).encode())

        do_GET = do_POST = answer

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent) as prometheus:
        threading.Thread(target=prometheus.serve_forever, daemon=True).start()
        with site(pgbench, f"http://127.0.0.1:{prometheus.server_address[1]}") as server:
            eventually(lambda: "<h2>Disks</h2>" in server.get("a").text, "Prometheus is asked")
            tree = server.tree("a")
        prometheus.shutdown()
    assert dict(zip(texts(tree, "#answers dt"), texts(tree, "#answers dd"), strict=True))["Alerts"] == said


def test_parameters_that_differ_from_the_run_before_come_first(place: Place) -> None:
    for run, begin, shared in (("older", 900, "1GB"), ("a", 300, "8GB")):
        lines = "".join(
            f"progress: {NOW - begin + n:.3f} s, 100.0 tps, lat 2.000 ms stddev 0.100\n" for n in range(1, 61)
        )
        place(f"{run}/db1.err", lines.encode(), NOW - begin + 60)
        command = f"command: pgbench -c 4 --log-prefix=/dev/shm/benchwatch-{run}-x1/db1"
        record = (
            f"{{end: {NOW - begin + 60}, exit_code: 0, parameters: {{shared_buffers: {shared}, jit: 'on'}}, {command}}}"
        )
        folder = place(f"{run}/db1.yaml", record.encode()).parents[1]
    with site(folder) as server:
        tree = server.tree("a")
        first = server.tree("older")
    assert "Parameters: 1 differs from older, the run before" in texts(tree, "summary")
    (details,) = [node for node in tree.css("details") if "the run before" in node.text()]
    tables = [[cell.text(strip=True) for cell in table.css("th, td")] for table in details.css("table")]
    assert tables == [["", "a", "older", "shared_buffers", "8GB", "1GB"], ["jit", "on"]]
    (link,) = details.css("a")
    assert link.attributes["href"] == "../compare?base=older&other=a"
    assert "Parameters" in texts(first, "summary")


def test_the_page_links_to_the_boards_of_grafana_at_the_time_of_the_run(pgbench: Path) -> None:
    runs = Runs([pgbench], RunsSettings(), Buckets())
    while runs.poll(NOW):
        pass
    board = Exporter(runs)
    run = board.run("a")
    assert run is not None
    (worker,) = run.workers
    assert worker.start is not None and worker.end is not None
    tree = LexborHTMLParser(run_page(run, {}, now=NOW, grafana="http://graf.example:3000"))
    links = [node.attributes for node in tree.css("#now a")]
    time = f"var-run=a&from={int(1000 * worker.start)}&to={int(1000 * worker.end) + 1000}"
    assert [link["href"] for link in links] == [
        f"http://graf.example:3000/d/{board}/?{time}" for board in ("benchwatch-live", "benchwatch-spike")
    ]
    assert {link["data-begin"] for link in links} == {f"{worker.start:.3f}"}
    assert not LexborHTMLParser(run_page(run, {}, now=NOW)).css("#now a")
