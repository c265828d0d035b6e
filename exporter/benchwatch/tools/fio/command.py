"""fio's command line and job files: which reporting flags are missing, how long it will run, where it reads and writes.

Options may begin with one or two dashes, and have their value attached by `=` or as the next word. `--name` begins a
job, options before it and `[global]` sections hold for all jobs that follow. fio's own options (of its usage text) may
stand anywhere. Job files follow the command line's jobs (init.c, seen in 3.33): `--section` selects jobs of the first
file; each further one waits for what is before it, as with stonewall, and no option of the command line holds for it.

Where the documents are for the exporter alone (nobody asked for JSON, and stdout is a terminal), they are kept from the
terminal, which gets the result instead.
"""

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...machine.host import Host
from ...metrics.buckets import Buckets
from ...values.errors import UserError
from ...values.printable import printable
from ..api import Begin, Misread
from ..invocation import Benchmark
from ..launcher import Command, Display, Facts, LogRoom, Preparation, Write
from .framing import Framer, Text
from .metrics import RESULT_IOPS, RESULT_LATENCY, RESULT_LATENCY_AVERAGE
from .options import Options, is_set, runtime, seconds
from .parser import FioParser
from .state import FioState

_NO_BENCHMARK = frozenset(
    {
        "server",
        "parse-only",
        "showcmd",
        "version",
        "help",
        "cmdhelp",
        "enghelp",
        "cpuclock-test",
        "crctest",
        "daemonize",
    }
)
_OWN = _NO_BENCHMARK | {"output", "output-format", "status-interval", "section", "client", "minimal"}
_ETA = frozenset({"eta", "eta-interval", "eta-newline"})
_SWITCHES = frozenset(
    {"parse-only", "showcmd", "version", "help", "minimal", "append-terse", "readonly"}
    | {"time_based", "stonewall", "group_reporting", "exitall", "thread"}
)
"""Options that need no value, so that the next word is none."""
_VERSION = re.compile(r"fio-(\d+)\.(\d+)")
_SECTION = re.compile(rb"^\s*\[[^\]]+\]\s*$", re.MULTILINE)
_COMMENT = re.compile(r"[;#].*")
_HEAD = 64 * 1024
_TAIL = 16 * 1024 * 1024


@dataclass(frozen=True)
class FioCommand(Command):
    """fio's own options by name, and the options of each job."""

    options: dict[str, str]
    jobs: tuple[Options, ...]
    version: tuple[int, int] | None

    @property
    def output(self) -> str:
        """The file of --output; empty without."""
        return self.options.get("output", "")

    @property
    def on_servers(self) -> bool:
        """Whether it only tells `fio --server` on other machines what to do."""
        return "client" in self.options

    @property
    def length(self) -> float | None:
        """How long the jobs run by runtime=, ramp_time= and startdelay=, seconds; None if one has no such limit.

        Jobs run at once, except that one with stonewall waits for those before it.
        """
        if self.on_servers:
            return None
        stages: list[float] = []
        for job in self.jobs:
            limit = runtime(job)
            if limit is None or "wait_for" in job:
                return None
            length = limit + sum(seconds(job.get(name, "")) or 0 for name in ("ramp_time", "startdelay", "start_delay"))
            if not stages or is_set(job, "stonewall") or is_set(job, "wait_for_previous"):
                stages.append(length)
            else:
                stages[-1] = max(stages[-1], length)
        return sum(stages) or None

    @property
    def target(self) -> Path:
        """The first file, device or folder that it reads or writes."""
        for job in self.jobs:
            folder = os.path.expandvars(job.get("directory", "")).split(":")[0]
            file = os.path.expandvars(job.get("filename", "")).split(":")[0]
            if folder or file:
                return Path(folder, file).absolute()
        return Path.cwd()

    def prepare(self, percentiles: bool, room: LogRoom | None = None) -> Preparation:
        """See Command."""
        options, version = self.options, self.version
        if self.on_servers:
            return Preparation(remarks=("fio --client prints its JSON once, at the end: run fio on each host instead",))
        added, remarks = [], []
        given = options.get("output-format", "terse" if "minimal" in options else "")
        formats = given.split(",") if given else []
        if not formats:
            formats = ["json+" if percentiles else "json"]
            added.append(f"--output-format={formats[0]}")
        if not {"json", "json+"} & set(formats):
            remarks.append(f"fio prints {given}, as it is told: nothing is seen of it without --output-format=json+")
        else:
            if "status-interval" not in options:
                added.append("--status-interval=1")
            if "json+" not in formats and percentiles:
                remarks.append(f"fio prints {given}, as it is told: no live percentiles without --output-format=json+")
        if not options.keys() & _ETA:
            added.append("--eta=never")
        if version and version < (3, 0):
            remarks.append("fio before 3.0 prints other documents than are understood here")
        return Preparation(tuple(added), tuple(remarks), display=None if given else DISPLAY)

    def facts(self, benchmark: Benchmark, host: Host) -> Facts:
        """What the first target lies on."""
        if self.on_servers:
            return Facts()
        target = {} if benchmark.elsewhere else host.storage.facts(self.target, "target")
        return Facts(storage=target, here=True)


