"""The committed dashboards as files: up to date, and as Grafana and its users need them."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from benchwatch.metrics.buckets import Buckets
from benchwatch.tools.registry import TOOLS
from metrics_reference import sections
from tests.support.grafana import DASHBOARDS, FILES, Json, called, load, panels, targets

UNITS = frozenset(
    [
        "none",
        "short",
        "s",
        "bytes",
        "Bps",
        "bps",
        "iops",
        "ops",
        "pps",
        "percentunit",
        "bool_yes_no",
        "dtdurations",
        "dateTimeAsIso",
        "sishort",
        "time:HH:mm:ss",
        "suffix:x",
        "suffix: x its usual",
    ]
)
"""Those of `packages/grafana-data/src/valueFormats/categories.ts` of Grafana 12.2 that are used here."""
CORE = frozenset(["timeseries", "stat", "table", "heatmap", "text", "state-timeline", "barchart", "xychart", "trend"])
BUILT_IN = frozenset(
    {"__interval", "__rate_interval", "__range", "__to", "__from", "__url_time_range", "__data", "__value"}
)
# Of node_exporter, of Prometheus itself.
OTHERS = re.compile(
    r"node_(disk|cpu|pressure|network)_\w+_total|node_disk_io_now|node_memory_\w+_bytes|pg_\w+"
    r"|ALERTS|ALERTS_FOR_STATE|up|scrape_(duration_seconds|samples_scraped)"
)

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_STARTS = "|".join({family.name.partition("_")[0] for tool in TOOLS for family in tool.families})
_METRIC = re.compile(rf"\b\w+:\w+:\w+\b|\b(?:{_STARTS}|nutanix|benchwatch|process|scrape|node|pg)_[a-zA-Z_0-9]+\b")
_RATE = re.compile(r"\b(?:rate|irate|increase)\([^()]*?\[(.*?)\]")
_COUNTER = re.compile(r"(\w+)\(\s*(\w+_total)\b")
_BY_NAME = re.compile(r'__name__=~"([^"]+)"')
_PATTERN = re.compile(r"[=!]~([\"`])(.*?)\1")
_HEATMAPS_NEED = re.compile(r"-l give|--output-format=json\+|detail page")

every_dashboard = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def known_metrics() -> set[str]:
    names = set()
    for _, families in sections():
        for family in families:
            names.add(family.name)
            if family.kind in ("histogram", "summary"):
                names |= {f"{family.name}_{suffix}" for suffix in ("bucket", "sum", "count")}
    for path in (DASHBOARDS.parent / "prometheus/rules").glob("*.yml"):
        names |= set(re.findall(r"record: (\S+)", path.read_text()))
    return names


def expressions(dashboard: Json) -> Iterator[str]:
    """Of panels, annotations and query variables."""
    yield from (target.expression for target in targets(dashboard))
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"]["query"]


def metrics(expression: str) -> set[str]:
    bare = _STRING.sub('""', expression)
    by_name = {name for names in _BY_NAME.findall(expression) for name in names.split("|") if _METRIC.fullmatch(name)}
    return by_name | set(_METRIC.findall(bare)) | set(re.findall(r"\bALERTS(?:_FOR_STATE)?\b|\bup\b", bare))


def test_there_are_eight_dashboards_and_one_of_each_tool() -> None:
    names = ["compare", "density", "exporter", "live", "locality", "nutanix", "phone", "spike"]
    assert [path.stem for path in FILES] == sorted([*names, *(tool.name for tool in TOOLS)])


def test_the_json_is_what_the_source_generates(tmp_path: Path) -> None:

    subprocess.run([sys.executable, "-m", "boards", tmp_path], cwd=DASHBOARDS / "src", check=True)
    generated = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert generated == {path.name: path.read_bytes() for path in FILES}, "run scripts/dashboards"


def test_a_dashboard_to_import_asks_for_its_data_source_and_takes_it_everywhere(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "boards", "--import", tmp_path], cwd=DASHBOARDS / "src", check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == [path.name for path in FILES]
    for path in FILES:
        text = (tmp_path / path.name).read_text()
        shared, provisioned = json.loads(text), load(path)
        (asked,) = shared["__inputs"]
        assert (asked["name"], asked["type"], asked["pluginId"]) == ("DS_PROMETHEUS", "datasource", "prometheus")
        assert shared["id"] is None
        assert "${datasource}" not in text
        assert text.count('"datasource": {') == path.read_text().count('"datasource": {') > 0
        assert len(re.findall(r'"datasource": \{[^}]*"\$\{DS_PROMETHEUS\}"\s*\}', text)) == text.count(
            '"datasource": {'
        )
        kinds = {one["id"] for one in shared["__requires"] if one["type"] == "panel"}
        assert kinds == {panel["type"] for panel in panels(provisioned)} - {"row"}
        names = [one["name"] for one in provisioned["templating"]["list"]]
        assert [one["name"] for one in shared["templating"]["list"]] == [name for name in names if name != "datasource"]
        assert (shared["uid"], shared["title"]) == (provisioned["uid"], provisioned["title"])


def test_uids_and_titles_are_unique() -> None:
    dashboards = [load(path) for path in FILES]
    assert len({dashboard["uid"] for dashboard in dashboards}) == len(FILES)
    assert len({dashboard["title"] for dashboard in dashboards}) == len(FILES)
    for dashboard in dashboards:
        assert re.fullmatch(r"[a-z0-9-]{8,40}", dashboard["uid"])


@every_dashboard
def test_the_frame_is_that_of_a_provisioned_classic_dashboard(path: Path) -> None:
    dashboard = load(path)
    assert dashboard["schemaVersion"] <= 42
    assert "__inputs" not in dashboard and "DS_PROMETHEUS" not in path.read_text()
    assert "id" not in dashboard
    assert dashboard["editable"] is False
    assert dashboard["graphTooltip"] == 1, "shared crosshair"
    assert "benchwatch" in dashboard["tags"] and dashboard["description"]
    assert dashboard["timepicker"]["refresh_intervals"][0] == "1s"


@every_dashboard
def test_the_data_source_is_a_variable_everywhere(path: Path) -> None:
    dashboard = load(path)
    (variable,) = [one for one in dashboard["templating"]["list"] if one["type"] == "datasource"]
    assert variable["name"] == "datasource" and variable["label"] == "Data source" and variable["query"] == "prometheus"
    assert variable["current"]["value"] == _provisioned_datasource()["uid"]
    wanted = {"type": "prometheus", "uid": "${datasource}"}
    for panel in panels(dashboard):
        if panel["type"] != "text":
            assert panel["datasource"] == wanted, panel["title"]
            assert all(target["datasource"] == wanted for target in panel["targets"]), panel["title"]
    for other in [*dashboard["annotations"]["list"], *dashboard["templating"]["list"]]:
        assert other is variable or other["datasource"] == wanted, other["name"]


@every_dashboard
def test_variables_are_asked_anew_when_the_time_changes(path: Path) -> None:
    for variable in load(path)["templating"]["list"]:
        if variable["type"] == "query":
            assert variable["refresh"] == 2, variable["name"]
            assert variable["label"] and variable["description"]
            assert "\n" not in variable["query"]["query"], "Grafana takes no function for what has several lines"


@every_dashboard
def test_every_panel_says_what_it_shows_what_bad_looks_like_and_its_source(path: Path) -> None:
    for panel in panels(load(path)):
        assert called(panel), panel["id"]
        description = panel["description"]
        if panel["type"] == "text":
            assert description
            continue
        shows, bad, source = description.split("\n\n")
        assert shows.endswith(".") and bad.startswith("**Bad:** ") and source.startswith("**Source:** `"), panel[
            "title"
        ]
        named = set(re.findall(r"`([\w:]+)`", source))
        asked = {name for target in panel["targets"] for name in metrics(target["expr"])}
        assert named == asked, panel["title"]


@every_dashboard
def test_every_panel_has_a_known_unit_and_words_for_no_data(path: Path) -> None:
    for panel in panels(load(path)):
        defaults = panel["fieldConfig"]["defaults"]
        assert defaults["unit"] in UNITS, panel["title"]
        assert panel["type"] == "text" or defaults["noValue"], panel["title"]
        for override in panel["fieldConfig"]["overrides"]:
            units = [one["value"] for one in override["properties"] if one["id"] == "unit"]
            assert set(units) <= UNITS, panel["title"]


@every_dashboard
def test_words_for_no_data_do_not_say_that_a_program_or_an_option_is_missing(path: Path) -> None:
    """A query without an answer does not know that: a scrape may be late, a run over, a second without an operation."""
    for panel in panels(load(path)):
        words = panel["fieldConfig"]["defaults"].get("noValue", "")
        programs = (
            r"-|json|\w*_?exporter|fio|pgbench|target|transaction log|nutanix|detail page|run with|job with|finished"
        )
        assert not re.match(rf"(?i)no ({programs})", words), panel["title"]
        moment = all(target["instant"] and "$__range" not in target["expr"] for target in panel.get("targets", []))
        if moment and panel["type"] != "text":
            assert "in this time range" not in words.replace("at the end of this time range", ""), panel["title"]


@every_dashboard
def test_panels_are_core_numbered_and_do_not_overlap(path: Path) -> None:
    dashboard = load(path)
    shown = dashboard["panels"]
    everything = [*panels(dashboard), *(panel for panel in shown if panel["type"] == "row")]
    assert len({panel["id"] for panel in everything}) == len(everything)
    assert {panel["type"] for panel in panels(dashboard)} <= CORE
    cells: set[tuple[int, int]] = set()
    for panel in shown:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        covered = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not covered & cells, panel["title"]
        cells |= covered


@every_dashboard
def test_panels_have_queries_with_distinct_names(path: Path) -> None:
    for panel in panels(load(path)):
        if panel["type"] == "text":
            continue
        references = [target["refId"] for target in panel["targets"]]
        assert references and len(set(references)) == len(references), panel["title"]
        assert all(target["instant"] != target["range"] for target in panel["targets"]), panel["title"]


@every_dashboard
def test_gaps_stay_gaps(path: Path) -> None:
    for panel in panels(load(path)):
        if called(panel) == "Total TPS by the number of databases":
            continue  # no time is missing: not each kind has been run with each number
        custom = panel["fieldConfig"]["defaults"].get("custom") or {}
        assert not custom.get("spanNulls") and not custom.get("insertNulls"), panel["title"]


@every_dashboard
def test_counters_are_rated_over_the_rate_interval(path: Path) -> None:
    dashboard = load(path)
    for target in targets(dashboard):
        windows = _RATE.findall(target.expression)
        # In a subquery of the ranking the window is of the subquery's step.
        allowed = {"$__rate_interval", "5s"} if dashboard["title"] == "Spike" else {"$__rate_interval"}
        assert set(windows) <= allowed, target
        if not target.instant:
            for function, counter in _COUNTER.findall(_STRING.sub('""', target.expression)):
                assert function in ("rate", "increase") or "errors" in counter or "requests" in counter, (
                    target,
                    counter,
                )


@every_dashboard
def test_no_quantile_is_averaged(path: Path) -> None:
    for target in targets(load(path)):
        if "quantile=" in target.expression:
            assert not re.search(r"\b(avg|sum|avg_over_time|sum_over_time)\b[^)]*quantile=", target.expression), target


@every_dashboard
def test_metrics_exist(path: Path) -> None:
    known = known_metrics()
    for expression in expressions(load(path)):
        for name in metrics(expression):
            assert name in known or OTHERS.fullmatch(name), (name, expression)


@every_dashboard
def test_variables_that_are_used_exist(path: Path) -> None:
    dashboard = load(path)
    known = {variable["name"] for variable in dashboard["templating"]["list"]} | BUILT_IN
    links = re.findall(r'"url": "(.*?)"', path.read_text())
    for text in [*expressions(dashboard), *links]:
        used = {first or second for first, second in re.findall(r"\$\{(\w+)[^}]*\}|\$([a-zA-Z_]\w*)", text)}
        assert used <= known, text


@every_dashboard
def test_single_choices_are_no_regular_expressions(path: Path) -> None:
    """Grafana escapes only what can be several values, or has the format for it."""
    dashboard = load(path)
    single = {one["name"] for one in dashboard["templating"]["list"] if not (one.get("multi") or one.get("includeAll"))}
    for expression in expressions(dashboard):
        for _, pattern in _PATTERN.findall(expression):
            used = {first or second for first, second in re.findall(r"\$(?:(\w+)|\{(\w+)\})", pattern)}
            assert not used & single, expression


@every_dashboard
def test_values_in_links_are_encoded(path: Path) -> None:
    assert "${__value.raw}" not in path.read_text()


@every_dashboard
def test_only_parts_of_a_whole_have_an_axis_that_ends(path: Path) -> None:
    for panel in panels(load(path)):
        for override in panel["fieldConfig"]["overrides"]:
            properties = {one["id"]: one["value"] for one in override["properties"]}
            if properties.get("custom.axisPlacement") == "right":
                assert properties.get("max") == (1 if properties["unit"] == "percentunit" else None), panel["title"]


@every_dashboard
def test_heatmaps_say_what_they_need(path: Path) -> None:
    """In the description: Grafana does not show a heatmap's `noValue`."""
    for panel in panels(load(path)):
        if panel["type"] == "heatmap":
            assert _HEATMAPS_NEED.search(panel["description"]), panel["title"]


