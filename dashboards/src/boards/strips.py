"""Strips: panels over time that lie one below the other, with the same margins, so that a moment is one line.

docs/dashboards.md has the rules of their layout.
"""

from collections.abc import Mapping, Sequence

from grafana_foundation_sdk.models import common, dashboard, statetimeline, timeseries

from .look import ORANGE, RED, colors, override, panel, scale, tooltip, transformation
from .queries import Query

_AXIS, _LEGEND = 210, 344
"""Pixels of the axis and of the legend: the same everywhere, so that a moment is one vertical line."""
_LABEL = 20
"""Pixels of an axis' label, which lanes do not have."""
_CLOCK = 7
"""Pixels that a graph with the time below leaves free at the right of it."""
_SLOW = "slow"
SLOW = ('run:benchmark_slow:info{run=~"$run"}', 'benchwatch_run_why_info{run=~"$run"}')
"""What says that a run is slow: the rules, and benchwatch why, which also knows that of a young run."""
SHORT = (
    transformation("renameByRegex", regex="/^${run:raw} /", renamePattern=""),
    transformation("renameByRegex", regex="/-20[0-9]{6}-([0-9]{6})/", renamePattern="-$1"),
    transformation("renameByRegex", regex="/^(\\S{5})\\S{3,}(-[0-9]{6} )/", renamePattern="$1…$2"),
)
"""Names without the run where one is chosen, otherwise with the begin of its name and its time."""

LANE_NAMES = (
    transformation("renameByRegex", regex="/^(${run:raw})?: /", renamePattern=""),
    transformation("renameByRegex", regex="/^\\S{2,}(\\S{6}): /", renamePattern="…$1: "),
)
"""The same of lanes, which have little room: of a run's name its end."""


def strip(
    label: str,
    shows: str,
    *queries: Query,
    unit: str,
    bad: str,
    none: str,
    height: int = 3,
    log: bool = False,
    stacked: bool = False,
    maximum: float | None = None,
    clock: bool = False,
    slow: str = "",
    by_order: bool = False,
    calcs: Sequence[str] = ("lastNotNull", "max"),
    overrides: Sequence[dashboard.DashboardFieldConfigSourceOverrides] = (),
) -> dashboard.Panel:
    """Lines over time, as wide as the page, named by the label of the axis.

    `calcs`: what the legend says of each.
    `clock`: with the time below. `slow`: a band while the run is slow, where this query gives something ("1": always).
    `by_order`: several runs have colours by their order, the same in all such graphs; one run has those of its lines.
    """
    custom = timeseries.FieldConfig(
        draw_style=common.GraphDrawStyle.LINE,
        line_width=1.5,
        fill_opacity=40 if stacked else 0,
        show_points=common.VisibilityMode.AUTO,
        point_size=3,
        span_nulls=False,
        axis_label=label,
        axis_width=_AXIS,
        axis_soft_min=None if log else 0,
        axis_border_show=False,
        scale_distribution=scale(log),
        stacking=common.StackingConfig(
            mode=common.StackingMode.NORMAL if stacked else common.StackingMode.NONE, group="A"
        ),
    )
    made = panel(
        "timeseries",
        "",
        shows,
        bad,
        (*queries, *([Query(_band(slow), _SLOW)] if slow else [])),
        timeseries.Options(legend=_legend(_LEGEND - _CLOCK if clock else _LEGEND, calcs), tooltip=tooltip()),
        unit=unit,
        none=none,
        size=(24, height),
        custom=custom,
        color=dashboard.FieldColor(
            mode=dashboard.FieldColorModeId.PALETTE_CLASSIC
            if by_order
            else dashboard.FieldColorModeId.PALETTE_CLASSIC_BY_NAME
        ),
        minimum=None if log else 0,
        maximum=maximum,
        overrides=[
            *colors(queries, alone=by_order),
            *overrides,
            *([] if clock else [_NO_CLOCK]),
            *([_BAND] if slow else []),
        ],
        transformations=SHORT,
    )
    made.max_data_points = 300  # an hour every 15 s, a quarter of what a wide screen would ask of Prometheus
    return made


def _band(where: str) -> str:
    """1 while a chosen run is slow by the rules, where there is something to draw."""
    slow = f"max({' or on (run) '.join(f'max_over_time({one}[$__interval])' for one in SLOW)}) ^ 0"
    return slow if where == "1" else f"{slow} and on () count({where})"


