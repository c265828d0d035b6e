"""A comparison in words and numbers as people read them: 62,190 TPS, 1.24 ms, 310 MiB/s, +7.5 %."""

from collections.abc import Callable, Mapping, Sequence

from ..metrics.latencies import Group
from ..tools.roles import Roles
from ..values import numbers
from .changes import Row
from .experiment import Experiment
from .measures import LATENCY_MEAN, THROUGHPUT, Measure, Unit, unit_of

_TEXTS: Mapping[Unit, Callable[[float], str]] = {
    "per second": numbers.rate_in_full,
    "bytes per second": numbers.bandwidth,
    "seconds": numbers.latency,
    "ratio": numbers.part,
}


_SAME = 0.05
"""Seconds by which the time left out may differ from the warm-up without a remark."""


def quantity(value: float, unit: Unit) -> str:
    """A number with its unit, if that is not "per second"."""
    return _TEXTS[unit](value)


def figure(value: float, measure: Measure, roles: Roles) -> str:
    """A figure with its unit; the unit of a throughput is in its title, unless it is in bytes."""
    if measure is THROUGHPUT and roles.unit.in_bytes:
        return numbers.throughput(roles.unit.name)(value)
    return quantity(value, unit_of(measure, roles))


def span(seconds: Sequence[float]) -> str:
    """The lengths of runs: 60 s, 58 to 61 s."""
    low, high = (f"{value:,.0f}" if value >= 10 else f"{value:.2g}" for value in (min(seconds), max(seconds)))
    return f"{low} s" if low == high else f"{low} to {high} s"


def percent(ratio: float) -> str:
    """A change: 0.0752 is +7.5 %."""
    size = abs(ratio)
    text = f"{100 * ratio:+.1f}" if size < 10 else f"{100 * ratio:+.0f}" if size < 1000 else f"{100 * ratio:+.0e}"
    return f"{'0.0' if text in ('-0.0', '+0.0') else text} %"


def interval(found: tuple[float, float] | None) -> str:
    """+6.9 to +8.1 %; empty where there is none."""
    return "" if found is None else f"{percent(found[0]).removesuffix(' %')} to {percent(found[1])}"


def title(measure: Measure, roles: Roles) -> str:
    """The title of a measure; a throughput has the tool's own word, unless it is in bytes."""
    return roles.unit.name if measure is THROUGHPUT and not roles.unit.in_bytes else measure.title


def heading(group: Group) -> str:
    """The name of a group: its job, if there are several, and its operation."""
    return " ".join(part for part in group if part)


def row_title(measure: Measure, roles: Roles, warmup: bool) -> str:
    """The title of a table row; it says "whole run" if only the other rows leave out the warm-up."""
    return f"{title(measure, roles)}, whole run" if warmup and measure.of_all else title(measure, roles)


def sentence(row: Row, roles: Roles, confidence: float) -> str:
    """The verdict of a row as a sentence: what changed, by how much, how certain that is, and why."""
    what = f"{heading(row.group)} {title(row.measure, roles)}".strip()
    change = "" if row.ratio is None else f" {percent(row.ratio)}"
    sure = "" if row.interval is None else f" ({level(confidence)} interval {interval(row.interval)})"
    return f"{what}{change}{sure}, {row.verdict}: {row.reason}"


def headline(row: Row, roles: Roles, base: str = "", other: str = "") -> str:
    """A verdict in one line: sync-on 1,528 → sync-off 2,212 TPS, +44.7 % (21 to 73), better; without names, if several
    verdicts stand below each other, TPS 1,528 → 2,212, +44.7 % (21 to 73), better.
    """
    left, right = (figure(value, row.measure, roles) for value in (row.base, row.other))
    name = "" if row.measure is THROUGHPUT and roles.unit.in_bytes else title(row.measure, roles)
    what = " ".join(part for part in (heading(row.group), name) if part)
    both = f"{base} {left} → {other} {right} {what}" if base else f"{what} {left} → {right}"
    change = "" if row.ratio is None else f", {percent(row.ratio)}"
    ends = [100 * end for end in row.interval or ()]
    sure = f" ({' to '.join(f'{end:.2g}' if abs(end) < 10 else f'{end:,.0f}' for end in ends)})" if ends else ""
    return f"{both.strip()}{change}{sure}, {row.verdict}"


def level(confidence: float) -> str:
    """A confidence: 0.95 is 95 %. It never becomes 100 % by rounding."""
    text = f"{100 * confidence:.4g}"
    return f"{text if text != '100' else f'{100 * confidence:.10g}'} %"


def describe(experiment: Experiment) -> str:
    """One line about a side: name, tool, number of runs and workers, length.

    With a warm-up, also the time left out and the result of the whole run.
    """
    first = experiment.runs[0]
    versions = ", ".join(
        dict.fromkeys(found for run in experiment.runs if (found := run.parameters.get("tool_version")))
    )
    tool = f"{first.tool} {versions.removeprefix(f'{first.tool}-')}".strip()
    number = len(experiment.runs)
    parts = [f"{experiment.name}: {tool}, {number} run{'s' * (number > 1)}"]
    workers = max(len(run.timelines) for run in experiment.runs)
    if workers > 1:
        parts.append(f"of {workers} workers")
    lengths = [run.seconds for run in experiment.runs if run.seconds is not None]
    if lengths:
        parts.append(f"of {span(lengths)}")
    if any(run.left_out for run in experiment.runs):
        parts.append(f"without the first {_left_out(experiment)}")
    return " ".join(parts) + _whole(experiment)


def _left_out(experiment: Experiment) -> str:
    run = max(experiment.runs, key=lambda run: abs(run.left_out - run.warmup))
    if abs(run.left_out - run.warmup) < _SAME:
        return f"{run.warmup:g} s"
    return f"{round(run.left_out, 2):g} s (its warm-up of {run.warmup:g} s ends within a report)"


def _whole(experiment: Experiment) -> str:
    """The result including the warm-up, as other views show it; for several runs, the mean."""
    groups = {group for run in experiment.runs for group, measure in run.main()}
    if len(groups) != 1 or not all(run.whole for run in experiment.runs):
        return ""
    (group,) = groups
    roles = experiment.runs[0].roles
    found = []
    unit = "" if roles.unit.in_bytes else f" {title(THROUGHPUT, roles)}"
    for measure, text in ((THROUGHPUT, f"{{}}{unit}"), (LATENCY_MEAN, "mean {}")):
        values = [run.whole.get((group, measure)) for run in experiment.runs]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            found.append(text.format(figure(sum(known) / len(known), measure, roles)))
    return f"; whole run: {', '.join(found)}" if found else ""
