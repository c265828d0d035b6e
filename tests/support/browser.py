"""A real Chromium without a window, told what to do by the DevTools protocol
(https://chromedevtools.github.io/devtools-protocol/)."""

import asyncio
import itertools
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp

from tests.support.waiting import PATIENCE, eventually

PROGRAM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), "")
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-dev-shm-usage",
    "--no-first-run",
)


class Refused(Exception):
    """The browser cannot obey a command."""


class Browser:
    """One page, and everything that it asked for or complained about."""

    def __init__(self, folder: Path) -> None:
        self._loop = asyncio.new_event_loop()
        command = [PROGRAM, *_OPTIONS, f"--user-data-dir={folder}", "--remote-debugging-port=0", "about:blank"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = folder / "DevToolsActivePort"
        eventually(lambda: port.exists() and port.read_text().count("\n"), "the browser listens")
        self._numbers = itertools.count(1)
        self.requested: list[str] = []
        self.complaints: list[str] = []
        self._run(self._connect(port.read_text().split()[0]))
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.tell(f"{domain}.enable")

    def _run(self, work: Any) -> Any:
        return self._loop.run_until_complete(asyncio.wait_for(work, PATIENCE))

    async def _connect(self, port: str) -> None:
        self._session = aiohttp.ClientSession()
        pages: list[dict[str, Any]] = []
        while not pages:  # it listens before it has one
            async with self._session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                pages = [one for one in await answer.json() if one["type"] == "page"]
        (page,) = pages
        self._socket = await self._session.ws_connect(page["webSocketDebuggerUrl"], max_msg_size=0)

    async def _tell(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        while True:
            told = await self._socket.receive_json()
            if told.get("id") == number:
                if "error" in told:
                    raise Refused(method, told)
                return dict(told["result"])
            self._note(told.get("method", ""), told.get("params", {}))

    def _note(self, event: str, told: dict[str, Any]) -> None:
        if event == "Network.requestWillBeSent":
            self.requested.append(told["request"]["url"])
        elif event == "Log.entryAdded":
            self.complaints.append(told["entry"]["text"])
        elif event in ("Runtime.exceptionThrown", "Page.javascriptDialogOpening"):
            self.complaints.append(f"{event}: {told}")

    def tell(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command, and its result."""
        return dict(self._run(self._tell(method, parameters)))

    def value(self, expression: str) -> Any:
        """The value of an expression in the page."""
        found = self.tell("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, (expression, found)
        return found["result"].get("value")

    def open(self, url: str, until: str) -> None:
        """A page, until the expression holds in it."""
        self.tell("Page.navigate", url=url)
        self.wait(until)

    def wait(self, until: str) -> None:
        """Until the expression holds in the page."""
        eventually(lambda: self._holds(until), until)

    def _holds(self, expression: str) -> bool:
        with suppress(Refused):  # the page makes way for another one
            return bool(self.value(f"document.readyState == 'complete' && Boolean({expression})"))
        return False

    def close(self) -> None:
        """End it."""
        self._run(self._session.close())
        self._loop.close()
        self._process.terminate()
        self._process.wait(PATIENCE)
