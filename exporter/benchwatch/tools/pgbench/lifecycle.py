"""The course of a run of pgbench: its lines about an initialisation and errors, and what they add up to.

From pgbench.c 9.3 - 18. Up to 12 messages have no prefix, from 13 `pgbench: error: `, `pgbench: fatal: ` (13, 14) or
`pgbench: `.

    [Cc]lient 3 aborted in state 0: ERROR:  ...                             up to 9.6
    client 3 aborted in command 0 (SQL) of script 0; ERROR:  ...            10+
    client 3 script 0 aborted in command 0 query 0: ERROR:  ...             12+
    client 3 aborted while establishing connection
    Run was aborted; the above results are incomplete.                      12+, before the report in one file
    Run was aborted due to an error in thread 2                             17+ --exit-on-abort; no final report follows
    connection to server at "h", port p failed: ... | could not create connection for setup
    /usr/bin/pgbench: invalid option -- 'Q'                                 from getopt, with the path of the program

The text of another error does not show whether it ends the run: it does unless the benchmark had begun, so the state
decides. pgbench announces the one exception, if there is nothing to vacuum: `(ignoring this error and continuing
anyway)`.

`pgbench -i` prints its steps on stderr (9.3 - 18). A scale factor of 1 is 100000 rows. On a terminal these lines end in
a carriage return (13+).

    [dropping old tables... |] creating tables... | creating 3 partitions... | generating data (client-side)...
    100000 of 200000 tuples (50%)[ of pgbench_accounts] done (elapsed 0.01 s, remaining 0.01 s)[.]
                                              every 100000 rows, with -q every 5 s
    vacuuming... | vacuum... | set primary keys... | creating primary keys... | creating foreign keys...
    done.                                     up to 12
    done in 0.33 s (drop tables 0.01 s, ...). 13+
"""

import re
from typing import Literal, NamedTuple

from ..api import Outcome

ROWS_PER_SCALE = 100_000
KEPT = 100
"""How many errors are kept; the first ones say why the run failed."""


Kind = Literal["vacuum", "step", "rows", "made", "aborted", "failed", "fatal", "ignored", "retried", "cut short"]
"""A benchmark begins, connected (unless -n) · `pgbench -i`: a step begins, rows are in the table, all is
made · a client ended with an error, the others continue · an error, one that certainly ended the run · the
previous error did not matter · those before are of starts that found no server · the last message after a
client aborted.
"""


class LifecycleEvent(NamedTuple):
    """What a line says about the course of a run."""

    kind: Kind
    text: str = ""
    """Of an error."""
    number: int = 0
    """The client that aborted; how many rows there will be."""
    seconds: float | None = None
    """Since the first row; how long `pgbench -i` took, None up to 12."""


VACUUM_START = "starting vacuum"

_CLIENT_ABORTED = re.compile(r"client (?P<client>\d{1,9}) (?:script \d+ )?aborted (?P<where>.*)", re.IGNORECASE)
_RUN_ABORTED = re.compile(r"Run was aborted.*")
_FATAL = re.compile(
    r"pgbench: fatal: (?P<message>.+)"
    r"|^(?:\S*/)?pgbench: (?P<option>(?:invalid|unrecognized) option .+|option .+ (?:requires an argument"
    r"|is ambiguous|doesn't allow an argument).*|option requires an argument .+)"
    r"|(?P<setup>could not create (?:connection|thread)\b.*|Perhaps you need to do initialization\b.*)"
)
_ERROR = re.compile(
    r"pgbench: error: +(?P<message>.+)"
    r"|(?P<connection>[Cc]onnection to (?:database|server) .*failed:.*"
    r"|could not connect to server: .+|could not translate host name .+)"
)
_SERVER_ERROR = re.compile(r"(?:ERROR|FATAL|PANIC):  .+")
_NO_SERVER = re.compile(
    r"connection to (?:database|server)\b|could not (?:connect to server|translate host name)"
    r"|could not create connection for setup",
    re.IGNORECASE,
)
_GENERATED = re.compile(
    r"(?P<rows>\d{1,15}) of (?P<of>\d{1,15}) tuples \(\d+%\)(?: of \w+)? done "
    r"\(elapsed (?P<elapsed>\d{1,8}\.\d\d) s, remaining -?\d+\.\d\d s\)\.?"
)
_DONE = re.compile(r"done(?:\.| in (?P<duration>\d{1,8}\.\d\d) s \(.*\)\.)")
_STEP = re.compile(
    r"(?:dropping old tables|creating tables|creating \d+ partitions|generating data(?: \((?:client|server)-side\))?"
    r"|vacuum(?:ing)?|set primary keys|creating (?:primary|foreign) keys)\.\.\."
)
_IGNORED = "ignoring this error and continuing anyway"
_SPACES = re.compile(r"\s+")

