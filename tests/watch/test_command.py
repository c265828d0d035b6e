"""The command on a real exporter that watches recordings played back into growing files, on real terminals."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from benchwatch.cli import main
from benchwatch.watch import sources
from demo_processes import Processes
from tests.support.places import RECORDINGS
from tests.support.ports import free_port
from tests.support.servers import Exporter
from tests.support.waiting import PATIENCE, eventually

from .terminals import ENTER, LEAVE, SHOW_CURSOR, Terminal

pytestmark = pytest.mark.system

PROGRESS = (RECORDINGS / "pgbench" / "progress-timestamp-15.18.err").read_text()
STALL = "progress: %.3f s, 0.0 tps, lat 0.000 ms stddev 0.000, 0 failed\n"
RATES = (b"38.8k", b"42.6k", b"42.1k")
SIZES = pytest.mark.parametrize(("width", "height"), [(80, 24), (160, 50)])


class Playback:
    """Progress lines of a recorded pgbench, again and again, a line a second, with the times of now."""

    def __init__(self, path: Path) -> None:
        self.stalled = False
        self._ended = threading.Event()
        path.parent.mkdir(parents=True)
        self._file = path.open("w")
        self._thread = threading.Thread(target=self._play)
        self._thread.start()

    def _play(self) -> None:
        lines = PROGRESS.splitlines(keepends=True)
        number = 0
        while not self._ended.wait(1.0 if number else 0.0):
            line = re.sub(r"\d+\.\d+ s,", f"{time.time():.3f} s,", lines[number % len(lines)], count=1)
            self._file.write(STALL % time.time() if self.stalled else line)
            self._file.flush()
            number += 1

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        self._file.close()


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    started = Processes(tmp_path_factory.mktemp("logs"), os.environ)
    yield started
    started.stop_all()


@pytest.fixture(scope="module")
def exporter(processes: Processes, tmp_path_factory: pytest.TempPathFactory) -> Exporter:
    return Exporter(processes, tmp_path_factory.mktemp("runs"))


@pytest.fixture
def playback(exporter: Exporter) -> Iterator[Playback]:
    played = Playback(exporter.runs / "test1" / "db1.err")
    yield played
    played.end()
    shutil.rmtree(exporter.runs / "test1")
    eventually(lambda: 'run="test1"' not in exporter.text(), "it is not taken for the next one")


Seen = tuple[int, str, str]
Watch = Callable[..., Seen]


@pytest.fixture
def watch(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Runs the command with its output going nowhere; exit code, output and errors."""
    monkeypatch.setattr(sources, "_TIMEOUT", PATIENCE)  # a busy machine is no server that does not answer

    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(["watch", *arguments])
        except SystemExit as ended:
            code = int(ended.code or 0)
        return code, *capsys.readouterr()

    return run


def once(look: Callable[[], Seen], shows: Callable[[str], object]) -> Seen:
    """The first look whose output is as wanted: a busy machine may hold up the reports of a benchmark."""
    found: list[Seen] = []

    def is_there() -> object:
        found.append(look())
        return shows(found[-1][1])

    eventually(is_there, "the output is as wanted")
    return found[-1]


def shows_rate(sent: bytes) -> bool:
    return any(rate in sent for rate in RATES)


def row(sent: bytes) -> bytes:
    """The only worker's row of the last screen."""
    return sent.rpartition(b"\x1b[4;1H")[2].partition(b"\x1b[5;1H")[0]


@SIZES
def test_q_ends_it_and_the_terminal_is_as_before(
    exporter: Exporter, playback: Playback, width: int, height: int
) -> None:
    with Terminal(exporter.url, width=width, height=height) as terminal:
        terminal.wait_for(shows_rate, "the rate is shown")
        assert terminal.attributes != terminal.before, "keys come one by one"
        assert ENTER in terminal.output
        terminal.press(b"q")
        assert terminal.end() == 0
        assert terminal.output.rindex(LEAVE) > terminal.output.rindex(ENTER)
        assert SHOW_CURSOR in terminal.output[-100:]
        assert terminal.attributes == terminal.before
        assert f"\x1b[{height};1H".encode() in terminal.output, "the whole height is used"
        assert f"\x1b[{height + 1};1H".encode() not in terminal.output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_it_and_the_terminal_is_as_before(
    exporter: Exporter, playback: Playback, number: signal.Signals
) -> None:
    with Terminal(exporter.url, width=80, height=24) as terminal:
        terminal.wait_for(shows_rate, "the rate is shown")
        terminal.process.send_signal(number)
        assert terminal.end() == 128 + number
        assert terminal.output.rindex(LEAVE) > terminal.output.rindex(ENTER)
        assert terminal.attributes == terminal.before


