"""The page of an exporter, read from its exposition; names, labels and units: docs/metrics.md.

prometheus_client's parser takes some 40 µs a line: a fifth of a core for 40 workers with histograms, read each second.
So it parses the text of a series (name and labels) only once, and only for the names in `live` and `slow`; after that,
each line of a page costs a look-up and the conversion of a number.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from ..metrics.samples import Family, Part
from ..tools.api import Tool
from ..tools.registry import all_roles, named
from ..tools.roles import Lost, Roles, roles_of
from .model import Cvm, Measured, Page, ShownVdisk, ShownWorker

_LIVE = frozenset(
    {
        "benchwatch_build_info",
        "benchwatch_run_state",
        "benchwatch_run_reason_info",
        "benchwatch_run_last_report_timestamp_seconds",
    }
)
_SLOW = frozenset(
    {
        "benchwatch_run_info",
        "benchwatch_run_note_info",
        "benchwatch_run_parameter",
        "benchwatch_run_start_timestamp_seconds",
        "benchwatch_run_end_timestamp_seconds",
        "benchwatch_run_report_interval_seconds",
        "benchwatch_run_latency_objective_seconds",
        "benchwatch_run_warmup_seconds",
        "nutanix_cvm_up",
        "nutanix_cvm_last_success_timestamp_seconds",
        "nutanix_vdisk_info",
        "nutanix_vdisk_frontend_ops_per_second",
        "nutanix_vdisk_frontend_latency_seconds",
        "nutanix_vdisk_random_ratio",
        "nutanix_vdisk_write_destination_ratio",
    }
)


def live() -> frozenset[str]:
    """The families used from the part `live`."""
    return _LIVE | _of_tools("live")


def slow() -> frozenset[str]:
    """The families used from the parts `runs` and `nutanix`."""
    return _SLOW | _of_tools("runs")


def _of_tools(part: Part) -> frozenset[str]:
    """The families of tools used from that part: only counters and gauges, whose samples are single numbers."""
    families = (roles.families - {roles.cpu, roles.threads, roles.connection, roles.lag} for roles in all_roles())
    return frozenset(one.name for one in chain(*families) if one.part == part and one.kind in ("counter", "gauge"))


class ReadSample(NamedTuple):
    """One number of the exposition."""

    name: str
    labels: Mapping[str, str]
    value: float


class SampleReader:
    """Reads the samples of some families from expositions; keeps the series of the last one."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._series: dict[str, tuple[str, Mapping[str, str]]] = {}

    def read(self, text: str) -> list[ReadSample]:
        """The samples whose value is finite. Raises ValueError if the text is not an exposition."""
        found, known = [], {}
        for line in text.split("\n"):
            if line[: line.find("{")] not in self._names:
                continue
            series, _, number = line.rpartition(" ")
            parsed = known[series] = self._series.get(series) or _parse(line)
            value = float(number)
            if math.isfinite(value):
                found.append(ReadSample(*parsed, value))
        self._series = known
        return found


def _parse(line: str) -> tuple[str, Mapping[str, str]]:
    (family,) = text_string_to_metric_families(line)
    return family.samples[0].name, family.samples[0].labels


class _Series(dict[str, list[ReadSample]]):
    """The samples of one worker, vdisk or CVM by the name of their family."""

    def __missing__(self, name: str) -> list[ReadSample]:
        return []

    def value(self, family: Family | str | None, group: Mapping[str, str] = MappingProxyType({})) -> float | None:
        """The number of one group; without `group`, that of a family with one series."""
        name = family.name if isinstance(family, Family) else family or ""
        return next((sample.value for sample in self[name] if group.items() <= sample.labels.items()), None)

    def labels(self, name: str) -> Iterator[Mapping[str, str]]:
        """The labels of the series that are not 0."""
        return (sample.labels for sample in self[name] if sample.value)

    def by(self, name: str, label: str, group: Mapping[str, str] = MappingProxyType({})) -> dict[str, float]:
        """The numbers of one group by a further label."""
        return {one.labels[label]: one.value for one in self[name] if group.items() <= one.labels.items()}

    def groups(self, names: Sequence[str], *families: Family | None) -> list[Mapping[str, str]]:
        """The different values that the series of these families have for the labels `names`."""
        samples = (sample for family in families if family for sample in self[family.name])
        found = dict.fromkeys(tuple(sample.labels[name] for name in names) for sample in samples)
        return [dict(zip(names, group, strict=True)) for group in found]

    def quantiles(self, family: Family | None, highest: Family | None, group: Mapping[str, str]) -> dict[str, float]:
        """The latencies of one group by quantile; the family `highest` is quantile 1."""
        found = self.by(family.name, "quantile", group) if family else {}
        latency = self.value(highest, group)
        return found if latency is None else found | {"1": latency}

    def lost(self, lost: Lost) -> tuple[float, float] | None:
        """How many operations were lost, and of how many; None if that is not known."""
        families = filter(None, (lost.counter, *lost.of, lost.result))
        return lost.told(
            {
                family.name: {tuple(one.labels[name] for name in family.labels): one.value for one in self[family.name]}
                for family in families
            }
        )


