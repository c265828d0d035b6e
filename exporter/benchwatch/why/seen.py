"""What a Prometheus has of one run: raw samples of the run, of its machines and of its vdisks, one question for each;
what the run is; and what it reported second by second.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..metrics.prometheus import Array, Prometheus, Samples, text
from ..tools.registry import TOOLS
from ..tools.roles import Roles

_CLIENTS = ("pgbench_clients", "sysbench_threads")
"""Operations that may be under way, as asked for."""
LOG_ROLES = ("log", "wal")
"""Roles of devices and vdisks with a log; any other is data."""
_RUN = (
    *("benchwatch_run_info", "benchwatch_run_state", "benchwatch_run_host_info", "benchwatch_run_vm_info"),
    *("benchwatch_run_disk_info", "benchwatch_run_parameter", "benchwatch_run_latency_objective_seconds"),
    *("benchwatch_run_start_timestamp_seconds", *_CLIENTS),
)
_AROUND = (
    *("up", "node_cpu_seconds_total", "node_procs_running", "node_vmstat_(pgscan_direct|pswpin|pswpout)"),
    *("node_pressure_(cpu|memory)_waiting_seconds_total", "node_netstat_Tcp_RetransSegs"),
    *("node_disk_(reads|writes)_completed_total", "node_disk_(read|write)_time_seconds_total"),
    *("node_disk_(read|written)_bytes_total", "node_disk_io_now"),
    "benchwatch_process_(processors|disk_bytes_per_second)",
    "pg_(up|sessions_active|sessions_time_active_seconds_total|waiting_processes|autovacuum_workers)",
    "pg_(blocking_processes|locks_waiting|locks_longest_wait_seconds|buffers_written_bytes_total)",
    "pg_checkpoint_(active|timed_total|requested_total|max_wal_size_bytes|completion_target_ratio)",
)
"""What is asked of machines, without patterns such as pg_.*, for which Prometheus would go through all names."""
_CVM = (
    "nutanix_vdisk_(info|oplog_bytes|backend_latency_seconds|(write_destination|read_source)_ratio)",
    "nutanix_vdisk_frontend_((latency_seconds|ops_per_second)|operation_size_bytes)",
    *("nutanix_oplog_utilisation_ratio", "nutanix_stargate_queue_operations"),
    "nutanix_cvm_last_success_timestamp_seconds",
)
_CONFIGURED, _KEPT = 60.0, 5.0
"""Seconds that a role of a disk may be old, as it is scraped every 10 s; for which a report counts without another."""
_VARYING = ("duration", "time", "seed", "started", "version", "free")
"""Words in the names of parameters in which two runs of one kind may differ."""


class Seen:
    """Samples by the name of their metric, without what is `kept` seconds older than the newest of a series."""

    def __init__(self, series: Iterable[Samples] = (), kept: float = np.inf) -> None:
        self._kept = kept
        self._series: dict[str, dict[frozenset[tuple[str, str]], Samples]] = {}
        self.add(series)

    def add(self, series: Iterable[Samples]) -> None:
        """Add samples that are newer than those known."""
        for one in series:
            known = self._series.setdefault(one.labels.get("__name__", ""), {})
            key = frozenset(one.labels.items())
            if (old := known.get(key)) is not None:
                last, newest = old.times[-1], one.times[-1]
                if newest <= last:
                    continue
                new = int(one.times.searchsorted(last, side="right"))
                begin = int(old.times.searchsorted(newest - self._kept))
                times = np.concatenate((old.times[begin:], one.times[new:]))
                one = Samples(old.labels, times, np.concatenate((old.values[begin:], one.values[new:])))
            known[key] = one

    def of(self, name: str, **labels: str) -> Iterator[Samples]:
        """The series of a metric with these labels; one that is missing equals an empty one."""
        for one in self._series.get(name, {}).values():
            if all(one.labels.get(label, "") == value for label, value in labels.items()):
                yield one

    def last(self, name: str, **labels: str) -> list[float]:
        """The last values of the series of a metric."""
        return [float(one.values[-1]) for one in self.of(name, **labels)]

    def vdisks(self, machine: str) -> Iterator[tuple[str, str]]:
        """Those of a virtual machine: CVM and name. Empty: no machine."""
        for info in self.of("nutanix_vdisk_info", vm=machine) if machine else ():
            yield info.labels.get("cvm", ""), info.labels.get("vdisk", "")

    def all(self) -> Iterator[Samples]:
        """All series."""
        return (one for series in self._series.values() for one in series.values())


class RunFacts(NamedTuple):
    """What a run is."""

    name: str
    tool: str
    roles: Roles | None
    server: str
    """The machine whose disks and processors it uses; empty: unknown."""
    clients: frozenset[str]
    """The benchmark's own machines, if they are others."""
    devices: Mapping[str, str]
    """log or data, by the name of a device of the server."""
    machine: str
    """The virtual machine that the server is; empty: unknown."""
    at_once: float
    """Operations that may be under way, as asked for; 0: unknown."""
    objective: float | None
    """Mean latency it should stay below, seconds."""
    start: float | None
    kind: tuple[object, ...]
    """Equal for runs that can be compared: tool, machine, parameters."""

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
    """One part of a run (a worker; of fio, a job and an operation). A place is a second from `first` on, Unix time."""

    name: tuple[str, ...]
    """Its worker and labels."""
    op: str
    first: int
    latency: Array
    """Mean without the wait for a fixed rate, seconds; NaN: none."""
    rate: Array
    """Operations a second; NaN: no report."""

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
    return prometheus.samples(_chosen(names, f"run=~{_one_of(runs)}"), begin, end)


