"""What benchmarks report, whatever the tool: throughput, latency and its distribution, by the roles of its families."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from grafana_foundation_sdk.models import dashboard

from benchwatch.metrics.samples import Family
from benchwatch.tools.api import Tool
from benchwatch.tools.registry import TOOLS
from benchwatch.tools.roles import Roles

from .look import RED, in_unit, network, override
from .panels import BOTH, graph, heatmap, stat
from .queries import (
    RECORDED,
    RUN,
    UNRECORDED,
    Query,
    alive,
    histogram,
    mean,
    mean_of,
    now,
    one_of,
    p99_or_others,
    peak,
    percentiles,
)

NO_REPORT, NO_LATENCY, NO_PERCENTILE = "no report now", "no latency now", "no percentile now"
NO_RUN = "No report of a run in this time range"
QUANTILES = (("0.5", "p50"), ("0.95", "p95"), ("0.99", "p99"), ("0.999", "p99.9"), ("1", "max"))
_RULES = Path(__file__).parents[3] / "prometheus/rules/dashboards.yml"
_RECORDS = frozenset(re.findall(r"record: (\S+)", _RULES.read_text()))

_ACTIVE = f'benchwatch_run_state{{{RUN},state=~"running|stalled"}} == 1'
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


def _rate(roles: Roles, earlier: Sequence[Roles], runs: str, *, each_second: bool = False) -> str:
    """A series for each worker and group, whatever exporters report it; with `each_second` for a subquery."""
    series = f"{roles.rate.name}{{{counted(roles, runs)}}}"
    others = "".join(f" unless on (run, worker) {one.rate.name}{{{runs}}}" for one in earlier)
    labels = ", ".join(("run", "worker", *roles.labels))
    return f"max by ({labels}) ({alive(series) if each_second else series}{others})"


def _by(roles: Roles) -> str:
    """Of a run each operation, where the tool tells them apart."""
    return f"sum by ({', '.join(('run', *filter(None, (roles.operation,))))})"


def _recorded(name: str, more: str = "") -> str:
    """A recorded series of the chosen runs, empty if no rule records it. `more`: a further matcher."""
    return f"{name}{{{','.join(filter(None, (RECORDED, more)))}}}" if name in _RECORDS else ""


def throughput(size: tuple[int, int], tools: Sequence[Tool] = TOOLS) -> dashboard.Panel:
    """All workers of a run together."""
    rates: dict[str, str] = {}
    targets: dict[str, str] = {}

    def add(units: dict[str, str], words: str) -> None:
        unit = roles.unit.name
        units[unit] = f"{units[unit]} or {words}" if unit in units else words

    for _, roles, earlier in parts(tools):
        recorded = _recorded(f"run:{roles.rate.name}:mean1s")
        runs = UNRECORDED if recorded else RUN
        own = mean_of(f"{_by(roles)} ({_rate(roles, earlier, runs, each_second=True)})")
        every = in_unit(roles.unit, f"({mean(recorded)} or {own})" if recorded else own)
        add(rates, _with_operation(roles, every))
        if target := roles.target_rate:
            labels = ", ".join(("run", "worker", *roles.labels))
            wanted = f"max by ({labels}) ({target.name}{{{RUN}}} and on ({labels}) {roles.rate.name})"
            add(targets, _with_operation(roles, in_unit(roles.unit, f"{_by(roles)} ({wanted})")))
    made = graph(
        "Throughput",
        "What each run does a second, all workers together: the mean of the reports in each step.",
        *(
            Query(
                one_of("unit", {unit: f"({one})" for unit, one in units.items()}), f"{{{{run}}}} {{{{unit}}}} {legend}"
            )
            for units, legend in ((rates, "{{op}}"), (targets, "{{op}} target"))
            if units
        ),
        unit="short",
        bad="drops to 0, saw-teeth with the period of checkpoints, or stays below the dashed target.",
        none=NO_RUN,
        size=size,
        right=("/B\\/s/", "Bps", None),
    )
    return network(made)


def _with_operation(roles: Roles, expression: str) -> str:
    """With the operation as label `op`, whatever the tool calls it."""
    if roles.operation in ("", "op"):
        return expression
    return f'label_replace({expression}, "op", "$1", "{roles.operation}", "(.*)")'


def _mean_latency(tool: Tool, roles: Roles, latency: Family) -> str:
    """Operations under way by operations a second: the mean over all operations of all runs.

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
        return f"sum ({own})\n/\nsum ({own_rate})"
    known = f"sum_over_time({under_way}[$__interval]) / count_over_time({rates}[$__interval])"
    return f"sum ({known} or {own})\n/\nsum ({mean(rates)} or {own_rate})"


