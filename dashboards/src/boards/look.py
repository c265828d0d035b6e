"""How panels look, the same on every dashboard: colours, thresholds, legends, and what all kinds of panels share.

Classic dashboard model of Grafana 12.2, schema version 42, made with grafana-foundation-sdk. Every panel says in its
description what it shows, what bad looks like and, from its queries, which metrics it is made of.
"""

import re
from collections.abc import Sequence

from grafana_foundation_sdk.models import common, dashboard, prometheus

from benchwatch.tools.roles import Unit

from .queries import Query, metrics

DATASOURCE = common.DataSourceRef(type_val="prometheus", uid="${datasource}")

GREEN, YELLOW, ORANGE, RED, BLUE, PURPLE = "green", "yellow", "orange", "red", "blue", "purple"

OPERATIONS = {
    "read": ("shades", BLUE),
    "write": ("shades", ORANGE),
    "trim": ("shades", "#8AB8FF"),
    "sync": ("shades", "#B3B3B3"),
    "mixed": ("shades", "#B3B3B3"),
}
_OF_THE_LOG = {"log read": ("shades", "#DEB6F2"), "log write": ("shades", PURPLE)}
"""The log's operations are told from those of the data, which have the colours of any."""
_MODES = {
    "user": ("fixed", GREEN),
    "nice": ("fixed", "#96D98D"),
    "system": ("fixed", ORANGE),
    "softirq": ("fixed", YELLOW),
    "iowait": ("fixed", BLUE),
    "steal": ("fixed", RED),
}
"""What a processor does; red is what it does for others."""
_COLORS = (
    OPERATIONS
    | _MODES
    | _OF_THE_LOG
    | {
        "mean": ("shades", "text"),
        "p50": ("shades", GREEN),
        "p95": ("shades", YELLOW),
        "p99": ("shades", RED),
        "usual": ("shades", "#8e8e8e"),
        "p99.9": ("fixed", "dark-red"),
        "max": ("fixed", "dark-purple"),
        "total": ("fixed", GREEN),
        "local": ("fixed", GREEN),
        "remote": ("fixed", RED),
        "target": ("fixed", "semi-dark-red"),
        "objective": ("fixed", "semi-dark-red"),
    }
)
"""Mode and colour of a series by the last words of its name; the same on every dashboard. Later ones count."""
_DASHED = ("target", "objective", "usual")

Steps = Sequence[tuple[float | None, str]]
"""Thresholds: from which value (None: from the lowest) which colour."""
NEUTRAL: Steps = ((None, "text"),)


def _properties(**properties: object) -> list[dashboard.DynamicConfigValue]:
    return [
        dashboard.DynamicConfigValue(id_val=name.replace("__", "."), value=value) for name, value in properties.items()
    ]


def override(matcher: str, options: object, **properties: object) -> dashboard.DashboardFieldConfigSourceOverrides:
    """The properties of the fields that a matcher picks; `__` in a name stands for a dot."""
    return dashboard.DashboardFieldConfigSourceOverrides(
        matcher=dashboard.MatcherConfig(id_val=matcher, options=options), properties=_properties(**properties)
    )


def colors(queries: Sequence[Query], *, alone: bool = False) -> list[dashboard.DashboardFieldConfigSourceOverrides]:
    """The fixed colours of those series that the queries may have; `alone`: only where no run is named."""
    names = [name for name in _COLORS if any(_may_end(query.legend, name) for query in queries)]
    found = []
    for name in names:
        begin = "^" if alone and name not in _DASHED else r"(^|\s)"
        mode, color = _COLORS[name]
        dash = {"custom__lineStyle": {"fill": "dash", "dash": [8, 6]}, "custom__fillOpacity": 0}
        pattern = rf"/{begin}{re.escape(name)}\s*$/"
        look: dict[str, object] = {"color": {"mode": mode, "fixedColor": color}}
        found.append(override("byRegexp", pattern, **look, **(dash if name in _DASHED else {})))
    return found


def _may_end(legend: str, name: str) -> bool:
    """Whether a series of this legend may have a name that ends so: an operation or a role may be a label."""
    before, _, last = f" {legend}".rpartition(" ")
    role, _, word = name.rpartition(" ")
    if word in _MODES:
        return last in ("{{mode}}", "{{what}}")
    named = last == word or last == "{{quantile}}" or (last == "{{op}}" and word in OPERATIONS)
    return named and (not role or before.endswith((f" {role}", "{{which}}")))


def transformation(kind: str, **options: object) -> dashboard.DataTransformerConfig:
    """One of Grafana's transformations."""
    return dashboard.DataTransformerConfig(id_val=kind, options=options)