def read_page(samples: Iterable[ReadSample]) -> Page:
    """The page that these samples make."""
    workers: dict[tuple[str, str], _Series] = defaultdict(_Series)
    vdisks: dict[tuple[str, str], _Series] = defaultdict(_Series)
    cvms: dict[str, _Series] = defaultdict(_Series)
    for sample in samples:
        labels = sample.labels
        if "worker" in labels:
            series = workers[labels["run"], labels["worker"]]
        elif "vdisk" in labels:
            series = vdisks[labels["cvm"], labels["vdisk"]]
        elif "cvm" in labels:
            series = cvms[labels["cvm"]]
        else:
            continue
        series.setdefault(sample.name, []).append(sample)
    return Page(
        tuple(_worker(*key, series) for key, series in workers.items()),
        tuple(_vdisk(*key, series) for key, series in vdisks.items()),
        tuple(
            Cvm(name, bool(series.value("nutanix_cvm_up")), series.value("nutanix_cvm_last_success_timestamp_seconds"))
            for name, series in cvms.items()
        ),
    )


def _worker(run: str, name: str, series: _Series) -> ShownWorker:
    info = next(series.labels("benchwatch_run_info"), {})
    tool = named(info.get("tool", ""))
    roles = roles_of(tool.roles, series) if tool else None
    known = ShownWorker(
        run=run,
        name=name,
        tool=info.get("tool", ""),
        tool_version=info.get("tool_version", ""),
        roles=roles,
        state=next((labels["state"] for labels in series.labels("benchwatch_run_state")), "unknown"),
        reason=next((labels["reason"] for labels in series.labels("benchwatch_run_reason_info")), ""),
        last_report=series.value("benchwatch_run_last_report_timestamp_seconds"),
        report_interval=series.value("benchwatch_run_report_interval_seconds"),
        start=series.value("benchwatch_run_start_timestamp_seconds"),
        end=series.value("benchwatch_run_end_timestamp_seconds"),
        objective=series.value("benchwatch_run_latency_objective_seconds"),
        remarks=tuple(labels["note"] for labels in series.labels("benchwatch_run_note_info")),
        warmup=series.value("benchwatch_run_warmup_seconds") or 0.0,
    )
    if not tool or not roles:
        return known
    warnings = series.labels(roles.warnings.name) if roles.warnings else ()
    return known._replace(
        duration=_duration(series, tool, roles),
        now=tuple(_now(series, roles)),
        result=tuple(_result(series, roles)),
        lost={word: counts for word, one in roles.lost.items() if (counts := series.lost(one))},
        warnings=tuple(dict.fromkeys(labels["warning"] for labels in warnings)),
    )


def _now(series: _Series, roles: Roles) -> Iterator[Measured]:
    in_bytes = roles.unit.in_bytes
    for group in series.groups(roles.labels, roles.total, roles.rate) if roles.labels else [{}]:
        yield Measured(
            *_names(group),
            rate=series.value(roles.rate, group),
            latency=series.value(roles.latency, group),
            quantiles=series.quantiles(roles.window, roles.latency_max, group),
            bandwidth=series.value(roles.rate if in_bytes else roles.bandwidth, group),
            target_rate=None if in_bytes else series.value(roles.target_rate, group),
            target_bandwidth=series.value(roles.target_rate if in_bytes else roles.target_bandwidth, group),
            time=series.value(roles.interval_time, group),
            quantiles_time=series.value(roles.window_time, group),
        )


def _result(series: _Series, roles: Roles) -> Iterator[Measured]:
    for group in series.groups(roles.labels, roles.result_rate):
        yield Measured(
            *_names(group),
            rate=series.value(roles.result_rate, group),
            latency=series.value(roles.result_latency, group),
            quantiles=series.quantiles(roles.result_quantile, roles.result_latency_max, group),
            bandwidth=series.value(roles.result_rate if roles.unit.in_bytes else roles.result_bandwidth, group),
        )


def _names(group: Mapping[str, str]) -> tuple[str, str]:
    """The job and the operation of a group."""
    *job, op = group.values() or ("",)
    return " ".join(job), op


def _duration(series: _Series, tool: Tool, roles: Roles) -> float | None:
    """How long the run was asked to take, seconds: as the tool or the record of `benchwatch run` says, or its command.

    Several jobs may wait for each other, so their command does not say it.
    """
    if (seconds := series.value(roles.duration)) is not None:
        return seconds
    parameters = {labels["name"]: labels["value"] for labels in series.labels("benchwatch_run_parameter")}
    alone = roles.jobs is None or len(list(series.labels(roles.jobs.name))) <= 1
    return tool.planned(parameters, alone=alone)


def _vdisk(cvm: str, vdisk: str, series: _Series) -> ShownVdisk:
    info = next(series.labels("nutanix_vdisk_info"), {})
    return ShownVdisk(
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
