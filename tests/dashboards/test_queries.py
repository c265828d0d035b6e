"""Every query of every panel, variable and annotation, asked of a real Prometheus with real data.

A system test of some forty seconds.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from benchwatch.tools.registry import TOOLS
from tests.support.grafana import FILES, Json, View, load, panels, targets

from .conftest import EARLIER, EARLIER_FIO, SLOW, STUCK, Views

pytestmark = [pytest.mark.system, pytest.mark.slow(24)]

_NO_ERRORS = "everything was understood"
_NOT_HERE = {
    "a direction without a request has no mean time, and the only disk is the log's": ("Disk latency", "Disk B/s"),
    "there is no database here": ("Waits",),
    "no rules for alerts and usual values are here, and nobody is slow": ("table", "state-timeline", "Events", "Rate"),
    "benchwatch why says nothing here": ("barchart",),
}
"""Of these test_machines or test_numbers has every query."""
MAY_BE_EMPTY: dict[tuple[str, str], str] = {
    **{
        (dashboard, panel): reason
        for dashboard in ("Live run", "Live run, phone", "Spike", "Locality", "pgbench", "fio")
        for reason, titles in _NOT_HERE.items()
        for panel in titles
    },
    ("Exporter health", "Parse errors"): _NO_ERRORS,
    ("Exporter health", "What could not be used"): _NO_ERRORS,
    ("Exporter health", "Names that match nothing"): "all lead somewhere (see tests/prometheus/test_astray.py)",
    **dict.fromkeys(
        (
            ("Density", "CVM overhead"),
            ("Density", "CVM overhead at 80 % load"),
            ("Density", "Processor time of a transaction"),
        ),
        "the CVM has no node_exporter",
    ),
    **dict.fromkeys((("pgbench", "Lost"), ("fio", "Lost"), ("pgbench", "Behind")), "nothing was lost or late"),
    ("Spike", "What moved most"): "there are no two minutes before the moment",
    ("Locality", "Reads"): "nothing is read from afar",
    ("Locality", "annotation Moves"): "no vdisk moves",
}
"""Panels of which a query may give nothing, with the reason."""
ONLY_IF_LATE = 'pgbench_latency_window_timestamp_seconds{run=~"$run",worker=~"$worker"}) >= 1'
"""The end of the queries that give nothing while the transaction log keeps up (see test_numbers)."""
ONLY_OF_ONE = "[$__range] @ end()))) == 1)"
"""The end of those that give something where one run is chosen."""
_OTHERS = {family.name for tool in TOOLS if tool.name not in ("pgbench", "fio") for family in tool.families}
_OF_OTHER_TOOLS = re.compile(rf"\b({'|'.join(_OTHERS)})\b")
_OF_THESE = re.compile(r"\b(pgbench|fio)_")
COMPARE, LIVE = (next(path for path in FILES if path.stem == name) for name in ("compare", "live"))
PARAMETERS = "Parameters that differ"
RESULTS = "Results, as multiples of the baseline's"


def moments(view: View) -> Iterator[View]:
    """This view, and those of the seconds before: where a busy machine misses a scrape, series are gone for a while."""
    for ago in range(8):
        yield View(view.prometheus, view.start, view.end - ago)


def unanswered(view: View, dashboard: Json, chosen: Mapping[str, str | Sequence[str]]) -> list[str]:
    """Panels of which a query gives nothing at any of these moments."""
    values = cache(lambda one: one.values(dashboard, chosen))
    return [
        target.panel
        for target in targets(dashboard)
        if (target.dashboard, target.panel) not in MAY_BE_EMPTY
        and not target.expression.endswith(ONLY_IF_LATE)
        and "run:benchmark_slow:info" not in target.expression
        and not target.expression.endswith(ONLY_OF_ONE)
        and (_OF_THESE.search(target.expression) or not _OF_OTHER_TOOLS.search(target.expression))
        and not any(one.ask(target, values(one)) for one in moments(view))
    ]


GENERATED = [path for path in FILES if path.stem in {tool.name for tool in TOOLS} - {"pgbench", "fio"}]
"""Of tools that do not run here; their boards are made of what the tools declare (tests/tools/test_contract.py)."""


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.stem)
def test_prometheus_understands_every_query_of_a_generated_dashboard(path: Path, views: Views) -> None:
    dashboard = load(path)
    values = views.on.values(dashboard, {})
    asked = [views.on.ask(target, values) for target in targets(dashboard)]
    assert len(asked) >= 5


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.stem != "compare" and path not in GENERATED], ids=lambda path: path.stem
)
def test_every_query_is_answered_while_benchmarks_are_on(path: Path, views: Views) -> None:
    # What is scraped every 10 s has been scraped often enough for its rates and heatmaps only in the end.
    view = views.ended if path.stem in ("exporter", "nutanix") else views.on
    # Those without a role too.
    vdisks = view.prometheus.label_values("nutanix_vdisk_info", "vdisk", view.start, view.end)
    chosen = {"vdisk": vdisks} if path.stem in ("live", "phone", "spike") else {}
    if path.stem in ("pgbench", "fio"):  # earlier ones have the results
        chosen["run"] = view.prometheus.label_values("benchwatch_run_info", "run", view.start, view.end)
    assert unanswered(view, load(path), chosen) == []


@pytest.mark.parametrize(
    ("run", "baselines", "not_reported"),
    [
        ("live", {"live", EARLIER, SLOW, STUCK}, 3),  # bandwidth: ratio, absolute; bits
        ("fio", {"fio", EARLIER_FIO}, 1),  # bits
    ],
)
def test_every_query_is_answered_when_runs_are_compared(
    run: str, baselines: set[str], not_reported: int, views: Views
) -> None:
    dashboard = load(COMPARE)
    values = views.ended.values(dashboard, {"run": run})
    (variable,) = [one for one in dashboard["templating"]["list"] if one["name"] == "baseline"]
    assert set(views.ended.options(variable, values)) == baselines
    empty = unanswered(views.ended, dashboard, {"run": run, "baseline": run})
    assert empty == [RESULTS] * not_reported + [PARAMETERS], "they are the same run"


@pytest.mark.parametrize(("run", "tool"), [(EARLIER, "pgbench"), (EARLIER_FIO, "fio")])
def test_results_are_found_whatever_the_name_of_the_run(run: str, tool: str, views: Views) -> None:
    compared = [target for target in targets(load(COMPARE)) if target.panel == RESULTS]
    values = views.ended.values(load(COMPARE), {"run": run, "baseline": run})
    answer = next(filter(None, (view.ask(compared[0], values) for view in moments(views.ended))))
    found = {(one["metric"]["run"], one["metric"]["what"].split()[0]) for one in answer if one["value"][1] == "1"}
    assert (run, tool) in found and {what for _, what in found} == {tool}
    assert "Results" not in unanswered(views.ended, load(COMPARE.with_stem(tool)), {"run": run})


def test_recorded_sums_of_a_run_are_those_of_its_workers(views: Views) -> None:
    """Away from its begin and end, where windows are not full; a second's mean is between those of its neighbours."""
    view = View(views.ended.prometheus, views.on.end - 13, views.on.end - 2)
    dashboard = load(LIVE)
    choices = [view.values(dashboard, {"run": "live"} | more) for more in ({}, {"recorded": []})]
    assert choices[0]["recorded"].text == "live"
    compared = 0
    for target in targets(dashboard):
        if "$recorded" in target.expression:
            # By benchwatch_run_info, the graph knows that it shows one run; a busy machine misses a scrape of it.
            whole = rf"\1[{views.ended.end - views.on.start:.0f}s] @ {views.ended.end:.3f}"
            asked = re.sub(r"(benchwatch_run_info{[^}]*})\[\$__range\] @ end\(\)", whole, target.expression)
            target = target._replace(expression=asked)
            recorded, own = (view.ask(target, values) for values in choices)
            assert [one["metric"] for one in recorded] == [one["metric"] for one in own]
            for each in zip(recorded, own, strict=True):
                exact = each[0]["metric"].keys() & {"unit", "what"} and each[0]["metric"].get("what") != "p99"
                if exact:  # a highest value may be in two steps of one and in one of the other
                    values = [[float(value) for _, value in one["values"]] for one in each]
                    means = [sum(one) / len(one) for one in values]  # either may lack a second
                    assert means[0] == pytest.approx(means[1], rel=0.3), target.panel
                compared += 1
    assert compared == 4, "the rate, and mean, p99 and maximum of the latency"


