"""The main job of benchwatch on real input: see `scripts/demo --help`.

A PostgreSQL server with pgbench, fio on a file, a simulated Nutanix CVM, node_exporter and postgres_exporter, watched
by benchwatch, all of it scraped by a Prometheus, which is asked for the figures that are shown. Everything that is
written is under one folder.
"""

import argparse
import fcntl
import shlex
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchwatch.nutanix.simulator.scenes import SCENES
from benchwatch.tools.api import Tool
from demo_parts import Demo
from demo_processes import Failure
from demo_runs import optional

_CHECKOUT = Path(__file__).resolve().parent.parent
_RUN_SECONDS = 60
_FREE_BYTES = 2 << 30
_SECONDS_BETWEEN_LINES = 5
_LATE = 3
"""How many times its duration a demo lasts at most while a source is missing, as on a busy machine."""


_told_to_end = threading.Event()


class Interrupted(Exception):
    """A signal asks the demo to end."""


class Screen:
    """Shows the figures: a table that is refreshed on a terminal, some lines now and then elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stdout.isatty()
        self._drawn = 0
        self._next = 0.0

    def show(self, seconds: float, rows: list[tuple[str, str]], missing: list[str], last: bool) -> None:
        """Shows the rows; `seconds` is the age of the demo."""
        if not self._terminal and seconds < self._next and not last:
            return
        self._next = seconds + _SECONDS_BETWEEN_LINES
        rows = [*rows, ("not seen yet", ", ".join(missing))] if missing else rows
        lines = [f"{name:13} {text}" for name, text in rows]
        clock = f"{int(seconds) // 60:02}:{int(seconds) % 60:02}"
        if self._terminal:
            width = shutil.get_terminal_size().columns
            back = f"\x1b[{self._drawn}F\x1b[J" if self._drawn else ""
            lines = [line[:width] for line in [f"{clock}, as Prometheus has it (Ctrl-C ends the demo)", *lines]]
            print(back + "\n".join(lines), flush=True)
            self._drawn = len(lines)
        else:
            print("\n".join(f"{clock} {line}" for line in lines), flush=True)


def main() -> int:
    """Runs the demo. Returns the exit code: 1 if something failed or a source was not seen by the end of --duration."""
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__.partition("\n\n")[2])
    parser.add_argument(
        "--duration",
        type=int,
        metavar="SECONDS",
        help="end after this time (30 s suffice to see every source), or up to three times as late while a source is "
        "missing; the exit code says whether Prometheus saw all",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=_CHECKOUT / ".demo",
        help="where everything is written (default: .demo in the checkout)",
    )
    known = {tool.name: tool for tool in optional()}
    parser.add_argument(
        "--tools",
        default="",
        metavar="NAMES",
        help=f"also run these: {', '.join(known)}, or all (default: none)",
    )
    parser.add_argument(
        "--scene",
        choices=SCENES,
        help="scene of the simulated CVM, with a simulated guest and its pgbench (default: checkpoint, without these)",
    )
    arguments = parser.parse_args()
    asked = list(known) if arguments.tools == "all" else [name for name in arguments.tools.split(",") if name]
    if unknown := [name for name in asked if name not in known]:
        parser.error(f"--tools: expected some of {', '.join(known)}, or all, got {unknown[0]}")
    if arguments.duration is not None and arguments.duration < 1:
        parser.error(f"--duration: expected a number of seconds above 0, got {arguments.duration}")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        with _folder(arguments.folder.resolve()) as folder:
            return _run(folder, arguments.duration, [known[name] for name in asked], arguments.scene)
    except Interrupted:
        return 0 if arguments.duration is None else 130
    except Failure as failure:
        print(f"demo: {failure}", file=sys.stderr)
    except OSError as error:
        place = error.filename or arguments.folder
        print(f"demo: {place}: {error.strerror or error}; choose another folder with --folder", file=sys.stderr)
    return 1


def _run(folder: Path, duration: int | None, tools: Sequence[Tool], scene: str | None) -> int:
    run_seconds = _RUN_SECONDS if duration is None else max(10, min(_RUN_SECONDS, duration // 2))
    demo = Demo(folder, run_seconds, tools, scene)
    try:
        print(f"Starting PostgreSQL, a simulated CVM, exporters, benchwatch and Prometheus in {folder}", flush=True)
        demo.start()
        print("\n".join(f"  {name:18} {place}" for name, place in demo.places()), flush=True)
        started, screen = time.monotonic(), Screen()
        over = False
        while not over:
            if _told_to_end.is_set():  # the signal came where an exception goes nowhere, such as a finalizer
                raise Interrupted
            demo.look()
            age, missing = time.monotonic() - started, demo.figures.missing()
            over = duration is not None and age >= duration * (_LATE if missing else 1)
            screen.show(age, demo.rows(), missing, over)
            time.sleep(not over)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        print("Stopping everything", flush=True)
        demo.processes.stop_all()
        runs = shlex.quote(_seen_from_here(folder / "runs"))
        benchwatch = shlex.quote(_seen_from_here(Path(sys.executable).parent / "benchwatch"))
        print(f"Its runs stay in {runs}. Next: {benchwatch} list {runs}, then show, compare or report any of them")
    missing, sources = demo.figures.missing(), len(demo.figures.sources)
    print(
        f"Prometheus saw {sources - len(missing)} of {sources} sources"
        + (f"; missing: {', '.join(missing)}" if missing else "")
    )
    return 1 if missing else 0


def _seen_from_here(path: Path) -> str:
    """The path relative to the working directory, if it is in that."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


@contextmanager
def _folder(folder: Path) -> Iterator[Path]:
    """The demo's folder, for one demo at a time."""
    for part in ("fio", "logs", "runs", "targets", "tmp"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if free < _FREE_BYTES:
        raise Failure(
            f"{folder} has {free >> 20} MiB of free space, {_FREE_BYTES >> 20} are needed: choose another with --folder"
        )
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failure(f"another demo runs in {folder}: end it, or choose another folder with --folder") from None
        yield folder


def _interrupt(number: int, frame: object) -> None:
    signal.signal(number, signal.SIG_IGN)
    _told_to_end.set()
    raise Interrupted


if __name__ == "__main__":
    sys.exit(main())