def test_ctrl_c_is_heard_and_ctrl_z_does_not_leave_the_terminal_as_it_is(
    exporter: Exporter, playback: Playback
) -> None:
    with Terminal(exporter.url, width=80, height=24) as terminal:
        terminal.wait_for(shows_rate, "the rate is shown")
        control_characters = terminal.attributes[6]
        assert isinstance(control_characters, list)
        assert control_characters[termios.VSUSP] == b"\0"
        assert control_characters[termios.VINTR] == b"\x03"
        assert int(str(terminal.attributes[3])) & termios.ISIG


def test_a_stall_is_shown_and_so_is_its_end(exporter: Exporter, playback: Playback) -> None:
    with Terminal(exporter.url, width=80, height=24) as terminal:
        terminal.wait_for(shows_rate, "the rate is shown")
        playback.stalled = True
        terminal.wait_for(lambda sent: b"stalled: nothing completes" in sent, "the stall is shown")
        terminal.wait_for(
            lambda sent: b"1 stalled" in sent and not shows_rate(row(sent)), "the row shows no rate of before"
        )
        playback.stalled = False
        terminal.wait_for(shows_rate, "the rate is shown again")


def test_an_exporter_that_goes_away_and_comes_back(exporter: Exporter, playback: Playback) -> None:
    with Terminal(exporter.url, width=80, height=24) as terminal:
        terminal.wait_for(shows_rate, "the rate is shown")
        exporter.kill()
        terminal.wait_for(lambda sent: b"cannot be reached: Connection refused. Last read" in sent, "it is said")
        terminal.wait_for(
            lambda sent: b"exporter does not answer" in sent and not shows_rate(sent), "no number of before is shown"
        )
        exporter.start()
        terminal.wait_for(shows_rate, "the rate is shown again")


def test_a_new_size_is_used(exporter: Exporter) -> None:
    with Terminal(exporter.url, "--interval=1h", width=80, height=24) as terminal:
        terminal.wait_for(lambda sent: b"\x1b[24;1H" in sent, "24 lines are used")
        terminal.resize(160, 50)
        terminal.process.send_signal(signal.SIGWINCH)
        terminal.wait_for(lambda sent: b"\x1b[50;1H" in sent, "50 lines are used")


def test_keys_are_obeyed(exporter: Exporter, playback: Playback) -> None:
    with Terminal(exporter.url, width=80, height=24) as terminal:
        terminal.wait_for(shows_rate, "the rate is shown")
        terminal.press(b"p")
        terminal.wait_for(lambda sent: b"PAUSED at" in sent, "it pauses")
        terminal.press(b"\x1b[B")
        terminal.wait_for(lambda sent: b"\x1b[1;7mtest1" in sent, "the run is chosen")
        terminal.press(b"p")
        terminal.wait_for(lambda sent: b"p pause" in sent, "it goes on")


def test_once_as_json_has_all_that_is_shown_and_an_address_needs_no_scheme(
    exporter: Exporter, playback: Playback, watch: Watch
) -> None:
    def reports(out: str) -> object:
        return [one for one in _workers(json.loads(out)) if one["state"] == "running" and one["now"][0]["rate"]]

    code, out, errors = once(lambda: watch("--once", "--json", exporter.url.removeprefix("http://")), reports)
    content = json.loads(out)
    assert (code, errors, content["schema"], content["exporter"], content["alerts"]) == (0, "", 2, exporter.url, None)
    (worker,) = _workers(content)
    assert (worker["run"], worker["name"], worker["tool"], worker["state"]) == ("test1", "db1", "pgbench", "running")
    assert worker["now"][0]["rate"] > 0
    assert list(content) == ["schema", "time", "exporter", "runs", "cvms", "alerts"]


def _workers(content: dict[str, Any]) -> list[dict[str, Any]]:
    return [worker for run in content["runs"] for worker in run["workers"]]


