"""What active workers cost an exporter, without HTTP: processor time for looking at the files, and for a page.

    python tests/benchmarks/workers.py [--workers 400] [--seconds 15] [--rate 50]
    python tests/benchmarks/beside.py REVISION tests/benchmarks/workers.py   # in turns with another commit

The same load as overhead.py's, in this process: each run prints a progress line a second and writes --rate lines of
transaction log a second; files are looked at as `benchwatch serve` does, and the live part of the page is rendered
twice a second. On a busy machine a second here takes longer than a second, so nothing is left out, as overhead.py's
exporter has to.
"""

import argparse
import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from beside import as_the_command
from overhead import STEPS, Writer

from benchwatch.metrics.buckets import Buckets
from benchwatch.runs.watcher import Runs
from benchwatch.server import command
from benchwatch.server.exporter import Exporter
from benchwatch.settings.settings import RunsSettings

WARM_UP = 5
INTERVAL = 0.25
SHARE = getattr(command, "_SHARE", 1.0)
LONGEST_PAUSE = getattr(command, "_LONGEST_PAUSE", 0.0)


def timed(act: Callable[[], object]) -> float:
    """Processor time that a call takes, seconds."""
    began = time.process_time()
    act()
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=400)
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--rate", type=int, default=50)
    options = parser.parse_args()
    as_the_command()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "runs"
        writers = [Writer(place, number, options.rate) for number in range(options.workers)]
        runs = Runs([place], RunsSettings(), Buckets())
        exporter = Exporter(runs)
        gc.freeze()
        looks: list[float] = []
        pages: list[float] = []
        opening, next_look = time.monotonic(), 0.0
        for step in range(STEPS * (WARM_UP + options.seconds)):
            if step == STEPS * WARM_UP:
                looks.clear()
                pages.clear()
            for writer in writers[step % STEPS :: STEPS]:
                writer.second(time.time())
            if step / STEPS >= next_look:
                looks.append(timed(lambda: runs.poll(time.time(), time.monotonic())))
                pause = max(INTERVAL, min(looks[-1] * (1 / SHARE - 1), LONGEST_PAUSE))
                next_look = step / STEPS + looks[-1] + pause - 0.5 / STEPS
            if step % STEPS in (4, 14):
                pages.append(timed(lambda: exporter.render(frozenset(["live"])).encode()))
            time.sleep(max(0.0, opening + (step + 1) / STEPS - time.monotonic()))
    title = f"{options.workers} workers"
    print(f"{title}, looks a second: {len(looks) / options.seconds:.1f}")
    print(f"{title}, processor time of looks, ms a second: {1e3 * sum(looks) / options.seconds:.1f}")
    print(f"{title}, processor time of a page, ms: {1e3 * sum(pages) / len(pages):.1f}")
    print(f"{title}, both, ms a second: {1e3 * (sum(looks) + sum(pages)) / options.seconds:.1f}")


if __name__ == "__main__":
    main()
