"""What a Prometheus knows about the machines of runs: disks from node_exporter, vdisks from a CVM's pages.

Rates of counters look back over a few scrapes. The await of a disk is the time of all requests divided by their number;
without requests, there is none. The CVM's numbers are gauges of its own trailing window and are shown unchanged; a CVM
that several exporters read counts once.

The sections show the machines and the virtual machines that the run used, by the names in its records or in Prometheus
(label `host` of node_exporter, `vm` of the mapping). Where the run or all targets of node_exporter lack a host, all
machines are shown; where the mapping gives a vdisk a role without a VM, the vdisk is the run's.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import numpy as np

from ..metrics.prometheus import TIMEOUT, Prometheus, PrometheusError, Samples, text
from . import axes, theme
from .axes import Axis
from .plot import Marks, Plot
from .run_view import View
from .section import Section
from .slowness import slowness, why_slow
from .time_lines import Line
from .traces import Trace, time_plot

_POINTS = 720
"""Steps of a line."""
_SCRAPES = 4
"""Scrapes that the window of a rate covers, so that it holds two at any phase; Grafana does the same."""
_REAL = 'device!~"(loop|ram|zram|sr|fd|dm-).*"'
_LOG = ("log", "wal")
"""Roles of disks with a log; any other is data."""
_MOST = 6
"""Maximum of disks or vdisks on a plot: those with a role, otherwise the busiest."""
_DESTINATION = "nutanix_vdisk_write_destination_ratio"
_FRONTEND = "max by (cvm, vdisk, op) (nutanix_vdisk_frontend_{})"
_VDISK_PLOTS: Sequence[tuple[str, Axis, str, str]] = (
    (
        "Front-end latency of vdisks",
        axes.LATENCY,
        "Average latency as the virtual machine sees it, from the CVM's pages.",
        _FRONTEND.format("latency_seconds"),
    ),
    (
        "Front-end operations of vdisks",
        axes.OPERATIONS,
        "As the virtual machine sees them, from the CVM's pages.",
        _FRONTEND.format("ops_per_second"),
    ),
    (
        "Writes absorbed by the oplog",
        axes.RATIO,
        "Share of the data written that went to the oplog, not to the extent store. From the vdisks' pages.",
        # The page leaves cells without a value empty: 0 if other cells of the vdisk are filled.
        f'max by (cvm, vdisk) ({_DESTINATION}{{destination="oplog"}}) or 0 * max by (cvm, vdisk) ({_DESTINATION})',
    ),
    (
        "Random share of the operations",
        axes.RATIO,
        "As the CVM categorises them, over about 3 s. From the vdisks' pages.",
        "max by (cvm, vdisk, op) (nutanix_vdisk_random_ratio)",
    ),
)
_Thing = tuple[str, str]
"""A disk by instance and device, or a vdisk by CVM and name."""


def reasons(url: str, runs: Sequence[View], timeout: float = TIMEOUT) -> Iterator[Section]:
    """Why each run was slow; nothing of a run that Prometheus did not watch, or if it does not answer."""
    prometheus = Prometheus(url, timeout)
    for run in (run for run in runs if run.length):
        with suppress(PrometheusError):  # which the sections below name
            title = f"Why {run.name if len(runs) > 1 else 'it'} was slow"
            yield from why_slow(prometheus, slowness(prometheus, run), title)


def sections(url: str, runs: Sequence[View], timeout: float = TIMEOUT) -> Iterator[Section]:
    """The disks and vdisks of each run, or why there are none."""
    for run in runs:
        whose = f" during {run.name}" if len(runs) > 1 else ""
        if not run.length:
            yield Section(f"Disks{whose}", notes=[f"Prometheus was not asked: {run.name} does not say when it began."])
            continue
        machines = _Machines(Prometheus(url, timeout), run)
        try:
            hosts = {worker.runfile.server for worker in run.timelines}
            hosts |= machines.named('benchwatch_run_host_info{{{},role="server"}}', "host")
            hosts.discard("")
            disks = list(machines.disks(hosts))
            vdisks = list(machines.vdisks())
        except PrometheusError as error:
            yield Section(f"Disks{whose}", notes=[f"{error}."])
            return
        none = "Prometheus has no disk of node_exporter with any I/O in this time"
        none += f" on {', '.join(sorted(hosts))} (label host of its targets)." if hosts else "."
        yield Section(f"Disks{whose}", disks, notes=run.doubts if disks else [none, *run.doubts])
        if vdisks:
            yield Section(f"Nutanix vdisks{whose}", vdisks, notes=run.doubts)


class _Machines:
    """What a Prometheus knows about the whole time of one run, in as many steps as a plot is wide."""

    def __init__(self, prometheus: Prometheus, run: View) -> None:
        self._prometheus = prometheus
        self._run = run
        self._end = run.start + run.length
        self._step = float(max(1, math.ceil(run.length / _POINTS)))

    def _over_run(self, query: str) -> list[Samples]:
        return self._prometheus.range(query, self._run.start, self._end, self._step)

    def named(self, series: str, label: str) -> set[str]:
        """The values of a label of the run's series. Raises PrometheusError, as all of these."""
        return {one.labels.get(label, "") for one in self._over_run(series.format(f"run={text(self._run.run)}"))}

    def disks(self, hosts: set[str]) -> Iterator[Plot]:
        """Those of these hosts; of all if there are none."""
        windows = self._windows()
        if hosts and any(host for machines in windows.values() for host in machines.values()):
            windows = {
                window: {instance: host for instance, host in machines.items() if host in hosts}
                for window, machines in windows.items()
            }
            windows = {window: machines for window, machines in windows.items() if machines}
        if not windows:
            return

        def rate(name: str) -> str:
            rates = (
                f"rate(node_disk_{name}{{{_REAL},instance=~{text('|'.join(map(re.escape, instances)))}}}[{window}s])"
                for window, instances in windows.items()
            )
            return f"sum by (instance, device) ({' or '.join(rates)})"

        done = {op: rate(f"{op}s_completed_total") for op in ("read", "write")}
        waits = {op: f"{rate(f'{op}_time_seconds_total')} / ({done[op]} > 0)" for op in done}
        roles = self._roles({place: host for machines in windows.values() for place, host in machines.items()})
        labels = ("instance", "device")
        chosen = _chosen(self._over_run(f"({done['read']} + {done['write']}) > 0"), labels, roles)
        source = f"From node_exporter's counters, rates over {' or '.join(map(str, windows))} s."
        for title, unit, caption, queries in (
            (
                "Disk operations",
                axes.OPERATIONS,
                "Requests completed a second, by disk and direction.",
                done,
            ),
            (
                "Disk await",
                axes.LATENCY,
                "Mean time of a request, including the queue: total seconds divided by the number of requests; blank "
                "without requests.",
                waits,
            ),
            (
                "Disk utilisation",
                axes.RATIO,
                "Share of the time with any request in flight: at 100 %, an SSD may still have capacity.",
                {"": rate("io_time_seconds_total")},
            ),
        ):
            yield from self._plot(title, unit, f"{caption} {source}", queries, labels, chosen, roles)

    def vdisks(self) -> Iterator[Plot]:
        """Those of the run's virtual machines."""
        labels = ("cvm", "vdisk")
        names = {_thing(one, labels): one.labels for one in self._over_run("nutanix_vdisk_info")}
        roles = {vdisk: info["role"] for vdisk, info in names.items() if info.get("role")}
        busy = self._over_run(f"sum by (cvm, vdisk) ({_FRONTEND.format('ops_per_second')}) > 0")
        vms = {worker.runfile.virtual_machine for worker in self._run.timelines}
        vms |= self.named("benchwatch_run_vm_info{{{}}}", "vm")
        own = {vdisk for vdisk, info in names.items() if info.get("vm") in vms - {""}}
        own = own or {vdisk for vdisk in roles if not names[vdisk].get("vm")}
        chosen = _chosen([one for one in busy if _thing(one, labels) in own], labels, roles)
        for title, unit, caption, query in _VDISK_PLOTS:
            yield from self._plot(title, unit, caption, {"": query}, labels, chosen, roles)

    def _windows(self) -> dict[int, dict[str, str]]:
        """The windows of rates of disks, seconds, each with its instances and their hosts.

        A window covers at least the step, and several scrapes at the rate of the run's best minute. Short windows come
        first.
        """
        span = max(60, math.ceil(self._run.length))
        counted = "max by (instance, host) (count_over_time(node_disk_io_time_seconds_total[1m]))"
        found: dict[int, dict[str, str]] = {}
        for labels, scrapes in self._prometheus.at(f"max_over_time(({counted})[{span}s:30s])", self._end):
            seconds = int(max(self._step, math.ceil(_SCRAPES * 60 / scrapes)))
            found.setdefault(seconds, {})[labels.get("instance", "")] = labels.get("host", "")
        # Prometheus returns series in any order.
        return {seconds: dict(sorted(instances.items())) for seconds, instances in sorted(found.items())}

    def _roles(self, machines: Mapping[str, str]) -> dict[_Thing, str]:
        """Roles by instance and device: from the run's workers, otherwise from the exporter.

        `machines` are hosts by instance. A role of no host, as in a run's file, applies to all of them.
        """
        recorded = {
            (worker.runfile.server, device): role
            for worker in self._run.timelines
            for device, role in worker.runfile.roles.items()
        }
        if not recorded:
            found = self._over_run(f"benchwatch_run_disk_info{{run={text(self._run.run)}}} or benchwatch_disk_info")
            recorded = {(one.labels.get("host", ""), one.labels["device"]): one.labels["role"] for one in found}
        return {
            (instance, device): role
            for instance, host in machines.items()
            for (where, device), role in recorded.items()
            if where == host or not (where and host)
        }

    def _plot(
        self,
        title: str,
        unit: Axis,
        caption: str,
        queries: Mapping[str, str],
        labels: tuple[str, str],
        chosen: Sequence[_Thing],
        roles: Mapping[_Thing, str],
    ) -> Iterator[Plot]:
        """The plot of the chosen things; none without values. `queries` are by operation, if no label says it."""
        found: list[tuple[_Thing, str, Line]] = []
        for op, query in queries.items():
            for one in self._over_run(query):
                # node_exporter counts whole milliseconds: shorter times cannot be measured
                known = one.values > 0 if unit.log else np.isfinite(one.values)
                if (thing := _thing(one, labels)) in chosen and known.any():
                    line = Line(one.times[known] - self._run.start, one.values[known])
                    found.append((thing, op or one.labels.get("op", ""), line))
        if not found:
            return
        found.sort(key=lambda item: chosen.index(item[0]))
        things = list(dict.fromkeys(thing for thing, *_ in found))
        kinds = {thing: "log" if roles[thing] in _LOG else "data" for thing in things if thing in roles}
        apart = len(set(kinds.values())) == len(things)
        several = len({place for place, _ in things}) > 1
        first = min(op for _, op, _ in found)
        traces = []
        for thing, op, line in found:
            place, name = thing
            what = f"{roles[thing]} {'vdisk' if labels[1] == 'vdisk' else 'disk'}" if thing in roles else ""
            key = " ".join(part for part in (what, name, f"on {place}" if several else "", op) if part)
            if apart:  # a role of its own has a colour of its own
                traces.append(Trace(line, key, op, theme.OF_ROLE[kinds[thing], op]))
            else:
                colour = theme.SERIES[things.index(thing) % len(theme.SERIES)]
                traces.append(Trace(line, key, op, colour, op != first))
        yield time_plot(title, traces, self._run.length, unit, Marks(self._run.warmup), caption)


def _chosen(busy: Sequence[Samples], labels: tuple[str, str], roles: Mapping[_Thing, str]) -> list[_Thing]:
    """The things with a role, the log first; without roles, the busiest."""
    most = sorted(busy, key=lambda one: float(np.sum(one.values)), reverse=True)
    found = dict.fromkeys(_thing(one, labels) for one in most)
    with_role = sorted((role not in _LOG, role, one) for one, role in roles.items() if one in found)
    return ([one for *_, one in with_role] or list(found))[:_MOST]


def _thing(one: Samples, labels: tuple[str, str]) -> _Thing:
    return one.labels[labels[0]], one.labels[labels[1]]
