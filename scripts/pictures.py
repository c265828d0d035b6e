"""Pictures of all dashboards, of the exporter's pages, of `benchwatch watch` and of a report: a demo that really runs.

Beside pgbench and fio, the simulated guest of a CVM has a pgbench whose oplog is full for 40 s: a spike, its cause and
its alerts, of which the pictures are. Two variants of a pgbench in turn are what the report and the comparison show;
one, two and four of them at once are the databases of Density.
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

from benchwatch.nutanix.simulator.scenes import FAULT_SECONDS, FAULT_START
from benchwatch.watch.readings import Readings
from benchwatch.watch.screen import Screen
from benchwatch.watch.sources import WatchedExporter, WatchedPrometheus
from demo_parts import Demo
from demo_processes import Failure

_CHECKOUT = Path(__file__).resolve().parent.parent
_RUN = 130
"""Seconds of a run: alerts know a run's usual latency after a minute."""
_SCENE = "oplog-full"
_INTO_THE_FAULT, _AFTER = 35, 40
"""Seconds after the simulated fault began and ended at which Live and Spike are shown."""
_BOARDS = {
    "phone": (500, 2300),
    "pgbench": (1600, 1400),
    "fio": (1600, 1400),
    "nutanix": (1600, 1600),
    "locality": (1600, 900),
    "exporter": (1600, 1200),
}
"""Width and height of the pictures of boards that show the five minutes around the fault."""
_REPEATS, _VARIANT_SECONDS = 3, 10
_DATABASES = (1, 2, 4)
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
        self._screen.show(self._readings.moment())

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
    arguments.output.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="pictures-") as folder:
        return _demo(Path(folder), arguments.output.resolve())


def _demo(folder: Path, output: Path) -> int:
    for name in ("fio", "logs", "runs", "targets", "tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    demo = Demo(folder, _RUN, [], _SCENE)
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
    terminal, begun = Terminal(demo), time.time()
    slow = next(path.name for path in demo.runs.folder.glob("simulated-*"))
    fault = time.mktime(time.strptime(slow, "simulated-%Y%m%d-%H%M%S")) + FAULT_START
    on, off = _variants(demo)
    print(f"Waiting {fault + _INTO_THE_FAULT - time.time():.0f} s for the simulated fault", flush=True)
    _wait(demo, fault + _INTO_THE_FAULT, terminal.look)
    runs, page, now = [slow, *demo.runs.names], terminal.page(160, 50), time.time()
    with TemporaryDirectory() as folder:
        watch = Path(folder) / "watch.html"
        watch.write_text(page)
        camera.take(f"{demo.url('exporter')}/runs/{slow}", output / "page.png", 1280, 900)
        camera.take(watch.as_uri(), output / "watch.png", 1570, 1010)
        camera.take(_url(demo, "live", now - 150, now, *runs[:2]), output / "live.png", 1600, 1000)
        _wait(demo, fault + FAULT_SECONDS + _AFTER, terminal.look)
        moment = _url(demo, "spike", fault - 45, fault + FAULT_SECONDS + _AFTER, slow)
        camera.take(moment, output / "spike.png", 1600, 1000)
        until = time.time() + 20  # results are scraped every 10 s
        camera.take(f"{demo.url('exporter')}/", output / "overview.png", 1280, 800)
        crowds = _crowds(demo)
        time.sleep(15)
        for board, (width, height) in _BOARDS.items():
            shown = {"pgbench": runs[1:2], "fio": runs[2:]}.get(board, [slow])
            camera.take(_url(demo, board, until - 300, until, *shown), output / f"{board}.png", width, height)
        chosen = f"{_url(demo, 'compare', begun, time.time(), off[-1])}&var-baseline={on[-1]}"
        camera.take(chosen, output / "compare.png", 1600, 1200)
        density = _url(demo, "density", begun, time.time(), *crowds)
        camera.take(density, output / "density.png", 1600, 1200)
        versus = f"{demo.url('exporter')}/compare?base=sync-on&other=sync-off"
        camera.take(versus, output / "versus.png", 1280, 1100)
        report = Path(folder) / "report.html"
        _benchwatch(
            demo, "report", *(str(demo.runs.folder / name) for name in ("sync-on", "sync-off")), "--output", str(report)
        )
        camera.take(report.as_uri(), output / "report.png", 1280, 1500)


def _variants(demo: Demo) -> tuple[list[str], list[str]]:
    """Two configurations of PostgreSQL in turn; the names of their runs."""
    pgbench = demo.postgres.pgbench("-n", "-T", str(_VARIANT_SECONDS), "-c", "4", "-j", "2")
    variants = ["--variant", "on:", "--variant", "off:PGOPTIONS=-c synchronous_commit=off"]
    where = ["--runs.path", str(demo.runs.folder), "--name", "sync", "--repeat", str(_REPEATS)]
    _benchwatch(demo, "run", *where, *variants, "--", *pgbench)
    on, off = ([f"sync-{which}-{number}" for number in range(1, _REPEATS + 1)] for which in ("on", "off"))
    return on, off


def _crowds(demo: Demo) -> list[str]:
    """Runs of several databases at once, with two protocols; their names."""
    names = []
    for protocol in ("simple", "prepared"):
        pgbench = demo.postgres.pgbench("-n", "-S", "-T", str(_VARIANT_SECONDS), "-c", "1", "-M", protocol)
        for databases in _DATABASES:
            names.append(f"{protocol}-{databases}")
            where = ["--runs.path", str(demo.runs.folder), "--name", names[-1], "--label", f"protocol={protocol}"]
            workers = [
                _started(demo, "run", *where, "--worker", f"db{number}", "--", *pgbench)
                for number in range(1, databases + 1)
            ]
            if sum(worker.wait() for worker in workers):
                raise Failure(f"{names[-1]} failed")
    return names


def _benchwatch(demo: Demo, *arguments: str) -> None:
    if _started(demo, *arguments).wait():
        raise Failure(f"benchwatch {arguments[0]} failed")


def _started(demo: Demo, *arguments: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PGPASSFILE": str(demo.postgres.pgpass)}
    return subprocess.Popen([sys.executable, "-m", "benchwatch", *arguments], env=environment)


def _url(demo: Demo, board: str, begin: float, end: float, *runs: str) -> str:
    """A board, as large as the window, with these runs."""
    times = f"from={int(1000 * begin)}&to={int(1000 * end)}"
    chosen = "".join(f"&var-run={run}" for run in runs)
    return f"{demo.url('Grafana')}/d/benchwatch-{board}?{times}{chosen}&refresh=&kiosk"


def _wait(demo: Demo, until: float, meanwhile: Callable[[], object]) -> None:
    while time.time() < until:
        demo.look()
        meanwhile()
        time.sleep(0.5)


if __name__ == "__main__":
    sys.exit(main())
