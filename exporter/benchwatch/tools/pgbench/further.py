"""What pgbench's final report has besides rate, latency and failures, in lines for people.

The workers of a run are taken together: counts and rates are added, means are weighted by transactions.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...values import numbers
from ..roles import Numbers
from .metrics import RESULTS

_MOST_STATEMENTS = 5
_RATE = re.compile(r"(?:^|\s)(?:-[A-Za-z]*R\s*|--rate[= ])(\d+(?:\.\d+)?)(?=\s|$)")


def further(finals: Sequence[Numbers], parameters: Mapping[str, str]) -> Iterator[str]:
    """Transactions above the latency limit (-L), the schedule lag (-R), and the figures of each of several scripts."""
    if (late := _sum(finals, "late_transactions")) is not None:
        limit = parameters.get("latency_limit", "latency")
        total = _sum(finals, "transactions") or 0.0
        share = f" ({numbers.part(late / total)})" if late and total else ""
        yield f"above the {limit} limit: {late:,.0f} of {total:,.0f} transactions{share}"
    mean = _mean(finals, "rate_limit_lag_average_seconds", "transactions")
    highest = [lag for lag in _each(finals, "rate_limit_lag_max_seconds") if lag is not None]
    if mean is not None and highest:
        target = _RATE.search(parameters.get("command", ""))
        asked = f", at -R {target[1]}" if target else ""
        yield f"schedule lag: mean {numbers.latency(mean)}, max {numbers.latency(max(highest))}{asked}"
    scripts = sorted(_labels(finals, "script_tps"))
    for script in scripts:
        name = parameters.get(f"script_{script[0]}", "")
        weight = parameters.get(f"script_{script[0]}_weight")
        done, tps = _sum(finals, "script_transactions", script), _sum(finals, "script_tps", script)
        mean = _mean(finals, "script_latency_average_seconds", "script_transactions", script)
        figures = [
            "" if done is None else f"{done:,.0f} transactions",
            "" if tps is None else f"{numbers.rate_in_full(tps)} TPS",
            "" if mean is None else f"mean {numbers.latency(mean)}",
        ]
        weighted = f", weight {weight}" if weight else ""
        yield f"script {int(script[0]) + 1}, {name}{weighted}: {', '.join(filter(None, figures))}"
    yield from _statements(finals, several=bool(scripts))


def _statements(finals: Sequence[Numbers], *, several: bool) -> Iterator[str]:
    """The statements (-r) that take longest, by their mean over the transactions of a script, one of `several`."""
    found = []
    for key in _labels(finals, "statement_latency_average_seconds"):
        means = _each(finals, "statement_latency_average_seconds", key)
        done = _each(finals, "script_transactions", key[:1]) if several else [1.0 for _ in finals]
        if mean := _weighted(means, done):
            found.append((mean, key))
    for mean, (script, statement) in sorted(found, key=lambda one: -one[0])[:_MOST_STATEMENTS]:
        where = f"script {int(script) + 1}, " if several else ""
        yield f"{where}mean {numbers.latency(mean)}: {statement}"


def _labels(finals: Sequence[Numbers], name: str) -> Iterable[tuple[str, ...]]:
    """The labels that a figure has in any report."""
    return dict.fromkeys(labels for each in finals for labels in each.get(RESULTS[name].name, {}))


def _each(finals: Sequence[Numbers], name: str, labels: tuple[str, ...] = ()) -> list[float | None]:
    """A figure in each report."""
    return [each.get(RESULTS[name].name, {}).get(labels) for each in finals]


def _sum(finals: Sequence[Numbers], name: str, labels: tuple[str, ...] = ()) -> float | None:
    """None if a worker has no such number."""
    known = [value for value in _each(finals, name, labels) if value is not None]
    return math.fsum(known) if known and len(known) == len(finals) else None


def _mean(finals: Sequence[Numbers], name: str, done: str, labels: tuple[str, ...] = ()) -> float | None:
    """The mean weighted by transactions, of the workers that completed any; None if one of them has no such number."""
    values, weights = _each(finals, name, labels), _each(finals, done, labels)
    unknown = any(value is None and weight for value, weight in zip(values, weights, strict=True))
    return None if unknown else _weighted(values, weights)


def _weighted(values: Sequence[float | None], weights: Sequence[float | None]) -> float | None:
    """The mean of the values that are known and have a weight; None without any."""
    known = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None and weight]
    return math.fsum(value * weight for value, weight in known) / math.fsum(w for _, w in known) if known else None
