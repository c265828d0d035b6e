"""Density: many databases at once. How much in all, how much each, how fairly, and at whose cost."""

from grafana_foundation_sdk.models import dashboard

from . import variables
from .benchmark import NO_RUN
from .board import Board, Row
from .look import GREEN, ORANGE, RED, transformation
from .machine import NONE
from .panels import BOTH, stat
from .queries import HOST, RUN, Query, alive, followed, mean, mean_of, now, once, peak, processors, rate
from .strips import strip
from .tables import RUN_COMPARED, Column, curves, table

_NO_RESULT = "No result of pgbench at the end of this time range"
_KIND = "${kind:csv}"
_DATABASES = f'benchwatch_run_info{{{RUN},tool="pgbench"}}'
# A run may have processes of other tools beside its databases. One of which a database has no result is of no number.
_INFO = f"topk by (run) (1, group by (run, {_KIND}) ({_DATABASES}))"
_WHOLE = (
    f"count by (run) (group by (run, worker) (pgbench_result_tps{{{RUN}}}))"
    f" == on (run) count by (run) (group by (run, worker) ({_DATABASES}))"
    f" unless on (run) ({followed('pgbench_result_tps')})"
)


def _of(result: str, how: str) -> str:
    """A figure of each run whose databases all have a result, with the labels of its kind."""
    one = once(f"pgbench_result_{result}{{{RUN}}}")
    return f"(({how} by (run) ({one}) and on (run) ({_WHOLE})) * on (run) group_left ({_KIND}) {_INFO})"


_COUNT = _of("tps", "count")
_TOTAL = _of("tps", "sum")
_EACH = _of("tps", "avg")
_WORST, _BEST = _of("tps", "min"), _of("tps", "max")
_LATENCY = _of("latency_average_seconds", "max")
# Linear: what the runs with the fewest databases of their kind reach with each of them, the mean of equal ones.
_FEWEST = f"({_COUNT}) == on ({_KIND}) group_left () min by ({_KIND}) ({_COUNT})"
_BASE = f"avg by ({_KIND}) (({_EACH}) and on (run) ({_FEWEST}))"
_LINEAR = f"({_EACH}) / on ({_KIND}) group_left () {_BASE}"
_SPREAD = f"({_WORST}) / on (run) group_left () ({_BEST})"
_TPS = f"pgbench_tps{{{RUN}}}"


def _named(expression: str) -> str:
    """With all labels of the kind in one; some runs lack some."""
    joined = f'label_join({expression}, "kind", " ", ${{kind:doublequote}})'
    return f'label_replace({joined}, "kind", "$1", "kind", " *(.+?) *")'


def _with_linear(value: str, linear: str) -> str:
    """Points of each kind, and those of a further kind, linear."""
    further = f'label_replace({_named(linear)}, "kind", "$1, linear", "kind", "(.*)")'
    return f"{_named(value)} or {further}"


def _curves() -> dashboard.Panel:
    """A line for each kind; of equal runs the mean."""
    return curves(
        "Total TPS by the number of databases",
        "Transactions per second of all databases of a run together, the mean of equal runs, one line for each kind of "
        "run (the labels chosen as Kind). Dashed: linear, each database as fast as those of the run with the fewest.",
        now(_with_linear(_COUNT, _COUNT)),
        now(_with_linear(_TOTAL, f"({_COUNT}) * on ({_KIND}) group_left () {_BASE}")),
        x="databases\\kind",
        unit="short",
        bad="far below linear, flat or falling to the right: the storage or the host is saturated.",
        none=_NO_RESULT,
        size=(24, 10),
        dashed="/, linear$/",
        before=[
            transformation("merge"),
            transformation("filterFieldsByName", include={"names": ["kind", "Value #A", "Value #B"]}),
            transformation(
                "organize", renameByName={"Value #A": "databases", "Value #B": "TPS"}, excludeByName={}, indexByName={}
            ),
            transformation("sortBy", fields={}, sort=[{"field": "databases"}]),
            transformation(
                "groupBy",
                fields={
                    "kind": {"operation": "groupby", "aggregations": []},
                    "databases": {"operation": "groupby", "aggregations": []},
                    "TPS": {"operation": "aggregate", "aggregations": ["mean"]},
                },
            ),
            transformation("groupingToMatrix", columnField="kind", rowField="databases", valueField="TPS (mean)"),
            transformation(
                "convertFieldType",
                fields={},
                conversions=[{"targetField": "databases\\kind", "destinationType": "number"}],
            ),
        ],
    )


def _lately(expression: str, legend: str) -> Query:
    """A rate at the end of the time range, over 20 s at least: a machine under full load misses scrapes."""
    return Query(expression, legend, instant=True, minimum_step="5s")


