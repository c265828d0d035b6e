"""What benchmarks report, whatever the tool: throughput, latency and its distribution, by the roles of its families."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from grafana_foundation_sdk.models import dashboard

from benchwatch.metrics.samples import Family
from benchwatch.tools.api import Tool
from benchwatch.tools.registry import TOOLS
from benchwatch.tools.roles import Roles

from .look import in_unit, override
from .panels import heatmap
from .queries import (
    RECORDED,
    RUN,
    UNRECORDED,
    Query,
    any_of,
    histogram,
    mean,
    mean_of,
    one_of,
    peak,
    percentiles,
)
from .strips import strip

MAXIMUM = "1"
NO_RUN = "No report of a run in this time range"
_RULES = Path(__file__).parents[3] / "prometheus/rules/dashboards.yml"
_RECORDS = frozenset(re.findall(r"record: (\S+)", _RULES.read_text()))

_RUNS = f"group by (run) (last_over_time(benchwatch_run_info{{{RUN}}}[$__range] @ end()))"
ONE = f"count({_RUNS}) == 1"
"""Something, if one run is chosen."""
OBJECTIVE = Query(
    f"min(benchwatch_run_latency_objective_seconds{{{RUN}}}"
    f" unless on (run, worker) benchwatch_run_end_timestamp_seconds{{{RUN}}})",
    "objective",
)
"""The lowest of the runs that are active at that time: those that have ended do not miss theirs any more."""


def parts(tools: Sequence[Tool]) -> Iterator[tuple[Tool, Roles, Sequence[Roles]]]:
    """The roles of each tool but observers, with those that count before them for the same run."""
    for tool in tools:
        told = [roles for roles in tool.roles if not roles.observer]
        yield from ((tool, roles, told[:index]) for index, roles in enumerate(told))


def counted(roles: Roles, runs: str) -> str:
    """Matchers of what is in a total of its rates."""
    return f'{runs},{roles.operation}!~"{"|".join(sorted(roles.apart))}"' if roles.apart else runs


def together(roles: Roles) -> str:
    """How the rates of a run's workers are one: of the whole server, each of them counts what the others count."""
    return "max" if roles.whole_server else "sum"


def names(families: Iterable[Family | None]) -> list[str]:
    """The name of each family, once."""
    return list(dict.fromkeys(family.name for family in families if family))


class _Families(NamedTuple):
    """Rates that one query can select by name, and the runs of which it does.

    `together`: how the rates of a run's workers are one; `in_bits`: shown as bits.
    """

    runs: str
    together: str
    in_bits: bool


def _reported(members: Sequence[tuple[Roles, int]], runs: str) -> str:
    """The reports of these rates at a second of a subquery, the family's name as label `family`.

    The number is how many others count before one for the same worker.
    """
    apart: dict[str, set[str]] = {}
    for roles, _ in members:
        if roles.apart:
            apart.setdefault(roles.operation, set()).update(roles.apart)
    matchers = "".join(f',{label}!~"{"|".join(sorted(values))}"' for label, values in sorted(apart.items()))

    def named(chosen: Iterable[Roles]) -> str:
        return any_of(names(roles.rate for roles in chosen), runs + matchers)

    ranks = sorted({rank for _, rank in members})
    first = " or on (run, worker) ".join(named(roles for roles, one in members if one == rank) for rank in ranks)
    lately = f"last_over_time({named(roles for roles, _ in members)}[1500ms])"
    return f'label_replace(({first}) and {lately}, "family", "$1", "__name__", "(.+)")'


def _in_units(series: str, tools: Sequence[Tool]) -> str:
    """With the unit of its `family` as label `unit`."""
    units: dict[str, list[Family]] = {}
    for _, roles, _ in parts(tools):
        units.setdefault(roles.unit.name, []).append(roles.rate)
    for unit, families in units.items():
        series = f'label_replace({series}, "unit", "{unit}", "family", "{"|".join(names(families))}")'
    return f"sum by (run, unit) ({series})"


