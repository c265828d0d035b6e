import dataclasses
import os
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser

from benchwatch.cli import main
from benchwatch.history.find import find_runs
from benchwatch.history.replayed_run import timelines
from benchwatch.history.timeline import Timeline
from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.prometheus import FiringAlert, Prometheus, PrometheusError, Samples, Seen
from benchwatch.plots.benchmark import shown
from benchwatch.plots.run_view import view
from benchwatch.plots.slowness import slowness
from benchwatch.server.run_answers import answers
from benchwatch.server.run_plots import drawn, machine
from benchwatch.settings.settings import RunsSettings
from demo_processes import Processes
from tests.support.pages import Page
from tests.support.places import RECORDINGS, Place
from tests.support.programs import output, program
from tests.support.servers import start_prometheus
from tests.support.waiting import PATIENCE
from tests.why import scenes
from tests.why.test_sentences import CASES, explained

pytestmark = pytest.mark.system

PROGRESS = RECORDINGS / "dashboards/pgbench-rate-retries-15.18/stderr"
BEGIN, SECONDS = 1_795_168_000, 60
LATER = BEGIN + 3600
"""When there were two machines with names."""
SLOW_BEGIN, SLOW_SECONDS = BEGIN + 7200, scenes.LENGTH
NO_RULES = "Prometheus has no rules, so no alert can fire: load prometheus/rules"
SLOW = CASES["log device"][0]


def run(place: Place) -> Path:
    """A run of which only progress lines are known."""
    return place("a/db1.err", _progress().encode()).parent


def _progress(begin: int = BEGIN, seconds: int = SECONDS) -> str:
    """A line a second."""
    moments = range(begin + 1, begin + seconds + 1)
    return "".join(f"progress: {moment}.000 s, 100.0 tps, lat 1.000 ms stddev 0.100\n" for moment in moments)


def _undated() -> str:
    return re.sub(r"\d{10}\.000", lambda moment: f"{float(moment[0]) - BEGIN:.1f}", _progress())


