"""Compare runs: results against a baseline, what was set differently, both runs on one axis of elapsed time.

PromQL's `offset` takes no expression, but Grafana puts a variable's value into a query before it is sent. So hidden
variables ask Prometheus how long ago each run began, and the queries of the curves are shifted by that much: both runs
are laid so that they end at the end of the time range, wherever they were.
"""

from collections.abc import Callable, Sequence

from grafana_foundation_sdk.models import dashboard

from benchwatch.metrics.samples import Family
from benchwatch.tools.api import Tool
from benchwatch.tools.registry import TOOLS
from benchwatch.tools.roles import Roles

from . import benchmark, variables
from .board import Board, Row
from .look import GREEN, RED, Steps, in_unit, network, transformation
from .queries import Query, alive, followed, mean_of, now, once, p99_or_others, percentiles
from .tables import Column, bars, course, table

_MARGIN = 5
_QUANTILES = ("0.5", "0.95", "0.99", "0.999")
_MORE: Steps = ((None, "text"), (0, RED), (0.95, "text"), (1.05, GREEN))
_LESS: Steps = ((None, "text"), (0, GREEN), (0.95, "text"), (1.05, RED))
"""Two equal runs differ by up to 5 %, as for `benchwatch compare --allowance`."""
_TIMES = "suffix:x"

_LINK = "/d/benchwatch-compare?${__url_time_range}&${baseline:queryparam}&var-run=${__value.raw:percentencode}"
_RUN = Column("run", "Run", link=_LINK, width=220)


def _start(run: str) -> str:
    return f'min(last_over_time(benchwatch_run_start_timestamp_seconds{{run="${run}"}}[$__range]))'


def _length(run: str) -> str:
    """Seconds that a run took, or has taken so far: of its workers some may have ended, and others be on."""
    last = f'{{__name__=~"benchwatch_run_(end|last_report)_timestamp_seconds",run="${run}"}}'
    on = f'(benchwatch_run_state{{run="${run}",state=~"running|stalled"}} == 1)'
    return f"max(last_over_time({last}[$__range]) or 0 * {on} + time()) - {_start(run)}"


def _ago(run: str) -> str:
    """How far back, ms, a run's queries look, so that it begins `length` seconds before the end of the time range.

    Below 0 for a run that has been on for less; never 0, which is no offset for Prometheus before 3.
    """
    shift = f"round((time() - {_start(run)} - $length) * 1000)"
    return f"{shift} + ({shift} == bool 0)"


def _hidden() -> list[dashboard.VariableModel]:
    both = f'({_length("run")}) or label_replace({_length("baseline")}, "of", "baseline", "", "")'
    return [
        variables.number("length", f"ceil(max({both})) + {_MARGIN}", "Duration of the longer run, seconds."),
        variables.number("ago", _ago("run"), "How far back the queries of the run look, ms."),
        variables.number("baseline_ago", _ago("baseline"), "How far back the queries of the baseline look, ms."),
    ]


def _joined(of: Callable[[Tool, Roles, Sequence[Roles]], str], word: Callable[[Tool, Roles], str]) -> str:
    """Something of all tools in one query, those that have it: with the label `what`, which says what it is of."""
    found = ((of(tool, roles, earlier), word(tool, roles)) for tool, roles, earlier in benchmark.parts(TOOLS))
    return "\nor\n".join(f'label_replace({one}, "what", "{what}", "", "")' for one, what in found if one)


def _word(tool: Tool, roles: Roles) -> str:
    return f"{tool.name} {roles.unit.name}"


def _results(family: Callable[[Roles], Family | None], how: str, run: str = "", more: str = "") -> str:
    """A family of the final reports by run, what was measured and its part, all workers together."""

    def of(tool: Tool, roles: Roles, earlier: Sequence[Roles]) -> str:
        if (found := family(roles)) is None:
            return ""
        others = "".join(f" unless on (run, worker) {one.result_rate.name}" for one in earlier)
        if found is not roles.result_rate and len(tool.roles) > 1:  # what has another unit may be in the same family
            others = f" and on (run, worker) {roles.result_rate.name}{others}"
        by = ", ".join(("run", "worker", *roles.labels))  # of several exporters that know it
        matchers = ",".join(filter(None, (run, more)))
        one = f"max by ({by}) ({found.name}{{{matchers}}}{others})"
        labels = ", ".join(f'"{label}"' for label in roles.labels)
        part = f'label_join({one}, "part", " ", {labels})' if labels else f'label_replace({one}, "part", "all", "", "")'
        added = f" unless on (run) ({followed(roles.result_rate.name)})" if how == "sum" else ""
        return f"{benchmark.together(roles) if how == 'sum' else how} by (run, part) ({part}){added}"

    return _joined(of, _word)


