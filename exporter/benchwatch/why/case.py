"""A slow time beside the usual: what causes are looked for in."""

from typing import NamedTuple

from .explanation import Explanation
from .run_facts import RunFacts
from .window import TimeWindow

PART = 0.3
"""The part of what a run is slower that a layer must explain."""
STANDS_OUT = 3.0
"""The multiple of the usual at which something stands out."""
_DATABASE = "postgres"


class SlowCase(NamedTuple):
    """An explanation without its cause, and the figures, usually and now."""

    of: Explanation
    was: TimeWindow
    now: TimeWindow

    @property
    def facts(self) -> RunFacts:
        """Of the run."""
        return self.of.facts

    def more_used(self, use: str, host: str) -> tuple[str, float, float | None]:
        """The name of the processes of a machine whose use of something has grown most, their use now, and usually.

        Where the usual use was not looked at (None), the database is left out: it does the benchmark's own work.
        """
        usual, now = (
            {labels.get("process", ""): used for labels, used in window.of_host(use, host)}
            for window in (self.was, self.now)
        )
        found = [(name, used, usual.get(name)) for name, used in now.items() if name in usual or name != _DATABASE]
        return max(found, key=lambda one: one[1] - (one[2] or 0.0), default=("", 0.0, None))
