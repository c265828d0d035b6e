"""The guest of a simulated cluster: what node_exporter and pgbench would report there at each second of the scene.

Its disks are the scene's vdisks. An operation takes the latency of the front end and the time of the path between guest
and CVM. A transaction of pgbench waits as `scenes` says.
"""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from .cluster import Cluster
from .load import LoadStream
from .scenes import CLIENTS, CPU, DATA, LOG, READS

NAME = "pg1"
"""The virtual machine, its host name and the name of its pgbench."""
DEVICES = {LOG: "sdb", DATA: "sdc"}
RECORD = f"{{host: {NAME}, client: {NAME}, vm: {NAME}, disks: {{sdb: log, sdc: data}}}}\n"
"""The run.yaml of its benchmark."""
_PROCESSORS = 8
_MEMORY = 64 << 30
_BUSY = {"user": 0.16, "system": 0.05, "softirq": 0.01, "steal": 0.002}
"""Of all processors, at 1000 transactions a second per client."""
_NEVER = (
    "node_pressure_memory_waiting_seconds_total",
    "node_pressure_memory_stalled_seconds_total",
    "node_netstat_Tcp_RetransSegs",
    "node_vmstat_pswpin",
    "node_vmstat_pswpout",
)
"""Counters of what does not happen."""


class Guest:
    """The guest of a cluster. Its counters begin with the scene."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._counted = 0
        self._counters: Counter[str] = Counter()
        self._lock = threading.Lock()

    def transaction(self, second: int) -> float:
        """Mean latency of pgbench in a second, in seconds."""
        return (CPU + READS * self._wait(DATA, second, "read") + self._wait(LOG, second, "write")) / 1e6

    def progress(self, second: int, now: float) -> str:
        """pgbench's progress line for a second that ended at `now`, Unix seconds."""
        latency = self.transaction(second)
        milliseconds = latency * 1000
        return (
            f"progress: {now:.3f} s, {CLIENTS / latency:.1f} tps, lat {milliseconds:.3f} ms"
            f" stddev {milliseconds / 2:.3f}, 0 failed\n"
        )

    def record(self, run: Path) -> None:
        """Write pgbench's run to this new folder, one line per second, until interrupted. Raises OSError."""
        run.mkdir(parents=True)
        (run / "run.yaml").write_text(RECORD)
        with (run / f"{NAME}.err").open("w", buffering=1) as output:
            while True:
                time.sleep(1 - time.time() % 1)
                output.write(self.progress(max(self._cluster.second - 1, 0), time.time()))

    def exposition(self, second: int) -> str:
        """What node_exporter exports at a second of the scene; counters never go back."""
        with self._lock:
            for passed in range(self._counted, second):
                self._counters.update(dict(self._passed(passed)))
            self._counted = max(self._counted, second)
            counted = sorted(self._counters.items())
        gauges = {
            "node_memory_MemTotal_bytes": _MEMORY,
            "node_memory_MemAvailable_bytes": _MEMORY // 2,
            "node_memory_Dirty_bytes": self._cluster.load(DATA, second).write.rate * 8192 * 5,
            "node_memory_Writeback_bytes": 0,
            f'node_uname_info{{nodename="{NAME}",sysname="Linux"}}': 1,
        }
        lines = [f"# TYPE {series.partition('{')[0]} gauge\n{series} {value}" for series, value in gauges.items()]
        for family, samples in groupby(counted, key=lambda sample: sample[0].partition("{")[0]):
            lines += [f"# TYPE {family} counter", *(f"{series} {value:.6f}" for series, value in samples)]
        return "\n".join(lines) + "\n"

    def _wait(self, vdisk: str, second: int, op: str) -> float:
        """Microseconds that an operation takes in the guest; 0 if the disk has none."""
        if vdisk not in self._cluster.vdisks:
            return 0
        load = self._cluster.load(vdisk, second)
        stream: LoadStream = getattr(load, op)
        return stream.average_latency + load.path if stream.rate else 0

    def _passed(self, second: int) -> Iterator[tuple[str, float]]:
        """The increase of each counter in a second."""
        waiting = 0.0
        for vdisk in filter(DEVICES.get, self._cluster.vdisks):
            load, device = self._cluster.load(vdisk, second), f'{{device="{DEVICES[vdisk]}"}}'
            under_way = 0.0
            for op, name, size in (("read", "reads", "read"), ("write", "writes", "written")):
                stream: LoadStream = getattr(load, op)
                spent = stream.rate * self._wait(vdisk, second, op) / 1e6
                under_way += spent
                yield f"node_disk_{name}_completed_total{device}", stream.rate
                yield f"node_disk_{op}_time_seconds_total{device}", spent
                yield f"node_disk_{size}_bytes_total{device}", stream.rate * stream.average_size
            yield f"node_disk_io_time_seconds_total{device}", min(1, under_way)
            yield f"node_disk_io_time_weighted_seconds_total{device}", under_way
            waiting += under_way
        rate = CLIENTS / self.transaction(second)
        busy = {mode: share * rate / 1000 / CLIENTS for mode, share in _BUSY.items()}
        busy["iowait"] = min(1 - sum(busy.values()), waiting / _PROCESSORS / 4)
        busy["idle"] = 1 - sum(busy.values())
        for cpu in range(_PROCESSORS):
            for mode, share in busy.items():
                yield f'node_cpu_seconds_total{{cpu="{cpu}",mode="{mode}"}}', share
            yield f'node_schedstat_waiting_seconds_total{{cpu="{cpu}"}}', 0.01 * (1 - busy["idle"])
        yield "node_pressure_cpu_waiting_seconds_total", 0.02 * (1 - busy["idle"])
        yield "node_pressure_io_waiting_seconds_total", min(1, waiting)
        yield "node_pressure_io_stalled_seconds_total", min(1, waiting / CLIENTS)
        yield 'node_network_receive_bytes_total{device="eth0"}', 500 * rate
        yield 'node_network_transmit_bytes_total{device="eth0"}', 900 * rate
        yield from ((name, 0.0) for name in _NEVER)
