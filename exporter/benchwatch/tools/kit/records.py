"""What a line can say. `Begin` of the interface is the fifth record: another run begins."""

from collections.abc import Mapping
from typing import NamedTuple

from ..api import Begin
from .tool_figures import Key

MOST = 1000
"""Series of a figure and its labels that are kept of a run: what a file has beyond that is not counted."""


class ToolReport(NamedTuple):
    """What a tool says of an interval. Reports of the same moment add to each other, if their figures differ."""

    time: float
    """The end of the interval, seconds since the start."""
    figures: Mapping[Key, float]
    counted: bool = True
    """Whether counters include it; a warm-up that the tool leaves out of its results is not counted."""
    length: float | None = None
    """Seconds that the interval takes; None: since the previous report."""


class ToolResult(NamedTuple):
    """What a tool says of the whole run."""

    figures: Mapping[Key, float]
    time: float | None = None
    """How long the run has taken, seconds."""
    final: bool = True
    """Whether the run is over; if not, only the time and the settings among the figures count."""


class Said(NamedTuple):
    """A setting of the run. `version`, `begun` (Unix seconds) and `report_interval` (seconds) have a meaning."""

    name: str
    value: str


class Failed(NamedTuple):
    """A message that says why the run ended early."""

    message: str
    interrupted: bool = False
    """Whether a signal stopped it."""


Record = Begin | ToolReport | ToolResult | Said | Failed
