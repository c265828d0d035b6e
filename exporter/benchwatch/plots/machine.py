"""What a Prometheus knows about the machines of runs: disks from node_exporter, vdisks from a CVM's pages.

Rates of counters look back over a few scrapes. The await of a disk is the time of all requests divided by their number;
without requests, there is none. The CVM's numbers are gauges of its own trailing window and are shown unchanged; a CVM
that several exporters read counts once.

The sections show the machines and the virtual machines that the run used, by the names in its records or in Prometheus
(label `host` of node_exporter, `vm` of the mapping). Where the run or all targets of node_exporter lack a host, all
machines are shown; where the mapping gives a vdisk a role without a VM, the vdisk is the run's.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from ..metrics.prometheus import TIMEOUT, Prometheus, PrometheusError, Samples, text
from . import axes, theme
from .axes import Axis
from .plot import Marks, Plot
from .prometheus_of_run import PrometheusOfRun
from .run_view import View
from .section import Section
from .slowness import slowness, why_slow
from .time_lines import Line
from .traces import Trace, time_plot

_REAL = 'device!~"(loop|ram|zram|sr|fd|dm-).*"'
_DESTINATION = "nutanix_vdisk_write_destination_ratio"
_FRONTEND = "max by (cvm, vdisk, op) (nutanix_vdisk_frontend_{})"
_OPLOG = f'max by (cvm, vdisk) ({_DESTINATION}{{destination="oplog"}}) or 0 * max by (cvm, vdisk) ({_DESTINATION})'
"""The page leaves cells without a value empty: 0 if other cells of the vdisk are filled."""
_LOG = ("log", "wal")
"""Roles of disks with a log; any other is data."""
_MOST = 6
"""Maximum of devices or vdisks on a plot: those with a role, otherwise the busiest."""


def reasons(url: str, runs: Sequence[View], timeout: float = TIMEOUT) -> Iterator[Section]:
    """Why each run was slow; nothing of a run that Prometheus did not watch, or if it does not answer."""
    prometheus = Prometheus(url, timeout)
    for run in (run for run in runs if run.length):
        with suppress(PrometheusError):  # which the sections below name
            title = f"Why {run.name if len(runs) > 1 else 'it'} was slow"
            yield from why_slow(slowness(prometheus, run), title)


def sections(url: str, runs: Sequence[View], timeout: float = TIMEOUT) -> Iterator[Section]:
    """The disks and vdisks of each run, or why there are none."""
    for run in runs:
        whose = f" during {run.name}" if len(runs) > 1 else ""
        if not run.length:
            yield Section(f"Disks{whose}", notes=[f"Prometheus was not asked: {run.name} does not say when it began."])
            continue
        prometheus = PrometheusOfRun(url, run, timeout)
        doubts = run.doubts
        try:
            hosts = {worker.runfile.server for worker in run.timelines}
            hosts |= _named(prometheus, run, 'benchwatch_run_host_info{{{},role="server"}}', "host")
            hosts.discard("")
            disks = list(_disks(prometheus, run, hosts))
            vdisks = list(_vdisks(prometheus, run))
        except PrometheusError as error:
            yield Section(f"Disks{whose}", notes=[f"{error}."])
            return
        none = "Prometheus has no disk of node_exporter with any I/O in this time"
        none += f" on {', '.join(sorted(hosts))} (label host of its targets)." if hosts else "."
        yield Section(f"Disks{whose}", disks, notes=doubts if disks else [none, *doubts])
        if vdisks:
            yield Section(f"Nutanix vdisks{whose}", vdisks, notes=doubts)


def _disks(prometheus: PrometheusOfRun, run: View, hosts: set[str]) -> Iterator[Plot]:
    windows = prometheus.windows("node_disk_io_time_seconds_total")
    if hosts and any(host for machines in windows.values() for host in machines.values()):
        own = {
            window: {instance: host for instance, host in machines.items() if host in hosts}
            for window, machines in windows.items()
        }
        windows = {window: machines for window, machines in own.items() if machines}
    if not windows:
        return
    roles = _roles(prometheus, run, {place: host for machines in windows.values() for place, host in machines.items()})

    def rate(name: str) -> str:
        rates = (
            f"rate(node_disk_{name}{{{_REAL},instance=~{text('|'.join(map(re.escape, instances)))}}}[{window}])"
            for window, instances in windows.items()
        )
        return f"sum by (instance, device) ({' or '.join(rates)})"

    busy = prometheus.over_run(f"({rate('reads_completed_total')} + {rate('writes_completed_total')}) > 0")
    chosen = _chosen(busy, ("instance", "device"), roles)
    over = " or ".join(window.removesuffix("s") for window in windows)
    source = f"From node_exporter's counters, rates over {over} s."
    draw = partial(_plots, prometheus, run, ("instance", "device"), chosen, roles)
    yield from draw(
        "Disk operations",
        axes.OPERATIONS,
        f"Requests completed a second, by disk and direction. {source}",
        {op: rate(f"{op}s_completed_total") for op in ("read", "write")},
    )
    yield from draw(
        "Disk await",
        axes.LATENCY,
        "Mean time of a request, including the queue: total seconds divided by the number of requests; blank without "
        f"requests. {source}",
        {
            op: f"{rate(f'{op}_time_seconds_total')} / ({rate(f'{op}s_completed_total')} > 0)"
            for op in ("read", "write")
        },
    )
    yield from draw(
        "Disk utilisation",
        axes.RATIO,
        f"Share of the time with any request in flight: at 100 %, an SSD may still have capacity. {source}",
        {"": rate("io_time_seconds_total")},
    )


def _vdisks(prometheus: PrometheusOfRun, run: View) -> Iterator[Plot]:
    names = {(one.labels["cvm"], one.labels["vdisk"]): one.labels for one in prometheus.over_run("nutanix_vdisk_info")}
    roles = {vdisk: labels["role"] for vdisk, labels in names.items() if labels.get("role")}
    busy = prometheus.over_run(f"sum by (cvm, vdisk) ({_FRONTEND.format('ops_per_second')}) > 0")
    vms = {worker.runfile.virtual_machine for worker in run.timelines}
    vms |= _named(prometheus, run, "benchwatch_run_vm_info{{{}}}", "vm")
    own = {vdisk for vdisk, labels in names.items() if labels.get("vm") in vms - {""}}
    own = own or {vdisk for vdisk in roles if not names[vdisk].get("vm")}
    busy = [one for one in busy if (one.labels["cvm"], one.labels["vdisk"]) in own]
    chosen = _chosen(busy, ("cvm", "vdisk"), roles)
    draw = partial(_plots, prometheus, run, ("cvm", "vdisk"), chosen, roles)
    yield from draw(
        "Front-end latency of vdisks",
        axes.LATENCY,
        "Average latency as the virtual machine sees it, from the CVM's pages.",
        {"": _FRONTEND.format("latency_seconds")},
    )
    yield from draw(
        "Front-end operations of vdisks",
        axes.OPERATIONS,
        "As the virtual machine sees them, from the CVM's pages.",
        {"": _FRONTEND.format("ops_per_second")},
    )
    yield from draw(
        "Writes absorbed by the oplog",
        axes.RATIO,
        "Share of the data written that went to the oplog, not to the extent store. From the vdisks' pages.",
        {"": _OPLOG},
    )
    yield from draw(
        "Random share of the operations",
        axes.RATIO,
        "As the CVM categorises them, over about 3 s. From the vdisks' pages.",
        {"": "max by (cvm, vdisk, op) (nutanix_vdisk_random_ratio)"},
    )


def _named(prometheus: PrometheusOfRun, run: View, series: str, label: str) -> set[str]:
    """The values of a label of the run's series."""
    return {one.labels.get(label, "") for one in prometheus.over_run(series.format(f"run={text(run.run)}"))}


