"""fio's JSON document, as far as it is used here.

Keys and their history (stat.c, 3.1 - 3.42): `timestamp_ms` is the time at which the document was built, epoch
milliseconds; all statistics of a job are cumulative since its measured start. `N` in `*_ns` exists since 3.18,
`job_runtime` since 3.8, `job_start` (epoch milliseconds, 0 = not started) since 3.36. `bins` (json+ only) maps the
midpoint of a bin in nanoseconds to its count; since 3.13 they are in `clat_ns` or `lat_ns` according to
clat_percentiles and lat_percentiles. Client mode has `client_stats` instead of `jobs`: every interval of every client,
in order of arrival, without times; and its `global options` are a list, one object per host.

A document with an impossible number is refused: negative counts, more than 2^53 I/Os, nanoseconds or milliseconds, bins
beyond fio's last, times after the year 2242.

fio's JSON is not strict: only quotes and backslashes are escaped in strings, options given twice are repeated keys, and
before 3.22 a number may be nan. Fields that are not a number are None here.

With group_reporting only in later jobs of a group, fio adds them to the job before them, and prints an entry without a
name and without I/O for each place that this leaves empty. Such entries are left out.
"""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct, field

_NOT_A_NUMBER = re.compile(r'" : -?(?:nan|inf)(?=,?\s*\n)')
_VERSION = re.compile(r"fio-(\d{1,4})\.(\d{1,4})")
_JOIN = re.compile(r"[\[\],\s]*")
_DIRECTIONS = frozenset({"read", "write", "trim", "mixed", "sync"})
MOST = 2**53

Count = Annotated[int, Meta(ge=0, le=MOST)]
"""A number of I/Os, latencies or errors, nanoseconds or milliseconds."""
Bytes = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Mean = Annotated[float, Meta(ge=0, le=MOST)] | None
Percent = Annotated[float, Meta(ge=0, le=1e9)] | None
"""May be far above 100: some versions of fio divide by a wrong time."""
Seconds = Annotated[int, Meta(ge=0, le=2**33)]
Milliseconds = Annotated[int, Meta(ge=0, le=2**33 * 1000)]
ErrorNumber = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Integer = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class Latency(Struct, gc=False):
    """A latency: `max` and `mean` in nanoseconds, `N` observations (-1: unknown), percentiles and bins if printed."""

    max: Count = 0
    mean: Mean = None
    N: Annotated[int, Meta(ge=-1, le=MOST)] = -1
    percentile: Raw = Raw()
    bins: Raw = Raw()


class Direction(Struct, gc=False):
    """A job's I/O in one direction: `total_ios` are issued, `io_bytes` completed; `runtime` is in milliseconds."""

    io_bytes: Bytes = 0
    io_kbytes: Count = 0
    runtime: Count = 0
    total_ios: Count = 0
    short_ios: Count = 0
    drop_ios: Count = 0
    slat_ns: Latency = field(default_factory=Latency)
    clat_ns: Latency = field(default_factory=Latency)
    lat_ns: Latency = field(default_factory=Latency)

    @property
    def completed_bytes(self) -> int:
        """Bytes completed, even if only the number of KiB is known."""
        return self.io_bytes or self.io_kbytes * 1024


class Job(Struct, gc=False):
    """One entry of `jobs`: a job, or all jobs of a group with group_reporting."""

    jobname: str = ""
    groupid: Integer = 0
    error: ErrorNumber = 0
    total_err: Count = 0
    first_error: ErrorNumber = 0
    eta: Integer = 0
    elapsed: Seconds = 0
    """Seconds since fio was started, rounded up."""
    job_start: Milliseconds = 0
    own_options: dict[str, str] = field(default_factory=dict, name="job options")
    options: dict[str, str] = field(default_factory=dict, name="options in force")
    """With those of all jobs (see jobs)."""
    label: str = field(default="", name="its label")
    read: Direction | None = None
    write: Direction | None = None
    trim: Direction | None = None
    mixed: Direction | None = None
    sync: Direction | None = None
    job_runtime: Integer = -1
    """Milliseconds, summed over the jobs of a group; -1 if not printed."""
    usr_cpu: Percent = None
    sys_cpu: Percent = None
    hostname: str = ""
    port: Integer = 0
    pid: Integer = 0
    """Only in fio's normal report, which names few options: -1 if unknown; 0 in JSON."""
    other_runtime: Count = field(default=0, name="other runtime")
    """The longest runtime of directions that only a fork of fio has, milliseconds (see other_directions)."""

    @property
    def directions(self) -> list[Direction]:
        """The directions of its workload that fio prints."""
        return [each for each in (self.read, self.write, self.trim, self.mixed) if each]

    @property
    def runtime(self) -> int:
        """The longest runtime of its directions, milliseconds."""
        return max([self.other_runtime, *(each.runtime for each in self.directions)])


