"""What pgbench's final report has besides rate, latency and failures, in lines for people.

The workers of a run are taken together: counts and rates are added, means are weighted by transactions.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from ...metrics.samples import Family
from ...values import numbers
from ..roles import Numbers
from . import metrics

_MOST_STATEMENTS = 5
_RATE = re.compile(r"(?:^|\s)(?:-[A-Za-z]*R\s*|--rate[= ])(\d+(?:\.\d+)?)(?=\s|$)")


def further(finals: Sequence[Numbers], parameters: Mapping[str, str]) -> Iterator[str]:
    """Transactions above the latency limit (-L), the schedule lag (-R), and the figures of each of several scripts."""
    if (late := _sum(finals, metrics.RESULT_LATE)) is not None:
        limit = parameters.get("latency_limit", "latency")
        total = _sum(finals, metrics.RESULT_TRANSACTIONS) or 0.0
        share = f" ({numbers.part(late / total)})" if late and total else ""
        yield f"above the {limit} limit: {late:,.0f} of {total:,.0f} transactions{share}"
    mean = _mean(finals, metrics.RESULT_LAG_AVERAGE, metrics.RESULT_TRANSACTIONS)
    highest = [each[metrics.RESULT_LAG_MAX.name][()] for each in finals if metrics.RESULT_LAG_MAX.name in each]
    if mean is not None and highest:
        target = _RATE.search(parameters.get("command", ""))
        asked = f", at -R {target[1]}" if target else ""
        yield f"schedule lag: mean {numbers.latency(mean)}, max {numbers.latency(max(highest))}{asked}"
    for script in sorted({key for each in finals for key in each.get(metrics.SCRIPT_TPS.name, {})}):
        yield f"script {int(script[0]) + 1}, {_script(finals, parameters, script)}"
    yield from _statements(finals)


def _statements(finals: Sequence[Numbers]) -> Iterator[str]:
    """The statements (-r) that take longest, by their mean over a script's transactions."""
    found = []
    for key in dict.fromkeys(key for each in finals for key in each.get(metrics.STATEMENT_LATENCY.name, {})):
        weights = metrics.SCRIPT_TRANSACTIONS if any(metrics.SCRIPT_TPS.name in each for each in finals) else None
        means = [each.get(metrics.STATEMENT_LATENCY.name, {}).get(key) for each in finals]
        done = [each.get(weights.name, {}).get(key[:1], 0.0) if weights else 1.0 for each in finals]
        known = [(mean, count) for mean, count in zip(means, done, strict=True) if mean is not None and count]
        if known:
            mean = math.fsum(mean * count for mean, count in known) / math.fsum(count for _, count in known)
            found.append((mean, key, weights is not None))
    for mean, (script, statement), several in sorted(found, key=lambda one: -one[0])[:_MOST_STATEMENTS]:
        if mean:
            where = f"script {int(script) + 1}, " if several else ""
            yield f"{where}mean {numbers.latency(mean)}: {statement}"


def _script(finals: Sequence[Numbers], parameters: Mapping[str, str], script: tuple[str, ...]) -> str:
    name = parameters.get(f"script_{script[0]}", "")
    weight = parameters.get(f"script_{script[0]}_weight")
    done = _sum(finals, metrics.SCRIPT_TRANSACTIONS, script)
    tps = _sum(finals, metrics.SCRIPT_TPS, script)
    mean = _mean(finals, metrics.SCRIPT_LATENCY_AVERAGE, metrics.SCRIPT_TRANSACTIONS, script)
    figures = [
        "" if done is None else f"{done:,.0f} transactions",
        "" if tps is None else f"{numbers.rate_in_full(tps)} TPS",
        "" if mean is None else f"mean {numbers.latency(mean)}",
    ]
    return f"{name}{f', weight {weight}' if weight else ''}: {', '.join(filter(None, figures))}"


def _sum(finals: Sequence[Numbers], family: Family, labels: tuple[str, ...] = ()) -> float | None:
    """None if a worker has no such number."""
    known = [each[family.name][labels] for each in finals if labels in each.get(family.name, {})]
    return math.fsum(known) if known and len(known) == len(finals) else None


def _mean(finals: Sequence[Numbers], family: Family, weights: Family, labels: tuple[str, ...] = ()) -> float | None:
    """The mean weighted by transactions, of the workers that completed any; None if one of them has no such number."""
    counted = [(each, each.get(weights.name, {}).get(labels, 0.0)) for each in finals]
    working = [(each, weight) for each, weight in counted if weight]
    known = [(each[family.name][labels], weight) for each, weight in working if labels in each.get(family.name, {})]
    if not known or len(known) < len(working):
        return None
    return math.fsum(value * weight for value, weight in known) / math.fsum(weight for _, weight in known)