def test_a_choice_of_workers_is_not_the_recorded_sum(views: Views) -> None:
    dashboard = load(LIVE)
    assert views.on.values(dashboard, {"run": "live", "worker": "db1"})["recorded"].text == "()"


def test_parameters_that_differ_are_found(views: Views) -> None:
    dashboard = load(COMPARE)
    (target,) = [target for target in targets(dashboard) if target.panel == PARAMETERS]
    values = views.ended.values(dashboard, {"run": "fio", "baseline": EARLIER_FIO})
    found = views.ended.ask(target, values)
    runtimes = {(one["metric"]["run"], one["metric"]["value"]) for one in found if one["metric"]["name"] == "runtime"}
    assert len(runtimes) == 2
    common = {one["metric"]["name"] for one in found if one["metric"]["value"] == "json+"}
    assert not common


@pytest.mark.parametrize("run", ["live", EARLIER])
def test_all_parameters_differ_from_a_run_that_has_none(run: str, views: Views) -> None:
    dashboard = load(COMPARE)
    (target,) = [target for target in targets(dashboard) if target.panel == PARAMETERS]
    for chosen in ({"run": run, "baseline": STUCK}, {"run": STUCK, "baseline": run}):
        found = views.ended.ask(target, views.ended.values(dashboard, chosen))
        assert {one["metric"]["run"] for one in found} == {run}
        assert "clients" in {one["metric"]["name"] for one in found}


