"""What is shown of an exporter, read from its exposition; names, labels and units: docs/metrics.md.

prometheus_client's parser takes some 40 µs a line: a fifth of a core for 40 workers with histograms, each second. So it
reads the text of a series (name and labels) once, only for names in `LIVE` and `SLOW`; after that each page costs a
look-up and a number a line.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from ..values.durations import Duration
from .model import Cvm, Measured, Page, Vdisk, Worker

LIVE = frozenset(
    {
        "benchwatch_build_info",
        "benchwatch_run_state",
        "benchwatch_run_reason_info",
        "benchwatch_run_last_report_timestamp_seconds",
        "pgbench_tps",
        "pgbench_latency_average_seconds",
        "pgbench_latency_window_seconds",
        "pgbench_interval_timestamp_seconds",
        "pgbench_latency_window_timestamp_seconds",
        "pgbench_transactions_total",
        "pgbench_failed_transactions_total",
        "pgbench_skipped_transactions_total",
        "pgbench_retries_total",
        "fio_iops",
        "fio_bandwidth_bytes_per_second",
        "fio_latency_average_seconds",
        "fio_latency_max_seconds",
        "fio_latency_window_seconds",
        "fio_ios_total",
        "fio_target_iops",
        "fio_target_bandwidth_bytes_per_second",
    }
)
"""What is used of the part `live`."""
SLOW = frozenset(
    {
        "benchwatch_run_info",
        "benchwatch_run_note_info",
        "benchwatch_run_parameter",
        "benchwatch_run_start_timestamp_seconds",
        "benchwatch_run_end_timestamp_seconds",
        "benchwatch_run_report_interval_seconds",
        "benchwatch_run_latency_objective_seconds",
        "benchwatch_run_warmup_seconds",
        "pgbench_duration_seconds",
        "pgbench_result_tps",
        "pgbench_result_latency_average_seconds",
        "pgbench_result_latency_seconds",
        "pgbench_result_transactions",
        "fio_result_iops",
        "fio_result_bandwidth_bytes_per_second",
        "fio_result_latency_average_seconds",
        "fio_result_latency_seconds",
        "fio_job_info",
        "fio_job_warning",
        "nutanix_cvm_up",
        "nutanix_cvm_last_success_timestamp_seconds",
        "nutanix_vdisk_info",
        "nutanix_vdisk_frontend_ops_per_second",
        "nutanix_vdisk_frontend_latency_seconds",
        "nutanix_vdisk_random_ratio",
        "nutanix_vdisk_write_destination_ratio",
    }
)
"""What is used of the parts `runs` and `nutanix`."""

_TIME_LIMIT = {
    "pgbench": re.compile(r"(?:^|\s)(?:-[A-Za-z]*T\s*|--time[= ])(\d+)(?=\s|$)"),
    "fio": re.compile(r"(?:^|\s)--runtime[= ](\S+)"),
}
"""Where a tool's command says how long it is to take."""


class Sample(NamedTuple):
    """One number of the exposition."""

    name: str
    labels: Mapping[str, str]
    value: float


