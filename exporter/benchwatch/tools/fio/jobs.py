"""Which jobs a document reports, under which labels, and what their options mean.

fio (options.c, parse.c) prints the options of `[global]` and of each job under their canonical names with the text of
the user; before 3.39 it leaves out options without a value. A list `a,b` is for reads, writes and trims; its last value
applies to the rest, an empty one sets nothing. Sizes: k, m, g, t, p are powers of kb_base (1024 unless set); kib, mib
... powers of the other base: 1000, or 1024 with kb_base=1000. Times: us, ms, s, m, h, d; without a unit, seconds.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from .document import FioDocument, Job

MOST_JOBS = 256
"""Jobs with a label of their own; the others are added up under OTHER_JOBS."""
OTHER_JOBS = "(other jobs)"
MOST_OPTIONS = 2000
"""Options that are shown as parameters, of all jobs together."""
Options = Mapping[str, str]

_OPERATIONS = {
    "read": ("read",),
    "write": ("write",),
    "trim": ("trim",),
    "rw": ("read", "write"),
    "readwrite": ("read", "write"),
    "trimwrite": ("write", "trim"),
}
"""By rw= without `rand`."""
_LONGEST_NAME = 120
"""Characters of a job's name that fio certainly prints: it cuts names after 127 bytes."""
_PLACES = {"read": 0, "write": 1, "trim": 2}
_SIZE = re.compile(r"\+?(?:0x([0-9a-f]{1,16})|(\d{1,19}))([kmgtp]?)(ib|i|b|)", re.IGNORECASE)
_TIME = re.compile(r"(\d{1,18})(us|usec|ms|msec|s|m|h|d|)", re.IGNORECASE)
_SECONDS = {"us": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3, "s": 1, "": 1, "m": 60, "h": 3600, "d": 86400}
_SYNCHRONOUS = frozenset(
    {"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"}
    | {"splice", "ftruncate", "falloc", "e4defrag", "libpmem", "dev-dax"}
)


def reported_jobs(document: FioDocument) -> list[Job]:
    """The jobs at the time of the document, with their labels and options.

    A client's document lists every interval. Its last entries of each job of each host count: one entry, or one for
    each clone if fio reports them one by one (then the runtime of an entry is not the sum over the clones).
    """
    jobs, shared = _last_entries(document) if document.of_clients else document.jobs, document.shared_options
    for job, label in zip(jobs, _labels(jobs), strict=True):
        job.label, job.options = label, {**shared, **job.own_options}
    return jobs


def _last_entries(document: FioDocument) -> list[Job]:
    entries: dict[tuple[str, int, str, int], list[Job]] = {}
    for job in document.client_stats:
        if job.jobname != "All clients":
            entries.setdefault((job.hostname, job.port, job.jobname, job.groupid), []).append(job)
    jobs: list[Job] = []
    for found in entries.values():
        last = found[-1]
        grouped = last.job_runtime > 1.5 * last.runtime
        clones = 1 if grouped else number_of_clones({**document.shared_options, **last.own_options})
        jobs += found[-clones:]
    return jobs


def _labels(jobs: list[Job]) -> list[str]:
    """The label of each job: its name, with `#groupid` if several groups have a job of this name.

    In client mode the host's name precedes it, with the port if several fio servers have the same host's name. Clones
    of a job share a label, as do all jobs after the first MOST_JOBS labels.
    """
    groups = Counter(name for name, _ in {(job.jobname, job.groupid) for job in jobs})
    ports = Counter(name for name, _ in {(job.hostname, job.port) for job in jobs})
    texts = []
    for job in jobs:
        text = f"{job.jobname}#{job.groupid}" if groups[job.jobname] > 1 else job.jobname
        if job.hostname:
            host = f"{job.hostname}:{job.port}" if ports[job.hostname] > 1 else job.hostname
            text = f"{host}/{text}"
        texts.append(text)
    known = dict.fromkeys(texts)
    if len(known) > MOST_JOBS:
        kept = set(islice(known, MOST_JOBS))
        texts = [text if text in kept else OTHER_JOBS for text in texts]
    return texts


def parameters(document: FioDocument, jobs: Sequence[Job]) -> dict[str, str]:
    """The options of all jobs and of each job; the names of the latter follow the job's label if there are several."""
    found = dict(document.shared_options)
    one = len({job.label for job in jobs}) == 1
    for job in jobs:
        if job.label != OTHER_JOBS:
            for name, value in job.own_options.items():
                found[name if one else f"{job.label}/{name}"] = value
    return dict(islice(found.items(), MOST_OPTIONS))


