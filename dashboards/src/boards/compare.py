"""Compare runs: results against a baseline in percent, what was set differently, both runs on one axis of elapsed time.

PromQL's `offset` takes no expression, but Grafana puts a variable's value into a query before it is sent. So hidden
variables ask Prometheus how long ago each run began, and the queries of the curves are shifted by that much: both runs
are laid so that they end at the end of the time range, wherever they were.
"""

from grafana_foundation_sdk.models import dashboard

from . import variables
from .board import Board, Row
from .look import GREEN, ORANGE, RED, Steps
from .queries import Query, alive, mean_of, now, once, percentiles
from .tables import Column, bars, course, table, transformation

_MARGIN = 5
_MORE: Steps = ((None, "transparent"), (0, RED), (0.9, ORANGE), (0.97, "transparent"), (1.03, GREEN))
_LESS: Steps = ((None, "transparent"), (0, GREEN), (0.97, "transparent"), (1.03, ORANGE), (1.1, RED))

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


def _pgbench_table() -> dashboard.Panel:
    def each(name: str, run: str = "") -> str:
        return once(f"pgbench_result_{name}{{{run}}}")

    def total(name: str, how: str) -> Query:
        base = each(name, 'run="$baseline"')
        return now(f"{how} by (run) ({each(name)}) / on () group_left () {how}({base})")

    return table(
        "pgbench: results in percent of the baseline",
        "The final reports (of whole runs, warm-ups included), "
        "for all workers of a run: TPS is summed, latencies are the highest of the workers. 100 % is the baseline.",
        total("tps", "sum"),
        total("latency_average_seconds", "max"),
        total("latency_stddev_seconds", "max"),
        now(f"sum by (run) ({each('tps')})"),
        now("max by (run) (pgbench_result_latency_average_seconds)"),
        now(f"count by (run) ({each('tps')})"),
        columns=[
            _RUN,
            Column("Value #A", "TPS", "percentunit", steps=_MORE, decimals=1),
            Column("Value #B", "Mean latency", "percentunit", steps=_LESS, decimals=1),
            Column("Value #C", "Standard deviation", "percentunit", steps=_LESS, decimals=1),
            Column("Value #D", "TPS, absolute", "short", decimals=1),
            Column("Value #E", "Mean latency, absolute", "s"),
            Column("Value #F", "Workers", "short"),
        ],
        bad="red: more than 10 % worse. Changes within 3 % have no colour, because two equal runs differ that much.",
        none="No result of pgbench, or none of the baseline, at the end of this time range",
        size=(24, 7),
        sort=("Run", "down"),
    )