def latency(
    size: tuple[int, int], tools: Sequence[Tool] = TOOLS, of: Sequence[tuple[str, str]] = QUANTILES
) -> dashboard.Panel:
    """Mean and quantiles of all workers of a tool, and the objective."""
    means, windows = {}, {}
    for tool, roles, earlier in parts(tools):
        if roles.latency:
            means[tool.name] = f"({_mean_latency(tool, roles, roles.latency)})"
        if roles.window and not earlier:
            which = [one for one in of if one[1] == "p99"] if roles.operation else of
            quantiles = "|".join(quantile for quantile, _ in which)
            by = ", ".join(filter(None, ("quantile", roles.operation)))
            recorded = _recorded(f"run:{roles.window.name}:max1s", f'quantile=~"{quantiles}"')
            series = f'{roles.window.name}{{{UNRECORDED if recorded else RUN},quantile=~"{quantiles}"}}'
            every = " or ".join(peak(one) for one in (recorded, series) if one)
            windows[tool.name] = _with_operation(roles, f"max by ({by}) ({every})")
    spoken = one_of("tool", windows)
    for quantile, name in of:
        spoken = f'label_replace({spoken}, "q", "{name}", "quantile", "{quantile}")'
    return graph(
        "Latency",
        "Mean over all operations and percentiles of each second or report, the highest of the workers and of the "
        "reports in each step. Never averaged: with one worker they are as exact as the tool's own. Some appear "
        "seconds to the right of the mean, when the tool's log has them.",
        Query(one_of("tool", means), "{{tool}} mean"),
        Query(spoken, "{{tool}} {{q}} {{op}}"),
        OBJECTIVE,
        unit="s",
        bad="p99 and max rise while p50 stays: a stall that affects only some operations, usually at the log device.",
        none=NO_RUN,
        size=size,
        log=True,
    )


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


def delays(tools: Sequence[Tool]) -> Iterator[Query]:
    """By how much a tool's percentiles are older than its mean latency, seconds; nothing below one second."""
    for tool, roles, earlier in parts(tools):
        if roles.interval_time and roles.window_time and not earlier:
            interval, window = (f"{family.name}{{{RUN}}}" for family in (roles.interval_time, roles.window_time))
            yield now(f"max({interval} - {window}) >= 1", f"{tool.name} p99 is older by")


def throughput_now(size: tuple[int, int]) -> dashboard.Panel:
    """The last report of each tool."""
    rates: dict[str, list[str]] = {}
    for tool, roles, earlier in parts(TOOLS):
        rate = in_unit(roles.unit, f"sum ({_rate(roles, earlier, RUN)})")
        rates.setdefault(f"{tool.name} {roles.unit.name}", []).append(rate)
    made = stat(
        "Throughput now",
        "The last report, all workers of a tool together; bytes or bits a second for tools that count bytes.",
        now(one_of("tool", {name: " or ".join(each) for name, each in rates.items()}), "{{tool}}"),
        unit="short",
        bad="0 while running: a total stall.",
        none=NO_REPORT,
        size=size,
        text_mode=BOTH,
        steps=((None, "text"), (0, RED), (0.001, "text")),
        decimals=0,
    )
    assert made.field_config is not None and made.field_config.overrides is not None
    made.field_config.overrides.append(override("byRegexp", "/B\\/s$/", unit="Bps"))
    made.field_config.overrides.append(override("byRegexp", "/bit\\/s$/", unit="bps"))
    return made


def latency_now(size: tuple[int, int]) -> dashboard.Panel:
    """Mean and 99th percentile of the last report, and the objective."""
    means, windows = {}, {}
    for tool, roles, earlier in parts(TOOLS):
        if roles.latency:
            rate, mean_ = (f"{family.name}{{{counted(roles, RUN)}}}" for family in (roles.rate, roles.latency))
            means[f"{tool.name} mean"] = f"sum ({mean_} * {rate}) / sum ({rate})"
        if roles.window and not earlier:
            windows[tool.name] = p99_or_others(f"{roles.window.name}{{{RUN},%s}}")
    return stat(
        "Latency now",
        "Mean of the last report over all operations, its 99th percentile (the highest of the workers; where the tool "
        "does not report it, its others), and the lowest latency objective of the active runs.",
        now(one_of("what", means), "{{what}}"),
        now(percentiles(one_of("tool", windows)), "{{tool}} {{quantile}}"),
        now(OBJECTIVE.expression, OBJECTIVE.legend),
        unit="s",
        bad="above the objective; or p99 is many times the mean: some operations wait for something that others do not "
        "need.",
        none=NO_LATENCY,
        size=size,
        text_mode=BOTH,
    )
