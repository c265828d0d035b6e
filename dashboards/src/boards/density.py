"""Density: many databases at once. How much in all, how much each, how fairly, and at whose cost."""

from grafana_foundation_sdk.models import dashboard

from . import disks, variables
from .benchmark import NO_RUN
from .board import Board, Row
from .look import GREEN, ORANGE, RED
from .panels import graph, stat
from .queries import RUN, Query, alive, mean, mean_of, now, peak, processors
from .tables import RUN_COMPARED, Column, bars, table, transformation

_NO_RESULT = "No result of pgbench at the end of this time range"
_COUNT = f"count by (run) (pgbench_result_tps{{{RUN}}})"
_TOTAL = f"sum by (run) (pgbench_result_tps{{{RUN}}})"
_EACH = f"avg by (run) (pgbench_result_tps{{{RUN}}})"
# Linear: what the run with the fewest databases reaches with each of them.
_ALONE = f"scalar(max({_EACH} and ({_COUNT} == scalar(min({_COUNT})))))"
_WORST = f"min by (run) (pgbench_result_tps{{{RUN}}})"
_LATENCY = f"max by (run) (pgbench_result_latency_average_seconds{{{RUN}}})"
_TPS = f"pgbench_tps{{{RUN}}}"


def _points(*names: str) -> list[dashboard.DataTransformerConfig]:
    """Joins the queries by run, and names their values."""
    renamed = {f"Value #{chr(ord('A') + index)}": name for index, name in enumerate(names)}
    return [
        transformation("merge"),
        transformation("filterFieldsByName", include={"names": list(renamed)}),
        transformation("organize", renameByName=renamed, excludeByName={}, indexByName={}),
        transformation("sortBy", fields={}, sort=[{"field": names[0]}]),
    ]


def _by_number(title: str, shows: str, value: str, name: str, *, unit: str, bad: str) -> dashboard.Panel:
    return bars(
        title,
        f"{shows} One bar per run, by its number of databases.",
        now(_COUNT),
        now(value),
        category="databases",
        unit=unit,
        bad=bad,
        none=_NO_RESULT,
        size=(8, 8),
        before=_points("databases", name),
    )


def _lately(expression: str, legend: str) -> Query:
    """A rate at the end of the time range, over 20 s at least: a machine under full load misses scrapes."""
    return Query(expression, legend, instant=True, minimum_step="5s")


def _now() -> list[dashboard.Panel]:
    return [
        stat(
            "Active databases",
            "pgbench processes that report now, one per database.",
            now(f"count({_TPS})", "databases"),
            unit="short",
            bad="fewer than were started.",
            none="none",
            size=(8, 3),
        ),
        stat(
            "Total TPS",
            "Transactions per second of all databases together.",
            now(f"sum({_TPS})", "TPS"),
            unit="short",
            bad="falls as databases are added.",
            none="none",
            size=(8, 3),
        ),
        stat(
            "TPS of a database",
            "Mean over the databases.",
            now(f"avg({_TPS})", "TPS"),
            unit="short",
            bad="falls faster than databases are added.",
            none="none",
            size=(8, 3),
        ),
        stat(
            "Slowest / fastest",
            "The lowest TPS of a database divided by the highest.",
            now(f"min({_TPS}) / max({_TPS})", "fairness"),
            unit="percentunit",
            bad="far below 100 % with equal databases: some starve.",
            none="none",
            size=(8, 3),
            steps=((None, RED), (0.5, ORANGE), (0.8, GREEN)),
        ),
        stat(
            "CPU of the host",
            "Busy share of the selected host's processors, including what the hypervisor took (steal).",
            _lately(processors('!~"idle|iowait"'), "{{host}}"),
            unit="percentunit",
            bad="near 100 %: more databases only share what is there.",
            none="no recent samples",
            size=(8, 3),
        ),
        stat(
            "Taken by the hypervisor",
            "Processor time that this machine could have used but the hypervisor gave to others (steal): the CVM and "
            "other guests.",
            _lately(processors('="steal"'), "{{host}}"),
            unit="percentunit",
            bad="above 5 %: the host has fewer processors left than the guests think.",
            none="no recent samples",
            size=(8, 3),
            steps=((None, GREEN), (0.05, ORANGE), (0.2, RED)),
        ),
    ]


