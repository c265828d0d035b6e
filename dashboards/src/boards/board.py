"""The frame of a dashboard: rows of panels, variables, annotations, links to the others."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grafana_foundation_sdk.models import dashboard, prometheus

from .look import DATASOURCE

TAG = "benchwatch"
_WIDTH = 24

TITLES = {
    "benchwatch-live": "Live run",
    "benchwatch-phone": "Live run, phone",
    "benchwatch-pgbench": "pgbench",
    "benchwatch-fio": "fio",
    "benchwatch-nutanix": "Nutanix vdisks",
    "benchwatch-density": "Density",
    "benchwatch-locality": "Locality",
    "benchwatch-compare": "Compare runs",
    "benchwatch-spike": "Spike",
    "benchwatch-exporter": "Exporter health",
}
"""The uid and title of each that is made by hand; the others are called after their tool."""


class Row(NamedTuple):
    """Panels under a heading, from left to right and, when the width is used up, in further lines."""

    title: str
    panels: Sequence[dashboard.Panel]
    collapsed: bool = False


class Board(NamedTuple):
    """A dashboard. `range_` is how far back from now it shows at first, `refresh` how often it is drawn again.

    `moves`: what gives the vdisks that have moved.
    """

    uid: str
    description: str
    variables: Sequence[dashboard.VariableModel]
    rows: Sequence[Row]
    range_: str = "now-15m"
    refresh: str = "5s"
    moves: str = ""


def build(board: Board) -> dashboard.Dashboard:
    """The dashboard in Grafana's model, with ids and places of its panels."""
    placed = list(_placed(board.rows))
    return dashboard.Dashboard(
        uid=board.uid,
        title=TITLES.get(board.uid) or board.uid.removeprefix("benchwatch-"),
        description=board.description,
        tags=[TAG],
        editable=False,
        graph_tooltip=dashboard.DashboardCursorSync.CROSSHAIR,
        refresh=board.refresh,
        schema_version=42,
        time=dashboard.DashboardDashboardTime(from_val=board.range_, to="now"),
        timepicker=dashboard.TimePickerConfig(refresh_intervals=["1s", "2s", "5s", "10s", "30s", "1m", "5m"]),
        templating=dashboard.DashboardDashboardTemplating(list_val=list(board.variables)),
        annotations=dashboard.AnnotationContainer(list_val=list(_annotations(board))),
        links=[_links()],
        panels=placed,
    )


def _placed(rows: Sequence[Row]) -> Iterator[dashboard.Panel | dashboard.RowPanel]:
    number, y = 0, 0
    for row in rows:
        heading: dashboard.RowPanel | None = None
        if row.title:
            number += 1
            heading = dashboard.RowPanel(
                title=row.title,
                id_val=number,
                collapsed=row.collapsed,
                grid_pos=dashboard.GridPos(x=0, y=y, w=_WIDTH, h=1),
                panels=[],
            )
            y += 1
            yield heading
        x = height = 0
        for panel in row.panels:
            number += 1
            panel.id_val = number
            place = panel.grid_pos
            assert place is not None
            if x + place.w > _WIDTH:
                x, y, height = 0, y + height, 0
            place.x, place.y = x, y
            x, height = x + place.w, max(height, place.h)
            if heading is not None and row.collapsed:
                assert heading.panels is not None
                heading.panels.append(panel)
            else:
                yield panel
        y += height


def _annotations(board: Board) -> Iterator[dashboard.AnnotationQuery]:
    """No alerts and runs: those are lanes, as lines on each graph would be a fence."""
    if board.moves:
        yield dashboard.AnnotationQuery(
            name="Moves",
            datasource=DATASOURCE,
            icon_color="#A352CC",
            hide=False,
            target=prometheus.Dataquery(expr=board.moves, interval="1s", ref_id="Anno", range_val=True, instant=False),
            title_format="{{vm}} {{role}} moved: {{from}} -> {{cvm}}",
            text_format="vdisk {{vdisk_uuid}} is on another CVM than just before",
        )


def _links() -> dashboard.DashboardLink:
    return dashboard.DashboardLink(
        title="Dashboards",
        type_val=dashboard.DashboardLinkType.DASHBOARDS,
        icon="dashboard",
        tooltip="The other dashboards, with the same time and variables",
        tags=[TAG],
        as_dropdown=True,
        include_vars=True,
        keep_time=True,
    )