class DiskUse(Struct, gc=False):
    """One entry of `disk_util`."""

    name: str
    util: Percent = None


class FioDocument(Struct):
    """One document."""

    version: str = field(name="fio version")
    timestamp: Seconds = 0
    timestamp_ms: Milliseconds = 0
    global_options: dict[str, str] | list[dict[str, str | int]] = field(default_factory=dict, name="global options")
    jobs: list[Job] = field(default_factory=list)
    client_stats: list[Job] = field(default_factory=list)
    disk_util: list[DiskUse] = field(default_factory=list)
    of_report: bool = field(default=False, name="of report")
    """Whether it is made from fio's normal report (see report); its `timestamp` has an unknown time zone."""

    @property
    def of_clients(self) -> bool:
        """Whether it is the document of a client, about jobs on other hosts."""
        return bool(self.client_stats)

    @property
    def has_begun(self) -> bool:
        """Whether a job has begun; before that, fio lays out files."""
        return any(
            job.job_start or job.error or job.runtime or any(one.total_ios for one in job.directions)
            for job in self.jobs
        )

    @property
    def built(self) -> float | None:
        """When it was built, Unix seconds; None if it does not say (in client mode `timestamp` is the start)."""
        if self.of_clients or self.of_report:
            return None
        return self.timestamp_ms / 1000 or float(self.timestamp) or None

    @property
    def shared_options(self) -> dict[str, str]:
        """The options of all jobs; of several hosts, the first that has an option counts."""
        if isinstance(self.global_options, dict):
            return self.global_options
        found: dict[str, str] = {}
        for host in self.global_options:
            for name, value in host.items():
                if isinstance(value, str) and name != "hostname":
                    found.setdefault(name, value)
        return found


_DECODER = msgspec.json.Decoder(FioDocument)


def decode(data: bytes) -> FioDocument:
    """Read a document. Raises ValueError with one sentence if it is not strict JSON, or not a document of fio 3."""
    try:
        document = _DECODER.decode(data)
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise ValueError(f"not a document: {error}") from error
    version = None if document.of_report else _VERSION.match(document.version)
    # 2.99 is a preview of 3.0; before it latencies were in microseconds and io_bytes in KiB.
    if version and int(version[1]) < 3 and version[2] != "99":
        raise ValueError(f"{document.version}: its numbers have other units; expected fio 3.0 or newer")
    if any(one.total_ios for job in document.jobs if not job.jobname for one in job.directions):
        raise ValueError("not a document: a job without a name has I/O")
    document.jobs = [job for job in document.jobs if job.jobname]
    return document


def strict_documents(data: bytes) -> Iterator[bytes]:
    """Each document in JSON that need not be strict, as strict JSON, in order. Raises ValueError where it is not JSON.

    Documents may be at any depth; brackets and commas around them do not matter. It takes some ten times as long as
    `decode`.
    """
    text = _NOT_A_NUMBER.sub('" : null', data.decode("utf-8", "replace"))
    found: list[dict[str, Any]] = []

    def note(one: dict[str, Any]) -> dict[str, Any]:
        if "fio version" in one:
            found.append(one)
        return one

    decoder = json.JSONDecoder(strict=False, parse_constant=lambda _: None, object_hook=note)
    place = 0
    try:
        while (place := _JOIN.match(text, place).end()) < len(text):  # type: ignore[union-attr]
            _, place = decoder.raw_decode(text, place)
            yield from (json.dumps(one).encode() for one in found)
            found.clear()
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


class _Keys(Struct):
    """The jobs of a document with all their keys."""

    jobs: list[dict[str, Raw]] = field(default_factory=list)


_NO_NAME = Raw(b'""')


def other_directions(data: bytes) -> list[dict[str, int]]:
    """Of each job that has a name, the directions that only a fork of fio has, and their runtimes, milliseconds."""
    try:
        jobs = msgspec.json.decode(data, type=_Keys).jobs
    except (ValueError, msgspec.MsgspecError):  # a key is not in UTF-8
        return []
    named = [job for job in jobs if job.get("jobname", _NO_NAME) != _NO_NAME]
    others = [{key: job[key] for key in job.keys() - _DIRECTIONS if b'"total_ios"' in bytes(job[key])} for job in named]
    return [{key: msgspec.json.decode(job[key], type=Direction).runtime for key in job} for job in others]
