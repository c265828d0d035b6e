import gzip
import logging
import socket
import threading
import time

import pytest
import requests

from benchwatch.metrics.exposition import CONTENT_TYPE
from benchwatch.metrics.samples import Part
from benchwatch.model.cvm import Cvm, Vdisk
from benchwatch.model.run import Report, Worker
from benchwatch.server.answers import accepts_gzip
from tests.support.places import NOW
from tests.support.serving import NETWORK, FakeExporter, served
from tests.support.waiting import PATIENCE


def echo(parts: frozenset[Part]) -> str:
    return f"parts {' '.join(sorted(parts))}\n"


def raw(port: int, request: bytes) -> bytes:
    """All that the server sends to a request after which the connection is closed."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        connection.sendall(request)
        received = b""
        while piece := connection.recv(65536):
            received += piece
    return received


def test_metrics_are_everything_by_default() -> None:
    with served(FakeExporter(rendered=echo)) as server:
        answer = requests.get(f"{server.url}/metrics")
    assert (answer.status_code, answer.text) == (200, "parts live nutanix runs\n")
    assert answer.headers["Content-Type"] == CONTENT_TYPE == "text/plain; version=0.0.4; charset=utf-8"


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("collect[]=live", "live"),
        ("collect%5B%5D=runs&collect%5B%5D=nutanix", "nutanix runs"),
        ("collect[]=live&collect[]=live", "live"),
    ],
)
def test_collect_selects_parts(query: str, parts: str) -> None:
    with served(FakeExporter(rendered=echo)) as server:
        assert requests.get(f"{server.url}/metrics?{query}").text == f"parts {parts}\n"


@pytest.mark.parametrize("value", ["disk", "", "Live"])
def test_an_unknown_part_is_refused_with_the_ones_there_are(value: str) -> None:
    with served(FakeExporter(rendered=echo)) as server:
        answer = requests.get(f"{server.url}/metrics?collect[]=live&collect[]={value}")
    assert (answer.status_code, answer.text) == (400, f"collect[]={value}: expected live, runs, nutanix\n")


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize("size", [20, 3_000_000])
def test_gzip_is_used_when_it_is_accepted(size: int) -> None:
    text = "é" * (size // 2)
    with served(FakeExporter(rendered=lambda _: text), address=NETWORK) as server:
        packed = requests.get(f"{server.url}/metrics", headers={"Accept-Encoding": "gzip"}, stream=True)
        body = packed.raw.read(decode_content=False)
        plain = requests.get(f"{server.url}/metrics", headers={"Accept-Encoding": "identity"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Content-Length"] == str(len(body))
    assert gzip.decompress(body).decode() == text
    assert "Content-Encoding" not in plain.headers
    assert plain.content == text.encode()
    assert plain.headers["Content-Length"] == str(len(text.encode()))


def test_nothing_is_compressed_on_loopback() -> None:
    with served(FakeExporter(rendered=lambda _: "x" * 1000)) as server:
        answer = requests.get(f"{server.url}/metrics", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in answer.headers
    assert answer.headers["Content-Length"] == "1000"


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        ("gzip", True),
        ("deflate, GZIP;q=0.5", True),
        ("*", True),
        ("", False),
        ("identity", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("*;q=0", False),
        ("x-gzipped", False),
        ("gzip;q=1.1.1", False),
    ],
)
def test_accept_encoding_is_read_as_the_standard_says(header: str, accepted: bool) -> None:
    assert accepts_gzip(header) is accepted


@pytest.mark.usefixtures("network")
@pytest.mark.parametrize("path", ["/metrics", "/", "/-/healthy", "/-/ready"])
@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_head_gives_the_headers_of_get_without_the_body(path: str, encoding: str) -> None:
    with (
        served(FakeExporter(rendered=lambda _: "x" * 1000), address=NETWORK) as server,
        requests.Session() as session,
    ):
        session.headers["Accept-Encoding"] = encoding
        got = session.get(server.url + path)
        head = session.head(server.url + path)
        assert head.status_code == got.status_code == 200
        assert head.content == b""
        for answer in (got, head):
            del answer.headers["Date"]
        assert head.headers == got.headers
        assert int(head.headers["Content-Length"]) > 0
        assert session.get(f"{server.url}/-/healthy").status_code == 200  # the connection is still in step


def test_scrapes_and_their_time_are_counted() -> None:
    def slow(_: frozenset[Part]) -> str:
        time.sleep(0.02)
        return ""

    with served(FakeExporter(rendered=slow)) as server:
        for _ in range(3):
            requests.get(f"{server.url}/metrics")
        assert server.metric("benchwatch_scrape_duration_seconds_count") == 3
        assert 0.06 <= (server.metric("benchwatch_scrape_duration_seconds_sum") or 0) < PATIENCE


@pytest.mark.usefixtures("network")
def test_compressing_a_large_page_does_not_hold_up_others(monkeypatch: pytest.MonkeyPatch) -> None:
    compress = gzip.compress
    begun, answered = threading.Event(), threading.Event()

    def wait_and_compress(body: bytes, level: int, *, mtime: float) -> bytes:
        begun.set()
        assert answered.wait(PATIENCE)
        return compress(body, level, mtime=mtime)

    monkeypatch.setattr(gzip, "compress", wait_and_compress)
    with served(FakeExporter(rendered=lambda _: "x" * 2_000_000), address=NETWORK) as server:
        pages: list[str] = []
        scrape = threading.Thread(target=lambda: pages.append(requests.get(f"{server.url}/metrics").text))
        scrape.start()
        assert begun.wait(PATIENCE)
        assert requests.get(f"{server.url}/-/healthy", timeout=PATIENCE).status_code == 200
        answered.set()
        scrape.join()
    assert [len(page) for page in pages] == [2_000_000]


def test_health_and_readiness() -> None:
    board = FakeExporter(ready=False, catching_up="3 files")
    with served(board) as server:
        assert requests.get(f"{server.url}/-/healthy").status_code == 200
        waiting = requests.get(f"{server.url}/-/ready")
        board.ready = True
        ready = requests.get(f"{server.url}/-/ready")
    assert (waiting.status_code, waiting.text) == (
        503,
        "benchwatch is not ready: still reading the runs that existed at the start; 3 files\n",
    )
    assert (ready.status_code, ready.text) == (200, "benchwatch is ready.\n")


@pytest.mark.parametrize("path", ["/nowhere", "/metrics/", "/ingest", "/-/", "/%2e%2e/etc/passwd"])
def test_what_is_not_there_is_said_with_a_link_to_what_is(path: str) -> None:
    with served() as server:
        answer = requests.get(server.url + path)
    assert answer.status_code == 404
    assert '<a href="/">' in answer.text


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("POST", "/metrics", "GET, HEAD"),
        ("DELETE", "/", "GET, HEAD"),
        ("GET", "/ingest/run/worker", "POST, PUT"),
        ("OPTIONS", "/-/ready", "GET, HEAD"),
    ],
)
def test_a_method_that_cannot_be_used_is_refused_with_those_that_can(method: str, path: str, allow: str) -> None:
    with served() as server:
        answer = requests.request(method, server.url + path)
    assert (answer.status_code, answer.headers["Allow"]) == (405, allow)
    assert answer.text == f"Method not allowed: use {allow}, not {method}.\n"


def test_a_failure_is_a_500_and_one_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: frozenset[Part]) -> str:
        raise RuntimeError("no such thing")

    with caplog.at_level(logging.INFO), served(FakeExporter(rendered=fail)) as server:
        answer = requests.get(f"{server.url}/metrics")
        assert requests.get(f"{server.url}/-/healthy").status_code == 200
    assert (answer.status_code, answer.text) == (500, "benchwatch failed to answer this request: see its log.\n")
    [record] = caplog.records
    assert record.name == "benchwatch.server"
    assert record.getMessage().startswith("GET /metrics failed: RuntimeError: no such thing (")
    assert record.exc_info is None


@pytest.mark.parametrize("request_bytes", [b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"GET / HTTP/9.9.9\r\n\r\n"])
def test_what_is_not_http_is_a_400_and_at_most_one_line_in_the_log(
    request_bytes: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO), served() as server:
        assert b" 400 Bad Request\r\n" in raw(server.port, request_bytes)
    assert len(caplog.records) <= 1
    assert all(record.exc_info is None for record in caplog.records)
    assert not any("\n" in record.getMessage() for record in caplog.records)


def test_overlong_headers_are_refused() -> None:
    with served() as server:
        assert b" 400 " in raw(server.port, b"GET / HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n\r\n").split(b"\r\n")[0]


def test_requests_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "aiohttp"), caplog.at_level(logging.DEBUG, "benchwatch"), served() as server:
        requests.get(server.url)
        requests.get(f"{server.url}/nowhere")
    assert caplog.records == []


def test_every_answer_carries_a_neutral_server() -> None:
    with served(FakeExporter(ready=False)) as server:
        for path in ("/", "/metrics", "/-/ready", "/nowhere"):
            headers = requests.get(server.url + path).headers
            assert headers["Server"] == "benchwatch"
            assert headers["X-Content-Type-Options"] == "nosniff"


REPORTS = (Report(NOW - 1, 50.0, 0.002), Report(NOW, 60.0, None))
RUN = [Worker("c d", "db1", "pgbench", "running", parameters={"clients": "4"}, reports=REPORTS)]


def test_api_runs_lists_all_without_reports_and_parameters() -> None:
    with served(FakeExporter(workers=[*RUN, Worker("b", "db1", "fio", "finished")])) as server:
        answer = requests.get(f"{server.url}/api/runs")
    assert answer.headers["Content-Type"] == "application/json"
    document = answer.json()
    assert (document["schema"], document["time"]) == (1, NOW)
    assert [run["name"] for run in document["runs"]] == ["c d", "b"]
    (worker,) = document["runs"][0]["workers"]
    assert (worker["reports"], worker["parameters"], worker["state"]) == ([], {}, "running")


def test_api_of_one_run_has_its_parameters_and_its_reports_after_a_moment() -> None:
    with served(FakeExporter(workers=RUN)) as server:
        url = f"{server.url}/api/runs/c%20d"
        (whole,) = requests.get(url).json()["run"]["workers"]
        (later,) = requests.get(url, params={"since": NOW - 1}).json()["run"]["workers"]
        missing = requests.get(f"{server.url}/api/runs/nowhere")
        wrong = requests.get(url, params={"since": "yesterday"})
    assert whole["parameters"] == {"clients": "4"}
    assert whole["reports"] == [[NOW - 1, 50.0, 0.002], [NOW, 60.0, None]]
    assert later["reports"] == [[NOW, 60.0, None]]
    assert (missing.status_code, missing.json()) == (404, {"error": "no such run: 'nowhere'; /api/runs lists all"})
    assert (wrong.status_code, wrong.text) == (400, "since=yesterday: expected Unix seconds\n")


def test_api_cvms_has_their_vdisks() -> None:
    cvm = Cvm("cvm1", "http://cvm1:2009", True, NOW, vdisks=(Vdisk("cvm1", "7", vm="pg1", rates={"read": 9.0}),))
    with served(FakeExporter(targets=[cvm])) as server:
        (found,) = requests.get(f"{server.url}/api/cvms").json()["cvms"]
    assert (found["name"], found["up"], found["last_success"]) == ("cvm1", True, NOW)
    assert [(one["vdisk"], one["vm"], one["rates"]) for one in found["vdisks"]] == [("7", "pg1", {"read": 9.0})]
