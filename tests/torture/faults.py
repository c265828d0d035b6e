"""Faults with a real `benchwatch serve` on loopback: each returns what the user sees and how much was lost.

What is lost is counted against what the files, or fio's own documents, say: I/Os, transactions, bytes or answers.
"""

import json
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import requests

from tests.support.ports import free_port

RECORDINGS = Path(__file__).parents[1] / "recordings"
LOG = RECORDINGS / "dashboards/pgbench-rate-retries-15.18/db1.30137"
REPORT = RECORDINGS / "pgbench/tpcb-15.18.out"


class Skipped(Exception):
    """The fault cannot be made on this machine: why."""


class Outcome(NamedTuple):
    """What the user sees, and how much of what there was did not arrive."""

    seen: str
    lost: int


class Fault(NamedTuple):
    """A fault by name, what is done in an empty folder, and whether that takes seconds only."""

    name: str
    run: Callable[[Path], Outcome]
    fast: bool = True


class Exporter:
    """A real one, of the runs in a folder."""

    def __init__(self, folder: Path, settings: str = "", descriptors: int = 0) -> None:
        self.runs = folder / "runs"
        self.runs.mkdir(exist_ok=True)
        (folder / "benchwatch.yaml").write_text(f"runs: {{path: runs}}\n{settings}")
        self.address = ("127.0.0.1", free_port())
        self.url = "http://{}:{}".format(*self.address)
        self._folder = folder
        self._descriptors = descriptors
        self.start()

    def start(self, *options: str) -> None:
        """Start it, with further options."""
        command = [sys.executable, "-m", "benchwatch", "serve", "--config.file", str(self._folder / "benchwatch.yaml")]
        limits = (self._descriptors, self._descriptors)
        with (self._folder / "exporter.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--web.listen-address", self.url.removeprefix("http://"), *options],
                stderr=log,
                preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limits)) if self._descriptors else None,
            )

    def page(self) -> str:
        """/metrics; empty while it does not answer."""
        try:
            return requests.get(f"{self.url}/metrics", timeout=120).text
        except requests.ConnectionError:
            return ""

    def value(self, family: str, run: str, default: int = 0) -> int:
        """The sum of a family's samples of a run."""
        found = re.findall(rf'^{family}\{{run="{run}",[^}}]*\}} (\S+)$', self.page(), re.MULTILINE)
        return sum(int(float(number)) for number in found) if found else default


@contextmanager
def exporting(folder: Path, settings: str = "", descriptors: int = 0) -> Iterator[Exporter]:
    """An exporter that answers, and is killed in the end."""
    exporter = Exporter(folder, settings, descriptors)
    try:
        wait(lambda: "benchwatch_build_info" in exporter.page())
        yield exporter
    finally:
        exporter.process.kill()
        exporter.process.wait()


def wait(condition: Callable[[], bool], seconds: float = 120.0) -> bool:
    """Until it holds; whether it does by then."""
    end = time.monotonic() + seconds
    while not (held := condition()) and time.monotonic() < end:
        time.sleep(0.1)
    return held


def fio(into: Path, number: int) -> int:
    """Have a real fio write its document over a file; the I/Os that it says it did."""
    program = shutil.which("fio")
    if program is None:
        raise Skipped("needs fio")
    command = [program, "--name=w", "--ioengine=null", "--rw=read", "--size=1g", f"--number_ios={number}"]
    with into.open("wb") as file:
        subprocess.run([*command, "--output-format=json"], stdout=file, check=True, timeout=120)
    return int(json.loads(into.read_text())["jobs"][0]["read"]["total_ios"])


def overwritten(folder: Path) -> Outcome:
    """fio writes three times over the same file."""
    with exporting(folder) as exporter:
        (exporter.runs / "r").mkdir()
        lost = done = 0
        for number in (1111, 2222, 3333):
            done = fio(exporter.runs / "r/w.out", number)
            wait(lambda done=done: exporter.value("fio_ios_total", "r") == done)  # type: ignore[misc]
            lost += abs(done - exporter.value("fio_ios_total", "r"))
        return Outcome(f"the {done} I/Os of the last of three runs", lost)