@every_dashboard
def test_links_lead_to_dashboards(path: Path) -> None:
    dashboard = load(path)
    uids = {load(other)["uid"] for other in FILES}
    for link in re.findall(r"/d/([\w-]+)", path.read_text()):
        assert link in uids
    (link,) = dashboard["links"]
    assert link["tags"] == ["benchwatch"] and link["includeVars"] and link["keepTime"]


@every_dashboard
def test_lines_are_told_apart_by_all_labels_that_they_have(path: Path) -> None:
    for panel in panels(load(path)):
        for target in panel.get("targets", []) if panel["type"] in ("timeseries", "state-timeline", "stat") else []:
            outer = re.match(r"(?:max|min|sum|count) by \(([^)]*)\)", target["expr"])
            assert outer is None or set(outer[1].split(", ")) <= set(re.findall(r"\w+", target["legendFormat"])), panel


@every_dashboard
def test_percentiles_have_names_and_not_the_value_of_a_label(path: Path) -> None:
    for panel in panels(load(path)):
        for target in panel.get("targets", []):
            by_name = "{{quantile}}" in target["legendFormat"] or "quantile" in str(panel.get("transformations"))
            assert not by_name or '"quantile", "p$1"' in target["expr"], panel["title"]


@every_dashboard
def test_no_graph_has_a_fence_of_marks(path: Path) -> None:
    names = [annotation["name"] for annotation in load(path)["annotations"]["list"]]
    assert names == (["Moves"] if path.stem == "locality" else [])


