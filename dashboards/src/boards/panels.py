"""Panels over time and of this moment. Gaps in the data stay gaps."""

from grafana_foundation_sdk.models import common, dashboard, prometheus
from grafana_foundation_sdk.models import heatmap as heatmaps
from grafana_foundation_sdk.models import stat as stats
from grafana_foundation_sdk.models import text as texts

from .look import NEUTRAL, Steps, override, panel, scale
from .queries import Query

VALUE, NAME, BOTH = (
    common.BigValueTextMode.VALUE,
    common.BigValueTextMode.NAME,
    common.BigValueTextMode.VALUE_AND_NAME,
)


def _text(size: tuple[int, int]) -> common.VizTextDisplayOptions | None:
    """The size of the words, where a panel is too low for Grafana's own choice."""
    if size[1] > 2 and size[0] < 24:
        return None
    one_of_each_tool = 4 < size[0] < 24
    return common.VizTextDisplayOptions(
        title_size=16 if size[0] == 24 else 10, value_size=10 if one_of_each_tool else 16
    )


def stat(
    title: str,
    shows: str,
    *queries: Query,
    unit: str,
    bad: str,
    none: str,
    size: tuple[int, int] = (3, 4),
    steps: Steps = NEUTRAL,
    decimals: int | None = None,
    text_mode: common.BigValueTextMode = VALUE,
    fixed: dict[str, str] | None = None,
) -> dashboard.Panel:
    """Numbers of this moment. `text_mode`: values, names or both; `fixed`: colours by name, where not by threshold."""
    options = stats.Options(
        graph_mode=common.BigValueGraphMode.NONE,
        color_mode=common.BigValueColorMode.VALUE,
        text_mode=text_mode,
        reduce_options=common.ReduceDataOptions(calcs=["lastNotNull"], fields="", values=False),
        wide_layout=size[1] < 3,
        text=_text(size),
    )
    by_name = [
        override("byName", name, color={"mode": "fixed", "fixedColor": color}) for name, color in (fixed or {}).items()
    ]
    return panel(
        "stat",
        title,
        shows,
        bad,
        queries,
        options,
        unit=unit,
        none=none,
        size=size,
        steps=steps,
        decimals=decimals,
        overrides=by_name,
    )


def heatmap(
    title: str, shows: str, query: Query, *, unit: str, bad: str, none: str, size: tuple[int, int] = (12, 8)
) -> dashboard.Panel:
    """Observations by bucket over time, on the buckets' own scale."""
    options = heatmaps.Options(
        calculate=False,
        color=heatmaps.HeatmapColorOptions(
            mode=heatmaps.HeatmapColorMode.SCHEME,
            scheme="Blues",
            fill="dark-blue",
            scale=heatmaps.HeatmapColorScale.EXPONENTIAL,
            exponent=0.5,
            steps=64,
        ),
        cell_gap=0,
        filter_values=heatmaps.FilterValueRange(le=1e-9),
        legend=heatmaps.HeatmapLegend(show=True),
        rows_frame=heatmaps.RowsHeatmapOptions(layout=common.HeatmapCellLayout.AUTO),
        tooltip=heatmaps.HeatmapTooltip(mode=common.TooltipDisplayMode.SINGLE, y_histogram=True),
        y_axis=heatmaps.YAxisConfig(unit=unit, axis_placement=common.AxisPlacement.LEFT),
    )
    custom = heatmaps.FieldConfig(scale_distribution=scale(False))
    made = panel(
        "heatmap",
        title,
        shows,
        bad,
        (query,),
        options,
        unit=unit,
        none=none,
        size=size,
        custom=custom,
        format_=prometheus.PromQueryFormat.HEATMAP,
    )
    made.max_data_points = 240 if size[0] > 8 else 120  # a cell is some pixels wide
    return made


def text(title: str, content: str, *, shows: str, size: tuple[int, int]) -> dashboard.Panel:
    """Words, in Markdown."""
    return dashboard.Panel(
        type_val="text",
        title=title,
        description=shows,
        grid_pos=dashboard.GridPos(w=size[0], h=size[1]),
        options=texts.Options(mode=texts.TextMode.MARKDOWN, content=content),
        field_config=dashboard.FieldConfigSource(defaults=dashboard.FieldConfig(unit="none")),
    )
