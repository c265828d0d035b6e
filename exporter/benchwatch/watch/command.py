"""`benchwatch watch`: its options, and what it does: one snapshot, or a loop that draws and obeys keys."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from ..values.addresses import DEFAULT_EXPORTER
from ..values.arguments import duration
from ..values.durations import Duration
from ..values.errors import FAILED, UserError

if TYPE_CHECKING:
    from rich.console import Console

    from .readings import Readings
    from .screen import Screen

DEFAULT_URL = f"http://{DEFAULT_EXPORTER}"
_REDRAWN_AFTER = 5.0
"""Seconds after which the screen is redrawn even if nothing new was read: the clock and ages move on."""
_PLAIN_WIDTH = 120
"""Columns of a snapshot that does not go to a terminal."""


def add_parser(add: Any, _: argparse.ArgumentParser) -> None:
    """Register the command `watch`."""
    command = add(
        usage="benchwatch watch [options] [URL]",
        description="Shows runs, latencies, vdisks and alerts. Keys: q quits, j and k choose a run, p pauses.",
        examples=(
            "benchwatch watch",
            "benchwatch watch host:19777 --prometheus host:9090",
            "benchwatch watch --once",
        ),
    )
    command.add_argument(
        "url", nargs="?", default=DEFAULT_URL, metavar="URL", help=f"address of the exporter (default: {DEFAULT_URL})"
    )
    watch = command.add_argument_group("what to show, and how often")
    watch.add_argument(
        "--prometheus", metavar="URL", help="show the firing alerts of this Prometheus, and why a run is slow"
    )
    watch.add_argument(
        "--interval", type=_interval, default=Duration(1), metavar="TIME", help="time between readings (default: 1s)"
    )
    watch.add_argument(
        "--once", action="store_true", help="print one plain snapshot; exit with code 1 if the exporter cannot be read"
    )
    watch.add_argument("--json", action="store_true", help="with --once: print JSON (docs/watch.md)")
    command.set_defaults(func=_watch)


def _interval(text: str) -> Duration:
    interval = duration(text)
    if not 0.2 <= interval <= 3600:
        raise argparse.ArgumentTypeError(f"expected from 200ms to 1h, got {text!r}")
    return interval


def _watch(options: argparse.Namespace) -> int:
    if options.json and not options.once:
        raise UserError("--json requires --once")
    from rich.console import Console

    from .readings import Readings
    from .screen import Screen
    from .sources import WatchedExporter, WatchedPrometheus

    exporter = WatchedExporter(options.url)
    prometheus = WatchedPrometheus(options.prometheus) if options.prometheus else None
    readings = Readings(exporter, prometheus, options.interval)
    screen = Screen(exporter.name, prometheus.name if prometheus else "")
    console = Console(highlight=False, markup=False, emoji=False)
    if options.once or not sys.stdout.isatty() or console.is_dumb_terminal:
        return _once(console, screen, readings, options.json)
    return _live(console, screen, readings, options.interval)


def _once(console: "Console", screen: "Screen", readings: "Readings", as_json: bool) -> int:
    readings.read_once()
    moment = readings.moment()
    if moment.problem:
        raise UserError(f"the exporter {screen.exporter} {moment.problem}. {moment.advice}".strip(), FAILED)
    if as_json:
        from .known import document

        print(document(moment, screen.exporter), end="")
        return 0
    screen.show(moment)
    width = console.width if sys.stdout.isatty() else _PLAIN_WIDTH
    for line in screen.snapshot(width):
        line.truncate(width, overflow="ellipsis")
        line.rstrip()
        console.print(line, soft_wrap=True)
    return 0


def _live(console: "Console", screen: "Screen", readings: "Readings", interval: float) -> int:
    from rich.console import Group

    from .keyboard import Keyboard

    keyboard = Keyboard()
    with keyboard.attached(), console.screen():
        readings.start(keyboard.wake)
        while not keyboard.ended_by:
            screen.show(readings.moment())
            width, height = console.size
            console.update_screen(Group(*screen.lines(width, height)))
            for key in keyboard.wait(min(1.5 * interval, _REDRAWN_AFTER)):
                if key == "q":
                    return 0
                if key == "p":
                    screen.pause()
                if key in ("up", "down"):
                    screen.select(1 if key == "down" else -1)
    return 128 + keyboard.ended_by
