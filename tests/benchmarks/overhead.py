"""What watching costs: CPU of the exporter as a share of one core, its memory, and how long a scrape takes.

    python tests/benchmarks/overhead.py [--runs 1 40] [--seconds 30] [--rate 50] [--every 1.0] [--beside REVISION]
        [--address 127.0.0.1]

A writer in this process plays pgbench: each run prints a progress line a second and, unless --rate is 0, writes that
many lines of transaction log a second, in blocks of 4 KiB as pgbench does; the runs report one after the other within a
second. The exporter is the real one, scraped over HTTP as Prometheus does: the live part every --every seconds, the
runs part every 10 s. With --address 0.0.0.0 the page is compressed, as for a Prometheus on another machine.

CPU is user and system time from /proc, over wall time of the same span, after a warm-up; the memory is resident at the
end; a scrape takes until its last byte has arrived, and is missed if that is longer than --every. With --beside, the
exporter of another commit watches the same runs at the same time and is scraped in turn with this one.
"""

import argparse
import http.client
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import requests

sys.path.insert(0, str(Path(__file__).parents[2]))

from beside import environment, sides
from tests.support.ports import free_port

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
STEPS = 20
"""Groups of runs that report at the same moment, a second."""


class Writer:
    """One pretended pgbench: a progress line a second, its log in blocks."""

    def __init__(self, folder: Path, number: int, rate: int) -> None:
        place = folder / f"run{number}"
        place.mkdir(parents=True)
        self.progress = place / "db.err"
        self.log = place / f"db.{1000 + number}"
        self.rate = rate
        self.done = 0
        self.pending = b""

    def second(self, now: float) -> None:
        line = b"progress: %.3f s, %.1f tps, lat 5.%03d ms stddev 1.234, 0 failed\n"
        append(self.progress, line % (now, self.rate or 900, self.done % 999))
        for step in range(self.rate):
            self.done += 1
            self.pending += b"0 %d %d 0 %d %d\n" % (
                self.done,
                3000 + self.done * 7919 % 5000,
                int(now) - 1,
                step * 1_000_000 // self.rate,
            )
        whole = len(self.pending) // 4096 * 4096
        if whole:
            append(self.log, self.pending[:whole])
            self.pending = self.pending[whole:]


def append(path: Path, data: bytes) -> None:
    """Without keeping the file open: 1,000 runs have more files than a process may open."""
    with path.open("ab", buffering=0) as file:
        file.write(data)


def cpu_seconds(process: int) -> float:
    """User and system time so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mb(process: int) -> float:
    """Resident memory, 10^6 bytes."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE / 1e6


def wait_until_up(session: requests.Session, url: str) -> None:
    """Returns once a page answers with 200. Raises SystemExit after half a minute."""
    for _ in range(300):
        try:
            if session.get(url, timeout=5).ok:
                return
        except requests.ConnectionError:
            pass
        time.sleep(0.1)
    raise SystemExit(f"{url} does not answer")


class Exporter:
    """A real exporter of a checkout, and what it cost."""

    def __init__(self, name: str, root: Path, runs: Path, address: str) -> None:
        self.name = name
        self.scrapes: list[float] = []
        self.port = free_port()
        self._where = address, self.port
        command = [sys.executable, "-m", "benchwatch", "serve", "--runs.path", str(runs), "--log.level", "error"]
        command += ["--web.listen-address", "{}:{}".format(*self._where)]
        self.process = subprocess.Popen(command, env=environment(root))
        self._connection: http.client.HTTPConnection | None = None
        self.series = 0
        wait_until_up(requests.Session(), f"http://127.0.0.1:{self.port}/-/ready")
        self.begin()

    def get(self, path: str, coding: str = "gzip") -> bytes:
        """The body of an answer as it comes."""
        if self._connection is None:
            self._connection = http.client.HTTPConnection(*self._where)
        self._connection.request("GET", path, headers={"Accept-Encoding": coding})
        return self._connection.getresponse().read()

    def begin(self) -> None:
        """The warm-up is over."""
        self.scrapes.clear()
        self._began, self._used = time.monotonic(), cpu_seconds(self.process.pid)

    def scrape(self, part: str) -> None:
        began = time.monotonic()
        self.get(f"/metrics?collect[]={part}")
        if part == "live":
            self.scrapes.append(time.monotonic() - began)

    def end(self) -> None:
        self.share = (cpu_seconds(self.process.pid) - self._used) / (time.monotonic() - self._began)
        self.memory = resident_mb(self.process.pid)
        page = self.get("/metrics?collect[]=live", coding="identity")
        self.series = sum(not line.startswith(b"#") for line in page.splitlines())

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def watch(writers: list[Writer], exporters: list[Exporter], seconds: int, every: float) -> None:
    """Let the runs report and scrape the exporters in turn for that long."""
    opening = time.monotonic()
    scrapes = 0
    for step in range(STEPS * seconds):
        for writer in writers[step % STEPS :: STEPS]:
            writer.second(time.time())
        while scrapes * every <= step / STEPS:
            for exporter in exporters if scrapes % 2 else reversed(exporters):
                exporter.scrape("live")
                if round(scrapes * every) % 10 == 0 and scrapes * every % 1 < every:
                    exporter.scrape("runs")
            scrapes += 1
        time.sleep(max(0.0, opening + (step + 1) / STEPS - time.monotonic()))


def measure(roots: dict[str, Path], runs: int, options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        place = Path(folder) / "runs"
        writers = [Writer(place, number, options.rate) for number in range(runs)]
        exporters = []
        for name, root in roots.items():
            exporters.append(Exporter(name, root, place, options.address))
            stack.callback(exporters[-1].stop)
        watch(writers, exporters, options.warm_up, options.every)
        for exporter in exporters:
            exporter.begin()
        watch(writers, exporters, options.seconds, options.every)
        for exporter in exporters:
            exporter.end()
        for one in exporters:
            median, longest = statistics.median(one.scrapes) * 1e3, max(one.scrapes) * 1e3
            missed = sum(scrape > options.every for scrape in one.scrapes)
            print(
                f"{runs:>4} runs, {options.rate} log lines/s each, {one.series} live series every {options.every:g} s,"
                f" {one.name}: {one.share:.2%} of a core, {one.memory:.0f} MB resident,"
                f" scrape {median:.1f} ms (longest {longest:.0f} ms), {missed} of {len(one.scrapes)} missed",
                flush=True,
            )
        if len(exporters) == 2:
            here, there = exporters
            scrapes = statistics.median(one / two for one, two in zip(here.scrapes, there.scrapes, strict=True))
            print(
                f"{here.name} / {there.name}: CPU {here.share / there.share:.2f},"
                f" memory {here.memory / there.memory:.2f}, scrape {scrapes:.2f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, nargs="+", default=[1, 40])
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--warm-up", type=int, default=5)
    parser.add_argument("--rate", type=int, default=50)
    parser.add_argument("--every", type=float, default=1.0)
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--beside", metavar="REVISION")
    options = parser.parse_args()
    with sides(options.beside) as roots:
        for runs in options.runs:
            measure(roots, runs, options)


if __name__ == "__main__":
    main()