def test_once_is_plain_text(exporter: Exporter, playback: Playback, watch: Watch) -> None:
    code, out, errors = once(lambda: watch("--once", exporter.url), lambda out: shows_rate(out.encode()))
    assert (code, errors) == (0, "")
    assert "\x1b" not in out
    lines = out.splitlines()
    assert lines[0].startswith(f"benchwatch · 1 running · {exporter.url}")
    assert lines[2].startswith("test1  running")
    assert re.match(r"● db1 +\d+s +(38\.8|42\.6|42\.1)k +(46|50)\.0 µs ", lines[3])
    assert max(map(len, lines)) <= 120


def test_piped_it_is_a_snapshot_too(exporter: Exporter) -> None:
    command = [sys.executable, "-m", "benchwatch", "watch", exporter.url]

    def piped() -> Seen:
        done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=PATIENCE)
        return done.returncode, done.stdout, done.stderr

    _, out, _ = once(piped, bool)  # there is none if the exporter takes three seconds to answer
    assert out.splitlines()[1] == "Nothing is running."


def test_names_of_folders_do_not_reach_the_terminal_raw(exporter: Exporter) -> None:
    folder = exporter.runs / "a\x1b[2Jb[red]c"
    playback = Playback(folder / "db1.err")
    try:
        with Terminal(exporter.url, width=80, height=24) as terminal:
            terminal.wait_for(lambda sent: b"a\\x1b[2Jb[red]c" in sent, "the name is shown")
            terminal.press(b"q")
            terminal.end()
            assert b"\x1b[2J" not in terminal.output
    finally:
        playback.end()
        shutil.rmtree(folder)


def test_no_exporter_is_a_sentence_and_exit_code_1(watch: Watch) -> None:
    port = free_port()
    code, out, errors = watch("--once", f"http://user:secret@127.0.0.1:{port}")
    assert (code, out) == (1, "")
    assert errors == (
        f"benchwatch: the exporter http://127.0.0.1:{port} cannot be reached: Connection refused. "
        "Is `benchwatch serve` running there, and is the URL right?\n"
    )


def test_an_address_needs_no_scheme(exporter: Exporter, watch: Watch) -> None:
    code, out, _ = watch(exporter.url.removeprefix("http://"), "--once")
    assert code == 0
    assert exporter.url in out


def test_on_a_terminal_an_exporter_is_waited_for() -> None:
    port = free_port()
    with Terminal(f"http://127.0.0.1:{port}", width=80, height=24) as terminal:
        terminal.wait_for(lambda sent: b"Is `benchwatch serve` running there" in sent, "it is said what to do")
        terminal.press(b"q")
        assert terminal.end() == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["19777"], "URL: expected HOST:PORT or a URL such as http://127.0.0.1:9090, got '19777'"),
        (["http://a:b@[::1"], "URL: expected HOST:PORT or a URL such as http://127.0.0.1:9090, got 'http://[::1'"),
        (["ftp://localhost"], "URL: expected HOST:PORT or a URL such as http://127.0.0.1:9090, got 'ftp://localhost'"),
        (["--json"], "--json requires --once"),
        (["--interval=0"], "expected from 200ms to 1h, got '0'"),
        (["--interval=soon"], "expected a duration such as 500ms, 10s or 5m, got 'soon'"),
        (["--prometheus=9090"], "--prometheus: expected HOST:PORT or a URL such as http://127.0.0.1:9090, got '9090'"),
    ],
)
def test_wrong_use_is_one_sentence(watch: Watch, arguments: list[str], sentence: str) -> None:
    code, _, errors = watch(*arguments)
    assert code == 2
    assert errors.splitlines()[0].endswith(sentence)


class Answers(BaseHTTPRequestHandler):
    """Answers each path with what the server has for it."""

    def do_GET(self) -> None:
        status, body = self.server.answers.get(self.path.partition("?")[0], (404, b""))  # type: ignore[attr-defined]
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    with HTTPServer(("127.0.0.1", 0), Answers) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield listening
        listening.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ((401, b""), "requires a user and a password: http://USER:PASSWORD@HOST:PORT."),
        ((404, b""), "has no such page (HTTP status 404)"),
        ((500, b""), "answers with HTTP status 500"),
        ((200, b"<html>"), "is not a benchwatch exporter"),
        ((200, b'{"runs": []}'), "is not a benchwatch exporter"),
        ((200, b"\xff\xfe"), "is not a benchwatch exporter"),
        ((200, b'{"other": ' + b"[" * 100_000), "is not a benchwatch exporter"),
    ],
)
def test_what_is_no_exporter_is_said_to_be_none(
    server: HTTPServer, watch: Watch, answer: tuple[int, bytes], sentence: str
) -> None:
    server.answers = {"/api/runs": answer}  # type: ignore[attr-defined]
    url = f"http://127.0.0.1:{server.server_port}"
    code, _, errors = watch("--once", url)
    assert code == 1
    assert errors.startswith(f"benchwatch: the exporter {url} {sentence}")
    assert ("benchwatch serve" in errors) == (answer[0] != 401)


