"""Figures of a run's machines, devices, database and vdisks in one window of time; None: not measured."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .run_facts import LOG_ROLES, RunFacts
from .seen import Array, Samples, Seen

WORK, LOCK, OTHER = "database at work", "lock", "other waits of the database"
LOG, DATA = "log device", "data device"
"""What a session of a database does or waits for."""
PROCESSORS, DISKS = "benchwatch_process_processors", "benchwatch_process_disk_bytes_per_second"
"""What processes use."""
_CPU = "node_cpu_seconds_total"
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


class PolledVdisk(NamedTuple):
    """A vdisk, in the part of a window that its polls cover."""

    name: str
    cvm: str
    role: str
    """log or data."""
    seen: Seen
    begin: float
    end: float

    def mean(self, name: str, **labels: str) -> float | None:
        """The highest mean of a family of vdisks."""
        where = {"cvm": self.cvm, "vdisk": self.name, **labels}
        return self.seen.means(f"nutanix_vdisk_{name}", self.begin, self.end, **where)

    def of_cvm(self, name: str, **labels: str) -> float | None:
        """The same of a family of its CVM."""
        return self.seen.means(f"nutanix_{name}", self.begin, self.end, cvm=self.cvm, **labels)

    def operations(self, op: str) -> float:
        """A second."""
        return self.mean("frontend_ops_per_second", op=op) or 0.0

    def latency(self, op: str) -> float:
        """Of the front end, seconds; 0: not known."""
        return self.mean("frontend_latency_seconds", op=op) or 0.0

    @property
    def into_oplog(self) -> float | None:
        """The part of the data written that goes there."""
        return self.mean("write_destination_ratio", destination="oplog")

    @property
    def queued(self) -> float:
        """Operations that wait in the CVM."""
        queues = ("qos", "oplog_qos")
        return max(self.of_cvm("stargate_queue_operations", queue=one, state="queued") or 0.0 for one in queues)

    def read_from(self, word: str) -> float:
        """The part of the data read that comes from sources with this word in their name."""
        sources = self.seen.of("nutanix_vdisk_read_source_ratio", cvm=self.cvm, vdisk=self.name)
        return sum(one.mean(self.begin, self.end) or 0.0 for one in sources if word in one.labels.get("source", ""))


@dataclass(frozen=True)
class TimeWindow:
    """A time of a run, Unix seconds."""

    seen: Seen
    facts: RunFacts
    begin: float
    end: float

    def rate(self, name: str, **labels: str) -> float | None:
        """Of a counter, by second: the sum of its series with these labels."""
        return self.seen.rates(name, self.begin, self.end, **labels)

    def mean(self, name: str, **labels: str) -> float | None:
        """Of a gauge: the highest of its series with these labels."""
        return self.seen.means(name, self.begin, self.end, **labels)

    def of_database(self, name: str, **labels: str) -> float:
        """The mean of a gauge of the server's PostgreSQL; 0 where it is not measured."""
        return self.mean(name, host=self.facts.server, **labels) or 0.0

    def busy(self, host: str) -> float | None:
        """The part of a machine's processors that work."""
        idle = [self.rate(_CPU, host=host, mode=mode) or 0.0 for mode in ("idle", "iowait")]
        number = self._processors(host)
        return min(1.0, max(0.0, 1 - sum(idle) / number)) if number else None

    def steal(self, host: str) -> float | None:
        """The part of a machine's processors that its hypervisor takes."""
        stolen, number = self.rate(_CPU, host=host, mode="steal"), self._processors(host)
        return stolen / number if number and stolen is not None else None

    def queue(self, host: str) -> float | None:
        """Processes that wait for each processor of a machine."""
        running, number = self.mean("node_procs_running", host=host), self._processors(host)
        return max(0.0, running / number - 1) if number and running is not None else None

    def pressure(self, host: str) -> float | None:
        """The part of the time in which processes of a machine wait for a processor."""
        return self.rate("node_pressure_cpu_waiting_seconds_total", host=host)

    def swap(self, host: str) -> float:
        """Pages a second that are swapped in or out."""
        return sum(self.rate(f"node_vmstat_pswp{way}", host=host) or 0.0 for way in ("in", "out"))

    def _processors(self, host: str) -> int:
        return sum(1 for _ in self.seen.of(_CPU, host=host, mode="idle"))

    def silent(self, job: str, host: str) -> float:
        """The part of the scrapes of a target without an answer; 0 where it is not known."""
        answered = [one.mean(self.begin, self.end) for one in self.seen.of("up", job=job, host=host)]
        return 1 - min((mean for mean in answered if mean is not None), default=1.0)

    def processes(self, use: str, host: str) -> dict[str, float]:
        """What the processes of a machine use of something, by name."""
        scrapes = self._scrapes(_CPU, host)
        found = (one for one in self.seen.of(use, host=host) if one.mean(self.begin, self.end) is not None)
        return {one.labels.get("process", ""): self._present(one, scrapes) for one in found}

    def _scrapes(self, name: str, host: str) -> int:
        """How often a metric that is always there was scraped."""
        return max((len(self._values(one)) for one in self.seen.of(name, host=host)), default=0)

    def _present(self, one: Samples, scrapes: int) -> float:
        """The mean of a series that is 0 where it is absent."""
        values = self._values(one)
        return float(values.sum()) / max(scrapes, len(values), 1)

    def _values(self, one: Samples) -> Array:
        first, last = np.searchsorted(one.times, (self.begin, self.end), side="right")
        return one.values[first:last]

    @cached_property
    def disks(self) -> Mapping[tuple[str, str], DeviceWork]:
        """The operations of the run's devices, by device and operation."""
        return {(device, op): disk for device in self.facts.devices for op in _DISK if (disk := self._disk(device, op))}

    def disk(self, device: str, op: str) -> DeviceWork:
        """An operation of a device, or none."""
        return self.disks.get((device, op), DeviceWork())

    def _disk(self, device: str, op: str) -> DeviceWork | None:
        where = {"host": self.facts.server, "device": device}
        completed, moved = _DISK[op]
        done = self.rate(f"node_disk_{completed}_total", **where)
        if done is None:
            return None
        if done >= 1:
            spent = self.rate(f"node_disk_{op}_time_seconds_total", **where) or 0.0
            return DeviceWork(done, spent / done, (self.rate(f"node_disk_{moved}_total", **where) or 0.0) / done)
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
        for one in self.seen.of("pg_sessions_active", host=host):
            kind = one.labels.get("wait_event_type", "")
            if kind != "Client":
                stage = {"CPU": WORK, "Lock": LOCK, "IO": DATA}.get(kind, OTHER)
                found[stage] += one.mean(self.begin, self.end) or 0.0
        scrapes = max(self._scrapes("pg_sessions_active", host), 1)
        for one in self.seen.of("pg_waiting_processes", host=host, backend_type="client backend"):
            if one.labels.get("wait_event", "").lower().startswith("wal"):
                stage = DATA if one.labels.get("wait_event_type") == "IO" else OTHER
                moved = min(float(self._values(one).sum()) / scrapes, found[stage])
                found[stage] -= moved
                found[LOG] += moved
        return found

    def of_autovacuum(self) -> dict[str, float]:
        """Its workers by table."""
        scrapes = self._scrapes("pg_sessions_active", self.facts.server)
        workers = self.seen.of("pg_autovacuum_workers", host=self.facts.server)
        return {one.labels.get("relation", ""): self._present(one, scrapes) for one in workers}

    @property
    def checkpoint(self) -> float:
        """The part of the time in which one is under way."""
        return self.of_database("pg_checkpoint_active")

    @property
    def checkpoint_writes(self) -> float:
        """Bytes a second."""
        return self.rate("pg_buffers_written_bytes_total", host=self.facts.server, by="checkpointer") or 0.0

    @property
    def syncing(self) -> float:
        """The part of the time in which a checkpoint syncs files."""
        return self.of_database("pg_waiting_processes", backend_type="checkpointer", wait_event="DataFileSync")

    @property
    def pauses(self) -> float:
        """The part of the time in which it pauses."""
        scrapes = self._scrapes("pg_sessions_active", self.facts.server)
        found = self.seen.of("pg_waiting_processes", host=self.facts.server, wait_event="CheckpointWriteDelay")
        return sum(self._present(one, scrapes) for one in found)

    def checkpoints(self, why: str) -> float:
        """The rate of timed or requested ones."""
        name = f"pg_checkpoint_{why}_total"
        return self.seen.rates(name, self.begin - 5, self.end, host=self.facts.server) or 0.0

    @property
    def lock_waits(self) -> tuple[float, float]:
        """The most sessions that wait for a lock, and the longest wait, seconds."""
        names = ("pg_locks_waiting", "pg_locks_longest_wait_seconds")
        most = (self.seen.highest(name, self.begin, self.end, host=self.facts.server) for name in names)
        waiting, longest = (one or 0.0 for one in most)
        return waiting, longest

    @property
    def unanswered(self) -> float:
        """The part of the time in which the database answers no question."""
        up = self.mean("pg_up", host=self.facts.server)
        return max(self.silent("postgres", self.facts.server), 0.0 if up is None else 1 - up)

    @cached_property
    def vdisks(self) -> Mapping[str, PolledVdisk]:
        """Those of the machine with a poll in the window, by name; a page covers the 3 s before its poll."""
        found = {}
        for info in self.seen.of("nutanix_vdisk_info", vm=self.facts.machine) if self.facts.machine else ():
            cvm, name = info.labels.get("cvm", ""), info.labels.get("vdisk", "")
            polls = [
                poll
                for one in self.seen.of("nutanix_cvm_last_success_timestamp_seconds", cvm=cvm)
                for poll in one.values
                if self.begin + 1 <= poll <= self.end
            ]
            if polls:
                role = "log" if info.labels.get("role") in LOG_ROLES else "data"
                found[name] = PolledVdisk(name, cvm, role, self.seen, min(polls), self.end)
        return found

    def unseen(self) -> list[str]:
        """What is not measured: a clause each."""
        found = []
        if self.rate(_CPU, host=self.facts.server) is None:
            found.append("the server (no node_exporter)")
        elif not self.facts.devices:
            found.append("its disks (without roles)")
        if self.facts.database and self.active is None:
            found.append("the database (no postgres_exporter)")
        return found
