"""fio's JSON document, as far as it is used here.

Keys and their history (stat.c, 3.1 - 3.42): `timestamp_ms` is the time at which the document was built, epoch
milliseconds; all statistics of a job are cumulative since its measured start. `N` in `*_ns` exists since 3.18,
`job_runtime` since 3.8, `job_start` (epoch milliseconds, 0 = not started) since 3.36. `bins` (json+ only) maps the
midpoint of a bin in nanoseconds to its count; since 3.13 they are in `clat_ns` or `lat_ns` according to
clat_percentiles and lat_percentiles. Client mode has `client_stats` instead of `jobs`: every interval of every client,
in order of arrival, without times.

A document with an impossible number is refused: negative counts, more than 2^53 I/Os, nanoseconds or milliseconds, bins
beyond fio's last, times after the year 2242, sums over all jobs that a float64 does not hold exactly.

fio's JSON is not strict: only quotes and backslashes are escaped in strings, options given twice are repeated keys, and
before 3.22 a number may be nan. Fields that are not a number are None here.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct, field

_OLDEST = (3, 0)
_NOT_A_NUMBER = re.compile(r'" : -?(?:nan|inf)(?=,?\s*\n)')
_VERSION = re.compile(r"fio-(\d{1,4})\.(\d{1,4})")
_JSON = json.JSONDecoder(strict=False, parse_constant=lambda _: None)
_JOIN = re.compile(r"[\[\],\s]*")
_MOST = 2**53
_MOST_BYTES = 2**63 - 1

Count = Annotated[int, Meta(ge=0, le=_MOST)]
"""A number of I/Os, latencies or errors, nanoseconds or milliseconds."""
Bytes = Annotated[int, Meta(ge=0, le=_MOST_BYTES)]
Bin = Annotated[int, Meta(ge=0, le=17_112_760_320)]
"""The key of a bin, up to fio's last one (see benchwatch.metrics.buckets)."""
Mean = Annotated[float, Meta(ge=0, le=_MOST)] | None
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
    N: Annotated[int, Meta(ge=-1, le=_MOST)] = -1
    percentile: Raw = Raw()
    bins: dict[Bin, Count] | None = None


class Direction(Struct, gc=False):
    """A job's I/O in one direction: `total_ios` are issued, `io_bytes` completed; `runtime` is in milliseconds."""

    io_bytes: Bytes = 0
    io_kbytes: Bytes = 0
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

    jobname: str
    groupid: Integer = 0
    error: ErrorNumber = 0
    total_err: Count = 0
    first_error: ErrorNumber = 0
    eta: Integer = 0
    elapsed: Seconds = 0
    """Seconds since fio was started, rounded up."""
    job_start: Milliseconds = 0
    options: Raw = field(default=Raw(), name="job options")
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
    """The longest runtime of directions that only a fork of fio has, milliseconds (see note_others)."""

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


class FioDocument(Struct, dict=True):
    """One document. Its snapshot may be kept with it (see snapshot.take)."""

    version: str = field(name="fio version")
    timestamp: Seconds = 0
    timestamp_ms: Milliseconds = 0
    global_options: Raw = field(default=Raw(), name="global options")
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


_DECODER = msgspec.json.Decoder(FioDocument)


def decode(data: bytes) -> FioDocument:
    """Read a document. Raises ValueError with one sentence if it is not strict JSON, or not a document of fio 3."""
    try:
        document = _DECODER.decode(data)
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise ValueError(f"not a document: {error}") from error
    version = _VERSION.match(document.version)
    # 2.99 is a preview of 3.0; before it latencies were in microseconds and io_bytes in KiB.
    if version and (int(version[1]), int(version[2])) < _OLDEST and version[2] != "99":
        raise ValueError(f"{document.version}: its numbers have other units; expected fio 3.0 or newer")
    _check_sums(document)
    return document


def from_report(data: bytes) -> FioDocument:
    """The document of a report (see report). Raises ValueError with one sentence for impossible numbers."""
    try:
        document = _DECODER.decode(data)
    except msgspec.MsgspecError as error:
        raise ValueError(f"not a report: {error}") from error
    document.of_report = True
    _check_sums(document)
    return document


def _check_sums(document: FioDocument) -> None:
    """Raises ValueError if the sums over all jobs are too large."""
    counted = sent = 0
    for job in document.jobs or document.client_stats:
        for direction in (job.read, job.write, job.trim, job.mixed, job.sync):
            if direction is None:
                continue
            slat, clat, lat = direction.slat_ns, direction.clat_ns, direction.lat_ns
            sent += direction.completed_bytes
            counted += direction.total_ios + direction.short_ios + direction.drop_ios + slat.N + clat.N + lat.N
            for bins in (slat.bins, clat.bins, lat.bins):
                if bins:
                    counted += sum(bins.values())
    if counted > _MOST:
        raise ValueError(f"it counts {counted:,} I/Os and latencies; expected {_MOST:,} at most")
    if sent > _MOST_BYTES:
        raise ValueError(f"it counts {sent:,} bytes; expected {_MOST_BYTES:,} at most")


def stored_documents(data: bytes) -> list[bytes]:
    """Each document in JSON that need not be strict, as strict JSON, in order; empty if it has none or is not JSON.

    Brackets and commas around documents do not matter. It takes some ten times as long as `decode`.
    """
    found: list[bytes] = []
    try:
        rest = _values(_text(data))
    except ValueError:
        return found
    while rest:
        value = rest.pop()
        if isinstance(value, dict) and "fio version" in value:
            found.append(json.dumps(value).encode())
        elif isinstance(value, dict | list):
            rest += reversed(list(value.values() if isinstance(value, dict) else value))
    return found


class _Keys(Struct):
    """The jobs of a document with all their keys."""

    jobs: list[dict[str, Raw]] = field(default_factory=list)


_KEYS_DECODER = msgspec.json.Decoder(_Keys)


def unknown_directions(data: bytes) -> list[str]:
    """The names of directions in a document that fio does not have; empty if it is not strict JSON."""
    try:
        jobs = _KEYS_DECODER.decode(data).jobs
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return []
    names = {name for job in jobs for name, value in job.items() if b'"total_ios"' in bytes(value)}
    return sorted(names - {"read", "write", "trim", "mixed", "sync"})


def note_others(document: FioDocument, data: bytes, names: Sequence[str]) -> None:
    """Note in each job how long its directions of these unknown names took: its end depends on them."""
    with suppress(ValueError, RecursionError, msgspec.MsgspecError):
        for job, keys in zip(document.jobs, _KEYS_DECODER.decode(data).jobs, strict=True):
            others = (msgspec.json.decode(keys[name], type=Direction) for name in names if name in keys)
            job.other_runtime = max((one.runtime for one in others), default=0)


def loads(data: bytes) -> Any:
    """Parse JSON as fio writes it: raw control characters, invalid UTF-8, nan and inf (None). Raises ValueError."""
    try:
        return _JSON.decode(_text(data))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _text(data: bytes) -> str:
    return _NOT_A_NUMBER.sub('" : null', data.decode("utf-8", "replace"))


def _values(text: str) -> list[Any]:
    """The objects in a text that has nothing else but what joins them, the last one first. Raises ValueError."""
    values: list[Any] = []
    place = _JOIN.match(text).end()  # type: ignore[union-attr]
    while place < len(text):
        try:
            value, place = _JSON.raw_decode(text, place)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error
        values.append(value)
        place = _JOIN.match(text, place).end()  # type: ignore[union-attr]
    return values[::-1]
