"""What was measured of a run in a window of time, and what a mean operation waits for in it; None: not measured.

Stages are seconds of a mean operation and add up to its latency. Time in the database comes from its counters; samples
of its sessions only split it. Devices count by their await, weighted with what one operation asks of them.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ..metrics.prometheus import Seen
from .seen import LOG_ROLES, RunFacts, SeenRun

OUTSIDE, WORK, LOCK, OTHER = "client and network", "database at work", "lock", "other waits of the database"
LOG, DATA, PATH, VDISK = "log device", "data device", "path to the vdisk", "vdisk"
UNEXPLAINED = "unexplained"
STAGES = (OUTSIDE, WORK, LOCK, OTHER, LOG, DATA, PATH, VDISK, UNEXPLAINED)
_CPU, _SESSIONS = "node_cpu_seconds_total", "pg_sessions_active"
_DISK = {"read": ("reads_completed", "read_bytes"), "write": ("writes_completed", "written_bytes")}
"""Counters of node_exporter by operation."""
_FEW, _COMMITS = 1.5, 64
"""Sessions that wait at once from which on samples count more than counters, which grow at a statement's end; commits
that one write of the log may serve.
"""
_NEXT_TO_NOTHING, _UNREPORTED = 0.05, 0.3
"""Parts of the usual: of the rate, and of the operations under way (Little's law), below which most have not ended."""


class DeviceWork(NamedTuple):
    """One kind of operation of a device: how many a second; the wait (seconds) and the bytes of a mean one."""

    rate: float = 0.0
    wait: float | None = None
    size: float = 0.0


class Processors(NamedTuple):
    """Those of a machine: the parts of their time in which they work and that the hypervisor takes, the processes that
    wait for each of them, and the part of the time in which processes wait for one.
    """

    busy: float | None
    steal: float
    queue: float | None
    pressure: float | None


@dataclass(frozen=True)
class TimeWindow:
    """A time of a run, Unix seconds."""

    seen: Seen
    facts: RunFacts
    begin: float
    end: float
    _processors: dict[str, Processors] = field(default_factory=dict, init=False)

    def rate(self, name: str, **labels: str) -> float | None:
        """Of a counter, by second: the sum of its series with these labels."""
        found = [rate for one in self.seen.of(name, **labels) if (rate := one.rate(self.begin, self.end)) is not None]
        return sum(found) if found else None

    def mean(self, name: str, **labels: str) -> float | None:
        """Of a gauge: the highest of its series with these labels."""
        means = (one.mean(self.begin, self.end) for one in self.seen.of(name, **labels))
        return max((mean for mean in means if mean is not None), default=None)

    def highest(self, name: str, **labels: str) -> float:
        """Sample of a gauge; 0 without any."""
        found = (one.within(self.begin, self.end) for one in self.seen.of(name, **labels))
        return max((float(values.max()) for values in found if len(values)), default=0.0)

    def of_host(self, name: str, host: str, **labels: str) -> Iterator[tuple[Mapping[str, str], float]]:
        """The means of a gauge of processes or of PostgreSQL, of which a series is 0 where it is absent; by labels."""
        always = _SESSIONS if name.startswith("pg_") else _CPU
        scrapes = max((len(one.within(self.begin, self.end)) for one in self.seen.of(always, host=host)), default=0)
        for one in self.seen.of(name, host=host, **labels):
            if len(values := one.within(self.begin, self.end)):
                yield one.labels, float(values.sum()) / max(scrapes, len(values))

    def means(self, name: str, host: str, label: str) -> dict[str, float]:
        """The same by the value of a label."""
        return {labels.get(label, ""): mean for labels, mean in self.of_host(name, host)}

    def processors(self, host: str) -> Processors:
        """How a machine's processors are used."""
        if host not in self._processors:
            spent: dict[str, list[float]] = {"idle": [], "iowait": [], "steal": []}
            for one in self.seen.of(_CPU, host=host):
                if (mode := one.labels.get("mode", "")) in spent:
                    spent[mode].append(one.rate(self.begin, self.end) or 0.0)
            idle, iowait, steal = map(sum, spent.values())
            busy = queue = None
            if number := len(spent["idle"]):
                busy = min(1.0, max(0.0, 1 - (idle + iowait) / number))
                running = self.mean("node_procs_running", host=host)
                queue = None if running is None else max(0.0, running / number - 1)
            pressure = self.rate("node_pressure_cpu_waiting_seconds_total", host=host)
            self._processors[host] = Processors(busy, steal / max(number, 1), queue, pressure)
        return self._processors[host]

    def silent(self, job: str, host: str) -> float:
        """The part of the scrapes of a target without an answer; 0 where it is not known."""
        answered = (one.mean(self.begin, self.end) for one in self.seen.of("up", job=job, host=host))
        return 1 - min((mean for mean in answered if mean is not None), default=1.0)

    def disk(self, device: str, op: str) -> DeviceWork:
        """An operation of a device of the server; of none but reads and writes is anything known."""
        completed, moved = _DISK.get(op, (op, op))
        where = {"host": self.facts.server, "device": device}
        done = self.rate(f"node_disk_{completed}_total", **where)
        if done is not None and done >= 1:
            spent = self.rate(f"node_disk_{op}_time_seconds_total", **where) or 0.0
            return DeviceWork(done, spent / done, (self.rate(f"node_disk_{moved}_total", **where) or 0.0) / done)
        stuck = done is not None and (self.mean("node_disk_io_now", **where) or 0.0) >= 1
        return DeviceWork(done or 0.0, self.end - self.begin if stuck else None)

    @cached_property
    def active(self) -> float | None:
        """Sessions of the database that execute statements, by its counters."""
        return self.rate("pg_sessions_time_active_seconds_total", host=self.facts.server)

    @cached_property
    def sessions(self) -> Mapping[str, float]:
        """The sessions of the database by what they do; I/O and internal locks of the log are waits for its device."""
        found = dict.fromkeys((WORK, LOCK, LOG, DATA, OTHER), 0.0)
        host = self.facts.server
        for one in self.seen.of(_SESSIONS, host=host):
            kind = one.labels.get("wait_event_type", "")
            if kind != "Client":
                stage = {"CPU": WORK, "Lock": LOCK, "IO": DATA}.get(kind, OTHER)
                found[stage] += one.mean(self.begin, self.end) or 0.0
        for labels, waiting in self.of_host("pg_waiting_processes", host, backend_type="client backend"):
            if labels.get("wait_event", "").lower().startswith("wal"):
                stage = DATA if labels.get("wait_event_type") == "IO" else OTHER
                moved = min(waiting, found[stage])
                found[stage] -= moved
                found[LOG] += moved
        return found

    @cached_property
    def vdisks(self) -> Mapping[str, "PolledVdisk"]:
        """Those of the machine with a poll in the window, by name; a page covers the 3 s before its poll."""
        found = {}
        for info in self.seen.of("nutanix_vdisk_info", vm=self.facts.machine) if self.facts.machine else ():
            cvm, name = info.labels.get("cvm", ""), info.labels.get("vdisk", "")
            known = self.seen.of("nutanix_cvm_last_success_timestamp_seconds", cvm=cvm)
            if polls := [poll for one in known for poll in one.values if self.begin + 1 <= poll <= self.end]:
                role = "log" if info.labels.get("role") in LOG_ROLES else "data"
                found[name] = PolledVdisk(name, cvm, role, TimeWindow(self.seen, self.facts, min(polls), self.end))
        return found


class PolledVdisk(NamedTuple):
    """A vdisk (role: log or data), in the part of a window that its polls cover."""

    name: str
    cvm: str
    role: str
    window: TimeWindow

    def mean(self, name: str, default: float = 0.0, **labels: str) -> float:
        """The mean of a family of vdisks."""
        mean = self.window.mean(f"nutanix_vdisk_{name}", cvm=self.cvm, vdisk=self.name, **labels)
        return default if mean is None else mean

    def latency(self, op: str) -> float:
        """Of the front end, seconds; 0: not known."""
        return self.mean("frontend_latency_seconds", op=op)


def nothing(facts: RunFacts) -> TimeWindow:
    """A window of a run in which nothing was measured."""
    return TimeWindow(Seen(), facts, 0.0, 0.0)


class Waits(NamedTuple):
    """A mean operation in a window of a run: seconds by stage, of which the sum is its latency; operations a second.
    While next to nothing completes (stuck), the latency is how long that has lasted.
    """

    window: TimeWindow
    latency: float
    rate: float
    stages: Mapping[str, float]
    stuck: bool = False


def waits(of: SeenRun, begin: float, end: float, usual: Waits | None = None) -> Waits | None:
    """In the window from `begin` to `end`; None if there is no report in it. `usual` is for a window of a slow time."""
    done_of: dict[str, float] = {}
    spent = 0.0
    for part in of.parts:
        time, number = part.window(begin, end)
        spent += time
        done_of[part.op] = done_of.get(part.op, 0.0) + number
    done, seconds = sum(done_of.values()), max(math.ceil(end) - int(begin), 1)
    rate = done / seconds
    stuck = False
    if usual is not None:
        less = spent < _UNREPORTED * usual.latency * usual.rate * seconds
        stuck = less and rate < _NEXT_TO_NOTHING * usual.rate
    if not done and not stuck:
        return None
    latency = end - begin if stuck else max(spent / done, 0.0)
    window = TimeWindow(of.seen, of.facts, begin, end)
    if of.facts.database and window.active is not None:
        stages = _of_database(window, latency, rate, stuck)
    else:
        stages = _of_devices(window, done_of, rate, usual)
        known = sum(stages.values())
        if known > latency > 0:
            stages = {stage: seconds * latency / known for stage, seconds in stages.items()}
        stages[UNEXPLAINED] = max(0.0, latency - known)
    return Waits(window, latency, rate, {**dict.fromkeys(STAGES, 0.0), **stages}, stuck)


def _of_database(window: TimeWindow, latency: float, rate: float, stuck: bool) -> dict[str, float]:
    """The stages of a transaction where the database is seen."""
    waiting = sum(window.sessions.values())
    if stuck:
        inside = latency * min(1.0, waiting / max(window.facts.at_once, waiting, 1.0))
    else:
        active = max(window.active or 0.0, waiting if waiting >= _FEW else 0.0)
        inside = min(latency, active / max(rate, 1e-9))
    shares = {stage: value / waiting for stage, value in window.sessions.items()} if waiting else {WORK: 1.0}
    return {OUTSIDE: latency - inside, **{stage: inside * share for stage, share in shares.items()}}


def _of_devices(window: TimeWindow, done_of: Mapping[str, float], rate: float, usual: Waits | None) -> dict[str, float]:
    """The stages where only devices are seen, of a mean one of the operations done, which are counted by kind."""
    stages, facts = {LOG: 0.0, DATA: 0.0}, window.facts
    if facts.database:
        writes = [window.disk(device, "write") for device in facts.of_role("log") or facts.devices]
        each_takes = [disk.wait for disk in writes if disk.wait is not None]
        if each_takes and sum(disk.rate for disk in writes) * _COMMITS >= rate:
            stages[LOG] = max(each_takes)
        for device in facts.devices:
            reads = window.disk(device, "read")
            each = reads.rate / max(rate, 1e-9)
            if usual and usual.rate:
                each = min(each, max(usual.window.disk(device, "read").rate / usual.rate, 0.01))
            stages[DATA] += each * (reads.wait or 0.0)
    elif facts.roles and not facts.roles.unit.in_bytes:
        for op, number in done_of.items():
            found = {device: wait for device in facts.devices if (wait := window.disk(device, op).wait) is not None}
            share = number / max(sum(done_of.values()), 1e-9) / max(1, len(found))
            for device, wait in found.items():
                stages[LOG if facts.devices[device] == "log" else DATA] += share * wait
    return stages


def below(of: Waits) -> Waits:
    """The waits for devices split into those for their vdisks and for the path to them, where both are known."""
    stages, window = dict(of.stages), of.window
    for stage, role in ((LOG, "log"), (DATA, "data")):
        for op in ("write",) if stage == LOG else ("read", "write"):
            inside = max((one.latency(op) for one in window.vdisks.values() if one.role == role), default=0.0)
            waited = max((window.disk(one, op).wait or 0.0 for one in window.facts.of_role(role)), default=0.0)
            if inside and waited:
                part = min(1.0, inside / waited)
                stages[VDISK] += stages[stage] * part
                stages[PATH] += stages[stage] * (1 - part)
                stages[stage] = 0.0
                break
    return of._replace(stages=stages)
