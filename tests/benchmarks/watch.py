"""What `benchwatch watch` costs: its CPU as a share of one core, its memory, and what it makes the exporter use.

    python tests/benchmarks/watch.py [--seconds 30] [--size 140x45]

The exporter is the real one and sees 1 or 40 pretended pgbench runs (those of overhead.py: a progress line and 50 lines
of transaction log a second each, so every one has percentiles and a histogram). The watch is the real one, on a
pseudo-terminal of that size whose output is counted. CPU is user and system time from /proc over wall time, after a
warm-up of 10 s; the exporter's is measured without and with the watch.
"""

import argparse
import fcntl
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

import requests
from overhead import Writer, cpu_seconds, free_port, resident_mb, wait_until_up

WARM_UP = 10


class Sink:
    """A terminal that counts what it is sent."""

    def __init__(self, width: int, height: int) -> None:
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.taken = 0
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        while data := os.read(self.ours, 65536):
            self.taken += len(data)


def write_for(writers: list[Writer], seconds: int) -> None:
    opening = time.monotonic()
    for second in range(seconds):
        for writer in writers:
            writer.second(time.time())
        time.sleep(max(0.0, opening + second + 1 - time.monotonic()))


def measure(runs: int, seconds: int, width: int, height: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        writers = [Writer(Path(folder) / "runs", number, 50) for number in range(runs)]
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        program = [sys.executable, "-m", "benchwatch"]
        serve = [*program, "serve", "--runs.path", f"{folder}/runs", "--log.level", "error"]
        started = [subprocess.Popen([*serve, "--web.listen-address", f"127.0.0.1:{port}"])]
        try:
            wait_until_up(requests.Session(), f"{url}/-/healthy")
            exporter = started[0].pid
            write_for(writers, WARM_UP)
            before, opening = cpu_seconds(exporter), time.monotonic()
            write_for(writers, seconds)
            alone = (cpu_seconds(exporter) - before) / (time.monotonic() - opening)
            sink = Sink(width, height)
            environment = os.environ | {"TERM": "xterm-256color"}
            ends = {"stdin": sink.theirs, "stdout": sink.theirs, "stderr": sink.theirs}
            started.append(subprocess.Popen([*program, "watch", url], env=environment, **ends))  # type: ignore[call-overload]
            watch = started[1].pid
            write_for(writers, WARM_UP)
            first = resident_mb(watch)
            before, opening, sent = cpu_seconds(exporter), time.monotonic(), sink.taken
            used = cpu_seconds(watch)
            write_for(writers, seconds)
            wall = time.monotonic() - opening
            print(
                f"{runs:>3} runs, {width}x{height}: watch {100 * (cpu_seconds(watch) - used) / wall:.2f} % of a core, "
                f"{first:.0f} MB resident at first, {resident_mb(watch):.0f} MB at the end, "
                f"{(sink.taken - sent) / wall / 1000:.1f} kB/s to the terminal; "
                f"exporter {100 * alone:.2f} % without it, "
                f"{100 * (cpu_seconds(exporter) - before) / wall:.2f} % with it",
                flush=True,
            )
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--size", default="140x45", metavar="WIDTHxHEIGHT")
    options = parser.parse_args()
    columns, lines = map(int, options.size.split("x"))
    for number_of_runs in (1, 40):
        measure(number_of_runs, options.seconds, columns, lines)