_KNOWN = re.compile(
    r"\s*pgbench:"
    r"|end\.$"
    r"|(?:ERROR|FATAL|PANIC|NOTICE|WARNING|INFO|LOG|DEBUG|DETAIL|HINT|CONTEXT|QUERY|STATEMENT|LOCATION): "
    r"|LINE \d+:|\s*\^\s*$"
    r"|\tIs the server running|\tTCP/IP connections on port"
    r"|Cancel request sent"
    r"|pghost: |client \d+ (?:sending|receiving|executing|sleeping|pipeline)"
    r"|\s*client \d+(?:$| (?:got an error in|repeats the transaction|ends the failed transaction)\b)"
    r"|zipfian cache array overflowed|[Ss]cale option ignored"
)


def event(text: str) -> LifecycleEvent | None:
    """What a line says about the course of a benchmark; None if nothing."""
    if match := _CLIENT_ABORTED.search(text):
        where, separator, cause = _first_of(match["where"])
        return LifecycleEvent("aborted", _tidy(cause if separator else where), int(match["client"]))
    if match := _RUN_ABORTED.search(text):
        return LifecycleEvent("cut short", _tidy(match[0]))
    if _IGNORED in text:
        return LifecycleEvent("ignored")
    if match := _FATAL.search(text):
        return LifecycleEvent("fatal", _tidy(match["message"] or match["option"] or match["setup"]))
    if match := _ERROR.match(text):
        return LifecycleEvent("failed", _tidy(match["message"] or match["connection"]))
    return LifecycleEvent("vacuum") if text.startswith(VACUUM_START) else None


def server_error(text: str) -> LifecycleEvent | None:
    """An error of the server that pgbench prints without a prefix; other programs print the same text."""
    match = _SERVER_ERROR.match(text)
    return LifecycleEvent("failed", _tidy(match[0])) if match else None


def is_no_server(error: LifecycleEvent) -> bool:
    """Whether pgbench found no server, so that it printed nothing on standard output."""
    return _NO_SERVER.match(error.text) is not None


def known(text: str) -> bool:
    """Whether pgbench or libpq prints such lines without figures: notices, details, -d, --verbose-errors."""
    return _KNOWN.match(text) is not None


def initialisation(text: str) -> LifecycleEvent | None:
    """What a line says about an initialisation; None if `pgbench -i` does not print it."""
    if match := _GENERATED.fullmatch(text):
        return LifecycleEvent("rows", number=int(match["of"]), seconds=float(match["elapsed"]))
    if match := _DONE.fullmatch(text):
        return LifecycleEvent("made", seconds=float(match["duration"]) if match["duration"] else None)
    return LifecycleEvent("step") if _STEP.fullmatch(text) else None


class Lifecycle:
    """Collects what happened. The outcome does not depend on the order in which the streams were read."""

    def __init__(self) -> None:
        self.complete = False
        """Whether there is a final report."""
        self.initialised = False
        """Whether `pgbench -i` is done."""
        self.benchmark = False
        """Whether the benchmark itself began, not only the initialisation."""
        self.progressed = False
        """Whether transactions were reported or logged, so that an error does not mean that the run could not begin."""
        self.clients: int | None = None
        """Their number, once the final report shows it."""
        self.executed: float | None = None
        """Transactions of the final report."""
        self._aborted: dict[int, str] = {}
        self._cut_short = ""
        self._errors: list[LifecycleEvent] = []

    def add(self, event: LifecycleEvent) -> None:
        """Add what a line said."""
        match event.kind:
            case "vacuum":
                self.benchmark = True
            case "made":
                self.initialised = True
            case "aborted":
                self._aborted.setdefault(event.number, event.text)
            case "cut short":
                self._cut_short = event.text
            case "fatal" | "failed":
                if len(self._errors) < KEPT or event.kind == "fatal":
                    self._errors.append(event)
            case "retried":
                self._errors.clear()
            case "ignored":
                del self._errors[-1:]

    @property
    def outcome(self) -> Outcome:
        """A client that aborts does not end the run: the final report follows when all clients have ended."""
        nothing_came = bool(self._errors) and not (self.progressed or self._aborted or self.complete)
        if nothing_came or self._cut_short or any(error.kind == "fatal" for error in self._errors):
            return "failed"
        if self.complete:
            return "failed" if self._aborted or self.executed == 0 else "finished"
        return "finished" if self.initialised and not self.benchmark else ""

    @property
    def reason(self) -> str:
        """What went wrong, one clause; empty if nothing did. Aborted clients are named before the outcome."""
        if self._aborted:
            count = len(self._aborted)
            of = f" of {self.clients}" if self.clients else ""
            plural = "" if (self.clients or count) == 1 else "s"
            return f"{count}{of} client{plural} aborted: {next(iter(self._aborted.values()))}"
        if self.outcome != "failed":
            return ""
        errors = [error.text for error in self._errors]
        if len(errors) > 1 and errors[0].endswith(":"):
            return f"{errors[0]} {errors[1]}"
        return errors[0] if errors else self._cut_short or "no transaction completed"


def _first_of(where: str) -> tuple[str, str, str]:
    """Splits `in command 0 query 0: ERROR: ...` or `in command 0 ...; ERROR: ...` at its first `: ` or `; `."""
    return min((where.partition(separator) for separator in (": ", "; ")), key=lambda parts: len(parts[0]))


def _tidy(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
