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

from ..history.timeline import Timeline
from ..model.run import Worker
from ..tools.roles import Unit

_LINKED = 0.5
_COMMON = 0.1
_NAMED = 2
"""Workers that the name of a result lists before it counts the others."""

Span = tuple[float, float]


def results(workers: Iterable[Timeline]) -> list[tuple[str, list[Timeline]]]:
    """The name and the workers of each result of a run, each tool's results in the order of their starts.

    The name is that of the run; if a tool has several results, the workers of each follow: night/db1. Results of
    several tools may share it.
    """
    kinds: dict[tuple[str, Unit], list[Timeline]] = {}
    observers: dict[tuple[str, Unit], list[Timeline]] = {}
    for worker in workers:
        of = observers if worker.observer else kinds
        of.setdefault((worker.tool, worker.roles.unit), []).append(worker)
    found = {
        kind: [[one] for one in members] if members[0].whole_server else _together(members)
        for kind, members in kinds.items()
    }
    for kind, watching in observers.items():
        seen = next((found[other] for other in kinds if other[0] == kind[0]), None)
        if seen is None:
            found[kind] = _together(watching)
            continue
        for worker in watching:
            max(seen, key=lambda members: max(_overlap(worker, one) for one in members)).append(worker)
    return [(_name(members, len(several) > 1), members) for several in found.values() for members in several]


def _name(members: Sequence[Timeline], one_of_several: bool) -> str:
    names = ", ".join(one.name for one in members[:_NAMED])
    more = f" and {len(members) - _NAMED} more" if len(members) > _NAMED else ""
    return f"{members[0].run}/{names}{more}" if one_of_several else members[0].run


def _together(workers: Sequence[Timeline]) -> list[list[Timeline]]:
    """The workers by those that ran at the same time, each group in the order given."""
    groups: list[list[int]] = []
    joint: list[tuple[list[int], Span, float]] = []  # that a worker can join, when all ran, the shortest time
    spans = [worker.span for worker in workers]
    for place in sorted(range(len(workers)), key=lambda place: spans[place] or (math.inf, math.inf)):
        span = spans[place]
        if span is None:
            groups.append([place])
            continue
        joint = [one for one in joint if one[1][1] >= span[0]]
        for number, (members, common, shortest) in enumerate(joint):
            common, shortest = (max(common[0], span[0]), min(common[1], span[1])), min(shortest, _length(span))
            linked_to = (linked(workers[place], workers[one]) for one in members)
            if _length(common) >= _COMMON * shortest and any(linked_to):
                members.append(place)
                joint[number] = members, common, shortest
                break
        else:
            groups.append([place])
            joint.append((groups[-1], span, _length(span)))
    return [[workers[place] for place in sorted(members)] for members in groups]


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