def rotated(folder: Path) -> Outcome:
    """A transaction log is moved away twice while it is written."""
    lines = LOG.read_bytes().splitlines(keepends=True)
    third = len(lines) // 3
    with exporting(folder) as exporter:
        run = exporter.runs / "r"
        run.mkdir()
        (run / "w.out").write_bytes(REPORT.read_bytes())
        text = (RECORDINGS / "pgbench/tpcb-15.18.err").read_bytes().splitlines(keepends=True)
        for part in range(3):
            for old in (2, 1):
                source = run / f"w.err.{old - 1}" if old > 1 else run / "w.err"
                if part and source.exists():
                    source.rename(run / f"w.err.{old}")
            cut = len(text) // 3
            (run / "w.err").write_bytes(b"".join(text[part * cut : None if part == 2 else (part + 1) * cut]))
            with (run / "w.4711").open("ab") as log:
                log.write(b"".join(lines[part * third : None if part == 2 else (part + 1) * third]))
            time.sleep(0.7)
        size = sum(file.stat().st_size for file in run.iterdir())
        wait(lambda: exporter.value("benchwatch_stream_bytes_total", "r") == size)
        lost = size - exporter.value("benchwatch_stream_bytes_total", "r")
        return Outcome(f"all {size} bytes of three parts and the log as one worker", abs(lost))


def short_of_descriptors(folder: Path) -> Outcome:
    """120 runs that are all being written, with 64 descriptors."""
    with exporting(folder, "", descriptors=64) as exporter:
        for number in range(120):
            (exporter.runs / f"r{number}").mkdir()
            (exporter.runs / f"r{number}/w.err").write_text("progress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 0.1\n")

        def shown() -> int:
            return exporter.page().count("\nbenchwatch_run_info{")

        wait(lambda: shown() == 120)
        return Outcome(f"{shown()} of 120 active runs", 120 - shown())


def full_disk(folder: Path) -> Outcome:
    """A log is pushed in pieces to a file system that is full after 256 KiB; then it gets more room."""
    pushed = folder / "pushed"
    pushed.mkdir()
    if (
        os.geteuid()
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(pushed)], capture_output=True, check=False
        ).returncode
    ):
        raise Skipped("needs a right to mount a small tmpfs")
    data = LOG.read_bytes()
    data *= 1 + 400_000 // len(data)
    try:
        with exporting(folder, f"push: {{path: {pushed}, keep_free_bytes: 0}}\n") as exporter:
            offset, refused, end = 0, 0, time.monotonic() + 120
            while offset < len(data):
                piece = data[offset : offset + 50_000]
                url = f"{exporter.url}/ingest/r/w?stream=4711&offset={offset}"
                status = requests.put(url, data=piece, timeout=120).status_code
                if status < 300:
                    offset += len(piece)
                elif status != 507 or time.monotonic() > end:
                    return Outcome(f"{status} at byte {offset}", len(data) - offset)
                elif not refused:
                    refused = offset
                    subprocess.run(["mount", "-o", "remount,size=4m", str(pushed)], check=True)
                else:
                    time.sleep(0.2)
            written = (pushed / "r/w.4711").read_bytes()
            lost = len(data) - len(written) if data.startswith(written) else len(data)
            return Outcome(f"507 at byte {refused}; with room again, the rest is taken", lost)
    finally:
        subprocess.run(["umount", str(pushed)], check=False)


def ten_thousand(folder: Path) -> Outcome:
    """10,000 ended runs; a file of the oldest is written again."""
    runs = folder / "runs"
    runs.mkdir()
    yesterday, report = time.time() - 86400, REPORT.read_bytes()
    for number in range(10_000):
        run = runs / f"run-{number:06}"
        run.mkdir()
        (run / "w.out").write_bytes(report)
        os.utime(run / "w.out", (yesterday - 60 * number,) * 2)
    with exporting(folder) as exporter:
        (runs / "run-009999/w.out").write_bytes(
            report.replace(b"actually processed: 16154", b"actually processed: 16155")
        )
        began, slowest, scrapes = time.monotonic(), 0.0, 0

        def shown() -> int:
            nonlocal slowest, scrapes
            asked = time.monotonic()
            found = exporter.value("pgbench_result_transactions", "run-009999")
            slowest, scrapes = max(slowest, time.monotonic() - asked), scrapes + 1
            return found

        wait(lambda: shown() == 16155, 300)
        took = time.monotonic() - began
        seen = f"the change after {took:.0f} s; slowest of {scrapes} scrapes {slowest:.2f} s"
        return Outcome(seen, abs(16155 - shown()))


