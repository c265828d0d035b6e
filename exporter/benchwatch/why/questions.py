"""What a Prometheus is asked for: raw samples of a run, of its machines and of its vdisks. One range for each."""

from collections.abc import Iterable

from .prometheus import Prometheus, text
from .run_facts import RUN_METRICS, facts, rate_families
from .seen import Samples, Seen

_NODE = (
    *("node_cpu_seconds_total", "node_procs_running", "node_disk_.*", "node_vmstat_(pgscan_direct|pswp(in|out))"),
    *("node_pressure_(cpu|memory)_waiting_seconds_total", "node_netstat_Tcp_RetransSegs", "up", "pg_.*"),
    "benchwatch_process_.*",
)
_CVM = (
    *("nutanix_vdisk_(info|oplog_bytes|backend_latency_seconds|(write_destination|read_source|sequential)_ratio)",),
    *(
        "nutanix_vdisk_frontend_((latency_seconds|ops_per_second)|operation_size_bytes)",
        "nutanix_oplog_utilisation_ratio",
    ),
    *("nutanix_stargate_queue_operations", "nutanix_cvm_last_success_timestamp_seconds"),
)
_CONFIGURED = 60.0
"""Seconds that a fact of a run may be old: its part is scraped every 10 s."""


def _chosen(names: Iterable[str], *matchers: str) -> str:
    return "{" + ",".join((f'__name__=~"{"|".join(names)}"', *matchers)) + "}"


def _one_of(values: Iterable[str]) -> str:
    return text("|".join(sorted(_plain(value) for value in values)))


def _plain(value: str) -> str:
    """A value as a regular expression of its own."""
    return "".join(f"\\{letter}" if letter in r"\.+*?()|[]{}^$" else letter for letter in value)


class Questions:
    """The samples of one run, asked of a Prometheus with one deadline for all questions of a call, seconds."""

    def __init__(self, prometheus: Prometheus, run: str) -> None:
        self._prometheus = prometheus
        self._run = run
        self._vdisks: dict[str, tuple[frozenset[str], frozenset[str]]] = {}

    def samples_of_run(self, begin: float, end: float) -> Iterable[Samples]:
        """What the exporter says of the run. Raises PrometheusError."""
        names = (*RUN_METRICS, *dict.fromkeys(rate_families()))
        yield from self._prometheus.samples(_chosen(names, f"run={text(self._run)}"), begin, end)

    def samples_around(self, seen: Seen, begin: float, end: float) -> Iterable[Samples]:
        """What its machines and vdisks say; a selector for each kind. Raises PrometheusError."""
        found = facts(seen, self._run, {})
        if not found.hosts:
            return
        hosts = f"host=~{_one_of(found.hosts)}"
        modes, devices = 'mode=~"|idle|iowait|steal"', 'device!~"(ram|zram|sr|fd).*"'
        yield from self._prometheus.samples(_chosen(_NODE, hosts, modes, devices), begin, end)
        if not found.devices:
            yield from self._prometheus.samples(f"benchwatch_disk_info{{{hosts}}}", end - _CONFIGURED, end)
        if found.machine:
            yield from self._samples_of_vdisks(found.machine, begin, end)

    def _samples_of_vdisks(self, machine: str, begin: float, end: float) -> Iterable[Samples]:
        if machine not in self._vdisks:
            rows = self._prometheus.samples(f"nutanix_vdisk_info{{vm={text(machine)}}}", begin, end)
            if not rows:  # the first page of the CVM may still come
                return
            named = (frozenset(one.labels.get(label, "") for one in rows) for label in ("cvm", "vdisk"))
            self._vdisks[machine] = next(named), next(named)
        cvms, vdisks = self._vdisks[machine]
        which = text("|" + "|".join(sorted(map(_plain, vdisks))))
        yield from self._prometheus.samples(_chosen(_CVM, f"cvm=~{_one_of(cvms)}", f"vdisk=~{which}"), begin, end)
