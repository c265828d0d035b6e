"""What a Prometheus is asked for: raw samples of a run, of its machines and of its vdisks. One range for each."""

import re
from collections.abc import Iterable, Iterator

from ..metrics.prometheus import Prometheus, Samples, text
from ..tools.registry import TOOLS
from .reports import SeenRun
from .run_facts import CLIENTS, facts

_RUN = (
    *("benchwatch_run_info", "benchwatch_run_state", "benchwatch_run_host_info", "benchwatch_run_vm_info"),
    *("benchwatch_run_disk_info", "benchwatch_run_parameter", "benchwatch_run_latency_objective_seconds"),
    *("benchwatch_run_start_timestamp_seconds", *CLIENTS),
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
_CONFIGURED = 60.0
"""Seconds that a role of a disk may be old: it is scraped every 10 s."""


def samples_of_run(prometheus: Prometheus, run: str, begin: float, end: float) -> list[Samples]:
    """What the exporter says of a run. Raises PrometheusError."""
    roles = [roles for tool in TOOLS for roles in tool.roles if not roles.observer]
    families = [family for one in roles for family in (one.rate, one.latency, one.lag, one.window) if family]
    names = (*_RUN, *dict.fromkeys(family.name for family in families))
    return prometheus.samples(_chosen(names, f"run={text(run)}"), begin, end)


def surrounded(prometheus: Prometheus, of: SeenRun, begin: float, end: float) -> SeenRun:
    """A run with what its machines and vdisks say, which is added to what is seen. Raises PrometheusError."""
    of.seen.add(_around(prometheus, of, begin, end))
    return of if of.facts.devices else of._replace(facts=facts(of.seen, of.facts.name))


def _around(prometheus: Prometheus, of: SeenRun, begin: float, end: float) -> Iterator[Samples]:
    if not of.facts.hosts:
        return
    hosts, devices = f"host=~{_one_of(of.facts.hosts)}", {"", *of.facts.devices}
    if not of.facts.devices:
        configured = prometheus.samples(f"benchwatch_disk_info{{{hosts}}}", end - _CONFIGURED, end)
        devices.update(one.labels.get("device", "") for one in configured)
        yield from configured
    matchers = hosts, 'mode=~"|idle|iowait|steal"', f"device=~{_one_of(devices)}"
    yield from prometheus.samples(_chosen(_AROUND, *matchers), begin, end)
    if machine := of.facts.machine:
        known = f"nutanix_vdisk_info{{vm={text(machine)}}}"
        vdisks = [*of.seen.of("nutanix_vdisk_info", vm=machine)] or prometheus.samples(known, begin, end)
        if vdisks:
            cvms = _one_of({one.labels.get("cvm", "") for one in vdisks})
            names = _one_of({"", *(one.labels.get("vdisk", "") for one in vdisks)})
            yield from prometheus.samples(_chosen(_CVM, f"cvm=~{cvms}", f"vdisk=~{names}"), begin, end)


def _chosen(names: Iterable[str], *matchers: str) -> str:
    return "{" + ",".join((f'__name__=~"{"|".join(names)}"', *matchers)) + "}"


def _one_of(values: Iterable[str]) -> str:
    """A regular expression, quoted, that matches these values."""
    return text("|".join(sorted(map(re.escape, values))))