def _fio_table() -> dashboard.Panel:
    def result(name: str, how: str = "max", more: str = "") -> Query:
        one = f"max by (run, worker, job, op) (fio_result_{name}"  # of several exporters that know it
        every = f"{how} by (run, job, op) ({one}{{{more}}}))"
        comma = "," if more else ""
        base = f'{how} by (job, op) ({one}{{run="$baseline"{comma}{more}}}))'
        return now(f"{every} / on (job, op) group_left () {base}")

    return table(
        "fio: results in percent of the baseline",
        "The final documents (of whole runs, warm-ups included) by job and direction, "
        "for all workers of a run: IOPS and bandwidth are summed, latencies are the highest of the workers. 100 % is "
        "the same job and direction of the baseline.",
        result("iops", "sum"),
        result("bandwidth_bytes_per_second", "sum"),
        result("latency_average_seconds"),
        result("latency_seconds", more='quantile="0.99"'),
        result("latency_seconds", more='quantile="0.999"'),
        now("sum by (run, job, op) (max by (run, worker, job, op) (fio_result_iops))"),
        now("max by (run, job, op) (fio_result_latency_average_seconds)"),
        now("count by (run, job, op) (max by (run, worker, job, op) (fio_result_iops))"),
        columns=[
            _RUN,
            Column("job", "Job", width=110),
            Column("op", "Direction", width=90),
            Column("Value #A", "IOPS", "percentunit", steps=_MORE, decimals=1),
            Column("Value #B", "Bandwidth", "percentunit", steps=_MORE, decimals=1),
            Column("Value #C", "Mean latency", "percentunit", steps=_LESS, decimals=1),
            Column("Value #D", "p99", "percentunit", steps=_LESS, decimals=1),
            Column("Value #E", "p99.9", "percentunit", steps=_LESS, decimals=1),
            Column("Value #F", "IOPS, absolute", "iops"),
            Column("Value #G", "Mean latency, absolute", "s", width=175),
            Column("Value #H", "Workers", "short", width=90),
        ],
        bad="red: more than 10 % worse. With a rate limit, 100 % of the IOPS means nothing; compare the latency "
        "instead.",
        none="No result of fio, or none of the baseline, at the end of this time range",
        size=(24, 8),
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
    return bars(
        "Latency of the whole run",
        "Percentiles of the whole run. For pgbench, from the buckets of its transaction log; for fio, from the final "
        "document, by direction, the highest of the jobs.",
        now(_quantiles()),
        category="quantile\\run",
        unit="s",
        bad="the run's bars are higher on the right: its tail is worse even if the mean is not.",
        none="Neither run has a distribution: pgbench -l, fio --output-format=json+",
        size=(14, 9),
        before=[
            transformation(
                "groupingToMatrix", columnField="run", rowField="quantile", valueField="Value", emptyValue="null"
            )
        ],
        log=True,
    )


def _quantiles() -> str:
    def pgbench(run: str, ago: str, quantile: str) -> str:
        whole = f'last_over_time(pgbench_latency_seconds_bucket{{run="{run}"}}[${{length}}s] offset ${{{ago}}}ms)'
        found = f"histogram_quantile({quantile}, sum by (run, le) ({whole}))"
        return f'label_replace({found}, "quantile", "{quantile}", "", "")'

    parts = [
        pgbench(run, ago, quantile)
        for quantile in ("0.5", "0.95", "0.99", "0.999")
        for run, ago in (("$baseline", "baseline_ago"), ("$run", "ago"))
    ]
    both = " or ".join(f'fio_result_latency_seconds{{run="{run}"}}' for run in ("$baseline", "$run"))
    fio = f"max by (run, op, quantile) ({both})"
    return percentiles("\nor ".join([*parts, f'label_join({fio}, "run", " ", "run", "op")']))


def _course(title: str, shows: str, expression: str, *, unit: str, bad: str, log: bool = False) -> dashboard.Panel:
    """`expression` has `{where}` for the run's matchers and `{shift}` for its offset."""
    begun = 'min(last_over_time(benchwatch_run_start_timestamp_seconds{run="$run"}[$__range] @ end()))'
    baseline = expression.format(where='run="$baseline"', shift="offset ${baseline_ago}ms")
    other = expression.format(where='run="$run"', shift="offset ${ago}ms")
    elapsed = f"vector(time() - $ago / 1000 - scalar({begun})) >= 0"
    return course(
        title,
        shows,
        Query(baseline, "$baseline (baseline)"),
        Query(other, "$run"),
        elapsed=Query(f"{elapsed} and on () ({other} or {baseline})"),
        length="${length}s",
        unit=unit,
        bad=bad,
        none="No data of the two runs in Prometheus",
        size=(12, 9),
        log=log,
    )


def _courses() -> list[dashboard.Panel]:
    return [
        _course(
            "Throughput over elapsed time",
            "TPS or IOPS of both runs by the seconds since each began, all workers and jobs together.",
            mean_of(
                " or ".join(
                    f"sum ({once(alive(f'{name}{{{{{{where}}{more}}}}}', ' {shift}'))})"
                    for name, more in (("pgbench_tps", ""), ("fio_iops", ',op!~"sync|verify"'))
                )
            ),
            unit="short",
            bad="one curve sags where the other does not.",
        ),
        _course(
            "p99 over elapsed time",
            "99th percentile of each second or window of both runs, the highest of the workers, jobs and directions.",
            '(max(max_over_time(pgbench_latency_window_seconds{{{where},quantile="0.99"}}[$__interval] {shift}))'
            ' or max(max_over_time(fio_latency_window_seconds{{{where},quantile="0.99"}}[$__interval] {shift})))',
            unit="s",
            bad="peaks that the other run does not have.",
            log=True,
        ),
    ]


BOARD = Board(
    uid="benchwatch-compare",
    description="Runs compared with a baseline: results in percent, parameters, distributions, and both over elapsed "
    "time.",
    variables=[
        variables.datasource(),
        variables.run(many=False),
        variables.baseline(),
        *_hidden(),
    ],
    rows=[
        Row("Results of all runs", [_pgbench_table(), _fio_table()]),
        Row(
            "The run against the baseline: parameters and distribution",
            [_parameters(), _distribution()],
        ),
        Row("The run against the baseline: course", _courses()),
    ],
    range_="now-6h",
    refresh="",
)