@every_dashboard
def test_directions_have_the_same_colours_everywhere(path: Path) -> None:
    for panel in panels(load(path)):
        if panel["type"] != "timeseries":
            continue
        for target in panel["targets"]:
            last = target["legendFormat"].split()[-1]
            operations = ("read", "write")
            for op in operations if last == "{{op}}" else {last} & {*operations}:
                for name in _names(target["legendFormat"].rpartition(" ")[0], op):
                    wanted = _COLORS["log " * name.endswith(f" log {op}") + op]
                    assert _color(panel, name) == wanted, (panel["title"], name)


_COLORS = {"read": "blue", "write": "orange", "log read": "#DEB6F2", "log write": "purple"}


def test_labels_of_latency_heatmaps_have_a_line_each() -> None:
    """As in `splits` of Grafana's `plugins/panel/heatmap/utils.ts`, which takes 10 pixels a label for enough."""
    line, frame, most = 12, 96, 10
    for board, pattern in (("pgbench", "pgbench"), ("fio", "fio")):
        for panel in panels(load(DASHBOARDS / f"json/{board}.json")):
            if panel["type"] != "heatmap" or f"{pattern}_" not in panel["targets"][0]["expr"]:
                continue
            fine = 'le!~".*e-0."' in panel["targets"][0]["expr"]
            rows = 1 + sum(not (fine and re.fullmatch(".*e-0.", bound)) for bound in Buckets().bounds)
            height = panel["gridPos"]["h"] * 38 - 8 - frame
            while rows > 3 and (height - 15) / rows < most:
                rows = (rows + 1) // 2
            assert (height - 15) / rows >= line, (board, panel["title"])


