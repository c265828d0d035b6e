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


class Listed(NamedTuple):
    """A run of the list."""

    name: str
    workers: Sequence[Worker]
    """Empty for a run that has left memory."""

    @property
    def active(self) -> bool:
        """Whether a worker may still report."""
        return any(worker.active for worker in self.workers)

    @property
    def fault(self) -> int:
        """0 if a worker has failed, 1 if one has stalled, otherwise 2."""
        return min(({"failed": 0, "stalled": 1}.get(worker.state, 2) for worker in self.workers), default=2)

    @property
    def start(self) -> float:
        """Of its last worker, Unix seconds."""
        return max((worker.start or 0.0 for worker in self.workers), default=0.0)

    @property
    def end(self) -> float:
        """Of its last worker, Unix seconds."""
        return max((worker.end or worker.last_report or 0.0 for worker in self.workers), default=0.0)


class Folded(NamedTuple):
    """Repeats of one experiment, or points of one sweep, that have ended."""

    name: str
    runs: Sequence[Listed]
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


class Spread(NamedTuple):
    """A figure over the runs of an experiment."""

    mean: float
    least: float
    most: float
    half_width: float | None
    """Of the 95 % interval of the mean, relative to it; None for fewer than three runs."""


class Catalogue(NamedTuple):
    """A page of the list."""

    active: Sequence[Listed]
    ended: Sequence[Listed | Folded]
    query: Query
    """As asked, with the page that there is."""
    total: int
    """Lines on all pages."""


def catalogue(runs: Sequence[Run], names: Iterable[str], query: Query) -> Catalogue:
    """The page that `query` asks for. `names` are the labels of all runs, also of those that have left memory."""
    known = {run.name for run in runs if run.workers}
    every = [Listed(run.name, run.workers) for run in runs if run.workers]
    every += [Listed(name, ()) for name in names if name not in known]
    chosen = [run for run in every if _matches(run, query)]
    active = sorted((run for run in chosen if run.active), key=lambda run: (run.fault, -run.start))
    ended = sorted(_folded([run for run in chosen if not run.active]), key=_by_end)
    if query.sort != SORTS[0]:
        active.sort(key=partial(_rank, query.sort))
        ended.sort(key=partial(_rank, query.sort))
    lines = [*active, *ended]
    page = min(query.page, max(1, -(-len(lines) // LINES)))
    shown = lines[LINES * (page - 1) : LINES * page]
    return Catalogue(
        [line for line in shown if isinstance(line, Listed) and line.active],
        [line for line in shown if isinstance(line, Folded) or not line.active],
        query._replace(page=page),
        len(lines),
    )


def total(workers: Sequence[Worker]) -> float | None:
    """The throughput of a run; None unless its workers count the same operations and ran at the same time."""
    counted = [worker for worker in workers if not worker.observer] or workers
    if len({(worker.tool, worker.unit) for worker in counted}) != 1:
        return None
    if not all(_together(one, other) for one, other in combinations(counted, 2)):
        return None
    figures = [worker.throughput for worker in counted if worker.throughput is not None]
    return sum(figures) if len(figures) == len(counted) else None


def spread(experiment: Folded, figure: Callable[[Listed], float | None]) -> Spread | None:
    """The figure over the runs that finished; None if one of them has none."""
    finished = [run for run in experiment.runs if {worker.state for worker in run.workers} == {"finished"}]
    found = [figure(run) for run in finished]
    values = [value for value in found if value is not None]
    if not values or len(values) < len(found):
        return None
    mean = sum(values) / len(values)
    interval = None if experiment.points else interval_of(values)
    return Spread(mean, min(values), max(values), (interval[1] - mean) / mean if interval and mean else None)


def run_latency(run: Listed) -> float | None:
    """The mean latency of a run with one worker, seconds."""
    return run.workers[0].latency if len(run.workers) == 1 else None


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


def _matches(run: Listed, query: Query) -> bool:
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


def _folded(runs: Sequence[Listed]) -> list[Listed | Folded]:
    groups: dict[str, list[Listed]] = {}
    for run in runs:
        names = {worker.experiment for worker in run.workers}
        groups.setdefault(names.pop() if len(names) == 1 else "", []).append(run)
    found: list[Listed | Folded] = list(groups.pop("", []))
    for name, members in groups.items():
        if len(members) == 1:
            found += members
            continue
        points = dict.fromkeys(_point(worker) for run in members for worker in run.workers if worker.point)
        found.append(Folded(name, sorted(members, key=lambda run: run.end), list(points)))
    return found


def _point(worker: Worker) -> str:
    return " ".join(f"{name}={value}" for name, value in worker.point.items())


def _by_end(line: Listed | Folded) -> tuple[int, float]:
    """Most recently ended first, then those that have left memory, in the end those that failed."""
    failed = isinstance(line, Listed) and line.fault == 0
    return 2 if failed else 0 if line.workers else 1, -line.end


def _rank(sort: str, line: Listed | Folded) -> tuple[bool, float, str]:
    """Lines without the figure come last."""
    figure: float | None = 0.0
    if sort == "throughput":
        rate = _mean(line, lambda run: total(run.workers))
        figure = None if rate is None else -rate
    elif sort == "latency":
        figure = _mean(line, run_latency)
    elif sort == "p99":
        figure = min((worker.p99 for worker in line.workers if worker.p99 is not None), default=None)
    elif sort == "duration":
        spans = ((worker.end or 0.0) - (worker.start or 0.0) for worker in line.workers if worker.end and worker.start)
        figure = max(spans, default=None)
    return figure is None, figure or 0.0, line.name


def _mean(line: Listed | Folded, figure: Callable[[Listed], float | None]) -> float | None:
    if isinstance(line, Listed):
        return figure(line) if line.workers else None
    found = spread(line, figure)
    return found.mean if found else None
