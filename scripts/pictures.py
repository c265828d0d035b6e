"""Pictures of dashboards, of a run's page, of `benchwatch watch` and of a report, of a demo that really runs.

Two runs of each benchmark follow each other. In the second one PostgreSQL is frozen for some seconds: a stall, a spike
and their alerts, of which the pictures are.
"""

import argparse
import io
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from rich.console import Console
from rich.terminal_theme import MONOKAI

from benchwatch.watch.readings import Readings
from benchwatch.watch.screen import Screen
from benchwatch.watch.sources import WatchedExporter, WatchedPrometheus
from demo_parts import Demo
from demo_processes import Failure

_CHECKOUT = Path(__file__).resolve().parent.parent
_RUN = 130
"""Seconds of a run: alerts know a run's usual latency after a minute."""
_FROZEN_AT, _FROZEN_FOR = 75, 5
"""Seconds after the start of the second run, and how long."""
_AFTER = 35
"""Seconds from the stall to the moment that the pictures of it are of."""
_BOARDS = {"live": 1000, "fio": 1600, "nutanix": 1400, "spike": 1200}
"""Dashboards and heights of their pictures; they are 1600 pixels wide."""
_TRIES, _PATIENCE = 3, 150
"""Of Chromium, and seconds of each."""
_NAMES = ("chromium", "chromium-browser", "google-chrome")


class Camera:
    """A Chromium without a window."""

    def __init__(self) -> None:
        found = next((path for name in _NAMES if (path := shutil.which(name))), None)
        if found is None:
            raise Failure("Chromium was not found: install the package chromium")
        self._program = found

    def take(self, url: str, picture: Path, width: int, height: int) -> None:
        """A picture of a page once it has loaded everything; Chromium sometimes never has. Raises Failure."""
        picture.unlink(missing_ok=True)
        for _ in range(_TRIES):
            with TemporaryDirectory() as profile:
                command = [self._program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
                command += [f"--user-data-dir={profile}", f"--window-size={width},{height}"]
                command += ["--virtual-time-budget=30000", f"--screenshot={picture}", url]
                with subprocess.Popen(command, stderr=subprocess.DEVNULL, process_group=0) as browser:
                    try:
                        browser.wait(_PATIENCE)
                    except subprocess.TimeoutExpired:
                        os.killpg(browser.pid, signal.SIGKILL)
            if picture.exists():
                with Image.open(picture) as taken:
                    taken.quantize(256).save(picture, optimize=True)
                print(f"  {picture}", flush=True)
                return
        raise Failure(f"{picture.name}: Chromium made no picture of {url} in {_TRIES} times {_PATIENCE} s")


class Terminal:
    """What `benchwatch watch` shows of the demo."""

    def __init__(self, demo: Demo) -> None:
        exporter, prometheus = WatchedExporter(demo.url("exporter")), WatchedPrometheus(demo.url("Prometheus"))
        self._readings = Readings(exporter, prometheus, 1.0)
        self._screen = Screen(exporter.name, prometheus.name)

    def look(self) -> None:
        """Reads once, as it does every second."""
        self._readings.read_once()
        self._screen.show(self._readings.moment(), self._readings.take())

    def page(self, width: int, height: int) -> str:
        """The screen as HTML."""
        self._screen.show(self._readings.moment())
        console = Console(record=True, width=width, height=height, file=io.StringIO(), force_terminal=True)
        for line in self._screen.lines(width, height):
            console.print(line, overflow="crop", no_wrap=True)
        return console.export_html(theme=MONOKAI, inline_styles=True)


def main() -> int:
    """Makes the pictures. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="scripts/pictures", description=__doc__)
    parser.add_argument("--output", type=Path, default=_CHECKOUT / "docs" / "pictures", help="(default: docs/pictures)")
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="pictures-") as folder:
        return _demo(Path(folder), arguments.output.resolve())


def _demo(folder: Path, output: Path) -> int:
    for name in ("fio", "logs", "runs", "targets", "tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    demo = Demo(folder, _RUN, [])
    try:
        if demo.grafana is None:
            raise Failure("no Grafana was found: name an unpacked release in GRAFANA_HOME")
        camera = Camera()
        demo.start()
        _photograph(demo, camera, output)
    except KeyboardInterrupt:
        return 130
    except Failure as failure:
        print(f"pictures: {failure}", file=sys.stderr)
        return 1
    finally:
        demo.processes.stop_all()
    return 0


def _photograph(demo: Demo, camera: Camera, output: Path) -> None:
    terminal = Terminal(demo)
    first, *_ = firsts = demo.runs.names
    print("Waiting for the second run", flush=True)
    _wait(demo, lambda: demo.runs.names[0] != first, terminal.look)
    second, begun = demo.runs.names[0], time.time()
    _wait(demo, lambda: demo.runs.names[1] not in firsts, terminal.look)
    runs = demo.runs.names
    _wait(demo, lambda: time.time() > begun + _FROZEN_AT, terminal.look)
    stalled = time.time()
    _signal(demo, signal.SIGSTOP)
    try:
        while time.time() < stalled + _FROZEN_FOR:
            terminal.look()
            time.sleep(0.5)
        page = terminal.page(130, 31)
    finally:
        _signal(demo, signal.SIGCONT)
    _wait(demo, lambda: time.time() > stalled + _AFTER, terminal.look)
    until = time.time()
    with TemporaryDirectory() as folder:
        watch = Path(folder) / "watch.html"
        watch.write_text(page)
        camera.take(watch.as_uri(), output / "watch.png", 1280, 640)
        for board, height in _BOARDS.items():
            begin, end = (stalled - 30, stalled + 30) if board == "spike" else (until - 180, until)
            url = "".join((_url(demo, board, begin, end), *(f"&var-run={name}" for name in runs)))
            camera.take(url, output / f"{board}.png", 1600, height)
        camera.take(f"{demo.url('exporter')}/runs/{runs[0]}", output / "page.png", 1400, 1250)
        _wait(demo, lambda: demo.runs.names[0] != second, time.time)
        _wait(demo, lambda: time.time() > begun + _RUN + 30, time.time)
        chosen = f"&var-run={second}&var-baseline={first}"
        url = _url(demo, "compare", begun - _RUN - 10, begun + _RUN + 20) + chosen
        camera.take(url, output / "compare.png", 1600, 1150)
        report = Path(folder) / "report.html"
        command = [
            sys.executable,
            "-m",
            "benchwatch",
            "report",
            str(demo.folder / "runs" / second),
            "--output",
            str(report),
        ]
        subprocess.run([*command, "--prometheus", demo.url("Prometheus")], check=True)
        camera.take(report.as_uri(), output / "report.png", 1100, 1900)


def _url(demo: Demo, board: str, begin: float, end: float) -> str:
    return f"{demo.url('Grafana')}/d/benchwatch-{board}?from={int(1000 * begin)}&to={int(1000 * end)}&refresh=&kiosk"


def _wait(demo: Demo, until: Callable[[], bool], meanwhile: Callable[[], object]) -> None:
    while not until():
        demo.look()
        meanwhile()
        time.sleep(0.5)


def _signal(demo: Demo, number: signal.Signals) -> None:
    """To the server and its backends, which are in process groups of their own."""
    server = demo.server.popen.pid
    found = subprocess.run(["pgrep", "-P", str(server)], capture_output=True, text=True, check=True).stdout
    for process in [*map(int, found.split()), server]:
        os.kill(process, number)


if __name__ == "__main__":
    sys.exit(main())