def test_distributions_of_both_runs_are_shown(views: Views) -> None:
    dashboard = load(COMPARE)
    (target,) = [target for target in targets(dashboard) if target.panel == "Latency of the whole run"]
    found = views.ended.ask(target, views.ended.values(dashboard, {"run": "fio", "baseline": EARLIER_FIO}))
    directions = ("read", "write", "sync")
    runs = {re.sub(rf" ({'|'.join(directions)})$", "", one["metric"]["run"]) for one in found}
    assert runs == {"fio fio", f"{EARLIER_FIO} (baseline) fio"}


def test_the_gravest_alerts_come_first(views: Views) -> None:
    dashboard = load(LIVE)
    (panel,) = [panel for panel in panels(dashboard) if panel["title"] == "Firing alerts"]
    (field,) = [one["options"]["sort"][0]["field"] for one in panel["transformations"] if one["id"] == "sortBy"]
    asked = [target for target in targets(dashboard) if target.panel == "Firing alerts"]
    values = views.on.values(dashboard, {"run": "live"})
    (target,) = (
        target for one, target in zip(panel["targets"], asked, strict=True) if f"Value #{one['refId']}" == field
    )
    answer = next(filter(None, (view.ask(target, values) for view in moments(views.on))))
    found = sorted(answer, key=lambda one: float(one["value"][1]))
    assert [one["metric"]["severity"] for one in found] == ["critical", "warning", "info"]


def test_both_runs_of_a_comparison_begin_at_zero(views: Views) -> None:
    dashboard = load(COMPARE)
    values = views.ended.values(dashboard, {"run": "live", "baseline": "live"})
    (elapsed, *courses) = [target for target in targets(dashboard) if target.panel == "Throughput over elapsed time"]
    (axis,) = views.ended.ask(elapsed, values)
    seconds = [float(value) for _, value in axis["values"]]
    assert 0 <= seconds[0] <= 12
    steps = [later - sooner for sooner, later in pairwise(seconds)]
    assert all(step > 0.5 and abs(step - round(step)) < 0.01 for step in steps)
    (scraped,) = views.ended.prometheus.instant('pgbench_tps{run="live"}[2m]', views.ended.end)
    assert len(seconds) >= 0.7 * len({int(moment) for moment, _ in scraped["values"]}), "a busy machine misses some"
    (one,), (other,) = (views.ended.ask(target, values) for target in courses)
    assert one["values"] == other["values"], "a run laid over itself"


def test_a_run_is_laid_over_one_that_has_been_on_for_longer(views: Views) -> None:
    dashboard = load(COMPARE)
    values = views.ended.values(dashboard, {"run": "live", "baseline": SLOW})
    (elapsed, *courses) = [target for target in targets(dashboard) if target.panel == "Throughput over elapsed time"]
    (axis,) = views.ended.ask(elapsed, values)
    since = {moment: float(seconds) for moment, seconds in axis["values"]}
    (slow,), (live,) = (views.ended.ask(target, values) for target in courses)
    assert 0 <= since[live["values"][0][0]] <= 12
    assert 30 <= since[slow["values"][0][0]] <= 70, "it had been on for 40 s when Prometheus began, and reports no more"
