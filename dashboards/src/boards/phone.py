"""Live on a phone: the same queries, one plot below the other, with titles above and legends below."""

from typing import Any

from grafana_foundation_sdk.models import common, dashboard

from . import live
from .board import Board, Row
from .look import override

_HEIGHT = 7


def _narrow(panel: dashboard.Panel) -> dashboard.Panel:
    """A panel of Live without the margins that make moments one vertical line."""
    assert panel.field_config is not None and panel.grid_pos is not None
    custom: Any = panel.field_config.defaults.custom
    options: Any = panel.options
    panel.grid_pos.h = _HEIGHT
    if panel.type_val == "table":
        for one in panel.transformations or []:
            if one.id_val == "organize":
                columns: Any = one.options
                columns["indexByName"] |= {"text": -1}  # the sentence first: the rest is reached by scrolling
        assert panel.field_config.overrides is not None
        panel.field_config.overrides.append(override("byName", "Why", custom__width=250))
    if hasattr(custom, "axis_width"):
        custom.axis_width = None
        panel.title = getattr(custom, "axis_label", "") or "Events"
        if hasattr(custom, "axis_label"):
            custom.axis_label = ""
        options.legend = common.VizLegendOptions(
            show_legend=True,
            display_mode=common.LegendDisplayMode.LIST,
            placement=common.LegendPlacement.BOTTOM,
            calcs=["lastNotNull"],
        )
        overrides = panel.field_config.overrides or []
        panel.field_config.overrides = [one for one in overrides if one.matcher.id_val != "byType"]
    return panel


BOARD = Board(
    uid="benchwatch-phone",
    description="Live run for a phone: the same, one plot below the other.",
    variables=live.chosen(),
    rows=[Row("", [_narrow(panel) for panel in live.panels()])],
    range_="now-5m",
)
