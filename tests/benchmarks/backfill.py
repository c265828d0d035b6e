"""How long `benchwatch backfill` takes for runs of an hour: a pgbench with its transaction log, and an fio.

    python tests/benchmarks/backfill.py [--seconds 3600] [--transactions 3000000] [--threads 8] [--into]

The pgbench run has a progress line a second and a transaction log in as many files as it has threads; the fio run has
a json+ document a second of four jobs that read and write, made from the recording jsonplus-si1-libaio-qd16-3.42. Both
are made in a temporary folder (TMPDIR) and written as OpenMetrics to a file there. Printed is the processor time of the
command, its wall-clock time and its largest memory; with --into also those of promtool, which then makes blocks.
Of fio's documents it is printed beside what `json.loads` alone takes for them in the same run, which does not depend on
the machine. Must stay: an hour of pgbench with eight threads below 10 s, an hour of fio below 8 times json.loads.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

RECORDING = Path(__file__).parents[1] / "recordings/fio/jsonplus-si1-libaio-qd16-3.42.out"
BEGIN = 1_795_168_000
CLIENTS = 32
JOBS = 4
TIMES = frozenset({"timestamp", "timestamp_ms", "elapsed", "eta", "runtime", "job_runtime"})
GROWING = frozenset({"N", "total_ios", "io_bytes", "io_kbytes"})


def write_pgbench(folder: Path, seconds: int, transactions: int, threads: int) -> None:
    """A run of pgbench -P 1 --progress-timestamp -l -j `threads`."""
    source = np.random.default_rng(1)
    folder.mkdir()
    rate = transactions / seconds
    lines = (
        f"progress: {BEGIN + second}.500 s, {tps:.1f} tps, lat {1000 * CLIENTS / tps:.3f} ms stddev 1.234, 0 failed\n"
        for second, tps in enumerate(source.normal(rate, 0.03 * rate, seconds), 1)
    )
    (folder / "db1.err").write_text("".join(lines))
    (folder / "db1.out").write_text(
        "transaction type: <builtin: TPC-B (sort of)>\nscaling factor: 10\nquery mode: simple\n"
        f"number of clients: {CLIENTS}\nnumber of threads: {threads}\nduration: {seconds} s\n"
        f"number of transactions actually processed: {transactions}\nlatency average = 1.000 ms\n"
        f"initial connection time = 5.000 ms\ntps = {rate:.6f} (without initial connection time)\n"
    )
    for thread in range(threads):
        count = transactions // threads
        times = BEGIN * 1_000_000 + 500_000 + np.sort(source.integers(0, seconds * 1_000_000, count))
        second, microsecond = (part.tolist() for part in np.divmod(times, 1_000_000))
        latency = np.maximum(40, source.lognormal(6.5, 0.6, count)).astype(int).tolist()
        client = source.integers(0, CLIENTS // threads, count).tolist()
        numbers = [0] * CLIENTS
        with (folder / ("db1.4711" + (f".{thread}" if thread else ""))).open("w") as file:
            for row in range(count):
                number = numbers[client[row]] = numbers[client[row]] + 1
                file.write(f"{client[row]} {number} {latency[row]} 0 {second[row]} {microsecond[row]}\n")


def write_fio(folder: Path, seconds: int) -> None:
    """A run of fio with four jobs, a json+ document a second."""
    folder.mkdir()
    text = re.findall(r"\{\n  \"fio version\".*?\n\}\n", RECORDING.read_text(), re.DOTALL)[0]
    document = json.loads(text)
    (job,) = document["jobs"]
    job["job options"]["runtime"] = str(seconds)
    document["jobs"] = [{**job, "jobname": f"job{place}", "job_start": BEGIN * 1000} for place in range(JOBS)]
    template = json.dumps(_marked(document), indent=2, separators=(",", " : "))
    pieces = re.split(r'"@(\w+)@"', template)
    with (folder / "disk1.out").open("w") as file:
        for second in range(1, seconds + 1):
            known = {
                "timestamp": BEGIN + second,
                "timestamp_ms": (BEGIN + second) * 1000,
                "elapsed": second + 1,
                "eta": seconds - second,
                "runtime": second * 1000,
                "job_runtime": second * 1000,
            }
            numbers = (str(known[mark] if mark in known else int(mark) * second) for mark in pieces[1::2])
            file.write("".join(chain.from_iterable(zip(pieces[::2], [*numbers, "\n"], strict=True))))


def _marked(value: Any, key: str = "", inner: bool = False) -> Any:
    """The document with a mark in the place of each number that differs from document to document."""
    if isinstance(value, dict):
        return {name: _marked(each, name, key == "bins") for name, each in value.items()}
    if isinstance(value, list):
        return [_marked(each) for each in value]
    if key in TIMES and isinstance(value, int):
        return f"@{key}@"
    return f"@{value}@" if isinstance(value, int) and (inner or key in GROWING) else value


def by_json(path: Path) -> float:
    """The processor seconds that `json.loads` takes for all documents in a file, one after the other."""
    documents = re.findall(r"^\{\n.*?^\}\n", path.read_text(), re.DOTALL | re.MULTILINE)
    before = time.process_time()
    for document in documents:
        json.loads(document)
    return time.process_time() - before


def rates(size: int, taken: float, path: Path) -> str:
    """How fast `size` bytes of fio's documents were read, beside how fast json.loads reads all documents of a file."""
    alone, whole = by_json(path), path.stat().st_size
    each = f"{size / taken / 1e6:.0f} MB/s; json.loads alone: {alone:.1f} s, {whole / alone / 1e6:.0f} MB/s"
    return f"  {each}: {taken / alone * whole / size:.1f} times that"


def run(*command: str | Path) -> float:
    """Runs a command, prints what it took, and gives its processor seconds."""
    begin = time.perf_counter()
    process = os.posix_spawn(command[0], [*map(str, command)], os.environ)
    _, status, used = os.wait4(process, 0)
    wall = time.perf_counter() - begin
    if os.waitstatus_to_exitcode(status):
        sys.exit("that failed")
    processor = used.ru_utime + used.ru_stime
    print(f"  {processor:.1f} s processor, {wall:.1f} s wall clock, {used.ru_maxrss / 1024:.0f} MiB", flush=True)
    return processor


def measure(folder: Path, into: bool) -> None:
    """Backfills one run."""
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{folder.name}: {size / 1e6:.0f} MB", flush=True)
    command: Sequence[str | Path] = (Path(sys.executable).parent / "benchwatch", "backfill", folder)
    text, blocks = folder.parent / "openmetrics.txt", folder.parent / "blocks"
    taken = run(*command, "--output", text)
    print(f"  {text.stat().st_size / 1e6:.0f} MB of OpenMetrics")
    if (documents := folder / "disk1.out").exists():
        print(rates(size, taken, documents))
    text.unlink()
    if into:
        blocks.mkdir(exist_ok=True)
        print("  with promtool:")
        run(*command, "--into", blocks)


def main() -> None:
    """Makes both runs and measures."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=int, default=3600)
    arguments.add_argument("--transactions", type=int, default=3_000_000)
    arguments.add_argument("--threads", type=int, default=8)
    arguments.add_argument("--into", action="store_true")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        pgbench, fio = (Path(directory) / name for name in ("pgbench", "fio"))
        write_pgbench(pgbench, options.seconds, options.transactions, options.threads)
        measure(pgbench, options.into)
        write_fio(fio, options.seconds)
        measure(fio, options.into)


if __name__ == "__main__":
    main()
