"""What a benchmark reported, second by second."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..metrics.prometheus import Array, Samples
from .run_facts import RunFacts, facts
from .seen import Seen

_KEPT = 5.0
"""Seconds for which a report counts if no other follows."""


class Reported(NamedTuple):
    """One part of a run (a worker; of fio, a job and an operation). A place is a second from `first` on, Unix time."""

    name: tuple[str, ...]
    """Its worker and labels."""
    op: str
    first: int
    latency: Array
    """Mean without the wait for a fixed rate, seconds; NaN: none."""
    rate: Array
    """Operations a second; NaN: no report."""

    def window(self, begin: float, end: float) -> tuple[float, float]:
        """Time of all operations within the window, and their number."""
        chosen = slice(max(0, int(begin) - self.first), max(0, int(np.ceil(end)) - self.first))
        rate = np.nan_to_num(self.rate[chosen])
        return float(np.nansum(self.latency[chosen] * rate)), float(rate[~np.isnan(self.latency[chosen])].sum())


class SeenRun(NamedTuple):
    """A run, as seen in some samples."""

    seen: Seen
    facts: RunFacts
    parts: Sequence[Reported]


def seen_run(seen: Seen, run: str, begin: float, end: float) -> SeenRun:
    """A run between two moments, Unix seconds."""
    found = facts(seen, run)
    return SeenRun(seen, found, list(_reports(seen, found, begin, end)))


def _reports(seen: Seen, facts: RunFacts, begin: float, end: float) -> Iterator[Reported]:
    """The parts of a run. Of several exporters that report one, the first counts."""
    roles, known = facts.roles, set()
    if not roles:
        return
    first, length = int(begin), int(end) - int(begin) + 1
    mean = roles.latency or roles.window
    for one in seen.of(roles.rate.name, run=facts.name):
        part = (one.labels.get("worker", ""), *(one.labels.get(label, "") for label in roles.labels))
        op = one.labels.get(roles.operation, "")
        if part in known or op in roles.apart:
            continue
        known.add(part)
        labels = {name: one.labels.get(name, "") for name in ("run", "worker", "instance", *roles.labels)}
        latency = np.full(length, np.nan)
        means = seen.of(mean.name, **labels) if mean else ()
        if found := next((each for each in means if each.labels.get("quantile", "") != "1"), None):
            latency = _by_second(found, first, length)
        for lag in seen.of(roles.lag.name, **labels) if roles.lag else ():
            latency = latency - np.nan_to_num(_by_second(lag, first, length))
        yield Reported(part, op, first, latency, _by_second(one, first, length))


def _by_second(one: Samples, first: int, length: int) -> Array:
    """The last sample up to each second."""
    moments = first + np.arange(length) + 1.0
    places = one.times.searchsorted(moments, side="right") - 1
    values = one.values[np.maximum(places, 0)].astype(float)
    values[(places < 0) | (one.times[np.maximum(places, 0)] < moments - _KEPT)] = np.nan
    return values
