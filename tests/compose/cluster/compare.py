"""The queries of all panels, asked of a plain Prometheus and of the cluster, and how far apart the answers are.

Both have the same samples, so that whatever differs is the language. What is compared is what Grafana draws: of NaN
it draws nothing, and a series without a point is none. Series are paired by their labels, points by their time.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tests.support.grafana import FILES, Prometheus, Target, View, load, targets

SAME = 1e-9
"""How far apart numbers may be, relatively, that are the same: both add up in an order of their own."""

Points = Mapping[float, float]


class Difference(NamedTuple):
    """How two answers to one query differ. `apart` is the largest relative distance of two numbers."""

    target: Target
    points: int
    only_prometheus: int
    only_cluster: int
    apart: float
    many: int
    """How many pairs of numbers are more than SAME apart."""
    drift: float = 0.0
    """How far apart the sums of all points are, relatively."""
    error: str = ""

    @property
    def same(self) -> bool:
        """Whether nobody could tell the answers apart."""
        return not (self.only_prometheus or self.only_cluster or self.many or self.error)


def drawn(answer: list[dict[str, Any]]) -> dict[tuple[tuple[str, str], ...], Points]:
    """What is drawn of an answer, by labels; the name of a metric is no part of a legend."""
    found: dict[tuple[tuple[str, str], ...], dict[float, float]] = {}
    for series in answer:
        labels = tuple(sorted((key, value) for key, value in series["metric"].items() if key != "__name__"))
        values = series["values"] if "values" in series else [series["value"]]
        points = {round(float(at), 3): float(value) for at, value in values if not math.isnan(float(value))}
        if points:
            found.setdefault(labels, {}).update(points)
    return found


def differ(target: Target, ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> Difference:
    """How an answer of Prometheus (`ours`) and one of the cluster differ."""
    left, right = drawn(ours), drawn(theirs)
    pairs = {(labels, at): value for labels, points in left.items() for at, value in points.items()}
    others = {(labels, at): value for labels, points in right.items() for at, value in points.items()}
    distances = [_distance(pairs[key], others[key]) for key in pairs.keys() & others.keys()]
    return Difference(
        target,
        len(pairs),
        len(pairs.keys() - others.keys()),
        len(others.keys() - pairs.keys()),
        max(distances, default=0.0),
        sum(distance > SAME for distance in distances),
        _distance(sum(pairs.values()), sum(others.values())),
    )


def compare(prometheus: str, cluster: str, start: float, end: float) -> Iterator[Difference]:
    """Asks every query of every dashboard, of both."""
    plain, other = View(Prometheus(prometheus), start, end), View(Prometheus(cluster), start, end)
    for path in FILES:
        dashboard = load(path)
        values = plain.values(dashboard, {})
        for target in targets(dashboard):
            ours = plain.ask(target, values)
            try:
                yield differ(target, ours, other.ask(target, values))
            except ValueError as error:
                yield Difference(target, len(drawn(ours)), 0, 0, 0.0, 0, 0.0, str(error))


def _distance(one: float, other: float) -> float:
    if one == other:
        return 0.0
    if math.isinf(one) or math.isinf(other):
        return math.inf
    return abs(one - other) / max(abs(one), abs(other))
