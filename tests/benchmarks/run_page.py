"""What the page of a run costs the exporter while somebody looks at it, in percent of a core.

    python tests/benchmarks/run_page.py [--minutes 60] [--tps 300] [--seconds 40]

A real exporter watches a run of pgbench that has been going on for an hour (a progress line a second and a transaction
log) and goes on; then one of fio (a json+ document a second). It is measured while nobody looks, while one browser
fetches what is new each second, and when nobody has looked for half a minute. CPU is user and system time from /proc
over wall time; what looking costs is the difference within one run of the exporter. The first reading is told apart, as
CPU seconds. Must stay on two quiet cores: looking below 1 %, and nothing afterwards.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import requests
from backfill import write_fio
from overhead import cpu_seconds, free_port, resident_mb, wait_until_up
from report import START, write_pgbench

KEPT = 35
"""Seconds after which nobody is taken to look any more."""


def pgbench(folder: Path, seconds: int, tps: int) -> Callable[[int], None]:
    """Writes a run of so many seconds; what writes one second more."""
    write_pgbench(folder, seconds, tps, 0)
    (folder / "db1.out").unlink()
    source = np.random.default_rng(1)

    def more(second: int) -> None:
        begin = START + seconds + second
        latency = np.maximum(60, source.lognormal(7.5, 0.7, tps)).astype(int).tolist()
        with (folder / "db1.100").open("a") as log:
            log.writelines(f"{n % 16} 1 {lat} 0 {begin} {n * 1000}\n" for n, lat in enumerate(latency))
        with (folder / "db1.err").open("a") as text:
            text.write(f"progress: {begin + 1}.000 s, {tps}.0 tps, lat 2.000 ms stddev 1.000, 0 failed\n")

    return more


def fio(folder: Path, seconds: int, _: int) -> Callable[[int], None]:
    """The same of fio: its last documents come live."""
    write_fio(folder, seconds + 300)
    path = folder / "disk1.out"
    whole = path.read_bytes()
    begins = [match.start() for match in re.finditer(rb"^\{", whole, re.MULTILINE)] + [len(whole)]
    path.write_bytes(whole[: begins[seconds]])

    def more(second: int) -> None:
        with path.open("ab") as file:
            file.write(whole[begins[seconds + second] : begins[seconds + second + 1]])

    return more


def watched(name: str, more: Callable[[int], None], folder: Path, seconds: int) -> None:
    """Measures and prints."""
    port, written = free_port(), 0
    url = f"http://127.0.0.1:{port}"
    serve = [sys.executable, "-m", "benchwatch", "serve", "--runs.path", str(folder), "--log.level", "error"]
    exporter = subprocess.Popen([*serve, "--web.listen-address", f"127.0.0.1:{port}"])
    session = requests.Session()

    def over(span: int, look: Callable[[], None] = lambda: None) -> float:
        """Percent of a core over so many seconds."""
        nonlocal written
        before, opening = cpu_seconds(exporter.pid), time.monotonic()
        for second in range(span):
            more(written)
            written += 1
            look()
            time.sleep(max(0.0, opening + second + 1 - time.monotonic()))
        return 100 * (cpu_seconds(exporter.pid) - before) / (time.monotonic() - opening)

    versions: dict[str, str] = {}
    sizes: list[int] = []

    def look() -> None:
        since = ",".join(f"{part}:{version}" for part, version in versions.items())
        answer = session.get(f"{url}/runs/{name}", params={"since": since})
        sizes.append(len(answer.content))
        versions.update(re.findall(r'<div id="(\w+)" data-version="(\w+)"', answer.text))

    try:
        wait_until_up(session, f"{url}/-/ready")
        over(5)
        alone = over(seconds)
        before, small = cpu_seconds(exporter.pid), resident_mb(exporter.pid)
        while 'id="course" data-version=""' in session.get(f"{url}/runs/{name}").text:
            time.sleep(0.1)
        first, memory = cpu_seconds(exporter.pid) - before, resident_mb(exporter.pid)
        over(5, look)
        drawn = set()
        sizes.clear()
        looked = over(seconds, lambda: (look(), drawn.add(versions.get("course")))[0])
        over(KEPT)
        after = over(seconds)
        print(
            f"{name}: {alone:.2f} % of a core while nobody looks, {looked:.2f} % while somebody does "
            f"(+{looked - alone:.2f} %, {looked / alone:.2f} times), {after:.2f} % afterwards; first reading "
            f"{first:.2f} CPU seconds; {small:.0f} MB before it, {memory:.0f} MB then; plots drawn "
            f"{len(drawn)} times in {seconds} s, {sum(sizes) / len(sizes) / 1000:.0f} kB an answer",
            flush=True,
        )
    finally:
        exporter.terminate()
        exporter.wait()


def main() -> None:
    """Writes both runs and measures them one after the other."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--minutes", type=int, default=60)
    arguments.add_argument("--tps", type=int, default=300)
    arguments.add_argument("--seconds", type=int, default=40)
    options = arguments.parse_args()
    for name, write in (("pgbench", pgbench), ("fio", fio)):
        with tempfile.TemporaryDirectory() as directory:
            more = write(Path(directory) / name, 60 * options.minutes, options.tps)
            watched(name, more, Path(directory), options.seconds)


if __name__ == "__main__":
    main()
