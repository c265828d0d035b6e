"""What the demo shows: figures that Prometheus has stored, asked of its HTTP API, so that they went the whole way."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import requests

from benchwatch.tools.api import Tool
from benchwatch.tools.roles import Roles
from benchwatch.values import numbers

SOURCES = {
    "exporter": "benchwatch_build_info",
    "pgbench progress": "pgbench_tps",
    "pgbench transaction log (percentiles)": "pgbench_latency_window_seconds",
    "fio": "fio_iops",
    "fio json+ bins (percentiles)": "fio_latency_window_seconds",
    "CVM": "nutanix_vdisk_frontend_latency_window_ios",
    "node_exporter": "node_cpu_seconds_total",
    "postgres_exporter": "pg_wal_bytes_total",
}
"""Every source that Prometheus must see, with a metric that only it brings."""

_METRICS = [
    "pgbench_latency_average_seconds",
    "pgbench_interval_timestamp_seconds",
    "pgbench_latency_window_timestamp_seconds",
    "fio_latency_average_seconds",
    "benchwatch_run_last_report_timestamp_seconds",
    "nutanix_cvm_last_success_timestamp_seconds",
    "nutanix_vdisk_info",
    "nutanix_vdisk_frontend_ops_per_second",
    "nutanix_vdisk_frontend_latency_seconds",
]
_QUANTILES = (("p50", "0.5"), ("p99", "0.99"))
_HOST_RATES = (
    'sum(rate(node_cpu_seconds_total{mode!~"idle|iowait"}[10s]))',
    "sum(rate(node_disk_writes_completed_total[10s]))",
)


class Sample(NamedTuple):
    """One series now: its labels, `__name__` included, its value, and the time of the question (Unix seconds)."""

    labels: Mapping[str, str]
    value: float
    time: float


class Prometheus:
    """The HTTP API of a Prometheus server."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._session = requests.Session()
        self._session.trust_env = False

    def query(self, expression: str) -> list[Sample]:
        """The result of an instant query. Raises requests.RequestException."""
        answer = self._session.get(f"{self._url}/api/v1/query", params={"query": expression}, timeout=10)
        answer.raise_for_status()
        found = answer.json()["data"]["result"]
        return [Sample(series["metric"], float(series["value"][1]), series["value"][0]) for series in found]


