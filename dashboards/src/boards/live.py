"""Live run, the home dashboard: is it as fast as usual, since when not, and which layer moved at the same moment?"""

from collections.abc import Sequence

from grafana_foundation_sdk.models import dashboard

from . import alerts, benchmark, column, variables
from .board import Board, Row
from .head import head


def chosen() -> Sequence[dashboard.VariableModel]:
    """The run, and what follows from it."""
    return [*variables.standard(newest=True, hidden=True), variables.recorded(), *variables.machine()]


def panels() -> Sequence[dashboard.Panel]:
    """The head, and the column of time."""
    return [head(), column.events(4), benchmark.throughput(2), benchmark.latency(), *column.below(3)]


BOARD = Board(
    uid="benchwatch-live",
    description="Is the benchmark as fast as usual, since when not, why, and what fires: one column of time.",
    variables=chosen(),
    rows=[Row("", panels()), Row("Alerts", [alerts.firing((24, 6))])],
    range_="now-5m",
)
