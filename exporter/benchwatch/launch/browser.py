"""The page of a run on an exporter: its address, and `benchwatch run --open`, which opens it.

It opens as soon as the exporter knows the run; the benchmark does not wait for this. If no browser can show the page
(for example over ssh), or if no exporter answers, a sentence gives the address.
"""

import json
import os
import sys
import threading
import time
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import quote, urlsplit

from ..values.addresses import DEFAULT_EXPORTER, is_loopback, server_url, without_user
from .child import leave_signals

_SEEN = 5.0
"""Seconds within which the exporter has to know the run."""
_AGAIN = 0.25
_PATIENCE = 2.0
"""Seconds that an answer may take."""
_DELAY = 1.0
"""Seconds that the benchmark may wait for the answer of an exporter that is there."""
_MOST = 1 << 22
"""Bytes of an answer that are read."""


def page_of(run: str, runs: Path, push: str = "", exporter: str = DEFAULT_EXPORTER) -> str:
    """The address of its page; empty if no exporter answers, or if it shows the runs of another folder.

    `runs` is the folder of the run, `push` the exporter to which it is sent.
    """
    path = f"/runs/{quote(run, safe='')}"
    if push:
        return without_user(server_url(push, "--push")) + path
    connection = HTTPConnection(exporter, timeout=_DELAY)
    try:
        connection.request("GET", "/api/runs")
        names = [run["name"] for run in json.loads(connection.getresponse().read(_MOST))["runs"]]
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        return ""
    finally:
        connection.close()
    return f"http://{exporter}{path}" if not names or any((runs / name).exists() for name in names) else ""


class PageOpener:
    """Opens the page of the run of that name, or the page of all runs if the name is empty.

    `exporter` is the value of --push; if it is empty, the exporter is that of this machine.
    """

    def __init__(self, exporter: str, run: str) -> None:
        self._exporter = server_url(exporter, "--push") if exporter else f"http://{DEFAULT_EXPORTER}"
        self._path = f"/runs/{quote(run, safe='')}" if run else "/"
        self._url = without_user(self._exporter) + self._path
        self._failure = ""
        self._thread: threading.Thread | None = None
        self._deadline = 0.0

    def announce(self) -> str:
        """What will happen, a clause, before the benchmark starts."""
        if self._status("/-/healthy") is None:
            address = urlsplit(self._url).netloc
            return f"--open: no exporter answers at {address}: start `benchwatch serve`, then open {self._url}"
        if reason := no_display(os.environ, self._exporter):
            return f"open {self._url} in a browser ({reason})"
        self._thread = threading.Thread(target=self._run, daemon=True)
        return f"opens {self._url}"

    def start(self) -> None:
        """Open the page in the background, if `announce` said so."""
        if self._thread:
            self._deadline = time.monotonic() + _SEEN + _PATIENCE
            self._thread.start()

    def finish(self) -> str:
        """Why the page was not opened, a sentence; empty if it was, or if `announce` said so.

        A run that ends within a few seconds waits for its page; Ctrl-C ends the wait.
        """
        with suppress(KeyboardInterrupt):  # the series notes it
            if self._thread:
                self._thread.join(max(0.0, self._deadline - time.monotonic()))
        return self._failure

    def _run(self) -> None:
        leave_signals()
        end = time.monotonic() + _SEEN
        while (status := self._status(self._path)) == HTTPStatus.NOT_FOUND and time.monotonic() < end:
            time.sleep(_AGAIN)
        if status == HTTPStatus.NOT_FOUND:
            why = "the exporter there does not show this run; start it with the same --runs.path"
            self._failure = f"--open: cannot open {self._url}: {why}"
            return
        opened = False
        with suppress(webbrowser.Error):
            opened = webbrowser.open(self._url)
        if not opened:
            self._failure = f"--open: no browser was found for {self._url}: set BROWSER to the command that starts one"

    def _status(self, path: str) -> int | None:
        """The status of the exporter's answer; None without an answer."""
        import requests  # imported only for --open, because it takes 10 MB

        try:
            return requests.get(self._exporter + path, timeout=_PATIENCE).status_code
        except requests.RequestException:
            return None


def no_display(environment: Mapping[str, str], exporter: str) -> str:
    """Why no browser can run here, a clause, and how to reach an exporter of this machine; empty if one can."""
    if ssh := environment.get("SSH_CONNECTION"):
        parts = urlsplit(exporter)
        if not is_loopback(parts.hostname or ""):
            return "this is an ssh session"
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
        forward = f"ssh -L {port}:127.0.0.1:{port} {ssh.split()[2]}"
        return f"this is an ssh session; on your own machine, first run: {forward}"
    if sys.platform == "linux" and not (environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")):
        return "there is no display here"
    return ""