def report(path: Path, url: str, tmp_path: Path) -> tuple[int, Page]:
    target = tmp_path / "page.html"
    code = main(["report", str(path), "--prometheus", url, "--output", str(target)])
    return code, Page(target)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Prometheus that has seen disks and vdisks during the run, a sample a second."""
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "samples").write_text("".join(f"{line}\n" for line in _samples()))
    (folder / "data").mkdir()
    output(program("promtool"), "tsdb", "create-blocks-from", "openmetrics", folder / "samples", folder / "data")
    processes = Processes(folder, os.environ)
    try:
        yield start_prometheus(processes, folder, {}).url
    finally:
        processes.stop_all()


def _samples() -> Iterator[str]:
    """The log's disk writes 200/s at 0.5 ms; the data disk 1000/s at 2 ms, 4 ms in the second half; sdd is idle.

    On another host, which is scraped every 15 s, a disk writes 10/s in no time that could be told.
    The vdisk of the log has a latency of 1 ms, that of the data 3 ms, of whose writes the oplog takes 75 %; a third
    vdisk of 2 ms bypasses it.
    """
    counters: dict[str, list[str]] = {}
    for second in range(-90, SECONDS + 31):
        late = max(0, second - SECONDS // 2)
        for host, device, writes, seconds in (
            ("host", "sdb", 200, 0.1 * second),
            ("host", "sdc", 1000, 2.0 * second + 2.0 * late),
            ("host", "sdd", 0, 0.0),
            *((("slow", "sde", 10, 0.0),) if second % 15 == 0 else ()),
        ):
            labels = f'{{instance="{host}:9100",device="{device}"}}'
            for name, value in (
                ("node_disk_writes_completed_total", writes * second),
                ("node_disk_write_time_seconds_total", seconds),
                ("node_disk_reads_completed_total", 0),
                ("node_disk_read_time_seconds_total", 0),
                ("node_disk_io_time_seconds_total", 0.25 * second if writes else 0),
            ):
                counters.setdefault(name, []).append(f"{name}{labels} {value + 100} {BEGIN + second}")
        for vdisk, role, latency, oplog in (
            ("1", "log", 0.001, 1.0),
            ("2", "data", 0.003, 0.75),
            ("3", "spare", 0.002, 0.0),
        ):
            labels = f'cvm="cvm1",vdisk="{vdisk}"'
            for name, more, value in (
                ("nutanix_vdisk_info", f',role="{role}"', 1.0),
                ("nutanix_vdisk_frontend_latency_seconds", ',op="write"', latency),
                ("nutanix_vdisk_frontend_ops_per_second", ',op="write"', 100.0),
                *((("nutanix_vdisk_write_destination_ratio", ',destination="oplog"', oplog),) if oplog else ()),
                ("nutanix_vdisk_write_destination_ratio", ',destination="estore_ssd"', 1 - oplog),
                ("nutanix_vdisk_random_ratio", ',op="write"', 0.5),
            ):
                counters.setdefault(name, []).append(f"{name}{{{labels}{more}}} {value} {BEGIN + second}")
    for second in range(-90, SECONDS + 31):
        for instance, host, writes in (("one", "db1", 100), ("two", "db2", 300)):
            for name, value in (
                ("node_disk_writes_completed_total", writes * second),
                ("node_disk_reads_completed_total", 0),
                ("node_disk_io_time_seconds_total", 0.5 * second),
            ):
                labels = f'instance="{instance}:9100",host="{host}",device="sdb"'
                counters[name].append(f"{name}{{{labels}}} {value + 50_000} {LATER + second}")
            for exporter in ("a", "b"):  # both ask both CVMs
                labels = f'instance="{exporter}:19777",cvm="cvm-{instance}",vdisk="7"'
                name = "nutanix_vdisk_info"
                counters[name].append(f'{name}{{{labels},vm="{host}",role="log"}} 1 {LATER + second}')
                for name in ("nutanix_vdisk_frontend_ops_per_second", "nutanix_vdisk_frontend_latency_seconds"):
                    counters[name].append(f'{name}{{{labels},op="write"}} {writes / 1000} {LATER + second}')
        for name, labels in (
            ("benchwatch_run_host_info", 'run="named",host="db2",role="server"'),
            ("benchwatch_run_host_info", 'run="named",host="db1",role="client"'),
            ("benchwatch_run_vm_info", 'run="named",host="db2",vm="db2"'),
            ("benchwatch_run_disk_info", 'run="named",host="db1",device="sdb",role="data"'),
            ("benchwatch_run_disk_info", 'run="named",host="db2",device="sdb",role="log"'),
        ):
            counters.setdefault(name, []).append(f"{name}{{{labels}}} 1 {LATER + second}")
    for name, moment, labels, value in _slow_run():
        words = ",".join(f'{key}="{text}"' for key, text in labels.items())
        counters.setdefault(name, []).append(f"{name}{{{words}}} {value} {moment:.1f}")
    for name, lines in counters.items():
        yield f"# TYPE {name.removesuffix('_total')} {'counter' if name.endswith('_total') else 'gauge'}"
        yield from sorted(lines, key=lambda line: line.split(" ")[0])
    yield "# EOF"


def _slow_run() -> Iterator[tuple[str, float, Mapping[str, str], float]]:
    """Run `tpcb`, whose log device is slow from 120 to 140 s; its alerts."""
    for one in scenes.seen(SLOW).all():
        name, labels = one.labels["__name__"], {key: text for key, text in one.labels.items() if key != "__name__"}
        for time_, value in zip(one.times, one.values, strict=True):
            yield name, SLOW_BEGIN + time_ - scenes.T0, labels, value
    worker = {"run": "tpcb", "worker": "db1"}
    for second in range(-5, SLOW_SECONDS + 101):
        at = SLOW_BEGIN + second
        yield "benchwatch_run_start_timestamp_seconds", at, worker, SLOW_BEGIN
        if second > SLOW_SECONDS:
            yield "benchwatch_run_end_timestamp_seconds", at, worker, SLOW_BEGIN + SLOW_SECONDS
        firing = {**worker, "alertstate": "firing"}
        if 31 <= second <= 40 or 121 <= second <= 220:
            yield "ALERTS", at, {**firing, "alertname": "LatencySpike", "severity": "warning"}, 1
        if second % 15 == 0 and 15 <= second <= 45:
            yield "ALERTS", at, {**firing, "alertname": "A<b>", "severity": "info"}, 1
        if second < 31:
            yield "ALERTS", at, {**worker, "alertstate": "pending", "alertname": "Pending", "severity": "info"}, 1


def drawing(page: Page, title: str) -> str:
    """What a drawing says of itself."""
    return next(each.description for each in page.drawings() if each.title.startswith(title))


@pytest.fixture(scope="module")
def page(url: str, tmp_path_factory: pytest.TempPathFactory) -> Page:
    """A report with all that Prometheus has."""
    folder = tmp_path_factory.mktemp("runs") / "a"
    folder.mkdir()
    (folder / "db1.err").write_text(_progress())
    (folder / "run.yaml").write_text("disks: {sdb: log, sdc: data}")
    code, page = report(folder, url, folder.parent)
    assert code == 0
    return page


def test_disks_have_their_roles_and_true_figures(page: Page) -> None:
    assert "Disks" in page.text("h2")
    writes = drawing(page, "Disk operations")
    assert "log disk sdb write from 200 to 200" in writes
    assert "data disk sdc write from 1,000 to 1,000" in writes
    await_ = drawing(page, "Disk await")
    assert "log disk sdb write from 500 µs to 500 µs" in await_
    assert "data disk sdc write from 2 ms to 4 ms" in await_
    assert "read" not in await_  # where there was no request there is no time of a request
    assert "log disk sdb from 25 % to 25 %" in drawing(page, "Disk utilisation")
    assert "sdd" not in page.source


def test_vdisks_show_what_the_virtual_machine_sees(page: Page) -> None:
    assert "Nutanix vdisks" in page.text("h2")
    latency = drawing(page, "Front-end latency of vdisks")
    assert "log vdisk 1 write from 1 ms to 1 ms" in latency
    assert "data vdisk 2 write from 3 ms to 3 ms" in latency
    assert "data vdisk 2 from 75 % to 75 %" in drawing(page, "Writes absorbed by the oplog")
    assert "spare vdisk 3 from 0 % to 0 %" in drawing(page, "Writes absorbed by the oplog")
    assert "log vdisk 1 write from 50 % to 50 %" in drawing(page, "Random share of the operations")


@pytest.mark.parametrize("log", ["log", "wal"])
def test_roles_are_those_of_all_workers(log: str, url: str, place: Place, tmp_path: Path) -> None:
    folder = run(place)
    place("a/db2.err", _progress().encode())
    place("a/db1.yaml", b"disks: {sdc: data}")
    place("a/db2.yaml", f"disks: {{sdb: {log}}}".encode())
    _, page = report(folder, url, tmp_path)
    assert re.findall(r"(\w+ disk \w+) write from", drawing(page, "Disk operations")) == [
        f"{log} disk sdb",
        "data disk sdc",
    ]


def test_disks_of_a_run_that_only_its_files_date_are_in_doubt(url: str, place: Place, tmp_path: Path) -> None:
    path = place("a/db1.err", _undated().encode(), written=BEGIN + SECONDS)
    code, page = report(path.parent, url, tmp_path)
    assert code == 0
    doubt = "a has no timestamps in its output and is dated by file modification times: "
    doubt += "if the files were copied since, what follows is of another time."
    assert page.text("p").count(doubt) == 2  # disks and vdisks


@pytest.mark.parametrize(
    ("name", "record", "expected"),
    [
        ("a", b"found: {host: db1, disks: {sdb: data}}", ["data disk sdb write from 100"]),
        ("named", b"labels: {a: b}", ["log disk sdb write from 300"]),
        ("a", b"labels: {a: b}", ["sdb on two:9100 write from 300", "sdb on one:9100 write from 100"]),
    ],
)
def test_disks_and_vdisks_are_those_of_the_runs_own_machines(
    url: str, place: Place, tmp_path: Path, name: str, record: bytes, expected: list[str]
) -> None:
    place(f"{name}/run.yaml", record)
    _, page = report(place(f"{name}/db1.err", _progress(LATER).encode()).parent, url, tmp_path)
    writes = drawing(page, "Disk operations")
    assert re.findall(r"(?:\w+ disk )?sdb (?:on \S+ )?write from \d+", writes) == expected
    if len(expected) > 1:  # no VM is known of the run, and all vdisks are those of a VM
        assert "Nutanix vdisks" not in page.source
        return
    vdisks = re.findall(r"log vdisk 7 (?:on (\S+) )?write from (\d+) ms", drawing(page, "Front-end latency of vdisks"))
    assert vdisks == [("", expected[0].rpartition(" ")[2])], "once, though two exporters asked"


def test_foreign_machines_are_not_drawn(
    url: str, place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place("a/run.yaml", b"host: db3")
    code, page = report(place("a/db1.err", _progress(LATER).encode()).parent, url, tmp_path)
    none = "Prometheus has no disk of node_exporter with any I/O in this time on db3 (label host of its targets)."
    assert (code, none in page.text("p")) == (1, True)
    assert "db2" not in page.source and "Nutanix vdisks" not in page.source
    assert none in capsys.readouterr().err


def rows(page: Page, title: str) -> list[list[str]]:
    """The texts of the rows of all tables in the section of that title."""
    (section,) = re.findall(rf"<h2>{title}</h2>.*?</section>", page.source, re.DOTALL)
    body = re.findall(r"<tr>(<th scope=\"row\".*?)</tr>", section)
    return [[re.sub("<.*?>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)] for row in body]


def slow(place: Place) -> Path:
    """The slow run, of which the files are there too."""
    return place("tpcb/db1.err", _progress(SLOW_BEGIN, SLOW_SECONDS).encode()).parent


def test_a_slow_run_says_when_and_why_and_what_fired(url: str, place: Place, tmp_path: Path) -> None:
    _, page = report(slow(place), url, tmp_path)
    assert page.text("h2").index("Why it was slow") < page.text("h2").index("Disks")
    assert rows(page, "Why it was slow") == [
        ["2:00–2:20", CASES["log device"][2].replace("19 s", "21 s")],
        ["A&lt;b&gt;", "0:15–0:45", "info", "worker=db1"],
        ["LatencySpike", "0:31–0:40, 2:01–3:40", "warning", "worker=db1"],
    ]
    assert page.text("summary")[0] == "Alerts and their times: A<b>, LatencySpike"


@pytest.mark.parametrize("asked", [("--to", SLOW_BEGIN + 200), ("--at", SLOW_BEGIN + 130)])
def test_why_says_the_same_of_a_run_by_its_folder(
    asked: tuple[str, int], url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    option, moment = asked
    assert main(["why", "runs/tpcb", "--prometheus.url", url, option, str(moment)]) == 0
    said = capsys.readouterr().out
    assert CASES["log device"][2].replace("19 s", "21 s") in said.replace("\n", " ")
    assert re.search(r"log device +1.30 ms +44.\d\d ms +42.\d\d ms", said)
    assert main(["why", "runs/other", "--prometheus.url", url, option, str(moment)]) == 1
    assert capsys.readouterr().err.startswith("benchwatch: Prometheus knows no run 'other' in that time")


def test_what_an_operation_waits_for_is_drawn_usually_and_now(url: str, place: Place, tmp_path: Path) -> None:
    _, page = report(slow(place), url, tmp_path)
    said = drawing(page, "What an operation waits for, usually and 2:00–2:20")
    assert said == (
        "From usually to slow: client and network 1 ms to 0; database at work 2 ms to 1.81 ms; lock 100 µs to 605 µs; "
        "other waits of the database 300 µs to 1.81 ms; log device 1.3 ms to 44.2 ms; data device 1.3 ms to 605 µs"
    )


def test_slow_times_of_a_run_that_only_its_files_date_are_in_doubt(url: str, place: Place, tmp_path: Path) -> None:
    undated = re.sub(
        r"\d{10}\.000",
        lambda moment: f"{float(moment[0]) - SLOW_BEGIN:.1f}",
        _progress(SLOW_BEGIN, SLOW_SECONDS),
    )
    path = place("tpcb/db1.err", undated.encode(), written=SLOW_BEGIN + SLOW_SECONDS)
    _, page = report(path.parent, url, tmp_path)
    (section,) = re.findall(r"<h2>Why it was slow</h2>.*?</section>", page.source, re.DOTALL)
    assert "dated by file modification times" in section


def test_a_run_that_was_as_usual_says_so_and_one_that_prometheus_did_not_see_nothing(
    url: str, place: Place, tmp_path: Path
) -> None:
    early = place("tpcb/db1.err", _progress(SLOW_BEGIN, 100).encode())  # of which the slow part is not there
    _, page = report(early.parent, url, tmp_path)
    assert rows(page, "Why it was slow") == [
        ["A&lt;b&gt;", "0:15–0:45", "info", "worker=db1"],
        ["LatencySpike", "0:31–0:40, 2:01–3:20", "warning", "worker=db1"],  # until 100 s after the end
    ]
    assert "The run was never slower than usual, as far as Prometheus could compare it." in page.text("p")
    assert "Why it was slow" not in report(run(place), url, tmp_path)[1].source


def test_without_roles_the_busiest_disks_are_shown(url: str, place: Place, tmp_path: Path) -> None:
    _, page = report(run(place), url, tmp_path)
    lines = re.findall(r"(\w+) on (\w+):9100 write from (\S+) to", drawing(page, "Disk operations"))
    *fast, (disk, host, rate) = lines
    assert fast == [("sdc", "host", "1,000"), ("sdb", "host", "200")]
    assert (disk, host) == ("sde", "slow")
    assert 9 <= float(rate) <= 10, "Prometheus guesses what lies beyond the first and last scrape of a window"
    assert "sde" not in drawing(page, "Disk await")
    assert any("rates over 4 or 60 s." in caption for caption in page.text("figcaption"))


def test_a_time_that_prometheus_knows_nothing_of_is_said(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, page = report(PROGRESS.parent, url, tmp_path)
    none = "Prometheus has no disk of node_exporter with any I/O in this time."
    assert code == 1
    assert f"benchwatch: {none}" in capsys.readouterr().err
    assert none in page.text("p")
    assert "Throughput" in page.text("h3")


def test_a_prometheus_that_does_not_answer_is_said(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as bound:  # and does not listen
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        code, page = report(run(place), f"http://user:secret@{address}", tmp_path)
    said = f"Prometheus at http://{address} does not answer (Connection refused)."
    assert code == 1
    assert capsys.readouterr().err == f"benchwatch: {said}\n"
    assert said in page.text("p")
    assert "secret" not in page.source


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, b"<html>", "HTTP 200, which is not an answer of Prometheus"),
        (404, b"{}", "HTTP 404, which is not an answer of Prometheus"),
        (503, b'{"status": "error", "error": "<b>overloaded"}', "<b>overloaded"),
    ],
)
def test_what_is_no_prometheus_is_said(status: int, body: bytes, said: str, place: Place, tmp_path: Path) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}"
        code, page = report(run(place), address, tmp_path)
        server.shutdown()
        thread.join()
    assert code == 1
    assert f"Prometheus at {address} did not answer: {said}." in page.text("p")


def test_the_page_of_a_run_has_the_disks_and_vdisks_of_its_report(
    url: str, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchwatch.server.run_plots.PATIENCE", PATIENCE)
    _, page = report(run(place), url, tmp_path)
    runs = find_runs([run(place)], RunsSettings(), Buckets())
    html = machine(url, list(timelines(runs, families=shown())))
    (tmp_path / "part.html").write_text(html)
    part = Page(tmp_path / "part.html")
    titles = part.text("h3")
    assert {"Disk operations", "Front-end latency of vdisks"} <= set(titles) <= set(page.text("h3"))
    of_part = part.drawings()
    assert of_part == page.drawings()[-len(of_part) :]


def test_a_prometheus_that_drips_is_given_up() -> None:
    class Dripping(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):
                while True:
                    self.wfile.write(b" ")
                    time.sleep(0.05)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Dripping) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        prometheus = Prometheus(f"http://127.0.0.1:{server.server_port}", timeout=1.0)
        with pytest.raises(PrometheusError, match=r"does not answer \(not all within 1 s\)"):
            prometheus.firing()
        server.shutdown()


def slow_timelines(place: Place, seconds: int = SLOW_SECONDS) -> list[Timeline]:
    folder = place("tpcb/db1.err", _progress(SLOW_BEGIN, seconds).encode()).parent
    return list(timelines(find_runs([folder], RunsSettings(), Buckets()), families=shown()))


def head(url: str, found: list[Timeline]) -> tuple[str, dict[str, str], list[list[str]]]:
    """The head of the page of a run: its first line, what it says by name, and the rows of its figures."""
    prometheus = Prometheus(url)
    html = answers(prometheus, slowness(prometheus, view("tpcb", found)), found)
    tree = LexborHTMLParser(html)
    names, said = ([node.text(separator=" ", strip=True) for node in tree.css(tag)] for tag in ("dt", "dd"))
    cells = [[cell.text(strip=True) for cell in row.css("th, td")] for row in tree.css("tr")]
    return tree.css_first(".banner").text(), dict(zip(names, said, strict=True)), cells


def test_the_page_of_a_slow_run_begins_with_what_a_reader_asks(url: str, place: Place) -> None:
    banner, said, rows = head(url, slow_timelines(place))
    assert banner.startswith("Was slow from 11:48:40 UTC (2:00 into the run) until it ended (20 s), over: because of")
    assert said.pop("Why").startswith("pgbench on db1 takes 49 ms a transaction")
    assert said == {"Objective": "none set", "Alerts": NO_RULES}
    assert rows == [
        ["", "usually: its own last minutes", "slow: mean from 2:00 to 2:20", ""],
        ["TPS", "1,000", "152", "15 % of usual"],
        ["mean latency", "6 ms", "49 ms", "8.2 x usual"],
        ["processors of client1", "10 % busy", "10 % busy", "not the cause"],
        ["processors of db1", "25 % busy", "25 % busy", "not the cause"],
        ["log disk sdb: writes", "500/s at 800 µs", "90/s at 74.7 ms", "93 x slower"],
        ["data disk sdc: writes", "100/s at 1 ms", "100/s at 1 ms", "–"],
        ["data disk sdc: reads", "800/s at 500 µs", "800/s at 500 µs", "–"],
    ]


def test_a_run_that_is_slow_says_since_when(url: str, place: Place) -> None:
    active = [replace(one, state="running", end=None) for one in slow_timelines(place, 130)]
    banner, _, _ = head(url, active)
    assert banner == "Slow since 11:48:40 UTC (2:00 into the run), still slow after 10 s: because of the log device"
    over = [replace(one, state="running", end=None) for one in slow_timelines(place, 150)]
    banner, _, _ = head(url, over)
    assert banner.startswith("Was slow from 11:48:40 UTC (2:00 into the run) to 11:49:01 UTC (21 s), over: ")


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("running", ["Not slower than usual so far, as far as Prometheus could compare it."]),
        ("stalled", []),
        ("finished", ["Never slower than usual, as far as Prometheus could compare it."]),
    ],
)
def test_a_run_that_was_not_slow_says_no_more_than_was_compared(
    state: str, said: list[str], url: str, place: Place
) -> None:
    end = None if state != "finished" else SLOW_BEGIN + 100.0
    found = [replace(one, state=state, end=end) for one in slow_timelines(place, 100)]
    prometheus = Prometheus(url)
    tree = LexborHTMLParser(answers(prometheus, slowness(prometheus, view("tpcb", found))._replace(slow=[]), found))
    assert [node.text() for node in tree.css(".banner")] == said


def test_slow_times_that_are_over_are_asked_for_once(url: str, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    active = [replace(one, state="running", end=None) for one in slow_timelines(place, 450)]
    prometheus, run = Prometheus(url), view("tpcb", active)
    known = slowness(prometheus, run)
    asked: list[float] = []
    samples = Prometheus.samples

    def counted(self: Prometheus, selector: str, begin: float, end: float) -> list[Samples]:
        asked.append(begin)
        return samples(self, selector, begin, end)

    monkeypatch.setattr(Prometheus, "samples", counted)
    again = slowness(prometheus, run, known)
    assert again == known and len(again.slow or ()) == 1
    assert len(asked) <= 1, "only recent reports"
    asked.clear()
    monkeypatch.setattr("benchwatch.plots.slowness.now", lambda: SLOW_BEGIN + 1000.0)
    ended = view("tpcb", slow_timelines(place))
    assert slowness(prometheus, ended, known).slow == known.slow
    assert not asked, "nothing about it changes any more"


def test_plots_of_a_slow_run_mark_what_was_usual_and_when_it_was_slow(url: str, place: Place, tmp_path: Path) -> None:
    lines = (
        f"progress: {SLOW_BEGIN + second}.000 s, {tps}.0 tps, lat {latency}.000 ms stddev 0.100\n"
        for second in range(1, SLOW_SECONDS + 1)
        for tps, latency in ((1000, 6) if second <= 120 else (152, 49),)
    )
    folder = place("tpcb/db1.err", "".join(lines).encode()).parent
    found = list(timelines(find_runs([folder], RunsSettings(), Buckets()), families=shown()))
    (tmp_path / "part.html").write_text(drawn(found, None, slowness(Prometheus(url), view("tpcb", found))))
    throughput, latency, *_ = Page(tmp_path / "part.html").drawings()
    assert (throughput.levels, latency.levels) == ({"usual 1,000": 1000}, {"usual 6 ms": 0.006})
    for plot in (throughput, latency):
        assert [(mark["x0"], mark["x1"]) for mark in plot.marks] == [(120_000, 140_000)]


def test_disks_and_vdisks_of_one_role_have_its_colour_in_all_plots(page: Page) -> None:
    for title, log, data in (
        ("Disk operations", "log disk sdb write", "data disk sdc write"),
        ("Disk await", "log disk sdb write", "data disk sdc write"),
    ):
        lines = page.drawing(title).lines
        assert [lines[name]["line"]["color"] for name in (log, data)] == ["--s6", "--s1"]


def test_the_head_says_whether_the_oplog_absorbs_the_writes_of_each_vdisk(url: str, place: Place) -> None:
    class Firing(Prometheus):
        def firing(self) -> list[FiringAlert]:
            spikes = ({"alertname": "VdiskLatencySpike", "vm": vm, "vdisk": vdisk} for vm, vdisk in alerts)
            return [{"labels": {"severity": "critical", **labels}} for labels in (*spikes, {"alertname": "CvmDown"})]

    alerts = [("pg1", "40043"), ("pg1", "45269"), ("other", "7")]
    found = slow_timelines(place)
    prometheus = Firing(url)
    known = slowness(prometheus, view("tpcb", found))
    assert known.slow
    (one,) = known.slow
    facts, times = one.facts._replace(machine="pg1"), np.arange(SLOW_BEGIN, SLOW_BEGIN + SLOW_SECONDS)
    series = [Samples({"__name__": "nutanix_cvm_last_success_timestamp_seconds", "cvm": "c"}, times, times)]
    for vdisk, role, before, after in (("45269", "data", 0.9, 0.85), ("40043", "log", 1.0, 0.4)):
        info = {"__name__": "nutanix_vdisk_info", "vm": "pg1", "cvm": "c", "vdisk": vdisk, "role": role}
        ratio = {"__name__": "nutanix_vdisk_write_destination_ratio", "destination": "oplog"}
        shares = np.where(times >= SLOW_BEGIN + 120, after, before)
        series.append(Samples(info, times, np.ones(len(times))))
        series.append(Samples({**ratio, "cvm": "c", "vdisk": vdisk}, times, shares))
    every = Seen([*one.now.window.seen.all(), *series])
    usual, slow = (
        waits._replace(window=dataclasses.replace(waits.window, facts=facts, seen=every))
        for waits in (one.usual, one.now)
    )
    of_vm = [one._replace(facts=facts, usual=usual, now=slow)]
    tree = LexborHTMLParser(answers(prometheus, known._replace(slow=of_vm), found))
    cells = [[cell.text(strip=True) for cell in row.css("th, td")] for row in tree.css("tr")]
    assert cells[-2:] == [
        ["oplog of log vdisk 40043", "100 % of writes", "40 % of writes", "60 % bypass it"],
        ["oplog of data vdisk 45269", "90 % of writes", "85 % of writes", "absorbed"],
    ]
    said = tree.css("dd")[-1].text(separator=" ", strip=True)
    assert said == "2 alerts fire VdiskLatencySpike critical (and 1 more) CvmDown critical", (
        "not those of other machines"
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("server hog", {"client1": "not the cause", "db1": "the cause"}),
        ("client hog", {"client1": "the cause", "db1": "not the cause"}),
        ("network", {"client1": "not the cause", "db1": "not the cause"}),
    ],
)
def test_the_head_says_whose_processors_are_the_cause(
    name: str, expected: Mapping[str, str], url: str, place: Place
) -> None:
    found = slow_timelines(place)
    known = slowness(Prometheus(url), view("tpcb", found))
    fault = explained(scenes.seen(CASES[name][0]))
    tree = LexborHTMLParser(answers(Prometheus(url), known._replace(slow=[fault]), found))
    cells = [[cell.text(strip=True) for cell in row.css("th, td")] for row in tree.css("tr")]
    said = {row[0].removeprefix("processors of "): row[-1] for row in cells if row[0].startswith("processors")}
    assert said == expected


def test_a_run_that_prometheus_did_not_see_is_named_with_what_it_needs(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", "other", "--prometheus.url", url]) == 1
    assert capsys.readouterr().err == (
        "benchwatch: Prometheus knows no run 'other': it must scrape the exporter during the run\n"
        "The name of a run is the label `run` of its metrics.\n"
    )


def test_a_time_that_ends_before_it_begins_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--from", "1790000100", "--to", "1790000000"]
    assert main(["why", "other", "--prometheus.url", "http://127.0.0.1:9", *asked]) == 2
    assert capsys.readouterr().err == "benchwatch: --from: expected a moment before that of --to\n"
