"""What watching costs: CPU of the exporter as a share of one core, and its memory, with 1 and with 40 runs.

    python tests/benchmarks/overhead.py [--seconds 30] [--rate 50] [--every 1.0]

A writer in this process plays pgbench: each run prints a progress line a second and, with --rate, writes that many
lines of transaction log a second, in blocks of 4 KiB as pgbench does. The exporter is the real one, scraped over HTTP
with gzip: the live part every --every seconds, the runs part every 10 s. CPU is user and system time from /proc, over
wall time of the same span, after a warm-up.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import requests

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Writer:
    """One pretended pgbench: a progress line a second, its log in blocks."""

    def __init__(self, folder: Path, number: int, rate: int) -> None:
        place = folder / f"run{number}"
        place.mkdir(parents=True)
        self.progress = (place / "db.err").open("ab", buffering=0)
        self.log = (place / f"db.{1000 + number}").open("ab", buffering=0) if rate else None
        self.rate = rate
        self.done = 0
        self.pending = b""

    def second(self, now: float) -> None:
        self.progress.write(
            b"progress: %.3f s, %.1f tps, lat 5.%03d ms stddev 1.234, 0 failed\n"
            % (now, self.rate or 900, self.done % 999)
        )
        if not self.log:
            return
        for step in range(self.rate):
            self.done += 1
            self.pending += b"0 %d %d 0 %d %d\n" % (
                self.done,
                3000 + self.done * 7919 % 5000,
                int(now) - 1,
                step * 1_000_000 // self.rate,
            )
        while len(self.pending) >= 4096:
            self.log.write(self.pending[:4096])
            self.pending = self.pending[4096:]


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mb(process: int) -> float:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE / 1e6


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_until_up(session: requests.Session, url: str) -> None:
    for _ in range(300):
        try:
            session.get(url)
            return
        except requests.ConnectionError:
            time.sleep(0.1)
    raise SystemExit(f"the exporter does not answer on {url}")


def measure(runs: int, rate: int, seconds: int, every: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        writers = [Writer(Path(folder) / "runs", number, rate) for number in range(runs)]
        port = free_port()
        command = [sys.executable, "-m", "benchwatch", "serve", "--runs.path", f"{folder}/runs", "--log.level", "error"]
        exporter = subprocess.Popen([*command, "--web.listen-address", f"127.0.0.1:{port}"])
        try:
            session = requests.Session()
            url = f"http://127.0.0.1:{port}/metrics"
            wait_until_up(session, f"http://127.0.0.1:{port}/-/healthy")
            warm_up, began, started = 5, 0.0, 0.0
            opening = time.monotonic()
            scrapes = 0.0
            for second in range(warm_up + seconds):
                if second == warm_up:
                    began, started = time.monotonic(), cpu_seconds(exporter.pid)
                for writer in writers:
                    writer.second(time.time())
                while second and scrapes <= second:
                    part = "runs" if scrapes % 10 == 0 else "live"
                    for wanted in {part, "live"}:
                        session.get(url, params={"collect[]": wanted})
                    scrapes += every
                time.sleep(max(0.0, opening + second + 1 - time.monotonic()))
            used = cpu_seconds(exporter.pid) - started
            wall = time.monotonic() - began
            page = session.get(url, params={"collect[]": "live"}).text
            lines = sum(not line.startswith("#") for line in page.splitlines())
            print(
                f"{runs:>3} runs, {rate:>4} log lines/s each, {lines:>5} live series every {every:g} s:"
                f" {100 * used / wall:.2f} % of a core, {resident_mb(exporter.pid):.0f} MB resident"
            )
        finally:
            exporter.terminate()
            exporter.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--rate", type=int, default=50)
    parser.add_argument("--every", type=float, default=1.0)
    options = parser.parse_args()
    for log_rate in (0, options.rate):
        for number_of_runs in (1, 40):
            measure(number_of_runs, log_rate, options.seconds, options.every)