@lru_cache(maxsize=1024)
def size(text: str, kb_base: int = 1024) -> int | None:
    """A size or a number; None for anything else, such as a percentage or an expression."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        return None
    digits, unit = match[1] or match[2], match[3].lower()
    other_base = 1000 if kb_base == 1024 else 1024
    base = other_base if match[4].lower() == "ib" else kb_base
    factor: int = base ** " kmgtp".index(unit or " ")
    return int(digits, 16 if match[1] else 10) * factor


@lru_cache(maxsize=1024)
def seconds(text: str) -> float | None:
    """A time in seconds; None for anything else, such as a range."""
    match = _TIME.fullmatch(text.strip())
    return int(match[1]) * _SECONDS[match[2].lower()] if match else None


def operations(options: Options) -> tuple[str, ...]:
    """The operations that the job's rw= includes."""
    mode = options.get("rw", "read").partition(":")[0]
    return _OPERATIONS.get(mode.removeprefix("rand"), ())


def verifies(options: Options) -> bool:
    """Whether the job reads what it wrote to verify it: after the writes or, with verify_backlog=, among them."""
    given = options.get("verify", "pattern" if "verify_pattern" in options else "0")
    writes = {"write", "trim"} & set(operations(options))
    reads_again = options.get("do_verify", "1") != "0" or "verify_backlog" in options
    return bool(writes) and given not in ("0", "none") and reads_again


def adds_up_jobs(job: Job) -> bool:
    """Whether fio certainly added several jobs up under the name of the first, with the options of the last.

    group_reporting does that: the options then have another name, or their rw= lacks an operation that was done. The
    reads of a verifying job are its own, as are all operations in fio's normal report, which has no such options.
    """
    if job.pid:
        return False
    if job.own_options.get("name", job.jobname)[:_LONGEST_NAME] != job.jobname[:_LONGEST_NAME]:
        return True
    done = {name for name in ("read", "write", "trim") if (part := getattr(job, name)) and part.total_ios}
    return not done <= {*operations(job.options), *(("read",) if verifies(job.options) else ())}


def target(options: Options, name: str, operation: str) -> int | None:
    """The rate that the option `rate_iops` (operations a second) or `rate` (bytes a second) sets; None without one.

    `mixed`, the sum over operations, has a rate if all of them have one.
    """
    if operation == "mixed":
        parts = [target(options, name, each) for each in operations(options)]
        known = [part for part in parts if part is not None]
        return sum(known) if known and len(known) == len(parts) else None
    if operation not in _PLACES or name not in options:
        return None
    texts = options[name].split(",")
    text = texts[min(_PLACES[operation], len(texts) - 1)]
    return size(text, _kb_base(options)) or None


def _kb_base(options: Options) -> int:
    return 1000 if options.get("kb_base", "").strip() == "1000" else 1024


def number_of_clones(options: Options) -> int:
    """numjobs=."""
    return max(size(options.get("numjobs", "")) or 1, 1)


def runtime(options: Options) -> float | None:
    """The time that runtime= allows, in seconds; None if it sets none."""
    return seconds(options.get("runtime", "")) or None


def amount(options: Options) -> int | None:
    """The bytes that one clone of the job transfers in total, if io_size= or size= gives them as a plain size."""
    total = size(options.get("io_size") or options.get("size", ""), _kb_base(options))
    return total * (size(options.get("loops", "")) or 1) if total else None


def is_set(options: Options, name: str) -> bool:
    """Whether a switch is given and not 0."""
    return options.get(name, "0") not in ("0", "false")


def warnings(options: Options, depth_note: bool) -> Iterator[str]:
    """Combinations that certainly change the meaning of the job's numbers (see the tool's `warnings`).

    rate_poisson: in fio 3.33, single seconds missed a rate of 100 by 10. rate_poisson_sizes: with bsrange=4k-64k, the
    bandwidth was 8 times the rate. sync_engine_iodepth: an engine that is not named counts if fio itself noted that it
    is synchronous (`depth_note`).
    """
    mixed = len(operations(options)) > 1
    rated = any(target(options, "rate_iops", each) for each in operations(options))
    if mixed and rated and ("rwmixread" in options or "rwmixwrite" in options):
        yield "rwmixread_with_rate_iops"
    by_bytes = any(target(options, "rate", each) for each in operations(options))
    if options.get("rate_process") == "poisson" and (rated or by_bytes):
        yield "rate_poisson"
        if by_bytes and not {"bsrange", "blocksize_range", "bssplit"}.isdisjoint(options):
            yield "rate_poisson_sizes"
    engine = options.get("ioengine", "")
    deep = (size(options.get("iodepth", "")) or 1) > 1
    offloaded = options.get("io_submit_mode") == "offload"
    if deep and not offloaded and (engine in _SYNCHRONOUS or (depth_note and not engine)):
        yield "sync_engine_iodepth"
    if deep and engine == "libaio" and not is_set(options, "direct") and options.get("buffered") != "0":
        yield "libaio_without_direct"
    if is_set(options, "gtod_reduce") or (is_set(options, "disable_clat") and is_set(options, "disable_lat")):
        yield "gtod_reduce_no_latency"