class SampleReader:
    """Reads the samples of some families from expositions, and remembers the series of the last one."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._series: dict[str, tuple[str, Mapping[str, str]]] = {}

    def read(self, text: str) -> list[Sample]:
        """The samples that have a number. Raises ValueError for what is not an exposition."""
        found, known = [], {}
        for line in text.split("\n"):
            if line[: line.find("{")] not in self._names:
                continue
            series, _, number = line.rpartition(" ")
            parsed = known[series] = self._series.get(series) or _parse(line)
            value = float(number)
            if math.isfinite(value):
                found.append(Sample(*parsed, value))
        self._series = known
        return found


def _parse(line: str) -> tuple[str, Mapping[str, str]]:
    (family,) = text_string_to_metric_families(line)
    return family.samples[0].name, family.samples[0].labels


class _Series:
    """The samples of one worker or vdisk."""

    def __init__(self) -> None:
        self._samples: dict[str, list[Sample]] = defaultdict(list)

    def add(self, sample: Sample) -> None:
        self._samples[sample.name].append(sample)

    def value(self, name: str) -> float | None:
        """The number of a family with one series."""
        return next((sample.value for sample in self._samples.get(name, ())), None)

    def labels(self, name: str) -> Iterator[Mapping[str, str]]:
        return (sample.labels for sample in self._samples.get(name, ()) if sample.value)

    def by(self, name: str, label: str, **others: str) -> dict[str, float]:
        """The numbers of a family by one label, where the others are as given."""
        samples = self._samples.get(name, ())
        return {s.labels[label]: s.value for s in samples if others.items() <= s.labels.items()}

    def pairs(self, *names: str) -> list[tuple[str, str]]:
        """The job and operation of every series of these families."""
        samples = (sample for name in names for sample in self._samples.get(name, ()))
        return list(dict.fromkeys((sample.labels["job"], sample.labels["op"]) for sample in samples))


def read_page(samples: Iterable[Sample]) -> Page:
    """The page that these samples make."""
    workers: dict[tuple[str, str], _Series] = defaultdict(_Series)
    vdisks: dict[tuple[str, str], _Series] = defaultdict(_Series)
    cvms: dict[str, _Series] = defaultdict(_Series)
    for sample in samples:
        labels = sample.labels
        if "worker" in labels:
            workers[labels["run"], labels["worker"]].add(sample)
        elif "vdisk" in labels:
            vdisks[labels["cvm"], labels["vdisk"]].add(sample)
        elif "cvm" in labels:
            cvms[labels["cvm"]].add(sample)
    return Page(
        tuple(_worker(*key, series) for key, series in workers.items()),
        tuple(_vdisk(*key, series) for key, series in vdisks.items()),
        tuple(
            Cvm(name, bool(series.value("nutanix_cvm_up")), series.value("nutanix_cvm_last_success_timestamp_seconds"))
            for name, series in cvms.items()
        ),
    )


def _worker(run: str, name: str, series: _Series) -> Worker:
    info = next(series.labels("benchwatch_run_info"), {})
    return Worker(
        run=run,
        name=name,
        tool=info.get("tool", ""),
        tool_version=info.get("tool_version", ""),
        state=next((labels["state"] for labels in series.labels("benchwatch_run_state")), "unknown"),
        reason=next((labels["reason"] for labels in series.labels("benchwatch_run_reason_info")), ""),
        last_report=series.value("benchwatch_run_last_report_timestamp_seconds"),
        report_interval=series.value("benchwatch_run_report_interval_seconds"),
        start=series.value("benchwatch_run_start_timestamp_seconds"),
        end=series.value("benchwatch_run_end_timestamp_seconds"),
        duration=_duration(series, info.get("tool", "")),
        objective=series.value("benchwatch_run_latency_objective_seconds"),
        now=tuple(_now(series, info.get("tool", ""))),
        result=tuple(_result(series)),
        counts={
            name: value
            for name, family in (
                ("transactions", "pgbench_transactions_total"),
                ("failed", "pgbench_failed_transactions_total"),
                ("skipped", "pgbench_skipped_transactions_total"),
                ("retries", "pgbench_retries_total"),
            )
            if (value := series.value(family)) is not None
        },
        remarks=tuple(labels["note"] for labels in series.labels("benchwatch_run_note_info")),
        warnings=tuple(dict.fromkeys(labels["warning"] for labels in series.labels("fio_job_warning"))),
        warmup=series.value("benchwatch_run_warmup_seconds") or 0.0,
    )


def _now(series: _Series, tool: str) -> Iterator[Measured]:
    if tool == "pgbench":
        yield Measured(
            rate=series.value("pgbench_tps"),
            latency=series.value("pgbench_latency_average_seconds"),
            quantiles=series.by("pgbench_latency_window_seconds", "quantile"),
            time=series.value("pgbench_interval_timestamp_seconds"),
            quantiles_time=series.value("pgbench_latency_window_timestamp_seconds"),
        )
    for job, op in series.pairs("fio_ios_total", "fio_iops"):
        latest = _job_value(series, "fio_latency_max_seconds", job, op)
        highest = {} if latest is None else {"1": latest}
        yield Measured(
            job=job,
            op=op,
            rate=_job_value(series, "fio_iops", job, op),
            latency=_job_value(series, "fio_latency_average_seconds", job, op),
            quantiles=series.by("fio_latency_window_seconds", "quantile", job=job, op=op) | highest,
            bandwidth=_job_value(series, "fio_bandwidth_bytes_per_second", job, op),
            target_rate=_job_value(series, "fio_target_iops", job, op),
            target_bandwidth=_job_value(series, "fio_target_bandwidth_bytes_per_second", job, op),
        )


def _result(series: _Series) -> Iterator[Measured]:
    rate = series.value("pgbench_result_tps")
    if rate is not None:
        yield Measured(
            rate=rate,
            latency=series.value("pgbench_result_latency_average_seconds"),
            quantiles=series.by("pgbench_result_latency_seconds", "quantile"),
        )
    for job, op in series.pairs("fio_result_iops"):
        yield Measured(
            job=job,
            op=op,
            rate=_job_value(series, "fio_result_iops", job, op),
            latency=_job_value(series, "fio_result_latency_average_seconds", job, op),
            quantiles=series.by("fio_result_latency_seconds", "quantile", job=job, op=op),
            bandwidth=_job_value(series, "fio_result_bandwidth_bytes_per_second", job, op),
        )


def _job_value(series: _Series, name: str, job: str, op: str) -> float | None:
    return series.by(name, "op", job=job).get(op)


def _duration(series: _Series, tool: str) -> float | None:
    """How long the run was asked to take, seconds: as `benchwatch run` recorded or the tool says.

    pgbench says so at its end only, so its command is looked at before. Of several jobs of fio, which may wait for each
    other, only the record tells.
    """
    seconds = series.value("pgbench_duration_seconds")
    if seconds is not None:
        return seconds
    parameters = {labels["name"]: labels["value"] for labels in series.labels("benchwatch_run_parameter")}
    text = parameters.get("planned_seconds", "")
    if not text and len(list(series.labels("fio_job_info"))) <= 1:
        found = _TIME_LIMIT[tool].search(parameters.get("command", "")) if tool in _TIME_LIMIT else None
        text = parameters.get("runtime", "") or (found[1] if found else "")
    try:
        return Duration.read(float(text) if text.isdecimal() else text) or None
    except ValueError:
        return None


def _vdisk(cvm: str, vdisk: str, series: _Series) -> Vdisk:
    info = next(series.labels("nutanix_vdisk_info"), {})
    return Vdisk(
        cvm=cvm,
        vdisk=vdisk,
        vm=info.get("vm", ""),
        disk=info.get("disk", ""),
        role=info.get("role", ""),
        rates=series.by("nutanix_vdisk_frontend_ops_per_second", "op"),
        latencies=series.by("nutanix_vdisk_frontend_latency_seconds", "op"),
        random=series.by("nutanix_vdisk_random_ratio", "op"),
        oplog=series.by("nutanix_vdisk_write_destination_ratio", "destination").get("oplog"),
    )