def read(arguments: Sequence[str], version: str) -> FioCommand:
    """See Launcher."""
    return read_command(arguments, read_version(version))


def read_version(text: str) -> tuple[int, int] | None:
    """The version in the answer to `fio --version`; None if it is not fio's."""
    match = _VERSION.match(text)
    return (int(match[1]), int(match[2])) if match else None


def read_command(arguments: Sequence[str], version: tuple[int, int] | None) -> FioCommand:
    """What the arguments say. Raises UserError if they are no benchmark."""
    own: dict[str, str] = {}
    of_all: dict[str, str] = {}
    jobs: list[dict[str, str]] = []
    selected: set[str] = set()
    files: list[Path] = []
    words = list(arguments)
    while words:
        word = words.pop(0)
        if not word.startswith("-") or word == "-":
            files.append(Path(word))
            continue
        name, has_value, value = word.lstrip("-").partition("=")
        apart = words and not words[0].startswith("-") and not _is_job_file(Path(words[0]))
        if apart and not has_value and name not in _SWITCHES:
            value = words.pop(0)
        if name == "section":
            selected.add(value)
        elif name in _OWN | _ETA:
            own[name] = value
        elif name == "name":
            jobs.append({**of_all, "name": value})
        else:
            (jobs[-1] if jobs else of_all)[name] = value or "1"
    for name in own:
        if name in _NO_BENCHMARK:
            raise UserError(f"fio --{name} is no benchmark: start it without `benchwatch run`")
    for place, file in enumerate(files):
        sections = _sections(file, {} if place else of_all, set() if place else selected)
        if place and sections:
            sections[0].setdefault("stonewall", "1")
        jobs += sections
    return FioCommand(own, tuple(jobs), version)


def _is_job_file(path: Path) -> bool:
    """Whether it is one, as far as can be told: what is read from a pipe is lost for fio."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return bool(_SECTION.search(file.read(_HEAD)))
    except OSError:
        return False


def _sections(path: Path, of_all: dict[str, str], selected: set[str]) -> list[dict[str, str]]:
    """The jobs of a job file, of these names if there are any; one without options for a file that cannot be read."""
    if not _is_job_file(path):
        return [{}]
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return [{}]
    shared, jobs = dict(of_all), []
    options: dict[str, str] = {}
    for line in text.splitlines():
        line = _COMMENT.sub("", line).strip()
        name = line[1:-1]
        if line.startswith("[global"):
            options = shared
        elif line.startswith("["):
            options = {**shared, "name": name}
            if not selected or name in selected:
                jobs.append(options)
        elif line:
            key, has_value, value = line.partition("=")
            options[key.strip()] = value.strip() if has_value else "1"
    return jobs


def without_documents(write: Write) -> Write:
    """A sink's function that lets through only what is between the documents."""
    framer = Framer()

    def write_text(data: memoryview) -> int:
        for piece in framer.feed(bytes(data)):
            rest = memoryview(piece.data + b"\n" if isinstance(piece, Text) else b"")
            while rest:
                rest = rest[write(rest) :]
        return len(data)

    return write_text


def final_figures(path: Path, warmup: float | None = None) -> str:
    """What fio's last document says: in a line, or in one for each job where they ran one after the other.

    Empty if there is none that is final. It is of the whole run; that a `warmup` (seconds) is in it is said.
    """
    with path.open("rb") as file:
        file.seek(-min(_TAIL, path.stat().st_size), os.SEEK_END)
        data = file.read()
    parser, state = FioParser(), FioState(Buckets())
    for record in (*parser.feed(data), *parser.close()):
        if not isinstance(record, Begin | Misread):
            state.apply(record, path.name, time.time())
    if not state.outcome:
        return ""
    figures = state.figures()
    included = f", the warm-up of {warmup:g} s included" if warmup else ""
    if figures.throughput is not None:
        return f"fio over the whole run{included}: {_in_words(figures.throughput, figures.latency, figures.p99)}"
    samples = state.samples(current=False)
    results = {(each.family, each.labels): each.value for each in samples if isinstance(each.value, float)}
    lines = []
    for (family, labels), iops in results.items():
        if family is RESULT_IOPS:
            mean, p99 = results.get((RESULT_LATENCY_AVERAGE, labels)), results.get((RESULT_LATENCY, (*labels, "0.99")))
            lines.append(f"\n  {printable(' '.join(labels))}: {_in_words(iops, mean, p99)}")
    return "".join([f"fio by job{included}:", *lines]) if lines else ""


def _in_words(iops: float, mean: float | None, p99: float | None) -> str:
    latencies = {"mean": mean, "99th percentile": p99}
    known = [f"{name} latency {value * 1e3:.3f} ms" for name, value in latencies.items() if value is not None]
    return ", ".join([f"{iops:,.0f} IOPS", *known])


DISPLAY = Display(without_documents, final_figures)
