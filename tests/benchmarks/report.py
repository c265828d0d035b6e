"""What a report of a long run costs: processor seconds, reading included, and the size of the page.

    python tests/benchmarks/report.py [--seconds 3600] [--tps 300] [--runs 1]

Writes a run of pgbench with a progress line a second and a transaction log, with a burst every five minutes and a
stall, and one of fio with a json+ document a second of four jobs that read and write, and reports each in a process of
its own. Of fio's 260 MB of documents the bytes a second are printed beside what `json.loads` alone takes for them
in the same run; then once more without what a report of their first minute takes, that is starting, importing and
drawing. Must stay on two quiet cores: a page below 3 MB, an hour of either tool below 5 s, that of fio below 5 times
json.loads. Other programs on these cores slow a report down more than json.loads: 7 times was seen at a load of 25.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from backfill import rates, write_fio

START = 1_790_000_000
CLIENTS = 16
SUMMARY = """\
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 100
query mode: simple
number of clients: {clients}
number of threads: 1
maximum number of tries: 1
duration: {seconds} s
number of transactions actually processed: {transactions}
number of failed transactions: 0 (0.000%)
latency average = {mean:.3f} ms
latency stddev = {deviation:.3f} ms
initial connection time = 20.000 ms
tps = {tps:.6f} (without initial connection time)
"""


def write_pgbench(folder: Path, seconds: int, tps: int, seed: int) -> int:
    """A run in a folder; how many transactions it has."""
    source = np.random.default_rng(seed)
    folder.mkdir()
    second = np.arange(seconds)
    burst = second % 300 >= 280
    rate = source.poisson(tps * np.where(burst, 0.5, 1.0))
    rate[seconds // 2 : seconds // 2 + 4] = 0
    latency = np.maximum(60, source.lognormal(7.5, 0.7, int(rate.sum()))).astype(np.int64)
    of = np.repeat(second, rate)
    latency[burst[of]] *= 4
    within = np.sort(source.random(len(of)) + of) - of
    microsecond = np.minimum((within * 1e6).astype(np.int64), 999_999)
    client = source.integers(0, CLIENTS, len(of))
    columns = (client.tolist(), latency.tolist(), of.tolist(), microsecond.tolist())
    with (folder / "db1.100").open("w") as log:
        log.writelines(f"{c} 1 {lat} 0 {START + s} {us}\n" for c, lat, s, us in zip(*columns, strict=True))
    ends = np.cumsum(rate)
    with (folder / "db1.err").open("w") as text:
        for number, (end, count) in enumerate(zip(ends.tolist(), rate.tolist(), strict=True), 1):
            part = latency[end - count : end] / 1e3
            mean, deviation = (part.mean(), part.std()) if count else (0, 0)
            line = (
                f"progress: {START + number}.000 s, {count}.0 tps, lat {mean:.3f} ms stddev {deviation:.3f}, 0 failed"
            )
            text.write(f"{line}\n")
    (folder / "db1.out").write_text(
        SUMMARY.format(
            clients=CLIENTS,
            seconds=seconds,
            transactions=len(of),
            mean=latency.mean() / 1e3,
            deviation=latency.std() / 1e3,
            tps=len(of) / seconds,
        )
    )
    return len(of)


def measure(folders: Sequence[Path], output: Path) -> float:
    """Reports runs, prints what it took, and gives the processor seconds."""
    command = [sys.executable, "-m", "benchwatch", "report", *map(str, folders), "--output", str(output)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{taken:.2f} s of processor time, {output.stat().st_size / 1e6:.2f} MB", flush=True)
    return taken


def main() -> None:
    """Writes the runs, reports them, prints the figures."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=int, default=3600)
    arguments.add_argument("--tps", type=int, default=300)
    arguments.add_argument("--runs", type=int, default=1)
    arguments.add_argument("--output", type=Path, help="keep the pages in that folder")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        pages = options.output or Path(directory)
        pages.mkdir(exist_ok=True)
        folders = [Path(directory) / f"pgbench{number}" for number in range(options.runs)]
        transactions = sum(
            write_pgbench(folder, options.seconds, options.tps, number) for number, folder in enumerate(folders)
        )
        print(f"pgbench, {options.runs} run(s) of {options.seconds} s, {transactions} transactions in the logs")
        measure(folders, pages / "pgbench.html")
        folder = Path(directory) / "fio"
        write_fio(folder, options.seconds)
        documents = folder / "disk1.out"
        size = documents.stat().st_size
        print(f"fio, 1 run of {options.seconds} s, {size / 1e6:.0f} MB")
        taken = measure([folder], pages / "fio.html")
        print(rates(size, taken, documents))
        beginning = Path(directory) / "beginning"
        write_fio(beginning, min(60, options.seconds))
        first = (beginning / documents.name).stat().st_size
        print(f"its first {first / 1e6:.0f} MB")
        started = measure([beginning], pages / "beginning.html")
        if size > first:
            print("from there on")
            print(rates(size - first, taken - started, documents))


if __name__ == "__main__":
    main()
