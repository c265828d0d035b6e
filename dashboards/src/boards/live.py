"""Live run, the home dashboard: is it as fast as usual, since when not, and which layer moved at the same moment?"""

from . import alerts, benchmark, column, variables
from .board import Board, Row
from .head import head

BOARD = Board(
    uid="benchwatch-live",
    description="Is the benchmark as fast as usual, since when not, why, and what fires: one column of time.",
    variables=[*variables.standard(newest=True, hidden=True), variables.recorded(), *variables.machine()],
    rows=[
        Row("", [head(), column.events(), benchmark.throughput(), benchmark.latency(), *column.below()]),
        Row("Alerts", [alerts.firing((24, 6))]),
    ],
    range_="now-5m",
)
