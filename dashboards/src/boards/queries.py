"""PromQL that several dashboards share.

Rules: gauges of a tool's reports are reduced over `$__interval` (mean for rates, maximum for latencies), so that a
zoomed-out graph still shows a spike of one second; what is added up or multiplied is so at each second, before that,
since of two jobs that follow each other within a step each would count in full; counters go through `rate` over
`$__rate_interval`; numerators and denominators are summed before the division; no quantile is ever averaged: over
several workers the highest is shown.
The CVM's pages are read every 10 s, so their gauges are taken as they are, but of latencies the highest in each step.

What would be added up from very many series comes from what prometheus/rules/dashboards.yml records of whole runs. The
variable `recorded` names the chosen runs that have that, `RECORDED` selects it; `UNRECORDED` selects the workers of the
others: no rules, or backfilled, or only some workers chosen. A side that selects nothing costs nothing.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchwatch.tools.registry import TOOLS

RUN = 'run=~"$run",worker=~"$worker"'
RECORDED = 'run=~"$recorded"'
UNRECORDED = f'{RUN},run!~"$recorded"'
FIO = f'{RUN},job=~"$job"'
VDISK = 'cvm=~"$cvm",vdisk=~"$vdisk"'
HOST = 'host=~"$host"'
ROLES = {"log": 'role=~"log|wal"', "data": 'role!~"|log|wal"'}
"""Of disks and vdisks, as prometheus/rules have them: what is not the log is data."""

_OTHERS = ("nutanix", "benchwatch", "node", "pg", "process", "scrape")
"""What names of metrics begin with, besides those of the tools."""


class Query(NamedTuple):
    """One PromQL query of a panel.

    `instant`: its value at the end of the time range instead of its course. `minimum_step`: the shortest step, as text.
    """

    expression: str
    legend: str = ""
    instant: bool = False
    minimum_step: str = ""


def now(expression: str, legend: str = "") -> Query:
    """The value at the end of the time range."""
    return Query(expression, legend, instant=True)


def metrics(queries: tuple[Query, ...]) -> tuple[str, ...]:
    """The names of the metrics that are asked for, each once, in order of appearance."""
    begins = {family.name.partition("_")[0] for tool in TOOLS for family in tool.families} | {*_OTHERS}
    name = re.compile(rf"\b\w+:\w+:\w+|\b(?:{'|'.join(sorted(begins))})_\w+|\bALERTS(?:_FOR_STATE)?\b|\bup\b")
    return tuple(dict.fromkeys(found for query in queries for found in name.findall(query.expression)))


def one_of(label: str, expressions: Mapping[str, str]) -> str:
    """All of these in one query, told apart by a label: a question for each costs more than its answer."""
    return "\nor ".join(f'label_replace({one}, "{label}", "{value}", "", "")' for value, one in expressions.items())


def any_of(names: Sequence[str], matchers: str) -> str:
    """Series of all these families."""
    return f'{{__name__=~"{"|".join(names)}",{matchers}}}'


def mean(series: str) -> str:
    """A reported rate over each step of the graph: its mean."""
    return f"avg_over_time({series}[$__interval])"


def alive(series: str, shift: str = "") -> str:
    """Series at each second of a subquery, but not after their last sample: backfilled ones end without a marker."""
    return f"({series}{shift} and last_over_time({series}[1500ms]{shift}))"


def mean_of(expression: str) -> str:
    """What is made of several reported rates, over each step of the graph: the mean of its seconds."""
    return f"avg_over_time(({expression})[$__interval:1s])"


def oplog_writes(vdisks: str) -> str:
    """Part of the writes that went to the oplog, for each vdisk that these matchers select.

    The page leaves the cell of nothing empty: 0 where only others of the vdisk are filled in.
    """
    every, by = f"nutanix_vdisk_write_destination_ratio{{{vdisks}", "max by (cvm, vdisk)"
    return f'{by} ({every},destination="oplog"}}) or 0 * {by} ({every},destination!="oplog"}})'


def hdd_reads(vdisks: str) -> str:
    """Part of the reads that came from hard disks, near or far, in the same way."""
    every, by = f"nutanix_vdisk_read_source_ratio{{{vdisks}", "sum by (cvm, vdisk)"
    one = "max by (cvm, vdisk, source)"  # of several exporters that know it
    return f'{by} ({one} ({every},source=~".*hdd.*"}})) or 0 * {by} ({every}}})'


def followed(result: str) -> str:
    """Runs with workers that followed each other, whose results must not be added, by the times of those with one.

    All of them ran together for less than a tenth of the shortest one's time (see compare.concurrent).
    """
    start, end = (
        f"benchwatch_run_{moment}_timestamp_seconds and on (run, worker) {result}" for moment in ("start", "end")
    )
    length = "benchwatch_run_end_timestamp_seconds - benchwatch_run_start_timestamp_seconds"
    shortest = f"min by (run) ({length} and on (run, worker) {result})"
    return f"min by (run) ({end}) - max by (run) ({start}) < 0.1 * {shortest}"


def once(series: str) -> str:
    """What is added up: of several exporters that report the same, one counts."""
    return f"max without (instance) ({series})"


def peak(series: str) -> str:
    """A reported latency over each step of the graph: its maximum."""
    return f"max_over_time({series}[$__interval])"


def lately(series: str) -> str:
    """What was there at any time in a step of the graph; of what is recorded more seldom than that, its last value."""
    return f"max_over_time({series}[$__interval]) or {series}"


def rate(series: str) -> str:
    """Increase a second of a counter."""
    return f"rate({series}[$__rate_interval])"


def p99_or_others(series: str, by: str = "quantile") -> str:
    """The highest 99th percentile; for workers that do not report it, all that they report but the maximum.

    `series` has %s for the matcher of the label `quantile`.
    """
    p99, others = (series.replace("%s", matcher) for matcher in ('quantile="0.99"', 'quantile!="1"'))
    return f"max by ({by}) ({p99} or ({others} unless on (run, worker) {p99}))"


def percentiles(series: str) -> str:
    """Series with the label `quantile` as people say it: p50, p99, p99.9, max."""
    names = {"0[.]5": "p50", "0[.]9": "p90", "0[.]([0-9]{2})": "p$1", "0[.]([0-9]{2})([0-9]+)": "p$1.$2", "1": "max"}
    for pattern, name in names.items():
        series = f'label_replace({series}, "quantile", "{name}", "quantile", "{pattern}")'
    return series


def histogram(buckets: str) -> str:
    """Observations a second between two bounds in each step, for a heatmap."""
    return f"sum by (le) ({once(rate(buckets))})"


def named(vdisks: str, by: str) -> str:
    """Series of vdisks with the vdisk's name as label `which`: VM, disk and role of the mapping, else its number.

    A number that stands for several vdisks, as those of two clusters may, is followed by the CVM.
    `by` are the matchers of the vdisks. One exporter of several may have a mapping: that one counts. The names are
    those of the whole range, since a vdisk keeps its name when it moves, and are made once, not at each step.
    """

    def known(matcher: str, labels: str = "cvm, vdisk, vm, disk, role") -> str:
        info = f"nutanix_vdisk_info{{{by}{matcher}}}[$__range] @ end()"
        return f"group by ({labels}) (last_over_time({info}))"

    mapped = " or ".join(known(f',{label}!=""') for label in ("vm", "role"))
    numbers = f'label_replace({known("")}, "which", "vdisk $1", "vdisk", "(.+)")'
    shared = f"count by (vdisk) ({known('', 'vdisk, vdisk_name')}) > 1"
    numbers = f'(label_join({numbers} and on (vdisk) ({shared}), "which", " of ", "which", "cvm")\nor {numbers})'
    names = f'label_join({mapped}, "which", " ", "vm", "disk", "role")\nor on (cvm, vdisk) {numbers}'
    return f"({vdisks})\n* on (cvm, vdisk) group_left (which) topk by (cvm, vdisk) (1,\n{names})"


def node(name: str, device: str, more: str = "") -> str:
    """A disk counter of node_exporter for the chosen hosts and the devices of a variable."""
    return f'node_disk_{name}{{{HOST},device=~"${device}"{more}}}'


def of_role(disks: str, role: str) -> str:
    """Of these disks (labels host and device) those of a role: a name can be the log on one host and data on another.

    As the chosen runs have recorded it; on a host of which they record no role, as it is configured; on a host without
    any role, those of the variable.
    """
    device = f'device=~"${role}_device"'
    this = f"{device},{ROLES[role]}"
    recorded, configured = f"benchwatch_run_disk_info{{{RUN}}} @ end()", "benchwatch_disk_info @ end()"
    known = (
        f"benchwatch_run_disk_info{{{RUN},{this}}} @ end()",
        f"benchwatch_disk_info{{{this}}} @ end() unless on (host) {recorded}",
        f"node_disk_io_now{{{HOST},{device}}} unless on (host) ({recorded} or {configured})",
    )
    return f"({disks})\nand on (host, device) ({' or '.join(known)})"


def processors(modes: str, by: str = "host") -> str:
    """Part of the chosen hosts' processor time that went into modes, which a matcher selects: by `host`, or `mode`.

    By the time of all modes, not by that of the clock: where scrapes are missing, rates are too low, but all alike.
    """
    of_hosts, whole = f"node_cpu_seconds_total{{{HOST}", "host" if by == "host" else ""
    part = f"sum by ({by}) ({rate(f'{of_hosts},mode{modes}}}')})"
    return f"{part} / on ({whole}) group_left () sum by ({whole}) ({rate(f'{of_hosts}}}')})"


def await_seconds(device: str, operation: str) -> str:
    """Mean time a request to a device took: seconds of all requests by requests; nothing where there were none."""
    seconds = f"sum by (host, device) ({rate(node(f'{operation}_time_seconds_total', device))})"
    requests = f"sum by (host, device) ({rate(node(f'{operation}s_completed_total', device))})"
    return f"{seconds} / ({requests} > 0)"