class Figures:
    """The figures of this moment, in words; `seen` are the sources that Prometheus has seen so far.

    `tools` are those that run beside pgbench and fio; each of their rates is a source.
    """

    def __init__(self, prometheus: Prometheus, tools: Sequence[Tool]) -> None:
        self.seen: set[str] = set()
        self._prometheus = prometheus
        self._tools = tools
        self.sources = SOURCES | {_source(tool, roles): roles.rate.name for tool in tools for roles in tool.roles}
        windows = [roles.window.name for tool in tools for roles in tool.roles if roles.window]
        self._metrics = "|".join((*_METRICS, *self.sources.values(), *windows))
        self._samples: list[Sample] = []
        self._host: list[Sample] = []

    def refresh(self) -> None:
        """Asks Prometheus. Raises requests.RequestException."""
        self._samples = self._prometheus.query(f'{{__name__=~"{self._metrics}"}}')
        self._host = [sample for rate in _HOST_RATES for sample in self._prometheus.query(rate)]
        present = {sample.labels["__name__"] for sample in self._samples}
        self.seen |= {source for source, metric in self.sources.items() if metric in present}

    def missing(self) -> list[str]:
        """The sources that Prometheus has not seen."""
        return [source for source in self.sources if source not in self.seen]

    def rows(self, runs: Sequence[str]) -> list[tuple[str, str]]:
        """What to show, (source, figures) a line: active runs (pgbench's, fio's, others'), the CVM, the host."""
        rows = [("pgbench", self._pgbench(runs[0]))]
        rows += [("fio", line) for line in self._fio(runs[1])]
        rows += [(tool.name, line) for tool in self._tools for line in self._tool(tool, runs[2:])]
        rows += [("CVM", line) for line in self._cvm()]
        rows.append(("host", self._host_line()))
        return rows

    def _pgbench(self, run: str) -> str:
        tps = self._one("pgbench_tps", run=run)
        if tps is None:
            return "no figures at the moment"
        mean = self._one("pgbench_latency_average_seconds", run=run)
        quantiles = [(p, self._one("pgbench_latency_window_seconds", run=run, quantile=q)) for p, q in _QUANTILES]
        parts = [f"{tps.value:6.0f} TPS", _latency("mean", mean), *(_latency(*pair) for pair in quantiles)]
        times = [self._one(f"pgbench_{name}_timestamp_seconds", run=run) for name in ("interval", "latency_window")]
        if times[0] and times[1] and times[0].value - times[1].value >= 1:  # the log comes in blocks
            parts.append(f"percentiles {times[0].value - times[1].value:.0f} s older")
        return " · ".join([*parts, self._age(run)])

    def _fio(self, run: str) -> list[str]:
        lines = []
        for iops in self._all("fio_iops", run=run):
            which = {"run": run, "job": iops.labels["job"], "op": iops.labels["op"]}
            mean = self._one("fio_latency_average_seconds", **which)
            if mean is None and not iops.value:
                continue
            quantiles = [(p, self._one("fio_latency_window_seconds", quantile=q, **which)) for p, q in _QUANTILES]
            parts = [f"{iops.value:6.0f} IOPS {which['job']} {which['op']}", _latency("mean", mean)]
            lines.append(" · ".join([*parts, *(_latency(*pair) for pair in quantiles), self._age(run)]))
        return lines or ["no figures at the moment"]

    def _tool(self, tool: Tool, runs: Sequence[str]) -> Iterator[str]:
        for roles in tool.roles:
            for rate in self._all(roles.rate.name):
                if rate.labels["run"] in runs:
                    group = {label: rate.labels[label] for label in ("run", "worker", *roles.labels)}
                    text = numbers.throughput(roles.unit.name)
                    unit = "" if roles.unit.in_bytes else f" {roles.unit.name}"
                    parts = [f"{text(rate.value)}{unit} {' '.join(list(group.values())[1:])}"]
                    windows = self._all(roles.window.name, **group) if roles.window else []
                    parts += [_latency(f"p{float(one.labels['quantile']) * 100:g}", one) for one in windows]
                    yield " · ".join([*parts, self._age(rate.labels["run"])])

    def _cvm(self) -> list[str]:
        lines = []
        for info in self._all("nutanix_vdisk_info"):
            if not info.labels.get("role"):
                continue
            vdisk = {"cvm": info.labels["cvm"], "vdisk": info.labels["vdisk"]}
            parts = [f"vdisk {vdisk['vdisk']}, {info.labels['role']}"]
            for op in ("read", "write"):
                operations = self._one("nutanix_vdisk_frontend_ops_per_second", op=op, **vdisk)
                latency = self._one("nutanix_vdisk_frontend_latency_seconds", op=op, **vdisk)
                if operations is not None:
                    parts.append(_latency(f"{operations.value:.0f} {op}s/s", latency))
            polled = self._one("nutanix_cvm_last_success_timestamp_seconds", cvm=vdisk["cvm"])
            lines.append(" · ".join(parts + ([f"page read {polled.time - polled.value:.0f} s ago"] if polled else [])))
        return lines or ["no page read yet"]

    def _host_line(self) -> str:
        if len(self._host) < len(_HOST_RATES):
            return "not scraped twice yet"
        processors, writes = self._host
        return f"{processors.value:.1f} processors busy · {writes.value:.0f} disk writes/s"

    def _age(self, run: str) -> str:
        report = self._one("benchwatch_run_last_report_timestamp_seconds", run=run)
        return f"reported {report.time - report.value:.1f} s ago" if report else "nothing reported"

    def _all(self, name: str, **labels: str) -> list[Sample]:
        wanted = {"__name__": name, **labels}.items()
        found = [sample for sample in self._samples if wanted <= sample.labels.items()]
        return sorted(found, key=lambda sample: sorted(sample.labels.items()))

    def _one(self, name: str, **labels: str) -> Sample | None:
        return next(iter(self._all(name, **labels)), None)


def _source(tool: Tool, roles: Roles) -> str:
    return f"{tool.name} {roles.unit.name}{' on the other side' if roles.observer else ''}"


def _latency(name: str, sample: Sample | None) -> str:
    """A latency in milliseconds; a dash where nothing was measured."""
    return f"{name} {sample.value * 1000:.2f} ms" if sample else f"{name} -"
