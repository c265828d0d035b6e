"""The head of a board: a line for each chosen run, with what it does, what is usual, and why it is slow."""

from collections.abc import Sequence

from grafana_foundation_sdk.models import dashboard

from benchwatch.tools.api import Tool
from benchwatch.tools.registry import TOOLS

from . import benchmark
from .look import BLUE, GREEN, ORANGE, RED, in_unit, transformation
from .queries import RUN, any_of, now, once
from .tables import Column, table

_RUN = 'run=~"$run"'


def _in_state(states: str, by: str = "run") -> str:
    """Those in one of the states, as of the last scrape that was answered."""
    return f'max by ({by}) (last_over_time(benchwatch_run_state{{{_RUN},state=~"{states}"}}[10s]) == 1)'


_ACTIVE = _in_state("running|stalled")
_SHOWN = f"({_ACTIVE} or on () {_in_state('.+')})"
"""The active runs; all where none is."""
_RATE, _USUAL = (
    f"max by (run, worker, job, op) (worker:operations:{name}{{{_RUN}}})" for name in ("rate", "rate_median5m")
)
_OBJECTIVE = f"min by (run) (benchwatch_run_latency_objective_seconds{{{_RUN}}})"
_SINCE = "run:benchmark_slow:since"
_SLOW = f"run:benchmark_slow:info{{{_RUN}}}"
_WHY = f"benchwatch_run_why_info{{{_RUN}}}"
_STILL = f"max by (run) (last_over_time({_SLOW}[5s]) or last_over_time({_WHY}[5s]))"
_SLOWNESS = f"max by (run) (run:benchmark_slowness:ratio{{{_RUN}}})"
_WORDS = (
    (f"{_SLOW} and on () max(benchwatch_why_up) == 1", "Slow; the cause is not known yet."),
    (_SLOW, "Slow. For the cause: benchwatch serve --prometheus.url=..."),
    (f"{_SLOWNESS} < 1.5", "As usual."),
    (_SLOWNESS, "Slower than usual, but within its noise."),
    (_ACTIVE, "Not judged: younger than a minute, or no rules."),
    (_SHOWN, "Ended."),
)
"""What is said of a run of which benchwatch why says nothing."""
_LINK = "/d/benchwatch-spike?${__url_time_range}&var-run=${__value.raw:percentencode}"


def verdict(window: str = "") -> str:
    """The sentence of each run as the label `text`, and the slow layer. `window`: the last one within that time."""
    if window:
        last = f"topk by (run) (1, max by (run, layer, text) (max_over_time(timestamp({_WHY})[{window}:1s])))"
    else:
        last = f"topk by (run) (1, max by (run, layer, text) ({_WHY}))"
    # Its cause alone: columns have latency and objective, graphs processors, other vdisks, requests and no data.
    rest = "( ([A-Z][a-z]+ are ruled out|The objective|Not seen).*)?"
    said = f".+?[.] (.+?)(; (reads|writes) of the .+?)?[.]{rest}"
    last = f'label_replace({last}, "text", "$1.", "text", "{said}")'
    last = f'label_replace({last}, "text", "$1$2", "text", "(.+) [(][0-9][^)]+ usually [^)]+[)](.+)")'
    if window:
        over = f'label_replace({last}, "text", "Over. $1", "text", "(.+)")'
        last = f"({last}) and on (run) {_STILL}\nor on (run) {over}"
    words = [f'label_replace(max by (run) ({which}), "text", "{text}", "", "")' for which, text in _WORDS]
    return "\nor on (run) ".join([last, *words])


def _percentile() -> str:
    windows = benchmark.names(roles.window for _, roles, _ in benchmark.parts(TOOLS))
    selected = any_of(windows, f'{RUN},quantile="0.99"')
    return f"max by (run) ({selected})"


def _rates(tools: Sequence[Tool]) -> str:
    """What a run does a second, by its first tool and that one's unit."""
    found = []
    for tool, roles, _ in benchmark.parts(tools):
        rate = f"{benchmark.together(roles)} by (run) ({once(f'{roles.rate.name}{{{benchmark.counted(roles, RUN)}}}')})"
        found.append(f'label_replace({in_unit(roles.unit, rate)}, "what", "{tool.name} {roles.unit.name}", "", "")')
    return "\nor on (run) ".join(found)


