"""Which runs the landing page lists, and in which order: chosen by its query, folded, sorted, a page of them.

    ?q=sync label=x   words that the name, a worker, a label (`key=value`), the tool or its state must contain
    &tool=fio&state=finished
    &sort=throughput  newest (default), name, throughput, latency, p99 or duration
    &open=sync-off    the repeats and points of this experiment are listed one by one
    &page=2

Active runs come first, those with a fault before all others; failed runs that have ended come last. Runs that repeat
one experiment, or are points of one sweep, are one line once they have ended.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import combinations
from math import inf
from typing import NamedTuple
from urllib.parse import urlencode

from ..model.run import Run, Worker
from ..results.repeats import interval_of
from ..values.names import natural

LINES = 50
"""Runs and experiments on a page."""
SORTS = ("newest", "name", "throughput", "latency", "p99", "duration")
_LINKED = 0.5


class Query(NamedTuple):
    """What the reader asks for; any text is a valid query."""

    q: str = ""
    tool: str = ""
    state: str = ""
    sort: str = SORTS[0]
    open: tuple[str, ...] = ()
    page: int = 1

    @classmethod
    def of(cls, parameters: Iterable[tuple[str, str]]) -> "Query":
        """The query of an address; what cannot be understood is as if it were not there."""
        pairs = [(name, value[:200]) for name, value in parameters]
        found = dict(pairs)
        page, sort = found.get("page", ""), found.get("sort", "")
        return cls(
            found.get("q", ""),
            found.get("tool", ""),
            found.get("state", ""),
            sort if sort in SORTS else SORTS[0],
            tuple(dict.fromkeys(value for name, value in pairs if name == "open")),
            max(1, int(page)) if page.isascii() and page.isdecimal() and len(page) < 10 else 1,
        )

    @property
    def address(self) -> str:
        """The query as a relative URL."""
        pairs = [(name, value) for name, value in self._asdict().items() if name != "open" and value]
        pairs += [("open", name) for name in self.open]
        defaults = Query()._asdict()
        return "?" + urlencode([pair for pair in pairs if pair[1] != defaults[pair[0]]], errors="replace")

    def toggled(self, name: str) -> "Query":
        """The same with an experiment opened, or closed if it is open."""
        others = tuple(one for one in self.open if one != name)
        return self._replace(open=others if len(others) < len(self.open) else (*self.open, name))


class Spread(NamedTuple):
    """A figure over the runs of an experiment."""

    values: Sequence[float]
    """One for each run that finished."""
    half_width: float | None
    """Of the 95 % interval of the mean, relative to it; None for fewer than three repeats, and for sweeps."""

    @property
    def mean(self) -> float:
        """Of all runs."""
        return sum(self.values) / len(self.values)


class Folded(NamedTuple):
    """Repeats of one experiment, or points of one sweep, that have ended."""

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

    def spread(self, figure: Callable[[Run], float | None]) -> Spread | None:
        """The figure over the runs that finished; None if one of them has none."""
        finished = [run for run in self.runs if {worker.state for worker in run.workers} == {"finished"}]
        values = [value for run in finished if (value := figure(run)) is not None]
        if not values or len(values) < len(finished):
            return None
        mean = sum(values) / len(values)
        interval = None if self.points else interval_of(values)
        return Spread(values, (interval[1] - mean) / mean if interval and mean else None)


class Catalogue(NamedTuple):
    """A page of the list."""

    active: Sequence[Run]
    ended: Sequence[Run | Folded]
    query: Query
    """As asked, with the page that there is."""
    total: int
    """Lines on all pages."""


def catalogue(runs: Sequence[Run], names: Iterable[str], query: Query) -> Catalogue:
    """The page that `query` asks for. `names` are the labels of all runs, also of those that have left memory."""
    every = [run for run in runs if run.workers]
    known = {run.name for run in every}
    every += [Run(name) for name in names if name not in known]
    chosen = [run for run in every if _matches(run, query)]
    active = sorted((run for run in chosen if run.active), key=lambda run: (_fault(run), -_start(run)))
    ended = sorted(_folded([run for run in chosen if not run.active]), key=_by_end)
    if query.sort != SORTS[0]:
        active.sort(key=partial(_rank, query.sort))
        ended.sort(key=partial(_rank, query.sort))
    pages = max(1, -(-(len(active) + len(ended)) // LINES))
    page = min(query.page, pages)
    first, last = LINES * (page - 1), LINES * page
    shown = ended[max(0, first - len(active)) : max(0, last - len(active))]
    return Catalogue(active[first:last], shown, query._replace(page=page), len(active) + len(ended))


def rate(run: Run) -> float | None:
    """The throughput of a run; None unless its workers count the same operations and ran at the same time."""
    return total(run.workers)


def total(workers: Sequence[Worker]) -> float | None:
    """The throughput of workers together; see rate."""
    counted = [worker for worker in workers if not worker.observer] or workers
    if len({(worker.tool, worker.unit) for worker in counted}) != 1:
        return None
    if not all(_together(one, other) for one, other in combinations(counted, 2)):
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


_FIGURES = {"throughput": rate, "latency": latency, "p99": p99, "duration": duration}


def _fault(run: Run) -> int:
    """0 if a worker has failed, 1 if one has stalled, otherwise 2."""
    return min(({"failed": 0, "stalled": 1}.get(worker.state, 2) for worker in run.workers), default=2)


def _start(run: Run) -> float:
    return max((worker.start or 0.0 for worker in run.workers), default=0.0)


def _together(one: Worker, other: Worker) -> bool:
    """Whether they overlap for at least half of the shorter one's time; an active worker has not ended."""
    if one.start is None or other.start is None:
        return False
    ends = [inf if worker.active else worker.end for worker in (one, other)]
    if None in ends:
        return False
    first, second = (end or 0.0 for end in ends)
    shared = min(first, second) - max(one.start, other.start)
    return shared >= _LINKED * min(first - one.start, second - other.start)


def _matches(run: Run, query: Query) -> bool:
    if query.tool and all(worker.tool != query.tool for worker in run.workers):
        return False
    if query.state and all(worker.state != query.state for worker in run.workers):
        return False
    words = query.q.casefold().split()
    if not words:
        return True
    texts = [run.name]
    for worker in run.workers:
        texts += worker.name, worker.tool, worker.state, worker.experiment
        texts += (f"{key}={value}" for labels in (worker.labels, worker.point) for key, value in labels.items())
    text = "\n".join(texts).casefold()
    return all(word in text for word in words)


def _folded(runs: Sequence[Run]) -> list[Run | Folded]:
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
        members.sort(key=lambda run: run.end)
        if points:
            members.sort(key=lambda run: natural(_point(run)))
        found.append(Folded(name, members, list(points)))
    return found


def _point(run: Run) -> str:
    """What a sweep varies, and its values in this run."""
    return " ".join(f"{name}={value}" for name, value in run.workers[0].point.items())


def _by_end(line: Run | Folded) -> tuple[int, float]:
    """Most recently ended first, then those that have left memory, in the end those that failed."""
    failed = isinstance(line, Run) and _fault(line) == 0
    return 2 if failed else 0 if line.workers else 1, -line.end


def _rank(sort: str, line: Run | Folded) -> tuple[bool, float, str]:
    """Lines without the figure come last."""
    if sort == "name":
        return False, 0.0, line.name
    of = _FIGURES[sort]
    if isinstance(line, Run):
        found = of(line) if line.workers else None
    else:
        spread = line.spread(of)
        found = spread.mean if spread else None
    return found is None, (found or 0.0) * (-1 if sort == "throughput" else 1), line.name
