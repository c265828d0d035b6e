"""pgbench's final report (stdout, written at exit), all versions from 9.3 to 19.

From `printResults()` of pgbench.c. Lines in their order, with the versions that print them:

    transaction type: <builtin: TPC-B (sort of)>              all; the report begins here
    scaling factor: 2                                         all
    partition method: hash | partitions: 3                    13+, if the table is partitioned
    query mode: simple | number of clients: 4 | number of threads: 2      all
    maximum number of tries: 3                                15+, unless unlimited
    number of transactions per client: 250 | duration: 4 s    all; -t or -T
    number of transactions actually processed: 1000[/1000]    all; 9.6 and 10 include skipped transactions
    number of failed transactions: 0 (0.000%)                 15+
    number of serialization failures: 0 (0.000%) | number of deadlock failures: ...    15+ --failures-detailed
    number of other failures: 0 (0.000%)                      19+ --failures-detailed
    number of transactions retried: 0 (0.000%) | total number of retries: 0            15+, unless --max-tries=1
                                                              the report ends here if nothing was executed
    number of transactions skipped: 0 (0.000 %)               9.5+ -R -L
    number of transactions above the 3.0 ms latency limit: 5[/1542] (0.324 %)          9.5+ -L
    latency average = 0.495 ms[ (including failures)]         9.4+; `:` for ` =` in 9.4 and 9.5
    latency stddev = 0.267 ms                                 9.4+, with -P, -R or -L
    rate limit schedule lag: avg 0.105 (max 6.700) ms         9.4+ -R
    initial connection time = 7.741 ms                        14+, or with -C: average connection time = 3.9 ms
    tps = 8052.172138 (including connections establishing)    up to 13, then one line more:
    tps = 8059.106282 (excluding connections establishing)
    tps = 4801.677965 (without initial connection time)       14+, or with -C: (including reconnection times)
    SQL script 1: <builtin: select only>                      9.6+ with several scripts, each with lines ` - ...`
    [ - ]statement latencies in milliseconds[, file 1][ and failures][, failures and retries]:     -r
       0.102           0  SELECT ...                          milliseconds, failures and retries if announced, statement

A line counts only where the report can have it, so a wrapper script's own `duration: 60 s` does not count as pgbench's.
Counts have up to 15 digits, rates and times up to 10 before the point; pgbench prints no longer numbers.
"""

import re
from typing import NamedTuple

REPORT_START = "transaction type: "


class Entry(NamedTuple):
    """A setting, as pgbench prints it, or a number; times in seconds. `script` is a script's number (from 0)."""

    name: str
    value: str | float
    script: int | None = None


class Statement(NamedTuple):
    """One line of -r: the statement at `position` of a script (both from 0) and its mean latency in seconds."""

    script: int
    position: int
    text: str
    latency: float | None
    failures: int | None
    retries: int | None


class Complete(NamedTuple):
    """The figures of the whole run are complete (those of single scripts and statements may follow)."""


Content = Entry | Statement | Complete

_NUMBER = r"\d{1,10}\.\d{1,6}|-?nan|-?NaN|-?inf|Infinity"
_COUNT = r"\d{1,15}"
_SHARE = r" \((?:\d+\.\d+|-?nan|-?NaN|-?inf) ?%\)"

# Named groups become figures; in milliseconds if they end so; or parameters, if named here.
_PARAMETERS = frozenset(
    (
        *("transaction_type", "scale_factor", "partition_method", "partitions", "query_mode", "clients", "threads"),
        *("max_tries", "transactions_per_client", "duration", "latency_limit"),
    )
)

_COUNTS = {
    "number of failed transactions: ": rf"(?P<failed>{_COUNT}){_SHARE}",
    "number of serialization failures: ": rf"(?P<serialization_failures>{_COUNT}){_SHARE}",
    "number of deadlock failures: ": rf"(?P<deadlock_failures>{_COUNT}){_SHARE}",
    "number of other failures: ": rf"(?P<other_failures>{_COUNT}){_SHARE}",
    "number of transactions retried: ": rf"(?P<retried>{_COUNT}){_SHARE}",
    "total number of retries: ": rf"(?P<retries>{_COUNT})",
    "number of transactions skipped: ": rf"(?P<skipped>{_COUNT}){_SHARE}",
    "latency average": rf"(?: =|:) (?P<latency_average_ms>{_NUMBER}) ms(?: \(including failures\))?",
    "latency stddev": rf"(?: =|:) (?P<latency_stddev_ms>{_NUMBER}) ms",
}
_RUN = {
    REPORT_START: r"(?P<transaction_type>.+)",
    "scaling factor: ": rf"(?P<scale_factor>{_COUNT})",
    "partition method: ": r"(?P<partition_method>\w+)",
    "partitions: ": rf"(?P<partitions>{_COUNT})",
    "query mode: ": r"(?P<query_mode>\w+)",
    "number of clients: ": rf"(?P<clients>{_COUNT})",
    "number of threads: ": rf"(?P<threads>{_COUNT})",
    "maximum number of tries: ": rf"(?P<max_tries>{_COUNT})",
    "number of transactions per client: ": rf"(?P<transactions_per_client>{_COUNT})",
    "duration: ": r"(?P<duration>\d{1,10} s)",
    "number of transactions actually processed: ": rf"(?P<transactions>{_COUNT})(?:/{_COUNT})?",
    "number of transactions above the ": r"(?P<latency_limit>\d{1,10}\.\d ms) latency limit: "
    rf"(?P<late>{_COUNT})(?:/{_COUNT})?{_SHARE}",
    "rate limit schedule lag: ": rf"avg (?P<lag_average_ms>{_NUMBER}) \(max (?P<lag_max_ms>{_NUMBER})\) ms",
    "initial connection time": rf" = (?P<connection_ms>{_NUMBER}) ms",
    "average connection time": rf" = (?P<reconnection_ms>{_NUMBER}) ms",
    "tps = ": rf"(?:(?P<tps_with_connections>{_NUMBER}) \(including connections establishing|(?P<tps>{_NUMBER}) "
    r"\((?:excluding connections establishing|without initial connection time|including reconnection times))\)",
    **_COUNTS,
}
_SCRIPT = {
    " - weight: ": rf"(?P<weight>{_COUNT}) \(targets \d+\.\d% of total\)",
    " - number of transactions actually processed: ": rf"(?P<transactions>{_COUNT}) \(tps = (?P<tps>{_NUMBER})\)",
    **{f" - {start}": rest for start, rest in _COUNTS.items()},
    " - ": rf"(?P<transactions>{_COUNT}) transactions "
    rf"\((?:\d+\.\d|-?nan|-?NaN)% of total(?:, tps = (?P<tps>{_NUMBER}))?\)",
}


