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

from ..states import Outcome
from .progress import Progress
from .summary import Complete, Entry
from .transactions import AggregateInterval, Transactions

_KEPT = 100
"""How many errors are kept; the first ones say why the run failed."""

Kind = Literal["rows", "made", "step", "aborted", "cut", "ignored", "fatal", "failed", "vacuum", "server", "retried"]
"""`pgbench -i`: rows are in the table, all is made, a step begins · a client ended with an error, the others continue ·
the last message after a client aborted · the previous error did not matter · an error that certainly ended the run ·
an error · a benchmark begins, connected (unless -n) · an error of the server that pgbench prints without a prefix, as
other programs do · the errors before are of starts that found no server.
"""


class Banner(NamedTuple):
    """The first line that 14 and later print; or that of `pgbench --version`, which scripts run before a benchmark."""

    tool_version: str
    server_version: str | None
    """None: of `pgbench --version`."""


class LifecycleEvent(NamedTuple):
    """What a line says about the course of a run."""

    kind: Kind
    text: str = ""
    """Of an error."""
    number: int = 0
    """The client that aborted; how many rows there will be."""
    seconds: float | None = None
    """Since the first row; how long `pgbench -i` took, None up to 12."""


_FORMS: list[tuple[Kind, str]] = [
    (
        "rows",
        r"^\d{1,15} of (?P<number>\d{1,15}) tuples \(\d+%\)(?: of \w+)? done "
        r"\(elapsed (?P<seconds>\d{1,8}\.\d\d) s, remaining -?\d+\.\d\d s\)\.?$",
    ),
    ("made", r"^done(?:\.| in (?P<seconds>\d{1,8}\.\d\d) s \(.*\)\.)$"),
    ("step", r"^(?:dropping old tables|creating (?:tables|\d+ partitions)|vacuum(?:ing)?)\.\.\.$"),
    ("step", r"^(?:generating data(?: \((?:client|server)-side\))?|(?:set|creating) (?:primary|foreign) keys)\.\.\.$"),
    ("aborted", r"[Cc]lient (?P<number>\d{1,9}) (?:script \d+ )?aborted (?:.*?[:;] )?(?P<text>.*)"),
    ("cut", r"(?P<text>Run was aborted.*)"),
    ("ignored", "ignoring this error and continuing anyway"),
    ("fatal", r"pgbench: fatal: (?P<text>.+)"),
    ("fatal", r"^(?:\S*/)?pgbench: (?P<text>(?:invalid|unrecognized) option .+|option requires an argument .+)"),
    ("fatal", r"^(?:\S*/)?pgbench: (?P<text>option .+ (?:requires an|doesn't allow an|is ambiguous).*)"),
    ("fatal", r"(?P<text>could not create (?:connection|thread)\b.*|Perhaps you need to do initialization\b.*)"),
    ("failed", r"^pgbench: error: +(?P<text>.+)"),
    ("failed", r"^(?P<text>[Cc]onnection to (?:database|server) .*failed:.*)"),
    ("failed", r"^(?P<text>could not (?:connect to server:|translate host name) .+)"),
    ("vacuum", "^starting vacuum"),
    ("server", r"^(?P<text>(?:ERROR|FATAL|PANIC):  .+)"),
]
"""The first form that a line has says what it is."""
_COMPILED = [(kind, re.compile(form)) for kind, form in _FORMS]
_ANYWHERE = [(kind, form) for kind, form in _COMPILED if not form.pattern.startswith("^")]
_AT_BEGINNING = re.compile("|".join(re.sub(r"\?P<\w+>", "?:", form) for _, form in _FORMS if form.startswith("^")))
"""Whether a line has one of the other forms: the many lines of -d have none."""

_NO_SERVER = re.compile(
    r"[Cc]onnection to (?:database|server)\b|could not (?:connect to server|translate host name)"
    r"|could not create connection for setup"
)
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
    """What a line says about the course of a benchmark or an initialisation; None if nothing."""
    for kind, form in _COMPILED if _AT_BEGINNING.match(text) else _ANYWHERE:
        if match := form.search(text):
            said = match.groupdict()
            message, seconds = " ".join((said.get("text") or "").split()), said.get("seconds")
            return LifecycleEvent(kind, message, int(said.get("number") or 0), float(seconds) if seconds else None)
    return None


def is_no_server(error: LifecycleEvent) -> bool:
    """Whether pgbench found no server, so that it printed nothing on standard output."""
    return _NO_SERVER.match(error.text) is not None


def known(text: str) -> bool:
    """Whether pgbench or libpq prints such lines without figures: notices, details, -d, --verbose-errors."""
    return _KNOWN.match(text) is not None


class Lifecycle:
    """Collects what happened. The outcome does not depend on the order in which the streams were read."""

    def __init__(self) -> None:
        self.complete = False
        """Whether there is a final report."""
        self.benchmark = False
        """Whether the benchmark itself began, not only the initialisation."""
        self.progressed = False
        """Whether transactions were reported or logged, so that an error does not mean that the run could not begin."""
        self._initialised = False
        self._clients = 0  # unknown
        self._executed: float | None = None  # transactions of the final report
        self._aborted: dict[int, str] = {}
        self._cut_short = ""
        self._errors: list[LifecycleEvent] = []

    def add(self, record: object) -> None:
        """Add what a line or a piece of a log said."""
        match record:
            case LifecycleEvent():
                self._add_event(record)
                return
            case Banner(server_version=None):
                return
            case Progress() | Transactions() | AggregateInterval():
                self.progressed = True
            case Complete():
                self.complete = True
            case Entry("clients", str(clients)):
                self._clients = int(clients)
            case Entry("transactions", int(executed)):
                self._executed = executed
        self.benchmark = True

    def _add_event(self, event: LifecycleEvent) -> None:
        match event.kind:
            case "vacuum":
                self.benchmark = True
            case "made":
                self._initialised = True
            case "aborted":
                self._aborted.setdefault(event.number, event.text)
            case "cut":
                self._cut_short = event.text
            case "fatal" | "failed":
                if len(self._errors) < _KEPT or event.kind == "fatal":
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
            return "failed" if self._aborted or self._executed == 0 else "finished"
        return "finished" if self._initialised and not self.benchmark else ""

    @property
    def reason(self) -> str:
        """What went wrong, one clause; empty if nothing did. Aborted clients are named before the outcome."""
        if self._aborted:
            count = len(self._aborted)
            of = f" of {self._clients}" if self._clients else ""
            plural = "" if (self._clients or count) == 1 else "s"
            return f"{count}{of} client{plural} aborted: {next(iter(self._aborted.values()))}"
        if self.outcome != "failed":
            return ""
        errors = [error.text for error in self._errors]
        if len(errors) > 1 and errors[0].endswith(":"):
            return f"{errors[0]} {errors[1]}"
        return errors[0] if errors else self._cut_short or "no transaction completed"
