"""The machines of the chosen runs: processors of client and database, memory, network; the database's own figures."""

from collections.abc import Sequence

from grafana_foundation_sdk.models import dashboard

from . import disks
from .panels import graph
from .queries import HOST, Query, lately, once, one_of, rate

_NO_DATABASE = "Nothing measured in this time range: the Prometheus job `postgres` scrapes postgres_exporter"


_OTHER_CLIENTS = 'host=~"$client",host!~"$host"'


def _mean(mode: str) -> str:
    return f"avg by (host) ({rate(f'node_cpu_seconds_total{{{HOST},mode={chr(34)}{mode}{chr(34)}}}')})"


def _busy(hosts: str) -> str:
    """Waiting for I/O is idle time: a processor then has nothing to do."""
    idle = f"sum by (host) ({rate(f'node_cpu_seconds_total{{{hosts},mode=~{chr(34)}idle|iowait{chr(34)}}}')})"
    return f"1 - {idle} / count by (host) (node_cpu_seconds_total{{{hosts},mode={chr(34)}idle{chr(34)}}})"


def processors_busy(size: tuple[int, int]) -> dashboard.Panel:
    """Client and database, busy and stolen, from few of many series: to sum all up costs ten times as much."""
    server = {"server": _busy(HOST)} | {mode: _mean(mode) for mode in ("steal", "iowait")}
    return graph(
        "Processors: client and database",
        "Busy share of the processors of the host whose disks the benchmark uses (server), and of the benchmark's own "
        "host (client) if that is another machine; also the server's steal, and idle time with I/O pending (iowait).",
        Query(one_of("what", {"client": _busy(_OTHER_CLIENTS), **server}), "{{host}} {{what}}"),
        unit="percentunit",
        bad="a client near 100 % measures itself; steal: the CVM or other guests have the processors.",
        none=disks.NONE,
        size=size,
        maximum=1,
    )


def pressure(size: tuple[int, int]) -> dashboard.Panel:
    """Shares of the time in which some process waited."""
    return graph(
        "Waiting for processors, I/O and memory",
        "Share of the time in which some process waited (pressure stall information of the kernel).",
        *(
            Query(
                f"max by (host) ({rate(f'node_pressure_{name}_waiting_seconds_total{{{HOST}}}')})",
                f"{{{{host}}}} {word}",
            )
            for name, word in (("cpu", "processors"), ("io", "I/O"), ("memory", "memory"))
        ),
        unit="percentunit",
        bad="I/O rises with the latency: the device; memory rises: the page cache or swap.",
        none=disks.NONE,
        size=size,
        maximum=1,
    )


def memory(size: tuple[int, int]) -> dashboard.Panel:
    """What the kernel has still to write."""
    return graph(
        "Memory: dirty and write-back",
        "Data in the page cache that the kernel has not written yet, and what it is writing, the most in each step.",
        Query(
            one_of(
                "what",
                {
                    word: f"max by (host) ({lately(f'node_memory_{name}_bytes{{{HOST}}}')})"
                    for name, word in (("Dirty", "dirty"), ("Writeback", "write-back"))
                },
            ),
            "{{host}} {{what}}",
        ),
        unit="bytes",
        bad="dirty grows up to a limit (vm.dirty_bytes) and then write-back bursts: everything else waits behind it.",
        none=disks.NONE,
        size=size,
    )


def _network(name: str) -> str:
    """Of physical interfaces: what goes over a bond, a VLAN or a bridge is counted on those below it."""
    devices = 'device!~"lo|(veth|docker|br|virbr|vnet|vlan|bond|team|tap|tun|cali|cni|flannel|ovs).*|.+[.][0-9]+"'
    return f"sum by (host) ({rate(f'node_network_{name}_total{{{HOST},{devices}}}')})"


def network(size: tuple[int, int]) -> dashboard.Panel:
    """Bytes of the hosts' interfaces."""
    dropped = f"({_network('receive_drop')} + {_network('transmit_drop')})"
    return graph(
        "Network",
        "Bytes a second over the physical interfaces of each host, and dropped packets a second (right).",
        Query(
            one_of(
                "what", {"received": _network("receive_bytes"), "sent": _network("transmit_bytes"), "dropped": dropped}
            ),
            "{{host}} {{what}}",
        ),
        unit="Bps",
        bad="a plateau at the speed of the interface, or drops.",
        none=disks.NONE,
        size=size,
        right=("/dropped$/", "pps", None),
    )


def database() -> Sequence[dashboard.Panel]:
    """What the database's sessions wait for, its checkpoints and its log."""
    by_type = f"sum by (host, wait_event_type) ({once(f'pg_sessions_active{{{HOST}}}')}) > 0"
    one = "sum by (host) (rate(pg_{}_total{{{}}}[$__rate_interval]))"
    return [
        graph(
            "Active sessions by what they wait for",
            "Client sessions that run a statement, of all servers of a host, by the type of event that each waits for; "
            "CPU: it waits for nothing.",
            Query(by_type, "{{host}} {{wait_event_type}}"),
            unit="short",
            bad="IO or LWLock takes over: the log or the buffers; Lock: sessions wait for each other.",
            none=_NO_DATABASE,
            size=(6, 7),
            stacked=True,
        ),
        graph(
            "Sessions in statements and in transactions",
            "Mean number of client sessions that ran a statement, and of those in a transaction between "
            "statements: their time as PostgreSQL 14 and later counts it. Divided by transactions a second, it is the "
            "time of a transaction.",
            Query(
                one_of(
                    "what",
                    {
                        words: f"sum by (host) ({once(rate(f'pg_sessions_time_{name}_seconds_total{{{HOST}}}'))})"
                        for words, name in (("in statements", "active"), ("between statements", "idle_in_transaction"))
                    },
                ),
                "{{host}} {{what}}",
            ),
            unit="short",
            bad="between statements grows: the client or the network is slow, and holds the locks of its transactions.",
            none=_NO_DATABASE,
            size=(6, 7),
        ),
        graph(
            "Locks",
            "Locks that sessions wait for, and the longest of these waits so far (right); the most in each step.",
            Query(f"sum by (host) ({once(lately(f'pg_locks_waiting{{{HOST}}}'))})", "{{host}} waiting"),
            Query(f"max by (host) ({lately(f'pg_locks_longest_wait_seconds{{{HOST}}}')})", "{{host}} longest"),
            unit="short",
            bad="above 0 when latency rises: the database, not the storage.",
            none=_NO_DATABASE,
            size=(6, 7),
            right=("/longest$/", "s", None),
        ),
        graph(
            "Checkpoints, buffers and log",
            "Bytes a second of WAL, and of buffers by writer; whether a checkpoint is under way (right).",
            Query(one.format("wal_bytes", HOST), "{{host}} log written"),
            Query(
                f"sum by (host, by) ({rate(f'pg_buffers_written_bytes_total{{{HOST}}}')})", "{{host}} buffers by {{by}}"
            ),
            Query(f"max by (host) ({lately(f'pg_checkpoint_active{{{HOST}}}')})", "{{host}} checkpoint"),
            unit="Bps",
            bad="the checkpointer uses all that the device can do; buffers by others: sessions have to write them.",
            none=_NO_DATABASE,
            size=(6, 7),
            right=("/checkpoint$/", "short", None),
        ),
    ]