def _courses() -> list[dashboard.Panel]:
    return [
        graph(
            "TPS of each database",
            "One line per database, to see how close they are.",
            Query(f"max by (worker) ({mean(_TPS)})", "{{worker}}"),
            unit="short",
            bad="lines that fan out.",
            none=NO_RUN,
            size=(12, 8),
        ),
        graph(
            "Total, and the spread",
            "All databases together, and the lowest, median and highest single database.",
            Query(mean_of("sum " + alive(_TPS)), "total"),
            Query(f"min({mean(_TPS)})", "lowest database"),
            Query(f"quantile(0.5, {mean(_TPS)})", "middle database"),
            Query(f"max({mean(_TPS)})", "highest database"),
            unit="short",
            bad="the total is flat while databases are added.",
            none=NO_RUN,
            size=(12, 8),
        ),
        graph(
            "Processors of the host",
            "Processor time by mode, as a share of all processors. steal is what the hypervisor gave to others, "
            "including a CVM; if the CVM's own node is scraped, select it as host.",
            Query(processors('!="idle"', "mode") + " > 0", "{{host}} {{mode}}"),
            unit="percentunit",
            bad="system and steal that grow faster than user.",
            none=disks.NONE,
            size=(12, 8),
            stacked=True,
            maximum=1,
        ),
        graph(
            "Mean latency of each database",
            "Mean latency of each pgbench over its report intervals, the highest in each step.",
            Query(f"max by (worker) ({peak(f'pgbench_latency_average_seconds{{{RUN}}}')})", "{{worker}}"),
            unit="s",
            bad="one database above the others.",
            none=NO_RUN,
            size=(12, 8),
            log=True,
        ),
    ]


BOARD = Board(
    uid="benchwatch-density",
    description="Many databases at once: the total, each one, compared with linear, and the cost for the host.",
    variables=[*variables.standard("pgbench"), variables.host()],
    rows=[
        Row("Now", _now()),
        Row(
            "Finished runs by their number of databases",
            [
                _by_number(
                    "Total TPS",
                    "Transactions per second of all databases of a run together.",
                    _TOTAL,
                    "Total TPS",
                    unit="short",
                    bad="flat or falling to the right: the storage or the host is saturated.",
                ),
                _by_number(
                    "TPS of a database",
                    "Mean over the databases of a run.",
                    _EACH,
                    "TPS of a database",
                    unit="short",
                    bad="falls as 1/x from the start.",
                ),
                _by_number(
                    "Of linear",
                    "TPS of a database divided by that of the run with the fewest databases: 100 % is linear.",
                    f"{_EACH} / {_ALONE}",
                    "of linear",
                    unit="percentunit",
                    bad="below 80 %: each additional database slows the others.",
                ),
                table(
                    "Runs",
                    "The same as numbers; spread is the slowest database divided by the mean.",
                    now(_COUNT),
                    now(_TOTAL),
                    now(_EACH),
                    now(f"{_EACH} / {_ALONE}"),
                    now(f"{_WORST} / {_EACH}"),
                    now(_LATENCY),
                    columns=[
                        RUN_COMPARED,
                        Column("Value #A", "Databases", "short"),
                        Column("Value #B", "Total TPS", "short", decimals=1),
                        Column("Value #C", "TPS of a database", "short", decimals=1),
                        Column(
                            "Value #D", "Of linear", "percentunit", steps=((None, RED), (0.5, ORANGE), (0.8, GREEN))
                        ),
                        Column(
                            "Value #E",
                            "Slowest by mean",
                            "percentunit",
                            steps=((None, RED), (0.5, ORANGE), (0.8, GREEN)),
                        ),
                        Column("Value #F", "Highest mean latency", "s"),
                    ],
                    bad="of linear below 80 %.",
                    none=_NO_RESULT,
                    size=(24, 7),
                    sort=("Databases", "up"),
                ),
            ],
        ),
        Row("Course", _courses()),
    ],
    range_="now-30m",
    refresh="10s",
)
