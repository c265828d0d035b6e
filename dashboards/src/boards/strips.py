"""Strips: panels over time that lie one below the other, with the same margins, so that a moment is one line.

docs/dashboards.md has the rules of their layout.
"""

from collections.abc import Sequence

from grafana_foundation_sdk.models import common, dashboard, statetimeline, timeseries

from .look import ORANGE, PURPLE, RED, colors, override, panel, scale, tooltip, transformation
from .queries import Query

_AXIS, _LEGEND = 175, 330
"""Pixels of the axis and of the legend: the same everywhere, so that a moment is one vertical line."""
_LABEL = 20
"""Pixels of an axis' label, which lanes do not have."""
_SLOW = "slow"
SLOW = ('run:benchmark_slow:info{run=~"$run"}', 'benchwatch_run_why_info{run=~"$run"}')
"""What says that a run is slow: the rules, and benchwatch why, which also knows that of a young run."""
SHORT = (
    transformation("renameByRegex", regex="/^${run:text} /", renamePattern=""),
    transformation("renameByRegex", regex="/-20[0-9]{6}-([0-9]{6})/", renamePattern="-$1"),
)
"""Names without the run where one is chosen, otherwise without its date."""


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
    overrides: Sequence[dashboard.DashboardFieldConfigSourceOverrides] = (),
) -> dashboard.Panel:
    """Lines over time, as wide as the page, named by the label of the axis.

    `clock`: with the time below. `slow`: a band while the run is slow, where this query gives something ("1": always).
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
        timeseries.Options(legend=_legend(), tooltip=tooltip()),
        unit=unit,
        none=none,
        size=(24, height),
        custom=custom,
        color=dashboard.FieldColor(mode=dashboard.FieldColorModeId.PALETTE_CLASSIC_BY_NAME),
        minimum=None if log else 0,
        maximum=maximum,
        overrides=[
            *colors(queries),
            *overrides,
            *([] if clock else [override("byType", "time", custom__axisPlacement="hidden")]),
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
LANES = {
    0: ("as usual, or no such event at that moment", "#2c3235"),
    1: ("slower than usual", "dark-orange"),
    2: ("the cause, as benchwatch why has it", PURPLE),
    3: ("checkpoint under way", "#2f4f85"),
    4: ("alert: warning", "#F2CC0C"),
    5: ("alert: critical", RED),
}
"""What a lane says by its value, and its colour. The first is as wide as
the legend of a graph, which lanes cannot set."""


def lanes(shows: str, *queries: Query, bad: str, none: str, height: int) -> dashboard.Panel:
    """Events over time, a lane each; of what nothing happens, 0."""
    made = panel(
        "state-timeline",
        "",
        shows,
        bad,
        queries,
        statetimeline.Options(
            show_value=common.VisibilityMode.NEVER,
            row_height=0.8,
            legend=_legend(),
            tooltip=common.VizTooltipOptions(mode=common.TooltipDisplayMode.MULTI, sort=common.SortOrder.NONE),
            per_page=0,
        ),
        unit="none",
        none=none,
        size=(24, height),
        custom=statetimeline.FieldConfig(
            fill_opacity=85, line_width=0, axis_width=_AXIS + _LABEL, span_nulls=False, insert_nulls=False
        ),
        color=dashboard.FieldColor(mode=dashboard.FieldColorModeId.FIXED, fixed_color=LANES[0][1]),
        mappings=[
            dashboard.ValueMap(
                options={
                    str(value): dashboard.ValueMappingResult(text=text, color=color, index=value)
                    for value, (text, color) in LANES.items()
                }
            )
        ],
        transformations=[*SHORT, transformation("renameByRegex", regex="/ {2,}/g", renamePattern=" ")],
    )
    made.max_data_points = 300
    return made


def _legend() -> common.VizLegendOptions:
    """At the right, with the last and the highest value."""
    return common.VizLegendOptions(
        show_legend=True,
        display_mode=common.LegendDisplayMode.LIST,
        placement=common.LegendPlacement.RIGHT,
        width=_LEGEND,
        calcs=["lastNotNull", "max"],
    )
