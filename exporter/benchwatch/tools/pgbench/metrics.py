"""pgbench's metric families, in the order of the exposition; lines for people on what else the final reports have."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...metrics.samples import Family, Kind, Part
from ...values import numbers
from ..roles import Numbers


def _families(prefix: str, kind: Kind, part: Part, helps: Mapping[str, str]) -> dict[str, Family]:
    """Families by their names without the prefix; `helps` are by name and labels."""
    named = [(*key.split(), text) for key, text in helps.items()]
    return {name: Family(f"{prefix}_{name}", kind, text, tuple(labels), part) for name, *labels, text in named}


LIVE = _families(
    "pgbench",
    "gauge",
    "live",
    {
        "tps": "Transactions per second, last interval; without progress lines, last second of the transaction log.",
        "latency_average_seconds": "Mean latency, last interval; with -R from the scheduled start.",
        "latency_stddev_seconds": "Standard deviation of the latency, last interval.",
        "rate_limit_lag_seconds": "Mean delay of transactions behind their schedule (-R), last interval.",
        "latency_window_seconds quantile": "Latency quantiles, last second of the transaction log (-l), within 1.6 %; "
        "1 is the exact maximum.",
        "interval_timestamp_seconds": "End of the last interval, Unix time.",
        "latency_window_timestamp_seconds": "End of the second of pgbench_latency_window_seconds, Unix time; at low "
        "rates up to 12 s old, because the log comes in blocks.",
    },
)
_COUNTERS = _families(
    "pgbench",
    "counter",
    "live",
    {
        "transactions_total": "Completed transactions, from the log or the progress lines; at the end from the final "
        "report, which in 9.6 and 10 includes skipped ones.",
        "failed_transactions_total": "Transactions that failed after all tries (15+), or with any error (19+, "
        "--continue-on-error).",
        "skipped_transactions_total": "Transactions skipped because they were already late (-R with -L).",
        "retried_transactions_total": "Transactions tried more than once (--max-tries).",
        "retries_total": "Further tries of transactions (--max-tries).",
    },
)
COUNTERS = dict(zip(("transactions", "failed", "skipped", "retried", "retries"), _COUNTERS.values(), strict=True))
"""By the name of the figure in the final report."""
LATENCY = Family(
    "pgbench_latency_seconds",
    "histogram",
    "Latency by script (from 0) since the start, from the transaction log (-l); with --sampling-rate "
    "of the sampled transactions.",
    ("script",),
)
SETTINGS = _families(
    "pgbench",
    "gauge",
    "runs",
    {
        "clients": "Clients.",
        "threads": "Threads.",
        "scale_factor": "Scale factor of the final report, unless it is the 1 printed for custom scripts; of -i, from "
        "the rows generated so far.",
        "duration_seconds": "Requested duration (-T).",
    },
)
RESULTS = _families(
    "pgbench_result",
    "gauge",
    "runs",
    {
        "tps": "Transactions per second without the initial connections (14+ with -C: including reconnections).",
        "latency_average_seconds": "Mean latency.",
        "latency_stddev_seconds": "Standard deviation of the latency.",
        "latency_seconds quantile": "Latency quantiles from the transaction log (-l), within 1.6 %; 1 is the exact "
        "maximum.",
        "transactions": "Transactions; in 9.6 and 10 including skipped ones.",
        "connection_seconds": "Time of all initial connections; with -C mean time of a connection (14+).",
        "late_transactions": "Transactions above the latency limit (-L).",
        "rate_limit_lag_average_seconds": "Mean delay behind the schedule (-R).",
        "rate_limit_lag_max_seconds": "Longest delay behind the schedule (-R).",
        "failed_transactions kind": "Failed transactions by error: serialization, deadlock, other (19+); with "
        "--failures-detailed.",
        "script_transactions script": "Transactions of a script (from 0); in some versions including skipped and "
        "failed ones.",
        "script_tps script": "Transactions per second of a script.",
        "script_latency_average_seconds script": "Mean latency of a script.",
        "script_latency_stddev_seconds script": "Standard deviation of the latency of a script.",
        "statement_latency_average_seconds script statement": "Mean latency of a statement (-r); a repeated statement "
        "has its position before it.",
        "statement_failures script statement": "Serialization and deadlock errors of a statement without another try "
        "(15+, -r).",
        "statement_retries script statement": "Errors of a statement after which the transaction was tried again "
        "(15+, -r, --max-tries).",
    },
)
FAMILIES = (*LIVE.values(), *COUNTERS.values(), LATENCY, *SETTINGS.values(), *RESULTS.values())
_MOST_STATEMENTS = 5
_RATE = re.compile(r"(?:^|\s)(?:-[A-Za-z]*R\s*|--rate[= ])(\d+(?:\.\d+)?)(?=[\s,]|$)")


def further(finals: Sequence[Numbers], parameters: Mapping[str, str]) -> Iterator[str]:
    """Transactions above the latency limit (-L), the schedule lag (-R), and the figures of each of several scripts.

    The workers of a run are taken together: counts and rates are added, means are weighted by transactions.
    """
    if (late := _sum(finals, "late_transactions")) is not None:
        limit = parameters.get("latency_limit", "latency")
        total = _sum(finals, "transactions") or 0.0
        share = f" ({numbers.part(late / total)})" if late and total else ""
        yield f"above the {limit} limit: {late:,.0f} of {total:,.0f} transactions{share}"
    mean = _mean(finals, "rate_limit_lag_average_seconds", "transactions")
    highest = [lag for lag in _each(finals, "rate_limit_lag_max_seconds") if lag is not None]
    if mean is not None and highest:
        targets = dict.fromkeys(_RATE.findall(parameters.get("command", "")))
        asked = f", at {' and '.join(f'-R {rate}' for rate in targets)}" if targets else ""
        asked += " each" if len(targets) == 1 and len(finals) > 1 else ""
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
