"""Which runs the landing page lists, and in which order: chosen by its query, folded, sorted, a page of them.

    ?q=sync label=x   words that the name, a worker, a label (`key=value`), the tool or its state must contain
    &tool=fio&state=finished
    &sort=throughput  newest (default), name, throughput, latency, p99 or duration
    &open=sync-off    the repeats and points of this experiment are listed one by one
    &page=2

Active runs come first, those with a fault before all others; failed runs that have ended come last. Runs that repeat
one experiment, or are points of one sweep, are one line once they have ended.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple
from urllib.parse import urlencode

from ..model.run import Run
from ..results.folded import Folded, duration, folded, latency, p99, rate

_NONE: Mapping[str, Run] = {}
LINES = 50
"""Runs and experiments on a page."""
SORTS = ("newest", "name", "throughput", "latency", "p99", "duration")


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


class Catalogue(NamedTuple):
    """A page of the list."""

    active: Sequence[Run]
    ended: Sequence[Run | Folded]
    query: Query
    """As asked, with the page that there is."""
    total: int
    """Lines on all pages."""


def catalogue(runs: Sequence[Run], names: Iterable[str], query: Query, past: Mapping[str, Run] = _NONE) -> Catalogue:
    """The page that `query` asks for.

    `names` are the labels of all runs, also of those that have left memory, and `past` what is known of these.
    """
    every = [run for run in runs if run.workers]
    known = {run.name for run in every}
    every += [past.get(name) or Run(name) for name in names if name not in known]
    chosen = [run for run in every if _matches(run, query)]
    active = sorted((run for run in chosen if run.active), key=lambda run: (_fault(run), -_start(run)))
    ended = sorted(folded([run for run in chosen if not run.active]), key=_by_end)
    if query.sort != SORTS[0]:
        active.sort(key=partial(_rank, query.sort))
        ended.sort(key=partial(_rank, query.sort))
    pages = max(1, -(-(len(active) + len(ended)) // LINES))
    page = min(query.page, pages)
    first, last = LINES * (page - 1), LINES * page
    shown = ended[max(0, first - len(active)) : max(0, last - len(active))]
    return Catalogue(active[first:last], shown, query._replace(page=page), len(active) + len(ended))


_FIGURES = {"throughput": rate, "latency": latency, "p99": p99, "duration": duration}


def _fault(run: Run) -> int:
    """0 if a worker has failed, 1 if one has stalled, otherwise 2."""
    return min(({"failed": 0, "stalled": 1}.get(worker.state, 2) for worker in run.workers), default=2)


def _start(run: Run) -> float:
    return max((worker.start or 0.0 for worker in run.workers), default=0.0)


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
        for labels in (worker.labels, worker.point):
            texts += (f"{key}={value}" for key, value in labels.items())
    text = "\n".join(texts).casefold()
    return all(word in text for word in words)


def _by_end(line: Run | Folded) -> tuple[int, float]:
    """Most recently ended first, then those that have left memory, in the end those that failed."""
    if isinstance(line, Run) and _fault(line) == 0:
        return 2, -line.end
    return int(not line.workers), -line.end


def _rank(sort: str, line: Run | Folded) -> tuple[bool, float, str]:
    """Lines without the figure come last."""
    if sort == "name":
        return False, 0.0, line.name
    of = _FIGURES[sort]
    if isinstance(line, Run):
        found = of(line) if line.workers else None
    else:
        mean = line.mean(of)
        found = mean.value if mean else None
    return found is None, (found or 0.0) * (-1 if sort == "throughput" else 1), line.name