def _roles(prometheus: PrometheusOfRun, run: View, machines: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Roles by instance and device: from the run's workers, otherwise from the exporter.

    `machines` are hosts by instance. A role of no host, as in a run's file, applies to all of them.
    """
    recorded = {
        (worker.runfile.server, device): role
        for worker in run.timelines
        for device, role in worker.runfile.roles.items()
    }
    if not recorded:
        found = prometheus.over_run(f"benchwatch_run_disk_info{{run={text(run.run)}}} or benchwatch_disk_info")
        recorded = {(one.labels.get("host", ""), one.labels["device"]): one.labels["role"] for one in found}
    return {
        (instance, device): role
        for instance, host in machines.items()
        for (where, device), role in recorded.items()
        if where == host or not (where and host)
    }


def _chosen(
    busy: Sequence[Samples], names: tuple[str, str], roles: Mapping[tuple[str, str], str]
) -> list[tuple[str, str]]:
    """The devices or vdisks with a role, the log first; without roles, the busiest."""
    most = sorted(busy, key=lambda one: float(np.sum(one.values)), reverse=True)
    found = dict.fromkeys(_identity(one, names) for one in most)
    with_role = sorted((role not in _LOG, role, one) for one, role in roles.items() if one in found)
    return [one for *_, one in with_role][:_MOST] or list(found)[:_MOST]


def _identity(one: Samples, labels: tuple[str, str]) -> tuple[str, str]:
    return one.labels[labels[0]], one.labels[labels[1]]


def _plots(
    prometheus: PrometheusOfRun,
    run: View,
    labels: tuple[str, str],
    chosen: Sequence[tuple[str, str]],
    roles: Mapping[tuple[str, str], str],
    title: str,
    unit: Axis,
    caption: str,
    queries: Mapping[str, str],
) -> Iterator[Plot]:
    """The plot of the chosen disks or vdisks; none without values. `queries` are by operation, if no label says it."""
    found: list[tuple[tuple[str, str], str, Line]] = []
    for what, query in queries.items():
        for one in prometheus.over_run(query):
            # node_exporter counts whole milliseconds: shorter times cannot be measured
            known = one.values > 0 if unit.log else np.isfinite(one.values)
            if (thing := _identity(one, labels)) in chosen and known.any():
                line = Line(one.times[known] - run.start, one.values[known])
                found.append((thing, what or one.labels.get("op", ""), line))
    if not found:
        return
    found.sort(key=lambda item: chosen.index(item[0]))
    things = list(dict.fromkeys(thing for thing, *_ in found))
    kinds = {thing: "log" if roles[thing] in _LOG else "data" for thing in things if thing in roles}
    apart = len(set(kinds.values())) == len(things)
    several = len({place for place, _ in things}) > 1
    first = min(operation for _, operation, _ in found)
    traces = []
    for thing, operation, line in found:
        place, name = thing
        what = f"{roles[thing]} {'vdisk' if labels[1] == 'vdisk' else 'disk'}" if thing in roles else ""
        key = " ".join(part for part in (what, name, f"on {place}" if several else "", operation) if part)
        if apart:  # a role of its own has a colour of its own
            traces.append(Trace(line, key, operation, theme.OF_ROLE[kinds[thing], operation]))
        else:
            colour = theme.SERIES[things.index(thing) % len(theme.SERIES)]
            traces.append(Trace(line, key, operation, colour, operation != first))
    yield time_plot(title, traces, run.length, unit, Marks(run.warmup), caption)
