"""A worker as plain data (`model.Worker`): what pages, `/api/runs` and `watch` show of it."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from ..metrics.samples import Family, Sample
from ..model.run import Loss, Measured, Worker
from ..tools.roles import Numbers, Roles
from .observer import Observer

SILENT = 15.0
"""Seconds without a report after which a running benchmark counts as one that does not report."""


def silent(worker: Observer) -> bool:
    """Whether the benchmark runs, but has not reported since it began."""
    waiting = worker.phase == "running" and worker.last_report is None
    return waiting and worker.quiet > SILENT and bool(worker.tool.advice)


def shown(worker: Observer) -> Worker:
    """The worker now."""
    known = of_whole_run(worker, list(worker.state.samples(worker.current)))
    if worker.ended and worker.runfile.warmup:  # the tool's own include it: its page has the result
        known.update(throughput=None, latency=None, p99=None)
    return Worker(**known)


def of_whole_run(worker: Observer, own: Sequence[Sample]) -> dict[str, Any]:
    """The fields of `model.Worker`; the figures of one that has ended include its warm-up.

    `own` are the samples of its tool, without the gauges of the last interval if that is over.
    """
    state, roles, tool, figures = worker.state, worker.roles, worker.tool, worker.figures
    numbers = _numbers(own)
    warnings = numbers.get(roles.warnings.name, {}) if roles.warnings else {}
    notes = worker.notes
    sweep = worker.runfile.sweep
    if silent(worker):
        notes.append(f"{tool.name} has not reported since it began: {tool.advice} reports after a restart")
    return {
        "run": worker.run,
        "name": worker.name,
        "tool": tool.name,
        "tool_version": state.tool_version,
        "state": worker.phase,
        "reason": worker.reason,
        "notes": tuple(notes),
        "warnings": tuple(dict.fromkeys(labels[-1] for labels in warnings)),
        "labels": dict(sorted(worker.runfile.labels.items())),
        "parameters": dict(worker.parameters),
        "experiment": sweep.of if sweep else worker.runfile.repeat_of,
        "point": sweep.values if sweep else {},
        "unit": roles.unit.name,
        "in_bytes": roles.unit.in_bytes,
        "observer": roles.observer,
        "apart": tuple(sorted(roles.apart)),
        "whole_server": roles.whole_server,
        "start": _plain(worker.start),
        "end": _plain(worker.end) if worker.ended else None,
        "last_report": worker.last_report,
        "report_interval": state.report_interval,
        "duration": _plain(worker.planned(own)),
        "measured": roles.measured(numbers),
        "warmup": float(worker.runfile.warmup),
        "objective": _plain(worker.runfile.latency_objective),
        "throughput": figures.throughput,
        "latency": figures.latency,
        "p99": figures.p99,
        "time": figures.time,
        "p99_time": figures.p99_time,
        "operations": figures.operations,
        "now": () if worker.ended else tuple(_now(numbers, roles)),
        "result": tuple(_result(numbers, roles)) if worker.ended else (),
        "lost": {word: Loss(*counts, lost.bad) for word, lost in roles.lost.items() if (counts := lost.told(numbers))},
        "reports": tuple(state.history),
    }


def _plain(seconds: float | None) -> float | None:
    """A Duration or PointInTime as the number that JSON knows."""
    return None if seconds is None else float(seconds)


def _numbers(own: Sequence[Sample]) -> Numbers:
    """Its counters and gauges, by family and by the values of the family's labels."""
    found: dict[str, dict[tuple[str, ...], float]] = defaultdict(dict)
    for sample in own:
        if isinstance(sample.value, int | float) and math.isfinite(sample.value):
            found[sample.family.name][sample.labels] = sample.value
    return found


Group = tuple[str, ...]


def _groups(numbers: Numbers, roles: Roles, *families: Family | None) -> list[Group]:
    """The labels for which these families have numbers, in the tool's order."""
    length = len(roles.labels)
    every = (labels for one in families if one for labels in numbers.get(one.name, ()))
    return list(dict.fromkeys(labels[:length] for labels in every))


def _value(numbers: Numbers, group: Group, family: Family | None) -> float | None:
    return numbers.get(family.name, {}).get(group) if family else None


def _quantiles(numbers: Numbers, group: Group, family: Family | None, highest: Family | None) -> dict[str, float]:
    """Latencies by quantile; the family `highest` is quantile 1."""
    every = numbers.get(family.name, {}) if family else {}
    found = {labels[-1]: value for labels, value in every.items() if labels[:-1] == group}
    latency = _value(numbers, group, highest)
    return found if latency is None else found | {"1": latency}


def _now(numbers: Numbers, roles: Roles) -> Iterator[Measured]:
    in_bytes = roles.unit.in_bytes
    for group in _groups(numbers, roles, roles.total, roles.rate) if roles.labels else [()]:
        value = partial(_value, numbers, group)
        yield Measured(
            *_names(group),
            rate=value(roles.rate),
            latency=value(roles.latency),
            quantiles=_quantiles(numbers, group, roles.window, roles.latency_max),
            bandwidth=value(roles.rate if in_bytes else roles.bandwidth),
            target_rate=None if in_bytes else value(roles.target_rate),
            target_bandwidth=value(roles.target_rate if in_bytes else roles.target_bandwidth),
            time=value(roles.interval_time),
            quantiles_time=value(roles.window_time),
        )


def _result(numbers: Numbers, roles: Roles) -> Iterator[Measured]:
    for group in _groups(numbers, roles, roles.result_rate):
        value = partial(_value, numbers, group)
        yield Measured(
            *_names(group),
            rate=value(roles.result_rate),
            latency=value(roles.result_latency),
            quantiles=_quantiles(numbers, group, roles.result_quantile, roles.result_latency_max),
            bandwidth=value(roles.result_rate if roles.unit.in_bytes else roles.result_bandwidth),
        )


def _names(group: Sequence[str]) -> tuple[str, str]:
    """The job and the operation of a group."""
    *job, op = group or ("",)
    return " ".join(job), op