def alert(name: str, severity: str, state: str, since: str) -> dict[str, object]:
    labels = {"alertname": name, "severity": severity}
    return {
        "state": state,
        "labels": labels,
        "annotations": {"summary": f"{name} it is"},
        "activeAt": since,
        "value": "1",
    }


def vector(*series: dict[str, str]) -> bytes:
    """An answer of Prometheus, with series of the value that their label has."""
    result = [{"metric": one, "value": [1_790_000_000.5, one.get("value", "1")]} for one in series]
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}}).encode()


def test_a_slow_run_has_its_verdict_and_none_when_it_is_as_usual_or_nobody_knows(
    server: HTTPServer, exporter: Exporter, playback: Playback, watch: Watch
) -> None:
    url = f"http://127.0.0.1:{server.server_port}"
    alerts = json.dumps(
        {"status": "success", "data": {"alerts": [alert("RunStalled", "warning", "firing", "2020-01-01T00:00:00Z")]}}
    ).encode()

    def shown(answer: tuple[int, bytes]) -> str:
        server.answers = {"/api/v1/alerts": (200, alerts), "/api/v1/query": answer}  # type: ignore[attr-defined]
        code, out, _ = watch("--once", exporter.url, "--prometheus", url)
        assert code == 0
        assert "RunStalled it is" in out
        return out

    eventually(lambda: "\ntest1  " in shown((200, vector())), "the run is shown")
    text = "pgbench on db takes 49 ms a transaction, usually 6.1 ms."
    lines = shown((200, vector({"run": "test1", "text": text, "is": "text"}))).splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("test1  "))
    assert lines[at + 1] == f"  {text}"
    assert "usual" not in shown((200, vector()))
    for answer, why in (
        ((404, b""), "HTTP 404, which is not an answer of Prometheus"),
        ((200, b"<html>"), "HTTP 200, which is not an answer of Prometheus"),
        ((200, b'{"status": "success"}'), "HTTP 200, which is not an answer of Prometheus"),
        ((200, b'{"status": "success", "data": {}}'), "HTTP 200, which is not an answer of Prometheus"),
        ((200, b'{"status": "success", "data": {"result": [1]}}'), "HTTP 200, which is not an answer of Prometheus"),
    ):
        out = shown(answer)
        assert f"\nPrometheus at {url} did not answer: {why}\n" in out
        assert "usual" not in out


def test_firing_alerts_are_shown_the_gravest_first(server: HTTPServer, exporter: Exporter, watch: Watch) -> None:
    alerts = [
        alert("RunStalled", "warning", "firing", "2020-01-01T00:00:00.123456789Z"),
        alert("LatencySpike", "critical", "firing", "2020-01-01T00:00:00Z"),
        alert("RunFailed", "critical", "pending", "2020-01-01T00:00:00Z"),
    ]
    body = json.dumps({"status": "success", "data": {"alerts": alerts}}).encode()
    server.answers = {"/api/v1/alerts": (200, body), "/api/v1/query": (200, vector())}  # type: ignore[attr-defined]
    url = f"http://127.0.0.1:{server.server_port}"
    lines = watch("--once", exporter.url, "--prometheus", url)[1].splitlines()
    assert "2 alerts" in lines[0]
    at = lines.index(f"Alerts of {url}")
    assert re.fullmatch(r"critical +\d+d LatencySpike  LatencySpike it is", lines[at + 1])
    assert re.fullmatch(r"warning  +\d+d RunStalled  RunStalled it is", lines[at + 2])
    server.answers = {}  # type: ignore[attr-defined]
    code, out, _ = watch("--once", exporter.url, "--prometheus", url)
    assert code == 0
    assert f"Prometheus at {url} did not answer: HTTP 404, which is not an answer of Prometheus\n" in out
