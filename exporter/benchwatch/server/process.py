"""The exporter's own process and build, as a source of samples.

process_* follow https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics and are read from /proc
by prometheus_client; where there is no /proc, they are absent.
"""

import platform
from collections.abc import Iterator
from itertools import count

from prometheus_client import ProcessCollector

from ..metrics.samples import Family, Sample
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
FAMILIES = (BUILD_INFO, *_PROCESS.values())


class Process:
    """This process (see samples.Source), read anew whenever it is asked for.

    `revision` is that of the source it was built from, `proc` where the proc file system is.
    """

    labels: tuple[tuple[str, str], ...] = ()

    def __init__(self, revision: str = "", proc: str = "/proc") -> None:
        self._build = Sample(BUILD_INFO, (VERSION, revision, platform.python_version()), 1)
        self._collector = ProcessCollector(proc=proc, registry=None)
        self._versions = count()

    @property
    def version(self) -> int:
        """Another one each time."""
        return next(self._versions)

    def samples(self) -> Iterator[Sample]:
        """See samples.Source."""
        yield self._build
        for metric in self._collector.collect():
            for sample in metric.samples:
                family = _PROCESS.get(sample.name)
                if family:
                    yield Sample(family, (), sample.value)