def in_unit(unit: Unit, expression: str) -> str:
    """A query for a throughput, in the unit that is shown: bytes a second of a network as bits."""
    return f"8 * ({expression})" if unit.name == "bit/s" else expression


def network(panel: dashboard.Panel) -> dashboard.Panel:
    """The panel, with series whose names say `bit/s` in that unit, on the right."""
    assert panel.field_config is not None and panel.field_config.overrides is not None
    panel.field_config.overrides.append(right_axis("/bit\\/s/", "bps", None))
    return panel


def right_axis(name: str, unit: str, maximum: float | None) -> dashboard.DashboardFieldConfigSourceOverrides:
    """Series of a name on an axis of their own, in another unit; without a maximum it ends above the highest value."""
    end = {} if maximum is None else {"max": maximum}
    return override("byRegexp", name, unit=unit, custom__axisPlacement="right", **end, min=0)


def thresholds(steps: Steps) -> dashboard.ThresholdsConfig:
    """Thresholds in Grafana's model."""
    return dashboard.ThresholdsConfig(
        mode=dashboard.ThresholdsMode.ABSOLUTE,
        steps=[dashboard.Threshold(value=value, color=color) for value, color in steps],
    )


def _target(query: Query, reference: str, format_: prometheus.PromQueryFormat) -> prometheus.Dataquery:
    return prometheus.Dataquery(
        datasource=DATASOURCE,
        expr=query.expression,
        legend_format=query.legend or "__auto",
        instant=query.instant,
        range_val=not query.instant,
        format_val=format_,
        editor_mode=prometheus.QueryEditorMode.CODE,
        interval=query.minimum_step or None,
        ref_id=reference,
    )


def _describe(shows: str, bad: str, queries: tuple[Query, ...]) -> str:
    parts = [shows]
    if bad:
        parts.append(f"**Bad:** {bad}")
    if queries:
        parts.append("**Source:** " + ", ".join(f"`{name}`" for name in metrics(queries)))
    return "\n\n".join(parts)


def panel(
    kind: str,
    title: str,
    shows: str,
    bad: str,
    queries: tuple[Query, ...],
    options: object,
    *,
    unit: str,
    none: str,
    size: tuple[int, int],
    custom: object = None,
    color: dashboard.FieldColor | None = None,
    steps: Steps = NEUTRAL,
    decimals: int | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
    overrides: Sequence[dashboard.DashboardFieldConfigSourceOverrides] = (),
    transformations: Sequence[dashboard.DataTransformerConfig] = (),
    mappings: Sequence[dashboard.ValueMapping] = (),
    format_: prometheus.PromQueryFormat = prometheus.PromQueryFormat.TIME_SERIES,
    time_from: str | None = None,
) -> dashboard.Panel:
    """What all kinds of panels have. `none` is shown instead of data where there are none."""
    width, height = size
    return dashboard.Panel(
        type_val=kind,
        title=title,
        description=_describe(shows, bad, queries),
        datasource=DATASOURCE,
        targets=[_target(query, chr(ord("A") + index), format_) for index, query in enumerate(queries)],
        grid_pos=dashboard.GridPos(w=width, h=height),
        transformations=list(transformations) or None,
        time_from=time_from,
        hide_time_override=True if time_from else None,
        options=options,
        field_config=dashboard.FieldConfigSource(
            defaults=dashboard.FieldConfig(
                unit=unit,
                decimals=decimals,
                min_val=minimum,
                max_val=maximum,
                no_value=none,
                color=color or dashboard.FieldColor(mode=dashboard.FieldColorModeId.THRESHOLDS),
                thresholds=thresholds(steps),
                mappings=list(mappings) or None,
                custom=custom,
            ),
            overrides=list(overrides),
        ),
    )


def legend() -> common.VizLegendOptions:
    """A legend below."""
    return common.VizLegendOptions(
        show_legend=True,
        display_mode=common.LegendDisplayMode.LIST,
        placement=common.LegendPlacement.BOTTOM,
        calcs=[],
    )


def tooltip() -> common.VizTooltipOptions:
    """All series at the pointer, the highest first."""
    return common.VizTooltipOptions(mode=common.TooltipDisplayMode.MULTI, sort=common.SortOrder.DESCENDING)


def scale(log: bool) -> common.ScaleDistributionConfig:
    """A linear or logarithmic axis."""
    if log:
        return common.ScaleDistributionConfig(type_val=common.ScaleDistribution.LOG, log=10)
    return common.ScaleDistributionConfig(type_val=common.ScaleDistribution.LINEAR)
