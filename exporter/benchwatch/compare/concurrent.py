"""Which workers of a run ran at the same time: only their figures are added. Every view takes its results from here.

The workers of a tool and unit are taken in the order of their starts. A worker belongs to a result if

- it overlaps one of its workers for at least half of the shorter one's time, and
- all of them ran together for at least a tenth of the shortest one's time, and
- its rate is not that of the whole server, which each of several clients counts alike.

The second condition keeps two workers apart that followed each other while a third one ran beside both. Workers whose
clocks or roundings overlap by a moment followed each other all the same; forty databases that a script started within
some seconds ran together.

Nothing is added on a guess: a worker of which nothing says when it ran (see Timeline.span) is a result of its own. A
process that only sees what another one counts belongs to the result that it overlaps the longest.
"""

import math
from collections.abc import Iterable, Sequence
from operator import itemgetter

from ..history.timeline import Timeline
from ..model.run import Worker
from ..tools.roles import Unit

_LINKED = 0.5
_COMMON = 0.1
_UNKNOWN = (-math.inf, math.inf)
_NAMED = 2
"""Workers that the name of a result lists before it counts the others."""

Span = tuple[float, float]


def results(workers: Iterable[Timeline]) -> list[tuple[str, list[Timeline]]]:
    """The name and the workers of each result of a run, each tool's results in the order of their starts.

    The name is that of the run; if a tool has several results, the workers of each follow: night/db1. Results of
    several tools may share it.
    """
    kinds: dict[tuple[str, Unit], list[Timeline]] = {}
    observers: list[Timeline] = []
    for worker in workers:
        if worker.observer:
            observers.append(worker)
        else:
            kinds.setdefault((worker.tool, worker.roles.unit), []).append(worker)
    found = {
        kind: [[one] for one in members] if members[0].whole_server else _together(members)
        for kind, members in kinds.items()
    }
    alone: dict[tuple[str, Unit], list[Timeline]] = {}
    for worker in observers:
        kind = next((kind for kind in found if kind[0] == worker.tool), None)
        if kind is None:
            alone.setdefault((worker.tool, worker.roles.unit), []).append(worker)
        else:
            max(found[kind], key=lambda members: max(_overlap(worker, one) for one in members)).append(worker)
    found |= {kind: _together(members) for kind, members in alone.items()}
    return [(_name(members, len(several) > 1), members) for several in found.values() for members in several]


def _name(members: Sequence[Timeline], one_of_several: bool) -> str:
    names = ", ".join(one.name for one in members[:_NAMED])
    more = f" and {len(members) - _NAMED} more" if len(members) > _NAMED else ""
    return f"{members[0].run}/{names}{more}" if one_of_several else members[0].run


class _Group:
    """Workers that ran at the same time, in the order of their starts."""

    def __init__(self, first: int, worker: Timeline) -> None:
        self.members = [(first, worker)]
        self._begin, self.end = worker.span or _UNKNOWN  # when all of them ran
        self._shortest = self.end - self._begin

    def takes(self, place: int, worker: Timeline) -> bool:
        """Add a worker that ran at the same time as these; returns whether it did."""
        span = worker.span or _UNKNOWN
        begin, end = max(self._begin, span[0]), min(self.end, span[1])
        shortest = min(self._shortest, _length(span))
        if end - begin < _COMMON * shortest or not any(linked(worker, one) for _, one in self.members):
            return False
        self.members.append((place, worker))
        self._begin, self.end, self._shortest = begin, end, shortest
        return True


def _together(workers: Sequence[Timeline]) -> list[list[Timeline]]:
    """The workers by those that ran at the same time, each group in the order given."""
    groups: list[_Group] = []
    current: list[_Group] = []  # those that a worker that begins now can still join
    for place, worker in sorted(enumerate(workers), key=lambda one: one[1].span or (math.inf, math.inf)):
        begin = math.inf if worker.span is None else worker.span[0]
        current = [group for group in current if group.end >= begin]
        if worker.span is None or not any(group.takes(place, worker) for group in current):
            groups.append(_Group(place, worker))
            current += groups[-1:] if worker.span else []
    return [[worker for _, worker in sorted(group.members, key=itemgetter(0))] for group in groups]


def linked(one: Worker, other: Worker) -> bool:
    """Whether two workers overlap for at least half of the shorter one's time; not if nothing says when they ran."""
    ran, beside = one.span, other.span
    return (
        ran is not None and beside is not None and _shared(ran, beside) >= _LINKED * min(_length(ran), _length(beside))
    )


def _overlap(one: Worker, other: Worker) -> float:
    """Seconds during which both ran; negative if they did not, by those between them; minus infinity if unknown."""
    return -math.inf if one.span is None or other.span is None else _shared(one.span, other.span)


def _shared(one: Span, other: Span) -> float:
    return min(one[1], other[1]) - max(one[0], other[0])


def _length(span: Span) -> float:
    return span[1] - span[0]
