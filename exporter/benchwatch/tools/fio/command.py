"""fio's command line and job files: which reporting flags are missing, how long it will run, where it reads and writes.

Options begin with one or two dashes; a value follows `=` or is the next word. `--name` begins a job; options before it
and `[global]` sections apply to all later jobs. fio's own options (those of its usage text) may appear anywhere. Jobs
in files come after those on the command line (init.c, seen in 3.33): `--section` selects jobs of the first file; each
further file waits for all earlier jobs, as with stonewall, and no option on the command line applies to it.
"""

import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from ...machine.disks import DATA, roles_of
from ...machine.host import Host
from ...values.errors import UserError
from ..invocation import Benchmark
from ..launcher import Command, CommandLine, Facts, Write
from .framing import Framer, Text
from .jobs import Options, is_set, runtime, seconds

_NO_BENCHMARK = frozenset(
    {"server", "parse-only", "showcmd", "version", "help"}
    | {"cmdhelp", "enghelp", "cpuclock-test", "crctest", "daemonize"}
)
_OWN = _NO_BENCHMARK | {"output", "output-format", "status-interval", "section", "client", "minimal"}
_ETA = frozenset({"eta", "eta-interval", "eta-newline"})
_SWITCHES = frozenset(
    {"parse-only", "showcmd", "version", "help", "minimal", "append-terse", "readonly"}
    | {"time_based", "stonewall", "group_reporting", "exitall", "thread"}
)
"""Options without a value: the next word is something else."""
_WITHOUT_FILES = frozenset(
    {"null", "cpuio", "exec", "net", "netsplice", "rdma", "rados", "rbd", "http"}
    | {"nbd", "libiscsi", "libhdfs", "gfapi", "gfapi_async", "dfs"}
)
"""I/O engines that work on no file, device or folder of this machine."""
_VERSION = re.compile(r"fio-(\d+)\.")
_SECTION = re.compile(rb"^\s*\[[^\]]+\]\s*$", re.MULTILINE)
_COMMENT = re.compile(r"[;#].*")
_LONGEST = 1024 * 1024
"""Bytes of a job file that are read."""


def length(jobs: Sequence[Options]) -> float | None:
    """How long jobs run by runtime=, ramp_time= and startdelay=, seconds; None if one of them has no limit.

    Jobs run at the same time, but one with stonewall waits for those before it.
    """
    stages: list[float] = []
    for job in jobs:
        limit = runtime(job)
        if limit is None or "wait_for" in job:
            return None
        lasts = limit + sum(seconds(job.get(name, "")) or 0 for name in ("ramp_time", "startdelay", "start_delay"))
        if not stages or is_set(job, "stonewall") or is_set(job, "wait_for_previous"):
            stages.append(lasts)
        else:
            stages[-1] = max(stages[-1], lasts)
    return sum(stages) or None


def targets(jobs: Sequence[Options]) -> list[Path]:
    """The files, devices and folders that jobs read or write."""
    places = (
        (os.path.expandvars(job.get("directory", "")).split(":"), os.path.expandvars(job.get("filename", "")))
        for job in jobs
        if job.get("ioengine") not in _WITHOUT_FILES
    )
    found = (Path(folder, file) for folders, files in places for folder in folders for file in files.split(":"))
    return list(dict.fromkeys(path.absolute() for path in found))


def _prepared(options: Mapping[str, str], is_old: bool, wants_percentiles: bool) -> Command:
    """What to add to a command with these options."""
    added, remarks = [], []
    given = options.get("output-format", "terse" if "minimal" in options else "")
    formats = given.split(",") if given else []
    if not formats and not is_old:
        formats = ["json+" if wants_percentiles else "json"]
        added.append(f"--output-format={formats[0]}")
    if is_old:
        remarks.append("of fio before 3.0, benchwatch reads only the normal report, and shows nothing before it")
    elif not {"json", "json+"} & set(formats):
        shown = "only its results" if "normal" in formats else "nothing of it"
        remarks.append(f"fio prints {given}, as requested: without --output-format=json+, benchwatch shows {shown}")
    else:
        if "status-interval" not in options:
            added.append("--status-interval=1")
        if "json+" not in formats and wants_percentiles:
            remarks.append(
                f"fio prints {given}, as requested: without --output-format=json+, there are no live percentiles"
            )
    if not options.keys() & _ETA:
        added.append("--eta=never")
    return Command(
        output=options.get("output", ""),
        added=tuple(added),
        remarks=tuple(remarks),
        display=None if given or is_old else without_documents,
    )


def _facts(jobs: Sequence[Options], benchmark: Benchmark, host: Host) -> Facts:
    """The storage of the first target, and the disks of all."""
    places = [] if benchmark.elsewhere else targets(jobs)
    storage = host.storage.facts(places[0], "target") if places else {}
    return Facts(storage=storage, disks=roles_of(((place, DATA) for place in places), host.storage), here=True)


def without_documents(write: Write) -> Write:
    """Wrap a function that writes to a terminal, so that only the text between the documents passes."""
    framer = Framer()

    def write_text(data: memoryview) -> int:
        for piece in framer.feed(bytes(data)):
            rest = memoryview(piece.data + b"\n" if isinstance(piece, Text) else b"")
            while rest:
                rest = rest[write(rest) :]
        return len(data)

    return write_text


def read(line: CommandLine) -> Command:
    """See Launcher. Raises UserError if the arguments do not ask for a benchmark."""
    own, jobs = options_and_jobs(line.arguments)
    for name in own:
        if name in _NO_BENCHMARK:
            raise UserError(f"fio --{name} is not a benchmark: start it without `benchwatch run`")
    if "client" in own:  # it only controls `fio --server` on other machines
        remark = "fio --client prints its JSON once, at the end: run fio on each host instead"
        return Command(output=own.get("output", ""), remarks=(remark,))
    version = _VERSION.match(line.version)
    command = _prepared(own, version is not None and int(version[1]) < 3, line.percentiles)
    return command._replace(length=length(jobs), facts=partial(_facts, jobs))


def options_and_jobs(arguments: Sequence[str]) -> tuple[dict[str, str], list[dict[str, str]]]:
    """fio's own options by name, and the options of each job."""
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
        apart = words and not words[0].startswith("-") and not _job_file(Path(words[0]))
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
    for place, file in enumerate(files):
        sections = _sections(file, {} if place else of_all, set() if place else selected)
        if place and sections:
            sections[0].setdefault("stonewall", "1")
        jobs += sections
    return own, jobs


def _job_file(path: Path) -> str:
    """The text of a job file; empty if it is none. A pipe is not opened: fio would lose what is read from it."""
    try:
        if path.is_file():
            with path.open("rb") as file:
                text = file.read(_LONGEST)
            return text.decode(errors="replace") if _SECTION.search(text) else ""
    except OSError:
        pass
    return ""


def _sections(path: Path, of_all: dict[str, str], selected: set[str]) -> list[dict[str, str]]:
    """The jobs of a job file, or the selected ones; one without options if the file cannot be read."""
    text = _job_file(path)
    if not text:
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