def test_what_the_hypervisor_took_has_a_colour_of_its_own() -> None:
    modes = ("user", "nice", "system", "softirq", "iowait", "steal")
    (host,) = [one for one in panels(load(DASHBOARDS / "json/density.json")) if called(one) == "Processors"]
    assert len({_color(host, f"vm {mode}") for mode in modes}) == len(modes)
    (both,) = [one for one in panels(load(DASHBOARDS / "json/live.json")) if called(one) == "CPU"]
    for mode in ("steal", "iowait"):
        assert _color(both, f"vm {mode}") == _color(host, f"vm {mode}")


def _names(legend: str, op: str) -> list[str]:
    """What a series of this legend may be called: the log's are told from the data's, where a label has the role."""
    return [f"x {role} {op}" for role in ("log", "data")] if legend.endswith("{{which}}") else [f"x {legend} {op}"]


def _color(panel: Json, name: str) -> str:
    """That of a series: the last override that matches counts."""
    colors: list[str] = [
        one["value"]["fixedColor"]
        for override in panel["fieldConfig"]["overrides"]
        if re.search(override["matcher"]["options"].strip("/"), name)
        for one in override["properties"]
        if one["id"] == "color"
    ]
    return colors[-1]


def test_panels_stay_few() -> None:
    """120 with the tools that have boards of their own, sysbench and iperf3; of further tools, eight each at most."""
    made = {path.stem: len(list(panels(load(path)))) for path in FILES}
    further = {tool.name for tool in TOOLS} - {"pgbench", "fio", "sysbench", "iperf3"}
    assert sum(count for board, count in made.items() if board not in further) <= 120
    assert max(made[board] for board in further) <= 8