def _courses() -> list[dashboard.Panel]:
    return [
        strip(
            "TPS",
            "All databases together, and the lowest, median and highest single database.",
            Query(mean_of(f"sum ({once(alive(_TPS))})"), "total"),
            Query(f"min({mean(_TPS)})", "lowest database"),
            Query(f"quantile(0.5, {once(mean(_TPS))})", "middle database"),
            Query(f"max({mean(_TPS)})", "highest database"),
            unit="short",
            bad="the total is flat while databases are added; lowest and highest part: some databases starve.",
            none=NO_RUN,
            height=5,
            slow="1",
        ),
        strip(
            "Mean latency",
            "Mean latency of each pgbench over its report intervals, the highest in each step: lowest and highest.",
            Query(f"min({peak(f'pgbench_latency_average_seconds{{{RUN}}}')})", "lowest database"),
            Query(f"max({peak(f'pgbench_latency_average_seconds{{{RUN}}}')})", "highest database"),
            unit="s",
            bad="one database above the others.",
            none=NO_RUN,
            log=True,
            slow="1",
        ),
        strip(
            "Processors",
            "Processor time by mode, as a share of all processors of the selected hosts together. steal is time that "
            "the hypervisor gave to others, including a CVM; if the CVM's own node is scraped, select it as host.",
            Query(processors('!="idle"', "mode") + " > 0", "{{mode}}"),
            unit="percentunit",
            bad="system and steal that grow faster than user.",
            none=NONE,
            height=4,
            stacked=True,
            maximum=1,
            clock=True,
        ),
    ]


def _cores(hosts: str) -> str:
    """Processors of hosts that did something, other than waiting."""
    return f"sum({rate(f'node_cpu_seconds_total{{{hosts},mode!~{chr(34)}idle|iowait{chr(34)}}}')})"


_CONTROLLER = 'host=~"$controller"'
_GUESTS = f'{HOST},host!~"$controller"'
_OVERHEAD = f"{_cores(_CONTROLLER)} / ({_cores(_CONTROLLER)} + {_cores(_GUESTS)})"
_LOAD = f"({_cores(_GUESTS)} / count(node_cpu_seconds_total{{{_GUESTS},mode={chr(34)}idle{chr(34)}}}))"
_NOW = f"(sum({once(_TPS)}) > 0)"
_NO_CONTROLLER = "Select the CVMs' own hosts at the top; without any, see steal"


def _cost() -> list[dashboard.Panel]:
    """What the CVM takes of the processors."""
    near = f"avg_over_time(({_OVERHEAD} and on () ({_LOAD} >= 0.75 <= 0.85))[$__range:15s])"
    return [
        stat(
            "CVM overhead",
            "Busy processors of all selected CVMs as a share of the busy processors of these CVMs and of all selected "
            "hosts.",
            _lately(_OVERHEAD, "now"),
            unit="percentunit",
            bad="grows with the number of databases faster than their throughput.",
            none=_NO_CONTROLLER,
            size=(6, 4),
        ),
        stat(
            "CVM overhead at 80 % load",
            "The same share of the busy processors, averaged over the times at which the databases' hosts were 75 to "
            "85 % busy.",
            _lately(near, "at 80 %"),
            unit="percentunit",
            bad="above what was planned for the CVM.",
            none="No moment at 80 % load, or no host of a CVM selected",
            size=(6, 4),
        ),
        stat(
            "Processor time of a transaction",
            "Processor seconds that a transaction costs the databases' hosts, and the CVMs.",
            _lately(f"{_cores(_GUESTS)} / {_NOW}", "hosts"),
            _lately(f"{_cores(_CONTROLLER)} / {_NOW}", "CVMs"),
            unit="s",
            bad="rises with the number of databases.",
            none="no transactions now",
            size=(12, 4),
            text_mode=BOTH,
        ),
    ]


BOARD = Board(
    uid="benchwatch-density",
    description="Many databases at once: the total, each one, compared with linear, and the cost for the host.",
    variables=[
        *variables.standard("pgbench"),
        variables.kind(),
        variables.host(),
        variables.controller(),
    ],
    rows=[
        Row(
            "Finished runs by their number of databases",
            [
                _curves(),
                table(
                    "Runs",
                    "The same in numbers; and the slowest database of a run by its fastest. A run of which a "
                    "database has no final report (it failed, or is not done) is left out.",
                    now(_named(_COUNT)),
                    now(_named(_TOTAL)),
                    now(_named(_EACH)),
                    now(_named(_LINEAR)),
                    now(_named(_SPREAD)),
                    now(_named(_LATENCY)),
                    columns=[
                        RUN_COMPARED,
                        Column("kind", "Kind"),
                        Column("Value #A", "Databases", "short"),
                        Column("Value #B", "Total TPS", "short", decimals=1),
                        Column("Value #C", "TPS of a database", "short", decimals=1),
                        Column(
                            "Value #D",
                            "Of linear",
                            "percentunit",
                            steps=((None, "transparent"), (0, RED), (0.5, ORANGE), (0.8, GREEN)),
                        ),
                        Column(
                            "Value #E",
                            "Slowest by fastest",
                            "percentunit",
                            steps=((None, "transparent"), (0, RED), (0.5, ORANGE), (0.8, GREEN)),
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
        Row("Cost", _cost()),
    ],
    range_="now-30m",
    refresh="10s",
)
