"""Runs of one experiment as one line of a list: repeats, or the points of a sweep, that have ended.

A figure of repeats is their mean with its interval; a sweep has a figure for each point. These are figures that the
tools report (`model.run`), for lists; `results.repeats` calculates those of a result.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

from ..compare.concurrent import linked
from ..model.run import Run, Worker
from ..values.names import natural
from .repeats import Mean


class Folded(NamedTuple):
    """Repeats of one experiment, or points of one sweep."""

    name: str
    runs: Sequence[Run]
    """By their end; the points of a sweep by what it varies."""
    points: Sequence[str]
    """The different points of a sweep; empty for repeats."""

    @property
    def end(self) -> float:
        """Of its last run, Unix seconds."""
        return max(run.end for run in self.runs)

    @property
    def workers(self) -> Sequence[Worker]:
        """Those of all its runs."""
        return [worker for run in self.runs for worker in run.workers]

    @property
    def many(self) -> str:
        """How many runs it has."""
        number = len(self.runs)
        return f"{len(self.points)} points, {number} runs" if self.points else f"×{number}"

    def mean(self, figure: Callable[[Run], float | None]) -> Mean | None:
        """The figure over the runs that finished; None if one of them has none."""
        finished = [run for run in self.runs if {worker.state for worker in run.workers} == {"finished"}]
        values = [value for run in finished if (value := figure(run)) is not None]
        return Mean(values) if values and len(values) == len(finished) else None

    def certainty(self, mean: Mean) -> str:
        """How certain the mean of repeats is, for people: ±4.2 %; empty for fewer than three, and for sweeps."""
        half = None if self.points else mean.half_width
        return "" if half is None else f"±{100 * half:.1f} %"


def folded(runs: Sequence[Run]) -> list[Run | Folded]:
    """The runs, those of one experiment together if there are several."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        names = {worker.experiment for worker in run.workers}
        groups.setdefault(names.pop() if len(names) == 1 else "", []).append(run)
    found: list[Run | Folded] = list(groups.pop("", []))
    for name, members in groups.items():
        if len(members) == 1:
            found += members
            continue
        points = dict.fromkeys(point for run in members if (point := _point(run)))
        members.sort(key=lambda run: (natural(_point(run)) if points else [], run.end))
        found.append(Folded(name, members, list(points)))
    return found


def _point(run: Run) -> str:
    """What a sweep varies, and its values in this run."""
    return " ".join(f"{name}={value}" for name, value in run.workers[0].point.items())


def rate(run: Run) -> float | None:
    """The throughput of a run; None unless its workers count the same operations and ran at the same time."""
    return total(run.workers)


def total(workers: Sequence[Worker]) -> float | None:
    """The throughput of workers together; see rate."""
    counted = [worker for worker in workers if not worker.observer] or workers
    if len({(worker.tool, worker.unit) for worker in counted}) != 1:
        return None
    if len(counted) > 1 and any(worker.whole_server for worker in counted):
        return None
    if not all(linked(one, other) for one, other in combinations(counted, 2)):
        return None
    figures = [worker.throughput for worker in counted if worker.throughput is not None]
    return sum(figures) if len(figures) == len(counted) else None


def latency(run: Run) -> float | None:
    """The mean latency of a run with one worker, seconds."""
    return run.workers[0].latency if len(run.workers) == 1 else None


def p99(run: Run) -> float | None:
    """The 99th percentile of a run with one worker, seconds."""
    return run.workers[0].p99 if len(run.workers) == 1 else None


def duration(run: Run) -> float | None:
    """The longest time that one of its workers took, seconds."""
    spans = (worker.end - worker.start for worker in run.workers if worker.end and worker.start)
    return max(spans, default=None)