def head(height: int = 5, tools: Sequence[Tool] = TOOLS, window: str = "") -> dashboard.Panel:
    """A line a run, the slowest first. `window`: how far back a sentence may be."""
    p99 = _percentile()
    ranked = " or ".join(
        f"{weight} * {_in_state(state, 'run, state')}"
        for weight, state in ((3, "stalled"), (2, "running"), (1, "failed|interrupted|abandoned|finished"))
    )
    end = f"max by (run) (benchwatch_run_end_timestamp_seconds{{{_RUN}}})"
    start = f"min by (run) (benchwatch_run_start_timestamp_seconds{{{_RUN}}})"
    begun = (
        f"max by (run) (last_over_time({name}{{{_RUN}}}[{window or '10s'}]))"
        for name in ("benchwatch_run_why_since_timestamp_seconds", _SINCE)
    )
    planned = f"max by (run) (benchwatch_run_planned_seconds{{{_RUN}}})"
    hosts = f'last_over_time(benchwatch_run_host_info{{{_RUN},role="server"}}[{window or "10s"}])'
    queries = [
        f"topk by (run) (1, {ranked})",
        f"({_ACTIVE} * 0 + time() or on (run) {end}) - on (run) {start}",
        f"clamp_min({start} + on (run) {planned} - time(), 0) and on (run) {_ACTIVE}",
        _rates(tools),
        f"sum by (run) ({_RATE}) / sum by (run) ({_USUAL})",
        _latency("mean"),
        _latency("median5m"),
        f"{p99} or on (run) {_SHOWN} * NaN",
        f"{_OBJECTIVE} or on (run) {_SHOWN} * NaN",
        f"avg_over_time(({p99} > bool on (run) {_OBJECTIVE})[5m:1s])",
        f"1000 * ({' or '.join(begun)})",
        verdict(window),
        f"topk by (run) (1, max by (run, host) ({hosts}))",
        f"{_SLOWNESS} or on (run) 0 * {_SHOWN}",
    ]
    if window:
        last = (f"max by (run) (max_over_time(timestamp({one})[{window}:1s]))" for one in (_SLOW, _WHY))
        queries.append(f"1000 * ({' or on (run) '.join(last)}) unless on (run) {_STILL} or on (run) {_STILL} * NaN")
    return table(
        "",
        "A line for each active run (of ended ones, if none is active), the slowest first. Usual is the median of the "
        "last 5 minutes; the sentence is that of benchwatch why.",
        *(now(f"({query}) and on (run) {_SHOWN}") for query in queries),
        columns=[
            Column("run", "Run", width=208, link=_LINK),
            Column("host", "Host", width=50),
            Column("state", "State", width=63, mappings={"running": GREEN, "stalled|failed": RED, ".*": BLUE}),
            Column("Value #B", "Time so far", "s", width=60, decimals=0),
            Column("Value #C", "Time left", "s", width=52, decimals=0),
            Column("Value #D", "Rate", "sishort", width=60),
            Column("what", "Unit", width=102),
            Column(
                "Value #E",
                "Rate, of usual",
                "percentunit",
                width=69,
                decimals=0,
                as_text=True,
                steps=((None, "text"), (0, RED), (0.3, ORANGE), (0.7, "text")),
            ),
            Column("Value #F", "Mean latency", "s", width=66),
            Column("Value #G", "Usual latency", "s", width=66),
            Column("Value #H", "p99", "s", width=73, nan="unknown"),
            Column("Value #I", "p99 objective", "s", width=76, nan="none set"),
            Column(
                "Value #J",
                "Above it, 5 min",
                "percentunit",
                width=72,
                decimals=0,
                as_text=True,
                steps=((None, "text"), (0.001, ORANGE), (0.1, RED)),
            ),
            Column("Value #K", "Slow since", "time:HH:mm:ss", width=70, as_text=True, steps=((None, "text"), (1, RED))),
            *([Column("Value #O", "Slow until", "time:HH:mm:ss", width=70, nan="still slow")] if window else []),
            Column(
                "text", "Why", wrap=True, mappings={"(Over|As usual|Ended|Not judged|Slower than).*": "text", ".+": RED}
            ),
        ],
        bad="a sentence in red: what it names is slow.",
        none="No run at the end of this time range",
        size=(24, height),
        before=[
            transformation("joinByField", byField="run", mode="outer"),
            transformation("sortBy", fields={}, sort=[{"field": "Value #N", "desc": True}]),
        ],
    )


def _latency(name: str) -> str:
    """Of a mean operation, or what is usual for it: each part of the run counts by its operations."""
    of_parts = f'max by (run, worker, job, op) (worker:latency_seconds:{name}{{{_RUN},quantile=""}})'
    return f"sum by (run) ({of_parts} * {_RATE}) / sum by (run) ({_RATE} and {of_parts})"