def _either(units: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """One expression for each unit."""
    return {unit: f"({' or '.join(series)})" for unit, series in units.items()}


def _recorded(name: str, more: str = "") -> str:
    """A recorded series of the chosen runs, empty if no rule records it. `more`: a further matcher."""
    return f"{name}{{{','.join(filter(None, (RECORDED, more)))}}}" if name in _RECORDS else ""


def throughput(height: int = 3, tools: Sequence[Tool] = TOOLS) -> dashboard.Panel:
    """All workers and operations of a run together."""
    recorded: dict[str, list[str]] = {}
    targets: dict[str, list[str]] = {}
    groups: dict[_Families, list[tuple[Roles, int]]] = {}
    for _, roles, earlier in parts(tools):
        rates = _recorded(f"run:{roles.rate.name}:mean1s")
        if rates:
            recorded.setdefault(roles.unit.name, []).append(in_unit(roles.unit, f"sum by (run) ({mean(rates)})"))
        group = _Families(UNRECORDED if rates else RUN, together(roles), roles.unit.name == "bit/s")
        groups.setdefault(group, []).append((roles, len(earlier)))
        if target := roles.target_rate:
            labels = ", ".join(("run", "worker", *roles.labels))
            wanted = f"max by ({labels}) ({target.name}{{{RUN}}} and on ({labels}) {roles.rate.name})"
            targets.setdefault(roles.unit.name, []).append(in_unit(roles.unit, f"sum by (run) ({wanted})"))
    own = []
    for group, members in groups.items():
        labels = ", ".join(
            dict.fromkeys(("run", "worker", "family", *(one for roles, _ in members for one in roles.labels)))
        )
        each = mean_of(f"{group.together} by (run, family) (max by ({labels}) ({_reported(members, group.runs)}))")
        own.append(f"8 * {each}" if group.in_bits else each)
    rate = _in_units(f"({' or '.join(own)})", tools)
    if recorded:
        rate = f"{one_of('unit', _either(recorded))}\nor {rate}"
    units = [unit.replace("/", r"\/") for unit in dict.fromkeys(roles.unit.name for _, roles, _ in parts(tools))]
    shared = "|".join(tool.name for tool, roles, _ in parts(TOOLS) if roles.whole_server)
    usual = " or ".join(
        f'{how} by (run) (max by (run, worker, job, op) (worker:operations:rate_median5m{{{RUN},unit="",tool{which}}}))'
        for how, which in (("sum", f'!~"{shared}"'), ("max", f'=~"{shared}"'))
    )
    dashed = one_of("unit", _either(targets))
    return strip(
        "Rate",
        "What each run does a second, all workers together: the mean of the reports in each step. Of a single run also "
        "its usual rate, the median of 5 minutes, and its target (dashed).",
        Query(rate, "{{run}} {{unit}}"),
        Query(f"({usual}) and on () ({ONE})", "{{run}} usual"),
        *([Query(f"({dashed}) and on () ({ONE})", "{{run}} {{unit}} target")] if targets else []),
        unit="short",
        bad="drops to 0, saw-teeth with the period of checkpoints, or stays below the dashed target.",
        none=NO_RUN,
        height=height,
        slow="1",
        by_order=True,
        overrides=[
            override("byRegexp", f"/^({'|'.join(units)}) *$/", color={"mode": "fixed", "fixedColor": "green"}),
            *(
                override("byRegexp", f"/{unit}/", unit=shown, custom__axisPlacement="hidden")
                for unit, shown in ((r"\bB\/s", "Bps"), (r"\bbit\/s", "bps"))
            ),
        ],
    )


def _mean_latency(tools: Sequence[Tool]) -> str:
    """Operations under way by operations a second: the mean over all operations of a run, of a run's tools the highest.

    A second in which nothing completed has no latency and counts for nothing.
    """
    known: dict[str, str] = {}
    groups: dict[str, list[tuple[Roles, int]]] = {}
    for tool, roles, earlier in parts(tools):
        rates = _recorded(f"run:{roles.rate.name}:mean1s")
        under_way = _recorded(f"run:{tool.name.replace('-', '_')}_under_way:mean1s")
        if roles.latency and rates and under_way:
            both = (f"sum by (run) (sum_over_time({one}[$__interval]))" for one in (under_way, rates))
            known[roles.rate.name] = f"({' / '.join(both)})"
        if roles.latency:
            groups.setdefault(UNRECORDED if under_way else RUN, []).append((roles, len(earlier)))
    means = [one_of("family", known)] if known else []
    for runs, members in groups.items():
        rate = _reported(members, runs)
        latencies = any_of(names(roles.latency for roles, _ in members), runs)
        under_way = f"{rate} * ignoring (family) group_left () {latencies}"
        sums = (f"sum_over_time((sum by (run, family) ({one}))[$__interval:1s])" for one in (under_way, rate))
        means.append(" / ".join(sums))
    return f"max by (run) ({' or '.join(means)})"


def latency(height: int = 3, tools: Sequence[Tool] = TOOLS) -> dashboard.Panel:
    """Of one run mean, p99, maximum and objective; of several a line each, of the same kind: p99 or mean."""
    with_p99 = _of_runs(names(roles.window for _, roles, _ in parts(tools)), ":max1s")
    with_mean = _of_runs(names(roles.latency for _, roles, _ in parts(tools)), "_under_way:mean1s")
    same = f"(count({with_p99}) == count({_RUNS}))"
    p99 = percentiles(_windows(tools, "0.99"))
    # One query with the labels run and what: its lines are in the order of the runs, as those of the rate.
    both = (
        f'label_replace({_mean_latency(tools)}, "what", "mean", "", "") unless on () ({same} unless on () ({ONE}))',
        f'max by (run, what) (label_replace({p99}, "what", "$1", "quantile", "(.+)"))'
        f" unless on (run) ({with_mean} unless on () ({same} or on () ({ONE})))",
    )
    return strip(
        "Latency",
        "Of one run: the mean over all operations, and percentiles of each second or report, the highest of the "
        "workers and of the reports in each step. Never averaged: with one worker they are as exact as the tool's own. "
        "Some appear seconds to the right of the mean, when the tool's log has them. Of several runs the p99 of each "
        "if all have one, otherwise the mean of each: the legend says which.",
        Query("\nor\n".join(both), "{{run}} {{what}}"),
        Query(f"{percentiles(_windows(tools, MAXIMUM))} and on () ({ONE})", "{{run}} {{quantile}}"),
        Query(f"{OBJECTIVE.expression} and on () ({ONE})", OBJECTIVE.legend),
        unit="s",
        bad="p99 and max rise while the mean stays: a stall that affects only some operations, usually at the log.",
        none=NO_RUN,
        height=height,
        log=True,
        slow="1",
        by_order=True,
    )


def _of_runs(names: Sequence[str], recorded: str) -> str:
    """The runs that have one of these families within the time range, or what ends so is recorded of."""
    series = (any_of(names, UNRECORDED), f'{{__name__=~"run:.+{recorded}",{RECORDED}}}')
    return f"group by (run) ({' or '.join(f'last_over_time({one}[$__range] @ end())' for one in series)})"


def _windows(tools: Sequence[Tool], quantile: str) -> str:
    """A quantile of each run's windows; of tools that do not report the 99th percentile, their others instead."""
    found = []
    for _, roles, earlier in parts(tools):
        if roles.window and not earlier:
            recorded = _recorded(f"run:{roles.window.name}:max1s", "%s")
            series = f"{roles.window.name}{{{UNRECORDED if recorded else RUN},%s}}"
            every = " or ".join(peak(one) for one in (recorded, series) if one)
            wanted, others = (every.replace("%s", f'quantile{how}"') for how in (f'="{quantile}', '!="1'))
            more = f" or on (run) ({others})" if quantile != "1" else ""
            found.append(f"max by (run, quantile) (({wanted}){more})")
    return f"max by (run, quantile) ({' or '.join(found)})" if len(found) > 1 else found[0]


def distribution(size: tuple[int, int], tools: Sequence[Tool] = TOOLS) -> dashboard.Panel:
    """Operations over time by how long they took, without bounds below 0.1 ms, which are written as 9.8e-05."""
    parts = []
    for tool in tools:
        for family in dict.fromkeys(roles.histogram for roles in tool.roles if not roles.observer):
            if family is None or family.part != "live":
                continue
            buckets = f"{family.name}_bucket"
            recorded = _recorded(f"run:{buckets}:rate5s")
            own = histogram(f'{buckets}{{{UNRECORDED if recorded else RUN},le!~".*e-0."}}')
            parts.append(f"(sum by (le) ({mean(recorded)})\nor\n{own})" if recorded else own)
    advice = "; ".join(
        f"{tool.advice} it for {tool.name}" for tool in tools if any(one.histogram for one in tool.roles)
    )
    return heatmap(
        "Latency distribution",
        "Operations per second by latency, over time; the lowest row has everything below 0.1 ms. With "
        f"several tools, the first that has one. {advice[:1].upper()}{advice[1:]}.",
        Query("\nor on ()\n".join(parts), "{{le}}"),
        unit="s",
        bad="a second band above the main one, or a band that moves up.",
        none=NO_RUN,
        size=size,
    )