def surrounded(prometheus: Prometheus, runs: Sequence[SeenRun], begin: float, end: float) -> list[SeenRun]:
    """Runs with what their machines and vdisks say, which is added to what is seen. Raises PrometheusError."""
    if not (hosts := {host for of in runs for host in of.facts.hosts}):
        return list(runs)
    at = f"host=~{_one_of(hosts)}"
    found, devices = [], {"", *(device for of in runs for device in of.facts.devices)}
    if not all(of.facts.devices for of in runs):
        found = prometheus.samples(f"benchwatch_disk_info{{{at}}}", end - _CONFIGURED, end)
        devices.update(one.labels.get("device", "") for one in found)
    matchers = at, 'mode=~"|idle|iowait|steal"', f"device=~{_one_of(devices)}"
    found += prometheus.samples(_chosen(_AROUND, *matchers), begin, end)
    for of in runs:
        of.seen.add(one for one in found if one.labels.get("host") in of.facts.hosts)
    vdisks = {of.facts.name: set(of.seen.vdisks(of.facts.machine)) for of in runs}
    if new := {of.facts.machine for of in runs if of.facts.machine and not vdisks[of.facts.name]}:
        infos = Seen(prometheus.samples(f"nutanix_vdisk_info{{vm=~{_one_of(new)}}}", begin, end))
        vdisks = {of.facts.name: vdisks[of.facts.name] or set(infos.vdisks(of.facts.machine)) for of in runs}
    if every := {one for own in vdisks.values() for one in own}:
        cvms, names = _one_of({cvm for cvm, _ in every}), _one_of({"", *(name for _, name in every)})
        pages = prometheus.samples(_chosen(_CVM, f"cvm=~{cvms}", f"vdisk=~{names}"), begin, end)
        for of in runs:
            own = vdisks[of.facts.name] | {(cvm, "") for cvm, _ in vdisks[of.facts.name]}
            of.seen.add(one for one in pages if (one.labels.get("cvm", ""), one.labels.get("vdisk", "")) in own)
    return [of if of.facts.devices else of._replace(facts=_facts(of.seen, of.facts.name)) for of in runs]


def _chosen(names: Iterable[str], *matchers: str) -> str:
    return "{" + ",".join((f'__name__=~"{"|".join(names)}"', *matchers)) + "}"


def _one_of(values: Iterable[str]) -> str:
    """A regular expression, quoted, that matches these values."""
    return text("|".join(sorted(map(re.escape, values))))


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
    found = [(tool, roles) for tool in TOOLS for roles in tool.roles if any(seen.of(roles.rate.name, run=run))]
    name, roles = (found[0][0].name, found[0][1]) if found else ("", None)
    hosts: dict[str, set[str]] = {"server": set(), "client": set()}
    for one in seen.of("benchwatch_run_host_info", run=run):
        hosts.setdefault(one.labels.get("role", ""), set()).add(one.labels.get("host", ""))
    server = min(hosts["server"] or hosts["client"], default="")
    disks = [*seen.of("benchwatch_run_disk_info", run=run)] or seen.of("benchwatch_disk_info", host=server)
    objectives = seen.last("benchwatch_run_latency_objective_seconds", run=run)
    at_once = sum(number for family in _CLIENTS for number in seen.last(family, run=run))
    parameters = frozenset(
        (one.labels.get("name", ""), one.labels.get("value", ""))
        for one in seen.of("benchwatch_run_parameter", run=run)
        if not any(word in one.labels.get("name", "") for word in _VARYING)
    )
    return RunFacts(
        run,
        name,
        roles,
        server,
        frozenset(hosts["client"] - {server}),
        {one.labels["device"]: "log" if one.labels["role"] in LOG_ROLES else "data" for one in disks},
        min((one.labels.get("vm", "") for one in seen.of("benchwatch_run_vm_info", run=run)), default=""),
        at_once,
        min(objectives, default=roles.objective if roles else None),
        min(seen.last("benchwatch_run_start_timestamp_seconds", run=run), default=None),
        (name, server, at_once, parameters),
    )