def _table() -> dashboard.Panel:
    def rate(roles: Roles) -> Family:
        return roles.result_rate

    def part(family: Callable[[Roles], Family | None], how: str = "max", more: str = "") -> Query:
        base = _results(family, how, 'run="$baseline"', more)
        return now(f"({_results(family, how, more=more)})\n/ on (what, part) group_left ()\n({base})")

    def absolute(family: Callable[[Roles], Family | None], how: str) -> Query:
        """Of what the baseline has too: others are not comparable with it."""
        base = _results(rate, "sum", 'run="$baseline"')
        return now(f"({_results(family, how)})\nand on (what)\n({base})")

    return table(
        "Results, as multiples of the baseline's",
        "The final reports (of whole runs, warm-ups included) of the runs that have a result of the same tool and unit "
        "as the baseline, for all workers of a run: throughput is summed, unless they followed each other or each "
        "counts what the whole server does; latencies are the highest. "
        "1.00 x is the same part (job and direction, for tools that tell them apart) of the baseline.",
        part(rate, "sum"),
        part(lambda roles: roles.result_bandwidth, "sum"),
        part(lambda roles: roles.result_latency),
        *(part(lambda roles: roles.result_quantile, more=f'quantile="{quantile}"') for quantile in _QUANTILES[1:]),
        absolute(lambda roles: None if roles.unit.in_bytes else roles.result_rate, "sum"),
        absolute(lambda roles: roles.result_rate if roles.unit.name == "B/s" else roles.result_bandwidth, "sum"),
        absolute(lambda roles: roles.result_latency, "max"),
        absolute(rate, "count"),
        absolute(lambda roles: roles.result_rate if roles.unit.name == "bit/s" else None, "8 * sum"),
        columns=[
            _RUN,
            Column("what", "Result", width=120),
            Column("part", "Part", width=110),
            Column("Value #A", "Throughput", _TIMES, steps=_MORE, decimals=2, as_text=True),
            Column("Value #B", "Bandwidth", _TIMES, steps=_MORE, decimals=2, as_text=True),
            *(
                Column(f"Value #{letter}", title, _TIMES, steps=_LESS, decimals=2, as_text=True)
                for letter, title in zip("CDEF", ("Mean latency", "p95", "p99", "p99.9"), strict=True)
            ),
            Column("Value #G", "Rate", "short", decimals=1),
            Column("Value #H", "Bytes", "Bps"),
            Column("Value #K", "Bits", "bps"),
            Column("Value #I", "Mean latency, absolute", "s"),
            Column("Value #J", "Workers", "short", width=90),
        ],
        bad="red: more than 5 % worse. Smaller changes have no colour, because two equal runs differ that much: "
        "`benchwatch compare` says how certain a change is. With a rate limit, compare the latency.",
        none="The baseline has no result at the end of this time range",
        size=(24, 6),
        sort=("Run", "down"),
    )


def _parameters() -> dashboard.Panel:
    baseline, other = (
        f'group by (run, name, value) (benchwatch_run_parameter{{run="{run}"}})' for run in ("$baseline", "$run")
    )
    return table(
        "Parameters that differ",
        "Parameters that differ between the two runs, one column per run; - means that the run does not have the "
        "parameter (or not yet: some are known only at its end).",
        now(f"({baseline} unless on (name, value) {other})\nor\n({other} unless on (name, value) {baseline})"),
        columns=[],
        before=[
            transformation(
                "groupingToMatrix", columnField="run", rowField="name", valueField="value", emptyValue="empty"
            ),
            transformation("organize", renameByName={"name\\run": "Parameter"}, indexByName={}, excludeByName={}),
        ],
        bad="parameters that you did not mean to change.",
        none="No known parameter of the two runs differs",
        size=(10, 9),
    )


def _distribution() -> dashboard.Panel:
    needed = [
        f"{tool.advice} it for {tool.name}"
        for tool in TOOLS
        if any(roles.result_quantile or roles.histogram for roles in tool.roles)
    ]
    return bars(
        "Latency of the whole run",
        "Percentiles of the whole run from the final report, by tool and direction, the highest of the workers and "
        "jobs; until there is one, from the buckets of the tool's histogram.",
        now(_quantiles()),
        category="quantile\\run",
        unit="s",
        bad="the run's bars are higher on the right: its tail is worse even if the mean is not.",
        none=f"Neither run has a distribution: {'; '.join(needed)}",
        size=(14, 9),
        before=[
            transformation(
                "groupingToMatrix", columnField="run", rowField="quantile", valueField="Value", emptyValue="null"
            )
        ],
        log=True,
        compared=True,
    )


