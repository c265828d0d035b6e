"""A real Alertmanager with the repository's configuration, and a webhook that hears all of its notifications."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from benchwatch.values.durations import Duration
from demo_processes import Processes

from .ports import free_address
from .programs import FOLDER, program


class Receiver:
    """A webhook, and when it got what."""

    def __init__(self) -> None:
        got: list[tuple[float, dict[str, Any]]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                got.append((time.time(), json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.got = got
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def start_alertmanager(processes: Processes, folder: Path, url: str, speed: float = 1, slack: str = "") -> str:
    """Its address. Notices go to the webhook at `url`, and as messages of Slack to `slack` if given.

    The waiting times of the routes are divided by `speed`.
    """
    config = yaml.safe_load((FOLDER / "alertmanager.yml").read_text())
    config["templates"] = [str(FOLDER / name) for name in config["templates"]]
    for one in config["receivers"]:
        one["webhook_configs"] = [{"url": url, "send_resolved": True}] if one["name"] == "notices" else []
        if slack and one["name"] == "notices":
            forms = {part: f'{{{{ template "benchwatch.{part}" . }}}}' for part in ("title", "text")}
            one["slack_configs"] = [{"api_url": slack, "channel": "#benchmarks", "send_resolved": True, **forms}]
    for route in (config["route"], *config["route"]["routes"]) if speed != 1 else ():
        for name in {"group_wait", "group_interval"} & set(route):
            route[name] = f"{Duration.read(route[name]) * 1000 / speed:.0f}ms"
    path, address = folder / "alertmanager.yml", free_address()
    path.write_text(yaml.safe_dump(config))
    where = [f"--storage.path={folder / 'alertmanager'}", f"--web.listen-address={address}"]
    command = [program("prometheus-alertmanager", "alertmanager"), f"--config.file={path}", *where]
    process = processes.start("alertmanager", [*command, "--cluster.listen-address="], folder=folder)
    processes.wait_for(process, f"http://{address}/-/ready")
    return address
