"""How long a main page of 1,000 vdisks takes from HTML to samples in the exporter, beside merely tokenising it.

Prints medians of processor time over some repetitions, and the ratio to Python's html.parser, which only cuts the page
into tags and texts, round by round. Run: python tests/benchmarks/cvm_page.py [vdisks]
"""

import gc
import html.parser
import statistics
import sys
import time
from collections import deque
from collections.abc import Callable

from beside import as_the_command

from benchwatch.nutanix.cvm_snapshot import Snapshot, snapshot_samples
from benchwatch.nutanix.pages.main_page import read_main_page
from benchwatch.nutanix.pages.tables import read_tables
from benchwatch.nutanix.simulator.load import Load, LoadStream
from benchwatch.nutanix.simulator.page_html import PageDocument, render
from benchwatch.nutanix.simulator.sections import frontend, frontend_row, hosted, hosted_row

REPETITIONS = 15


def page(vdisks: int) -> bytes:
    """A main page of so many busy vdisks, no two rows alike."""
    rows = []
    for index in range(vdisks):
        name = f"NFS:{50_000 + index} (5f0d7d8e-3a52-4c0b-9f0e-{index:012d})"
        load = Load(LoadStream(1000 + index, latency=300 + index), LoadStream(500 + index, latency=1500))
        rows.append((str(50_000 + index), name, load))
    sections = (frontend(frontend_row(*row[1:]) for row in rows), hosted(hosted_row(*row) for row in rows))
    return render(PageDocument("Stargate", sections)).encode()


def timed(work: Callable[[], object]) -> float:
    """Processor time that the work takes, milliseconds."""
    began = time.thread_time()
    work()
    return (time.thread_time() - began) * 1e3


def main() -> None:
    """Measure and print."""
    vdisks = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    body = page(vdisks)
    text = body.decode()
    gc.freeze()
    as_the_command()
    main_page = read_main_page(body)
    samples = sum(len(getattr(found, "numbers", (1,))) for found in snapshot_samples(Snapshot(0, main_page), {}))
    steps: dict[str, Callable[[], object]] = {
        "html.parser, tokens only": lambda: html.parser.HTMLParser().feed(text),
        "HTML to tables": lambda: read_tables(body),
        "HTML to fields": lambda: read_main_page(body),
        "HTML to fields to samples": lambda: deque(snapshot_samples(Snapshot(0, read_main_page(body)), {}), maxlen=0),
    }
    rounds = [[timed(work) for work in steps.values()] for _ in range(REPETITIONS)]
    print(f"{vdisks} vdisks, {len(body)} bytes, {samples} samples; medians of {REPETITIONS}")
    for name, times in zip(steps, zip(*rounds, strict=True), strict=True):
        print(f"{name:<26}{statistics.median(times):7.1f} ms")
    ratio = statistics.median(tokens / whole for tokens, *_, whole in rounds)
    print(f"{vdisks} vdisks, tokens only / HTML to samples: {ratio:.2f}")


if __name__ == "__main__":
    main()
