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
STATEMENT_LENGTH = 200
_LONGEST = 1e8
"""Seconds: three years."""
_BUILTIN = ("<builtin: ", "TPC-B (sort of)", "SELECT only", "Update only pgbench_accounts")
"""How the transaction type of a built-in script begins: first in 9.6+, then in earlier versions."""


class Entry(NamedTuple):
    """A setting, as pgbench prints it, or a number in base units, named like its family (see `metrics.RESULTS`)."""

    name: str
    value: str | float
    labels: tuple[str, ...] = ()


class Complete(NamedTuple):
    """The figures of the whole run are complete (those of single scripts and statements may follow)."""

    lasted: float | None
    """How long the run took, including its initial connections, seconds; None if unknown or impossibly long."""


Content = Entry | Complete

_NUMBER = r"\d{1,10}\.\d{1,6}|-?nan|-?NaN|-?inf|Infinity"
_COUNT = r"\d{1,15}"
_SHARE = r" \((?:\d+\.\d+|-?nan|-?NaN|-?inf) ?%\)"

# Groups of a line are these settings, or numbers: the label of a number follows `__`, `_seconds` are printed as ms.
_SETTINGS = {"transaction_type", "scale_factor", "partition_method", "partitions", "query_mode", "clients", "threads"}
_SETTINGS |= {"max_tries", "transactions_per_client", "duration", "latency_limit"}
_COUNTS = {
    "number of failed transactions: ": rf"(?P<failed>{_COUNT}){_SHARE}",
    "number of serialization failures: ": rf"(?P<failed_transactions__serialization>{_COUNT}){_SHARE}",
    "number of deadlock failures: ": rf"(?P<failed_transactions__deadlock>{_COUNT}){_SHARE}",
    "number of other failures: ": rf"(?P<failed_transactions__other>{_COUNT}){_SHARE}",
    "number of transactions retried: ": rf"(?P<retried>{_COUNT}){_SHARE}",
    "total number of retries: ": rf"(?P<retries>{_COUNT})",
    "number of transactions skipped: ": rf"(?P<skipped>{_COUNT}){_SHARE}",
    "latency average": rf"(?: =|:) (?P<latency_average_seconds>{_NUMBER}) ms(?: \(including failures\))?",
    "latency stddev": rf"(?: =|:) (?P<latency_stddev_seconds>{_NUMBER}) ms",
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
    rf"(?P<late_transactions>{_COUNT})(?:/{_COUNT})?{_SHARE}",
    "rate limit schedule lag: ": rf"avg (?P<rate_limit_lag_average_seconds>{_NUMBER}) "
    rf"\(max (?P<rate_limit_lag_max_seconds>{_NUMBER})\) ms",
    "initial connection time": rf" = (?P<connection_seconds>{_NUMBER}) ms",
    "average connection time": rf" = (?P<connection_seconds>{_NUMBER}) ms",
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
_RUN_LINES, _SCRIPT_LINES = (
    {start: re.compile(re.escape(start) + rest) for start, rest in lines.items()} for lines in (_RUN, _SCRIPT)
)
_SCRIPT_NAME = re.compile(r"SQL script (?P<number>\d{1,4}): (?P<name>.*)")
_STATEMENTS = re.compile(
    r"(?: - )?statement latencies in milliseconds(?:, file (?P<file>\d{1,4}))?"
    r"(?P<counts>| and failures|, failures and retries):"
)
_STATEMENT = {
    announced: re.compile(rf"\s+(?P<latency_average_seconds>{_NUMBER}){counts}\s+(?P<text>\S.*)")
    for announced, counts in (
        ("", ""),
        (" and failures", rf"\s+(?P<failures>{_COUNT})"),
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
        self._settings: dict[str, str] = {}
        self._numbers: dict[str, float] = {}  # of the whole run
        self._script = 0
        self._statement_line: re.Pattern[str] | None = None
        self._position = 0
        self._statements: set[tuple[str, str]] = set()

    def read(self, line: str) -> list[Content] | None:
        """The content of a line; None if the report cannot have it at this point.

        Raises ValueError if it begins like a line of the report but does not continue like it.
        """
        self.begun |= line.startswith(REPORT_START)
        if not self.begun:
            return None
        return self._script_line(line) if self._whole else self._run_line(line)

    def _run_line(self, line: str) -> list[Content] | None:
        groups = _match(_RUN_LINES, line)
        if groups is None:
            return None
        settings = {name: groups.pop(name) for name in [*groups] if name in _SETTINGS}
        is_builtin = self._settings.get("transaction_type", "").startswith(_BUILTIN)
        if settings.get("scale_factor") == "1" and not is_builtin:  # printed for custom scripts without asking
            settings = {}
        if line.startswith("average connection time"):
            settings["connections"] = "one per transaction"
        numbers = _numbers("", groups)
        self._settings |= settings
        self._numbers |= {one.name: float(one.value) for one in numbers}
        entries: list[Content] = [*(Entry(name, text) for name, text in settings.items()), *numbers]
        self._whole = "tps" in groups
        if self._whole or groups.get("transactions") == "0":  # if nothing was executed, no rate will follow
            self.complete = True
            entries.append(Complete(self._length()))
        return entries

    def _length(self) -> float | None:
        """From the number of transactions and their rate."""
        transactions, tps = (self._numbers.get(name, 0.0) for name in ("transactions", "tps"))
        if not transactions:
            return None
        if with_connections := self._numbers.get("tps_with_connections"):
            length = transactions / with_connections
        elif tps:
            initial = "connections" not in self._settings
            length = transactions / tps + (self._numbers.get("connection_seconds", 0.0) if initial else 0.0)
        else:
            length = float(self._settings.get("duration", "inf").split()[0])
        return length if length < _LONGEST else None

    def _script_line(self, line: str) -> list[Content] | None:
        if self._statement_line and (match := self._statement_line.fullmatch(line)):
            return self._statement(match.groupdict())
        self._statement_line = None
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
        groups = _match(_SCRIPT_LINES, line)
        if groups and "weight" in groups:
            return [Entry(f"script_{self._script}_weight", groups["weight"])]
        return None if groups is None else [*_numbers("script_", groups, str(self._script))]

    def _statement(self, groups: dict[str, str]) -> list[Content]:
        self._position += 1
        script, text = str(self._script), groups.pop("text")[:STATEMENT_LENGTH].strip()
        if (script, text) in self._statements:
            text = f"{self._position}: {text}"
        self._statements.add((script, text))
        return [*_numbers("statement_", groups, script, text)]


def _match(table: dict[str, re.Pattern[str]], line: str) -> dict[str, str] | None:
    """The groups of a line that begins as one of the table."""
    for start, pattern in table.items():
        if line.startswith(start):
            match = pattern.fullmatch(line)
            if match is None:
                raise ValueError(f"begins with {start.strip()!r} but does not continue like pgbench's line")
            return {name: text for name, text in match.groupdict().items() if text is not None}
    return None


def _numbers(prefix: str, groups: dict[str, str], *labels: str) -> list[Entry]:
    """Without nan and inf, which pgbench prints where it divided by zero."""
    found = []
    for group, text in groups.items():
        name, *more = group.split("__")
        if text[-1].isdigit():
            value = float(f"{text}e-3") if name.endswith("_seconds") else float(text) if "." in text else int(text)
            found.append(Entry(prefix + name, value, (*labels, *more)))
    return found