def _table(lines: dict[str, str]) -> dict[str, re.Pattern[str]]:
    return {start: re.compile(re.escape(start) + rest) for start, rest in lines.items()}


_RUN_LINES = _table(_RUN)
_SCRIPT_LINES = _table(_SCRIPT)
_SCRIPT_NAME = re.compile(r"SQL script (?P<number>\d{1,4}): (?P<name>.*)")
_STATEMENTS = re.compile(
    r"(?: - )?statement latencies in milliseconds"
    r"(?:, file (?P<file>\d{1,4}))?(?P<counts>| and failures|, failures and retries):"
)
_STATEMENT = {
    announced: re.compile(rf"\s+(?P<latency>{_NUMBER})" + counts + r"\s+(?P<text>\S.*)")
    for announced, counts in (
        ("", "(?P<failures>)(?P<retries>)"),
        (" and failures", rf"\s+(?P<failures>{_COUNT})(?P<retries>)"),
        (", failures and retries", rf"\s+(?P<failures>{_COUNT})\s+(?P<retries>{_COUNT})"),
    )
}
"""A line of -r, by the end of the announcement."""


class ReportReader:
    """Reads one final report line by line."""

    def __init__(self) -> None:
        self.begun = False
        self.complete = False
        """Whether all figures of the whole run were read."""
        self._whole = False
        self._script = 0
        self._statement_line: re.Pattern[str] | None = None
        self._position = 0

    def read(self, line: str) -> list[Content] | None:
        """The content of a line; None if the report cannot have it at this point.

        Raises ValueError if it begins like a line of the report but does not continue like it.
        """
        if not self.begun:
            if not line.startswith(REPORT_START):
                return None
            self.begun = True
        if not self._whole:
            return self._run_line(line)
        return self._statement(line) or self._script_line(line)

    def _run_line(self, line: str) -> list[Content] | None:
        match = _match(_RUN_LINES, line)
        if match is None:
            return None
        groups = match.groupdict()
        entries = _entries(groups, None)
        self._whole = groups.get("tps") is not None
        if self._whole or groups.get("transactions") == "0":  # if nothing was executed, no rate will follow
            self.complete = True
            entries.append(Complete())
        return entries

    def _script_line(self, line: str) -> list[Content] | None:
        if line == "script statistics:":  # 9.6 and 10: -L with a single script
            return []
        if match := _SCRIPT_NAME.fullmatch(line):
            self._script = max(0, int(match["number"]) - 1)
            return [Entry(f"script_{self._script}", match["name"])]
        if match := _STATEMENTS.fullmatch(line):
            if match["file"]:
                self._script = max(0, int(match["file"]) - 1)
            self._statement_line = _STATEMENT[match["counts"]]
            self._position = 0
            return []
        found = _match(_SCRIPT_LINES, line)
        return None if found is None else _entries(found.groupdict(), self._script)

    def _statement(self, line: str) -> list[Content] | None:
        match = self._statement_line.fullmatch(line) if self._statement_line else None
        if match is None:
            self._statement_line = None
            return None
        failures, retries = (int(match[name]) if match[name] else None for name in ("failures", "retries"))
        position, self._position = self._position, self._position + 1
        latency = _number(match["latency"], "e-3")
        return [Statement(self._script, position, match["text"].strip(), latency, failures, retries)]


def _match(table: dict[str, re.Pattern[str]], line: str) -> re.Match[str] | None:
    for start, pattern in table.items():
        if line.startswith(start):
            match = pattern.fullmatch(line)
            if match is None:
                raise ValueError(f"begins with {start.strip()!r} but does not continue like pgbench's line")
            return match
    return None


def _entries(groups: dict[str, str | None], script: int | None) -> list[Content]:
    entries: list[Content] = []
    for name, text in groups.items():
        if text is None:
            continue
        if name in _PARAMETERS:
            entries.append(Entry(name, text))
        elif name == "weight":
            entries.append(Entry(f"script_{script}_weight", text))
        elif (value := _number(text, "e-3" if name.endswith("_ms") else "")) is not None:
            entries.append(Entry(name.removesuffix("_ms"), value, script))
    return entries


def _number(text: str, exponent: str) -> float | None:
    """The number; None for nan and inf, which pgbench prints where it divided by zero."""
    if text.isdecimal() and not exponent:
        return int(text)
    return float(text + exponent) if text[-1].isdigit() else None
