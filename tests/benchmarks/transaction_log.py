"""How fast a transaction log is read: benchwatch's parser and state against mtail, on the same log, each on one core.

    python tests/benchmarks/transaction_log.py [--lines 3000000] [--pairs 3]

Both fill a latency histogram by script and count transactions, and both must count every line. They run in turns, so
that a noisy machine troubles both. Figures are lines a second of processor time; mtail's start is measured with an
empty log and taken off.
"""

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from beside import as_the_command

from benchwatch.metrics.buckets import Buckets
from benchwatch.tools.pgbench import PGBENCH

CHUNK = 1 << 20
CLIENTS = 32

MTAIL_PROGRAM = r"""
counter transactions by script
histogram latency_seconds by script buckets 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1

/^\d+ \d+ (?P<latency>\d+) (?P<script>\d+) / {
  transactions[$script]++
  latency_seconds[$script] = $latency / 1000000.0
}
"""


def write_log(path: Path, lines: int) -> None:
    """A log of `lines` transactions by CLIENTS clients at 100,000 a second, with lognormal latencies."""
    source = np.random.default_rng(1)
    latency = np.maximum(40, source.lognormal(6.5, 0.6, lines)).astype(int).tolist()
    client = source.integers(0, CLIENTS, lines).tolist()
    microseconds = (1_795_168_280_128_474 + np.cumsum(source.exponential(10, lines))).astype(np.int64)
    second, microsecond = (part.tolist() for part in np.divmod(microseconds, 1_000_000))
    numbers = [0] * CLIENTS
    with path.open("w") as file:
        for row in range(lines):
            number = numbers[client[row]] = numbers[client[row]] + 1
            file.write(f"{client[row]} {number} {latency[row]} 0 {second[row]} {microsecond[row]}\n")


def read(path: Path, lines: int) -> float:
    """Processor seconds that benchwatch takes from file to state."""
    begin = time.process_time()
    parser, state = PGBENCH.parser("log"), PGBENCH.state(Buckets())
    with path.open("rb") as file:
        while data := file.read(CHUNK):
            for record in parser.feed(data):
                state.apply(record, path.name, 0.0)
    taken = time.process_time() - begin
    (total,) = (sample.value for sample in state.samples(False) if sample.family.name == "pgbench_transactions_total")
    assert parser.records == total == lines, (parser.records, total)
    return taken


def mtail(program: Path, log: Path, lines: int) -> float:
    """Processor seconds that mtail takes for the log, on one core, its start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        ["mtail", "--one_shot", "--one_shot_format=prometheus", "--progs", program, "--logs", log],
        env={**os.environ, "GOMAXPROCS": "1"},
        cwd=program.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    counted = re.findall(r"^transactions\{[^}]*\} (\S+)", done.stdout, re.MULTILINE)
    if [float(count) for count in counted] != ([lines] if lines else []):
        sys.exit(f"mtail counted {counted}, expected {lines}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Writes a log, reads it in turns, prints the figures."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--lines", type=int, default=3_000_000)
    arguments.add_argument("--pairs", type=int, default=3)
    options = arguments.parse_args()
    if shutil.which("mtail") is None:
        sys.exit("mtail is not installed")
    as_the_command()
    with tempfile.TemporaryDirectory() as directory:
        program, log, empty = (Path(directory) / name for name in ("pgbench.mtail", "pgbench_log.1", "empty.log"))
        program.write_text(MTAIL_PROGRAM)
        empty.write_text("")
        write_log(log, options.lines)
        started = mtail(program, empty, 0)
        print(f"{options.lines} lines, {log.stat().st_size / 1e6:.0f} MB; mtail's start {started:.2f} s")
        ratios = []
        for pair in range(options.pairs):
            ours = options.lines / read(log, options.lines)
            theirs = options.lines / (mtail(program, log, options.lines) - started)
            ratios.append(ours / theirs)
            figures = f"benchwatch {ours / 1e6:.2f}, mtail {theirs / 1e6:.3f} million lines/s"
            print(f"pair {pair + 1}: {figures}, ratio {ratios[-1]:.1f}")
        print(f"ratio, median of {options.pairs}: {statistics.median(ratios):.1f}")


if __name__ == "__main__":
    main()
