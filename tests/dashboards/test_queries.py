"""Every query of every panel, variable and annotation, asked of a real Prometheus with real data.

A system test of some forty seconds.
"""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from .conftest import Views
from .grafana import FILES, Json, View, load, targets

_NO_REQUESTS = "no request of that direction in the last seconds: no mean time either"
_NO_ERRORS = "everything was understood"
MAY_BE_EMPTY: dict[tuple[str, str], str] = {
    ("Live run", "Log device: await"): _NO_REQUESTS,
    ("Live run", "Data device: await"): _NO_REQUESTS,
    ("Spike", "Log device: await"): _NO_REQUESTS,
    ("Spike", "Data device: await"): _NO_REQUESTS,
    ("Exporter health", "Not understood"): _NO_ERRORS,
}
"""Panels of which a query may give nothing, with the reason."""
COMPARE = next(path for path in FILES if path.stem == "compare")
PARAMETERS = "Parameters that differ"


def unanswered(view: View, dashboard: Json, chosen: Mapping[str, str]) -> list[str]:
    values = view.values(dashboard, chosen)
    return [
        target.panel
        for target in targets(dashboard)
        if (target.dashboard, target.panel) not in MAY_BE_EMPTY and not view.ask(target, values)
    ]


@pytest.mark.parametrize("path", [path for path in FILES if path.stem != "compare"], ids=lambda path: path.stem)
def test_every_query_is_answered_while_benchmarks_are_on(path: Path, views: Views) -> None:
    # What is scraped every 10 s has been scraped often enough for its rates and heatmaps only in the end.
    view = views.ended if path.stem in ("exporter", "nutanix") else views.on
    chosen = (
        {"run": ".*", "vdisk": ".*"} if path.stem in ("live", "spike") else {"run": ".*"}
    )  # those without a role too
    assert unanswered(view, load(path), chosen) == []


@pytest.mark.parametrize(("run", "baseline"), [("live", "earlier"), ("fio", "earlier-fio")])
def test_every_query_is_answered_when_runs_are_compared(run: str, baseline: str, views: Views) -> None:
    dashboard = load(COMPARE)
    values = views.ended.values(dashboard, {"run": run})
    (variable,) = [one for one in dashboard["templating"]["list"] if one["name"] == "baseline"]
    assert set(views.ended.options(variable, values)) == {run, baseline}
    other = "fio: results" if run == "live" else "pgbench: results"
    empty = unanswered(views.ended, dashboard, {"run": run, "baseline": run})
    assert [panel for panel in empty if not panel.startswith(other)] == [PARAMETERS], "they are the same run"


def test_parameters_that_differ_are_found(views: Views) -> None:
    dashboard = load(COMPARE)
    (target,) = [target for target in targets(dashboard) if target.panel == PARAMETERS]
    values = views.ended.values(dashboard, {"run": "fio", "baseline": "earlier-fio"})
    found = views.ended.ask(target, values)
    runtimes = {(one["metric"]["run"], one["metric"]["value"]) for one in found if one["metric"]["name"] == "runtime"}
    assert len(runtimes) == 2
    common = {one["metric"]["name"] for one in found if one["metric"]["value"] == "json+"}
    assert not common


def test_both_runs_of_a_comparison_begin_at_zero(views: Views) -> None:
    dashboard = load(COMPARE)
    values = views.ended.values(dashboard, {"run": "live", "baseline": "live"})
    (elapsed, *courses) = [target for target in targets(dashboard) if target.panel == "Throughput over elapsed time"]
    (axis,) = views.ended.ask(elapsed, values)
    seconds = [float(value) for _, value in axis["values"]]
    assert 0 <= seconds[0] <= 8
    assert all(0.99 < later - sooner < 1.01 for sooner, later in pairwise(seconds))
    (one,), (other,) = (views.ended.ask(target, values) for target in courses)
    assert one["values"] == other["values"], "a run laid over itself"
