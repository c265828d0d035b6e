"""Series of recorded rounds of faults.

A tape holds what scrapes saw, a place a second.
"""

import re
from collections import defaultdict
from typing import NamedTuple

_SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$", re.MULTILINE)


class Fault(NamedTuple):
    """One fault of a run, from a second of a tape on, and the layer that it is in."""

    run: str
    fault: str
    expected: str
    begin: int


class Tape:
    """Scrapes of several jobs, on one clock of whole seconds from 0. `series` has None where a series has no sample."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        self.series: dict[str, list[float | str | None]] = {}
        self._seen: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)

    def scrape(self, second: int, exposition: str, epoch: float = 0, **target: str) -> None:
        """Add what a target with these labels exports at this second; times in it are counted from `epoch`."""
        seen = set()
        extra = ",".join(f'{name}="{value}"' for name, value in target.items())
        for name, labels, text in _SAMPLE.findall(exposition):
            key = f"{name}{{{','.join(filter(None, (labels, extra)))}}}"
            value = float(text) - (epoch if name.endswith("_timestamp_seconds") else 0)
            self.series.setdefault(key, [None] * self.seconds)[second] = value
            seen.add(key)
        whose = tuple(target.values())
        for gone in self._seen[whose] - seen:
            self.series[gone][second] = "stale"
        self._seen[whose] = seen