def suffix_without_number(folder: Path) -> Outcome:
    """A log beside its rotated part, in a file whose suffix is no process; and a pushed pair of that kind."""
    with exporting(folder) as exporter:
        log = LOG.read_bytes()
        for name, data in (("r/x.log.1", log), ("r/x.log", log), ("other/w.out", REPORT.read_bytes())):
            (exporter.runs / name).parent.mkdir(exist_ok=True)
            (exporter.runs / name).write_bytes(data)
        for place in ("p/x?stream=out", "p/x.out?stream=1"):
            url = f"{exporter.url}/ingest/{place}&offset=0"
            requests.put(url, data=log, timeout=120).raise_for_status()
        sizes = {"r": 2 * len(log), "p": 2 * len(log), "other": REPORT.stat().st_size}

        def lost() -> int:
            read = {run: exporter.value("benchwatch_stream_bytes_total", run) for run in sizes}
            return sum(abs(sizes[run] - read[run]) for run in sizes)

        wait(lambda: lost() == 0)
        listed = subprocess.run(
            [sys.executable, "-m", "benchwatch", "list", str(exporter.runs)],
            capture_output=True,
            text=True,
            check=False,
        )
        runs = {line.split()[0] for line in listed.stdout.splitlines()[1:]}
        return Outcome("all three runs, also in `list`", lost() + len({"r", "p", "other"} - runs))


def beside_one_written_anew(folder: Path) -> Outcome:
    """A file is written anew in place; the other file of its worker did not change. Then it is cut off and removed."""
    with exporting(folder) as exporter:
        run = exporter.runs / "r"
        run.mkdir()
        text = (RECORDINGS / "pgbench/tpcb-15.18.err").read_bytes()
        (run / "w.err").write_bytes(text)
        lost = 0

        def shown() -> int:
            return exporter.value("pgbench_result_transactions", "r")

        for seed in (b"16154", b"16155", b"16156"):
            (run / "w.out").write_bytes(REPORT.read_bytes().replace(b"16154", seed))
            wait(lambda seed=seed: shown() == int(seed))  # type: ignore[misc]
            read = exporter.value("benchwatch_stream_bytes_total", "r")
            lost += abs(shown() - int(seed)) + abs(read - len(text) - REPORT.stat().st_size)
            time.sleep(2.1)  # until another change would show in the files' times
        os.truncate(run / "w.out", 100)
        (run / "w.out").unlink()
        wait(lambda: exporter.value("benchwatch_stream_bytes_total", "r") == len(text))
        lost += abs(exporter.value("benchwatch_stream_bytes_total", "r") - len(text))
        return Outcome("both files each time; then the one that is left", lost)


def hole_of_a_terabyte(folder: Path) -> Outcome:
    """A file begins with a hole of a terabyte."""
    with exporting(folder) as exporter:
        (exporter.runs / "r").mkdir()
        text = (RECORDINGS / "pgbench/tpcb-15.18.err").read_bytes()
        with (exporter.runs / "r/w.err").open("wb") as file:
            file.truncate(1 << 40)
            file.seek(0, os.SEEK_END)
            file.write(text)
        size = (1 << 40) + len(text)
        wait(lambda: exporter.value("benchwatch_stream_bytes_total", "r") == size)
        lost = size - exporter.value("benchwatch_stream_bytes_total", "r")
        return Outcome(f"the {len(text)} bytes after it", abs(lost))


def told_to_end(folder: Path) -> Outcome:
    """SIGTERM while the page of a run of 500,000 reports is drawn and the Prometheus behind it does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as silent, exporting(folder) as exporter:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        exporter.process.kill()
        exporter.process.wait()
        (exporter.runs / "r").mkdir()
        line = "progress: %d.0 s, 10.0 tps, lat 1.000 ms stddev 0.100\n"
        (exporter.runs / "r/w.err").write_text("".join(line % second for second in range(1, 500_001)))
        exporter.start("--prometheus.url", url)
        wait(lambda: exporter.value("benchwatch_stream_records_total", "r") == 500_000)
        requests.get(f"{exporter.url}/runs/r", timeout=120)
        began = time.monotonic()
        exporter.process.terminate()
        code = exporter.process.wait(120)
        took = time.monotonic() - began
        return Outcome(f"exit code {code} after {took:.0f} s", int(code != 0 or took >= 10))


FAULTS = (
    Fault("fio writes over its file", overwritten),
    Fault("rotated output and a growing log", rotated),
    Fault("64 descriptors, 120 active runs", short_of_descriptors),
    Fault("full disk under a push", full_disk),
    Fault("a suffix that is no process", suffix_without_number),
    Fault("a file beside one written anew", beside_one_written_anew),
    Fault("a hole of a terabyte", hole_of_a_terabyte),
    Fault("told to end while it draws", told_to_end, fast=False),
    Fault("10,000 folders", ten_thousand, fast=False),
)
