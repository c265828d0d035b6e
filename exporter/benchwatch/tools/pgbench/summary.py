"""pgbench's final report (stdout, written at exit), all versions from 9.3 to 19.

From `printResults()` of pgbench.c: the lines of `_OF_RUN`; with several scripts (9.6+), for each of them a line and
those of `_OF_SCRIPT`; with -r, the statements:

    SQL script 1: <builtin: select only>
    [ - ]statement latencies in milliseconds[, file 1][ and failures][, failures and retries]:
       0.102           0  SELECT ...                          milliseconds, failures and retries if announced, statement

A line counts only where the report can have it, so a wrapper script's own `duration: 60 s` does not count as pgbench's.
Counts have up to 15 digits, rates and times up to 10 before the point; pgbench prints no longer numbers.
"""

import re
from collections.abc import Sequence
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

# The lines in their order, with the versions that print them. <name> is a setting or a number: `__` precedes its label,
# `_seconds` are printed as ms; <name=pattern> is a text, <=pattern> means nothing; {a|b} is one of these, (%) a share.
_SETTINGS = {"transaction_type", "scale_factor", "partition_method", "partitions", "query_mode", "clients", "threads"}
_SETTINGS |= {"max_tries", "transactions_per_client", "duration", "latency_limit"}
_OF_BOTH = (
    "number of failed transactions: <failed> (%)",  # 15+
    "number of serialization failures: <failed_transactions__serialization> (%)",  # 15+ --failures-detailed
    "number of deadlock failures: <failed_transactions__deadlock> (%)",
    "number of other failures: <failed_transactions__other> (%)",  # 19+
    "number of transactions retried: <retried> (%)",  # 15+, unless --max-tries=1
    "total number of retries: <retries>",  # the report ends here if nothing was executed
    "number of transactions skipped: <skipped> (%)",  # 9.5+ -R -L
    "latency average{ =|:} <latency_average_seconds> ms{ (including failures)|}",  # 9.4+
    "latency stddev{ =|:} <latency_stddev_seconds> ms",  # 9.4+, with -P, -R or -L
)
_OF_RUN = (
    "transaction type: <transaction_type=.+>",  # the report begins here
    "scaling factor: <scale_factor>",
    r"partition method: <partition_method=\w+>",  # 13+, if the table is partitioned
    "partitions: <partitions>",
    r"query mode: <query_mode=\w+>",
    "number of clients: <clients>",
    "number of threads: <threads>",
    "maximum number of tries: <max_tries>",  # 15+, unless unlimited
    "number of transactions per client: <transactions_per_client>",  # -t
    r"duration: <duration=\d{1,10} s>",  # -T
    r"number of transactions actually processed: <transactions><=(?:/\d{1,15})?>",  # 9.6 and 10 include skipped ones
    r"number of transactions above the <latency_limit=\d{1,10}\.\d ms> latency limit: "
    r"<late_transactions><=(?:/\d{1,15})?> (%)",  # 9.5+ -L
    "rate limit schedule lag: avg <rate_limit_lag_average_seconds> (max <rate_limit_lag_max_seconds>) ms",  # 9.4+ -R
    "initial connection time = <connection_seconds> ms",  # 14+
    "average connection time = <connection_seconds> ms",  # 14+ -C
    "tps = <tps_with_connections> (including connections establishing)",  # up to 13, then one line more:
    "tps = <tps> (excluding connections establishing)",
    "tps = <tps> ({without initial connection time|including reconnection times})",  # 14+
    *_OF_BOTH,
)
_OF_SCRIPT = (  # 9.6+ with several scripts
    r" - weight: <weight> (targets <=\d+\.\d>% of total)",
    " - number of transactions actually processed: <transactions> (tps = <tps>)",
    *(f" - {line}" for line in _OF_BOTH),
    r" - <transactions> transactions (<=\d+\.\d|-?nan|-?NaN>% of total)",
    r" - <transactions> transactions (<=\d+\.\d|-?nan|-?NaN>% of total, tps = <tps>)",
)
_FIELD = re.compile(r"<(\w*)(?:=(.+?))?>|\{(.+?)\}|(\(%\))|([^<{(]+|\()")


def _part(field: re.Match[str]) -> str:
    """The pattern of a part of a line."""
    name, text, choices, share, literal = field.groups()
    if literal:
        return re.escape(literal)
    if share:
        return r"\((?:\d+\.\d+|-?nan|-?NaN|-?inf) ?%\)"
    if choices:
        return f"(?:{'|'.join(map(re.escape, choices.split('|')))})"
    text = text or (_NUMBER if name.startswith("tps") or name.endswith("_seconds") else _COUNT)
    return f"(?P<{name}>{text})" if name else f"(?:{text})"


_RUN_LINES, _SCRIPT_LINES = (
    [(re.split(r"(?<=: )|[<{]", line)[0], re.compile(_FIELD.sub(_part, line))) for line in lines]
    for lines in (_OF_RUN, _OF_SCRIPT)
)
"""How each line begins, and its pattern."""
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


def _match(lines: Sequence[tuple[str, re.Pattern[str]]], line: str) -> dict[str, str] | None:
    """The groups of a line; None if it begins as none of these. Raises ValueError if it does not continue so."""
    begun = [(start, pattern.fullmatch(line)) for start, pattern in lines if line.startswith(start)]
    for _, match in begun:
        if match:
            return {name: text for name, text in match.groupdict().items() if text is not None}
    if begun:
        raise ValueError(f"begins with {begun[0][0].strip()!r} but does not continue like pgbench's line")
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
