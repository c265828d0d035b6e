"""What a Prometheus has of one run: raw samples of the run, of its machines and of its vdisks, one question for each;
what the run is; and what it reported second by second.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..metrics.prometheus import Array, Prometheus, Samples, Seen, one_of, selector
from ..tools.registry import TOOLS
from ..tools.roles import Roles

_CLIENTS = ("pgbench_clients", "sysbench_threads")
"""Operations that may be under way, as asked for."""
LOG_ROLES = ("log", "wal")
"""Roles of devices and vdisks with a log; any other is data."""
_RUN = ("benchwatch_run_((host|vm|disk)_info|parameter|latency_objective_seconds|start_timestamp_seconds)", *_CLIENTS)
_AROUND = (
    "up",
    "node_(cpu_seconds_total|procs_running|vmstat_(pgscan_direct|pswpin|pswpout)|netstat_Tcp_RetransSegs)",
    "node_pressure_(cpu|memory)_waiting_seconds_total",
    "node_disk_(io_now|((reads|writes)_completed|(read|write)_time_seconds|(read|written)_bytes)_total)",
    "benchwatch_process_(processors|disk_bytes_per_second)",
    "pg_(up|sessions_active|sessions_time_active_seconds_total|waiting_processes|autovacuum_workers)",
    "pg_(blocking_processes|locks_waiting|locks_longest_wait_seconds|buffers_written_bytes_total)",
    "pg_checkpoint_(active|timed_total|requested_total|max_wal_size_bytes|completion_target_ratio)",
)
"""What is asked of machines, without patterns such as pg_.*, for which Prometheus would go through all names."""
_CVM = (
    "nutanix_vdisk_(info|oplog_bytes|backend_latency_seconds|(write_destination|read_source)_ratio)",
    "nutanix_vdisk_frontend_(latency_seconds|ops_per_second|operation_size_bytes)",
    "nutanix_(oplog_utilisation_ratio|stargate_queue_operations|cvm_last_success_timestamp_seconds)",
)
_CONFIGURED, _KEPT = 60.0, 5.0
"""Seconds that a role of a disk may be old, as it is scraped every 10 s; for which a report counts without another."""
_VARYING = ("duration", "time", "seed", "started", "version", "free")
"""Words in the names of parameters in which two runs of one kind may differ."""


class RunFacts(NamedTuple):
    """What a run is; empty, 0: unknown. `server` is the machine whose disks and processors it uses, `machine` its name
    as a virtual machine; `clients` are the benchmark's own machines, if they are others. `kind` (tool, server,
    parameters) is equal for runs that can be compared.
    """

    name: str
    tool: str
    roles: Roles | None
    server: str
    clients: frozenset[str]
    devices: Mapping[str, str]
    """log or data, by the name of a device of the server."""
    machine: str
    at_once: float
    """Operations that may be under way, as asked for."""
    objective: float | None
    """Mean latency it should stay below, seconds."""
    start: float | None
    kind: tuple[object, ...]

    @property
    def database(self) -> bool:
        """Whether its operations are transactions."""
        return bool(self.roles and self.roles.database)

    @property
    def hosts(self) -> frozenset[str]:
        """All machines of the run."""
        return self.clients | ({self.server} if self.server else frozenset())

    def of_role(self, role: str) -> list[str]:
        """The devices with the log, or those with data."""
        return [device for device, known in self.devices.items() if known == role]


class Reported(NamedTuple):
    """One part of a run (a worker; of fio, a job and an operation), by its worker and labels: for each second from
    `first` on, Unix time, the mean latency without the wait for a fixed rate, and operations a second; NaN: none.
    """

    name: tuple[str, ...]
    op: str
    first: int
    latency: Array
    rate: Array

    def window(self, begin: float, end: float) -> tuple[float, float]:
        """Time of all operations within the window, and their number."""
        chosen = slice(max(0, int(begin) - self.first), max(0, int(np.ceil(end)) - self.first))
        rate = np.nan_to_num(self.rate[chosen])
        return float(np.nansum(self.latency[chosen] * rate)), float(rate[~np.isnan(self.latency[chosen])].sum())


class SeenRun(NamedTuple):
    """A run, as seen in some samples."""

    seen: Seen
    facts: RunFacts
    parts: Sequence[Reported]


def samples_of_runs(prometheus: Prometheus, runs: Iterable[str], begin: float, end: float) -> list[Samples]:
    """What the exporter says of runs. Raises PrometheusError."""
    roles = [roles for tool in TOOLS for roles in tool.roles if not roles.observer]
    families = [family for one in roles for family in (one.rate, one.latency, one.lag, one.window) if family]
    names = (*_RUN, *dict.fromkeys(family.name for family in families))
    return prometheus.samples(selector(names, f"run=~{one_of(runs)}"), begin, end)


def surrounded(prometheus: Prometheus, runs: Sequence[SeenRun], begin: float, end: float) -> list[SeenRun]:
    """Runs with what their machines and vdisks say, which is added to what is seen. Raises PrometheusError."""
    if not (hosts := {host for of in runs for host in of.facts.hosts}):
        return list(runs)
    at = f"host=~{one_of(hosts)}"
    found, devices = [], {"", *(device for of in runs for device in of.facts.devices)}
    if not all(of.facts.devices for of in runs):
        found = prometheus.samples(f"benchwatch_disk_info{{{at}}}", end - _CONFIGURED, end)
        devices.update(one.labels.get("device", "") for one in found)
    matchers = at, 'mode=~"|idle|iowait|steal"', f"device=~{one_of(devices)}"
    found += prometheus.samples(selector(_AROUND, *matchers), begin, end)
    machines = {of.facts.machine for of in runs if of.facts.machine and not _vdisks(of)}
    infos = prometheus.samples(f"nutanix_vdisk_info{{vm=~{one_of(machines)}}}", begin, end) if machines else []
    for of in runs:
        of.seen.add(one for one in found if one.labels.get("host") in of.facts.hosts)
        of.seen.add(one for one in infos if one.labels.get("vm") == of.facts.machine)
    vdisks = [_vdisks(of) for of in runs]
    if every := set().union(*vdisks):
        cvms, names = one_of({cvm for cvm, _ in every}), one_of({"", *(name for _, name in every)})
        pages = prometheus.samples(selector(_CVM, f"cvm=~{cvms}", f"vdisk=~{names}"), begin, end)
        for of, own in zip(runs, vdisks, strict=True):
            own |= {(cvm, "") for cvm, _ in own}
            of.seen.add(one for one in pages if (one.labels.get("cvm", ""), one.labels.get("vdisk", "")) in own)
    return [of if of.facts.devices else of._replace(facts=_facts(of.seen, of.facts.name)) for of in runs]


def _vdisks(of: SeenRun) -> set[tuple[str, str]]:
    """Those of its virtual machine, as far as they are seen: CVM and name."""
    found = of.seen.of("nutanix_vdisk_info", vm=of.facts.machine) if of.facts.machine else ()
    return {(info.labels.get("cvm", ""), info.labels.get("vdisk", "")) for info in found}


def seen_run(seen: Seen, run: str, begin: float, end: float) -> SeenRun:
    """A run between two moments, Unix seconds. Of several exporters that report a part, the first counts."""
    facts = _facts(seen, run)
    parts: dict[tuple[str, ...], Reported] = {}
    if not (roles := facts.roles):
        return SeenRun(seen, facts, [])
    first, length = int(begin), int(end) - int(begin) + 1
    mean = roles.latency or roles.window
    for one in seen.of(roles.rate.name, run=run):
        name = (one.labels.get("worker", ""), *(one.labels.get(label, "") for label in roles.labels))
        op = one.labels.get(roles.operation, "")
        if name in parts or op in roles.apart:
            continue
        labels = {label: one.labels.get(label, "") for label in ("run", "worker", "instance", *roles.labels)}
        latency = np.full(length, np.nan)
        means = seen.of(mean.name, **labels) if mean else ()
        if found := next((each for each in means if each.labels.get("quantile", "") != "1"), None):
            latency = _by_second(found, first, length)
        for lag in seen.of(roles.lag.name, **labels) if roles.lag else ():
            latency = latency - np.nan_to_num(_by_second(lag, first, length))
        parts[name] = Reported(name, op, first, latency, _by_second(one, first, length))
    return SeenRun(seen, facts, list(parts.values()))


def _by_second(one: Samples, first: int, length: int) -> Array:
    """The last sample up to each second."""
    moments = first + np.arange(length) + 1.0
    places = one.times.searchsorted(moments, side="right") - 1
    values = one.values[np.maximum(places, 0)].astype(float)
    values[(places < 0) | (one.times[np.maximum(places, 0)] < moments - _KEPT)] = np.nan
    return values


def _facts(seen: Seen, run: str) -> RunFacts:
    """What samples say of a run. One whose record names no disks has those of its machine's configuration."""

    def words(family: str, label: str, **labels: str) -> set[str]:
        return {one.labels.get(label, "") for one in seen.of(f"benchwatch_run_{family}", run=run, **labels)}

    def numbers(family: str) -> list[float]:
        return [float(one.values[-1]) for one in seen.of(family, run=run)]

    reported = ((one.name, roles) for one in TOOLS for roles in one.roles if any(seen.of(roles.rate.name, run=run)))
    tool, roles = next(reported, ("", None))
    clients = words("host_info", "host", role="client")
    server = min(words("host_info", "host", role="server") or clients, default="")
    disks = [*seen.of("benchwatch_run_disk_info", run=run)] or seen.of("benchwatch_disk_info", host=server)
    at_once = sum(number for family in _CLIENTS for number in numbers(family))
    objectives = numbers("benchwatch_run_latency_objective_seconds")
    parameters = frozenset(
        (name, one.labels.get("value", ""))
        for one in seen.of("benchwatch_run_parameter", run=run)
        if not any(word in (name := one.labels.get("name", "")) for word in _VARYING)
    )
    return RunFacts(
        run,
        tool,
        roles,
        server,
        frozenset(clients - {server}),
        {one.labels["device"]: "log" if one.labels["role"] in LOG_ROLES else "data" for one in disks},
        min(words("vm_info", "vm"), default=""),
        at_once,
        min(objectives, default=roles.objective if roles else None),
        min(numbers("benchwatch_run_start_timestamp_seconds"), default=None),
        (tool, server, at_once, parameters),
    )