_NO_CLOCK = override("byType", "time", custom__axisPlacement="hidden")
_BAND = override(
    "byName",
    _SLOW,
    custom__axisPlacement="hidden",
    custom__fillOpacity=14,
    custom__lineWidth=0,
    custom__lineInterpolation="stepAfter",
    custom__showPoints="never",
    custom__stacking={"mode": "none", "group": "B"},
    custom__scaleDistribution={"type": "linear"},
    custom__hideFrom={"legend": True, "tooltip": True, "viz": False},
    color={"mode": "fixed", "fixedColor": ORANGE},
    unit="none",
    min=0,
    max=1,
)
GREY = "#2c3235"
"""Of a lane while nothing happens."""
LAYERS = {
    "client_cpu": "client CPU",
    "server_cpu": "server CPU",
    "server": "server",
    "memory": "memory",
    "network": "network",
    "database": "database",
    "log_device": "log disk",
    "data_device": "data disk",
    "path": "path",
    "frontend": "vdisk",
    "oplog": "oplog",
    "read_source": "read source",
    "cvm_queue": "CVM queue",
    "backend": "back end",
}
"""Layers that `benchwatch why` names, in words that fit a bar of ten seconds."""
_BELOW_THE_GUEST = ("path", "frontend", "oplog", "read_source", "cvm_queue", "backend")


def legend_only(words: str) -> str:
    """Words of a lane that stand in the legend, which leaves spaces out, but not in bars, which have no room for more.

    They make the legend as wide as that of a graph: lanes cannot set its width, which is that of the longest words.
    """
    return " " * 200 + words + "\N{NO-BREAK SPACE}" * (88 - 2 * len(words))


SLOW_LANE, CHECKPOINT_LANE, WARNING_LANE, CRITICAL_LANE, FIRST_LAYER = 1, 2, 3, 4, 5
LANES = {
    0: (legend_only("nothing"), GREY),
    SLOW_LANE: ("?", "#FFB357"),
    CHECKPOINT_LANE: ("checkpoint", "#2f4f85"),
    WARNING_LANE: ("warning", "#F2CC0C"),
    CRITICAL_LANE: ("critical", RED),
    **{
        value: (words, "#A84300" if layer in _BELOW_THE_GUEST else "dark-orange")
        for value, (layer, words) in enumerate(LAYERS.items(), FIRST_LAYER)
    },
}
"""What a lane says by its value, and its colour."""


def lanes(
    shows: str,
    *queries: Query,
    bad: str,
    none: str,
    height: int,
    title: str = "",
    says: Mapping[int, tuple[str, str]] = LANES,
) -> dashboard.Panel:
    """Events over time, a lane each; of what nothing happens, 0. `says`: words and colour of each value."""
    made = panel(
        "state-timeline",
        title,
        shows,
        bad,
        queries,
        statetimeline.Options(
            show_value=common.VisibilityMode.AUTO,
            align_value=common.TimelineValueAlignment.LEFT,
            row_height=0.9,
            legend=_legend(_LEGEND),
            tooltip=common.VizTooltipOptions(mode=common.TooltipDisplayMode.MULTI, sort=common.SortOrder.NONE),
            per_page=0,
        ),
        unit="none",
        none=none,
        size=(24, height),
        custom=statetimeline.FieldConfig(
            fill_opacity=85, line_width=0, axis_width=_AXIS + _LABEL, span_nulls=False, insert_nulls=False
        ),
        color=dashboard.FieldColor(mode=dashboard.FieldColorModeId.FIXED, fixed_color=GREY),
        mappings=[
            dashboard.ValueMap(
                options={
                    str(value): dashboard.ValueMappingResult(text=text, color=color, index=value)
                    for value, (text, color) in says.items()
                }
            )
        ],
        overrides=[_NO_CLOCK],
        transformations=[
            *LANE_NAMES,
            transformation("renameByRegex", regex="/ {2,}/g", renamePattern=" "),
            transformation("renameByRegex", regex="/^ | $/g", renamePattern=""),
        ],
    )
    made.max_data_points = 300
    return made


def _legend(width: int, calcs: Sequence[str] = ()) -> common.VizLegendOptions:
    """At the right, with these figures of each series."""
    return common.VizLegendOptions(
        show_legend=True,
        display_mode=common.LegendDisplayMode.LIST,
        placement=common.LegendPlacement.RIGHT,
        width=width,
        calcs=list(calcs),
    )
