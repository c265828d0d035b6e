"""Runs that share plots: of one tool, in one unit, on one time axis."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..metrics.samples import Family
from ..tools.registry import TOOLS
from ..tools.roles import Roles
from . import theme
from .plot import Marks
from .run_view import View, stalled


class Stage(NamedTuple):
    """Runs of one tool, in one unit, on one time axis."""

    runs: Sequence[View]
    roles: Roles

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return self.runs[0].timelines[0].tool

    @property
    def title(self) -> str:
        """The tool, and whether it only sees what another one counts."""
        return f"{self.tool}{' on the other side' if self.roles.observer else ''}"

    @property
    def length(self) -> float:
        """Length of the longest run, seconds."""
        return max(run.length for run in self.runs)

    def marks(self, *, latency: bool = False, only: View | None = None) -> Marks:
        """Warm-up, stalls and, for latencies, the objective that all runs share."""
        several = len(self.runs) > 1 and only is None
        spans = [
            (span, run.colour if several else theme.STALL)
            for run in self.runs
            if only in (None, run)
            for span in stalled(run, self.roles)
        ]
        objectives = {worker.runfile.latency_objective for run in self.runs for worker in run.timelines}
        warmup = max(run.warmup for run in self.runs if only in (None, run))
        return Marks(warmup, spans, several, objectives.pop() if latency and len(objectives) == 1 else None)

    def source(self, family: Family | None) -> str:
        """The source of a family's numbers, for a caption."""
        return self.roles.sources.get(family, "") if family else ""


def stages(runs: Sequence[View]) -> Iterator[Stage]:
    """One for each tool, and for each of its units."""
    for tool in TOOLS:
        for roles in tool.roles:
            mine = [run.of_roles(tool.name, roles) for run in runs]
            mine = [run for run in mine if run.timelines]
            if mine:
                yield Stage(mine, roles)
