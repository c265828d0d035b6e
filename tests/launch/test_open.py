"""`run --open` with a made-up browser, which writes down what it is given."""

import http.server
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchwatch.launch.browser import PageOpener, no_display
from tests.support.launching import Launchpad
from tests.support.ports import free_port
from tests.support.waiting import PATIENCE, eventually


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no exporter that does not answer."""
    monkeypatch.setattr("benchwatch.launch.browser._PATIENCE", PATIENCE)


@pytest.fixture
def pad(tmp_path: Path) -> Iterator[Launchpad]:
    pad = Launchpad(tmp_path)
    opened = "for i in $(seq 1200); do [ -s opened ] && break; sleep 0.1; done"
    pad.tool("pgbench", f"{opened}; echo 'progress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 0.100' >&2")
    browser = pad.tools / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/opened\n')
    browser.chmod(0o755)
    pad.environment |= {"BROWSER": f"{browser} %s", "DISPLAY": ":0", "SSH_CONNECTION": ""}
    yield pad
    pad.stop()


@pytest.fixture
def exporter() -> Iterator[str]:
    """One that sees any run but `unseen`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(404 if "unseen" in self.path else 200)
            self.end_headers()

        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.end_headers()

        do_POST = do_PUT

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def opened(pad: Launchpad) -> list[str]:
    path = pad.folder / "opened"
    return path.read_text().split() if path.exists() else []


def test_it_opens_the_page_of_the_run(pad: Launchpad, exporter: str) -> None:
    done = pad.run("--name", "a", "--open", "--push", exporter, "--", "pgbench")
    assert f"benchwatch: opens http://{exporter}/runs/a".encode() in done.stderr
    assert opened(pad) == [f"http://{exporter}/runs/a"]


def test_it_opens_the_page_of_a_run_that_has_ended_before(pad: Launchpad, exporter: str) -> None:
    pad.tool("pgbench", "echo 'progress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 0.100' >&2")
    browser = pad.tools / "browser"
    browser.write_text(browser.read_text().replace("echo", "sleep 2; echo"))
    pad.run("--name", "a", "--open", "--push", exporter, "--", "pgbench")
    assert opened(pad) == [f"http://{exporter}/runs/a"]


def held(number: int, status: str) -> bool:
    """Whether a process holds a signal back."""
    return bool(int(status.partition("SigBlk:")[2].split()[0], 16) >> number - 1 & 1)


def test_it_does_not_wait_for_a_browser_that_was_opened_long_ago(
    exporter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, close = threading.Event(), threading.Event()
    monkeypatch.setattr("webbrowser.open", lambda _: there.set() or close.wait(PATIENCE))
    monkeypatch.setattr("benchwatch.launch.browser.no_display", lambda *_: "")
    opener = PageOpener(exporter, "a")
    opener.announce()
    opener.start()
    assert there.wait(PATIENCE)
    later = time.monotonic() + 2 * PATIENCE
    monkeypatch.setattr("benchwatch.launch.browser.time.monotonic", lambda: later)
    ended = threading.Thread(target=opener.finish, daemon=True)
    ended.start()
    ended.join(PATIENCE / 4)
    waits = ended.is_alive()
    close.set()
    assert not waits


def test_ctrl_c_ends_the_wait_for_a_browser_and_the_result_is_shown(pad: Launchpad, exporter: str) -> None:
    browser = pad.tools / "browser"
    waits = f"for i in $(seq {5 * round(PATIENCE)}); do [ -e close ] && break; sleep 0.1; done"
    browser.write_text(f"{browser.read_text()}exec >/dev/null 2>&1; {waits}\n")
    process = pad.start("--name", "a", "--open", "--push", exporter, "--no-percentiles", "--", "pgbench")
    eventually(lambda: (pad.runs / "a/pgbench.yaml").exists() and "exit_code" in pad.record("a"), "it has ended")
    status = Path(f"/proc/{process.pid}/status")
    eventually(lambda: not held(signal.SIGINT, status.read_text()), "it does nothing but wait")
    process.send_signal(signal.SIGINT)
    try:
        _, said = process.communicate(timeout=PATIENCE / 4)
    finally:
        (pad.folder / "close").touch()
    assert b"benchwatch: a: pgbench, finished" in said
    assert process.returncode == 0


def test_of_a_series_it_opens_the_page_of_all_runs_once(pad: Launchpad, exporter: str) -> None:
    pad.run("--name", "a", "--repeat", "2", "--open", "--push", exporter, "--", "pgbench")
    assert opened(pad) == [f"http://{exporter}/"]


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"DISPLAY": "", "WAYLAND_DISPLAY": ""}, "(there is no display here)"),
        (
            {"SSH_CONNECTION": "10.0.0.1 50000 10.0.0.9 22"},
            "(this is an ssh session; on your own machine, first run: ssh -L {port}:127.0.0.1:{port} 10.0.0.9)",
        ),
    ],
)
def test_where_no_browser_can_show_it_the_address_is_said(
    environment: dict[str, str], said: str, exporter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"DISPLAY": ":0", "SSH_CONNECTION": "", **environment}.items():
        monkeypatch.setenv(name, value)
    said = said.format(port=exporter.partition(":")[2])
    assert PageOpener(exporter, "a b").announce() == f"open http://{exporter}/runs/a%20b in a browser {said}"


def test_an_exporter_elsewhere_needs_no_tunnel() -> None:
    ssh = {"SSH_CONNECTION": "10.0.0.1 50000 10.0.0.9 22"}
    assert no_display(ssh, "http://db9:19777") == "this is an ssh session"
    assert no_display(ssh, "https://localhost").endswith("ssh -L 443:127.0.0.1:443 10.0.0.9")


def test_without_an_exporter_it_says_how_to_start_one() -> None:
    address = f"127.0.0.1:{free_port()}"
    said = PageOpener(f"http://user:secret@{address}", "a").announce()
    start = "start `benchwatch serve`, then open"
    assert said == f"--open: no exporter answers at {address}: {start} http://{address}/runs/a"
