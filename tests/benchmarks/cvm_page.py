"""How long a main page of 1,000 vdisks takes from HTML to samples in the exporter, beside merely tokenising it.

Prints medians over some repetitions on one core, and the ratio to Python's html.parser, which only cuts the page into
tags and texts. Run: python tests/benchmarks/cvm_page.py [vdisks]
"""

import gc
import html.parser
import statistics
import sys
import time
from collections import deque
from collections.abc import Callable

from benchwatch.nutanix.metrics import snapshot_samples
from benchwatch.nutanix.pages.main_page import read_main_page
from benchwatch.nutanix.pages.tables import read_tables
from benchwatch.nutanix.simulator.document import PageDocument, Style, render
from benchwatch.nutanix.simulator.load import Load, LoadStream
from benchwatch.nutanix.simulator.sections import SimulatedVdisk, frontend, frontend_row, hosted, hosted_row
from benchwatch.nutanix.snapshot import Snapshot

REPETITIONS = 25


def page(vdisks: int) -> bytes:
    """A main page of so many busy vdisks, no two rows alike."""
    rows = []
    for index in range(vdisks):
        vdisk = SimulatedVdisk(str(50_000 + index), f"NFS:{50_000 + index} (5f0d7d8e-3a52-4c0b-9f0e-{index:012d})")
        rows.append((vdisk, Load(LoadStream(1000 + index, latency=300 + index), LoadStream(500 + index, latency=1500))))
    sections = (frontend(frontend_row(*row) for row in rows), hosted(hosted_row(*row) for row in rows))
    return render(PageDocument("Stargate", sections), Style()).encode()


def median(work: Callable[[], object]) -> float:
    """Median of the times that the work takes, seconds."""
    times = []
    for _ in range(REPETITIONS):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return statistics.median(times)


def main() -> None:
    """Measure and print."""
    vdisks = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    body = page(vdisks)
    text = body.decode()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # as the command does
    main_page = read_main_page(body)
    samples = sum(1 for _ in snapshot_samples(Snapshot(0, main_page), {}))
    tokenise = median(lambda: html.parser.HTMLParser().feed(text))
    tables = median(lambda: read_tables(body))
    fields = median(lambda: read_main_page(body))
    whole = median(lambda: deque(snapshot_samples(Snapshot(0, read_main_page(body)), {}), maxlen=0))  # as a scrape does
    print(f"{vdisks} vdisks, {len(body)} bytes, {samples} samples; medians of {REPETITIONS}")
    print(f"html.parser, tokens only   {1e3 * tokenise:7.1f} ms")
    print(f"HTML to tables             {1e3 * tables:7.1f} ms")
    print(f"HTML to fields             {1e3 * fields:7.1f} ms")
    print(f"HTML to fields to samples  {1e3 * whole:7.1f} ms, {tokenise / whole:.1f} times as fast as the tokens alone")


if __name__ == "__main__":
    main()
