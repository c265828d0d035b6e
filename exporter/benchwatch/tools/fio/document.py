"""fio's JSON document, as far as it is used here.

Keys and their history (stat.c, 3.1 - 3.42): `timestamp_ms` is when the document was built, epoch milliseconds; all
statistics of a job are cumulative since its measured start. `N` in `*_ns` is there since 3.18, `job_runtime` since
3.8, `job_start` (epoch milliseconds, 0 = not started) since 3.36. `bins` (json+ only) maps the midpoint of a bin in
nanoseconds to its count; since 3.13 they stand in `clat_ns` or `lat_ns` as clat_percentiles and lat_percentiles say.
Client mode has `client_stats` in the place of `jobs`: every interval of every client, in order of arrival, without
times.

fio's JSON is not strict: only quotes and backslashes are escaped in strings, options given twice are repeated keys, and
before 3.22 a number may be nan. Fields that are not a number are None here.
"""

import json
import re
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct, field

_OLDEST = (3, 0)
_NOT_A_NUMBER = re.compile(r'" : -?(?:nan|inf)(?=,?\s*\n)')
_VERSION = re.compile(r"fio-(\d+)\.(\d+)")

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
ErrorNumber = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Integer = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class Latency(Struct, gc=False):
    """A latency: `max` and `mean` in nanoseconds, `N` observations (-1: not said), percentiles and bins if printed."""

    max: Count = 0
    mean: float | None = None
    N: Integer = -1
    percentile: Raw = Raw()
    bins: dict[Count, Count] | None = None


class Direction(Struct, gc=False):
    """What a job did in one direction. `total_ios` were issued, `io_bytes` completed; `runtime` is in milliseconds."""

    io_bytes: Count = 0
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
        """Bytes completed, also where only the number of KiB is known."""
        return self.io_bytes or self.io_kbytes * 1024


class Job(Struct, gc=False):
    """One entry of `jobs`: a job, or all jobs of a group with group_reporting."""

    jobname: str
    groupid: Integer = 0
    error: ErrorNumber = 0
    total_err: Count = 0
    first_error: ErrorNumber = 0
    eta: Integer = 0
    elapsed: Count = 0
    """Seconds since fio was started, rounded up."""
    job_start: Count = 0
    options: Raw = field(default=Raw(), name="job options")
    read: Direction | None = None
    write: Direction | None = None
    trim: Direction | None = None
    mixed: Direction | None = None
    sync: Direction | None = None
    job_runtime: Integer = -1
    """Milliseconds, summed over the jobs of a group; -1 if not said."""
    usr_cpu: float | None = None
    sys_cpu: float | None = None
    hostname: str = ""
    port: Integer = 0

    @property
    def runtime(self) -> int:
        """The longest runtime of its directions, milliseconds."""
        return max((each.runtime for each in (self.read, self.write, self.trim, self.mixed) if each), default=0)


class Disk(Struct, gc=False):
    """One entry of `disk_util`."""

    name: str
    util: float | None = None


class Document(Struct):
    """One document."""

    version: str = field(name="fio version")
    timestamp: Count = 0
    timestamp_ms: Count = 0
    global_options: Raw = field(default=Raw(), name="global options")
    jobs: list[Job] = field(default_factory=list)
    client_stats: list[Job] = field(default_factory=list)
    disk_util: list[Disk] = field(default_factory=list)

    @property
    def of_clients(self) -> bool:
        """Whether it is the one document of a client, about jobs on other hosts."""
        return bool(self.client_stats)

    @property
    def built(self) -> float | None:
        """When it was built, Unix seconds; None in client mode, where `timestamp` is the client's start."""
        if self.of_clients:
            return None
        return self.timestamp_ms / 1000 if self.timestamp_ms else float(self.timestamp)


_DECODER = msgspec.json.Decoder(Document)


def decode(data: bytes, tolerant: bool = False) -> Document:
    """Read a document, `tolerant` of what is no strict JSON but some ten times slower.

    Raises ValueError with one sentence if it is no document of fio 3.
    """
    try:
        document = _DECODER.decode(json.dumps(loads(data)) if tolerant else data)
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise ValueError(f"not a document: {error}") from error
    version = _VERSION.match(document.version)
    # 2.99 is a preview of 3.0; before it latencies were in microseconds and io_bytes in KiB.
    if version and (int(version[1]), int(version[2])) < _OLDEST and version[2] != "99":
        raise ValueError(f"{document.version}: its numbers have other units; expected fio 3.0 or newer")
    return document


def loads(data: bytes) -> Any:
    """JSON as fio writes it, with raw control characters, invalid UTF-8, nan and inf (None). Raises ValueError."""
    text = _NOT_A_NUMBER.sub('" : null', data.decode("utf-8", "replace"))
    return json.loads(text, strict=False, parse_constant=lambda _: None)
