"""The processors of the chosen runs' machines: of client and server."""

from .queries import HOST, Query, one_of, rate

NONE = "Nothing measured in this time range: the Prometheus job `node` scrapes node_exporter"
_OTHER_CLIENTS = 'host=~"$client",host!~"$host"'


def _mean(mode: str) -> str:
    return f"avg by (host) ({rate(f'node_cpu_seconds_total{{{HOST},mode={chr(34)}{mode}{chr(34)}}}')})"


def _busy(hosts: str) -> str:
    """Waiting for I/O is idle time: a processor then has nothing to do."""
    idle = f"sum by (host) ({rate(f'node_cpu_seconds_total{{{hosts},mode=~{chr(34)}idle|iowait{chr(34)}}}')})"
    count = f"count by (host) (node_cpu_seconds_total{{{hosts},mode={chr(34)}idle{chr(34)}}})"
    return f"clamp_min(1 - {idle} / {count}, 0)"  # missing scrapes can make more idle time than there is


def processors() -> Query:
    """Busy time of server and client, and what was stolen if it is more than 1 %.

    From few of many series: to sum all up costs ten times as much.
    """
    busy = {"server": _busy(HOST), "client": _busy(_OTHER_CLIENTS), "steal": f"{_mean('steal')} > 0.01"}
    return Query(one_of("what", busy), "{{host}} {{what}}")
