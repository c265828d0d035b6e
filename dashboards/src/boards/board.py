"""The frame of a dashboard: rows of panels, variables, annotations, links to the others."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grafana_foundation_sdk.models import dashboard, prometheus

from .look import DATASOURCE
from .queries import lately

TAG = "benchwatch"
_WIDTH = 24

TITLES = {
    "benchwatch-live": "Live run",
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

    `checkpoints`: titles of the panels on which the database's checkpoints are bands. `moves`: what gives the vdisks
    that have moved.
    """

    uid: str
    description: str
    variables: Sequence[dashboard.VariableModel]
    rows: Sequence[Row]
    range_: str = "now-15m"
    refresh: str = "5s"
    checkpoints: Sequence[str] = ()
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
        annotations=dashboard.AnnotationContainer(list_val=list(_annotations(board, placed))),
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


def _annotations(
    board: Board, placed: Sequence[dashboard.Panel | dashboard.RowPanel]
) -> Iterator[dashboard.AnnotationQuery]:
    # Compare runs has a single choice of run, which Grafana does not escape by itself. The format `:regex` does, with
    # single backslashes, which PromQL takes in backticks.
    by = "by (alertname, severity, run, worker, job, op, host, vm, role, cvm, vdisk, device)"
    hosts = ",host=~`${host:regex}|`" if any(variable.name == "host" for variable in board.variables) else ""
    firing = f'ALERTS{{alertstate="firing",run=~`${{run:regex}}|`{hosts}}}'
    yield _annotation(
        "Alerts",
        f"max {by} ({lately(firing)}) unless max {by} ({firing} offset $__interval)",
        title="{{alertname}}",
        text="{{run}} {{worker}} {{job}} {{host}} {{vm}} {{role}} {{op}} {{device}} {{cvm}} {{vdisk}}",
        tags="severity",
        color="red",
        toggle=False,
    )
    graphs = [one for one in placed if isinstance(one, dashboard.Panel) and one.type_val == "timeseries"]
    yield _annotation(
        "Runs",
        # One band while any of them is active: runs that follow each other have no edges between them.
        'max(benchwatch_run_state{run=~`${run:regex}`,state=~"running|stalled"}) == 1',
        title="Runs",
        text="A chosen run is active",
        tags="",
        color="#808080",
        toggle=False,
        panels=graphs[:1],  # a band on each panel would be a fence of its edges
    )
    if board.checkpoints:
        yield _annotation(
            "Checkpoints",
            f"max by (host) ({lately('pg_checkpoint_active{host=~`${host:regex}`}')}) == 1",
            title="Checkpoint of {{host}}",
            text="From its begin to its end, as postgres_exporter sees it",
            tags="",
            color="#5794F2",
            toggle=False,
            panels=[one for one in graphs if one.title in board.checkpoints],
        )
    if board.moves:
        yield _annotation(
            "Moves",
            board.moves,
            title="{{vm}} {{role}} moved: {{from}} -> {{cvm}}",
            text="vdisk {{vdisk_uuid}} is on another CVM than just before",
            tags="",
            color="#A352CC",
        )


def _annotation(
    name: str,
    query: str,
    *,
    title: str,
    text: str,
    tags: str,
    color: str,
    toggle: bool = True,
    panels: Sequence[dashboard.Panel] = (),
) -> dashboard.AnnotationQuery:
    """`panels`: on which it is drawn; none: on all."""
    ids = [panel.id_val for panel in panels if panel.id_val is not None]
    return dashboard.AnnotationQuery(
        name=name,
        datasource=DATASOURCE,
        icon_color=color,
        hide=not toggle,
        filter_val=dashboard.AnnotationPanelFilter(exclude=False, ids=ids) if ids else None,
        target=prometheus.Dataquery(expr=query, interval="1s", ref_id="Anno", range_val=True, instant=False),
        title_format=title,
        text_format=text,
        tag_keys=tags or None,
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
