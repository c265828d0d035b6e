"""Tables, and charts of tables: results side by side rather than over time."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from grafana_foundation_sdk.models import barchart, common, dashboard, prometheus, timeseries, trend
from grafana_foundation_sdk.models import table as tables

from .look import (
    BLUE,
    NEUTRAL,
    ORANGE,
    PURPLE,
    Steps,
    legend,
    override,
    panel,
    right_axis,
    scale,
    thresholds,
    tooltip,
    transformation,
)
from .queries import Query


class Column(NamedTuple):
    """A column of a table: the field, its heading and how its cells look. `link` leads to another dashboard.

    `wrap`: names that are longer than the column is wide take further lines. `mappings`: colours by regular expressions
    of the text, the first that matches; `as_text`: `steps` colour the text instead of its ground. `nan`: what is said
    instead of a number that is none.
    """

    field: str
    title: str
    unit: str = "none"
    width: int = 0
    steps: Steps = ()
    decimals: int | None = None
    link: str = ""
    hidden: bool = False
    wrap: bool = False
    mappings: dict[str, str] = {}
    as_text: bool = False
    nan: str = ""


RUN_COMPARED = Column(
    "run", "Run", width=255, link="/d/benchwatch-compare?${__url_time_range}&var-run=${__value.raw:percentencode}"
)
"""The name of a run, which leads to its comparison with a baseline."""


def table(
    title: str,
    shows: str,
    *queries: Query,
    columns: Sequence[Column],
    bad: str,
    none: str,
    size: tuple[int, int] = (24, 8),
    sort: tuple[str, Literal["up", "down"]] | None = None,
    before: Sequence[dashboard.DataTransformerConfig] = (),
    steps: Steps = NEUTRAL,
    unit: str = "none",
) -> dashboard.Panel:
    """A table of the queries' labels and values; fields that are not among the columns are left out.

    Without columns all fields are shown as the transformations `before` leave them, numbers in `unit` and `steps`.
    """
    order = {column.field: index for index, column in enumerate(columns)}
    renamed = {column.field: column.title for column in columns}
    shaping = [
        transformation("filterFieldsByName", include={"names": list(order)}),
        transformation("organize", indexByName=order, renameByName=renamed, excludeByName={}),
    ]
    joined = [transformation("merge")] if len(queries) > 1 and not before else []
    return panel(
        "table",
        title,
        shows,
        bad,
        tuple(query._replace(instant=True) for query in queries),
        tables.Options(
            cell_height=common.TableCellHeight.SM,
            sort_by=[common.TableSortByFieldState(display_name=sort[0], desc=sort[1] == "down")] if sort else None,
        ),
        unit=unit,
        none=none,
        size=size,
        custom={
            "align": "auto",
            "cellOptions": {"type": "color-text"},
            "filterable": False,
            "minWidth": 90,
            "wrapHeaderText": True,
        },
        steps=steps,
        overrides=[override("byRegexp", "/.*/", noValue="-"), *(_column(column) for column in columns)],
        transformations=[*before, *joined, *(shaping if columns else [])],
        format_=prometheus.PromQueryFormat.TABLE,
    )


def _column(column: Column) -> dashboard.DashboardFieldConfigSourceOverrides:
    properties: dict[str, object] = {"unit": column.unit}
    if column.decimals is not None:
        properties["decimals"] = column.decimals
    if column.width:
        properties["custom.width"] = column.width
    if column.steps:
        properties["thresholds"] = thresholds(column.steps)
        ground = {"type": "color-background", "mode": "basic"}
        properties["custom.cellOptions"] = {"type": "color-text"} if column.as_text else ground
    if column.mappings:
        properties["mappings"] = [
            {"type": "regex", "options": {"pattern": f"/^({value})$/", "result": {"color": color, "index": index}}}
            for index, (value, color) in enumerate(column.mappings.items())
        ]
        properties["custom.cellOptions"] = {"type": "color-text"}
    if column.nan:
        properties["mappings"] = [{"type": "special", "options": {"match": "nan", "result": {"text": column.nan}}}]
    if column.hidden:
        properties["custom.hideFrom"] = {"viz": True, "legend": False, "tooltip": False}
        properties["custom.hidden"] = True  # the same up to Grafana 12.1
    if column.wrap:
        properties["custom.wrapText"] = True
    if column.link:
        properties["links"] = [{"title": "Open", "url": column.link}]
    return dashboard.DashboardFieldConfigSourceOverrides(
        matcher=dashboard.MatcherConfig(id_val="byName", options=column.title),
        properties=[dashboard.DynamicConfigValue(id_val=name, value=value) for name, value in properties.items()],
    )


def bars(
    title: str,
    shows: str,
    *queries: Query,
    category: str,
    unit: str,
    bad: str,
    none: str,
    size: tuple[int, int],
    before: Sequence[dashboard.DataTransformerConfig],
    log: bool = False,
    stacked: bool = False,
    compared: bool = False,
) -> dashboard.Panel:
    """Bars of the queries' present values, grouped by the field `category`; `stacked`: one bar each, lying.

    `compared`: of a run and its baseline.
    """
    return panel(
        "barchart",
        title,
        shows,
        bad,
        tuple(query._replace(instant=True) for query in queries),
        barchart.Options(
            x_field=category,
            orientation=common.VizOrientation.HORIZONTAL if stacked else common.VizOrientation.VERTICAL,
            stacking=common.StackingMode.NORMAL if stacked else common.StackingMode.NONE,
            x_tick_label_max_length=20,
            show_value=common.VisibilityMode.NEVER if stacked else common.VisibilityMode.AUTO,
            text=common.VizTextDisplayOptions(value_size=12),
            legend=legend(),
            tooltip=tooltip(),
        ),
        unit=unit,
        none=none,
        size=size,
        custom=barchart.FieldConfig(fill_opacity=70, scale_distribution=scale(log)),
        color=dashboard.FieldColor(mode=dashboard.FieldColorModeId.PALETTE_CLASSIC),
        overrides=[
            override("byName", category, unit="none"),
            *(_compared() if compared else []),
            *(
                override("byName", name, color={"mode": "fixed", "fixedColor": color})
                for name, color in _STAGES.items()
            ),
        ],
        transformations=before,
        format_=prometheus.PromQueryFormat.TABLE,
    )


_STAGES = {"log device": PURPLE, "data device": ORANGE}
"""Stages of a waterfall that have the colour of their role."""


def _compared() -> list[dashboard.DashboardFieldConfigSourceOverrides]:
    """A run is blue, that with which it is compared grey."""
    return [
        override("byRegexp", r"/^(?!.* \(baseline\)( |$)).+$/", color={"mode": "shades", "fixedColor": BLUE}),
        override("byRegexp", r"/ \(baseline\)( |$)/", color={"mode": "shades", "fixedColor": "#9FA7B3"}),
    ]


def course(
    title: str,
    shows: str,
    *queries: Query,
    elapsed: Query,
    length: str,
    unit: str,
    bad: str,
    none: str,
    size: tuple[int, int],
    log: bool = False,
    right: tuple[str, str, float | None] | None = None,
    compared: bool = False,
) -> dashboard.Panel:
    """Lines over the seconds since a start, which `elapsed` gives; `length` is how far back from now is asked for.

    `right`: as of a graph; `compared`: as of bars.
    """
    name = "elapsed"
    return panel(
        "trend",
        title,
        shows,
        bad,
        (elapsed._replace(legend=name), *queries),
        trend.Options(legend=legend(), tooltip=tooltip(), x_field=name),
        unit=unit,
        none=none,
        size=size,
        custom=timeseries.FieldConfig(
            draw_style=common.GraphDrawStyle.LINE,
            line_width=1,
            show_points=common.VisibilityMode.NEVER,
            span_nulls=False,
            axis_soft_min=None if log else 0,
            scale_distribution=scale(log),
        ),
        color=dashboard.FieldColor(mode=dashboard.FieldColorModeId.PALETTE_CLASSIC),
        overrides=[
            *(_compared() if compared else []),
            override("byName", name, unit="s", custom__scaleDistribution=scale(False)),
            *([right_axis(*right)] if right else []),
        ],
        transformations=[
            transformation("joinByField", byField="Time", mode="outer"),
            transformation("filterFieldsByName", exclude={"names": ["Time"]}),
        ],
        time_from=length,
    )


def curves(
    title: str,
    shows: str,
    *queries: Query,
    x: str,
    unit: str,
    bad: str,
    none: str,
    size: tuple[int, int],
    before: Sequence[dashboard.DataTransformerConfig],
    dashed: str,
) -> dashboard.Panel:
    """Lines over the field `x`; `dashed`: a pattern of names of those that are compared with."""
    return panel(
        "trend",
        title,
        shows,
        bad,
        queries,
        trend.Options(legend=legend(), tooltip=tooltip(), x_field=x),
        unit=unit,
        none=none,
        size=size,
        custom=timeseries.FieldConfig(
            draw_style=common.GraphDrawStyle.LINE,
            line_width=2,
            show_points=common.VisibilityMode.ALWAYS,
            point_size=7,
            span_nulls=True,
            axis_soft_min=0,
        ),
        color=dashboard.FieldColor(mode=dashboard.FieldColorModeId.PALETTE_CLASSIC),
        overrides=[
            override("byName", x, unit="none"),
            override(
                "byRegexp",
                dashed,
                color={"mode": "shades", "fixedColor": "#8e8e8e"},
                custom__lineStyle={"fill": "dash", "dash": [8, 6]},
                custom__lineWidth=1,
                custom__showPoints="never",
            ),
        ],
        transformations=before,
        format_=prometheus.PromQueryFormat.TABLE,
    )