_COLUMN = ["state-timeline", "Rate", "Latency", "CPU", "Disk latency", "Written", "Vdisks"]


@pytest.mark.parametrize("board", ["live", "spike"])
def test_the_column_of_time_has_one_width_and_fits_one_screen_in_the_order_of_the_path(board: str) -> None:
    shown = load(DASHBOARDS / f"json/{board}.json")["panels"]
    below = next(number for number, panel in enumerate(shown) if panel["type"] == "row")
    timed = [panel for panel in shown[:below] if panel["type"] in ("timeseries", "state-timeline")]
    assert [called(panel) for panel in timed] == _COLUMN
    assert shown[0]["type"] == "table" and {panel["gridPos"]["w"] for panel in timed} == {24}
    # A unit of the grid is 30 pixels and 8 between them; above is the row of variables.
    assert timed[-1]["gridPos"]["y"] + timed[-1]["gridPos"]["h"] <= 24
    clocks = [called(panel) for panel in timed if "hidden" not in str(_of_time(panel))]
    assert clocks == ["Vdisks"], "the time is written once, at the bottom"


def _of_time(panel: Json) -> list[Json]:
    return [one for one in panel["fieldConfig"]["overrides"] if one["matcher"]["id"] == "byType"]


@every_dashboard
def test_plots_have_the_same_margins(path: Path) -> None:
    margins = set()
    for panel in panels(load(path)):
        custom = panel["fieldConfig"]["defaults"].get("custom") or {}
        if custom.get("axisWidth"):
            label = 20 if panel["type"] == "timeseries" else 0
            clock = 7 if panel["type"] == "timeseries" and not _of_time(panel) else 0
            margins.add((custom["axisWidth"] + label, panel["options"]["legend"]["width"] + clock))
    assert len(margins) <= 1


@pytest.mark.parametrize(
    ("chosen", "name", "shown"),
    [
        ("r-20261127-122304", "r-20261127-122304: LatencySpike", "LatencySpike"),
        ("{r-20261127-122304,s}", "r-20261127-122304: LatencySpike", "…122304: LatencySpike"),
        ("{r-20261127-122304,s}", "s: slow (shaded), due to", "s: slow (shaded), due to"),
        ("s", ": slow (shaded), due to", "slow (shaded), due to"),
        ("s", "pg1 checkpoint", "pg1 checkpoint"),
    ],
)
def test_lanes_have_the_end_of_their_runs_name_if_several_runs_are_chosen(chosen: str, name: str, shown: str) -> None:
    lanes = next(panel for panel in panels(load(DASHBOARDS / "json/live.json")) if panel["type"] == "state-timeline")
    for one in lanes["transformations"]:
        regex = one["options"]["regex"].replace("${run:raw}", chosen).removesuffix("g").strip("/")
        name = re.sub(regex, one["options"]["renamePattern"].replace("$1", r"\1"), name)
    assert name == shown


@every_dashboard
def test_labels_fit_the_height_of_their_panel(path: Path) -> None:
    letters = {2: 8, 3: 14}
    for panel in panels(load(path)):
        if panel["type"] == "timeseries":
            assert len(called(panel)) <= letters.get(panel["gridPos"]["h"], 20), called(panel)


def _provisioned_datasource() -> Json:
    content = yaml.safe_load((DASHBOARDS / "provisioning/datasources/prometheus.yml").read_text())
    (source,) = content["datasources"]
    found: Json = source
    return found


def test_the_provisioned_data_source_is_fresh_to_the_second() -> None:
    source = _provisioned_datasource()
    assert source["type"] == "prometheus" and source["uid"] == "prometheus"
    assert source["jsonData"]["timeInterval"] == "1s"


def test_bytes_are_shown_as_bytes_beside_other_rates() -> None:
    (rate,) = [panel for panel in panels(load(DASHBOARDS / "json" / "live.json")) if called(panel) == "Rate"]
    units = {
        override["matcher"]["options"]: one["value"]
        for override in rate["fieldConfig"]["overrides"]
        for one in override["properties"]
        if one["id"] == "unit" and override["matcher"]["options"] != "slow"
    }
    assert units == {r"/\bB\/s/": "Bps", r"/\bbit\/s/": "bps"}