def _quantiles() -> str:
    """Sorted by value, which is the order of the quantiles of a run.

    Histograms of several workers are not added: the edges of sysbench differ from worker to worker.
    """
    runs = (("$baseline", "baseline_ago"), ("$run", "ago"))

    def named_baseline(series: str, run: str) -> str:
        return f'label_replace({series}, "run", "{run} (baseline)", "", "")' if run == "$baseline" else series

    def part(series: str, roles: Roles) -> str:
        return f'label_replace({series}, "part", "$1", "{roles.operation}", "(.*)")' if roles.operation else series

    def reported(_: Tool, roles: Roles, earlier: Sequence[Roles]) -> str:
        if roles.result_quantile is None or any(one.result_quantile is roles.result_quantile for one in earlier):
            return ""
        name = roles.result_quantile.name
        both = " or ".join(named_baseline(f'{name}{{run="{run}"}}', run) for run, _ in runs)
        return f"max by (run, part, quantile) ({part(f'({both})', roles)})"

    def counted(_: Tool, roles: Roles, earlier: Sequence[Roles]) -> str:
        if roles.histogram is None or any(one.histogram is roles.histogram for one in earlier):
            return ""
        found = []
        for run, ago in runs:
            whole = f'last_over_time({roles.histogram.name}_bucket{{run="{run}"}}[${{length}}s] offset ${{{ago}}}ms)'
            buckets = f"sum by (run, part, worker, le) ({part(named_baseline(whole, run), roles)})"
            found += [
                f'label_replace(histogram_quantile({quantile}, {buckets}), "quantile", "{quantile}", "", "")'
                for quantile in _QUANTILES
            ]
        return f"({' or '.join(found)})"

    def named(of: Callable[[Tool, Roles, Sequence[Roles]], str]) -> str:
        joined = f'label_join({_joined(of, lambda tool, _: tool.name)}, "run", " ", "run", "what", "part")'
        return f'label_replace({joined}, "run", "$1", "run", "(.+?) *")'

    every = f"{named(reported)}\nor on (run) {named(counted)}"
    return f"sort(max by (run, quantile) ({percentiles(f'({every})')}))"


def _course(
    title: str,
    shows: str,
    expression: str,
    legend: str,
    *,
    unit: str,
    bad: str,
    log: bool = False,
    right: tuple[str, str, float | None] | None = None,
) -> dashboard.Panel:
    """`expression` has `{where}` for the run's matchers and `{shift}` for its offset."""
    begun = 'min(last_over_time(benchwatch_run_start_timestamp_seconds{run="$run"}[$__range] @ end()))'
    baseline, other = (
        expression.replace("{where}", f'run="{run}"').replace("{shift}", f"offset ${{{ago}}}ms")
        for run, ago in (("$baseline", "baseline_ago"), ("$run", "ago"))
    )
    elapsed = f"vector(time() - $ago / 1000 - scalar({begun})) >= 0 <= $length"
    return course(
        title,
        f"{shows} Only lines of the same tool and unit are comparable.",
        Query(baseline, f"$baseline {legend} (baseline)"),
        Query(other, f"$run {legend}"),
        elapsed=Query(elapsed),
        length="${length}s",
        unit=unit,
        bad=bad,
        none="No data of the two runs in Prometheus",
        size=(12, 9),
        log=log,
        right=right,
        compared=True,
    )


def _rate(_: Tool, roles: Roles, earlier: Sequence[Roles]) -> str:
    rate = alive(f"{roles.rate.name}{{{benchmark.counted(roles, '{where}')}}}", " {shift}")
    others = "".join(f" unless on (run, worker) {one.rate.name}{{{{where}}}} {{shift}}" for one in earlier)
    return in_unit(roles.unit, f"{benchmark.together(roles)} ({once(rate)}{others})")


def _percentile(_: Tool, roles: Roles, earlier: Sequence[Roles]) -> str:
    """p99, else whatever the tool reports below the maximum."""
    if roles.window is None or any(one.window is roles.window for one in earlier):
        return ""
    return p99_or_others(f"max_over_time({roles.window.name}{{{{where}},%s}}[$__interval] {{shift}})")


def _courses() -> list[dashboard.Panel]:
    return [
        network(
            _course(
                "Throughput over elapsed time",
                "Throughput of both runs by the seconds since each began, all workers and jobs together; bytes right.",
                mean_of(_joined(_rate, _word)),
                "{{what}}",
                unit="short",
                bad="one curve sags where the other does not.",
                right=("/B\\/s/", "Bps", None),
            )
        ),
        _course(
            "Percentiles over elapsed time",
            "99th percentile (where the tool does not report it, its others) of each second or window of both runs, "
            "the highest of the workers, jobs and directions.",
            percentiles(_joined(_percentile, lambda tool, _: tool.name)),
            "{{what}} {{quantile}}",
            unit="s",
            bad="peaks that the other run does not have.",
            log=True,
        ),
    ]


BOARD = Board(
    uid="benchwatch-compare",
    description="Runs compared with a baseline: results, parameters, distributions, and both over elapsed time.",
    variables=[
        variables.datasource(),
        variables.run(many=False),
        variables.baseline(),
        *_hidden(),
    ],
    rows=[
        Row("Results of all comparable runs", [_table()]),
        Row(
            "The run against the baseline: parameters and distribution",
            [_parameters(), _distribution()],
        ),
        Row("The run against the baseline: course", _courses()),
    ],
    range_="now-6h",
    refresh="",
)
