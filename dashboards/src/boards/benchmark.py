"""What benchmarks report, whatever the tool: throughput, latency and its distribution, by the roles of its families."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

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
    alive,
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

_ACTIVE = f'benchwatch_run_state{{{RUN},state=~"running|stalled"}} == 1'
ONE = f"count(group by (run) (last_over_time(benchwatch_run_info{{{RUN}}}[$__range] @ end()))) == 1"
"""Something, if one run is chosen."""
OBJECTIVE = Query(
    f"min(benchwatch_run_latency_objective_seconds{{{RUN}}} and on (run, worker) ({_ACTIVE}))", "objective"
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


def _rate(roles: Roles, earlier: Sequence[Roles], runs: str, *, each_second: bool = False) -> str:
    """A series for each worker and group, whatever exporters report it; with `each_second` for a subquery."""
    series = f"{roles.rate.name}{{{counted(roles, runs)}}}"
    others = "".join(f" unless on (run, worker) {one.rate.name}{{{runs}}}" for one in earlier)
    labels = ", ".join(("run", "worker", *roles.labels))
    return f"max by ({labels}) ({alive(series) if each_second else series}{others})"


def _recorded(name: str, more: str = "") -> str:
    """A recorded series of the chosen runs, empty if no rule records it. `more`: a further matcher."""
    return f"{name}{{{','.join(filter(None, (RECORDED, more)))}}}" if name in _RECORDS else ""


def throughput(height: int = 3, tools: Sequence[Tool] = TOOLS) -> dashboard.Panel:
    """All workers and operations of a run together."""
    rates: dict[str, str] = {}
    targets: dict[str, str] = {}

    def add(units: dict[str, str], words: str) -> None:
        unit = roles.unit.name
        units[unit] = f"{units[unit]} or {words}" if unit in units else words

    for _, roles, earlier in parts(tools):
        recorded = _recorded(f"run:{roles.rate.name}:mean1s")
        runs = UNRECORDED if recorded else RUN
        own = mean_of(f"{together(roles)} by (run) ({_rate(roles, earlier, runs, each_second=True)})")
        add(rates, in_unit(roles.unit, f"sum by (run) ({mean(recorded)} or {own})" if recorded else own))
        if target := roles.target_rate:
            labels = ", ".join(("run", "worker", *roles.labels))
            wanted = f"max by ({labels}) ({target.name}{{{RUN}}} and on ({labels}) {roles.rate.name})"
            add(targets, in_unit(roles.unit, f"sum by (run) ({wanted})"))
    units = [unit.replace("/", r"\/") for unit in rates]
    shared = "|".join(tool.name for tool, roles, _ in parts(TOOLS) if roles.whole_server)
    usual = " or ".join(
        f'{how} by (run) (max by (run, worker, job, op) (worker:operations:rate_median5m{{{RUN},unit="",tool{which}}}))'
        for how, which in (("sum", f'!~"{shared}"'), ("max", f'=~"{shared}"'))
    )
    dashed = one_of("unit", {unit: f"({one})" for unit, one in targets.items()})
    return strip(
        "Rate",
        "What each run does a second, all workers together: the mean of the reports in each step. Of a single run also "
        "its usual rate, the median of 5 minutes, and its target (dashed).",
        Query(one_of("unit", {unit: f"({one})" for unit, one in rates.items()}), "{{run}} {{unit}}"),
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


def _mean_latency(tool: Tool, roles: Roles, latency: Family) -> str:
    """Operations under way by operations a second: the mean over all operations of a run.

    A second in which nothing completed has no latency; it counts among the seconds of the step.
    """
    rates = _recorded(f"run:{roles.rate.name}:mean1s")
    under_way = _recorded(f"run:{tool.name.replace('-', '_')}_under_way:mean1s")
    runs = UNRECORDED if rates and under_way else RUN
    rate = alive(f"{roles.rate.name}{{{counted(roles, runs)}}}")
    seconds = f"count_over_time({rate}[$__interval:1s])"
    own = f"sum_over_time(({latency.name}{{{counted(roles, runs)}}} * {rate})[$__interval:1s]) / {seconds}"
    own_rate = f"avg_over_time({rate}[$__interval:1s])"
    if runs == RUN:
        return f"sum by (run) ({own})\n/\nsum by (run) ({own_rate})"
    known = f"sum_over_time({under_way}[$__interval]) / count_over_time({rates}[$__interval])"
    return f"sum by (run) ({known} or {own})\n/\nsum by (run) ({mean(rates)} or {own_rate})"


def latency(height: int = 3, tools: Sequence[Tool] = TOOLS) -> dashboard.Panel:
    """Of one run mean, p99, maximum and objective; of several a line each: p99, or the mean where there is none."""
    means = {
        tool.name: f"({_mean_latency(tool, roles, roles.latency)})" for tool, roles, _ in parts(tools) if roles.latency
    }
    known = " or ".join(
        f"last_over_time({one}[$__range] @ end())"
        for name in dict.fromkeys(roles.window.name for _, roles, _ in parts(tools) if roles.window)
        for one in (_recorded(f"run:{name}:max1s"), f"{name}{{{UNRECORDED}}}")
        if one
    )
    p99 = percentiles(_windows(tools, "0.99"))
    several = f"group by (run) ({known}) unless on () ({ONE})"
    mean_ = f"max by (run) ({one_of('tool', means)}) unless on (run) ({several})"
    # One query with the labels run and what: its lines are in the order of the runs, as those of the rate.
    both = (
        f'label_replace({mean_}, "what", "mean", "", "")',
        f'max by (run, what) (label_replace({p99}, "what", "$1", "quantile", "(.+)"))',
    )
    return strip(
        "Latency",
        "Of one run: the mean over all operations, and percentiles of each second or report, the highest of the "
        "workers and of the reports in each step. Never averaged: with one worker they are as exact as the tool's own. "
        "Some appear seconds to the right of the mean, when the tool's log has them. Of several runs the p99 of each, "
        "or the mean where there is none.",
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
