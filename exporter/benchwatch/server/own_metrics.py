"""The exporter's metrics about itself, held by prometheus_client: its build, its process, its requests.

They are few and change with every scrape. Those of runs and CVMs are many, and rendered by `metrics.exposition`.
process_* are those of https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics, read from /proc;
where there is no /proc, they are absent.
"""

import platform
from collections.abc import Iterator, Mapping

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Info,
    ProcessCollector,
    Summary,
    disable_created_metrics,
    generate_latest,
)

from ..metrics.samples import Family, Sample
from ..values.version import VERSION

disable_created_metrics()  # type: ignore[no-untyped-call]  # they would double the counters, and no rule or board uses them

_REFUSALS = ("host", "password")
DISK_INFO = Family(
    "benchwatch_disk_info",
    "gauge",
    "1; role of a disk of the exporter's machine, from the configuration.",
    ("host", "device", "role"),
    "runs",
)


class OwnMetrics:
    """The metrics of this process.

    `revision` is that of the source it was built from, `proc` the folder of the proc file system.
    """

    def __init__(self, revision: str = "", proc: str = "/proc") -> None:
        self.registry = CollectorRegistry()
        Info(
            "benchwatch_build",
            "1; version of this exporter, its revision, and its Python.",
            registry=self.registry,
        ).info({"version": VERSION, "revision": revision, "python": platform.python_version()})
        ProcessCollector(proc=proc, registry=self.registry)
        self.scrapes = Summary(
            "benchwatch_scrape_duration_seconds",
            "Time to render and compress answers to /metrics.",
            registry=self.registry,
        )
        self.connections = Gauge("benchwatch_connections", "Open connections to this exporter.", registry=self.registry)
        self._refused = Counter(
            "benchwatch_requests_refused",
            "Refused requests, by reason: host (a name not served on loopback), password.",
            ["reason"],
            registry=self.registry,
        )
        for reason in _REFUSALS:
            self._refused.labels(reason)

    def refused(self, reason: str) -> None:
        """Count a request that is refused."""
        self._refused.labels(reason).inc()

    def render(self) -> str:
        """All of them, in the Prometheus text format."""
        return generate_latest(self.registry).decode()


class Disks:
    """The roles of this machine's disks, by device, as a source (see samples.Source); `host` is its name."""

    labels: tuple[tuple[str, str], ...] = ()
    version = 0

    def __init__(self, roles: Mapping[str, str], host: str) -> None:
        self._roles = roles
        self._host = host

    def samples(self) -> Iterator[Sample]:
        """See samples.Source."""
        return (Sample(DISK_INFO, (self._host, *pair), 1) for pair in self._roles.items())
