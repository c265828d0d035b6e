"""Figures of a run's machines, devices, database and vdisks in one window of time; None: not measured."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from .seen import LOG_ROLES, RunFacts, Seen

WORK, LOCK, OTHER = "database at work", "lock", "other waits of the database"
LOG, DATA = "log device", "data device"
"""What a session of a database does or waits for."""
_CPU, _SESSIONS = "node_cpu_seconds_total", "pg_sessions_active"
_DISK = {"read": ("reads_completed", "read_bytes"), "write": ("writes_completed", "written_bytes")}
"""Counters of node_exporter by operation."""


class DeviceWork(NamedTuple):
    """One kind of operation of a device."""

    rate: float = 0.0
    """Operations a second."""
    wait: float | None = None
    """Of a mean operation, seconds."""
    size: float = 0.0
    """Of a mean operation, bytes."""


class Processors(NamedTuple):
    """Those of a machine."""

    busy: float | None = None
    """The part of their time in which they work."""
    steal: float = 0.0
    """The part that the hypervisor takes."""
    queue: float | None = None
    """Processes that wait for each of them."""
    pressure: float | None = None
    """The part of the time in which processes wait for one."""


@dataclass(frozen=True)
class TimeWindow:
    """A time of a run, Unix seconds."""

    seen: Seen
    facts: RunFacts
    begin: float
    end: float

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
            self._processors[host] = self._used(host)
        return self._processors[host]

    @cached_property
    def _processors(self) -> dict[str, Processors]:
        return {}

    def _used(self, host: str) -> Processors:
        pressure = self.rate("node_pressure_cpu_waiting_seconds_total", host=host)
        number, spent = 0, {"idle": 0.0, "iowait": 0.0, "steal": 0.0}
        for one in self.seen.of(_CPU, host=host):
            mode = one.labels.get("mode", "")
            number += mode == "idle"
            if mode in spent:
                spent[mode] += one.rate(self.begin, self.end) or 0.0
        if not number:
            return Processors(pressure=pressure)
        running = self.mean("node_procs_running", host=host)
        queue = None if running is None else max(0.0, running / number - 1)
        busy = 1 - (spent["idle"] + spent["iowait"]) / number
        return Processors(min(1.0, max(0.0, busy)), spent["steal"] / number, queue, pressure)

    def silent(self, job: str, host: str) -> float:
        """The part of the scrapes of a target without an answer; 0 where it is not known."""
        answered = (one.mean(self.begin, self.end) for one in self.seen.of("up", job=job, host=host))
        return 1 - min((mean for mean in answered if mean is not None), default=1.0)

    def disk(self, device: str, op: str) -> DeviceWork:
        """An operation of a device of the server."""
        if op not in _DISK:
            return DeviceWork()
        where = {"host": self.facts.server, "device": device}
        completed, moved = _DISK[op]
        done = self.rate(f"node_disk_{completed}_total", **where)
        if done is None:
            return DeviceWork()
        if done >= 1:
            spent, size = (
                self.rate(f"node_disk_{what}_total", **where) or 0.0 for what in (f"{op}_time_seconds", moved)
            )
            return DeviceWork(done, spent / done, size / done)
        stuck = (self.mean("node_disk_io_now", **where) or 0.0) >= 1
        return DeviceWork(done, self.end - self.begin if stuck else None)

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
            known = [one.values for one in self.seen.of("nutanix_cvm_last_success_timestamp_seconds", cvm=cvm)]
            polls = [poll for values in known for poll in values if self.begin + 1 <= poll <= self.end]
            if polls:
                role = "log" if info.labels.get("role") in LOG_ROLES else "data"
                polled = TimeWindow(self.seen, self.facts, min(polls), self.end)
                found[name] = PolledVdisk(name, cvm, role, polled)
        return found


class PolledVdisk(NamedTuple):
    """A vdisk, in the part of a window that its polls cover."""

    name: str
    cvm: str
    role: str
    """log or data."""
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
