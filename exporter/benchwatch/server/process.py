"""The exporter's samples about itself: its build, its process, its scrapes, and the roles of its machine's disks.

process_* follow https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics and are read from /proc
by prometheus_client; where there is no /proc, they are absent.
"""

import platform
from collections.abc import Iterator, Mapping

from prometheus_client import ProcessCollector

from ..metrics.samples import Family, Sample, SummaryValue
from ..values.version import VERSION

BUILD_INFO = Family(
    "benchwatch_build_info",
    "gauge",
    "Version of this exporter, the revision it was built from, and the Python it runs on; always 1.",
    ("version", "revision", "python"),
)
_PROCESS = {
    family.name: family
    for family in (
        Family("process_cpu_seconds_total", "counter", "User and system CPU time of this exporter, seconds."),
        Family("process_resident_memory_bytes", "gauge", "Resident memory of this exporter, bytes."),
        Family("process_start_time_seconds", "gauge", "When this exporter was started, Unix time in seconds."),
        Family("process_open_fds", "gauge", "Open file descriptors of this exporter."),
        Family("process_max_fds", "gauge", "How many file descriptors this exporter may have open."),
    )
}
SCRAPE_DURATION = Family(
    "benchwatch_scrape_duration_seconds",
    "summary",
    "Time that answers to /metrics took to render and compress, seconds, up to the one before this.",
)
DISK_INFO = Family(
    "benchwatch_disk_info",
    "gauge",
    "Role of a disk of the exporter's machine (data, log ...), by the device's name in node_exporter, from the "
    "configuration; always 1.",
    ("host", "device", "role"),
    "runs",
)
FAMILIES = (BUILD_INFO, *_PROCESS.values(), SCRAPE_DURATION)


class OwnSource:
    """A source of samples about the exporter itself (see samples.Source): a few, rendered at every scrape."""

    labels: tuple[tuple[str, str], ...] = ()

    @property
    def version(self) -> object:
        """A different one each time."""
        return object()


class Process(OwnSource):
    """This process.

    `revision` is that of the source it was built from, `proc` the folder of the proc file system.
    """

    def __init__(self, revision: str = "", proc: str = "/proc") -> None:
        self._build = Sample(BUILD_INFO, (VERSION, revision, platform.python_version()), 1)
        self._collector = ProcessCollector(proc=proc, registry=None)

    def samples(self) -> Iterator[Sample]:
        """See samples.Source."""
        yield self._build
        for metric in self._collector.collect():
            for sample in metric.samples:
                family = _PROCESS.get(sample.name)
                if family:
                    yield Sample(family, (), sample.value)


class Scrapes(OwnSource):
    """Number and duration of scrapes."""

    def __init__(self) -> None:
        self._count = 0
        self._seconds = 0.0

    def add(self, seconds: float) -> None:
        """Count one scrape."""
        self._count += 1
        self._seconds += seconds

    def samples(self) -> Iterator[Sample]:
        """See samples.Source."""
        yield Sample(SCRAPE_DURATION, (), SummaryValue(self._count, self._seconds))


class Disks(OwnSource):
    """The roles of this machine's disks, by device; `host` is its name."""

    def __init__(self, roles: Mapping[str, str], host: str) -> None:
        self._roles = roles
        self._host = host

    def samples(self) -> Iterator[Sample]:
        """See samples.Source."""
        return (Sample(DISK_INFO, (self._host, *pair), 1) for pair in self._roles.items())
