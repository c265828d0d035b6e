"""The processors of the chosen runs' machines: of client and server."""

from .queries import HOST, Query, one_of, rate

NONE = "Nothing measured in this time range: the Prometheus job `node` scrapes node_exporter"
_OTHER_CLIENTS = 'host=~"$client",host!~"$host"'


def _mean(mode: str) -> str:
    return f"avg by (host) ({rate(f'node_cpu_seconds_total{{{HOST},mode={chr(34)}{mode}{chr(34)}}}')})"


def _busy(hosts: str) -> str:
    """Waiting for I/O is idle time: a processor then has nothing to do."""
    idle = f"sum by (host) ({rate(f'node_cpu_seconds_total{{{hosts},mode=~{chr(34)}idle|iowait{chr(34)}}}')})"
    return f"1 - {idle} / count by (host) (node_cpu_seconds_total{{{hosts},mode={chr(34)}idle{chr(34)}}})"


def processors() -> Query:
    """Busy and stolen time of client and server, from few of many series: to sum all up costs ten times as much."""
    server = {"server": _busy(HOST)} | {mode: _mean(mode) for mode in ("steal", "iowait")}
    return Query(one_of("what", {"client": _busy(_OTHER_CLIENTS), **server}), "{{host}} {{what}}")
