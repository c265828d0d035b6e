"""A Prometheus, or what says that it is one, whose answers are not those of its API."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from benchwatch.metrics.prometheus import Prometheus, PrometheusError
from tests.support.waiting import PATIENCE

NAMED = {"__name__": "up"}
NOT_AN_ANSWER = "HTTP 200, which is not an answer of Prometheus"


class Answering(BaseHTTPRequestHandler):
    """Answers everything with the body and header of the server."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, headers, body = self.server.answer  # type: ignore[attr-defined]
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = "Content-Length" in headers

    do_GET = do_POST

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def prometheus(server: ThreadingHTTPServer) -> Prometheus:
    return Prometheus(f"http://127.0.0.1:{server.server_port}", PATIENCE)


def said(data: object) -> tuple[int, dict[str, str], bytes]:
    return 200, {}, json.dumps({"status": "success", "data": data}).encode()


def result(*series: object) -> tuple[int, dict[str, str], bytes]:
    return said({"resultType": "matrix", "result": series})


def pair(*numbers: object, metric: object = NAMED) -> dict[str, object]:
    return {"metric": metric, "value": numbers, "values": [numbers]}


QUESTIONS: list[Callable[[Prometheus], object]] = [
    lambda one: one.samples("up", 0, 10),
    lambda one: one.range("up", 0, 10, 1),
    lambda one: one.at("up"),
    lambda one: one.firing(),
]


@pytest.mark.parametrize("ask", QUESTIONS, ids=["samples", "range", "at", "firing"])
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(said([]), id="a list"),
        pytest.param(said({}), id="neither series nor alerts"),
        pytest.param(said({"result": None, "alerts": None}), id="null"),
        pytest.param(said({"result": [1, "2"], "alerts": ["x"]}), id="a scalar"),
        pytest.param(said({"result": [pair(1, "2", metric=None)], "alerts": [{"labels": []}]}), id="labels of no kind"),
        pytest.param(
            said({"result": [pair(1, "2", metric={"run": 7})], "alerts": [{"labels": {"run": 7}}]}),
            id="a label that is a number",
        ),
        pytest.param(
            said({"result": [pair(1, "2", "3")], "alerts": [{"annotations": "summary"}]}), id="three in a pair"
        ),
        pytest.param(said({"result": [{"values": [[1, "2"]]}], "alerts": [{"state": 1}]}), id="nothing of labels"),
        pytest.param((200, {}, b'{"status": "error", "error": "\xff"}'), id="not UTF-8"),
        pytest.param((200, {}, b"[" * 100_000), id="nested"),
        pytest.param((200, {}, b'{"status": "success", "data": ' + b"[" * 100_000), id="nested data"),
    ],
)
def test_what_is_no_answer_is_said_in_a_sentence(
    answer: object, ask: Callable[[Prometheus], object], server: ThreadingHTTPServer, prometheus: Prometheus
) -> None:
    server.answer = answer  # type: ignore[attr-defined]
    with pytest.raises(PrometheusError, match=NOT_AN_ANSWER):
        ask(prometheus)


@pytest.mark.parametrize("ask", QUESTIONS[:3], ids=["samples", "range", "at"])
def test_a_value_that_is_no_number_is_said(
    ask: Callable[[Prometheus], object], server: ThreadingHTTPServer, prometheus: Prometheus
) -> None:
    server.answer = result(pair(1, "many"))  # type: ignore[attr-defined]
    with pytest.raises(PrometheusError, match=r"did not answer: could not convert string to float: 'many'$"):
        ask(prometheus)


def test_native_histograms_are_left_out(server: ThreadingHTTPServer, prometheus: Prometheus) -> None:
    server.answer = result({"metric": NAMED, "histogram": [1, {}], "histograms": [[1, {}]]}, pair(1, "2"))  # type: ignore[attr-defined]
    assert [list(one.values) for one in prometheus.samples("up", 0, 10)] == [[2.0]]
    assert prometheus.at("up") == [(NAMED, 2.0)]


@pytest.mark.parametrize("ask", QUESTIONS, ids=["samples", "range", "at", "firing"])
def test_a_redirect_to_no_address_is_said(
    ask: Callable[[Prometheus], object], server: ThreadingHTTPServer, prometheus: Prometheus
) -> None:
    server.answer = 302, {"Location": "http://[::1"}, b""  # type: ignore[attr-defined]
    with pytest.raises(PrometheusError, match="HTTP 302, which is not an answer of Prometheus"):
        ask(prometheus)


def test_half_an_answer_is_said_and_the_next_question_is_answered(
    server: ThreadingHTTPServer, prometheus: Prometheus
) -> None:
    status, _, body = result(pair(1, "2"))
    server.answer = status, {"Content-Length": str(2 * len(body))}, body  # type: ignore[attr-defined]
    with pytest.raises(PrometheusError, match="does not answer"):
        prometheus.at("up")
    server.answer = result(pair(1, "2"))  # type: ignore[attr-defined]
    assert prometheus.at("up") == [(NAMED, 2.0)]
