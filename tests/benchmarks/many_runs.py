"""What a long history costs: CPU while nothing happens, and how long one look at the folders takes.

    python tests/benchmarks/many_runs.py [--runs 10000] [--seconds 30]

Each run is a folder with a report of pgbench and a record, a day old and older. They are looked at as `benchwatch
serve` does, every 250 ms, in this process: CPU is that of the process as a share of one core after the start, a look is
one call of Runs.poll. At the end a file of the oldest run is written again, and it is timed how long it takes until the
run is read again.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

from benchwatch.metrics.buckets import Buckets
from benchwatch.runs.watcher import Runs
from benchwatch.settings.settings import RunsSettings

RECORDING = Path(__file__).parents[1] / "recordings/pgbench/tpcb-15.18.out"


def fill(root: Path, number: int) -> None:
    content = RECORDING.read_bytes()
    yesterday = time.time() - 86400
    for run in range(number):
        folder = root / f"run-{run:06}"
        folder.mkdir()
        for name, data in (("db1.out", content), ("run.yaml", b"labels: {vm: pg1}\n")):
            path = folder / name
            path.write_bytes(data)
            os.utime(path, (yesterday - 60 * run,) * 2)


class Watched:
    """Runs, and how long each look at them took."""

    def __init__(self, root: Path, interval: float) -> None:
        self.runs = Runs([root], RunsSettings(), Buckets())
        self.looks: list[float] = []
        self._interval = interval

    def look(self) -> None:
        began = time.monotonic()
        more = self.runs.poll(time.time(), began)
        self.looks.append(time.monotonic() - began)
        if not more:
            time.sleep(self._interval)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=30.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        fill(root, options.runs)
        watched = Watched(root, 0.25)
        began = time.monotonic()
        while not watched.runs.looked or watched.runs.behind:
            watched.look()
        ready = time.monotonic() - began
        print(f"{options.runs} runs: ready after {ready:.2f} s, longest look {max(watched.looks) * 1e3:.0f} ms")
        time.sleep(3)
        watched.looks.clear()
        began, cpu = time.monotonic(), time.process_time()
        while time.monotonic() < began + options.seconds:
            watched.look()
        passed, cpu = time.monotonic() - began, time.process_time() - cpu
        print(f"idle: {cpu / passed:.2%} of a core, longest look {max(watched.looks) * 1e3:.0f} ms")
        oldest = f"run-{options.runs - 1:06}"
        (root / oldest / "db1.out").write_bytes(RECORDING.read_bytes() + b"\n")
        began = time.monotonic()
        while all(worker.run != oldest for worker in watched.runs.workers):
            watched.look()
        print(f"a file of the oldest run was written: read after {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
