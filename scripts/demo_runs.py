"""The demo's benchmarks, each of which is run again and again, every time under a new run name.

pgbench and fio always run. A further tool runs if it is asked for: its benchmarks are in the module `demo_<tool>`.
"""

import importlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchwatch.tools.api import Tool
from benchwatch.tools.registry import TOOLS
from demo_postgres import Postgres
from demo_processes import Process, Processes

_KEPT = 10
"""Runs of a benchmark whose output stays."""


class Part(NamedTuple):
    """One process of a run: a worker."""

    worker: str
    command: Sequence[str]
    ready: Callable[[], bool] = lambda: True
    """Whether the next one may start."""


class Benchmark(NamedTuple):
    """A benchmark that is run again and again."""

    name: str
    parts: Callable[[int], Sequence[Part]]
    """Its processes, in the order in which they start, for a run of so many seconds."""
    objective: str = ""
    """A latency."""
    folder: Path | None = None
    """Where it works; None: in the folder of the run."""
    preparation: Sequence[str] = ()
    """A command that comes before the first run."""


class Run:
    """One run of a benchmark in a folder of its own."""

    def __init__(self, benchmark: Benchmark, runs: Path, seconds: int, processes: Processes) -> None:
        self.benchmark = benchmark
        self.name = f"{benchmark.name}-{time.strftime('%Y%m%d-%H%M%S')}"
        self.processes: list[Process] = []
        folder = runs / self.name
        folder.mkdir(exist_ok=True)
        parts = benchmark.parts(seconds)
        objective = {"latency_objective": benchmark.objective} if benchmark.objective else {}
        (folder / "run.yaml").write_text(json.dumps({"command": list(parts[-1].command), **objective}))
        for part in parts:
            process = processes.start(
                f"{benchmark.name} {part.worker}",
                part.command,
                folder=benchmark.folder or folder,
                output=folder / f"{part.worker}.out",
                log=folder / f"{part.worker}.err",
            )
            self.processes.append(process)
            processes.wait_until(process, part.ready)

    def has_ended(self) -> bool:
        """Whether all its processes have. Raises Failure if one has failed."""
        codes = [process.popen.poll() for process in self.processes]
        for process, code in zip(self.processes, codes, strict=True):
            if code:
                raise process.complaint(f"failed with exit code {code}")
        return all(code == 0 for code in codes)


class Runs:
    """All runs in the folder `folder`/runs; each takes `seconds`."""

    def __init__(self, folder: Path, seconds: int, processes: Processes) -> None:
        self.folder = folder / "runs"
        self._seconds = seconds
        self._processes = processes
        self._active: list[Run] = []

    def start(self, benchmarks: Sequence[Benchmark]) -> None:
        """Prepares and starts them all. Raises Failure."""
        for benchmark in benchmarks:
            if benchmark.preparation:
                folder = benchmark.folder or self.folder
                self._processes.run(f"{benchmark.name} prepare", benchmark.preparation, folder=folder)
        self._active = [self._run(benchmark) for benchmark in benchmarks]

    def look(self) -> None:
        """Starts ended benchmarks again. Raises Failure if one has failed."""
        for number, run in enumerate(self._active):
            if run.has_ended():
                for process in run.processes:
                    self._processes.stop(process)
                self._active[number] = self._run(run.benchmark)

    @property
    def names(self) -> list[str]:
        """Those of the active runs, in the order of their benchmarks."""
        return [run.name for run in self._active]

    def _run(self, benchmark: Benchmark) -> Run:
        for old in sorted(self.folder.glob(f"{benchmark.name}-2*"))[: -_KEPT + 1]:
            shutil.rmtree(old)
        return Run(benchmark, self.folder, self._seconds, self._processes)


class Place(NamedTuple):
    """What benchmarks work on: the demo's folder, and its database."""

    folder: Path
    postgres: Postgres


def optional() -> list[Tool]:
    """The tools that only run if they are asked for."""
    return [tool for tool in TOOLS if find_spec(f"demo_{tool.name}")]


def benchmarks(place: Place, tools: Sequence[Tool]) -> Iterator[Benchmark]:
    """Those of pgbench and fio, and of these tools."""
    yield Benchmark("pgbench", lambda seconds: [Part("db1", _pgbench(place, seconds))], "100ms")
    yield Benchmark("fio", lambda seconds: [Part("disk1", _fio(place.folder / "fio", seconds))], "10ms")
    for tool in tools:
        yield from importlib.import_module(f"demo_{tool.name}").benchmarks(place)


def _pgbench(place: Place, seconds: int) -> list[str]:
    report = ["-P", "1", "--progress-timestamp", "-l", "--log-prefix=db1"]
    return place.postgres.pgbench("-T", str(seconds), "-c", "4", "-j", "2", *report)


def _fio(files: Path, seconds: int) -> list[str]:
    # Without --thread, its jobs are processes in sessions of their own, which a fio that is killed leaves behind.
    where = ["--thread", f"--directory={files}", "--size=64M", f"--direct={int(_allows_direct_io(files))}"]
    time_limit = ["--time_based", f"--runtime={seconds}"]
    report = ["--output-format=json+", "--status-interval=1", "--eta=never"]
    reads = ["--name=data", "--filename=data", "--rw=randread", "--bs=8k", "--rate_iops=400"]
    writes = ["--name=log", "--filename=log", "--rw=write", "--bs=16k", "--rate_iops=50"]
    return ["fio", *where, *time_limit, *report, *reads, *writes]


def _allows_direct_io(folder: Path) -> bool:
    """Whether the file system of a folder has O_DIRECT."""
    try:
        os.close(os.open(folder / "direct", os.O_CREAT | os.O_RDWR | os.O_DIRECT))
    except OSError:
        return False
    return True
